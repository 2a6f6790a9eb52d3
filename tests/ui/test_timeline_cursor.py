"""Where the cursor of the timeline goes, on lines and a viewer made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.analysis.heat.test_heat import analysis_of
from tests.analysis.machine import task
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, idle_key
from tracetui.ui.session import Session
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
