"""What dequeues, tasks and synchronisations follow from, held against the definition applied one by one.

All times are small whole numbers, so that much begins exactly where something else ends.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.critical.device_points import (
    FAR_TOO_EARLY,
    LONG_COPY,
    DeviceTasks,
    _clock_lags,
    blocking_copies,
    dequeue_points,
    peer_points,
    synchronised,
    task_points,
)
from tracetui.analysis.critical.points import Edge, Points
from tracetui.analysis.search import distinct
from tracetui.trace.model import Activity

KINDS = (Activity.COMPUTE, Activity.COPY)


class Run:
    """Tasks, and the slices and the streams that they are of: after the tasks six dequeues of two threads."""

    def __init__(self, seed: int, unit: int = 1, latest: int = 9) -> None:
        self.source, self.unit = random.Random(seed), unit
        self.count = self.source.randrange(8)
        slices = {"start": self.some(14, latest), "dur": self.some(14, 4), "activity": self.some(14, 2)}
        slices["activity"] = np.array(KINDS, np.int8)[slices["activity"] // unit]
        self.slices = SimpleNamespace(**slices, end=slices["start"] + slices["dur"])
        lanes = {"lane_rows": np.array([0, 8, 11]), "lane_track": np.array([7, 8, 9], np.int32)}
        self.launch_chains: Any = SimpleNamespace(trace=SimpleNamespace(slices=self.slices, **lanes))
        start = self.some(self.count, latest)
        enqueued = self.some(self.count, latest, -1)
        dequeued = np.maximum(enqueued, self.some(self.count, 9))
        rows = np.arange(self.count)
        dequeue = self.some(self.count, 6, -1) // unit
        self.tasks = DeviceTasks(
            row=rows,
            start=start,
            end=start + self.some(self.count, 4),
            device=np.zeros(self.count, np.int64),
            stream=self.some(self.count, 2) // unit,
            waits=self.some(self.count, 2) > 0,
            enqueued=enqueued,
            dequeued=dequeued,
            launched=dequeued + self.some(self.count, 3),
            enqueue=rows,
            dequeue=np.where(dequeue < 0, -1, dequeue + 8),
            launch=rows,
            operator=rows,
        )

    def some(self, count: int, stop: int, start: int = 0) -> Any:
        return np.array([self.source.randrange(start, stop) for _ in range(count)], np.int64) * self.unit


def usual(times: Iterable[int]) -> int:
    return int(statistics.median([*times] or [0]))


def before_each(lines: list[int], start: list[int]) -> list[int]:
    """The place of what begins last before each on its line, of what begins at once the last in order."""
    order = sorted(range(len(lines)), key=lambda i: (start[i], i))
    earlier = [[j for j in order[: order.index(i)] if lines[j] == lines[i]] for i in range(len(lines))]
    return [(puts or [-1])[-1] for puts in earlier]


def causes_of(found: Points) -> list[list[tuple[int, int, int]]]:
    """(kind of cause, place, ns after it) of the causes that each point has, and the binding one."""
    cause_lists = [
        [(by, int(found.cause[by, i]), int(found.lag[by, i])) for by in Edge if found.cause[by, i] >= 0]
        for i in range(len(found))
    ]
    return [[*causes, (int(by), -1, -1)] for causes, by in zip(cause_lists, found.binding.tolist())]


@pytest.mark.parametrize("seed", range(40))
def test_a_dequeue_follows_its_enqueue_or_the_dequeue_before_it(seed: int) -> None:
    run = Run(seed)
    put_at, puts = run.some(run.count, 4, -1), run.some(run.count, 9)
    found = dequeue_points(run.launch_chains, run.tasks, put_at, puts)
    rows = sorted({row for row in run.tasks.dequeue.tolist() if row >= 0})
    first = [run.tasks.dequeue.tolist().index(row) for row in rows]
    start, end, dur = (
        [getattr(run.slices, key).tolist()[row] for row in rows] for key in ("start", "end", "dur")
    )
    before = before_each([row // 11 for row in rows], start)
    every = range(len(rows))
    known = [put_at[i] >= 0 for i in first]
    put = [int(puts[i]) for i in first]
    free = [end[b] if b >= 0 else -1 for b in before]
    wakes = usual(start[i] - put[i] for i in every if known[i] and free[i] <= put[i])
    late = [known[i] and before[i] >= 0 and put[i] + wakes < free[i] for i in every]
    turns = usual(start[i] - free[i] for i in every if late[i])
    expected = []
    for i in every:
        causes = [(int(Edge.BEFORE), before[i], dur[before[i]] + turns)] if before[i] >= 0 else []
        causes += [(int(Edge.LAUNCH), int(put_at[first[i]]), wakes)] if known[i] else []
        launched = known[i] and (before[i] < 0 or put[i] + wakes >= free[i] + turns)
        expected.append([*causes, (int(Edge.LAUNCH if launched else Edge.BEFORE), -1, -1)])
    assert causes_of(found) == expected
    assert [found.time.tolist(), found.lasts.tolist(), found.row.tolist()] == [start, dur, rows]


@pytest.mark.parametrize("seed", range(40))
def test_a_task_follows_its_launch_or_the_task_before_it_or_what_its_stream_waits_for(seed: int) -> None:
    run = Run(seed)
    tasks, every = run.tasks, range(run.count)
    launch_point, launch_time = run.some(run.count, 4, -1), run.some(run.count, 9)
    waited_for = run.some(run.count, run.count, -1)
    streams: Any = SimpleNamespace(waited_for=lambda rows: waited_for[rows])
    peers = run.some(run.count, 3, -1)
    peers[tasks.waits] = -1
    arrival = np.where(peers >= 0, np.minimum(tasks.start + peers, tasks.end), -1)
    found = task_points(run.launch_chains, tasks, streams, launch_point, launch_time, arrival)
    start, end, stream, launched_at, dequeued = (
        getattr(tasks, key).tolist() for key in ("start", "end", "stream", "launched", "dequeued")
    )
    waits, kind = tasks.waits.tolist(), run.slices.activity[: run.count].tolist()
    before = before_each(stream, start)
    free = [end[b] if b >= 0 else -1 for b in before]
    other = [int(waited_for[i]) if waits[i] else -1 for i in every]
    launched = [bool(launch_point[i] >= 0) for i in every]
    sure = [i for i in every if launched[i] and free[i] <= dequeued[i]]
    latency = [usual(start[j] - launched_at[j] for j in sure if kind[j] == kind[i]) for i in every]
    ready = [launched_at[i] + latency[i] for i in every]
    turns = usual(start[i] - free[i] for i in every if launched[i] and before[i] >= 0 and ready[i] < free[i])
    come: list[int] = arrival.tolist()
    begin = [end[i] if waits[i] else come[i] if come[i] >= 0 else start[i] for i in every]
    lasts = [end[i] - begin[i] for i in every]
    expected = []
    for i in every:
        takes = end[i] - start[i] if waits[i] and other[i] < 0 else 0
        causes = [(int(Edge.BEFORE), before[i], lasts[before[i]] + turns + takes)] if before[i] >= 0 else []
        causes += [
            (int(Edge.LAUNCH), int(launch_point[i]), ready[i] - int(launch_time[i]) + takes)
        ] * launched[i]
        causes += [(int(Edge.WAIT), other[i], lasts[other[i]])] * (other[i] >= 0)
        binding = (
            Edge.LAUNCH if launched[i] and (before[i] < 0 or ready[i] >= free[i] + turns) else Edge.BEFORE
        )
        if (other[i] >= 0 and end[other[i]] > start[i]) or come[i] >= 0:
            binding = Edge.WAIT
        expected.append([*causes, (int(binding), -1, -1)])
    assert causes_of(found) == expected
    assert found.time.tolist() == begin
    assert found.lasts.tolist() == lasts


@pytest.mark.parametrize("seed", range(40))
def test_a_late_peer_follows_the_last_collective_that_had_ended_when_it_came(seed: int) -> None:
    run = Run(seed)
    tasks, every = run.tasks, range(run.count)
    run.slices.activity[run.slices.activity == Activity.COPY] = Activity.COMMUNICATION
    come = np.minimum(tasks.start + run.some(run.count, 3, -1), tasks.end)
    arrival = np.where(come >= tasks.start, come, -1)
    found, waiting = peer_points(run.launch_chains, tasks, arrival, 100)
    assert waiting.tolist() == [i for i in every if arrival[i] >= 0]
    for place, task in enumerate(waiting.tolist()):
        collectives = [i for i in every if run.slices.activity[i] == Activity.COMMUNICATION and i != task]
        met = [i for i in collectives if tasks.end[i] <= arrival[task]]
        latest = max((int(tasks.end[i]) for i in met), default=-1)
        cause = int(found.cause[Edge.WAIT, place])
        assert (cause < 0 and not met) or int(tasks.end[cause - 100]) == latest
        assert cause < 0 or cause - 100 in met
    assert found.time.tolist() == arrival[waiting].tolist()
    assert (found.binding == Edge.WAIT).all()


@pytest.mark.parametrize("seed", range(40))
def test_a_synchronisation_waits_for_the_last_task_enqueued_that_ends_while_it_lasts(seed: int) -> None:
    run = Run(seed)
    begin = run.some(6, 9)
    end = begin + run.some(6, 5)
    tasks = run.tasks._replace(device=run.tasks.stream)
    enqueuer, waiter = run.some(run.count, 4, -1), run.some(6, 3)
    expected = []
    for since, until, thread in zip(begin.tolist(), end.tolist(), waiter.tolist()):
        best, ended = -1, since
        for stream in distinct(tasks.stream[enqueuer == thread]).tolist() or (0, 1):
            known = [
                i for i in range(run.count) if run.tasks.stream[i] == stream and run.tasks.enqueued[i] >= 0
            ]
            known.sort(key=lambda i: int(run.tasks.enqueued[i]))
            for limit in (until, since):
                last = [i for i in known if run.tasks.enqueued[i] < limit][-1:]
                if last and ended < run.tasks.end[last[0]] <= until:
                    best, ended = last[0], int(run.tasks.end[last[0]])
        expected.append(best)
    assert synchronised(tasks, enqueuer, begin, end, waiter).tolist() == expected


@pytest.mark.parametrize("seed", range(40))
def test_an_operator_waited_for_a_copy_where_it_takes_long_and_ends_after_it(seed: int) -> None:
    run = Run(seed, LONG_COPY // 2, 3)
    copying = np.arange(8, 14)
    expected = []
    for row in copying.tolist():
        start, end = int(run.slices.start[row]), int(run.slices.end[row])
        of_copies = [i for i in range(run.count) if run.slices.activity[i] == Activity.COPY]
        put = sorted((int(run.tasks.enqueued[i]), i) for i in of_copies if run.tasks.enqueued[i] >= 0)
        for enqueued, i in [enqueue for enqueue in put if enqueue[0] < end][-1:]:
            if enqueued >= start and run.tasks.end[i] <= end and end - enqueued >= LONG_COPY:
                expected.append(row)
    assert blocking_copies(run.launch_chains, run.tasks, copying).tolist() == expected


@pytest.mark.parametrize(
    ("early", "behind"),
    [
        ([], 0),
        ([-5, -1], 0),
        ([7, 3, -5], 7),
        ([FAR_TOO_EARLY, FAR_TOO_EARLY - 1], FAR_TOO_EARLY - 1),
        ([FAR_TOO_EARLY, 3], 3),
        ([9] + [4] * 98, 9),
        ([9] + [4] * 99, 4),
        ([9, 8, 7] + [4] * 197, 7),
    ],
)
def test_a_clock_is_behind_by_what_all_but_one_in_100_tasks_are_too_early(
    early: list[int], behind: int
) -> None:
    """Of two devices: beside each task one of the other, and one of which nobody knows the launch."""
    start = np.array([at for early_ns in early for at in (-early_ns, -999, 0)], np.int64)
    launched, device = (np.array(early_ns * len(early), np.int64) for early_ns in ([0, -1, 0], [0, 0, 1]))
    assert _clock_lags(start, launched, device, 2).tolist() == [behind, 0]
