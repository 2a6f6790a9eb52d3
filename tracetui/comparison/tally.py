"""Sums of ns by name: what a table of a run is, before it is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.search import grouped
from tracetui.arrays import Int64s, searchsorted
from tracetui.trace.clean import shortened

#: Steps of a run that are tested, evenly spaced where there are more: so many tell all there is to tell.
MOST_TESTED = 500
#: The name of what a run does not tell apart, having kept what takes most.
OTHERS = "(others)"


@dataclass(frozen=True)
class Sum:
    """What a name has in all steps of a run."""

    ns: int
    count: int
    lowest: int  #: ns of the step with the least; 0 where a step has none of it
    highest: int
    row: int = -1  #: slice row of the longest in the step with most of it; -1 where none is told
    steps: tuple[int, ...] = ()  #: ns of each step that is tested; empty where it is of no steps


NOTHING = Sum(0, 0, 0, 0)
#: Sums by name, as written in the trace: never print it unescaped.
Sums = Mapping[str, Sum]


@dataclass(frozen=True)
class NestedSums:
    """Sums of things that hold each other: modules by path, operators of the host by name."""

    total: Sums  #: with what is inside of them
    self_sums: Sums  #: without


def tally(
    names: Sequence[str], name: Int64s, step: Int64s, ns: Int64s, steps: int, row: Int64s | None = None
) -> dict[str, Sum]:
    """Return the sums of things with a name, a step and a time; those with name or step -1 are left out.

    Args:
        names: texts; equal ones count as one, told as a digest keeps them.
        name: int64[n], place in `names`.
        step: int64[n].
        ns: int64[n].
        steps: how many there are.
        row: int64[n], slice rows of the things; -1, or None of all, where they are none.
    """
    number: dict[str, int] = {}
    name_numbers = np.array([number.setdefault(shortened(text), len(number)) for text in names], np.int64)
    has_both = (name >= 0) & (step >= 0)
    rows_counted = slice(None) if has_both.all() else has_both  # indexing by a slice copies nothing
    width = max(steps, 1)
    key = (
        name_numbers[name[rows_counted]] * width + step[rows_counted] if len(names) else np.empty(0, np.int64)
    )
    order, first = grouped(key)
    if not len(first):
        return {}
    keys, durations = key[order[first]], ns[rows_counted][order]
    total, count = np.add.reduceat(durations, first), np.diff(first, append=len(order))
    longest = np.full(len(first), -1, np.int64)
    if row is not None:
        longest = row[rows_counted][order][_places_of_largest(durations, first)]
    name_places, steps_of_entries = np.divmod(keys, width)
    first = np.flatnonzero(np.concatenate(([True], name_places[1:] != name_places[:-1])))
    least = np.minimum.reduceat(total, first)
    columns = (
        np.add.reduceat(total, first),
        np.add.reduceat(count, first),
        np.where(np.diff(first, append=len(name_places)) < steps, np.minimum(least, 0), least),
        np.maximum.reduceat(total, first),
        longest[_places_of_largest(total, first)],
    )
    texts = list(number)
    tested = tested_steps(steps)
    by_step = np.zeros((len(first), len(tested)), np.int64)
    column = np.minimum(searchsorted(tested, steps_of_entries), max(len(tested) - 1, 0))
    (shown,) = np.nonzero(tested[column] == steps_of_entries)
    entry = np.repeat(np.arange(len(first)), np.diff(first, append=len(name_places)))
    by_step[entry[shown], column[shown]] = total[shown]
    values = zip(*(column.tolist() for column in columns), map(tuple, by_step.tolist()))
    return {texts[place]: Sum(*sums) for place, sums in zip(name_places[first].tolist(), values)}


def tested_steps(steps: int) -> Int64s:
    """Return the steps, counted from 0, that `Sum.steps` tells of."""
    if steps <= MOST_TESTED:
        return np.arange(steps)
    return np.linspace(0, steps - 1, MOST_TESTED).astype(np.int64)


def sum_together(sums: Iterable[Sum]) -> Sum:
    """Return the sum of different things in the same steps; its range may be too wide."""
    total, *rest = [*sums] or [NOTHING]
    for part in rest:
        longest = part if part.highest > total.highest else total
        steps = add_steps(total.steps, part.steps)
        known = 0 < len(steps) < MOST_TESTED
        total = Sum(
            total.ns + part.ns,
            total.count + part.count,
            min(steps) if known else total.lowest + part.lowest,
            max(steps) if known else total.highest + part.highest,
            longest.row,
            steps,
        )
    return total


def add_steps(steps: tuple[int, ...], other_steps: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sums step by step; one that has nothing in any step adds nothing."""
    return tuple(map(sum, zip(steps, other_steps))) if steps and other_steps else steps or other_steps


def comparable_sums(base: Sums, other: Sums) -> tuple[Sums, Sums]:
    """Return both sides with the names that both tell apart; where one has `OTHERS`, the rest is in them."""
    sides = []
    for side, opposite in ((base, other), (other, base)):
        if OTHERS not in opposite:
            sides.append(side)
            continue
        shared = {name: total for name, total in side.items() if name in opposite and name != OTHERS}
        rest = sum_together(total for name, total in side.items() if name not in shared)
        sides.append({**shared, OTHERS: replace(rest, row=-1)} if rest.count or rest.ns else shared)
    return sides[0], sides[1]


def _places_of_largest(ns: Int64s, first: Int64s) -> Int64s:
    """Return the place of the largest of each group of entries, the first of equals."""
    largest = np.repeat(np.maximum.reduceat(ns, first), np.diff(first, append=len(ns)))
    (places,) = np.nonzero(ns == largest)
    return places[searchsorted(places, first)]
