"""What is made of planted recordings of memory, all of it: what a change of the code changes in it is seen.

That it is right is what the other tests of this directory are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samples.memory import write_run
from tests import pages
from tests.analysis import gpu
from tests.analysis.described import described
from tests.analysis.machine import us
from tests.analysis.memory.runs import Held, recorded, write_snapshot
from tests.analysis.memory.test_beside import tracked
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.analyse import Memory, memory_of_snapshot
from tracetui.analysis.memory.tracker import recorded_by_tracker
from tracetui.api import load


def _tables(directory: Path) -> Memory | None:
    write_run(directory, 4)
    return load(directory, cache=False, jobs=1).memory


def _snapshot(directory: Path) -> Memory | None:
    write_snapshot(directory / "snapshot.pickle")
    return memory_of_snapshot(directory / "snapshot.pickle", FrameRules())


def _tracker(directory: Path) -> Memory | None:
    tracked(directory, 5)
    found = recorded_by_tracker(directory / "trace_view.json", FrameRules())
    return None if found is None else Memory(found)


def _instants(_: Path) -> Memory | None:
    """Three steps of two operators: one leaves a block behind, the other one is given back in its step."""
    events, held = gpu.gpu(), 4096
    for number in range(3):
        start = 1_000 * number
        events += [gpu.step(number + 5, start, 900)]
        changes = [(100, 1 << 4 * number, 16 * number), (300, 2048, 1000), (310, -2048, 1000)]
        for place, (at, size, address) in enumerate(changes):
            held += size
            name = f"aten::{'empty' if place == 0 else 'mm'}"
            stack = f"train.py({20 + place}): step"
            events += [
                gpu.host(start + at - 5, 10 if place == 2 else 8, name, stack=stack),
                {
                    "ph": "i",
                    "cat": "cpu_instant_event",
                    "name": "[memory]",
                    "s": "t",
                    "pid": gpu.HOST,
                    "tid": gpu.HOST,
                    "ts": us(start + at),
                    "args": {
                        "Addr": 1 + address,
                        "Bytes": size,
                        "Device Type": 1,
                        "Device Id": 0,
                        "Total Allocated": held,
                        "Total Reserved": 1 << 16,
                    },
                },
            ]
        for place in range(2):
            correlation = 10 * number + place + 1
            events += [
                gpu.launch(start + 102 + 200 * place, 1, correlation),
                gpu.kernel(start + 400 + 20 * place, 10, correlation, ("elementwise", "gemm")[place]),
            ]
    return analyse(trace_of(events)).memory


def _blocks(_: Path) -> Memory | None:
    """Blocks that begin and end where steps and others do."""
    held = [
        *[Held(100 * step, None, 1 << 20, "aten::empty") for step in range(4)],
        *[Held(100 * step + 2, 100 * (step + 1), 3 << 20, "aten::cat", 90) for step in range(4)],
        *[Held(100 * step + 50, 100 * step + 50, 512, "aten::mul", 91) for step in range(4)],
        *[Held(100 * step + 99, None if step else 299, 512 << step, "aten::add", 92) for step in range(4)],
        Held(400, 460, 100, "aten::add", 92),
    ]
    curve = [(0, 8 << 20), (99, 8 << 20), (200, 9 << 20), (300, 12 << 20), (399, 12 << 20), (400, 2 << 20)]
    return Memory(recorded(4, held, curve))


RECORDINGS: dict[str, Callable[[Path], Memory | None]] = {
    "tables": _tables,
    "snapshot": _snapshot,
    "tracker": _tracker,
    "instants": _instants,
    "blocks": _blocks,
}


def _results(memory: Memory) -> Iterator[tuple[str, Any]]:
    for name in ("recorded", "curves", "all", "growth", "growing", "neighbours"):
        yield name, getattr(memory, name)
    for step in memory.recorded.steps[1:3]:
        yield f"step {step.number}", memory.part(step.number, None, None)
    starts = memory.recorded.blocks.start
    yield "window", memory.part(None, int(starts[len(starts) // 3]), int(starts[2 * len(starts) // 3]))
    for curve in memory.recorded.curves:
        times = curve.time[:: max(len(curve.time) // 4, 1)]
        yield "peaks", np.array([curve.peak(int(at), int(at) + 100) for at in times])


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_is_made_of_a_planted_recording(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    memory = RECORDINGS[name](tmp_path)
    assert memory is not None
    lines = (line for key, value in _results(memory) for line in described(key, value))
    pages.check("\n".join(lines), name, request)
