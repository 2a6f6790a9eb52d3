"""Event tables and traces from a list of JSON events: the short way for a test to say what is in a file.

Written for clarity, one event at a time, and apart from the reader: what both make of one file can be
compared. It takes well-formed events only and leaves all that a damaged file needs to the reader.
"""

from __future__ import annotations

import gzip
import json
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from tracetui.reader.events import (
    CounterColumns,
    EventTable,
    FlowColumns,
    HcclColumns,
    InstantColumns,
    MemoryColumns,
    Metadata,
    NumberedColumns,
    ReadReport,
    SliceColumns,
)
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace

_FLOW_PHASES = {"s": 0, "t": 1, "f": 2}
_CORRELATIONS = ("connection_id", "correlation_id", "correlation")
_COUNTER_IDS = {"acc_id", "PA Link ID", "PCIE ID"}
_NO_CORRELATION = {4294967295, 18446744073709551615}
_HCCL_SIGNS = {"transport type", "data_type", "Collective name"}
_HCCL_NUMBERS = ("src rank", "dst rank", "Group size", "size(Byte)", "count")
_C10D_NUMBERS = ("Src Rank", "Dst Rank", "Group size", "size(Byte)", "In msg nelems")
_GROUP_TEXTS = ("alg_type", "Collective name", "Process Group Name", "Process Group Ranks")
_HCCL_TEXTS = ("transport type", "link type", "data_type", *_GROUP_TEXTS)
_C10D_TEXTS = ("transport type", "link type", "dtype", *_GROUP_TEXTS)
_NO_MODEL = 4294967295
_MEMORY_NUMBERS = ("Addr", "Bytes", "Total Allocated", "Total Reserved", "Device Id")
_NO_FLOW = {"18446744069414584320", "18446744073709551615"}


def trace_of(events: list[dict[str, Any]], **document: Any) -> Trace:
    """The trace of these events; `document` are the keys beside traceEvents."""
    return build_trace(event_table(events, document=document))


def load_json(path: Path) -> EventTable:
    """The table of a whole real file, gzipped or not, by the json module of the standard library."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    content = json.loads(text, parse_float=Decimal)
    if isinstance(content, list):
        return event_table(content, path=str(path))
    events = content.pop("traceEvents")
    return event_table(events, path=str(path), document=content)


def event_table(
    events: list[dict[str, Any]], path: str = "synthetic.json", document: dict[str, Any] | None = None
) -> EventTable:
    """The columns of well-formed JSON events, in their order. Times are in us, of any type."""
    table = _Table(int((document or {}).get("baseTimeNanoseconds", 0)))
    for ordinal, event in enumerate(events):
        table.add(ordinal, event)
    report = ReadReport(bytes=0, text_bytes=0, events=len(events), skipped=0)
    return EventTable(
        path=path,
        strings=list(table.strings),
        threads=list(table.threads),
        series=list(table.series),
        slices=SliceColumns(*_columns(table.slices, "qqiiiqqiiiii")),
        hccl=HcclColumns(*_columns(table.hccl, "qiiiqqiiiiiii")),
        numbered=NumberedColumns(*_columns(table.numbered, "qq")),
        memory=MemoryColumns(*_columns(table.memory, "qqqqqi")),
        flows=FlowColumns(*_columns(table.flows, "qiibq")),
        counters=CounterColumns(*_columns(table.counters, "qid")),
        instants=InstantColumns(*_columns(table.instants, "qiiq")),
        metadata=table.metadata,
        document=document or {},
        report=report,
    )


def nanoseconds(value: Any) -> int:
    """Microseconds as written in JSON, rounded to ns."""
    return int((Decimal(str(value)) * 1000).to_integral_value(ROUND_HALF_EVEN))


def process(pid: Any, name: str, labels: str = "", sort_index: int = 0) -> list[dict[str, Any]]:
    """The metadata events of a process."""
    values = {"process_name": {"name": name}, "process_sort_index": {"sort_index": sort_index}}
    if labels:
        values["process_labels"] = {"labels": labels}
    return [{"ph": "M", "name": key, "pid": pid, "tid": 0, "args": args} for key, args in values.items()]


def thread(pid: Any, tid: Any, name: str, sort_index: int | None = None) -> list[dict[str, Any]]:
    """The metadata events of a thread."""
    named = {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
    if sort_index is None:
        return [named]
    order = {
        "ph": "M",
        "name": "thread_sort_index",
        "pid": pid,
        "tid": tid,
        "args": {"sort_index": sort_index},
    }
    return [named, order]


def piece(
    pid: Any, tid: Any, name: str, ts: Any, dur: Any, cat: str | None = None, **args: Any
) -> dict[str, Any]:
    """A complete event. Arguments whose names hold spaces: **{"Task Type": "AI_CORE"}."""
    event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    return event if cat is None else {**event, "cat": cat}


def flow(phase: str, cat: str, flow_id: Any, pid: Any, tid: Any, ts: Any) -> dict[str, Any]:
    """One end of an arrow: phase s or f."""
    event = {"ph": phase, "name": cat, "cat": cat, "id": flow_id, "pid": pid, "tid": tid, "ts": ts}
    return {**event, "bp": "e"} if phase == "f" else event


class _Table:
    """What has been gathered: dicts from a value to its index, and rows of columns."""

    def __init__(self, base_ns: int) -> None:
        self.base_ns = base_ns
        self.strings: dict[str, int] = {}
        self.threads: dict[tuple[str, str], int] = {}
        self.series: dict[tuple[int, int, str], int] = {}
        self.big_ids: dict[str, int] = {}
        self.slices: list[tuple[int, ...]] = []
        self.hccl: list[tuple[int, ...]] = []
        self.numbered: list[tuple[int, ...]] = []
        self.memory: list[tuple[int, ...]] = []
        self.flows: list[tuple[int, ...]] = []
        self.counters: list[tuple[float, ...]] = []
        self.instants: list[tuple[int, ...]] = []
        self.metadata: list[Metadata] = []
        self.open: dict[int, list[tuple[int, dict[str, Any]]]] = {}

    def add(self, ordinal: int, event: dict[str, Any]) -> None:
        phase = event["ph"]
        if phase == "M":
            args = event["args"]
            value = next((args[key] for key in ("name", "labels", "sort_index") if key in args), "")
            tid = str(event.get("tid", ""))
            self.metadata.append(Metadata(event["name"], str(event["pid"]), tid, str(value)))
            return
        time = self._time(event)
        thread_index = _index(self.threads, (str(event["pid"]), str(event["tid"])))
        if phase == "X":
            dur = max(nanoseconds(event.get("dur", 0)), 0)
            self._slice(ordinal, event, thread_index, time, dur)
        elif phase == "B":
            self.open.setdefault(thread_index, []).append((ordinal, event))
        elif phase == "E":
            begun, begin = self.open[thread_index].pop()
            start = self._time(begin)
            self._slice(begun, begin, thread_index, start, time - start)
        elif phase in _FLOW_PHASES:
            category = self._string(event.get("cat"))
            self.flows.append((time, thread_index, category, _FLOW_PHASES[phase], self._flow_id(event["id"])))
        elif phase == "C":
            name = self._string(event["name"])
            for key, value in event["args"].items():
                if key not in _COUNTER_IDS and isinstance(value, (int, float, Decimal)):
                    series = _index(self.series, (thread_index, name, key))
                    self.counters.append((time, series, float(value)))
        elif phase in ("i", "I"):
            self.instants.append((time, thread_index, self._string(event["name"]), ordinal))
            args = event.get("args") or {}
            if "Bytes" in args and "Addr" in args:
                numbers = (args.get(key, -1) for key in _MEMORY_NUMBERS)
                self.memory.append((ordinal, *numbers))

    def _slice(self, ordinal: int, event: dict[str, Any], thread_index: int, start: int, dur: int) -> None:
        args = event.get("args") or {}
        direction = args.get("memcpy direction", args.get("operation"))
        name, category = self._string(event["name"]), self._string(event.get("cat"))
        kernel_type = args["type"] if str(args.get("type")).startswith("KERNEL_") else None
        task_type, direction = self._string(args.get("Task Type", kernel_type)), self._string(direction)
        stack = self._string(args.get("Call stack") or None)
        row = (start, dur, thread_index, name, category, ordinal, _correlation(args), task_type, direction)
        given = (args.get(key) for key in ("Python id", "Python parent id"))
        numbers = (-1 if number is None else int(number) for number in given)
        self.slices.append((*row, stack, *numbers))
        if "Task Type" in args and "Task Id" in args and args.get("Model Id", _NO_MODEL) == _NO_MODEL:
            self.numbered.append((ordinal, int(args["Task Id"]) + (int(args.get("Batch Id", 0)) << 32)))
        if not _HCCL_SIGNS.isdisjoint(args) and "Task Type" not in args:
            is_c10d = "Collective name" in args
            number_keys, text_keys = (_C10D_NUMBERS, _C10D_TEXTS) if is_c10d else (_HCCL_NUMBERS, _HCCL_TEXTS)
            numbers = (_no_rank(int(args.get(key, -1))) for key in number_keys)
            self.hccl.append((ordinal, *numbers, *(self._string(args.get(key)) for key in text_keys)))

    def _time(self, event: dict[str, Any]) -> int:
        """Epoch ns; a time before 2001 counts from the document's own beginning."""
        time = nanoseconds(event["ts"])
        return time + self.base_ns if time < 10**18 else time

    def _string(self, text: str | None) -> int:
        return -1 if text is None else _index(self.strings, text)

    def _flow_id(self, flow_id: Any) -> int:
        text = str(flow_id)
        if text in _NO_FLOW:
            return -1
        if text.isdigit() and int(text) < 2**63:
            return int(text)
        return -2 - _index(self.big_ids, text)


def _correlation(args: dict[str, Any]) -> int:
    value = next((int(args[key]) for key in _CORRELATIONS if key in args), -1)
    return -1 if value in _NO_CORRELATION else value


def _no_rank(value: int) -> int:
    return -1 if value in _NO_CORRELATION else value


def _index(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _columns(rows: list[Any], types: str) -> list[Any]:
    columns = zip(*rows) if rows else ([] for _ in types)
    return [np.array(column, dtype=kind) for column, kind in zip(columns, types)]
