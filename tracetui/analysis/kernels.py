"""What kernel_details.csv knows of the tasks of a device: type, core, shapes, blocks, counters of the cores.

A row is joined to the slice of its name that starts with it: exactly, or 1 ns apart, as csv and JSON round
the times of collectives differently. A row or slice that fits several is joined to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from tracetui.analysis.search import group_by, pick
from tracetui.arrays import Bools, Floats, Int64s, first_equal
from tracetui.siblings.formats import AICPU_TASKS, KERNEL_DETAILS, L2_CACHE
from tracetui.siblings.of_run import read_of_run
from tracetui.siblings.tables import SiblingTable
from tracetui.trace.model import Trace
from tracetui.trace.order import starts_run

_NEAR = (0, 1, -1)  #: ns between a row and its slice
#: Counters of which any above zero says that a kernel runs on the cube units.
_CUBE = ("mac_time(us)", "aic_mac_time(us)", "aicore_time(us)")
#: Keys of texts that a kernel may have, in the order in which they are shown.
TEXTS = (
    "type",
    "core",
    "state",
    "hf32",
    "input_shapes",
    "input_types",
    "input_formats",
    "output_shapes",
    "output_types",
    "output_formats",
)
#: Tables of single tasks: their numbers by key, and what those of a kernel are called.
_MORE = (
    (L2_CACHE, {"hit_rate": "l2_hit_rate", "victim_rate": "l2_victim_rate"}),
    (
        AICPU_TASKS,
        {
            "compute": "aicpu_compute_us",
            "copy": "aicpu_memcpy_us",
            "task_time": "aicpu_task_us",
            "dispatch": "aicpu_dispatch_us",
            "total": "aicpu_total_us",
        },
    ),
)


@dataclass(frozen=True)
class KernelFacts:
    """What the table says of one task; texts are as written: never print them unescaped."""

    texts: dict[str, str]  #: by the keys of TEXTS, those that are told
    wait_ns: int | None  #: since the one before it on its device ended
    blocks: int | None
    mix_blocks: int | None
    counters: dict[str, float]  #: by the titles of their columns: "aic_mac_ratio"


@dataclass(frozen=True)
class TypeTime:
    """The tasks of one type, as in op_statistic.csv."""

    type: str
    core: str
    shapes: str | None  #: of the inputs; None where the types are not told apart by them
    count: int
    total_ns: int
    min_ns: int
    max_ns: int

    @property
    def mean_ns(self) -> int:
        """Rounded down."""
        return self.total_ns // self.count


@dataclass(frozen=True, eq=False)
class Kernels:
    """The table and the slices that its rows are of."""

    table: SiblingTable
    row: Int64s  #: int64[rows of the table]: slice rows, -1 where none is

    def facts(self, slice_row: int) -> KernelFacts | None:
        """Return what is known of a slice; None where the table has no row for it."""
        place = self._of_slice.get(slice_row)
        if place is None:
            return None
        table = self.table
        numbers = (int(table.numbers[key][place]) for key in ("wait", "blocks", "mix_blocks"))
        wait, blocks, mix_blocks = (number if number >= 0 else None for number in numbers)
        return KernelFacts(
            texts={key: text for key in TEXTS if (text := table.text(key, place)) is not None},
            wait_ns=wait,
            blocks=blocks,
            mix_blocks=mix_blocks,
            counters={
                title: float(values[place])
                for title, values in table.floats.items()
                if not np.isnan(values[place])
            },
        )

    def types(self, by_shape: bool = False, selected: Bools | None = None) -> tuple[TypeTime, ...]:
        """Return the tasks by type and core, `by_shape` also by the shapes of the inputs; most time first.

        Tasks without a type, as at level 0, are left out, and with `selected`, bool[rows], those not in it.
        """
        table = self.table
        (type_, types), (core, cores), (shape, shapes) = (
            table.texts[key] for key in ("type", "core", "input_shapes")
        )
        key = type_.astype(np.int64) * (len(cores) + 1) + core + 1
        key = key * (len(shapes) + 1) + (shape + 1 if by_shape else 0)
        dur = table.numbers["dur"]
        places = np.flatnonzero((type_ >= 0) & (dur >= 0) & (True if selected is None else selected))
        times = []
        for _, group in group_by(key[places]):
            members = places[group]
            example = int(members[0])
            times.append(
                TypeTime(
                    type=types[type_[example]],
                    core=cores[core[example]] if core[example] >= 0 else "",
                    shapes=table.text("input_shapes", example) if by_shape else None,
                    count=len(members),
                    total_ns=int(dur[members].sum()),
                    min_ns=int(dur[members].min()),
                    max_ns=int(dur[members].max()),
                )
            )
        return tuple(sorted(times, key=lambda row: (-row.total_ns, row.type, row.core, row.shapes or "")))

    def typed(self, slice_rows: Int64s) -> Int64s:
        """Return the row of the table for each slice; -1 where it has none, or one without a type."""
        place = first_equal(self.row, slice_rows)
        return np.where(pick(self.table.texts["type"].place, place) >= 0, place, -1)

    @cached_property
    def on_cube(self) -> Bools:
        """bool[rows of the table]: whether any counter says that the task ran on the cube units."""
        is_on_cube = np.zeros(self.table.rows, np.bool_)
        for title in _CUBE:
            is_on_cube |= self.table.floats.get(title, np.zeros(1)) > 0
        return is_on_cube

    @cached_property
    def _of_slice(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.row.tolist()) if row >= 0}


def kernels_of(trace: Trace, tasks: Int64s) -> Kernels | None:
    """Return what the table beside a trace knows of tasks, given as slice rows; None without a table."""
    table = read_of_run(Path(trace.path), KERNEL_DETAILS)
    if table is None:
        return None
    number = {text: place for place, text in enumerate(trace.strings)}
    place, texts = table.texts["name"]
    names = np.array([number.get(text, -1) for text in texts] or [-1], np.int64)[place]
    extra_tables = _extra_tables(table, Path(trace.path))
    return Kernels(
        replace(
            table,
            floats={
                **table.floats,
                **{title: values for extra in extra_tables for title, values in extra[1].items()},
            },
            problems=(*table.problems, *(problem for extra in extra_tables for problem in extra[0].problems)),
        ),
        _tasks_of_kernels(trace, tasks, names, table.numbers["start"]),
    )


def _extra_tables(kernels: SiblingTable, trace: Path) -> list[tuple[SiblingTable, dict[str, Floats]]]:
    """Return the tables with more about single tasks, and their numbers for each kernel, NaN for none.

    Tasks are matched by their number, where both tables have it, and by their name.
    """
    tables = []
    for format_, titles in _MORE:
        table = read_of_run(trace, format_)
        if table is not None and table.rows:
            places = _rows_of_same_task(kernels, table)
            values = {
                title: np.where(places < 0, np.nan, np.append(table.floats[key], np.nan)[places])
                for key, title in titles.items()
            }
            tables.append((table, values))
    return tables


def _rows_of_same_task(kernels: SiblingTable, other: SiblingTable) -> Int64s:
    """Return the row of another table for the task of each kernel, -1 where it has none, or several."""
    numbered = [
        key for key in ("stream", "task") if all((t.numbers[key] >= 0).all() for t in (kernels, other))
    ]
    keys: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(_task_keys(other, numbered)):
        keys[key] = -1 if key in keys else row
    return np.array([keys.get(key, -1) for key in _task_keys(kernels, numbered)], np.int64)


def _task_keys(table: SiblingTable, numbered: Sequence[str]) -> Iterator[tuple[object, ...]]:
    names = (table.text("name", row) for row in range(table.rows))
    return zip(names, *(table.numbers[key].tolist() for key in numbered))


def _tasks_of_kernels(trace: Trace, tasks: Int64s, names: Int64s, starts: Int64s) -> Int64s:
    """Return the task of each (name, start), -1 where none or several have both."""
    row = np.full(len(names), -1, np.int64)
    for shift in _NEAR:
        unmatched = np.flatnonzero((row < 0) & (names >= 0))
        free = tasks[~np.isin(tasks, row)]
        place, task = _equal_pairs(trace, free, names[unmatched], starts[unmatched] + shift)
        row[unmatched[place]] = task
    return row


def _equal_pairs(trace: Trace, tasks: Int64s, names: Int64s, starts: Int64s) -> tuple[Int64s, Int64s]:
    """Return places and tasks of equal name and start, where each side has one of them."""
    time = np.concatenate((trace.slices.start[tasks], starts))
    name = np.concatenate((trace.slices.name[tasks].astype(np.int64), names))
    order = np.lexsort((name, time))
    first = np.flatnonzero(starts_run(time[order], name[order]))
    pairs = first[np.diff(np.append(first, len(order))) == 2]
    left, right = order[pairs], order[pairs + 1]
    is_pair = (left < len(tasks)) & (right >= len(tasks))
    return right[is_pair] - len(tasks), tasks[left[is_pair]]
