"""What the screens look like. Where a change is meant: `python -m pytest tests/ui --update-snapshots`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.snapshot import check, picture_of
from tests.ui.viewing import open_viewer, until
from tracetui.reader.source import TraceFile
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.timeline import TimelineScreen


@pytest.mark.parametrize("width, height", [(80, 24), (120, 36), (200, 60)])
async def test_the_timeline_with_the_worst_gap(
    samples: Path, request: pytest.FixtureRequest, width: int, height: int
) -> None:
    path = samples / "moba" / "trace_view.json"
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette="ansi"), trace_file)
        async with app.run_test(size=(width, height)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            await pilot.press("b", "x")  # by idle time
            screen = app.screen
            assert isinstance(screen, TimelineScreen)
            await until(pilot, lambda: 'float("inf")' in screen.details.text)  # the source line is read
            check(app, f"timeline_{width}x{height}", request)


async def test_the_worst_gap_or_line_with_its_story_and_source(
    samples: Path, request: pytest.FixtureRequest
) -> None:
    path = samples / "moba" / "trace_view.json"
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette="ansi"), trace_file)
        async with app.run_test(size=(120, 36)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            await pilot.press("b")
            sentence_of = {
                "gaps": "It then waited 12.1 µs in the task queue",
                "hotspots": "Saves at most 2.31 ms",
            }
            for screen, last in sentence_of.items():
                app.action_go(screen)
                for text in (last, "gate[:, begin:end"):
                    await until(pilot, lambda: text in picture_of(app))  # noqa: B023
                assert app.shown == screen
                check(app, f"{screen}_120x36", request)


@pytest.mark.parametrize(
    "number, palette, width, height", [(1, "ansi", 80, 24), (2, "true", 120, 36), (3, "256", 200, 60)]
)
async def test_the_heat_maps(
    samples: Path, request: pytest.FixtureRequest, number: int, palette: str, width: int, height: int
) -> None:
    path = samples / "moba" / "trace_view.json"
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette=palette), trace_file)
        async with app.run_test(size=(width, height)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            await pilot.press("M", str(number))
            await until(pilot, lambda: "?  " in picture_of(app) and "mostly" in picture_of(app))
            check(app, f"heatmap{number}_{width}x{height}", request)
