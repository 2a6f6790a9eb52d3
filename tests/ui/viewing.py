"""Opening the viewer on a trace, at one of its screens, for tests that press keys and read lines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widget import Widget

from tests.ui.rest import PATIENCE_S
from tracetui.analysis.analyse import Analysis
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace
from tracetui.ui.widgets.lines import Lines

_TURN_S = 0.002


def open_viewer(
    path: Path,
    options: ViewerOptions | None = None,
    file: TraceFile | None = None,
    trace: Trace | None = None,
) -> TraceApp:
    """The viewer of one file, or of a trace that is there already."""
    return TraceApp([Session(path, options, file, trace)], options)


@asynccontextmanager
async def viewing(
    trace: Trace, screen: str, size: tuple[int, int] = (120, 40), all_steps: bool = False
) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer with its analysis ready and a screen in front."""
    options = ViewerOptions(palette="none", all_steps=all_steps)
    app = open_viewer(Path("trace_view.json"), options, trace=trace)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        app.action_go(screen)
        await pilot.pause()
        yield app, pilot


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Let the viewer work until something holds, and then until all is done."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it never holds"
        await asyncio.sleep(_TURN_S)
    await pilot.pause()


async def settled(app: App[Any], pilot: Pilot[Any]) -> None:
    """Let the viewer work until its debounces and its threads are done."""
    await pilot.pause()


@contextmanager
def case(*of: object) -> Iterator[None]:
    """Say which of several cases, which one viewer shows one after the other, an assertion is about."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"in the case of {', '.join(map(str, of))}: {error}") from error


def timeline(app: TraceApp) -> TimelineScreen:
    """The timeline, in front."""
    assert isinstance(app.screen, TimelineScreen)
    return app.screen


def analysis_of(app: TraceApp) -> Analysis:
    """The analysis, which is there."""
    assert app.session.analysis is not None
    return app.session.analysis


def lines_of(widget: Widget) -> list[str]:
    """What a widget draws, as text."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


def said(app: TraceApp, name: str) -> str:
    """What the lines of that id on the screen in front say."""
    return app.screen.query_one(f"#{name}", Lines).text


def table_looks(viewed: Mapping[str, Sequence[ColumnPlace]]) -> str:
    """The columns of tables by their names, for a page: as laid out, or how they are asked for.

    Those that stay longest first, each with its cells, those it can shrink to, and its side.
    """
    lines = []
    for name, columns in viewed.items():
        lines += ["", name]
        for column in sorted((of for of in columns if of is not ...), key=lambda column: column.rank):
            shrinks = f"{column.least} .. {column.width}" if column.least else f"{column.width}"
            side = "" if isinstance(column, ColumnLook) else "> " if column.right else "< "
            lines.append(f"  {column.rank}  {shrinks:>8} {side}{column.key or '(' + column.title + ')'}")
    return "\n".join(lines[1:])
