"""What each device slice does, from its task type, its name or its category.

Every distinct text is looked up once, whatever the number of slices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from tracetui.arrays import Int8s, Int64s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.meanings import UNDECIDED, distinct_strings, meanings
from tracetui.trace.model import Activity, Family, Slices, Track

_SIEVE = 1 << 20  # a power of two

#: What all slices of a family do.
_FIXED = {
    Family.GROUP: Activity.COMMUNICATION,
    Family.PLANE: Activity.COMMUNICATION_TASK,
    Family.ANNOTATIONS: Activity.OTHER,
}
_COLLECTIVE = compile_any(KNOWN.collectives.kernels)


def classify(strings: list[str], slices: Slices, tracks: Iterable[Track]) -> None:
    """Set the Activity of each slice, NONE on the host.

    A hardware task with the connection id of a group's collective on the same device is a part of it. Where
    no task of the trace has a type, every task that its name does not tell otherwise counts as a kernel.
    """
    streams = []
    for track in tracks:
        rows = slice(track.rows.start, track.rows.stop)
        slices.activity[rows] = _FIXED.get(track.family, Activity.NONE)
        if track.family == Family.TASKS:
            streams.append(track)
    if streams:
        tasks = np.concatenate([np.arange(track.rows.start, track.rows.stop) for track in streams])
        slices.activity[tasks] = _task_activities(strings, slices, tasks)
        for track in streams:
            if track.process in KNOWN.processes.ai_cpu:
                slices.activity[track.rows.start : track.rows.stop] = Activity.AICPU
        _mark_parts_of_collectives(slices, tracks, streams)
        if (slices.correlation[tasks] < 0).all():
            _mark_tasks_of_planes(slices, tracks, streams)


def _mark_tasks_of_planes(slices: Slices, tracks: Iterable[Track], streams: list[Track]) -> None:
    """Set COMMUNICATION_TASK on the copies that planes show at the same time, in place.

    For producers that give no connection ids: on a plane and on its stream a task has the same start and end.
    """
    planes: defaultdict[str | None, set[tuple[int, int]]] = defaultdict(set)
    for track in tracks:
        if track.family == Family.PLANE:
            rows = slice(track.rows.start, track.rows.stop)
            planes[track.device].update(zip(slices.start[rows].tolist(), slices.dur[rows].tolist()))
    for track in streams if planes else ():
        copies = track.rows.start + np.flatnonzero(
            slices.activity[track.rows.start : track.rows.stop] == Activity.COPY
        )
        spans = zip(slices.start[copies].tolist(), slices.dur[copies].tolist())
        part = np.array([span in planes[track.device] for span in spans], np.bool_)
        slices.activity[copies[part]] = Activity.COMMUNICATION_TASK


def unknown_task_types(strings: list[str], slices: Slices) -> list[str]:
    """Return the types that no row of the table fits, of tasks that count as no work, sorted."""
    types = slices.task_type[slices.activity == Activity.OTHER]
    return sorted(text for text in distinct_strings(strings, types) if activity_of_type(text) is None)


def _task_activities(strings: list[str], slices: Slices, tasks: Int64s) -> Int8s:
    name, category, task_type = slices.name[tasks], slices.category[tasks], slices.task_type[tasks]
    by_category = meanings(strings, category, lambda text: KNOWN.categories.activities.get(text.lower()))
    on_gpu = by_category != UNDECIDED
    collective = meanings(strings, name, lambda text: int(is_collective_kernel(text))) == 1
    by_category[(by_category == Activity.COMPUTE) & collective] = Activity.COMMUNICATION
    by_name = meanings(strings, name, activity_of_name)
    by_type = meanings(strings, task_type, activity_of_type)
    is_typed_kernel = (by_category == Activity.COMPUTE) & (by_type != UNDECIDED)
    by_category[is_typed_kernel] = by_type[is_typed_kernel]
    if (task_type < 0).all():
        by_type[:] = Activity.COMPUTE
        is_open = np.ones(len(tasks), np.bool_)
    else:
        is_open = meanings(strings, task_type, lambda text: int(is_generic(text))) == 1
    by_own_name = meanings(strings, name, lambda text: None if is_generic(text) else type_of_name(text))
    by_type = np.where(is_open & (by_own_name != UNDECIDED), by_own_name, by_type)
    on_npu = np.where(by_name != UNDECIDED, by_name, by_type)
    activity = np.where(on_gpu, by_category, on_npu)
    activity[activity == UNDECIDED] = Activity.OTHER
    return activity.astype(np.int8)


def _mark_parts_of_collectives(slices: Slices, tracks: Iterable[Track], streams: list[Track]) -> None:
    """Set COMMUNICATION_TASK on the hardware tasks of collectives, in place."""
    of_groups: defaultdict[str | None, list[Int64s]] = defaultdict(list)
    for track in tracks:
        if track.family == Family.GROUP:
            of_groups[track.device].append(slices.correlation[track.rows.start : track.rows.stop])
    for device, columns in of_groups.items():
        correlations = np.concatenate(columns)
        connections = np.unique(correlations[correlations >= 0])
        sieve = np.zeros(_SIEVE, np.bool_)
        sieve[connections & (_SIEVE - 1)] = True
        for track in streams:
            if track.device == device:
                rows = slice(track.rows.start, track.rows.stop)
                ids = slices.correlation[rows]
                # Most tasks are no part of any: to look all of them up takes ten times as long.
                maybe = np.flatnonzero(sieve[ids & (_SIEVE - 1)])
                part = maybe[np.isin(ids[maybe], connections)]
                slices.activity[rows][part] = Activity.COMMUNICATION_TASK


def activity_of_type(task_type: str) -> Activity | None:
    """Return what a task of this `Task Type` does; None for a type that is not known."""
    key = _key(task_type)
    activity = KNOWN.tasks.types.get(key)
    return _by_beginning(key, KNOWN.tasks.type_beginnings) if activity is None else activity


def engine_of_type(task_type: str) -> str:
    """Return what a task of `Activity.AICPU` runs on: "AI CPU", "DSA"; of an unknown type the type itself.

    As written in the trace then: never print it unescaped.
    """
    key = _key(task_type)
    return next((engine for start, engine in KNOWN.tasks.engines if key.startswith(start)), task_type)


def is_generic(task_type: str) -> bool:
    """Return whether a `Task Type` is one that a producer gives to every task: it tells nothing."""
    return _key(task_type) in KNOWN.tasks.generic_types


def type_of_name(name: str) -> Activity | None:
    """Return what a task does whose name is a task type, as of one that is no known operator; else None."""
    return KNOWN.tasks.types.get(_key(name))


def activity_of_name(name: str) -> Activity | None:
    """Return what an Ascend task of this name does, where the name decides against the type; else None."""
    if name.endswith(KNOWN.collectives.kernel_endings):
        return Activity.COMMUNICATION_TASK
    return _by_beginning(name, KNOWN.tasks.name_beginnings)


def is_collective_kernel(name: str) -> bool:
    """Return whether a kernel, known as one by its category, is communication."""
    return _COLLECTIVE.match(name) is not None


def _key(text: str) -> str:
    return text.strip().upper().replace(" ", "_")


def _by_beginning(text: str, table: tuple[tuple[str, Activity], ...]) -> Activity | None:
    return next((activity for start, activity in table if text.startswith(start)), None)
