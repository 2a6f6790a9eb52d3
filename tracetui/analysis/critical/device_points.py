"""The points of the task queue and the devices: where tasks are dequeued and run.

Whether a task was held up by its launch or by the one before it on its stream is told by what came later,
each with the time that usually passes then: the median over the tasks for which there is no doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.points import Edge, Point, Points, points
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.streams import Streams
from tracetui.analysis.launch_chains import LaunchChains, milestones
from tracetui.analysis.search import distinct, group_by, name_meanings, pick, track_of_rows
from tracetui.arrays import EMPTY, Bools, Int64s, first_equal
from tracetui.trace.model import Activity

#: ns: an operator that does not wait returns so soon after it has enqueued a copy.
LONG_COPY = 100_000
#: ns: clocks are never so far apart.
FAR_TOO_EARLY = 1_000_000


class DeviceTasks(NamedTuple):
    """The work of all devices and the waits of their streams, by start; columns of equal length."""

    row: Int64s
    start: Int64s  #: ns on the clock of the host
    end: Int64s  #: ns on the clock of the host
    device: Int64s  #: index
    stream: Int64s  #: track
    waits: Bools  #: waits for an event: is no work
    enqueued: Int64s  #: ns; -1 where nothing is known of its chain
    dequeued: Int64s  #: ns
    launched: Int64s  #: ns
    enqueue: Int64s  #: row
    dequeue: Int64s  #: row
    launch: Int64s  #: row
    operator: Int64s  #: row


def device_work(
    chains: LaunchChains, activities: Sequence[DeviceActivity], streams: Streams
) -> tuple[DeviceTasks, Int64s]:
    """Return the tasks of all devices as the points need them, and by how many ns each clock is behind."""
    slices = chains.trace.slices
    rows, device = [EMPTY], [EMPTY]
    for index, activity in enumerate(activities):
        waiting = activity.tasks[slices.activity[activity.tasks] == Activity.WAIT]
        waiting = waiting[name_meanings(chains.trace, waiting, calls.stream_waits) == 1]
        rows += [activity.work, waiting]
        device.append(np.full(len(rows[-1]) + len(rows[-2]), index, np.int64))
    row, devices = np.concatenate(rows), np.concatenate(device)
    order = np.lexsort((row, slices.end[row], slices.start[row]))
    row, devices = row[order], devices[order]
    places = chains.index(row)
    marks = milestones(chains, places)
    stream = streams.of_tasks(row)
    launch_begin = np.where(
        chains.launch[places] >= 0, pick(slices.start, chains.launch[places]), marks.dequeued
    )
    clock_lag = _clock_lags(slices.start[row], launch_begin, devices, len(activities))
    tasks = DeviceTasks(
        row=row,
        start=slices.start[row] + clock_lag[devices],
        end=slices.end[row] + clock_lag[devices],
        device=devices,
        stream=np.where(stream >= 0, stream, track_of_rows(chains.trace, row)),
        waits=slices.activity[row] == Activity.WAIT,
        enqueued=marks.enqueued,
        dequeued=marks.dequeued,
        launched=marks.launched,
        enqueue=chains.enqueue[places],
        dequeue=chains.dequeue[places],
        launch=chains.launch[places],
        operator=chains.operator[places],
    )
    return tasks, clock_lag


def dequeue_points(
    chains: LaunchChains, tasks: DeviceTasks, enqueue_point: Int64s, enqueued: Int64s
) -> Points:
    """Return where each dequeue begins, by slice row.

    Args:
        chains: of the tasks.
        tasks: the tasks.
        enqueue_point: of each task: the place of the point where it was enqueued, -1 where there is none.
        enqueued: ns of it.
    """
    slices = chains.trace.slices
    queued = np.flatnonzero(tasks.dequeue >= 0)
    rows, first = np.unique(tasks.dequeue[queued], return_index=True)
    first = queued[first]
    dequeues = points(Point.DEQUEUE, slices.start[rows], slices.dur[rows], rows)
    previous, previous_end = _previous_on_line(
        track_of_rows(chains.trace, rows).astype(np.int64), dequeues.time, slices.end[rows]
    )
    enqueue_time, has_enqueue = enqueued[first], enqueue_point[first] >= 0
    idle = has_enqueue & (previous_end <= enqueue_time)
    usual_wake_ns = _usual(dequeues.time[idle] - enqueue_time[idle])
    busy = has_enqueue & (previous >= 0) & (enqueue_time + usual_wake_ns < previous_end)
    usual_turn_ns = _usual(dequeues.time[busy] - previous_end[busy])
    dequeues.cause[Edge.BEFORE] = previous
    dequeues.cause[Edge.LAUNCH] = np.where(has_enqueue, enqueue_point[first], -1)
    dequeues.lag[Edge.BEFORE] = pick(dequeues.lasts, previous) + usual_turn_ns
    dequeues.lag[Edge.LAUNCH] = usual_wake_ns
    dequeues.binding[:] = np.where(
        has_enqueue & ((previous < 0) | (enqueue_time + usual_wake_ns >= previous_end + usual_turn_ns)),
        Edge.LAUNCH,
        Edge.BEFORE,
    )
    return dequeues


def task_points(
    chains: LaunchChains,
    tasks: DeviceTasks,
    streams: Streams,
    launch_point: Int64s,
    launch_time: Int64s,
    arrival: Int64s,
) -> Points:
    """Return where each task begins (a wait: ends), in their order; causes BEFORE and WAIT are places in it.

    A collective that waited for a peer begins when that one has come; what it follows then is left open.

    Args:
        chains: of the tasks.
        tasks: the tasks.
        streams: their streams.
        launch_point: of each task: the place of the point where it was dequeued or launched, -1: none.
        launch_time: ns of it.
        arrival: of each task: ns, when the peer came that it waited for; -1: it waited for none.
    """
    begin = np.where(tasks.waits, tasks.end, np.where(arrival >= 0, arrival, tasks.start))
    starts = points(
        Point.TASK,
        begin,
        tasks.end - begin,
        tasks.row,
        device=tasks.device,
    )
    previous, previous_end = _previous_on_line(tasks.stream, tasks.start, tasks.end)
    waited_for, happened = _awaited_tasks(tasks, streams)
    is_held = (happened > tasks.start) | (arrival >= 0)
    launched = launch_point >= 0
    ready = tasks.launched + _usual_latency(chains, tasks, launched, previous_end)
    queued = launched & (previous >= 0) & (ready < previous_end)
    usual_turn_ns = _usual(tasks.start[queued] - previous_end[queued])
    last = np.where(
        launched & ((previous < 0) | (ready >= previous_end + usual_turn_ns)), Edge.LAUNCH, Edge.BEFORE
    )
    starts.binding[:] = np.where(is_held, Edge.WAIT, last)
    #: a wait for what is not known takes its time whenever it begins
    takes = np.where(tasks.waits & (waited_for < 0), tasks.end - tasks.start, 0)
    starts.cause[:] = previous, launch_point, waited_for
    starts.lag[Edge.BEFORE] = pick(starts.lasts, previous) + usual_turn_ns + takes
    starts.lag[Edge.LAUNCH] = ready - launch_time + takes
    starts.lag[Edge.WAIT] = pick(starts.lasts, waited_for)
    return starts


def peer_points(
    chains: LaunchChains, tasks: DeviceTasks, arrival: Int64s, first_task: int
) -> tuple[Points, Int64s]:
    """Return where late peers come to collectives, and the tasks that waited for them, as places.

    What a peer did is not in the trace. It follows from the last collective of the device that had ended by
    then, where this rank may have held it up, and else from nothing: it comes when it came.

    Args:
        chains: of the tasks.
        tasks: the tasks.
        arrival: of each task: ns, when the peer came that it waited for; -1: it waited for none.
        first_task: where the points of the tasks begin among all.
    """
    (waiting,) = np.nonzero(arrival >= 0)
    peers = points(Point.PEER, arrival[waiting], row=tasks.row[waiting])
    collective = chains.trace.slices.activity[tasks.row] == Activity.COMMUNICATION
    for device in distinct(tasks.device[waiting]).tolist():
        (collectives,) = np.nonzero(collective & (tasks.device == device))
        collectives = collectives[np.argsort(tasks.end[collectives], kind="stable")]
        (late,) = np.nonzero(tasks.device[waiting] == device)
        last_ended = np.searchsorted(tasks.end[collectives], arrival[waiting[late]], "right") - 1
        last_ended -= pick(collectives, last_ended) == waiting[late]
        previous = pick(collectives, last_ended)
        peers.cause[Edge.WAIT, late] = np.where(previous >= 0, previous + first_task, -1)
    peers.binding[:] = Edge.WAIT
    return peers, waiting


def synchronised(tasks: DeviceTasks, enqueuer: Int64s, begin: Int64s, end: Int64s, waiter: Int64s) -> Int64s:
    """Return the task that each synchronisation of the host waited for; places in the tasks, -1: none.

    That is the last task enqueued on a stream before the synchronisation ended, or else before it began, if
    it ended meanwhile; of several streams the one with the latest. Streams are those of the devices that its
    thread enqueues tasks for; of all where it enqueues none.

    Args:
        tasks: the tasks.
        enqueuer: the thread of each task, -1: not known.
        begin: ns of each synchronisation.
        end: ns of each.
        waiter: the thread of each.
    """
    last_tasks, latest = np.full(len(begin), -1, np.int64), np.full(len(begin), -1, np.int64)
    enqueued_tasks = np.flatnonzero(tasks.enqueued >= 0)
    devices = int(tasks.device.max(initial=0)) + 1
    launching = distinct(enqueuer * devices + tasks.device)
    of_no_device = ~np.isin(waiter, enqueuer)
    for _, places in group_by(tasks.stream[enqueued_tasks]):
        on_stream = enqueued_tasks[places]
        may_wait = of_no_device | np.isin(waiter * devices + tasks.device[on_stream[0]], launching)
        on_stream = on_stream[np.argsort(tasks.enqueued[on_stream], kind="stable")]
        enqueued = tasks.enqueued[on_stream]
        for deadline in (end, begin):
            task = pick(on_stream, np.searchsorted(enqueued, deadline) - 1)
            task_end = pick(tasks.end, task)
            is_later = may_wait & (task >= 0) & (task_end > np.maximum(begin, latest)) & (task_end <= end)
            last_tasks[is_later], latest[is_later] = task[is_later], task_end[is_later]
    return last_tasks


def _clock_lags(start: Int64s, launched: Int64s, device: Int64s, devices: int) -> Int64s:
    """Return by how many ns each device's tasks start before their launch begins: the 99th percentile.

    Profilers fit the clock of a device to that of the host: they have been seen 79 us apart. What starts far
    too early was launched by something else.
    """
    lags = np.zeros(devices, np.int64)
    for index in range(devices):
        early = (launched - start)[(device == index) & (launched >= 0)]
        early = np.sort(early[early < FAR_TOO_EARLY])[::-1]
        if len(early):
            lags[index] = max(0, int(early[len(early) // 100]))
    return lags


def blocking_copies(chains: LaunchChains, tasks: DeviceTasks, copying: Int64s) -> Int64s:
    """Return the operators that waited for the end of what they copied; rows.

    For traces that do not record the runtime's calls, where a wait shows only as an operator that takes long
    and does not return before its copy has ended.

    Args:
        chains: of the tasks.
        tasks: the tasks.
        copying: rows of the operators that copy to the device.
    """
    slices = chains.trace.slices
    (copies,) = np.nonzero((slices.activity[tasks.row] == Activity.COPY) & (tasks.enqueued >= 0))
    copies = copies[np.argsort(tasks.enqueued[copies], kind="stable")]
    start, end = slices.start[copying], slices.end[copying]
    copy = pick(copies, np.searchsorted(tasks.enqueued[copies], end) - 1)
    enqueued = pick(tasks.enqueued, copy)
    waits_for_copy = (copy >= 0) & (enqueued >= start) & (pick(tasks.end, copy) <= end)
    return copying[waits_for_copy & (end - enqueued >= LONG_COPY)]


def _previous_on_line(lines: Int64s, start: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    """Return what comes before each on its line (thread or stream), -1: nothing, and when that ends, ns."""
    order = np.lexsort((np.arange(len(lines)), start, lines))
    same_line = lines[order[1:]] == lines[order[:-1]]
    previous = np.full(len(lines), -1, np.int64)
    previous[order[1:][same_line]] = order[:-1][same_line]
    return previous, pick(end, previous)


def _awaited_tasks(tasks: DeviceTasks, streams: Streams) -> tuple[Int64s, Int64s]:
    """Return the work that each wait of a stream waited for (place, -1: none or unknown) and its end."""
    places = np.full(len(tasks.row), -1, np.int64)
    (waits,) = np.nonzero(tasks.waits)
    row = streams.waited_for(tasks.row[waits])
    places[waits] = np.where(row >= 0, first_equal(tasks.row, row), -1)
    return places, pick(tasks.end, places)


def _usual_latency(chains: LaunchChains, tasks: DeviceTasks, launched: Bools, previous_end: Int64s) -> Int64s:
    """Return the usual time from the end of the launch to the start, of tasks of each one's activity, ns.

    It is below 0 for what begins while it is still being launched.
    """
    activity = chains.trace.slices.activity[tasks.row]
    latency = np.zeros(len(activity), np.int64)
    certain = launched & (previous_end <= tasks.dequeued)
    for kind in distinct(activity).tolist():
        of_activity = activity == kind
        latency[of_activity] = _usual(
            tasks.start[certain & of_activity] - tasks.launched[certain & of_activity]
        )
    return latency


def _usual(times: Int64s) -> int:
    return int(np.median(times)) if len(times) else 0
