"""What a run held of its devices' memory: the peaks of its components, and what was alive at the peak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.model import HOST, NEVER, WHOLE, Curve
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
        """What tensors held on a device; 0 where nothing tells."""
        told = (self.allocated[name] for name in (*WHOLE, *self.allocated) if name in self.allocated)
        return next(told, 0)


def memory_use(memory: Memory | None, choice: StepChoice) -> MemoryUse | None:
    """What was held in the chosen step, window or all of a run; None where nothing was recorded of it."""
    if memory is None:
        return None
    start, end = choice.window or (None, None)
    part = memory.part(choice.step, start, end)
    first, last = (-1 if start is None else start), (NEVER if end is None else end)
    for step in memory.recorded.steps if choice.step is not None else ():
        if step.number == choice.step:
            first, last = step.start, step.end
    curves = [curve for curve in memory.curves if curve.device != HOST] or list(memory.curves)
    alive: dict[Holder, tuple[int, int]] = {}
    for each in part.lines:
        if each.bytes_at_peak:
            alive[Holder(each.operator, each.frame)] = (each.bytes_at_peak, each.blocks_at_peak)
    return MemoryUse(
        allocated=_most((curve.component, _peak(curve, first, last, "allocated")) for curve in curves),
        reserved=_most((curve.component, _peak(curve, first, last, "reserved")) for curve in curves),
        alive=alive,
    )


def _peak(curve: Curve, start: int, end: int, column: str) -> int:
    """The most of a column in [start, end); 0 where none is known there."""
    values = getattr(curve, column)[(curve.time >= start) & (curve.time < end)]
    return int(values.max(initial=0))


def _most(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The most of each name that has any."""
    most: dict[str, int] = {}
    for name, value in found:
        if value > 0:
            most[name] = max(value, most.get(name, 0))
    return most
