"""What waited for what in a run, from host to device: the points at which something began, and their causes.

On a thread of the host a point follows the one before it by the time that the thread worked in between. A
dequeue begins once its task was enqueued and the dequeue before it has ended; a task, once it was launched,
the one before it on its stream has ended and what the stream waits for has happened. A synchronisation of the
host ends once the task that it waits for has ended, the autograd thread begins a burst of work when its waker
has come so far, and the waker goes on when the burst has ended. A collective that waited for a late peer may
be taken to move data once that one has come, however early this rank does.

Not known, and so not among the causes: a full task queue that holds up the host, locks, and what other ranks
do. A late peer comes as long after the last collective before as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.device_points import (
    DeviceTasks,
    blocking_copies,
    dequeue_points,
    device_work,
    peer_points,
    synchronised,
    task_points,
)
from tracetui.analysis.critical.endings import Walls, done_points, end_points, walls_of
from tracetui.analysis.critical.host_points import host_points
from tracetui.analysis.critical.meetings import Meetings
from tracetui.analysis.critical.points import Edge, Points, finish_points
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import pick
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s, first_equal
from tracetui.trace.order import starts_run


@dataclass(frozen=True, eq=False)
class Dependencies:
    """The points of a run in causal order, and those at which steps and devices are done.

    All times are on the clock of the host.
    """

    points: Points
    clock_lag: Int64s  #: ns of each device: what its clock, and so each time of a slice of it, is behind
    begin: int  #: ns: the host's start of the first step, or the first work of a device where that is sooner
    device_end: Int64s  #: of each device: the point at which all its steps, and its work, are done
    step_begin: Int64s  #: ns of each step: when the one before it on the device is done
    step_end: Int64s  #: of each step: the point at which it is done, never before the one before it


def dependencies(
    chains: LaunchChains,
    activities: Sequence[DeviceActivity],
    steps: Sequence[Step],
    host_threads: HostThreads,
    late: Meetings | None = None,
) -> Dependencies:
    """Return the points of a trace.

    `late`: the collectives whose late peers come when they came; of None a collective takes as long as it
    took, whenever it begins: so its peers come as much sooner as this rank does.
    """
    parts, clock_lag, walls = _parts(chains, activities, steps, host_threads, late)
    first_end = sum(map(len, parts[:-1]))
    all_points, place = finish_points(parts)
    end_places = place[first_end:]
    return Dependencies(
        all_points,
        clock_lag,
        begin=walls.begin,
        device_end=end_places[len(steps) :],
        step_begin=walls.step_begin,
        step_end=end_places[: len(steps)],
    )


def _parts(
    chains: LaunchChains,
    activities: Sequence[DeviceActivity],
    steps: Sequence[Step],
    host_threads: HostThreads,
    late: Meetings | None,
) -> tuple[tuple[Points, ...], Int64s, Walls]:
    """Return the points of each kind, those of ends last, whose causes are places in all of them one behind
    the other; by how many ns the clock of each device is behind; when all begins and ends.
    """
    streams = host_threads.streams
    tasks, clock_lag = device_work(chains, activities, streams)
    thread = host_threads.of_tasks(tasks.launch, tasks.operator, tasks.enqueue)
    enqueues, enqueue_of_task = _enqueues(tasks, thread)
    blocking = blocking_copies(chains, tasks, host_threads.copying.to_device)
    host, sync = host_points(chains.trace, host_threads, steps, *enqueues, blocking)
    dequeued = dequeue_points(
        chains, tasks, np.where(tasks.dequeue >= 0, enqueue_of_task, -1), tasks.enqueued
    )
    after_host, after_queue = len(host), len(host) + len(dequeued)
    queued = tasks.dequeue >= 0
    launch_point = enqueue_of_task.copy()
    launch_time = np.where(enqueue_of_task >= 0, pick(enqueues[1], enqueue_of_task), tasks.dequeued)
    dequeue_places = first_equal(dequeued.row, tasks.dequeue[queued])
    #: a task that began before its dequeue by the clock follows from its enqueue
    sane = tasks.dequeued[queued] <= tasks.start[queued]
    launch_point[queued] = np.where(sane, after_host + dequeue_places, enqueue_of_task[queued])
    launch_time[queued] = np.where(sane, tasks.dequeued[queued], tasks.enqueued[queued])
    arrival = _arrivals(tasks, late)
    running = task_points(chains, tasks, streams, launch_point, launch_time, arrival)
    _shift_causes(running, Edge.BEFORE, after_queue)
    _shift_causes(running, Edge.WAIT, after_queue)
    peers, waiting = peer_points(chains, tasks, arrival, after_queue)
    after_tasks = after_queue + len(running)
    after_peers = after_tasks + len(peers)
    running.cause[Edge.WAIT, waiting] = np.arange(after_tasks, after_peers)
    _shift_causes(dequeued, Edge.BEFORE, after_host)
    (ends,) = np.nonzero(sync >= 0)
    begin, end = host.time[sync[ends]], host.time[ends]
    awaited = synchronised(tasks, thread, begin, end, host.thread[ends].astype(np.int64))
    ends, begin, end, awaited = (column[awaited >= 0] for column in (ends, begin, end, awaited))
    host.cause[Edge.WAIT, ends], host.binding[ends] = after_queue + awaited, Edge.WAIT
    host.lag[Edge.BEFORE, ends] = end - tasks.end[awaited]
    walls = walls_of(activities, steps, clock_lag)
    completions = done_points(tasks, walls, after_queue, after_peers)
    endings = end_points(host, completions, steps, walls, after_peers)
    return (host, dequeued, running, peers, completions, endings), clock_lag, walls


def _arrivals(tasks: DeviceTasks, late: Meetings | None) -> Int64s:
    """Return when the peer came that each task waited for, ns by the host's clock; -1: it waited for none."""
    if late is None:
        return np.full(len(tasks.row), -1, np.int64)
    places = first_equal(late.row, tasks.row)
    wait = np.where(places >= 0, pick(late.wait, places), 0)
    arrival = np.minimum(tasks.start + wait, tasks.end)
    return np.where(wait > 0, arrival, -1)


def _shift_causes(moved: Points, edge: Edge, first: int) -> None:
    """Let places in one part of the points be places in all of them."""
    moved.cause[edge, moved.cause[edge] >= 0] += first


def _enqueues(tasks: DeviceTasks, thread: Int64s) -> tuple[tuple[Int64s, Int64s, Int64s], Int64s]:
    """Return row, time, thread of each enqueue (no queue: launch), and its place for each task or -1.

    A call that launches is work of its thread until it ends, or until its first task starts: what is left of
    the way to the task is the time of a launch.
    """
    row = np.where(tasks.dequeue >= 0, tasks.enqueue, tasks.launch)
    is_known = (thread >= 0) & (tasks.enqueued >= 0) & ((tasks.dequeue < 0) | (tasks.enqueue >= 0))
    (places,) = np.nonzero(is_known)
    order = places[np.lexsort((row[places], tasks.enqueued[places], thread[places]))]
    first = np.flatnonzero(starts_run(thread[order], tasks.enqueued[order], row[order]))
    enqueue_of_task = np.full(len(row), -1, np.int64)
    enqueue_of_task[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    firsts = order[first]
    done = np.where(tasks.dequeue >= 0, tasks.enqueued, np.minimum(tasks.launched, tasks.start))
    time = tasks.enqueued[firsts]
    if len(first):
        time = np.maximum(time, np.minimum.reduceat(done[order], first))
    return (row[firsts], time, thread[firsts]), enqueue_of_task
