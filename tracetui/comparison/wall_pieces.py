"""Idle time and exposed communication of a run, cut at the walls of its steps: exact, nothing twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import IdleIntervals, ending_tasks
from tracetui.analysis.idle.explain import explain
from tracetui.analysis.idle.pieces import Cuts, cut_at_edges, edges_of
from tracetui.arrays import Bools, Int8s, Int32s, Int64s, searchsorted
from tracetui.comparison.walls import StepWalls


@dataclass(frozen=True, eq=False)
class WallIdle:
    """The idle time of all walls as columns of equal length; of each wall they sum to it."""

    wall: Int64s  #: place of the wall
    preparing: Bools  #: before the first compute or communication task of the step
    ns: Int64s
    interval: Int64s  #: number of the idle interval that it is a piece of
    ending_task: Int64s  #: slice row of the task that ends that
    cause: Int8s  #: Cause
    stack: Int32s  #: string of the call stack it is charged to, -1 where none
    frame: Int64s  #: row of the python_function slice, -1 where none
    backward: Bools


@dataclass(frozen=True, eq=False)
class WallExposed:
    """The exposed communication of all walls as columns of equal length."""

    wall: Int64s
    ns: Int64s
    cause: Int8s  #: CommunicationCause


def idle_pieces(analysis: Analysis, walls: StepWalls) -> WallIdle:
    """Return the idle time of the walls, that before the first work of a device too, with its causes."""
    sources = [analysis.causes]
    early = _idle_before_first_task(analysis, walls)
    if len(early):
        sources.append(explain(early, analysis.launch_chains, analysis.host_threads))
    parts = []
    before = 0
    for causes in sources:
        device = causes.intervals.device[causes.interval]
        place, wall, start, end = cut_at_walls(walls, device, causes.start, causes.end)
        interval = causes.interval[place]
        parts.append(
            (
                wall,
                start < walls.prepared[wall],
                end - start,
                before + interval,
                causes.intervals.task[interval],
                causes.cause[place],
                causes.stack[place],
                causes.frame[place],
                causes.backward[place],
            )
        )
        before += len(causes.intervals)
    return WallIdle(*(np.concatenate(columns) for columns in zip(*parts)))


def exposed_pieces(analysis: Analysis, walls: StepWalls) -> WallExposed:
    """Return the exposed communication of the walls."""
    exposed = analysis.communication.exposed
    place, wall, start, end = cut_at_walls(walls, exposed.device, exposed.start, exposed.end)
    return WallExposed(wall, end - start, exposed.cause[place])


def cut_at_walls(
    walls: StepWalls, device: Int32s, start: Int64s, end: Int64s
) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Cut stretches of devices at the walls and first tasks: return place of the stretch, wall, start, end.

    What is in no wall is left out.
    """
    parts = [(np.empty(0, np.int64),) * 4]
    for index in np.unique(walls.device).tolist():
        walls_of_device = walls.of_device(index)
        (places,) = np.nonzero(device == index)
        edges = edges_of(
            walls.start[walls_of_device], walls.prepared[walls_of_device], walls.end[walls_of_device]
        )
        cuts = cut_at_edges(start[places], end[places], edges)
        wall = searchsorted(walls.start[walls_of_device], cuts.start, "right") - 1
        inside = (wall >= 0) & (cuts.start < walls.end[walls_of_device][wall])
        if not inside.all():
            cuts, wall = Cuts(*(column[inside] for column in cuts)), wall[inside]
        parts.append((places[cuts.place], walls_of_device.start + wall, cuts.start, cuts.end))
    place, wall, begin, stop = map(np.concatenate, zip(*parts))
    return place, wall, begin, stop


def _idle_before_first_task(analysis: Analysis, walls: StepWalls) -> IdleIntervals:
    """Return the idle intervals of walls before the first compute or communication task of devices."""
    parts = []
    for index in np.unique(walls.device).tolist():
        activity = analysis.devices[index]
        begin = int(walls.start[walls.of_device(index)].min())
        if begin < activity.start_ns:
            idle = activity.copies.complement(begin, activity.start_ns)
            task = ending_tasks(analysis.trace, activity, analysis.launch_chains, idle.ends)
            parts.append((np.full(len(idle), index, np.int32), idle.starts, idle.ends, task))
    empty = np.empty(0, np.int64)
    device, starts, ends, task = (
        np.concatenate(columns) for columns in zip((np.empty(0, np.int32), empty, empty, empty), *parts)
    )
    nowhere = np.full(len(starts), -1, np.int64)
    return IdleIntervals(device, starts, ends, nowhere, nowhere.astype(np.int32), task)
