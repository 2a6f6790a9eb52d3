"""The viewer while a trace is read: a sketch at once, then what is read in its place; the view is kept."""

from __future__ import annotations

import gzip
import math
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot

from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from tests.synthetic import event_table
from tests.ui.rest import threads_held
from tests.ui.viewing import lines_of, open_viewer, timeline, until
from tracetui.reader import skeleton as skeleton_module
from tracetui.reader.database import table_reader
from tracetui.reader.database.source import DatabaseFile
from tracetui.reader.source import Progress, TraceFile
from tracetui.ui import loading
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS
from tracetui.ui.messages import LoadProgress, TraceGrew
from tracetui.ui.options import ViewerOptions
from tracetui.ui.session import Session
from tracetui.ui.widgets.status import TopLine

SIZE = (120, 40)


@pytest.fixture(autouse=True)
def _samples_of_small_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton_module, "SMALLEST", 0)
    monkeypatch.setattr(skeleton_module, "CHUNK", 1 << 12)
    monkeypatch.setattr(skeleton_module, "BUDGET", 600.0)
    monkeypatch.setattr(loading, "FIRST_PICTURE", 0.0)
    monkeypatch.setattr(loading, "EVERY", 0.0)
    monkeypatch.setattr(loading, "LAST_SHARE", 1.0)


@pytest.fixture
def moba(samples: Path) -> Path:
    return samples / "moba" / "trace_view.json"


class Gate:
    """Lets the reading go on, and have a picture made, as far as the test wants."""

    def __init__(self, trace_file: TraceFile) -> None:
        self.share = 0.0
        self.reached = threading.Event()  #: once the sample is made, and its reading is to begin
        self._opened = 0  # how often
        self._turn = threading.Condition()
        self._held = ExitStack()
        self._held.enter_context(threads_held())
        self._read = trace_file.read

    def read(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        first: int = 0,
    ) -> Any:
        assert on_progress is not None
        self.reached.set()
        self._wait_beyond(0)

        def see(progress: Progress) -> None:
            with self._turn:
                if progress.done_bytes < self.share * progress.total_bytes:
                    return
                opened = self._opened
            on_progress.__self__._next_picture = 0.0  # type: ignore[attr-defined]
            on_progress(progress)
            self._wait_beyond(opened)

        return self._read(see, should_stop, first)

    def _wait_beyond(self, opened: int) -> None:
        with self._turn:
            self._turn.wait_for(lambda: self._opened > opened, 60)

    def open(self, share: float) -> None:
        if share > 1:
            self._held.close()
        with self._turn:
            self.share = share
            self._opened += 1
            self._turn.notify_all()


@asynccontextmanager
async def reading(
    path: Path, size: tuple[int, int] = SIZE, ascii_only: bool = False
) -> AsyncIterator[tuple[TraceApp, Pilot[int], Gate]]:
    """The viewer of a file of which nothing is read but a sample."""
    with (
        DatabaseFile(path)
        if path.suffix == ".db"
        else TraceFile(path, block_bytes=1 << 13, part_bytes=1 << 15, jobs=1)
    ) as trace_file:
        gate = Gate(trace_file)
        trace_file.read = gate.read  # type: ignore[method-assign]
        options = ViewerOptions(palette="none", cache=False, ascii=ascii_only)
        app = open_viewer(path, options, trace_file)
        async with app.run_test(size=size) as pilot:
            try:
                await pilot.pause()
                yield app, pilot, gate
            finally:
                gate.open(2.0)


async def read_to(app: TraceApp, pilot: Pilot[int], gate: Gate, share: float) -> None:
    await until(pilot, gate.reached.is_set)
    await pilot.pause()
    before = app.session.trace
    gate.open(share)
    await until(pilot, lambda: app.session.trace is not before and app.session.share >= int(100 * share))
    await pilot.pause()


async def read_all(app: TraceApp, pilot: Pilot[int], gate: Gate) -> None:
    gate.open(2.0)
    await until(pilot, lambda: app.session.analysis is not None)


def screen_lines(app: TraceApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def is_sketched(text: str, shades: str = BLOCKS.unread) -> bool:
    return any(shade in text for shade in shades.strip())


async def test_the_whole_time_is_sketched_before_anything_is_read(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        assert app.session.trace is not None and app.session.trace.report.events == 0
        shown = screen_lines(app)
        assert "sampled" in shown[0] and "Ascend" in shown[0] and "esc stops" in shown[0]
        assert "busy device" in shown[1] and is_sketched(shown[1])
        assert "NPU 0 idle" in shown[5] or "NPU idle" in shown[5]
        assert "reading, 0 % so far: gaps are found once all is read" in shown[5]
        stream = next(line for line in shown if "Stream 2" in line)
        assert is_sketched(stream)
        assert any("not read yet" in line for line in shown)
        tracks = [line.key for line in timeline(app).tracks.lines.lines]
        span = app.session.state.bounds
        await read_all(app, pilot, gate)
        assert not is_sketched("\n".join(screen_lines(app))) and "sampled" not in screen_lines(app)[0]
        final = [line.key for line in timeline(app).tracks.lines.lines]
        assert [key for key in final if key in tracks] == [key for key in tracks if key in final]
        grown = abs(app.session.state.bounds.start_ns - span.start_ns) + abs(
            app.session.state.bounds.end_ns - span.end_ns
        )
        assert grown < span.span_ns / 20


async def test_what_is_read_takes_the_place_of_the_sketch(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        lines = []
        for share in (0.2, 0.4, 0.7):
            await read_to(app, pilot, gate, share)
            shown = screen_lines(app)
            assert f"reading {app.session.share} % of" in shown[0]
            assert f"reading, {app.session.share} % so far" in shown[5]
            lines.append(sum(shade in line for line in shown[6:] for shade in BLOCKS.unread.strip()))
        assert lines[0] > lines[-1]


async def test_a_screen_that_waits_for_the_reading_says_what_can_be_done_meanwhile(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        for key in ("G", "M"):
            await pilot.press(key)
            await until(
                pilot, lambda: "T shows what is there already; esc there" in "\n".join(screen_lines(app))
            )
            text = "\n".join(screen_lines(app))
            assert text.count("Still reading the trace") == 1 and "T timeline  q quit" in text
        await read_all(app, pilot, gate)
        await until(pilot, lambda: "T shows what is there" not in "\n".join(screen_lines(app)))


async def test_the_numbers_of_what_is_read_fit_where_the_rest_is_only_sampled(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.7)
        app.session.stop_loading()
        await read_all(app, pilot, gate)
        await until(pilot, lambda: "sampled" in screen_lines(app)[0] and "idle" in screen_lines(app)[0])
        app.session.name = "a_name_that_says_too_much"
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "warning" in screen_lines(app)[0] and len(screen_lines(app)[0]) == 80)
        top = timeline(app).query_one(TopLine)
        top.update()
        await until(pilot, lambda: "sampled" not in screen_lines(app)[0])
        assert BLOCKS.unread[1] in screen_lines(app)[0] and re.search(
            r"idle [0-9.]+ % ", screen_lines(app)[0]
        )


async def test_the_view_that_was_chosen_is_kept_as_the_trace_grows(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await pilot.press("w", "w", "w", "d", "down", "down", "down")
        viewport, cursor = app.session.state.viewport, app.session.state.place.cursor
        assert viewport != app.session.state.bounds and cursor
        tracks = timeline(app).tracks
        for share in (0.3, 0.7):
            await read_to(app, pilot, gate, share)
            assert app.session.state.viewport == viewport
            assert app.session.state.place.cursor == cursor and tracks.lines.index(cursor) >= 0
        toggled = app.session.state.toggled
        await pilot.press("pagedown", "pagedown", "right")
        await until(pilot, lambda: app.session.state.row >= 0)
        event = int(app.session.trace.slices.event[app.session.state.row]) if app.session.trace else -1
        top = tracks.lines.lines[tracks.lines.fixed + tracks.top].key
        viewport = app.session.state.viewport
        await read_all(app, pilot, gate)
        assert (
            app.session.trace is not None
            and int(app.session.trace.slices.event[app.session.state.row]) == event
        )
        assert app.session.state.viewport == viewport and app.session.state.toggled == toggled
        assert tracks.lines.lines[tracks.lines.fixed + tracks.top].key == top, (
            "what is on screen does not jump"
        )


async def test_what_is_not_read_cannot_be_selected(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        for key in (
            "down",
            "down",
            "down",
            "right",
            "left",
            "f",
            "r",
            "bracketleft",
            "p",
            "P",
            "space",
            "asterisk",
        ):
            await pilot.press(key)
            assert app.session.state.row == -1 and app.session.state.window is None
        await pilot.click(timeline(app).tracks, offset=(60, 4))
        assert app.session.state.row == -1
        await pilot.press("right")
        assert "Nothing of this line is read yet." in screen_lines(app)[-1]
        await pilot.press("0", "t", "escape", "slash", "escape", "v", "d", "v")
        await read_all(app, pilot, gate)


async def test_escape_says_which_share_and_which_tracks_are_missing(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.6)
        share = app.session.share
        await pilot.press("x", "escape")
        await read_all(app, pilot, gate)
        assert (
            app.session.trace is not None
            and app.session.trace.report.stopped
            and app.session.progress is None
        )
        assert f"Stopped at {share} % of the file; the rest (░) is only sampled." in screen_lines(app)[-1]
        (missing,) = [warning for warning in app.session.warnings if "only sampled" in warning]
        assert missing.startswith(f"{100 - share} % of the file is not read")
        assert "Python from " in missing and " s to " in missing
        assert "Ascend Hardware" not in missing, "devices are read first"
        shown = screen_lines(app)
        assert is_sketched("\n".join(shown[6:])) and "sampled" in shown[0]
        assert app.session.analysis is not None and app.session.analysis.trace is app.session.trace
        await pilot.press("x", "0", "exclamation_mark")
        assert "only sampled" in timeline(app).details.text


async def test_devices_are_exact_before_the_host_is(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.6)
        assert app.session.picture is not None and app.session.picture.sketch is not None
        assert [missing.process for missing in app.session.picture.sketch.missing()] == ["Python"]
        await read_all(app, pilot, gate)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database whose reading tells after every table how far it is."""
    monkeypatch.setattr(table_reader, "_EVERY", 1)
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    DatabaseWriter(simulate("stalls"), 2).write(path)
    return path


async def test_a_database_of_which_no_table_is_read_says_whose_it_is_and_stops(database: Path) -> None:
    async with reading(database) as (app, pilot, gate):
        gate.open(0.0)
        await until(pilot, lambda: " rows" in screen_lines(app)[0])
        assert app.session.file is not None
        line = screen_lines(app)[0]
        assert re.search(rf"Ascend database +reading \d+ % of {app.session.file.rows:,} rows", line), line
        assert app.session.trace is None
        await pilot.press("escape")
        await read_all(app, pilot, gate)
        line, said = screen_lines(app)[0], screen_lines(app)[-1]
        assert "Ascend database" in line and "0 ns" not in line and "Chrome" not in line
        assert re.search(r"Stopped at \d+ % of the rows, before there was a whole table to show\.", said)
        assert app.session.warnings == ("reading stopped: later tables are missing",)


async def test_escape_keeps_the_tables_of_a_database_that_were_read(database: Path) -> None:
    async with reading(database) as (app, pilot, gate):
        gate.open(0.0)
        while app.session.trace is None:
            gate.open(0.0)
            await pilot.pause(0.01)
        assert app.session.trace.devices
        await pilot.press("escape")
        await read_all(app, pilot, gate)
        assert app.session.trace.devices and app.session.trace.report.stopped
        assert re.search(
            r"Stopped at \d+ % of the rows: the tables that were read until then are here\.",
            screen_lines(app)[-1],
        )
        assert re.search(r"Ascend [\d.]+ m?s database", screen_lines(app)[0])
        assert not any("no operators" in warning for warning in app.session.warnings)


def test_no_picture_is_made_of_nothing() -> None:
    posted: list[Message] = []
    watch = loading._TraceWatch(Session(Path()), posted.append, None, None)
    watch.see(Progress(40, 100, 0, lambda: event_table([])))
    assert [type(message) for message in posted] == [LoadProgress]


def test_a_picture_is_made_as_soon_as_the_devices_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "FIRST_PICTURE", math.inf)  # so that no picture is due by the clock
    table = event_table([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}])
    posted: list[Message] = []
    watch = loading._TraceWatch(Session(Path()), posted.append, None, 50)
    for done in (40, 60, 80):
        watch.see(Progress(done, 100, 0, lambda: table))
    assert [type(message) for message in posted] == [LoadProgress, LoadProgress, TraceGrew, LoadProgress]


def test_silence_is_worth_a_line_and_no_picture() -> None:
    table = event_table([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}])
    posted: list[Message] = []
    watch = loading._TraceWatch(Session(Path()), posted.append, None, None)
    watch._next_line = math.inf
    for silent_s in (3, 4):
        watch.see(Progress(40, 100, 0, lambda: table, silent_s))
    watch._next_picture = math.inf
    watch.see(Progress(41, 100, 0, lambda: table))
    assert [message.silent_s for message in posted if isinstance(message, LoadProgress)] == [3, 4, 0]
    assert len(posted) == 3


async def test_the_top_line_says_that_nothing_is_read(moba: Path) -> None:
    silent = "reading 10 % of 100 B, nothing for 12 s  esc stops"
    async with reading(moba, (80, 24)) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        app.post_message(LoadProgress(app.session, 10, 100, 5, 12))
        await until(pilot, lambda: silent in screen_lines(app)[0])
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: silent in screen_lines(app)[0])
        app.post_message(LoadProgress(app.session, 20, 100, 5))
        await until(pilot, lambda: "nothing" not in screen_lines(app)[0])
        await read_all(app, pilot, gate)


async def test_gaps_asked_for_too_early_tell_how_far_the_reading_is(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.4)
        await pilot.press("x")
        await pilot.pause()
        assert (
            f"Gap 1 is shown as soon as all is read: {app.session.share} % so far." in screen_lines(app)[-1]
        )
        await pilot.press("G")
        await until(pilot, lambda: f"{app.session.share} % so far" in "\n".join(screen_lines(app)))
        await read_to(app, pilot, gate, 0.7)
        await until(pilot, lambda: f"{app.session.share} % so far" in "\n".join(screen_lines(app)))
        await read_all(app, pilot, gate)
        await until(pilot, lambda: app.session.state.gap == int(app.session.ranked[0]))


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_a_sketch_without_block_elements_is_told_from_what_was_read(
    moba: Path, size: tuple[int, int]
) -> None:
    async with reading(moba, size, ascii_only=True) as (app, pilot, _):
        await until(pilot, lambda: app.session.picture is not None)
        text = "\n".join(screen_lines(app))
        assert text.replace("µ", "u").isascii()
        assert is_sketched(next(line for line in screen_lines(app) if "Stream 2" in line), ASCII.unread)
        assert not set(ASCII.unread.strip()) & set(ASCII.shades)
        assert "reading 0 % of" in text and "esc stops" in text


async def test_a_packed_trace_grows_from_its_start(moba: Path, tmp_path: Path) -> None:
    packed = tmp_path / "trace_view.json.gz"
    packed.write_bytes(gzip.compress(moba.read_bytes()))
    async with reading(packed) as (app, pilot, gate):
        assert app.session.picture is None
        await pilot.press("w", "w", "d")
        await read_to(app, pilot, gate, 0.01)
        assert app.session.state.viewport == app.session.state.bounds, "there was nothing to look closer at"
        await pilot.press("backspace")
        assert app.session.state.viewport == app.session.state.bounds
        shown = screen_lines(app)
        assert "sampled" not in shown[0] and not is_sketched("\n".join(shown))
        assert "so far" in shown[1], "the map is of what is inflated so far"
        await pilot.press("escape")
        await read_all(app, pilot, gate)


async def test_what_looks_missing_while_a_trace_is_read_is_no_warning(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        assert app.session.warnings == () and "warning" not in screen_lines(app)[0]
        await read_to(app, pilot, gate, 0.3)
        assert app.session.warnings == ()
        assert lines_of(timeline(app).minimap)[0].strip()


async def test_no_picture_is_made_of_nearly_all(moba: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would cost the memory of the trace once more."""
    monkeypatch.setattr(loading, "LAST_PICTURE", 0)
    monkeypatch.setattr(loading, "LAST_SHARE", 0.5)
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.3)
        picture = app.session.picture
        gate.open(0.7)
        await until(pilot, lambda: app.session.share >= 70)
        assert app.session.picture is picture
        await read_all(app, pilot, gate)


async def test_the_details_of_a_slice_stay_as_the_trace_grows(moba: Path) -> None:
    async with reading(moba) as (app, pilot, gate):
        await until(pilot, lambda: app.session.picture is not None)
        await read_to(app, pilot, gate, 0.3)
        assert app.session.trace is not None and app.session.file is not None
        events, args = app.session.trace.slices.event.tolist(), app.session.file.args
        row = next(row for row, event in enumerate(events) if args(event))
        app.select(row)
        details = timeline(app).details
        await until(pilot, lambda: bool(details._facts.args))
        text = details.text
        again = threading.Event()
        app.session.file.args = lambda event: args(event) if again.wait(60) else {}  # type: ignore[method-assign]
        await read_to(app, pilot, gate, 0.6)
        assert int(app.session.trace.slices.event[app.session.state.row]) == events[row]
        assert details.text == text, "they are there before they are read again"
        again.set()
