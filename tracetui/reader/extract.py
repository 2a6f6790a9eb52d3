"""Decoded events to the columns of one part of the file.

`PartReader` takes block after block of decoded elements and keeps arrays only: the objects are freed while
they are still in the processor's cache, and the next block's take their place. Strings, threads and series
are numbered within the part, so parts don't depend on one another.

The fast way assumes well-formed events; a block with any other goes through `normalise_events` first.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any, Callable

import numpy as np
import orjson
from numpy.typing import NDArray

from tracetui.arrays import Bools, Floats, Int32s, Int64s
from tracetui.compiled import COMPILED
from tracetui.reader.events import Metadata
from tracetui.reader.literals import restore_literals
from tracetui.reader.normalise import (
    CORRELATION_KEYS,
    category_of,
    correlation_of,
    int32_of,
    name_in_scope,
    normalise_events,
    number_of,
    signed_below,
    text_of,
    whole_below,
)
from tracetui.reader.numbering import FlowIds, numbers
from tracetui.reader.phases import (
    METADATA,
    OF_METADATA,
    OF_TABLES,
    OF_UNKNOWN,
    START,
    TABLES,
    UNKNOWN,
    kinds_of,
)
from tracetui.reader.scanned import BlockScanner
from tracetui.reader.timestamps import UNREADABLE, durations, text_times, times

#: The columns that tables have of their events' shape.
_OF_SHAPE = {
    "slice": ("thread", "name", "category"),
    "begin": ("thread", "name", "category"),
    "end": ("thread",),
    "flow": ("thread", "category"),
    "instant": ("thread", "name"),
}
_COLLECTIVE = "Collective name"
#: Columns with the keys of HCCL and, of an event with a `Collective name`, of c10d.
_HCCL_NUMBERS = (
    ("src", "src rank", "Src Rank"),
    ("dst", "dst rank", "Dst Rank"),
    ("group_size", "Group size", "Group size"),
    ("size", "size(Byte)", "size(Byte)"),
    ("count", "count", "In msg nelems"),
)
_HCCL_TEXTS = (
    ("transport", "transport type", "transport type"),
    ("link", "link type", "link type"),
    ("dtype", "data_type", "dtype"),
    ("algorithm", "alg_type", "alg_type"),
    ("collective", _COLLECTIVE, _COLLECTIVE),
    ("process_group", "Process Group Name", "Process Group Name"),
    ("group_ranks", "Process Group Ranks", "Process Group Ranks"),
)
_HCCL_SIGNS = frozenset(("transport type", "data_type", _COLLECTIVE))  #: an event with one of them has a row
_MEMORY_NUMBERS = (("address", "Addr"), ("allocated", "Total Allocated"), ("reserved", "Total Reserved"))
_KERNEL_TYPE = re.compile(r"KERNEL_[A-Z]")  #: how the `type` of a kernel begins that is one of its tasks
_NOT_A_SERIES = frozenset(("acc_id", "PA Link ID", "PCIE ID"))
_INT64_END = 1 << 63
_SIZE_END = 1 << 62
_TASK_END = 1 << 32
_BATCH_END = 1 << 31
_NO_ARGS: dict[str, Any] = {}
_UNEXPECTED = (KeyError, TypeError, AttributeError, ValueError, OverflowError)

#: orjson's own objects for these keys: Python 3.11 finds a key by identity in 15 ns, an equal one in 24.
_PH, _TS, _PID, _TID, _NAME, _CAT, _DUR, _ARGS, _ID = orjson.loads(
    b'{"ph":0,"ts":0,"pid":0,"tid":0,"name":0,"cat":0,"dur":0,"args":0,"id":0}'
)


_WITH_ARGS = ("slice", "begin")  #: tables that have columns of the args of their events


class _Inexact(Exception):  # noqa: N818 - no error: numbers of the block need their text
    pass


@dataclass
class ExtractedPart:
    """The columns of a part of the file, with the part's own numbers of strings, threads and series."""

    events: int  #: elements decoded
    scanned: int  #: of them, those that the compiled scanner took
    strings: list[str | None]  #: None stands for no string
    threads: list[tuple[str, str]]
    series: list[tuple[int, str, str]]  #: (thread, name, key)
    flow_ids: list[str]  #: ids that don't fit 63 bits: -2 - index in the column
    columns: dict[str, NDArray[Any]]  #: by "table.column" of `events`
    metadata: list[Metadata]
    skipped: int
    unknown_phases: dict[str, int]
    without_duration: int  #: slices whose `dur` is no length of time; it counts as 0


class PartReader:
    """Collects the events of one part."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.events = 0
        self.scanned = 0
        self._strings = numbers()
        self._shapes = numbers()  # (pid, tid, name, category): what events have in common
        self._samples = numbers()  # (pid, tid, name, *keys of the args): the same of counter events
        self._flow_ids = FlowIds()
        self._kept: defaultdict[str, list[Any]] = defaultdict(list)  # by column, an array of each block
        self._block: dict[str, Any] = {}  # the columns of the block that is being read
        self._is_exact = True  # no float is left that stands for digits it does not hold
        self._metadata: list[Metadata] = []
        self._skipped = 0
        self._unknown: dict[str, int] = {}
        self._without_duration = 0
        self._not_taken = 0  # events, the last ones, whose columns the scanner has
        self._scanner: BlockScanner | None = None
        if COMPILED:
            self._scanner = BlockScanner(self._shapes, self._samples, self._strings, self._flow_ids)

    def scan(self, text: bytes, length: int) -> int:
        """Take the events in `text[:length]` without decoding them; return how many, 0 if that can't be."""
        count = self._scanner.scan(text, length) if self._scanner is not None else 0
        self.events += count
        self.scanned += count
        self._not_taken += count
        return count

    def add(self, elements: list[Any], first: int, text: Callable[[], bytes]) -> None:
        """Take the decoded `elements` of one block.

        `first`: ordinal of the first one; `text`: gives their JSON, which is rarely needed. Float timestamps
        and ids in `elements` are replaced by their text.
        """
        self._take_scanned()
        self.events += len(elements)
        ordinals = np.arange(first, first + len(elements))
        try:
            try:
                self._add(elements, ordinals, is_exact=False)
            except _Inexact:
                restore_literals(elements, text())
                self._add(elements, ordinals)
        except _UNEXPECTED:
            restore_literals(elements, text())
            events, places, other_count = normalise_events(elements, first)
            self._skipped += other_count
            self._add(events, np.array(places, np.int64))

    def _add(self, elements: list[Any], ordinals: Int64s, is_exact: bool = True) -> None:
        """Add a block, as a whole or not at all. Raises _Inexact for floats where it is not `is_exact`."""
        self._is_exact = is_exact
        kinds = kinds_of([element[_PH] for element in elements])
        metadata: list[Metadata] = []
        unknown: list[str] = []
        if METADATA in kinds or UNKNOWN in kinds:
            metadata = [_metadata(event) for event in compress(elements, kinds.translate(OF_METADATA))]
            unknown = [event[_PH] for event in compress(elements, kinds.translate(OF_UNKNOWN))]
            in_tables = kinds.translate(OF_TABLES)
            elements = list(compress(elements, in_tables))
            ordinals = ordinals[np.frombuffer(in_tables, np.bool_)]
            kinds = kinds.translate(None, bytes((METADATA, UNKNOWN)))
        self._block = {}
        times = self._times(elements)
        for table, of_table in TABLES.items():
            is_in_table = kinds.translate(of_table)
            if 1 in is_in_table:
                rows = np.frombuffer(is_in_table, np.bool_)
                self._block[table + ".time"] = times[rows]
                if table == "flow":
                    self._block["flow.phase"] = np.frombuffer(kinds, np.int8)[rows] - START
                elif table != "counter":
                    self._block[table + ".event"] = ordinals[rows]
                self._take(table, list(compress(elements, is_in_table)))
        # Nothing below can fail: a block is kept as a whole or, by an exception above, not at all.
        self._keep(self._block)
        self._metadata += metadata
        for phase in unknown:
            self._unknown[phase] = self._unknown.get(phase, 0) + 1
        self._skipped += len(unknown)

    def _take_scanned(self) -> None:
        """Keep what was scanned since the last time, before anything after it."""
        if self._scanner is not None and self._not_taken:
            self._keep(self._scanner.take(self.events - self._not_taken))
            self._not_taken = 0

    def _keep(self, block: dict[str, Any]) -> None:
        for name, values in block.items():
            self._kept[name].append(values)

    def _take(self, table: str, events: list[Any]) -> None:
        shapes = self._shapes
        if table == "counter":
            self._counters(events)
            return
        all_args = [event.get(_ARGS, _NO_ARGS) for event in events] if table in _WITH_ARGS else []
        # Most blocks have few of these keys: 6 ms per 100 MB to list them, 9 ms to look for one in vain.
        keys = set().union(*all_args)
        if "fullname" in keys or "event_type" in keys:
            names = [name_in_scope(event[_NAME], args) for event, args in zip(events, all_args)]
            categories = [category_of(event.get(_CAT), args) for event, args in zip(events, all_args)]
            shape = [
                shapes[event[_PID], event[_TID], name, category]
                for event, name, category in zip(events, names, categories)
            ]
        elif "name" in _OF_SHAPE[table]:
            shape = [shapes[event[_PID], event[_TID], event[_NAME], event.get(_CAT)] for event in events]
        else:
            shape = [shapes[event[_PID], event[_TID], "", event.get(_CAT)] for event in events]
        self._block[table + ".shape"] = pack_numbers("i", shape)
        if table == "flow":
            self._flows(events)
        elif table == "slice":
            self._block["slice.dur"] = durations([event.get(_DUR, 0) for event in events])
            self._args(table, all_args, keys)
        elif table == "begin":
            self._block["begin.dur"] = np.zeros(len(events), np.int64)
            self._args(table, all_args, keys)
        elif table == "instant":
            self._memory([event.get(_ARGS) for event in events])

    def _times(self, events: list[Any]) -> Int64s:
        values = [event[_TS] for event in events]
        try:
            return text_times(values)
        except TypeError:
            return times(self._exact(values))

    def _exact(self, values: list[Any]) -> list[Any]:
        if not self._is_exact and float in set(map(type, values)):
            raise _Inexact
        return values

    def _interned(self, values: list[Any]) -> NDArray[Any]:
        strings = self._strings
        return pack_numbers("i", [strings[value] for value in values])

    def _args(self, table: str, all_args: list[dict[str, Any]], keys: set[str]) -> None:
        block = self._block
        block[table + ".correlation"] = correlations(all_args, keys)
        absent = np.full(len(all_args), self._strings[None], np.int32)
        for column, key in (("task_type", "Task Type"), ("stack", "Call stack")):
            texts = self._interned([args.get(key) for args in all_args]) if key in keys else absent
            block[f"{table}.{column}"] = texts
        if "type" in keys:
            block[table + ".task_type"] = self._interned([_task_type(args) for args in all_args])
        if "memcpy direction" in keys or "operation" in keys:
            directions = [args.get("memcpy direction") for args in all_args]
            if "operation" in keys:
                directions = [
                    args.get("operation") if direction is None else direction
                    for direction, args in zip(directions, all_args)
                ]
            block[table + ".direction"] = self._interned(directions)
        else:
            block[table + ".direction"] = absent
        for column, key in (("python_id", "Python id"), ("python_parent", "Python parent id")):
            if key in keys:
                block[f"{table}.{column}"] = python_ids([args.get(key, -1) for args in all_args])
            else:
                block[f"{table}.{column}"] = np.full(len(all_args), -1, np.int32)
        if table == "slice" and not _HCCL_SIGNS.isdisjoint(keys):
            self._hccl(all_args)
        if table == "slice" and "Task Type" in keys and "Task Id" in keys:
            self._numbered(all_args)

    def _numbered(self, all_args: list[dict[str, Any]]) -> None:
        """Add rows for the numbers of tasks on their streams, that of the batch in the upper 32 bits."""
        block = self._block
        rows, task_numbers = [], []
        for row, args in enumerate(all_args):
            task = whole_below(args.get("Task Id"), _TASK_END) if "Task Type" in args else -1
            if task >= 0 and whole_below(args.get("Model Id"), _INT64_END) < 0:
                rows.append(row)
                task_numbers.append(task + (max(whole_below(args.get("Batch Id"), _BATCH_END), 0) << 32))
        if rows:
            block["numbered.event"] = block["slice.event"][rows]
            block["numbered.task"] = np.array(task_numbers, np.int64)

    def _hccl(self, all_args: list[dict[str, Any]]) -> None:
        """Add rows for what HCCL and c10d say of collectives and their parts, where events have such args."""
        block = self._block
        rows = [
            row
            for row, args in enumerate(all_args)
            if not _HCCL_SIGNS.isdisjoint(args) and "Task Type" not in args
        ]
        if not rows:
            return
        collective_args = [all_args[row] for row in rows]
        block["hccl.event"] = block["slice.event"][rows]
        for column, *keys in _HCCL_NUMBERS:
            limit = 1 << (63 if column in ("size", "count") else 31)
            numbers = [whole_below(args.get(keys[_COLLECTIVE in args]), limit) for args in collective_args]
            block["hccl." + column] = np.array(numbers, np.int64)
        for column, *keys in _HCCL_TEXTS:
            texts = [args.get(keys[_COLLECTIVE in args]) for args in collective_args]
            block["hccl." + column] = self._interned(texts)

    def _memory(self, all_args: list[Any]) -> None:
        """Add rows for what an allocator says of its blocks, where events have such args."""
        block = self._block
        rows = [
            row
            for row, args in enumerate(all_args)
            if isinstance(args, dict) and "Bytes" in args and "Addr" in args
        ]
        if not rows:
            return
        block_args = [all_args[row] for row in rows]
        block["memory.event"] = block["instant.event"][rows]
        for column, key in _MEMORY_NUMBERS:
            numbers = [whole_below(args.get(key), _INT64_END) for args in block_args]
            block["memory." + column] = np.array(numbers, np.int64)
        devices = [int32_of(args.get("Device Id")) for args in block_args]
        block["memory.device"] = np.array(devices, np.int64)
        block["memory.size"] = np.array(
            [signed_below(args["Bytes"], _SIZE_END) for args in block_args], np.int64
        )

    def _flows(self, events: list[Any]) -> None:
        ids, number = self._exact([event[_ID] for event in events]), self._flow_ids
        self._block["flow.id"] = pack_numbers(
            "q", [id_ if type(id_) is int and 0 <= id_ < _INT64_END else number[id_] for id_ in ids]
        )

    def _counters(self, events: list[Any]) -> None:
        number = self._samples.__getitem__
        self._block["counter.sample"] = pack_numbers(
            "i", [number((event[_PID], event[_TID], event[_NAME], *event[_ARGS])) for event in events]
        )
        values = list(chain.from_iterable([event[_ARGS].values() for event in events]))
        self._block["counter.value"] = floats(values)

    def finish(self) -> ExtractedPart:
        """Return the columns of all that was added; the reader is empty afterwards."""
        self._take_scanned()
        columns: dict[str, NDArray[Any]] = {}
        threads = numbers()
        shapes = self._finish_shapes(threads)
        series: list[tuple[int, str, str]] = []
        for table in TABLES:
            prefix = table + "."
            table_columns = {
                name[len(prefix) :]: self._pop_array(name)
                for name in [*self._kept]
                if name.startswith(prefix)
            }
            if not table_columns:
                continue
            is_valid = table_columns["time"] != UNREADABLE
            self._skipped += len(is_valid) - int(np.count_nonzero(is_valid))
            if table == "counter":
                table_columns, series = self._finish_counters(table_columns, is_valid, threads)
            else:
                shape = table_columns.pop("shape")
                table_columns.update(
                    {name: shapes[name].take(shape, mode="wrap") for name in _OF_SHAPE[table]}
                )
                if not is_valid.all():
                    table_columns = {name: values[is_valid] for name, values in table_columns.items()}
            if table == "slice" and table_columns["dur"].min(initial=0) < 0:
                self._without_duration += int(np.count_nonzero(table_columns["dur"] < 0))
                table_columns["dur"] = np.maximum(table_columns["dur"], 0)
            columns.update({prefix + name: values for name, values in table_columns.items()})
        # What no event of a table has by itself: the tables "hccl", "numbered" and "memory".
        columns.update({name: self._pop_array(name) for name in [*self._kept]})
        part = ExtractedPart(
            self.events,
            self.scanned,
            [None if text is None else text_of(text) for text in self._strings],
            [(text_of(pid), text_of(tid)) for pid, tid in threads],
            series,
            list(self._flow_ids.big),
            columns,
            self._metadata,
            self._skipped,
            self._unknown,
            self._without_duration,
        )
        self._reset()
        return part

    def _pop_array(self, name: str) -> NDArray[Any]:
        values = self._kept.pop(name)
        return values[0] if len(values) == 1 else np.concatenate(values)

    def _finish_shapes(self, threads: dict[Any, int]) -> dict[str, Int32s]:
        """Return thread, name and category of each shape; number the threads."""
        strings, shapes = self._strings, self._shapes
        return {
            "thread": np.array([threads[pid, tid] for pid, tid, _, _ in shapes], np.int32),
            "name": np.array([strings[name] for _, _, name, _ in shapes], np.int32),
            "category": np.array([strings[category] for _, _, _, category in shapes], np.int32),
        }

    def _finish_counters(
        self, table_columns: dict[str, NDArray[Any]], is_valid: Bools, threads: dict[Any, int]
    ) -> tuple[dict[str, NDArray[Any]], list[tuple[int, str, str]]]:
        """Return the columns of the counters, one row per series of each `is_valid` event, and the series."""
        series: defaultdict[tuple[int, str, str], int] = numbers()
        flat: list[int] = []  # of each key of each of `_samples` its series; -1: an id, which is no series
        first: list[int] = []  # where those of a sample begin
        for pid, tid, name, *keys in self._samples:
            thread = threads[pid, tid]
            first.append(len(flat))
            flat += [-1 if key in _NOT_A_SERIES else series[thread, text_of(name), key] for key in keys]
        time, sample, value = (
            table_columns["time"],
            table_columns["sample"],
            table_columns.get("value", np.empty(0)),
        )
        begins = np.array(first, np.int64)
        lengths = np.diff(np.append(begins, len(flat)))
        event = np.arange(len(sample))
        place = begins.take(sample)
        if (lengths != 1).any():
            lengths = lengths.take(sample)
            event = np.repeat(event, lengths)
            place = np.repeat(place - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(event))
        row_series = np.array(flat, np.int32)[place]
        kept = np.flatnonzero((row_series >= 0) & np.isfinite(value))
        event = event.take(kept)
        if not is_valid.all():
            valid = is_valid[event]
            kept, event = kept[valid], event[valid]
        columns = {"time": time.take(event), "series": row_series.take(kept), "value": value.take(kept)}
        return columns, list(series)


def _metadata(event: dict[str, Any]) -> Metadata:
    args = event.get(_ARGS, _NO_ARGS)
    value = args.get("name", args.get("labels", args.get("sort_index")))
    return Metadata(text_of(event[_NAME]), text_of(event.get(_PID)), text_of(event.get(_TID)), text_of(value))


def pack_numbers(code: str, values: list[Any]) -> NDArray[Any]:
    """Return numbers as an array of the type with this code in `struct`; raises struct.error for others.

    Twice as fast as numpy and `array` make one of a list, which is 3 % of all the reading.
    """
    return np.frombuffer(struct.pack(f"{len(values)}{code}", *values), code)


def floats(values: list[Any]) -> Floats:
    """Return numbers, or texts of such, as float64; NaN for anything else."""
    try:
        return pack_numbers("d", values)
    except struct.error:
        numbers = map(number_of, values)
        return np.array([np.nan if number is None else number for number in numbers], np.float64)


def correlations(all_args: list[Any], keys: set[str]) -> Int64s:
    """Return the id that links each event to its launch, int64, -1 for none; `keys`: of any of the args."""
    links = [key for key in CORRELATION_KEYS if key in keys]
    if not links:
        return np.full(len(all_args), -1, np.int64)
    if len(links) == 1:
        numbers = _pack_whole("q", [args.get(links[0], -1) for args in all_args])
        if numbers is not None and numbers.max() < 0xFFFFFFFF:
            return numbers
    return np.array([correlation_of(args) for args in all_args], np.int64)


def _task_type(args: dict[str, Any]) -> Any:
    """Return `Task Type`, or the `type` of a kernel of torch_npu's plugin of Kineto, "KERNEL_AICPU"."""
    kernel_type = args.get("type")
    if "Task Type" in args or not isinstance(kernel_type, str) or not _KERNEL_TYPE.match(kernel_type):
        return args.get("Task Type")
    return kernel_type


def python_ids(values: list[Any]) -> Int32s:
    """Return numbers of 31 bits as int32, -1 for anything else."""
    numbers = _pack_whole("i", values)
    return np.array([int32_of(value) for value in values], np.int32) if numbers is None else numbers


def _pack_whole(code: str, values: list[Any]) -> NDArray[Any] | None:
    """Return integers from -1 on, None where there is anything else."""
    try:
        numbers = pack_numbers(code, values)
    except struct.error:
        return None
    return numbers if numbers.min() >= -1 else None
