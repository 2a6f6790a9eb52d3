"""Whether the steps of one run are slower than those of another: ranks and shifts, robust to odd steps.

The test is that of Mann and Whitney, exact and two-sided; the shift, and the interval around it, are those of
Hodges and Lehmann: the median of all differences between a step of one run and a step of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, erfc, gcd, sqrt

import numpy as np

from tracetui.arrays import Int64s

#: Steps of both runs together up to which p is exact: without equal values, and with some.
_EXACT, _EXACT_TIED = 60, 30
#: A change counts where p is below.
SIGNIFICANT = 0.05
#: Steps of a run from which the test says anything.
LEAST_STEPS = 3


@dataclass(frozen=True)
class StepTest:
    """How the steps of OTHER differ from those of BASE."""

    shift_ns: Fraction  #: median of the differences, OTHER - BASE
    low_ns: Fraction  #: the interval around it
    high_ns: Fraction
    confidence: float  #: of the interval: 0.95 where there are steps enough, else what the widest one has
    p: float  #: two-sided
    separate: bool  #: all steps of one run are slower than all of the other
    steps: int  #: of OTHER
    slower: int  #: steps of OTHER above the median step of BASE
    faster: int  #: below it

    @property
    def is_change(self) -> bool:
        """Whether the steps tell that it is no chance.

        Where runs have so few steps that no order of them has p < 0.05 (3 against 3, 3 against 4), one in
        which they do not overlap counts.
        """
        return self.p < SIGNIFICANT or (self.separate and self.confidence < 1 - SIGNIFICANT)


@lru_cache(maxsize=4096)
def compare_values(
    base: tuple[int, ...], other: tuple[int, ...], ranks: tuple[int, int] = (1, 1)
) -> StepTest:
    """Compare the steps of two runs, one at least on each side.

    Args:
        base, other: ns of each step.
        ranks: each value is the sum of so many ranks, of BASE and of OTHER.
    """
    unit = ranks[0] * ranks[1] // gcd(*ranks)
    base_ns = np.array(base, np.int64) * (unit // ranks[0])
    other_ns = np.array(other, np.int64) * (unit // ranks[1])
    differences = np.sort(np.subtract.outer(other_ns, base_ns), axis=None)
    cut_off, confidence = _interval(len(base_ns), len(other_ns))
    doubled = 2 * base_ns
    median = int(np.sort(doubled)[(len(base_ns) - 1) // 2] + np.sort(doubled)[len(base_ns) // 2])
    return StepTest(
        shift_ns=_median(differences) / unit,
        low_ns=Fraction(int(differences[cut_off]), unit),
        high_ns=Fraction(int(differences[len(differences) - 1 - cut_off]), unit),
        confidence=confidence,
        p=_p_value(base_ns, other_ns),
        separate=bool(differences[0] > 0 or differences[-1] < 0),
        steps=len(other_ns),
        slower=int((4 * other_ns > median).sum()),
        faster=int((4 * other_ns < median).sum()),
    )


def _median(ordered: Int64s) -> Fraction:
    count = len(ordered)
    return Fraction(int(ordered[(count - 1) // 2]) + int(ordered[count // 2]), 2)


@lru_cache(maxsize=1024)
def _interval(base: int, other: int) -> tuple[int, float]:
    """Return how many ordered differences lie outside the interval at each end, and its confidence."""
    if base + other > _EXACT:
        mean, deviation = base * other / 2, sqrt(base * other * (base + other + 1) / 12)
        return max(int(mean - 1.959964 * deviation - 0.5), 0), 1 - SIGNIFICANT
    counts = _ways((1,) * (base + other), base)
    lowest = base * (base + 1)  # doubled sum of the lowest ranks
    shares = np.cumsum(counts[lowest::2]) / comb(base + other, base)
    cut_off = int(np.searchsorted(shares, SIGNIFICANT / 2, "right"))
    return max(cut_off - 1, 0), 1 - SIGNIFICANT if cut_off else float(1 - 2 * shares[0])


def _p_value(base: Int64s, other: Int64s) -> float:
    """Return the two-sided p of the sum of the ranks of `base`, equal values having their mean rank."""
    count, total = len(base), len(base) + len(other)
    _, place, sizes = np.unique(np.concatenate((base, other)), return_inverse=True, return_counts=True)
    if len(sizes) == 1:
        return 1.0
    ends = np.cumsum(sizes)
    doubled = 2 * ends - sizes + 1  # twice the mean rank of equal values
    distance = abs(int(doubled[place.reshape(-1)[:count]].sum()) - count * (total + 1))
    if total <= (_EXACT if len(sizes) == total else _EXACT_TIED):
        ways = _ways(tuple(sizes.tolist()), count)
        sums = np.arange(len(ways)) - count * (total + 1)
        return float(ways[np.abs(sums) >= distance].sum() / comb(total, count))
    ties = float((sizes.astype(np.float64) ** 3 - sizes).sum()) / (total * (total - 1))
    deviation = sqrt(count * len(other) / 12 * (total + 1 - ties))
    return min(erfc(max(distance / 2 - 0.5, 0) / deviation / sqrt(2)), 1.0)


@lru_cache(maxsize=256)
def _ways(sizes: tuple[int, ...], count: int) -> Int64s:
    """Return in how many ways `count` of all values have a sum of ranks, by its double.

    Args:
        sizes: how many values equal each other, from the least value to the largest.
        count: of values.
    """
    total = sum(sizes)
    ways = np.zeros((count + 1, total * (total + 1) + 1), np.int64)
    ways[0, 0] = 1
    before = 0
    for size in sizes:
        doubled = 2 * before + size + 1
        for _ in range(size):
            ways[1:, doubled:] += ways[:-1, :-doubled]
        before += size
    found: Int64s = ways[count]
    return found
