"""Time per name: device tasks by activity, and host operators. Percentiles are durations that occur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.search import of_category, rows_of
from tracetui.arrays import Floats, Int8s, Int32s, Int64s
from tracetui.trace.model import Activity, Family, Layer, Trace


@dataclass(frozen=True)
class OperatorRow:
    """All slices of one name and activity."""

    name: str  #: as written in the trace: never print it unescaped
    kind: str  #: "device" or "host"
    activity: Activity  #: NONE on the host
    count: int
    total_ns: int
    mean_ns: int  #: rounded down
    p50_ns: int  #: nearest rank
    p95_ns: int
    min_ns: int
    max_ns: int
    share: float  #: of the table's total, 0..1


@dataclass(frozen=True, eq=False)
class OperatorTable:
    """`OperatorRow`s as columns, largest total first."""

    strings: list[str]
    name: Int32s  #: string
    activity: Int8s  #: Activity, NONE on the host
    count: Int64s
    total_ns: Int64s
    mean_ns: Int64s
    p50_ns: Int64s
    p95_ns: Int64s
    min_ns: Int64s
    max_ns: Int64s
    share: Floats
    longest: Int64s  #: the slice row of max_ns

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, index: int) -> OperatorRow:
        activity = Activity(int(self.activity[index]))
        return OperatorRow(
            name=self.strings[int(self.name[index])],
            kind="host" if activity == Activity.NONE else "device",
            activity=activity,
            count=int(self.count[index]),
            total_ns=int(self.total_ns[index]),
            mean_ns=int(self.mean_ns[index]),
            p50_ns=int(self.p50_ns[index]),
            p95_ns=int(self.p95_ns[index]),
            min_ns=int(self.min_ns[index]),
            max_ns=int(self.max_ns[index]),
            share=float(self.share[index]),
        )


def operator_table(trace: Trace, rows: Int64s, durations: Int64s | None = None) -> OperatorTable:
    """The table of some slice rows; `durations` (ns, one per row) stand for theirs where they are cut."""
    slices = trace.slices
    durations = slices.dur[rows] if durations is None else durations
    key = slices.name[rows].astype(np.int64) * len(Activity) + slices.activity[rows]
    order = np.lexsort((durations, key))
    rows, durations = rows[order], durations[order]
    keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
    total = np.add.reduceat(durations, first) if len(keys) else durations
    ranked = np.lexsort((keys, -total))
    keys, first, count, total = keys[ranked], first[ranked], count[ranked], total[ranked]
    last = first + count - 1
    return OperatorTable(
        strings=trace.strings,
        name=(keys // len(Activity)).astype(np.int32),
        activity=(keys % len(Activity)).astype(np.int8),
        count=count.astype(np.int64),
        total_ns=total,
        mean_ns=total // np.maximum(count, 1),
        p50_ns=durations[first + -(-count * 50 // 100) - 1],
        p95_ns=durations[first + -(-count * 95 // 100) - 1],
        min_ns=durations[first],
        max_ns=durations[last],
        share=total / max(int(total.sum()), 1),
        longest=rows[last],
    )


def host_operators(trace: Trace) -> Int64s:
    """Slice rows of the operators of all host threads; those of the task queue are not operators."""
    tracks = trace.tracks
    rows = rows_of(t for t in tracks if t.layer == Layer.PYTHON and t.family == Family.OPERATORS)
    return rows[~of_category(trace, trace.slices.category[rows], "enqueue", "dequeue")]
