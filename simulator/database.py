"""A recording as the database that torch_npu exports: the tables of msprof, then those of the framework."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from simulator.cells import NONE
from simulator.framework import frame_text
from simulator.memory import MemoryBlock, samples_of
from simulator.recording import AICORE, AICPU, COPY, Collective, Operator, PythonStack, Recording, Task
from simulator.writer import PAUSE

_FRAMEWORK_STRINGS = 1 << 28  #: ids of the framework's texts begin here
_NO_NOTIFY = (1 << 63) - 1
_API_TYPES = {
    "acl": 20000,
    "model": 15000,
    "node": 10000,
    "hccl": 5500,
    "runtime": 5000,
    "op": 50001,
    "queue": 50002,
    "trace": 50003,
    "mstx": 50004,
}
_ENUMS = {
    "ENUM_API_TYPE": {number: name for name, number in _API_TYPES.items()},
    "ENUM_HCCL_DATA_TYPE": {2: "INT32", 3: "FP16", 4: "FP32", 255: "RESERVED", 65535: "INVALID_TYPE"},
    "ENUM_HCCL_LINK_TYPE": {0: "ON_CHIP", 1: "HCCS", 2: "PCIE", 3: "ROCE", 65535: "INVALID_TYPE"},
    "ENUM_HCCL_TRANSPORT_TYPE": {0: "SDMA", 1: "RDMA", 2: "LOCAL", 65534: "N/A"},
    "ENUM_MEMCPY_OPERATION": {
        0: "host to host",
        1: "host to device",
        2: "device to host",
        3: "device to device",
    },
    "ENUM_MODULE": {0: "SLOG", 7: "RUNTIME"},
}
_TABLES = {
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "SESSION_TIME_INFO": "startTimeNs INTEGER, endTimeNs INTEGER",
    "NPU_INFO": "id INTEGER, name TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "META_DATA": "name TEXT, value TEXT",
    "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
    " globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER,"
    " modelId INTEGER",
    "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER,"
    " mixBlockNum INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER,"
    " inputDataTypes INTEGER, inputShapes INTEGER,"
    " outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER",
    "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,"
    " groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER,"
    " algType INTEGER, count NUMERIC, opType INTEGER",
    "COMMUNICATION_TASK_INFO": "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,"
    " groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER,"
    " transportType INTEGER, size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER",
    "CANN_API": "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
    " connectionId INTEGER PRIMARY KEY, name INTEGER",
    "MEMCPY_INFO": "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC",
    "PYTORCH_API": "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,"
    " sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER,"
    " callchainId INTEGER, type INTEGER",
    "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
    "PYTORCH_CALLCHAINS": "id INTEGER, stack INTEGER, stackDepth INTEGER",
    "STEP_TIME": "id INTEGER, startNs INTEGER, endNs INTEGER",
    "GC_RECORD": "startNs INTEGER, endNs INTEGER, globalTid INTEGER",
    "HBM": "deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER",
    "SOC_BANDWIDTH_LEVEL": "l2BufferBwLevel INTEGER, mataBwLevel INTEGER, timestampNs NUMERIC,"
    " deviceId INTEGER",
    "AICORE_FREQ": "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER",
    "QOS": "deviceId INTEGER, eventName NUMERIC, bandwidth NUMERIC, timestampNs NUMERIC",
    "NPU_MEM": "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
    "NPU_OP_MEM": "operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER,"
    " globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, component INTEGER, deviceId INTEGER",
    "MEMORY_RECORD": "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,"
    " totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
    "OP_MEMORY": "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER,"
    " activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER,"
    " allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER,"
    " releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
}
#: What the database calls tasks, by what text exports call them; of kernels by what they run on.
_TASK_TYPES = {
    "EVENT_RECORD_SQE": "EVENT_RECORD",
    "EVENT_WAIT_SQE": "EVENT_WAIT",
    "AI_CORE": "KERNEL_AICORE",
    "MIX_AIV": "KERNEL_AICORE",
    "AI_CPU": "KERNEL_AICPU",
    "DSA_SQE": "STARS_COMMON",
}

Row = tuple[Any, ...]


class DatabaseWriter:
    """Writes a recording as an ascend_pytorch_profiler_<rank>.db."""

    def __init__(
        self,
        recording: Recording,
        level: int = 2,
        rank: int = 0,
        blocks: Iterable[MemoryBlock] = (),
        metadata: Mapping[str, Any] | None = None,
        counters_ns: int = 10_000_000,
    ) -> None:
        """Prepare to write a recording; `metadata` has the members of profiler_metadata.json, which databases
        hold too.
        """
        self._recording = recording
        self._level = level
        self._rank = rank
        self._blocks = list(blocks)
        self._metadata = metadata or {}
        self._counters_ns = counters_ns
        self._strings: dict[str, int] = {}
        self._framework_strings: dict[str, int] = {}
        ends = [recording.end, *(task.end for task in recording.tasks)]
        period = max(ends) - recording.start + PAUSE
        self._period = period - period % 1000

    def write(self, path: Path, times: int = 1) -> None:
        """Write the recording `times` times over."""
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA synchronous=OFF")
        for table, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
        for table, names in _ENUMS.items():
            connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT)")
            _insert(connection, table, names.items())
        for turn in range(times):
            for table, rows in self._rows(turn):
                _insert(connection, table, rows)
        for table, rows in self._once(times):
            _insert(connection, table, rows)
        texts = {id_: text for text, id_ in self._strings.items()}
        texts.update({id_: text for text, id_ in self._framework_strings.items()})
        _insert(connection, "STRING_IDS", texts.items())
        connection.execute("CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId)")
        for table in _TABLES:  # tables without rows are left out
            if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0:
                connection.execute(f"DROP TABLE {table}")
        connection.commit()
        connection.close()

    def _text(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _framework_text(self, text: str) -> int:
        return self._framework_strings.setdefault(text, _FRAMEWORK_STRINGS + len(self._framework_strings))

    def _thread(self, tid: int) -> int:
        return self._recording.main_tid << 32 | tid

    def _once(self, times: int) -> Iterator[tuple[str, Iterable[Row]]]:
        recording = self._recording
        end = recording.end + (times - 1) * self._period
        yield "SESSION_TIME_INFO", [(recording.start, end)]
        yield "NPU_INFO", [(0, "Ascend910B")]
        yield "RANK_DEVICE_MAP", [(self._rank, 0)]
        metadata = {
            "SCHEMA_VERSION": "1.2.0",
            **{key: json.dumps(value) for key, value in self._metadata.items()},
        }
        yield "META_DATA", metadata.items()
        idle = end + 4000 - (end + 4000) % 1000  # whole microseconds, as in text exports
        yield "AICORE_FREQ", [(0, recording.start - 3000, 1800), (0, idle, 800)]
        if self._level:
            pid = recording.main_tid
            enable, disable = self._text("PROFILING_ENABLE"), self._text("PROFILING_DISABLE")
            tasks = [(recording.start, enable, 8), (end, disable, 9)]
            yield (
                "TASK",
                [
                    (time, time + 20, 0, 960, (1 << 40) + place, pid, kind, NONE, 0, number, NONE)
                    for place, (time, kind, number) in enumerate(tasks)
                ],
            )
        yield from self._memory()

    def _rows(self, turn: int) -> Iterator[tuple[str, Iterable[Row]]]:
        """Yield the rows of one repetition."""
        yield from self._device(turn)
        yield from self._host(turn)
        yield from self._framework(turn)
        yield from self._counters(turn)

    def _device(self, turn: int) -> Iterator[tuple[str, Iterable[Row]]]:
        recording, shift = self._recording, turn * self._period
        connections = turn * recording.connections
        first = turn * len(recording.tasks)
        ids = {id(task): first + place for place, task in enumerate(recording.tasks)}
        pid = recording.main_tid
        yield (
            "TASK",
            (
                (
                    task.start + shift,
                    task.end + shift,
                    0,
                    task.connection + connections,
                    ids[id(task)],
                    pid,
                    self._text(_task_type(task)),
                    NONE if task.subtask is None else task.subtask,
                    task.stream,
                    task.number & 0xFFFF,
                    NONE,
                )
                for task in recording.tasks
            ),
        )
        none = self._text("N/A")
        yield (
            "COMPUTE_TASK_INFO",
            (
                (self._text(task.name), ids[id(task)], 8, 0, self._text(task.type), none, *[none] * 7)
                for task in recording.tasks
                if task.type in AICORE + AICPU
            ),
        )
        directions = {name: number for number, name in _ENUMS["ENUM_MEMCPY_OPERATION"].items()}
        if self._level == 2:
            yield (
                "MEMCPY_INFO",
                (
                    (ids[id(task)], task.size, directions.get(task.direction, 65535))
                    for task in recording.tasks
                    if task.direction is not None
                ),
            )
        total = len(recording.collectives)
        operation_ids = {
            id(collective): turn * total + place for place, collective in enumerate(recording.collectives)
        }
        yield (
            "COMMUNICATION_OP",
            (
                (
                    self._operation_name(collective, turn * total),
                    collective.start + shift,
                    collective.end + shift,
                    collective.connection + connections,
                    self._text(collective.group.name or "group"),
                    operation_ids[id(collective)],
                    0,
                    0,
                    4,
                    self._text("MESH-RING"),
                    collective.count,
                    self._text(f"hcom_{collective.kind}_"),
                )
                for collective in recording.collectives
            ),
        )
        if self._level:
            yield "COMMUNICATION_TASK_INFO", self._transfers(ids, operation_ids)

    def _operation_name(self, collective: Collective, earlier: int) -> int:
        """Return the number of the name of a collective after `earlier` others."""
        number = collective.index + earlier
        return self._text(f"hcom_{collective.kind}__{collective.group.digits}_{number}_1")

    def _transfers(self, ids: dict[int, int], operation_ids: dict[int, int]) -> Iterator[Row]:
        of_connection = {collective.connection: collective for collective in self._recording.collectives}
        numbers = {
            table: {name: number for number, name in _ENUMS[table].items()}
            for table in ("ENUM_HCCL_TRANSPORT_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_DATA_TYPE")
        }
        transports, links, types = numbers.values()
        for move in self._recording.transfers:
            collective = of_connection[move.task.connection]
            notify = move.type.startswith("Notify")
            yield (
                self._text(f"hcom_{collective.kind}"),
                ids[id(move.task)],
                self._text(move.type),
                move.plane,
                self._text(move.group.name or "group"),
                move.notify if notify else _NO_NOTIFY,
                65535,
                move.group.rank,
                NONE if move.peer is None else move.peer,
                transports[move.transport],
                move.size,
                types.get(move.dtype, 65535),
                links.get(move.wire, 65535),
                operation_ids[id(collective)],
            )

    def _host(self, turn: int) -> Iterator[tuple[str, Iterable[Row]]]:
        recording, shift = self._recording, turn * self._period
        connections = turn * recording.connections
        calls = [call for call in recording.apis if self._level == 2 or call.level != "runtime"]
        yield (
            "CANN_API",
            (
                (
                    call.start + shift,
                    call.end + shift,
                    _API_TYPES[call.level],
                    self._thread(call.tid),
                    call.connection + connections,
                    self._text(call.name.partition("@")[2]),
                )
                for call in calls  # of level 0 as well, which text exports leave out
            ),
        )
        yield (
            "GC_RECORD",
            ((run.start + shift, run.end + shift, self._thread(run.tid)) for run in recording.collections),
        )

    def _framework(self, turn: int) -> Iterator[tuple[str, Iterable[Row]]]:
        recording, shift = self._recording, turn * self._period
        number = count(turn * (1 << 24))
        rows: list[Row] = []
        links: list[Row] = []
        chains: list[Row] = []
        id_of = {id(operator): next(number) for operator in recording.operators}
        used = self._connected(turn, id_of)
        links += used
        connected = {id_ for id_, _ in used}
        stacks: dict[PythonStack, int] = {}
        for operator in recording.operators:
            id_ = id_of[id(operator)]
            chain = None
            if operator.stack is not None:
                chain = id_
                chains += [
                    (id_, self._framework_text(frame_text(frame)), depth)
                    for depth, frame in enumerate(operator.stack)
                ]
                stacks[operator.stack] = id_
            rows.append(self._operator(operator, turn, shift, id_ if id_ in connected else None, chain))
        correlations = turn * recording.correlations
        for name, slots in (("Enqueue", recording.enqueues), ("", recording.dequeues)):
            for slot in slots:
                id_ = next(number)
                links.append((id_, _QUEUE + slot.correlation + correlations))
                text = self._framework_text(name or getattr(slot, "name", ""))
                rows.append(self._api(slot.start + shift, slot.end + shift, slot.tid, id_, text, "queue"))
        for call in sorted(recording.calls, key=lambda call: call.id):
            if call.id < len(recording.roots) and turn:
                continue
            text = self._framework_text(call.name)
            rows.append(self._api(call.start + shift, call.end + shift, call.tid, None, text, "trace"))
        yield "PYTORCH_API", rows
        yield "CONNECTION_IDS", links
        yield "PYTORCH_CALLCHAINS", chains
        steps = turn * len(recording.steps)
        yield (
            "STEP_TIME",
            (
                (step.step + steps, step.start + shift, step.end + shift)
                for step in recording.steps
                if step.step is not None
            ),
        )

    def _connected(self, turn: int, id_of: dict[int, int]) -> list[tuple[int, int]]:
        """Return the rows of CONNECTION_IDS of operators: what they launch, and the pairs of both passes."""
        recording = self._recording
        connections = turn * recording.connections
        pairs = [
            (id_of[id(task.launch.operator)], task.connection + connections)
            for task in recording.tasks
            if task.launch is not None and task.type in AICORE + AICPU and id(task.launch.operator) in id_of
        ]
        pairs += [
            (id_of[id(collective.launch.operator)], collective.connection + connections)
            for collective in recording.collectives
            if id(collective.launch.operator) in id_of
        ]
        operator_at = {(operator.tid, operator.start): operator for operator in recording.operators}
        for pair in recording.pairs:
            ends = ((pair.forward_tid, pair.forward_at), (pair.backward_tid, pair.backward_at))
            pair_id = _PAIRS + pair.sequence + turn * recording.sequences
            pairs += [(id_of[id(operator_at[end])], pair_id) for end in ends if end in operator_at]
        return list(dict.fromkeys(pairs))

    def _operator(self, operator: Operator, turn: int, shift: int, id_: int | None, chain: int | None) -> Row:
        name = operator.name
        if operator.step is not None:
            name = f"ProfilerStep#{operator.step + turn * len(self._recording.steps)}"
        sequence = operator.sequence + (turn * self._recording.sequences if operator.sequence >= 0 else 0)
        dims = None if operator.dims is None else self._framework_text(operator.dims)
        types = None if operator.types is None else self._framework_text(operator.types)
        start, end = str(operator.start + shift), str(operator.end + shift)
        thread, text = self._thread(operator.tid), self._framework_text(name)
        # The two columns of the inputs are the wrong way round in real files.
        inputs = (dims, types, chain, _API_TYPES["op"])
        return (start, end, thread, id_, text, sequence, operator.forward_thread, *inputs)

    def _api(self, start: int, end: int, tid: int, id_: int | None, text: int, kind: str) -> Row:
        absent = (None, None, None, None, None)
        return (str(start), str(end), self._thread(tid), id_, text, *absent, _API_TYPES[kind])

    def _counters(self, turn: int) -> Iterator[tuple[str, Iterable[Row]]]:
        recording, shift = self._recording, turn * self._period
        times = range(recording.start + 240 + shift, recording.end + shift, self._counters_ns)
        samples = [(time, place % 3) for place, time in enumerate(times)]
        kinds = (
            (self._text("read"), 16_201 << 19),
            (self._text("write"), 21_601 << 18),
        )  # 8100.5, 5400.25 MB/s
        yield (
            "HBM",
            ((0, time, speed * busy, 0, kind) for time, busy in samples for kind, speed in kinds),
        )
        yield "QOS", ((0, self._text("OTHERS"), 1908 * busy, time + 66_168) for time, busy in samples)
        yield "SOC_BANDWIDTH_LEVEL", ((busy, None, time + 70_000, 0) for time, busy in samples)

    def _memory(self) -> Iterator[tuple[str, Iterable[Row]]]:
        if not self._blocks:
            return
        node = "cann::"
        text = self._text
        yield (
            "OP_MEMORY",
            (
                (
                    text(block.name[len(node) :] if block.name.startswith(node) else block.name),
                    *(block.bytes, block.start, block.release, block.release),
                    *[None if block.release is None else block.release - block.start] * 2,
                    *[None] * 6,
                    *(None if block.name.startswith(node) else 1162636336, 0),
                )
                for block in self._blocks
            ),
        )
        yield (
            "NPU_OP_MEM",
            (
                (
                    *(text(block.name[len(node) :]), 0, text("allocate"), block.bytes, block.start),
                    *(0, 0, 0, text("GE"), 0),
                )
                for block in self._blocks
                if block.name.startswith(node)
            ),
        )
        reserved = 1 << 33
        yield (
            "MEMORY_RECORD",
            (
                (text(component), time, amount, reserved, amount, 1162636336, 0)
                for component, time, amount in samples_of(self._blocks)
            ),
        )
        yield "NPU_MEM", [(text("app"), 0, reserved + (1 << 29), self._recording.end, 0)]


_QUEUE, _PAIRS = 1 << 30, 1 << 31  #: the numbers of the queue, and those of the two passes, begin here


def _task_type(task: Task) -> str:
    return COPY if task.name == COPY else _TASK_TYPES.get(task.type, task.name)


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[Iterable[Any]]) -> None:
    width = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
    marks = ", ".join("?" * width)
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", (tuple(row) for row in rows))
