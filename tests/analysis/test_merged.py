"""Several processes in one file: ranks merged by hand have equal ids and threads; none may be mixed up."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simulator.scenarios import simulate
from simulator.truth import Truth
from simulator.writer import TraceWriter
from tests.analysis import real
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.launch_chains import link_tasks
from tracetui.trace.model import Layer

PIDS = (3178231, 3178245)
TASK: dict[str, Any] = {"Task Type": "AI_CORE"}
RANKS = ["NPU (rank 0)", "NPU (rank 1)"]
#: What tools that merge ranks write behind process names; they write the rank behind the pids too.
RANK_NAMES = {"behind a line": "_{}", "as a word": " rank{}"}

Events = list[dict[str, Any]]


@cache
def written(seed: int, pid: int, level: int, task_queue: bool) -> tuple[bytes, dict[str, Any]]:
    """A run of a program as its trace, and what is true of it."""
    recording = simulate("stalls", seed=seed, pid=pid, task_queue=task_queue)
    file = io.BytesIO()
    TraceWriter(recording, level).write(file)
    return file.getvalue(), Truth(recording, level).as_json()


def merged(level: int, task_queue: bool, how: str) -> tuple[Analysis, list[dict[str, Any]]]:
    """Two runs of a program, at the same time, in one file, with equal ids, tids and, perhaps, labels."""
    events: Events = []
    truths = []
    for number, pid in enumerate(PIDS):
        text, truth = written(number + 1, pid, level, task_queue)
        for event in with_threads(json.loads(text), PIDS[0]):
            if how == "labels" and event["name"] == "process_labels" and event["args"]["labels"] == "NPU":
                event["args"]["labels"] = f"NPU {number}"
            if how in RANK_NAMES:
                event["pid"] = int(f"{event['pid']}{number}")
                if event["name"] == "process_name":
                    event["args"]["name"] += RANK_NAMES[how].format(number)
            events.append(event)
        truths.append(truth)
    return analyse(trace_of(events)), truths


def with_threads(events: Events, first: int) -> Events:
    """The events, with the host's threads numbered from `first`."""
    host = [event for event in events if event["tid"] > 1000]  # streams and the like are few
    numbers = {tid: first + place for place, tid in enumerate(sorted({event["tid"] for event in host}))}
    for event in host:
        event["tid"] = numbers[event["tid"]]
    return events


@pytest.mark.parametrize("how", ["labels", "nothing", *RANK_NAMES])
@pytest.mark.parametrize(
    ("level", "task_queue", "least"), [(2, True, 0.97), (2, False, 0.97), (0, True, 0.9)]
)
def test_each_device_keeps_its_causes(level: int, task_queue: bool, least: float, how: str) -> None:
    analysis, truths = merged(level, task_queue, how)
    names = {"labels": ["NPU 0", "NPU 1"], "nothing": [f"NPU ({pid})" for pid in PIDS]}
    assert [device.device for device in analysis.devices] == names.get(how, RANKS)
    for index, truth in enumerate(truths):
        ns_by_label = {cause.label: ns for cause, ns in analysis.causes.by_cause(index).items()}
        assert sum(ns_by_label.values()) == truth["idle_ns"]
        agreed = sum(min(ns_by_label.get(cause, 0), ns) for cause, ns in truth["causes"].items())
        assert agreed >= least * truth["idle_ns"]
    chains, trace = analysis.launch_chains, analysis.trace
    for column in (chains.launch, chains.enqueue, chains.dequeue, chains.operator):
        for task, row in zip(chains.tasks.tolist(), column.tolist()):
            if row >= 0:
                task_track, other = trace.track_of(task), trace.track_of(row)
                assert trace.same_process(task_track.pid, other.pid)
    assert len({trace.owners[t.pid] for t in trace.tracks if t.layer != Layer.COUNTER}) == 2


def test_where_pids_tell_nothing_calls_soon_before_the_tasks_are_theirs() -> None:
    """Two runs one after another; GPUs are numbered, and older Ascend pids say nothing of the OS process."""
    events: Events = []
    for number, at in enumerate((0, 1000)):
        host, gpu = 700 + number, number
        events += [*process(host, "python", "CPU"), *process(gpu, "python", f"GPU {gpu}")]
        for call in (1, 2):
            ts = at + 100 * call
            events += [
                piece(host, 1, f"op {number}.{call}", ts, 50, "cpu_op"),
                piece(host, 1, "cudaLaunchKernel", ts + 1, 5, "cuda_runtime", correlation=call),
                piece(gpu, 7, f"kernel {number}.{call}", ts + 20, 5, "kernel", correlation=call),
            ]
    chains = link_tasks(trace_of(events))
    names = [(chains.trace.name(t), chains.trace.name(o)) for t, o in zip(chains.tasks, chains.operator)]
    assert sorted(names) == [(f"kernel {n}.{c}", f"op {n}.{c}") for n in (0, 1) for c in (1, 2)]


def test_several_devices_of_one_process_are_told_apart_without_labels() -> None:
    """pid = OS pid << 10 | sort index << 5 | device."""
    events: Events = [*process(77, "Python", "CPU")]
    for device in (0, 3):
        hardware, groups = 77 << 10 | 13 << 5 | device, 77 << 10 | 15 << 5 | device
        events += [piece(hardware, 2, "MatMul", 5 + device, 5, connection_id=1, **TASK)]
        events += [piece(groups, 0, "hcom_allReduce__1", 20, 5 + device)]
    devices = analyse(trace_of(events)).devices
    assert [(d.device, d.computing_ns, d.communication_ns) for d in devices] == [
        ("NPU 0", 5000, 5000),
        ("NPU 3", 5000, 8000),
    ]


def test_older_mindspore_writes_its_rank_behind_the_names_of_layers() -> None:
    events: Events = [*process(1, "CPU OP Rank3"), *process(2, "Ascend Hardware Rank3")]
    events += [piece(2, 5, "MatMul", 0, 9, **TASK), *process(4, "HCCL Rank3"), *process(5, "Process_9")]
    events += [piece(4, 0, "hcom_send__1", 20, 5), piece(1, 1, "Op", 0, 1), piece(5, 1, "x", 0, 1)]
    analysis = analyse(trace_of(events))
    (device,) = analysis.devices
    assert (device.device, device.computing_ns, device.communication_ns) == ("NPU", 9000, 5000)
    assert [track.layer for track in analysis.trace.tracks] == [
        Layer.PYTHON,
        Layer.DEVICE,
        Layer.COMMUNICATION,
        Layer.OTHER,
    ]


def test_gpu_ranks_with_their_name_before_the_pid() -> None:
    """All ids and labels are equal, and the second rank is a little later than the first."""
    events: Events = []
    for number, at in enumerate((0, 1)):
        host, gpu = f"[TP0{number}] 700", f"[TP0{number}] 0"
        events += [*process(host, "python", "CPU"), *process(gpu, "python", "GPU 0")]
        events += [
            piece(host, 1, f"op {number}", at, 9, "cpu_op"),
            piece(host, 1, "cudaLaunchKernel", at + 1, 5, "cuda_runtime", correlation=1),
            piece(gpu, 7, f"kernel {number}", at + 20 + number, 5, "kernel", correlation=1),
        ]
    analysis = analyse(trace_of(events))
    assert [device.device for device in analysis.devices] == ["GPU 0 (TP00)", "GPU 0 (TP01)"]
    chains, trace = analysis.launch_chains, analysis.trace
    names = [(trace.name(t), trace.name(o)) for t, o in zip(chains.tasks, chains.operator)]
    assert sorted(names) == [("kernel 0", "op 0"), ("kernel 1", "op 1")]


def test_a_number_behind_one_name_is_no_rank() -> None:
    events: Events = [*process(1, "worker_1"), *process(2, "Ascend Hardware", "NPU 0")]
    events += [piece(1, 1, "x", 0, 1), piece(2, 1, "MatMul", 0, 1, **TASK)]
    assert trace_of(events).owners == {"1": "1", "2": "2"}


def test_two_real_ranks_in_one_file_give_what_they_give_alone(real_traces: Path) -> None:
    ranks = ("level2/rank0", "level2/rank1")
    files = [real.npu_output(real_traces, rank) / "trace_view.json" for rank in ranks]
    both = analyse(trace_of([event for file in files for event in json.loads(file.read_bytes())]))
    alone = [real.npu(real_traces, rank) for rank in ranks]
    assert len(both.devices) == 2
    for single, device in zip(alone, both.devices):
        (expected,) = single.devices
        assert (device.computing_ns, device.communication_ns, device.idle_ns) == (
            expected.computing_ns,
            expected.communication_ns,
            expected.idle_ns,
        )
        assert (device.producer, device.differs) == (expected.producer, False)
        assert [s.preparing_ns for s in both.steps if s.device == device.device] == [
            step.preparing_ns for step in single.steps
        ]
    for name in ("launch", "dequeue", "enqueue", "operator", "forward"):
        counts = [int((getattr(single.launch_chains, name) >= 0).sum()) for single in alone]
        assert int((getattr(both.launch_chains, name) >= 0).sum()) == sum(counts), name
