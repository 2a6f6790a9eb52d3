"""Idle time by line and by stack: all of it, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import (
    AUTOGRAD,
    MAIN,
    PYTHON,
    arrow,
    call,
    dequeue,
    enqueue,
    frame,
    npu,
    operator,
    step,
    task,
)
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import DEEPEST_STACK, LineIdle, StackNode

ROOT = "<string>(1): <module>"
FIT = "train.py(30): fit"
TORCH = "/opt/lib/python3.9/site-packages/torch/nn/functional.py(9): linear"


def issued(
    at: int, connection: int, start: int, stack: tuple[str, ...] | None, name: str = "aten::mm"
) -> list[dict[str, Any]]:
    """A kernel of 10 ns and the operator that launches it."""
    return [
        operator(at, 8, name, stack=stack),
        enqueue(at + 1, 1, connection),
        dequeue(at + 2, 6, connection),
        call(at + 3, 2, connection),
        task(start, 10, connection=connection),
    ]


def charged(lines: tuple[LineIdle, ...]) -> list[tuple[str | None, int, bool, int]]:
    return [(line.file, line.line, line.backward, line.idle_ns) for line in lines]


def walk(node: StackNode) -> list[StackNode]:
    return [node, *(below for child in node.children for below in walk(child))]


def check(analysis: Analysis) -> None:
    idle, lines, root = analysis.idle_ns, analysis.lines, analysis.stacks
    assert sum(line.idle_ns for line in lines) == root.idle_ns == idle
    for line in lines:
        for parts in (line.ops, line.causes, line.steps, line.devices):
            assert sum(parts.values()) == line.idle_ns
        assert list(line.causes.values()) == sorted(line.causes.values(), reverse=True)
        assert len(line.gap_indices) == len(set(line.gap_indices.tolist())) == line.gaps
        assert line.longest_ns <= line.idle_ns
    _check_sums(analysis, lines)
    assert sum(signature.idle_ns for signature in analysis.signatures) == idle
    assert sum(sync.exposed_ns for sync in analysis.syncs) <= idle
    assert root.gaps == len(np.unique(analysis.idle.gap))
    for node in walk(root):
        assert node.idle_ns == node.own_ns + sum(child.idle_ns for child in node.children)
        places = [(-child.idle_ns, child.frame or ()) for child in node.children]
        assert places == sorted(places), "most first, and equals by file and line"
        assert all(child.gaps <= node.gaps for child in node.children)


def _check_sums(analysis: Analysis, lines: tuple[LineIdle, ...]) -> None:
    """Causes, steps and devices of all lines are those of the idle time."""
    for cause, ns in analysis.causes.by_cause().items():
        assert sum(line.causes.get(cause, 0) for line in lines) == ns
    for index, device in enumerate(analysis.devices):
        assert sum(line.devices.get(index, 0) for line in lines) == device.idle_ns
    for index in range(-1, len(analysis.steps)):
        step_ns = sum(analysis.causes.by_step(index).values())
        assert sum(line.steps.get(index, 0) for line in lines) == step_ns


@pytest.mark.parametrize("rank", real.NPU)
def test_real_idle_time_is_charged_whole(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check(analysis)
    files = {line.file for line in analysis.lines}
    assert files == {"/home/z30057886/imagenet_script/main.py", None}
    assert sum(line.idle_ns for line in analysis.lines if line.file) > 0.9 * analysis.idle_ns


@pytest.mark.parametrize("name", real.GPU)
def test_idle_time_without_any_stack_is_one_row(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    check(analysis)
    assert charged(analysis.lines) == [(None, 0, False, analysis.idle_ns)]


@pytest.mark.parametrize("name", real.GPU)
def test_operators_stand_for_frames_where_no_stack_is_recorded(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    operators = {analysis.trace.name(int(row)) for row in np.unique(analysis.causes.operator) if row >= 0}
    leaves = {
        idle_frame.frame.function
        for idle_frame in analysis.frames
        if idle_frame.frame is not None and idle_frame.own_ns
    }
    assert leaves == operators, "the innermost of each stack is what ran, or launched what was waited for"
    assert sum(idle_frame.own_ns for idle_frame in analysis.frames) == analysis.idle_ns
    (bare,) = (idle_frame for idle_frame in analysis.frames if idle_frame.frame is None)
    assert bare.own_ns == analysis.lines[0].ops[""]


def test_operators_are_inside_of_those_around_them() -> None:
    trace = trace_of(
        [
            *npu(),
            task(0, 10),
            operator(15, 60, "forward"),
            operator(20, 50, "aten::linear"),
            *issued(30, 1, 90, None, "aten::mm"),
        ]
    )
    analysis = analyse(trace)
    paths, node = [], analysis.stacks
    while node.children:
        node = node.children[0]
        paths.append(node.frame.function if node.frame else None)
    assert paths == ["forward", "aten::linear", "aten::mm"]
    assert analysis.stacks.idle_ns == analysis.idle_ns == 80


def test_idle_time_goes_to_the_line_that_launched_what_ends_it() -> None:
    events = [
        *npu(),
        task(0, 10),
        *issued(20, 1, 50, (TORCH, "/me/train.py(7): step", ROOT)),
        *issued(70, 2, 100, (TORCH, "/me/train.py(8): step", ROOT), "aten::add"),
        *issued(120, 3, 150, (TORCH, "/me/train.py(7): step", ROOT), "aten::mul"),
        *issued(170, 4, 175, None),
    ]
    analysis = analyse(trace_of(events))
    check(analysis)
    assert charged(analysis.lines) == [
        ("/me/train.py", 7, False, 80),
        ("/me/train.py", 8, False, 40),
        (None, 0, False, 15),
    ]
    first = analysis.lines[0]
    assert (first.function, first.gaps, first.longest_ns) == ("step", 2, 40)
    assert first.ops == {"aten::mm": 30, "aten::mul": 30, "": 20}
    assert first.gap_indices.tolist() == [0, 2]


def test_a_line_tells_its_causes_and_steps_and_its_syncs_what_they_expose() -> None:
    events = [
        *npu(),
        step(1, 0, 90),
        step(2, 90, 100),
        task(0, 10),
        operator(5, 7, "aten::item", stack=("/me/train.py(3): log", ROOT)),
        *issued(20, 1, 50, ("/me/train.py(7): step", ROOT)),
        *issued(30, 2, 80, ("/me/train.py(7): step", ROOT)),
        *issued(100, 3, 120, ("/me/train.py(7): step", ROOT)),
        *issued(130, 4, 150, ("/me/train.py(8): step", ROOT)),
    ]
    analysis = analyse(trace_of(events))
    check(analysis)
    lines = {line.line: line for line in analysis.lines}
    assert lines[3].causes == {Cause.SYNC: 2}
    assert {cause.family for cause in lines[7].causes} == {"host", "queue", "launch", "device"}
    assert lines[7].causes[Cause.PYTHON] == 8 + 10
    assert (lines[7].steps, lines[8].steps) == ({-1: 38 + 30, 0: 20}, {1: 20})
    (sync,) = analysis.syncs
    assert (sync.call, sync.line, sync.exposed_ns) == ("aten::item", 3, 40)


def test_the_rules_choose_the_line() -> None:
    events = [*npu(), task(0, 10), *issued(20, 1, 50, (TORCH, "/me/lib/a.py(7): f", "/me/train.py(1): main"))]
    trace = trace_of(events)
    assert analyse(trace).lines[0].file == "/me/lib/a.py"
    assert analyse(trace, FrameRules(skip=("/me/lib/",))).lines[0].file == "/me/train.py"


def test_the_backward_pass_of_a_line_is_a_row_of_its_own() -> None:
    stack = ("/me/train.py(7): step", ROOT)
    events = [
        *npu(),
        task(0, 10),
        *issued(20, 1, 50, stack),
        operator(70, 9, "autograd::engine::evaluate_function: MmBackward0", tid=AUTOGRAD),
        enqueue(72, 1, 2, tid=AUTOGRAD),
        dequeue(73, 6, 2),
        call(74, 2, 2),
        task(100, 10, connection=2),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 20), (PYTHON, AUTOGRAD, 70)),
    ]
    analysis = analyse(trace_of(events))
    check(analysis)
    assert sorted(charged(analysis.lines)) == [("/me/train.py", 7, False, 40), ("/me/train.py", 7, True, 40)]


def test_recorded_frames_count_where_there_are_no_call_stacks() -> None:
    frames = [frame(0, 99, "train.py(1): <module>"), frame(5, 60, "train.py(20): forward")]
    frames.append(frame(6, 50, "torch/nn/functional.py(8): linear"))
    analysis = analyse(trace_of([*npu(), task(0, 10), *frames, *issued(20, 1, 50, None)]))
    check(analysis)
    assert charged(analysis.lines) == [("train.py", 20, False, 40)]
    path = [node.frame for node in walk(analysis.stacks)]
    assert [str(frame) for frame in path] == [
        "None",
        "train.py(1): <module>",
        "train.py(20): forward",
        "torch/nn/functional.py(8): linear",
    ]


@pytest.mark.parametrize(
    ("fit_start", "start_trace", "at_start"),
    [
        (2, [frame(4, 10, "torch/profiler/profiler.py(9): step")], [ROOT, FIT]),
        (0, [], [ROOT, FIT]),
        (2, [], [ROOT]),  # it may have been called since
    ],
)
def test_frames_that_ran_as_the_recording_began_are_known(
    fit_start: int, start_trace: list[dict[str, Any]], at_start: list[str]
) -> None:
    later = [frame(20, 30, "train.py(50): forward"), frame(25, 5, "train.py(60): attend")]
    later.append(frame(40, 9, "threading.py(917): _bootstrap", tid=77))  # a thread of its own
    frames = [frame(0, 99, ROOT), frame(fit_start, 95, FIT), *start_trace, *later]
    found = analyse(trace_of([*npu(), task(50, 10), *frames])).frames_at_start
    assert sorted(map(str, found)) == at_start


def test_call_stacks_give_the_line_and_recorded_frames_the_tree() -> None:
    frames = [frame(0, 99, "train.py(1): <module>")]
    analysis = analyse(
        trace_of([*npu(), task(0, 10), *frames, *issued(20, 1, 50, ("/me/train.py(7): f", ROOT))])
    )
    assert charged(analysis.lines) == [("/me/train.py", 7, False, 40)]
    assert [str(child.frame) for child in analysis.stacks.children] == ["train.py(1): <module>"]


def test_endless_stacks_are_cut_and_still_charged() -> None:
    deep = tuple(f"/me/recursive.py({line}): f" for line in range(1, 5 * DEEPEST_STACK))
    analysis = analyse(trace_of([*npu(), task(0, 10), *issued(20, 1, 50, deep)]))
    check(analysis)
    assert len(walk(analysis.stacks)) == DEEPEST_STACK + 1


stacks = st.lists(st.sampled_from(["/me/a.py(1): f", "/me/b.py(2): g", TORCH, ROOT]), max_size=4).map(tuple)


@given(st.lists(st.tuples(st.integers(0, 30), st.none() | stacks), max_size=8))
def test_whatever_the_stacks_all_idle_time_is_charged(
    tasks: list[tuple[int, tuple[str, ...] | None]],
) -> None:
    events, time = [*npu(), task(0, 10)], 10
    for connection, (gap, stack) in enumerate(tasks):
        time += gap
        events += issued(1000 + 20 * connection, connection, time, stack)
        time += 10
    check(analyse(trace_of(events)))
