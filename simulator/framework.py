"""The framework's layer of an Ascend trace: operators, task queue, Python frames, and flows to the device.

Turns a recording into lists of JSON objects, in the order of the file.
"""

from __future__ import annotations

from typing import Any

from simulator.cells import CountedUnit, Event, NumberCell, host_dur, layer_pid, number, timestamp
from simulator.recording import Operator, PythonFrame, PythonStack, Recording


class FrameworkLayer:
    """The events that torch_npu writes about its own process."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._stacks: dict[PythonStack, str] = {}
        self._roots = len(recording.roots)
        self.python = recording.main_tid

    def operators(self) -> list[Event]:
        return [self._operator(operator) for operator in self._recording.operators]

    def dequeues(self) -> list[Event]:
        events: list[Event] = []
        for slot in sorted(self._recording.dequeues, key=lambda slot: slot.start):
            events += self._queue_pair(
                "dequeue", slot.name, slot.correlation, slot.tid, slot.start, slot.end, "f"
            )
        return events

    def enqueues(self) -> list[Event]:
        events: list[Event] = []
        for slot in sorted(self._recording.enqueues, key=lambda slot: slot.start):
            events += self._queue_pair(
                "enqueue", "Enqueue", slot.correlation, slot.tid, slot.start, slot.end, "s"
            )
        return events

    def metadata(self) -> list[Event]:
        recording = self._recording
        active_tids = {operator.tid for operator in recording.operators}
        threads = [(tid, tid) for tid in (recording.main_tid, recording.autograd_tid) if tid in active_tids]
        if recording.dequeues:
            threads.append((recording.dequeue_tid, threads[-1][0] + 1))

        def meta(name: str, tid: int, args: Event) -> Event:
            return {"ph": "M", "name": name, "pid": self.python, "tid": tid, "args": args}

        events = [
            meta("process_name", 0, {"name": "Python"}),
            meta("process_labels", 0, {"labels": "CPU"}),
            meta("process_sort_index", 0, {"sort_index": 0}),
        ]
        for tid, sort in threads:
            events.append(meta("thread_name", tid, {"name": f"Thread {tid}"}))
            events.append(meta("thread_sort_index", tid, {"sort_index": sort}))
        return events

    def pairs(self) -> list[Event]:
        events = []
        for pair in self._recording.pairs:
            for phase, tid, at in (
                ("s", pair.forward_tid, pair.forward_at),
                ("f", pair.backward_tid, pair.backward_at),
            ):
                events.append(
                    {
                        "ph": phase,
                        "bp": "e",
                        "name": "fwdbwd",
                        "id": number(pair.sequence, CountedUnit.SEQUENCE),
                        "pid": self.python,
                        "tid": tid,
                        "ts": timestamp(at),
                        "cat": "fwdbwd",
                    }
                )
        return events

    def calls(self, roots: bool) -> list[Event]:
        """Return the python_function slices that are open from start to end, or all others."""
        events = []
        for call in self._recording.calls:
            if (call.id < self._roots) != roots:
                continue
            args: Event = {
                "Python id": self._python_id(call.id),
                "Python parent id": self._python_id(call.parent),
            }
            if call.module is not None:
                args["Python module id"] = call.module
            events.append(self._slice(call.name, call.tid, call.start, call.end, "python_function", args))
        return events

    def collections(self) -> list[Event]:
        """Return garbage collections: slices of a process of their own."""
        pid = self._pid(1)
        return [
            {
                "ph": "X",
                "name": "GC",
                "pid": pid,
                "tid": run.tid,
                "ts": timestamp(run.start),
                "dur": host_dur(run.end - run.start),
                "cat": "GC",
                "args": {},
            }
            for run in self._recording.collections
        ]

    def collections_metadata(self) -> list[Event]:
        if not self._recording.collections:
            return []
        pid, tid = self._pid(1), self.python
        return [
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "Python GC"}},
            {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": "CPU"}},
            {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": 1}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": "Python GC"}},
            {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": 0}},
        ]

    def launches(self) -> list[Event]:
        recording = self._recording
        flows: list[tuple[int, Operator, int, int]] = []
        hardware, group = self._pid(13), self._pid(15)
        for task in recording.tasks:
            if task.link is not None and task.launch is not None:
                flows.append((task.start, task.launch.operator, hardware, task.stream))
        for operation in recording.collectives:
            flows.append((operation.start, operation.launch.operator, group, recording.row(operation.group)))
        flows.sort(key=lambda flow: (flow[1].start, flow[0]))
        events = []
        for begin, operator, pid, tid in flows:
            for phase, side, thread, time in (
                ("s", self.python, operator.tid, operator.start),
                ("f", pid, tid, begin),
            ):
                events.append(
                    {
                        "ph": phase,
                        "bp": "e",
                        "name": "torch_to_npu",
                        "id": number(begin, CountedUnit.NANOSECONDS),
                        "pid": side,
                        "tid": thread,
                        "ts": timestamp(time),
                        "cat": "async_npu",
                    }
                )
        return events

    def _pid(self, sort: int) -> int:
        return layer_pid(self.python, sort)

    def _operator(self, operator: Operator) -> Event:
        sequence = operator.sequence
        args: Event = {
            "Sequence number": sequence if sequence < 0 else number(sequence, CountedUnit.SEQUENCE),
            "Fwd thread id": operator.forward_thread,
        }
        if operator.dims is not None:
            args["Input Dims"] = operator.dims
            args["Input type"] = operator.types
        if operator.stack is not None:
            args["Call stack"] = self._stack(operator.stack)
        name: Any = operator.name
        if operator.step is not None:
            name = NumberCell('"ProfilerStep#%d"', operator.step, CountedUnit.STEP)
        return self._slice(name, operator.tid, operator.start, operator.end, "cpu_op", args)

    def _slice(self, name: Any, tid: int, start: int, end: int, category: str, args: Event) -> Event:
        return {
            "ph": "X",
            "name": name,
            "pid": self.python,
            "tid": tid,
            "ts": timestamp(start),
            "dur": host_dur(end - start),
            "cat": category,
            "args": args,
        }

    def _queue_pair(
        self, category: str, name: str, correlation: int, tid: int, start: int, end: int, phase: str
    ) -> tuple[Event, Event]:
        identity = number(correlation, CountedUnit.CORRELATION)
        flow = {
            "ph": phase,
            "bp": "e",
            "name": "enqueue_to_dequeue",
            "id": identity,
            "pid": self.python,
            "tid": tid,
            "ts": timestamp(start),
            "cat": "async_task_queue",
        }
        return self._slice(name, tid, start, end, category, {"correlation_id": identity}), flow

    def _python_id(self, value: int) -> Any:
        return value if value < self._roots else number(value, CountedUnit.PYTHON)

    def _stack(self, stack: PythonStack) -> str:
        text = self._stacks.get(stack)
        if text is None:
            text = self._stacks[stack] = ";\r\n".join(map(frame_text, stack))
        return text


def frame_text(frame: PythonFrame) -> str:
    return f"{frame.path}({frame.line}): {frame.function}"
