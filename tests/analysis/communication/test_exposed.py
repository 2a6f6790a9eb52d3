"""Exposed communication: every nanosecond of M \\ C in one piece, of the operation and the cause it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import AUTOGRAD, MAIN, PYTHON, arrow, call, npu, operator, step, task
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.waits import SHORTEST
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.pieces import last_begun

UNIT = 10_000  #: ns: all times of the random traces are multiples
spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=8)


@given(spans)
def test_the_last_to_begin_owns_the_time(drawn: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in drawn], np.int64)
    ends = np.array([start + dur for start, dur in drawn], np.int64)
    cuts = last_begun(starts, ends)
    expected = {}
    for index in np.lexsort((np.arange(len(drawn)), starts)).tolist():
        expected.update(dict.fromkeys(range(starts[index], ends[index]), index))
    found = [
        (time, place)
        for place, start, end in zip(*(column.tolist() for column in cuts))
        for time in range(start, end)
    ]
    assert len(found) == len(dict(found))  # the pieces are disjoint
    assert dict(found) == expected
    assert (np.diff(cuts.start) > 0).all()


@st.composite
def device_events(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps, kernels, copies, and operations of two groups that overlap, with waits on their planes."""
    events = [*npu(), *group(0), *group(1), step(1, 0, 15 * UNIT), step(2, 15 * UNIT, 15 * UNIT)]
    for number in (0, 1):
        names = (f"hcom_allReduce__27{number}_{index}_1" for index in range(8))
        events += [
            operation(start * UNIT, dur * UNIT, name, number)
            for name, (start, dur) in zip(names, draw(spans))
        ]
        for plane in range(3):
            events += [
                plane_task(start * UNIT, dur * UNIT, plane=plane, peer=draw(st.integers(0, 4)), number=number)
                for start, dur in draw(spans)
            ]
    events += [task(start * UNIT, dur * UNIT) for start, dur in draw(spans)]
    events += [task(start * UNIT, dur * UNIT, "PCIE_DMA_SQE", 2) for start, dur in draw(spans)]
    return events


@given(device_events())
def test_pieces_are_what_their_definition_says(events: list[dict[str, Any]]) -> None:
    analysis = analyse(trace_of(events))
    found = analysis.communication
    operations, waits, exposed = found.operations, found.waits, found.exposed
    for index in range(len(operations)):
        wait = waits.wait_ns[index], waits.peer[index], waits.has_handshake[index]
        assert wait == wait_of(analysis, index)
    for device, activity in enumerate(analysis.devices):
        times = {}
        intervals = activity.communication_not_overlapped
        for start, end in zip(intervals.starts.tolist(), intervals.ends.tolist()):
            times.update(dict.fromkeys(range(start, end, UNIT)))
        for time in times:
            running = [
                (int(operations.start[index]), index)
                for index in range(len(operations))
                if operations.start[index] <= time < operations.end[index]
                and operations.device[index] == device
            ]
            start, index = max(running)
            if time < start + waits.wait_ns[index]:
                times[time] = (index, CommunicationCause.WAIT)
            else:
                known = waits.has_handshake[index]
                times[time] = (index, CommunicationCause.TRANSFER if known else CommunicationCause.UNSPLIT)
        found_times = {
            time: (int(exposed.operation[piece]), CommunicationCause(int(exposed.cause[piece])))
            for piece in range(len(exposed))[exposed.of_device(device)]
            for time in range(int(exposed.start[piece]), int(exposed.end[piece]), UNIT)
        }
        assert found_times == times
    check_sums(analysis)


def wait_of(analysis: Analysis, index: int) -> tuple[int, int, bool]:
    """Wait, peer and whether anything is known of an operation, from the definition, one task at a time."""
    found = analysis.communication
    operations, tasks, trace = found.operations, found.tasks, analysis.trace
    first: dict[int, tuple[int, int, int]] = {}
    start, end = int(operations.start[index]), int(operations.end[index])
    for row in np.argsort(tasks.start, kind="stable").tolist():
        is_wait = trace.name(int(tasks.row[row])) == "Notify_Wait"
        of_peer = tasks.dst[row] not in (-1, tasks.src[row])
        inside = start <= tasks.start[row] < end and tasks.group[row] == operations.group[index]
        if is_wait and of_peer and inside and int(tasks.plane[row]) not in first:
            first[int(tasks.plane[row])] = (int(tasks.end[row]), int(tasks.start[row]), int(tasks.dst[row]))
    if not first:
        return 0, -1, False
    arrival, begin, peer = min(first.values(), key=lambda seen: (-seen[0], seen[1], seen[2]))
    if arrival - begin < SHORTEST:
        return 0, -1, True
    return min(arrival, end) - start, peer, True


def check_sums(analysis: Analysis) -> None:
    found, gaps = analysis.communication, analysis.gaps
    exposed = found.exposed
    assert (exposed.ns > 0).all()
    for index, activity in enumerate(analysis.devices):
        pieces = exposed.of_device(index)
        assert exposed.ns[pieces].sum() == activity.communication_not_overlapped_ns
        assert (exposed.start[pieces][1:] >= exposed.end[pieces][:-1]).all()
        split = found.splits[index]
        assert split.window_ns == activity.window_ns
        assert split.communication_ns == activity.communication_not_overlapped_ns
    for gap in range(len(gaps)):
        pieces = exposed.of_gap(gap)
        assert exposed.ns[pieces].sum() == gaps.communication[gap]
        assert (exposed.start[pieces] >= gaps.start[gap]).all() and (
            exposed.end[pieces] <= gaps.end[gap]
        ).all()
    for index, device_step in enumerate(analysis.steps):
        assert sum(exposed.by_step(index).values()) == device_step.communication_not_overlapped_ns
    assert sum(line.communication_ns for line in found.lines) == exposed.ns.sum()
    for line in found.lines:
        waited = line.causes.get(CommunicationCause.WAIT, 0)
        assert sum(line.causes.values()) == sum(line.names.values()) == line.communication_ns
        assert sum(line.peers.values()) == waited
    waited = exposed.by_cause().get(CommunicationCause.WAIT, 0)
    assert sum(peer.exposed_ns for peer in found.late_peers) == waited
    assert sum(peer.wait_ns for peer in found.late_peers) == found.waits.wait_ns.sum()


@pytest.mark.parametrize("rank", [*real.NPU])
def test_sums_hold_on_real_traces(real_traces: Path, rank: str) -> None:
    check_sums(real.npu(real_traces, rank))


@pytest.mark.parametrize("name", [*real.GPU])
def test_sums_hold_on_gpus(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    check_sums(analysis)
    assert set(analysis.communication.exposed.by_cause()) <= {CommunicationCause.UNSPLIT}


def test_level_2_waits_and_level_0_does_not_tell(real_traces: Path) -> None:
    (split,) = real.npu(real_traces, "level2/rank0").communication.splits
    assert (split.wait_ns, split.transfer_ns, split.unsplit_ns) == (91_658_121, 4_303_906, 0)
    (split,) = real.npu(real_traces, "level0/rank1").communication.splits
    assert (split.wait_ns, split.transfer_ns, split.unsplit_ns) == (0, 0, 64_616_125)


def test_communication_is_charged_to_the_line_that_issued_it() -> None:
    stack = ["/home/me/train.py(7): step", "/home/me/train.py(90): <module>"]
    (line,) = analyse(
        trace_of(
            [
                *npu(),
                *group(0),
                operator(0, 5000, "c10d::allreduce_", stack=stack),
                piece(100, 100, "Enqueue", "1.000", "1.000", "enqueue", correlation_id=1),
                piece(100, 101, "Dequeue@x", "3.000", "9.000", "dequeue", correlation_id=1),
                piece(200, 101, "Node@launch", "4.000", "1.000", connection_id=5),
                operation(10_000, 400_000, connection_id=5),
                plane_task(11_000, 99_000, peer=3),
                task(400_000, 50_000),
            ]
        )
    ).communication.lines
    assert (line.file, line.line, line.function, line.backward) == ("/home/me/train.py", 7, "step", False)
    assert line.causes == {CommunicationCause.TRANSFER: 290_000, CommunicationCause.WAIT: 100_000}
    assert (line.communication_ns, line.operations, line.longest_ns) == (390_000, 1, 390_000)
    ((_, peer),) = line.peers
    assert peer == 3


def test_the_backward_pass_is_charged_to_the_forward_line_and_marked() -> None:
    stack = ["/home/me/model.py(7): forward"]
    lines = analyse(
        trace_of(
            [
                *npu(),
                *group(0),
                operator(0, 5000, "c10d::allgather_", stack=stack),
                operator(9000, 5000, "c10d::reduce_scatter_", tid=AUTOGRAD),
                *arrow("fwdbwd", 1, (PYTHON, MAIN, 0), (PYTHON, AUTOGRAD, 9000)),
                call(1000, 10, 5, tid=MAIN),
                call(10_000, 10, 6, tid=AUTOGRAD),
                operation(20_000, 100, "hcom_allGather__271_0_1", connection_id=5),
                operation(30_000, 300, "hcom_reduceScatter__271_1_1", connection_id=6),
                operator(15_000, 2000, "c10d::broadcast_", stack=["/home/me/model.py(9): forward"]),
                call(16_000, 10, 7, tid=MAIN),
                operation(40_000, 50, "hcom_broadcast__271_2_1", connection_id=7),
            ]
        )
    ).communication.lines
    assert [(line.file, line.line, line.backward, line.communication_ns, line.names) for line in lines] == [
        ("/home/me/model.py", 7, True, 300, {"hcom_reduceScatter__271_1_1": 300}),
        ("/home/me/model.py", 7, False, 100, {"hcom_allGather__271_0_1": 100}),
        ("/home/me/model.py", 9, False, 50, {"hcom_broadcast__271_2_1": 50}),
    ]


def test_a_window_cuts_the_pieces_to_it(real_traces: Path) -> None:
    exposed = real.npu(real_traces, "level2/rank0").communication.exposed
    start, end = int(exposed.start[3]) + 1, int(exposed.end[-3]) - 1
    inside = exposed.window(start, end)
    assert inside.start.min() == start and inside.end.max() == end
    before, behind = exposed.window(0, start), exposed.window(end, 1 << 62)
    assert before.ns.sum() + inside.ns.sum() + behind.ns.sum() == exposed.ns.sum()


def test_operations_on_streams_are_not_told_apart() -> None:
    trace = trace_of(
        [
            *process(0, "python", "GPU 0", 1),
            *thread(0, 7, "stream 7"),
            piece(0, 7, "ncclKernel_AllReduce", 10, 5, "kernel"),
            piece(0, 9, "kernel", 12, 1, "kernel"),
        ]
    )
    exposed = analyse(trace).communication.exposed
    assert exposed.by_cause() == {CommunicationCause.UNSPLIT: 4000}


def test_gaps_are_ranked_by_what_is_lost() -> None:
    gaps = analyse(
        trace_of(
            [
                *npu(),
                *group(0),
                task(0, 10),
                operation(10, 90),
                task(105, 5),  # 5 ns idle, 90 of communication
                task(140, 5),  # 30 ns idle
                task(145, 40, "PCIE_DMA_SQE", 2),
                task(205, 5),  # 20 ns idle, 40 of copies
            ]
        )
    ).gaps
    assert gaps.lost.tolist() == [95, 30, 60]
    assert gaps.ranked(Measure.LOST).tolist() == [0, 2, 1]
    assert gaps.ranked(Measure.COMMUNICATION).tolist() == [0, 1, 2]
    assert gaps.ranked(Measure.IDLE).tolist() == [1, 2, 0]
    assert gaps.ranked().tolist() == gaps.ranked(Measure.LOST).tolist()
