"""The screen of gaps: cells against the analysis, the story's sums, and one selection for all screens."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.color import ColorType
from textual.widgets import Input

from tests.analysis.gpu import gpu, host, kernel, launch
from tests.export.training import PLAIN, training_events
from tests.synthetic import piece, process, thread, trace_of
from tests.ui.training import training
from tests.ui.viewing import analysis_of, lines_of, open_viewer, said, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.frames import FrameRules
from tracetui.trace.model import Activity, Trace
from tracetui.trace.stack import Frame
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.messages import AnalysisFailed
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.export_dialog import TableExport
from tracetui.ui.screens.gaps import GapsScreen
from tracetui.ui.stories.describe import describe_worst
from tracetui.ui.stories.gap_story import GapStory
from tracetui.ui.tables.gap_columns import gaps_answer, located_task
from tracetui.units import format_duration, format_percent


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of(training_events(PLAIN, steps=6))


@pytest.fixture(scope="module")
def hostile() -> Trace:
    return trace_of(training_events())


def screen_of(app: TraceApp) -> GapsScreen:
    assert isinstance(app.screen, GapsScreen)
    return app.screen


async def test_the_rows_are_the_gaps_and_their_causes_worst_first(trace: Trace) -> None:
    async with viewing(trace, "gaps", (160, 50)) as (app, pilot):
        analysis, gaps = analysis_of(app), analysis_of(app).gaps
        causes = analysis.causes.of_gaps(len(gaps))
        table = screen_of(app).table
        assert table.rows.view.tolist() == gaps.ranked().tolist()
        lines = lines_of(table)
        assert "#▲" in lines[0]
        for rank, gap in enumerate(gaps.ranked().tolist()[: len(lines) - 1], 1):
            cells = re.split(r" {2,}", lines[rank].strip())
            assert cells[0] == str(rank)
            assert cells[1] == format_duration(int(gaps.lost[gap]))
            assert format_duration(int(gaps.end[gap] - gaps.start[gap])) in cells
            assert trace.name(int(gaps.after[gap])) in cells
            word = cause_name(Cause(int(causes[gap]))) if causes[gap] >= 0 else "-"
            if gaps.communication[gap] > gaps.idle[gap]:
                word = "comm"  # the trace has no planes that tell waits from transfers
            assert word in cells
        assert said(app, "answer").startswith(f"Gaps  {gaps_answer(analysis, Measure.LOST)}")
        (main, ns), *_ = analysis.causes.by_cause().items()
        assert f"most {cause_name(main)} {format_percent(ns, analysis.idle_ns)}" in said(app, "answer")
        await pilot.press("slash", *main.label.split(".")[-1])
        await pilot.pause()
        assert set(causes[table.rows.view].tolist()) == {main}, "the filter finds a cause"


async def test_the_story_tells_the_chain_and_its_parts_add_up(trace: Trace) -> None:
    async with viewing(trace, "gaps") as (app, pilot):
        analysis, gaps = analysis_of(app), analysis_of(app).gaps
        gap = screen_of(app).table.cursor_row
        chain = analysis.launch_chains.chain(int(gaps.after[gap]))
        story = said(app, "story")
        assert chain is not None
        for hop in chain.hops:
            assert re.search(rf"^{hop.name} .*{re.escape(trace.name(hop.row))}$", story, re.MULTILINE)
        frame = analysis.rules.line_of(chain.stack)
        assert frame is not None
        assert f"{frame.file}({frame.line})" in story
        copied = screen_of(app).copy_text()
        assert f"idle_ns: {gaps.idle[gap]}\n" in copied and copied.endswith(story)
        for _ in range(5):
            numbers = [
                int(text.replace(",", "").replace(".", "")) if "." in text else int(text)
                for text in re.findall(r"\d[\d,]*(?:\.\d{3})?(?= [+=µ])", said(app, "story").splitlines()[1])
            ]
            gap = screen_of(app).table.cursor_row
            assert sum(numbers[:-1] or numbers) == numbers[-1] == gaps.end[gap] - gaps.start[gap]
            await pilot.press("down")
            await pilot.pause()


async def test_the_cursor_is_the_selected_gap_of_all_screens(trace: Trace) -> None:
    async with viewing(trace, "gaps") as (app, pilot):
        ranked = analysis_of(app).gaps.ranked().tolist()
        table = screen_of(app).table
        before = app.session.state.viewport
        assert app.session.state.gap == -1, "opening the screen moves nothing"
        await pilot.press("down", "down")
        await pilot.pause()
        assert app.session.state.gap == ranked[2]
        assert app.session.state.viewport != before
        await pilot.press("x")
        await pilot.pause()
        assert (app.session.state.gap, table.cursor_row) == (ranked[3], ranked[3])
        await pilot.press("2")
        await pilot.pause()
        assert (app.session.state.gap, table.cursor_row) == (ranked[1], ranked[1])
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"
        assert app.session.state.gap == ranked[1]


async def test_a_filter_of_nothing_says_so_and_a_ranked_gap_drops_it(trace: Trace) -> None:
    async with viewing(trace, "gaps") as (app, pilot):
        table = screen_of(app).table
        await pilot.press("slash", "q", "z", "z")
        await pilot.pause()
        assert len(table.rows.view) == 0
        assert any("No name contains 'qzz'" in line for line in lines_of(table))
        assert "0/0" in said(app, "answer")
        await pilot.press("enter", "1")
        await pilot.pause()
        assert app.session.state.filter == ""
        assert table.cursor_row == analysis_of(app).gaps.ranked()[0]
        await pilot.press("slash", "m", "a", "t", "m", "escape")
        await pilot.pause()
        assert len(table.rows.view) == len(analysis_of(app).gaps)
        assert not screen_of(app).query_one("#filter", Input).display


async def test_hostile_names_reach_the_screen_as_plain_text(hostile: Trace) -> None:
    for size in ((80, 24), (200, 60)):
        async with viewing(hostile, "gaps", size) as (app, pilot):
            for _ in range(8):
                await pilot.press("down")
            await pilot.pause()
            texts = [*lines_of(screen_of(app).table), said(app, "story"), said(app, "answer")]
            for text in texts:
                assert all(
                    unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in text.replace("\n", "")
                ), text


async def test_the_table_is_exported_in_the_order_shown_with_exact_values(
    hostile: Trace, tmp_path: Path
) -> None:
    path = tmp_path / "gaps.csv"
    async with viewing(hostile, "gaps") as (app, pilot):
        gaps = analysis_of(app).gaps
        for _ in range(2):  # the second time over the file of the first
            await pilot.press("e")
            await pilot.pause()
            app.screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await until(
                pilot, lambda: not isinstance(app.screen, TableExport) or "overwrites" in said(app, "title")
            )
        assert "enter overwrites" in said(app, "title")
        await pilot.press("escape")
        await pilot.pause()
        view = screen_of(app).table.rows.view.tolist()
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["idle_ns"]) for row in rows] == [int(gaps.idle[gap]) for gap in view]
    assert [int(row["start_ns"]) for row in rows] == [int(gaps.start[gap]) for gap in view]
    numbers = [*(str(step.number) for step in analysis_of(app).steps), ""]
    steps = [numbers[step] for step in gaps.step[view].tolist()]
    assert [row["step"] for row in rows] == steps
    assert not [row for row in rows if row["after"][:1] in ("=", "+", "-", "@")]


async def test_without_a_device_or_an_analysis_the_screen_says_why() -> None:
    host = trace_of([*process(1, "Python"), *thread(1, 1, "main"), piece(1, 1, "aten::mm", 5, 5, "cpu_op")])
    assert not analyse(host).devices
    async with viewing(host, "gaps", (80, 24)) as (app, pilot):
        assert "No known device in this trace" in said(app, "answer")
        await pilot.press("enter", "down", "1", "equals_sign", "greater_than_sign", "e")
        assert app.shown == "gaps"
        app.session.analysis = None
        app.post_message(AnalysisFailed(app.session, "The analysis failed: too many cooks."))
        await pilot.pause()
        assert "too many cooks" in said(app, "answer")


@pytest.mark.parametrize(
    ("palette", "kinds"),
    [
        ("none", set()),
        ("ansi", {ColorType.STANDARD}),
        ("256", {ColorType.EIGHT_BIT}),
        ("true", {ColorType.TRUECOLOR}),
    ],
)
async def test_the_first_frame_is_drawn_in_the_colours_of_the_palette(
    trace: Trace, palette: str, kinds: set[ColorType]
) -> None:
    app = open_viewer(Path("trace_view.json"), ViewerOptions(palette=palette), trace=trace)
    async with app.run_test(size=(80, 24)) as pilot:
        app.action_go("gaps")
        await until(pilot, lambda: not app.session.analysing)
        table = screen_of(app).table
        styles = [segment.style for y in range(table.size.height) for segment in table.render_line(y)]
        colours = [colour for style in styles if style for colour in (style.color, style.bgcolor) if colour]
        assert {colour.type for colour in colours} - {ColorType.DEFAULT} == kinds


async def test_it_works_in_any_size(trace: Trace) -> None:
    async with viewing(trace, "gaps", (80, 24)) as (app, pilot):
        for width, height in ((20, 5), (1, 1), (300, 80), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
        lines = lines_of(screen_of(app).table)
        assert len(lines) >= 10
        assert all(word in lines[0] for word in ("idle", "gap", "Python line", "waited for"))
        assert not any("##" in line for line in lines), "a number is cut"


async def test_a_key_ranks_gaps_by_something_else_on_all_screens(trace: Trace) -> None:
    async with viewing(trace, "gaps", (160, 50)) as (app, pilot):
        gaps = analysis_of(app).gaps
        heads = ("lost time", "idle time", "exposed communication", "lost time")
        for by, head in zip((Measure.LOST, Measure.IDLE, Measure.COMMUNICATION, Measure.LOST), heads):
            ranked = gaps.ranked(by).tolist()
            assert app.session.ranked_by is by
            assert f"{len(gaps)} gaps by {head}, " in said(app, "answer")
            assert screen_of(app).table.rows.view.tolist() == app.session.ranked.tolist() == ranked
            assert app.session.picture is not None
            worst = [gap for gap in ranked[:9] if gaps.measured(by)[gap]]
            assert app.session.picture.ranks == {gap: rank for rank, gap in enumerate(worst, 1)}
            await pilot.press("1")
            assert screen_of(app).table.cursor_row == ranked[0]
            await pilot.press("b")
            await pilot.pause()
        await pilot.press("T", "b")
        await pilot.pause()
        assert app.session.ranked_by is Measure.COMMUNICATION
        await pilot.press("escape", "1")
        assert app.session.state.gap == gaps.ranked(Measure.COMMUNICATION)[0]
        await pilot.press("x", "x", "b", "x")
        assert app.session.state.gap == gaps.ranked(Measure.LOST)[0], (
            "the worst one, whatever was selected before"
        )


@pytest.mark.parametrize(("count", "words"), [(10, ""), (11, "the worst 10 hold 90.9 %")])
def test_of_more_than_ten_gaps_the_share_of_the_worst_is_told(count: int, words: str) -> None:
    analysis = analyse(training([(0, None, "first"), *[(10_000, None, "mm")] * count]))
    answer = gaps_answer(analysis, Measure.IDLE)
    assert answer.startswith(f"{count} gaps by idle time") and answer.partition("; ")[2] == words


def test_the_order_changes_what_the_worst_gaps_are_said_to_be(trace: Trace) -> None:
    analysis = analyse(trace)
    pen = Pen(Palette("none"), BLOCKS)
    for by, word in ((Measure.LOST, "lost"), (Measure.IDLE, "idle"), (Measure.COMMUNICATION, "comm")):
        ns = analysis.gaps.measured(by)
        worst = [gap for gap in analysis.gaps.ranked(by).tolist() if ns[gap]]
        lines = ["".join(text for text, _ in line) for line in describe_worst(analysis, worst, by, pen)]
        assert all(f"{format_duration(int(ns[gap]))} {word}" in line for gap, line in zip(worst, lines))
        assert any("  comm  " in line for line in lines) == (by is not Measure.IDLE)


def launched_gpu(tasks: Sequence[tuple[str, str, int, int, int]]) -> Trace:
    """Tasks, each (operator, task, line, start, dur), on streams of their own, whose operators begin 70 ns
    before.
    """
    events = gpu()
    for number, (name, kernel_name, line, start, dur) in enumerate(tasks):
        category = "gpu_memcpy" if kernel_name.startswith("Memcpy") else "kernel"
        events += [
            host(start - 70, 20, name, stack=f"train.py({line}): main"),
            launch(start - 60, 5, number),
            kernel(start, dur, number, kernel_name, stream=number, category=category),
        ]
    return trace_of(events)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        pytest.param(
            [("aten::copy_", "Memcpy DtoD (Device -> Device)", 20, 230, 300)],
            {Measure.IDLE: ("latency", "train.py(99) main"), Measure.LOST: ("copies", "")},
            id="mostly a copy",
        ),
        pytest.param(
            [("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum", 20, 230, 300)],
            {Measure.IDLE: ("latency", "train.py(99) main"), Measure.LOST: ("comm", "")},
            id="mostly communication",
        ),
        pytest.param(
            [("aten::copy_", "Memcpy DtoD (Device -> Device)", 20, 230, 10)],
            {Measure.IDLE: ("python", "train.py(99) main"), Measure.LOST: ("python", "train.py(99) main")},
            id="mostly idle",
        ),
    ],
)
def test_a_gap_is_told_by_what_takes_most_of_what_it_is_ranked_by(
    tasks: list[tuple[str, str, int, int, int]], expected: dict[Measure, tuple[str, str]]
) -> None:
    """The line beside a cause of idle time is of that, whoever issued what else ran."""
    before, after = ("aten::mm", "gemm", 10, 100, 100), ("aten::mm", "slow", 99, 630, 50)
    analysis = analyse(launched_gpu([before, *tasks, after]))
    for by, (reason, line) in expected.items():
        (told,) = describe_worst(analysis, [0], by, Pen(Palette("none"), BLOCKS))
        assert reason in told[2][0] and told[3][0].strip() == line, (by, told)


@pytest.mark.parametrize(
    ("copy_start", "words"), [(230, "in 2 stretches, the longest before slow"), (200, "before slow")]
)
def test_the_stretches_of_a_gap_are_counted_where_there_are_several(copy_start: int, words: str) -> None:
    """Idle before and after a copy, or after one that begins where the task ends."""
    copy = ("aten::copy_", "Memcpy DtoD (Device -> Device)", 20, copy_start, 300)
    tasks = [("aten::mm", "gemm", 10, 100, 100), copy, ("aten::mm", "slow", 99, 630, 50)]
    story = GapStory(Palette("none"), BLOCKS).lines(analyse(launched_gpu(tasks)), 0, 1, 200)
    text = " ".join("".join(text for text, _ in line) for line in story)
    assert re.search(rf"GPU 0 was idle 1[03]0 ns {words}\.", text)
    assert "the GPU 0" not in text and "The GPU 0" not in text


def test_without_python_a_gap_is_told_by_its_operator() -> None:
    events = gpu()
    for number, start in enumerate((100, 300, 500)):
        events += [launch(start - 60, 5, number), kernel(start, 100, number)]
    analysis = analyse(trace_of([*events, host(230, 20, "aten::mm")]))
    told = describe_worst(analysis, [0, 1], Measure.IDLE, Pen(Palette("none"), BLOCKS))
    assert [line[3][0].strip() for line in told] == ["aten::mm", "(between operators)"]


def test_the_line_of_a_gap_that_has_no_file_is_its_function() -> None:
    """A function of the interpreter is in no file, and so has no line."""
    events = [*gpu(), host(0, 900, "<built-in function sum>", "python_function", **{"Python id": 1})]
    for number, start in enumerate((100, 300)):
        events += [host(start, 20), launch(start + 10, 5, number), kernel(start + 30, 100, number)]
    story = GapStory(Palette("none"), BLOCKS).lines(analyse(trace_of(events)), 0, 1, 100)
    lines = [" ".join("".join(text for text, _ in line).split()) for line in story]
    assert "line <built-in function sum>" in lines
    assert not any("(0)" in line for line in lines)


def test_the_first_slice_of_a_trace_ends_a_gap_like_any_other() -> None:
    """Without a host a task stands first, the later one of two streams."""
    events = [*gpu(), kernel(300, 50, 1, "first row", stream=1), kernel(100, 50, 2, stream=2)]
    analysis, palette = analyse(trace_of(events)), Palette("true")
    assert analysis.gaps.after[0] == 0
    (worst,) = describe_worst(analysis, [0], Measure.IDLE, Pen(palette, BLOCKS))
    assert worst[-1] == ("first row", palette.style_of(Activity.COMPUTE))
    assert [located_task(analysis, row) for row in (0, -1)] == ["first row · Stream 1", "-"]


@pytest.mark.parametrize(("count", "words"), [(1, "1 frame of torch"), (2, "2 frames of torch")])
def test_frames_of_a_package_are_counted(count: int, words: str) -> None:
    story: Any = SimpleNamespace(_glyphs=BLOCKS, _dim=None)
    stack = (Frame("/usr/lib/python3/site-packages/torch/nn/f.py", 5, "relu"),) * count
    (line,) = GapStory._stack_lines(story, stack, False, FrameRules())
    assert line[0][0].strip(f" {BLOCKS.dot}") == words


@pytest.mark.parametrize("devices", [1, 2, 3])
def test_several_devices_are_counted(devices: int) -> None:
    events = [event for device in range(devices) for event in process(device, "python", f"GPU {device}")]
    events += [piece(device, 7, "k", at, 10, "kernel") for device in range(devices) for at in (0, 50)]
    answer = gaps_answer(analyse(trace_of(events)), Measure.IDLE)
    assert answer.endswith(f"{devices} devices") == (devices > 1)
