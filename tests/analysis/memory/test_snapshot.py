"""What a snapshot of an allocator tells, as PyTorch writes it without being told otherwise."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.analyse import memory_of_snapshot
from tracetui.analysis.memory.model import NEVER, MemoryRecording
from tracetui.analysis.memory.snapshot import recorded_in_snapshot
from tracetui.trace.stack import Frame

MB = 1 << 20
MODULE = "/lib/python3.11/site-packages/torch/nn/modules/module.py"


def frame(file: str, line: int, name: str) -> dict[str, Any]:
    return {"filename": file, "line": line, "name": name}


#: What lies between an allocator and Python: frames without a line, and those of the interpreter with one.
UNWINDER = frame("??", 0, "torch::unwind::unwind()")
ALLOCATOR = frame("CUDACachingAllocator.cpp", 0, "c10::cuda::CUDACachingAllocator::Native::malloc(void**)")
CALL = frame("/usr/src/python/Objects/call.c", 305, "_PyObject_Call")
MAIN = [frame("/me/train.py", 90, "main"), CALL]


def operator(name: str) -> list[dict[str, Any]]:
    below = frame("??", 0, "at::_ops::empty_memory_format::redispatch(long)")
    return [UNWINDER, ALLOCATOR, below, frame("", 0, f"at::_ops::{name}::call(at::Tensor const&)"), CALL]


def alloc(address: int, frames: Sequence[dict[str, Any]], size: int = MB) -> dict[str, Any]:
    return {"action": "alloc", "addr": address, "size": size, "frames": list(frames), "time_us": 5}


def free(address: int, size: int = MB) -> dict[str, Any]:
    return {"action": "free_requested", "addr": address, "size": size, "frames": []}


def recorded(
    directory: Path, events: list[Any], segments: Sequence[Any] = (), **fields: Any
) -> MemoryRecording:
    path = directory / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"device_traces": [events], "segments": [*segments], **fields}))
    return recorded_in_snapshot(path, FrameRules())


def notes_of(found: MemoryRecording) -> list[tuple[str, str]]:
    """Operator and line of each block."""
    lines = ["" if place < 0 else str(found.lines[place]) for place in found.blocks.line.tolist()]
    return list(zip([found.operators[place] for place in found.blocks.operator.tolist()], lines))


def test_lines_are_those_of_python_and_operators_what_was_called_below(tmp_path: Path) -> None:
    linear = frame("/lib/python3.11/site-packages/torch/nn/modules/linear.py", 125, "forward")
    engine = frame("??", 0, "torch::autograd::Engine::evaluate_function(int)")
    backward = [
        *operator("mul_Tensor")[:-1],
        frame("??", 0, "torch::autograd::generated::PowBackward0::apply(int)"),
    ]
    found = recorded(
        tmp_path,
        [
            alloc(1, [*operator("mul_Tensor"), frame("/me/model.py", 8, "forward"), CALL, *MAIN]),
            alloc(2, [*operator("addmm"), linear, CALL, frame("/me/model.py", 9, "forward"), *MAIN]),
            alloc(3, [*backward, engine]),
            alloc(4, [frame("/me/model.py", 8, "forward"), *MAIN]),
            alloc(5, [UNWINDER]),
        ],
    )
    assert notes_of(found) == [
        ("mul_Tensor", "/me/model.py(8): forward"),
        ("linear.py(125) forward", "/me/model.py(9): forward"),
        ("PowBackward0", ""),
        ("", "/me/model.py(8): forward"),
        ("", ""),
    ]


@pytest.mark.parametrize(
    ("events", "segments", "fields", "device"),
    [
        ([alloc(1, [UNWINDER, ALLOCATOR])], [], {}, "GPU 0"),
        ([alloc(1, MAIN)], [], {"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", 5: 6}}, "GPU 0"),
        ([alloc(1, MAIN)], [{"device": 0, "blocks": [{"history": []}]}], {}, "GPU 0"),
        ([alloc(1, MAIN)], [], {"allocator_settings": {"PYTORCH_NPU_ALLOC_CONF": ""}}, "NPU 0"),
        ([alloc(1, [frame("??", 0, "c10_npu::NPUCachingAllocator::malloc()")])], [], {}, "NPU 0"),
    ],
)
def test_the_device_is_that_of_the_allocator(
    tmp_path: Path, events: list[Any], segments: list[Any], fields: dict[str, Any], device: str
) -> None:
    assert recorded(tmp_path, events, segments, **fields).devices == (device,)


def block(size: int, line: int | None, state: str = "active_allocated", **fields: Any) -> dict[str, Any]:
    frames = [] if line is None else [frame("/me/load.py", line, "load")]
    return {"size": size, "requested_size": size - 1, "state": state, "frames": frames, **fields}


def test_what_is_alive_and_was_allocated_before_all_events_has_its_line(tmp_path: Path) -> None:
    blocks = [
        block(MB, 3),
        block(MB, 3, "inactive"),
        block(2 * MB, 4),
        block(4 * MB, None),
        block(8 * MB, 9),  # an event tells of it
    ]
    segment = {"device": 0, "address": 0, "total_size": 32 * MB, "blocks": blocks}
    events = [alloc(100 * MB, MAIN), alloc(8 * MB, MAIN, 8 * MB), free(100 * MB), None]
    found = recorded(tmp_path, events, [segment])
    assert [line for _, line in notes_of(found)] == [
        "/me/load.py(3): load",
        "/me/load.py(4): load",
        "/me/train.py(90): main",
        "/me/train.py(90): main",
    ]
    assert found.blocks.start.tolist() == [0, 0, 1, 2]
    assert found.blocks.release.tolist() == [NEVER, NEVER, 3, NEVER]
    assert found.blocks.bytes.tolist() == [MB - 1, 2 * MB - 1, MB, 8 * MB]
    (curve,) = found.curves
    assert curve.time.tolist() == [0, 1, 2, 3]
    at_end = 1 + 2 + 4 + 8
    assert (curve.allocated - at_end * MB + 4).tolist() == [-8 * MB, -7 * MB, MB, 0]
    assert curve.reserved.tolist() == [32 * MB] * 4
    part = memory_of_snapshot(tmp_path / "snapshot.pickle", FrameRules()).all
    assert part.alive_at_end == (8 * MB, 1)  # not what was there before


def test_what_was_held_before_all_events_may_be_the_peak(tmp_path: Path) -> None:
    """As where the recording is switched on after the backward pass, or as many events are kept as fit."""
    segment = {"device": 0, "address": 0, "total_size": 2 * MB, "blocks": [block(2 * MB, 1, "inactive")]}
    freed = [free(7, 9 * MB), {"action": "segment_free", "addr": 0, "size": 10 * MB}]
    recorded(tmp_path, [*freed, alloc(1, MAIN), free(1)], [segment])
    peak = memory_of_snapshot(tmp_path / "snapshot.pickle", FrameRules()).all.peak
    assert peak is not None
    assert (peak.bytes, peak.before_bytes, peak.cached_bytes) == (9 * MB, 9 * MB, 3 * MB)


def test_a_snapshot_without_events_tells_what_is_alive(tmp_path: Path) -> None:
    """As of 2023: each block has the allocations at its place, the last one first."""
    history = [
        {"addr": 0, "real_size": 5, "frames": [frame("/me/load.py", 3, "load")]},
        {"addr": 0, "real_size": 5, "frames": [frame("/me/load.py", 1, "older")]},
    ]
    old = {"size": MB, "state": "active_allocated", "history": history}
    segment = {"device": 1, "address": 0, "total_size": MB, "blocks": [old]}
    found = recorded(tmp_path, [], [segment])
    assert "no history of allocations" in found.problems[0]
    assert (found.devices, found.lines) == (("GPU 1",), (Frame("/me/load.py", 3, "load"),))
    memory = memory_of_snapshot(tmp_path / "snapshot.pickle", FrameRules())
    assert memory.all.peak is not None and memory.all.peak.bytes == MB
    assert memory.all.alive_at_end == (0, 0)
    segment["blocks"] = [5, {"state": "active_allocated", "frames": [UNWINDER]}, {"size": "1", "history": 5}]
    found = recorded(tmp_path, [], [segment, {"device": "1"}])
    assert len(found.blocks) == 0 and found.curves == ()


def passes(
    steps: int, layers: int, *, optimizer: bool, calls: bool = True, forward: str = "forward"
) -> list[Any]:
    """Steps of a model in a wrapper whose layers allocate at six places each, all of it kept.

    `calls`: the stacks have the calls of modules.
    """
    call = [frame(MODULE, 1500, "_call_impl")] if calls else []
    model = [frame("/me/model.py", 50, forward), *call, frame("/me/wrapper.py", 7, forward), *call, *MAIN]
    events: list[Any] = []
    for _ in range(steps):
        for line in range(layers * 6):
            inside = frame("/me/layer.py", line % 6, "forward") if line % 6 else frame("/me/layer.py", 7, "f")
            events.append(alloc(len(events), [*operator("mul"), inside, *call, *model]))
        for line in range(2 if optimizer else 0):
            events.append(
                alloc(len(events), [*operator("zeros"), frame("/me/adam.py", 1 + line, "step"), *MAIN])
            )
    return events


def test_the_layers_of_one_pass_are_no_steps(tmp_path: Path) -> None:
    assert recorded(tmp_path, passes(1, 5, optimizer=False)).steps == ()
    assert recorded(tmp_path, passes(1, 5, optimizer=False, calls=False)).steps == ()
    assert recorded(tmp_path, passes(1, 5, optimizer=False, forward="compiled")).steps == ()
    assert len(recorded(tmp_path, passes(1, 5, optimizer=False, calls=False, forward="main")).steps) == 5
    found = recorded(tmp_path, passes(3, 5, optimizer=True))
    assert [(step.number, step.start, step.end) for step in found.steps] == [
        (1, 31, 63),
        (2, 63, 95),
        (3, 95, 97),
    ]


def test_what_the_backward_pass_repeats_is_no_step(tmp_path: Path) -> None:
    """The engine's thread has no frames of Python: its repetitions are layers, too."""
    places = [[frame("??", 0, f"torch::autograd::generated::N{n}::apply(int)")] for n in range(6)]
    events = [alloc(number, places[number % 6]) for number in range(30)]
    assert recorded(tmp_path, events).steps == ()
