"""The memory screen: the curve, what grows, the tables behind it, and the way to the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from simulator.memory import CAST_BYTES, write_run
from tests.analysis import real
from tests.analysis.memory.runs import Held, recorded
from tests.analysis.memory.test_instants import TWO_PROCESSES
from tests.synthetic import trace_of
from tests.ui.training import training
from tests.ui.viewing import analysis_of, case, lines_of, said, settled, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.growth import nth_call
from tracetui.analysis.memory.model import HOST
from tracetui.api import load
from tracetui.export.data_frame import frame_of
from tracetui.export.tables.memory import GROWING, GrowingRows
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.curve import (
    LEVELS,
    area_levels,
    curve_cells,
    curve_line_rows,
    most_in_columns,
    round_up,
)
from tracetui.ui.drawing.glyphs import ASCII, glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens.memory import MemoryScreen
from tracetui.ui.state import Viewport
from tracetui.ui.stories.memory_story import MemoryStory
from tracetui.ui.tables.memory_views import LINES, VIEWS, shown_memory, span_of_curves
from tracetui.ui.tables.memory_views import SIZES as SIZES_VIEW
from tracetui.units import format_bytes

SIZES = [(80, 24), (120, 36), (200, 60)]


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    directory = tmp_path_factory.mktemp("leaking")
    write_run(directory, 4)
    return trace_in(directory)


def trace_in(directory: Path) -> Trace:
    return load(directory / "trace_view.json", cache=False, jobs=1).trace


@asynccontextmanager
async def looking(
    trace: Trace, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[MemoryScreen, TraceApp, Pilot[int]]]:
    """The memory screen, once it has read what there is."""
    async with viewing(trace, "memory", size) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, MemoryScreen)
        await settled(app, pilot)
        await pilot.pause()
        yield screen, app, pilot


def shown_lines(screen: MemoryScreen) -> list[str]:
    return [line.strip() for line in lines_of(screen.table)]


async def test_what_grows_is_told_first_with_its_call_and_neighbours(leaking: Trace) -> None:
    async with looking(leaking, (80, 24)) as (screen, app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            with case(size):
                answer = " ".join(said(app, "answer").split())
                assert "NPU 0: peak 2.33 GB at" in answer
                assert "1.25 GB of it allocated at train_grpo.py(27) forward" in answer
                assert "From step to step: +315 MB in 50, +312 MB in 51, +312 MB in 52" in answer
                row = shown_lines(screen)[1]
                assert (
                    row.startswith("312 MB") and "28th of 28  npu::npu_dtype_cast  train_grpo.py(27)" in row
                )
                story = " ".join(lines_of(screen.query_one("#story"))[1:])
                assert " ".join(story.split()).startswith(
                    "grows 312 MB a step: npu::npu_dtype_cast (Cast), the 28th of 28 calls at "
                    "train_grpo.py(27) forward, after FlashAttentionScore, before Add, alive since "
                    "steps 50, 51, 52, 53."
                )
                assert screen.source.file.endswith("/train_grpo.py") and screen.source.line == 27
                curve = lines_of(screen.curve)
                assert "NPU 0 PTA+GE at" in curve[0] and "2.33 GB allocated, 8.59 GB reserved" in curve[0]
                assert "peak 2.33 GB" in curve[1]
                assert curve[2].startswith("  2.50 GB ") and curve[-1].startswith("      0 B ")
                assert [f"step {number}" in curve[-1] for number in range(50, 54)] == [True] * 4


async def test_the_curve_of_a_device_has_the_steps_of_its_own_process() -> None:
    async with looking(trace_of(TWO_PROCESSES)) as (screen, _, pilot):
        steps = {}
        for _ in range(2):
            curve = lines_of(screen.curve)
            steps[curve[0].split(" PyTorch")[0]] = "step 1" in curve[-1]
            await pilot.press("c")
            await pilot.pause()
    assert steps == {"GPU 0": True, "GPU 1": False}


def test_a_size_of_a_window_counts_what_was_held_before_it() -> None:
    memory = Memory(recorded(1, [Held(10), Held(20)], [(10, 512), (20, 1024)]))
    shown = shown_memory(memory, (50, 60), 0)
    story = MemoryStory(Palette("none"), glyphs(False)).lines(shown, SIZES_VIEW, 0, 0, None, 200, 9)
    assert "".join(text for text, _ in story[1]).startswith("One of 2 blocks: 512 B allocated")
    alone = shown_memory(Memory(recorded(1, [Held(10)], [(10, 512)])), (50, 60), 0)
    story = MemoryStory(Palette("none"), glyphs(False)).lines(alone, SIZES_VIEW, 0, 0, None, 200, 9)
    assert "".join(text for text, _ in story[1]).startswith("The only block: 512 B allocated")
    assert [(size.allocations, size.at_peak) for size in shown.part.sizes] == [(0, 2)]


async def test_enter_goes_to_the_operator_that_allocated_the_block(leaking: Trace) -> None:
    async with looking(leaking) as (screen, app, pilot):
        start = int(screen.curve.time_ns)
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"
        slices, row = leaking.slices, app.session.state.row
        assert leaking.name(row) == "npu::npu_dtype_cast"
        assert slices.start[row] <= start <= slices.end[row]
        step = analysis_of(app).memory.recorded.steps[-1]  # type: ignore[union-attr]
        assert step.start <= start < step.end


async def test_enter_goes_to_the_operator_of_the_first_block_too(leaking: Trace) -> None:
    async with looking(leaking) as (screen, app, pilot):
        await pilot.press("tab", "tab", "tab")
        await pilot.pause()
        assert screen._shown is not None
        assert screen.table.move_to_row(screen._shown.blocks.places.tolist().index(0))
        await pilot.pause()
        assert screen.block == 0
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"


def test_the_rows_of_each_table_are_given_in_the_order_of_the_column_they_are_sorted_by(
    leaking: Trace,
) -> None:
    memory = analyse(leaking).memory
    assert memory is not None
    shown = shown_memory(memory, None, 0)
    for view in VIEWS:
        column = view.columns(shown, Palette("none"), glyphs(False))[view.sort]
        assert column.title and not np.any(np.diff(column.values) > 0), view.name


async def test_the_tables_follow_each_other_and_are_exported_as_they_are_shown(leaking: Trace) -> None:
    async with looking(leaking) as (screen, app, pilot):
        memory = analysis_of(app).memory
        assert memory is not None
        names = []
        for _ in range(4):
            view, rows = screen.view, screen.table.rows
            frame = screen.frame(rows.view)
            assert len(frame) == rows.length == len(rows.view) > 0
            for column in rows.columns:
                if column.key in frame and column.names is None:
                    exported = [column.exported(row) for row in rows.view.tolist()]
                    cells = [None if value is pd.NA else value for value in frame[column.key].tolist()]
                    assert exported == cells, column.key
            names.append(screen.export_name())
            await pilot.press("end", "tab")
            await pilot.pause()
            assert screen.view is not view and screen.table.cursor == 0
        assert names == ["memory_growing", "memory_lines", "memory_sizes", "memory_blocks"]
        assert screen.view.name == "growing"
        (row,) = frame_of(GROWING, GrowingRows(memory)).to_dict("records")
        assert (row["bytes_per_step"], row["nth"], row["of"]) == (CAST_BYTES, 28, 28)
        assert (row["first_step"], row["last_step"], row["before"]) == (50, 53, "FlashAttentionScore")


async def test_each_row_of_each_table_tells_of_a_block_of_its_own(leaking: Trace) -> None:
    async with looking(leaking, (80, 24)) as (screen, _, pilot):
        shown = screen._shown
        assert shown is not None
        blocks, recorded = shown.part.blocks, shown.memory.recorded
        for row, line in enumerate(shown.part.lines):
            place = LINES.block(shown, row)
            assert recorded.operators[blocks.operator[place]] == line.operator
            assert shown.part.at_peak[place] or not line.bytes_at_peak
        for row, size in enumerate(shown.part.sizes):
            assert blocks.bytes[SIZES_VIEW.block(shown, row)] == size.bytes
        await pilot.press("tab", "tab", "tab", "j", "j")
        await pilot.pause()
        story = " ".join(" ".join(lines_of(screen.query_one("#story"))[1:]).split())
        assert "312 MB allocated at" in story and "by the 3rd of 28 calls of that line in step 50" in story
        assert "The device runs Cast for it, after FlashAttentionScore, before Add." in story
        assert screen.curve.time_ns == int(blocks.start[shown.blocks.places[2]])


async def test_the_cursor_of_the_curve_moves_the_other_screens(leaking: Trace) -> None:
    async with looking(leaking) as (screen, app, pilot):
        memory = analysis_of(app).memory
        assert memory is not None
        before = screen.curve.time_ns
        await pilot.press("left", "left")
        await pilot.pause()
        at = screen.curve.time_ns
        assert at < before and app.session.state.place.time_ns == at
        held = format_bytes(memory.curves[0].allocated_at(at))
        assert f"{held} allocated" in lines_of(screen.curve)[0]
        await pilot.press("c")
        await pilot.pause()
        assert "NPU 0 APP at" in lines_of(screen.curve)[0]
        app.session.move_to(before)
        app.view_changed()
        await pilot.pause()
        assert screen.curve.time_ns == before


async def test_a_window_limits_the_curve_and_the_tables(leaking: Trace) -> None:
    async with looking(leaking) as (screen, app, pilot):
        memory = analysis_of(app).memory
        assert memory is not None
        step = memory.recorded.steps[1]
        state = app.session.state
        state.go(replace(state.place, window=(step.start, step.end)))
        app.view_changed()
        await pilot.pause()
        await settled(app, pilot)
        await pilot.pause()
        part = memory.between(step.start, step.end)
        assert screen._shown is not None and screen._shown.part.lines == part.lines
        assert "step 51" in lines_of(screen.curve)[-1] and "step 52" not in lines_of(screen.curve)[-1]
        assert screen.block >= 0 or screen.view.name == "growing"


async def test_nothing_recorded_is_said_with_how_to_record_it() -> None:
    async with looking(training(), (80, 24)) as (screen, app, pilot):
        assert "profile with profile_memory=True" in said(app, "answer")
        assert said(app, "keys") == "T timeline  q quit\n? keys", "the others have nothing to work on"
        await pilot.press("j", "left", "enter", "tab", "c", "o", "y", "e")
        await pilot.pause()
        assert app.screen is screen


async def test_one_step_is_never_said_to_grow(tmp_path: Path) -> None:
    write_run(tmp_path, 1)
    async with looking(trace_in(tmp_path)) as (screen, app, pilot):
        assert screen.view.name == "lines"
        assert "Of one step nothing can be said about growth." in said(app, "answer")
        await pilot.press("tab", "tab", "tab")
        await pilot.pause()
        assert screen.view.name == "growing" and not any(shown_lines(screen)[1:])


async def test_the_peak_of_a_real_run_is_told_by_line(real_traces: Path) -> None:
    trace = real.npu(real_traces, "level2/rank0").trace
    async with looking(trace, (200, 60)) as (screen, app, pilot):
        answer = said(app, "answer")
        assert (
            "NPU 0: peak 1.32 GB at 0.067157 s in step 50: 322 MB of it allocated at main.py(354)" in answer
        )
        elsewhere = "736 MB of it is in no recorded block: allocated before, or left out"
        assert elsewhere in answer
        assert "Of one step nothing can be said" in answer
        assert shown_lines(screen)[1].startswith("245 MB")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert f"{elsewhere}.\n" in said(app, "answer")
        assert "Of one step" not in said(app, "answer") and "cached" not in said(app, "answer")


def test_a_curve_holds_until_its_next_sample() -> None:
    time, values = np.array([10, 12, 40]), np.array([5, 9, 2])
    edges = np.array([0, 10, 20, 30, 40, 50])
    assert most_in_columns(time, values, edges).tolist() == [-1, 9, 9, 9, 9]
    unknown = np.array([5, -1, 2])
    assert most_in_columns(time, unknown, edges).tolist() == [-1, 5, 5, 5, 5]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(-1, 9)), max_size=12),
    st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True),
)
def test_each_column_shows_the_most_that_is_held_in_it(
    samples: list[tuple[int, int]], ends: list[int]
) -> None:
    samples, edges = sorted(samples, key=lambda sample: sample[0]), sorted(ends)
    time, values = (np.array([columns[part] for columns in samples], np.int64) for part in (0, 1))
    expected = []
    for start, end in zip(edges, edges[1:]):
        before = [held for at, held in samples if at < start and held >= 0][-1:]
        inside = [held for at, held in samples if start <= at < end]
        expected.append(max([-1, *before, *inside]))
    assert most_in_columns(time, values, np.array(edges)).tolist() == expected


@given(st.lists(st.integers(-1, 10**15), min_size=1, max_size=9), st.integers(1, 9))
def test_an_area_is_as_high_as_its_value(values: list[int], rows: int) -> None:
    top = round_up(max(*values, 1))
    assert max(values) <= top and 3 * top <= 4 * max(*values, 1)
    levels = area_levels(np.array(values), top, rows)
    for value, column in zip(values, levels.T.tolist()):
        exact = max(value, 0) * rows * LEVELS / top
        assert abs(sum(column) - exact) <= 1 and bool(sum(column)) == (value > 0)
        assert column == sorted(column)  # nothing hangs in the air
    line = curve_line_rows(np.array(values), top, rows)
    for row in range(rows):
        cells = curve_cells(levels, line, row, ASCII)
        for cell, level, at in zip(cells, levels[row].tolist(), line.tolist()):
            assert cell == (ASCII.rule if at == row and not level else ASCII.shades[level])
    assert ((line >= -1) & (line < rows)).all()
    assert (line[np.array(values) < 0] == -1).all()


def test_calls_are_counted_in_their_step_and_at_their_line() -> None:
    held = [Held(10, 20), Held(30, 40, line=9), Held(50, 60), Held(110, 120), Held(150)]
    blocks = recorded(2, held).blocks
    assert [nth_call(blocks, place) for place in range(5)] == [(1, 2), (1, 1), (2, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"host": (5, 95), "NPU": (30, 60), "NPU 1": (20, 40), "none": ()}, (20, 61)),  # those of devices
        ({"host": (5, 95), "none": ()}, (10, 90)),  # else of the host, as far as the trace goes
        ({"NPU": (2, 200)}, (10, 90)),
        ({"NPU": (2, 9)}, (2, 10)),  # none of it lies in the trace
        ({"NPU": (2, 10)}, (10, 11)),
    ],
)
def test_curves_are_shown_from_their_first_sample_to_their_last(
    times: dict[str, tuple[int, ...]], expected: tuple[int, int]
) -> None:
    curves: Any = [
        SimpleNamespace(device=HOST if name == "host" else name, time=np.array(time, np.int64))
        for name, time in times.items()
    ]
    assert span_of_curves(curves, None, Viewport(10, 90)) == Viewport(*expected)
    assert span_of_curves(curves, (3, 4), Viewport(10, 90)) == Viewport(3, 4)
