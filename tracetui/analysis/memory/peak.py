"""The peak of a device and what it is made of: by line and operator, by size, and outside the allocator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.memory.model import (
    ADAPTER,
    HOST,
    MINDSPORE,
    NEVER,
    WHOLE,
    Blocks,
    Curve,
    MemoryRecording,
)
from tracetui.analysis.search import group_by
from tracetui.arrays import Bools
from tracetui.trace.order import numbered
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class Peak:
    """When a device held most. Bytes are -1 where unknown."""

    device: str
    component: str  #: whose curve it is
    at: int
    step: int  #: place in MemoryRecording.steps of the one it lies in, -1 of none
    bytes: int
    before_bytes: int  #: of them in no recorded block: allocated before the recording, or left out of it
    cached_bytes: int  #: reserved and not allocated: cached, or lost between blocks
    outside_bytes: int  #: of the process beyond what is reserved for that curve, or PyTorch


@dataclass(frozen=True)
class LineMemory:
    """The blocks of one operator at one line of Python: at the peak, and those allocated in the part."""

    frame: Frame | None  #: None without a stack
    operator: str
    bytes_at_peak: int
    blocks_at_peak: int
    allocated_bytes: int
    allocations: int
    mean_life: int  #: of the allocations that were released, rounded down; -1 where none was
    alive_bytes: int  #: of the allocations, never released


@dataclass(frozen=True)
class SizeMemory:
    """The blocks of one size: at the peak, and those allocated in the part."""

    bytes: int
    allocations: int
    alive: int  #: of the allocations, never released
    at_peak: int


def whole_curve(curves: Sequence[Curve], device: str) -> Curve | None:
    """Return the curve of all that tensors hold on a device; else that of the component with the most."""
    candidates = [curve for curve in curves if curve.device == device and len(curve.known_places)]
    for name in WHOLE:
        for curve in candidates:
            if curve.component == name:
                return curve
    return max(candidates, key=lambda curve: curve.allocated.max(), default=None)


def find_peak(recorded: MemoryRecording, devices: Sequence[int], start: int, end: int) -> Peak | None:
    """Return the peak in [start, end) of that of some devices that holds most; None where no curve tells.

    The memory of the host counts only where there is no other.
    """
    curves = [whole_curve(recorded.curves, recorded.devices[place]) for place in devices]
    peaks = [(curve, curve.peak(start, end)) for curve in curves if curve is not None]
    peaks = [(curve, place) for curve, place in peaks if place >= 0]
    if not peaks:
        return None
    curve, place = max(
        peaks, key=lambda candidate: (candidate[0].device != HOST, candidate[0].allocated[candidate[1]])
    )
    peak_time, amount = max(int(curve.time[place]), start), int(curve.allocated[place])
    alive = int(recorded.blocks.bytes[alive_at(recorded, curve, peak_time)].sum())
    reserved = int(curve.reserved[place])
    process, *own = (
        _reserved(recorded, curve.device, name, peak_time) for name in ("APP", ADAPTER, MINDSPORE)
    )
    counted = reserved if reserved >= 0 else max(own)
    all_steps = () if curve.device in recorded.stepless else recorded.steps
    steps = [place for place, step in enumerate(all_steps) if step.start <= peak_time < step.end]
    return Peak(
        device=curve.device,
        component=curve.component,
        at=peak_time,
        step=steps[-1] if steps else -1,
        bytes=amount,
        before_bytes=max(amount - alive, 0),
        cached_bytes=max(reserved - amount, 0) if reserved >= 0 else -1,
        outside_bytes=max(process - counted, 0) if process >= 0 and counted >= 0 else -1,
    )


def alive_at(recorded: MemoryRecording, curve: Curve, time: int) -> Bools:
    """Return which blocks a curve counts at a time: bool[blocks]."""
    blocks = recorded.blocks
    alive: Bools = (blocks.start <= time) & (blocks.release > time)
    alive &= blocks.device == recorded.devices.index(curve.device)
    if curve.component in recorded.components:  # else that of all of them together
        alive &= blocks.component == recorded.components.index(curve.component)
    return alive


def lines_of_blocks(
    recorded: MemoryRecording, blocks: Blocks, at_peak: Bools, allocated: Bools
) -> tuple[LineMemory, ...]:
    """Return blocks by line and operator, those first that hold most at the peak, then in all.

    Blocks that are not `allocated` in the part are counted at its peak only.
    """
    rows = []
    operators = len(recorded.operators) + 1
    for key, places in group_by((blocks.line + 1) * operators + blocks.operator + 1):
        line, operator = divmod(key, operators)
        at_peak_places, places = places[at_peak[places]], places[allocated[places]]
        sizes, is_held = blocks.bytes[places], blocks.release[places] == NEVER
        lives = (blocks.release[places] - blocks.start[places])[~is_held]
        rows.append(
            LineMemory(
                frame=recorded.lines[line - 1] if line else None,
                operator=recorded.operators[operator - 1] if operator else "",
                bytes_at_peak=int(blocks.bytes[at_peak_places].sum()),
                blocks_at_peak=len(at_peak_places),
                allocated_bytes=int(sizes.sum()),
                allocations=len(places),
                mean_life=int(lives.sum()) // len(lives) if len(lives) else -1,
                alive_bytes=int(sizes[is_held].sum()),
            )
        )
    rows.sort(key=lambda row: (-row.bytes_at_peak, -row.allocated_bytes, row.frame or (), row.operator))
    return tuple(rows)


def sizes_of_blocks(blocks: Blocks, at_peak: Bools, allocated: Bools) -> tuple[SizeMemory, ...]:
    """Return blocks by size, those first that take most in all; counted as by line."""
    sizes, place = numbered(blocks.bytes)
    counts = (
        np.bincount(place[selected], minlength=len(sizes)).tolist()
        for selected in (allocated, allocated & blocks.alive, at_peak)
    )
    rows = [SizeMemory(*row) for row in zip(sizes.tolist(), *counts)]
    return tuple(sorted(rows, key=lambda row: (-row.bytes * row.allocations, -row.bytes)))


def _reserved(recorded: MemoryRecording, device: str, component: str, time: int) -> int:
    """Return what the curve of that name says for a time, -1 where none does."""
    matching = (curve for curve in recorded.curves if (curve.device, curve.component) == (device, component))
    return next((curve.reserved_at(time) for curve in matching), -1)
