"""A trace of PyNative mode as MindSpore 2.4 and later writes it, from its sources: no real one was at hand.

Python hands each operator to a front end, that hands it to a back end, and that to the thread that launches
it: each hand-over is an arrow to the slice in which the next thread does its part.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.intervals import union, without

PYTHON, FRONT, BACK, LAUNCH = 4100, 4101, 4102, 4103  #: OS threads
MINDSPORE, CANN, HARDWARE, OVERLAP = 1, 4198624, 4198816, 4199136
NONE = 18446744073709551615
START_NS = 1_736_412_474_712_511_620
_OPERATORS = ("MatMulExt", "Add", "Gelu", "LayerNormExt", "MulExt")
_SCRIPT = "/workspace/train_pynative.py"

Event = dict[str, Any]


@dataclass(frozen=True)
class OperatorTimes:
    """What was written of one operator, ns."""

    name: str
    handed_over: int  #: when Python handed it over
    front: int  #: when the front end began with it
    back: int
    launch: int  #: when the thread that launches did
    launched: int
    start: int  #: on the device
    end: int


class PyNativeTrace:
    """The events of some steps of one rank."""

    def __init__(self, steps: int = 2, operators: int = 12, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._free = dict.fromkeys((PYTHON, FRONT, BACK, LAUNCH, HARDWARE), START_NS)
        self._flow = 0
        self.tasks: list[OperatorTimes] = []
        self._framework: list[Event] = []
        self._msprof: list[Event] = []
        self._flows: list[Event] = []
        for number in range(steps):
            self._step(number + 10, operators)

    @property
    def events(self) -> list[Event]:
        """All events in the order of the file."""
        computing = union([(task.start, task.end) for task in self.tasks])
        free = without([(computing[0][0], computing[-1][1])], computing)
        rows = [("Computing", 0, span) for span in computing] + [("Free", 3, span) for span in free]
        overlap = [_slice(name, OVERLAP, tid, *span) for name, tid, span in rows]
        return [*_metadata(), *self._framework, *self._msprof, *overlap, *self._flows]

    def write(self, parent: Path, rank: int = 0) -> Path:
        """Write the directory of a rank; return it."""
        top = parent / f"node_{4100 + rank}_2025010912000000{rank}_ascend_ms"
        output = top / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output / "trace_view.json").write_text(json.dumps(self.events), encoding="utf-8")
        info = {"rank_id": str(rank), "ms_version": "2.5.0"}
        (top / f"profiler_info_{rank}.json").write_text(json.dumps(info), encoding="utf-8")
        return top

    def _step(self, number: int, operators: int) -> None:
        start = self._free[PYTHON]
        for place in range(operators):
            self._operator(_OPERATORS[place % len(_OPERATORS)], 20 + place % len(_OPERATORS))
        self._free[PYTHON] += 40_000  # Python between two steps
        end = self._free[PYTHON]
        name = f"Python::PythonObserved::ProfilerStep#{number}"
        self._framework.append(_slice(name, MINDSPORE, PYTHON, start, end, args={}, cat=""))
        frame = f"{_SCRIPT}(12): train"
        self._framework.append(_slice(frame, MINDSPORE, PYTHON, start, end, args={}, cat="python_function"))

    def _operator(self, name: str, line: int) -> None:
        draw = self._random.randrange
        begin = self._free[PYTHON] + draw(1_000, 9_000) * draw(1, 5)
        hand_over, end_time = begin + draw(500, 2_000), begin + draw(2_500, 6_000)
        self._free[PYTHON] = end_time + 500
        frame = f"{_SCRIPT}({line}): forward"
        self._add(frame, PYTHON, begin - 500, end_time + 400, "python_function")
        self._add(f"PynativeFramework::RunOp::{name}", PYTHON, begin, end_time)
        front, front_passed, front_end = self._stage(FRONT, hand_over, draw(3_000, 9_000))
        back, back_passed, back_end = self._stage(BACK, front_passed, draw(2_000, 6_000))
        launch, launched, launch_end = self._stage(LAUNCH, back_passed, draw(4_000, 14_000))
        for stage, tid, first, last in (
            ("PyNativeFrontendTask", FRONT, front, front_end),
            ("PyNativeBackendTask", BACK, back, back_end),
            ("PyNativeLaunchTask", LAUNCH, launch, launch_end),
        ):
            self._add(f"PynativeFramework::{stage}::{name}", tid, first, last)
        self._add(f"PynativeFramework::PyBoostLaunchAclnn::{name}", LAUNCH, launch + 300, launch_end - 100)
        for giver, moment, taker, take_time in (
            (PYTHON, hand_over, FRONT, front),
            (FRONT, front_passed, BACK, back),
            (BACK, back_passed, LAUNCH, launch),
        ):
            self._flow += 1
            self._hand_over(
                "mindspore_to_self", "async_mindspore", str(self._flow), (giver, moment), (taker, take_time)
            )
        connection = len(self.tasks) + 1
        args = {"level": "node", "item_id": name, "connection_id": connection}
        self._msprof.append(_slice("Node@launch", CANN, LAUNCH, launch + 600, launched, args=args))
        start = max(launched + draw(2_000, 5_000), self._free[HARDWARE] + draw(0, 300))
        end = start + draw(1_000, 9_000)
        self._free[HARDWARE] = end
        args = {
            "Model Id": 4294967295,
            "Task Type": "AI_CORE",
            "Physic Stream Id": 2,
            "connection_id": connection,
        }
        args["mindspore_op"] = f"PynativeFramework::PyNativeLaunchTask::{name}"
        self._msprof.append(_slice(f"aclnn{name}", HARDWARE, 2, start, end, args=args))
        ends = (
            {"pid": MINDSPORE, "tid": LAUNCH, "ts": _us(launch)},
            {"pid": HARDWARE, "tid": 2, "ts": _us(start)},
        )
        for phase, at in zip("sf", ends):
            flow = {"ph": phase, "bp": "e", "name": "mindspore_to_npu", "id": _us(start), "cat": "async_npu"}
            self._flows.append({**flow, **at})
        self.tasks.append(OperatorTimes(name, hand_over, front, back, launch, launched, start, end))

    def _stage(self, tid: int, hand_over: int, ns: int) -> tuple[int, int, int]:
        """Return when a thread began with what it was given, passed it on, and ended."""
        begin = max(hand_over + self._random.randrange(500, 2_500), self._free[tid])
        self._free[tid] = begin + ns
        return begin, begin + ns - 800, begin + ns

    def _hand_over(
        self, name: str, cat: str, number: str, giver: tuple[int, int], taker: tuple[int, int]
    ) -> None:
        for phase, (tid, moment) in zip("sf", (giver, taker)):
            at = {"pid": MINDSPORE, "tid": tid, "ts": _us(moment)}
            self._flows.append({"ph": phase, "bp": "e", "name": name, "id": number, "cat": cat, **at})

    def _add(self, name: str, tid: int, begin: int, end: int, cat: str = "") -> None:
        self._framework.append(_slice(name, MINDSPORE, tid, begin, end, args={}, cat=cat))


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def _slice(name: str, pid: int, tid: int, begin: int, end: int, **fields: Any) -> Event:
    return {
        "name": name,
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "ts": _us(begin),
        "dur": _us(end - begin),
        **fields,
    }


def _metadata() -> list[Event]:
    processes = ((MINDSPORE, "MindSpore", "CPU"), (3, "Scope Layer", "NPU"), (CANN, "CANN", "CPU"))
    entries = [
        {"ph": "M", "name": key, "pid": pid, "tid": 0, "args": {value: word}}
        for pid, name, label in (
            *processes,
            (HARDWARE, "Ascend Hardware", "NPU"),
            (OVERLAP, "Overlap Analysis", "NPU"),
        )
        for key, value, word in (("process_name", "name", name), ("process_labels", "labels", label))
    ]
    threads = [(MINDSPORE, tid, f"Thread {tid}") for tid in (PYTHON, FRONT, BACK, LAUNCH)]
    threads += [(CANN, LAUNCH, f"Thread {LAUNCH}"), (HARDWARE, 2, "Stream 2")]
    return entries + [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
        for pid, tid, name in threads
    ]
