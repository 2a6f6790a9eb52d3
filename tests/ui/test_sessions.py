"""Several traces are open: one is shown, one stays beside it, the others are let go and found again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.analysis.machine import npu, task
from tests.ui.training import screen_text, training
from tests.ui.viewing import until
from tracetui.trace.build import build_trace
from tracetui.ui.app import TraceApp
from tracetui.ui.comparing.comparing import COMPARE
from tracetui.ui.messages import AnalysisFailed, LoadProgress, TraceGrew
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.chooser import ChoiceList
from tracetui.ui.screens.open_traces import OpenTraces
from tracetui.ui.session import Session
from tracetui.ui.trace_names import name_of, names_of
from tracetui.ui.viewer import FIRST

OPTIONS = ViewerOptions(palette="none", ascii=True, cache=False)


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Traces of three tasks, each named after its trace."""
    found = []
    for name in ("fast", "slow", "third"):
        tasks = [task(1_000_000 + 20_000 * n, 1000, connection=n, name=f"{name}{n}") for n in range(3)]
        found.append(tmp_path / name / "trace_view.json")
        found[-1].parent.mkdir()
        found[-1].write_text(json.dumps([*npu(), *tasks]))
    return found


@asynccontextmanager
async def opened(paths: Sequence[Path]) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer of several files, the first read, and its list closed."""
    sessions = [Session(path, OPTIONS, name=name) for path, name in zip(paths, names_of(paths))]
    sessions[0].open()
    app = TraceApp(sessions, OPTIONS)
    try:
        async with app.run_test(size=(100, 24)) as pilot:
            await read(app, pilot)
            await pilot.press("escape")
            yield app, pilot
    finally:
        for session in app.sessions:
            session.end()


async def read(app: TraceApp, pilot: Pilot[int]) -> None:
    await until(pilot, lambda: app.session.analysis is not None)


def names(app: TraceApp) -> set[str]:
    """The names of the slices of the trace that is shown."""
    trace = app.session.trace
    assert trace is not None
    return {trace.name(row) for row in range(len(trace.slices.name))}


async def test_the_list_comes_first_and_says_what_is_read(paths: list[Path]) -> None:
    sessions = [Session(path, OPTIONS, name=path.parent.name) for path in paths]
    sessions[0].open()
    app = TraceApp(sessions, OPTIONS)
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, OpenTraces) and bool(screen_text(app)))
        await read(app, pilot)
        await until(pilot, lambda: any("fast" in line and "idle 9" in line for line in screen_text(app)))
        assert sum("not opened yet" in line for line in screen_text(app)) == 2
        await pilot.press("t", "h", "i", "enter")
        await until(pilot, lambda: app.session.name == "third")
        await read(app, pilot)
        assert names(app) == {"third0", "third1", "third2"}
    for session in app.sessions:
        session.end()


async def test_the_list_shows_all_where_they_fit(paths: list[Path]) -> None:
    async with opened(paths) as (app, pilot):
        await read(app, pilot)
        app.show_session(app.sessions[2])
        await read(app, pilot)
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, OpenTraces))
        listed = "\n".join(screen_text(app))
        assert all(f"  {path.parent.name} " in listed for path in paths)
        assert app.screen.query_one(ChoiceList).cursor == 2


async def test_keys_flip_on_the_same_screen_and_each_trace_keeps_its_place(paths: list[Path]) -> None:
    async with opened(paths[:2]) as (app, pilot):
        await pilot.press("x", "G")
        first = app.session
        await pilot.press("right_curly_bracket")
        await read(app, pilot)
        assert (app.session.name, app.shown, app.session.state.gap) == ("slow", "gaps", -1)
        await until(pilot, lambda: "slow1" in "\n".join(screen_text(app)))
        await pilot.press("right_curly_bracket")
        assert app.session is first and first.state.gap >= 0, "two stay open"
        await pilot.press("left_curly_bracket")
        assert app.session.name == "slow"


async def test_a_third_lets_one_go_that_opens_again_where_it_was_left(paths: list[Path]) -> None:
    async with opened(paths) as (app, pilot):
        await pilot.press("w", "w")
        await pilot.pause()
        first, viewport = app.session, app.session.state.viewport
        assert viewport != first.state.bounds
        for _ in range(2):
            await pilot.press("right_curly_bracket")
            await read(app, pilot)
        assert [session.is_open for session in app.sessions] == [False, True, True]
        for late in (LoadProgress(first, 1, 2, 3), AnalysisFailed(first, "too late")):
            app.post_message(late)
        app.post_message(TraceGrew(first, training()))
        await pilot.pause()
        await pilot.press("right_curly_bracket")
        await read(app, pilot)
        assert app.session is not first and app.session.state.viewport == viewport
        assert names(app) == {"fast0", "fast1", "fast2"} and not app.session.problem
        assert [session.is_open for session in app.sessions] == [True, False, True]


async def test_a_trace_that_cannot_be_read_says_why_and_the_others_work(paths: list[Path]) -> None:
    paths[1].write_text("no trace at all")
    async with opened(paths[:2]) as (app, pilot):
        await pilot.press("right_curly_bracket")
        await until(pilot, lambda: bool(app.session.problem))
        await until(pilot, lambda: app.session.problem[:30] in "\n".join(screen_text(app)))
        await pilot.press("H")
        await pilot.pause()
        await pilot.press("right_curly_bracket")
        assert app.session.name == "fast" and app.failure is None
        await pilot.press("L")
        await until(pilot, lambda: any(app.sessions[1].problem[:20] in line for line in screen_text(app)))


async def test_two_traces_open_on_their_comparison(paths: list[Path]) -> None:
    sessions = [Session(path, OPTIONS, name=name) for path, name in zip(paths[:2], names_of(paths[:2]))]
    app = TraceApp(sessions, OPTIONS)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await until(
                pilot, lambda: app.comparing.pair is not None and app.comparing.pair.comparison is not None
            )
            await pilot.pause()
            assert app.shown == COMPARE
            assert screen_text(app)[1].startswith("BASE   fast")
            await pilot.press("escape")
            assert app.shown == FIRST, "no list of traces is in the way"
    finally:
        for session in app.sessions:
            session.end()


async def test_one_trace_has_no_other(paths: list[Path]) -> None:
    async with opened(paths[:1]) as (app, pilot):
        await pilot.press("right_curly_bracket")
        await until(pilot, lambda: "No other trace is open" in screen_text(app)[-1])


async def test_the_window_is_called_after_the_trace_that_is_shown(paths: list[Path]) -> None:
    async with opened(paths[:2]) as (app, pilot):
        names = [session.name for session in app.sessions]
        assert app.title == f"{names[0]} - tracetui"
        await pilot.press("right_curly_bracket")
        await until(pilot, lambda: app.title == f"{names[1]} - tracetui")


async def test_a_long_name_leaves_the_room_that_the_numbers_of_the_trace_need(tmp_path: Path) -> None:
    directory = tmp_path / ("a_long_way_of_saying_which_run_it_was_" * 2)
    options = ViewerOptions(palette="none")
    app = TraceApp([Session(directory / "trace_view.json", options, trace=training())], options)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.session.analysis is not None)
        await until(pilot, lambda: "idle" in screen_text(app)[0])
        assert screen_text(app)[0].strip().startswith("…")


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/a/b/x.json", "/a/c/x.json"], ["b", "c"]),
        (["/a/x.json", "/a/y.json"], ["x.json", "y.json"]),
        (["/a/x.json", "/a/x.json"], ["/a/x.json", "/a/x.json"]),
        (["/j/r0/ASCEND_PROFILER_OUTPUT/t.json", "/j/r1/ASCEND_PROFILER_OUTPUT/t.json"], ["r0", "r1"]),
        (["/j/r0/t.json", "/k/r0/t.json", "/k/r1/t.json"], ["j/r0", "k/r0", "k/r1"]),
        (["/j/r0_ascend_pt/trace_view.json", "/j/r1_ascend_pt/trace_view.json"], ["r0", "r1"]),
    ],
)
def test_names_tell_paths_apart(paths: list[str], expected: list[str]) -> None:
    assert names_of([Path(path) for path in paths]) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/before.json", "before.json"),
        ("/a/b/trace_view.json", "b"),
        ("/trace_view.json", "trace_view.json"),
        ("/jobs/run1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "run1/rank0"),
        ("/run1/host_7_2024_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json", "run1/host_7_2024"),
        ("/a/old/ascend_timeline_display_3.json", "old/rank3"),
        ("/a/PROF_01_02_AB/mindstudio_profiler_output/msprof_20240101101010.json", "PROF_01_02_AB"),
    ],
)
def test_a_trace_alone_is_called_what_tells_of_its_run(path: str, expected: str) -> None:
    assert name_of(Path(path)) == expected and names_of([Path(path)]) == [expected]
    assert Session(Path(path)).name == expected


def test_the_directory_one_is_in_names_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run7").mkdir()
    monkeypatch.chdir(tmp_path / "run7")
    assert name_of(Path("trace_view.json")) == "run7"


def test_a_cut_file_that_has_grown_is_said_to(tmp_path: Path) -> None:
    """Not while it is as it was read, and not of a whole one."""
    grown = "The file has grown since it was read: open it again to see all of it."
    event = '{"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": "5", "dur": 1}'
    path = tmp_path / "t.json"
    for text, is_cut in ((f"[{event}, {event[:9]}", True), (f"[{event}]", False)):
        path.write_text(text)
        session = Session(path)
        session.open()
        assert session.file is not None
        session.trace = build_trace(session.file.read())
        session.progress = None
        assert grown not in session.warnings
        with path.open("a") as file:
            file.write(" " * 9)
        assert (grown in session.warnings) == is_cut
