"""The lead of the host: equal to its definition, task by task; and where it is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis import machine
from tests.analysis.machine import call, dequeue, enqueue, task
from tests.analysis.real import gpu, npu
from tests.simulator import traces
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.counter_tracks import LEAD_TIME, of_leads
from tracetui.analysis.idle.cause import Cause, of_families
from tracetui.analysis.launch_chains import milestones
from tracetui.analysis.lead import HostLead, LeadLosses
from tracetui.arrays import Int64s


@pytest.fixture(scope="module")
def stalls() -> Analysis:
    return traces.analysed("stalls")


def check_lead(analysis: Analysis) -> None:
    """Compare with the sum over all tasks, at every time of change and beside it."""
    enqueued = milestones(analysis.launch_chains).enqueued
    slices = analysis.trace.slices
    for lead, device in zip(analysis.leads, analysis.devices):
        issued = enqueued[analysis.launch_chains.index(device.work)]
        start, dur = slices.start[device.work], slices.dur[device.work]
        times = np.concatenate((lead.time[::7] - 1, lead.time[::7], lead.time[::7] + 1))
        count, work = lead.at(times)
        inside = (issued >= 0) & (issued <= times[:, None]) & (times[:, None] < start)
        assert count.tolist() == inside.sum(axis=1).tolist()
        assert work.tolist() == (inside * dur).sum(axis=1).tolist()
        assert (lead.count[-1], lead.work[-1]) == (0, 0)
        assert lead.unknown == int((issued < 0).sum())


def test_the_lead_is_what_is_enqueued_and_not_started(stalls: Analysis) -> None:
    check_lead(stalls)


def test_what_is_enqueued_at_the_beginning_of_time_is_known() -> None:
    chain = [enqueue(0, 2, 7), dequeue(10, 20, 7), call(15, 10, 7), task(40, 10, connection=7)]
    analysis = analyse(trace_of([*machine.npu(), *chain]))
    check_lead(analysis)
    (lead,) = analysis.leads
    assert (lead.time.tolist(), lead.count.tolist(), lead.unknown) == ([0, 40], [1, 0], 0)


def test_the_lead_on_a_real_rank(real_traces: Path) -> None:
    analysis = npu(real_traces, "level2/rank0")
    check_lead(analysis)
    assert analysis.leads[0].unknown == 0


def test_the_mean_of_a_window_is_its_integral(stalls: Analysis) -> None:
    (lead,) = stalls.leads
    edges = np.linspace(int(lead.time[0]) - 500, int(lead.time[-1]) + 500, 13).astype(np.int64)
    count, _ = lead.mean_of(edges[:-1], edges[1:])
    for place, (first, last) in enumerate(zip(edges.tolist(), edges[1:].tolist())):
        times = np.arange(first, last, 100)
        assert count[place] == pytest.approx(lead.at(times)[0].mean(), abs=0.05)


def test_where_the_lead_was_lost(stalls: Analysis) -> None:
    """Only before starvation, at the longest pause of the host since the device last starved so."""
    losses, causes = stalls.lead_losses, stalls.causes
    enqueued = milestones(stalls.launch_chains).enqueued
    (lead,), (device,) = stalls.leads, stalls.devices
    issued = np.unique(enqueued[stalls.launch_chains.index(device.work)])
    host = np.isin(causes.cause, list(of_families("host")))
    host_idle = np.zeros(len(causes.intervals), np.int64)
    np.add.at(host_idle, causes.interval[host], causes.ns[host])
    lengths = causes.intervals.end - causes.intervals.start
    (starved,) = np.nonzero(2 * host_idle > lengths)
    assert losses.gap.tolist() == causes.intervals.gap[starved].tolist()
    begun = 0
    for place, interval in enumerate(starved.tolist()):
        start = int(causes.intervals.start[interval])
        due = int(enqueued[stalls.launch_chains.index(causes.intervals.task[interval : interval + 1])][0])
        inside = (lead.time >= begun) & (lead.time < start)
        begun = int(causes.intervals.end[interval])
        had = inside.any() and lead.count[inside][np.argmax(lead.work[inside])] > 0
        if not had or lead.at(np.array([start]))[0][0]:
            assert losses.lost_at[place] == -1
            continue
        assert losses.work[place] == lead.work[inside].max()
        assert losses.lost_at[place] == lead.time[inside][lead.work[inside] == losses.work[place]][-1]
        moments = issued[(issued >= losses.lost_at[place]) & (issued <= due)]
        assert losses.pause_end[place] - losses.pause_start[place] == np.diff(moments).max()
        assert losses.pause_end[place] in moments
    assert (losses.lost_at >= 0).sum() == 3


def starts_of_losses(analysis: Analysis) -> Int64s:
    """When the intervals begin that are told to follow a loss, of the first device."""
    losses, intervals = analysis.lead_losses, analysis.causes.intervals
    found = []
    for place in np.flatnonzero(losses.lost_at >= 0).tolist():
        places = np.flatnonzero(intervals.gap == losses.gap[place])
        lengths = (intervals.end - intervals.start)[places]
        found.append(int(intervals.start[places[lengths == losses.idle[place]][0]]))
    return np.array(found, np.int64)


@pytest.mark.parametrize("rank", ["level0/rank1", "level2/rank0"])
def test_where_a_lead_was_lost_there_is_none(real_traces: Path, rank: str) -> None:
    analysis = npu(real_traces, rank)
    times = starts_of_losses(analysis)
    assert len(times) == 9 and not analysis.leads[0].at(times)[0].any()
    curve = next(track for track in of_leads(analysis.leads) if track.name == LEAD_TIME)
    assert [curve.series.at(time) for time in times.tolist()] == [0.0] * 9


def test_a_lead_that_waits_on_the_device_is_not_lost(real_traces: Path) -> None:
    """All along there are 258 tasks or more whose streams wait for each other."""
    analysis = gpu(real_traces, "resnet_rank0.json.gz")
    assert len(analysis.lead_losses.gap) > 70 and (analysis.lead_losses.lost_at == -1).all()


def test_the_time_without_a_lead_is_exact(stalls: Analysis) -> None:
    (lead,) = stalls.leads
    first, last = int(lead.time[0]), int(lead.time[-1])
    edges = np.linspace(first - 500, last + 500, 41).astype(np.int64)
    empty = np.diff(lead.empty_before(edges))
    for place, (start, end) in enumerate(zip(edges.tolist(), edges[1:].tolist())):
        inside = lead.time[(lead.time > start) & (lead.time < end)]
        cuts = np.concatenate(([start], inside, [end]))
        assert empty[place] == np.diff(cuts)[lead.at(cuts[:-1])[0] == 0].sum()
    assert empty[0] >= 500 and empty[-1] >= 500


def test_the_line_is_that_of_the_pause(stalls: Analysis) -> None:
    """That of the cause with most of its time, as the idle time in it has."""
    losses = stalls.lead_losses
    known = np.flatnonzero(losses.lost_at >= 0)
    longest = known[np.argmax((losses.pause_end - losses.pause_start)[known])]
    pause = int(losses.pause_start[longest]), int(losses.pause_end[longest])
    causes = stalls.causes
    during = (causes.end > pause[0]) & (causes.start < pause[1])
    assert Cause(int(losses.cause[longest])) in {Cause(int(cause)) for cause in causes.cause[during]}
    assert losses.lines[losses.line[longest]].file.endswith("train_stalls.py")


def test_a_gap_tells_its_longest_interval(stalls: Analysis) -> None:
    losses = stalls.lead_losses
    for gap in np.unique(losses.gap).tolist():
        place = losses.of_gap(gap)
        places = np.flatnonzero((losses.gap == gap) & (losses.lost_at >= 0))
        assert place == (places[np.argmax(losses.idle[places])] if len(places) else -1)
    assert losses.of_gap(10**6) == -1


def test_of_a_gap_the_longest_interval_counts_that_had_a_lead() -> None:
    """A lead at 0 ns is one. Of two intervals that are as long the first counts."""
    nothing = np.full(6, -1)
    gap, at = np.array([1, 1, 1, 2, 4, 4]), np.array([-1, 4, 0, -1, 0, 6])
    idle = np.array([9, 5, 7, 8, 3, 3])
    losses = LeadLosses(gap, idle, at, nothing, nothing, nothing, nothing, nothing, nothing, [])
    assert [losses.of_gap(number) for number in range(5)] == [-1, 2, -1, -1, 4]


def test_means_of_stretches_have_their_shape() -> None:
    """Of 1 ns the mean is what holds then, of no time it is 0; before the first enqueue there is no lead."""
    time, count, work = np.array([[10, 14, 20], [3, 0, 4], [30, 0, 50]], np.int64)
    lead = HostLead("NPU", time, count, work, 0)
    starts, ends = np.array([[10, 12], [8, 5]], np.int64), np.array([[11, 16], [12, 5]], np.int64)
    counts, works = lead.mean_of(starts, ends)
    assert counts.tolist() == [[3.0, 1.5], [1.5, 0.0]] and works.tolist() == [[30.0, 15.0], [15.0, 0.0]]
    nothing = HostLead("NPU", time[:0], count[:0], work[:0], 5)
    assert [part.tolist() for part in nothing.mean_of(starts, ends)] == [[[0.0, 0.0], [0.0, 0.0]]] * 2
