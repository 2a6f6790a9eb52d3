"""Stretches of time are cut at edges and by covers, to the nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.idle.pieces import cut_at_edges, cut_by_cover
from tracetui.analysis.intervals import union

spans = st.lists(st.tuples(st.integers(0, 30), st.integers(-2, 12)), max_size=6)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.array([start for start, _ in pairs], np.int64)
    return starts, starts + np.array([dur for _, dur in pairs], np.int64)


@given(spans, st.sets(st.integers(-5, 50)))
def test_pieces_are_what_lies_between_neighbouring_edges(
    pairs: list[tuple[int, int]], edges: set[int]
) -> None:
    starts, ends = columns(pairs)
    cuts = cut_at_edges(starts, ends, np.array(sorted(edges), np.int64))
    expected = []
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist())):
        if start < end:
            marks = [start, *sorted(edge for edge in edges if start < edge < end), end]
            expected += [(place, first, last) for first, last in zip(marks, marks[1:])]
    assert list(zip(*(column.tolist() for column in cuts))) == expected


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-2, 12), st.integers(-1, 1)), max_size=6), spans, spans
)
def test_each_nanosecond_is_covered_or_not_by_the_cover_of_its_key(
    keyed: list[tuple[int, int, int]], first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    starts, ends = columns([(start, dur) for start, dur, _ in keyed])
    keys = np.array([key for _, _, key in keyed], np.int64)
    covers = [union(*columns(first)), union(*columns(second))]
    cuts, inside = cut_by_cover(starts, ends, keys, lambda key: covers[key])
    found_cover = {
        (place, at): covered
        for place, start, end, covered in zip(*(column.tolist() for column in cuts), inside.tolist())
        for at in range(start, end)
    }
    assert found_cover == {
        (place, at): key >= 0 and int(covers[key].index_at(np.array([at]))[0]) >= 0
        for place, key in enumerate(keys.tolist())
        for at in range(starts[place], ends[place])
    }
    assert (cuts.end - cuts.start).sum() == np.maximum(ends - starts, 0).sum()
