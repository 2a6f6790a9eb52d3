"""Events whose times are beyond reason: damage that reads as a number.

One flipped bit in a timestamp makes a trace of a hundred years in which nothing can be seen, and sums of such
times are too large for 64 bits. What is left out is damage for sure: clocks that count from the boot and
clocks that count from 1970 are decades apart in one file, and both are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.reader.timestamps import LIMIT
from tracetui.units import YEAR

MOST_ALONE = 3  #: events, at most, that lie alone because their times are damaged
MORE = 4  #: so many times more events have to lie elsewhere

EventTimes = tuple[
    Int64s, Optional[Int64s]
]  #: starts and durations of the events of a table, ns; None: they take none


def within_reason(spans: Sequence[EventTimes]) -> list[Bools] | None:
    """Return which events of each table have times within reason; None where all have.

    An event has not where

    - it takes longer than a year,
    - it lies more than a year from all others but a few: together they are at most `MOST_ALONE`, and
      elsewhere within a year of each other there are at least `MORE` times as many,
    - it is not of the largest such group, and all of them together reach further than 146 years,
    - it is one of the longest, and all durations together are more than 146 years.
    """
    if _is_within_year(spans):
        return None
    masks = [np.ones(len(start), np.bool_) if dur is None else dur <= YEAR for start, dur in spans]
    times = np.sort(np.concatenate([start[mask] for (start, _), mask in zip(spans, masks)]))
    if len(times):
        first = np.flatnonzero(np.diff(times, prepend=times[0] - 2 * YEAR) > YEAR)  # of each group
        count = np.diff(np.append(first, len(times)))
        clusters = np.flatnonzero((count > MOST_ALONE) | (MORE * count > count.max()))
        last = first + count - 1
        if int(times[last[clusters[-1]]]) - int(times[first[clusters[0]]]) >= LIMIT:
            clusters = np.array([int(count.argmax())])
        for (start, _), mask in zip(spans, masks):
            mask &= np.isin(np.searchsorted(times[first], start, "right") - 1, clusters)
    durs = [None if dur is None else np.where(mask, dur, 0) for (_, dur), mask in zip(spans, masks)]
    for mask, dur in zip(masks, durs):
        if dur is not None and dur.sum(dtype=np.float64) >= LIMIT:
            order = np.argsort(dur, kind="stable")
            mask[order[np.cumsum(dur[order], dtype=np.float64) >= LIMIT]] = False
    return None if all(mask.all() for mask in masks) else masks


def _is_within_year(spans: Sequence[EventTimes]) -> bool:
    """Return whether all is within a year, told by the least and the most of the columns."""
    filled = [(start, dur) for start, dur in spans if len(start)]
    if not filled:
        return True
    first = min(int(start.min()) for start, _ in filled)
    last = max(int(start.max()) + (0 if dur is None else int(dur.max())) for start, dur in filled)
    total = sum(float(dur.sum(dtype=np.float64)) for _, dur in filled if dur is not None)
    return last - first <= YEAR and total < LIMIT
