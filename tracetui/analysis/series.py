"""A quantity over time, samples that each hold until the next: extremes by column, means by time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Floats, Int64s
from tracetui.trace.model import Layer, Trace, Track
from tracetui.trace.quantity import quantity_of

_LARGEST = 1e100


@dataclass(frozen=True)
class SeriesSummary:
    """What a quantity did in a stretch of time."""

    mean: float  #: weighted by time, from the first sample on where the stretch begins before it
    lowest: float
    highest: float
    lowest_ns: int  #: when it first was so, within the stretch
    highest_ns: int
    samples: int  #: taken in it


@dataclass(frozen=True, eq=False)
class Series:
    """Samples in order of time; of several at one moment the last one holds."""

    time: Int64s  #: ns, sorted
    value: Floats  #: finite, and far enough from infinity that sums are finite too

    @classmethod
    def from_samples(cls, time: Int64s, value: Floats) -> Series:
        """Return the series of samples sorted by time, without those that are no numbers or absurd."""
        usable = np.abs(value) < _LARGEST  # False of NaN
        return cls(time, value) if usable.all() else cls(time[usable], value[usable])

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The least and the most of all samples; zeros without any."""
        return (float(self.value.min()), float(self.value.max())) if len(self) else (0.0, 0.0)

    def at(self, time_ns: int) -> float | None:
        """Return the value at a time; None before the first sample."""
        place = int(np.searchsorted(self.time, time_ns, "right")) - 1
        return float(self.value[place]) if place >= 0 else None

    def columns(self, edges: Int64s) -> tuple[Floats, Floats]:
        """Return the least and the most in each column, float64[columns] each; NaN before the first sample.

        What held when a column begins counts, unless a sample is taken at that very moment.

        `edges`: int64[columns + 1], ns, never decreasing: column c is [edges[c], edges[c + 1]).
        """
        if not len(self):
            empty = np.full(len(edges) - 1, np.nan)
            return empty, empty
        place = np.searchsorted(self.time, edges, "left")
        first, stop = place[:-1], place[1:]
        sampled = self.time[np.minimum(first, len(self) - 1)] == edges[:-1]
        goes_on = (first > 0) & ~(sampled & (first < stop))
        held_value = np.where(goes_on, self.value[np.maximum(first - 1, 0)], np.nan)
        least, highest = held_value, held_value.copy()
        has_samples = first < stop
        if has_samples.any():
            inside = self.value[: place[-1]]
            least[has_samples] = np.fmin(least[has_samples], np.minimum.reduceat(inside, first[has_samples]))
            highest[has_samples] = np.fmax(
                highest[has_samples], np.maximum.reduceat(inside, first[has_samples])
            )
        return least, highest

    def within(self, start_ns: int, end_ns: int) -> SeriesSummary | None:
        """Return what it did in [start_ns, end_ns); None where nothing is known of that time."""
        first, stop = np.searchsorted(self.time, (start_ns, end_ns), "left").tolist()
        begin = first - 1 if first > 0 and (first >= stop or self.time[first] > start_ns) else first
        if begin >= stop or start_ns >= end_ns:
            return None
        value, times = self.value[begin:stop], np.maximum(self.time[begin:stop], start_ns)
        lengths = np.diff(times, append=end_ns)
        lowest, highest = int(value.argmin()), int(value.argmax())
        return SeriesSummary(
            mean=float(np.average(value, weights=lengths)),
            lowest=float(value[lowest]),
            highest=float(value[highest]),
            lowest_ns=int(times[lowest]),
            highest_ns=int(times[highest]),
            samples=stop - first,
        )

    def mean_between(self, starts: Int64s, ends: Int64s) -> Floats:
        """Return the mean in each stretch of time; NaN where one begins before the first sample.

        Args:
            starts: int64[n], ns, in any order.
            ends: int64[n], ns, after their starts.
        """
        if not len(self):
            return np.full(len(starts), np.nan)
        lengths = np.diff(self.time).astype(np.float64)
        sums = np.concatenate(([0.0], np.cumsum(self.value[:-1] * lengths)))

        def until(times: Int64s) -> Floats:
            place = np.maximum(np.searchsorted(self.time, times, "right") - 1, 0)
            return sums[place] + self.value[place] * (times - self.time[place])

        means = (until(ends) - until(starts)) / np.maximum(ends - starts, 1)
        return np.where(starts >= self.time[0], means, np.nan)


def counter_series(trace: Trace, track: Track) -> Series:
    """Return the samples of a counter, in the unit of its quantity."""
    first = next(candidate.index for candidate in trace.tracks if candidate.layer == Layer.COUNTER)
    time, value = trace.counters.samples_of_track(track.index - first, track.samples)
    factor = quantity_of(track).factor
    return Series.from_samples(time, value if factor == 1.0 else value * factor)
