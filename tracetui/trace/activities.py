"""What each device slice does, from its task type, its name or its category.

Every distinct text is looked up once, whatever the number of slices.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int8s, Int32s, Int64s
from tracetui.reader.events import EventTable
from tracetui.trace.dialect import (
    GPU_ACTIVITIES,
    activity_of_name,
    activity_of_type,
    is_nccl,
    says_nothing,
    type_of_name,
)
from tracetui.trace.meanings import UNDECIDED, meanings
from tracetui.trace.model import Activity, Family, Layer
from tracetui.trace.tracks import Unplaced

#: What all slices of a family do.
_FIXED = {
    Family.GROUP: Activity.COMMUNICATION,
    Family.PLANE: Activity.COMMUNICATION_TASK,
    Family.ANNOTATIONS: Activity.OTHER,
}


def classify(table: EventTable, tracks: list[Unplaced], track_of_slice: Int32s) -> Int8s:
    """The Activity of each slice; int8[n], NONE on the host.

    A hardware task with the connection id of a group's collective on the same device is a part of it. Where
    no task of the trace has a type, every task that its name does not tell otherwise counts as a kernel.
    """
    of_track = [_FIXED.get(track.family, Activity.NONE) for track in tracks]
    activity: Int8s = np.array([*of_track, Activity.NONE], np.int8)[track_of_slice]
    is_stream = np.array([t.family == Family.TASKS and t.layer == Layer.DEVICE for t in tracks] + [False])
    tasks = np.flatnonzero(is_stream[track_of_slice])
    activity[tasks] = _task_activities(table, tasks)
    _mark_parts_of_collectives(table, tracks, track_of_slice, tasks, activity)
    return activity


def unknown_task_types(table: EventTable) -> list[str]:
    """The task types of a trace that no row of the table fits, sorted."""
    used = np.unique(table.slices.task_type)
    texts = (table.strings[index] for index in used[used >= 0].tolist())
    return sorted(text for text in texts if activity_of_type(text) is None)


def _task_activities(table: EventTable, tasks: Int64s) -> Int8s:
    slices = table.slices
    strings = table.strings
    name, category, task_type = slices.name[tasks], slices.category[tasks], slices.task_type[tasks]
    by_category = meanings(strings, category, lambda text: GPU_ACTIVITIES.get(text.lower()))
    on_gpu = by_category != UNDECIDED
    nccl = meanings(strings, name, lambda text: Activity.COMMUNICATION if is_nccl(text) else None)
    by_category = np.where((by_category == Activity.AICORE) & (nccl != UNDECIDED), nccl, by_category)
    by_name = meanings(strings, name, activity_of_name)
    by_type = meanings(strings, task_type, activity_of_type)
    if not on_gpu.any() and (task_type < 0).all():
        by_type[:] = Activity.AICORE
        untold = np.ones(len(tasks), np.bool_)
    else:
        untold = meanings(strings, task_type, lambda text: int(says_nothing(text))) == 1
    by_own_name = meanings(strings, name, lambda text: None if says_nothing(text) else type_of_name(text))
    by_type = np.where(untold & (by_own_name != UNDECIDED), by_own_name, by_type)
    on_npu = np.where(by_name != UNDECIDED, by_name, by_type)
    activity = np.where(on_gpu, by_category, on_npu)
    activity[activity == UNDECIDED] = Activity.OTHER
    return activity.astype(np.int8)


def _mark_parts_of_collectives(
    table: EventTable, tracks: list[Unplaced], track_of_slice: Int32s, tasks: Int64s, activity: Int8s
) -> None:
    """Set COMMUNICATION_TASK on the hardware tasks of collectives, in place."""
    correlation = table.slices.correlation
    is_group = np.array([track.family == Family.GROUP for track in tracks] + [False])
    groups = np.flatnonzero(is_group[track_of_slice])
    rows = np.concatenate((groups, tasks))
    devices = {track.device: number for number, track in enumerate(tracks)}
    device = np.array([devices[track.device] for track in tracks] + [-1])[track_of_slice[rows]]
    distinct, connection = np.unique(correlation[rows], return_inverse=True)
    key = device * len(distinct) + connection.reshape(-1)
    known = correlation[rows] >= 0
    part = np.isin(key[len(groups) :], key[: len(groups)]) & known[len(groups) :]
    activity[tasks[part]] = Activity.COMMUNICATION_TASK
