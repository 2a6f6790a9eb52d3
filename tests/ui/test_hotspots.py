"""Hotspots: the numbers are those of the analysis, and every key leads from a line to its gaps and source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.analysis.machine import operator
from tests.pages import check
from tests.synthetic import trace_of
from tests.ui.training import screen_text, training, viewer
from tests.ui.viewing import analysis_of, case, said, settled, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.critical.whatif import LineWhatIf
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.signatures import Signature
from tracetui.analysis.modules import ModuleIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.api import load
from tracetui.export.queries.named_rows import find_in_trace
from tracetui.export.queries.relations import trace_relations
from tracetui.export.tables.row_ids import ids_of
from tracetui.places import row_of_kind
from tracetui.trace.source_files import SourceFile
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens.hotspots import HotspotsScreen
from tracetui.ui.stories.line_story import LineStory, what_if_words
from tracetui.ui.stories.nested_story import NestedStory
from tracetui.ui.stories.row_story import story_of
from tracetui.ui.tables.hotspot_columns import line_label, line_of, lines_holding, signatures_answer
from tracetui.ui.tables.hotspot_views import LINES
from tracetui.ui.terminal import in_ascii
from tracetui.units import format_duration, format_percent

NO_BAR = str.maketrans("", "", "#|")


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TraceApp:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace_view.json").write_text("[]")
    (tmp_path / "train.py").write_text("".join(f"line_{n}\n" for n in range(1, 40)))
    return viewer(tmp_path)


async def hotspots(app: TraceApp, pilot: Pilot[int]) -> HotspotsScreen:
    await pilot.pause()
    await pilot.press("H")
    await settled(app, pilot)
    assert isinstance(app.screen, HotspotsScreen)
    return app.screen


async def test_lines_are_ranked_and_add_up_to_the_idle_time(app: TraceApp) -> None:
    assert app.session.analysis is not None
    lines = app.session.analysis.lines
    assert [(line_label(line), line.idle_ns) for line in lines] == [
        ("train.py(12) loss", 80_000),
        ("net.py(7) forward", 10_000),
        ("(no stack)", 9_000),
    ]
    assert sum(line.idle_ns for line in lines) == app.session.analysis.idle_ns
    assert app.session.analysis.stacks.idle_ns == app.session.analysis.idle_ns
    async with app.run_test(size=(160, 30)) as pilot:
        await hotspots(app, pilot)
        text = screen_text(app)
    assert "NPU idle 99.0 us of 104 us (95.2 %); 1 line holds 80 %; 9.1 % has no stack" in text[0]
    assert [line.split()[:3] for line in text[2:5]] == [
        ["80.0", "us", "80.8"],
        ["10.0", "us", "10.1"],
        ["9.00", "us", "9.1"],
    ]


async def test_it_fits_any_terminal_and_shows_the_source(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await hotspots(app, pilot)
        for size in ((80, 24), (200, 60), (40, 10)):
            await pilot.resize_terminal(*size)
            with case(size):
                assert all(len(line) <= size[0] for line in screen_text(app))
                assert screen.panes.source.source is not None
                assert screen.panes.source.render_line(screen.panes.source.size.height // 2 + 1).text.strip()
                assert any(line.strip().startswith(">") or "> 12" in line for line in screen_text(app))


def test_the_story_tells_causes_operators_and_syncs_of_the_line() -> None:
    loop = ["/work/train.py(12): loss", "/work/train.py(30): main"]
    steps = [(0, None, "first"), (40_000, loop, "mm"), (20_000, loop, "mul"), (7_000, loop, "mm")]
    trace = training(steps, [operator(1_000_500, 9_000, "aten::item", stack=loop)])
    analysis = analyse(trace)
    (line,) = analysis.lines
    story = LineStory(Palette("none"), ASCII)

    def story_of(width: int, height: int) -> list[str]:
        return [
            "".join(text for text, _ in pieces) for pieces in story.lines(analysis, line, None, width, height)
        ]

    causes = [
        f"{cause_name(cause)} {format_duration(ns)} {format_percent(ns, 67_000)}"
        for cause, ns in line.causes.items()
    ]
    text = story_of(100, 20)
    title = "-- train.py(12) loss - idle 67.0 µs in 3 gaps, longest 40.0 µs "
    assert text[0] == title.ljust(100, "-")
    assert story_of(len(title), 1) == [title]
    assert story_of(len(title) - 1, 1) == ["-- train.py(12) loss - idle 67.0 µs in 3 gaps ".ljust(62, "-")]
    assert story_of(40, 1) == ["-- train.py(12) loss - idle 67.0 µs ----"]
    assert [" ".join(row[:43].translate(NO_BAR).split()) for row in text[1:-1]] == causes
    assert text[1].endswith("55.8 µs  (between operators)")
    assert text[-1] == "S 40.0 µs of idle exposed by aten::item, which waits once, 9.00 µs"
    few = [" ".join(row.translate(NO_BAR).split()) for row in story_of(60, 4)]
    assert few[1:] == [causes[0], "others 11.2 µs 16.7 %", text[-1]]


def test_a_trial_is_of_the_line_charged_else_of_that_of_the_row() -> None:
    sync: Any = SimpleNamespace(file="train.py", line=3, function="main", backward=False)
    charged: Any = SimpleNamespace(**{**vars(sync), "backward": True})
    module = nested(ModuleIdle)
    for line, row, key in (
        (charged, sync, line_of(charged)),
        (None, sync, line_of(sync)),
        (None, module, None),
        (None, None, None),
    ):
        screen: Any = MagicMock(line=line, chosen=row)
        assert HotspotsScreen.key.fget(screen) == key  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("idle", "words"), [((80, 20), "1 holds 80 %"), ((79, 21), "2 hold 80 %"), ((40, 30, 30), "3 hold 80 %")]
)
def test_signatures_are_counted_until_they_hold_most(idle: tuple[int, ...], words: str) -> None:
    found = [SimpleNamespace(idle_ns=ns, gaps=2) for ns in idle]
    analysis: Any = SimpleNamespace(signatures=found, idle_ns=100)
    count = len(idle)
    assert signatures_answer(analysis) == (
        f"{count} signatures of {2 * count} gaps, 100 ns of idle time; {words}"
    )


def test_the_story_of_each_kind_of_row(request: pytest.FixtureRequest) -> None:
    loop = ["/work/train.py(12): loss", "/work/train.py(30): main"]
    steps = [(0, None, "first"), (40_000, loop, "mm"), (20_000, loop, "mul"), (7_000, loop, "mm")]
    names = ("item", "_local_scalar_dense", "is_nonzero")
    syncs = [
        operator(1_000_500 + 9_000 * at, 8_000, f"aten::{name}", stack=loop) for at, name in enumerate(names)
    ]
    analysis = analyse(training(steps, syncs))
    pages = []
    for relation in trace_relations(analysis).values():
        kind = relation.table.kind
        for identity in [*ids_of(relation.table, relation.rows())][:1] if kind else ():
            named = find_in_trace(analysis, row_of_kind(kind, identity))
            assert named is not None
            story = story_of(analysis, kind, named.rows, named.place, 100, True)
            pages += ["", f"{kind}:", *story] if story else []
    check("\n".join(pages[1:]), "stories", request)


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_no_line_of_a_story_is_wider_than_its_pane(width: int) -> None:
    """Also where operators have long names; screens wrap the sentences of a step."""
    long = "very_" * 30
    stacks = [[f"/work/train.py({number}): loss", "/work/train.py(30): main"] for number in (12, 13)]
    steps = [(ns, stacks[ns % 2], f"{long}{ns}") for ns in (0, 40_000, 20_001, 7_000, 9_003, 11_000)]
    analysis = analyse(training(steps))
    stories = {
        kind: [
            story_of(analysis, kind, named.rows, named.place, width, False)
            for identity in ids_of(relation.table, relation.rows())
            if (named := find_in_trace(analysis, row_of_kind(kind, identity))) is not None
        ]
        for relation in trace_relations(analysis).values()
        if (kind := relation.table.kind) in ("advice", "frame", "line")
    }
    assert len(stories) == 3 and all(stories.values())
    lines = [line for rows in stories.values() for story in rows for line in story]
    assert [line for line in lines if cell_len(line) > width] == []


def nested(kind: type[Any], **fields: Any) -> Any:
    """A row of a nested table of which nothing else is looked at."""
    row = object.__new__(kind)
    vars(row).update(fields)
    return row


@pytest.mark.parametrize(("inner", "more"), [(1, ""), (4, ""), (5, ", 1 more"), (6, ", 2 more")])
def test_the_story_of_a_module_or_scope_names_four_of_those_right_inside_it(inner: int, more: str) -> None:
    parts = [f"part_{number}" for number in range(inner)]
    outer = ("Job_0", "Net_0")
    of_module = {outer: ["Block_0"], (*outer, "Block_0"): parts, (*outer, "Block_0", parts[0]): ["deep"]}
    modules = [
        nested(ModuleIdle, module=name, path=path, idle_ns=5)
        for path, names in of_module.items()
        for name in names
    ]
    scopes = [nested(ScopeTime, scope=(*row.path, row.module), computing_ns=5) for row in modules]
    analysis: Any = SimpleNamespace(modules=modules, scopes=[*scopes, nested(ScopeTime, scope=outer[:1])])
    expected = "holds " + ", ".join(f"{part} 5 ns" for part in parts[:4]) + more
    story = NestedStory(Palette("none"), ASCII)
    for block, leaf in ((modules[0], modules[-1]), (scopes[0], scopes[-1])):
        assert [*story._neighbours(analysis, block)] == [expected]
        assert [*story._neighbours(analysis, leaf)] == []
    assert [*story._neighbours(analysis, nested(ScopeTime, scope=()))] == []


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_long_name_leaves_the_first_number_of_its_story_in_sight(width: int) -> None:
    """Others give way to the name, the last first; beside one it loses its start where it has no room."""
    analysis: Any = SimpleNamespace(modules=[])
    numbers = (" - idle 5.00 µs", ", own 3.00 µs", ", in 3 gaps")
    for length in range(10, 150):
        name = "".join(chr(ord("a") + at % 26) for at in range(length))
        times = {"idle_ns": 5_000, "own_ns": 3_000, "backward_ns": 0, "causes": {}, "ops": {}}
        module = nested(ModuleIdle, module=name, path=(), gaps=3, **times)
        (title, *_) = NestedStory(Palette("none"), ASCII).of_row(analysis, module, width, 20)
        titles = [f"-- {name}{''.join(numbers[:count])} " for count in (3, 2, 1)]
        room = width - len(f"-- ~{numbers[0]} ")
        cut = f"-- ~{name[-room:]}{numbers[0]} "
        expected = next((whole for whole in titles if len(whole) <= width), cut)
        assert "".join(piece for piece, _ in title) == expected.ljust(width, "-")


def test_idle_time_of_no_step_is_not_said_to_be_between_steps() -> None:
    """It may be before the first one: of work that was launched before the recording began."""
    steps: Any = SimpleNamespace(steps=[None, None])
    line = LineStory(Palette("none"), ASCII).steps_line(steps, {0: 7, -1: 5})
    assert "".join(text for text, _ in line) == (
        "in 1 of 2 steps; min 0 ns, median 0 ns, max 7 ns; 5 ns in none"
    )
    line = LineStory(Palette("none"), ASCII).steps_line(steps, {-1: 5})
    assert "".join(text for text, _ in line) == "5 ns, outside of all steps"


def test_the_story_says_what_the_line_saves_at_most(app: TraceApp) -> None:
    assert app.session.analysis is not None
    lines, savings = app.session.analysis.lines, app.session.analysis.savings
    story = LineStory(Palette("none"), ASCII)
    bound = savings[line_of(lines[0])].saves_at_most_ns
    assert bound > 0
    for line, saves in ((lines[0], savings), (lines[0], {})):
        last_line = "".join(text for text, _ in story.lines(app.session.analysis, line, saves, 80, 20)[-1])
        assert last_line.startswith(f"Saves at most {format_duration(bound)}" if saves else "Saves nothing")


def test_a_bound_is_told_beyond_waits_for_late_peers(app: TraceApp) -> None:
    """And not as what the trial of the line shows, in which late peers come when they came."""
    assert app.session.analysis is not None
    key = line_of(app.session.analysis.lines[0])
    for alone_ns, words in ((25_000, "at most 25.0 µs"), (0, "nothing")):
        saving = replace(
            app.session.analysis.savings[key], saves_at_most_ns=alone_ns, saves_with_peers_ns=28_000
        )
        line = LineStory(Palette("none"), ASCII).savings_line(app.session.analysis.lines[0], {key: saving})
        assert "".join(text for text, _ in line).startswith(f"Saves {words} beyond waits for late peers, ")


def test_more_than_the_idle_time_is_explained(app: TraceApp) -> None:
    assert app.session.analysis is not None
    line, savings = app.session.analysis.lines[0], app.session.analysis.savings
    bound = savings[line_of(line)].saves_at_most_ns
    for idle_ns, explained in ((bound - 1, True), (bound, False), (None, False)):
        savings_line = LineStory(Palette("none"), ASCII).savings_line(line, savings, idle_ns)
        assert ("beside a busy device counts too" in "".join(text for text, _ in savings_line)) == explained


@pytest.mark.parametrize(
    ("factor", "steps", "width", "expected"),
    [
        (0.5, [(22_900_000, 20_100_000)], 200, "step 22.9 ms > 20.1 ms (-12.2 %) if this line's host time "
         "were halved; assumes that queue order and device durations stay as they are"),
        (0.0, [(30_000, 20_000), (10_000, 10_000)], 79, "mean step 20.0 µs > 15.0 µs (-25.0 %) at no host "
         "time; device times kept"),
        (0.5, [], 79, "all 50.0 µs > 50.0 µs (nothing saved) at half its host time; device times kept"),
    ],
)  # fmt: skip
def test_a_trial_says_the_step_time_and_what_it_assumes(
    factor: float, steps: list[tuple[int, int]], width: int, expected: str
) -> None:
    before, after = np.array(steps, np.int64).reshape(-1, 2).T
    what_if = LineWhatIf(("a.py", 1, "f", False), factor, 50_000, 50_000, before, after)
    assert what_if_words(what_if, width, ASCII) == expected
    assert cell_len(expected) <= width


async def test_percent_tries_the_line_faster_until_the_cursor_moves(app: TraceApp) -> None:
    assert app.session.analysis is not None
    line = app.session.analysis.lines[0]
    async with app.run_test(size=(160, 30)) as pilot:
        screen = await hotspots(app, pilot)
        saved = format_duration(app.session.analysis.savings[line_of(line)].saves_at_most_ns)
        assert f"<= {in_ascii(saved)}" in screen_text(app)[2]
        notes = []
        for key in ("percent_sign", "percent_sign", "percent_sign", "percent_sign", "down"):
            await pilot.press(key)
            await settled(app, pilot)
            notes.append(said(app, "note"))
        expected = [
            what_if_words(app.session.analysis.what_ifs.faster(line_of(line), factor), 160, ASCII)
            for factor in (0.5, 0.0)
        ]
        assert notes == [*expected, LINES.note, expected[0], LINES.note]
        foretold = app.session.analysis.what_ifs.faster(line_of(line), 0.0)
        assert foretold.after_ns < foretold.before_ns
        screen.failed("what-if", "This failed: it.")
        assert said(app, "note") == "This failed: it."


async def test_c_shows_the_signatures_and_keeps_the_line(app: TraceApp) -> None:
    assert app.session.analysis is not None
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await hotspots(app, pilot)
        await pilot.press("down", "c")
        await settled(app, pilot)
        assert isinstance(screen.chosen, Signature)
        assert line_label(screen.chosen) == "net.py(7) forward"
        assert screen.line is app.session.analysis.lines[1]
        assert len(screen.table.rows.view) == len(app.session.analysis.signatures)
        assert any("operators" in line and "cause" in line for line in screen_text(app)[:2])
        await pilot.press("x")
        assert app.session.state.gap == screen.chosen.gap_indices[0]
        await pilot.press("c", "c", "c", "c")
        await settled(app, pilot)
        assert said(app, "note") == LINES.note
        assert screen.table.cursor_row == 1  # still, though tables in between have no row of the line
        screen.table.sort_by(0, False)
        lines = screen.frame(screen.table.rows.view)
        assert lines["idle_ns"].tolist() == sorted(line.idle_ns for line in app.session.analysis.lines)


async def test_the_keys_named_are_those_of_the_table(app: TraceApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await hotspots(app, pilot)
        assert "% try  m modules  c signatures" in screen_text(app)[-1]
        await pilot.press("m")
        await until(pilot, lambda: "m lines  c frames" in screen_text(app)[-1])
        assert "% try" not in screen_text(app)[-1], "a module is no line"
        await pilot.press("percent_sign")
        await until(pilot, lambda: "A line of Python can be tried" in screen_text(app)[-1])


async def test_tab_goes_round_the_panes_and_the_source_follows(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await hotspots(app, pilot)
        assert (screen.table.display, screen.panes.stacks.display) == (True, False)
        await pilot.press("down")
        await settled(app, pilot)
        assert (screen.panes.source.file, screen.panes.source.line) == ("/work/net.py", 7)
        await pilot.press("tab")
        assert (screen.table.display, screen.panes.stacks.display) == (False, True)
        assert screen.panes.stacks.has_focus
        await pilot.press("l")
        assert screen.panes.source.function == "loss"
        await pilot.press("h", "tab")
        assert screen.panes.source.has_focus
        assert screen.panes.source.function == "main"
        await pilot.press("tab")
        assert screen.table.display
        assert screen.panes.source.function == "forward"


async def test_x_walks_the_gaps_of_the_line_and_enter_goes_to_the_timeline(app: TraceApp) -> None:
    assert app.session.analysis is not None
    worst = app.session.analysis.lines[0].gap_indices.tolist()
    assert len(worst) == 2
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await hotspots(app, pilot)
        seen = []
        for key in ("x", "x", "x", "X"):
            await pilot.press(key)
            seen.append(app.session.state.gap)
        assert seen == [worst[0], worst[1], worst[0], worst[1]]
        assert any("gap 2 of 2 of train.py(12) loss: idle 30.0 us" in line for line in screen_text(app))
        assert app.shown == "hotspots"
        screen.table.move_to(1)
        screen.action_line_gap(1)  # before the screen hears that the cursor has moved
        await pilot.pause()
        assert said(app, "note").startswith("gap 1 of ")
        await pilot.press("up")
        await pilot.pause()
        assert said(app, "note") == LINES.note
        await pilot.press("X", "enter")
        await pilot.pause()
        assert app.shown == "timeline"
        assert app.session.state.gap == worst[1]


async def test_the_selection_of_other_screens_is_followed(app: TraceApp) -> None:
    assert app.session.analysis is not None
    gap = int(app.session.analysis.lines[1].gap_indices[0])
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        app.go_to_gap(gap)
        screen = await hotspots(app, pilot)
        assert screen.line is app.session.analysis.lines[1]
        app.select(int(app.session.analysis.idle.task[0]))
        await settled(app, pilot)
        assert screen.line is app.session.analysis.lines[0]
        assert screen.panes.stacks.frame is not None
        assert screen.panes.stacks.frame.function == "loss"


async def test_a_gap_that_is_mostly_communication_leaves_the_cursor_on_the_worst_line(samples: Path) -> None:
    async with viewing(load(samples / "moba", cache=False).trace, "timeline") as (app, pilot):
        gaps = analysis_of(app).gaps
        worst, most_idle = int(gaps.ranked()[0]), int(gaps.ranked(Measure.IDLE)[0])
        assert 2 * gaps.idle[worst] < gaps.lost[worst]
        app.go_to_gap(worst)
        screen = await hotspots(app, pilot)
        assert screen.table.cursor == 0
        assert not screen.panes.source.frames_at_start, "lines that are charged are where they ran"
        await pilot.press("tab")
        await pilot.pause()
        at_start = screen.panes.source.frames_at_start
        assert {frame.function for frame in at_start} == {"<module>", "main", "train"}
        await pilot.press("shift+tab")
        screen.table.move_to(5)
        app.go_to_gap(most_idle)
        await settled(app, pilot)
        assert screen.line is not None and most_idle in screen.line.gap_indices


async def test_the_editor_is_not_started_without_a_file(app: TraceApp) -> None:
    async with app.run_test(size=(160, 30)) as pilot:
        await hotspots(app, pilot)
        await pilot.press("end")
        await settled(app, pilot)
        assert any("No Python stack is recorded for what launched" in line for line in screen_text(app))
        await pilot.press("o")
        await pilot.pause()
        assert any("no source file to open" in line for line in screen_text(app))


async def test_the_editor_opens_the_line(app: TraceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def open_it(_: TraceApp, source: SourceFile, line: int) -> str:
        opened.append((source.path.name, line))
        return "vi ended with status 1."

    monkeypatch.setattr("tracetui.ui.widgets.source.open_in_editor", open_it)
    async with app.run_test(size=(120, 30)) as pilot:
        await hotspots(app, pilot)
        await pilot.press("o")
        await settled(app, pilot)
        assert opened == [("train.py", 12)]
        assert any("vi ended with status 1." in line for line in screen_text(app))


async def test_a_trace_without_a_device_says_so(tmp_path: Path) -> None:
    app = viewer(tmp_path, trace_of([operator(0, 1000, stack=["/work/train.py(12): loss"])]))
    async with app.run_test(size=(80, 24)) as pilot:
        await hotspots(app, pilot)
        text = screen_text(app)
        assert "whether one is idle is not known." in text[0]
        assert not any("Python file" in line for line in text), "there is no row that a line could be of"


def test_how_many_lines_hold_a_share() -> None:

    idle = np.array([50, 30, 15, 5])
    assert [lines_holding(idle, 100, percent) for percent in (50, 51, 80, 95, 100)] == [1, 2, 2, 3, 4]
    assert lines_holding(idle, 1000, 80) == 0
    assert lines_holding(idle[:0], 0, 80) == 0
