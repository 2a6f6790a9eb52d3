"""What the device does for the operator that allocates a block, and what just before and just after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import WORK
from tracetui.analysis.launch_chains import NEVER, LaunchChains
from tracetui.analysis.operator_types import ascend_task_type, gpu_kernel_type
from tracetui.analysis.search import among, group_by, track_of_rows
from tracetui.arrays import Int64s
from tracetui.trace.model import TraceKind


class Neighbours(NamedTuple):
    """Types of tasks of the device, in the order in which the host issued them; None where there is none."""

    task: str | None = None  #: the first one of the operator itself, or of one inside it
    before: str | None = None
    after: str | None = None


def neighbours_of(chains: LaunchChains, operators: Int64s, times: Int64s) -> tuple[Neighbours, ...]:
    """Return the neighbours of operators (rows, -1 for none) that allocate at these times.

    They are of the same thread of the host; of any thread where the operator is not known.
    """
    thread = track_of_rows(chains.trace, operators)
    neighbours = [Neighbours()] * len(operators)
    for track, places in group_by(thread):
        tasks, issued = _issued(chains, track)
        for place in places.tolist():
            neighbours[place] = _neighbours(chains, tasks, issued, int(operators[place]), int(times[place]))
    return tuple(neighbours)


def _issued(chains: LaunchChains, track: int) -> tuple[Int64s, Int64s]:
    """Return the work tasks that operators of a track (-1: of any) issued, and when, by that time."""
    work = among(chains.trace.slices.activity[chains.tasks], WORK)
    if track >= 0:
        work &= track_of_rows(chains.trace, chains.operator) == track
    tasks = chains.tasks[work]
    issued = chains.enqueued(tasks)
    order = np.argsort(issued, kind="stable")
    order = order[issued[order] < NEVER]
    return tasks[order], issued[order]


def _neighbours(chains: LaunchChains, tasks: Int64s, issued: Int64s, operator: int, time: int) -> Neighbours:
    slices = chains.trace.slices
    start, end = (time, time) if operator < 0 else (int(slices.start[operator]), int(slices.end[operator]))
    first, stop = np.searchsorted(issued, [start, max(end, time)], "left").tolist()
    candidates = [place for place in range(first, stop) if issued[place] >= time] or [*range(first, stop), -1]
    names = (
        _type(chains, int(tasks[place])) if 0 <= place < len(tasks) else None
        for place in (candidates[0], first - 1, stop)
    )
    return Neighbours(*names)


def _type(chains: LaunchChains, task: int) -> str:
    name = chains.trace.name(task)
    return gpu_kernel_type(name) if chains.trace.kind == TraceKind.GPU else ascend_task_type(name)
