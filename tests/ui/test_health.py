"""The health screen: the findings, their story and place; the first line and the marks of other screens."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.analysis.health import planting
from tests.analysis.real import read
from tests.ui.training import screen_text, viewer
from tests.ui.viewing import said, settled, timeline
from tracetui.ui.app import TraceApp
from tracetui.ui.screens.health import HealthScreen

STACKS = "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz"
SENTENCE = "the first 8 kernel launches have no task on the device"


def opened(path: Path) -> TraceApp:
    """The viewer on a trace that is read."""
    return viewer(path.parent, read(path))


async def test_a_recording_that_lost_tasks_says_so_everywhere(real_traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(planting.lose(planting.Events.read(real_traces / STACKS), 0, 0.15)))
    app = opened(path)
    async with app.run_test(size=(130, 36)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert text[0].startswith(f" Idle time and steps are wrong: {SENTENCE}")
        assert "(!)" in text[1] and timeline(app).top_line.size.height == 2
        await pilot.press("B")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, HealthScreen) and screen.finding is not None
        text = screen_text(app)
        assert "Not all of this recording can be believed. wrong: steps, idle time." in text[0]
        assert "device.head_lost" in text[2] and "step 6" in text[2]
        shown = "\n".join(text)
        assert f"{SENTENCE[:1].upper()}{SENTENCE[1:]}" in shown and "Where: " in shown and "warm-up" in shown
        start, end = screen.finding.windows[0]
        exported = screen.frame(screen.table.rows.view)
        assert exported["id"].tolist()[0] == "device.head_lost"
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"
        view = app.session.state.viewport
        assert view.start_ns <= start and end <= view.end_ns
        await pilot.press("G")
        await pilot.pause()
        assert screen_text(app)[0].startswith("Gaps (!)  ")
        await pilot.press("O")
        await pilot.pause()
        assert screen_text(app)[0].startswith("Operators  ")


async def test_a_healthy_recording_has_no_line_and_no_marks(real_traces: Path) -> None:
    app = opened(real_traces / STACKS)
    async with app.run_test(size=(130, 36)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert text[0].startswith(" h100  GPU") and "(!)" not in text[0]
        await pilot.press("B")
        await pilot.pause()
        text = screen_text(app)
        assert "This recording can be believed; 2 notes." in text[0]
        assert "host.overhead" in text[2] and "steps.few" in text[3]
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "health"
        assert "no place in the timeline" in screen_text(app)[-1]


async def test_without_findings_no_key_opens_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetui.ui.screens.health.FindingRows", lambda _: SimpleNamespace(rows=()))
    app = viewer(tmp_path)
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.press("B")
        await settled(app, pilot)
        assert "can be believed" in said(app, "answer") and "open" not in said(app, "keys")
