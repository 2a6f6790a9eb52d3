"""Idle time by nn.Module and by frame: all of it, each once as its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import AUTOGRAD, MAIN, PYTHON, arrow, call, frame, npu, operator, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.modules import ModuleIdle, Modules, module_of
from tracetui.trace.stack import Frame

MODEL, LAYER, LINEAR = "nn.Module: Net_0", "nn.Module: Layer_3", "nn.Module: Linear_7"
TRACES = (*(f"npu:{rank}" for rank in real.NPU), "resnet_act_checkpoint.json.gz", "resnet_rank0.json.gz")


def check(analysis: Analysis) -> None:
    """The own times sum to the idle time; frames are those of the tree; what holds another is no less."""
    modules, frames, idle = analysis.modules, analysis.frames, analysis.idle_ns
    assert sum(module.own_ns for module in modules) == idle
    assert sum(row.own_ns for row in frames) == idle
    inclusive, self_ns = _of_tree(analysis.stacks)
    assert {row.frame: row.idle_ns for row in frames} == inclusive
    assert {row.frame: row.own_ns for row in frames if row.own_ns} == self_ns
    by_name = {module.module: module for module in modules}
    order = [(-row.idle_ns, len(row.path), row.module or "") for row in modules]
    assert order == sorted(order)
    for row in (*modules, *frames):
        assert 0 <= row.own_ns <= row.idle_ns
        assert sum(row.ops.values()) == sum(row.causes.values()) == row.idle_ns
        assert len(set(row.gap_indices.tolist())) == row.gaps > 0
        assert row.longest_ns <= row.idle_ns and row.backward_ns <= row.idle_ns
    for module in modules:
        for name in module.path:
            assert by_name[name].idle_ns >= module.own_ns


def _of_tree(root: StackNode) -> tuple[dict[Frame | None, int], dict[Frame | None, int]]:
    """ns under every frame and its own, where it is under itself once."""
    inclusive: dict[Frame | None, int] = {}
    self_ns: dict[Frame | None, int] = {}

    def walk(node: StackNode, around: frozenset[Frame | None]) -> None:
        if node.frame not in around:
            inclusive[node.frame] = inclusive.get(node.frame, 0) + node.idle_ns
        if node.own_ns:
            self_ns[node.frame] = self_ns.get(node.frame, 0) + node.own_ns
        for child in node.children:
            walk(child, around | {node.frame})

    for child in root.children:
        walk(child, frozenset())
    return inclusive, self_ns


def analysis_of(real_traces: Path, name: str) -> Analysis:
    kind, _, rank = name.rpartition(":")
    return real.npu(real_traces, rank) if kind else real.gpu(real_traces, name)


@pytest.mark.parametrize("name", TRACES)
def test_real_idle_time_is_shared_out_whole(real_traces: Path, name: str) -> None:
    check(analysis_of(real_traces, name))


def test_modules_of_a_real_trace_are_those_of_the_model(real_traces: Path) -> None:
    modules = {module.module: module for module in real.npu(real_traces, "level2/rank0").modules}
    assert len(modules) == 27  # AlexNet has 22 in 2 Sequentials, then DDP and the loss; the rest is outside
    dropout = modules["Dropout_0"]
    assert dropout.path == ("DistributedDataParallel_0", "AlexNet_0", "Sequential_1")
    assert dropout.forward == Frame("torch/nn/modules/dropout.py", 57, "forward")
    assert (dropout.idle_ns, dropout.own_ns) == (1_640_090, 1_640_090)
    assert modules["AlexNet_0"].idle_ns > modules["Sequential_1"].idle_ns > modules["Linear_2"].idle_ns
    assert modules["Linear_2"].backward_ns > 0
    assert modules[None].path == () and modules[None].idle_ns == modules[None].own_ns


def test_what_a_checkpoint_runs_again_is_of_the_same_module(real_traces: Path) -> None:
    modules = {module.module: module for module in real.gpu(real_traces, TRACES[3]).modules}
    assert modules["ReLU_8"].path[:2] == ("DistributedDataParallel_0", "ResNet_0")
    assert modules["ReLU_8"].path[-1] == "BasicBlock_7"


def test_a_trace_without_modules_has_all_outside(real_traces: Path) -> None:
    analysis = real.gpu(real_traces, "resnet_rank0.json.gz")
    assert [(row.module, row.own_ns) for row in analysis.modules] == [(None, analysis.idle_ns)]


def launched(at: int, connection: int, start: int, tid: int = MAIN) -> list[dict[str, Any]]:
    """A kernel of 10 ns and the operator that launches it."""
    return [
        operator(at, 8, tid=tid),
        call(at + 2, 2, connection, tid=tid),
        task(start, 10, connection=connection),
    ]


def test_idle_time_goes_to_the_innermost_module_and_back_through_autograd() -> None:
    events = [
        *npu(),
        frame(0, 100, "train.py(1): main"),
        frame(10, 60, MODEL),
        frame(11, 58, "net.py(5): forward"),
        frame(15, 40, LAYER),
        frame(20, 20, LINEAR),
        task(0, 10),
        *launched(22, 1, 40),
        *launched(60, 2, 80),
        operator(110, 30, "autograd::engine::evaluate_function: MmBackward0", tid=AUTOGRAD),
        *launched(112, 3, 130, AUTOGRAD),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 22), (PYTHON, AUTOGRAD, 112)),
    ]
    analysis = analyse(trace_of(events))
    check(analysis)

    def row_of(module: ModuleIdle) -> tuple[object, ...]:
        return module.module, module.path, module.idle_ns, module.own_ns, module.backward_ns

    found = [row_of(module) for module in analysis.modules]
    assert sum(self_ns for _, _, _, self_ns, _ in found) == analysis.idle_ns == 100  # type: ignore[misc]
    names = [name for name, *_ in found]
    assert set(names) == {"Net_0", "Layer_3", "Linear_7", None}
    linear = next(module for module in analysis.modules if module.module == "Linear_7")
    assert linear.path == ("Net_0", "Layer_3")
    assert linear.backward_ns > 0
    net = next(module for module in analysis.modules if module.module == "Net_0")
    assert net.forward == Frame("net.py", 5, "forward")


def test_a_module_lies_in_those_around_its_deepest_call_be_they_the_first_words_of_the_file() -> None:
    frames = [frame(100, 60, MODEL), frame(110, 40, LAYER), frame(10, 40, LAYER)]
    events = [*frames, *npu(), task(0, 10), *launched(20, 1, 60), *launched(120, 2, 150)]
    (layer,) = (row for row in analyse(trace_of(events)).modules if row.module == "Layer_3")
    assert layer.path == ("Net_0",)


FRAMES = ("a.py(1): f", "a.py(2): g", MODEL, LAYER, LINEAR)


@st.composite
def programs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Nested frames, some of modules and some of themselves, and kernels launched in them."""
    events: list[dict[str, Any]] = [*npu(), task(0, 1)]
    time, connection, busy = 2, 0, 1

    def grow(depth: int) -> None:
        nonlocal time, connection, busy
        begin, place = time, len(events)
        events.append({})
        for _ in range(draw(st.integers(0, 2))):
            time += draw(st.integers(0, 9))
            if depth < 4 and draw(st.booleans()):
                grow(depth + 1)
            else:
                connection += 1
                busy = max(busy, time + 4) + draw(st.integers(0, 9))
                events.extend(
                    [operator(time, 8), call(time + 2, 2, connection), task(busy, 3, connection=connection)]
                )
                busy, time = busy + 3, time + 8
        time += draw(st.integers(1, 4))
        events[place] = frame(begin, time - begin, draw(st.sampled_from(FRAMES)))

    for _ in range(draw(st.integers(1, 3))):
        grow(0)
        time += draw(st.integers(0, 9))
    return events


@given(programs())
def test_all_idle_time_is_shared_out_once(events: list[dict[str, Any]]) -> None:
    check(analyse(trace_of(events)))


def test_a_call_stack_without_frames_is_none() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 10), operator(20, 8, stack=(" ;",)), *launched(40, 1, 60)]))
    check(analysis)
    assert [idle_frame.frame for idle_frame in analysis.frames] == [None]


def test_module_names() -> None:
    assert module_of("nn.Module: Conv2d_7") == "Conv2d_7"
    assert module_of("torch/nn.py(3): Module") is None


def test_a_module_in_the_first_row_of_a_trace_holds_what_is_inside_it() -> None:
    frames = [(0, 100, MODEL), (10, 50, LAYER), (20, 30, LINEAR), (70, 20, LINEAR)]
    trace = trace_of([*npu(), *(frame(*frame_args) for frame_args in frames)])
    modules = Modules(trace, Ancestors(trace))
    assert trace.name(0) == MODEL
    names = [text.removeprefix("nn.Module: ") for text in (MODEL, LAYER)]
    paths = {trace.strings[name].removeprefix("nn.Module: "): path for name, path in modules.paths().items()}
    assert paths == {names[0]: (), names[1]: (names[0],), "Linear_7": tuple(names)}


def test_a_module_may_have_the_first_name_and_the_first_frame_of_the_trace() -> None:
    model, forward = frame(10, 60, MODEL), frame(11, 58, "net.py(5): forward")
    base_events = [frame(15, 40, LAYER), *npu(), task(0, 10), *launched(22, 1, 40), *launched(60, 2, 80)]
    base_events += launched(90, 3, 120)
    found_modules = []
    for events in (
        [model, forward, *base_events],
        [forward, model, *base_events],
        [*base_events, model, forward],
    ):
        modules = analyse(trace_of(events)).modules
        found_modules.append(
            [(row.module, row.path, row.idle_ns, row.own_ns, row.forward, row.call) for row in modules]
        )
    assert found_modules[0] == found_modules[1] == found_modules[2]
    assert {row[0] for row in found_modules[0]} == {"Net_0", "Layer_3", None}


def test_modules_alike_in_all_but_their_names_are_in_the_order_of_these() -> None:
    events = [*npu(), frame(0, 300, "train.py(1): main"), task(90, 10)]
    for number, name in enumerate("BA"):
        at = 120 + 60 * number
        events += [frame(at, 40, f"nn.Module: {name}_0"), *launched(at + 10, 1 + number, at + 30)]
    analysis = analyse(trace_of(events))
    check(analysis)
    idle_of = {row.module: row.idle_ns for row in analysis.modules if row.module}
    assert [*idle_of] == ["A_0", "B_0"] and len({*idle_of.values()}) == 1
