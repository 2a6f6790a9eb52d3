"""Processes without names: what they hold is told from their slices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis import real
from tests.synthetic import event_table, piece, process, thread, trace_of
from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import analyse
from tracetui.trace.build import build_trace
from tracetui.trace.model import Family, Layer, Trace, TraceKind

Events = list[dict[str, Any]]
TASK = {"Task Type": "AI_CORE"}


def places(trace: Trace) -> dict[str, tuple[Layer, Family]]:
    """Where the slices are, by their names."""
    rows = range(len(trace.slices))
    return {trace.name(row): (trace.track_of(row).layer, trace.track_of(row).family) for row in rows}


def sums(device: DeviceActivity) -> tuple[int, ...]:
    return (
        device.computing_ns,
        device.communication_ns,
        device.communication_not_overlapped_ns,
        device.free_ns,
        device.idle_ns,
        len(device.tasks),
    )


@pytest.mark.parametrize("lost", ["all", "Ascend Hardware", "HCCL", "CANN", "Overlap Analysis", "Python"])
@pytest.mark.parametrize("rank", ["level2/rank0", "level0/rank1"])
def test_a_real_trace_without_metadata_gives_the_same_numbers(
    real_traces: Path, rank: str, lost: str
) -> None:
    events: Events = json.loads((real.npu_output(real_traces, rank) / "trace_view.json").read_bytes())
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    events = [e for e in events if e["ph"] != "M" or (lost != "all" and names.get(e["pid"]) != lost)]
    found, whole = analyse(trace_of(events)), real.npu(real_traces, rank)
    assert found.trace.kind is TraceKind.ASCEND
    assert [device.device for device in found.devices] == ["NPU"]
    assert [sums(device) for device in found.devices] == [sums(device) for device in whole.devices]
    assert (found.launch_chains.total, found.launch_chains.linked) == (
        whole.launch_chains.total,
        whole.launch_chains.linked,
    )
    assert [d.producer for d in found.devices] == [d.producer for d in whole.devices]
    assert found.causes.by_cause(0) == whole.causes.by_cause(0)
    notes = [note for note in found.trace.notes if "Process names are missing" in note]
    assert bool(notes) == (lost in names.values() or lost == "all")


def test_a_task_tells_its_layer_though_its_type_is_the_first_text_of_the_file() -> None:
    assert places(trace_of([piece(1, 2, "AI_CORE", 0, 1, **TASK)])) == {
        "AI_CORE": (Layer.DEVICE, Family.TASKS)
    }


def test_one_task_or_call_tells_a_layer_and_planes_are_not_groups() -> None:
    events = [
        piece(1, 2, "user range", 0, 9),
        piece(1, 2, "MatMul", 1, 5, **TASK),
        piece(2, 7, "what is this", 0, 1),
        piece(2, 7, "Node@launch", 0, 1),
        piece(3, 0, "hcom_broadcast__1_2", 0, 5),
        piece(3, 4, "Notify_Wait", 0, 1),
        piece(3, 4, "Memcpy", 1, 1),
        piece(4, 3, "Free", 0, 1),
        piece(5, 5, "RuntimeFramework::KernelLaunch::Default/Mul-op0", 0, 1),
        piece(6, 6, "aten::mm", 0, 1, "cpu_op"),
        piece(7, 7, "anything", 0, 1),
    ]
    device, group = (Layer.DEVICE, Family.TASKS), (Layer.COMMUNICATION, Family.GROUP)
    plane, calls = (Layer.COMMUNICATION, Family.PLANE), (Layer.RUNTIME, Family.CALLS)
    operators = (Layer.PYTHON, Family.OPERATORS)
    assert list(places(trace_of(events)).items()) == [
        ("RuntimeFramework::KernelLaunch::Default/Mul-op0", operators),
        ("aten::mm", operators),
        ("what is this", calls),
        ("Node@launch", calls),
        ("user range", device),
        ("MatMul", device),
        ("hcom_broadcast__1_2", group),
        ("Notify_Wait", plane),
        ("Memcpy", plane),
        ("Free", (Layer.OVERLAP, Family.OVERLAP)),
        ("anything", (Layer.OTHER, Family.OTHER)),
    ]


def test_names_that_are_there_count() -> None:
    """Names that users may choose do not make a layer of a process that has a name of its own."""
    events = [*process(1, "trainer"), *process(2, "Python", "CPU"), *process(3, "HCCL", "NPU")]
    events += [*thread(3, 4, "Group 0 Communication")]
    events += [piece(1, 1, "Free", 0, 1), piece(2, 1, "Node@x", 0, 1), piece(3, 4, "Notify_Wait", 0, 1)]
    assert places(trace_of(events)) == {
        "Free": (Layer.OTHER, Family.OTHER),
        "Node@x": (Layer.PYTHON, Family.OPERATORS),
        "Notify_Wait": (Layer.COMMUNICATION, Family.GROUP),
    }


def test_a_hardware_layer_of_a_new_name_is_known_by_its_task_types() -> None:
    events = [*process(1, "Ascend Device 2030", "NPU 4"), piece(1, 2, "MatMul", 1, 5, **TASK)]
    trace = trace_of(events)
    assert (trace.devices, trace.kind) == (("NPU 4",), TraceKind.ASCEND)
    assert trace.tracks[0].process == "Ascend Device 2030"


def test_in_a_file_of_numbered_processes_those_of_less_than_four_digits_are_devices() -> None:
    events = [piece(pid, 1, f"of {pid}", 0, 1) for pid in (0, 999, 1000, 9000)]
    found = places(build_trace(event_table(events, "timeline_display_0.json")))
    device, other = (Layer.DEVICE, Family.TASKS), (Layer.OTHER, Family.OTHER)
    assert found == {"of 0": device, "of 999": device, "of 1000": other, "of 9000": device}


def test_hardware_without_a_label_has_the_one_that_others_name() -> None:
    events = [*process(1, "Ascend Hardware"), piece(1, 2, "MatMul", 1, 5, **TASK)]
    groups = [
        *process(2, "HCCL", "NPU 3"),
        *thread(2, 4, "Group 0 Communication"),
        piece(2, 4, "hcom_x", 0, 1),
    ]
    other = [
        *process(3, "HCCL", "NPU 5"),
        *thread(3, 4, "Group 0 Communication"),
        piece(3, 4, "hcom_x", 0, 1),
    ]
    assert trace_of(events).devices == ("NPU",)
    assert trace_of(events + groups).devices == ("NPU 3",)
    assert trace_of(events + groups + other).devices == ("NPU", "NPU 3", "NPU 5")
