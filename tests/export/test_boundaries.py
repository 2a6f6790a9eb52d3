"""Where a text changes: the last row that is listed, the first number that is plural, the end of a window."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analysis.machine import npu, task
from tests.compare.planted import run
from tests.export.test_pages import slower
from tests.synthetic import trace_of
from tracetui.analysis.advice.model import Advice
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.preparing import COPY
from tracetui.analysis.memory.model import NEVER, Curve
from tracetui.compare.job_part import RankRow
from tracetui.compare.memory_rows import ALIVE, MemoryRow
from tracetui.compare.operators import Stretch
from tracetui.compare.rows import Row, Scale
from tracetui.compare.tally import NOTHING, Sum
from tracetui.export.advice_text import advice_text, cost_words, first_advice
from tracetui.export.compare_text import _shown, comparison_text
from tracetui.export.compare_words import _ranks, lengths, row_name, run_words
from tracetui.export.memory.words import (
    alive_sentence,
    calls_words,
    growing_sentence,
    growth_sentence,
    place_words,
)
from tracetui.export.report import (
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
from tracetui.export.selection import Selection
from tracetui.export.tables.column import records
from tracetui.export.tables.compare import BY, WATERFALL
from tracetui.export.tables.memory import COMPONENTS, BlockRows, MemoryRows
from tracetui.export.tables.shown import text_table
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.trace.model import Kind

ONE_STEP = Scale(1, 1, Fraction(10**9))


def row(name: str, base: int, other: int) -> Row:
    return Row(name, Sum(base, 1, base, base), Sum(other, 1, other, other), ONE_STEP, True)


def memory_row(base: int, other: int) -> MemoryRow:
    sums = (Sum(base, 1, base, base), Sum(other, 1, other, other))
    return MemoryRow("m", *sums, ONE_STEP, True, ALIVE, "", None, None)


# ------------------------------------------------------------------- comparisons


def test_what_rounds_to_nothing_is_no_change() -> None:
    kernels = tuple(row(str(delta), 10**6, 10**6 + delta) for delta in (499, 500, -499, -500, 501))
    memory = tuple(memory_row(100, 100 + delta) for delta in (0, 1, -1, 2))
    comparison = replace(slower(), kernels=kernels, memory=memory)
    assert [each.name for each in _shown(BY["kernel"], comparison, False)] == ["500", "-500", "501"]
    assert [each.delta_ns for each in _shown(BY["memory"], comparison, False)] == [1, -1, 2]
    for by in ("kernel", "memory"):
        assert _shown(BY[by], comparison, True) == BY[by].rows(comparison)


def test_parts_of_a_step_and_classes_are_shown_that_either_side_has() -> None:
    rows = tuple(row(f"{base} {other}", base, other) for base, other in ((0, 0), (0, 1), (1, 0), (1, 1)))
    comparison = replace(slower(), waterfall=rows, classes=rows, kernels=rows)
    for table, asked in ((WATERFALL, False), (WATERFALL, True), (BY["class"], False)):
        assert [each.name for each in _shown(table, comparison, asked)] == ["0 1", "1 0", "1 1"]
    assert _shown(BY["class"], comparison, True) == rows == _shown(BY["kernel"], comparison, True)


def lists(by: str | None, top: int | None, rows: int) -> list[str]:
    """The lines below a table of so many kernels, each of which changed, that say how many are left."""
    kernels = tuple(row(f"k{number}", 0, 10**6 + number) for number in range(rows))
    every: dict[str, Any] = {table.key: () for table in BY.values() if not table.of_jobs}
    comparison = replace(slower(), **{**every, "kernels": kernels})
    text = comparison_text(comparison, BY[by] if by else None, top, 120)
    shown = [line for line in text.splitlines() if line.startswith("  k")]
    more = [line for line in text.splitlines() if "more: --by" in line]
    return [str(len(shown)), *more]


@pytest.mark.parametrize(
    ("by", "top", "rows", "told"),
    [
        (None, None, 10, ["10"]),
        (None, None, 11, ["10", "  1 more: --by kernel --top 0"]),
        ("kernel", None, 20, ["20"]),
        ("kernel", None, 21, ["20", "  1 more: --by kernel --top 0"]),
        ("kernel", 2, 5, ["2", "  3 more: --by kernel --top 0"]),
        ("kernel", 0, 25, ["25"]),
        (None, 0, 12, ["12"]),
    ],
)
def test_how_many_rows_a_comparison_lists(
    by: str | None, top: int | None, rows: int, told: list[str]
) -> None:
    assert lists(by, top, rows) == told


def test_stretches_of_operators_stand_below_the_operators() -> None:
    comparison = replace(slower(), gone=(Stretch(("aten::mul",), 10**6, 1),), new=())
    below = "only in BASE: aten::mul"
    for by in ("operator", "kernel", "api"):
        assert (below in comparison_text(comparison, BY[by], None, 120)) == (by == "operator")
    assert comparison_text(comparison, None, None, 120).count(below) == 1


def test_a_table_without_a_row_says_why_within_the_page() -> None:
    text = comparison_text(replace(slower(), memory=()), BY["memory"], None, 40)
    assert text.splitlines()[-3:] == [
        "Memory, bytes",
        "  Both sides need a recording of it:",
        "  profile_memory=True.",
    ]
    assert "  Neither side has any." in comparison_text(replace(slower(), api=()), BY["api"], None, 40)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0, 2), "2 ranks (0, 2)"),
        ((0, *range(2, 9)), "8 ranks (0, 2, 3, 4, 5, 6, 7, 8)"),
        ((0, *range(2, 10)), "9 ranks (0, 2, 3, 4, 5, 6, 7, 8, ...)"),
        (tuple(range(3, 12)), "9 ranks (3 to 11)"),
    ],
)
def test_eight_numbers_of_ranks_are_listed(numbers: tuple[int, ...], words: str) -> None:
    assert _ranks(numbers) == words


def side(walls: list[int], ranks: int = 1, exposed: int | None = None, members: tuple[int, ...] = ()) -> Any:
    totals = None
    if exposed is not None:
        totals = SimpleNamespace(
            computing_ns=3000, communication_not_overlapped_ns=exposed, free_ns=2000, window_ns=6000
        )
    mean = Fraction(sum(walls), len(walls) * ranks) if walls else 0
    ns: Any = {"wall_ns": np.array(walls), "step_ns": mean}
    return SimpleNamespace(kind=Kind.GPU, ranks=ranks, numbers=(), members=members, totals=totals, **ns)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (side([]), "gpu, no work of a device"),
        (side([10**6]), "gpu, 1 step of 1.000 ms"),
        (side([10**6, 3 * 10**6]), "gpu, 2 steps of 2.000 ms, 1.000 to 3.000"),
        (side([4 * 10**6, 6 * 10**6], 2, None, (4,)), "gpu, rank 4, 2 steps of 2.500 ms, 2.000 to 3.000"),
        (
            side([10**6], exposed=0),
            "gpu, 1 step of 1.000 ms; in all 6.00 µs: computing 3.00 µs, free 2.00 µs",
        ),
        (
            side([10**6], exposed=1),
            "gpu, 1 step of 1.000 ms; in all 6.00 µs: computing 3.00 µs, exposed communication 1 ns, "
            "free 2.00 µs",
        ),
    ],
)
def test_a_side_in_words(of: Any, words: str) -> None:
    assert run_words(of) == words
    assert (lengths(of) == ["-"] * 3) == (len(of.wall_ns) == 0)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ([(10, 10), (20, 20)], "rank 3"),
        ([(0, 10**6), (9 * 10**6, 7 * 10**6)], "rank 3, t1 -2.000"),
        ([(0, 3 * 10**6), (9 * 10**6, 7 * 10**6)], "rank 3, t0 +3.000"),
    ],
)
def test_a_rank_is_told_with_what_changed_most(terms: list[tuple[int, int]], words: str) -> None:
    waterfall = tuple(row(f"t{place}", *term) for place, term in enumerate(terms))
    assert row_name(RankRow("rank 3", NOTHING, NOTHING, ONE_STEP, None, 3, waterfall)) == words


# ------------------------------------------------------------------------ traces


def test_the_start_of_a_long_path_is_cut_off() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 1), task(5, 0)]))
    named = replace(analysis, trace=replace(analysis.trace, path=f"/{'a' * 90}/trace.json"))
    lines = summary_text(named, Selection(), None, 60).splitlines()
    assert lines[0] == f"…{'a' * 48}/trace.json"


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
                "tracetui.export.report.facts_of_run", lambda _, length=length: [("run", ["x" * length])]
            )
            analysis: Any = SimpleNamespace(run=None, checks=checks)
            first, *others = run_facts(analysis)
            assert first.endswith(end) and len(first) == len("Run: ") + 400
            assert others == [
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
    told = _producer(
        {"computing_ns": 5, "free_ns": 7}, {"computing_ns": 5, "free_ns": 1_000_000, "not_told_ns": 3}
    )
    assert told == [
        "  the trace's own Overlap Analysis says otherwise:",
        "    free                                 1.000 ms",
        "    not told                             0.000 ms",
    ]


@pytest.mark.parametrize(
    ("causes", "told"),
    [
        ({"a": 4}, ["Preparing steps took 10 ns: a"]),
        ({"a": 4, COPY: 1}, ["Preparing steps took 10 ns, of which copies 1 ns", "  the rest: a"]),
        ({COPY: 10}, ["Preparing steps took 10 ns, of which copies 10 ns"]),
        ({"a": 4, "b": 3, "c": 2, "d": 1}, ["Preparing steps took 10 ns: a 40 %, b 30 %, c 20 %"]),
    ],
)
def test_what_preparing_steps_took(causes: dict[str, int], told: list[str]) -> None:
    assert _preparing(10, causes) == told


def test_a_table_of_steps_has_as_many_decimals_as_the_page_has_room_for() -> None:
    analysis = run("mixed", 4)
    places, seen = range(len(analysis.steps)), set()
    for width in range(50, 110):
        tables = [text_table(STEPS, StepRows(analysis, places, 2, decimals), width) for decimals in range(4)]
        fitting = [place for place, lines in enumerate(tables) if max(map(len, lines)) <= width]
        found = _steps(analysis, places, 2, width)
        most = max(fitting, default=0)
        assert found[2 : 2 + len(tables[most])] == tables[most]
        assert found[2 + len(tables[most])] == "  2 more steps: --top 0"
        seen.add(most)
    assert seen == {0, 1, 2, 3}


# ------------------------------------------------------------------------ advice


def advice(number: int, cost_ns: int | None, subjects: int = 0, file: str | None = None) -> Advice:
    names = tuple(f"op{place}" for place in range(subjects))
    return Advice(f"rule_{number}", f"Title {number}", "Text.", "rule", cost_ns, {}, names, file, 8, "f")


def test_what_advice_is_about() -> None:
    costs = [(None, None), (100, None), (100, 100), (100, 50)]
    told = [cost_words(replace(advice(0, cost), per_step_ns=mean)) for cost, mean in costs]
    assert told == ["note", "100 ns", "100 ns", "100 ns, 50 ns a step"]


def test_of_more_advice_than_is_listed_all_is_counted() -> None:
    def told(most: int, *every: Advice) -> list[str]:
        analysis: Any = SimpleNamespace(advice=every)
        return first_advice(analysis, most, 80)

    one, two, note = advice(1, 100), advice(2, 1, file="/a/train.py"), advice(3, None)
    lines = ["   100 ns  Title 1", "     1 ns  Title 2: train.py(8)"]
    assert told(2, one, two, note) == ["Advice, by the time it is about", *lines]
    assert told(1, one, two, note) == [
        "Advice: the 1 of 2 about the most time (tracetui advice shows all)",
        lines[0],
    ]
    assert told(1, note) == []


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
    analysis: Any = SimpleNamespace(advice=[advice(1, 100, subjects)])
    assert advice_text(analysis, 60).splitlines() == [
        "1 piece of advice, most time first; some are about the same time",
        "",
        "1  Title 1" + "100 ns".rjust(50),
        "   Text.",
        f"   of  {words}",
        "   if  rule",
    ]


def test_a_title_as_wide_as_the_page_has_its_time_behind_it() -> None:
    analysis: Any = SimpleNamespace(advice=[advice(1, 100), advice(2, None, file="x.py")] * 5)
    lines = advice_text(analysis, 10).splitlines()
    assert lines[0] == "10 pieces of advice, most time first, notes last; some are about the same time"
    assert lines[2] == " 1  Title 1  100 ns" and lines[-4] == "10  Title 2  note"


# ------------------------------------------------------------------------ memory


def grown(*steps: tuple[str, int, int | None]) -> dict[str, Any]:
    return {"growth": [{"device": device, "step": step, "bytes": size} for device, step, size in steps]}


def test_growth_from_step_to_step() -> None:
    assert growth_sentence(grown(), 0) == "There are no steps to compare."
    assert growth_sentence(grown(), 1) == "Of one step nothing can be said about growth."
    assert growth_sentence(grown(), 2) == "No curve tells of growth."
    assert growth_sentence(grown(("NPU 0", 3, 1), ("NPU 1", 3, None)), 2) == (
        "From step to step: NPU 0: +1 B in 3; NPU 1: ? in 3"
    )
    nine = growth_sentence(grown(*(("NPU 0", step, -step) for step in range(1, 10))), 9)
    assert nine == "From step to step: " + ", ".join(f"-{step} B in {step}" for step in range(2, 10))


def group(**more: Any) -> dict[str, Any]:
    usual = {"steps": [1, 2], "operator": "Cast", "task": None, "verdict": "grows", "of": 28, "nth": 28}
    place = {"file": "/a/actor.py", "line": 41, "function": "f", "before": None, "after": None}
    return {**usual, **place, "leaving": 1, "bytes_per_step": 10, **more}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"of": 1, "nth": 1}, "the only call"),
        ({"of": 2, "nth": 2}, "the 2nd of 2 calls"),
        ({"of": 28, "nth": 28, "leaving": 2}, "2 of 28 calls"),
        ({"of": 1000, "nth": None}, "1 of 1,000 calls"),
    ],
)
def test_which_calls_leave_blocks(more: dict[str, Any], words: str) -> None:
    assert calls_words(group(**more)) == words


def test_a_group_of_blocks_that_grows() -> None:
    assert growing_sentence(group()) == (
        "grows 10 B a step: Cast, the 28th of 28 calls at actor.py(41) f, alive since steps 1, 2"
    )
    told = growing_sentence(group(task="MatMul", before="A", after="B", steps=[*range(1, 7)]), "x" * 121)
    assert told == (
        f"grows 10 B a step: Cast (MatMul), the 28th of 28 calls at actor.py(41) f `{'x' * 120}`, after A, "
        "before B, alive since steps 1, 2, 3, 4, 5, 6"
    )
    seven = growing_sentence(group(operator="", steps=[*range(1, 8)], verdict="may grow"))
    assert seven == (
        "may grow 10 B a step: the 28th of 28 calls at actor.py(41) f, alive since steps 1, 2, ..., 5, 6, 7"
    )


def test_what_is_alive_and_where_it_was_allocated() -> None:
    def alive(blocks: int) -> str:
        return alive_sentence({"alive_at_end": {"bytes": 10 * blocks, "blocks": blocks}})

    assert alive(0) == "All that was allocated was released before the recording ended."
    left = "Alive at the end, which by itself is no leak: "
    assert [alive(1), alive(2)] == [f"{left}10 B in 1 block.", f"{left}20 B in 2 blocks."]
    unknown = {"file": None, "line": None, "function": None}
    assert place_words(unknown) == "(no stack)"
    assert place_words({"file": "", "line": None, "function": "run"}) == "run"
    assert place_words({"file": "/a/b.py", "line": None, "function": None}) == "b.py(0) "


def test_components_are_told_at_their_most_and_at_the_end() -> None:
    """One has its most at time 0; of one only what is reserved is known, of one nothing."""

    def curve(allocated: list[int], reserved: list[int]) -> Curve:
        columns = (np.array(column, np.int64) for column in ([0, 10, 20], allocated, reserved, [-1] * 3))
        return Curve("NPU 0", "PyTorch", *columns)

    curves = [
        curve([9, 3, -1], [1, 2, 0]),
        curve([-1] * 3, [1, 5, 4]),
        curve([-1] * 3, [-1] * 3),
        curve([0] * 3, [0] * 3),
    ]
    recorded: Any = SimpleNamespace(timed=True)
    keys = ("peak_allocated_bytes", "peak_reserved_bytes", "peak_at_ns", "end_allocated_bytes")
    told = [[each[key] for key in keys] for each in records(COMPONENTS, MemoryRows(recorded, curves))]
    assert told == [[9, 2, 0, 3], [None, 5, 10, None], [None, None, 0, None], [0, 0, 0, 0]]


def test_a_block_may_begin_and_be_released_at_time_0() -> None:
    blocks = SimpleNamespace(start=np.array([0, 0, 0, 5]), release=np.array([0, 1, NEVER, 5]))
    rows: Any = SimpleNamespace(blocks=blocks)
    rows.release = BlockRows.release.fget(rows)  # type: ignore[attr-defined]
    assert rows.release.tolist() == [0, 1, -1, 5]
    assert BlockRows.life.fget(rows).tolist() == [0, 1, -1, 0]  # type: ignore[attr-defined]


# -------------------------------------------------------------------- selections


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
        own = [place for place, step in enumerate(analysis.steps) if step.number == number]
        assert chosen.steps(analysis) == own == chosen.steps(analysis, analysis.devices[0].device)
        assert chosen.steps(analysis, "another") == []
        of_step = analysis.step_numbers[gaps.step] == number
        assert sorted(chosen.gaps(analysis).tolist()) == np.flatnonzero(of_step).tolist()
        both = Selection(step=number, window=(edges[3], edges[4]))
        assert both.steps(analysis) == [place for place in own if place == 1]
