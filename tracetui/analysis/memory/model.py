"""What is known of the memory of devices, whatever told it: curves, blocks, steps. Plain columns.

Times are epoch ns; those of a snapshot that has none are the numbers of its events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.memory.static import StaticMemory
from tracetui.arrays import EMPTY, Bools, Columns, Int32s, Int64s
from tracetui.trace.stack import Frame

NEVER: int = np.iinfo(np.int64).max  #: when a block is released that never is

#: What a component of PyTorch's allocator on a GPU, and in a snapshot, is called.
PYTORCH = "PyTorch"
#: Whose curve is that of all that tensors hold, first choice first.
WHOLE = ("PTA+GE", "MindSpore+GE", "PTA", "MindSpore", PYTORCH)
#: The component of what graphs and operators compiled by the graph engine allocate.
GRAPH_ENGINE = "GE"
#: The components of what the framework's own allocator holds.
ADAPTER, MINDSPORE = "PTA", "MindSpore"
HOST = "CPU"  #: the label of memory that is of no device


class MemoryStep(NamedTuple):
    """A step of the host; in a snapshot a repetition of what is allocated."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Curve:
    """The memory of one component of a device over time; columns of equal length, bytes, -1 where unknown."""

    device: str
    component: str
    time: Int64s  #: sorted
    allocated: Int64s
    reserved: Int64s
    active: Int64s
    before: int = -1  #: bytes allocated before the first sample, where that says by how much it changed them

    @cached_property
    def known_places(self) -> Int64s:
        """The places where `allocated` is known."""
        return np.flatnonzero(self.allocated >= 0)

    def peak(self, start: int, end: int) -> int:
        """Return the first place of the most allocated in [start, end), -1 where none is known there.

        It is before `start` where most was held from then on.
        """
        held = self.held_places(self.allocated, start, end)
        return int(held[np.argmax(self.allocated[held])]) if len(held) else -1

    def held_places(self, sizes: Int64s, start: int, end: int) -> Int64s:
        """Return the places of a column in [start, end), after the last before where none is at `start`."""
        known = np.flatnonzero(sizes >= 0)
        first, after, stop = np.searchsorted(self.time[known], [start, start + 1, end]).tolist()
        return known[max(min(first, after - 1), 0) : stop if start < end else 0]

    def allocated_at(self, time: int) -> int:
        """Return the bytes allocated at a time, by the last sample until then; `before` without one."""
        place = int(np.searchsorted(self.time[self.known_places], time, "right")) - 1
        return int(self.allocated[self.known_places[place]]) if place >= 0 else self.before

    def allocated_after(self, time: int) -> int:
        """Return what the first sample at or after a time says; -1 without one."""
        place = int(np.searchsorted(self.time[self.known_places], time, "left"))
        return int(self.allocated[self.known_places[place]]) if place < len(self.known_places) else -1

    def reserved_at(self, time: int) -> int:
        """Return the bytes reserved at a time, by the last sample until then; -1 where none is known."""
        samples = np.flatnonzero(self.reserved >= 0)
        place = int(np.searchsorted(self.time[samples], time, "right")) - 1
        return int(self.reserved[samples[place]]) if place >= 0 else -1


@dataclass(frozen=True, eq=False)
class Blocks(Columns):
    """The blocks allocated while the profiler looked, by time; columns of equal length."""

    start: Int64s  #: when allocated
    release: Int64s  #: when freed by its tensor, NEVER where it was not
    bytes: Int64s
    device: Int32s  #: place in MemoryRecording.devices
    component: Int32s  #: place in MemoryRecording.components
    operator: Int32s  #: place in MemoryRecording.operators, of its name
    row: Int64s  #: the slice of that operator, -1 where it is not in the trace
    line: Int64s  #: place in MemoryRecording.lines, -1 without a stack
    step: Int64s  #: place in MemoryRecording.steps of the one it was allocated in, -1 of none

    @property
    def alive(self) -> Bools:
        """Which are never released."""
        alive: Bools = self.release == NEVER
        return alive


def no_blocks() -> Blocks:
    """Return a table of no blocks."""
    small = np.empty(0, np.int32)
    return Blocks(EMPTY, EMPTY, EMPTY, small, small, small, EMPTY, EMPTY, EMPTY)


@dataclass(frozen=True, eq=False)
class MemoryRecording:
    """All that was recorded of the memory of a run."""

    curves: tuple[Curve, ...]
    blocks: Blocks
    devices: tuple[str, ...]
    components: tuple[str, ...]
    operators: tuple[str, ...]  #: as written by the producer: never print them unescaped
    lines: tuple[Frame, ...]
    steps: tuple[MemoryStep, ...]  #: by start
    problems: tuple[str, ...]  #: sentences: what could not be read
    timed: bool = True  #: False: times are the numbers of events
    graphs: tuple[StaticMemory, ...] = ()  #: what graphs are given before they run
    #: those of the host, where a device has blocks: `blocks` are then those of devices alone
    host_blocks: Blocks = field(default_factory=no_blocks)
    stepless: frozenset[str] = frozenset()  #: devices of which only processes tell that have other steps


def steps_numbered(steps: tuple[MemoryStep, ...], number: int) -> list[MemoryStep]:
    """Return the steps of a number; none where memory is not told of it."""
    return [step for step in steps if step.number == number]


def steps_at(steps: tuple[MemoryStep, ...], times: Int64s) -> Int64s:
    """Return the place of the last step to start at or before each time that holds it, -1 for none."""
    if not steps:
        return np.full(len(times), -1, np.int64)
    starts, ends = (np.array(column, np.int64) for column in list(zip(*steps))[1:])
    place = np.searchsorted(starts, times, "right") - 1
    return np.where((place >= 0) & (times < ends[place]), place, -1)
