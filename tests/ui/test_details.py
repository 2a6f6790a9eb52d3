"""The pane under the tracks: its rule tells how much is hidden, at any width, and how to get there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analysis import real
from tests.ui.training import STEPS, training
from tests.ui.viewing import analysis_of, case, lines_of, said, settled, viewing
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.kernels import KernelFacts
from tracetui.export.tables.gaps import lead_lost_document
from tracetui.trace.stack import Frame
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.screen_specs import SCREENS, ScreenScope
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.ui.stories.describe import describe_kernel, run_lines
from tracetui.ui.widgets.details import Details, SelectionFacts


async def test_the_number_of_hidden_lines_is_never_cut() -> None:
    async with viewing(training(), "timeline", (40, 24)) as (app, pilot):
        await pilot.press("x")
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.query_one(Details)
        for width in (40, 60, 80, 120):
            await pilot.resize_terminal(width, 24)
            with case(width):
                hidden = len(details.lines) - details.size.height + 1
                assert hidden > 0
                assert lines_of(details)[0].endswith(f"─ tab: {hidden} more")
                await pilot.press("tab", "j")
                assert lines_of(details)[0].endswith(f"j: {hidden - 1} more")
                await pilot.press("k", "tab")


async def test_tab_goes_to_the_details_and_back() -> None:
    async with viewing(training(), "timeline") as (app, pilot):
        assert isinstance(app.screen, TimelineScreen)
        for pane in (app.screen.details, app.screen.tracks):
            await pilot.press("tab")
            assert pane.has_focus


async def test_a_click_on_one_of_the_worst_gaps_goes_there_also_when_scrolled() -> None:
    async with viewing(training([*STEPS, *STEPS]), "timeline", (80, 20)) as (app, pilot):
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.details
        for scrolled, y, rank in ((0, 1, 0), (0, 2, 1), (0, 4, 3), (1, 2, 2)):
            app.select(-1)
            await pilot.pause()
            details.action_scroll_lines(scrolled)
            assert lines_of(details)[2].split()[0] == str(scrolled + 1)
            await pilot.click(details, (3, y))
            await pilot.pause()
            assert app.session.gap_rank(app.session.state.gap) == rank


async def test_a_warning_is_told_to_its_end() -> None:
    async with viewing(training(), "timeline", (60, 24)) as (app, pilot):
        app.session.problem = "word " * 30 + "end"
        assert isinstance(app.screen, TimelineScreen)
        details = app.screen.query_one(Details)
        details.renew()
        await pilot.pause()
        text = " ".join(line.strip() for line in lines_of(details)[1:])
        assert "word " * 30 + "end" in text


async def test_all_keys_named_in_the_last_line_are_read_at_80_columns() -> None:
    async with viewing(training(), "timeline", (80, 24)) as (app, pilot):
        for screen in SCREENS:
            if screen != "timeline" and SCREENS[screen].scope is ScreenScope.TRACE:
                app.action_go(screen)
                await pilot.pause()
                assert app.shown == screen and 0 < len(said(app, "keys")) <= 80, screen


async def test_a_kernel_tells_what_the_table_beside_the_trace_says_of_it(real_traces: Path) -> None:
    """kernel_details.csv, row 1: TransData on AI_VECTOR_CORE, 32 blocks, shapes, types, formats, PMU."""
    trace = real.npu(real_traces, "level2/rank0").trace
    (row,) = [row for row in range(len(trace.slices)) if trace.name(row) == "trans_TransData_0"]
    async with viewing(trace, "timeline", (200, 60)) as (app, pilot):
        app.select(row)
        await settled(app, pilot)
        text = app.screen.query_one(Details).text
        assert "TransData on AI_VECTOR_CORE, 32 blocks, waited 0 ns, state dynamic, hf32 NO" in text
        assert "inputs   [32,3,224,224] FLOAT NCHW\n" in text
        assert "outputs  [32,1,224,224,8] FLOAT NC1HWC0\n" in text
        assert "aiv_vec_ratio 0.188" in text and "aic_mac_ratio" not in text
        app.select(-1)
        await settled(app, pilot)
        assert "TransData on" not in app.screen.query_one(Details).text


async def test_a_gap_tells_where_the_host_lost_its_lead(real_traces: Path) -> None:
    """The host waited for the device at main.py(350) before gap 30: JSON says the same in `lead_lost`."""
    trace = real.npu(real_traces, "level2/rank0").trace
    async with viewing(trace, "timeline", (120, 40)) as (app, pilot):
        analysis = analysis_of(app)
        for screen in ("timeline", "gaps"):
            app.action_go(screen)
            with case(screen):
                app.go_to_gap(30)
                await settled(app, pilot)
                text = app.screen.query_one(Details).text if screen == "timeline" else said(app, "story")
                document = lead_lost_document(analysis, 30)
                assert document is not None and (document["tasks"], document["line"]) == (1, 350)
                assert (
                    "The host was 1 task (828 µs) ahead; it lost that when it enqueued nothing for 5.62 ms "
                    "from 0.019898 s on: S sync at imagenet_script/main.py(350) train."
                    in " ".join(text.split())
                )
                without = next(
                    gap for gap in range(len(analysis.gaps)) if lead_lost_document(analysis, gap) is None
                )
                app.go_to_gap(without)
                await settled(app, pilot)
                text = app.screen.query_one(Details).text if screen == "timeline" else said(app, "story")
                assert "it lost that when" not in text and "The" in text


async def test_a_gap_is_told_at_once_where_it_is_known_already_where_the_host_lost_its_lead(
    real_traces: Path,
) -> None:
    trace = real.npu(real_traces, "level2/rank0").trace
    async with viewing(trace, "timeline", (120, 40)) as (app, pilot):
        assert lead_lost_document(analysis_of(app), 30) is not None
        details = app.screen.query_one(Details)
        app.session.state.go(replace(app.session.state.place, gap=30))
        details.show_state()
        assert "it lost that when" in " ".join(details.text.split())
        app.session.state.go(replace(app.session.state.place, gap=-1))
        details.show_state()
        assert "it lost that when" not in details.text
        await pilot.pause()


def test_tensors_are_told_one_after_the_other_where_all_are_known() -> None:
    pen = Pen(Palette("none"), BLOCKS)
    tensors = {
        "type": "Mul",
        "input_shapes": '"2,3;"',
        "input_types": "FLOAT;\x1b[31mINT",
        "output_shapes": "1;2",
    }
    whole = KernelFacts(tensors, None, None, 3, {})
    lines = ["".join(text for text, _ in line).strip() for line in describe_kernel(whole, pen)]
    assert lines[0] == "kernel   Mul 3 mix blocks"
    assert lines[1].startswith("inputs   [2,3] FLOAT; [] ") and "\x1b" not in lines[1]
    assert lines[2] == "outputs  [1]; [2]"
    odd = KernelFacts({"input_shapes": "1;2;3", "input_types": "FLOAT"}, None, None, None, {"x": 0.0})
    (line,) = describe_kernel(odd, pen)
    assert "".join(text for text, _ in line).strip() == "inputs   1;2;3  FLOAT"
    assert describe_kernel(KernelFacts({}, None, None, None, {}), pen) == []
    for alone, words in (
        (KernelFacts({"type": "Mul"}, None, None, None, {}), "kernel   Mul"),
        (KernelFacts({}, 12, None, None, {}), "kernel    waited 12 ns"),
    ):
        (line,) = describe_kernel(alone, pen)
        assert "".join(text for text, _ in line).strip() == words


async def test_warnings_are_followed_by_what_is_known_of_the_run(real_traces: Path) -> None:
    trace = real.npu(real_traces, "level2/rank0").trace
    async with viewing(trace, "timeline", (120, 40)) as (app, pilot):
        details = app.screen.query_one(Details)
        assert "rank 0" not in details.text
        await pilot.press("x", "exclamation_mark")
        await settled(app, pilot)
        assert "run      rank 0, Level2, CPU + NPU" in details.text
        assert "with_stack true" in details.text and "\noptions " in details.text
        await pilot.press("x")
        await settled(app, pilot)
        assert "with_stack" not in details.text
        await pilot.press("escape", "escape")


def test_what_is_written_of_a_run_is_escaped_and_fits() -> None:
    facts = [("run", ["a\x1b[2Jb", "[red]"]), ("options", [f"option_{n} {n}" for n in range(20)])]
    lines = ["".join(text for text, _ in line) for line in run_lines(facts, Pen(Palette("none"), BLOCKS), 60)]
    assert not any("\x1b" in line for line in lines) and "[red]" in lines[0]
    assert len(lines) > 3 and max(map(len, lines)) <= 60
    assert lines[1].startswith(" options  option_0 0, ") and lines[-1].endswith("option_19 19")


def test_without_a_stack_none_is_shown() -> None:
    details: Any = SimpleNamespace(stack=())
    assert Details.toggle_stack(details) is False


@pytest.mark.parametrize(("selection", "label"), [((0, -1), "line"), ((-1, 0), "launched")])
def test_a_line_is_that_of_a_slice_or_where_a_gap_is_launched(selection: tuple[int, int], label: str) -> None:
    stack = (Frame("/work/train.py", 12, "loss"),)
    details: Any = SimpleNamespace(
        _main=None, chain=None, _selection=selection, stack=stack, rules=FrameRules(), _facts=SelectionFacts()
    )
    lines = Details._stack_lines(details, Pen(Palette("none"), ASCII))
    assert lines[0][0][0].strip() == label
