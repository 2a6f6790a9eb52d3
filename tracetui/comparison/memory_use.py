"""What a run held of its devices' memory: the peaks of its components, and what was alive at the peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.model import HOST, NEVER, WHOLE, Curve, steps_numbered
from tracetui.comparison.walls import StepChoice
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class Holder:
    """Who allocated what was alive at the peak."""

    operator: str  #: as written by the producer: never print it unescaped
    frame: Frame | None  #: the line of Python; None without a stack


@dataclass(frozen=True)
class MemoryUse:
    """Bytes, the most that the chosen part of a run held."""

    allocated: Mapping[str, int]  #: by component; on several devices the one that held most
    reserved: Mapping[str, int]
    alive: Mapping[Holder, tuple[int, int]]  #: bytes and blocks at the peak of the device that held most

    @property
    def peak(self) -> int:
        """Return what tensors held on a device, else what was reserved for them; 0 where nothing tells."""
        held = self.allocated or self.reserved
        sizes = (held[name] for name in (*WHOLE, *held) if name in held)
        return next(sizes, 0)


def memory_use(memory: Memory | None, choice: StepChoice) -> MemoryUse | None:
    """Return what was held in the chosen step, window or all of a run; None where nothing tells."""
    if memory is None:
        return None
    steps = [] if choice.step is None else steps_numbered(memory.recorded.steps, choice.step)
    if choice.step is not None and not steps:
        return None
    start, end = choice.window or (None, None)
    part = memory.part(choice.step, start, end)
    first, last = (-1 if start is None else start), (NEVER if end is None else end)
    for step in steps:
        first, last = step.start, step.end
    left_out = memory.recorded.stepless if steps else ()
    curves_in_steps = [curve for curve in memory.curves if curve.device not in left_out]
    curves = [curve for curve in curves_in_steps if curve.device != HOST] or curves_in_steps
    alive: dict[Holder, tuple[int, int]] = {}
    for line in part.lines:
        if line.bytes_at_peak:
            alive[Holder(line.operator, line.frame)] = (line.bytes_at_peak, line.blocks_at_peak)
    allocated, reserved = (
        _largest_by_name((curve.component, _peak(curve, first, last, column)) for curve in curves)
        for column in ("allocated", "reserved")
    )
    return MemoryUse(allocated, reserved, alive)


def _peak(curve: Curve, start: int, end: int, column: str) -> int:
    """Return the most of a column in [start, end), with what it starts with; 0 where none is known."""
    sizes = getattr(curve, column)
    return int(sizes[curve.held_places(sizes, start, end)].max(initial=0))


def _largest_by_name(values_by_name: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the largest value of each name that has any."""
    largest: dict[str, int] = {}
    for name, value in values_by_name:
        if value > 0:
            largest[name] = max(value, largest.get(name, 0))
    return largest
