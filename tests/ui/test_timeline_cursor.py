"""Where the cursor of the timeline goes, on lines and a viewer made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.analysis.heat.test_heat import analysis_of
from tests.analysis.machine import task
from tracetui.analysis.series import Series
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, idle_key
from tracetui.ui.session import Session
from tracetui.ui.state import Viewport
from tracetui.ui.timeline_cursor import TimelineCursor


def cursor_on(*lines: Any, at: int = 0) -> tuple[TimelineCursor, Session]:
    """A cursor on one of these lines, -1: on none yet, of a device that is idle twice."""
    analysis = analysis_of([task(0, 10), task(100, 10), task(300, 10)])
    session = Session(Path("trace_view.json"), None, None, analysis.trace)
    session.analysis = analysis
    found = SimpleNamespace(lines=lines, index=lambda _: at)
    tracks = SimpleNamespace(lines=found, picture=Picture(analysis.trace, analysis), columns=100)
    viewer = SimpleNamespace(selection_changed=lambda: None)
    return TimelineCursor(cast(Any, viewer), session, cast(Any, tracks)), session


def test_it_steps_from_gap_to_gap_and_stays_on_the_first() -> None:
    device = 0
    cursor, session = cursor_on(SimpleNamespace(kind=LineKind.IDLE, device=device, key=idle_key("NPU 0")))
    steps: Sequence[int] = (1, 1, 1, -1, -1)
    gaps = []
    for by in steps:
        assert cursor.step(by)
        gaps.append(session.state.gap)
    assert gaps == [0, 1, 1, 0, 0]
    assert session.state.row == -1
    assert session.analysis is not None
    assert session.state.place.time_ns == session.analysis.gaps.start[0]


@pytest.mark.parametrize("shown", [(0, 100), (110, 210), (210, 310)])
@pytest.mark.parametrize("by", [-1, 1])
def test_on_a_curve_it_goes_to_the_most_of_the_next_column_else_to_its_start(
    monkeypatch: pytest.MonkeyPatch, shown: tuple[int, int], by: int
) -> None:
    """Columns of 10 ns; from what is off screen it comes to the first or the last of them."""
    cursor, session = cursor_on(SimpleNamespace(kind=LineKind.CURVE, curve=("a curve",)))
    state, before = session.state, Viewport(*shown)
    monkeypatch.setattr(cursor._tracks, "columns", 10)
    first, end = state.bounds.start_ns, state.bounds.end_ns
    assert (first, end) == (0, 310)
    series = Series(np.arange(25, 300, 7), np.arange(40) * 11 % 17 + np.arange(40) / 100)
    monkeypatch.setattr(
        cursor._tracks, "picture", SimpleNamespace(curve=lambda _: SimpleNamespace(series=series))
    )
    for time in range(first, end):
        state.go(replace(state.place, viewport=before, row=0, gap=0, time_ns=time))
        assert cursor.step(by)
        column = min(max((time - before.start_ns) // 10, -1), 10) + by
        start = min(max(before.start_ns + 10 * column, first), end - 1)
        stop = max(before.start_ns + 10 * column + 10, start + 1)
        values = {at: value for at in range(start, stop) if (value := series.at(at)) is not None}
        place = state.place
        assert place.time_ns == max(values, key=lambda at: (values[at], -at), default=start)
        assert (place.cursor, place.row, place.gap) == (("a curve",), -1, -1)
        assert place.viewport.start_ns <= place.time_ns < place.viewport.end_ns
        assert (place.viewport == before) == (before.start_ns <= place.time_ns < before.end_ns)


@pytest.mark.parametrize(
    ("at", "by", "place"), [(-1, 1, 0), (-1, -1, 0), (0, 1, 2), (2, 1, None), (2, -1, 1), (1, -3, 0)]
)
def test_it_goes_to_the_line_beside_over_the_parts_of_a_curve(
    monkeypatch: pytest.MonkeyPatch, at: int, by: int, place: int | None
) -> None:
    cursor, _ = cursor_on(*(SimpleNamespace(part=part) for part in (0, 1, 0)), at=at)
    gone: list[int] = []
    monkeypatch.setattr(cursor, "to_line", lambda line, time_ns: gone.append(line))
    cursor.to_line_beside(by)
    assert gone == ([] if place is None else [place])
