"""A raw msprof export of graph mode: one file for each iteration, or slices, and the files beside them.

As msprof wrote them in 2023 on a 910A: times in us since boot as numbers, all collectives of one rank on a
thread `Communication Kernel`, their parts on planes and once more on streams, no host but the call of the
graph. An iteration computes forward and backward, waits for the other ranks, and updates its weights.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.intervals import Interval, total, union, without

BOOT_NS = 56_579_931_060_630  #: CLOCK_MONOTONIC_RAW at the start of the collection
BEGIN_US = 1_692_340_024_324_979  #: the same moment since 1970
HARDWARE, CANN, HCCL, OVERLAP = 3, 1003602, 1003611, 1003612
STEP_TRACE, GROUP = 10036, 70000
_DIRECTORY = "PROF_000001_20230818142704322_COJGGGCANRMICFBC"
_LAYERS = ("conv1-Conv2d", "conv2-Conv2d", "fc1-Dense", "fc2-Dense")
_FORWARD = "Default/network-TrainOneStep/_backbone-Net"
_BACKWARD = "Gradients/Default/network-TrainOneStep/_backbone-Net/grad"
_OPTIMIZER = "Default/optimizer-Momentum"
_OVERLAP_ROWS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")

Event = dict[str, Any]


@dataclass
class IterationTruth:
    """What was written of an iteration, ns since boot."""

    number: int
    start: int
    end: int
    passes: Interval
    computing: list[Interval] = field(default_factory=list)
    communication: list[Interval] = field(default_factory=list)
    by_scope: dict[str, int] = field(default_factory=dict)  #: ns of computing by the scope of its operators

    @property
    def sums(self) -> dict[str, int]:
        """The producer's four rows, ns; Free is inside the iteration."""
        return {name: total(rows) for name, rows in self.rows.items()}

    @property
    def rows(self) -> dict[str, list[Interval]]:
        computing, communication = union(self.computing), union(self.communication)
        busy = union(self.computing + self.communication)
        free = without([(busy[0][0], busy[-1][1])], busy)
        return dict(zip(_OVERLAP_ROWS, (computing, communication, without(communication, computing), free)))


class GraphProfile:
    """The events of some iterations of one rank."""

    def __init__(self, iterations: int = 4, seed: int = 1, rank: int = 3) -> None:
        self._rank = rank
        self._random = random.Random(seed)
        self._now = BOOT_NS + 30_000_000_000
        self.truth: list[IterationTruth] = []
        self.events = [self._iteration(number) for number in range(1, iterations + 1)]

    def write(self, parent: Path, slices: int = 0) -> Path:
        """Write the directory of the profile: a file for each iteration, or so many slices; return it."""
        top = parent / _DIRECTORY
        device = top / "device_0"
        device.mkdir(parents=True)
        start = {"collectionTimeBegin": str(BEGIN_US), "clockMonotonicRaw": str(BOOT_NS)}
        (device / "start_info.0").write_text(json.dumps(start), encoding="utf-8")
        (device / "start_info.0.done").write_text("filesize:1\n", encoding="utf-8")
        info = {"rank_id": str(self._rank), "hostname": "node7", "pid": "10036", "devices": "0"}
        (device / "info.json.0").write_text(json.dumps(info), encoding="utf-8")
        output = top / "mindstudio_profiler_output" if slices else device / "timeline"
        output.mkdir()
        parts = self._sliced(slices) if slices else self.events
        for number, events in enumerate(parts):
            name = f"msprof_slice_{number}_20230818142802" if slices else f"msprof_0_2_{number + 1}"
            content = json.dumps([*_metadata(), *events])
            (output / f"{name}.json").write_text(content, encoding="utf-8")
            if not slices:  # what repeats parts of it
                for kind in ("hccl", "task_time", "step_trace"):
                    (output / f"{kind}_0_2_{number + 1}.json").write_text(content, encoding="utf-8")
        return top

    def _sliced(self, slices: int) -> list[list[Event]]:
        events = [event for iteration in self.events for event in iteration]
        size = -(-len(events) // slices)
        return [events[first : first + size] for first in range(0, len(events), size)]

    def _iteration(self, number: int) -> list[Event]:
        draw = self._random.randrange
        start = self._now
        self._now += draw(3_000, 6_000, 10)
        first = self._now
        truth = IterationTruth(number, start, start, (first, first))
        self.truth.append(truth)
        events: list[Event] = []
        tasks = [*(f"{_FORWARD}/{layer}/MatMul-op{10 + i}" for i, layer in enumerate(_LAYERS))]
        tasks += [f"{_BACKWARD}{layer}/MatMul-op{20 + i}" for i, layer in enumerate(reversed(_LAYERS))]
        for name in tasks:
            self._now += draw(100, 3_000, 10)
            events.append(self._task(truth, name, "AI_CORE", 2, draw(20_000, 90_000, 10)))
        events.append(
            self._task(truth, f"{_FORWARD}/dropout-Dropout/DropoutGenMask-op9", "AI_CPU", 4, 30_000)
        )
        last = self._now
        events += self._collective(truth, number, draw(200_000, 900_000, 10), draw(50_000, 400_000, 10))
        for place in range(2):
            self._now += draw(100, 2_000, 10)
            events.append(
                self._task(truth, f"{_OPTIMIZER}/ApplyMomentum-op{30 + place}", "AI_CORE", 2, 15_000)
            )
        self._now += draw(5_000, 12_000, 10)
        truth.passes, truth.end = (first, last), self._now
        events += self._step_trace(truth)
        for row, (name, intervals) in enumerate(truth.rows.items()):
            events += [_slice(name, OVERLAP, row, begin, end) for begin, end in intervals]
        call = _slice("GE@Infer", CANN, 16027, start - 250_000, self._now + 9_000)
        call["args"] = {"Model Name": None, "Model Id": 2}
        self._now += draw(1_000_000, 30_000_000, 10)
        return sorted([*events, call], key=lambda event: float(event["ts"]))

    def _task(self, truth: IterationTruth, name: str, kind: str, stream: int, ns: int) -> Event:
        begin, self._now = self._now, self._now + ns
        truth.computing.append((begin, self._now))
        scope = name.rpartition("/")[0]
        truth.by_scope[scope] = truth.by_scope.get(scope, 0) + ns
        return _task(name, kind, stream, begin, self._now)

    def _collective(self, truth: IterationTruth, number: int, wait: int, move: int) -> list[Event]:
        self._now += 20_000
        begin = self._now
        middle, end = begin + wait, begin + wait + move
        self._now = end
        truth.communication.append((begin, end))
        parts = [("Notify_Wait", "NOTIFY_WAIT", begin, middle), ("Memcpy", "MEMCPY_ASYNC", middle, end)]
        events = [_slice(f"Default/AllReduce-op50_{number}", HCCL, GROUP, begin, end)]
        for name, kind, first, last in parts:
            args: dict[str, Any] = {"stream id": 12, "task id": 2, "task type": name, "src rank": self._rank}
            args |= {"dst rank": (self._rank + 1) % 4, "transport type": "SDMA", "link type": "HCCS"}
            args["size(Byte)"] = move // 100
            events.append({**_slice(name, HCCL, 1, first, last), "args": args})
            events.append(_task(kind, kind, 12, first, last))
        return events

    def _step_trace(self, truth: IterationTruth) -> list[Event]:
        (first, last), number = truth.passes, truth.number
        named = [
            (f"Iteration {number}", "Iteration Time", truth.start, truth.end),
            (f"FP_BP Time {number}", "FP_BP Time", first, last),
            (f"Iteration Refresh {number}", "Iteration Refresh", last, truth.end),
        ]
        bound = {
            "name": f"Data_aug Bound {number}",
            "cat": "Data_aug Bound",
            "id": f"Data_aug Bound {number}",
        }
        place = {"pid": HARDWARE, "tid": STEP_TRACE, "ts": _us(truth.end), "args": {"Iteration ID": number}}
        return [
            *({**_slice(name, HARDWARE, STEP_TRACE, *span), "cat": cat} for name, cat, *span in named),
            {**bound, **place, "ph": "s"},
            {**bound, **place, "ph": "t"},
        ]


def _us(ns: int) -> float:
    return ns / 1000


def _slice(name: str, pid: int, tid: int, begin: int, end: int) -> Event:
    return {"name": name, "pid": pid, "tid": tid, "ts": _us(begin), "dur": _us(end - begin), "ph": "X"}


def _task(name: str, kind: str, stream: int, begin: int, end: int) -> Event:
    args = {"Task Type": kind, "Stream Id": stream, "Task Id": 2, "Batch Id": 0, "Aicore Time(ms)": "N/A"}
    return {**_slice(name, HARDWARE, stream, begin, end), "args": args}


def _metadata() -> list[Event]:
    processes = [(HARDWARE, "Ascend Hardware", "NPU"), (CANN, "CANN", "CPU")]
    processes += [(HCCL, "HCCL", "NPU"), (OVERLAP, "Overlap Analysis", "NPU")]
    threads = [(HARDWARE, STEP_TRACE, "Step Trace(Model ID:2)"), (HCCL, GROUP, "Communication Kernel")]
    threads += [(HARDWARE, stream, f"Stream {stream}") for stream in (2, 4, 12)]
    threads += [(HCCL, 1, "Plane 1"), (CANN, 16027, "Thread 16027")]
    threads += [(OVERLAP, row, name) for row, name in enumerate(_OVERLAP_ROWS)]
    entries = [("process_name", pid, 0, "name", name) for pid, name, _ in processes]
    entries += [("process_labels", pid, 0, "labels", label) for pid, _, label in processes]
    entries += [("thread_name", pid, tid, "name", name) for pid, tid, name in threads]
    return [
        {"name": name, "pid": pid, "tid": tid, "args": {key: value}, "ph": "M"}
        for name, pid, tid, key, value in entries
    ]
