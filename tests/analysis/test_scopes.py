"""Time by scope of the network: own times add up, on samples and on the real export of graph mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.mindspore.graph import GraphProfile
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.scopes import ScopeTime, scope_of, scope_tree
from tracetui.api import load
from tracetui.export.trace.nested_text import NO_SCOPES, SCOPES, nested_text
from tracetui.export.trace.selection import Selection
from tracetui.trace.model import Activity


def check(analysis: Analysis) -> None:
    """What every trace holds: each task and each idle interval once as its scope's own."""
    slices = analysis.trace.slices
    computes = analysis.work[slices.activity[analysis.work] <= Activity.AICPU]
    scopes = analysis.scopes
    assert sum(row.own_computing_ns for row in scopes) == int(slices.dur[computes].sum())
    assert sum(row.own_ns for row in scopes) == analysis.idle_ns
    inside = {row.scope: row for row in scopes}
    for row in scopes:
        children = [
            scope_row
            for scope_row in scopes
            if scope_row.scope and scope_row.scope[:-1] == row.scope and row.scope
        ]
        assert row.computing_ns == row.own_computing_ns + sum(
            scope_row.computing_ns for scope_row in children
        )
        assert row.idle_ns == row.own_ns + sum(scope_row.idle_ns for scope_row in children)
        assert sum(row.causes.values()) == sum(row.ops.values()) == row.idle_ns
        assert all("/".join(row.scope) in name for name in row.ops)
        assert len(row.scope) < 2 or row.scope[:-1] in inside


NAMES = ("Default/a/Add-op1", "Default/a/b/Mul-op2", "Default/Cast-op3", "Gradients/a/Add-op4", "plain")


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=12)
)
def test_own_times_add_up(tasks: list[tuple[str, int, int]]) -> None:
    events: list[dict[str, Any]] = [*process(3, "Ascend Hardware", "NPU")]
    now = 0
    for name, before, dur in [("Default/x/First-op0", 0, 5)] * 13 + tasks:
        now += before
        events.append(piece(3, 2, name, now, dur, **{"Task Type": "AI_CORE"}))
        now += dur
    check(analyse(trace_of(events)))


def test_the_scopes_of_a_sample(tmp_path: Path) -> None:
    made = GraphProfile()
    analysis = load(made.write(tmp_path), cache=False)
    check(analysis)
    ns_of_path: dict[tuple[str, ...], int] = {}
    for truth in made.truth:
        for scope, ns in truth.by_scope.items():
            path = tuple(scope.split("/"))
            ns_of_path[path] = ns_of_path.get(path, 0) + ns
    assert {row.scope: row.own_computing_ns for row in analysis.scopes if row.own_computing_ns} == ns_of_path
    whole = SCOPES.document(analysis, Selection())
    steps = [SCOPES.document(analysis, Selection(step=number)) for number in (1, 2, 3, 4)]
    for key in ("computing_ns", "idle_ns"):
        assert sum(step[key] for step in steps) == whole[key] > 0
    text = nested_text(SCOPES, analysis, Selection(), 3, 120)
    assert "Default/network-TrainOneStep/_backbone-Net" in text and "more with less: --top 0" in text


def test_names_without_scopes() -> None:
    assert scope_of("aclnnAdd_AddAiCore_Add") == ()
    events = [
        *process(3, "Ascend Hardware", "NPU"),
        piece(3, 2, "aclnnAdd", 0, 5, **{"Task Type": "AI_CORE"}),
    ]
    analysis = analyse(trace_of(events))
    assert analysis.scopes == () and not analysis.has_scopes
    assert nested_text(SCOPES, analysis, Selection(), None, 80) == f"{NO_SCOPES}\n"


def test_real_scopes(real_traces: Path) -> None:
    analysis = load(next((real_traces / "mindspore").glob("PROF_*")), cache=False)
    check(analysis)
    assert analysis.has_scopes and not analysis.has_python
    first = analysis.scopes[0]
    tree = analysis.stacks
    assert [child.frame.function for child in tree.children if child.frame] == ["Default", "Gradients"]
    assert tree.idle_ns == analysis.idle_ns == sum(child.idle_ns for child in tree.children)
    assert (first.scope, first.tasks) == (("Default",), 930)


@pytest.mark.parametrize("name", ["level2/rank0", "level0/rank1"])
def test_traces_of_pytorch_have_none(real_traces: Path, name: str) -> None:
    from tests.analysis import real

    assert not real.npu(real_traces, name).has_scopes


def test_scopes_of_equal_idle_time_are_in_the_order_of_their_names() -> None:
    """What is outside of all has none, and is the first of them."""

    def scope(*names: str) -> ScopeTime:
        return ScopeTime(5, 5, 0, 1, 5, {}, {}, np.empty(0, np.int64), names, 1, 0, 0)

    tree = scope_tree([scope("b"), scope("c"), scope(), scope("a")])
    assert [child.frame and child.frame.function for child in tree.children] == [None, "a", "b", "c"]
