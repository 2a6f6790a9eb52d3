"""What each device did: its tasks as sets of time, and the four numbers of the producer's Overlap Analysis.

Knows tasks and their activities; nothing of the host, of steps or of gaps.

A (AICore), C (compute, A with AI CPU and the like), M (communication: operations of groups, never their parts)
and X (copies) are unions over all streams of the device. The window W goes from the first start to the last
end of C and M.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tracetui.analysis.intervals import Intervals
from tracetui.arrays import Int64s


@dataclass(frozen=True, eq=False)
class DeviceActivity:
    """The activity of one device. All sums are exact."""

    device: str
    start_ns: int  #: of W; W is empty (start_ns == end_ns) where the device neither computes nor communicates
    end_ns: int
    tasks: Int64s  #: slice rows of all tasks of streams and groups, by start; waits and events included
    aicore: Intervals  #: A
    compute: Intervals  #: C
    communication: Intervals  #: M
    copies: Intervals  #: X; may reach out of W
    producer: (
        dict[str, int] | None
    )  #: ns of the trace's own Overlap Analysis rows by the names below; None without
    differs: bool  #: a producer's sum is further from ours than rounding (1 ns per interval) explains

    @property
    def window_ns(self) -> int:
        """|W|"""
        return self.end_ns - self.start_ns

    @property
    def computing_ns(self) -> int:
        """|C|"""
        return self.compute.total

    @property
    def communication_ns(self) -> int:
        """|M|"""
        return self.communication.total

    @cached_property
    def communication_not_overlapped(self) -> Intervals:
        """M \\ C"""
        return self.communication - self.compute

    @property
    def communication_not_overlapped_ns(self) -> int:
        """|M \\ C|"""
        return self.communication_not_overlapped.total

    @property
    def overlapped_ns(self) -> int:
        """|M ∩ C|"""
        return self.communication_ns - self.communication_not_overlapped_ns

    @cached_property
    def free(self) -> Intervals:
        """W \\ (C ∪ M)"""
        return (self.compute | self.communication).complement(self.start_ns, self.end_ns)

    @property
    def free_ns(self) -> int:
        """|W \\ (C ∪ M)|"""
        return self.free.total

    @property
    def aicore_ns(self) -> int:
        """|A|"""
        return self.aicore.total

    @cached_property
    def idle(self) -> Intervals:
        """W \\ (C ∪ M ∪ X): the device does nothing at all"""
        return self.free - self.copies

    @property
    def idle_ns(self) -> int:
        """|W \\ (C ∪ M ∪ X)|"""
        return self.idle.total
