"""Slices, arrows and samples of all tables put together to the event table, with one numbering of texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import EMPTY, Bools, Floats, Int32s, Int64s
from tracetui.databases.tables import UNKNOWN
from tracetui.language import state
from tracetui.reader.database.growing import GrowingColumn, join
from tracetui.reader.database.table_reader import TableColumns, distinct_places
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
from tracetui.reader.numbering import numbers
from tracetui.reader.outliers import within_reason
from tracetui.reader.timestamps import LIMIT

NONE_ID = 0xFFFFFFFF  #: the number that stands for none
_SLICE = tuple(field.name for field in fields(SliceColumns) if not field.name.startswith("python_"))
_HCCL = tuple(field.name for field in fields(HcclColumns))
_INT32S = frozenset(
    (
        *("thread", "name", "category", "task_type", "direction", "stack"),
        *(name for name in _HCCL if name not in ("event", "size", "count")),
    )
)
_NARROW = frozenset(("event", "correlation"))
_Column = Union[NDArray[Any], int]


class TextNumbers:
    """All texts of a database and of what is made of them, by number; -1 stands for none."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = numbers()
        self._ids = EMPTY
        self._number_of_id = np.empty(0, np.int32)
        self._listed: list[str] = []

    def add(self, ids: Int64s, texts: list[str]) -> None:
        """Take the texts of STRING_IDS; where an id is repeated, its first text counts."""
        number_of = np.array([self._numbers[text] for text in texts], np.int32)
        order = np.argsort(ids, kind="stable")
        self._ids, self._number_of_id = ids[order], number_of[order]

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers[text]

    def all(self) -> list[str]:
        """Return all texts by their numbers; the list is not to be changed."""
        if len(self._listed) != len(self._numbers):
            self._listed = list(self._numbers)
        return self._listed

    def numbers_of(self, ids: Int64s) -> Int32s:
        """Return the number of the text of each id; -1 where there is none."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int32)
        place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[place] == ids, self._number_of_id[place], np.int32(-1))

    def names(self, ids: Int64s) -> Int32s:
        """Return the number of a name for each id: one without a text is called by its id."""
        numbers = self.numbers_of(ids)
        missing = np.flatnonzero(numbers < 0)
        distinct, place = distinct_places(ids[missing])
        texts = ["(no name)" if id_ == UNKNOWN else f"(name {id_} is missing)" for id_ in distinct.tolist()]
        numbers[missing] = np.array([self.number(text) for text in texts], np.int32)[place]
        return numbers

    def mapped(self, column: Int32s, convert: Callable[[str], str | None]) -> Int32s:
        """Return the number of what is made of each text; -1 of none, and where nothing is made of one."""
        texts = self.all()
        table = np.full(len(texts) + 1, -1, np.int32)
        for number in _used(column):
            text = convert(texts[number])
            if text is not None:
                table[number] = self.number(text)
        return table[column]

    def fit(self, column: Int32s, fits: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which rows of a column have a text that fits; none without a text does."""
        texts = self.all()
        table = np.zeros(len(texts) + 1, np.bool_)
        for number in _used(column):
            table[number] = fits(texts[number])
        return table[column]


def _used(column: Int32s) -> list[int]:
    """Return the numbers of texts that a column has, sorted; those of none apart."""
    used: list[int] = np.flatnonzero(np.bincount(column[column >= 0])).tolist()
    return used


class Assembly:
    """What of the tables is drawn, as far as they are read."""

    def __init__(self, expected: int) -> None:
        """Begin without anything; `expected` is about how many slices there will be."""
        self.texts = TextNumbers()
        self.left_out = 0  #: rows that are drawn, without usable times
        self.unplaced = 0  #: collectives of which nothing tells the device, where there are several
        self.incomplete_enums: set[str] = set()  #: tables that do not name all numbers that stand for texts
        self.metadata: list[Metadata] = []
        self._threads: defaultdict[tuple[str, str], int] = numbers()
        self._series: defaultdict[tuple[int, int, str], int] = numbers()
        self._slices = {name: GrowingColumn(_dtype(name), expected) for name in _SLICE}
        self._hccl: list[dict[str, NDArray[Any]]] = []
        self._numbered: list[tuple[Int64s, Int64s]] = []
        self._flows: list[tuple[Int64s, Int32s, int, int, Int64s]] = []
        self._counters: list[tuple[Int64s, Int32s, Floats]] = []
        self._named: set[tuple[str, str, str]] = set()

    def thread(self, pid: int, tid: int | str) -> int:
        """Return the number of a thread."""
        return self._threads[str(pid), str(tid)]

    def say(self, name: str, pid: int, value: str, tid: int | str = "") -> None:
        """Add what a metadata event says, once."""
        key = (name, str(pid), str(tid))
        if key not in self._named:
            self._named.add(key)
            self.metadata.append(Metadata(name, str(pid), str(tid), value))

    def process(self, pid: int, name: str, label: str, sort: int) -> None:
        """Name a process."""
        self.say("process_name", pid, name)
        self.say("process_labels", pid, label)
        self.say("process_sort_index", pid, str(sort))

    def add_slices(self, start: Int64s, end: Int64s, **columns: _Column) -> None:
        """Take slices; of the columns of SliceColumns those that are left out are none.

        Those without usable times are counted, and left out.
        """
        is_valid = (start > 0) & (end >= start) & (end < LIMIT)
        count = int(np.count_nonzero(is_valid))
        self.left_out += len(start) - count
        chosen = slice(None) if count == len(start) else is_valid
        self._slices["start"].add(start[chosen])
        self._slices["dur"].add(end[chosen] - start[chosen])
        for name in _SLICE[2:]:
            value = columns.get(name, -1)
            if isinstance(value, int):
                self._slices[name].repeat(value, count)
            else:
                self._slices[name].add(value[chosen])

    def add_rows(
        self, rows: TableColumns, chosen: Bools | Int64s | slice = slice(None), **columns: _Column
    ) -> None:
        """Take rows of a table as slices, of which it has the times and the ordinals."""
        given = {name: value if isinstance(value, int) else value[chosen] for name, value in columns.items()}
        start, end = rows["startNs"][chosen], rows["endNs"][chosen]
        self.add_slices(start, end, event=rows.event[chosen], **given)

    def add_hccl(self, **columns: NDArray[Any]) -> None:
        """Take what is told of tasks of planes or of collectives; what is left out is -1."""
        count = len(columns["event"])
        unknown = np.full(count, -1, np.int64)
        self._hccl.append(
            {
                name: columns.get(name, unknown).astype(np.int32 if name in _INT32S else np.int64)
                for name in _HCCL
            }
        )

    def add_numbers(self, event: Int64s, task: Int64s) -> None:
        """Take the numbers of tasks on their streams, and the ordinals of their events."""
        self._numbered.append((event, task))

    def add_flows(
        self,
        category: str,
        ids: Int64s,
        sources: tuple[Int64s, Int32s],
        targets: tuple[Int64s, Int32s],
        target_ids: Int64s | None = None,
    ) -> None:
        """Take arrows of a category: (time, thread) of their starts and of their ends, with equal ids."""
        number = self.texts.number(category)
        ends = ((0, sources, ids), (2, targets, ids if target_ids is None else target_ids))
        for phase, (time, thread), own_ids in ends:
            is_valid = has_time(time)
            self._flows.append((time[is_valid], thread[is_valid], number, phase, own_ids[is_valid]))

    def add_samples(self, thread: int, name: str, key: str, time: Int64s, value: Floats) -> None:
        """Take the samples of a series; those without a usable time are left out, and not counted."""
        is_valid = has_time(time)
        if is_valid.any():
            series = self._series[thread, self.texts.number(name), key]
            count = int(np.count_nonzero(is_valid))
            self._counters.append((time[is_valid], np.full(count, series, np.int32), value[is_valid]))

    def table(
        self, path: str, document: dict[str, Any], report: ReadReport, last: bool = False
    ) -> EventTable:
        """Return the event table of all that was taken; its columns belong to whoever asked for it.

        `last`: nothing is taken or asked for any more.
        """
        slices = {name: column.filled() if last else column.so_far() for name, column in self._slices.items()}
        hccl = {
            name: join([part[name] for part in self._hccl], np.int32 if name in _INT32S else np.int64)
            for name in _HCCL
        }
        time, thread, category, phase, ids = self._flow_columns()
        sample_time: Int64s = join([part[0] for part in self._counters], np.int64)
        series: Int32s = join([part[1] for part in self._counters], np.int32)
        value: Floats = join([part[2] for part in self._counters], np.float64)
        masks = within_reason([(slices["start"], slices["dur"]), (sample_time, None), (time, None)])
        if masks is not None:
            slices = {name: column[masks[0]] for name, column in slices.items()}
            samples = masks[1]
            sample_time, series, value = sample_time[samples], series[samples], value[samples]
            arrows = masks[2]
            time, thread, category = time[arrows], thread[arrows], category[arrows]
            phase, ids = phase[arrows], ids[arrows]
            lost = sum(int(np.count_nonzero(~mask)) for mask in masks)
            beyond = (state("rows with times beyond reason: {count}, skipped", count=f"{lost:,}"),)
            report = replace(report, skipped=report.skipped + lost, warnings=report.warnings + beyond)
        empty32 = np.empty(0, np.int32)
        count = len(slices["start"])
        return EventTable(
            path=path,
            strings=list(self.texts.all()),
            threads=list(self._threads),
            series=list(self._series),
            slices=SliceColumns(
                **slices,
                python_id=np.full(count, -1, np.int32),
                python_parent=np.full(count, -1, np.int32),
            ),
            hccl=HcclColumns(**hccl),
            numbered=NumberedColumns(
                join([part[0] for part in self._numbered], np.int64),
                join([part[1] for part in self._numbered], np.int64),
            ),
            memory=MemoryColumns(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, empty32),
            flows=FlowColumns(time, thread, category, phase, ids),
            counters=CounterColumns(sample_time, series, value),
            instants=InstantColumns(EMPTY, empty32, empty32, EMPTY),
            metadata=list(self.metadata),
            document=document,
            report=report,
        )

    def _flow_columns(self) -> tuple[Int64s, Int32s, Int32s, NDArray[np.int8], Int64s]:
        parts = self._flows
        sizes = [len(part[0]) for part in parts]
        return (
            join([part[0] for part in parts], np.int64),
            join([part[1] for part in parts], np.int32).astype(np.int32),
            np.repeat(np.array([part[2] for part in parts], np.int32), sizes),
            np.repeat(np.array([part[3] for part in parts], np.int8), sizes),
            join([part[4] for part in parts], np.int64),
        )


def has_time(time: Int64s) -> NDArray[np.bool_]:
    """Return which times are usable."""
    return (time > 0) & (time < LIMIT)


def _dtype(name: str) -> type[np.generic]:
    """Return the type that a column begins with: ids and ordinals are narrow until one is too large."""
    return np.int32 if name in _INT32S or name in _NARROW else np.int64
