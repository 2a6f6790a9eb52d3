"""Numbers in words: what is little, nearly all, single or unknown."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.annotated import AnnotatedPhase
from tracetui.analysis.gaps import Measure
from tracetui.analysis.health.finding import Health
from tracetui.export.comparison.text import _unmatched_lines
from tracetui.export.markdown import code
from tracetui.export.memory.document import _known, _time
from tracetui.export.sentences.advice_english import _figure
from tracetui.export.sentences.causes import (
    _percent,
    largest_shares,
    leading_shares,
    line_name,
    module_name,
    scope_name,
)
from tracetui.export.sentences.comparison import (
    _rank_numbers,
    count_words,
    ratio_words,
    run_words,
    signed_ms,
    signed_size,
)
from tracetui.export.sentences.job import (
    _late_rank_sentence,
    _passed_on_sentence,
    link_path,
    passes_on,
)
from tracetui.export.sentences.memory import frame_line_name, most_at_peak, ordinal, peak_parts, signed_bytes
from tracetui.export.tables.column import CodedTexts, Form
from tracetui.export.tables.communication import LINKS, LinkRows
from tracetui.export.tables.gaps import _behind
from tracetui.export.tables.job import _measure, _slowest
from tracetui.export.tables.kernels import SHAPES
from tracetui.export.tables.memory import _from_to, calls_of
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.steps import longest_phases, mean_phases
from tracetui.export.trace.idle_text import gaps_title
from tracetui.job.late_ranks import LateRank
from tracetui.trace.model import TraceKind
from tracetui.trace.stack import Frame


@pytest.mark.parametrize(
    ("part", "share"),
    [(0, "0 %"), (1, "<1 %"), (4, "<1 %"), (5, "1 %"), (700, "70 %"), (995, ">99 %"), (1000, "100 %")],
)
def test_a_share_without_decimals_is_never_rounded_to_nothing_or_all(part: int, share: str) -> None:
    assert _percent(part, 1000) == share


@pytest.mark.parametrize(
    ("numbers", "words"), [((), "2 steps of"), ((5,), "2 steps (5) of"), ((5, 6), "2 steps (5 to 6) of")]
)
def test_a_run_tells_the_numbers_of_its_steps(numbers: tuple[int, ...], words: str) -> None:
    walls = np.array([1_000_000, 1_000_000])
    run: Any = SimpleNamespace(
        kind=TraceKind.GPU, wall_ns=walls, step_ns=1e6, ranks=1, numbers=numbers, members=(), totals=None
    )
    run.steps, run.common = 2, None
    assert run_words(run).startswith(f"{TraceKind.GPU.value}, {words}")


def test_nothing_is_0_and_the_unknown_is_null() -> None:
    assert [_known(count) for count in (-1, 0, 1)] == [None, 0, 1]
    for timed in (True, False):
        recorded: Any = SimpleNamespace(timed=timed)
        assert [_time(recorded, ns) for ns in (-1, 0, 1)] == [None, *([0, 1] if timed else [None, None])]


def test_kernels_in_text_have_their_type_and_not_the_spread_of_their_times() -> None:
    shown = {column.key for column in SHAPES.columns if column.forms & Form.TEXT}
    assert "type" in shown and shown.isdisjoint({"core", "min_ns", "max_ns"})


@pytest.mark.parametrize(("by_idle", "lines"), [(True, [1, 0, -1, -1]), (False, [-1, 2, 3, -1])])
def test_the_line_behind_a_gap_is_of_what_ranks_it(by_idle: bool, lines: list[int]) -> None:
    """Two lines of idle time, then two of communication; none of copies, of which the last is."""
    idle, moved = (CodedTexts(np.array(codes), str) for codes in ([1, 0, -1, 0], [-1, 0, 1, 0]))
    rows: Any = SimpleNamespace(
        by_idle=by_idle,
        by_copies=np.array([False, False, False, True]),
        at=lambda texts: texts,
        idle=SimpleNamespace(main_line=idle, lines=["a", "b"]),
        communication=SimpleNamespace(main_line_of=lambda: moved, lines=["c", "d"]),
    )
    assert _behind(rows).codes.tolist() == lines


@pytest.mark.parametrize(("names", "shown"), [([1, 1], False), ([1, 2], True)])
def test_how_many_names_a_row_stands_for_is_told_where_any_has_several(names: list[int], shown: bool) -> None:
    table: Any = SimpleNamespace(names=np.array(names))
    (column,) = [column for column in OPERATORS.columns if column.key == "names"]
    assert column.when(table, Form.MARKDOWN) == shown


@pytest.mark.parametrize(
    ("nth", "leaving", "words"),
    [(3, 1, "3rd of 28"), (3, 2, "2 of 28"), (None, 1, "1 of 28"), (None, 28, "28 of 28")],
)
def test_which_calls_leave_blocks_behind(nth: int | None, leaving: int, words: str) -> None:
    group: Any = SimpleNamespace(nth=nth, leaving=leaving, calls=28)
    assert calls_of(group) == words


@pytest.mark.parametrize(("steps", "words"), [((5,), "5"), ((5, 6), "5 .. 6"), ((5, 6, 7), "5 .. 7")])
def test_from_which_step_to_which_blocks_are_left(steps: tuple[int, ...], words: str) -> None:
    group: Any = SimpleNamespace(steps=steps)
    assert _from_to(group) == words


@pytest.mark.parametrize(
    ("rank", "peer", "words"), [(0, -1, "0"), (None, -1, "-"), (None, 0, "peer 0"), (None, 3, "peer 3")]
)
def test_the_slowest_of_a_step_is_a_rank_a_peer_or_nobody(rank: int | None, peer: int, words: str) -> None:
    assert _slowest(SimpleNamespace(rank=rank, group_rank=peer)) == words


@pytest.mark.parametrize(("share", "words"), [(0.5005, "50.1 %"), (0.9995, ">99.9 %"), (1.0, "100.0 %")])
def test_a_share_is_rounded_as_it_is_written(share: float, words: str) -> None:
    assert _figure("share_of_window", share) == words


@pytest.mark.parametrize(
    ("src", "dst", "expected"),
    [
        (4, 5, "rank 4 to 5"),
        (None, None, "peer 2 to 3 of group 271"),
        (4, None, "rank 4 to peer 3 of group 271"),
        (None, 5, "peer 2 of group 271 to rank 5"),
    ],
)
def test_a_link_is_of_ranks_as_far_as_they_are_known(src: int | None, dst: int | None, expected: str) -> None:
    ends = SimpleNamespace(src=src, dst=dst, group_src=2, group_dst=3, group="271")
    link: Any = SimpleNamespace(ends=ends)
    assert link_path(link) == expected


def test_the_share_of_a_link_is_known_where_its_speed_and_its_nominal_one_are() -> None:
    """Also of one that moved nothing in some time; not where it is built for no speed at all."""
    rows = LinkRows.__new__(LinkRows)
    rows.rows = [SimpleNamespace(gb_per_s=speed) for speed in (8.0, 0.0, None, 8.0, 0.0, 0.5)]
    vars(rows)["nominal"] = np.array([32.0, 32.0, 32.0, -1.0, 0.0, 1.0])
    assert rows.speed.tolist() == [8.0, 0.0, -1.0, 8.0, 0.0, 0.5]
    assert rows.share.tolist() == [0.25, 0.0, -1.0, -1.0, -1.0, 0.5]


def test_kernels_share_the_time_of_all_types() -> None:
    (share,) = [column for column in SHAPES.columns if column.key == "share"]
    rows: Any = SimpleNamespace(rows=[SimpleNamespace(total_ns=ns) for ns in (60, 30)], total_ns=120)
    assert np.asarray(share.get(rows)).tolist() == [0.5, 0.25]
    least: Any = SimpleNamespace(rows=[SimpleNamespace(total_ns=1)], total_ns=1)
    assert np.asarray(share.get(least)).tolist() == [1.0]
    none: Any = SimpleNamespace(rows=[SimpleNamespace(total_ns=0)], total_ns=0)
    assert np.asarray(share.get(none)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((3,), "rank 3"),
        ((0, 1), "2 ranks (0 to 1)"),
        (tuple(range(8)), "8 ranks (0 to 7)"),
        ((0, 2, 5), "3 ranks (0, 2, 5)"),
    ],
)
def test_ranks_in_words(numbers: tuple[int, ...], words: str) -> None:
    assert _rank_numbers(numbers) == words


def test_means_and_changes_in_words() -> None:
    assert [count_words(Fraction(mean)) for mean in ("12", "3/2", "1/3", "0", "2000")] == [
        *("12", "1.5", "0.3", "0", "2,000"),
    ]
    assert [signed_ms(Fraction(ns)) for ns in (1_234_000, -1_234_000, 499, -499, 500_000, 0)] == [
        *("+1.234", "-1.234", "0.000", "0.000", "+0.500", "0.000"),
    ]
    assert [signed_size(Fraction(size)) for size in (1_000_000, -1_000_000, 0)] == [
        *("+1.00 MB", "-1.00 MB", "0 B"),
    ]
    ratios = [("matched", 1.25), ("matched", None), ("new", None), ("gone", 0.0)]
    rows: list[Any] = [SimpleNamespace(status=status, ratio=ratio) for status, ratio in ratios]
    assert [ratio_words(row) for row in rows] == ["1.250", "-", "new", "gone"]


def test_the_largest_parts_with_their_shares() -> None:
    parts = {"a": 10, "b": 70, "c": 20}
    assert (largest_shares(parts, 2), largest_shares(parts, 9)) == (
        "b 70 %, c 20 %",
        "b 70 %, c 20 %, a 10 %",
    )
    assert (largest_shares({"a": 1}, 3), leading_shares({})) == ("a", "-")
    assert leading_shares({"a": 4, "b": 3, "c": 2, "d": 1}) == "a 40.0 %, b 30.0 %, c 20.0 %"


def test_places_of_python_in_words() -> None:
    assert line_name("train.py", 88, "forward") == "train.py(88) forward"
    assert (line_name("", 0, "run"), line_name(None, 0, "")) == ("run", "(no stack)")
    assert module_name("Conv_1", ["Net_0", "Block_3"]) == "Net_0 > Block_3 > Conv_1"
    assert (module_name(None, []), scope_name([]), scope_name(["a", "b"])) == (
        *("(outside any module)", "(outside any scope)", "a/b"),
    )


@pytest.mark.parametrize(
    ("name", "span"),
    [
        *[("a", "`a`"), ("a`b", "``a`b``"), ("a``b`c", "```a``b`c```"), ("`a", "`` `a ``")],
        *[("a`", "`` a` ``"), ("  ", "-"), ("", "-"), ("x" * 200, f"`{'x' * 200}`")],
    ],
)
def test_a_name_as_a_span_of_code(name: str, span: str) -> None:
    assert code(name) == span


def test_a_link_without_a_type_has_none() -> None:
    rows: Any = SimpleNamespace(rows=[SimpleNamespace(link_type=text) for text in ("HCCS", "", "PCIE")])
    assert LINKS.column("link_type").exact(rows) == ["HCCS", None, "PCIE"]


@pytest.mark.parametrize(
    ("shown", "total", "title"),
    [
        (1, 1, "1 kernel gap, most idle first"),
        (2, 2, "2 kernel gaps, most idle first"),
        (1, 2, "The 1 of 2 kernel gaps with the most idle time"),
    ],
)
def test_a_table_of_gaps_says_how_many_there_are(shown: int, total: int, title: str) -> None:
    analysis: Any = SimpleNamespace(trace=SimpleNamespace(kind=TraceKind.GPU), health=Health(()))
    assert gaps_title(analysis, shown, total, Measure.IDLE) == title


@pytest.mark.parametrize(
    ("lost", "gained", "passed"),
    [(10, [], True), (11, [5], True), (10, [5], False), (10, [2, 3], False), (10, [4], True), (0, [], False)],
)
def test_a_rank_passes_on_what_it_did_less_than_half_of(lost: int, gained: list[int], passed: bool) -> None:
    roots: Any = [SimpleNamespace(lost_ns=ns) for ns in gained]
    assert passes_on(lost, roots) == passed


@pytest.mark.parametrize(
    ("mostly", "words"),
    [
        (True, "x, mostly because it waited itself, longest for rank 4."),
        (False, "x, because it waited itself, longest for rank 4."),
    ],
)
def test_a_rank_that_waited_itself(mostly: bool, words: str) -> None:
    awaited = LateRank(4, False, "271", "", 5, 3, {6: 10}, 10)
    assert _passed_on_sentence("x", mostly, (awaited,), frozenset()) == words


@pytest.mark.parametrize(("means", "shown"), [((None, 0), False), ((None, 1), True), ((0, 3), True)])
def test_the_viewer_has_a_measure_where_any_rank_has_some_of_it(
    means: tuple[int | None, ...], shown: bool
) -> None:
    rows: Any = SimpleNamespace(rows=[SimpleNamespace(mean=lambda _, mean=mean: mean) for mean in means])
    assert _measure("bubble").when(rows, Form.VIEWER) == shown


def test_the_line_that_holds_most_at_a_peak_with_all_its_operators() -> None:
    held = [("a.py", 1, 5), ("b.py", 2, 3), ("b.py", 2, 4), ("", 0, 90), ("c.py", 3, 0)]
    lines: list[dict[str, Any]] = [
        {"file": file, "line": line, "function": "f", "operator": "mm", "bytes_at_peak": size}
        for file, line, size in held
    ]
    assert most_at_peak(lines[3:]) is None
    for unnamed, largest in ((90, None), (8, None), (7, ("b.py(2) f", 7))):
        lines[3]["bytes_at_peak"] = unnamed
        assert most_at_peak(lines) == largest
    lines.append({**lines[3], "operator": "add"})
    assert most_at_peak(lines) == ("b.py(2) f", 7)


def test_lines_of_two_files_of_one_name_are_not_added_up() -> None:
    held = [("/w/enc/model.py", 300), ("/w/dec/model.py", 400), ("/w/train.py", 500)]
    lines = [{"file": file, "line": 8, "function": "f", "bytes_at_peak": size} for file, size in held]
    assert most_at_peak(lines) == ("train.py(8) f", 500)
    assert most_at_peak(lines[:2]) == ("dec/model.py(8) f", 400)


def test_what_else_is_to_say_of_a_peak() -> None:
    peak = {"before_bytes": 1, "cached_bytes": 2, "outside_bytes": 3}
    assert [*peak_parts(peak)] == [
        "1 B of it is in no recorded block: allocated before, or left out",
        "2 B more was reserved: cached, or lost between blocks",
        "3 B of the process lay outside: workspace, communication, others",
    ]
    assert [*peak_parts(dict.fromkeys(peak, 0))] == [*peak_parts(dict.fromkeys(peak))] == []


def test_the_phases_of_a_mean_step_are_of_the_steps_that_have_any() -> None:
    steps = [[("forward", 4), ("backward", 9)], [], [("forward", 7), ("other", 1)]]
    found = mean_phases([[AnnotatedPhase(*phase) for phase in phases] for phases in steps])
    assert found == [AnnotatedPhase("forward", 5), AnnotatedPhase("backward", 4), AnnotatedPhase("other", 0)]
    assert longest_phases([*reversed(found)]) == "forward 5 ns, backward 4 ns, other 0 ns"
    assert mean_phases([[], []]) == [] and longest_phases([]) is None


def test_places_and_changes_of_memory_in_words() -> None:
    assert frame_line_name(Frame("/me/train.py", 88, "step")) == "train.py(88) step"
    assert (frame_line_name(Frame("", 0, "run")), frame_line_name(None)) == ("run", "(no stack)")
    assert [signed_bytes(size) for size in (None, 0, 1, -1)] == ["?", "0 B", "+1 B", "-1 B"]
    ordinals = [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "10th",
        "11th",
        "12th",
        "13th",
        "14th",
        "21st",
        "22nd",
        "23rd",
        "24th",
    ]
    ordinals += ["101st", "111th", "112th", "113th", "114th", "121st", "1,002nd"]
    assert [ordinal(int(words[:-2].replace(",", ""))) for words in ordinals] == ordinals


def test_operators_in_a_row_that_one_side_alone_has() -> None:
    """Three stretches of a side are told, the others together; one is called a stretch."""
    stretches: list[Any] = [
        SimpleNamespace(names=names, count=count, ns=ns)
        for names, count, ns in (
            (("aten::mul",), 2, 3_000_000),
            (("aten::mul", "aten::to", "aten::add"), 3, 1_000_000),
            (("a", "b"), 1, 0),
            (("c",), 1, 500_000),
            (("d",), 1, 500_000),
        )
    ]
    gone = [
        "  only in BASE: aten::mul, 1.0 times and 1.500 ms a step",
        "  only in BASE: aten::mul … aten::add (3 operators), 1.5 times and 0.500 ms a step",
        "  only in BASE: a … b (2 operators), 0.5 times and 0.000 ms a step",
    ]
    new = [line.replace("BASE", "OTHER") for line in gone]
    new[0] = "  only in OTHER: aten::mul, 2 times and 3.000 ms a step"
    new[1] = "  only in OTHER: aten::mul … aten::add (3 operators), 3 times and 1.000 ms a step"
    new[2] = "  only in OTHER: a … b (2 operators), 1 times and 0.000 ms a step"
    one_more = "  only in OTHER: 1 more stretch, 0.500 ms a step"
    more = "  only in OTHER: 2 more stretches, 1.000 ms a step"
    runs = {"base": SimpleNamespace(steps=2), "other": SimpleNamespace(steps=0)}
    gone[0] = gone[0].replace("1.0 times", "1 times")
    for shown, last in ((3, []), (4, [one_more]), (5, [more])):
        comparison: Any = SimpleNamespace(gone=stretches[:3], new=stretches[:shown], **runs)
        assert [*_unmatched_lines(comparison, 100)] == [*gone, *new, *last]


@pytest.mark.parametrize(
    ("lost", "missing", "words"),
    [
        ([10], False, "Rank 6 cost one other rank 10 ns"),
        ([5, 5], False, "Rank 6 cost 2 others 5 ns each"),
        ([5, 5], True, "Rank 6 (missing) cost 2 ranks here 5 ns each"),
        ([10], True, "Rank 6 (missing) cost one other rank 10 ns"),
        ([9, 1], False, "Rank 6 cost 2 others 5 ns each on average, 9 ns at most,"),
        ([9, 1], True, "Rank 6 (missing) cost 2 ranks here 5 ns each on average, 9 ns at most,"),
    ],
)
def test_whom_a_late_rank_cost_how_much(lost: list[int], missing: bool, words: str) -> None:
    late = LateRank(6, missing, "271", "", 5, 3, dict(enumerate(lost)), sum(lost))
    roots: Any = SimpleNamespace(roots=[])
    assert _late_rank_sentence(late, (), roots) == f"{words} in 3 collectives" + (
        "; only its own trace tells why."
        if missing
        else "; most of that they would have waited for other ranks instead."
    )
