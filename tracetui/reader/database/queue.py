"""The two ends of the task queue, paired by their times where no table does.

One thread takes from the queue, first in, first out. So a row that takes belongs to the row that gave as many
places before as were in the queue when the window began. That number shows while the queue is empty, which it
is where the thread that takes has nothing to do. Where such times contradict each other, rows are missing,
and nothing is paired.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import EMPTY, Bools, Int64s

_IDLE_NS = 500_000  #: for which a thread that takes does not sleep while there is something to take
_LEAST_IDLE = 3  #: how often the queue must be seen empty


def queue_pairs(start: Int64s, end: Int64s, thread: Int64s, dequeues: Bools) -> tuple[Int64s, Int64s]:
    """Return the places of rows that gave, and of those that took the same; none where that is not sure.

    start, end : Int64s
        ns, of the rows of the queue, in any order.
    thread : Int64s
        Of each row, as a number.
    dequeues : Bools
        Which rows take; the others give.
    """
    gives, takes = (np.flatnonzero(chosen) for chosen in (~dequeues, dequeues))
    if not len(gives) or len(np.unique(thread[takes])) != 1:  # of several devices: whose is a row that gives
        return EMPTY, EMPTY
    gives, takes = (rows[np.argsort(start[rows], kind="stable")] for rows in (gives, takes))
    if (start[takes][1:] < end[takes][:-1]).any():
        return EMPTY, EMPTY
    # What was given less what was taken, as a row is taken: what is in the queue, less what was at first
    taken = np.arange(1, len(takes) + 1)
    least = int((np.searchsorted(start[gives], start[takes], "right") - taken).min())
    idle = np.flatnonzero(start[takes][1:] - end[takes][:-1] >= _IDLE_NS)
    when_idle = np.searchsorted(start[gives], end[takes][idle], "right") - taken[idle]
    if len(idle) < _LEAST_IDLE or (when_idle != least).any():
        return EMPTY, EMPTY  # rows are missing, or the queue was never empty
    # Before the first and after the last of these times, as many must have been given as were taken
    begin = 0 if least == 0 else int(idle[0]) + 1
    stop = len(takes) if len(gives) == len(takes) + least else int(idle[-1]) + 1
    taken_rows = np.arange(begin, stop)
    given_rows = taken_rows + least
    # Threads that give at the same time may have done so in another order than they began
    by_end = np.empty(len(gives), np.int64)
    by_end[np.argsort(end[gives], kind="stable")] = np.arange(len(gives))
    is_sure = by_end[given_rows] == given_rows
    return gives[given_rows[is_sure]], takes[taken_rows[is_sure]]
