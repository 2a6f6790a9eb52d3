"""Simulated runs, made once for all tests that look at all that is made of one."""

from __future__ import annotations

import io
import json
import tempfile
from functools import cache
from pathlib import Path

from simulator.mindspore.graph import GraphProfile
from simulator.mindspore.pynative import PyNativeTrace
from simulator.recording import Recording
from simulator.scenarios import simulate
from simulator.writer import TraceWriter
from tests.analysis import gpu
from tests.analysis.machine import Events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.api import load

ROUND_NS = 10_000


@cache
def events_of(scenario: str, steps: int) -> Events:
    """The events of a scenario, or of one of the runs below; nobody changes them.

    "pynative": MindSpore without graphs. "bare": the profiler's level 0, without a task queue. "two": two
    processes in one trace, and of one of them the device alone. "gpu": a GPU.
    """
    if scenario == "pynative":
        return PyNativeTrace(steps).events
    if scenario == "bare":
        return _written(simulate("mixed", steps, task_queue=False), 0)
    if scenario == "two":
        other = _written(simulate("stalls", steps, seed=5, pid=3178299), 2)
        return [*events_of("attached", steps), *(event for event in other if event["pid"] != 3178299)]
    if scenario == "gpu":
        return _gpu(steps)
    return _written(simulate(scenario, steps), 2)


def _written(recording: Recording, level: int) -> Events:
    file = io.BytesIO()
    TraceWriter(recording, level).write(file)
    events: Events = json.loads(file.getvalue())
    return events


def _gpu(steps: int) -> Events:
    """Steps of a copy, ten operators and a collective, most of which begin where something else ends."""
    events = gpu.gpu()
    for number in range(steps):
        start = 100_000 * number
        events += [
            gpu.step(number + 5, start, 90_000),
            gpu.host(start, 4_000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
            gpu.host(start, 90_000, "train.py(10): train", "python_function"),
            gpu.host(start + 85_000, 5_000, "cudaDeviceSynchronize", "cuda_runtime"),
        ]
        for place in range(12):
            at, id_ = start + 5_000 + 5_000 * place, 100 * number + place + 1
            name, kind, stream = "gemm", "kernel", 7
            if place == 0:
                name, kind = "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"
            elif place == 11:
                name, stream = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20
            called = ("aten::copy_", "aten::mm", "aten::add")[min(place, 1 + place % 2)]
            begun, dur = at + (4_000, 2_000, 30_000)[place % 3], (5_000, 10_000)[place % 2]
            stack = f"model.py({20 + place % 3}): forward;train.py(12): train"
            events += [
                gpu.host(at, 4_000, called, stack=stack),
                gpu.host(at, 5_000, f"model.py({place % 3}): forward", "python_function"),
                gpu.launch(at + 1_000, 1_000, id_, "cudaMemcpyAsync" if place == 0 else "cudaLaunchKernel"),
                gpu.kernel(begun, dur, id_, name, stream, kind),
            ]
    return events


def rounded(events: Events) -> Events:
    """Events that begin and end on multiples of `ROUND_NS`."""

    def nearest(ns: int) -> int:
        return ROUND_NS * round(ns / ROUND_NS) // 1000

    found = []
    for event in events:
        if "ts" in event:
            start, dur = (round(float(event.get(key, 0)) * 1000) for key in ("ts", "dur"))
            first, last = nearest(start), nearest(start + dur)
            event = {**event, "ts": f"{first}", **({"dur": f"{last - first}"} if "dur" in event else {})}
        found.append(event)
    return found


@cache
def planted(name: str) -> Analysis:
    """The analysis of two steps of a scenario, of their rounded times where the name says so.

    "graph": a raw export of MindSpore's graph mode, with two iterations.
    """
    if name == "graph":
        with tempfile.TemporaryDirectory() as directory:
            return load(GraphProfile(2).write(Path(directory)), cache=False, jobs=1)
    scenario, _, is_rounded = name.partition("-")
    events = events_of(scenario, 2)
    return analyse(trace_of(rounded(events) if is_rounded else events))
