"""How waits are passed on: the weight with which each wait of a job counts, with all that is due to it.

A wait gives weight to those waits that lie in its legs: to the late rank's own, and takes it from those
of the rank that waited, by the share of each that lies there. Time runs backwards, in batches, so that a wait
has all of its weight before it passes it on; inside a batch it is passed on until nothing is left.
"""

from __future__ import annotations

import numpy as np

from tracetui.analysis.search import ranges
from tracetui.arrays import Bools, Floats
from tracetui.job.exposure import Exposure
from tracetui.job.legs import Legs
from tracetui.job.waits import JobWaits

BATCH = 4096  #: waits, at least
_BATCHES = 256  # at most
_LEAST = 0.01  # ns: what is less of a wait is not passed on any more
_MOST_PASSES = 1000  # times that weight is passed on inside a batch
_ROUNDS = 4  # over all of the time: operations on several streams may pass on to later ones


def find_weights(exposure: Exposure, legs: Legs, waits: JobWaits, chosen: Bools) -> Floats:
    """Return the weight of each wait: 1 where it is chosen, and what others pass on to it."""
    passing = _WeightPassing(exposure, legs, waits)
    pending, passed_on = chosen.astype(np.float64), np.zeros(len(waits), np.float64)
    for _ in range(_ROUNDS):
        if not passing.pass_on(pending, passed_on):
            break
    return pending + passed_on  # what is held passes nothing on, or next to nothing


class _WeightPassing:
    def __init__(self, exposure: Exposure, legs: Legs, waits: JobWaits) -> None:
        self._wait_place = legs.wait_place
        (segments,) = np.nonzero(exposure.wait_place >= 0)
        self._target = exposure.wait_place[segments]
        self._share = exposure.passed_on[segments] / waits.wait_ns[self._target]
        sides = (
            (legs.late_place, legs.late_first, legs.late_stop),
            (legs.rank_place, legs.waiting_first, legs.waiting_stop),
        )
        self._segments = [
            (
                np.searchsorted(segments, legs.segments[rank] + first),
                np.searchsorted(segments, legs.segments[rank] + stop),
            )
            for rank, first, stop in sides
        ]
        has_segments = np.logical_or.reduce([first < stop for first, stop in self._segments])
        arrived = (waits.arrival + waits.wait_ns)[self._wait_place]
        order = np.argsort(-arrived, kind="stable")
        self._order = order[has_segments[order]]  # waits with an empty leg pass nothing on
        self._wait_ns = waits.wait_ns[self._wait_place]
        self._leg_share = legs.share

    def pass_on(self, held: Floats, done: Floats) -> bool:
        """Move weight from `held` to `done` and to earlier waits, once over all time; return whether any was.

        Both are float64[waits], and changed.
        """
        count = min(max(len(self._order) // BATCH, 1), _BATCHES)
        passed = False
        for batch in np.array_split(self._order, count):
            for _ in range(_MOST_PASSES):
                heavy = batch[np.abs(held[self._wait_place[batch]]) * self._wait_ns[batch] >= _LEAST]
                if not len(heavy):
                    break
                passed = True
                weight = held[self._wait_place[heavy]]
                held[self._wait_place[heavy]] = 0.0
                done[self._wait_place[heavy]] += weight
                weight = weight * self._leg_share[heavy]
                for (first, stop), sign in zip(self._segments, (1.0, -1.0)):
                    segments = ranges(first[heavy], stop[heavy])
                    gained = np.repeat(sign * weight, stop[heavy] - first[heavy]) * self._share[segments]
                    np.add.at(held, self._target[segments], gained)
        return passed
