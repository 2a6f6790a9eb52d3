"""Sums of ns by name: what a table of a run is, before it is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.search import grouped
from tracetui.arrays import Int64s
from tracetui.trace.clean import kept

#: Steps of a run that are tested, evenly spaced where there are more: so many tell all there is to tell.
_MOST_TESTED = 500
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
    same = np.array([number.setdefault(kept(text), len(number)) for text in names], np.int64)
    told = (name >= 0) & (step >= 0)
    counted = slice(None) if told.all() else told  # indexing by a slice copies nothing
    width = max(steps, 1)
    key = same[name[counted]] * width + step[counted] if len(names) else np.empty(0, np.int64)
    order, first = grouped(key)
    if not len(first):
        return {}
    keys, each = key[order[first]], ns[counted][order]
    total, count = np.add.reduceat(each, first), np.diff(first, append=len(order))
    longest = np.full(len(first), -1, np.int64)
    if row is not None:
        longest = row[counted][order][_places_of_most(each, first)]
    of, at = np.divmod(keys, width)
    first = np.flatnonzero(np.concatenate(([True], of[1:] != of[:-1])))
    least = np.minimum.reduceat(total, first)
    columns = (
        np.add.reduceat(total, first),
        np.add.reduceat(count, first),
        np.where(np.diff(first, append=len(of)) < steps, np.minimum(least, 0), least),
        np.maximum.reduceat(total, first),
        longest[_places_of_most(total, first)],
    )
    texts = list(number)
    tested = tested_steps(steps)
    by_step = np.zeros((len(first), len(tested)), np.int64)
    column = np.minimum(np.searchsorted(tested, at), max(len(tested) - 1, 0))
    (shown,) = np.nonzero(tested[column] == at)
    entry = np.repeat(np.arange(len(first)), np.diff(first, append=len(of)))
    by_step[entry[shown], column[shown]] = total[shown]
    found = zip(*(column.tolist() for column in columns), map(tuple, by_step.tolist()))
    return {texts[place]: Sum(*sums) for place, sums in zip(of[first].tolist(), found)}


def tested_steps(steps: int) -> Int64s:
    """Return the steps, counted from 0, that `Sum.steps` tells of."""
    if steps <= _MOST_TESTED:
        return np.arange(steps)
    return np.linspace(0, steps - 1, _MOST_TESTED).astype(np.int64)


def together(found: Iterable[Sum]) -> Sum:
    """Return the sum of different things in the same steps; their range may be told wider than it is."""
    total, *others = [*found] or [NOTHING]
    for each in others:
        longest = each if each.highest > total.highest else total
        steps = added(total.steps, each.steps)
        known = 0 < len(steps) < _MOST_TESTED
        total = Sum(
            total.ns + each.ns,
            total.count + each.count,
            min(steps) if known else total.lowest + each.lowest,
            max(steps) if known else total.highest + each.highest,
            longest.row,
            steps,
        )
    return total


def added(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sums step by step; one that has nothing in any step adds nothing."""
    return tuple(map(sum, zip(one, two))) if one and two else one or two


def alike(base: Sums, other: Sums) -> tuple[Sums, Sums]:
    """Both sides with the names that both tell apart: where one has `OTHERS`, what it lacks is of them."""
    sides = []
    for own, against in ((base, other), (other, base)):
        if OTHERS not in against:
            sides.append(own)
            continue
        kept = {name: found for name, found in own.items() if name in against and name != OTHERS}
        rest = together(found for name, found in own.items() if name not in kept)
        sides.append({**kept, OTHERS: replace(rest, row=-1)} if rest.count or rest.ns else kept)
    return sides[0], sides[1]


def _places_of_most(ns: Int64s, first: Int64s) -> Int64s:
    """The place of the largest of each group of entries, the first of equals; groups begin at `first`."""
    most = np.repeat(np.maximum.reduceat(ns, first), np.diff(first, append=len(ns)))
    (places,) = np.nonzero(ns == most)
    found: Int64s = places[np.searchsorted(places, first)]
    return found
