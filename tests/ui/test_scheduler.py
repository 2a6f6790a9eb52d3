"""What the viewer shows of the scheduler: its screen, the story of a gap, the states of threads."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tracetui
from simulator.database import DatabaseWriter
from simulator.scheduler import OFFSET, SimulatedScheduler
from tests.analysis.scheduler.test_scheduler import analysed, planted, with_idle_cores
from tests.simulator import traces
from tests.ui.viewing import analysis_of, case, lines_of, open_viewer, said, timeline, until
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.launch_chains import milestones
from tracetui.analysis.scheduler.scheduler import SCHEDULED, recording_of
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.analysis.scheduler.states import State, ThreadStates
from tracetui.export.sentences.gap_shares import gap_shares
from tracetui.trace.model import TraceKind
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.row import LineKind
from tracetui.ui.drawing.state_lines import StateLines
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.scheduler import NO_CORE_TIME, NO_IDLE_TIME, NO_RECORDING, SchedulerScreen
from tracetui.ui.stories.gap_words import GapWords
from tracetui.ui.stories.scheduler_words import scheduler_sentences
from tracetui.units import format_duration


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "sched.txt"
    path.write_text(SimulatedScheduler(traces.recording("mixed", True), with_process=True).text())
    return path


def options(path: Path) -> ViewerOptions:
    return ViewerOptions(palette="none", scheduler=SchedulerSource(path, OFFSET))


async def test_the_screen_has_threads_culprits_and_cores(recording: Path) -> None:
    trace = traces.analysed("mixed").trace
    app = open_viewer(Path("trace_view.json"), options(recording), trace=trace)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        summary = analysis_of(app).scheduler_summary
        assert summary is not None
        app.action_go("scheduler")
        await pilot.pause()
        assert isinstance(app.screen, SchedulerScreen)
        scheduler = analysis_of(app).scheduler
        assert scheduler is not None
        start, end = scheduler.window
        assert {thread.wall_ns for thread in summary.threads} == {end - start}
        answer, place = said(app, "answer").splitlines()
        assert answer.startswith(f"Scheduler  threads over {format_duration(end - start)}") and place == "1/3"
        assert "The scheduler explains 22.0 ms" in said(app, "said")
        rows = lines_of(app.screen.table)
        assert [row.split()[0] for row in rows[1:4]] == [thread.task.comm for thread in summary.threads]
        assert app.screen.frame(app.screen.table.rows.view)["tid"].tolist() == [
            thread.task.pid for thread in summary.threads
        ]
        await pilot.press("tab")
        await pilot.pause()
        assert "kworker/3:1 (77)" in lines_of(app.screen.table)[1]
        assert app.screen.frame(app.screen.table.rows.view)["pid"].tolist()[0] == 77
        await pilot.press("tab")
        await pilot.pause()
        assert [int(row.split()[0]) for row in lines_of(app.screen.table)[1:4]] == [4, 5, 6]


async def test_a_row_is_opened_where_it_cost_most_time_on_end(recording: Path) -> None:
    app = open_viewer(Path("trace_view.json"), options(recording), trace=traces.analysed("mixed").trace)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        analysis = analysis_of(app)
        assert analysis.scheduler is not None and analysis.scheduler_summary is not None
        causes, threads = analysis.causes, analysis.scheduler_summary.threads
        pids = np.where(causes.track >= 0, analysis.scheduler.pid_of_track[causes.track], -1)
        scheduled = np.isin(causes.cause, SCHEDULED)
        for row, thread in enumerate(threads):
            app.action_go("scheduler")
            await pilot.press("home", *["j"] * row, "enter")
            with case(row):
                of_thread = np.flatnonzero(scheduled & (pids == (thread.task.host_pid or thread.task.pid)))
                if not len(of_thread):
                    assert app.shown == "scheduler" and said(app, "keys") == NO_IDLE_TIME
                    continue
                longest = of_thread[np.argmax((causes.end - causes.start)[of_thread])]
                assert app.shown == "timeline"
                assert middle(app) == (causes.start[longest] + causes.end[longest]) // 2
        app.action_go("scheduler")
        await pilot.press("tab", "home", "enter")
        assert app.shown == "timeline"
        preempted = causes.start[(causes.cause == Cause.PREEMPTED)]
        assert any(app.session.state.viewport.start_ns < start for start in preempted.tolist())
        app.action_go("scheduler")
        await pilot.press("tab", "enter")
        assert app.shown == "scheduler" and said(app, "keys") == NO_CORE_TIME


def middle(app: TraceApp) -> int:
    """The time in the middle of the timeline."""
    viewport = app.session.state.viewport
    return viewport.start_ns + viewport.span_ns // 2


async def test_a_small_screen_says_how_well_the_clock_is_known(tmp_path: Path) -> None:
    """And what a thread did, how often it moved, and who had its core."""
    text = SimulatedScheduler(traces.recording("mixed", True), with_process=True).text()
    path = tmp_path / "sched.txt"
    path.write_text(text + "nonsense\n")
    trace = traces.analysed("mixed").trace
    fitted = ViewerOptions(palette="none", scheduler=SchedulerSource(path))
    app = open_viewer(Path("trace_view.json"), fitted, trace=trace)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        app.action_go("scheduler")
        await pilot.pause()
        assert isinstance(app.screen, SchedulerScreen)
        await until(pilot, lambda: "µs" in said(app, "said"))
        assert said(app, "said").splitlines() == [
            " The scheduler explains 22.0 ms of idle time (56.4 %): disk 11.8 ms, preempted",
            " 8.79 ms, interrupted 1.22 ms, blocked 208 µs.",
            " Clock: fitted to what the threads do, to within 4.02 µs.",
            " Lines of the scheduler that cannot be read, and are skipped: 1.",
        ]
        titles = lines_of(app.screen.table)[0].split()
        assert titles == ["thread", "idle", "ready", "interrupted", "disk", "had", "its", "core"]
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        *_, last = said(app, "said").splitlines()
        assert last == " Clock: fitted to what the threads do, to within 4.02 µs. …", (
            "a note has no line left"
        )


async def test_hotspots_tell_what_pinning_saves(recording: Path) -> None:
    """Below the lines, and as what % tries last."""
    trace = traces.analysed("mixed").trace
    app = open_viewer(Path("trace_view.json"), options(recording), trace=trace)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        app.action_go("hotspots")
        await pilot.pause()
        alone, with_peers = map(format_duration, analysis_of(app).pinning_saves)
        sentence = f"saves {alone} at most beyond waits for late peers, {with_peers} if they come sooner too."
        await until(pilot, lambda: sentence in said(app, "note"))
        assert "Charged to the line that ran" in said(app, "note")
        await pilot.press("percent_sign")
        await until(pilot, lambda: "half" in said(app, "note"))
        await pilot.press("percent_sign", "percent_sign")
        await until(pilot, lambda: sentence in said(app, "note"))
        assert "Charged" not in said(app, "note")


@pytest.mark.parametrize(
    ("offset", "sentence"), [(None, NO_RECORDING), (0, "is not used: sched.txt does not overlap the trace")]
)
async def test_without_a_recording_the_screen_says_how_to_have_one(
    recording: Path, offset: int | None, sentence: str
) -> None:
    trace = traces.analysed("mixed").trace
    unfit = SchedulerSource() if offset is None else SchedulerSource(recording, offset)
    app = open_viewer(Path("trace_view.json"), ViewerOptions(palette="none", scheduler=unfit), trace=trace)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        app.action_go("scheduler")
        await pilot.pause()
        assert sentence in said(app, "answer")
        assert sentence in " ".join(said(app, "said").split())
        assert any(sentence in warning for warning in app.session.warnings) is (offset is not None)


def test_the_story_names_who_had_the_core(recording: Path) -> None:
    analysis = analysed("mixed")
    causes = analysis.causes
    pen = Pen(Palette("none"), glyphs(False))
    for cause, words in (
        (Cause.PREEMPTED, ("was ready for", "and had no core; it was with", "CPU_AFFINITY_CONF")),
        (Cause.BLOCKED, ("slept for", "until python3 (3178231) woke it")),
        (Cause.DISK, ("waited", "for a disk, a page of memory or a driver")),
        (Cause.INTERRUPTED, ("The core of", "served interrupts for")),
    ):
        place = int((causes.cause == cause).nonzero()[0][0])
        (sentence,) = scheduler_sentences(analysis, slice(place, place + 1), pen)
        text = "".join(piece[0] for piece in sentence)
        assert all(word in text for word in words), text
    assert not [*scheduler_sentences(traces.analysed("mixed"), slice(0, 100), pen)]


@pytest.mark.parametrize("waker", [-1, 0])
def test_nobody_woke_a_thread_where_that_is_not_known_or_its_core_was_idle(
    waker: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis = analysed("mixed")
    assert analysis.scheduler is not None
    states_of = analysis.scheduler.states_of

    def states_without(pid: int) -> ThreadStates:
        states = states_of(pid)
        return replace(states, waker=np.full_like(states.waker, waker))

    monkeypatch.setitem(analysis.scheduler.__dict__, "states_of", states_without)
    place = int((analysis.causes.cause == Cause.BLOCKED).nonzero()[0][0])
    pieces = scheduler_sentences(analysis, slice(place, place + 1), Pen(Palette("none"), glyphs(False)))
    (text,) = ("".join(piece[0] for piece in sentence) for sentence in pieces)
    assert " slept for " in text and "woke" not in text


@pytest.mark.parametrize("scenario", ["mixed", "stalls"])
def test_the_story_tells_the_time_of_the_thread_that_it_names(scenario: str) -> None:
    """Of all pieces at once: of which sleep, and how much others have."""
    analysis, pen = analysed(scenario), Pen(Palette("none"), glyphs(False))
    causes, scheduler = analysis.causes, analysis.scheduler
    assert scheduler is not None
    pids = np.where(causes.track >= 0, scheduler.pid_of_track[causes.track], -1)
    sentences = scheduler_sentences(analysis, slice(0, len(causes)), pen)
    texts = ["".join(piece[0] for piece in sentence) for sentence in sentences]
    kinds = (Cause.PREEMPTED, Cause.BLOCKED, Cause.DISK, Cause.INTERRUPTED)
    for cause in (kind for kind in kinds if (causes.cause == kind).any()):
        text = texts.pop(0)
        ns_by_thread: dict[int, int] = defaultdict(int)
        ns_by_sleep: dict[tuple[int, int], int] = defaultdict(int)
        for place in np.flatnonzero(causes.cause == cause).tolist():
            pid, start, ns = int(pids[place]), causes.start[place : place + 1], int(causes.ns[place])
            ns_by_thread[pid] += ns
            sleep = scheduler.states_of(pid).of(State.BLOCKED).index_at(start)
            ns_by_sleep[pid, int(sleep[0])] += ns
        main = max(ns_by_thread, key=lambda pid: ns_by_thread[pid])
        told = ns_by_thread[main]
        if cause is Cause.BLOCKED:
            told = max(ns for (pid, _), ns in ns_by_sleep.items() if pid == main)
        assert f"({main}" in text and f" {format_duration(told)}" in text
        rest = sum(ns_by_thread.values()) - told
        kind = "Other sleep" if cause is Cause.BLOCKED else "Other threads likewise"
        assert text.endswith(f" {kind}: {format_duration(rest)}.") or (not rest and kind not in text)
        assert not (cause is Cause.PREEMPTED and scenario == "stalls") or rest
    assert not texts


def test_the_story_does_not_advise_to_pin_where_nobody_has_the_core(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(with_idle_cores(planted("mixed").text()))
    trace = traces.analysed("mixed").trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))
    pen = Pen(Palette("none"), glyphs(False))
    place = int((analysis.causes.cause == Cause.PREEMPTED).nonzero()[0][0])
    (sentence,) = scheduler_sentences(analysis, slice(place, place + 1), pen)
    text = "".join(piece[0] for piece in sentence)
    assert "it was with nobody (wake-up)" in text and text.endswith("cpupower idle-set.")
    assert "CPU_AFFINITY_CONF" not in text


def test_the_story_of_a_gpu_binds_with_what_there_is() -> None:
    analysis = analysed("mixed")
    on_gpu = replace(analysis, trace=replace(analysis.trace, kind=TraceKind.GPU))
    pen = Pen(Palette("none"), glyphs(False))
    place = int((on_gpu.causes.cause == Cause.PREEMPTED).nonzero()[0][0])
    (sentence,) = scheduler_sentences(on_gpu, slice(place, place + 1), pen)
    assert "".join(piece[0] for piece in sentence).endswith("Pin the process: taskset.")


def test_a_thread_that_launches_has_no_line_of_python() -> None:
    """What it waits for a core is told of that thread, not of the one that enqueued meanwhile."""
    analysis = analysed("stalls")
    trace, causes = analysis.trace, analysis.causes
    tids = np.array([int(trace.tracks[track].tid) if track >= 0 else -1 for track in causes.track.tolist()])
    known = np.flatnonzero((causes.operator >= 0) & (causes.cause == Cause.PREEMPTED))
    callers = [int(trace.track_of(row).tid) for row in causes.operator[known].tolist()]
    of_launcher = known[tids[known] != callers]
    gaps = {int(causes.intervals.gap[causes.interval[place]]) for place in of_launcher.tolist()}
    shares = [share for gap in gaps for share in gap_shares(analysis, gap)]
    told = [share for share in shares if share.doing == "the launching thread ready, without a core"]
    assert sum(share.ns for share in told) == causes.ns[of_launcher].sum() > 0
    assert {share.frame for share in told} == {None}


def test_who_had_the_core_follows_what_the_host_was_late_with() -> None:
    """Before the other hops: a small screen has room for the first sentences only."""
    analysis = analysed("mixed")
    gap = int(analysis.gaps.lost.argmax())
    words = GapWords(analysis, gap, Pen(Palette("none"), glyphs(False)))
    texts = ["".join(piece[0] for piece in line) for line in words.lines(1000)]
    (place,) = (place for place, text in enumerate(texts) if "had no core; it was with" in text)
    assert "waited for the host" in " ".join(texts[:place])
    assert "task queue" in " ".join(texts[place:])


def test_a_task_waits_for_the_host_while_its_dequeue_thread_has_no_core() -> None:
    """That is after its enqueue: the story does not say that the host had yet to launch or enqueue it."""
    analysis = analysed("mixed")
    causes, chains = analysis.causes, analysis.launch_chains
    enqueued = milestones(chains).enqueued[chains.index(analysis.idle.task[causes.interval])]
    late = np.flatnonzero((causes.cause == Cause.PREEMPTED) & (enqueued >= 0) & (causes.start >= enqueued))
    gap = int(analysis.idle.gap[causes.interval[late[0]]])
    words = GapWords(analysis, gap, Pen(Palette("none"), glyphs(False)))
    texts = ["".join(piece[0] for piece in line).strip() for line in words.lines(1000)]
    (text,) = (text for text in texts if "ready, without a core" in text)
    assert re.match(r"For [^:(]+ (it|they) waited for the host[ :]", text)


def test_the_story_names_the_call_that_a_thread_slept_in(recording: Path, tmp_path: Path) -> None:
    """Of a database that records calls of the system, the one that takes most of the sleep."""
    run, path = traces.recording("mixed", True), tmp_path / "ascend_pytorch_profiler_0.db"
    DatabaseWriter(run).write(path)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE OSRT_API (name, globalTid, startNs, endNs)")
    connection.execute("INSERT INTO STRING_IDS VALUES (1 << 29, 'ioctl'), ((1 << 29) + 1, 'futex')")
    threads = connection.execute("SELECT DISTINCT globalTid FROM PYTORCH_API").fetchall()
    calls = [((1 << 29) + 1, thread, run.start, run.end) for (thread,) in threads]
    calls += [(1 << 29, thread, run.start, run.start + 10) for (thread,) in threads]
    connection.executemany("INSERT INTO OSRT_API VALUES (?, ?, ?, ?)", calls)
    connection.commit()
    connection.close()
    trace = tracetui.load(path, cache=False).trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(recording, OFFSET)))
    pen = Pen(Palette("none"), glyphs(False))
    for cause, words in ((Cause.BLOCKED, "woke it."), (Cause.DISK, "or a driver.")):
        place = int((analysis.causes.cause == cause).nonzero()[0][0])
        (sentence,) = scheduler_sentences(analysis, slice(place, place + 1), pen)
        text = "".join(piece[0] for piece in sentence)
        assert text.endswith(f"{words} It waited in futex.")
    assert analysis.system_calls.call_during("1", run.start, run.end) is None
    assert analysis.system_calls.call_during(str(run.main_tid), run.end + 1, run.end + 2) is None


async def test_states_of_threads_are_below_them(recording: Path) -> None:
    trace = traces.analysed("mixed").trace
    app = open_viewer(Path("trace_view.json"), options(recording), trace=trace)
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        await until(pilot, lambda: any(line.pid >= 0 for line in timeline(app).tracks.lines.lines))
        scheduler = analysis_of(app).scheduler
        assert scheduler is not None
        tracks = timeline(app).tracks
        shown = [line for line in tracks.lines.lines if line.kind is LineKind.STATES]
        assert {line.pid for line in shown} == {thread.tid for thread in scheduler.threads}
        before = tracks.lines.lines[tracks.lines.index(shown[0].key) - 1]
        assert trace.tracks[before.track].tid == str(shown[0].pid)
        state = app.session.state
        state.toggled = state.toggled | {shown[0].key}
        tracks.lay_out()
        place = tracks.lines.index(shown[0].key)
        assert tracks.lines.lines[place + 1].kind is LineKind.CORES
        header = tracks.lines.lines[-1]
        assert (header.label, header.members, header.folded) == ("Cores of the host", 3, True)
        state.toggled = state.toggled | {header.key}
        tracks.lay_out()
        assert [line.cpu for line in tracks.lines.lines[-3:]] == [4, 5, 6]


def test_a_column_has_who_has_the_core_for_most_of_it() -> None:
    scheduler = analysed("mixed").scheduler
    assert scheduler is not None
    drawn = StateLines(Palette("none"), glyphs(True))
    for cpu in scheduler.cores.numbers:
        for letter, times in zip("-pxI ?", scheduler.owners(cpu)):
            for start, end in [*zip(times.starts.tolist(), times.ends.tolist())][:20]:
                edges = np.array([start - 1, start, end, end + 1], np.int64)
                text = "".join(segment.text for segment in drawn.owners(scheduler, cpu, edges))
                assert text[1] == letter


def test_a_column_has_the_state_that_takes_most_of_it() -> None:
    scheduler = analysed("mixed").scheduler
    assert scheduler is not None
    drawn = StateLines(Palette("none"), glyphs(True))
    for thread in scheduler.threads:
        states = scheduler.states(thread)
        edges = np.append(states.start, states.end[-1])
        text = "".join(segment.text for segment in drawn.states(scheduler, states.pid, edges))
        letters = {0: "-", 1: "I", 2: "X", 3: ".", 4: "V", 5: "?"}
        assert text == "".join(letters[state] for state in states.state.tolist())
        outside = np.array([scheduler.window[0] - 10, scheduler.window[0] - 5], np.int64)
        assert [segment.text for segment in drawn.states(scheduler, states.pid, outside)] == [" "]
        (cores,) = drawn.cores(scheduler, states.pid, np.linspace(*scheduler.window, 41).astype(np.int64))
        assert set(cores.text) <= {str(int(states.cpu[0])), "-", " "}
