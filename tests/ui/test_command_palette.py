"""The command palette lists what can be done now, and does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.training import screen_text, viewer
from tracetui.ui.actions import actions_of
from tracetui.ui.app import TraceApp
from tracetui.ui.screens.palette import CommandPalette, applicable


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


async def test_a_command_is_run_on_the_screen_below(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.session.state.look(
            app.session.state.viewport.zoom(
                1, 4, app.session.state.viewport.start_ns, app.session.state.bounds, 1
            )
        )
        await pilot.press("colon", *"whole trace")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        assert any("0 show: whole trace" in line for line in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert app.session.state.viewport == app.session.state.bounds
        await pilot.press("ctrl+p", *"hotspots", "enter")
        await pilot.pause()
        assert app.shown == "hotspots"


async def test_only_what_applies_is_listed_and_each_of_it_once(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        titles = {}
        for screen in ("timeline", "hotspots", "gaps"):
            app.action_go(screen)
            await pilot.pause()
            listed = list(applicable(app, app.screen))
            titles[screen] = [action.title for action in listed]
            assert len(set(titles[screen])) == len(listed)
            wanted = [action.title for action in [*actions_of(screen), *actions_of(None)] if action.palette]
            assert [title for title in wanted if title in titles[screen]] == titles[screen]
        app.action_go("hotspots")
        await pilot.pause()
        await pilot.press("colon", *"gap", "pagedown")
        await pilot.pause()
        shown = [" ".join(line.split()) for line in screen_text(app)]
        assert "x go: next gap of the line The worst of the line first" in shown
        assert "go: next worst gap The next one in their ranking" in shown  # x is taken
    assert "pin: track" in titles["timeline"]
    assert "pin: track" not in titles["hotspots"]
