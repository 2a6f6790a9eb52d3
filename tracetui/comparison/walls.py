"""The steps that a run is compared by: the time of each on a device, and on the host that drives it.

A step's wall is [its host start, the host start of the next step), that of the last one ends with the work of
the device: the walls tile the time, and nothing counts twice. A trace without steps, or a window of time,
counts as one.

A device may lag behind the host, so that walls hold the work of earlier steps. Its own steps tile its time as
well: from the first task launched in a step to that launched in the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s, searchsorted
from tracetui.language import Value, state
from tracetui.units import format_duration

#: A step is an outlier beyond so many median absolute deviations of the median, and such a share of that.
_DEVIATIONS, _SHARE = Fraction(7, 2), Fraction(1, 20)
#: The first one is left out sooner: where it is longer by so many of the others', or is 1.5 times as long.
_FIRST_DEVIATIONS, _LONGER = 2, Fraction(3, 2)
_LEAST_KEPT = 3  #: fewer tell nothing, so that only a first step is left out of so many
_LEAST_RECURRING = 3  #: outlier steps at one distance, which then are none
_MOST_NAMED = 5  #: of the steps that are left out
#: What a note on those adds where a trace is read.
KEEPS_ALL = "{note} (--all-steps keeps all)"


@dataclass(frozen=True)
class StepChoice:
    """Which part of a run is compared."""

    step: int | None = None  #: number of a ProfilerStep; None: all
    window: tuple[int, int] | None = None  #: [start, end), epoch ns, in place of steps
    all_steps: bool = False  #: outliers too, and steps that cannot be believed


@dataclass(frozen=True, eq=False)
class StepWalls:
    """The steps on all devices as columns of equal length, by device, then start; disjoint on each."""

    device: Int64s  #: index into the devices of the analysis
    number: Int64s  #: of the ProfilerStep; -1 where it is none
    start: Int64s  #: ns
    prepared: Int64s  #: ns: when preparing ends, as in the table of steps; else its start
    end: Int64s  #: ns
    launched_from: Int64s  #: ns: what the host enqueues in [launched_from, launched_to) is of the step
    launched_to: Int64s
    device_start: Int64s  #: ns: the step of the device
    device_end: Int64s
    notes: tuple[str, ...]  #: what was left out, and why: sentences without full stop
    left_out: tuple[int, ...] = ()  #: numbers of the steps that are outliers, or cannot be believed
    outlier_ns: int = 0  #: how long outliers after the first step are in the mean; 0 where there are none

    def __len__(self) -> int:
        return len(self.start)

    def of_device(self, device: int) -> slice:
        """Return the places of a device's steps."""
        first, stop = np.searchsorted(self.device, [device, device + 1]).tolist()
        return slice(first, stop)

    @property
    def host_places(self) -> slice:
        """The places of the first device's: the steps of the host."""
        return self.of_device(int(self.device[0])) if len(self) else slice(0)

    @property
    def host_steps(self) -> int:
        """How many steps of the host there are."""
        return len(self.start[self.host_places])

    @property
    def of_devices(self) -> StepWalls:
        """The steps of the devices in place of walls; nothing is before their first task."""
        return replace(self, start=self.device_start, prepared=self.device_start, end=self.device_end)

    def step_at(self, times: Int64s) -> Int64s:
        """Return the step of the host that each time of the host is in, counted from 0; -1 outside of all."""
        starts, ends = self.launched_from[self.host_places], self.launched_to[self.host_places]
        if not len(starts):
            return np.full(len(times), -1, np.int64)
        place = searchsorted(starts, times, "right") - 1
        return np.where((place >= 0) & (times < ends[place]), place, -1)


class _Wall(NamedTuple):
    """A step on a device, by the names of `StepWalls`."""

    number: int
    start: int
    prepared: int
    end: int
    launched_from: int
    launched_to: int
    device_start: int
    device_end: int

    @property
    def wall_ns(self) -> int:
        return self.end - self.start

    @property
    def device_ns(self) -> int:
        return self.device_end - self.device_start


def find_walls(analysis: Analysis, choice: StepChoice) -> StepWalls:
    """Return the chosen steps of all devices that compute or communicate; empty where none does."""
    walls_by_device: list[tuple[int, list[_Wall]]] = []
    for index, activity in enumerate(analysis.devices):
        if activity.window_ns <= 0:
            continue
        steps = [analysis.steps[place] for place in analysis.steps_by_device.get(activity.device, ())]
        if choice.window is not None:
            start = max(choice.window[0], analysis.trace.start_ns)
            end = min(choice.window[1], activity.end_ns)
            wall = _Wall(-1, start, start, end, start, end, start, end)
            walls_by_device.append((index, [wall] if start < end else []))
        elif steps:
            walls_by_device.append((index, _tile_walls(steps, activity.end_ns)))
        else:
            start, end, trace = activity.start_ns, activity.end_ns, analysis.trace
            launched = trace.start_ns, trace.end_ns + 1
            walls_by_device.append((index, [_Wall(-1, start, start, end, *launched, start, end)]))
    notes: list[str] = []
    left_out: dict[int, int] = {}  # numbers of steps, by when they start on the host: numbers may repeat
    doubted: dict[int, int] = {}  # those of them that cannot be believed
    by_all = choice.step is None and choice.window is None
    if by_all and not choice.all_steps:
        doubted = _doubted(analysis, walls_by_device)
        believed = [[wall for wall in walls if wall.start not in doubted] for _, walls in walls_by_device]
        left_out = {wall.start: wall.number for walls in believed for wall in _outliers(walls)}
        left_out.update(doubted)
        if doubted:
            notes.append(_not_believed(sorted(set(doubted.values()))))
        believed_walls = [wall for walls in believed for wall in walls]
        notes += _left_out_note(believed_walls, left_out.keys() - doubted.keys())
    outliers = [
        wall.wall_ns
        for _, walls in walls_by_device
        for wall in walls[1:]
        if wall.start in left_out.keys() - doubted.keys()
    ]
    rows = []
    for index, walls in walls_by_device:
        if choice.step is not None:
            walls = [wall for wall in walls if wall.number == choice.step]
        used = [wall for wall in walls if wall.start not in left_out]
        if by_all:
            notes += _last_wall_note(used)
        rows += [(index, *wall) for wall in used]
    device, *columns = np.array(rows, np.int64).reshape(-1, 1 + len(_Wall._fields)).T
    columns_by_name = dict(zip(_Wall._fields, columns))
    return StepWalls(
        device,
        **columns_by_name,
        notes=tuple(dict.fromkeys(notes)),
        left_out=tuple(sorted(left_out.values())),
        outlier_ns=sum(outliers) // max(len(outliers), 1),
    )


def counterpart_steps(here: StepWalls, there: StepWalls) -> Int64s:
    """Return int64[steps of the host]: which step of `there`, counted from 0, is the counterpart of each.

    That of its number; steps whose numbers `there` lacks have the others in turn, from there on. Where no
    number is on both sides, or one repeats, the first has the first. Both sides have steps.
    """
    numbers, numbers_there = (walls.number[walls.host_places] for walls in (here, there))
    shared, places, places_there = np.intersect1d(numbers, numbers_there, return_indices=True)
    turn = np.arange(len(numbers))
    repeat = any(len(np.unique(side)) < len(side) for side in (numbers, numbers_there))
    if not len(shared) or repeat:
        return turn % len(numbers_there)
    counterparts: Int64s = (turn + places_there[0] - places[0]) % len(numbers_there)
    counterparts[places] = places_there
    return counterparts


def _tile_walls(steps: Sequence[Step], end_of_work: int) -> list[_Wall]:
    """Return the walls of the steps of a device that is done with its work at `end_of_work`.

    Where a step is not followed by the next number, as in a schedule that repeats, its wall ends as the last
    one's: with its own device window. Steps after the work of the device are none of its.
    """
    ordered = sorted(steps, key=lambda step: (step.host_start_ns, step.number))
    walls_found = []
    reached_ns = 0  # steps of the device that did nothing in one of the host's have no length
    for step, next_step in zip(ordered, [*ordered[1:], None]):
        own_end, launched = min(step.end_ns, end_of_work), step.host_end_ns
        follows = next_step is not None and next_step.number == step.number + 1
        end = own_end
        if next_step is not None:
            end = min(next_step.host_start_ns, end_of_work if follows else own_end)
            launched = next_step.host_start_ns if follows else launched
        start = step.host_start_ns
        device_start = max(min(step.start_ns, end_of_work), reached_ns)
        device_end = min(next_step.start_ns, end_of_work) if next_step is not None and follows else own_end
        reached_ns = max(device_start, device_end)
        if start < end:
            prepared = min(max(step.prepared_ns, start), end)
            launches = start, max(launched, start)
            walls_found.append(_Wall(step.number, start, prepared, end, *launches, device_start, reached_ns))
    return walls_found


def _doubted(analysis: Analysis, walls_by_device: Sequence[tuple[int, list[_Wall]]]) -> dict[int, int]:
    """Return the numbers of the steps that cannot be believed, by when they start on the host.

    Empty where no step would be left.
    """
    starts = {analysis.steps[place].host_start_ns for place in analysis.health.doubted_steps}
    all_walls = [wall for _, walls in walls_by_device for wall in walls]
    if all(wall.start in starts for wall in all_walls):
        return {}
    return {wall.start: wall.number for wall in all_walls if wall.start in starts}


def _not_believed(numbers: Sequence[int]) -> str:
    named = (*map(str, numbers[:_MOST_NAMED]), *(["..."] if len(numbers) > _MOST_NAMED else []))
    template = "steps {steps} are not to be believed and left out: tracetui doctor tells why"
    if len(numbers) == 1:
        template = "step {steps} is not to be believed and left out: tracetui doctor tells why"
    return state(KEEPS_ALL, note=state(template, steps=named))


def _outliers(walls: Sequence[_Wall]) -> list[_Wall]:
    """Return the steps that are much longer or shorter than the others, the first more readily.

    Where a device lags behind, walls differ as the host happens to wait for it: a step is an outlier where
    its wall is, and the device in this step or in the one before differs in the same direction.
    """
    if len(walls) < 2:
        return []
    first, *rest = (wall.wall_ns for wall in walls)
    usual, deviation = _spread(rest)
    limit = max(_FIRST_DEVIATIONS * deviation, _SHARE * usual)
    if first > _LONGER * usual or (len(rest) >= _LEAST_KEPT and first > usual + limit):
        return [walls[0], *_outliers_among(walls[1:])]
    return _outliers_among(walls)


def _outliers_among(walls: Sequence[_Wall]) -> list[_Wall]:
    """Return the outliers of steps that are alike; none where too few would be left.

    Steps that recur are none: where an optimizer runs in each fourth step, that is longer.
    """
    if not walls:
        return []
    lengths = [wall.wall_ns for wall in walls]
    by_wall = _sides_of_usual(lengths)
    by_device = _sides_of_usual([wall.device_ns for wall in walls])
    before = [0, *by_device]
    outliers = [
        wall
        for wall, side, *of_device in zip(walls, by_wall, by_device, before)
        if side and side in of_device
    ]
    _, limit = _usual(lengths)
    return outliers if len(walls) - len(outliers) >= _LEAST_KEPT and not _recur(outliers, limit) else []


def _recur(walls: Sequence[_Wall], limit: Fraction) -> bool:
    """Return whether steps come again and again at one distance, within a limit (ns) of one length."""
    distances = {later.number - wall.number for wall, later in zip(walls, walls[1:])}
    lengths = [wall.wall_ns for wall in walls]
    return (
        len(walls) >= _LEAST_RECURRING
        and len(distances) == 1
        and distances != {1}
        and max(lengths) - min(lengths) <= limit
    )


def _sides_of_usual(lengths: Sequence[int]) -> list[int]:
    """Return 1 for each length beyond the others, -1 for one below them, 0 for the usual ones."""
    usual, limit = _usual(lengths)
    return [(length - usual > limit) - (usual - length > limit) for length in lengths]


def _usual(lengths: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the median of lengths, and how far from it one is unusual."""
    usual, deviation = _spread(lengths)
    return usual, max(_DEVIATIONS * deviation, _SHARE * usual)


def _spread(lengths: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the median of lengths, and the median distance from it."""
    usual = median(map(Fraction, lengths))
    return usual, median(abs(length - usual) for length in lengths)


def _left_out_note(walls: Sequence[_Wall], left_out: Set[int]) -> Iterator[str]:
    """Say which steps are left out, and how long on their slowest device. `left_out`: when they start."""
    used = [wall for wall in walls if wall.start not in left_out]
    ordered = sorted(walls, key=lambda wall: (wall.start, wall.wall_ns))
    outliers = list({wall.start: wall for wall in ordered if wall.start in left_out}.values())
    if outliers and used:
        usual_length = format_duration(int(median(wall.wall_ns for wall in used)))
        named: Value = tuple(
            state("step {number} ({time})", number=wall.number, time=format_duration(wall.wall_ns))
            for wall in outliers[:_MOST_NAMED]
        )
        if len(outliers) > _MOST_NAMED:
            named = state("{names} and {count} more", names=named, count=len(outliers) - _MOST_NAMED)
        template = "{steps} are left out: the others take {time}"
        if len(outliers) == 1:
            template = "{steps} is left out: the others take {time}"
        yield state(KEEPS_ALL, note=state(template, steps=named, time=usual_length))


def _last_wall_note(walls: Sequence[_Wall]) -> Iterator[str]:
    """Say that the last wall is much longer than the others: it lasts until the device is done."""
    lengths = [wall.wall_ns for wall in walls]
    if len(lengths) > 1:
        usual = int(median(lengths[:-1]))
        if lengths[-1] > _LONGER * usual:
            took, usual_words = format_duration(lengths[-1]), format_duration(usual)
            yield state(
                "its last step is {time} long, the others {others}: it lasts until the device is done",
                time=took,
                others=usual_words,
            )
