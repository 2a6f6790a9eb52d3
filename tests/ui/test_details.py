"""The pane under the tracks: its rule tells how much is hidden, at any width, and how to get there."""

from __future__ import annotations

import pytest

from tests.ui.training import STEPS, training
from tests.ui.viewing import lines_of, said, viewing
from tracetui.ui.actions import SCREENS
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.ui.widgets.details import Details


@pytest.mark.parametrize("width", [40, 60, 80, 120])
async def test_the_number_of_hidden_lines_is_never_cut(width: int) -> None:
    async with viewing(training(), "timeline", (width, 24)) as (app, pilot):
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.query_one(Details)
        hidden = len(details.lines) - details.size.height + 1
        assert hidden > 0
        assert lines_of(details)[0].endswith(f"─ tab: {hidden} more")
        await pilot.press("tab", "j")
        assert lines_of(details)[0].endswith(f"j: {hidden - 1} more")


async def test_tab_goes_to_the_details_and_back() -> None:
    async with viewing(training(), "timeline") as (app, pilot):
        assert isinstance(app.screen, TimelineScreen)
        for pane in (app.screen.details, app.screen.tracks):
            await pilot.press("tab")
            assert pane.has_focus


async def test_a_click_on_one_of_the_worst_gaps_goes_there_also_when_scrolled() -> None:
    async with viewing(training([*STEPS, *STEPS]), "timeline", (80, 20)) as (app, pilot):
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.details
        for scrolled, y, rank in ((0, 1, 0), (0, 2, 1), (0, 4, 3), (1, 2, 2)):
            app.select(-1)
            await pilot.pause()
            details.action_scroll_lines(scrolled)
            assert lines_of(details)[2].split()[0] == str(scrolled + 1)
            await pilot.click(details, (3, y))
            await pilot.pause()
            assert app.session.rank_of(app.session.state.gap) == rank


async def test_a_warning_is_told_to_its_end() -> None:
    async with viewing(training(), "timeline", (60, 24)) as (app, pilot):
        app.session.problem = "word " * 30 + "end"
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.query_one(Details)
        details.renew()
        await pilot.pause()
        told = " ".join(line.strip() for line in lines_of(details)[1:])
        assert "word " * 30 + "end" in told


@pytest.mark.parametrize("screen", [name for name in SCREENS if name not in ("timeline", "ranks", "compare")])
async def test_all_keys_named_in_the_last_line_are_read_at_80_columns(screen: str) -> None:
    async with viewing(training(), screen, (80, 24)) as (app, _):
        assert len(said(app, "keys")) <= 80
