"""Where the text of a trace changes: the last row that is listed, the first plural, the end of a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analysis.machine import npu, task
from tests.comparison.planted import run
from tests.synthetic import piece, trace_of
from tracetui.analysis.advice.model import Advice
from tracetui.analysis.analyse import analyse
from tracetui.analysis.annotated import AnnotatedPhase
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.preparing import COPY
from tracetui.export.sentences.advice_english import ENGLISH_ADVICE, AdviceWords
from tracetui.export.tables import events
from tracetui.export.tables.column import Column, Form, Table, texts_at
from tracetui.export.tables.gaps import GAPS, GapRows, gap_causes
from tracetui.export.tables.kernels import KERNELS, KernelRows, kernel_table
from tracetui.export.tables.shown import text_table
from tracetui.export.tables.steps import STEPS, StepRows, longest_phases
from tracetui.export.trace.advice_text import advice_text, cost_words, first_advice
from tracetui.export.trace.communication_text import _more
from tracetui.export.trace.frames import events_frame
from tracetui.export.trace.idle_text import idle_reasons
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import (
    LONGEST_RUN,
    _preparing,
    _producer,
    _steps,
    in_all,
    no_work,
    run_facts,
    summary_text,
    trace_facts,
)
from tracetui.trace.stack import Frame
from tracetui.units import format_time


def test_the_start_of_a_long_path_is_cut_off() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 1), task(5, 0)]))
    named = replace(analysis, trace=replace(analysis.trace, path=f"/{'a' * 90}/trace.json"))
    lines = summary_text(named, Selection(), None, 60).splitlines()
    assert lines[0] == f"…{'a' * 48}/trace.json"


@pytest.mark.parametrize(("dur", "span"), [(0, None), (1, "1 ns"), (2, "2 ns")])
def test_a_device_that_works_for_one_ns_has_a_window(dur: int, span: str | None) -> None:
    analysis = analyse(trace_of([*npu(), task(10, dur)]))
    words = "1 task, which neither computes nor communicates"
    if span is not None:
        words = f"{span}, from 0.000000 s to 0.000000 s"
    assert f"NPU: {words}" in summary_text(analysis, Selection(), None, 100).splitlines()
    assert "\n## `NPU`\n\n" + words in summary_markdown(analysis, Selection(), None)


def test_what_is_not_listed_is_counted() -> None:
    assert [_more(count) for count in (0, 1, 2)] == ["", "1 with less", "2 with less"]


def test_a_line_is_told_with_its_two_largest_causes_and_three_operators() -> None:
    causes = {Cause.SYNC: 5, Cause.UNLINKED: 3, Cause.GC: 2}
    row: Any = SimpleNamespace(causes=causes, ops={"": 9, "a" * 32: 4, "b" * 33: 3, "c": 2, "d": 1})
    cause_words = "host.sync 50 %, unlinked 30 %"
    assert idle_reasons(row) == f"{cause_words}; in {'a' * 32}, {'b' * 31}…, c"
    row.ops = {"": 9}
    assert idle_reasons(row) == cause_words


# -------------------------------------------------------------------------- gaps


def gap_rows(by: Measure, idle: list[int], communication: list[int], copy: Sequence[int] = ()) -> GapRows:
    copied = np.array(copy or [0] * len(idle))
    gaps = SimpleNamespace(idle=np.array(idle), communication=np.array(communication), copy=copied)
    analysis: Any = SimpleNamespace(gaps=gaps, trace=None)
    return GapRows(analysis, np.arange(len(idle))[::-1], by)


def test_a_gap_is_of_idle_time_where_it_has_as_much_of_it_as_of_communication() -> None:
    """The last gap first."""
    by_idle = [gap_rows(by, [5, 5, 5], [4, 5, 6]).by_idle.tolist() for by in Measure]
    assert dict(zip(Measure, by_idle)) == {
        Measure.LOST: [False, True, True],
        Measure.IDLE: [True] * 3,
        Measure.COMMUNICATION: [False] * 3,
    }


def test_the_main_cause_of_a_gap_is_of_what_ranks_it() -> None:
    """Causes of communication are counted on from those of idle time, then copies; the last gap first."""
    copies = 3 + len(CommunicationCause)
    for by, main_causes in (
        (Measure.LOST, [copies, copies, 4, 3, 1]),
        (Measure.IDLE, [0, -1, 0, -1, 1]),
        (Measure.COMMUNICATION, [3, -1, 4, 3, -1]),
    ):
        rows = gap_rows(by, [5, 1, 1, 0, 2], [0, 4, 4, 0, 3], [5, 1, 4, 1, 4])
        idle, communication = np.array([1, -1, 0, -1, 0], np.int8), np.array([-1, 0, 1, -1, 0], np.int8)
        vars(rows)["idle"] = SimpleNamespace(main_cause=idle, labels=["a", "b", "c"])
        vars(rows)["communication"] = SimpleNamespace(main_cause=communication)
        assert rows.main_cause.tolist() == main_causes
        assert rows.by_copies.tolist() == [cause == copies for cause in main_causes]


def test_gaps_are_told_with_their_device_where_there_are_several() -> None:
    device = GAPS.column("device")
    for count in range(3):
        rows: Any = SimpleNamespace(analysis=SimpleNamespace(devices=[0] * count))
        for form in (Form.TEXT, Form.VIEWER, Form.MARKDOWN):
            assert device.when(rows, form) == (count > 1 or form is Form.MARKDOWN)


def test_kernels_of_the_first_slice_on_are_listed_the_longest_first() -> None:
    tasks = [task(start, dur) for start, dur in ((10_000, 3), (20_000, 9), (30_000, 3), (40_000, 5))]
    analysis = analyse(trace_of([*npu(), *tasks]))
    kernels: Any = SimpleNamespace(row=np.array([2, -1, 0, 3, 1]), table=None)
    for among, top, places in (
        (None, 0, [4, 3, 0, 2]),
        (None, 2, [4, 3]),
        (np.array([True, True, True, False, False]), 1, [0]),
        (np.array([True, True, True, False, False]), 3, [0, 2]),
    ):
        rows = KernelRows(analysis, kernels, among, top)
        assert rows.places.tolist() == places and len(rows) == len(places)
        assert rows.total == (4 if among is None else 2)
    starts = KERNELS.column("start_ns").cells(KernelRows(analysis, kernels), str).texts
    assert starts == [format_time(us * 1000) for us in (10, 30, 20, 0)]


def test_a_counter_that_a_kernel_lacks_is_unknown() -> None:
    table: Any = SimpleNamespace(floats={"ratio": np.array([0.5, np.nan, 0.0])})
    rows: Any = SimpleNamespace(table=table, places=np.array([2, 1, 0]))
    column = kernel_table(SimpleNamespace(table=table)).column("ratio")  # type: ignore[arg-type]
    assert column.exact(rows) == [0.0, None, 0.5]


def test_people_are_shown_where_a_kernel_comes_from_in_markdown() -> None:
    for key in ("operator", "python_line"):
        column = KERNELS.column(key)
        forms = [form for form in Form if column.forms & form]
        assert Form.MARKDOWN in forms and Form.JSON in forms and Form.TEXT not in forms


def test_a_column_is_in_no_form_but_those_it_is_asked_for() -> None:
    column = GAPS.column("dur_ns")
    assert column.of().forms == Form(0)
    for form in Form:
        assert column.of(form).forms == form and column.of(form, Form.TEXT).forms == form | Form.TEXT


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (Measure.IDLE, {"a": 4, "b": 2}),
        (Measure.COMMUNICATION, {"a": 5}),
        (Measure.LOST, {"a": 9, "b": 2, COPY: 1}),
    ],
)
def test_the_causes_of_what_ranks_a_gap(by: Measure, expected: dict[str, int]) -> None:
    idle = [{"cause": cause, "dur_ns": ns} for cause, ns in (("a", 3), ("b", 2), ("a", 1))]
    moved = [{"cause": "a", "dur_ns": 5}]
    assert gap_causes(by, idle, moved, 1) == expected
    assert COPY not in gap_causes(by, idle, moved, 0)


def test_people_are_shown_what_ranks_gaps_and_whether_they_communicate() -> None:
    lost, communication = GAPS.column("lost_ns"), GAPS.column("communication_ns")
    for moved in (0, 1):
        for by in Measure:
            rows = gap_rows(by, [1, 1], [0, moved])
            for form in (Form.TEXT, Form.VIEWER):
                assert lost.when(rows, form) == (form is Form.VIEWER or by is Measure.LOST)
                ranked = by is Measure.COMMUNICATION
                hidden = form is Form.TEXT and by is Measure.IDLE
                assert communication.when(rows, form) == (ranked or (moved == 1 and not hidden))


def facts(**more: Any) -> list[str]:
    trace = {"kind": "ascend", "start_ns": 5, "end_ns": 15, "events": 2, "files": 1, "bytes": 10}
    return trace_facts({**trace, "skipped_events": 0, "truncated": False, **more})


def test_what_a_trace_is_in_a_few_words() -> None:
    usual = ["ascend trace of 10 ns", "2 events", "10 B"]
    assert facts() == usual
    assert facts(files=2, events=3000)[1] == "3,000 events in 2 files"
    assert facts(events=1)[1] == "1 event"
    assert [facts(skipped_events=count)[3:] for count in (0, 1, 2)] == [[], ["1 skipped"], ["2 skipped"]]
    assert facts(truncated=True)[3:] == ["cut off at its end"]


def test_what_the_files_beside_a_trace_tell_is_cut_after_400_characters() -> None:
    checks: Any = [
        SimpleNamespace(agrees=True, table="a.csv", words="2 rows"),
        SimpleNamespace(agrees=False, sentence="b.csv says otherwise"),
        SimpleNamespace(agrees=True, table="c.csv", words="1 row"),
    ]
    assert LONGEST_RUN == 400
    with pytest.MonkeyPatch.context() as patch:
        for length, end in ((400, "xx"), (401, "x…")):
            patch.setattr(
                "tracetui.export.trace.summary.facts_of_run",
                lambda _, length=length: [("run", ["x" * length])],
            )
            analysis: Any = SimpleNamespace(run=None, checks=checks)
            first, *later_facts = run_facts(analysis)
            assert first.endswith(end) and len(first) == len("Run: ") + 400
            assert later_facts == [
                "The tables beside it agree: a.csv (2 rows), c.csv (1 row)",
                "b.csv says otherwise",
            ]


def test_a_device_in_all() -> None:
    device = {"start_ns": 1_000_000, "end_ns": 5_000_000, "free_ns": 1_000_000, "communication_ns": 0}
    assert in_all(device) == "In all: free 1.000 ms (25.0 %)"
    device["communication_ns"] = 2_000_000
    assert in_all(device) == "In all: communication 2.000 ms (50.0 %), free 1.000 ms (25.0 %)"
    assert [no_work({"tasks": tasks}) for tasks in (1, 2)] == [
        "1 task, which neither computes nor communicates",
        "2 tasks, none of which computes or communicates",
    ]


def test_what_the_producer_says_otherwise() -> None:
    sentences = _producer(
        {"computing_ns": 5, "free_ns": 7}, {"computing_ns": 5, "free_ns": 1_000_000, "not_told_ns": 3}
    )
    assert sentences == [
        "  the trace's own Overlap Analysis says otherwise:",
        "    free                                 1.000 ms",
        "    not told                             0.000 ms",
    ]


@pytest.mark.parametrize(
    ("causes", "lines"),
    [
        ({"a": 4}, ["Preparing steps took 10 ns: a"]),
        ({"a": 4, COPY: 1}, ["Preparing steps took 10 ns, of which copies 1 ns", "  the rest: a"]),
        ({COPY: 10}, ["Preparing steps took 10 ns, of which copies 10 ns"]),
        ({"a": 4, "b": 3, "c": 2, "d": 1}, ["Preparing steps took 10 ns: a 40 %, b 30 %, c 20 %"]),
    ],
)
def test_what_preparing_steps_took(causes: dict[str, int], lines: list[str]) -> None:
    assert _preparing(10, causes) == lines


def test_a_table_of_steps_has_as_many_decimals_as_the_page_has_room_for() -> None:
    analysis = run("mixed", 4)
    places, seen = range(len(analysis.steps)), set()
    for width in range(50, 110):
        tables = [text_table(STEPS, StepRows(analysis, places, 2, decimals), width) for decimals in range(4)]
        fitting = [place for place, lines in enumerate(tables) if max(map(len, lines)) <= width]
        found = _steps(analysis, Selection(), places, 2, width)
        finest = max(fitting, default=0)
        assert found[2 : 2 + len(tables[finest])] == tables[finest]
        assert found[2 + len(tables[finest])] == "  2 more steps: --top 0"
        seen.add(finest)
    assert seen == {0, 1, 2, 3}


@pytest.mark.parametrize(("phases", "shown"), [(((), ()), False), (((), ("forward",)), True)])
def test_phases_are_shown_where_any_step_has_some(phases: tuple[tuple[str, ...], ...], shown: bool) -> None:
    rows: Any = SimpleNamespace(phases=phases)
    assert STEPS.column("phases", Form.MARKDOWN).when(rows, Form.MARKDOWN) == shown


def advice(number: int, cost_ns: int | None, subjects: int = 0, file: str | None = None) -> Advice:
    names = tuple(f"op{place}" for place in range(subjects))
    return Advice(f"rule_{number}", cost_ns, subjects=names, file=file, line=8, function="f")


@pytest.fixture(autouse=True)
def words_of_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        monkeypatch.setitem(ENGLISH_ADVICE, f"rule_{number}", AdviceWords(f"Title {number}", "Text.", "rule"))


def test_what_advice_is_about() -> None:
    costs = [(None, None), (100, None), (100, 100), (100, 50)]
    words = [cost_words(replace(advice(0, cost), per_step_ns=mean)) for cost, mean in costs]
    assert words == ["note", "100 ns", "100 ns", "100 ns, 50 ns a step"]


def test_of_more_advice_than_is_listed_all_is_counted() -> None:
    def listed(limit: int, *every: Advice) -> list[str]:
        return first_advice(every, limit, 80)

    one, two, note = advice(1, 100), advice(2, 1, file="/a/train.py"), advice(3, None)
    lines = ["   100 ns  Title 1", "     1 ns  Title 2: train.py(8)"]
    assert listed(2, one, two, note) == ["Advice, by the time it is about", *lines]
    assert listed(1, one, two, note) == [
        "Advice: the 1 of 2 about the most time (tracetui advice shows all)",
        lines[0],
    ]
    assert listed(1, note) == []


@pytest.mark.parametrize(
    ("subjects", "words"),
    [
        (1, "op0"),
        (5, "op0, op1, op2, op3, op4"),
        (6, "op0, op1, op2, op3, op4 and 1 more"),
        (8, "op0, op1, op2, op3, op4 and 3 more"),
    ],
)
def test_five_names_are_told_that_advice_is_about(subjects: int, words: str) -> None:
    assert advice_text([advice(1, 100, subjects)], 60).splitlines() == [
        "1 piece of advice",
        "",
        "1  Title 1" + "100 ns".rjust(50),
        "   Text.",
        f"   of  {words}",
        "   if  rule",
    ]


def test_a_title_as_wide_as_the_page_has_its_time_behind_it() -> None:
    lines = advice_text([advice(1, 100), advice(2, None, file="x.py")] * 5, 10).splitlines()
    assert lines[0] == "10 pieces of advice by lost time, notes last; some are about the same time"
    assert lines[2] == " 1  Title 1  100 ns" and lines[-4] == "10  Title 2  note"


def test_the_lanes_of_each_track_are_counted_from_0() -> None:
    nested = ((1, "outer", 0, 9), (1, "inner", 1, 2), (2, "other", 0, 9), (2, "within", 1, 2))
    table = events_frame(
        analyse(trace_of([piece(1, tid, name, ts, dur, "cpu_op") for tid, name, ts, dur in nested]))
    )
    assert dict(zip(table["name"], table["lane"])) == {"outer": 0, "inner": 1, "other": 0, "within": 1}


@pytest.mark.parametrize("called", [True, False])
def test_a_stack_is_that_of_a_task_or_of_the_slice_itself(
    called: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text 0 is a stack and row 0 a frame, as any other is."""
    monkeypatch.setattr(
        events, "frames_of", lambda _, row: (Frame("frame.py", row, "f"), Frame("up.py", 9, "g"))
    )
    slices = SimpleNamespace(stack=np.array([1, -1, 1, -1, 1, 0]), have_stacks=called)
    chains = SimpleNamespace(
        tasks=np.array([1, 2, 4]), stack=np.array([0, -1, -1]), frame=np.array([-1, 0, -1])
    )
    analysis: Any = SimpleNamespace(
        trace=SimpleNamespace(slices=slices, strings=["a.py(3): f;b.py(4): g", "c.py(5): h"]),
        launch_chains=chains,
        rules=SimpleNamespace(line_of=lambda frames: frames[0] if frames else None),
    )
    found = events.Stacks(analysis)
    keys = found.keys(np.array([0, 1, 2, 3, 4, 5])).tolist()
    assert keys == [1, 0, -2, -1, -1, 0]
    assert [found.text(key) for key in (0, 1, -1, -2, -3)] == [
        *("a.py(3): f < b.py(4): g", "c.py(5): h", None),
        *("frame.py(0): f < up.py(9): g", "frame.py(1): f < up.py(9): g"),
    ]
    frame = None if called else "frame.py(0)"
    assert [found.line(key) for key in (0, -1, -2)] == ["a.py(3)", None, frame]


def test_a_window_has_its_first_ns_and_not_its_last() -> None:
    """Of steps and gaps: every window from the start of one to that of another, and one ns beside."""
    analysis = run("mixed", 4)
    gaps = analysis.gaps
    edges = [int(gaps.start[place]) for place in (0, len(gaps) // 2, len(gaps) - 1)]
    edges += [analysis.steps[1].start_ns, analysis.steps[2].start_ns]
    for start in edges:
        for end in (*edges, start + 1):
            chosen = Selection(window=(start, end))
            found = chosen.gaps(analysis)
            ranked = gaps.ranked(chosen.by).tolist()
            expected = [gap for gap in ranked if start <= gaps.start[gap] < end]
            assert found.tolist() == expected
            assert chosen.gaps(analysis, 2).tolist() == expected[:2]
            assert chosen.steps(analysis) == [
                place for place, step in enumerate(analysis.steps) if start <= step.start_ns < end
            ]
    for number in {step.number for step in analysis.steps}:
        chosen = Selection(step=number)
        of_number = [place for place, step in enumerate(analysis.steps) if step.number == number]
        assert chosen.steps(analysis) == of_number == chosen.steps(analysis, analysis.devices[0].device)
        assert chosen.steps(analysis, "another") == []
        of_step = analysis.step_numbers[gaps.step] == number
        assert sorted(chosen.gaps(analysis).tolist()) == np.flatnonzero(of_step).tolist()
        both = Selection(step=number, window=(edges[3], edges[4]))
        assert both.steps(analysis) == [place for place in of_number if place == 1]


@pytest.mark.parametrize("least", [None, 9, 0])
def test_texts_are_cut_down_to_their_least(least: int | None) -> None:
    """Where a page has no room for them: 16 cells, unless the column says otherwise."""
    name: Column[Any] = Column("name", "name", lambda rows: texts_at(np.zeros(1, np.int64), rows))
    table = Table((name if least is None else replace(name, least=least),))
    *_, line = text_table(table, ["x" * 40], 5)
    assert line.strip() == {None: "x" * 15 + "…", 9: "x" * 8 + "…", 0: "x" * 40}[least]


def test_the_three_longest_phases_of_a_step_are_named() -> None:
    phases = [("data", 1), ("forward", 4), ("backward", 3), ("optimizer", 2)]
    named = longest_phases([AnnotatedPhase(name, ms * 1_000_000) for name, ms in phases])
    assert named == "forward 4.00 ms, backward 3.00 ms, optimizer 2.00 ms"


@pytest.mark.parametrize("bubbles", [(0, 0), (0, 7), (7, 0)])
def test_bubbles_are_shown_where_any_step_has_one(bubbles: tuple[int, int]) -> None:
    rows = StepRows(run("mixed", 2))
    rows.all_rows = [replace(rows.all_rows[0], bubble_ns=ns) for ns in bubbles]
    assert rows.receives == any(bubbles)
