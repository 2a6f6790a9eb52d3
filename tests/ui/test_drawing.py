"""Lines of the timeline: as wide as the screen, never fuller than the time they show, and nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tracetui.analysis.raster import Raster, RasterColumns
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS, Glyphs
from tracetui.ui.drawing.lane import draw_lane, draw_lanes, segments
from tracetui.ui.drawing.palette import PALETTES, Palette, Role

PALETTE = Palette("ansi")
PAINTS = [PALETTE.paint_of(Activity.COMPUTE), PALETTE.paint_of(Role.IDLE)]


@st.composite
def lanes(draw: Any) -> tuple[Int64s, Int64s]:
    """Starts and ends of disjoint slices, some of them empty or touching each other."""
    steps = draw(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 400)), min_size=1, max_size=40))
    gaps, durations = (np.array(column, np.int64) for column in zip(*steps))
    # Two slices of no length at one time would be one.
    gaps[1:] = np.maximum(gaps[1:], (durations[1:] == 0) | (durations[:-1] == 0))
    starts = np.cumsum(gaps + durations) - durations
    return starts, starts + durations


def columns_of(lane: tuple[Int64s, Int64s], start: int, span: int, count: int) -> RasterColumns:
    edges = start + np.arange(count + 1, dtype=np.int64) * span // count
    return Raster(*lane).columns(range(len(lane[0])), edges)


def drawn(columns: RasterColumns, glyphs: Glyphs = BLOCKS, name: str = "a_rather_long_name") -> str:
    chosen = np.zeros(len(columns.row), dtype=np.int64)
    line = draw_lane(columns, PAINTS, chosen, lambda row: f"{row}_{name}", glyphs)
    return "".join(segment.text for segment in line)


@given(lanes(), st.integers(0, 2000), st.integers(60, 4000), st.integers(1, 60))
def test_a_line_fills_its_cells_and_hides_nothing(
    lane: tuple[Int64s, Int64s], start: int, span: int, count: int
) -> None:
    columns = columns_of(lane, start, span, count)
    for glyphs in (BLOCKS, ASCII):
        text = drawn(columns, glyphs, "name")
        assert cell_len(text) == count
        for cell, row in zip(text, columns.row.tolist()):
            if row < 0:
                assert cell == " "


@given(lanes(), st.integers(0, 2000), st.integers(60, 4000), st.integers(1, 60))
def test_no_column_looks_fuller_than_it_is(
    lane: tuple[Int64s, Int64s], start: int, span: int, count: int
) -> None:
    columns = columns_of(lane, start, span, count)
    width = np.diff(columns.edges)
    for cell, busy, whole, row in zip(
        drawn(columns), columns.busy.tolist(), width.tolist(), columns.row.tolist()
    ):
        if cell in BLOCKS.shades[1:] and row >= 0:
            share = BLOCKS.shades.index(cell) / 8
            assert share <= 1 / 8 or abs(share - busy / whole) <= 1 / 16 + 1e-9


def test_a_slice_that_covers_columns_is_a_box_with_its_name() -> None:
    columns = columns_of((np.array([100]), np.array([1000])), 0, 1200, 12)
    assert drawn(columns) == " 0_a_rath…  "
    narrow = columns_of((np.array([100]), np.array([400])), 0, 1200, 12)
    assert drawn(narrow) == " " * 12  # three cells of box: too few for a name


def test_edges_of_a_box_are_exact_to_an_eighth() -> None:
    columns = columns_of((np.array([150]), np.array([1025])), 0, 1200, 12)
    text = drawn(columns)
    assert text[1] == "▌" and text[10] == "▎"  # the first one is reversed: blank on its left half


def test_slices_that_touch_are_told_apart() -> None:
    columns = columns_of((np.array([0, 600]), np.array([600, 1200])), 0, 1200, 12)
    assert drawn(columns) == "0_a_r…▏1_a_…"


def test_a_slice_of_no_length_is_seen() -> None:
    columns = columns_of((np.array([500]), np.array([500])), 0, 1_000_000, 10)
    assert drawn(columns) == "▁         "


def test_wide_characters_take_two_cells() -> None:
    columns = columns_of((np.array([0]), np.array([1000])), 0, 1000, 10)
    assert drawn(columns, name="漢字漢字漢字") == "0_漢字漢 …"


def test_equal_styles_are_one_segment() -> None:
    starts = np.arange(0, 1000, 10)
    columns = columns_of((starts, starts + 5), 0, 1000, 50)
    line = draw_lane(columns, PAINTS, np.zeros(50, np.int64), str, BLOCKS)
    assert len(line) == 1


def test_blanks_join_the_ink_before_them_unless_it_would_be_seen() -> None:
    style = np.array([0, -1, 3, -1], np.int64)
    plain, underlined = Style(color="red"), Style(underline=True)
    found = segments(["a", " ", "b", " "], style, [plain] * 3 + [underlined] * 3)
    assert found == [Segment("a ", plain), Segment("b", underlined), Segment(" ", None)]


@given(
    st.lists(lanes(), min_size=1, max_size=4), st.integers(0, 2000), st.integers(60, 4000), st.integers(1, 60)
)
def test_several_lines_are_each_as_alone(
    several: list[tuple[Int64s, Int64s]], start: int, span: int, count: int
) -> None:
    edges = start + np.arange(count + 1, dtype=np.int64) * span // count
    stops = np.cumsum([len(starts) for starts, _ in several]).tolist()
    raster = Raster(*(np.concatenate(ends) for ends in zip(*several)))
    columns = raster.lanes([range(*ends) for ends in zip([0, *stops], stops)], edges)
    chosen = np.maximum(columns.row, 0) % len(PAINTS)
    lines = draw_lanes(columns, PAINTS, chosen, str, BLOCKS)
    assert lines == [
        draw_lane(columns.lane(place), PAINTS, chosen[place], str, BLOCKS) for place in range(len(several))
    ]


@pytest.mark.parametrize("name", PALETTES)
def test_every_role_and_activity_has_a_style(name: str) -> None:
    palette = Palette(name)
    for what in (*Role, *Activity):
        style = palette.style_of(what)
        assert name != "none" or style.color is None
    assert palette.hue("aten::add") == palette.hue("aten::add")
    assert palette.style_of(Role.IDLE) != palette.style_of(Role.DIM) or name == "none"


def test_ansi_uses_the_colours_of_the_terminal_only() -> None:
    palette = Palette("ansi")
    styles = [palette.style_of(what) for what in (*Role, *Activity)]
    for style in styles:
        assert style.color is None or (style.color.number is not None and style.color.number < 16)
        assert style.bgcolor is None
