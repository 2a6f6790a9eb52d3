"""Viewports and undo, by properties."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.ui.state import UndoPoint, Viewport, ViewState, around

BOUNDS = Viewport(1_736_412_474_000_000_000, 1_736_412_475_234_567_891)
times = st.integers(BOUNDS.start_ns, BOUNDS.end_ns)


@st.composite
def viewports(draw: Any) -> Viewport:
    start = draw(st.integers(BOUNDS.start_ns, BOUNDS.end_ns - 1))
    return Viewport(start, draw(st.integers(start + 1, BOUNDS.end_ns)))


def inside(viewport: Viewport) -> bool:
    return BOUNDS.start_ns <= viewport.start_ns < viewport.end_ns <= BOUNDS.end_ns


@given(viewports(), st.integers(-(10**19), 10**19))
def test_panning_keeps_the_span_and_stays_inside(viewport: Viewport, by: int) -> None:
    moved = viewport.pan(by, BOUNDS)
    assert moved.span_ns == viewport.span_ns and inside(moved)


@given(viewports(), times, st.integers(1, 50), st.integers(1, 50), st.integers(1, 300))
def test_zooming_keeps_the_anchor_in_place(
    viewport: Viewport, anchor: int, numerator: int, denominator: int, least: int
) -> None:
    zoomed = viewport.zoom(numerator, denominator, anchor, BOUNDS, least)
    assert inside(zoomed)
    assert zoomed.span_ns >= min(least, viewport.span_ns)
    anchor = min(max(anchor, viewport.start_ns), viewport.end_ns)
    free = zoomed.start_ns > BOUNDS.start_ns and zoomed.end_ns < BOUNDS.end_ns
    if free:
        before = (anchor - viewport.start_ns) * zoomed.span_ns
        after = (anchor - zoomed.start_ns) * viewport.span_ns
        assert abs(before - after) <= viewport.span_ns  # 1 ns


@given(viewports())
def test_zooming_out_always_ends_with_everything(viewport: Viewport) -> None:
    for _ in range(120):
        viewport = viewport.zoom(3, 2, viewport.centre_ns, BOUNDS, 1)
    assert viewport == BOUNDS


@given(viewports(), st.integers(1, 400))
def test_edges_tile_the_viewport(viewport: Viewport, columns: int) -> None:
    edges = viewport.edges(columns)
    assert edges[0] == viewport.start_ns and edges[-1] == viewport.end_ns
    widths = np.diff(edges)
    assert widths.min() >= 0 and widths.max() - widths.min() <= 1


def test_edges_of_the_longest_trace_do_not_overflow() -> None:
    edges = Viewport(0, 1 << 62).edges(400)
    assert edges[-1] == 1 << 62 and (np.diff(edges) > 0).all()


@given(viewports(), times, st.integers(1, 400))
def test_a_time_lies_in_the_column_that_is_said(viewport: Viewport, time: int, columns: int) -> None:
    column = viewport.column_of(time, columns)
    assert (0 <= column < columns) == (viewport.start_ns <= time < viewport.end_ns)
    assert viewport.time_of(column, columns) <= time


@given(times, st.integers(0, 10**8))
def test_a_shown_interval_takes_the_middle_third(start: int, length: int) -> None:
    end = min(start + length, BOUNDS.end_ns)
    shown = around(start, end, BOUNDS, 100)
    assert inside(shown) and shown.start_ns <= start and end <= shown.end_ns
    if shown.start_ns > BOUNDS.start_ns and shown.end_ns < BOUNDS.end_ns and end - start >= 100:
        assert shown.span_ns == 3 * (end - start)
        assert abs((start - shown.start_ns) - (shown.end_ns - end)) <= 1


@given(viewports(), times, st.integers(0, 10**9))
def test_what_is_brought_on_screen_is_on_screen(viewport: Viewport, start: int, length: int) -> None:
    end = min(start + length, BOUNDS.end_ns)
    shown = viewport.showing(start, end, BOUNDS)
    assert shown.span_ns == viewport.span_ns and inside(shown)
    if end > start:
        assert shown.start_ns < end and start < shown.end_ns


movements = st.lists(
    st.one_of(
        st.tuples(st.just("pan"), st.integers(-(10**9), 10**9)),
        st.tuples(st.just("zoom"), st.integers(-3, 3)),
        st.tuples(st.just("show"), st.integers(0, 10**9)),
        st.tuples(st.just("undo"), st.just(0)),
        st.tuples(st.just("redo"), st.just(0)),
    ),
    max_size=30,
)


def move(state: ViewState, movement: tuple[str, int]) -> None:
    what, by = movement
    if what == "pan":
        state.pan(by)
    elif what == "zoom":
        state.zoom(2 if by > 0 else 3, 3 if by > 0 else 2, state.viewport.centre_ns)
    elif what == "show":
        state.show(BOUNDS.start_ns + by, BOUNDS.start_ns + by + 1000)
    elif what == "undo":
        state.undo()
    else:
        state.redo()


@given(movements)
def test_undo_brings_every_place_back_and_redo_takes_it_back(made: list[tuple[str, int]]) -> None:
    state = ViewState(BOUNDS)
    for movement in made:
        move(state, movement)
        assert inside(state.viewport)
    here, seen = state.place, []
    while state.undo():
        seen.append(state.place)
    assert state.place == UndoPoint(BOUNDS, time_ns=BOUNDS.start_ns)
    while state.redo():
        pass
    assert not seen or state.redo_stack == []
    if not any(what == "undo" for what, _ in made):
        assert state.place == here


def test_held_keys_are_one_step_of_undo() -> None:
    state = ViewState(BOUNDS)
    state.show(BOUNDS.start_ns + 5_000_000, BOUNDS.start_ns + 6_000_000)
    shown = state.viewport
    for _ in range(7):
        state.pan(100_000)
    for _ in range(3):
        state.zoom(2, 3, state.viewport.centre_ns)
    state.undo()
    assert state.viewport.span_ns == shown.span_ns and state.viewport != shown
    state.undo()
    assert state.viewport == shown


def test_a_viewport_that_shows_all_grows_with_the_trace() -> None:
    state = ViewState(Viewport(0, 1000))
    state.grow(Viewport(0, 5000))
    assert state.viewport == Viewport(0, 5000)
    state.look(Viewport(100, 200))
    state.grow(Viewport(0, 9000))
    assert state.viewport == Viewport(100, 200)
    assert state.bounds.end_ns == 9000


def test_nothing_points_at_rows_that_were_numbered_anew() -> None:
    state = ViewState(Viewport(0, 1000))
    state.go(UndoPoint(Viewport(0, 500), row=7))
    state.go(UndoPoint(Viewport(0, 100), row=9, gap=3))
    state.forget_rows()
    assert (state.row, state.gap) == (-1, -1)
    state.undo()
    assert state.row == -1 and state.viewport == Viewport(0, 500)


def test_pins_and_folds_are_taken_back_by_the_same_key() -> None:
    state = ViewState(BOUNDS)
    for key in (("track", "1"), ("track", "2"), ("track", "1")):
        state.toggle(key)
        state.toggle_pin(key)
    assert state.toggled == {("track", "2")} and state.pinned == (("track", "2"),)
