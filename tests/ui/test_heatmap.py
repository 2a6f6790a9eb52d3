"""Heat maps: shades, exact readouts, one cursor, and the interval that a cell opens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.export.training import PLAIN, training_events
from tests.synthetic import piece, process, thread, trace_of
from tests.ui.viewing import SETTLED_S, lines_of, said, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.heat import step_phase, stream_busy
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.bars import Ink, share_bar, stacked_bar
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.screens.heatmap import HeatmapScreen, readout, with_idle
from tracetui.ui.widgets.heat import shade_of, shades
from tracetui.units import format_duration


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of(training_events(PLAIN, steps=6))


def screen_of(app: TraceApp) -> HeatmapScreen:
    assert isinstance(app.screen, HeatmapScreen)
    return app.screen


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_is_never_a_lighter_shade_and_only_nothing_is_blank(a: float, b: float) -> None:
    assert 0 <= shade_of(a) <= 5
    assert (shade_of(a) == 0) == (a == 0)
    assert a > b or shade_of(a) <= shade_of(b)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=5), st.integers(0, 10**12), st.integers(1, 60))
def test_a_stacked_bar_is_as_long_as_its_parts_together(parts: list[int], rest: int, width: int) -> None:
    ink = Palette("none").style_of(Role.TEXT)
    whole = sum(parts) + rest
    marks = "abcde"
    drawn = stacked_bar([(part, Ink(mark, ink)) for part, mark in zip(parts, marks)], whole, width)
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


async def test_the_cells_are_those_of_the_analysis_under_a_row_of_idle_time(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 24)) as (app, _):
        heat_map = screen_of(app).map
        assert app.analysis is not None
        assert heat_map.heat is not None
        columns = heat_map.heat.values.shape[1]
        expected = with_idle(stream_busy(trace, trace.start_ns, trace.end_ns, columns), app.analysis)
        assert np.array_equal(heat_map.heat.ns, expected.ns)
        assert int(heat_map.heat.ns[0].sum()) == app.analysis.idle_ns
        lines = lines_of(heat_map)
        marks = shades(BLOCKS)
        for row, label in enumerate(expected.rows):
            line = lines[1 + row * heat_map.row_height].ljust(100)
            assert line.startswith(label)
            cells = line[heat_map.label_cells + 1 :][:columns]
            drawn = "".join(marks[shade_of(float(value))] for value in expected.values[row])
            if row == heat_map.row:
                drawn = BLOCKS.pin + drawn[1:]
            assert cells == drawn


async def test_the_readout_tells_the_exact_numbers_of_the_cell_under_the_cursor(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 24)) as (app, pilot):
        heat_map = screen_of(app).map
        await pilot.press("right", "l", "j", "right", "h")
        await pilot.pause(SETTLED_S)
        assert (heat_map.row, heat_map.column) == (1, 2)
        assert heat_map.heat is not None
        assert heat_map.heat.rows[1] in said(app, "readout")
        assert f"{format_duration(int(heat_map.heat.ns[1, 2]))}, " in said(app, "readout")
        await pilot.press("k", "k", "h", "h", "h", "h")
        assert (heat_map.row, heat_map.column) == (0, 0)


async def test_enter_opens_the_time_of_the_cell(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (100, 24)) as (app, pilot):
        await pilot.press("tab")
        await pilot.pause(SETTLED_S)
        heat_map = screen_of(app).map
        assert heat_map.heat is not None
        assert "step" in heat_map.heat.rows[0]
        await pilot.press("down", "enter")
        await pilot.pause(SETTLED_S)
        app.action_go("heatmap")
        await pilot.press("tab")
        await pilot.pause(SETTLED_S)
        row, column = np.argwhere(heat_map.heat.end > heat_map.heat.start)[0].tolist()
        heat_map.move_to(row, column)
        await pilot.press("enter")
        await pilot.pause(SETTLED_S)
        assert app.current_mode == "timeline"
        viewport = app.state.viewport
        start, end = int(heat_map.heat.start[row, column]), int(heat_map.heat.end[row, column])
        assert viewport.start_ns <= start < end <= viewport.end_ns


def test_a_cell_that_stands_for_nothing_known_says_so(trace: Trace) -> None:
    heat = step_phase(analyse(trace).steps)
    unknown = np.argwhere(heat.end == heat.start)
    for row, column in unknown.tolist():
        assert "not known" in readout(heat, row, column, 0)


async def test_without_a_device_or_steps_it_says_why_and_any_size_will_do(trace: Trace) -> None:
    host = trace_of([*process(1, "Python"), *thread(1, 1, "main"), piece(1, 1, "aten::mm", 5, 5, "cpu_op")])
    async with viewing(host, "heatmap", (80, 24)) as (app, pilot):
        assert "No device" in said(app, "answer")
        await pilot.press("enter", "right", "down", "tab")
        for width, height in ((10, 3), (1, 1), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
    async with viewing(trace, "heatmap", (80, 24)) as (app, pilot):
        for width, height in ((10, 3), (1, 1), (240, 70)):
            await pilot.resize_terminal(width, height)
            await pilot.pause(SETTLED_S)
        heat_map = screen_of(app).map
        assert heat_map.heat is not None
        assert heat_map.heat.values.shape[1] == 240 - heat_map.label_cells - 1
