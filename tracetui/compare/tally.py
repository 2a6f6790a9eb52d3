"""Sums of ns by name and step, sparse: what a table of a run is, before it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.search import grouped
from tracetui.arrays import Int64s


@dataclass(frozen=True)
class Sum:
    """What a name has in all steps of a run."""

    ns: int
    count: int
    lowest: int  #: ns of the step with the least; 0 where a step has none of it
    highest: int
    row: int = -1  #: slice row of the longest in the step with most of it; -1 where none is told


NOTHING = Sum(0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Tally:
    """ns and count of each name in each step that has any, as columns, by name, then step."""

    names: tuple[str, ...]  #: distinct; as written in the trace: never print them unescaped
    name: Int64s  #: place in `names`
    step: Int64s  #: from 0 to `steps` - 1
    ns: Int64s
    count: Int64s
    row: Int64s  #: slice row of the longest, -1 where none is told
    steps: int

    def sums(self) -> dict[str, Sum]:
        """The sums of each name over all steps."""
        if not len(self.name):
            return {}
        first = np.flatnonzero(np.concatenate(([True], self.name[1:] != self.name[:-1])))
        held = np.diff(first, append=len(self.name))
        lowest = np.where(held < self.steps, 0, np.minimum.reduceat(self.ns, first))
        columns = (
            np.add.reduceat(self.ns, first),
            np.add.reduceat(self.count, first),
            np.minimum(lowest, np.minimum.reduceat(self.ns, first)),
            np.maximum.reduceat(self.ns, first),
        )
        most = _places_of_most(self.ns, first)
        told = zip(*(column.tolist() for column in (*columns, self.row[most])))
        return {self.names[name]: Sum(*sums) for name, sums in zip(self.name[first].tolist(), told)}


def tally(
    names: Sequence[str], name: Int64s, step: Int64s, ns: Int64s, steps: int, row: Int64s | None = None
) -> Tally:
    """The sums of things with a name, a step and a time; those with name or step -1 are left out.

    Args:
        names: texts; equal ones count as one.
        name: int64[n], place in `names`.
        step: int64[n].
        ns: int64[n].
        steps: how many there are.
        row: int64[n], slice rows of the things; -1, or None of all, where they are none.
    """
    number: dict[str, int] = {}
    same = np.array([number.setdefault(text, len(number)) for text in names], np.int64)
    kept = (name >= 0) & (step >= 0)
    key = same[name[kept]] * max(steps, 1) + step[kept] if len(names) else np.empty(0, np.int64)
    order, first = grouped(key)
    keys, total, count = key[order[first]], np.empty(0, np.int64), np.empty(0, np.int64)
    longest = np.full(len(first), -1, np.int64)
    if len(first):
        each = ns[kept][order]
        total = np.add.reduceat(each, first)
        count = np.diff(first, append=len(order))
        if row is not None:
            longest = row[kept][order][_places_of_most(each, first)]
    width = max(steps, 1)
    return Tally(tuple(number), keys // width, keys % width, total, count, longest, steps)


def _places_of_most(ns: Int64s, first: Int64s) -> Int64s:
    """The place of the largest of each group of entries, the first of equals; groups begin at `first`."""
    most = np.repeat(np.maximum.reduceat(ns, first), np.diff(first, append=len(ns)))
    (places,) = np.nonzero(ns == most)
    found: Int64s = places[np.searchsorted(places, first)]
    return found
