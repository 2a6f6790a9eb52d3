"""The tree of stacks: no time is lost by folding, by the threshold or by closing frames."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.trace.stack import Frame
from tracetui.ui.branches import THRESHOLDS, Branch, Branches, package_of

USER, TORCH, STDLIB = (
    "/work/train.py",
    "/usr/lib/python3.10/site-packages/torch/nn/module.py",
    "/usr/lib/python3.10/threading.py",
)


def node(name: str, self_ns: int, *children: StackNode, file: str = USER) -> StackNode:
    idle = self_ns + sum(child.idle_ns for child in children)
    return StackNode(
        Frame(file, 1, name), idle, self_ns, 1, tuple(sorted(children, key=lambda child: -child.idle_ns))
    )


def root(*children: StackNode) -> StackNode:
    top = node("", 0, *children)
    return StackNode(None, top.idle_ns, 0, 1, top.children)


def all_open(branches: Branches) -> list[Branch]:
    rows = branches.rows()
    while True:
        closed = [row for row in rows if row.has_children and not row.opened]
        if not closed:
            return rows
        for row in closed:
            branches.open(row)
        rows = branches.rows()


nodes = st.recursive(
    st.builds(node, st.just("leaf"), st.integers(1, 1000), file=st.sampled_from([USER, TORCH, STDLIB])),
    lambda below: st.builds(
        lambda self_ns, children, file: node("f", self_ns, *children, file=file),
        st.sampled_from([0, 0, 0, 5]),
        st.lists(below, min_size=1, max_size=3),
        st.sampled_from([USER, TORCH, STDLIB]),
    ),
    max_leaves=12,
)


@given(st.lists(nodes, max_size=4), st.integers(0, len(THRESHOLDS) - 1), st.booleans())
def test_the_rows_add_up_to_the_analysis(tops: list[StackNode], threshold: int, folds: bool) -> None:
    branches = Branches(root(*tops))
    branches.threshold, branches.folds = threshold, folds
    rows = all_open(branches)
    assert sum(row.idle_ns for row in rows if row.parent is None) == branches.root.idle_ns
    for row in rows:
        below = [child for child in rows if child.parent is row]
        if below:
            assert row.idle_ns == row.own_ns + sum(child.idle_ns for child in below)
        assert sum(one.own_ns for one in row.nodes[:-1]) == 0  # a folded row hides no time


@given(st.lists(nodes, min_size=1, max_size=4))
def test_without_folds_and_threshold_every_frame_has_a_row(tops: list[StackNode]) -> None:
    branches = Branches(root(*tops))
    branches.threshold, branches.folds = 0, False
    shown = [id(row.node) for row in all_open(branches)]
    expected: list[int] = []
    waiting = list(branches.root.children)
    while waiting:
        one = waiting.pop()
        expected.append(id(one))
        waiting.extend(one.children)
    assert sorted(shown) == sorted(expected)
    assert branches.hidden(branches.rows()) == ""


def test_a_chain_of_packages_folds_into_one_row_that_says_so() -> None:
    leaf = node("step", 70)
    chain = node("run", 0, node("call", 0, node("wrap", 0, leaf, file=TORCH), file=STDLIB), file=TORCH)
    branches = Branches(root(node("main", 30, chain)))
    branches.open_longest()
    rows = branches.rows()
    assert [len(row.nodes) for row in rows] == [1, 3, 1]
    assert branches.packages(rows[1].nodes) == "torch and the standard library"
    assert branches.hidden(rows) == "3 frames of torch and the standard library folded"
    branches.folds = False
    assert [row.frame.function for row in branches.rows() if row.frame] == [
        "main",
        "run",
        "call",
        "wrap",
        "step",
    ]


def test_a_built_in_function_is_shown_at_its_caller() -> None:
    built_in = StackNode(Frame("", 0, "<built-in function len>"), 5, 5, 1, ())
    caller = StackNode(Frame(USER, 7, "main"), 5, 0, 1, (built_in,))
    branches = Branches(StackNode(None, 10, 0, 2, (caller, StackNode(None, 5, 5, 1, ()))))
    branches.open_longest()
    main, below, unknown = all_open(branches)
    assert main.written == below.written == caller.frame
    assert unknown.written is None


def test_small_frames_are_summed_up_in_one_row() -> None:
    branches = Branches(root(node("big", 1000), node("a", 1), node("b", 2), node("c", 3)))
    rows = branches.rows()
    assert [(row.idle_ns, row.small) for row in rows] == [(1000, 0), (6, 3)]
    assert branches.hidden(rows) == "3 frames under 0.5 % summed up"
    branches.raise_threshold(-99)
    assert [row.idle_ns for row in branches.rows()] == [1000, 3, 2, 1]


def test_a_stack_is_revealed_as_deep_as_the_tree_has_it() -> None:
    deep = node("loss", 5)
    branches = Branches(root(node("main", 0, node("train", 0, deep, node("data", 90)))))
    frames = [Frame(USER, 1, name) for name in ("item", "loss", "train", "main")]
    assert branches.reveal(frames) is deep
    assert any(row.node is deep for row in branches.rows())
    assert branches.reveal([Frame(USER, 1, "unknown")]) is None


def test_a_call_stack_is_revealed_in_a_tree_of_definitions() -> None:
    loss = StackNode(Frame("moba/loss.py", 30, "loss"), 5, 5, 1, ())
    module = StackNode(Frame("", 0, "nn.Module: Loss_0"), 5, 0, 1, (loss,))
    branches = Branches(
        StackNode(None, 5, 0, 1, (StackNode(Frame("train.py", 1, "main"), 5, 0, 1, (module,)),))
    )
    called = [
        Frame("/w/moba/loss.py", 37, "loss"),
        Frame("/x/module.py", 9, "_call_impl"),
        Frame("/w/train.py", 2, "main"),
    ]
    assert branches.reveal(called[2:]) is branches.root.children[0]
    assert branches.reveal([called[0], module.frame or called[1], called[2]]) is loss


def test_a_tree_of_ten_thousand_frames_makes_rows_only_for_what_is_open() -> None:
    wide = root(*(node(f"f{i}", 10, *(node("g", 1) for _ in range(9))) for i in range(1000)))
    branches = Branches(wide)
    assert len(branches.rows()) == 1  # each of them is small
    branches.threshold = 0
    assert len(branches.rows()) == 1000


def test_a_stack_deeper_than_python_recurses() -> None:
    deep = node("leaf", 1)
    for _ in range(5000):
        deep = StackNode(Frame(USER, 1, "f"), 1, 0, 1, (deep,))
    branches = Branches(StackNode(None, 1, 0, 1, (deep,)))
    branches.open_longest()
    assert len(branches.rows()) == 5001


def test_the_package_of_a_frame() -> None:
    for file, package in [
        (USER, ""),
        ("train.py", ""),
        (TORCH, "torch"),
        ("torch/nn/modules/module.py", "torch"),
        ("/opt/x/dist-packages/six.py", "six"),
        (STDLIB, "the standard library"),
        ("<frozen runpy>", "generated code"),
        ("", "built-ins"),
        ("/home/me/torch_tricks/train.py", ""),
    ]:
        assert package_of(Frame(file, 1, "f"), FrameRules()) == package, file
