"""Opening the viewer on a trace, at one of its screens, for tests that press keys and read lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widget import Widget

from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.widgets.lines import Lines

SETTLED_S = 0.08  #: longer than any debounce of a screen


@asynccontextmanager
async def viewing(
    trace: Trace, screen: str, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer with its analysis ready and a screen in front."""
    app = TraceApp(Path("trace_view.json"), ViewerOptions(palette="none"), trace=trace)
    async with app.run_test(size=size) as pilot:
        for _ in range(200):
            if not app.analysing:
                break
            await pilot.pause(0.01)
        if screen != "timeline":
            app.action_go(screen)
        await pilot.pause(SETTLED_S)
        yield app, pilot


def lines_of(widget: Widget) -> list[str]:
    """What a widget draws, as text."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


def said(app: TraceApp, name: str) -> str:
    """What the lines of that id on the screen in front say."""
    return app.screen.query_one(f"#{name}", Lines).text
