"""Time per name, or per type: device tasks by activity, and host operators.

An operator of the host may hold others. Its total holds theirs, its own time (self) does not: the own times
of a thread add up to the time in which any ran. Percentiles are durations that occur.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.operator_types import OperatorTypes, operator_types
from tracetui.analysis.search import of_category, rows_of
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Bools, Floats, Int8s, Int32s, Int64s, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Layer, Trace, TraceKind
from tracetui.trace.order import order_by_group, starts_run
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class OperatorRow:
    """All slices of one name, or type, and activity."""

    name: str  #: as written in the trace, or a part of that: never print it unescaped
    kind: str  #: "device" or "host"
    activity: Activity  #: NONE on the host
    names: int  #: how many names it stands for
    count: int
    total_ns: int
    self_ns: int  #: without the operators inside; of tasks, which hold no others, all
    mean_ns: int  #: of the total, rounded down
    p50_ns: int  #: nearest rank
    p95_ns: int
    min_ns: int
    max_ns: int
    share: float  #: of the table's own time, 0..1: self_ns of all rows


@dataclass(frozen=True, eq=False)
class OperatorTable:
    """`OperatorRow`s as columns, most own time first."""

    strings: list[str]
    name: Int32s  #: place in `strings`
    activity: Int8s  #: Activity, NONE on the host
    names: Int64s  #: how many names each row stands for
    count: Int64s
    total_ns: Int64s
    self_ns: Int64s
    mean_ns: Int64s
    p50_ns: Int64s
    p95_ns: Int64s
    min_ns: Int64s
    max_ns: Int64s
    share: Floats
    longest: Int64s  #: the slice row of max_ns
    kind: TraceKind  #: of the trace

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, index: int) -> OperatorRow:
        activity = Activity(int(self.activity[index]))
        kind = "host" if activity == Activity.NONE else "device"
        numbers = [field.name for field in fields(OperatorRow)][3:]
        return OperatorRow(
            self.strings[int(self.name[index])],
            kind,
            activity,
            **{name: getattr(self, name)[index].item() for name in numbers},
        )


@dataclass(frozen=True, eq=False)
class OperatorSlices:
    """Slices to be summed up by name or type: tasks of devices, or operators of the host."""

    trace: Trace
    rows: Int64s
    durations: Int64s  #: ns of each, cut where they are
    self_ns: Int64s  #: ns of each, without the operators inside

    def at(self, selected: Bools) -> OperatorSlices:
        """Return those that are kept."""
        return OperatorSlices(
            self.trace, self.rows[selected], self.durations[selected], self.self_ns[selected]
        )

    @cached_property
    def types(self) -> OperatorTypes:
        """The types of their names."""
        names, on_host = self._names, self._on_host
        return operator_types(self.trace, names[~on_host], names[on_host])

    def by_name(self) -> OperatorTable:
        """Sum the slices by name and activity, a row each."""
        return self._table(self.trace.strings, self._names)

    def by_type(self) -> OperatorTable:
        """Sum the slices by type and activity, a row each."""
        return self._table(self.types.strings, self._type)

    def of_type(self, name: str, activity: Activity) -> OperatorSlices:
        """Return the slices of one type and activity."""
        matching: Bools = self._type == self.types.place(name)
        return self.at(matching & (self.trace.slices.activity[self.rows] == activity))

    def instances(self, table: OperatorTable, place: int) -> Int64s:
        """Return the slice rows that a row of one of the tables sums up, in order of time; int64[k]."""
        names = self._type if table.strings is self.types.strings else self._names
        matching = names == table.name[place]
        rows = self.rows[matching & (self.trace.slices.activity[self.rows] == table.activity[place])]
        in_time: Int64s = rows[np.argsort(self.trace.slices.start[rows], kind="stable")]
        return in_time

    def places_in(self, table: OperatorTable) -> Int64s:
        """Return the row of one of the tables that sums up each slice; int64[n]."""
        names = self._type if table.strings is self.types.strings else self._names
        kinds = len(Activity)
        keys = table.name.astype(np.int64) * kinds + table.activity
        order = np.argsort(keys)
        slice_keys = names.astype(np.int64) * kinds + self.trace.slices.activity[self.rows]
        return order[np.searchsorted(keys[order], slice_keys)]

    @cached_property
    def _names(self) -> Int32s:
        return self.trace.slices.name[self.rows]

    @cached_property
    def _on_host(self) -> Bools:
        on_host: Bools = self.trace.slices.activity[self.rows] == Activity.NONE
        return on_host

    @cached_property
    def _type(self) -> Int32s:
        return self.types.of(self._names, self._on_host)

    def _table(self, strings: list[str], name: Int32s) -> OperatorTable:
        """Return the table, given the name of each slice: a place in `strings`."""
        rows, durations, self_ns = self.rows, self.durations, self.self_ns
        key = name.astype(np.int64) * len(Activity) + self.trace.slices.activity[rows]
        order = np.lexsort((durations, key))
        rows, durations, self_ns = rows[order], durations[order], self_ns[order]
        keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
        total, self_ns = (np.add.reduceat(ns, first) if len(keys) else ns for ns in (durations, self_ns))
        name_keys = np.unique(key * len(self.trace.strings) + self._names) // len(self.trace.strings)
        # Numbers of names depend on the file: of equal ones the first in the alphabet comes first.
        alphabet = np.argsort(
            np.array([strings[number] for number in keys // len(Activity)], object), kind="stable"
        )
        letters = np.empty(len(keys), np.int64)
        letters[alphabet] = np.arange(len(keys))
        ranked = np.lexsort((letters, -total, -self_ns))
        keys, first, count, total, self_ns = (part[ranked] for part in (keys, first, count, total, self_ns))
        last = first + count - 1
        return OperatorTable(
            strings=strings,
            name=(keys // len(Activity)).astype(np.int32),
            activity=(keys % len(Activity)).astype(np.int8),
            names=np.searchsorted(name_keys, keys, "right") - np.searchsorted(name_keys, keys, "left"),
            count=count.astype(np.int64),
            total_ns=total,
            self_ns=self_ns,
            mean_ns=total // np.maximum(count, 1),
            p50_ns=durations[first + -(-count * 50 // 100) - 1],
            p95_ns=durations[first + -(-count * 95 // 100) - 1],
            min_ns=durations[first],
            max_ns=durations[last],
            share=self_ns / max(int(self_ns.sum()), 1),
            longest=rows[last],
            kind=self.trace.kind,
        )


def operator_table(trace: Trace, rows: Int64s, durations: Int64s | None = None) -> OperatorTable:
    """Return the table by name of slices whose time is all their own; `durations` (ns) where they are cut."""
    whole = trace.slices.dur[rows] if durations is None else durations
    return OperatorSlices(trace, rows, whole, whole).by_name()


def host_operators(trace: Trace) -> Int64s:
    """Slice rows of the operators of all host threads; those of the task queue are not operators."""
    tracks = trace.tracks
    rows = rows_of(t for t in tracks if t.layer == Layer.PYTHON and t.family == Family.OPERATORS)
    return rows[
        ~of_category(
            trace, trace.slices.category[rows], KNOWN.categories.enqueues | KNOWN.categories.dequeues
        )
    ]


def self_times(ancestors: Ancestors, rows: Int64s, starts: Int64s, ends: Int64s) -> Int64s:
    """Return the ns of each slice without those among the others that are nested in it.

    For slices that nest, as operators of one thread do, the sum is the time in which any runs.

    Args:
        ancestors: what slices are nested in.
        rows: int64[n], distinct rows; whatever else lies between them does not count.
        starts, ends: int64[n], ns, of each: cut to a window, or whole.
    """
    self_ns = ends - starts
    outer = first_equal(rows, _enclosing_rows(ancestors, rows))
    inner = np.flatnonzero(outer >= 0)
    if not len(inner):
        return self_ns
    inner = inner[order_by_group(outer[inner], starts[inner])]
    outer = outer[inner]
    first = np.flatnonzero(starts_run(outer))
    holders = outer[first]
    # One line of time for all holders, one after the other: what overlaps in one of them counts once.
    length = self_ns[holders]
    begins = np.repeat(np.cumsum(length) - length - starts[holders], np.diff(first, append=len(outer)))
    reached = np.maximum.accumulate(begins + ends[inner])
    previous = np.concatenate(([0], reached[:-1]))
    covered = reached - np.maximum(previous, begins + starts[inner])
    self_ns[holders] -= np.add.reduceat(covered, first)
    return self_ns


def _enclosing_rows(ancestors: Ancestors, rows: Int64s) -> Int64s:
    """Return the innermost of the rows that each is nested in, -1 where none."""
    is_member = np.zeros(int(rows.max(initial=-1)) + 1, np.bool_)
    is_member[rows] = True
    last = len(is_member) - 1

    def is_among(candidates: Int64s) -> Bools:
        return is_member[np.minimum(candidates, last)] & (candidates <= last)

    return ancestors.nearest(ancestors.parents_of(rows), is_among)


def main_lines(
    operators: OperatorSlices, table: OperatorTable, chains: LaunchChains, rules: FrameRules
) -> list[Frame | None]:
    """Return for each row of a table of device tasks the line that launched most of its time.

    None where the largest part of its time has no stack.

    Args:
        operators: the tasks that the table sums up.
        table: one of their tables.
        chains: the chains of all tasks to what launched them.
        rules: which frame of a stack is its line.
    """
    place = chains.index(operators.rows)
    lines, line = lines_of(operators.trace, chains.stack[place], chains.frame[place], rules)
    launched = most_of_each(operators.places_in(table), line, operators.self_ns, len(table))
    return [lines[number] if number >= 0 else None for number in launched.tolist()]
