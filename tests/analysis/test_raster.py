"""Columns of lanes against counting nanosecond by nanosecond."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis import raster as rasters
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import BLOCK, Raster, even_edges, idle
from tracetui.arrays import Int64s

#: alternating lengths of gaps and slices of one lane; slices may have no length
lanes = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)
edge_lists = st.lists(st.integers(-5, 120), min_size=2, max_size=12).map(sorted)


def lane_of(lengths: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    bounds = np.cumsum(np.array(lengths, np.int64).reshape(-1))
    return bounds[0::2], bounds[1::2]


@given(st.lists(lanes, min_size=1, max_size=3), edge_lists, st.data())
def test_columns_are_exact(
    lengths: list[list[tuple[int, int]]], edges: list[int], data: st.DataObject
) -> None:
    several = [lane_of(lane) for lane in lengths]
    raster = Raster(np.concatenate([s for s, _ in several]), np.concatenate([e for _, e in several]))
    chosen = data.draw(st.integers(0, len(several) - 1))
    offset = sum(len(starts) for starts, _ in several[:chosen])
    starts, ends = several[chosen]
    columns = raster.columns(range(offset, offset + len(starts)), np.array(edges, np.int64))
    for place, (left, right) in enumerate(zip(edges, edges[1:])):
        inside = np.minimum(ends, right) - np.maximum(starts, left)
        covered = [bool(((starts <= t) & (t < ends)).any()) for t in range(left, right)]
        assert columns.busy[place] == sum(covered)
        assert columns.longest[place] == max(0, *inside.tolist(), 0)
        row = int(columns.row[place])
        if columns.longest[place]:
            assert inside[row - offset] == columns.longest[place]
        touched = ((starts < right) & ((ends > left) | (starts >= left))).any()
        assert (row >= 0) == (touched and left < right)


@given(st.lists(lanes, min_size=1, max_size=4), edge_lists)
def test_several_lanes_are_each_as_alone(lengths: list[list[tuple[int, int]]], bounds: list[int]) -> None:
    several, edges = [lane_of(lane) for lane in lengths], np.array(bounds, np.int64)
    raster = Raster(np.concatenate([s for s, _ in several]), np.concatenate([e for _, e in several]))
    stops = np.cumsum([len(starts) for starts, _ in several]).tolist()
    runs = [range(start, stop) for start, stop in zip([0, *stops], stops)]
    together = raster.lanes(runs, edges)
    for place, rows in enumerate(runs):
        one, alone = together.lane(place), raster.columns(rows, edges)
        assert one.busy.tolist() == alone.busy.tolist()
        assert one.row.tolist() == alone.row.tolist()
        assert one.longest.tolist() == alone.longest.tolist()


@given(lanes, edge_lists)
def test_columns_add_up_to_the_whole(lengths: list[tuple[int, int]], edges: list[int]) -> None:
    raster = Raster(*lane_of(lengths))
    whole = raster.columns(range(len(raster)), np.array([edges[0], edges[-1]], np.int64))
    columns = raster.columns(range(len(raster)), np.array(edges, np.int64))
    assert columns.busy.sum() == whole.busy[0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 40 * BLOCK), st.integers(1, 30))
def test_many_slices_in_a_column_keep_the_longest(seed: int, slices: int, columns: int) -> None:
    lengths = np.random.default_rng(seed).integers(1, 10**6, 2 * slices)
    bounds = np.cumsum(lengths)
    starts, ends = bounds[0::2], bounds[1::2]
    edges = even_edges(0, int(bounds[-1]) + 1, columns)
    drawn = Raster(starts, ends).columns(range(slices), edges)
    for place, (left, right) in enumerate(zip(edges.tolist(), edges[1:].tolist())):
        inside = np.minimum(ends, right) - np.maximum(starts, left)
        assert drawn.longest[place] == max(int(inside.max()), 0)


def test_a_set_of_time_is_drawn_without_a_trace() -> None:
    columns = idle(union(np.array([10, 30]), np.array([20, 35])), np.array([0, 15, 30, 40]))
    assert columns.busy.tolist() == [5, 5, 5]
    assert columns.row.tolist() == [0, 0, 1]


@given(st.integers(0, 10**18), st.integers(0, 60) | st.integers(0, 10**18), st.integers(0, 50))
def test_edges_are_even_within_a_nanosecond(start: int, span: int, columns: int) -> None:
    edges = even_edges(start, start + span, columns)
    assert (edges[0], edges[-1], len(edges)) == (start, start + span, max(min(columns, span), 1) + 1)
    widths = np.diff(edges)
    assert widths.max() - widths.min() <= 1


@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("seed", range(16))
def test_a_column_shows_the_first_of_the_slices_that_cover_most_of_it(
    seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three lanes, some of them empty, in columns of which some are."""
    monkeypatch.setattr(rasters, "BLOCK", block)
    source = random.Random(seed)
    slices: list[tuple[int, int]] = []
    lanes = []
    for _ in range(3):
        lengths = source.choices(
            source.choice(((0, 1, 2), (1, 2, 3, 6))), k=2 * source.choice((0, 1, 2, 9, 30))
        )
        bounds = [sum(lengths[: place + 1]) for place in range(len(lengths))]
        lanes.append(range(len(slices), len(slices) + len(bounds) // 2))
        slices += zip(bounds[::2], bounds[1::2])
    edges = sorted(source.choices(range(-2, 110), k=9)) if seed % 4 else [-2, -2, 5, 5, 199, 199]
    starts, ends = np.array(slices, np.int64).reshape(-1, 2).T
    found = Raster(starts, ends).lanes(lanes, np.array(edges, np.int64))
    for place, lane in enumerate(lanes):
        columns = []
        for left, right in zip(edges, edges[1:]):
            inside = {
                row: max(min(end, right) - max(start, left), 0)
                for row, (start, end) in ((row, slices[row]) for row in lane)
                if left < right and start < right and (end > left or start >= left)
            }
            row = max(inside, key=inside.__getitem__, default=-1)
            columns.append([sum(inside.values()), row, inside.get(row, 0)])
        lane_columns = found.lane(place)
        assert (
            np.stack((lane_columns.busy, lane_columns.row, lane_columns.longest), axis=1).tolist() == columns
        )


def test_nothing_has_columns_too() -> None:
    nothing = np.empty(0, np.int64)
    columns = Raster(nothing, nothing).columns(range(0), np.array([0, 5, 9]))
    found_columns = [columns.busy.tolist(), columns.row.tolist(), columns.longest.tolist()]
    assert found_columns == [[0, 0], [-1, -1], [0, 0]]
