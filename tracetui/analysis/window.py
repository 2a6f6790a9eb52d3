"""What happens inside one window of time: time per name, and the AICore gaps and idle time in it."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.analysis.operators import OperatorTable
from tracetui.arrays import Int64s


@dataclass(frozen=True, eq=False)
class WindowStatistics:
    """The slices of some tracks inside [start_ns, end_ns), cut to it, so that windows side by side add up."""

    start_ns: int
    end_ns: int
    rows: Int64s  #: slice rows that overlap the window
    names: OperatorTable  #: their time by name
    gaps: int  #: AICore gaps that overlap the window, of all devices
    gap_ns: int  #: their time inside it
    idle_ns: int  #: idle time inside it, of all devices
    longest_idle_ns: int  #: the longest idle interval, cut to the window
