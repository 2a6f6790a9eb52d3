"""When each device task was enqueued, dequeued and launched: what splits the idle time before it.

Knows chains; nothing of idle intervals or causes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import pick
from tracetui.arrays import Int64s


class Milestones(NamedTuple):
    """Columns of the length of `LaunchChains.tasks`, ns, -1 where nothing is known of the task's chain."""

    enqueued: Int64s  #: start of its enqueue; without a queue, of its launch
    dequeued: Int64s  #: start of its dequeue; without a queue, of its launch
    launched: Int64s  #: end of its launch; without one, of its dequeue


def milestones(chains: LaunchChains) -> Milestones:
    """Return the milestones of all tasks.

    Where neither launch nor dequeue is in the trace, all three are the time of its launch arrow; where that
    is missing too, the end of the operator from which the producer's own arrow leads to the task.
    """
    start, end = chains.trace.slices.start, chains.trace.slices.end
    point = np.where(chains.launch_time >= 0, chains.launch_time, pick(end, chains.operator))
    launch, dequeue = pick(start, chains.launch), pick(start, chains.dequeue)
    dequeued = _first_known(dequeue, launch, point)
    return Milestones(
        enqueued=_first_known(chains.enqueue_time, dequeued),
        dequeued=dequeued,
        launched=_first_known(pick(end, chains.launch), pick(end, chains.dequeue), point),
    )


def _first_known(*columns: Int64s) -> Int64s:
    times = columns[0]
    for column in columns[1:]:
        times = np.where(times >= 0, times, column)
    return times
