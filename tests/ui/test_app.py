"""The viewer as a whole: keys in; state, and what is on screen, out."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.synthetic import trace_of
from tests.ui.rest import threads_held
from tests.ui.training import training
from tests.ui.viewing import analysis_of, open_viewer, timeline, until, viewing
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.frames import FrameRules
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.source import Progress, TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Layer, Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.messages import TraceGrew
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import SCREENS, ScreenScope
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.units import parse_window

SIZE = (120, 40)


@pytest.fixture(scope="module")
def moba(samples: Path) -> Path:
    return samples / "moba" / "trace_view.json"


@asynccontextmanager
async def viewer(
    path: Path, size: tuple[int, int] = SIZE, **options: Any
) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer of a file, loaded and analysed."""
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette="ansi", **options), trace_file)
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            yield app, pilot


def lines(app: TraceApp) -> list[str]:
    """The text on screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def trace_in(app: TraceApp) -> Trace:
    assert app.session.trace is not None
    return app.session.trace


async def test_the_first_screen_says_how_idle_the_device_is_and_where(moba: Path) -> None:
    async with viewer(moba) as (app, _):
        shown = lines(app)
        share = round(100 * analysis_of(app).devices[0].idle_ns / analysis_of(app).devices[0].window_ns, 1)
        assert f"idle {share} %" in shown[0]
        assert "NPU idle" in shown[5] and "█" in shown[5]
        assert any("Python" in line for line in shown)
        assert all(len(line) == SIZE[0] for line in shown)
        assert "worst gap" in shown[-1]


async def test_x_shows_the_worst_gap_in_the_middle_third_and_why(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("b", "x")
        await until(pilot, lambda: "train_moba.py" in timeline(app).details.text)
        gaps, worst = analysis_of(app).gaps, int(analysis_of(app).gaps.ranked(Measure.IDLE)[0])
        assert app.session.state.gap == worst
        viewport, length = app.session.state.viewport, int(gaps.end[worst] - gaps.start[worst])
        assert viewport.span_ns == 3 * length
        assert abs(int(gaps.start[worst]) - viewport.start_ns - length) <= 1
        text = timeline(app).details.text
        assert f"Gap 1 of {len(gaps)}" in text and "ended by" in text
        assert any("Gap 1 of" in line for line in lines(app))
        await until(pilot, lambda: 'float("inf")' in timeline(app).details.text)  # its source line


async def test_gaps_are_walked_by_rank_and_by_digit_also_from_screens_without_gaps(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        ranked = analysis_of(app).gaps.ranked().tolist()
        await pilot.press("x", "x", "x")
        assert app.session.state.gap == ranked[2]
        await pilot.press("X")
        assert app.session.state.gap == ranked[1]
        await pilot.press("7")
        assert app.session.state.gap == ranked[6]
        await pilot.press("1", "X")
        assert app.session.state.gap == ranked[0]
        await pilot.press("G", "x")
        assert (app.shown, app.session.state.gap) == ("gaps", ranked[1])
        for screen in ("I", "O"):
            await pilot.press(screen, "x")
            assert app.shown == "timeline"
        assert app.session.state.gap == ranked[3]


async def test_undo_goes_back_through_selections_and_views(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        start = app.session.state.place
        await pilot.press("x", "d", "d", "w")
        moved = app.session.state.place
        for _ in range(5):
            await pilot.press("backspace")
        assert app.session.state.place == start
        for _ in range(5):
            await pilot.press("U")
        assert app.session.state.place == moved


async def test_the_flow_is_followed_to_the_operator_and_back(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("1", "[")
        task = app.session.state.row
        chain = analysis_of(app).launch_chains.chain(task)
        assert (
            task == int(analysis_of(app).gaps.after[analysis_of(app).gaps.ranked()[0]]) and chain is not None
        )
        seen = [task]
        while len(seen) < len(chain.hops):
            await pilot.press("[")
            seen.append(app.session.state.row)
        assert seen == [hop.row for hop in reversed(chain.hops)]
        assert trace_in(app).track_of(app.session.state.row).layer is Layer.PYTHON
        for _ in chain.hops[1:]:
            await pilot.press("]")
        assert app.session.state.row == task
        viewport = app.session.state.viewport
        start = int(trace_in(app).slices.start[task])
        assert viewport.start_ns <= start < viewport.end_ns


async def test_arrows_walk_slices_and_lines_and_edges_mark_a_window(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("1", "[")
        row = app.session.state.row
        await pilot.press("right", "right", "left")
        assert app.session.state.row == row + 1
        time = app.session.state.place.time_ns
        await pilot.press("down", "down", "up", "up")
        assert app.session.state.place.time_ns == time and app.session.state.row == row + 1
        await pilot.press("k", "j")
        assert app.session.state.row == row + 1
        await pilot.press("1", "[", "v")
        first = app.session.state.row
        await pilot.press("right", "right", "v")
        slices = trace_in(app).slices
        assert app.session.state.window == (int(slices.start[first]), int(slices.end[first + 2]))
        await pilot.press("r")
        assert app.session.state.window == (int(slices.start[first + 2]), int(slices.end[first + 2]))
        await pilot.press("escape")
        assert app.session.state.window is None


async def test_folding_and_pinning_change_the_lines(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        tracks = timeline(app).tracks
        count = len(tracks.lines.lines)
        await pilot.press("down", "down", "space")  # the header of the device's streams
        assert len(tracks.lines.lines) < count
        await pilot.press("space")
        assert len(tracks.lines.lines) == count
        await pilot.press("down", "P")
        assert tracks.lines.fixed == 2
        assert tracks.lines.lines[1].label.startswith("Stream")
        await pilot.press("P")
        assert tracks.lines.fixed == 1


async def test_a_search_goes_from_hit_to_hit(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("slash")
        app.screen.query_one(Input).value = "aten::item"
        await until(pilot, lambda: len(app.session.state.search.hits) > 0)
        await pilot.press("enter")
        await until(pilot, lambda: app.session.state.row >= 0)
        assert trace_in(app).name(app.session.state.row) == "aten::item"
        first = app.session.state.search.at
        await pilot.press("n", "N", "n")
        assert app.session.state.search.at == (first + 1) % len(app.session.state.search.hits)
        await pilot.press("asterisk")
        assert trace_in(app).name(app.session.state.row) == "aten::item"
        assert "/" in lines(app)[-1]


async def test_the_stack_is_shown_leaf_first(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("2", "p")
        details = timeline(app).details
        assert details.shows_stack and len(details.lines) == len(details.stack) > 1
        assert "train_moba.py" in details.text
        await pilot.press("escape")
        assert not details.shows_stack


async def test_what_is_copied_is_in_a_file(
    moba: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    async with viewer(moba) as (app, pilot):
        await pilot.press("y")
        assert not (tmp_path / "tracetui").exists()
        await pilot.press("1", "y")
        await pilot.pause()
        copied = (tmp_path / "tracetui" / "copied.txt").read_text(encoding="utf-8")
        assert copied.startswith("Gap 1 of") and "ended by" in copied
        assert "\x1b" not in copied
        assert str(tmp_path) in lines(app)[-1] or "Copied" in lines(app)[-1]


async def test_escape_stops_the_loading_and_keeps_what_is_there(moba: Path) -> None:
    with TraceFile(moba) as trace_file:
        reading, let_go = threading.Event(), threading.Event()
        read = trace_file.read

        def slowly(
            on_progress: Callable[[Progress], None], should_stop: Callable[[], bool], first: int
        ) -> Any:
            def see(progress: Progress) -> None:
                on_progress(progress)
                reading.set()
                let_go.wait(60)

            return read(see, should_stop, first)

        trace_file._block_bytes = trace_file._part_bytes = 1 << 17
        trace_file.read = slowly  # type: ignore[method-assign,assignment]
        app = open_viewer(moba, ViewerOptions(palette="ansi"), trace_file)
        async with app.run_test(size=SIZE) as pilot:
            with threads_held():
                await until(pilot, lambda: reading.is_set() and "reading" in lines(app)[0])
                await pilot.press("escape")
            let_go.set()
            await until(pilot, lambda: app.session.trace is not None and app.session.progress is None)
            assert 0 < trace_in(app).report.events < 5000
            assert trace_in(app).report.stopped
            await until(pilot, lambda: "warning" in lines(app)[0])


async def test_ctrl_c_closes_a_panel_and_then_leaves(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("question_mark")
        assert not isinstance(app.screen, TimelineScreen)
        await pilot.press("ctrl+c")
        assert isinstance(app.screen, TimelineScreen)
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_value == 130


async def test_every_screen_opens_and_escape_comes_back(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        for key, mode in zip("GHMOIT", ("gaps", "hotspots", "heatmap", "operators", "steps", "timeline")):
            await pilot.press(key)
            assert app.shown == mode
            assert len(lines(app)) == SIZE[1]
            await pilot.press("x")
            await pilot.press("escape")
            await until(pilot, lambda: app.shown == "timeline")


async def test_a_window_of_the_command_line_is_shown(moba: Path) -> None:
    async with viewer(moba, window=parse_window("1ms..2ms")) as (app, _):
        assert app.session.state.viewport.start_ns - trace_in(app).start_ns == 1_000_000
        assert app.session.state.viewport.span_ns == 1_000_000
    async with viewer(moba, window=parse_window("1900000000000000..")) as (app, _):
        assert app.session.state.viewport.span_ns == app.session.state.bounds.span_ns
        assert "not in this trace" in lines(app)[-1]


async def test_the_frame_rules_of_the_command_line_choose_the_lines(moba: Path) -> None:
    async with viewer(moba) as (app, _):
        files = {line.file for line in analysis_of(app).lines if line.file}
    async with viewer(moba, rules=FrameRules(skip=("/",))) as (app, _):
        assert analysis_of(app).rules.skip == ("/",)
        assert {line.file for line in analysis_of(app).lines if line.file} != files


async def test_a_step_of_the_command_line_is_shown(moba: Path) -> None:
    async with viewer(moba, step=50) as (app, _):
        step = analysis_of(app).steps[0]
        assert (
            app.session.state.viewport.start_ns
            <= step.start_ns
            < step.end_ns
            <= app.session.state.viewport.end_ns
        )
    async with viewer(moba, step=7) as (app, pilot):
        await pilot.pause()
        assert "no step 7" in lines(app)[-1]


async def test_any_size_is_filled_and_resizing_keeps_the_place(moba: Path) -> None:
    async with viewer(moba, size=(80, 24)) as (app, pilot):
        await pilot.press("x")
        place = app.session.state.place
        for width, height in ((80, 24), (100, 30), (40, 10), (100, 30), (300, 100), (100, 30)):
            await pilot.resize_terminal(width, height)
            assert app.session.state.place == place, (width, height)
            assert [len(line) for line in lines(app)] == [width] * height


async def test_ascii_is_ascii(moba: Path) -> None:
    async with viewer(moba, ascii=True) as (app, pilot):
        for keys in ("x", "[", "w", "p"):
            await pilot.press(keys)
            text = "\n".join(lines(app)).replace("µ", "u")
            assert text.isascii(), [character for character in text if ord(character) > 127][:5]


async def test_the_mouse_selects_zooms_and_marks(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        tracks = timeline(app).tracks
        place = next(place for place, line in enumerate(tracks.lines.lines) if line.label == "Stream 2")
        await pilot.click(tracks, offset=(tracks.label_width + 60, place))
        assert app.session.state.row >= 0
        assert trace_in(app).track_of(app.session.state.row).name == "Stream 2"
        span = app.session.state.viewport.span_ns
        await pilot._post_mouse_events([_scroll_up()], tracks, offset=(tracks.label_width + 10, place))
        assert app.session.state.viewport.span_ns < span
        await pilot.mouse_down(tracks, offset=(tracks.label_width + 10, place))
        await pilot.hover(tracks, offset=(tracks.label_width + 40, place))
        await pilot.mouse_up(tracks, offset=(tracks.label_width + 40, place))
        await pilot.pause()
        assert app.session.state.window is not None
        first_lane = replace(tracks.lines.lines[place], lane=0)
        start = int(trace_in(app).slices.start[trace_in(app).lane_slice_rows(0)][0])
        assert timeline(app).cursor.snapped(first_lane, start + 1) == start


def _scroll_up() -> Any:
    from textual.events import MouseScrollUp

    return MouseScrollUp


HOSTILE = "\x1b[31mred\x1b[0m [bold]markup[/] \u202eover\x07 漢字" * 3


@pytest.fixture
def hostile() -> Iterator[Trace]:
    yield trace_of(
        [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": HOSTILE}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": HOSTILE}},
            {"ph": "X", "name": HOSTILE, "pid": 1, "tid": 2, "ts": 1, "dur": 100, "args": {HOSTILE: HOSTILE}},
            {"ph": "X", "name": HOSTILE, "pid": 1, "tid": 2, "ts": 200, "dur": 0},
        ]
    )


async def test_names_cannot_command_the_terminal(hostile: Trace) -> None:
    app = open_viewer(Path(f"/x/{HOSTILE}.json"), ViewerOptions(palette="true"), trace=hostile)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.session.analysis is not None)
        for keys in ("down", "down", "right", "p", "t"):
            await pilot.press(keys)
            await pilot.pause()
            text = "\n".join(lines(app))
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "[bold]markup[/]" in text


async def test_a_trace_of_nothing_is_shown_as_nothing() -> None:
    app = open_viewer(Path("empty.json"), ViewerOptions(palette="none"), trace=trace_of([]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.session.analysis is not None)
        for key in "x1[]dwasfvrnp0":
            await pilot.press(key)
        await pilot.press("left", "down", "space", "P", "backspace", "asterisk")
        assert len(lines(app)) == 24


async def test_a_file_without_an_event_ends_the_viewer_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text('[{"ph": "M"')
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette="ansi"), trace_file)
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: app.failure is not None)
        assert isinstance(app.failure, UnreadableTrace)


async def test_the_selection_survives_the_growth_of_the_trace(moba: Path) -> None:
    async with viewer(moba) as (app, pilot):
        await pilot.press("1", "[", "[")
        name, event = (
            trace_in(app).name(app.session.state.row),
            int(trace_in(app).slices.event[app.session.state.row]),
        )
        with TraceFile(moba) as again:
            app.post_message(TraceGrew(app.session, build_trace(again.read())))
            await pilot.pause()
        assert trace_in(app).name(app.session.state.row) == name
        assert int(trace_in(app).slices.event[app.session.state.row]) == event


async def test_warnings_are_counted_and_shown_from_every_screen_of_a_trace() -> None:
    trace = trace_of([{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 100}])
    app = open_viewer(Path("trace.json"), ViewerOptions(palette="ansi"), trace=trace)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.session.analysis is not None)
        assert f"{len(app.session.warnings)} warning" in lines(app)[0] and app.session.warnings
        for key in ("down", "G", "M"):
            await pilot.press(key, "exclamation_mark")
            await pilot.pause()
            assert app.session.warnings[0] in timeline(app).details.text, key
        for screen in (name for name, spec in SCREENS.items() if spec.scope is ScreenScope.TRACE):
            app.action_go(screen)
            await pilot.pause()
            await pilot.press("escape", "exclamation_mark")
            await pilot.pause()
            assert app.session.warnings[0] in timeline(app).details.text, screen


def test_a_file_that_is_no_trace_is_refused_before_the_screen_opens(tmp_path: Path) -> None:
    from tracetui.ui.app import run_viewer

    path = tmp_path / "trace_view.json"
    path.write_text("hello")
    with pytest.raises(UnreadableTrace):
        run_viewer([path], ViewerOptions())


@pytest.mark.parametrize("screen", ["timeline", "gaps"])
async def test_a_sentence_is_said_on_its_screen_only_and_not_again(screen: str) -> None:
    async with viewing(training(), screen) as (app, pilot):
        app.action_go("hotspots")
        app.action_go(screen)
        await pilot.pause()
        usual = lines(app)[-1]
        app.show_status("There is a sentence.")
        await pilot.pause()
        assert "There is a sentence." in lines(app)[-1]
        for shown in ("hotspots", screen):
            app.action_go(shown)
            await pilot.pause()
            assert "There is a sentence." not in lines(app)[-1]
        assert lines(app)[-1] == usual


async def test_a_sentence_said_while_a_panel_is_open_is_there_when_it_closes() -> None:
    async with viewing(training(), "gaps") as (app, pilot):
        await pilot.press("question_mark")
        await pilot.pause()
        app.show_status("There is a sentence.")
        await pilot.press("escape")
        await pilot.pause()
        assert "There is a sentence." in lines(app)[-1]
