"""The steps that a run is compared by: the time of each on a device, and on the host that drives it.

A step's wall is [its host start, the host start of the next step), that of the last one ends with the work of
the device: the walls tile the time, and nothing counts twice. A trace without steps, or a window of time,
counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s
from tracetui.units import format_duration

#: A first step that is more than 1.5 times as long as the median of the others is left out.
_LONGER = Fraction(3, 2)


@dataclass(frozen=True)
class Choice:
    """Which part of a run is compared."""

    step: int | None = None  #: number of a ProfilerStep; None: all
    window: tuple[int, int] | None = None  #: [start, end), epoch ns, in place of steps


@dataclass(frozen=True, eq=False)
class Walls:
    """The steps on all devices as columns of equal length, by device, then start; disjoint on each."""

    device: Int64s  #: index into the devices of the analysis
    number: Int64s  #: of the ProfilerStep; -1 where it is none
    start: Int64s  #: ns
    first: Int64s  #: ns: the start of the first task launched in it, within it; its start where none is told
    end: Int64s  #: ns
    launched_from: Int64s  #: ns: what the host enqueues in [launched_from, launched_to) is of the step
    launched_to: Int64s
    notes: tuple[str, ...]  #: what was left out, and why: sentences without full stop

    def __len__(self) -> int:
        return len(self.start)

    def of_device(self, device: int) -> slice:
        """The places of a device's."""
        first, stop = np.searchsorted(self.device, [device, device + 1]).tolist()
        return slice(first, stop)

    @property
    def host(self) -> slice:
        """The places of the first device's: the steps of the host."""
        return self.of_device(int(self.device[0])) if len(self) else slice(0)

    @property
    def host_steps(self) -> int:
        """How many steps of the host there are."""
        return len(self.start[self.host])

    def step_at(self, times: Int64s) -> Int64s:
        """The step of the host in which each time of the host is, counted from 0; -1 outside of all."""
        starts, ends = self.launched_from[self.host], self.launched_to[self.host]
        if not len(starts):
            return np.full(len(times), -1, np.int64)
        place = np.searchsorted(starts, times, "right") - 1
        return np.where((place >= 0) & (times < ends[place]), place, -1)


class _Wall(NamedTuple):
    """A step on a device, by the names of `Walls`."""

    number: int
    start: int
    first: int
    end: int
    launched_from: int
    launched_to: int


def find_walls(analysis: Analysis, choice: Choice) -> Walls:
    """Return the chosen steps of all devices that compute or communicate; empty where none does."""
    rows: list[tuple[int, ...]] = []
    notes: list[str] = []
    for index, activity in enumerate(analysis.devices):
        if activity.window_ns <= 0:
            continue
        steps = [analysis.steps[place] for place in analysis.steps_by_device.get(activity.device, ())]
        if choice.window is not None:
            start = max(choice.window[0], analysis.trace.start_ns)
            end = min(choice.window[1], activity.end_ns)
            found = [_Wall(-1, start, start, end, start, end)] if start < end else []
        elif steps:
            found = _tiled(steps, activity.end_ns)
            if choice.step is not None:
                found = [wall for wall in found if wall.number == choice.step]
            else:
                found = _without_warm_up(found, notes)
        else:
            start, trace = activity.start_ns, analysis.trace
            found = [_Wall(-1, start, start, activity.end_ns, trace.start_ns, trace.end_ns + 1)]
        rows += [(index, *wall) for wall in found]
    device, number, start, first, end, launched_from, launched_to = np.array(rows, np.int64).reshape(-1, 7).T
    said = tuple(dict.fromkeys(notes))
    return Walls(device, number, start, first, end, launched_from, launched_to, said)


def _tiled(steps: Sequence[Step], done: int) -> list[_Wall]:
    """Number, wall and launches of the steps of a device that is done with its work at `done`.

    Where a step is not followed by the next number, as in a schedule that repeats, its wall ends as the last
    one's: with its own device window. Steps after the work of the device are none of its.
    """
    ordered = sorted(steps, key=lambda step: (step.host_start_ns, step.number))
    found = []
    for step, after in zip(ordered, [*ordered[1:], None]):
        own_end, launched = min(step.end_ns, done), step.host_end_ns
        if after is not None and after.number == step.number + 1:
            end = min(after.host_start_ns, done)
            launched = after.host_start_ns
        else:
            end = own_end if after is None else min(own_end, after.host_start_ns)
        start = step.host_start_ns
        if start < end:
            first = min(max(step.start_ns, start), end)
            found.append(_Wall(step.number, start, first, end, start, max(launched, start)))
    return found


def _without_warm_up(walls: list[_Wall], notes: list[str]) -> list[_Wall]:
    """The walls without a first one that is much longer than the others."""
    if len(walls) < 2:
        return walls
    lengths = [wall.end - wall.start for wall in walls]
    usual = int(median(lengths[1:]))
    if lengths[0] > _LONGER * usual:
        took, others = format_duration(lengths[0]), format_duration(usual)
        notes.append(f"its first step is left out: {took} long, the others {others}")
        walls, lengths = walls[1:], lengths[1:]
    usual = int(median(lengths[:-1] or lengths))
    if lengths[-1] > _LONGER * usual:
        took, others = format_duration(lengths[-1]), format_duration(usual)
        notes.append(f"its last step is {took} long, the others {others}: it lasts until the device is done")
    return walls
