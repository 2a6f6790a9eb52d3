"""Idle time by line and by stack, held against sums made one charge at a time, of small runs."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, Optional

import numpy as np
import pytest

from tests.analysis.machine import QUEUE, frame, npu, operator
from tests.synthetic import trace_of
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import Charges, LineIdle, StackNode, idle_lines, lines_of, stack_tree
from tracetui.analysis.launch_chains import frames_of
from tracetui.trace.model import Family, Trace
from tracetui.trace.stack import Frame, parse_call_stack

RULES = FrameRules()
Path = tuple[Optional[Frame], ...]
FRAMES = [
    frame(0, 100, "train.py(1): <module>"),
    frame(0, 40, "train.py(20): forward"),
    frame(5, 10, "torch/nn/functional.py(8): linear"),
    frame(20, 10, "torch/nn/functional.py(8): linear"),
    frame(50, 40, "train.py(20): forward"),
    frame(55, 10, "torch/nn/functional.py(8): linear"),
    frame(60, 0, "<built-in function len>"),
    frame(0, 30, "train.py(20): forward", QUEUE),
    frame(0, 10, "train.py(1): <module>", QUEUE),
    frame(112, 4, "train.py(30): inner"),
    frame(110, 10, "train.py(31): outer"),
    frame(130, 10, "train.py(32): last"),
]
TEXTS = [
    "train.py(1): <module>",
    "torch/x.py(3): f;\ntrain.py(1): <module>",
    "train.py(9): g;\ntrain.py(1): <module>",
]
TEXTS += ["<built-in function len>", "<built-in function max>", "; \n"]


@cache
def trace(with_stacks: bool, frames_first: bool) -> Trace:
    """Frames of two threads, whose strings come first or last, and operators with call stacks, one empty."""
    stacks = TEXTS if with_stacks else [None] * len(TEXTS)
    operators = [
        operator(10 * place, 10, ("aten::mm", "aten::add")[place % 2], 199, stack=text and [text])
        for place, text in enumerate(stacks)
    ]
    return trace_of([*npu(), *FRAMES, *operators] if frames_first else [*npu(), *operators, *FRAMES])


def some_charges(seed: int) -> tuple[Trace, Charges]:
    """Up to 20 charges, of which many have the same ns, or no stack, frame, operator or step."""
    source = random.Random(seed)
    of = trace(seed % 3 > 0, seed % 2 > 0)
    count = source.randrange(21) if seed else 0
    frames = [row for track in of.tracks if track.family == Family.FRAMES for row in track.rows]
    operators = [row for track in of.tracks if track.family == Family.OPERATORS for row in track.rows]

    def draw_array(values: Any, kind: Any) -> Any:
        return np.array([source.choice(values) for _ in range(count)], kind)

    return of, Charges(
        ns=draw_array(range(1, 4), np.int64),
        gap=draw_array(range(4), np.int64),
        stack=draw_array([-1, *of.slices.stack[operators].tolist()], np.int32),
        frame=draw_array([-1, *frames], np.int64),
        operator=draw_array([-1, *operators], np.int64),
        backward=draw_array([False, True], np.bool_),
        cause=draw_array(list(Cause), np.int8),
        step=draw_array(range(-1, 3), np.int32),
        device=draw_array(range(2), np.int32),
    )


def called(of: Trace, text: int, row: int) -> tuple[Frame, ...]:
    """The call stack, else the frames, of a charge; leaf first."""
    if text >= 0:
        return parse_call_stack(of.strings[text])
    return frames_of(of, row) if row >= 0 else ()


def lines(of: Trace, charges: Charges) -> list[Frame | None]:
    """The line of each charge."""
    if of.slices.have_stacks:
        stacks = [called(of, text, -1) for text in charges.stack.tolist()]
    else:
        stacks = [called(of, -1, row) for row in charges.frame.tolist()]
    return [RULES.line_of(stack) for stack in stacks]


def total(keys: list[Any], ns: list[int]) -> dict[Any, int]:
    """ns by key."""
    return {
        key: sum(charge_ns for key_of_charge, charge_ns in zip(keys, ns) if key_of_charge == key)
        for key in keys
    }


@pytest.mark.parametrize("seed", range(30))
def test_what_is_told_of_a_line_is_the_sum_of_its_charges(seed: int) -> None:
    of, charges = some_charges(seed)
    found = [
        (line, line is not None and backward)
        for line, backward in zip(lines(of, charges), charges.backward.tolist())
    ]
    found_lines = idle_lines(of, charges, RULES)
    assert [line.key for line in found_lines] == [
        (line and line.file, line.line if line else 0, line.function if line else "", backward)
        for line, backward in sorted(
            set(found), key=lambda key: _place(key, total(found, charges.ns.tolist()))
        )
    ]
    for line in found_lines:
        frame = None if line.file is None else Frame(line.file, line.line, line.function)
        check(line, of, charges.at(np.array([key == (frame, line.backward) for key in found], np.bool_)))


def _place(key: tuple[Frame | None, bool], ns: dict[Any, int]) -> Any:
    """Most first, of equals by file, line and function, the forward pass first."""
    return (-ns[key], *(key[0] or ("", 0, "")), key[1])


def check(line: LineIdle, of: Trace, charges: Charges) -> None:
    """A line against its charges."""
    ns = charges.ns.tolist()
    assert line.idle_ns == sum(ns)
    names = ["" if row < 0 else of.name(row) for row in charges.operator.tolist()]
    by_gap = total(charges.gap.tolist(), ns)
    assert line.ops == total(names, ns)
    assert line.causes == total([Cause(cause) for cause in charges.cause.tolist()], ns)
    for ranking in (line.ops, line.causes):
        assert list(ranking.values()) == sorted(ranking.values(), reverse=True)
    assert list(line.steps.items()) == sorted(total(charges.step.tolist(), ns).items())
    assert list(line.devices.items()) == sorted(total(charges.device.tolist(), ns).items())
    assert line.gap_indices.tolist() == sorted(by_gap, key=lambda gap: (-by_gap[gap], gap))
    assert (line.gaps, line.longest_ns) == (len(by_gap), max(by_gap.values()))


@pytest.mark.parametrize("seed", range(30))
def test_each_node_of_the_tree_has_what_is_charged_at_and_below_it(seed: int) -> None:
    of, charges = some_charges(seed)
    paths: list[Path] = []
    for text, row in zip(charges.stack.tolist(), charges.frame.tolist()):
        paths.append(called(of, -1 if row >= 0 else text, row)[::-1] or (None,))
    assert stack_tree(of, charges) == node((), paths, charges)


def node(path: Path, paths: list[Path], charges: Charges) -> StackNode:
    """The node at the end of a path from the root, from all paths."""
    ns, depth = charges.ns.tolist(), len(path)
    below = [place for place, frame in enumerate(paths) if frame[:depth] == path]
    nexts = dict.fromkeys(paths[place][depth] for place in below if len(paths[place]) > depth)
    children = [node((*path, frame), paths, charges) for frame in nexts]
    return StackNode(
        frame=path[-1] if path else None,
        idle_ns=sum(ns[place] for place in below),
        own_ns=sum(ns[place] for place in below if paths[place] == path),
        gaps=len({int(charges.gap[place]) for place in below}),
        children=tuple(sorted(children, key=lambda child: (-child.idle_ns, child.frame or ()))),
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_distinct_lines_of_stacks(seed: int) -> None:
    of, charges = some_charges(seed)
    found, place = lines_of(of, charges.stack, charges.frame, RULES)
    expected = lines(of, charges)
    assert [None if at < 0 else found[at] for at in place.tolist()] == expected
    assert sorted(found) == sorted({line for line in expected if line is not None})
