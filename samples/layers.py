"""The events of each layer of an Ascend trace, as its producers write them: names, order of keys, types, ids.

Turns a recording into lists of JSON objects. What changes from one repetition of the recording to the next
(times, ids, step numbers) stands in them as a `Cell`, for `samples.writer` to fill in.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from samples.recording import Frame, Link, Operator, Recording, Stack, Task

NONE = 4294967295
CYCLES = 1e8  # of the host counter per second: msprof computes host durations from them in float64
Event = dict[str, Any]


class Clock(Enum):
    """What a cell counts, and so how far it moves from one repetition to the next."""

    MICROSECONDS = "µs"
    NANOSECONDS = "ns"
    CONNECTION = "connection id"
    COLLECTIVE_FLOW = "flow id of a collective: its connection id << 32"
    BATCH = "batch of task ids"
    TASK_FLOW = "flow id of a task: batch << 32"
    CORRELATION = "correlation id"
    PYTHON = "Python id"
    SEQUENCE = "sequence number"
    STEP = "step number"
    COLLECTIVE = "number of a collective"


class Cell(NamedTuple):
    """A JSON value with one number in it: `text` holds one %d."""

    text: str
    value: int
    clock: Clock


def timestamp(ns: int) -> Cell:
    """µs with 3 decimals, as a string."""
    return Cell(f'"%d.{ns % 1000:03d}"', ns // 1000, Clock.MICROSECONDS)


def number(value: int, clock: Clock) -> Cell:
    return Cell("%d", value, clock)


def host_dur(ns: int) -> float:
    """A duration of the framework: µs."""
    return round(ns / 1000, 3)


def api_dur(ns: int) -> float:
    """A duration of the CANN layer, with the noise of its arithmetic."""
    return (ns // 10) / CYCLES * 1e6


def device_dur(ns: int, fraction: int) -> float:
    """A duration of the device: µs with a part of `fraction` / 32 ns."""
    return float(ns * 32 + fraction) / 32 / 1000


class Layers:
    """Process ids and events of the layers of one recording."""

    def __init__(self, recording: Recording, level: int, device: int = 0) -> None:
        self._recording = recording
        self._level = level
        self._device = device
        self._stacks: dict[Stack, str] = {}
        self._roots = len(recording.roots)
        self.python = recording.main_tid

    def pid(self, sort: int) -> int:
        return self._recording.main_tid << 10 | sort << 5 | self._device

    # -- block 1: the framework -----------------------------------------------------------------------

    def operators(self) -> list[Event]:
        return [self._operator(operator) for operator in self._recording.operators]

    def dequeues(self) -> list[Event]:
        events = []
        for slot in sorted(self._recording.dequeues, key=lambda slot: slot.start):
            events += self._queue_pair(
                "dequeue", slot.name, slot.correlation, slot.tid, slot.start, slot.end, "f"
            )
        return events

    def enqueues(self) -> list[Event]:
        events = []
        for slot in sorted(self._recording.enqueues, key=lambda slot: slot.start):
            events += self._queue_pair(
                "enqueue", "Enqueue", slot.correlation, slot.tid, slot.start, slot.end, "s"
            )
        return events

    def framework_metadata(self) -> list[Event]:
        recording = self._recording
        seen = {operator.tid for operator in recording.operators}
        threads = [(tid, tid) for tid in (recording.main_tid, recording.autograd_tid) if tid in seen]
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
                        "id": number(pair.sequence, Clock.SEQUENCE),
                        "pid": self.python,
                        "tid": tid,
                        "ts": timestamp(at),
                        "cat": "fwdbwd",
                    }
                )
        return events

    def calls(self, roots: bool) -> list[Event]:
        """The python_function slices that are open from start to end, or all others."""
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
        """Garbage collections: slices of a process of their own."""
        pid = self.pid(1)
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
        pid, tid = self.pid(1), self.python
        return [
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "Python GC"}},
            {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": "CPU"}},
            {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": 1}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": "Python GC"}},
            {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": 0}},
        ]

    # -- block 2: msprof ------------------------------------------------------------------------------

    def device_metadata(self) -> list[Event]:
        recording = self._recording
        streams = sorted({task.stream for task in recording.tasks} | ({0} if self._level else set()))
        apis = [api for api in recording.apis if self._level == 2 or api.level != "runtime"]
        threads = list(dict.fromkeys(api.tid for api in apis))
        planes = range(recording.world if self._level else 1)
        groups = [(0, "Group 0 Communication")] if recording.collectives else []
        events = self._process(13, "Ascend Hardware", [(stream, f"Stream {stream}") for stream in streams])
        events += self._process(17, "HBM")
        if groups:
            inner = [(plane + 1, f"Plane {plane}") for plane in planes]
            events += self._process(15, "HCCL", groups, inner)
        events += self._process(20, "Stars Soc Info")
        cann = self._process(7, "CANN", [], [(tid, f"Thread {tid}") for tid in threads], label="CPU")
        events += cann if self._level else cann[1:]
        events += self._process(22, "QoS")
        rows = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
        events += self._process(23, "Overlap Analysis", [], list(enumerate(rows)), sorts=False)
        return events + self._process(14, "AI Core Freq")

    def tasks(self) -> list[tuple[int, Event]]:
        pid = self.pid(13)
        timed = []
        for task in self._recording.tasks:
            timed.append((task.start, self._task(task, pid)))
            if task.link is not None:
                timed.append((task.start, self._arrival(task.link, task, pid, task.stream, task.start)))
        return timed

    def profiling(self, start: int, end: int) -> tuple[Event, Event]:
        """The two tasks with which the profiler begins and ends."""
        pid = self.pid(13)
        made = []
        for name, task_id, at in (("PROFILING_ENABLE", 8, start), ("PROFILING_DISABLE", 9, end)):
            task = Task(name, "PLACE_HOLDER_SQE", 0, task_id, at, at + 20, 960)
            made.append(self._task(task, pid))
        return made[0], made[1]

    def collectives(self) -> list[tuple[int, Event]]:
        pid = self.pid(15)
        timed = []
        if self._level:
            for transfer in self._recording.transfers:
                task = transfer.task
                peer = NONE if transfer.peer is None else transfer.peer
                seconds = (task.end - task.start) / 1e9
                args = {
                    "notify_id": str(transfer.notify)
                    if transfer.type.startswith("Notify")
                    else "18446744073709551615",
                    "duration estimated(us)": 0.02 if transfer.type == "Notify_Wait" else 1,
                    "stream id": task.stream,
                    "task id": task.number & 0xFFFF,
                    "context id": task.subtask,
                    "task type": transfer.type,
                    "src rank": 0,
                    "dst rank": peer,
                    "transport type": transfer.transport,
                    "size(Byte)": transfer.size,
                    "data type": transfer.dtype,
                    "link type": transfer.wire,
                    "bandwidth(GB/s)": transfer.size / seconds / 1e9 if transfer.size else 0.0,
                    "model id": NONE,
                }
                timed.append(
                    (
                        task.start,
                        {
                            "name": transfer.type,
                            "pid": pid,
                            "tid": transfer.plane + 1,
                            "ts": timestamp(task.start),
                            "dur": device_dur(task.end - task.start, task.fraction),
                            "args": args,
                            "ph": "X",
                        },
                    )
                )
        for operation in self._recording.collectives:
            args = {
                "connection_id": number(operation.connection, Clock.CONNECTION),
                "model id": NONE,
                "data_type": "FP32",
                "alg_type": "MESH-RING",
                "count": operation.count,
            }
            event = {
                "name": Cell('"hcom_allReduce__271_%d_1"', operation.index, Clock.COLLECTIVE),
                "pid": pid,
                "tid": 0,
                "ts": timestamp(operation.start),
                "dur": device_dur(operation.end - operation.start, operation.fraction),
                "args": args,
                "ph": "X",
            }
            timed.append((operation.start, event))
            timed.append((operation.start, self._arrival(operation.link, None, pid, 0, operation.start)))
        return timed

    def apis(self) -> list[tuple[int, Event]]:
        pid = self.pid(7)
        timed = []
        links: dict[int, Task] = {id(task.link): task for task in self._recording.tasks if task.link}
        if self._level:
            for call in self._recording.apis:
                if self._level < 2 and call.level == "runtime":
                    continue
                args = {
                    "Thread Id": call.tid,
                    "Mode": call.mode,
                    "level": call.level,
                    "id": call.id,
                    "item_id": call.item,
                    "connection_id": number(call.connection, Clock.CONNECTION),
                }
                event = {
                    "name": call.name,
                    "pid": pid,
                    "tid": call.tid,
                    "ts": timestamp(call.start),
                    "dur": api_dur(call.end - call.start),
                    "args": args,
                    "ph": "X",
                }
                timed.append((call.start, event))
        for link in self._recording.links:
            flow = self._flow_id(link, links.get(id(link)))
            event = {
                "name": flow._replace(text=f'"HostToDevice{flow.text[1:]}'),
                "ph": "s",
                "cat": "HostToDevice",
                "id": flow,
                "pid": pid,
                "tid": link.tid,
                "ts": timestamp(link.at),
            }
            timed.append((link.at, event))
        return timed

    def overlap(self, tid: int, name: str, start: int, end: int) -> tuple[int, Event]:
        """A row of the Overlap Analysis."""
        event = {
            "name": name,
            "pid": self.pid(23),
            "tid": tid,
            "ts": timestamp(start),
            "dur": host_dur(end - start),
            "ph": "X",
        }
        return start, event

    def counter(self, sort: int, name: str, at: int, values: Event) -> tuple[int, Event]:
        event = {
            "name": name,
            "ts": timestamp(at),
            "pid": self.pid(sort),
            "tid": 0,
            "args": values,
            "ph": "C",
        }
        return at, event

    # -- block 3: from the framework's operators to the device ----------------------------------------

    def launches(self) -> list[Event]:
        recording = self._recording
        made: list[tuple[int, Operator, int, int]] = []
        hardware, group = self.pid(13), self.pid(15)
        for task in recording.tasks:
            if task.link is not None and task.launch is not None:
                made.append((task.start, task.launch.operator, hardware, task.stream))
        for operation in recording.collectives:
            made.append((operation.start, operation.launch.operator, group, 0))
        made.sort(key=lambda flow: (flow[1].start, flow[0]))
        events = []
        for at, operator, pid, tid in made:
            for phase, side, thread, time in (
                ("s", self.python, operator.tid, operator.start),
                ("f", pid, tid, at),
            ):
                events.append(
                    {
                        "ph": phase,
                        "bp": "e",
                        "name": "torch_to_npu",
                        "id": number(at, Clock.NANOSECONDS),
                        "pid": side,
                        "tid": thread,
                        "ts": timestamp(time),
                        "cat": "async_npu",
                    }
                )
        return events

    # -- pieces ---------------------------------------------------------------------------------------

    def _operator(self, operator: Operator) -> Event:
        sequence = operator.sequence
        args: Event = {
            "Sequence number": sequence if sequence < 0 else number(sequence, Clock.SEQUENCE),
            "Fwd thread id": operator.forward_thread,
        }
        if operator.dims is not None:
            args["Input Dims"] = operator.dims
            args["Input type"] = operator.types
        if operator.stack is not None:
            args["Call stack"] = self._stack(operator.stack)
        name: Any = operator.name
        if operator.step is not None:
            name = Cell('"ProfilerStep#%d"', operator.step, Clock.STEP)
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
        identity = number(correlation, Clock.CORRELATION)
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

    def _process(
        self,
        sort: int,
        name: str,
        paired: list[tuple[int, str]] | None = None,
        grouped: list[tuple[int, str]] | None = None,
        label: str = "NPU",
        sorts: bool = True,
    ) -> list[Event]:
        """Metadata of a process: `paired` threads with name and index in turn, `grouped` ones all names first."""
        pid = self.pid(sort)

        def meta(kind: str, tid: int, args: Event) -> Event:
            return {"name": kind, "pid": pid, "tid": tid, "args": args, "ph": "M"}

        events = [meta("process_name", 0, {"name": name})]
        for tid, thread in paired or []:
            events.append(meta("thread_name", tid, {"name": thread}))
            events.append(meta("thread_sort_index", tid, {"sort_index": tid}))
        events += [meta("thread_name", tid, {"name": thread}) for tid, thread in grouped or []]
        if sorts:
            events += [meta("thread_sort_index", tid, {"sort_index": tid}) for tid, _ in grouped or []]
        events.append(meta("process_labels", 0, {"labels": label}))
        events.append(meta("process_sort_index", 0, {"sort_index": sort}))
        return events

    def _task(self, task: Task, pid: int) -> Event:
        args: Event = {
            "Model Id": NONE,
            "Task Type": task.type,
            "Physic Stream Id": task.stream,
            "Task Id": task.number & 0xFFFF,
            "Batch Id": number(task.number >> 16, Clock.BATCH),
            "Subtask Id": NONE if task.subtask is None else task.subtask,
            "connection_id": number(task.connection, Clock.CONNECTION),
        }
        if task.direction is not None and self._level == 2:
            args["data size(Byte)"] = task.size
            args["memcpy direction"] = task.direction
        duration = task.end - task.start
        return {
            "name": task.name,
            "pid": pid,
            "tid": task.stream,
            "ts": timestamp(task.start),
            "dur": device_dur(duration, task.fraction) if duration else 0,
            "args": args,
            "ph": "X",
        }

    def _flow_id(self, link: Link, task: Task | None) -> Cell:
        if link.kind == "copy":
            return Cell('"%d"', link.value, Clock.CONNECTION)
        if link.kind == "collective":
            return Cell('"%d"', (link.value << 32) - 1, Clock.COLLECTIVE_FLOW)
        assert task is not None
        subtask = NONE if task.subtask is None else task.subtask
        value = (
            self._device << 80
            | task.stream << 64
            | (task.number & 0xFFFF) << 48
            | task.number >> 16 << 32
            | subtask
        )
        return Cell('"%d"', value, Clock.TASK_FLOW)

    def _arrival(self, link: Link, task: Task | None, pid: int, tid: int, at: int) -> Event:
        flow = self._flow_id(link, task)
        return {
            "name": flow._replace(text=f'"HostToDevice{flow.text[1:]}'),
            "ph": "f",
            "id": flow,
            "ts": timestamp(at),
            "cat": "HostToDevice",
            "pid": pid,
            "tid": tid,
            "bp": "e",
        }

    def _python_id(self, value: int) -> Any:
        return value if value < self._roots else number(value, Clock.PYTHON)

    def _stack(self, stack: Stack) -> str:
        text = self._stacks.get(stack)
        if text is None:
            text = self._stacks[stack] = ";\r\n".join(map(frame_text, stack))
        return text


def frame_text(frame: Frame) -> str:
    return f"{frame.path}({frame.line}): {frame.function}"
