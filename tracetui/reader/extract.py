"""Decoded events to the columns of one part of the file.

`PartReader` takes block after block of decoded elements and keeps as lists what the columns need: the objects
themselves are freed while they are still in the processor's cache. `finish` makes arrays. Strings, threads
and series are numbered within the part, so parts don't depend on one another.

The fast way assumes well-formed events; a block with any other goes through `normalised` first.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int64s
from tracetui.reader.events import Metadata
from tracetui.reader.literals import exactly
from tracetui.reader.normalise import (
    CORRELATION_KEYS,
    correlation_of,
    flow_id,
    int32_of,
    normalised,
    number_of,
    text_of,
)
from tracetui.reader.timestamps import UNREADABLE, durations, times

_SLICE, _COUNTER, _FLOW, _INSTANT, _METADATA, _BEGIN, _END, _UNKNOWN = range(8)
_FLOW_PHASES = {"s": 0, "t": 1, "f": 2}
_NOT_A_SERIES = frozenset(("acc_id", "PA Link ID", "PCIE ID"))
_NO_ARGS: dict[str, Any] = {}
_UNEXPECTED = (KeyError, TypeError, AttributeError, ValueError, OverflowError)


class _Inexact(Exception):  # noqa: N818 - no error: numbers of the block need their text
    pass


class _Kinds(dict[str, int]):
    def __missing__(self, phase: str) -> int:
        if type(phase) is not str:
            raise TypeError
        return _UNKNOWN


_KINDS = _Kinds(X=_SLICE, C=_COUNTER, s=_FLOW, t=_FLOW, f=_FLOW, i=_INSTANT, I=_INSTANT, M=_METADATA)
_KINDS.update(B=_BEGIN, E=_END)


@dataclass
class Part:
    """The columns of a part of the file, with the part's own numbers of strings, threads and series."""

    events: int  #: elements decoded
    strings: list[str | None]  #: None stands for no string
    threads: list[tuple[str, str]]
    series: list[tuple[int, str, str]]  #: (thread, name, key)
    flow_ids: list[str]  #: ids that don't fit 63 bits: -2 - index in the column
    columns: dict[str, NDArray[Any]]  #: by "table.column" of `events`
    metadata: list[Metadata]
    skipped: int
    unknown_phases: dict[str, int]


def _numbers() -> defaultdict[Any, int]:
    return defaultdict(count().__next__)


class PartReader:
    """Collects the events of one part."""

    def __init__(self) -> None:
        self.events = 0
        self._strings = _numbers()
        self._threads = _numbers()
        self._shapes = _numbers()  # (pid, tid, name, *keys of the args) of counter events
        self._flow_ids = _numbers()
        self._kept: defaultdict[str, Any] = defaultdict(list)
        self._block: dict[str, Any] = {}  # lists and arrays of the block that is being read
        self._final = True  # floats are taken as they are
        self._metadata: list[Metadata] = []
        self._skipped = 0
        self._unknown: dict[str, int] = {}

    def add(self, elements: list[Any], first: int, text: bytes) -> None:
        """Take the decoded `elements` of one block; `first`: ordinal of the first one, `text`: their JSON.

        Float timestamps and ids in `elements` are replaced by their text.
        """
        self.events += len(elements)
        ordinals = np.arange(first, first + len(elements))
        try:
            try:
                self._add(elements, ordinals, final=False)
            except _Inexact:
                exactly(elements, text)
                self._add(elements, ordinals)
        except _UNEXPECTED:
            exactly(elements, text)
            kept, places, others = normalised(elements, first)
            self._skipped += others
            self._add(kept, np.array(places, np.int64))

    def _add(self, elements: list[Any], ordinals: Int64s, final: bool = True) -> None:
        self._final = final
        kinds = bytes([_KINDS[event["ph"]] for event in elements])
        block = self._block = {}
        metadata: list[Metadata] = []
        unknown: list[str] = []
        for kind in set(kinds):
            rows = np.flatnonzero(np.frombuffer(kinds, np.uint8) == kind)
            events = [elements[row] for row in rows.tolist()]
            places = ordinals[rows]
            if kind == _SLICE:
                self._slices("slice", events, places)
            elif kind == _COUNTER:
                self._counters(events)
            elif kind == _FLOW:
                self._flows(events)
            elif kind == _INSTANT:
                self._points("instant", events, places)
                block["instant.name"] = self._interned([event["name"] for event in events])
            elif kind == _METADATA:
                metadata = [_metadata(event) for event in events]
            elif kind == _BEGIN:
                self._slices("begin", [{**event, "dur": 0} for event in events], places)
            elif kind == _END:
                self._points("end", events, places)
            else:
                unknown = [event["ph"] for event in events]
        # Nothing below can fail: a block is kept as a whole or, by an exception above, not at all.
        for name, values in block.items():
            self._kept[name] += [values]
        self._metadata += metadata
        for phase in unknown:
            self._unknown[phase] = self._unknown.get(phase, 0) + 1
        self._skipped += len(unknown)

    def _exact(self, values: list[Any]) -> list[Any]:
        if not self._final and float in set(map(type, values)):
            raise _Inexact
        return values

    def _interned(self, values: list[Any]) -> array[int]:
        strings = self._strings
        return array("i", [strings[value] for value in values])

    def _points(self, table: str, events: list[Any], places: Int64s) -> None:
        block, threads = self._block, self._threads
        block[table + ".ts"] = self._exact([event["ts"] for event in events])
        block[table + ".thread"] = array("i", [threads[event["pid"], event["tid"]] for event in events])
        block[table + ".event"] = places

    def _slices(self, table: str, events: list[Any], places: Int64s) -> None:
        block, strings = self._block, self._strings
        self._points(table, events, places)
        block[table + ".dur"] = [event.get("dur", 0) for event in events]
        block[table + ".name"] = self._interned([event["name"] for event in events])
        block[table + ".category"] = array("i", [strings[event.get("cat")] for event in events])
        all_args = [event.get("args", _NO_ARGS) for event in events]
        # Most blocks have few of these keys: 8 ms per 100 MB to list them, 10 ms to look for one in vain.
        keys = set().union(*all_args)
        nothing = array("i", [strings[None]]) * len(events)
        links = [key for key in CORRELATION_KEYS if key in keys]
        block[table + ".correlation"] = _correlations(all_args, links)
        for column, key in (("task_type", "Task Type"), ("stack", "Call stack")):
            if key in keys:
                block[f"{table}.{column}"] = array("i", [strings[args.get(key)] for args in all_args])
            else:
                block[f"{table}.{column}"] = nothing
        if "memcpy direction" in keys or "operation" in keys:
            directions = [args.get("memcpy direction", args.get("operation")) for args in all_args]
            block[table + ".direction"] = self._interned(directions)
        else:
            block[table + ".direction"] = nothing
        if "Python id" in keys:
            block[table + ".python_id"] = _python_ids([args.get("Python id", -1) for args in all_args])
        else:
            block[table + ".python_id"] = array("i", [-1]) * len(events)

    def _flows(self, events: list[Any]) -> None:
        block, threads, strings = self._block, self._threads, self._strings
        block["flow.ts"] = self._exact([event["ts"] for event in events])
        block["flow.thread"] = array("i", [threads[event["pid"], event["tid"]] for event in events])
        block["flow.category"] = array("i", [strings[event.get("cat")] for event in events])
        block["flow.phase"] = array("b", [_FLOW_PHASES[event["ph"]] for event in events])
        ids = self._exact([event["id"] for event in events])
        if set(map(type, ids)) != {int} or min(ids) < 0 or max(ids) >= 1 << 63:
            big = self._flow_ids
            ids = [id_ if type(id_) is int else -2 - big[id_] for id_ in map(flow_id, ids)]
        block["flow.id"] = array("q", ids)

    def _counters(self, events: list[Any]) -> None:
        block, number = self._block, self._shapes.__getitem__
        block["counter.ts"] = self._exact([event["ts"] for event in events])
        block["counter.shape"] = array(
            "i", [number((event["pid"], event["tid"], event["name"], *event["args"])) for event in events]
        )
        values = list(chain.from_iterable([event["args"].values() for event in events]))
        try:
            block["counter.value"] = array("d", values)
        except (TypeError, OverflowError):
            numbers = map(number_of, values)
            block["counter.value"] = array("d", [np.nan if number is None else number for number in numbers])

    def finish(self) -> Part:
        """The columns of all that was added; the reader is empty afterwards."""
        columns: dict[str, NDArray[Any]] = {}
        series = self._finish_counters(columns)
        for table in ("slice", "begin", "end", "flow", "instant"):
            time = times(self._list(table + ".ts"))
            usable = time != UNREADABLE
            self._skipped += len(time) - int(np.count_nonzero(usable))
            columns[table + ".time"] = time[usable]
            if table in ("slice", "begin"):
                columns[table + ".dur"] = durations(self._list(table + ".dur"))[usable]
            for name in [name for name in self._kept if name.startswith(table + ".")]:
                columns[name] = self._array(name)[usable]
        part = Part(
            self.events,
            [None if text is None else text_of(text) for text in self._strings],
            [(text_of(pid), text_of(tid)) for pid, tid in self._threads],
            series,
            list(self._flow_ids),
            columns,
            self._metadata,
            self._skipped,
            self._unknown,
        )
        self.__init__()  # type: ignore[misc]
        return part

    def _list(self, name: str) -> list[Any]:
        return list(chain.from_iterable(self._kept.pop(name, ())))

    def _array(self, name: str) -> NDArray[Any]:
        return np.concatenate([np.asarray(values) for values in self._kept.pop(name)])

    def _finish_counters(self, columns: dict[str, NDArray[Any]]) -> list[tuple[int, str, str]]:
        """Add the columns of the counters, one row per series of each event; return the series."""
        series: defaultdict[tuple[int, str, str], int] = _numbers()
        flat: list[int] = []  # the series of each key of each shape, -1 where it is an id and no series
        first: list[int] = []  # where those of a shape begin
        for pid, tid, name, *keys in self._shapes:
            thread = self._threads[pid, tid]
            first.append(len(flat))
            flat += [-1 if key in _NOT_A_SERIES else series[thread, text_of(name), key] for key in keys]
        if "counter.ts" not in self._kept:
            return []
        time = times(self._list("counter.ts"))
        self._skipped += int(np.count_nonzero(time == UNREADABLE))
        shape = self._array("counter.shape")
        value = self._array("counter.value")
        begins = np.array(first, np.int64)
        lengths = np.diff(np.append(begins, len(flat)))[shape]
        event = np.repeat(np.arange(len(shape)), lengths)
        within = np.arange(len(event)) - (np.cumsum(lengths) - lengths)[event]
        row_series = np.array(flat, np.int32)[begins[shape][event] + within]
        row_time = time[event]
        keep = (row_series >= 0) & (row_time != UNREADABLE) & np.isfinite(value)
        columns["counter.time"] = row_time[keep]
        columns["counter.series"] = row_series[keep]
        columns["counter.value"] = value[keep]
        return list(series)


def _metadata(event: dict[str, Any]) -> Metadata:
    args = event.get("args", _NO_ARGS)
    value = args.get("name", args.get("labels", args.get("sort_index")))
    return Metadata(
        text_of(event["name"]), text_of(event.get("pid")), text_of(event.get("tid")), text_of(value)
    )


def _correlations(all_args: list[Any], links: list[str]) -> array[int]:
    if not links:
        return array("q", [-1]) * len(all_args)
    if len(links) == 1:
        key = links[0]
        values = [args.get(key, -1) for args in all_args]
        if set(map(type, values)) == {int} and min(values) >= -1 and max(values) < 0xFFFFFFFF:
            return array("q", values)
    return array("q", map(correlation_of, all_args))


def _python_ids(values: list[Any]) -> array[int]:
    if set(map(type, values)) == {int} and min(values) >= -1 and max(values) < 1 << 31:
        return array("i", values)
    return array("i", map(int32_of, values))
