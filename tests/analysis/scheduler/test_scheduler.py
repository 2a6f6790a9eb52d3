"""What the operating system did with the host: planted in simulated runs, and recorded for real."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulator.scheduler import OFFSET, SimulatedScheduler
from simulator.truth import Truth
from tests.analysis.scheduler.recorded import kernel_records
from tests.once import once
from tests.simulator import traces
from tracetui.analysis.advice import find_advice
from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import HOST_BOUND
from tracetui.analysis.advice.scheduler import unrecorded
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.heat.work import Occupation, WorkMap
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.cores import Cores
from tracetui.analysis.scheduler.scheduler import (
    SCHEDULED,
    CoreOwner,
    Culprit,
    Scheduler,
    SchedulerRecording,
    recording_of,
)
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.analysis.scheduler.states import State, ThreadStates, thread_states
from tracetui.export.sentences.advice_english import ascii_duration, english_words
from tracetui.export.tables.column import records
from tracetui.export.tables.scheduler import CULPRITS, CulpritRows
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.files import read_recording


@once
def planted(scenario: str, task_queue: bool = True) -> SimulatedScheduler:
    return SimulatedScheduler(traces.recording(scenario, task_queue), with_process=True)


@once
def analysed(scenario: str, task_queue: bool = True) -> Analysis:
    """The analysis of a run with its scheduler."""
    trace = traces.analysed(scenario, task_queue=task_queue).trace
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace.txt"
        path.write_text(planted(scenario, task_queue).text())
        return analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))


@pytest.mark.parametrize("task_queue", [True, False])
@pytest.mark.parametrize("scenario", ["mixed", "moba", "stalls"])
def test_causes_are_those_planted(scenario: str, task_queue: bool) -> None:
    truth = Truth(traces.recording(scenario, task_queue)).as_json()
    expected = sorted(planted(scenario, task_queue).causes(truth), key=lambda part: part[0])
    causes = analysed(scenario, task_queue).causes
    found = list(zip(causes.start.tolist(), causes.end.tolist(), map(label, causes.cause.tolist())))
    agreed = total = 0
    while expected and found:
        one, other = expected[0], found[0]
        shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
        total += shared
        agreed += shared if one[2] == other[2] else 0
        (expected if one[1] <= other[1] else found).pop(0)
    assert total == analysed(scenario, task_queue).idle_ns
    assert agreed >= 0.97 * total


LINE = re.compile(
    r" *(?P<comm>.{1,16}?)-(?P<pid>\d+) +\(.*?\) \[(?P<cpu>\d+)\] \S+ +(?P<time>[\d.]+): "
    r"(?P<event>\w+): (?P<fields>.*)"
)
SWITCH = re.compile(
    r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\S+) ==> "
    r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)"
)
WAKE = re.compile(r"comm=(.*) pid=(\d+) prio=(\d+) target_cpu=(\d+)")


def as_trace_cmd(line: re.Match[str]) -> str:
    fields = SWITCH.sub(r"\1:\2 [\3] \4 ==> \5:\6 [\7]", line["fields"])
    fields = WAKE.sub(r"\1:\2 [\3] CPU:\4", fields)
    head = "{comm:>16}-{pid:<6} [{cpu}] {time}: ".format(**line.groupdict())
    return f"{head}{line['event'] + ':':<21} {fields}"


def as_perf(line: re.Match[str]) -> str:
    group = "irq" if line["event"].startswith("irq") else "sched"
    head = "{comm:>16} {pid:>6} [{cpu}] {time}: ".format(**line.groupdict())
    return f"{head}{group}:{line['event']}: {line['fields']}"


def without_process(line: re.Match[str]) -> str:
    return "{comm:>16}-{pid:<6} [{cpu}] d..2. {time}: {event}: {fields}".format(**line.groupdict())


@pytest.mark.parametrize("form", [as_trace_cmd, as_perf, without_process])
def test_all_forms_of_text_split_idle_time_alike(
    form: Callable[[re.Match[str]], str], tmp_path: Path
) -> None:
    lines = [line for text in planted("mixed").text().splitlines() if (line := LINE.fullmatch(text))]
    path = laid_beside(tmp_path, "".join(f"{form(line)}\n" for line in lines))
    trace = traces.analysed("mixed").trace
    recording = recording_of(trace, SchedulerSource(path, OFFSET))
    assert recording.scheduler is not None and not recording.scheduler.events.skipped
    found, expected = analyse(trace, None, recording), analysed("mixed")
    assert set(SCHEDULED) <= set(found.causes.by_cause())
    assert found.causes.by_cause() == expected.causes.by_cause()
    summaries = found.scheduler_summary, expected.scheduler_summary
    one, other = ([*map(blamed, summary.culprits)] for summary in summaries if summary is not None)
    assert one == other
    (without, _) = (summary for summary in summaries if summary is not None)
    whose = {culprit.task.pid: culprit.own_process for culprit in without.culprits}
    unknown = {pid for pid, is_own in whose.items() if is_own is None}
    assert unknown == whose.keys() - {0}, "nothing tells their processes"
    rows = records(CULPRITS, CulpritRows(without))
    assert {row["own_process"] for row in rows if row["pid"] in unknown} == {None}
    assert found.scheduler is not None
    owners = map(found.scheduler.owners, found.scheduler.cores.numbers)
    assert not any(spans[CoreOwner.STRANGER].total for spans in owners)
    (advice,) = [advice for advice in find_advice(found) if advice.id == "threads_without_a_core"]
    nobody = sum(row.idle_ns for row in without.culprits if row.task.pid == 0)
    assert (advice.evidence["foreign_ns"], advice.evidence["nobody_ns"]) == (0, nobody)


def blamed(culprit: Culprit) -> tuple[str, int | None, int]:
    return culprit.task.comm, culprit.task.pid, culprit.idle_ns


@pytest.mark.parametrize("scenario", ["mixed", "moba"])
def test_culprits_are_those_planted(scenario: str) -> None:
    expected: dict[tuple[str, int] | None, int] = defaultdict(int)
    for start, end, cause, culprit in planted(scenario).causes(traces.truth(scenario)):
        if cause == "host.preempted":
            expected[culprit] += end - start
    analysis = analysed(scenario)
    causes, scheduler = analysis.causes, analysis.scheduler
    assert scheduler is not None
    pieces = causes.cause == Cause.PREEMPTED
    found = scheduler.culprits(causes.start[pieces], causes.end[pieces], causes.track[pieces])
    assert sum(culprit.idle_ns for culprit in found) == causes.by_cause()[Cause.PREEMPTED]
    idle_by_task = {(culprit.task.comm, culprit.task.pid): culprit.idle_ns for culprit in found}
    assert idle_by_task == dict(expected)
    assert [culprit.own_process for culprit in found] == [culprit.task.pid != 77 for culprit in found]


def label(code: int) -> str:
    return Cause(code).label


@pytest.mark.parametrize("scenario", ["mixed", "stalls"])
def test_the_time_of_a_thread_is_partitioned(scenario: str) -> None:
    scheduler = analysed(scenario).scheduler
    assert scheduler is not None
    assert len(scheduler.threads) == 3
    names = {"preempted": State.READY, "interrupted": State.INTERRUPTED, "disk": State.DISK}
    for thread in scheduler.threads:
        states = scheduler.states(thread)
        assert states.start[0] == scheduler.window[0]
        assert states.end[-1] == scheduler.window[1]
        assert (states.start[1:] == states.end[:-1]).all()
        expected: dict[State, int] = defaultdict(int)
        for stretch in planted(scenario).planted:
            if stretch.tid == thread.tid:
                start, end = np.clip([stretch.start, stretch.end], *scheduler.window).tolist()
                expected[names.get(stretch.state, State.BLOCKED)] += end - start
        found = states.sums()
        for state in (State.READY, State.INTERRUPTED, State.BLOCKED, State.DISK, State.UNKNOWN):
            assert found[state] == expected[state]


def test_the_time_of_a_core_is_partitioned_by_who_has_it() -> None:
    scheduler = analysed("mixed").scheduler
    assert scheduler is not None
    start, end = scheduler.window
    found = dict.fromkeys(CoreOwner, 0)
    for cpu in scheduler.cores.numbers:
        totals = {owner: times.total for owner, times in zip(CoreOwner, scheduler.owners(cpu))}
        assert sum(totals.values()) == end - start
        for owner, ns in totals.items():
            found[owner] += ns
    expected: dict[CoreOwner, int] = defaultdict(int)
    of_culprit = {77: CoreOwner.STRANGER, planted("mixed").recording.main_tid + 11: CoreOwner.PROCESS}
    for stretch in planted("mixed").planted:
        owner = CoreOwner.INTERRUPT if stretch.state == "interrupted" else CoreOwner.NOBODY
        owner = owner if stretch.culprit is None else of_culprit[stretch.culprit[1]]
        first, last = np.clip([stretch.start, stretch.end], start, end).tolist()
        expected[owner] += last - first
    expected[CoreOwner.THREAD] = len(scheduler.cores.numbers) * (end - start) - sum(expected.values())
    assert found == {owner: expected[owner] for owner in CoreOwner}


def test_without_the_recording_nothing_changes() -> None:
    plain, known = traces.analysed("mixed").causes, analysed("mixed").causes
    assert not set(plain.by_cause()) & set(SCHEDULED)
    assert sum(plain.by_cause().values()) == sum(known.by_cause().values())
    unchanged = {Cause.LATENCY, Cause.STREAM_WAIT, Cause.UNKNOWN, Cause.UNLINKED}
    for cause in unchanged:
        assert plain.by_cause().get(cause) == known.by_cause().get(cause)
    lines = {line.key: line.idle_ns for line in traces.analysed("mixed").lines}
    assert {line.key: line.idle_ns for line in analysed("mixed").lines} == lines


# -- the clock, and the numbers of threads ----------------------------------------------------------------


def laid_beside(tmp_path: Path, text: str) -> Path:
    """A recording; its trace is read already."""
    path = tmp_path / "trace.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("scenario", ["mixed", "moba", "stalls"])
def test_a_clock_is_fitted_to_what_threads_do(scenario: str, tmp_path: Path) -> None:
    path = laid_beside(tmp_path, planted(scenario).text())
    trace = traces.analysed(scenario).trace
    scheduler = recording_of(trace, SchedulerSource(path)).scheduler
    assert scheduler is not None
    clock = scheduler.clock
    assert clock.source == "fitted"
    assert clock.error_ns is not None
    assert abs(clock.offset_ns - OFFSET) <= min(clock.error_ns, 200_000)


@pytest.mark.parametrize(("first", "last"), [(0, 0.9), (0, 0.6), (0.1, 1), (0.4, 1)])
def test_a_clock_is_fitted_where_the_recording_holds_a_part(
    first: float, last: float, tmp_path: Path
) -> None:
    """A buffer keeps the last events only; a recording may end before the trace does."""
    lines = planted("mixed").text().splitlines(keepends=True)
    part = lines[int(first * len(lines)) : int(last * len(lines))]
    trace = traces.analysed("mixed").trace
    scheduler = recording_of(trace, SchedulerSource(laid_beside(tmp_path, "".join(part)))).scheduler
    assert scheduler is not None
    clock = scheduler.clock
    assert clock.error_ns is not None
    assert abs(clock.offset_ns - OFFSET) <= clock.error_ns <= 200_000
    start, end = scheduler.window
    assert end - start < 0.95 * (trace.end_ns - trace.start_ns)


def test_a_small_part_of_a_trace_tells_no_clock(tmp_path: Path) -> None:
    lines = planted("mixed").text().splitlines(keepends=True)
    path = laid_beside(tmp_path, "".join(lines[: len(lines) // 4]))
    with pytest.raises(Refusal, match="--sched-offset"):
        recording_of(traces.analysed("mixed").trace, SchedulerSource(path))


@pytest.mark.parametrize("last", [0.6, 1])
def test_a_recording_of_another_time_tells_no_clock(last: float, tmp_path: Path) -> None:
    """The threads are those of the trace; what they did is not."""
    simulated = SimulatedScheduler(traces.recording("moba", True), with_process=True)
    other = {stretch.tid for stretch in simulated.planted}
    text = simulated.text()
    for tid, mine in zip(sorted(other), sorted({stretch.tid for stretch in planted("mixed").planted})):
        text = text.replace(str(tid), str(mine))
    lines = text.splitlines(keepends=True)
    path = laid_beside(tmp_path, "".join(lines[: int(last * len(lines))]))
    with pytest.raises(Refusal, match="--sched-offset"):
        recording_of(traces.analysed("mixed").trace, SchedulerSource(path))


def test_a_clock_that_nothing_tells_is_refused(tmp_path: Path) -> None:
    """In `balanced` threads run most of the time without a call: many offsets are as good."""
    path = laid_beside(tmp_path, planted("balanced").text())
    with pytest.raises(Refusal, match="--sched-offset"):
        recording_of(traces.analysed("balanced").trace, SchedulerSource(path))


def test_a_clock_that_is_told_is_believed_and_doubted(tmp_path: Path) -> None:
    """An offset that is wrong by 3 ms: it was given, so it holds, and how little agrees is told."""
    path = laid_beside(tmp_path, planted("mixed").text())
    source = SchedulerSource(path, OFFSET + 3_000_000)
    scheduler = recording_of(traces.analysed("mixed").trace, source).scheduler
    assert scheduler is not None
    assert scheduler.clock.source == "given"
    assert len(scheduler.threads) == 3
    assert scheduler.agreeing is not None and scheduler.agreeing < 0.9


def beside(tmp_path: Path, scenario: str, off_ns: int = 0) -> tuple[Path, Path]:
    """A trace and the profiler's clock in the directories of a rank."""
    output = tmp_path / "rank_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    host = tmp_path / "rank_ascend_pt" / "PROF_1" / "host"
    output.mkdir(parents=True)
    host.mkdir(parents=True)
    trace = output / "trace_view.json"
    trace.write_bytes(traces.written(scenario))
    start_info = {
        "clockMonotonicRaw": str(5_000_000_000),
        "collectionTimeBegin": str((OFFSET + off_ns + 5_000_000_000) // 1000),
    }
    (host / "start_info").write_text(json.dumps(start_info))
    return trace, output / "trace.txt"


def test_the_profiler_tells_the_clock(tmp_path: Path) -> None:
    trace_path, path = beside(tmp_path, "balanced")
    path.write_text(planted("balanced").text())
    trace = traces.read_file(trace_path)
    scheduler, problem = recording_of(trace)
    assert not problem
    assert scheduler is not None
    assert scheduler.clock == type(scheduler.clock)("start_info", OFFSET, None, 1_000)


@pytest.mark.parametrize("off_ns", [100_000, 10_000_000])
def test_what_threads_do_tells_a_clock_that_the_profiler_tells_wrongly(off_ns: int, tmp_path: Path) -> None:
    """The recording was not made with mono_raw."""
    trace_path, path = beside(tmp_path, "mixed", off_ns)
    path.write_text(planted("mixed").text())
    scheduler, _ = recording_of(traces.read_file(trace_path))
    assert scheduler is not None and scheduler.agreeing == 1
    assert scheduler.clock.source == "fitted" and abs(scheduler.clock.offset_ns - OFFSET) <= 4_000


def test_a_clock_that_is_wrong_where_nothing_tells_another_has_no_known_error(tmp_path: Path) -> None:
    trace_path, path = beside(tmp_path, "balanced", 10_000_000)
    path.write_text(planted("balanced").text())
    scheduler, _ = recording_of(traces.read_file(trace_path))
    assert scheduler is not None and scheduler.agreeing is not None and scheduler.agreeing < 0.9
    assert (scheduler.clock.source, scheduler.clock.error_ns) == ("start_info", None)
    health = analyse(traces.read_file(trace_path), None, SchedulerRecording(scheduler)).health
    assert health.severity_of(("causes",)).label == "doubtful"
    assert "clock.scheduler" in [finding.id for finding in health.doubts]


def test_a_clock_that_drifts_is_less_sure_the_longer_it_ran(tmp_path: Path) -> None:
    """The profiler's clocks stood apart by 1 ms after 10 s: the error grows from its start on."""
    trace_path, path = beside(tmp_path, "balanced")
    path.write_text(planted("balanced").text())
    end_info = {
        "clockMonotonicRaw": str(15_000_000_000),
        "collectionTimeEnd": str((OFFSET + 15_001_000_000) // 1000),
    }
    (tmp_path / "rank_ascend_pt" / "PROF_1" / "host" / "end_info").write_text(json.dumps(end_info))
    scheduler, _ = recording_of(traces.read_file(trace_path))
    assert scheduler is not None
    assert scheduler.clock.drift_ppm == pytest.approx(100)
    elapsed = scheduler.events.end_ns + 1 - 5_000_000_000
    assert scheduler.clock.error_ns == pytest.approx(1_000 + elapsed * 1e-4, abs=1)


def test_a_recording_beside_that_is_of_no_use_is_told(tmp_path: Path) -> None:
    trace_path, path = beside(tmp_path, "balanced")
    path.write_text("            bash-11537   [001] d..2.   918.470501: sys_enter: NR 1 (0)\n")
    scheduler, problem = recording_of(traces.read_file(trace_path))
    assert scheduler is None
    assert problem == "trace.txt holds no events of the scheduler"


SHIFT = 400_000  #: what the host's numbers of threads are greater by than those of the container


def in_host(scenario: str) -> str:
    """The recording of a run in a container: threads have other numbers than in the trace."""
    text = planted(scenario).text()
    for tid in {stretch.tid for stretch in planted(scenario).planted}:
        text = text.replace(str(tid), str(tid + SHIFT))
    return text


def test_a_mapping_tells_threads_of_a_container(tmp_path: Path) -> None:
    path = laid_beside(tmp_path, in_host("mixed"))
    tids = sorted({stretch.tid for stretch in planted("mixed").planted})
    mapping = {str(tid + SHIFT): {"NSpid": str(tid), "Tgid": str(tids[0] + SHIFT)} for tid in tids}
    (tmp_path / "pid_mapping.json").write_text(json.dumps(mapping))
    trace = traces.analysed("mixed").trace
    scheduler = recording_of(trace, SchedulerSource(path, OFFSET)).scheduler
    assert scheduler is not None
    assert not scheduler.matching.inferred
    assert dict(scheduler.matching.host) == {tid: tid + SHIFT for tid in tids}
    assert scheduler.task(tids[0] + SHIFT, 0)[1:] == (tids[0], tids[0] + SHIFT)


def test_threads_of_a_container_are_inferred(tmp_path: Path) -> None:
    path = laid_beside(tmp_path, in_host("mixed"))
    trace = traces.analysed("mixed").trace
    scheduler = recording_of(trace, SchedulerSource(path, OFFSET)).scheduler
    assert scheduler is not None
    assert scheduler.matching.inferred
    tids = {stretch.tid for stretch in planted("mixed").planted}
    assert dict(scheduler.matching.host) == {tid: tid + SHIFT for tid in tids}


def test_a_thread_that_is_not_seen_to_leave_its_core_is_not_taken_for_another(tmp_path: Path) -> None:
    """It would have a core at every call."""
    host = in_host("mixed")
    first = next(line for line in host.splitlines() if "sched_switch" in line)
    pid = re.findall(r"(?:prev|next)_pid=([1-9]\d*)", first)[0]
    stuck = re.sub(r"\[\d+\]", "[025]", first.replace(f"={pid} ", "=99 "), count=1)
    path = laid_beside(tmp_path, host.replace(first, f"{stuck}\n{first}", 1))
    trace = traces.analysed("mixed").trace
    scheduler = recording_of(trace, SchedulerSource(path, OFFSET)).scheduler
    assert scheduler is not None
    tids = {stretch.tid for stretch in planted("mixed").planted}
    assert dict(scheduler.matching.host) == {tid: tid + SHIFT for tid in tids}


def test_a_recording_of_other_threads_is_refused(tmp_path: Path) -> None:
    text = "".join(
        f"            bash-7       [001] d..2.   {second}.470501: sched_switch: prev_comm=bash prev_pid=7 "
        f"prev_prio=120 prev_state=S ==> next_comm=a next_pid=8 next_prio=120\n"
        for second in range(474710, 474720)
    )
    path = laid_beside(tmp_path, text)
    with pytest.raises(Refusal):
        recording_of(traces.analysed("mixed").trace, SchedulerSource(path))


def test_a_core_is_with_the_process_of_any_thread_of_the_trace(tmp_path: Path) -> None:
    """Of which one may be of another process: the data loader is of the main thread's still."""
    simulated = planted("mixed")
    main, autograd = simulated.recording.main_tid, f"{simulated.recording.autograd_tid:<7} ({{:>7}})"
    text = simulated.text().replace(autograd.format(main), autograd.format(4_000_000))
    trace = traces.analysed("mixed").trace
    scheduler = recording_of(trace, SchedulerSource(laid_beside(tmp_path, text), OFFSET)).scheduler
    assert scheduler is not None
    assert scheduler.process_of(simulated.recording.autograd_tid) == 4_000_000
    owners = [scheduler.owners(cpu)[CoreOwner.PROCESS].total for cpu in scheduler.cores.numbers]
    assert sum(owners) > 0


# -- the partition, by definition -------------------------------------------------------------------------


def line(at: int, cpu: int, pid: int, text: str) -> str:
    return f"               x-{pid:<7} [{cpu:03d}] d..2. 5.{at:06d}: {text}\n"


def switch(at: int, cpu: int, left: int, state: str, got: int) -> str:
    fields = (
        f"sched_switch: prev_comm=x prev_pid={left} prev_prio=120 prev_state={state} ==> "
        f"next_comm=x next_pid={got} next_prio=120"
    )
    return line(at, cpu, left, fields)


def wake(at: int, cpu: int, waker: int, pid: int, target: int, event: str = "sched_waking") -> str:
    return line(at, cpu, waker, f"{event}: comm=x pid={pid} prio=120 target_cpu={target:03d}")


def move(at: int, pid: int, target: int) -> str:
    return line(at, 0, 9, f"sched_migrate_task: comm=x pid={pid} prio=120 orig_cpu=0 dest_cpu={target}")


def pieces(tmp_path: Path, text: str, pid: int = 7) -> list[tuple[int, int, str, int, int]]:
    """The time of a thread: from and to in µs of the sixth second, state, core, waker."""
    path = tmp_path / "trace.txt"
    path.write_text(text)
    events = read_recording(path)
    states = thread_states(events, [pid], (events.start_ns, events.end_ns + 1000))[pid]
    start, end = ((times // 1000 - 5_000_000).tolist() for times in (states.start, states.end))
    names = [State(state).name for state in states.state.tolist()]
    return list(zip(start, end, names, states.cpu.tolist(), states.waker.tolist()))


def test_ready_lasts_from_the_waking_and_waits_for_the_core_told_last(tmp_path: Path) -> None:
    text = switch(100, 1, 0, "R", 7) + switch(200, 1, 7, "S", 9) + wake(300, 2, 5, 7, 1)
    text += wake(310, 2, 5, 7, 3, "sched_wakeup") + line(
        330, 2, 5, "sched_migrate_task: comm=x pid=7 prio=120 orig_cpu=3 dest_cpu=4"
    )
    text += switch(400, 4, 8, "R", 7) + switch(500, 4, 7, "R", 8) + switch(600, 4, 8, "S", 7)
    text += switch(700, 4, 7, "D", 0) + wake(800, 4, 0, 7, 4) + switch(810, 4, 0, "R", 7)
    assert pieces(tmp_path, text) == [
        (100, 200, "RUNNING", 1, -1),
        (200, 300, "BLOCKED", 1, 5),
        (300, 310, "READY", 1, -1),
        (310, 330, "READY", 3, -1),
        (330, 400, "READY", 4, -1),
        (400, 500, "RUNNING", 4, -1),
        (500, 600, "READY", 4, -1),
        (600, 700, "RUNNING", 4, -1),
        (700, 800, "DISK", 4, 0),
        (800, 810, "READY", 4, -1),
        (810, 811, "RUNNING", 4, -1),
    ]


def test_interrupts_take_from_the_time_on_their_core(tmp_path: Path) -> None:
    text = switch(100, 1, 0, "R", 7) + line(110, 1, 7, "softirq_entry: vec=1 [action=TIMER]")
    text += line(115, 1, 7, "irq_handler_entry: irq=4 name=x") + line(
        120, 1, 7, "irq_handler_exit: irq=4 ret=handled"
    )
    text += line(130, 2, 7, "irq_handler_entry: irq=4 name=x") + line(
        140, 2, 7, "irq_handler_exit: irq=4 ret=handled"
    )
    text += line(150, 1, 7, "softirq_exit: vec=1 [action=TIMER]") + switch(200, 1, 7, "S", 0)
    text += line(250, 1, 0, "softirq_exit: vec=1 [action=TIMER]")
    assert pieces(tmp_path, text) == [
        (100, 110, "RUNNING", 1, -1),
        (110, 150, "INTERRUPTED", 1, -1),
        (150, 200, "RUNNING", 1, -1),
        (200, 251, "BLOCKED", 1, -1),
    ]


def test_before_its_first_event_a_thread_is_what_that_tells(tmp_path: Path) -> None:
    first = switch(100, 3, 0, "R", 1)
    event_of_state = {
        "RUNNING": switch(200, 1, 7, "R", 0),
        "BLOCKED": wake(200, 1, 5, 7, 1),
        "UNKNOWN": switch(200, 1, 0, "R", 7),
    }
    for state, event in event_of_state.items():
        assert pieces(tmp_path, first + event)[0][:3] == (100, 200, state)


def test_lost_events_leave_unknown_what_they_leave_open(tmp_path: Path) -> None:
    lost = "CPU:1 [LOST 3 EVENTS]\n"
    begin = switch(100, 1, 0, "R", 7)
    # It runs before and after; what was between nobody knows.
    text = begin + lost + line(300, 1, 7, "softirq_raise: vec=1 [action=TIMER]") + switch(400, 1, 7, "S", 0)
    assert pieces(tmp_path, text)[:2] == [(100, 300, "UNKNOWN", 1, -1), (300, 400, "RUNNING", 1, -1)]
    # It leaves a core that it was never seen to get: it had that since the core tells again.
    text = begin + switch(200, 1, 7, "S", 9) + lost + line(300, 1, 7, "softirq_raise: vec=1 [action=RCU]")
    text += switch(400, 1, 7, "S", 0)
    assert pieces(tmp_path, text)[:3] == [
        (100, 200, "RUNNING", 1, -1),
        (200, 300, "UNKNOWN", 1, -1),
        (300, 400, "RUNNING", 1, -1),
    ]
    # Events of another core are lost: nothing of it is open, but what woke it.
    text = begin + switch(200, 1, 7, "S", 9) + switch(220, 2, 3, "S", 4) + lost.replace("CPU:1", "CPU:2")
    text += switch(280, 2, 4, "S", 3) + switch(400, 1, 9, "S", 7)
    assert pieces(tmp_path, text)[:3] == [
        (100, 200, "RUNNING", 1, -1),
        (200, 220, "BLOCKED", 1, -1),
        (220, 400, "UNKNOWN", 1, -1),
    ]


def test_without_wake_ups_sleep_is_not_told_from_waiting_for_a_core(tmp_path: Path) -> None:
    """What a thread does on a core, or where it loses it, is known all the same. New threads tell nothing."""
    lines = planted("mixed").text().replace("sched_waking", "sched_wakeup_new", 1).splitlines(keepends=True)
    kept = [line for line in lines if not re.search("sched_wak(ing|eup):", line)]
    path = laid_beside(tmp_path, "".join(kept))
    trace = traces.analysed("mixed").trace
    recording = recording_of(trace, SchedulerSource(path, OFFSET))
    assert recording.scheduler is not None and recording.scheduler.agreeing == 1
    for thread in recording.scheduler.threads:
        slept = {State.BLOCKED, State.DISK} & set(recording.scheduler.states(thread).state.tolist())
        assert not slept
    found, known = analyse(trace, None, recording).causes.by_cause(), analysed("mixed").causes.by_cause()
    assert not {Cause.BLOCKED, Cause.DISK} & {cause for cause, ns in found.items() if ns}
    assert found[Cause.INTERRUPTED] == known[Cause.INTERRUPTED] and found[Cause.PREEMPTED] > 0


def test_idle_time_that_the_scheduler_explains_is_not_due_to_recording() -> None:
    def counted(analysis: Analysis) -> int:
        return next(finding.count for finding in analysis.health.findings if finding.id == "host.overhead")

    assert 0 < counted(analysed("mixed")) <= counted(traces.analysed("mixed"))


def test_events_that_are_lost_for_no_time_change_nothing(tmp_path: Path) -> None:
    text = switch(100, 1, 0, "R", 7) + "CPU:1 [LOST 3 EVENTS]\n" + wake(100, 1, 7, 9, 1)
    text += switch(200, 1, 7, "S", 0)
    assert pieces(tmp_path, text)[0] == (100, 200, "RUNNING", 1, -1)
    assert Cores(read_recording(tmp_path / "trace.txt"), 0).busy_ns(1, (0, 5_000_200_000)) == 100_000


def test_a_core_is_known_to_have_whoever_leaves_it_next(tmp_path: Path) -> None:
    text = switch(100, 1, 5, "R", 7) + switch(200, 1, 7, "S", 0) + "CPU:1 [LOST 3 EVENTS]\n"
    text += switch(300, 1, 8, "S", 9) + switch(400, 1, 9, "S", 0) + switch(500, 2, 0, "S", 3)
    path = tmp_path / "trace.txt"
    path.write_text(text)
    cores = Cores(read_recording(path), 0)
    base = 5_000_000_000
    start, end = np.array([base + 50_000]), np.array([base + 450_000])
    had = cores.occupants(np.array([1]), start, end)
    spans = zip(((had.start - base) // 1000).tolist(), ((had.end - base) // 1000).tolist(), had.pid.tolist())
    assert list(spans) == [(50, 100, 5), (100, 200, 7), (200, 300, -1), (300, 400, 9), (400, 450, 0)]
    assert cores.busy_ns(1, (base + 100_000, base + 500_000)) == 200_000


# -- recorded on this machine -----------------------------------------------------------------------------

BUSY = "print(flush=True)\nwhile True: pass"


def test_contention_of_real_threads(tmp_path: Path) -> None:
    """Two processes share a core with this thread: what it says it did between two looks at the clock."""
    cpu = min(os.sched_getaffinity(0))
    seen: list[tuple[int, int]] = []

    def work() -> None:
        os.sched_setaffinity(0, {cpu})
        for _ in range(20):
            time.sleep(0.002)
            until, before = time.monotonic() + 0.004, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            while time.monotonic() < until:
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
                if now - before > 1_000_000:
                    seen.append((before, now))
                before = now

    with kernel_records() as instance:
        pin = f"import os; os.sched_setaffinity(0, {{{cpu}}})\n"
        command = [sys.executable, "-c", pin + BUSY]
        competitors = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        for other in competitors:
            assert other.stdout is not None
            other.stdout.readline()  # it is at work
        thread = threading.Thread(target=work)
        thread.start()
        tid = thread.native_id
        thread.join()
        (instance / "tracing_on").write_text("0")
        path = tmp_path / "trace.txt"
        path.write_bytes((instance / "trace").read_bytes())
        for other in competitors:
            other.kill()
            other.communicate()
    assert tid is not None
    events = read_recording(path)
    assert not events.skipped
    states = thread_states(events, [tid], (events.start_ns, events.end_ns))[tid]
    assert sum(states.sums().values()) == events.end_ns - events.start_ns
    ready, blocked = states.of(State.READY), states.of(State.BLOCKED)
    assert blocked.total > 20 * 1_500_000  # it slept
    assert seen
    starts, ends = np.array(seen).T
    # Together, not each: a virtual machine that has no core itself leaves its threads running.
    assert (ready.before(ends) - ready.before(starts)).sum() > 0.5 * (ends - starts).sum()
    cores = Cores(events, 0)
    waits = states.state == State.READY
    had = cores.occupants(states.cpu[waits], states.start[waits], states.end[waits])
    by_pid: dict[int, int] = defaultdict(int)
    for pid, ns in zip(had.pid.tolist(), (had.end - had.start).tolist()):
        by_pid[pid] += ns
    assert sum(by_pid.values()) == ready.total
    assert all(by_pid[other.pid] > 0 for other in competitors)
    assert by_pid[0] < 0.5 * ready.total  # whoever else is at work here, the core is
    assert events.processes[tid] == os.getpid()


def test_the_first_heat_map_has_threads_without_a_core() -> None:
    scheduler = analysed("mixed").scheduler
    assert scheduler is not None
    rows = [row for row in WorkMap.from_analysis(analysed("mixed")).things if row.doing is Occupation.READY]
    ready = [scheduler.states(thread).of(State.READY).total for thread in scheduler.threads]
    assert sorted(row.times.total for row in rows) == sorted(ns for ns in ready if ns)
    assert not [
        row for row in WorkMap.from_analysis(traces.analysed("mixed")).things if row.doing is Occupation.READY
    ]


# -- advice ------------------------------------------------------------------------------------------------


def test_advice_names_what_pinning_saves_at_most() -> None:
    analysis = analysed("mixed")
    (advice,) = [found for found in find_advice(analysis) if found.id == "threads_without_a_core"]
    assert advice.cost_ns == analysis.causes.by_cause()[Cause.PREEMPTED]
    saves = advice.evidence["saves_at_most_ns"]
    scheduler = analysis.scheduler
    assert scheduler is not None
    ready = sum(scheduler.states(thread).sums()[State.READY] for thread in scheduler.threads)
    more = advice.evidence["saves_with_peers_ns"]
    assert (saves, more) == analysis.pinning_saves
    assert 0 < analysis.pinning_saves.alone_ns < analysis.pinning_saves.with_peers_ns <= ready
    told = (
        f"saves {ascii_duration(int(saves))} at most beyond waits for late peers, {ascii_duration(int(more))}"
    )
    assert f"{told} if they come sooner too." in english_words(advice).text
    assert "CPU_AFFINITY_CONF=1 or taskset" in english_words(advice).text
    assert "kworker/3:1" in advice.subjects
    assert "threads of the trace: 0. Pin" in english_words(advice).text
    (advice,) = [found for found in find_advice(analysis) if found.id == "interrupts_on_launching_cores"]
    assert advice.evidence["saves_at_most_ns"] == analysis.interrupts_save.alone_ns > 0
    assert advice.evidence["saves_with_peers_ns"] == analysis.interrupts_save.with_peers_ns
    interrupted = sum(scheduler.states(thread).sums()[State.INTERRUPTED] for thread in scheduler.threads)
    assert analysis.interrupts_save.with_peers_ns <= interrupted
    assert not [found.id for found in find_advice(analysis) if found.id == "threads_migrate"]
    assert traces.analysed("mixed").pinning_saves == (0, 0)


def with_idle_cores(text: str) -> str:
    """Return a recording in which nobody has the cores that others than the trace's threads had."""
    traced = {str(thread.tid) for thread in scheduler_of_mixed().threads}

    def switch(found: re.Match[str]) -> str:
        prev_comm, prev, prev_prio, state, comm, pid, prio = found.groups()
        prev_comm, prev = (prev_comm, prev) if prev in traced else ("swapper", "0")
        comm, pid = (comm, pid) if pid in traced else ("swapper", "0")
        return (
            f"prev_comm={prev_comm} prev_pid={prev} prev_prio={prev_prio} prev_state={state} ==> "
            f"next_comm={comm} next_pid={pid} next_prio={prio}"
        )

    return SWITCH.sub(switch, text)


def scheduler_of_mixed() -> Scheduler:
    scheduler = analysed("mixed").scheduler
    assert scheduler is not None
    return scheduler


def test_a_core_that_nobody_has_is_not_freed_by_pinning(tmp_path: Path) -> None:
    path = laid_beside(tmp_path, with_idle_cores(planted("mixed").text()))
    trace = traces.analysed("mixed").trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))
    cost = analysis.causes.by_cause()[Cause.PREEMPTED]
    (advice,) = [found for found in find_advice(analysis) if found.id == "threads_without_a_core"]
    assert (advice.evidence["foreign_ns"], advice.evidence["nobody_ns"]) == (0, cost)
    assert analysis.pinning_saves == (advice.evidence["saves_at_most_ns"], 0) == (0, 0)
    text = english_words(advice).text
    assert f"for {ascii_duration(cost)} it was idle and woke up" in text
    assert "Pinning does not help" in text and "CPU_AFFINITY_CONF" not in text


def test_interrupts_are_told_of_the_cores_where_they_cost_idle_time(tmp_path: Path) -> None:
    """One more on the core of a thread that no idle time waits for."""
    (quiet,) = [t for t in analysed("mixed").scheduler_summary.threads if not t.idle_ns]  # type: ignore[union-attr]
    scheduler = scheduler_of_mixed()
    states = scheduler.states_of(quiet.task.host_pid or quiet.task.pid or 0)
    at = int(states.start[states.state == State.RUNNING][0]) + 1000 - OFFSET
    core = int(states.cpu[states.state == State.RUNNING][0])
    head = f"          swapper-0       (      0) [{core:03d}] d..2. {at // 10**9}.{at // 1000 % 10**6:06d}"
    lines = planted("mixed").text().splitlines()
    added = [f"{head}: irq_handler_entry: irq=42 name=eth0", f"{head}: irq_handler_exit: irq=42 ret=handled"]
    path = laid_beside(tmp_path, "\n".join([*lines, *added]) + "\n")
    trace = traces.analysed("mixed").trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))
    (advice,) = [found for found in find_advice(analysis) if found.id == "interrupts_on_launching_cores"]
    causes, found = analysis.causes, analysis.scheduler
    assert found is not None
    cores = set()
    for place in np.flatnonzero(causes.cause == Cause.INTERRUPTED).tolist():
        of_thread = found.states_of(int(found.pid_of_track[causes.track[place]]))
        cores.add(int(of_thread.cpu[of_thread.piece_at(causes.start[place : place + 1])][0]))
    assert advice.evidence["cores"] == len(cores) and core not in cores


def test_pinning_saves_what_a_thread_waited_on_the_critical_path() -> None:
    """Take all planted waiting for a core away: no wall time is saved that was not waited for."""
    analysis = analysed("mixed")
    none = analysis.what_ifs.without(
        lambda _: Intervals(np.empty(0, np.int64), np.empty(0, np.int64)),
        lambda rows, *_: np.zeros_like(rows),
    )
    assert none.before_ns == none.after_ns
    assert none.before_ns - analysis.pinning_saves.with_peers_ns > 0


@pytest.mark.parametrize(("times", "found"), [(1, False), (400, True)])
def test_threads_that_migrate_are_told(times: int, found: bool, tmp_path: Path) -> None:
    tid = planted("mixed").recording.main_tid
    lines = planted("mixed").text().splitlines()
    at = lines[200].split("]")[1].split()[1]
    head = f"               x-9       (      9) [020] d..2. {at} sched_migrate_task: comm=python3"
    lines[200:200] = [f"{head} pid={tid} prio=120 orig_cpu=3 dest_cpu=4"] * times
    path = laid_beside(tmp_path, "\n".join(lines) + "\n")
    trace = traces.analysed("mixed").trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))
    assert ("threads_migrate" in {advice.id for advice in find_advice(analysis)}) == found


@pytest.mark.parametrize(
    ("lscpu", "times", "found"),
    [
        ("NUMA node0 CPU(s): 0-4\nNUMA node1 CPU(s): 5-9\n", 10, True),
        ("NUMA node0 CPU(s): 0-4\nNUMA node1 CPU(s): 5-9\n", 1, True),
        ("NUMA node0 CPU(s): 0-9\n", 10, False),
        (None, 10, False),
    ],
)
def test_threads_that_come_to_other_nodes_are_told(
    lscpu: str | None, times: int, found: bool, tmp_path: Path
) -> None:
    """At least ten times a second: the run takes less than a tenth of that."""
    tid = planted("mixed").recording.main_tid
    lines = planted("mixed").text().splitlines()
    at = lines[200].split("]")[1].split()[1]
    head = f"               x-9       (      9) [020] d..2. {at} sched_migrate_task: comm=python3"
    lines[200:200] = [f"{head} pid={tid} prio=120 orig_cpu=4 dest_cpu={core}" for core in (5, 4)] * times
    path = laid_beside(tmp_path, "\n".join(lines) + "\n")
    if lscpu is not None:
        (tmp_path / "lscpu.txt").write_text(lscpu)
    trace = traces.analysed("mixed").trace
    analysis = analyse(trace, None, recording_of(trace, SchedulerSource(path, OFFSET)))
    advice = {advice.id: advice for advice in find_advice(analysis)}
    assert ("threads_change_nodes" in advice) == found
    summary = analysis.scheduler_summary
    assert summary is not None
    (thread,) = (thread for thread in summary.threads if thread.task.pid == tid)
    assert thread.node_migrations == (None if lscpu is None else 2 * times if found else 0)
    assert {core.node for core in summary.cores if core.cpu < 5} == {None if lscpu is None else 0}
    if found:
        per_second = 2 * times / (thread.wall_ns / 1e9)
        assert advice["threads_change_nodes"].evidence["node_migrations_per_s"] == pytest.approx(per_second)


def test_moves_are_seen_by_the_cores_that_a_thread_runs_on_where_none_is_recorded(tmp_path: Path) -> None:
    """Of those in the window alone; perf and Insight may leave the event out."""
    text = switch(100, 1, 0, "R", 7) + switch(200, 1, 7, "S", 0) + switch(300, 2, 0, "R", 7)
    text += switch(400, 2, 7, "S", 0) + switch(500, 2, 0, "R", 7) + switch(600, 2, 7, "S", 0)
    text += switch(700, 5, 0, "R", 7) + switch(800, 5, 7, "S", 0)
    events, base = read_recording(laid_beside(tmp_path, text)), 5_000_000_000
    for window, moves in (((0, 900), [(1, 2), (2, 5)]), ((301, 700), []), ((300, 701), [(1, 2), (2, 5)])):
        start, end = (base + at * 1000 for at in window)
        assert moves_of(thread_states(events, [7], (start, end))[7]) == moves


def test_moves_lead_from_the_core_that_a_thread_was_on_last(tmp_path: Path) -> None:
    """Or that it was moved to, or woken for; where none of these is recorded, from none that is known."""
    text = move(50, 7, 3) + switch(100, 3, 0, "R", 7) + switch(200, 3, 7, "S", 0) + wake(300, 0, 9, 7, 3)
    text += move(300, 7, 4) + move(310, 7, 9) + switch(400, 9, 0, "R", 7) + move(900, 7, 1)
    events, base = read_recording(laid_beside(tmp_path, text)), 5_000_000_000
    states = thread_states(events, [7], (base, base + 900_000))[7]
    assert moves_of(states) == [(-1, 3), (3, 4), (4, 9)]
    assert states.moves.across({}) == 0
    assert states.moves.across({3: 0, 4: 1}) == 1, "a core whose node is not known is on no other"
    assert states.moves.across({3: 1, 4: 1, 9: 0}) == 1
    assert states.moves.across({3: 0, 4: 1, 9: 0}) == 2


def moves_of(states: ThreadStates) -> list[tuple[int, int]]:
    return [*zip(states.moves.left.tolist(), states.moves.reached.tolist())]


def test_a_late_host_is_a_reason_to_record_the_scheduler() -> None:
    """Where it costs much, and the scheduler is not recorded."""
    evidence = Evidence(traces.analysed("moba"))
    assert not [*unrecorded(evidence)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tracetui.analysis.advice.scheduler.HOST_BOUND", replace(HOST_BOUND, value=1_000_000))
        (advice,) = unrecorded(evidence)
        assert advice.cost_ns is None
        assert not [*unrecorded(Evidence(analysed("moba")))]
