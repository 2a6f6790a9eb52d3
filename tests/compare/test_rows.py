"""Sums by name and step, and when a change of a mean counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.analysis.gpu import gpu, host, kernel, launch, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.compare.rows import Scale, row
from tracetui.compare.run import run_of
from tracetui.compare.tally import Sum, tally
from tracetui.compare.waterfall import TERMS


def test_a_step_without_a_name_has_none_of_its_time() -> None:
    columns = ([0, 0, 1, 2, -1], [0, 2, 2, 0, 1], [5, 7, 9, 11, 99])
    name, at, ns = (np.array(column, np.int64) for column in columns)
    found = tally(["mm", "add", "mm"], name, at, ns, 3)
    assert found == {"mm": Sum(23, 3, 0, 16), "add": Sum(9, 1, 0, 9)}


def test_a_change_is_larger_than_the_spread_of_both_sides_and_a_percent_of_the_step() -> None:
    scale = Scale(2, 2, Fraction(1000))

    def changed(base: tuple[int, int], other: tuple[int, int]) -> bool | None:
        one, two = (Sum(sum(side), 2, min(side), max(side)) for side in (base, other))
        return row("", one, two, scale).changed

    assert changed((100, 100), (111, 111))
    assert not changed((100, 100), (110, 110))
    assert changed((100, 110), (120, 126))
    assert not changed((100, 120), (130, 130))
    assert not changed((110, 110), (120, 140))
    single = Scale(1, 2, Fraction(1000))
    assert row("", Sum(100, 1, 100, 100), Sum(400, 2, 200, 200), single).changed is None
    assert row("", Sum(100, 1, 100, 100), Sum(200, 2, 100, 100), single).changed is False


def test_new_and_gone_and_means_per_step() -> None:
    scale = Scale(2, 3, Fraction(1000))
    found = row("mm", Sum(30, 4, 15, 15), Sum(0, 0, 0, 0), scale)
    assert found.status == "gone"
    assert [int(mean) for mean in (found.base_ns, found.base_count, found.delta_ns)] == [15, 2, -15]
    assert (found.ratio, row("mm", found.other, found.base, scale).ratio) == (0.0, None)
    assert row("mm", found.other, found.base, scale).status == "new"


def test_idle_time_is_preparing_until_the_first_task_of_the_step() -> None:
    """Steps at 1000 and 1100; tasks of the second from 1130 to 1150 and from 1170 to 1190."""
    events = [*gpu(), step(5, 1000, 99), host(1001, 8), launch(1002, 2, 1), kernel(1010, 50, 1)]
    events += [step(6, 1100, 99), host(1101, 30), launch(1102, 2, 2), launch(1110, 2, 3)]
    events += [kernel(1130, 20, 2), kernel(1170, 20, 3)]
    run = run_of(analyse(trace_of(events)))
    assert run.wall_ns.tolist() == [100, 90]
    assert run.terms_ns[:, TERMS.index("preparing")].tolist() == [10, 30]
    assert run.terms_ns[:, TERMS.index("aicore")].tolist() == [50, 40]
    assert run.terms_ns[:, TERMS.index("copy") + 1 :].sum(axis=1).tolist() == [40, 20]


def test_what_the_autograd_engine_evaluates_counts_once() -> None:
    """`evaluate_function: MulBackward0` holds `MulBackward0`: tables have one of it, and all of its time."""
    outer = "autograd::engine::evaluate_function: MulBackward0"
    events = [*gpu(), step(5, 1000, 200)]
    for start in (1010, 1060):
        events += [
            host(start, 40, outer),
            host(start + 5, 30, "MulBackward0"),
            host(start + 10, 10, "aten::mul"),
        ]
    events += [host(1120, 20, "MulBackward0"), launch(1072, 2, 1), kernel(1080, 20, 1)]
    api = run_of(analyse(trace_of(events))).api
    assert (api.total["MulBackward0"].count, api.total["MulBackward0"].ns) == (3, 100)
    assert (api.own["MulBackward0"].count, api.own["MulBackward0"].ns) == (3, 80)
