"""Lanes against a brute-force oracle, on random slices that nest, cross, touch and have no length."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracetui.arrays import Int32s, Int64s
from tracetui.trace import layout
from tracetui.trace.layout import lay_out, nesting_order

Piece = tuple[int, int, int]  # track, start, dur

pieces = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.one_of(st.just(0), st.integers(0, 12))), max_size=40
)


@dataclass(frozen=True)
class Layout:
    """The sorted columns and their lanes."""

    order: Int64s
    start: Int64s
    dur: Int64s
    lane_rows: Int64s
    lane_track: Int32s


def laid_out(slices: list[Piece], ids: list[int] | None = None) -> Layout:
    track, start, dur = np.array(slices, np.int64).reshape(-1, 3).T
    order = np.argsort(track, kind="stable")
    python_id = np.full(len(slices), -1, np.int32) if ids is None else np.array(ids, np.int32)
    start, dur = start[order], dur[order]
    lanes = lay_out(np.bincount(track), order, start, dur, python_id)
    return Layout(order, start, dur, *lanes)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(-1, 2)), max_size=40))
def test_order_is_that_of_all_three_keys(slices: list[tuple[int, int, int]]) -> None:
    start, dur, python_id = np.array(slices, np.int64).reshape(-1, 3).T
    order = nesting_order(start, dur, python_id.astype(np.int32))
    assert order.tolist() == np.lexsort((python_id, -dur, start)).tolist()


@given(pieces)
def test_starts_and_lengths_are_those_of_the_rows(slices: list[Piece]) -> None:
    result = laid_out(slices)
    rows = [slices[index][1:] for index in result.order]
    assert list(zip(result.start.tolist(), result.dur.tolist())) == rows


def lane_of_slice(result: Layout) -> dict[int, int]:
    """The lane of each given slice."""
    return {
        int(index): lane
        for lane in range(len(result.lane_track))
        for index in result.order[result.lane_rows[lane] : result.lane_rows[lane + 1]]
    }


@given(pieces)
def test_every_slice_is_in_one_lane_of_its_track(slices: list[Piece]) -> None:
    result = laid_out(slices)
    assert sorted(result.order.tolist()) == list(range(len(slices)))
    assert result.lane_rows.tolist() == sorted(result.lane_rows.tolist())
    assert [0, len(slices)] == [result.lane_rows[0], result.lane_rows[-1]]
    assert (np.diff(result.lane_rows) > 0).all()
    for index, lane in lane_of_slice(result).items():
        assert result.lane_track[lane] == slices[index][0]


@example([(0, 0, 10), (0, 5, 10), (0, 10, 0)])  # one without length where one ends that another crosses
@given(pieces)
def test_slices_of_a_lane_are_sorted_and_do_not_overlap(slices: list[Piece]) -> None:
    result = laid_out(slices)
    for first, last in zip(result.lane_rows[:-1], result.lane_rows[1:]):
        lane = [slices[index] for index in result.order[first:last]]
        for (_, start, dur), (_, next_start, next_dur) in zip(lane, lane[1:]):
            assert start + dur <= next_start
            assert start + dur <= next_start + next_dur


@example([(0, 0, 10), (0, 5, 10), (0, 12, 3)])  # one that ends with the other around it
@given(pieces)
def test_what_is_enclosed_lies_deeper(slices: list[Piece]) -> None:
    lanes = lane_of_slice(laid_out(slices))
    for inner, (track, start, dur) in enumerate(slices):
        for outer, (outer_track, outer_start, outer_dur) in enumerate(slices):
            inside = outer_start <= start < outer_start + outer_dur and start + dur <= outer_start + outer_dur
            if track == outer_track and inside and (start, dur) != (outer_start, outer_dur):
                assert lanes[inner] > lanes[outer]


@given(pieces)
def test_slices_that_nest_are_as_deep_as_they_have_ancestors(slices: list[Piece]) -> None:
    """Keep a subset that nests; the oracle is a stack."""
    nested: list[Piece] = []
    depths: list[int] = []
    stacks: dict[int, list[int]] = defaultdict(list)
    for track, start, dur in sorted(slices, key=lambda piece: (piece[0], piece[1], -piece[2])):
        ends = stacks[track]
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and ends[-1] < start + dur:
            continue
        nested.append((track, start, dur))
        depths.append(len(ends))
        ends.append(start + dur)
    lanes = lane_of_slice(laid_out(nested))
    tracks = [track for track, _, _ in nested]
    first_lane = {
        track: min(lanes[index] for index, lane_track in enumerate(tracks) if lane_track == track)
        for track in set(tracks)
    }
    assert [lanes[index] - first_lane[track] for index, track in enumerate(tracks)] == depths


@given(pieces)
def test_wide_stretches_lose_nesting_and_nothing_else(slices: list[Piece]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "WIDEST_NESTED", 2)
        test_every_slice_is_in_one_lane_of_its_track.hypothesis.inner_test(slices)  # type: ignore[attr-defined]
        test_slices_of_a_lane_are_sorted_and_do_not_overlap.hypothesis.inner_test(slices)  # type: ignore[attr-defined]


#: Crossing slices; the fifth has room in the third lane only, as those around it are in the first two.
_DEEP = [(0, 0, 100), (0, 1, 90), (0, 2, 10), (0, 3, 10), (0, 14, 5)]
#: As many, which need two lanes.
_SHALLOW = [(0, start, 9) for start in (200, 205, 210, 215, 220)]


#: Fewer, of which the last ends with one around it.
_FEW = [(0, 300, 10), (0, 305, 10), (0, 312, 3)]


@example(_DEEP + _SHALLOW + _FEW)
@given(pieces)
def test_stretches_packed_side_by_side_have_the_same_lanes(slices: list[Piece]) -> None:
    for widest in (2, 64):
        found = []
        for many in (1, len(slices) + 1):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(layout, "MANY", many)
                patch.setattr(layout, "WIDEST_NESTED", widest)
                result = laid_out(slices)
            found.append((result.order.tolist(), result.lane_rows.tolist(), result.lane_track.tolist()))
        assert found[0] == found[1]


def test_a_wide_stretch_takes_the_lane_of_one_that_ends_where_another_begins() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "WIDEST_NESTED", 2)
        lanes = lane_of_slice(laid_out([(0, 0, 10), (0, 1, 10), (0, 2, 10), (0, 10, 5), (0, 11, 5)]))
    assert lanes == {0: 0, 1: 1, 2: 2, 3: 0, 4: 1}


def test_a_slice_without_length_at_the_start_of_another_lies_below_it() -> None:
    assert lane_of_slice(laid_out([(0, 5, 0), (0, 5, 3), (0, 2, 3)])) == {0: 1, 1: 0, 2: 0}


def test_slices_without_length_at_one_time_share_a_lane() -> None:
    assert set(lane_of_slice(laid_out([(0, 5, 0)] * 4)).values()) == {0}


def test_a_slice_inside_a_deep_one_whose_neighbours_have_ended_stays_below_it() -> None:
    """No two slices of equal depth overlap here, yet depth alone would draw the last above the third."""
    lanes = lane_of_slice(laid_out([(0, 0, 10), (0, 1, 8), (0, 5, 15), (0, 12, 2)]))
    assert lanes[3] > lanes[2]


@pytest.mark.parametrize(("count", "nests"), [(64, True), (65, False)])
def test_of_slices_that_cross_no_more_than_64_open_at_once_nest(count: int, nests: bool) -> None:
    """The last is inside all others but the first, which has ended: nobody could see so deep a nesting."""
    crossing = [(0, start, 1000) for start in range(1, count)]
    lanes = lane_of_slice(laid_out([(0, 0, 500), *crossing, (0, 700, 1)]))
    assert lanes[count] == (count if nests else 0)


def test_equal_intervals_nest_by_python_id_then_by_order() -> None:
    result = laid_out([(0, 0, 10)] * 4, [7, 5, 9, 5])
    assert result.order.tolist() == [1, 3, 0, 2]
    assert len(result.lane_track) == 4


def test_a_hundred_thousand_slices_open_at_once_are_laid_out_in_time() -> None:
    result = laid_out([(0, start, 100_000) for start in range(100_000)])
    assert len(result.lane_track) == 100_000
