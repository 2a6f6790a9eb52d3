"""Which rows of a comparison are listed, from which change on, and what is said of its sides."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.export.test_pages import slower
from tracetui.analysis.health.finding import Severity
from tracetui.comparison.compared_row import ComparedRow, RowScale
from tracetui.comparison.job_part import ComparedRank
from tracetui.comparison.memory_rows import ALIVE, MemoryRow
from tracetui.comparison.operator_sequences import OperatorStretch
from tracetui.comparison.tally import NOTHING, Sum
from tracetui.export.comparison.text import comparison_text, shown_rows
from tracetui.export.sentences.comparison import _rank_numbers, lengths, row_name, run_words
from tracetui.export.tables.comparison import ADVICE, BY, WATERFALL
from tracetui.trace.model import TraceKind

ONE_STEP = RowScale(1, 1, Fraction(10**9))


def row(name: str, base: int, other: int) -> ComparedRow:
    return ComparedRow(name, Sum(base, 1, base, base), Sum(other, 1, other, other), ONE_STEP, True)


def memory_row(base: int, other: int) -> MemoryRow:
    sums = (Sum(base, 1, base, base), Sum(other, 1, other, other))
    return MemoryRow("m", *sums, ONE_STEP, True, ALIVE, "", None, None)


def test_what_rounds_to_nothing_is_no_change() -> None:
    kernels = tuple(row(str(delta), 10**6, 10**6 + delta) for delta in (499, 500, -499, -500, 501))
    memory = tuple(memory_row(100, 100 + delta) for delta in (0, 1, -1, 2))
    comparison = replace(slower(), kernels=kernels, memory=memory)
    assert [shown.name for shown in shown_rows(BY["kernel"], comparison, False)] == ["500", "-500", "501"]
    assert [shown.delta_ns for shown in shown_rows(BY["memory"], comparison, False)] == [1, -1, 2]
    for by in ("kernel", "memory"):
        assert shown_rows(BY[by], comparison, True) == BY[by].rows(comparison)


def test_parts_of_a_step_and_classes_are_shown_that_either_side_has() -> None:
    rows = tuple(row(f"{base} {other}", base, other) for base, other in ((0, 0), (0, 1), (1, 0), (1, 1)))
    comparison = replace(slower(), waterfall=rows, classes=rows, kernels=rows)
    for table, asked in ((WATERFALL, False), (WATERFALL, True), (BY["class"], False)):
        assert [shown.name for shown in shown_rows(table, comparison, asked)] == ["0 1", "1 0", "1 1"]
    assert shown_rows(BY["class"], comparison, True) == rows == shown_rows(BY["kernel"], comparison, True)


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
    ("by", "top", "rows", "expected"),
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
    by: str | None, top: int | None, rows: int, expected: list[str]
) -> None:
    assert lists(by, top, rows) == expected


def test_stretches_of_operators_stand_below_the_operators() -> None:
    comparison = replace(slower(), gone=(OperatorStretch(("aten::mul",), 10**6, 1),), new=())
    below = "only in BASE: aten::mul"
    for by in ("operator", "kernel", "api"):
        assert (below in comparison_text(comparison, BY[by], None, 120)) == (by == "operator")
    assert comparison_text(comparison, None, None, 120).count(below) == 1


def test_a_table_without_a_row_says_why_within_the_page() -> None:
    text = comparison_text(replace(slower(), memory=()), BY["memory"], None, 40)
    assert text.splitlines()[-3:] == [
        "Memory, bytes",
        "  Both sides need recorded memory:",
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
    assert _rank_numbers(numbers) == words


def side(
    walls: list[int],
    ranks: int = 1,
    exposed: int | None = None,
    members: tuple[int, ...] = (),
    devices: int = 1,
    common: object = None,
) -> Any:
    totals = None
    if exposed is not None:
        totals = SimpleNamespace(
            computing_ns=3000, communication_not_overlapped_ns=exposed, free_ns=2000, window_ns=6000
        )
    mean = Fraction(sum(walls), len(walls) * ranks) if walls else 0
    ns: Any = {"wall_ns": np.array(walls), "step_ns": mean, "steps": len(walls) // devices, "common": common}
    return SimpleNamespace(kind=TraceKind.GPU, ranks=ranks, numbers=(), members=members, totals=totals, **ns)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (side([]), "gpu, no work of a device"),
        (side([10**6]), "gpu, 1 step of 1.000 ms"),
        (side([10**6, 3 * 10**6]), "gpu, 2 steps of 2.000 ms, 1.000 to 3.000"),
        (side([10**6, 3 * 10**6], devices=2), "gpu, 1 step of 2.000 ms, 1.000 to 3.000"),
        (side([10**6, 3 * 10**6], common=()), "gpu, 2 steps of ranks of 2.000 ms, 1.000 to 3.000"),
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
    assert row_name(ComparedRank("rank 3", NOTHING, NOTHING, ONE_STEP, None, 3, waterfall)) == words


def test_documents_name_advice_by_its_title_and_sort_what_is_equal_by_that() -> None:
    kinds = ["collect_host_events", "collect_level_1", "data_queue.sending", "of another version"]
    rows = [row(kind, 5, 5) for kind in kinds]
    one_step = SimpleNamespace(wall_ns=[1])
    comparison: Any = SimpleNamespace(
        advice=rows, severity_of=lambda numbers: Severity.NOTE, base=one_step, other=one_step
    )
    assert [document["name"] for document in ADVICE.documents(comparison)] == [
        "Launches are not recorded",
        "Sending data to the device is late",
        "Some idle time has no known origin",
        "of another version",
    ]
