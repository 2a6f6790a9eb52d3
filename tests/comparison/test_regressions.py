"""How much slower something may become, and what passes that."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.comparison.planted import run
from tracetui.comparison.compared_row import RowScale, rows
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.memory_use import MemoryUse
from tracetui.comparison.regressions import find_regressions, parse_regression, unknown_measures
from tracetui.comparison.tally import Sum
from tracetui.export.comparison.limits import regressions_text


@pytest.fixture(scope="module")
def slower() -> Comparison:
    """Of 31.3 ms a step 3.47 ms more, all of it in the kernels of gelu, which are Vector."""
    return compare_runs(run_of(run("mixed")), run_of(run("mixed", operator="gelu", factor=20.0)))


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("10%", True),
        ("12%", False),
        ("3ms", True),
        ("3.5ms", False),
        ("step=10.5%", True),
        ("computing=3ms", True),
        ("aicore=3ms", True),
        ("vector=300%", True),
        ("Vector=400%", False),
        ("Matmul=0%", False),
        ("Flash Attention=1ns", False),
        ("idle=1us", False),
        ("host=0%", False),
        ("host.sync=0ns", False),
        ("communication=0%", False),
    ],
)
def test_limits(slower: Comparison, text: str, passed: bool) -> None:
    found = find_regressions(slower, [parse_regression(text)])
    assert bool(found) == passed


def test_what_became_faster_passes_no_limit(slower: Comparison) -> None:
    back = compare_runs(slower.other, slower.base)
    assert not find_regressions(back, [parse_regression("0%"), parse_regression("Vector=0%")])


def test_whether_it_is_chance_is_told(slower: Comparison) -> None:
    step, computing = find_regressions(slower, [parse_regression("5%"), parse_regression("computing=1ms")])
    assert (step.beyond_spread, computing.beyond_spread) == (False, True)


def of_steps(*ns: int) -> Sum:
    return Sum(sum(ns), len(ns), min(ns), max(ns), steps=ns)


def test_what_is_less_than_a_table_marks_may_be_no_chance(slower: Comparison) -> None:
    """A limit may be tighter than 1 % of a step; several small causes are judged by their sum."""
    scale = RowScale(8, 8, Fraction(100_000))
    causes = [dict.fromkeys(("host.python", "host.sync"), of_steps(*[ns] * 8)) for ns in (1_000, 1_900)]
    comparison = replace(slower, causes=rows(causes[0], causes[1], scale))
    assert not any(row.changed for row in comparison.causes)
    one, both = find_regressions(
        comparison, [parse_regression("host.python=10ns"), parse_regression("host=1us")]
    )
    assert (one.beyond_spread, both.beyond_spread) == (True, True)
    assert [int(found.other - found.base) for found in (one, both)] == [900, 1_800]
    assert "chance" not in regressions_text([one, both])


def test_cube_is_what_classes_spend_on_the_cube(slower: Comparison) -> None:
    base = {
        "Matmul": of_steps(9, 9, 9),
        "Matmul (Cube)": of_steps(5, 5, 5),
        "Matmul (Vector)": of_steps(4, 4, 4),
    }
    other = {**base, "Matmul (Cube)": of_steps(8, 8, 8), "Matmul (Vector)": of_steps(1, 1, 1)}
    comparison = replace(slower, classes=rows(base, other, RowScale(3, 3, Fraction(100))))
    (cube,) = find_regressions(comparison, [parse_regression("cube=0ns"), parse_regression("matmul=0ns")])
    assert (int(cube.base), int(cube.other)) == (5, 8)


def test_too_few_steps_cannot_tell_whether_it_is_chance() -> None:
    few = compare_runs(run_of(run("mixed", 1)), run_of(run("mixed", 1, operator="gelu", factor=20.0)))
    (step,) = find_regressions(few, [parse_regression("5%")])
    assert step.beyond_spread is None
    assert regressions_text([step]).endswith("; so few steps cannot tell whether that is chance\n")


@pytest.mark.parametrize(
    "text", ["5", "", "=5%", "idle", "idle=", "speed=5%", "idle=-5%", "idle=5%%", "memory=5ms", "idle=5MB"]
)
def test_wrong_limits_are_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"a limit is a share or a (time|size)|there are step, idle"):
        parse_regression(text)


def test_causes_of_the_scheduler_are_unknown_where_a_side_lacks_it(slower: Comparison) -> None:
    limits = [parse_regression("host.preempted=0%")]
    recorded = replace(slower.base, causes={**slower.base.causes, "host.blocked": Sum(1, 1, 1, 1)})
    for base, other in ((slower.base, slower.base), (recorded, slower.base), (slower.base, recorded)):
        assert unknown_measures(replace(slower, base=base, other=other), limits) == ("host.preempted",)
    explains_nothing = replace(slower.base, has_scheduler=True)
    for other in (recorded, explains_nothing):
        assert unknown_measures(replace(slower, base=recorded, other=other), limits) == ()


def test_causes_that_the_scheduler_splits_are_unknown_where_one_side_has_it(slower: Comparison) -> None:
    names = ("step", "device", "host", "host.gc", "queue.busy", "launch", "device.latency", "idle")
    limits = [parse_regression(f"{name}=0%") for name in names]
    recorded = replace(slower.base, has_scheduler=True)
    for base, other in ((slower.base, recorded), (recorded, slower.base)):
        unknown = unknown_measures(replace(slower, base=base, other=other), limits)
        assert unknown == ("host", "host.gc", "queue.busy", "launch")
        (note,) = compare_runs(base, other).notes
        assert note.startswith(f"Only {'BASE' if base is recorded else 'OTHER'} records the scheduler")
    assert unknown_measures(replace(slower, base=recorded, other=recorded), limits) == ()


def test_memory_is_measured_in_bytes_of_the_peak(slower: Comparison) -> None:
    assert unknown_measures(slower, [parse_regression("memory=5%"), parse_regression("wait=1ms")]) == (
        "memory",
        "wait",
    )
    base, other = (MemoryUse({"PTA": size, "APP": 9}, {}, {}) for size in (100_000_000, 110_000_000))
    larger = compare_runs(replace(slower.base, memory=base), replace(slower.other, memory=other))
    assert unknown_measures(larger, [parse_regression("memory=5%")]) == ()
    of_host = replace(larger.base, devices=())
    assert not compare_runs(of_host, larger.other).memory and not compare_runs(larger.other, of_host).memory
    assert compare_runs(of_host, of_host).memory
    limits = [parse_regression(text) for text in ("memory=9%", "memory=10MB", "memory=9.9MB")]
    share, size = find_regressions(larger, limits)
    assert (share.limit, size.limit) == (limits[0], limits[2])
    assert (int(size.base), int(size.other)) == (100_000_000, 110_000_000)
    assert regressions_text([size]) == (
        "memory: 110 MB at the peak, 10.0 MB (10 %) more than in BASE, allowed is 9.90 MB\n"
    )
    sixteenfold = replace(size, base=Fraction(100), other=Fraction(1600))
    assert "(1,500 %)" in regressions_text([sixteenfold])
