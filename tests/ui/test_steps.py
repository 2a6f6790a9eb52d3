"""The screen of steps: the columns of step_trace_time.csv, what a step adds up to, and how steps differ."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.health import planting
from tests.comparison.test_walls import steps_of
from tests.export.training import PLAIN, training_events
from tests.synthetic import trace_of
from tests.ui.viewing import analysis_of, lines_of, said, settled, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.comparison.step_parts import StepParts, step_parts
from tracetui.export.tables.steps import StepRows
from tracetui.trace.model import Trace
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.screens.steps import StepsScreen, steps_answer
from tracetui.ui.stories.row_story import story_of
from tracetui.ui.stories.step_story import step_causes, step_story
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_duration, format_ms, format_percent

SUMS = (
    "computing_ns",
    "communication_not_overlapped_ns",
    "overlapped_ns",
    "communication_ns",
    "free_ns",
    "stage_ns",
    "bubble_ns",
    "communication_not_overlapped_exclude_receive_ns",
    "preparing_ns",
    "idle_ns",
)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of(training_events(PLAIN, steps=6))


def drawn_cells(line: str) -> list[str]:
    return [cell for cell in re.split(r" {2,}", line.strip()) if not set(cell) <= set("█▓▒░━")]


async def check_rows(trace: Trace) -> None:
    async with viewing(trace, "steps", (220, 40)) as (app, _):
        assert isinstance(app.screen, StepsScreen)
        assert app.session.analysis is not None
        lines = lines_of(app.screen.table)[1:]
        for place, step in enumerate(app.session.analysis.steps):
            cells = drawn_cells(lines[place])
            assert cells[0] == str(step.number)
            assert cells[1 : 1 + len(SUMS)] == [format_ms(getattr(step, key)) for key in SUMS]


async def test_the_rows_are_the_steps_of_the_analysis(trace: Trace) -> None:
    await check_rows(trace)


async def test_the_rows_of_a_real_trace_are_those_of_its_analysis(real_traces: Path) -> None:
    path = next((real_traces / "npu" / "level2").rglob("trace_view.json"))
    await check_rows(real.read(path))


async def test_the_rows_are_exported_in_the_order_shown(trace: Trace) -> None:
    async with viewing(trace, "steps") as (app, _):
        assert isinstance(app.screen, StepsScreen)
        app.screen.table.sort_by(0, True)
        frame = app.screen.frame(app.screen.table.rows.view)
        assert frame["step"].tolist() == [10, 9, 8, 7, 6, 5]


async def test_the_story_tells_causes_and_what_the_step_hangs_on(trace: Trace) -> None:
    async with viewing(trace, "steps") as (app, pilot):
        analysis = app.session.analysis
        assert analysis is not None
        assert isinstance(app.screen, StepsScreen)
        await settled(app, pilot)
        first_ns = sum(analysis.critical_in_step(0).values())
        from_start = f"Critical path {format_duration(first_ns)} from its start on the host: "
        assert said(app, "story").splitlines()[-1].startswith(from_start)
        await pilot.press("down")
        await settled(app, pilot)
        await pilot.pause()
        *_, idle, preparing, critical = said(app, "story").splitlines()
        main, ns = next(iter(analysis.causes.by_step(1).items()))
        step = analysis.steps[1]
        share = format_percent(ns, step.idle_ns)
        assert idle.startswith(f"Idle {format_duration(step.idle_ns)}: {cause_name(main)} {share}")
        assert preparing.startswith(f"Preparing {format_duration(step.preparing_ns)}: ")
        kinds = analysis.critical_in_step(1)
        of_step = f"Critical path {format_duration(sum(kinds.values()))} since the step before ended: "
        assert critical.startswith(of_step)
        assert all(f"{kind.label} " in critical for kind in kinds)
        app.screen.failed("causes", "This failed.")
        app.screen._explained = None
        await pilot.press("down")
        assert said(app, "story").endswith("This failed.")


async def test_enter_opens_the_step_in_the_timeline(trace: Trace) -> None:
    async with viewing(trace, "steps") as (app, pilot):
        assert app.session.analysis is not None
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        step = app.session.analysis.steps[2]
        assert (app.shown, app.session.state.row) == ("timeline", step.row)
        assert (
            app.session.state.viewport.start_ns
            <= step.start_ns
            < step.end_ns
            <= app.session.state.viewport.end_ns
        )


async def test_without_steps_it_says_why(trace: Trace) -> None:
    bare = trace_of([e for e in training_events(PLAIN, steps=1) if not e["name"].startswith("ProfilerStep")])
    async with viewing(bare, "steps", (80, 24)) as (app, pilot):
        assert "No ProfilerStep in this trace" in said(app, "answer")
        await pilot.press("enter", "down", "greater_than_sign")
        assert app.shown == "steps"


def parts_of(*rest_ns: int) -> list[StepParts]:
    return [StepParts(500, 40_000, 3_000, rest) for rest in rest_ns]


def test_a_step_adds_up_and_is_compared_with_the_median() -> None:
    """The last step lasts until the device is done, 140 ns later than the others'."""
    analysis = steps_of([100, 120, 130, 110], tail=140)
    parts, places = step_parts(analysis), range(4)
    first, second, third, last = (step_story(analysis, place, parts, places) for place in places)
    assert third[0] == (
        "Until the next step's start: preparing 0.010 + computing 0.050 + exposed 0.000 + rest 0.070 = "
        "0.130 µs"
    )
    assert second[2] == "It is the median step."
    assert third[2].startswith("Against the median step: +10 ns; rest +10 ns, preparing +0 ns")
    assert first[2].startswith("Against the median step: -20 ns; rest -20 ns")
    assert last[0].startswith(
        "From its start until its work on the device ends: preparing 0.150 + computing "
    )
    assert last[0].endswith(" = 0.200 µs")
    assert last[2] == "No step starts where it ends: it is not compared with the median step."
    assert "Too few" in step_story(analysis, 0, parts, [0, 2, 3])[2]
    #: the second step has the median wall, whatever its parts are
    walls = [step.wall for step in parts]
    parts = [StepParts(0, 0, 0, walls[0]), StepParts(walls[1]), StepParts(0, 0, walls[2]), parts[3]]
    story = step_story(analysis, 2, parts, places)
    assert story[0].endswith(" = 0.130 µs; the columns count its own work, whenever that runs")
    assert story[2] == (
        "Against the median step: +10 ns; exposed +130 ns, preparing -120 ns, computing +0 ns, rest +0 ns"
    )


def test_of_one_step_no_median_is_told() -> None:
    part = StepParts(preparing=10, computing=20)
    assert steps_answer([part], 0, ()).endswith("; 30 ns")
    assert steps_answer([part, part], 0, ()).endswith("; median 30 ns")


def test_a_step_without_parts_is_compared_with_none(trace: Trace) -> None:
    """Of such a step nothing is measured: it does not reach to its own start."""
    analysis = analyse(trace)
    sums, _, difference = step_story(analysis, 0, [StepParts()] * len(analysis.steps), [0, 1])
    assert sums.startswith("From its start until its work on the device ends: ")
    assert difference == "No step starts where it ends: it is not compared with the median step."


async def test_the_rest_beside_copies_is_named_where_a_cause_has_room(real_traces: Path) -> None:
    async with viewing(real.npu(real_traces, "level2/rank0").trace, "steps") as (app, _):
        analysis = app.session.analysis
        assert analysis is not None
        for width, end in ((60, "of which copies 831 µs"), (80, "the rest P python 26.6 %")):
            _, line, _ = step_causes(analysis, 0, app.palette, app.glyphs, width)
            assert "".join(piece for piece, _ in line).endswith(end)


async def test_a_narrow_terminal_shows_the_sentences_on_a_step_whole(trace: Trace) -> None:
    def sentences(text: str) -> list[str]:
        _, _, below_rule = text.partition("─\n")
        return below_rule.partition("\nIdle ")[0].split()

    async with viewing(trace, "steps", (200, 40)) as (app, pilot):
        story = app.screen.query_one("#story", Lines)
        wide = story.text
        await pilot.resize_terminal(60, 40)
        await pilot.pause()
        assert sentences(story.text) == sentences(wide)
        assert story.size.height == len(story.lines) > len(wide.splitlines())


def test_the_answer_counts_and_shares() -> None:
    answer = steps_answer(parts_of(0, 0, 0))
    assert answer.startswith(
        "3 steps: preparing 1.1 %, computing 92.0 %, exposed comm 6.9 %, rest 0.0 %; median "
    )


async def test_a_slow_data_loader_is_in_the_bars(real_traces: Path) -> None:
    """ResNet-50 without workers: a third of each step is the time until it has its data."""
    trace = real.read(next((real_traces / "gpu" / "workers0").glob("*.gz")))
    async with viewing(trace, "steps", (80, 24)) as (app, _):
        assert isinstance(app.screen, StepsScreen)
        assert "6 steps: preparing 34.9 %, computing 55.5 %" in said(app, "answer")
        (row,) = (line for line in lines_of(app.screen.table) if line.split()[:1] == ["5"])
        assert 8 <= row.count("▒") <= 12 and "71.453" in row


async def test_steps_that_cannot_be_believed_are_left_out_of_what_is_usual(
    real_traces: Path, tmp_path: Path
) -> None:
    events = planting.Events.read(next((real_traces / "gpu" / "workers0").glob("*.gz")))
    path = tmp_path / "lost.json"
    path.write_text(json.dumps(planting.lose_step(events, 3)), encoding="utf-8")
    async with viewing(real.read(path), "steps", (160, 24)) as (app, pilot):
        answer = said(app, "answer")
        assert answer.startswith("Steps, ms (!)  5 steps: preparing 36.3 %") and "without step 8" in answer
        story = app.screen.query_one("#story", Lines).text
        assert "median step" in story
        analysis = analysis_of(app)
        _, _, difference = story_of(analysis, "step", StepRows(analysis), 0, 160, False)[:3]
        assert difference in story, "the command tells the same"
        await pilot.press("M", "2")
        await until(pilot, lambda: "6 steps, each idle" in said(app, "answer"))
        answer = said(app, "answer")
        assert "without step 8, not to be believed" in answer and "most: step 8" not in answer
    async with viewing(real.read(path), "steps", (160, 24), all_steps=True) as (app, pilot):
        answer = said(app, "answer")
        assert answer.startswith("Steps, ms (!)  6 steps: ") and "without step" not in answer
        await pilot.press("M", "2")
        await until(pilot, lambda: "6 steps, each idle" in said(app, "answer"))
        assert "most: step 8" in said(app, "answer") and "without step" not in said(app, "answer")


@pytest.mark.parametrize("width", [80, 120])
async def test_the_bars_name_their_inks_whole(trace: Trace, width: int) -> None:
    async with viewing(trace, "steps", (width, 24)) as (app, _):
        assert isinstance(app.screen, StepsScreen)
        head = lines_of(app.screen.table)[0]
        assert "prep▒comp━comm▓rest█" in head
        assert "preparing" in head
