"""Exposed communication: when a device communicates and does not compute, cut into waits and transfers.

The set is M \\ C of each device, and the pieces sum to it exactly, in every interval, gap and step. Where
operations overlap, the one that began last owns the time; of its time, what lies before the arrival of the
late rank is wait, the rest transfer. Each piece is charged to the operator that issued the operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.planes import PlaneOperations
from tracetui.analysis.communication.waits import OperationWaits
from tracetui.analysis.gaps import Gaps
from tracetui.analysis.idle.pieces import cut_at_edges, edges_of, last_begun, rank_causes, sum_by_step
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import pick, slice_of
from tracetui.analysis.steps import StepWindows
from tracetui.arrays import Bools, Columns, Int8s, Int32s, Int64s

_CAUSES = tuple(CommunicationCause)


@dataclass(frozen=True, eq=False)
class ExposedPieces(Columns):
    """The pieces of exposed communication as columns of equal length, by device, then start."""

    device: Int32s  #: index into the devices of the analysis
    start: Int64s  #: ns
    end: Int64s  #: ns
    cause: Int8s  #: CommunicationCause
    operation: Int64s  #: index into the operations: the one that owns the time
    gap: Int64s  #: index of the AICore gap that holds it
    step: Int32s  #: index of the step in whose row of the step table it counts, -1 in none
    operator: Int64s  #: row of the operator that issued the operation, -1 where not known
    stack: Int32s  #: string of the `Call stack` it is charged to, -1 where none
    frame: Int64s  #: row of the innermost python_function slice it is charged to, -1 where none
    backward: Bools  #: issued in the backward pass: the stack is that of the forward operator

    @property
    def ns(self) -> Int64s:
        """The length of each piece."""
        return self.end - self.start

    def window(self, start_ns: int, end_ns: int) -> ExposedPieces:
        """Return the pieces inside [start_ns, end_ns), cut to it."""
        pieces = self.at((self.start < end_ns) & (self.end > start_ns))
        start, end = np.maximum(pieces.start, start_ns), np.minimum(pieces.end, end_ns)
        return replace(pieces, start=start, end=end)

    def of_gap(self, gap: int) -> slice:
        """Return the places of the pieces in an AICore gap, by time."""
        return slice_of(self.gap, gap)

    def of_device(self, device: int) -> slice:
        """Return the places of the pieces of a device, by its index."""
        return slice_of(self.device, device)

    def by_cause(self, places: slice = slice(None)) -> dict[CommunicationCause, int]:
        """Sum the time of pieces (by default all) by cause, in ns; most first, without causes of 0."""
        total = np.zeros(len(_CAUSES), np.int64)
        np.add.at(total, self.cause[places], self.end[places] - self.start[places])
        return rank_causes(_CAUSES, total)

    def by_step(self, step: int) -> dict[CommunicationCause, int]:
        """Sum the time in a step (its index; -1: in none) by cause, ns; most first."""
        return rank_causes(_CAUSES, self._of_steps[step]) if step < len(self._of_steps) - 1 else {}

    @cached_property
    def _of_steps(self) -> Int64s:
        """int64[steps + 1, causes]: ns of each cause in each step, last in none."""
        return sum_by_step(self.step, self.cause, self.ns, len(_CAUSES))


def find_exposed(
    activities: Sequence[DeviceActivity],
    collectives: PlaneOperations,
    waits: OperationWaits,
    gaps: Gaps,
    windows: StepWindows,
    chains: LaunchChains,
) -> ExposedPieces:
    """Return the exposed communication of all devices; of each, the pieces sum to |M \\ C|."""
    parts = [np.empty((7, 0), np.int64)]
    for index, activity in enumerate(activities):
        (on_device,) = np.nonzero(collectives.device == index)
        operation, start, end, interval = _pieces_by_operation(
            on_device, collectives, activity.communication_not_overlapped
        )
        cause, start, end, place = _split_at_waits(operation, start, end, collectives, waits)
        interval = interval[place]
        intervals = activity.communication_not_overlapped.starts
        gaps_of_device = slice_of(gaps.device, index)
        gap = gaps_of_device.start + np.searchsorted(gaps.start[gaps_of_device], intervals, "right") - 1
        step = windows.step_of(activity.device, intervals)
        device = np.full(len(start), index)
        parts.append(np.stack([device, start, end, cause, operation[place], gap[interval], step[interval]]))
    device, start, end, cause, operation, gap, step = np.concatenate(parts, axis=1)
    task = chains.index(collectives.row[operation])
    return ExposedPieces(
        device=device.astype(np.int32),
        start=start,
        end=end,
        cause=cause.astype(np.int8),
        operation=operation,
        gap=gap,
        step=step.astype(np.int32),
        operator=pick(chains.operator, task),
        stack=chains.stack[task],
        frame=pick(chains.frame, task),
        backward=chains.backward[task],
    )


def _pieces_by_operation(
    rows: Int64s, collectives: PlaneOperations, exposed: Intervals
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Return operation, start, end and exposed interval of each piece of a device's exposed communication."""
    owned = last_begun(collectives.start[rows], collectives.end[rows])
    cuts = cut_at_edges(owned.start, owned.end, edges_of(exposed.starts, exposed.ends))
    interval = exposed.index_at(cuts.start)
    inside = interval >= 0
    operation = rows[owned.place[cuts.place[inside]]]
    return operation, cuts.start[inside], cuts.end[inside], interval[inside]


def _split_at_waits(
    operation: Int64s, start: Int64s, end: Int64s, collectives: PlaneOperations, waits: OperationWaits
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Cut pieces where the waits of their operations end; return cause, start, end and the whole piece."""
    arrived = np.clip(collectives.start[operation] + waits.wait_ns[operation], start, end)
    starts = np.stack((start, arrived), axis=1).reshape(-1)
    ends = np.stack((arrived, end), axis=1).reshape(-1)
    rest_cause = np.where(
        waits.has_handshake[operation], CommunicationCause.TRANSFER, CommunicationCause.UNSPLIT
    )
    cause = np.stack((np.full(len(rest_cause), CommunicationCause.WAIT), rest_cause), axis=1).reshape(-1)
    (not_empty,) = np.nonzero(starts < ends)
    return cause[not_empty], starts[not_empty], ends[not_empty], not_empty // 2
