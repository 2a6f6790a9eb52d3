"""The tables of the host: the framework's operators, queue and Python calls, the calls of CANN, marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import EMPTY, Bools, Int32s, Int64s
from tracetui.databases.tables import UNKNOWN
from tracetui.reader.database.assembly import Assembly
from tracetui.reader.database.device import DeviceRows
from tracetui.reader.database.layers import CANN, COLLECTOR, MARKS, OS_CALLS, PYTHON, ProcessLayer, layer_pid
from tracetui.reader.database.queue import queue_pairs
from tracetui.reader.database.stacks import call_stacks
from tracetui.reader.database.table_reader import (
    TableColumns,
    TableQuery,
    TableReader,
    distinct_places,
    places_of,
    take,
)

CALLS = TableQuery(
    "CANN_API", ("startNs", "endNs", "type", "globalTid", "connectionId", "name"), is_drawn=True
)
FRAMEWORK = TableQuery(
    "PYTORCH_API",
    ("startNs", "endNs", "globalTid", "connectionId", "sequenceNumber", "name", "callchainId", "type"),
    is_drawn=True,
)
CONNECTIONS = TableQuery("CONNECTION_IDS", ("id", "connectionId"))
MARKS_OF_USER = TableQuery(
    "MSTX_EVENTS", ("startNs", "endNs", "message", "globalTid", "domainId", "connectionId"), is_drawn=True
)
COLLECTOR_RUNS = TableQuery("GC_RECORD", ("startNs", "endNs", "globalTid"), is_drawn=True)
SYSTEM_CALLS = TableQuery("OSRT_API", ("startNs", "endNs", "globalTid", "name"), is_drawn=True)
STEPS = TableQuery("STEP_TIME", ("id", "startNs", "endNs"), is_drawn=True)

OPERATOR, QUEUE, CALL, MARK = range(4)  #: what a row of the framework is
_KINDS = {"op": OPERATOR, "queue": QUEUE, "trace": CALL, "mstx": MARK}
_CATEGORIES = {OPERATOR: "cpu_op", CALL: "python_function", QUEUE: "enqueue"}
_FRAME = re.compile(r".*\.py\(\d+\): |<built-in |<[^<>]+>[.\d]*\(\d+\): |nn\.Module: ")
_QUEUED = re.compile(r"(?:En|De)queue(?:@|$)")
#: What text exports write before the names of calls, by the type of the call.
_LAYERS = {
    "acl": "AscendCL@",
    "model": "Model@",
    "node": "Node@",
    "hccl": "Hccl@",
    "communication": "Communication@",
    "runtime": "Runtime@",
}
_USUAL_TYPES = {
    5000: "runtime",
    5500: "communication",
    10000: "node",
    15000: "model",
    20000: "acl",
    50001: "op",
    50002: "queue",
    50003: "trace",
    50004: "mstx",
}
_STEP = "ProfilerStep#"
_STEP_NAME = re.compile(rf"(?:\w+::)*{_STEP}")  #: MindSpore's begins with Python::PythonObserved::
_LOW = 0xFFFFFFFF
_NO_MARK = 4_000_000_000  #: the connection of a mark that is on no device; greater ones are connections


@dataclass(frozen=True)
class HostRows:
    """What arrows need of the framework's rows; columns of equal length."""

    start: Int64s
    thread: Int32s
    kind: Int32s  #: OPERATOR, QUEUE, CALL or MARK
    dequeues: Bools
    id: Int64s  #: of CONNECTION_IDS, UNKNOWN for none
    sequence: Int64s  #: what an operator and its backward pass share, below 0 for none


@dataclass(frozen=True)
class CallRows:
    """What arrows need of the calls of CANN."""

    start: Int64s
    thread: Int32s
    connection: Int64s  #: below 0 for none


class HostTables:
    """Reads what the host did."""

    def __init__(self, reader: TableReader, assembly: Assembly) -> None:
        self._reader = reader
        self._assembly = assembly

    def read_calls(self) -> CallRows:
        """Read the calls of CANN, and hand over their slices."""
        rows = self._reader.columns(CALLS)
        thread = self._threads(rows["globalTid"], CANN)
        self._assembly.add_rows(
            rows,
            thread=thread,
            name=self._call_names(rows),
            correlation=np.maximum(rows["connectionId"], -1),
        )
        return CallRows(rows["startNs"], thread, rows["connectionId"])

    def read_framework(self) -> tuple[HostRows, TableColumns]:
        """Read what the framework recorded, and hand over its slices.

        Returns its rows, and the two columns of CONNECTION_IDS.
        """
        rows = self._reader.columns(FRAMEWORK)
        connections = self._reader.columns(CONNECTIONS)
        names = self._assembly.texts.names(rows["name"])
        kind = self._kinds(rows, names)
        for column in ("name", "type"):  # the largest table: what is used up makes room for the slices
            del rows.numbers[column]
        is_queue = kind == QUEUE
        dequeues = is_queue & self._assembly.texts.fit(names, lambda text: text.startswith("Dequeue"))
        if is_queue.any() and not connections.count and not self._reader.database.problems:
            connections = self._pair_queue(rows, np.flatnonzero(is_queue), dequeues, names)
        # Those that only take from the queue stand last, as in text exports.
        thread = self._threads(
            rows["globalTid"], PYTHON, last=distinct_places(rows["globalTid"][dequeues])[0]
        )
        marks = kind == MARK
        is_kept: Bools | slice = slice(None)
        if marks.any() and self._reader.database.has("MSTX_EVENTS", "startNs"):
            is_kept = ~marks  # they are there as well, with their domains
        elif marks.any():
            thread[marks] = self._threads(rows["globalTid"][marks], MARKS)
        stacks = call_stacks(self._reader, self._assembly.texts, rows.numbers.pop("callchainId"))
        self._assembly.add_rows(
            rows,
            is_kept,
            thread=thread,
            name=names,
            category=self._categories(kind, dequeues),
            correlation=self._queue_ids(rows, kind, connections),
            stack=stacks,
        )
        if not self._assembly.texts.fit(names, lambda text: _STEP_NAME.match(text) is not None).any():
            self._add_steps(rows)
        host = HostRows(rows["startNs"], thread, kind, dequeues, rows["connectionId"], rows["sequenceNumber"])
        return host, connections

    def _pair_queue(self, rows: TableColumns, queued: Int64s, dequeues: Bools, names: Int32s) -> TableColumns:
        """Return what CONNECTION_IDS would tell of the queue, as far as times do; rows get ids to match."""
        given, taken = queue_pairs(
            rows["startNs"][queued], rows["endNs"][queued], rows["globalTid"][queued], dequeues[queued]
        )
        given, taken = queued[given], queued[taken]
        if not _names_agree(self._assembly.texts.all(), names[given], names[taken]):
            given = taken = EMPTY
        pairs = np.arange(len(given))
        ids = np.full(rows.count, UNKNOWN, np.int64)
        ids[given] = ids[taken] = pairs
        rows.numbers["connectionId"] = ids
        return TableColumns(len(pairs), {"id": pairs, "connectionId": pairs}, {})

    def _queue_ids(self, rows: TableColumns, kind: Int32s, connections: TableColumns) -> Int64s:
        """Return what the two ends of the queue share; -1 of all other rows."""
        found = np.full(rows.count, -1, np.int64)
        queued = np.flatnonzero(kind == QUEUE)
        place = places_of(connections["id"], rows["connectionId"][queued])
        found[queued] = np.maximum(take(connections["connectionId"], place, -1), -1)
        return found

    def read_others(self, tasks: DeviceRows) -> None:
        """Read the user's marks, with arrows to their tasks, the collector's runs and the system's calls."""
        self._add_marks(tasks)
        runs = self._reader.columns(COLLECTOR_RUNS)
        texts = self._assembly.texts
        gc_thread, gc = self._threads(runs["globalTid"], COLLECTOR, "Python GC"), texts.number("GC")
        self._assembly.add_rows(runs, thread=gc_thread, name=gc, category=gc)
        calls = self._reader.columns(SYSTEM_CALLS)
        thread = self._threads(calls["globalTid"], OS_CALLS)
        self._assembly.add_rows(calls, thread=thread, name=texts.names(calls["name"]))

    def _add_marks(self, tasks: DeviceRows) -> None:
        rows = self._reader.columns(MARKS_OF_USER)
        texts = self._assembly.texts
        domains = texts.numbers_of(rows["domainId"])
        all_texts = texts.all()
        thread = np.zeros(rows.count, np.int32)
        for number in np.unique(domains).tolist():
            places = np.flatnonzero(domains == number)
            domain = all_texts[number] if number >= 0 else "default"
            mark_threads = self._threads(rows["globalTid"][places], MARKS, domain=domain)
            thread[places] = mark_threads
        self._assembly.add_slices(
            rows["startNs"],
            np.maximum(rows["endNs"], rows["startNs"]),  # a mark has no end
            thread=thread,
            name=texts.names(rows["message"]),
            event=rows.event,
        )
        connection = np.where(rows["connectionId"] > _NO_MARK, rows["connectionId"], UNKNOWN)
        used = places_of(tasks.connection, connection) >= 0
        ends = places_of(connection[used], tasks.connection) >= 0
        self._assembly.add_flows(
            "MsTx",
            connection[used],
            (rows["startNs"][used], thread[used]),
            (tasks.start[ends], tasks.thread[ends]),
            tasks.connection[ends],
        )

    def _add_steps(self, framework: TableColumns) -> None:
        """Draw the steps of their table, where no row is called one, above the thread that has most rows."""
        rows = self._reader.columns(STEPS)
        if not rows.count:
            return
        tids, counts = np.unique(framework["globalTid"], return_counts=True)
        main = int(tids[counts.argmax()]) if len(tids) else 0
        names = np.array(
            [self._assembly.texts.number(f"{_STEP}{number}") for number in rows["id"].tolist()], np.int32
        )
        self._assembly.add_rows(
            rows,
            thread=self._threads(np.full(rows.count, main, np.int64), PYTHON),
            name=names,
            category=self._assembly.texts.number("cpu_op"),
        )

    def _kinds(self, rows: TableColumns, names: Int32s) -> Int32s:
        """Return what each row of the framework is: by its type, without one by its name, as in old files."""
        types = self._types()
        kind = np.full(rows.count, OPERATOR, np.int32)
        for value in distinct_places(rows["type"])[0].tolist():
            of_type = rows["type"] == value
            if value == UNKNOWN:
                texts = self._assembly.texts
                kind[of_type & texts.fit(names, lambda text: _QUEUED.match(text) is not None)] = QUEUE
                kind[of_type & texts.fit(names, lambda text: _FRAME.match(text) is not None)] = CALL
                continue
            kind[of_type] = _KINDS.get(types.get(value, ""), OPERATOR)
        return kind

    def _types(self) -> dict[int, str]:
        """Return the types of calls and rows by their numbers, which the file may tell."""
        ids, names = self._reader.texts("ENUM_API_TYPE", "id", "name")
        return {**_USUAL_TYPES, **dict(zip(ids.tolist(), names))}

    def _categories(self, kind: Int32s, dequeues: Bools) -> Int32s:
        number = self._assembly.texts.number
        number_of_kind = np.full(len(_KINDS), -1, np.int32)
        for kind_code, text in _CATEGORIES.items():
            number_of_kind[kind_code] = number(text)
        category = number_of_kind[kind]
        category[dequeues] = number("dequeue")
        return category

    def _call_names(self, rows: TableColumns) -> Int32s:
        """Return the names of calls as text exports write them: "Node@launch"."""
        texts = self._assembly.texts
        names = texts.names(rows["name"])
        types = self._types()
        call_names: Int32s = names.copy()
        for value in distinct_places(rows["type"])[0].tolist():
            layer = _LAYERS.get(types.get(value, ""))
            if layer is not None:
                of_layer = rows["type"] == value
                call_names[of_layer] = texts.mapped(names[of_layer], f"{layer}{{}}".format)
        return call_names

    def _threads(
        self,
        global_tids: Int64s,
        layer: ProcessLayer,
        title: str | None = None,
        domain: str = "",
        last: Int64s | None = None,
    ) -> Int32s:
        """Return the thread of each `globalTid` in a layer: the pid is its upper half, the tid its lower."""
        different, place = distinct_places(global_tids)
        number_of = np.zeros(len(different), np.int32)
        for index, global_tid in enumerate(different.tolist()):
            has_tid = global_tid != UNKNOWN and global_tid >= 0
            os_pid, tid = (global_tid >> 32, global_tid & _LOW) if has_tid else (0, 0)
            pid = os_pid if layer is PYTHON else layer_pid(os_pid, layer)
            self._assembly.process(pid, layer.name, "CPU", layer.number)
            written_tid: int | str = f"{tid} {domain}" if domain else tid
            name = title or (f"Thread {tid}" if has_tid else "Thread unknown")
            self._assembly.say("thread_name", pid, f"{name} · {domain}" if domain else name, written_tid)
            sort = tid if last is None or global_tid not in last else tid + _LOW
            self._assembly.say("thread_sort_index", pid, str(sort), written_tid)
            number_of[index] = self._assembly.thread(pid, written_tid)
        return number_of[place]


def _names_agree(texts: list[str], given: Int32s, taken: Int32s) -> bool:
    """Return whether no pair, "Enqueue@x" and "Dequeue@x", tells two operators; a name may tell none."""
    for pair in np.unique(np.column_stack((given, taken)), axis=0).tolist():
        operators = {texts[number].partition("@")[2] for number in pair} - {""}
        if len(operators) > 1:
            return False
    return True
