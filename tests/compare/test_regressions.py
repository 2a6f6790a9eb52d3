"""How much slower something may become, and what passes that."""

from __future__ import annotations

import pytest

from tests.compare.planted import run
from tracetui.compare.comparison import Comparison, compare_runs
from tracetui.compare.regressions import find_regressions, parse_regression
from tracetui.compare.run import run_of


@pytest.fixture(scope="module")
def slower() -> Comparison:
    """Of 32.3 ms a step 3.48 ms more, all of it in the kernels of gelu, which are Vector."""
    return compare_runs(run_of(run("mixed", 4)), run_of(run("mixed", 4, operator="gelu", factor=20.0)))


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("10%", True),
        ("11%", False),
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


@pytest.mark.parametrize("text", ["5", "", "=5%", "idle", "idle=", "speed=5%", "idle=-5%", "idle=5%%"])
def test_wrong_limits_are_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"a limit is a share or a time|there are step, idle"):
        parse_regression(text)
