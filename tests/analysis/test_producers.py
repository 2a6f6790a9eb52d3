"""Small traces as several producers write them, with the traps of their formats, analysed whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.synthetic import flow, piece, process, thread, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.trace.model import Activity, Family, Layer, TraceKind

Events = list[dict[str, Any]]
OS_PID = 4242
CANN, HARDWARE, GROUPS, OVERLAP = (OS_PID << 10 | sort << 5 for sort in (7, 14, 16, 31))
NONE32, NONE64 = 4294967295, 18446744073709551615


def ascend(label: str = "NPU 0") -> Events:
    """The metadata of msprof's layers, in the names of 2026."""
    return [
        *process(CANN, "CANN", "CPU", 7),
        *process(HARDWARE, "Ascend Hardware", label, 14),
        *process(GROUPS, "Communication", label, 16),
        *thread(GROUPS, 0, "Group tp Communication"),
        *thread(GROUPS, 1, "Plane 0"),
    ]


def kernel(ts: Any, dur: Any, connection: int, name: str = "MatMul", **args: Any) -> dict[str, Any]:
    typed = {"Task Type": args.pop("kind", "AI_CORE")}
    return piece(HARDWARE, args.pop("stream", 2), name, ts, dur, connection_id=connection, **typed, **args)


def launch(tid: int, ts: Any, connection: int, name: str = "Node@launch") -> dict[str, Any]:
    return piece(CANN, tid, name, ts, 2, connection_id=connection)


def operators(analysis: Analysis) -> dict[str, str]:
    """The operator of each task by their names, "" where it has none."""
    trace, chains = analysis.trace, analysis.launch_chains
    return {
        trace.name(task): "" if row < 0 else trace.name(row)
        for task, row in zip(chains.tasks.tolist(), chains.operator.tolist())
    }


def mindspore() -> Events:
    """Python calls on one thread, launches on another, flows by the microseconds of the kernel."""
    return [
        *process(1, "MindSpore", "CPU", 1),
        *process(2, "CPU OP", "CPU", 2),
        *process(3, "Scope Layer", "NPU", 12),
        *ascend(),
        piece(1, 90, "ProfilerStep#7", "0.000", "200.0"),
        piece(1, 90, "train.py(5): step", "1.000", "150.25", "python_function"),
        piece(1, 91, "RuntimeFramework::KernelLaunch::Default/Mul-op1", "10.000", "8.00", ""),
        launch(91, "12.000", 1),
        kernel("30.125", 5, 1, "Mul", mindspore_op="RuntimeFramework::KernelLaunch::Default/Mul-op1"),
        piece(1, 91, "PynativeFramework::PyNativeLaunchTask::Add", "50.000", "4.000", ""),
        kernel("70.250", 5, NONE32, "Add"),
        flow("s", "async_npu", "70.250", 1, 91, "50.000"),
        flow("f", "async_npu", "70.250", HARDWARE, 2, "70.250"),
        piece(3, 0, "Default", "30.125", "45.125"),
        piece(2, 92, "CpuOp", "80.000", "1.000"),
        {"ph": "i", "name": "Framework::Event::none", "pid": 1, "tid": 91, "ts": "11.000", "s": "t"},
    ]


def test_mindspore_links_by_connection_then_by_its_own_arrows() -> None:
    analysis = analyse(trace_of(mindspore()))
    assert operators(analysis) == {
        "Mul": "RuntimeFramework::KernelLaunch::Default/Mul-op1",
        "Add": "PynativeFramework::PyNativeLaunchTask::Add",
    }
    assert [(step.number, step.computing_ns) for step in analysis.steps] == [(7, 10_000)]
    families = {(track.process, track.family) for track in analysis.trace.tracks}
    assert ("MindSpore", Family.FRAMES) in families
    assert ("Scope Layer", Family.OTHER) in families
    assert analysis.trace.devices == ("NPU 0",)


def test_scopes_are_no_operators_of_the_host() -> None:
    table = analyse(trace_of(mindspore())).host_operators
    assert "Default" not in {table.strings[index] for index in table.name.tolist()}


def test_metadata_of_every_slice_of_an_export_counts_once() -> None:
    once = trace_of(mindspore())
    again = [event for event in mindspore() if event["ph"] == "M"]
    twice = trace_of([*again, *mindspore(), *again])
    assert [(t.process, t.name, t.device) for t in twice.tracks] == [
        (t.process, t.name, t.device) for t in once.tracks
    ]


def test_graph_mode_step_traces_and_their_bounds_are_no_work_and_no_arrows() -> None:
    events = [*ascend(), *thread(HARDWARE, 99, "Step Trace(Model ID:1)"), kernel(10, 5, 1)]
    events += [piece(HARDWARE, 99, "Iteration 1", 0, 90, "Iteration Time")]
    events += [
        flow("s", "Data_aug Bound", "5", HARDWARE, 99, 1),
        flow("t", "Data_aug Bound", "5", HARDWARE, 99, 9),
    ]
    analysis = analyse(trace_of(events))
    (device,) = analysis.devices
    assert (device.window_ns, device.computing_ns, len(device.tasks)) == (5000, 5000, 1)
    assert len(analysis.trace.flows.category) == 0


def test_user_ranges_on_a_stream_are_no_work() -> None:
    only: dict[str, Any] = {"Physic Stream Id": 2, "Task Id": 4}
    mark = piece(HARDWARE, 2, "my range", 0, 500, **only)
    (device,) = analyse(trace_of([*ascend(), mark, kernel(10, 5, 1)])).devices
    assert (device.window_ns, device.computing_ns, device.copies.total) == (5000, 5000, 0)


@pytest.mark.parametrize("nothing", [NONE32, NONE64])
def test_ids_that_mean_none_join_nothing(nothing: int) -> None:
    events = [*process(OS_PID, "Python", "CPU"), *ascend(), piece(OS_PID, 9, "aten::mm", 0, 50, "cpu_op")]
    events += [launch(9, 5, nothing), kernel(20, 5, nothing), piece(GROUPS, 0, "hcom_send_", 40, 5)]
    events[-1]["args"]["connection_id"] = nothing
    analysis = analyse(trace_of(events))
    assert set(operators(analysis).values()) == {""}
    assert analysis.devices[0].computing_ns == 5000


def test_launch_arrows_of_shifted_ids_reach_all_tasks_of_a_graph() -> None:
    """Newer msprof writes connection << 32, one start with hundreds of ends, and one id for "none"."""
    events = [*process(OS_PID, "Python", "CPU"), *ascend(), piece(OS_PID, 9, "aten::graph", 0, 50, "cpu_op")]
    for number in range(300):
        events += [
            kernel(100 + number, 1, -1, f"k{number}"),
        ]
        del events[-1]["args"]["connection_id"]
        events += [flow("f", "HostToDevice", str(5 << 32), HARDWARE, 2, 100 + number)]
    events += [flow("s", "HostToDevice", str(5 << 32), CANN, 9, 10)]
    analysis = analyse(trace_of(events))
    assert (analysis.launch_chains.total, analysis.launch_chains.linked) == (300, 300)


def test_tids_of_streams_are_no_threads() -> None:
    """A stream, a row of the overlap analysis and a group with the number of the thread that launches."""
    events = [
        *process(OS_PID, "Python", "CPU"),
        *ascend(),
        *process(OVERLAP, "Overlap Analysis", "NPU 0", 31),
    ]
    events += [piece(OS_PID, 2, "aten::mm", 0, 50, "cpu_op"), kernel(10, 5, NONE32, stream=2)]
    events += [piece(OVERLAP, 2, "Computing", 10, 5), piece(GROUPS, 2, "Notify_Wait", 20, 2)]
    assert operators(analyse(trace_of(events))) == {"MatMul": ""}


def test_one_collective_is_counted_once_of_its_three_tellings() -> None:
    events = [*ascend(), piece(GROUPS, 0, "hcom_allReduce__1", 10, 20, connection_id=3)]
    events += [piece(GROUPS, 1, "Memcpy", 12, 10), kernel(12, 10, 3, "MemcpyPart", kind="SDMA", stream=4)]
    events += [kernel(12.5, 10, 3, "Notify_Wait", kind="Notify Wait", stream=4)]
    (device,) = analyse(trace_of(events)).devices
    assert (device.communication_ns, device.copies.total, device.computing_ns) == (20_000, 0, 0)


def test_tasks_that_overlap_on_one_stream_fill_its_time_once() -> None:
    (device,) = analyse(trace_of([*ascend(), kernel(0, 10, 1), kernel(5, 10, 2), kernel(7, 2, 3)])).devices
    assert (device.computing_ns, len(device.tasks)) == (15_000, 3)


def test_a_device_that_only_communicates_or_only_waits() -> None:
    (device,) = analyse(trace_of([*ascend(), piece(GROUPS, 0, "hcom_allReduce__1", 10, 20)])).devices
    assert (device.communication_not_overlapped_ns, device.free_ns, device.producer) == (20_000, 0, None)
    (device,) = analyse(trace_of([*ascend(), kernel(10, 20, 1, "EVENT_WAIT", kind="EVENT_WAIT_SQE")])).devices
    assert (device.window_ns, device.idle_ns) == (0, 0)


def test_a_wider_window_of_newer_overlap_analyses_is_told() -> None:
    """Free reaches from the first copy to the last event there."""
    events = [
        *ascend(),
        *process(OVERLAP, "Overlap Analysis", "NPU 0", 31),
        kernel(10, 5, 1),
        kernel(20, 5, 2),
    ]
    events += [piece(OVERLAP, 0, "Computing", 10, 5), piece(OVERLAP, 0, "Computing", 20, 5)]
    events += [piece(OVERLAP, 3, "Free", 2, 8), piece(OVERLAP, 3, "Free", 15, 5)]
    (device,) = analyse(trace_of(events)).devices
    assert (device.free_ns, device.differs) == (5000, True)


def test_tasks_without_length_are_shown_and_count_nothing() -> None:
    analysis = analyse(trace_of([*ascend(), kernel(0, 5, 1), kernel(7, 0, 2), kernel(9, 5, 3)]))
    assert len(analysis.devices[0].tasks) == 3
    assert analysis.idle.start.tolist() == [5000]
    assert analysis.trace.name(int(analysis.idle.task[0])) == "MatMul"
    assert analysis.trace.slices.start[analysis.idle.task[0]] == 9000


def test_layers_in_any_order_with_metadata_last_give_the_same() -> None:
    first, last = trace_of(mindspore()), trace_of(mindspore()[::-1])
    assert [(t.process, t.name, len(t.rows)) for t in first.tracks] == [
        (t.process, t.name, len(t.rows)) for t in last.tracks
    ]
    assert operators(analyse(first)) == operators(analyse(last))


def gpu(*devices: int) -> Events:
    """The processes of kineto: one of the host, and one of each GPU, of the same name."""
    found = process(700, "python", "CPU", 700)
    for device in range(8):
        found += [*process(device, "python", f"GPU {device}", 16777216 + device)]
    for device in devices:
        found += thread(device, 7, "stream 7 ")
    return found


def gpu_kernel(device: int, ts: Any, dur: Any, correlation: int, name: str, **args: Any) -> dict[str, Any]:
    cat = args.pop("cat", "kernel")
    return piece(device, 7, name, ts, dur, cat, correlation=correlation, stream=7, device=device)


def test_several_gpus_of_one_file_without_those_that_did_nothing() -> None:
    events = [*gpu(0, 3), piece(700, 700, "aten::mm", 0, 90, "cpu_op")]
    for device, correlation in ((0, 1), (3, 2)):
        events += [
            piece(700, 700, "cuLaunchKernel", 10 * correlation, 3, "cuda_driver", correlation=correlation)
        ]
        events += [gpu_kernel(device, 30, 5, correlation, f"triton_poi_fused_add_{device}")]
        events += [gpu_kernel(device, 25, 20, 0, "ProfilerStep#1", cat="gpu_user_annotation")]
    events += [
        gpu_kernel(3, 60, 5, 77, "launched before the trace"),
        gpu_kernel(3, 70, 5, 4, "ncclDevKernel_X"),
    ]
    events += [gpu_kernel(0, 36, 4, 9, "Stream Wait Event", cat="cuda_sync")]
    events += [
        piece(700, -1, "Buffer Flush", 40, 9, "overhead"),
        piece("Spans", "PyTorch", "x", 0, 99, "Trace"),
    ]
    analysis = analyse(trace_of(events))
    assert analysis.trace.kind is TraceKind.GPU
    assert [(d.device, d.computing_ns, d.communication_ns) for d in analysis.devices] == [
        ("GPU 0", 5000, 0),
        ("GPU 3", 10_000, 5000),
    ]
    operator_of = operators(analysis)
    assert (operator_of["triton_poi_fused_add_3"], operator_of["launched before the trace"]) == (
        "aten::mm",
        "",
    )
    layers = {analysis.trace.name(t.rows.start): t.layer for t in analysis.trace.tracks if len(t.rows)}
    assert (layers["Buffer Flush"], layers["x"]) == (Layer.OTHER, Layer.OTHER)
    slices = analysis.trace.slices
    waits = [analysis.trace.name(row) for row in range(len(slices)) if slices.activity[row] == Activity.WAIT]
    assert waits == ["Stream Wait Event"]


def test_relative_times_and_orphan_arrows_of_newer_kineto() -> None:
    events = [*gpu(0), piece(700, 700, "cudaEventQuery", 5, 1, "cuda_runtime", correlation=8)]
    events += [piece(700, 700, "cudaLaunchKernel", 10, 1, "cuda_runtime", correlation=9)]
    events += [gpu_kernel(0, 20.5, 2, 9, "gemm"), flow("f", "ac2g", 8, 700, 700, 5)]
    events += [flow("s", "ac2g", 9, 700, 700, 10), flow("f", "ac2g", 9, 0, 7, 20.5)]
    trace = trace_of(events, baseTimeNanoseconds=1_700_000_000_000_000_000)
    assert trace.start_ns == 1_700_000_000_000_005_000
    assert [(trace.name(s), trace.name(t)) for s, t in zip(trace.flows.source, trace.flows.target)] == [
        ("cudaLaunchKernel", "gemm")
    ]
    assert (analyse(trace).launch_chains.launch >= 0).all()


def test_work_that_mindspore_hands_to_another_thread_has_the_stack_of_python() -> None:
    events = mindspore()
    events += [
        piece(1, 90, "PynativeFramework::Call::Mul", "3.000", "2.000"),
        piece(1, 90, "model.py(9): forward", "2.500", "4.000", "python_function"),
        flow("s", "async_mindspore", "77", 1, 90, "3.000"),
        flow("f", "async_mindspore", "77", 1, 91, "10.000"),
    ]
    analysis = analyse(trace_of(events))
    chains = analysis.launch_chains
    all_chains = [chains.chain(row) for row in chains.tasks.tolist()]
    stacks = {
        analysis.trace.name(c.task): [frame.line for frame in c.stack] for c in all_chains if c is not None
    }
    assert stacks == {"Mul": [9, 5], "Add": []}
    assert not chains.backward.any()
