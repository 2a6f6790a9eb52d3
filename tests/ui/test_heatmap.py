"""Heat maps on screen: shades in every palette, exact words, the worst cell first, and what a cell opens."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from textual.widgets import Input

from tests.analysis.heat import test_heat as maps
from tests.analysis.machine import task, us
from tests.export.training import PLAIN, training_events
from tests.synthetic import piece, process, thread, trace_of
from tests.ui.viewing import analysis_of, case, lines_of, said, settled, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.heat.cells import HeatCells, cell_shares
from tracetui.analysis.heat.lengths import LengthMap
from tracetui.analysis.heat.mostly import IdleReasons
from tracetui.analysis.heat.step_map import StepMap
from tracetui.analysis.heat.work import WorkMap
from tracetui.analysis.raster import even_edges
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.bars import BarInk, share_bar, stacked_bar
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS, Glyphs
from tracetui.ui.drawing.heat_lines import BLANK, HalfCursor, half_cells, layout, placed, whole_cells
from tracetui.ui.drawing.palette import PALETTES, Palette, Role
from tracetui.ui.drawing.ramp import LEVELS, Heat, ramp_of
from tracetui.ui.heat.cause_view import CauseView
from tracetui.ui.heat.cell_words import between, gap_target, line_totals, mostly, time_label, time_labels
from tracetui.ui.heat.fold_view import FoldView
from tracetui.ui.heat.lead_view import _LeadSheet
from tracetui.ui.heat.length_view import LengthView
from tracetui.ui.heat.sheet import CellTarget, GapOfCell, Sheet, SheetRow
from tracetui.ui.heat.step_view import WHOLE, StepView, _StepSheet
from tracetui.ui.heat.work_view import WorkView
from tracetui.ui.screens import heatmap
from tracetui.ui.screens.heatmap import HeatmapScreen
from tracetui.ui.screens.map_screen import MapScreen
from tracetui.ui.state import Viewport
from tracetui.ui.widgets.heat import HeatMap
from tracetui.units import format_duration, format_time

#: xterm's own 16 colours
_ANSI = {
    "black": (0, 0, 0), "red": (205, 0, 0), "yellow": (205, 205, 0), "blue": (0, 0, 238),
    "cyan": (0, 205, 205), "white": (229, 229, 229), "bright_black": (127, 127, 127),
    "bright_yellow": (255, 255, 0), "bright_cyan": (0, 255, 255), "bright_white": (255, 255, 255),
}  # fmt: skip
SIMPLE = (Heat.LOST, Heat.WORK, Heat.WAIT)  #: of which the others are made
_COVERED = {" ": 0.0, "░": 0.25, "▒": 0.5, "▓": 0.75, "█": 1.0}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of(training_events(PLAIN, steps=6))


@pytest.fixture(scope="module")
def one_step() -> Trace:
    return trace_of(training_events(PLAIN, steps=1))


def screen_of(app: TraceApp) -> HeatmapScreen:
    assert isinstance(app.screen, HeatmapScreen)
    return app.screen


def sheet_of(app: TraceApp) -> Sheet:
    sheet = screen_of(app).map.sheet
    assert sheet is not None
    return sheet


def sheet_with(ns: list[list[int]], of: int, **more: object) -> Sheet:
    grid = np.array(ns, np.int64)
    whole = np.full(grid.shape, of, np.int64)
    cells = HeatCells(grid, whole, np.full(grid.shape, -1, np.int64), cell_shares(grid, whole))
    rows = tuple(SheetRow(f"row {place}") for place in range(len(ns)))
    return Sheet(**{"rows": rows, "cells": cells, "columns": ("a",) * grid.shape[1], **more})


# -------------------------------------------------------------------------------------------- the ramps


def lightness(red: float, green: float, blue: float) -> float:
    """L* of an sRGB colour."""
    linear = [((c / 255 + 0.055) / 1.055) ** 2.4 if c > 10 else c / 255 / 12.92 for c in (red, green, blue)]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return float(116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y)


def seen(style: Style, glyph: str, light: bool) -> float:
    """How light a cell of a glyph looks; a terminal's background is black, or white."""

    def rgb(colour: Color | None) -> tuple[float, float, float]:
        if colour is None:
            return (255, 255, 255) if light else (0, 0, 0)
        red, green, blue = _ANSI.get(colour.name, colour.get_truecolor())
        return red, green, blue

    part, front, back = _COVERED[glyph], rgb(style.color), rgb(style.bgcolor)
    return lightness(*(part * one + (1 - part) * other for one, other in zip(front, back)))


@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("heat", SIMPLE)
@pytest.mark.parametrize("palette", ["ansi", "256", "true"])
def test_a_ramp_goes_away_from_the_background_without_turning(palette: str, heat: Heat, light: bool) -> None:
    ramp = ramp_of(heat, palette, BLOCKS, light)
    looks = [seen(style, glyph, light) for style, glyph in zip(ramp.styles, ramp.glyphs)]
    steps = np.diff(looks) * (-1 if light else 1)
    assert len(looks) == LEVELS + 1
    assert steps.min() > (4 if palette == "true" else 1.9)
    if palette == "true":
        assert steps[1:].max() / steps[1:].min() < 2.2  # even to the eye


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII])
def test_every_shade_differs_from_all_others_and_nothing_is_a_blank(palette: str, glyphs: Glyphs) -> None:
    ramps = [ramp_of(heat, palette, glyphs) for heat in SIMPLE]
    for ramp in ramps:
        looks = {*zip(ramp.glyphs, map(str, ramp.styles))}
        assert ramp.glyphs[0] == " "
        # ASCII in 16 colours, and all without any, tell shades by their characters alone.
        assert len(looks) == LEVELS + 1
        assert all(cell_len(glyph) == 1 for glyph in ramp.glyphs)
        assert glyphs is BLOCKS or ramp.glyphs.isascii()
    fullest = {(ramp.glyphs[-1], str(ramp.styles[-1])) for ramp in ramps}
    assert len(fullest) == len(ramps)  # lost time, work and waits are told apart where all of them are full


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII])
def test_a_lead_and_none_are_told_apart_in_one_row(palette: str, glyphs: Glyphs) -> None:
    ramp = ramp_of(Heat.LEAD, palette, glyphs)
    looks = [*zip(ramp.glyphs, map(str, ramp.styles))]
    assert len(looks) == len({*looks}) == 2 * LEVELS + 1
    assert palette != "none" or len({*ramp.glyphs}) == len(ramp.glyphs)


@given(st.lists(st.lists(st.integers(0, 1000), min_size=3, max_size=3), min_size=1, max_size=6))
def test_more_is_never_a_lower_shade_and_only_nothing_is_none(ns: list[list[int]]) -> None:
    sheet = sheet_with(ns, 1000)
    levels, cells = sheet.levels.ravel(), sheet.cells.ns.ravel()
    assert np.array_equal(levels == 0, cells == 0)
    order = np.argsort(cells, kind="stable")
    assert (np.diff(levels[order]) >= 0).all()
    for level, part in zip(levels.tolist(), (cells / 1000).tolist()):
        if level:
            assert part <= sheet.bounds[level - 1]
            assert level == 1 or part > sheet.bounds[level - 2]


def test_the_fullest_shade_is_the_fullest_cell_rounded_up_to_1_2_or_5() -> None:
    tops = sorted(factor * 10**power for factor in (1, 2, 5) for power in range(3))
    for percent in range(101):
        top = next(top for top in tops if top >= percent)
        assert sheet_with([[percent]], 100).bounds[-1] * 100 == pytest.approx(top)


def test_what_is_not_there_has_no_shade() -> None:
    sheet = sheet_with([[0, 5]], 10)
    assert sheet.levels.tolist() == [[0, LEVELS]]
    unknown = HeatCells(sheet.cells.ns, np.array([[0, 10]]), sheet.cells.main, np.array([[np.nan, 0.5]]))
    assert Sheet(sheet.rows, unknown).levels.tolist() == [[-1, LEVELS]]


def test_the_worst_cells_are_one_for_each_gap_in_the_order_of_gaps() -> None:
    sheet = sheet_with([[3, 9, 2], [4, 0, 8]], 10)
    assert sheet.ranked.tolist() == [1, 5, 3, 0, 2]
    gap = GapOfCell(np.array([[7, 7, 7], [2, -1, 2]]), np.array([[20, 20, 20], [30, 0, 30]]))
    assert sheet_with([[3, 9, 2], [4, 0, 8]], 10, gap=gap).ranked.tolist() == [5, 1]
    rows = (SheetRow("waits", heat=Heat.WAIT), SheetRow("idle"))
    assert sheet_with([[3, 9, 2], [4, 0, 8]], 10, rows=rows).ranked.tolist() == [5, 3]


# ---------------------------------------------------------------------------------------------- the lines


@given(
    st.integers(1, 60),
    st.sets(st.integers(0, 59)),
    st.none() | st.integers(0, 5),
    st.integers(1, 60),
    st.booleans(),
)
def test_every_row_has_its_lines_in_order(
    rows: int, apart: set[int], dense: int | None, lines: int, halves: bool
) -> None:
    found = layout(rows, sorted(row for row in apart if row < rows), dense, lines, halves, 3)
    shown = [row for line in found for row in dict.fromkeys(line) if row != BLANK]
    assert list(dict.fromkeys(shown)) == list(range(rows))
    assert shown == sorted(shown)
    if dense is None:
        assert len(found) <= max(lines, rows)
        assert all(upper == lower for upper, lower in found)
    elif halves:
        assert all(upper == lower for upper, lower in found if upper < dense or upper == rows - 1)


def test_two_rows_share_a_line_and_each_keeps_its_shades() -> None:
    ramp = ramp_of(Heat.LOST, "true", BLOCKS)
    assert ramp.colours is not None
    pieces = half_cells(
        [8, 8, -1, 0], [8, 1, 2, -1], (ramp, ramp), [1, 2, 1, 1], HalfCursor(3, -1, "#00e5ff")
    )
    assert [(text, str(style)) for text, style in pieces] == [
        (" ", f"default on {ramp.colours[8]}"),
        ("▀▀", f"{ramp.colours[8]} on {ramp.colours[1]}"),
        ("▄", f"{ramp.colours[2]} on default"),
        ("▀", "#00e5ff on default"),
    ]


@pytest.mark.parametrize("palette", PALETTES)
def test_cells_take_their_widths_with_the_cursor_and_with_numbers(palette: str) -> None:
    ramp, cursor = ramp_of(Heat.LOST, palette, BLOCKS), Style(reverse=True)
    levels, widths = [0, 8, 8, -1, 3], [12, 13, 12, 12, 13]
    for texts in ((), ("1.00 ms", "812 µs", "3 ns", "", "77.0 s")):
        text = "".join(text for text, _ in whole_cells(levels, ramp, widths, (2, cursor), "◆", texts))
        assert cell_len(text) == sum(widths)
        assert ("◆" in text) != bool(texts)
        assert all(number in text for number in texts)


def test_labels_stand_where_their_columns_start_and_leave_out_what_does_not_fit() -> None:
    assert placed(["50", "51", "52", "53"], [0, 2, 4, 6], 8) == "50  52  "
    assert placed(["50", "", "toolong"], [0, 3, 5], 9) == "50       "


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=5), st.integers(0, 10**12), st.integers(1, 60))
def test_a_stacked_bar_is_as_long_as_its_parts_together(parts: list[int], rest: int, width: int) -> None:
    ink = Palette("none").style_of(Role.TEXT)
    whole = sum(parts) + rest
    marks = "abcde"
    drawn = stacked_bar([(part, BarInk(mark, ink)) for part, mark in zip(parts, marks)], whole, width)
    text = "".join(piece for piece, _ in drawn)
    if whole:
        assert abs(len(text) - sum(parts) * width / whole) <= 0.5
        for part, mark in zip(parts, marks):
            assert abs(text.count(mark) - part * width / whole) < 1
    assert text == "".join(sorted(text))


@given(st.integers(0, 10**9), st.integers(1, 10**9), st.integers(1, 40))
def test_a_share_bar_has_the_length_of_the_share_to_a_sixteenth(part: int, whole: int, width: int) -> None:
    bar = share_bar(part, whole, width, BLOCKS)
    eighths = sum(8 if cell == BLOCKS.full else BLOCKS.eighths.index(cell) for cell in bar)
    exact = min(part / whole, 1) * width * 8
    assert abs(eighths - exact) <= 0.5 + 1e-6 or (0 < exact < 1 and eighths == 1)
    assert len(share_bar(part, whole, width, ASCII)) <= width


# ---------------------------------------------------------------------------------------------- the screen


QUESTIONS = (
    "Who works while the device starves?",
    "Is every step like this?",
    "Many small gaps or few large?",
    "Which cause, when?",
    "How far ahead is the host?",
)


async def test_each_map_asks_its_question_opens_on_the_worst_and_tells_it_in_words(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        for number, question in enumerate(QUESTIONS, 1):
            await pilot.press(str(number))
            with case(question):
                sheet, heat_map = sheet_of(app), screen_of(app).map
                assert said(app, "answer").startswith(question)
                assert heat_map.row * heat_map.columns + heat_map.column == sheet.ranked[0]
                worst = int(sheet.cells.ns[heat_map.row, heat_map.column])
                assert format_duration(worst) in said(app, "readout")
                assert all(row.label.strip() in "\n".join(lines_of(heat_map)) for row in sheet.rows[:3])
                assert "100 %" in said(app, "legend") or "50 %" in said(app, "legend")
                assert screen_of(app).copy_text().split(" · ")[0] in said(app, "readout")


async def test_tab_goes_round_the_maps_and_back(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        titles, shown = [said(app, "answer").partition("?")[0]], [screen_of(app).map_shown]
        for key in ("tab", "tab", "tab", "tab", "tab", "shift+tab"):
            await pilot.press(key)
            await pilot.pause()
            titles.append(said(app, "answer").partition("?")[0])
            shown.append(screen_of(app).map_shown)
        assert len(set(titles)) == 5
        assert (titles[5], titles[6]) == (titles[0], titles[4])
        assert [(place - shown[0]) % 5 for place in shown] == [0, 1, 2, 3, 4, 0, 4]


async def test_the_cells_drawn_are_those_of_the_sheet(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 30)) as (app, _):
        heat_map, sheet = screen_of(app).map, sheet_of(app)
        analysis = analysis_of(app)
        assert int(sheet.cells.ns[0].sum()) == analysis.idle_ns
        lines = [line for line in lines_of(heat_map)[2:] if line.strip()]
        label = heat_map.size.width - len(heat_map.render_line(2).text[heat_map.label_cells :])
        for row, levels in enumerate(sheet.levels.tolist()):
            cells = lines[row].ljust(100)[label : label + heat_map.columns]
            drawn = "".join(BLOCKS.shades[level] for level in levels)
            if row == heat_map.row:
                drawn = drawn[: heat_map.column] + BLOCKS.pin + drawn[heat_map.column + 1 :]
            assert lines[row].startswith(sheet.rows[row].label)
            assert cells == drawn


async def test_the_cursor_moves_by_cells_to_the_ends_and_by_rank(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 30)) as (app, pilot):
        heat_map, sheet = screen_of(app).map, sheet_of(app)
        heat_map.move_to(0, 0)
        await pilot.press("right", "l", "j", "right", "h")
        assert (heat_map.row, heat_map.column) == (1, 2)
        await pilot.press("end", "k", "k")
        assert (heat_map.row, heat_map.column) == (0, heat_map.columns - 1)
        await pilot.press("home")
        assert heat_map.column == 0
        await pilot.press("x", "x", "x", "X")
        at = heat_map.row * heat_map.columns + heat_map.column
        assert at in sheet.ranked[:3].tolist()


@pytest.mark.parametrize("number", ["1", "2"])  # over time, by step
async def test_the_cursor_in_the_line_of_the_axis_covers_no_label(trace: Trace, number: str) -> None:
    async with viewing(trace, "heatmap", (80, 24)) as (app, pilot):
        await pilot.press(number, "home")
        await pilot.pause()
        heat_map = screen_of(app).map
        labels = {*lines_of(heat_map)[0].split()}
        await pilot.resize_terminal(80, 9)
        await pilot.pause()
        heat_map.move_to(0, 0)
        for column in range(heat_map.columns):
            await pilot.pause()
            with case(column):
                axis = lines_of(heat_map)[0]
                assert axis[heat_map.label_cells + heat_map._starts()[column]] == BLOCKS.cursor
                assert {*axis.replace(BLOCKS.cursor, " ").split()} <= labels
                if number == "2":
                    assert f"{BLOCKS.cursor}{sheet_of(app).columns[column]}" in axis
            await pilot.press("right")


async def test_only_the_lines_that_the_cursor_touches_are_drawn_again(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        heat_map = screen_of(app).map
        heat_map.move_to(3, 3)
        await pilot.pause()
        asked: list[list[int]] = []
        draw = heat_map.draw_lines
        heat_map.draw_lines = lambda lines: asked.append([*lines]) or draw(lines)  # type: ignore[func-returns-value,method-assign]
        await pilot.press("right")
        await pilot.pause()
        assert sum(map(len, asked)) == 2  # the marks and the row
        await pilot.press("down")
        await pilot.pause()
        assert sum(map(len, asked)) == 5


async def test_the_viewport_and_the_window_of_the_timeline_are_marked(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        heat_map, sheet = screen_of(app).map, sheet_of(app)
        assert BLOCKS.rule not in lines_of(heat_map)[1]
        assert sheet.edges is not None
        app.session.state.look(Viewport(int(sheet.edges[20]), int(sheet.edges[30])))
        app.view_changed()
        await pilot.pause()
        marks = lines_of(heat_map)[1].replace(BLOCKS.cursor, BLOCKS.rule)[heat_map.label_cells :]
        assert marks[20:30] == f"▐{'─' * 8}▌"


async def test_enter_opens_the_time_of_a_cell_with_its_gap(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 30)) as (app, pilot):
        await pilot.press("2")
        await pilot.pause()
        heat_map, sheet = screen_of(app).map, sheet_of(app)
        assert sheet.gap is not None
        gap = int(sheet.gap.gap[heat_map.row, heat_map.column])
        await pilot.press("enter")
        await pilot.pause()
        gaps, viewport = analysis_of(app).gaps, app.session.state.viewport
        assert app.shown == "timeline"
        assert app.session.state.gap == gap == gaps.ranked()[0]
        assert viewport.start_ns <= gaps.start[gap] < gaps.end[gap] <= viewport.end_ns


async def test_enter_on_a_thread_selects_what_it_mostly_did(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 30)) as (app, pilot):
        heat_map, sheet = screen_of(app).map, sheet_of(app)
        (row,) = [
            place for place, sheet_row in enumerate(sheet.rows) if sheet_row.label.endswith("operators")
        ]
        column = int(sheet.cells.ns[row].argmax())
        heat_map.move_to(row, column)
        await pilot.pause()
        words = said(app, "readout")
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"
        assert app.session.state.row >= 0
        assert f"mostly {trace.name(app.session.state.row)}" in words.replace("\n", "")


async def test_more_steps_than_columns_share_them_and_the_worst_one_shows() -> None:
    many = trace_of(training_events(PLAIN, steps=150))
    async with viewing(many, "heatmap", (80, 24)) as (app, pilot):
        await pilot.press("2")
        await pilot.pause()
        sheet = sheet_of(app)
        analysis = analysis_of(app)
        assert sheet.cells.ns.shape[1] == 50
        assert int(sheet.cells.ns[0].sum()) == sum(step.idle_ns for step in analysis.steps)
        assert "the worst of " in said(app, "readout")
        await pilot.press("4")
        await pilot.pause()
        assert int(sheet_of(app).cells.ns.sum()) == analysis.idle_ns
        assert "the worst of its column" in said(app, "readout")


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("number", range(len(heatmap.MAPS)))
def test_maps_of_a_trace_that_begins_later_say_the_same(steps: int, number: int) -> None:
    """Times are told from its beginning."""
    events = training_events(PLAIN, max(steps, 1))
    events = [event for event in events if steps or not event["name"].startswith("ProfilerStep")]
    times = [int(Decimal(event.get("ts", 0)) * 1000) for event in events]
    first = min(filter(None, times))
    texts = []
    for begin in (1_000_000, 3_500_000):
        shifted = [
            {**event, "ts": us(ns - first + begin)} if ns else event for event, ns in zip(events, times)
        ]
        view = heatmap.MAPS[number][1](analyse(trace_of(shifted)))
        sheet = view.sheet(20, 12, halves=False)
        assert sheet is not None
        rows, columns = sheet.cells.ns.shape
        cells = [(row, column) for row in range(rows) for column in range(columns)]
        targets = [target for cell in cells if (target := view.target(sheet, *cell)) is not None]
        words = [view.words(sheet, *cell) for cell in cells]
        spans = [[time - begin for time in (target.start_ns, target.end_ns)] for target in targets]
        texts.append((sheet.rows, sheet.columns, words, spans, view.answer()))
    assert texts[0] == texts[1]


def test_a_shade_of_the_lead_is_twice_as_far_ahead_as_the_one_before() -> None:
    """1 to 8 of the largest; cells partly without a lead come after them, -1 where there is no cell."""
    work = [4096, 4097, 2049, 2048, 1025, 65, 33, 32, 17, 1, 0, 4096, 4096, 0]
    grid = sheet_with([[0] * 11 + [1, 50, 0]], 100)
    capacity = np.array([[100] * 13 + [0]])
    cells = HeatCells(grid.cells.ns, capacity, grid.cells.main, cell_shares(grid.cells.ns, capacity))
    sheet = _LeadSheet(grid.rows, cells, work=np.array([work], np.float64) * 1e3)
    largest = max(work)
    shades = [(level, 2 ** (LEVELS - level + 1)) for level in range(2, LEVELS + 1)]
    leads = [max([1, *(level for level, part in shades if ahead * part > largest)]) for ahead in work[:11]]
    plain = Sheet(grid.rows, cells).levels[0].tolist()
    assert sheet.levels[0].tolist() == [*leads, *(LEVELS + level for level in plain[11:13]), -1]


def test_steps_say_what_the_others_do_at_that_time(trace: Trace) -> None:
    view = StepView(analyse(trace))
    sheet = view.sheet(60, 20, halves=False)
    assert sheet is not None
    assert [row.apart for row in sheet.rows[:4]] == [False, False, True, False]
    worst = max(view._analysis.steps, key=lambda step: step.idle_ns)
    median, most = view.answer().split("; ")[:2]
    assert "median" in median
    assert most == f"most: step {worst.number}, {format_duration(worst.idle_ns)}"
    words = view.words(sheet, 4, 3)
    assert words.startswith("step 8 · ") and "in other steps (median)" in words
    assert "preparing" in view.words(sheet, 1, 3)


def test_the_others_are_those_that_are_under_way_at_that_time() -> None:
    """Steps of other lengths that are over, or have not begun, are not idle then."""
    analysis = maps.analysis_of(maps.steps_of(0, 100, 230, 400), [task(700, 10)])
    view = StepView(analysis)
    sheet = view.sheet(60, 20, halves=False)
    assert isinstance(sheet, _StepSheet)
    cells = StepMap.from_analysis(analysis).cells(sheet.down)
    alone = 0
    for row, (ns, of) in enumerate(zip(cells.ns.tolist(), cells.capacity.tolist())):
        for step in range(4):
            others = [ns[other] for other in range(4) if other != step and of[other]]
            words = view.words(sheet, WHOLE + row, step)
            if of[step] and others:
                assert f" · {format_duration(int(np.median(others)))} in other steps (median)" in words
            else:
                assert "in other steps" not in words
            alone += bool(of[step] and not others)
    assert alone


def test_idle_time_between_steps_is_part_of_the_answer() -> None:
    """Where steps begin with their own work, none has the time before it."""
    analysis = maps.analysis_of([task(0, 10)], maps.steps_of(100, 300, 500))
    between = int(analysis.idle_ns) - sum(step.idle_ns for step in analysis.steps)
    outside = StepMap.from_analysis(analysis).beyond_ns
    answer = StepView(analysis).answer()
    assert answer.endswith(f"; {format_duration(between - outside)} between steps")


def test_a_free_line_parts_idle_time_threads_and_streams_not_the_devices() -> None:
    events = [*process(2, "python", "CPU"), piece(2, 1, "aten::mm", 0, 20, "cpu_op")]
    for device in (0, 1):
        events += process(device, "python", f"GPU {device}")
        events += [piece(device, 7, "gemm", at, 9, "kernel", device=device, stream=7) for at in (30, 60)]
    analysis = analyse(trace_of(events))
    sheet = WorkView(analysis).sheet(60, 20, halves=False)
    assert sheet is not None
    sections = [(thing.lost, thing.device < 0) for thing in WorkMap.from_analysis(analysis).things]
    assert len(set(sections)) == 3 < len(sections) - 1
    assert [row.apart for row in sheet.rows] == [
        place > 0 and section != sections[place - 1] for place, section in enumerate(sections)
    ]


def test_a_thread_has_one_name_without_that_of_its_program() -> None:
    """Clipped labels of one thread had three different ends."""
    events = [*process(0, "python", "GPU 0"), *thread(0, 7, "stream 7"), *process(1, "python", "CPU")]
    for tid, name in ((25738, "python3.10"), (7, "pt_autograd_0")):
        events += [
            *thread(1, tid, f"thread {tid} ({name})"),
            piece(1, tid, "aten::mm", tid, 20, "cpu_op"),
            piece(1, tid, "cudaLaunchKernel", tid + 5, 10, "cuda_runtime", correlation=tid),
            piece(0, 7, "gemm", tid + 30, 100, "kernel", device=0, stream=7, correlation=tid),
        ]
    sheet = WorkView(analyse(trace_of(events))).sheet(60, 20, halves=False)
    assert sheet is not None
    assert {row.label for row in sheet.rows if "GPU" not in row.label and "stream" not in row.label} == {
        f"{name} {doing}" for name in ("25738", "pt_autograd_0") for doing in ("operators", "runtime")
    }


def test_a_cell_opens_its_gap_or_its_own_time_where_that_is_longer() -> None:
    analysis = maps.analysis_of([task(0, 10), task(100, 10)])
    start, end = int(analysis.gaps.start[0]), int(analysis.gaps.end[0])
    for cell in ((start - 20, start + 5), (start - 20, start + 70)):
        target = gap_target(analysis, 0, *cell)
        assert target is not None and (target.start_ns, target.end_ns, target.gap) == (start, end, 0)
    wider = gap_target(analysis, 0, start - 20, start + 71)
    assert wider is not None and (wider.start_ns, wider.end_ns, wider.gap) == (start - 20, start + 71, 0)
    assert gap_target(analysis, -1, 5, 6) == CellTarget(5, 6)
    assert gap_target(analysis, -1, 5, 5) is None


@pytest.mark.parametrize(
    ("begin", "stop", "label"),
    [(-15, 5, "-0.01 µs"), (0, 10, "first work"), (1, 10, ""), (1, 11, "0.01 µs"), (10, 11, "0.01 µs")],
)
def test_a_row_of_time_is_labelled_by_the_round_time_in_it(begin: int, stop: int, label: str) -> None:
    assert time_label(begin, stop, 10) == label


@pytest.mark.parametrize(("span", "apart"), [(1000, {4}), (1040, {7, 8})])
def test_round_times_stand_four_rows_apart_or_as_few_more_as_are_round(span: int, apart: set[int]) -> None:
    """Of 40 rows, 4 are 100 ns; or 104 ns, for which the next round time is 200 ns, of 7.7 rows."""
    labels = time_labels(even_edges(-200, span - 200, 40))
    assert {*np.diff([row for row, label in enumerate(labels) if label]).tolist()} == apart


@given(st.lists(st.integers(0, 99), min_size=1), st.integers(1, 3))
def test_rows_that_share_a_line_have_its_total(values: list[int], rows_a_line: int) -> None:
    lines = [values[first : first + rows_a_line] for first in range(0, len(values), rows_a_line)]
    assert line_totals(np.array(values), rows_a_line) == [sum(line) for line in lines for _ in line]


def test_causes_over_time_have_a_column_for_each_ns_of_a_short_trace_and_say_when_it_is() -> None:
    view = CauseView(maps.analysis_of([task(0, 1), task(3, 1)]))
    sheet = view.sheet(60, 20, halves=False)
    assert sheet is not None and sheet.edges is not None and sheet.column_spans is not None
    assert np.diff(sheet.edges).tolist() == [1] * 4
    assert sheet.column_spans.start.tolist() == sheet.edges[:4].tolist()
    assert sheet.column_spans.end.tolist() == sheet.edges[1:].tolist()
    assert [view.words(sheet, 0, column).split(" · ")[1] for column in (1, 2)] == [
        between(1, 2),
        between(2, 3),
    ]


@pytest.mark.parametrize("lines", range(8, 30))
def test_steps_fill_the_lines_there_are(trace: Trace, lines: int) -> None:
    """Two of whole steps and a free line stand before the others, two rows of which may share a line."""
    view = StepView(analyse(trace))
    for halves in (False, True):
        sheet = view.sheet(60, lines, halves)
        assert sheet is not None
        assert len(sheet.rows) == WHOLE + (lines - WHOLE - 1) * (1 + halves)


def test_rows_of_lengths_are_labelled_by_the_roundest_length_in_them() -> None:
    analysis = maps.analysis_of([task(0, 10)])
    view = LengthView(analysis)
    lengths = LengthMap(
        analysis, np.array([600, 300, 150, 101, 99, 50, 6, 5]), *(np.zeros(7, np.int64) for _ in range(2))
    )
    labels = [row.label.strip() for row in view._rows(lengths, 1)]
    assert labels == [format_duration(ns) if ns else "" for ns in (500, 200, 0, 100, 50, 20, 5)]


def test_a_cell_of_lengths_tells_the_cause_of_the_part_in_it_of_its_longest_interval(trace: Trace) -> None:
    analysis = analyse(trace)
    view, reasons, idle = LengthView(analysis), IdleReasons(analysis), analysis.idle
    sheet = view.sheet(200, 20, halves=False)
    assert sheet is not None and sheet.edges is not None
    cells, told = np.argwhere(sheet.cells.main >= 0).tolist(), set()
    for row, column in cells:
        interval = int(sheet.cells.main[row, column])
        bounds = [
            *sheet.edges[column : column + 2].tolist(),
            int(idle.start[interval]),
            int(idle.end[interval]),
        ]
        _, start, end, _ = sorted(bounds)
        reason = mostly(reasons.between(int(idle.device[interval]), start, end))
        assert reason in view.words(sheet, row, column)
        told.add(reason)
    assert len(told) > 1


def test_lines_of_a_phase_have_its_name_once_and_a_free_line_before_the_next_phase() -> None:
    phases = [SimpleNamespace(name=name, preparing=name == "load") for name in ("load", "train")]
    analysis = SimpleNamespace(trace=SimpleNamespace(start_ns=1000))
    starts, phase = [1000, 3000, 5000, 7000], [0, 0, 1, 1]
    lines = np.array(phase), np.array(starts)
    folded = SimpleNamespace(phases=phases, lines=lambda _: lines, line_ns=lambda _: 2000)
    view = SimpleNamespace(_map=folded, _analysis=analysis, total_cells=8)
    rows = [*FoldView._rows(cast(Any, view), [0, 5, 0, 5], phase, 4)]
    times = [format_time(start - 1000, 1000) for start in starts]
    assert [row.label.split(maxsplit=1) for row in rows[::2]] == [["load", times[0]], ["train", times[2]]]
    assert [row.label.strip() for row in rows[1::2]] == times[1::2]
    assert [row.apart for row in rows] == [False, False, True, False]
    assert [row.heat for row in rows] == [Heat.WAIT] * 2 + [Heat.LOST] * 2
    assert [bool(row.total) for row in rows] == [False, False, False, True], "totals add up to idle time"


def test_half_of_one_gap_is_not_the_longest_of_several() -> None:
    analysis = maps.analysis_of([task(0, 10), task(100, 10)])
    assert LengthView(analysis).answer() == "all 90 ns idle is in one gap"


@pytest.mark.parametrize(("gaps", "shares"), [(119, False), (120, True)])
def test_lengths_share_lines_from_40_gaps_a_line_on(gaps: int, shares: bool) -> None:
    analysis = maps.analysis_of([task(place * 200, 200 - place) for place in range(1, gaps + 2)])
    assert len(analysis.gaps) == gaps
    sheets = [LengthView(analysis).sheet(10, 3, halves) for halves in (False, True)]
    plain, halved = (len(sheet.rows) for sheet in sheets if sheet is not None)
    assert (halved > plain) == shares
    counts = LengthMap.from_analysis(analysis, 3).gaps.tolist()
    assert sheets[0] is not None and [row.total.split()[0] for row in sheets[0].rows] == [*map(str, counts)]


@pytest.mark.parametrize("number", ["2", "5"])  # when it is idle, how far ahead the host is
async def test_lines_of_one_step_are_measured_from_their_start(one_step: Trace, number: str) -> None:
    async with viewing(one_step, "heatmap", (120, 36)) as (app, pilot):
        await pilot.press(number)
        await pilot.pause()
        _, *labels = [label for label in sheet_of(app).columns if label]
        assert labels and all(label.startswith("+") for label in labels)
        assert labels[0] in lines_of(screen_of(app).map)[0]
        preparing, ns = sheet_of(app).rows[0], sheet_of(app).cells.ns[0]
        assert preparing.label.startswith("preparing") and ns.any() and not preparing.total


async def test_one_step_is_told_by_its_phases(one_step: Trace) -> None:
    async with viewing(one_step, "heatmap", (120, 36)) as (app, pilot):
        await pilot.press("2")
        await pilot.pause()
        assert said(app, "answer").startswith("When in the step is it idle?")
        sheet = sheet_of(app)
        lost = [place for place, row in enumerate(sheet.rows) if row.heat is Heat.LOST]
        assert int(sheet.cells.ns[lost].sum()) == analysis_of(app).idle_ns
        assert any(row.label.startswith("preparing") for row in sheet.rows)
        await pilot.press("4")
        await pilot.pause()
        sheet = sheet_of(app)
        assert sheet.edges is not None
        expected = CauseMap(analysis_of(app)).by_time(sheet.edges)
        assert np.array_equal(sheet.cells.ns, expected.ns)


async def test_a_large_trace_says_so_while_its_map_is_made(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heatmap, "MANY_SLICES", 0)
    async with viewing(trace, "heatmap", (100, 30)) as (app, pilot):
        await settled(app, pilot)
        assert int(sheet_of(app).cells.ns[0].sum()) == analysis_of(app).idle_ns
        await pilot.press("2", "3", "4", "3")
        await settled(app, pilot)
        assert said(app, "answer").startswith("Many small gaps")


async def test_a_click_selects_a_cell(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        heat_map = screen_of(app).map
        await pilot.click(HeatMap, offset=(heat_map.label_cells + 17, 2))
        assert (heat_map.row, heat_map.column) == (0, 17)


async def test_without_a_device_it_says_why_and_any_size_will_do(trace: Trace) -> None:
    host = trace_of([*process(1, "Python"), *thread(1, 1, "main"), piece(1, 1, "aten::mm", 5, 5, "cpu_op")])
    async with viewing(host, "heatmap", (80, 24)) as (app, pilot):
        assert said(app, "answer").startswith("Heat maps  No known device")
        await pilot.press("enter", "right", "down", "tab", "x", "y", "end")
        for width, height in ((10, 3), (1, 1), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
    async with viewing(trace, "heatmap", (80, 24)) as (app, pilot):
        for number in "1234":
            await pilot.press(number)
            for width, height in ((1, 1), (40, 10)):
                await pilot.resize_terminal(width, height)
                await pilot.pause()
            sheet = sheet_of(app)
            assert (screen_of(app).map.row, screen_of(app).map.column) == divmod(
                int(sheet.ranked[0]), sheet.cells.ns.shape[1]
            )


async def test_shades_that_mean_another_share_than_before_say_so(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 30)) as (app, pilot):
        for digit, shades in (
            ("3", "100 %  of the time"),
            ("4", "50 % (before: 100 %)  of the time"),
            ("3", "100 % (before: 50 %)  of the time"),
            ("2", "100 %  of the time"),
        ):
            await pilot.press(digit)
            await pilot.pause()
            assert shades in said(app, "legend")
        await pilot.resize_terminal(60, 24)
        await pilot.press("4")
        await pilot.pause()
        assert said(app, "legend").endswith("50 % "), "the numbers come first"


@pytest.mark.parametrize("digit", ["1", "2", "3"])
async def test_the_cells_of_a_map_are_exported(trace: Trace, tmp_path: Path, digit: str) -> None:
    path = tmp_path / "cells.csv"
    async with viewing(trace, "heatmap") as (app, pilot):
        await pilot.press(digit)
        await pilot.pause()
        sheet = sheet_of(app)
        await pilot.press("e")
        await pilot.pause()
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await until(pilot, path.exists)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sum(int(row["ns"]) for row in rows) == int(sheet.cells.ns.sum())
    assert sum(int(row["capacity_ns"]) for row in rows) == int(sheet.cells.capacity.sum())
    places = [(int(row["row"]) - 1, int(row["column"]) - 1) for row in rows]
    assert len({*places}) == len(places), "each cell stands for itself"
    for row, place in zip(rows, places):
        assert row["row_label"].lstrip("'") == " ".join(sheet.rows[place[0]].label.split())
        assert int(row["ns"]) == sheet.cells.ns[place]
        if sheet.columns and sheet.columns[place[1]]:
            assert row["column_label"].lstrip("'") == sheet.columns[place[1]]
    if sheet.edges is not None:
        assert [rows[0]["start_ns"], rows[0]["end_ns"]] == [*map(str, sheet.edges[:2].tolist())]
        assert all(int(row["end_ns"]) - int(row["start_ns"]) >= int(row["ns"]) for row in rows)


async def test_the_legend_without_colours_names_only_shades_that_differ(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (140, 30)) as (app, pilot):
        assert re.search(r"██100 % [^▁]*of the time of a cell$", said(app, "legend"))
        await pilot.press("5")
        await pilot.pause()
        legend = said(app, "legend")
        assert "1:" in legend and " ahead, each shade twice as far ▁" in legend


@pytest.mark.parametrize("width", [66, 80, 120])
async def test_the_last_line_names_the_maps(trace: Trace, width: int) -> None:
    async with viewing(trace, "heatmap", (width, 24)) as (app, _):
        names = "1 who works  2 steps  3 gap lengths  4 causes  5 host lead"
        assert said(app, "keys").startswith(names)
        assert cell_len(said(app, "keys")) <= width


async def test_maps_and_keys_leave_a_blank_before_the_key_of_the_help(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (200, 36)) as (app, _):
        screen = screen_of(app)

        def cells(pieces: Sequence[tuple[str, object]]) -> int:
            return sum(cell_len(text) for text, _ in pieces)

        names, help_cells = cells(screen._named_maps()), cells(screen._help_key())
        every = cells(screen._keys())
        for room in range(names, every + 1):
            stub: Any = SimpleNamespace(size=SimpleNamespace(width=room + help_cells + 1), _is_empty=False)
            for name in ("_named_maps", "_help_key", "hints", "style_of"):
                setattr(stub, name, getattr(screen, name))
            shown = cells(MapScreen._keys(stub))
            assert names <= shown <= room
        assert shown == every


async def test_a_terminal_too_narrow_for_their_names_says_which_map_it_is(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (60, 24)) as (app, _):
        assert said(app, "answer").endswith("1/5")
        assert "1-5 tab map" in said(app, "keys")


async def test_idle_time_of_a_phase_is_told_beside_the_time_of_the_phase(one_step: Trace) -> None:
    async with viewing(one_step, "heatmap", (200, 24)) as (app, pilot):
        await pilot.press("2")
        await pilot.pause()
        assert said(app, "answer").endswith("140 µs idle: 140 µs of 380 µs step")


def test_a_step_is_told_by_its_named_phases_but_its_preparation() -> None:
    phases = [
        SimpleNamespace(name=name, preparing=preparing)
        for name, preparing in (
            ("", False),
            ("data", True),
            ("forward", False),
            ("", True),
            ("backward", False),
        )
    ]
    view: Any = SimpleNamespace(
        _analysis=SimpleNamespace(idle_ns=5000),
        _map=SimpleNamespace(phases=phases),
        _phase_words=lambda phase: f"<{phase.name}>",
    )
    assert FoldView.answer(view) == "5.00 µs idle: <forward>, <backward>"
