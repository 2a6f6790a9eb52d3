"""The whole model, on real traces with known numbers and on small ones that lack something."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analysis.real import read
from tests.synthetic import event_table, flow, piece, process, thread, trace_of
from tracetui.reader.events import EventTable
from tracetui.trace import build
from tracetui.trace.build import _devices, build_trace
from tracetui.trace.model import Activity, Family, Layer, Trace, TraceKind

LEVEL2 = "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
LEVEL0 = "npu/level0/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


@pytest.fixture(scope="module")
def level2(real_traces: Path) -> Trace:
    return read(real_traces / LEVEL2)


@pytest.fixture(scope="module")
def level0(real_traces: Path) -> Trace:
    return read(real_traces / LEVEL0)


@pytest.mark.parametrize("numbers", [Layer, Family, Activity])
def test_what_stands_in_columns_and_caches_is_numbered_from_0_without_a_hole(numbers: type[IntEnum]) -> None:
    """Tables of as many places are looked up by them, and a cache has nothing but the number."""
    assert [*numbers] == [*range(len(numbers))]


def counted_again() -> EventTable:
    """Samples of two counters in the order 0, 1, 0, 1, each later one before an earlier one."""
    samples = ((0, 5), (1, 5), (0, 2), (1, 1))
    return event_table(
        [
            {"ph": "C", "name": f"HBM {track}", "pid": 1, "tid": 0, "ts": f"0.00{time}", "args": {"a": value}}
            for value, (track, time) in enumerate(samples)
        ]
    )


def tracks_per_layer(trace: Trace) -> dict[Layer, int]:
    return dict(Counter(track.layer for track in trace.tracks))


def activities(trace: Trace, family: Family) -> dict[Activity, int]:
    counts: Counter[Activity] = Counter()
    for track in trace.tracks:
        if track.family == family:
            rows = slice(track.rows.start, track.rows.stop)
            counts.update(Activity(code) for code in trace.slices.activity[rows].tolist())
    return dict(counts)


def bound(trace: Trace) -> dict[tuple[str | None, Family | None, Family | None], int]:
    """How many arrows join which families, by category."""

    def family(row: int) -> Family | None:
        return None if row < 0 else trace.track_of(row).family

    flows = trace.flows
    ends = zip(flows.category.tolist(), flows.source.tolist(), flows.target.tolist())
    return dict(
        Counter((trace.string(kind), family(source), family(target)) for kind, source, target in ends)
    )


def test_level_2_tracks(level2: Trace) -> None:
    assert (level2.kind, level2.devices, level2.notes) == (TraceKind.ASCEND, ("NPU",), ())
    assert tracks_per_layer(level2) == {
        Layer.PYTHON: 4,
        Layer.RUNTIME: 4,
        Layer.DEVICE: 4,
        Layer.COMMUNICATION: 9,
        Layer.OVERLAP: 4,
        Layer.COUNTER: 26,
    }
    assert [track.index for track in level2.tracks] == list(range(len(level2.tracks)))


def test_level_2_activities(level2: Trace) -> None:
    assert activities(level2, Family.TASKS) == {
        Activity.COMPUTE: 172 + 13,
        Activity.AICPU: 2,
        Activity.COPY: 24,
        Activity.COMMUNICATION_TASK: 296,
        Activity.WAIT: 10,
        Activity.EVENT: 16,
        Activity.OTHER: 2,
    }
    assert activities(level2, Family.GROUP) == {Activity.COMMUNICATION: 4}
    assert activities(level2, Family.PLANE) == {Activity.COMMUNICATION_TASK: 296}
    assert activities(level2, Family.OPERATORS) == {Activity.NONE: 860 + 159 + 159}


def test_level_2_flows(level2: Trace) -> None:
    assert bound(level2) == {
        ("async_task_queue", Family.OPERATORS, Family.OPERATORS): 159,
        ("fwdbwd", Family.OPERATORS, Family.OPERATORS): 27,
        ("async_npu", Family.OPERATORS, Family.TASKS): 206,
        ("async_npu", Family.OPERATORS, Family.GROUP): 4,
        ("HostToDevice", Family.CALLS, Family.TASKS): 211,
        ("HostToDevice", Family.CALLS, Family.GROUP): 4,
    }
    flows, slices = level2.flows, level2.slices
    assert (slices.start[flows.source] <= flows.source_time).all()
    assert (flows.source_time <= slices.end[flows.source]).all()


def test_level_0_has_launches_without_slices(level0: Trace) -> None:
    assert level0.notes == ("Level 0: no CANN slices; launches are found through flows.",)
    assert Layer.RUNTIME not in tracks_per_layer(level0)
    launches = {key: count for key, count in bound(level0).items() if key[0] == "HostToDevice"}
    assert launches == {("HostToDevice", None, Family.TASKS): 211, ("HostToDevice", None, Family.GROUP): 4}
    pids = {
        level0.threads[index][0] for index in level0.flows.source_thread[level0.flows.source < 0].tolist()
    }
    assert pids == {"3089234145"}


@pytest.mark.parametrize(
    ("name", "kind", "work"),
    [
        (
            "resnet_rank0",
            TraceKind.GPU,
            {Activity.COMPUTE: 6000, Activity.COMMUNICATION: 80, Activity.COPY: 1667},
        ),
        (
            "sampled_rank-1",
            TraceKind.GPU,
            {Activity.COMPUTE: 1094, Activity.COMMUNICATION: 10, Activity.COPY: 50},
        ),
        ("cpu_only_with_stacks.pt.trace", TraceKind.CHROME, {}),
    ],
)
def test_gpu_traces(real_traces: Path, name: str, kind: TraceKind, work: dict[Activity, int]) -> None:
    trace = read(real_traces / "gpu" / f"{name}.json.gz")
    assert trace.kind is kind
    assert activities(trace, Family.TASKS) == work
    assert trace.devices == ((f"GPU {name[-1]}",) if work else ())
    assert all(track.layer == Layer.RUNTIME for track in trace.tracks if track.family == Family.CALLS)
    assert any("host events only" in note for note in trace.notes) == (not work)


def test_rows_and_lanes_of_tracks_are_consistent(level2: Trace) -> None:
    with_slices = [track for track in level2.tracks if track.layer != Layer.COUNTER]
    assert [row for track in with_slices for row in track.rows] == list(range(len(level2.slices)))
    assert [lane for track in with_slices for lane in track.lanes] == list(range(len(level2.lane_track)))
    for track in with_slices:
        assert level2.lane_rows[track.lanes.start] == track.rows.start
        assert level2.lane_rows[track.lanes.stop] == track.rows.stop
        assert set(level2.lane_track[track.lanes.start : track.lanes.stop].tolist()) == {track.index}
    assert sorted(level2.slices.event.tolist()) == np.unique(level2.slices.event).tolist()


def test_counters_are_one_track_per_series_in_time_order(level2: Trace) -> None:
    counters = {track.name: track for track in level2.tracks if track.layer == Layer.COUNTER}
    assert "HBM 0/Read · Read(MB/s)" in counters
    assert not any("acc_id" in name for name in counters)
    for track in counters.values():
        assert (np.diff(level2.counters.time[track.samples.start : track.samples.stop]) >= 0).all()
    assert sum(len(track.samples) for track in counters.values()) == len(level2.counters.time)


@pytest.mark.parametrize("block", [1, 3, 4])
def test_counters_are_looked_up_in_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(build, "_BLOCK", block)
    trace = build_trace(counted_again())
    assert trace.counters.track.tolist() == [0, 1, 0, 1]
    assert [(track.samples.start, track.samples.stop) for track in trace.tracks] == [(0, 2), (2, 4)]


def test_a_trace_is_looked_at_by_lane_by_track_and_by_process(level2: Trace) -> None:
    lanes = [level2.lane_slice_rows(lane) for lane in range(len(level2.lane_track))]
    assert [(rows.start, rows.stop) for rows in lanes] == [
        *zip(level2.lane_rows.tolist(), level2.lane_rows[1:].tolist())
    ]
    counters = build_trace(counted_again()).counters
    assert [
        [column.tolist() for column in counters.samples_of_track(number, range(2 * number, 2 * number + 2))]
        for number in (0, 1)
    ] == [
        [[2, 5], [2.0, 0.0]],
        [[1, 5], [3.0, 1.0]],
    ]
    assert not counters.is_sorted, "of a few tracks none has to be brought in order"
    owners = dict.fromkeys(("1", "2"), "77")
    merged = replace(level2, owners={**owners, "3": "78"})
    assert [merged.same_process(*pids) for pids in (("1", "2"), ("1", "3"), ("4", "4"), ("4", "1"))] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("stack", ["train.py(8): main", None])
def test_the_first_text_of_a_trace_may_be_a_stack(stack: str | None) -> None:
    first = flow("s", "train.py(8): main", 1, 1, 1, 0)
    args = {} if stack is None else {"Call stack": stack}
    trace = trace_of([first, piece(1, 1, "x", 0, 1, **args), piece(1, 1, "y", 5, 1)])
    assert trace.strings[0] == "train.py(8): main" and trace.slices.have_stacks == (stack is not None)


def test_samples_stay_as_they_were_read_until_one_is_wanted(level2: Trace) -> None:
    counters = build_trace(event_table([])).counters
    assert (len(counters), counters.time.tolist(), counters.value.tolist()) == (0, [], [])
    counters = level2.counters
    order = np.lexsort((counters.read_time, counters.track))
    assert len(counters) == len(order) > 0
    assert counters.time.tolist() == counters.read_time[order].tolist()
    assert counters.value.tolist() == counters.read_value[order].tolist()


def test_the_slices_of_a_table_are_used_up() -> None:
    """There is no room for all of them twice."""
    table = event_table([piece(1, 1, "x", 0, 1)])
    assert len(build_trace(table).slices) == 1
    assert not any(len(column) for column in vars(table.slices).values())


def test_only_tasks_with_the_very_id_of_a_collective_are_parts_of_it() -> None:
    ids = (5, 5 + (1 << 20), None, 6, 0)
    events = [*process(2, "HCCL", "NPU"), *process(3, "Ascend Hardware", "NPU")]
    events.append(piece(2, 0, "hcom_allReduce_", 0, 40, connection_id=5))
    events += [piece(2, 0, "hcom_broadcast_", 50, 5), piece(2, 0, "hcom_send_", 60, 5, connection_id=0)]
    for index, id_ in enumerate(ids):
        args: dict[str, Any] = (
            {"Task Type": "AI_CORE"} if id_ is None else {"Task Type": "AI_CORE", "connection_id": id_}
        )
        events.append(piece(3, 1, f"task {index}", index, 1, **args))
    assert activities(trace_of(events), Family.TASKS) == {Activity.COMMUNICATION_TASK: 2, Activity.COMPUTE: 3}


def test_several_devices_are_told_apart_and_sorted_by_number() -> None:
    events: list[dict[str, Any]] = []
    for device in (10, 2):
        events += process(device, "Ascend Hardware", f"NPU {device}", sort_index=13)
        events += [piece(device, 3, "MatMul", 5, 5, **{"Task Type": "AI_CORE"})]
    assert trace_of(events).devices == ("NPU 2", "NPU 10")


def test_tracks_are_read_from_host_to_device() -> None:
    events = [*process(4, "Ascend Hardware", "NPU", 13), *process(3, "CANN", "CPU", 7), *process(1, "Python")]
    events += [*thread(4, 10, "Stream 10"), *thread(4, 9, "Stream 9")]
    for pid, tid, category in (
        (4, 10, None),
        (4, 9, None),
        (3, 5, None),
        (1, 5, "cpu_op"),
        (1, 5, "python_function"),
    ):
        events.append(piece(pid, tid, "x", 0, 1, category))
    trace = trace_of(events)
    assert [(track.layer, track.family, track.name) for track in trace.tracks] == [
        (Layer.PYTHON, Family.FRAMES, "Thread 5"),
        (Layer.PYTHON, Family.OPERATORS, "Thread 5"),
        (Layer.RUNTIME, Family.CALLS, "Thread 5"),
        (Layer.DEVICE, Family.TASKS, "Stream 9"),
        (Layer.DEVICE, Family.TASKS, "Stream 10"),
    ]


def test_processes_and_threads_are_sorted_as_the_producer_says_and_then_by_number() -> None:
    events = [*process(5, "b", sort_index=2), *process(6, "a", sort_index=1)]
    events += [{**process(7, "c")[1], "args": {"sort_index": "nan"}}, *thread(6, "last", "z", sort_index=-1)]
    threads = [(7, "1"), (5, "1"), *((6, tid) for tid in ("main", "t10", "t9", "10", "9", "9a", "last"))]
    trace = trace_of([*events, *(piece(pid, tid, "x", 0, 1) for pid, tid in threads)])
    in_order = ["last", "9", "9a", "10", "main", "t9", "t10"]
    assert [(track.pid, track.tid) for track in trace.tracks] == [
        *(("6", tid) for tid in in_order),
        ("5", "1"),
        ("7", "1"),
    ]


def test_a_trace_of_nothing() -> None:
    trace = trace_of([])
    assert (trace.tracks, trace.start_ns, trace.end_ns, trace.devices) == ((), 0, 0, ())
    assert trace.notes == ("The trace has no slices and no counters.",)


def test_counters_and_instants_alone() -> None:
    events = [
        {"ph": "C", "name": "HBM", "pid": 1, "tid": 0, "ts": 2, "args": {"a": 1, "acc_id": 7}},
        {"ph": "C", "name": "HBM", "pid": 1, "tid": 0, "ts": 1, "args": {"a": 3}},
        {"ph": "i", "name": "mark", "pid": 2, "tid": 0, "ts": 9},
    ]
    trace = trace_of(events)
    assert [(track.name, list(track.samples)) for track in trace.tracks] == [("HBM · a", [0, 1])]
    assert trace.counters.value.tolist() == [3, 1]
    assert (trace.start_ns, trace.end_ns) == (1000, 9000)
    assert trace.instants.track.tolist() == [-1]


def test_a_trace_lasts_from_the_first_start_to_the_last_end_of_all_lanes() -> None:
    spans = [(5, 60), (10, 20), (3, 4), (7, 30)]
    trace = trace_of([piece(1, tid, "x", start, end - start) for tid, (start, end) in enumerate(spans)])
    assert (trace.start_ns, trace.end_ns) == (3000, 60_000)
    later = trace_of([piece(1, 1, "x", start, 1) for start in (5, 7, 9)])
    assert (later.start_ns, later.end_ns) == (5000, 10_000)


def test_instants_are_in_order_of_time_and_keep_their_names() -> None:
    times = (9, 3, 7, 3)
    events = [{"ph": "i", "name": f"mark {n}", "pid": 1, "tid": 1, "ts": ts} for n, ts in enumerate(times)]
    trace = trace_of([*process(1, "Python"), piece(1, 1, "aten::mm", 0, 9, "cpu_op"), *events])
    found = trace.instants
    assert found.time.tolist() == [3000, 3000, 7000, 9000]
    assert [trace.string(name) for name in found.name.tolist()] == ["mark 1", "mark 3", "mark 2", "mark 0"]
    assert (found.event.tolist(), found.track.tolist()) == ([4, 6, 5, 3], [0] * 4)


def test_an_instant_is_shown_beside_the_operators_of_its_thread_not_beside_its_frames() -> None:
    calls = [
        piece(1, 1, "train.py(8): main", 0, 9, "python_function"),
        piece(1, 1, "aten::mm", 2, 3, "cpu_op"),
    ]
    mark = {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 4}
    trace = trace_of([*process(1, "Python"), *calls, mark])
    assert [trace.tracks[place].family for place in trace.instants.track.tolist()] == [Family.OPERATORS]


def test_counters_stand_behind_all_others_in_one_numbering() -> None:
    counted = [
        {"ph": "C", "name": name, "pid": 1, "tid": 0, "ts": 1, "args": {"a": 1}} for name in ("A", "B", "C")
    ]
    trace = trace_of([piece(1, 1, "x", 0, 1), *counted])
    assert [track.index for track in trace.tracks] == [0, 1, 2, 3]


def test_metadata_may_be_absent_repeated_or_nonsense() -> None:
    events = [piece("", "Spans", "x", 0, 1), *process(5, "Python"), *process(5, ""), *thread(5, "a", "b")]
    events += [{"ph": "M", "name": "process_sort_index", "pid": 5, "args": {"sort_index": "nan"}}]
    events += [piece(5, "a", "y", 0, 1, "cpu_op"), piece(-7, -7, "z", 0, 1, "\ud800")]
    trace = trace_of(events)
    assert [(track.layer, track.process) for track in trace.tracks] == [
        (Layer.PYTHON, "Python"),
        (Layer.OTHER, "Process "),
        (Layer.OTHER, "Process -7"),
    ]


def test_device_labels_are_safe_to_print() -> None:
    events = [*process(1, "Ascend Hardware", "NPU \x1b[2J"), piece(1, 3, "k", 0, 1)]
    assert trace_of(events).devices == ("NPU ␛[2J",)


def test_device_labels_are_cut_after_40_characters() -> None:
    for length, label in ((36, "NPU " + "x" * 36), (37, "NPU " + "x" * 35 + "…")):
        events = [*process(1, "Ascend Hardware", "NPU " + "x" * length), piece(1, 3, "k", 0, 1)]
        assert trace_of(events).devices == (label,)


def test_unknown_task_types_are_named() -> None:
    events = [*process(1, "Ascend Hardware", "NPU"), piece(1, 3, "k", 0, 1, **{"Task Type": "QUANTUM\x1b"})]
    assert "Task types unknown to this program count as no work: QUANTUM␛." in trace_of(events).notes


NO_CANN = "Level 0: no CANN slices; launches are found through flows."
NO_LAUNCHES = "No CANN slices and no flows to tasks: their launches are not recorded."
NO_STACKS = "No Python stacks: collect with with_stack=True to see lines of code."
NO_DEVICE = "No device layer: this trace has host events only, so there are no gaps to show."
CUT_BEFORE = "No device layer up to where the file is cut off, so there are no gaps to show."
NO_TASKS = "No device tasks: only counters or sums of a device are there, so there are no gaps to show."
NOTHING_KNOWN = (
    "Nothing of a device or a framework is recognised: events are shown as they are, and nothing is analysed."
)
NO_FRAMEWORK = "No framework layer: this trace has no operators, so device tasks cannot be linked to them."


def test_what_a_cut_file_lacks_may_be_behind_the_cut() -> None:
    table = event_table([*process(1, "Python", "CPU"), piece(1, 1, "aten::mm", 0, 1)])
    notes = build_trace(replace(table, report=replace(table.report, truncated=True))).notes
    assert CUT_BEFORE in notes and NO_DEVICE not in notes


def test_what_a_trace_lacks_is_said_and_nothing_else() -> None:
    python, cann = process(1, "Python"), process(2, "CANN")
    operators = [*python, piece(1, 1, "aten::mm", 0, 9, "cpu_op")]
    stacks = [*python, piece(1, 1, "aten::mm", 0, 9, "cpu_op", **{"Call stack": "train.py(8): main"})]
    frames = [*operators, piece(1, 1, "train.py(8): main", 0, 9, "python_function")]
    calls = [*cann, piece(2, 1, "AscendCL@x", 0, 9)]
    tasks = [*process(3, "Ascend Hardware", "NPU"), piece(3, 1, "k", 0, 1, **{"Task Type": "AI_CORE"})]
    gpu = [*process(0, "python", "GPU 0"), piece(0, 7, "gemm", 0, 2, "kernel")]
    steps = [*python, piece(1, 1, "ProfilerStep#3", 0, 9, "cpu_op")]
    launches = [flow("s", "HostToDevice", 7, 1, 1, 0), flow("f", "HostToDevice", 7, 3, 1, 0)]
    sums = [*process(5, "Overlap Analysis", "NPU"), piece(5, 0, "Computing", 0, 1)]
    sample = {"ph": "C", "pid": 6, "tid": 0, "name": "HBM 0/Read", "ts": 1, "args": {"MB/s": 1}}
    bandwidth = [*process(6, "HBM", "NPU 0"), sample]
    group = [*process(4, "HCCL", "NPU"), *thread(4, 0, "Group 0 Communication"), piece(4, 0, "hcom_x", 0, 1)]
    for events, notes in (
        (stacks + calls + tasks, ()),
        (frames + calls + tasks, ()),
        (operators + calls + tasks, (NO_STACKS,)),
        (stacks + tasks, (NO_LAUNCHES,)),
        (stacks + tasks + launches, (NO_CANN,)),
        (steps + calls + tasks, (NO_FRAMEWORK,)),
        (calls + tasks, (NO_FRAMEWORK,)),
        (tasks, (NO_FRAMEWORK, NO_LAUNCHES)),
        (sums, (NO_TASKS,)),
        (bandwidth, (NO_TASKS,)),
        (stacks + calls, (NO_DEVICE,)),
        (calls, (NO_DEVICE,)),
        (operators, (NO_DEVICE, NO_STACKS)),
        ([*process(7, "/device:TPU:0", ""), piece(7, 1, "fusion", 0, 1)], (NOTHING_KNOWN,)),
        (stacks + gpu, ()),
        (stacks + calls + group, ()),
    ):
        assert trace_of(list(events)).notes == notes


def test_types_of_tasks_that_count_as_work_are_not_named_as_unknown() -> None:
    """Where the category, the name or the collective of a task tells what it does."""
    unknown = {"Task Type": "QUANTUM"}
    group = [*process(4, "HCCL", "NPU"), *thread(4, 0, "Group 0 Communication")]
    events = [
        *process(3, "Ascend Hardware", "NPU"),
        *group,
        piece(4, 0, "hcom_allReduce__271_0_1", 0, 9, connection_id=7),
        piece(3, 1, "part", 0, 1, connection_id=7, **unknown),
        piece(3, 1, "MEMCPY_ASYNC", 2, 1, connection_id=8, **unknown),
        piece(3, 1, "gemm", 4, 1, "kernel", **unknown),
    ]
    assert not [note for note in trace_of(events).notes if "unknown" in note]


def test_of_many_unknown_task_types_five_are_named() -> None:
    def note(types: int) -> str:
        events = process(1, "Ascend Hardware", "NPU")
        events += [piece(1, 3, "k", n, 1, **{"Task Type": f"QUANTUM {n}"}) for n in range(types)]
        return trace_of(events).notes[-1]

    long = trace_of(
        [*process(1, "Ascend Hardware", "NPU"), piece(1, 3, "k", 0, 1, **{"Task Type": "Q" * 41})]
    )
    assert long.notes[-1].endswith(f"no work: {'Q' * 39}….")
    names = ", ".join(f"QUANTUM {n}" for n in range(5))
    five = f"Task types unknown to this program count as no work: {names}"
    assert [note(5), note(6), note(8)] == [f"{five}.", f"{five} and 1 more.", f"{five} and 3 more."]


def test_devices_are_named_by_their_tasks_and_transfers() -> None:
    """In the order of their tracks; neither counters of others nor tracks without a device name one."""
    tracks: Any = [
        SimpleNamespace(layer=layer, device=device)
        for device in ("NPU 1", None, "NPU 0")
        for layer in Layer
        if device != "NPU 0" or layer is Layer.COUNTER
    ]
    assert _devices(tracks) == ("NPU 1",)
    for layer in Layer:
        tracks = [SimpleNamespace(layer=layer, device=device) for device in ("b", "a", None, "b")]
        assert _devices(tracks) == (("b", "a") if layer in (Layer.DEVICE, Layer.COMMUNICATION) else ())


def test_no_more_devices_are_analysed_than_a_host_can_have() -> None:
    """A damaged file may tell of any number; what is beyond is shown as tracks of no device, and said."""
    events = [
        event
        for pid in range(1, 1031)
        for event in (
            *process(pid, "Ascend Hardware", f"NPU {pid}", 0),
            piece(pid, 1, "MatMul", 100 + pid, 5, **{"Task Type": "AI_CORE"}),
        )
    ]
    trace = trace_of(events)
    assert len(trace.devices) == 1024
    assert Counter(track.layer for track in trace.tracks) == {Layer.DEVICE: 1024, Layer.OTHER: 6}
    assert len(trace.slices) == 1030, "nothing is lost"
    assert trace.notes[-1] == "Of its 1,030 devices the first 1,024 are analysed."
