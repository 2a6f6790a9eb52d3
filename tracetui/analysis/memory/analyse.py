"""Everything about the memory of a run, each part made when it is first asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.memory.growth import GrowingGroup, StepGrowth, growing_groups, growth_of_steps
from tracetui.analysis.memory.instants import recorded_in_instants
from tracetui.analysis.memory.model import HOST, NEVER, Blocks, Curve, MemoryRecording, steps_numbered
from tracetui.analysis.memory.neighbours import Neighbours, neighbours_of
from tracetui.analysis.memory.peak import (
    LineMemory,
    Peak,
    SizeMemory,
    alive_at,
    find_peak,
    lines_of_blocks,
    sizes_of_blocks,
    whole_curve,
)
from tracetui.analysis.memory.snapshot import recorded_in_snapshot
from tracetui.analysis.memory.tables import recorded_in_tables
from tracetui.analysis.memory.tracker import recorded_by_tracker
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Trace


@dataclass(frozen=True)
class HostMemory:
    """The blocks of the host that a stretch of time allocated: in no sum of a device."""

    lines: tuple[LineMemory, ...]  #: nothing of them is at the peak, which is of a device
    alive_bytes: int  #: never released
    alive_blocks: int


@dataclass(frozen=True, eq=False)
class MemoryPart:
    """The memory of a stretch of time: its peak, and the blocks allocated in it or alive at its peak."""

    peak: Peak | None
    lines: tuple[LineMemory, ...]
    sizes: tuple[SizeMemory, ...]
    blocks: Blocks  #: allocated in it, or alive at its peak; by time
    places: Int64s  #: of `blocks`, in those of the MemoryRecording
    at_peak: Bools  #: of `blocks`
    allocated: Bools  #: of `blocks`: allocated in it
    host: HostMemory | None  #: None where that is not told apart from the devices', or there is none

    @property
    def alive_at_end(self) -> tuple[int, int]:
        """Bytes and number of the blocks allocated in it that are never released."""
        alive = self.blocks.alive & self.allocated
        return int(self.blocks.bytes[alive].sum()), int(np.count_nonzero(alive))


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory of a run."""

    recorded: MemoryRecording
    launch_chains: LaunchChains | None = None  #: of the trace it was joined to

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All curves by device and component; the curve of all that tensors hold comes first."""
        whole = {id(whole_curve(self.recorded.curves, device)) for device in self.recorded.devices}
        return tuple(sorted(self.recorded.curves, key=lambda curve: id(curve) not in whole))

    @cached_property
    def all(self) -> MemoryPart:
        """The memory of all of the recording."""
        return self.between(-1, NEVER)

    def part(self, step: int | None, start: int | None, end: int | None) -> MemoryPart:
        """Return the memory of a step, by its number, within [start, end) in ns; None does not limit it.

        A step that is none of `recorded.steps` holds nothing. Devices of other processes are in no step.
        """
        first, last = -1 if start is None else start, NEVER if end is None else end
        if step is not None:
            steps = steps_numbered(self.recorded.steps, step)
            if not steps:
                return self.between(0, 0)
            first = max([first, *(candidate.start for candidate in steps)])
            last = min([last, *(candidate.end for candidate in steps)])
            return self.between(first, last, self.recorded.stepless)
        return self.all if (first, last) == (-1, NEVER) else self.between(first, last)

    def between(self, start: int, end: int, left_out: Collection[str] = ()) -> MemoryPart:
        """Return the memory of [start, end), but for that of the devices `left_out`."""
        recorded = self.recorded
        blocks = recorded.blocks
        devices = [place for place, device in enumerate(recorded.devices) if device not in left_out]
        peak = find_peak(recorded, devices, start, end)
        curve = None if peak is None else whole_curve(recorded.curves, peak.device)
        alive = np.zeros(len(blocks), np.bool_)
        if peak is not None and curve is not None:
            alive = alive_at(recorded, curve, peak.at)
        first = start if recorded.timed else max(start, 1)  # 0 is that of what was there before all events
        allocated = (blocks.start >= first) & (blocks.start < end) & np.isin(blocks.device, devices)
        selected = allocated | alive
        if not selected.all():
            blocks, alive, allocated = blocks.at(selected), alive[selected], allocated[selected]
        return MemoryPart(
            peak=peak,
            lines=lines_of_blocks(recorded, blocks, alive, allocated),
            sizes=sizes_of_blocks(blocks, alive, allocated),
            blocks=blocks,
            places=np.flatnonzero(selected),
            at_peak=alive,
            allocated=allocated,
            host=None if HOST in left_out else self._host(start, end),
        )

    def _host(self, start: int, end: int) -> HostMemory | None:
        """Return the memory of the host that [start, end) allocated; None where there is none."""
        blocks = self.recorded.host_blocks
        blocks = blocks.at((blocks.start >= start) & (blocks.start < end))
        if not len(blocks):
            return None
        all_blocks = np.ones(len(blocks), np.bool_)
        lines = lines_of_blocks(self.recorded, blocks, ~all_blocks, all_blocks)
        return HostMemory(lines, int(blocks.bytes[blocks.alive].sum()), int(np.count_nonzero(blocks.alive)))

    @cached_property
    def growth(self) -> tuple[StepGrowth, ...]:
        """How much more the devices hold from step to step."""
        return growth_of_steps(self.recorded)

    @cached_property
    def growing(self) -> tuple[GrowingGroup, ...]:
        """The groups of blocks that steps leave behind, the fastest growing first."""
        return growing_groups(self.recorded)

    @cached_property
    def neighbours(self) -> tuple[Neighbours, ...]:
        """What runs on the device for the example of each of `growing`, and what before and after it."""
        blocks = self.recorded.blocks
        if self.launch_chains is None:
            return (Neighbours(),) * len(self.growing)
        places = [group.example for group in self.growing]
        return neighbours_of(self.launch_chains, blocks.row[places], blocks.start[places])


def memory_of(trace: Trace, chains: LaunchChains, rules: FrameRules) -> Memory | None:
    """Return what is known of the memory of a trace's run; None where nothing was recorded of it."""
    recorded = (
        recorded_in_tables(trace, chains, rules)
        or recorded_in_instants(trace, chains, rules)
        or recorded_by_tracker(Path(trace.path), rules)
    )
    return None if recorded is None else Memory(recorded, chains)


def memory_of_snapshot(path: Path, rules: FrameRules) -> Memory:
    """Return what a snapshot of PyTorch's allocator tells; raises Refusal for anything else."""
    return Memory(recorded_in_snapshot(path, rules))
