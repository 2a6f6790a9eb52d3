"""The msprof layers of an Ascend trace: CANN calls, hardware tasks, collectives, overlap and counters.

Turns a recording into (time, JSON object) pairs; their order in the file is that of their times.
"""

from __future__ import annotations

from simulator.cells import (
    NONE,
    CountedUnit,
    Event,
    NumberCell,
    api_dur,
    device_dur,
    host_dur,
    layer_pid,
    number,
    timestamp,
)
from simulator.recording import Collective, FlowStart, Recording, Task, Transfer

Timed = tuple[int, Event]


class MsprofLayers:
    """The events of one device at a profiler level."""

    def __init__(self, recording: Recording, level: int, device: int = 0) -> None:
        self._recording = recording
        self._level = level
        self._device = device

    def pid(self, sort: int) -> int:
        return layer_pid(self._recording.main_tid, sort, self._device)

    def metadata(self) -> list[Event]:
        recording = self._recording
        streams = sorted({task.stream for task in recording.tasks} | ({0} if self._level else set()))
        apis = [api for api in recording.apis if self._level == 2 or api.level != "runtime"]
        threads = list(dict.fromkeys(api.tid for api in apis))
        events = self._process(13, "Ascend Hardware", [(stream, f"Stream {stream}") for stream in streams])
        events += self._process(17, "HBM")
        if recording.collectives:
            rows: list[tuple[int, str]] = []
            for index, group in enumerate(recording.groups):
                row = recording.row(group)
                planes = range(len(group.ranks) if self._level else 1)
                rows.append((row, f"Group {index} Communication"))
                rows += [(row + 1 + plane, f"Plane {plane}") for plane in planes]
            events += self._process(15, "HCCL", rows[:1], rows[1:])
        events += self._process(20, "Stars Soc Info")
        cann = self._process(7, "CANN", [], [(tid, f"Thread {tid}") for tid in threads], label="CPU")
        events += cann if self._level else cann[1:]
        events += self._process(22, "QoS")
        kinds = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
        events += self._process(23, "Overlap Analysis", [], list(enumerate(kinds)), sorts=False)
        return events + self._process(14, "AI Core Freq")

    def tasks(self) -> list[Timed]:
        pid = self.pid(13)
        timed = []
        for task in self._recording.tasks:
            timed.append((task.start, self._task(task, pid)))
            if task.link is not None:
                timed.append((task.start, self._arrival(task.link, task, pid, task.stream, task.start)))
        return timed

    def profiling(self, start: int, end: int) -> tuple[Event, Event]:
        """Return the two tasks with which the profiler begins and ends."""
        pid = self.pid(13)
        tasks = []
        for name, task_id, time in (("PROFILING_ENABLE", 8, start), ("PROFILING_DISABLE", 9, end)):
            task = Task(name, "PLACE_HOLDER_SQE", 0, task_id, time, time + 20, 960)
            tasks.append(self._task(task, pid))
        return tasks[0], tasks[1]

    def collectives(self) -> list[Timed]:
        """Return the operations of the groups and, above level 0, the tasks of their planes."""
        recording, pid = self._recording, self.pid(15)
        timed = []
        if self._level:
            timed += [(move.task.start, self._transfer(move, pid)) for move in recording.transfers]
        for operation in recording.collectives:
            row = recording.row(operation.group)
            timed.append((operation.start, self._collective(operation, pid, row)))
            timed.append((operation.start, self._arrival(operation.link, None, pid, row, operation.start)))
        return timed

    def apis(self) -> list[Timed]:
        pid = self.pid(7)
        timed = []
        links: dict[int, Task] = {id(task.link): task for task in self._recording.tasks if task.link}
        if self._level:
            for call in self._recording.apis:
                if self._level < 2 and call.level == "runtime":
                    continue
                args: Event = {
                    "Thread Id": call.tid,
                    "Mode": call.mode,
                    "level": call.level,
                    "id": call.id,
                    "item_id": call.item,
                    "connection_id": number(call.connection, CountedUnit.CONNECTION),
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

    def overlap(self, tid: int, name: str, start: int, end: int) -> Timed:
        """Return a row of the Overlap Analysis."""
        event = {
            "name": name,
            "pid": self.pid(23),
            "tid": tid,
            "ts": timestamp(start),
            "dur": host_dur(end - start),
            "ph": "X",
        }
        return start, event

    def counter(self, sort: int, name: str, at: int, values: Event) -> Timed:
        event = {
            "name": name,
            "ts": timestamp(at),
            "pid": self.pid(sort),
            "tid": 0,
            "args": values,
            "ph": "C",
        }
        return at, event

    def _process(
        self,
        sort: int,
        name: str,
        paired: list[tuple[int, str]] | None = None,
        grouped: list[tuple[int, str]] | None = None,
        label: str = "NPU",
        sorts: bool = True,
    ) -> list[Event]:
        """Return the metadata of a process: `paired` threads each with its index, `grouped` ones names
        first.
        """
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
            "Batch Id": number(task.number >> 16, CountedUnit.BATCH),
            "Subtask Id": NONE if task.subtask is None else task.subtask,
            "connection_id": number(task.connection, CountedUnit.CONNECTION),
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

    def _collective(self, operation: Collective, pid: int, tid: int) -> Event:
        args = {
            "connection_id": number(operation.connection, CountedUnit.CONNECTION),
            "model id": NONE,
            "data_type": "FP32",
            "alg_type": "MESH-RING",
            "count": operation.count,
        }
        return {
            "name": NumberCell(
                f'"hcom_{operation.kind}__{operation.group.digits}_%d_1"',
                operation.index,
                CountedUnit.COLLECTIVE,
            ),
            "pid": pid,
            "tid": tid,
            "ts": timestamp(operation.start),
            "dur": device_dur(operation.end - operation.start, operation.fraction),
            "args": args,
            "ph": "X",
        }

    def _transfer(self, transfer: Transfer, pid: int) -> Event:
        task = transfer.task
        duration = task.end - task.start
        notify = transfer.type.startswith("Notify")
        args = {
            "notify_id": str(transfer.notify) if notify else "18446744073709551615",
            "duration estimated(us)": 0.02 if transfer.type == "Notify_Wait" else 1,
            "stream id": task.stream,
            "task id": task.number & 0xFFFF,
            "context id": task.subtask,
            "task type": transfer.type,
            "src rank": transfer.group.rank,
            "dst rank": NONE if transfer.peer is None else transfer.peer,
            "transport type": transfer.transport,
            "size(Byte)": transfer.size,
            "data type": transfer.dtype,
            "link type": transfer.wire,
            "bandwidth(GB/s)": transfer.size / duration if transfer.size else 0.0,
            "model id": NONE,
        }
        return {
            "name": transfer.type,
            "pid": pid,
            "tid": self._recording.row(transfer.group) + 1 + transfer.plane,
            "ts": timestamp(task.start),
            "dur": device_dur(duration, task.fraction),
            "args": args,
            "ph": "X",
        }

    def _flow_id(self, link: FlowStart, task: Task | None) -> NumberCell:
        if link.kind == "copy":
            return NumberCell('"%d"', link.value, CountedUnit.CONNECTION)
        if link.kind == "collective":
            return NumberCell('"%d"', (link.value << 32) - 1, CountedUnit.COLLECTIVE_FLOW)
        assert task is not None
        subtask = NONE if task.subtask is None else task.subtask
        value = (
            self._device << 80
            | task.stream << 64
            | (task.number & 0xFFFF) << 48
            | task.number >> 16 << 32
            | subtask
        )
        return NumberCell('"%d"', value, CountedUnit.TASK_FLOW)

    def _arrival(self, link: FlowStart, task: Task | None, pid: int, tid: int, at: int) -> Event:
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
