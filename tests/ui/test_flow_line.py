"""The line from the host to the device, through the lines of a timeline."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tests.ui.viewing import lines_of, timeline, until, viewing
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.flow_line import (
    FlowCell,
    HopPlace,
    Scrolled,
    Stop,
    flow_line,
    kept_lines,
    overlaid,
    stops,
)
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS
from tracetui.ui.state import Viewport


def picture(*stops: Stop, size: tuple[int, int] = (12, 6), ascii_only: bool = False) -> list[str]:
    """A screen with nothing on it but the slices (S) and the line."""
    width, height = size
    cells = [[" "] * width for _ in range(height)]
    for y, inks in flow_line(stops, ASCII if ascii_only else BLOCKS).items():
        for ink in inks:
            if 0 <= y < height and 0 <= ink.x < width:
                cells[y][ink.x] = ink.glyph
    for stop in stops:
        if stop.shown:
            for x in range(max(stop.first, 0), min(stop.last + 1, width)):
                cells[stop.y][x] = "S"
    return ["".join(line).rstrip() for line in cells]


def test_up_to_the_line_of_the_task_and_along_it_to_its_start() -> None:
    assert picture(Stop(5, 0, 3), Stop(1, 8, 9)) == ["", "   ╭───▸SS", "   │", "   │", "   │", "SSSS"]
    assert picture(Stop(5, 0, 3), Stop(1, 8, 9), ascii_only=True)[1] == "   +--->SS"


def test_straight_where_the_next_begins_within_the_slice() -> None:
    assert picture(Stop(5, 0, 9), Stop(1, 4, 4)) == ["", "    S", "    ▲", "    │", "    │", "SSSSSSSSSS"]
    assert picture(Stop(0, 0, 9), Stop(3, 4, 6)) == ["SSSSSSSSSS", "    │", "    ▼", "    SSS", "", ""]
    assert picture(Stop(0, 0, 9), Stop(1, 4, 6))[:2] == ["SSSSSSSSSS", "    SSS"], (
        "next to each other: no line"
    )


def test_to_the_left_where_clocks_disagree() -> None:
    assert picture(Stop(3, 8, 9), Stop(0, 1, 2))[:4] == [" SS◂────╮", "        │", "        │", "        SS"]


def test_through_all_hops_and_out_of_the_screen() -> None:
    hops = Stop(0, -9, -5), Stop(2, 1, 2), Stop(4, 5, 5), Stop(-1, 20, 30, shown=False)
    assert picture(*hops) == ["     │", "     │", "▸SS  │", "  │  │", "  ╰─▸S", ""]


some_stops = st.builds(
    lambda y, first, length: Stop(y, first, first + length),
    st.integers(0, 9),
    st.integers(-20, 60),
    st.integers(0, 30),
)


@given(st.lists(some_stops, min_size=2, max_size=5))
def test_each_cell_once_and_never_on_a_slice_of_one_cell(found: list[Stop]) -> None:
    for y, inks in flow_line(found, BLOCKS).items():
        assert min(stop.y for stop in found) <= y <= max(stop.y for stop in found)
        assert len({ink.x for ink in inks}) == len(inks) and inks == sorted(inks)
        for stop in found:
            if stop.y == y and stop.first == stop.last:
                assert all(ink.x != stop.first for ink in inks)


def test_a_line_passes_behind_what_is_drawn_and_not_over_the_label() -> None:
    plain, box = Style(bold=True), Style(reverse=True)
    strip = Strip([Segment("lab  ", plain), Segment("▃ 好  ", plain), Segment("n ", box)])
    inks = [FlowCell(x, "─", True) for x in range(-3, 20)]
    assert "".join(part.text for part in overlaid(strip, inks, 5, plain)) == "lab  ▃ 好  n "
    over = [FlowCell(1, "│", False), FlowCell(7, "│", False)]
    assert "".join(part.text for part in overlaid(strip, over, 5, plain)) == "lab  ▃│好  n│"
    thin = Strip([Segment("lab  ", plain), Segment("▃  ▃ ", plain), Segment("n ", box)])
    assert "".join(part.text for part in overlaid(thin, inks, 5, plain)) == "lab  ▃──▃─n "


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(0, 30),
    st.integers(1, 30),
)
def test_lines_that_are_kept_are_those_of_the_ends_out_of_sight(
    places: list[int], fixed: int, top: int, height: int
) -> None:
    hops, scrolled = [HopPlace(place, 0, 1) for place in places], Scrolled(fixed, top, height)
    kept = kept_lines(hops, scrolled)
    ends = {places[0], places[-1]}
    assert set(kept.values()) <= ends and all(fixed <= y < height for y in kept)
    if height - fixed > 4:  # each is seen once
        at = [kept.get(y, y if y < fixed else y + top) for y in range(height)]
        assert [at.count(place) for place in ends] == [1] * len(ends)
        assert all(not scrolled.shows(place) or len(kept) == 2 for place in kept.values())


@pytest.fixture(scope="module")
def moba(samples: Path) -> Trace:
    with TraceFile(samples / "moba" / "trace_view.json") as trace_file:
        return build_trace(trace_file.read())


def test_what_is_far_off_screen_takes_no_longer() -> None:
    hops = [HopPlace(1, -(10**15), -(10**15) + 1), HopPlace(5, 40, 41), HopPlace(2, 10**15, 10**15 + 1)]
    found = stops(hops, {}, Scrolled(0, 0, 9), Viewport(0, 80), 80)
    assert [(stop.y, stop.first, stop.last) for stop in found] == [(1, -2, -2), (5, 40, 40), (2, 82, 82)]
    inks = flow_line(found, BLOCKS)
    assert [ink.x for ink in inks[5]] == list(range(-2, 40)) and [ink.x for ink in inks[2]][-1] == 81


async def test_both_ends_of_a_flow_stay_on_screen(moba: Trace) -> None:
    async with viewing(moba, "timeline", (80, 24)) as (app, pilot):
        tracks = timeline(app).tracks
        await pilot.press("b", "1", "]")  # by idle time: that flow is short enough for the screen
        chain = timeline(app).details.chain
        assert chain is not None and len(chain.hops) == 5
        for hop in reversed(chain.hops[:-1]):
            await pilot.press("[")
            await until(pilot, lambda hop=hop: app.session.state.row == hop.row)  # type: ignore[misc]
            shown = [tracks.line_at(y) for y in range(tracks.size.height)]
            lanes = [line.lane for line in shown if line is not None]
            for y, line in enumerate(shown):
                if line is not None:  # the first line below those on top is labelled too
                    place, before = tracks.place_at(y), shown[y - 1] if y else None
                    whole = line.away or y == tracks.lines.fixed or (before is not None and before.away)
                    label = tracks.lines.label(place) if whole else tracks.lines.lines[place].label
                    assert line.label == label
            for end in (hop.row, chain.hops[0].row, chain.task):
                assert moba.lane_of(end) in lanes
                assert (
                    app.session.state.viewport.start_ns
                    <= moba.slices.start[end]
                    < app.session.state.viewport.end_ns
                )
            text = lines_of(tracks)
            assert any("│" in line for line in text) and any(mark in line for line in text for mark in "▲▼▸")
        await pilot.press("right")
        await pilot.pause()
        assert all(line is None or not line.away for line in map(tracks.line_at, range(tracks.size.height)))


async def test_only_the_touched_lines_are_drawn_again(moba: Trace) -> None:
    """And what is drawn of a flow is what a whole repaint shows."""
    async with viewing(moba, "timeline", (120, 50)) as (app, pilot):
        tracks = timeline(app).tracks
        for key in ("1", "]", "[", "[", "j", "x", "escape", "0", "1", "[", "d", "w", "space", "T"):
            await pilot.press(key)
            await pilot.pause()
            drawn = [strip.text for strip in tracks.render_lines(tracks.size.region)]
            tracks._drawn = None
            assert drawn == [strip.text for strip in tracks.render_lines(tracks.size.region)]
