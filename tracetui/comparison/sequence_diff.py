"""Which entries of two sequences are the same: a diff of numbers in linear space.

Common beginnings and ends are taken off, then entries are paired whose surroundings occur as often on both
sides in what is left between pairs (a patience diff that holds in repeated layers, too), for ever smaller
surroundings. What is small is matched by Myers' algorithm, so that short sequences match as far as possible.
300,000 entries a side take 0.3 s.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from tracetui.analysis.search import ranges
from tracetui.arrays import Bools, Int64s, first_equal

#: Lengths of the surroundings that are paired, in turn; each a power of two.
_SURROUNDINGS = (64, 16, 4, 1)
#: Entries of both sides up to which Myers' algorithm alone decides, as well as can be.
_SHORT = 128
#: Entries of both sides up to which it is tried before surroundings are, and the differences after which it
#: gives up: what it takes grows with their square. After so many squares in all, 0.5 s, it is not tried.
_MEDIUM, _MOST_DIFFERENCES, _BUDGET = 4096, 400, 1 << 20
#: Differences after which it goes on from where it came furthest, where nothing else is left.
_FEW_DIFFERENCES = 24
_MIX, _STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


class Pairs(NamedTuple):
    """Places in both sequences that are matched, each increasing; of equal length."""

    base: Int64s
    other: Int64s


class _Gaps(NamedTuple):
    """What is not matched yet, between pairs: base[start:stop] and other[begin:end]; columns."""

    start: Int64s
    stop: Int64s
    begin: Int64s
    end: Int64s

    def __len__(self) -> int:
        return len(self.start)

    def select(self, kept: Bools) -> _Gaps:
        return _Gaps(*(column[kept] for column in self[:]))


def match_sequences(base: Int64s, other: Int64s) -> Pairs:
    """Match equal entries in order: int64[n] against int64[m], any numbers; alike from either side."""
    if np.array_equal(base, other):  # as one step is to another, mostly
        return Pairs(np.arange(len(base)), np.arange(len(base)))
    if (len(other), other.tobytes()) < (len(base), base.tobytes()):
        return Pairs(*match_sequences(other, base)[::-1])
    pairs: list[Pairs] = []
    short = _Short(base, other)
    gaps = _Gaps(*(np.array([edge], np.int64) for edge in (0, len(base), 0, len(other))))
    for length in (*_SURROUNDINGS, 0):
        gaps = gaps.select((gaps.start < gaps.stop) & (gaps.begin < gaps.end))
        gaps = short.match_gaps(_trim(base, other, gaps, pairs), at_last=length == 0)
        if not len(gaps):
            break
        anchors = _anchors(base, other, gaps, length)
        pairs.append(anchors)
        gaps = _split_at(gaps, anchors)
    places = Pairs(*(np.concatenate(columns) for columns in zip(*pairs, short.pairs)))
    order = np.argsort(places.base)
    return Pairs(places.base[order], places.other[order])


def _trim(base: Int64s, other: Int64s, gaps: _Gaps, pairs: list[Pairs]) -> _Gaps:
    """Return the gaps with both sides left, long ones without what they begin and end with in common."""
    is_small = gaps.stop - gaps.start + gaps.end - gaps.begin <= _SHORT
    remaining = [*zip(*(column.tolist() for column in gaps.select(is_small)[:]))]
    for start, stop, begin, end in zip(*(column.tolist() for column in gaps.select(~is_small)[:])):
        matched = _common_prefix(base[start:stop], other[begin:end])
        pairs.append(Pairs(np.arange(start, start + matched), np.arange(begin, begin + matched)))
        start, begin = start + matched, begin + matched
        matched = _common_prefix(base[start:stop][::-1], other[begin:end][::-1])
        pairs.append(Pairs(np.arange(stop - matched, stop), np.arange(end - matched, end)))
        if start < stop - matched and begin < end - matched:
            remaining.append((start, stop - matched, begin, end - matched))
    return _Gaps(*np.array(remaining, np.int64).reshape(-1, 4).T)


def _common_prefix(base: Int64s, other: Int64s) -> int:
    """Return how many entries two sequences begin with that are equal."""
    length, compared = min(len(base), len(other)), 0
    ahead = 32
    while compared < length:
        until = min(compared + ahead, length)
        differ = base[compared:until] != other[compared:until]
        if differ.any():
            return compared + int(differ.argmax())
        compared, ahead = until, ahead * 4
    return length


def _anchors(base: Int64s, other: Int64s, gaps: _Gaps, length: int) -> Pairs:
    """Pair entries whose next `length` occur as often on both sides of a gap, the n-th with the n-th.

    A wrong guess, of surroundings that only look alike, loses matches but pairs nothing that differs.
    """
    base_side = _surroundings(base, gaps.start, gaps.stop, length)
    other_side = _surroundings(other, gaps.begin, gaps.end, length)
    places = []
    keys = [np.sort(side[1]) for side in (base_side, other_side)]
    shared = _equally_often(*keys)
    for place, key in (base_side, other_side):
        (rows,) = np.nonzero(first_equal(shared, key) >= 0)
        places.append(place[rows[np.argsort(key[rows], kind="stable")]])
    order = np.argsort(places[0])
    base_places, other_places = places[0][order], places[1][order]
    equal = base[base_places] == other[other_places]
    base_places, other_places = base_places[equal], other_places[equal]
    rows = _longest_increasing(other_places)
    return Pairs(base_places[rows], other_places[rows])


def _surroundings(entries: Int64s, starts: Int64s, stops: Int64s, length: int) -> tuple[Int64s, Int64s]:
    """Return the places with `length` entries before their gap ends, and numbers that equal entries share."""
    mixed = (entries.astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    factor, width = np.array([_STEP]), 1  # an array overflows without a warning
    while width < length and len(mixed) > width:
        mixed = mixed[:-width] + mixed[width:] * factor
        factor, width = factor * factor, width * 2
    stops = np.maximum(stops - length + 1, starts)
    place = ranges(starts, stops)
    gap = np.repeat(np.arange(len(starts), dtype=np.uint64), stops - starts)
    return place, (mixed[place] ^ (gap * _MIX)).view(np.int64)


def _equally_often(base_keys: Int64s, other_keys: Int64s) -> Int64s:
    """Return the keys, sorted, that two sorted columns have equally often."""
    counted = []
    for keys in (base_keys, other_keys):
        first = np.flatnonzero(np.concatenate((np.ones(min(len(keys), 1), np.bool_), keys[1:] != keys[:-1])))
        counted.append((keys[first], np.diff(first, append=len(keys))))
    (base_distinct, base_counts), (other_distinct, other_counts) = counted
    places = np.minimum(np.searchsorted(other_distinct, base_distinct), max(len(other_distinct) - 1, 0))
    if not len(other_distinct):
        return base_distinct[:0]
    shared: Int64s = base_distinct[
        (other_distinct[places] == base_distinct) & (other_counts[places] == base_counts)
    ]
    return shared


def _longest_increasing(values: Int64s) -> Int64s:
    """Return the places of a longest strictly increasing subsequence."""
    if (values[1:] > values[:-1]).all():
        return np.arange(len(values))
    ends: list[int] = []
    at_end: list[int] = []
    before = [-1] * len(values)
    for place, value in enumerate(values.tolist()):
        rank = bisect_left(ends, value)
        before[place] = at_end[rank - 1] if rank else -1
        ends[rank : rank + 1] = [value]
        at_end[rank : rank + 1] = [place]
    chosen = []
    place = at_end[-1]
    while place >= 0:
        chosen.append(place)
        place = before[place]
    return np.array(chosen[::-1], np.int64)


def _split_at(gaps: _Gaps, anchors: Pairs) -> _Gaps:
    """Return what is left of gaps between the pairs in them."""
    gap = np.searchsorted(gaps.start, anchors.base, "right") - 1
    edges = []
    for sides, places in (((gaps.start, gaps.stop), anchors.base), ((gaps.begin, gaps.end), anchors.other)):
        opens = np.concatenate((sides[0], places + 1))
        closes = np.concatenate((sides[1], places))
        owner = np.concatenate((np.arange(len(gaps)), gap))
        first = np.lexsort((opens, owner))
        last = np.lexsort((closes, owner))
        edges += [opens[first], closes[last]]
    return _Gaps(*edges)


class _Short:
    """Matches in gaps by Myers' O(ND) algorithm."""

    def __init__(self, base: Int64s, other: Int64s) -> None:
        self._base, self._other = base, other
        self._found: tuple[list[int], list[int]] = ([], [])
        self._left = _BUDGET

    @property
    def pairs(self) -> Pairs:
        """What was matched so far, in any order."""
        return Pairs(*(np.array(places, np.int64) for places in self._found))

    def match_gaps(self, gaps: _Gaps, at_last: bool) -> _Gaps:
        """Match entries inside each gap; return gaps that would take too long, none of them `at_last`."""
        is_left = np.zeros(len(gaps), np.bool_)
        for place, (start, stop, begin, end) in enumerate(zip(*(column.tolist() for column in gaps[:]))):
            size = stop - start + end - begin
            if size == 2:
                if self._base[start] == self._other[begin]:
                    self._add([start], [begin])
            elif at_last or size <= _SHORT or (size <= _MEDIUM and self._left > 0):
                is_left[place] = not self._match(start, stop, begin, end, at_last)
            else:
                is_left[place] = True
        return gaps.select(is_left)

    def _match(self, start: int, stop: int, begin: int, end: int, at_last: bool) -> bool:
        """Match in a gap; return whether that is done."""
        a, b = self._base[start:stop].tolist(), self._other[begin:end].tolist()
        is_short = len(a) + len(b) <= _SHORT
        shared = set(a).intersection(b)
        at_a = [start + place for place, entry in enumerate(a) if entry in shared]
        at_b = [begin + place for place, entry in enumerate(b) if entry in shared]
        a, b = [entry for entry in a if entry in shared], [entry for entry in b if entry in shared]
        limit = _SHORT if is_short else _FEW_DIFFERENCES if at_last else _MOST_DIFFERENCES
        x = y = 0
        while x < len(a) and y < len(b):
            pairs, x, y, differences = _path(a, b, x, y, limit)
            if not is_short and not at_last:
                self._left -= differences * differences
                if x < len(a) or y < len(b):
                    return False
            self._add([at_a[place] for place, _ in pairs], [at_b[place] for _, place in pairs])
        return True

    def _add(self, base: list[int], other: list[int]) -> None:
        self._found[0].extend(base)
        self._found[1].extend(other)


def _path(
    a: list[int], b: list[int], x0: int, y0: int, limit: int
) -> tuple[list[tuple[int, int]], int, int, int]:
    """Return pairs along a shortest edit path from (x0, y0), how far it came, and its differences.

    Where it needs more than `limit` differences it ends at the furthest point that as many reach.
    """
    width, height = len(a) - x0, len(b) - y0
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    done = None
    for differences in range(limit + 1):
        trail.append(furthest.copy())
        for k in range(-differences, differences + 1, 2):
            down = k == -differences or (
                k != differences and furthest.get(k - 1, -1) < furthest.get(k + 1, -1)
            )
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < width and y < height and a[x0 + x] == b[y0 + y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= width and y >= height:
                done = (x, y)
                break
        if done:
            break
    if done is None:
        inside = [(x, x - k) for k, x in furthest.items() if x <= width and 0 <= x - k <= height]
        done = max(inside, key=sum)
    x, y = done
    pairs = []
    for differences in range(len(trail) - 1, -1, -1):
        before, k = trail[differences], x - y
        if abs(k) > differences or (k - differences) % 2:
            continue  # reached with fewer
        down = k == -differences or (k != differences and before.get(k - 1, -1) < before.get(k + 1, -1))
        back_k = k + 1 if down else k - 1
        back_x = before.get(back_k, 0)
        back_y = back_x - back_k
        turn_x = back_x if down else back_x + 1
        while x > turn_x and x > 0 and y > 0:
            x, y = x - 1, y - 1
            pairs.append((x0 + x, y0 + y))
        if differences:
            x, y = back_x, back_y
    return pairs, x0 + done[0], y0 + done[1], len(trail)
