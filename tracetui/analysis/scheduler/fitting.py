"""Find the offset of a recording's clock to that of a trace: a thread that begins or ends a slice has a core.

A correlation of bins counts, for every shift, the beginnings and ends of slices that fall into time off the
core. The best few shifts are then bounded exactly: each beginning or end lies in a stretch on the core, which
puts the offset between two bounds. The result is the middle of what most of them allow; half of the width is
the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.search import ranges
from tracetui.arrays import Floats, Int64s

BIN = 5_000  # ns
MOST_BINS = 1 << 20
LARGEST_ERROR = 200_000  #: ns: what is less certain is no fit
_MOST_TIMES = 20_000  # of each thread that are used
_CANDIDATES = 12
_NEAR = 3 * LARGEST_ERROR // 2  # ns: the bins cannot tell offsets apart that are closer
_LEAST_AGREEING = 0.95
_LEAST_TIMES = 20
_WHOLE = 0.95  # share of the times: a recording that holds more is one of the whole trace
_AHEAD = 0.02  # share of the times by which the best offset of such a recording beats any other
_LEAST_PART = 0.4  # share of the times that a recording holds at least
_AHEAD_IN_PART = 0.1  # what the best share of times that agree is above any other, in a recording of a part


class ThreadActivity(NamedTuple):
    """What a trace and a recording know of one thread."""

    times: Int64s  #: ns on the clock of the trace, sorted: when the thread must have had a core
    running: Intervals  #: ns on the clock of the recording: when it had one
    unknown: Intervals | None = None  #: when that is not known


class Fit(NamedTuple):
    """An offset that is added to times of the recording."""

    offset_ns: int
    error_ns: int
    agreeing: int  #: times at which the thread has a core then
    inside: int  #: times that are in the recording then

    @property
    def share(self) -> float:
        """The share of times in the recording at which the thread has a core."""
        return self.agreeing / max(self.inside, 1)


def agreement(threads: Sequence[ThreadActivity], offset_ns: int, window: tuple[int, int]) -> tuple[int, int]:
    """Count the times in a window at which the thread has a core, and those at which that is known."""
    agreeing = total = 0
    for thread in threads:
        times = thread.times - offset_ns
        times = times[(times >= window[0]) & (times < window[1])]
        if thread.unknown is not None:
            times = times[thread.unknown.index_at(times) < 0]
        slack = 1_000  # recordings as text hold whole microseconds
        held = (thread.running.index_at(times) >= 0) | (thread.running.index_at(times + slack) >= 0)
        agreeing += int((held | (thread.running.index_at(times - slack) >= 0)).sum())
        total += len(times)
    return agreeing, total


def fit_offset(threads: Sequence[ThreadActivity], window: tuple[int, int]) -> Fit | None:
    """Return the offset between the clocks; None where the times are too few, or several offsets are as good.

    `window`: [start, end) of the recording, ns.
    """
    threads = [_thin_out(thread) for thread in threads if len(thread.times)]
    if sum(len(thread.times) for thread in threads) < _LEAST_TIMES:
        return None
    width = _bin_width(threads, window)
    found: list[Fit] = []
    for shift in _candidates(threads, window, width):
        fit = _fit_near(threads, shift, max(2 * width, _NEAR), window)
        if fit is not None and all(abs(fit.offset_ns - other.offset_ns) > _NEAR for other in found):
            found.append(fit)
    found.sort(key=lambda fit: -fit.agreeing)
    return found[0] if _is_certain(found, sum(len(thread.times) for thread in threads)) else None


def _is_certain(found: Sequence[Fit], total: int) -> bool:
    """Return whether the first of some fits is good, and no other as good; `total`: of all times."""
    best, *others = found or [Fit(0, 0, 0, 0)]
    if best.error_ns > LARGEST_ERROR or best.inside < max(_LEAST_TIMES, _LEAST_PART * total):
        return False
    if best.share < _LEAST_AGREEING:
        return False
    if best.inside >= _WHOLE * total:
        return all(best.agreeing - other.agreeing >= _AHEAD * total for other in others)
    return all(best.share - other.share >= _AHEAD_IN_PART for other in others)


def _thin_out(thread: ThreadActivity) -> ThreadActivity:
    step = len(thread.times) // _MOST_TIMES + 1
    return thread._replace(times=thread.times[::step])


def _bin_width(threads: Sequence[ThreadActivity], window: tuple[int, int]) -> int:
    span = window[1] - window[0] + max(int(t.times[-1] - t.times[0]) for t in threads)
    return max(BIN, span // MOST_BINS + 1)


def _candidates(threads: Sequence[ThreadActivity], window: tuple[int, int], width: int) -> list[int]:
    """Return the offsets that the fewest times speak against, the best first, in whole bins."""
    first = min(int(thread.times[0]) for thread in threads)
    last = max(int(thread.times[-1]) for thread in threads)
    bins = (window[1] - window[0]) // width + 1
    length = (last - first) // width + 1
    size = 1 << int(bins + 2 * length).bit_length()
    against = np.zeros(size // 2 + 1, np.complex128)
    edges = window[0] + width * np.arange(bins + 1)
    for thread in threads:
        running = thread.running.before(edges)
        off = np.zeros(bins + 2 * length)
        off[:] = 1.0  # outside of the recording nothing agrees
        off[length : length + bins] = 1 - (running[1:] - running[:-1]) / width
        counts = np.bincount((thread.times - first) // width, minlength=length).astype(np.float64)
        against += np.fft.rfft(off, size) * np.conj(np.fft.rfft(counts, size))
    score: Floats = np.fft.irfft(against, size)[: bins + length]
    found = []
    for _ in range(_CANDIDATES):
        best = int(np.argmin(score))
        if not np.isfinite(score[best]):
            break
        found.append(first - (window[0] + (best - length) * width))
        near = _NEAR // width + 1
        score[max(best - near, 0) : best + near + 1] = np.inf
    return found


def _fit_near(
    threads: Sequence[ThreadActivity], offset: int, slack: int, window: tuple[int, int]
) -> Fit | None:
    """Return the middle of the offsets, at most `slack` ns from `offset`, that most times allow."""
    starts, ends, total = [], [], 0
    for thread in threads:
        times, running = thread.times, thread.running
        total += len(times)
        low, high = times - offset - slack, times - offset + slack
        first = np.searchsorted(running.ends, low, "right")
        stop = np.maximum(np.searchsorted(running.starts, high, "left"), first)
        time_place, run_place = np.repeat(np.arange(len(times)), stop - first), ranges(first, stop)
        starts.append(np.maximum(times[time_place] - running.ends[run_place], offset - slack))
        ends.append(np.minimum(times[time_place] - running.starts[run_place], offset + slack))
    begin, end = np.concatenate(starts), np.concatenate(ends)
    if not len(begin) or not total:
        return None
    # How many times allow each offset: more from where one begins to be allowed, fewer after it ends.
    bounds = np.concatenate((begin, end))
    change = np.concatenate((np.ones(len(begin), np.int64), -np.ones(len(end), np.int64)))
    order = np.lexsort((-change, bounds))
    bounds, allowed = bounds[order], np.cumsum(change[order])
    best = int(allowed.max())
    tolerated = best - total // 1000  # clocks of slices are read a little before or after
    good = np.flatnonzero(allowed >= tolerated)
    low_ns, high_ns = int(bounds[good[0]]), int(bounds[min(int(good[-1]) + 1, len(bounds) - 1)])
    middle = (low_ns + high_ns) // 2
    inside = 0
    for thread in threads:
        first, stop = np.searchsorted(thread.times, np.array(window) + middle).tolist()
        inside += stop - first
    return Fit(middle, (high_ns - low_ns + 1) // 2 + 1_000, best, inside)
