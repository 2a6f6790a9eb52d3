"""Exposed communication on the idle line, the map and the top line: what, how long, and for whom."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tests.ui.viewing import lines_of, timeline, viewing
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.trace.model import Trace
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.idle_line import IdleLine, most_exposed
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.state import Viewport, ViewState

WAITED, MOVED = 600_000, 300_000


@pytest.fixture(scope="module")
def trace() -> Trace:
    """50 µs of computing, 600 of waiting for peer 5, 300 of moving, 50 of idle time, then 10 of computing."""
    moving = operation(50_000, WAITED + MOVED, count=4_000_000)
    late = plane_task(51_000, WAITED - 1000, peer=5)
    return trace_of([*npu(), *group(0), task(0, 50_000), moving, late, task(1_000_000, 10_000)])


@pytest.fixture(scope="module")
def analysis(trace: Trace) -> Analysis:
    return analyse(trace)


def drawn(analysis: Analysis, columns: int, start: int = 0, end: int = 1_010_000) -> str:
    """The idle line between two times from the start of the trace."""
    first = analysis.trace.start_ns
    state = ViewState(Viewport(first + start, first + end))
    line = IdleLine(Picture(analysis.trace, analysis), Palette("none"), BLOCKS)
    segments = line.draw(0, -1, state.viewport.edges(columns))
    text = "".join(segment.text for segment in segments)
    assert len(text) == columns
    return text


def test_the_line_says_for_whom_the_device_waits(analysis: Analysis) -> None:
    text = drawn(analysis, 101)
    assert text[:5].isspace(), "it computes"
    assert text[5:95].startswith("▚▚ 1 waiting 600 µs for peer 5 of group 271 ▚▚")
    assert text[66:95] == "═" * 29, "a column of both shows what there is more of"
    assert not set(text[95:]) & set("▚═─"), "it is idle, then it computes"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (60, "waiting 600 µs for peer 5 of group 271"),
        (40, " 1 waiting 600 µs "),
        (16, " 1 600 µs "),
        (9, " 1 "),
    ],
)
def test_as_much_is_said_as_fits(analysis: Analysis, columns: int, words: str) -> None:
    text = drawn(analysis, columns)
    assert words in text
    assert "▚" in text


def test_what_is_idle_for_a_moment_stays_idle(analysis: Analysis) -> None:
    assert "▚" not in drawn(analysis, 10, 950_000, 1_000_000)


def test_a_column_is_what_most_of_it_is() -> None:
    edges = np.array([0, 10, 20, 30, 40], np.int64)
    ns = np.array([[6, 2, 4, 9], [4, 3, 0, 0], [0, 0, 0, 0]], np.int64)
    free = np.array([True, True, True, False])
    assert most_exposed(ns, edges, free).tolist() == [0, 1, -1, -1]


async def test_the_top_line_and_the_map_tell_it_too(trace: Trace) -> None:
    async with viewing(trace, "timeline", (120, 30)) as (app, _):
        screen = timeline(app)
        (top,) = lines_of(screen.top_line)
        assert "NPU computing 5.9 % waiting 59.4 % moving 29.7 % idle 5.0 %" in top
        assert "▚" * 50 in lines_of(screen.minimap)[0] and "═" * 20 in lines_of(screen.minimap)[0]
    async with viewing(trace, "timeline", (80, 24)) as (app, _):
        assert "NPU waiting 59.4 % idle 5.0 %" in lines_of(timeline(app).top_line)[0]
