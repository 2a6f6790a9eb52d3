"""Work that a device was given before the first step, and does while the first steps are launched already.

A host that runs ahead leaves a queue on the device: a recording that begins in the middle of a training shows
tasks whose launch it does not hold.
"""

from __future__ import annotations

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.launch_chains import NEVER, LaunchChains
from tracetui.analysis.search import track_of_rows
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace


def launched_before(trace: Trace, activity: DeviceActivity, chains: LaunchChains, begin_ns: int) -> Int64s:
    """Return the work of a device that was launched before a time: int64[n], rows by start.

    A stream runs its tasks in the order of their launches. So what it ran before the first task known to be
    launched at `begin_ns` or later was launched before that, with or without a launch in the trace. Tasks
    without one count only in the wake of such a stream: from the first work of the device on, until the last
    of those streams comes to what was launched later. What is merely unlinked is not taken for early.
    """
    work = activity.work
    start, launched = trace.slices.start[work], chains.enqueued(work)
    later = (launched != NEVER) & (launched >= begin_ns)
    if not later.any():
        return work[:0]
    track = track_of_rows(trace, work)
    turn = np.full(len(trace.tracks), NEVER)  # of each stream: the start of its first task launched later
    np.minimum.at(turn, track[later], start[later])
    earlier = start < turn[track]
    opens = np.full(len(trace.tracks), NEVER)
    np.minimum.at(opens, track, start)
    queued = earlier & ((opens < start[later].min()) & (turn != NEVER))[track]
    last_start = int(start[queued].max(initial=-1))
    return work[earlier & (start <= last_start)]
