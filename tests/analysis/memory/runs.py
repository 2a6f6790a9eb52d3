"""Memory by hand, for the tests of its rules: blocks and steps without a trace."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tracetui.analysis.memory.model import (
    NEVER,
    PYTORCH,
    Blocks,
    Curve,
    MemoryRecording,
    MemoryStep,
    steps_at,
)
from tracetui.trace.stack import Frame

STEP = 100  #: how long a step takes


class Held(NamedTuple):
    """A block; `release` None: never."""

    start: int
    release: int | None = None
    bytes: int = 512
    operator: str = "aten::mm"
    line: int = 88


def recorded(steps: int, held: Sequence[Held], curve: Sequence[tuple[int, int]] = ()) -> MemoryRecording:
    """Blocks of one device with steps 1, 2, ... that last from 0, 100, 200, ..."""
    every = tuple(MemoryStep(step + 1, STEP * step, STEP * (step + 1) - 1) for step in range(steps))
    held = sorted(held)
    operators = tuple(dict.fromkeys(block.operator for block in held))
    lines = tuple(dict.fromkeys(Frame("train.py", block.line, "f") for block in held))
    start = np.array([block.start for block in held], np.int64)
    time = np.array([at for at, _ in curve], np.int64)
    allocated = np.array([bytes_ for _, bytes_ in curve], np.int64)
    unknown = np.full(len(time), -1, np.int64)
    blocks = Blocks(
        start=start,
        release=np.array([NEVER if b.release is None else b.release for b in held], np.int64),
        bytes=np.array([block.bytes for block in held], np.int64),
        device=np.zeros(len(held), np.int32),
        component=np.zeros(len(held), np.int32),
        operator=np.array([operators.index(block.operator) for block in held], np.int32),
        row=np.full(len(held), -1, np.int64),
        line=np.array([lines.index(Frame("train.py", block.line, "f")) for block in held], np.int64),
        step=steps_at(every, start),
    )
    curves = (Curve("NPU 0", PYTORCH, time, allocated, unknown, unknown),) if curve else ()
    return MemoryRecording(curves, blocks, ("NPU 0",), (PYTORCH,), operators, lines, every, ())


def write_snapshot(path: Path, source: Path = Path("/me/demo.py")) -> None:
    """Write a snapshot of three steps of four blocks at demo.py(5) to (8), of which (7) is never freed."""

    def event(action: str, number: int, line: int) -> dict[str, Any]:
        frames = [{"filename": str(source), "line": line, "name": "step"}]
        return {"action": action, "addr": 4096 * number, "size": 1 << 20, "frames": frames}

    events = []
    for step in range(3):
        numbers = range(10 * step, 10 * step + 4)
        events += [event("alloc", number, 5 + number % 10) for number in numbers]
        events += [event("free_requested", number, 1) for number in numbers if number % 10 != 2]
    path.write_bytes(pickle.dumps({"device_traces": [events], "segments": []}))


#: A pickle that asks for a function to be called.
HOSTILE = b"\x80\x04cos\nsystem\n."
