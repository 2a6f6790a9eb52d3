"""What kernel_details.csv knows of the tasks of a device: type, core, shapes, blocks, counters of the cores.

A row is joined to the slice of its name that starts with it: exactly, or 1 ns apart, as csv and JSON round
the times of collectives differently. A row or slice that fits several is joined to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tracetui.analysis.search import runs
from tracetui.arrays import Int64s
from tracetui.siblings.formats import KERNEL_DETAILS, OP_STATISTIC
from tracetui.siblings.tables import Table, read_beside
from tracetui.trace.model import Trace

_NEAR = (0, 1, -1)  #: ns between a row and its slice
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


@dataclass(frozen=True)
class KernelFacts:
    """What the table says of one task; texts are as written: never print them unescaped."""

    texts: dict[str, str]  #: by the keys of TEXTS, those that are told
    wait_ns: int | None  #: since the task before it ended
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


@dataclass(frozen=True, eq=False)
class Kernels:
    """The table and the slices that its rows are of."""

    table: Table
    row: Int64s  #: int64[rows of the table]: slice rows, -1 where none is

    def facts(self, slice_row: int) -> KernelFacts | None:
        """Return what is known of a slice; None where the table has no row for it."""
        place = self._of_slice.get(slice_row)
        if place is None:
            return None
        table = self.table
        texts = {key: table.text(key, place) for key in TEXTS}
        wait, blocks, mix_blocks = (
            int(table.numbers[key][place]) for key in ("wait", "blocks", "mix_blocks")
        )
        return KernelFacts(
            texts={key: text for key, text in texts.items() if text is not None},
            wait_ns=wait if wait >= 0 else None,
            blocks=blocks if blocks >= 0 else None,
            mix_blocks=mix_blocks if mix_blocks >= 0 else None,
            counters={
                title: float(values[place])
                for title, values in table.floats.items()
                if not np.isnan(values[place])
            },
        )

    def types(self, by_shape: bool = False) -> tuple[TypeTime, ...]:
        """Return the tasks by type and core, `by_shape` also by the shapes of the inputs; most time first.

        Tasks without a type, as at level 0, are left out.
        """
        table = self.table
        (type_, types), (core, cores), (shape, shapes) = (
            table.texts[key] for key in ("type", "core", "input_shapes")
        )
        key = type_.astype(np.int64) * (len(cores) + 1) + core + 1
        key = key * (len(shapes) + 1) + (shape + 1 if by_shape else 0)
        dur = table.numbers["dur"]
        places = np.flatnonzero((type_ >= 0) & (dur >= 0))
        found = []
        for _, within in runs(key[places]):
            own = places[within]
            one = int(own[0])
            found.append(
                TypeTime(
                    type=types[type_[one]],
                    core=cores[core[one]] if core[one] >= 0 else "",
                    shapes=table.text("input_shapes", one) if by_shape else None,
                    count=len(own),
                    total_ns=int(dur[own].sum()),
                    min_ns=int(dur[own].min()),
                    max_ns=int(dur[own].max()),
                )
            )
        return tuple(sorted(found, key=lambda row: (-row.total_ns, row.type, row.core, row.shapes or "")))

    @cached_property
    def _of_slice(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self.row.tolist()) if row >= 0}


def kernels_of(trace: Trace, tasks: Int64s) -> Kernels | None:
    """Return what the table beside a trace knows of some tasks (slice rows); None where there is none."""
    table = read_beside(Path(trace.path), KERNEL_DETAILS)
    if table is None:
        return None
    number = {text: place for place, text in enumerate(trace.strings)}
    place, texts = table.texts["name"]
    names = np.array([number.get(text, -1) for text in texts] or [-1], np.int64)[place]
    return Kernels(table, _joined(trace, tasks, names, table.numbers["start"]))


def differences(kernels: Kernels, trace: Trace) -> tuple[str, ...]:
    """Return a sentence where op_statistic.csv does not say the same as kernel_details.csv; () otherwise."""
    table = read_beside(Path(trace.path), OP_STATISTIC)
    if table is None or not table.rows:
        return ()
    told = {
        (table.text("type", row), table.text("core", row)): (count, total)
        for row, (count, total) in enumerate(
            zip(table.numbers["count"].tolist(), table.numbers["total"].tolist())
        )
    }
    own = {(each.type, each.core): (each.count, each.total_ns) for each in kernels.types()}
    # Each sum was rounded to ns once, its parts each by themselves.
    differing = [
        key
        for key, (count, total) in told.items()
        if key not in own or own[key][0] != count or abs(own[key][1] - total) > count
    ]
    if not differing:
        return ()
    return (f"op_statistic.csv and kernel_details.csv differ in {len(differing)} types of operators",)


def _joined(trace: Trace, tasks: Int64s, names: Int64s, starts: Int64s) -> Int64s:
    """The task of each (name, start), by both; -1 where none or several are."""
    row = np.full(len(names), -1, np.int64)
    for shift in _NEAR:
        left = np.flatnonzero((row < 0) & (names >= 0))
        free = tasks[~np.isin(tasks, row)]
        place, task = _equal(trace, free, names[left], starts[left] + shift)
        row[left[place]] = task
    return row


def _equal(trace: Trace, tasks: Int64s, names: Int64s, starts: Int64s) -> tuple[Int64s, Int64s]:
    """Places and tasks of equal name and start, of which there is one on each side."""
    time = np.concatenate((trace.slices.start[tasks], starts))
    name = np.concatenate((trace.slices.name[tasks].astype(np.int64), names))
    order = np.lexsort((name, time))
    opens = np.ones(len(order), np.bool_)
    opens[1:] = (time[order][1:] != time[order][:-1]) | (name[order][1:] != name[order][:-1])
    first = np.flatnonzero(opens)
    pairs = first[np.diff(np.append(first, len(order))) == 2]
    one, other = order[pairs], order[pairs + 1]
    kept = (one < len(tasks)) & (other >= len(tasks))
    return other[kept] - len(tasks), tasks[one[kept]]
