"""Frames of the viewer over traces made of columns: work and bytes of a key, and what holds up the screen.

A frame is a key press until nothing more is drawn; its bytes are those that would be sent. Its work is the
processor time of the screen's thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from textual._compositor import ChopsUpdate, LayoutUpdate

from tests.benchmarks.table import Row
from tests.benchmarks.traces import GAPS, made_trace
from tracetui.cli.entry import collect_rarely
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.widgets.table import TableWidget

if TYPE_CHECKING:
    from tracetui.ui.screens.timeline import TimelineScreen

SIZE = (200, 60)
ZOOMS = (0, 6, 12, 24)  #: from the whole trace to single slices
QUIET_S = 0.04


class Frame(NamedTuple):
    """What a key cost."""

    work_ms: float
    bytes: int  #: of the largest frame, should there be two


class CountingApp(TraceApp):
    """Counts what would be written to the terminal."""

    frames = 0
    largest = 0

    def _display(self, screen: Any, renderable: Any) -> None:
        if isinstance(renderable, (LayoutUpdate, ChopsUpdate)):
            self.take(renderable)
            self.frames += 1
            self.largest = max(self.largest, len(self.frame().encode()))
        super()._display(screen, renderable)

    @property
    def looked_at(self) -> object:
        """What part of the trace is on screen."""
        screen = cast("TimelineScreen", self.screen)
        return self.session.state.viewport, screen.tracks.top

    async def press(self, key: str, quiet_s: float = QUIET_S) -> Frame:
        """From a key until nothing more is drawn for some time."""
        started, self.largest = time.thread_time(), 0
        self.simulate_key(key)
        seen = -1
        while seen != self.frames:
            seen = self.frames
            await asyncio.sleep(quiet_s)
        return Frame((time.thread_time() - started) * 1e3, self.largest)


async def timeline_rows(slices: int, palette: str, count: int) -> list[Row]:
    """A line per kind of movement; all zooms together."""
    frames: dict[str, list[Frame]] = {}
    app = _app(made_trace(slices), palette)
    async with app.run_test(size=SIZE) as pilot:
        while app.session.analysing:
            await pilot.pause(0.1)
        for zoom in ZOOMS:
            for key in ("0", *["w"] * zoom):
                await app.press(key)
            for what, keys in (("zoom", "ws"), ("pan", "d"), ("slice", ["right"]), ("row", "j")):
                for at in range(count):
                    looked_at = app.looked_at
                    frame = await app.press(keys[at % len(keys)])
                    scrolled = what in ("slice", "row") and app.looked_at != looked_at
                    frames.setdefault("off" if scrolled else what, []).append(frame)
        for _ in range(4 * count):
            frames.setdefault("gap", []).append(await app.press("x"))
    names = {
        "zoom": "zoom",
        "pan": "pan by an eighth",
        "slice": "cursor to the next slice",
        "row": "cursor to the next row",
        "off": "cursor to what is not on screen",
        "gap": "jump to the next worst gap",
    }
    found = [frames_row(names[what], [frame for frame in of if frame.bytes]) for what, of in frames.items()]
    return [row._replace(told=row.spread if palette == "ansi" else "") for row in found]


async def table_rows(slices: int, count: int) -> list[Row]:
    """Moving, sorting and filtering in the table of gaps, of which there is one for ten slices."""
    app = _app(made_trace(slices, GAPS), "ansi")
    async with app.run_test(size=SIZE) as pilot:
        while app.session.analysing:
            await pilot.pause(0.1)
        beat = _HeartBeat()
        opening = asyncio.create_task(beat.watch())
        found = [await _until_arranged(app, beat, "open", ["G"])]
        moves = [await app.press(key) for key in _repeated(("j", "pagedown", "k", "end", "home"), count)]
        found.append(frames_row("cursor, page, first, last", moves))
        keys = _repeated(("greater_than_sign", "equals_sign"), min(count, 12))
        found.append(await _until_arranged(app, beat, "sort by another column, or the other way", keys))
        await app.press("slash")
        typed = [await app.press(key) for key in _repeated([*"matmul", *["backspace"] * 6], count)]
        found.append(frames_row("a letter of a filter", typed))
        opening.cancel()
    return found


async def _until_arranged(app: CountingApp, beat: _HeartBeat, what: str, keys: Iterable[str]) -> Row:
    """The time from each key until the rows are there, and the longest time that no key was answered."""
    took = []
    for key in keys:
        beat.longest_s = 0.0
        started = time.perf_counter()
        app.simulate_key(key)
        await asyncio.sleep(0.02)
        while not _arranged(app):
            await asyncio.sleep(0.002)
        took.append((time.perf_counter() - started, beat.longest_s))
    times, held = zip(*took)
    held_up = f"screen held up {max(held) * 1e3:.0f} ms at most"
    return Row(what, f"{np.median(times) * 1e3:.0f} ms", held_up)


def _arranged(app: CountingApp) -> bool:
    tables = app.screen.query(TableWidget) if isinstance(app.screen, TableScreen) else ()
    return any(not table.arranging and table.cursor_row >= 0 for table in tables)


class _HeartBeat:
    """The longest time between two turns of the event loop."""

    longest_s = 0.0

    async def watch(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest_s = max(self.longest_s, now - last)
            last = now


def _app(trace: Trace, palette: str) -> CountingApp:
    collect_rarely()  # as the command line does
    options = ViewerOptions(palette=palette)
    return CountingApp([Session(Path(trace.path), options, trace=trace)], options)


def _repeated(keys: Iterable[str], count: int) -> list[str]:
    keys = list(keys)
    return [keys[at % len(keys)] for at in range(count)]


def frames_row(what: str, frames: list[Frame]) -> Row:
    """The line of some frames: median and high work, and bytes."""
    if not frames:
        return Row(what, "nothing changed")
    middle, high = np.percentile([frame.work_ms for frame in frames], [50, 95])
    sizes = [frame.bytes for frame in frames]
    sent = f"{np.median(sizes) / 1e3:.1f} kB, {max(sizes) / 1e3:.1f} kB at most"
    return Row(what, f"{middle:.1f} ms", f"p95 {high:.1f} ms", sent)
