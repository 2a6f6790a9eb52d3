"""Causes on screen: one letter each, columns and stories that add up to the idle time."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.analysis import gpu
from tests.analysis.idle.test_explain import launched
from tests.analysis.machine import Events, call, collective, dequeue, enqueue, npu, operator, task
from tests.simulator.traces import written
from tests.synthetic import trace_of
from tests.ui.viewing import lines_of, viewing
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.engines import engine_of
from tracetui.analysis.gaps import Measure
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.cause_raster import CauseRaster, main_causes
from tracetui.analysis.idle.main_line import main_line
from tracetui.export.sentences.gap_shares import gap_shares
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Activity, Trace
from tracetui.ui.drawing.bars import apportion, format_share, time_inks, unit_of
from tracetui.ui.drawing.causes import ROLES, cause_legend, cause_letter, cause_name, main_legend
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.idle_line import IdleLine
from tracetui.ui.drawing.palette import PALETTES, Palette, Role
from tracetui.ui.drawing.pen import LABEL, Pen
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.strips import flowing
from tracetui.ui.screens.timeline import TimelineScreen
from tracetui.ui.state import Viewport, ViewState
from tracetui.ui.stories.gap_story import GapStory
from tracetui.ui.stories.gap_words import GapWords, gap_title
from tracetui.ui.tables.operator_columns import operator_columns
from tracetui.units import format_duration

MS = 1_000_000
SCALES = {"ns": 1, "µs": 1000, "ms": 1_000_000, "s": 1_000_000_000}
TIME = re.compile(r"(<?)(\d+(?:\.\d+)?) (ns|µs|ms|s)\b")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("mixed") / "trace_view.json"
    path.write_bytes(written("mixed"))
    with TraceFile(path) as trace_file:
        return build_trace(trace_file.read())


@pytest.fixture(scope="module")
def analysis(trace: Trace) -> Analysis:
    return analyse(trace)


def story_of(analysis: Analysis, gap: int, width: int = 1000) -> list[str]:
    """The lines of a story without its bar."""
    lines = GapWords(analysis, gap, Pen(Palette("none"), BLOCKS)).lines(width)
    return ["".join(text for text, _ in line).strip() for line in lines[1:]]


def times(text: str) -> list[int]:
    """All times of a text in ns; what is less than a unit is shown as nothing."""
    found = TIME.findall(text)
    return [0 if less else round(float(number) * SCALES[unit]) for less, number, unit in found]


# ------------------------------------------------------------------------------------------------ looks


def test_each_cause_has_a_bright_colour() -> None:
    assert set(ROLES) == {*Cause, *CommunicationCause}
    assert {ROLES[cause] for cause in CommunicationCause} == {Role.WAITING, Activity.COMMUNICATION}
    for name in PALETTES:
        palette = Palette(name)
        for role in ROLES.values():
            assert palette.style_of(role) != palette.style_of(Role.DIM)
            assert palette.paint_of(role).box != palette.paint_of(role).ink or name == "none"


def test_a_legend_takes_no_more_than_its_room_most_first() -> None:
    shares = {Cause.PYTHON: 10, Cause.SYNC: 70, Cause.GC: 20}
    palette = Palette("none")
    text = "".join(text for text, _ in cause_legend(shares.items(), palette, BLOCKS, 80))
    assert text.split() == ["S", "sync", "70.0", "%", "G", "gc", "20.0", "%", "P", "python", "10.0", "%"]
    for width, main in ((80, "S sync 70.0 %"), (13, "S sync 70.0 %"), (12, "S sync 70 %"), (10, "S sync")):
        assert "".join(text for text, _ in main_legend(shares.items(), palette, BLOCKS, width)) == main
    for width in range(40):
        for make in (cause_legend, main_legend):
            assert sum(cell_len(text) for text, _ in make(shares.items(), palette, BLOCKS, width)) <= width


# ------------------------------------------------------------------------------------------- adding up


@given(st.lists(st.integers(0, 10**12), max_size=8), st.integers(0, 10**6))
def test_shares_add_up_and_are_rounded_down_or_up(parts: list[int], whole: int) -> None:
    shares = apportion(parts, whole)
    assert sum(shares) == (whole if any(parts) else 0)
    for part, share in zip(parts, shares):
        assert abs(share - part * whole / max(sum(parts), 1)) < 1 + 1e-6


@given(st.integers(0, 10**15))
def test_a_share_is_shown_in_the_unit_of_its_whole(ns: int) -> None:
    unit = unit_of(ns)
    assert ns // unit < 10**4
    assert times(format_share(7, unit)) == [7 * unit]
    assert format_share(0, unit).startswith("<")


@given(
    st.lists(st.tuples(st.text("ab \u00a0漢", max_size=12), st.sampled_from(["bold", "dim"])), max_size=8),
    st.integers(14, 40),
)
def test_flowing_text_loses_no_word_and_fits(parts: list[tuple[str, str]], width: int) -> None:
    styles = {
        name: Palette("none").style_of(Role.NUMBER if name == "bold" else Role.DIM) for _, name in parts
    }
    lines = flowing([(text, styles[name]) for text, name in parts], width)
    words = "".join(text for text, _ in parts).replace("\u00a0", "_").split(" ")
    shown = [" ".join("".join(text for text, _ in line).split(" ")) for line in lines]
    whole = " ".join(word for word in words if word).replace("_", " ")
    assert "".join(shown).replace(" ", "") == whole.replace(" ", "")  # wide ones part without a blank
    if whole.isascii():
        assert " ".join(line for line in shown if line) == whole
    longest = max((cell_len(word) for word in words), default=0)
    assert all(cell_len(line) <= max(width, longest) for line in shown)


def test_the_times_of_every_story_add_up(analysis: Analysis, thorough: bool) -> None:
    """Stories of the same causes in one order are told alike."""
    gaps = analysis.gaps
    assert {Cause.SYNC, Cause.DATALOADER, Cause.GC} <= {
        share.cause for gap in range(len(gaps)) for share in gap_shares(analysis, gap)
    }
    alike: dict[object, int] = {}
    for gap in range(len(gaps)):
        shares = gap_shares(analysis, gap)
        assert sum(share.ns for share in shares) == gaps.idle[gap]
        causes, pieces = analysis.causes, analysis.causes.of_gap(gap)
        backward_ns = int(causes.ns[pieces][causes.backward[pieces]].sum())
        assert sum(share.ns for share in shares if share.backward) <= backward_ns
        assert not any(share.backward and share.frame is None for share in shares)
        told_first = gaps.communication[gap] <= gaps.idle[gap]
        alike[gap if thorough else (told_first, *(share.cause for share in shares))] = gap
    for gap in alike.values():
        lines = story_of(analysis, gap)
        opening = next(line for line in lines if " was idle " in line or " was never idle " in line)
        if gaps.communication[gap] <= gaps.idle[gap]:
            assert opening == lines[0]
        if not gaps.idle[gap]:
            assert "never idle" in opening
            continue
        (whole,) = times(opening)
        unit = unit_of(int(gaps.idle[gap]))
        assert abs(whole - int(gaps.idle[gap])) * 2 <= unit
        families = [line for line in lines if re.match(r"(For|It|The tasks|Launching) ", line)]
        assert sum(times(line)[0] for line in families) == whole
        for line in families:
            first, *parts = times(line)
            assert not parts or sum(parts) == first, line


def test_the_story_names_the_operator_the_line_and_what_exposed_it(analysis: Analysis) -> None:
    gap = int(analysis.gaps.ranked(Measure.IDLE)[0])
    story = " ".join(story_of(analysis, gap))
    assert "mixed/train_mixed.py(" in story
    assert "waiting for data" in story and "collecting garbage" in story
    assert "began before the NPU went idle" in story
    frame = analysis.rules.line_of(main_line(analysis, gap).stack)
    assert frame is not None and frame.file.endswith("train_mixed.py")


def test_the_line_of_a_story_is_the_line_of_the_tables(analysis: Analysis) -> None:
    every = np.arange(len(analysis.gaps), dtype=np.int64)
    for gap, line in enumerate(GAPS.column("line").exact(GapRows(analysis, every))):
        frame = analysis.rules.line_of(main_line(analysis, gap).stack)
        assert line == (f"{frame.file}({frame.line})" if frame is not None else None)


def test_the_title_of_a_gap_tells_its_length_where_it_is_not_all_idle(analysis: Analysis) -> None:
    gaps = analysis.gaps
    lengths = {"all": 0, "part": 0, "lost otherwise": 0}
    for gap in range(len(gaps)):
        lengths_ns = gaps.idle[gap], gaps.lost[gap], gaps.end[gap] - gaps.start[gap]
        idle, lost, whole = (format_duration(int(ns)) for ns in lengths_ns)
        title = gap_title(analysis, gap, 1, BLOCKS)
        of_whole = f" of {whole}" if whole != lost else ""
        if idle == lost:
            assert f" idle {idle}{of_whole} {BLOCKS.dot} " in title
        else:
            assert f" lost {lost}{of_whole}, idle {idle} {BLOCKS.dot} " in title
        kind = "lost otherwise" if idle != lost else "all" if idle == whole else "part"
        lengths[kind] += 1
    assert all(lengths.values())


def test_what_is_not_linked_is_said_with_what_to_collect() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 10), task(500, 10), operator(0, 5)]))
    (line,) = story_of(analysis, 0)[1:]
    assert line.startswith(
        "For 490 ns the trace does not tell what the host did: no launch of it is recorded."
    )
    assert line.endswith("Collect CPU and NPU activities at level 1 to know.")


def test_what_was_launched_before_the_recording_is_not_asked_to_be_collected() -> None:
    """Tasks of a stream run as they were launched: the first of it that is linked came after the others."""

    def why(*linked: int) -> str:
        events = [*gpu.gpu(), *(gpu.kernel(start, 10, start) for start in (100, 300, 500))]
        events += [gpu.launch(start - 90, 5, start) for start in linked]
        return " ".join(story_of(analyse(trace_of(events)), 0)[1:])

    assert why(500) == (
        "For 190 ns the trace does not tell what the host did: no launch of it is recorded; perhaps work "
        "from before the recording. Synchronise before the profiler starts, to know."
    )
    alone = "For 190 ns the trace does not tell what the host did: no launch of it is recorded."
    assert why(100, 500) == alone
    assert why() == alone.replace("recorded.", "recorded. Collect CPU activities too, to know.")


def test_a_task_that_no_host_kept_waiting_was_in_the_queue_and_not_then() -> None:
    """What is told before a wait in the queue is the device where the host was done before the gap."""

    def of_queue(enqueued: int) -> str:
        second = [operator(enqueued - 5, 10), enqueue(enqueued, 2, 9), dequeue(300, 20, 9)]
        second += [call(305, 15, 9), task(400, 50, connection=9)]
        lines = story_of(analyse(trace_of([*npu(), *launched(0, 60), *second])), 0)
        return next(line for line in lines if "queue" in line)

    assert of_queue(90).startswith("For 190 ns it was in the task queue (")
    assert of_queue(200).startswith("It then waited 100 ns in the task queue (")


def test_what_waited_in_several_stretches_is_called_the_tasks(analysis: Analysis) -> None:
    """After "idle 1.66 µs in 2 stretches" a "they" would be the stretches."""
    stories = [" ".join(story_of(analysis, gap)) for gap in range(len(analysis.gaps))]
    stretches = [story for story in stories if " stretches, " in story]
    assert stretches and all(
        re.search(r"\b[Tt]he tasks (then )?(waited|were|took)", story) for story in stretches
    )
    assert not any(re.search(r"\b([Tt]hey|them)\b", story) for story in stretches)


def test_a_task_whose_work_may_be_lost_is_not_called_launched() -> None:
    """Kernels 8 to 12 of 20, one each ms, are lost: the device may have run them before 13 was launched."""
    kernels = [gpu.kernel(n * MS + 20_000, 50_000, n) for n in range(1, 21) if not 8 <= n <= 12]
    analysis = analyse(
        trace_of([*gpu.gpu(), *(gpu.launch(n * MS, 5_000, n) for n in range(1, 21)), *kernels])
    )
    gap = int(analysis.gaps.idle.argmax())
    pieces = analysis.causes.of_gap(gap)
    unseen = pieces.start + np.flatnonzero(analysis.causes.cause[pieces] == Cause.UNSEEN)
    assert int(analysis.causes.start[unseen].min()) < analysis.trace.start_ns + 8 * MS
    (line,) = (line for line in story_of(analysis, gap) if "work that is not recorded" in line)
    words = line.replace("\u00a0", " ")
    assert "it waited for the device (n perhaps busy" in words and "launched" not in words


def test_hostile_names_stay_text_in_a_story() -> None:
    name = "\x1b[2J{0}[red]" + "x" * 500
    events = [*npu(), task(0, 10, name=name), task(500, 10, name=name)]
    for line in story_of(analyse(trace_of(events)), 0, 60):
        assert line.isprintable() and (cell_len(line) <= 60 or len(line.split()) == 1)


# ---------------------------------------------------------------------------------------------- pictures


@given(st.integers(1, 300), st.integers(0, 80_000_000), st.integers(1_000, 110_000_000))
def test_columns_of_causes_add_up_to_the_idle_time(
    analysis: Analysis, count: int, start: int, span: int
) -> None:
    edges = analysis.trace.start_ns + start + np.arange(count + 1, dtype=np.int64) * span // count
    ns = CauseRaster.from_causes(analysis.causes, 0).ns(edges)
    assert np.array_equal(ns.sum(axis=0), np.diff(analysis.devices[0].idle.before(edges)))
    chosen = main_causes(ns)
    for column in range(count):
        assert (
            chosen[column] == -1
            if not ns[:, column].any()
            else ns[chosen[column], column] == ns[:, column].max()
        )


def test_the_idle_line_has_the_colour_of_the_cause_with_most_of_each_column(analysis: Analysis) -> None:
    palette = Palette("true")
    line = IdleLine(Picture(analysis.trace, analysis), palette, BLOCKS)
    state = ViewState(Viewport(analysis.trace.start_ns, analysis.trace.end_ns))
    edges = state.viewport.edges(400)
    cause = main_causes(CauseRaster.from_causes(analysis.causes, 0).ns(edges))
    cells = [(character, part.style) for part in line.draw(0, -1, edges) for character in part.text]
    assert len(cells) == 400
    drawn = 0
    for (character, style), index in zip(cells, cause.tolist()):
        if character in BLOCKS.shades[1:]:
            assert style == palette.paint_of(ROLES[Cause(index)]).ink
            drawn += 1
    assert drawn > 20


def test_an_interval_with_room_tells_its_causes_and_a_narrow_one_its_main_cause(analysis: Analysis) -> None:
    picture = Picture(analysis.trace, analysis)
    line = IdleLine(picture, Palette("none"), BLOCKS)
    gap = int(analysis.gaps.ranked(Measure.IDLE)[0])
    start, end = int(analysis.gaps.start[gap]), int(analysis.gaps.end[gap])
    for columns in (100, 1000):
        state = ViewState(Viewport(analysis.trace.start_ns, analysis.trace.end_ns))
        state.look(Viewport(start - (end - start) // 9, end + (end - start) // 9))
        text = "".join(part.text for part in line.draw(0, -1, state.viewport.edges(columns)))
        assert "G gc" in text and "D data loader" in text
        assert re.search(r"1 · \d+(\.\d+)? ms", text)
    wide = ViewState(Viewport(start - 2 * (end - start), end + 2 * (end - start)))
    text = "".join(part.text for part in line.draw(0, -1, wide.viewport.edges(100)))
    assert f"1 {cause_letter(picture.gap_cause(gap))} " in text


def test_causes_by_step_add_up_and_open_the_worst_gap(analysis: Analysis) -> None:
    causes, cells = analysis.causes, CauseMap(analysis).by_step()
    assert int(cells.ns.sum()) == analysis.idle_ns
    for row, cause in enumerate(causes.by_cause()):
        for column in range(cells.ns.shape[1]):
            step = column if column < len(analysis.steps) else -1
            assert cells.ns[row, column] == causes.by_step(step).get(cause, 0)
            spent: dict[int, int] = {}
            for at in np.flatnonzero(causes.cause == cause).tolist():
                if causes.intervals.step[causes.interval[at]] == step:
                    gap = int(causes.intervals.gap[causes.interval[at]])
                    spent[gap] = spent.get(gap, 0) + int(causes.ns[at])
            opened = int(cells.main[row, column])
            assert opened == max(spent, key=lambda gap: (spent[gap], -gap), default=-1)


# --------------------------------------------------------------------------------------------- the viewer


async def test_the_map_tells_the_causes_and_the_pane_the_story(trace: Trace) -> None:
    async with viewing(trace, "timeline", (120, 36)) as (app, pilot):
        assert isinstance(app.screen, TimelineScreen) and app.session.analysis is not None
        minimap, details = app.screen.minimap, app.screen.details
        (most_of, _), *_ = app.session.analysis.causes.by_cause().items()
        assert lines_of(minimap)[1].startswith(" worst gaps 1 to 9 ")
        assert lines_of(minimap)[2].startswith(" why lost ") and cause_name(most_of) in lines_of(minimap)[2]
        await pilot.resize_terminal(
            80, 24
        )  # no line for a legend: in the margin, and where nothing is selected
        await pilot.pause()
        assert lines_of(minimap)[1].startswith(f" {cause_name(most_of)} ") and minimap.size.height == 2
        assert cause_name(most_of) in details.text
        await pilot.resize_terminal(120, 36)
        await pilot.press("x")
        await pilot.pause()
        drawn = lines_of(details)
        assert drawn[0].startswith("── Gap 1 of ")
        assert drawn[1].startswith(" why")
        assert drawn[2].startswith(" line ")
        (story_row,) = [place for place, line in enumerate(drawn) if line.startswith(" The NPU was idle ")]
        assert story_row <= 4  # below the line, and its source where that is on this host
        assert [key for key, _ in groupby(drawn[1][10:].replace(" ", ""))][:2] == ["P", "G"]
        await pilot.resize_terminal(60, 36)
        await pilot.pause()
        flowing_anew = " ".join(line.strip() for line in lines_of(details)[story_row : story_row + 3])
        assert "in 4 stretches, the longest before MEMCPY_ASYNC. For" in flowing_anew


async def test_enter_on_a_cause_of_a_step_goes_to_its_worst_gap(trace: Trace) -> None:
    async with viewing(trace, "heatmap", (120, 36)) as (app, pilot):
        await pilot.press("4", "home", "down", "enter")
        await pilot.pause()
        assert app.session.analysis is not None and app.shown == "timeline"
        assert app.session.state.gap == CauseMap(app.session.analysis).by_step().main[1, 0] >= 0


def test_what_fills_a_gap_beside_the_cores_is_called_by_its_own_name() -> None:
    """A generator of random numbers (DSA) is no AI CPU; several engines are all named, most time first."""
    kinds = (("DSA_SQE", 40), ("VPC_SQE", 30), ("AI_CPU", 20))
    for count, name in ((1, "DSA"), (3, "DSA, VPC and AI CPU")):
        events = [*npu(), operator(0, 50), task(100, 10), task(400, 10)]
        events += [
            task(150 + 60 * n, dur, kind, name=f"on {kind}") for n, (kind, dur) in enumerate(kinds[:count])
        ]
        analysis = analyse(trace_of(events))
        (gap,) = range(len(analysis.gaps))
        assert analysis.engines_in_gap(gap) == name
        assert story_of(analysis, gap)[-1].endswith(f" {name}.")
        story = GapStory(Palette("none"), BLOCKS).lines(analysis, gap, 1, 200)
        assert f" {name} " in "".join(text for text, _ in story[1])
        columns = operator_columns(analysis.device_operators, analysis.trace, Palette("none"), BLOCKS, False)
        (column,) = (column for column in columns if column.key == "activity")
        shown = {str(column.draw(row, 20)) for row in range(len(analysis.device_operators))}
        assert {kind for kind in ("DSA", "VPC", "AI CPU") if kind in "".join(shown)} == {
            engine_of(analysis.trace, int(row)) for row in analysis.beside_cores[0]
        }


def bar_of(events: Events, width: int) -> str:
    """The bar of the first gap, `width` cells."""
    words = GapWords(analyse(trace_of(events)), 0, Pen(Palette("none"), BLOCKS))
    return "".join(text for text, _ in words.lines(LABEL + 1 + width)[0][1:])


def test_a_gap_of_fewer_nanoseconds_than_cells_shows_its_own_cause_alone() -> None:
    """The device is idle from 1150 to 1153 only, by its usual latency."""
    bar = bar_of([*npu(), *launched(1_000, 1_100), *launched(1_010, 1_153)], 50)
    assert set(bar) <= {cause_letter(Cause.LATENCY), " "}


def test_work_at_once_is_drawn_as_what_the_gap_counts_it_as() -> None:
    """An AI CPU kernel runs for 600 ns beside a collective of 1000: 400 ns of communication are exposed."""
    beside = [task(1_200, 600, "AI_CPU", stream=2), collective(1_200, 1_000)]
    bar = bar_of([*npu(), *launched(1_000, 1_100), *beside, *launched(2_150, 2_200)], 21)  # 50 ns a cell
    inks = time_inks(Palette("none"), BLOCKS)
    assert bar.count(inks.beside_cores.glyph) == 12 and bar.count(inks.communication.glyph) == 8
