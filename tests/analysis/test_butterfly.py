"""What is below a frame, and what called it: the sums of the tree hold in both."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.idle.test_lines import walk
from tests.ui.test_branches import node, nodes, root
from tracetui.analysis.butterfly import callees, callers
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.trace.stack import Frame


def outermost_ns(top: StackNode, frame: Frame) -> int:
    """ns under a frame, once where it is under itself."""
    if top.frame == frame:
        return top.idle_ns
    return sum(outermost_ns(child, frame) for child in top.children)


@given(st.lists(nodes, max_size=4))
def test_both_hold_the_idle_time_under_the_frame(tops: list[StackNode]) -> None:
    top = root(*tops)
    for frame in {stack_node.frame for stack_node in walk(top) if stack_node.frame is not None}:
        for found in (callees(top, frame), callers(top, frame)):
            assert found is not None and found.frame == frame
            assert found.idle_ns == outermost_ns(top, frame)
            for stack_node in walk(found):
                assert stack_node.idle_ns == stack_node.own_ns + sum(
                    child.idle_ns for child in stack_node.children
                )


def test_calls_from_two_places_are_one_below_and_two_above() -> None:
    top = root(
        node("main", 1, node("a", 2, node("f", 3, node("x", 4))), node("b", 0, node("f", 5, node("x", 6))))
    )
    frame = Frame("/work/train.py", 1, "f")
    under, above = callees(top, frame), callers(top, frame)
    assert under is not None and above is not None
    assert (under.idle_ns, under.own_ns, [(x.idle_ns, x.own_ns) for x in under.children]) == (
        18,
        8,
        [(10, 10)],
    )
    alone = callees(top, Frame("/work/train.py", 1, "a"))
    assert alone is not None and (under.gaps, alone.gaps) == (0, 1), "not known where two are merged"
    callers_found = [(caller.frame.function, caller.idle_ns) for caller in above.children if caller.frame]
    assert callers_found == [("b", 11), ("a", 7)]
    assert [caller.own_ns for callee in above.children for caller in callee.children] == [11, 7]
    assert callees(top, Frame("", 0, "none")) is callers(top, Frame("", 0, "none")) is None
