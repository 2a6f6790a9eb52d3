"""The tables of msprof about devices: tasks of streams, kernels, and communication with its planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.databases.tables import UNKNOWN
from tracetui.reader.database.assembly import NONE_ID, Assembly
from tracetui.reader.database.layers import COMMUNICATION, HARDWARE, OVERLAP, ProcessLayer, layer_pid
from tracetui.reader.database.table_reader import (
    TableColumns,
    TableQuery,
    TableReader,
    distinct_places,
    groups_of,
    places_of,
    take,
)

TASKS = TableQuery(
    "TASK",
    (
        *("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "globalPid"),
        *("taskType", "contextId", "streamId", "taskId", "modelId"),
    ),
    is_drawn=True,
)
OPERATIONS = TableQuery(
    "COMMUNICATION_OP",
    (
        *("startNs", "endNs", "connectionId", "groupName", "opName", "opId"),
        *("dataType", "algType", "count", "deviceId"),
    ),
    is_drawn=True,
)
PARTS_OF_OPERATIONS = TableQuery(
    "COMMUNICATION_TASK_INFO",
    (
        *("globalTaskId", "taskType", "planeId", "groupName", "srcRank", "dstRank"),
        *("transportType", "size", "linkType", "opId"),
    ),
    is_drawn=True,
)
KERNELS = TableQuery("COMPUTE_TASK_INFO", ("globalTaskId", "name", "taskType"))
SCHEDULED = TableQuery("COMMUNICATION_SCHEDULE_TASK_INFO", ("globalTaskId", "name"))
COPIES = TableQuery("MEMCPY_INFO", ("globalTaskId", "memcpyOperation"))
OVERLAPS = TableQuery("OVERLAP_ANALYSIS", ("startNs", "endNs", "deviceId", "type"), is_drawn=True)

_UNKNOWN_TYPES = frozenset({"N/A", "UNKNOWN", ""})
_RANDOM = "DSA_SQE"  #: the type of a task that draws random numbers, as text exports have it
_PART_OF_COLLECTIVE = "COMMUNICATION"  #: the type of a task that is a part of one, whatever runs it
_OVERLAP_ROWS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
_NO_SIZE = -1
_MOST_PLANES = 1 << 12
_INT32_END = 1 << 31


@dataclass(frozen=True)
class DeviceRows:
    """What arrows need of what devices did; columns of equal length."""

    start: Int64s
    thread: Int32s
    connection: Int64s

    def joined(self, other: DeviceRows) -> DeviceRows:
        """Return these rows and others after them."""
        return DeviceRows(
            np.concatenate((self.start, other.start)),
            np.concatenate((self.thread, other.thread)),
            np.concatenate((self.connection, other.connection)),
        )


class DeviceTables:
    """Reads what devices did."""

    def __init__(self, reader: TableReader, assembly: Assembly) -> None:
        self._reader = reader
        self._assembly = assembly
        self._process_of: dict[int, int] = {}  # the OS process that works on a device
        self._label_of: dict[int, str] = {}

    @property
    def processes(self) -> dict[int, int]:
        """The OS process that works most on each device."""
        return dict(self._process_of)

    def pid(self, layer: ProcessLayer, device: int) -> int:
        """Return the pid of a layer of a device, and name it."""
        device = device if 0 <= device < NONE_ID else 0
        any_process = next(iter(self._process_of.values()), 0)
        pid = layer_pid(self._process_of.get(device, any_process), layer, device)
        self._assembly.process(pid, layer.name, self._label_of.get(device, "NPU"), layer.number)
        return pid

    def read(self) -> DeviceRows:
        """Read tasks and collectives, and hand over their slices; returns those that the host launched."""
        tasks = self._reader.columns(TASKS)
        operations = self._reader.columns(OPERATIONS)
        parts = self._reader.columns(PARTS_OF_OPERATIONS)
        self._find_devices(tasks, operations)
        parts = parts.at(_is_real(parts))
        launched = self._add_tasks(tasks, parts)
        grouped = self._add_collectives(operations, parts, tasks)
        self._add_overlap()
        return launched.joined(grouped)

    def _find_devices(self, tasks: TableColumns, operations: TableColumns) -> None:
        """Take note of the process of each device, and of what the devices are called."""
        devices = np.unique(
            np.concatenate([distinct_places(table["deviceId"])[0] for table in (tasks, operations)])
        )
        numbers = devices[(devices >= 0) & (devices < NONE_ID)].tolist()
        for device in numbers:
            pids, place = distinct_places(tasks["globalPid"][tasks["deviceId"] == device])
            counts = np.where((pids > 0) & (pids < NONE_ID), np.bincount(place, minlength=len(pids)), 0)
            self._process_of[device] = int(pids[counts.argmax()]) if counts.any() else 0
            self._label_of[device] = f"NPU {device}" if len(numbers) > 1 else "NPU"

    def _add_tasks(self, tasks: TableColumns, parts: TableColumns) -> DeviceRows:
        texts = self._assembly.texts
        kernels = self._kernels()
        kernel = places_of(kernels["globalTaskId"], tasks["globalTaskId"])
        is_part = places_of(parts["globalTaskId"], tasks["globalTaskId"]) >= 0
        is_kernel = kernel >= 0
        is_drawn = is_kernel | is_part | ~_parents(tasks)
        own_type = texts.names(tasks["taskType"])
        told_type = take(kernels["type"], kernel, -1).astype(np.int32)
        name = np.where(is_kernel, take(kernels["label"], kernel, -1), own_type).astype(np.int32)
        # At level 0 only the scheduler's type is told of what draws random numbers.
        is_random = is_kernel & texts.fit(own_type, "STARS_COMMON".__eq__)
        own_type = np.where(is_random, np.int32(texts.number(_RANDOM)), own_type)
        task_type = np.where(told_type >= 0, told_type, own_type)
        thread = self._streams(tasks, is_drawn)
        self._assembly.add_rows(
            tasks,
            is_drawn,
            thread=thread,
            name=name,
            correlation=_ids(tasks["connectionId"]),
            task_type=task_type,
            direction=self._directions(tasks),
        )
        model = tasks["modelId"]
        is_numbered = is_drawn & (tasks["taskId"] >= 0) & ((model < 0) | (model >= NONE_ID))
        self._assembly.add_numbers(tasks.event[is_numbered], tasks["taskId"][is_numbered])
        linked = is_drawn & ~is_part
        return DeviceRows(tasks["startNs"][linked], thread[linked], _ids(tasks["connectionId"])[linked])

    def _kernels(self) -> TableColumns:
        """Return the tasks that compute, with `label`, the number of their name, and `type`, -1 for none."""
        texts = self._assembly.texts
        kernels = self._reader.columns(KERNELS)
        scheduled = self._reader.columns(SCHEDULED)
        types = texts.numbers_of(kernels["taskType"])
        types = np.where(texts.fit(types, _UNKNOWN_TYPES.__contains__), np.int32(-1), types)
        columns: dict[str, NDArray[Any]] = {
            "globalTaskId": np.concatenate((kernels["globalTaskId"], scheduled["globalTaskId"])),
            "label": np.concatenate((texts.names(kernels["name"]), texts.names(scheduled["name"]))),
            "type": np.concatenate(
                (types, np.full(scheduled.count, texts.number(_PART_OF_COLLECTIVE), np.int32))
            ),
        }
        return TableColumns(len(columns["type"]), columns, {})

    def _directions(self, tasks: TableColumns) -> Int32s:
        """Return where each copy goes: the number of the text, -1 of what is no copy."""
        copies = self._reader.columns(COPIES)
        operations = self._enum("ENUM_MEMCPY_OPERATION", copies["memcpyOperation"])
        return take(operations, places_of(copies["globalTaskId"], tasks["globalTaskId"]), -1).astype(np.int32)

    def _streams(self, tasks: TableColumns, is_drawn: Bools) -> Int32s:
        """Return the thread of each task: its stream on its device."""
        thread = np.zeros(tasks.count, np.int32)
        for rows, (device, stream) in groups_of(tasks["deviceId"], tasks["streamId"]):
            if is_drawn[rows].any():
                number = stream if stream >= 0 else "unknown"
                thread[rows] = self._named_thread(self.pid(HARDWARE, device), number, f"Stream {number}")
        return thread

    def _add_collectives(
        self, operations: TableColumns, parts: TableColumns, tasks: TableColumns
    ) -> DeviceRows:
        texts = self._assembly.texts
        task = places_of(tasks["globalTaskId"], parts["globalTaskId"])
        parts, task = parts.at(task >= 0), task[task >= 0]
        operation = places_of(operations["opId"], parts["opId"])
        device_of_part = tasks["deviceId"][task]
        device = operations["deviceId"].copy()
        unknown = np.flatnonzero((device < 0) | (device >= NONE_ID))
        device[unknown] = self._devices_of(operations.at(unknown), parts, device_of_part, tasks)
        group = take(operations["groupName"], operation, UNKNOWN)
        group = np.where(parts["groupName"] >= 0, parts["groupName"], group)
        threads = self._group_threads(operations, device, parts, group, device_of_part)
        thread = np.zeros(operations.count, np.int32)
        for places, key in groups_of(device, operations["groupName"]):
            thread[places] = threads[key][0]
        self._assembly.add_rows(
            operations,
            thread=thread,
            name=texts.names(operations["opName"]),
            correlation=_ids(operations["connectionId"]),
        )
        self._assembly.add_hccl(
            event=operations.event,
            count=_sizes(operations["count"]),
            dtype=self._enum("ENUM_HCCL_DATA_TYPE", operations["dataType"]),
            algorithm=texts.numbers_of(operations["algType"]),
        )
        plane = np.zeros(parts.count, np.int32)
        for places, key in groups_of(device_of_part, group):
            plane[places] = threads[key][1][parts["planeId"][places]]
        self._assembly.add_slices(
            tasks["startNs"][task],
            tasks["endNs"][task],
            thread=plane,
            name=texts.names(parts["taskType"]),
            event=parts.event,
        )
        self._assembly.add_hccl(
            event=parts.event,
            src=_ranks(parts["srcRank"]),
            dst=_ranks(parts["dstRank"]),
            size=_sizes(parts["size"]),
            transport=self._enum("ENUM_HCCL_TRANSPORT_TYPE", parts["transportType"]),
            link=self._enum("ENUM_HCCL_LINK_TYPE", parts["linkType"]),
        )
        return DeviceRows(operations["startNs"], thread, _ids(operations["connectionId"]))

    def _devices_of(
        self, operations: TableColumns, parts: TableColumns, device_of_part: Int64s, tasks: TableColumns
    ) -> Int64s:
        """Return the devices of operations that do not tell theirs.

        That of their parts, else of a task of their connection, else the first.
        """
        first = next(iter(self._process_of), 0)
        part = places_of(parts["opId"], operations["opId"])
        device = take(device_of_part, part, first)
        if len(self._process_of) > 1:
            open_ = np.flatnonzero(part < 0)
            connection = operations["connectionId"][open_]
            task = places_of(tasks["connectionId"], connection)
            task[_ids(connection) < 0] = -1
            device[open_] = take(tasks["deviceId"], task, first)
            self._assembly.unplaced += int(np.count_nonzero(task < 0))
        return device

    def _group_threads(
        self,
        operations: TableColumns,
        device: Int64s,
        parts: TableColumns,
        group: Int64s,
        device_of_part: Int64s,
    ) -> dict[tuple[int, ...], tuple[int, Int32s]]:
        """Return the thread of each (device, group), and the threads of its planes by their numbers.

        The planes of a group are the threads after its own: they are numbered here in that order.
        """
        order = np.argsort(operations["startNs"], kind="stable")
        group_keys = [*zip(device[order].tolist(), operations["groupName"][order].tolist())]
        planes: dict[tuple[int, ...], list[int]] = {key: [] for key in dict.fromkeys(group_keys)}
        for places, key in groups_of(device_of_part, group):
            planes[key] = np.unique(parts["planeId"][places]).tolist()
        used: dict[int, int] = {}  # threads of a device
        index: dict[int, int] = {}
        threads: dict[tuple[int, ...], tuple[int, Int32s]] = {}
        for key, numbers in planes.items():
            own_device, pid = key[0], self.pid(COMMUNICATION, key[0])
            row, place = used.get(own_device, 0), index.get(own_device, 0)
            last = max(numbers, default=0)
            used[own_device], index[own_device] = row + last + 2, place + 1
            thread_of = np.zeros(last + 1, np.int32)
            group_thread = self._named_thread(pid, row, f"Group {place} Communication")
            for plane in numbers:
                thread_of[plane] = self._named_thread(pid, row + 1 + plane, f"Plane {plane}")
            threads[key] = group_thread, thread_of
        return threads

    def _named_thread(self, pid: int, tid: int | str, title: str) -> int:
        self._assembly.say("thread_name", pid, title, tid)
        self._assembly.say("thread_sort_index", pid, str(tid), tid)
        return self._assembly.thread(pid, tid)

    def _add_overlap(self) -> None:
        """Hand over the producer's own sums, where they are there."""
        rows = self._reader.columns(OVERLAPS)
        for places, (device, kind) in groups_of(rows["deviceId"], rows["type"]):
            if 0 <= kind < len(_OVERLAP_ROWS):
                pid, title = self.pid(OVERLAP, device), _OVERLAP_ROWS[kind]
                self._assembly.say("thread_name", pid, title, kind)
                thread, name = self._assembly.thread(pid, kind), self._assembly.texts.number(title)
                self._assembly.add_rows(rows, places, thread=thread, name=name)

    def _enum(self, table: str, values: Int64s) -> Int32s:
        """Return the number of the text of each value of an enumeration; -1 where it has none."""
        ids, texts = self._reader.texts(table, "id", "name")
        number_of = np.array([self._assembly.texts.number(text) for text in texts], np.int32)
        places = places_of(ids, values)
        if ((places < 0) & (values != UNKNOWN)).any():
            self._assembly.incomplete_enums.add(table)
        return take(number_of, places, -1).astype(np.int32)


def _is_real(parts: TableColumns) -> Bools:
    """Return which tasks of collectives are some: at level 0 there are rows that hold nothing."""
    plane = parts["planeId"]
    real: Bools = (plane >= 0) & (plane < _MOST_PLANES) & (parts["size"] != _NO_SIZE)
    return real


def _parents(tasks: TableColumns) -> Bools:
    """Return which tasks only hold others: without a context, where others of the same task have one."""
    context = tasks["contextId"]
    alone = (context == NONE_ID) | (context == UNKNOWN)
    parents = np.zeros(len(context), np.bool_)
    connection = np.maximum(tasks["connectionId"], UNKNOWN + 1)  # two of which it is unknown may be of one
    candidates, parts = np.flatnonzero(alone), np.flatnonzero(~alone)
    candidates = candidates[places_of(connection[parts], connection[candidates]) >= 0]
    parts = parts[places_of(connection[candidates], connection[parts]) >= 0]
    rows = np.concatenate((candidates, parts))
    if not len(rows):
        return parents
    key = np.stack([tasks[name][rows] for name in ("deviceId", "streamId", "taskId", "connectionId")])
    order = np.lexsort(key)
    ordered = key[:, order]
    opens = np.ones(len(order), np.bool_)
    opens[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(opens) - 1
    has_parts = np.bincount(number, weights=~alone[rows]) > 0
    parents[rows] = alone[rows] & has_parts[number]
    return parents


def _ids(column: Int64s) -> Int64s:
    """Return ids with -1 for those that mean none."""
    return np.where((column < 0) | (column == NONE_ID), -1, column)


def _ranks(column: Int64s) -> Int64s:
    return np.where((column < 0) | (column >= _INT32_END), -1, column)


def _sizes(column: Int64s) -> Int64s:
    return np.where(column < 0, -1, column)
