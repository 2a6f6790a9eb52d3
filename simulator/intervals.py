"""Sets of half-open intervals of integer nanoseconds, as sorted lists of disjoint pairs."""

from __future__ import annotations

from bisect import bisect_left

Interval = tuple[int, int]


def union(intervals: list[Interval]) -> list[Interval]:
    """Return disjoint, sorted intervals that cover the same time."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged


def without(intervals: list[Interval], holes: list[Interval]) -> list[Interval]:
    """Return what of `intervals` lies outside `holes`."""
    rest: list[Interval] = []
    index = 0
    for start, end in intervals:
        while index < len(holes) and holes[index][1] <= start:
            index += 1
        scan = index
        while scan < len(holes) and holes[scan][0] < end:
            if start < holes[scan][0]:
                rest.append((start, holes[scan][0]))
            start = max(start, holes[scan][1])
            scan += 1
        if start < end:
            rest.append((start, end))
    return rest


def total(intervals: list[Interval]) -> int:
    return sum(end - start for start, end in intervals)


def within(intervals: list[Interval], start: int, end: int) -> int:
    """Return how much of `intervals` lies in [start, end)."""
    total = 0
    for place in range(max(0, bisect_left(intervals, (start,)) - 1), len(intervals)):
        first, last = intervals[place]
        if first >= end:
            break
        total += max(0, min(last, end) - max(first, start))
    return total
