"""Keys pressed before there is an answer, and what the timeline shows and opens once there is one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.machine import npu, step, task
from tests.synthetic import trace_of
from tests.ui.rest import threads_held
from tests.ui.viewing import lines_of, open_viewer, until, viewing
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.cause_raster import CauseRaster
from tracetui.analysis.idle.causes import Causes
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.trace.source_files import SourceFile
from tracetui.ui import analysing
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens import timeline as timeline_module
from tracetui.ui.screens.help import help_lines
from tracetui.ui.screens.timeline import TimelineScreen


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of([*npu(), *(task(at, 10) for at in (0, 500, 800, 1000))])


@contextmanager
def held_analysis(monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> Iterator[threading.Event]:
    """An analysis that begins when it is let go."""
    let_go = threading.Event()

    def slowly(trace: Trace, *rules: Any) -> Analysis:
        let_go.wait(60)
        if fails:
            raise ValueError("too many cooks")
        return analyse(trace, *rules)

    monkeypatch.setattr(analysing, "analyse", slowly)
    with threads_held():
        yield let_go
    let_go.set()


@pytest.mark.parametrize(
    ("computing", "typed", "shown"),
    [(901, "", "operators"), (900, "", "timeline"), (901, "w", "timeline"), (901, "G", "gaps")],
)
async def test_a_device_that_computes_for_more_than_90_percent_opens_on_its_operators(
    monkeypatch: pytest.MonkeyPatch, computing: int, typed: str, shown: str
) -> None:
    """Unless somebody has looked at something meanwhile."""
    busy = trace_of([*npu(), task(0, computing - 1), task(999, 1)])
    with held_analysis(monkeypatch) as let_go:
        app = open_viewer(Path("t.json"), ViewerOptions(palette="none"), trace=busy)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press(*typed)
            let_go.set()
            await until(pilot, lambda: not app.session.analysing)
            await pilot.pause()
            assert app.shown == shown


async def test_a_place_that_is_asked_for_is_opened_of_a_busy_device_too() -> None:
    busy = trace_of([*npu(), step(3, 0, 1_000), task(0, 1_000)])
    app = open_viewer(Path("t.json"), ViewerOptions(palette="none", step=3), trace=busy)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: not app.session.analysing)
        await pilot.pause()
        assert app.shown == "timeline"


@pytest.mark.parametrize(("keys", "rank"), [("x", 1), ("3", 3), ("xa", 0)])
async def test_a_gap_asked_for_too_early_is_shown_once_it_is_known(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, keys: str, rank: int
) -> None:
    with held_analysis(monkeypatch) as let_go:
        app = open_viewer(Path("t.json"), ViewerOptions(palette="none"), trace=trace)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press(*keys)
            await pilot.pause()
            assert isinstance(app.screen, TimelineScreen)
            if rank:
                assert f"Gap {rank} is shown as soon as" in lines_of(app.screen.key_line)[0]
            let_go.set()
            await until(pilot, lambda: not app.session.analysing)
            assert app.session.analysis is not None
            ranked = app.session.analysis.gaps.ranked()
            assert app.session.state.gap == (ranked[rank - 1] if rank else -1)
            assert "worst gap" in lines_of(app.screen.key_line)[0]


async def test_a_gap_asked_for_in_vain_is_answered_by_what_went_wrong(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_analysis(monkeypatch, fails=True) as let_go:
        app = open_viewer(Path("t.json"), ViewerOptions(palette="none"), trace=trace)
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("2")
            let_go.set()
            await until(pilot, lambda: not app.session.analysing)
            assert isinstance(app.screen, TimelineScreen)
            assert "too many cooks" in lines_of(app.screen.key_line)[0]


async def test_the_editor_opens_at_the_line_in_the_details(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []

    def editor(_: TraceApp, source: SourceFile, line: int) -> str:
        opened.append((source.path.name, line))
        return ""

    monkeypatch.setattr(timeline_module, "open_in_editor", editor)
    path = samples / "moba" / "trace_view.json"
    with TraceFile(path) as trace_file:
        app = open_viewer(path, ViewerOptions(palette="none"), trace_file)
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)
            await pilot.press("x", "x", "o")
            await pilot.pause()
            assert isinstance(app.screen, TimelineScreen)
            details = app.screen.details
            frame = details.rules.line_of(details.stack)
            assert frame is not None
            assert opened == [("train_moba.py", frame.line)]
            assert f"train_moba.py({frame.line})" in details.text


async def test_what_the_idle_lines_draw_is_made_in_a_thread(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by = []
    make = CauseRaster.from_causes

    def from_causes(causes: Causes, device: int) -> CauseRaster:
        made_by.append(threading.current_thread())
        return make(causes, device)

    monkeypatch.setattr(CauseRaster, "from_causes", from_causes)
    async with viewing(trace, "timeline", (100, 30)) as (app, _):
        assert app.session.analysis is not None
    assert len(made_by) == 1 and threading.main_thread() not in made_by


async def test_steps_too_close_to_tell_apart_have_no_ticks() -> None:
    for count, ticks in ((5, 5), (60, 0)):
        events = [*npu()]
        for number in range(count):
            events += [step(number, number * 1000, 990), task(number * 1000 + 100, 50)]
        async with viewing(trace_of(events), "timeline", (100, 30)) as (app, _):
            assert isinstance(app.screen, TimelineScreen) and app.session.analysis is not None
            assert len(app.session.analysis.steps) == count
            drawn = lines_of(app.screen.minimap)[1].count(BLOCKS.tick)
            assert (drawn > 0) == (ticks > 0) and drawn <= ticks


def test_the_help_explains_every_cause() -> None:
    text = "\n".join(
        "".join(part for part, _ in line) for line in help_lines("timeline", 110, Palette("none"))
    )
    for cause in Cause:
        assert cause_name(cause) in text
        assert cause.facts.meaning in text
