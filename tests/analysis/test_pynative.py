"""PyNative mode of MindSpore: work goes from Python through a front end and a back end to the launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.intervals import total, union, within
from simulator.mindspore.pynative import HARDWARE, PyNativeTrace
from tests.synthetic import flow, piece, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.api import load, load_job
from tracetui.trace.model import Family, TraceKind


@pytest.fixture(scope="module")
def made() -> PyNativeTrace:
    return PyNativeTrace(steps=3, operators=40)


@pytest.fixture(scope="module")
def analysis(made: PyNativeTrace) -> Analysis:
    return analyse(trace_of(made.events))


def test_the_chain_goes_back_to_python(made: PyNativeTrace, analysis: Analysis) -> None:
    trace, chains = analysis.trace, analysis.launch_chains
    assert trace.kind is TraceKind.ASCEND and chains.linked == chains.total == len(made.tasks)
    for row, task in zip(chains.tasks.tolist(), made.tasks):
        chain = chains.chain(row)
        assert chain is not None and chain.missing is None
        assert [hop.name for hop in chain.hops] == ["operator", "dequeue", "launch", "task"]
        operator, dequeue, launch, _ = (trace.name(hop.row) for hop in chain.hops)
        assert operator == f"PynativeFramework::RunOp::{task.name}"
        assert (dequeue, launch) == (f"PynativeFramework::PyNativeLaunchTask::{task.name}", "Node@launch")
        assert chain.stack[0].function == "forward" and chain.stack[-1].function == "train"
        place = chains.tasks.tolist().index(row)
        assert int(chains.enqueue_time[place]) == task.handed_over
        assert int(trace.slices.start[chains.dequeue[place]]) == task.launch


def test_idle_time_is_split_at_the_stages(made: PyNativeTrace, analysis: Analysis) -> None:
    expected = dict.fromkeys((Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP, Cause.LAUNCH_DISPATCH), 0)
    host = device = 0
    stages = union(
        [
            (int(analysis.trace.slices.start[row]), int(analysis.trace.slices.end[row]))
            for row in analysis.launch_chains.callers.work_takers.tolist()
        ]
    )
    by_start = {task.start: task for task in made.tasks}
    for start, end in zip(analysis.idle.start.tolist(), analysis.idle.end.tolist()):
        task = by_start[end]
        handed, launch, launched = (
            min(max(at, start), end) for at in (task.handed_over, task.launch, task.launched)
        )
        queued = within(stages, handed, launch)
        host += handed - start
        expected[Cause.QUEUE_BUSY] += queued
        expected[Cause.QUEUE_WAKEUP] += launch - handed - queued
        expected[Cause.LAUNCH_DISPATCH] += launched - launch
        device += end - launched
    causes = analysis.causes.by_cause()
    families = {name: sum(ns for cause, ns in causes.items() if cause.family == name) for name in FAMILIES}
    assert {cause: causes[cause] for cause in expected} == expected
    assert (families["host"], families["device"], families["unlinked"]) == (host, device, 0)
    assert (
        total([(start, end) for start, end in zip(analysis.idle.start, analysis.idle.end)])
        == analysis.idle_ns
    )
    assert {line.function for line in analysis.lines} <= {"forward", "train"}
    assert analysis.devices[0].producer is not None and not analysis.devices[0].differs


def test_each_step_has_its_own_tasks(made: PyNativeTrace, analysis: Analysis) -> None:
    """They have no numbers of a queue: those that open a step are told by when they were handed over."""
    assert [step.number for step in analysis.steps] == [10, 11, 12]
    for step, first in zip(analysis.steps, made.tasks[::40]):
        assert step.start_ns == first.start


def test_the_frame_is_that_of_the_moment_when_python_handed_it_over() -> None:
    """Also where only the step is recorded around it."""
    made = PyNativeTrace(steps=1, operators=2)
    events = [event for event in made.events if "RunOp" not in event["name"]]
    chains = analyse(trace_of(events)).launch_chains
    assert {chains.trace.name(row).partition("#")[0] for row in chains.operator.tolist()} == {
        "Python::PythonObserved::ProfilerStep"
    }
    assert [chains.stack_at(at)[0].function for at in range(2)] == ["forward", "forward"]


def test_arrows_in_a_circle_end() -> None:
    events = [
        piece(1, 1, "PynativeFramework::RunOp::A", 0, 9, ""),
        piece(1, 2, "PynativeFramework::B", 1, 9, ""),
    ]
    for number, (giver, taker) in enumerate((((1, 2), (2, 1)), ((2, 3), (1, 0)))):
        events.append(flow("s", "async_mindspore", str(number), 1, *giver))
        events.append(flow("f", "async_mindspore", str(number), 1, *taker))
    trace = trace_of(events)
    handed = analyse(trace).launch_chains.callers.handoffs(trace.flows.target)
    assert (handed.stage >= 0).all() and (handed.giver >= 0).all()


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("CPU OP Rank3", Family.OPERATORS),
        ("Scope Layer Rank3", Family.OTHER),
        ("MindSpore", Family.OPERATORS),
    ],
)
def test_names_of_processes_of_2023_have_the_rank_behind(name: str, family: Family) -> None:
    events = [{"ph": "M", "name": "process_name", "pid": 23, "tid": 0, "args": {"name": name}}]
    events.append(piece(23, 0, "Default/network/Add-op1", 0, 5, ""))
    (track,) = trace_of(events).tracks
    assert track.family is family


def test_ranks_of_a_directory_are_a_job(tmp_path: Path) -> None:
    for rank in range(3):
        PyNativeTrace(steps=2, operators=4, seed=rank).write(tmp_path, rank)
    job = load_job(tmp_path, cache=False)
    assert [rank.number for rank in job.ranks] == [0, 1, 2] and not job.remarks
    assert load(tmp_path / "node_4101_20250109120000001_ascend_ms", cache=False).run.rank == 1


def test_a_step_opens_with_what_was_handed_over_first() -> None:
    """Not with what starts first: the first operator runs on another stream, after all others."""
    made = PyNativeTrace(steps=1, operators=4)
    late = made.tasks[-1].end + 5_000
    events = made.events
    for event in events:
        if event["pid"] == HARDWARE and event.get("args", {}).get("connection_id") == 1:
            event.update(tid=3, ts=f"{late // 1000}.{late % 1000:03d}")
    (step,) = analyse(trace_of(events)).steps
    assert step.start_ns == late
