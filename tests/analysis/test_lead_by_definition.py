"""The lead of the host and where it was lost, held against the definition applied ns by ns to small runs."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.lead import HostLead, _device_losses, _host_lead, _mostly_host

TIMES = range(-3, 25)


class Run:
    """Some tasks of a device: when each was enqueued (-1: not known), began, and how long it took."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        count = self.source.randrange(10)
        self.issued, self.dur = self.some(count, 19, -1), self.some(count, 4)
        self.start = [issued + later for issued, later in zip(self.issued, self.some(count, 4))]
        slices = SimpleNamespace(start=np.array(self.start, np.int64), dur=np.array(self.dur, np.int64))
        chains: Any = SimpleNamespace(trace=SimpleNamespace(slices=slices), index=lambda rows: rows)
        device: Any = SimpleNamespace(device="NPU", work=np.arange(count))
        self.enqueued = np.array(self.issued, np.int64)
        self.launch_chains, self.device = chains, device
        self.lead = _host_lead(device, chains, self.enqueued)

    def some(self, count: int, stop: int, start: int = 0) -> list[int]:
        return [self.source.randrange(start, stop) for _ in range(count)]

    def ahead(self, time: int) -> list[int]:
        """The tasks that are enqueued at a time and have not begun."""
        return [i for i, issued in enumerate(self.issued) if 0 <= issued <= time < self.start[i]]


@pytest.mark.parametrize("seed", range(30))
def test_the_lead_at_any_time_its_means_and_the_time_without_one(seed: int) -> None:
    run = Run(seed)
    count = [len(run.ahead(time)) for time in TIMES]
    work = [sum(run.dur[i] for i in run.ahead(time)) for time in TIMES]
    assert [column.tolist() for column in run.lead.at(np.array(TIMES))] == [count, work]
    assert np.diff(run.lead.empty_before(np.array(TIMES))).tolist() == [
        int(not values) for values in count[:-1]
    ]
    stretches = [(first, last) for first in range(len(TIMES)) for last in range(first + 1, len(TIMES))]
    starts, ends = (np.array(column) + TIMES[0] for column in zip(*stretches))
    for means, values in zip(run.lead.mean_of(starts, ends), (count, work)):
        assert means == pytest.approx([sum(values[a:b]) / (b - a) for a, b in stretches], abs=1e-9)
    assert run.lead.unknown == run.issued.count(-1)
    assert (np.diff(run.lead.time) > 0).all()


def losses(run: Run, lead: HostLead, intervals: Any, starved: Any, index: int) -> list[list[int]]:
    """Of each starved interval of a device: interval, at, count, work, start, end and task of the pause."""
    found, since = [], -1
    moments = sorted({issued for issued in run.issued if issued >= 0})
    for i in range(len(intervals.start)):
        if not starved[i] or intervals.device[i] != index:
            continue
        begin, due = int(intervals.start[i]), run.issued[int(intervals.task[i])]
        known = [j for j, time in enumerate(lead.time.tolist()) if since <= time < begin]
        since = int(intervals.end[i])
        fullest = max(known, key=lambda j: (int(lead.work[j]), j), default=-1)
        loss = [-1] * 6
        if fullest >= 0 and due > begin and lead.count[fullest] and not run.ahead(begin):
            at = int(lead.time[fullest])
            begun = max(moment for moment in moments if moment <= at)
            pauses = [(a - b, a, b) for a, b in zip(moments, moments[1:]) if begun <= a < due]
            if pauses:
                _, start, end = min(pauses)
                loss = [
                    at,
                    int(lead.count[fullest]),
                    int(lead.work[fullest]),
                    start,
                    end,
                    run.issued.index(end),
                ]
        found.append([i, *loss])
    return found


@pytest.mark.parametrize("seed", range(100))
def test_a_lead_is_lost_in_the_longest_pause_after_it_was_at_its_most(seed: int) -> None:
    run = Run(seed)
    cuts = sorted(run.some(10, 19)) if run.issued else []
    tasks = [max(run.some(2, len(run.issued)), key=lambda i: run.issued[i]) for _ in cuts[::2]]
    intervals: Any = SimpleNamespace(
        start=np.array(cuts[::2], np.int64),
        end=np.array(cuts[1::2], np.int64),
        device=np.array(run.some(len(cuts) // 2, 3), np.int64) // 2,
        task=np.array(tasks, np.int64),
    )
    starved = np.array([drawn > 0 for drawn in run.some(len(cuts) // 2, 4)], np.bool_)
    for index in (0, 1):
        found_losses = _device_losses(
            run.lead, run.device, intervals, starved, index, run.launch_chains, run.enqueued
        )
        assert found_losses.T.tolist() == losses(run, run.lead, intervals, starved, index)


def test_an_interval_is_mostly_of_the_host_where_more_than_half_of_it_is() -> None:
    """Of 10 ns each: 6, 5 and none of the host; the last has two parts of 3."""
    intervals = SimpleNamespace(start=np.array([0, 20, 40, 60]), end=np.array([10, 30, 50, 70]))
    parts = [
        (0, 6, "PYTHON"),
        (0, 4, "LATENCY"),
        (1, 5, "OPERATOR"),
        (1, 5, "QUEUE_BUSY"),
        (2, 10, "UNKNOWN"),
    ]
    parts += [(3, 3, "PYTHON"), (3, 4, "LATENCY"), (3, 3, "SYNC")]
    interval, ns, cause = zip(*parts)
    causes: Any = SimpleNamespace(
        intervals=intervals,
        interval=np.array(interval),
        ns=np.array(ns),
        cause=np.array([Cause[name] for name in cause]),
    )
    assert _mostly_host(causes).tolist() == [True, False, False, True]
