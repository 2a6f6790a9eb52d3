"""The memory of a run as one JSON object: sizes in bytes, times as integer ns, null for what is unknown."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.growth import Growing
from tracetui.analysis.memory.model import NEVER, Curve, Recorded
from tracetui.analysis.memory.neighbours import Neighbours
from tracetui.analysis.memory.peak import LineMemory, Peak, SizeMemory
from tracetui.arrays import Int64s
from tracetui.export.cells import encodable
from tracetui.export.documents import SCHEMA
from tracetui.export.tables.pieces import frame_document


def memory_document(memory: Memory | None, part: MemoryPart | None, top: int = 0) -> dict[str, Any]:
    """Return what is known of the memory; the peak and the lines are those of `part`, at most `top` lines.

    Growth is always that of the whole recording. All is empty where nothing was recorded.
    """
    if memory is None or part is None:
        return {
            "schema": SCHEMA,
            "components": [],
            "growth": [],
            "peak": None,
            "lines": [],
            "growing": [],
            "alive_at_end": {"bytes": None, "blocks": None},
            "warnings": [],
        }
    recorded = memory.recorded
    alive_bytes, alive_blocks = part.alive_at_end
    lines = part.lines[:top] if top else part.lines
    return {
        "schema": SCHEMA,
        "components": [_component(recorded, curve) for curve in memory.curves],
        "growth": [
            {"device": encodable(each.device), "step": each.step, "bytes": each.bytes}
            for each in memory.growth
        ],
        "peak": None if part.peak is None else _peak(recorded, part.peak),
        "lines": [_line(recorded, line) for line in lines],
        "growing": [_growing(*each) for each in zip(memory.growing, memory.neighbours)],
        "alive_at_end": {"bytes": alive_bytes, "blocks": alive_blocks},
        "warnings": [encodable(problem) for problem in recorded.problems],
    }


def size_rows(part: MemoryPart, top: int = 0) -> list[dict[str, Any]]:
    """Return the blocks by size, most in all first."""
    return [_size(size) for size in (part.sizes[:top] if top else part.sizes)]


def block_rows(memory: Memory, part: MemoryPart, top: int = 0) -> list[dict[str, Any]]:
    """Return single blocks, the largest first."""
    order = np.argsort(-part.blocks.bytes, kind="stable")
    return [_block(memory.recorded, part, place) for place in (order[:top] if top else order).tolist()]


def _component(recorded: Recorded, curve: Curve) -> dict[str, Any]:
    place = curve.peak(-1, NEVER)
    most = int(np.argmax(curve.reserved)) if place < 0 else place
    return {
        "device": encodable(curve.device),
        "name": encodable(curve.component),
        "peak_allocated_bytes": int(curve.allocated[place]) if place >= 0 else None,
        "peak_reserved_bytes": _known(int(curve.reserved.max(initial=-1))),
        "peak_at_ns": _time(recorded, int(curve.time[most])),
        "end_allocated_bytes": int(curve.allocated[curve.told[-1]]) if len(curve.told) else None,
    }


def _peak(recorded: Recorded, peak: Peak) -> dict[str, Any]:
    return {
        "device": encodable(peak.device),
        "component": encodable(peak.component),
        "at_ns": _time(recorded, peak.at),
        "step": _step(recorded, peak.step),
        "bytes": peak.bytes,
        "before_bytes": peak.before_bytes,
        "cached_bytes": _known(peak.cached_bytes),
        "outside_bytes": _known(peak.outside_bytes),
    }


def _line(recorded: Recorded, line: LineMemory) -> dict[str, Any]:
    return {
        **frame_document(line.frame),
        "operator": encodable(line.operator),
        "bytes_at_peak": line.bytes_at_peak,
        "allocated_bytes": line.allocated_bytes,
        "allocations": line.allocations,
        "blocks_at_peak": line.blocks_at_peak,
        "mean_life_ns": _time(recorded, line.mean_life),
        "alive_bytes": line.alive_bytes,
    }


def _size(size: SizeMemory) -> dict[str, Any]:
    return {
        "block_bytes": size.bytes,
        "allocations": size.allocations,
        "blocks_at_peak": size.at_peak,
        "alive_blocks": size.alive,
    }


def _block(recorded: Recorded, part: MemoryPart, place: int) -> dict[str, Any]:
    blocks = part.blocks
    line, release = int(blocks.line[place]), int(blocks.release[place])
    return {
        "start_ns": _time(recorded, int(blocks.start[place])),
        "release_ns": None if release == NEVER else _time(recorded, release),
        "block_bytes": int(blocks.bytes[place]),
        "device": encodable(recorded.devices[blocks.device[place]]),
        "component": encodable(recorded.components[blocks.component[place]]),
        "operator": encodable(recorded.operators[blocks.operator[place]]),
        **frame_document(recorded.lines[line] if line >= 0 else None),
        "step": _step(recorded, int(blocks.step[place])),
        "at_peak": bool(part.at_peak[place]),
    }


def _growing(group: Growing, neighbours: Neighbours) -> dict[str, Any]:
    return {
        "device": encodable(group.device),
        "component": encodable(group.component),
        "operator": encodable(group.operator),
        **frame_document(group.frame),
        "bytes_per_step": group.bytes_per_step,
        "blocks_per_step": group.blocks_per_step,
        "block_bytes": group.block_bytes,
        "bytes": group.bytes,
        "blocks": group.blocks,
        "steps": list(group.steps),
        "nth": group.nth,
        "of": group.calls,
        "leaving": group.leaving,
        **{key: _text(value) for key, value in neighbours._asdict().items()},
        "verdict": group.verdict.value,
    }


def step_numbers(recorded: Recorded, places: Int64s) -> Int64s:
    """Return the numbers of steps, -1 where the place is -1."""
    numbers = np.array([*(step.number for step in recorded.steps), -1], np.int64)
    return numbers[places]


def _step(recorded: Recorded, place: int) -> int | None:
    return None if place < 0 else recorded.steps[place].number


def _time(recorded: Recorded, time: int) -> int | None:
    """A time or a length of time; unknown below 0, and where events have numbers only."""
    return time if time >= 0 and recorded.timed else None


def _known(count: int) -> int | None:
    return None if count < 0 else count


def _text(text: str | None) -> str | None:
    return None if text is None else encodable(text)
