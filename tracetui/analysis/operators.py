"""Time per name: device tasks by activity, and host operators."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.arrays import Floats, Int8s, Int32s, Int64s
from tracetui.trace.model import Activity


@dataclass(frozen=True)
class OperatorRow:
    """All slices of one name and activity. Percentiles are durations that occur (nearest rank)."""

    name: str  #: as written in the trace: never print it unescaped
    kind: str  #: "device" or "host"
    activity: Activity  #: NONE on the host
    count: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    min_ns: int
    max_ns: int
    share: float  #: of the table's total, 0..1


@dataclass(frozen=True, eq=False)
class OperatorTable:
    """`OperatorRow`s as columns, largest total first."""

    strings: list[str]
    kind: str
    name: Int32s  #: string
    activity: Int8s
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
