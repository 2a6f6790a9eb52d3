"""The order of operations: what comes after what, and which of them transfer together.

An operation begins once all that it comes after has ended. One that computes ends after its duration; those
of a group end after their own transfers, counted from the latest start in the group. The order is cut into
levels, so that each level of operations is timed by a handful of calls of numpy, whatever their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Int64s

ALONE = -1  #: the group of an operation that computes


class CircularOrder(ValueError):  # noqa: N818 - people catch ValueError; this one carries the operations
    """Operations wait for each other, so that none of them could begin."""

    def __init__(self, operations: Int64s) -> None:
        super().__init__("operations wait for each other")
        self.operations = operations  #: places of them


class Level(NamedTuple):
    """Operations that begin when those of earlier levels have ended; places are those of level order."""

    first: int
    stop: int
    before: Int64s  #: what they come after, one behind the other; nothing in the first level
    before_first: Int64s  #: of each in [first, stop) the place of its first among `before`
    members: Int64s  #: of the groups of which the last member begins in this level, one behind the other
    member_first: Int64s  #: of each of those groups the place of its first among `members`
    member_count: Int64s  #: of each of those groups how many there are


class Times(NamedTuple):
    """When operations begin and end, int64[operations] in ns."""

    start: Int64s
    end: Int64s


@dataclass(frozen=True, eq=False)
class Graph:
    """Operations in the order in which they can be timed."""

    order: Int64s  #: int64[operations]: the operations by level
    levels: tuple[Level, ...]
    linked: Bools  #: bool[operations]: whether each comes after another one
    after: Int64s  #: int64[links]: the later operation of each link
    before: Int64s  #: int64[links]: the earlier one
    group: Int64s  #: int64[operations]: number of the group, ALONE where it computes

    def times(self, delay: Int64s, duration: Int64s, origin: Int64s) -> Times:
        """Return when each operation begins and ends.

        Args:
            delay: int64[operations] ns from the end of what it comes after to its start.
            duration: int64[operations] ns from its start to its end, of a member of a group from the latest
                start in the group to its end.
            origin: int64[operations] ns from which the delay of an operation counts that comes after none.
        """
        delays, durations = delay[self.order], duration[self.order]
        start, end = origin[self.order] + delays, np.zeros(len(delays), np.int64)
        for level in self.levels:
            first, stop = level.first, level.stop
            if len(level.before):
                ready = np.maximum.reduceat(end[level.before], level.before_first)
                start[first:stop] = ready + delays[first:stop]
            np.add(start[first:stop], durations[first:stop], out=end[first:stop])
            if len(level.members):
                latest = np.maximum.reduceat(start[level.members], level.member_first)
                end[level.members] = np.repeat(latest, level.member_count) + durations[level.members]
        starts, ends = np.empty_like(start), np.empty_like(end)
        starts[self.order], ends[self.order] = start, end
        return Times(starts, ends)

    def measured(self, start: Int64s, end: Int64s, origin: Int64s) -> tuple[Int64s, Int64s]:
        """Return delays and durations, int64[operations] each, by which `times` gives what was measured."""
        ready = origin.copy()
        ready[self.linked] = np.iinfo(np.int64).min
        np.maximum.at(ready, self.after, end[self.before])
        return start - ready, end - self.latest(start)

    def latest(self, start: Int64s) -> Int64s:
        """Return from when the duration of each operation counts: the latest start in its group."""
        counted: Int64s = start.copy()
        together = np.flatnonzero(self.group != ALONE)
        if not len(together):
            return counted
        latest: Int64s = np.full(int(self.group.max()) + 1, np.iinfo(np.int64).min)
        np.maximum.at(latest, self.group[together], start[together])
        counted[together] = latest[self.group[together]]
        return counted


def build_graph(count: int, after: Int64s, before: Int64s, group: Int64s) -> Graph:
    """Return the graph of so many operations. Raises CircularOrder where some wait for each other.

    Args:
        count: how many operations there are.
        after: int64[links], the later operation of each link.
        before: int64[links], the earlier one.
        group: int64[operations], a number of at least 0 for those that transfer together, else ALONE.
    """
    into, out = _Neighbours(after, before, count), _Neighbours(before, after, count)
    together = _Neighbours(
        np.maximum(group, 0), np.arange(count), int(group.max(initial=ALONE)) + 1, group >= 0
    )
    missing, absent = into.count.copy(), together.count.copy()
    level = np.flatnonzero(missing == 0)
    begun = 0
    parts: list[tuple[Int64s, Int64s]] = []
    while len(level):
        begun += len(level)
        groups = group[level]
        joined = groups[groups != ALONE]
        np.subtract.at(absent, joined, 1)
        complete = np.unique(joined[absent[joined] == 0])
        parts.append((level, complete))
        ended = np.concatenate((level[groups == ALONE], together.flat(complete)))
        following = out.flat(ended)
        np.subtract.at(missing, following, 1)
        level = np.unique(following[missing[following] == 0])
    started = np.concatenate([np.empty(0, np.int64), *(part for part, _ in parts)])
    if begun < count:
        raise CircularOrder(_circle(count, started, after, before, group))
    return _levelled(parts, into, together, Graph(started, (), into.count > 0, after, before, group))


class _Neighbours:
    """The values of each of some keys, one behind the other."""

    def __init__(self, keys: Int64s, values: Int64s, count: int, kept: Bools | None = None) -> None:
        if kept is not None:
            keys, values = keys[kept], values[kept]
        self.values = values[np.argsort(keys, kind="stable")]
        self.count = np.bincount(keys, minlength=count).astype(np.int64)
        self.first = np.cumsum(self.count) - self.count

    def flat(self, keys: Int64s) -> Int64s:
        """Return the values of some keys, key by key."""
        counts = self.count[keys]
        total = int(counts.sum())
        if not total:
            return np.empty(0, np.int64)
        shift = self.first[keys] - (np.cumsum(counts) - counts)
        values: Int64s = self.values[np.arange(total) + np.repeat(shift, counts)]
        return values


def _levelled(
    parts: list[tuple[Int64s, Int64s]], into: _Neighbours, together: _Neighbours, bare: Graph
) -> Graph:
    """Return a graph with its levels; operations that come after none are the first level."""
    place = np.empty(len(bare.order), np.int64)
    place[bare.order] = np.arange(len(place))
    levels = []
    first = 0
    for part, complete in parts:
        stop = first + len(part)
        counts = into.count[part]
        members = together.count[complete]
        levels.append(
            Level(
                first,
                stop,
                place[into.flat(part)],
                np.cumsum(counts) - counts,
                place[together.flat(complete)],
                np.cumsum(members) - members,
                members,
            )
        )
        first = stop
    return Graph(bare.order, tuple(levels), bare.linked, bare.after, bare.before, bare.group)


def _circle(count: int, started: Int64s, after: Int64s, before: Int64s, group: Int64s) -> Int64s:
    """Return the places of operations that wait for each other, in the order in which they do."""
    ended = np.zeros(count, np.bool_)
    ended[started] = True
    stuck = group[~ended & (group != ALONE)]
    ended &= ~np.isin(group, stuck)
    waits_for: dict[int, list[int]] = {}
    open_link = ~ended[before]
    for later, earlier in zip(after[open_link].tolist(), before[open_link].tolist()):
        waits_for.setdefault(later, []).append(earlier)
    begun = np.zeros(count, np.bool_)
    begun[started] = True
    late: dict[int, int] = {}
    for place in np.flatnonzero(~begun & (group != ALONE)).tolist():
        late.setdefault(int(group[place]), place)

    def cause(place: int) -> int:
        """Return an operation that another one waits for: an earlier one, or a member that never begins."""
        return late[int(group[place])] if begun[place] else waits_for[place][0]

    seen: dict[int, int] = {}
    place = int(np.flatnonzero(~begun)[0])
    while place not in seen:
        seen[place] = len(seen)
        place = cause(place)
    return np.array(list(seen)[seen[place] :], np.int64)
