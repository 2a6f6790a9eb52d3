"""Searching names: what matches, in the order of time, and no pattern may hang the viewer."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.machine import operator
from tests.synthetic import trace_of
from tracetui.trace.model import Trace
from tracetui.ui import name_search
from tracetui.ui.name_search import BadPattern, NameSearch
from tracetui.ui.screens.search import same_name, step_to_hit
from tracetui.ui.state import Search

NAMES = ["aten::mm", "MatMul", "aten::mm", "matmul_v2", "[red]", "=x", "a" * 40 + "!"]


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Slices on two threads, so that the order of rows is not that of time."""
    events = [operator(1000 * n, 500, name, tid=100 + n % 2) for n, name in enumerate(NAMES)]
    return trace_of(events)


def found(trace: Trace, query: str) -> list[str]:
    rows = NameSearch(trace).rows(query)
    assert (np.diff(trace.slices.start[rows]) >= 0).all()
    return [trace.name(int(row)) for row in rows]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("mm", ["aten::mm", "aten::mm"]),
        ("matmul", ["MatMul", "matmul_v2"]),
        ("MatMul", ["MatMul"]),
        ("[red]", ["[red]"]),
        ("=aten::mm", ["aten::mm", "aten::mm"]),
        ("=aten", []),
        ("==x", ["=x"]),
        (r"re:^aten::\w+$", ["aten::mm", "aten::mm"]),
        ("re:m.t", ["MatMul", "matmul_v2"]),
        ("re:M.t", ["MatMul"]),
        (r"re:mat\S", ["MatMul", "matmul_v2"]),
        ("re:", []),
        ("", []),
        ("nothing", []),
    ],
)
def test_what_matches(trace: Trace, query: str, names: list[str]) -> None:
    assert found(trace, query) == names


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<n", "a{2,1}"])
def test_a_pattern_that_is_none_is_refused_in_a_sentence(trace: Trace, pattern: str) -> None:
    with pytest.raises(BadPattern, match="Not a regular expression"):
        NameSearch(trace).rows(f"re:{pattern}")


def test_a_pattern_that_never_ends_is_stopped(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_search, "TIMEOUT_S", 0.3)
    with pytest.raises(BadPattern, match="make it simpler"):
        NameSearch(trace).rows("re:(a+)+$")


def test_a_search_that_nobody_waits_for_is_stopped(trace: Trace) -> None:
    asked = iter([False, True])
    assert not len(NameSearch(trace).rows("re:(a+)+$", lambda: next(asked)))


def test_names_that_are_no_utf8_are_searched_too() -> None:
    assert found(trace_of([operator(0, 5, "bad\udc80name")]), "re:name$") == ["bad\udc80name"]


def test_going_from_hit_to_hit_and_around(trace: Trace) -> None:
    search = Search("mm", NameSearch(trace).rows("mm"))
    first, second = search.hits.tolist()
    assert step_to_hit(trace, search, -1, 0, 1) == first
    assert search.count == "1/2"
    assert step_to_hit(trace, search, first, 0, 1) == second
    assert step_to_hit(trace, search, second, 0, 1) == first
    assert step_to_hit(trace, search, first, 0, -1) == second
    between = int(np.flatnonzero(trace.slices.start == trace.slices.start[first] + 1000)[0])
    assert step_to_hit(trace, search, between, 0, 1) == second
    assert step_to_hit(trace, search, between, 0, -1) == first
    assert step_to_hit(trace, Search(), between, 0, 1) == -1


def test_the_hits_of_a_slice_are_those_of_its_name(trace: Trace) -> None:
    row = int(NameSearch(trace).rows("=aten::mm")[1])
    search = same_name(trace, row)
    assert (search.text, search.count) == ("=aten::mm", "2/2")
