"""Parts put together to the event table: one numbering of strings, threads, series and flow ids for all.

Knows nothing of the file or of JSON.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int64s
from tracetui.language import state
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
from tracetui.reader.extract import ExtractedPart
from tracetui.reader.normalise import whole_of
from tracetui.reader.numbering import numbers
from tracetui.reader.outliers import within_reason
from tracetui.reader.pairs import closing_times
from tracetui.reader.timestamps import LIMIT

_Table = dict[str, NDArray[Any]]
#: The member of a document that tells what is added to its times, in ns.
BASE = "baseTimeNanoseconds"
_EPOCH_FROM = 10**18  # ns: a clock with times from here on counts from 1970 already
_SLICE = ("time", *(field.name for field in fields(SliceColumns)[1:]))
_HCCL = tuple(field.name for field in fields(HcclColumns))
_NUMBERED = tuple(field.name for field in fields(NumberedColumns))
_MEMORY = tuple(field.name for field in fields(MemoryColumns))
_TEXTS = (
    *("category", "task_type", "direction", "stack"),
    *("transport", "link", "dtype", "algorithm", "collective", "process_group", "group_ranks"),
)
#: Columns of few different numbers, which mostly are low: texts of which a trace has few come early in it.
_SMALL = ("counter.series", *(f"{table}.{name}" for table in ("slice", "begin") for name in _TEXTS[:4]))
_DTYPES: dict[str, type[np.generic]] = {
    "time": np.int64,
    "dur": np.int64,
    "id": np.int64,
    "value": np.float64,
    "phase": np.int8,
}


class TableBuilder:
    """Collects parts in the order of the file, and builds the table of all of them."""

    def __init__(self) -> None:
        self.events = 0
        self.skipped = 0
        self.without_duration = 0
        self.unknown_phases: dict[str, int] = {}
        self._strings: defaultdict[str, int] = numbers()
        self._threads: defaultdict[tuple[str, str], int] = numbers()
        self._series: defaultdict[tuple[int, int, str], int] = numbers()
        self._flow_ids: defaultdict[str, int] = numbers()
        self._columns: dict[str, _Column] = {}
        self._metadata: list[Metadata] = []
        self._later = (0, 0)  # events and metadata of the parts that were taken first, and stand last

    def go_to_front(self) -> None:
        """Go on with the parts that stand in the file before all that were taken."""
        self._later = (self.events, len(self._metadata))
        for column in self._columns.values():
            column.go_to_front()

    def add(self, part: ExtractedPart) -> None:
        """Take the next part."""
        self.events += part.events
        self.skipped += part.skipped
        self.without_duration += part.without_duration
        for phase, number in part.unknown_phases.items():
            self.unknown_phases[phase] = self.unknown_phases.get(phase, 0) + number
        self._metadata += part.metadata
        threads = np.array([self._threads[thread] for thread in part.threads], np.int32)
        strings = np.array([-1 if text is None else self._strings[text] for text in part.strings], np.int32)
        empty = self._strings[""]
        names = np.where(strings < 0, empty, strings)  # a missing name counts as ""
        filled = np.where(strings == empty, -1, strings)  # a category or a call stack isn't empty
        series = np.array(
            [
                self._series[int(threads[thread]), self._strings[name], key]
                for thread, name, key in part.series
            ],
            np.int32,
        )
        flow_ids = np.array([-2 - self._flow_ids[text] for text in part.flow_ids], np.int64)
        tables = {"thread": threads, "name": names, "series": series}
        tables.update(dict.fromkeys(_TEXTS, filled))
        for name, values in part.columns.items():
            if name == "flow.id" and len(flow_ids):
                is_text = values < -1  # the number of a text in the part
                values = values.copy()
                values[is_text] = flow_ids[-2 - values[is_text]]
            self._column(name).extend(values, tables.get(name.split(".")[1]))

    def build(self, path: str, document: dict[str, Any], report: ReadReport, last: bool) -> EventTable:
        """Return the table of all parts so far; `last`: nothing follows, and all is in the order of the file.

        `baseTimeNanoseconds` of the `document` is added to times that don't count from 1970 themselves. Times
        that begin below 0 are moved so that they begin at 0, as -1 means no time in many columns. The columns
        of a table that is not the last one are views of those that grow, and can't be written to. Not to be
        called while a part is added.
        """
        slices = self._table("slice", _SLICE, last)
        begins = self._table("begin", _SLICE, last)
        ends = self._table("end", ("time", "thread", "event"), last)
        counters = self._table("counter", ("time", "series", "value"), last)
        flows = self._table("flow", ("time", "thread", "category", "phase", "id"), last)
        instants = self._table("instant", ("time", "thread", "name", "event"), last)
        left_out = _leave_out(slices, begins, ends, counters, flows, instants)
        slices, warnings = self._joined(slices, begins, ends)
        if left_out:
            warnings += (state("events with times beyond reason: {count}, skipped", count=f"{left_out:,}"),)
        tables = (slices, counters, flows, instants)
        base = _base(document)
        if any(len(table["time"]) and int(table["time"].max()) >= _EPOCH_FROM for table in tables):
            base = 0
        if base:
            for table in tables:
                table["time"] = table["time"] + base
        first = min((int(table["time"].min()) for table in tables if len(table["time"])), default=0)
        if first < 0:
            for table in tables:
                table["time"] = table["time"] - first
        return EventTable(
            path,
            list(self._strings),
            list(self._threads),
            list(self._series),
            SliceColumns(slices.pop("time"), **slices),
            HcclColumns(**self._table("hccl", _HCCL, last)),
            NumberedColumns(**self._table("numbered", _NUMBERED, last)),
            MemoryColumns(**self._table("memory", _MEMORY, last)),
            FlowColumns(**flows),
            CounterColumns(**counters),
            InstantColumns(**instants),
            self._metadata[self._later[1] :] + self._metadata[: self._later[1]],
            document,
            replace(report, skipped=report.skipped + left_out, warnings=report.warnings + warnings),
            base,
        )

    def _table(self, table: str, names: tuple[str, ...], last: bool) -> _Table:
        return {name: self._column(f"{table}.{name}").values(last) for name in names}

    def _column(self, name: str) -> _Column:
        if name not in self._columns:
            dtype = np.int16 if name in _SMALL else _DTYPES.get(name.split(".")[1], np.int32)
            self._columns[name] = _Column(dtype)
        return self._columns[name]

    def _joined(self, slices: _Table, begins: _Table, ends: _Table) -> tuple[_Table, tuple[str, ...]]:
        """Return the complete events and the pairs of B and E events joined to such, in file order."""
        if not len(begins["time"]) and not len(ends["time"]):
            return slices, ()
        latest = max(_latest(slices["time"], slices["dur"]), _latest(begins["time"]), _latest(ends["time"]))
        for table in (begins, ends):
            table["place"] = self._places(table["event"])
        closed, unclosed, unopened = closing_times(begins, ends, latest)
        begins["dur"] = closed - begins["time"]
        order = np.argsort(np.concatenate([self._places(slices["event"]), begins["place"]]), kind="stable")
        merged = {name: np.concatenate([slices.pop(name), begins.pop(name)])[order] for name in _SLICE}
        warnings = []
        if unclosed:
            template = "begin events without an end: {count}, drawn to the end of the trace"
            warnings.append(state(template, count=f"{unclosed:,}"))
        if unopened:
            warnings.append(state("end events without a begin: {count}, left out", count=f"{unopened:,}"))
        return merged, tuple(warnings)

    def _places(self, events: NDArray[Any]) -> NDArray[Any]:
        """Return the places of events in the order of the file."""
        later, _ = self._later
        return np.where(events < later, events + (self.events - later), events - later)


class _Column:
    """An array that grows in place, by moving pages and not what is in them.

    A list of the parts' arrays would have to be joined, and the heap keeps what is freed then: 150 MB of
    each GB of text, in the process for good. Room for all that may come, taken at once, would be huge pages
    of numpy, for which a kernel moves others out of the way: it takes twice the time.
    """

    def __init__(self, dtype: type[np.generic]) -> None:
        self._array = np.empty(0, dtype)
        self._length = 0
        self._later = 0  # so many values were taken first, and stand after all others

    def go_to_front(self) -> None:
        """Go on with the values that stand before all others."""
        self._later = self._length

    def extend(self, values: NDArray[Any], table: NDArray[Any] | None = None) -> None:
        """Add the values, or what they stand for in a `table`.

        Whole numbers have the narrow type of the column until there is one that does not fit.
        """
        if table is not None and table.dtype != self._array.dtype:
            values, table = table.take(values, mode="wrap"), None
        if table is None and not fits(values, self._array.dtype):
            self._array = self._array.astype(values.dtype)
        start, self._length = self._length, self._length + len(values)
        if self._length > len(self._array):
            self._grow(self._length * 9 // 8)
        added = self._array[start : self._length]
        if table is None:
            added[:] = values
        elif len(values):
            # Without the check for bounds, and without a copy on the way: a third of the time.
            np.take(table, values, out=added, mode="wrap")

    def values(self, last: bool) -> NDArray[Any]:
        """Return the values so far: a view, or the array itself where it is the `last` time that is asked."""
        if last:
            self._grow(self._length)
            values, self._array = self._array, np.empty(0, self._array.dtype)
            return np.concatenate([values[self._later :], values[: self._later]]) if self._later else values
        values = self._array[: self._length]
        values.flags.writeable = False
        return values

    def _grow(self, size: int) -> None:
        try:
            self._array.resize(size)
        except ValueError:  # somebody has a view of it, so it can't be moved
            values, self._array = self._array, np.empty(0, self._array.dtype)
            self._array.resize(size, refcheck=False)
            length = min(len(values), size)
            self._array[:length] = values[:length]


def fits(values: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether all values are in the range of a type."""
    if values.dtype.itemsize <= dtype.itemsize or not len(values):
        return True
    limits = np.iinfo(dtype)
    return bool(limits.min <= values.min() and values.max() <= limits.max)


def _leave_out(*tables: _Table) -> int:
    """Take the events whose times are beyond reason out of the tables; return how many there are."""
    masks = within_reason([(table["time"], table.get("dur")) for table in tables])
    if masks is None:
        return 0
    for table, mask in zip(tables, masks):
        if not mask.all():
            table.update({name: column[mask] for name, column in table.items()})
    return int(sum(np.count_nonzero(~mask) for mask in masks))


def _latest(times: Int64s, durs: Int64s | int = 0) -> int:
    """Return the last of these ends, ns; the earliest time there is for none."""
    return int((times + durs).max(initial=np.iinfo(np.int64).min))


def _base(document: dict[str, Any]) -> int:
    """Return `baseTimeNanoseconds`, 0 where there is none, or none that can be."""
    base = whole_of(document.get(BASE))
    return max(base, 0) if base < LIMIT else 0
