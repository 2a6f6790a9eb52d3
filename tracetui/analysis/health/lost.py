"""Findings about tasks that were launched and are not in the recording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tracetui.analysis.health.finding import LOST_TASKS, Finding, Severity, TimeWindows
from tracetui.analysis.health.launches import (
    Launches,
    LostLaunches,
    count_launches,
    find_losses,
    tasks_launched,
)
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.intervals import time_in_spans
from tracetui.analysis.search import distinct, of_category, rows_of
from tracetui.analysis.steps import steps_by_device, uncomputed_steps
from tracetui.arrays import Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family

#: Of the lost launches a step must hold this share for its numbers to be in doubt.
_LEAST_PART = 0.02
#: So many launches and no kernel at all are no accident.
_LEAST_LAUNCHES = 20
#: As `libkineto/src/CuptiActivityApi.cpp` and `RoctracerLogger.cpp` spell them.
_DROPPED = re.compile(r"Dropped (\d{1,18}) activity records", re.ASCII)
_FULL = re.compile(r"Exceeded max GPU buffer count|collection was stopped early")


def lost_tasks(
    recording: HealthEvidence, launches: Launches, losses: Sequence[LostLaunches]
) -> Iterator[Finding]:
    """Yield a finding for the tasks lost at the beginning, at the end, in whole steps, and elsewhere."""
    middle: list[LostLaunches] = []
    empty_steps: set[int] = set()
    emptied: list[LostLaunches] = []
    for loss in losses:
        if loss.at_start or loss.at_end:
            yield _at_edge(recording, launches, loss)
            continue
        whole = _emptied_steps(recording, launches, loss)
        empty_steps |= whole
        (emptied if whole else middle).append(loss)
    if empty_steps:
        windows = tuple(hole_of(recording, launches, loss) for loss in emptied)
        yield _empty(recording, sorted(empty_steps), Severity.WRONG, windows)
    if not len(launches.row):
        yield from _unproven(recording)
    if middle:
        yield _dropped(recording, launches, middle)


def hole_of(recording: HealthEvidence, launches: Launches, loss: LostLaunches) -> tuple[int, int]:
    """Return when the devices should have run what was lost, ns: between the tasks launched before and after.

    Where these do not leave a hole, when it was launched.
    """
    trace, chains = recording.trace, recording.launch_chains
    launched = tasks_launched(trace, chains, launches)
    before = chains.tasks[(launched >= 0) & (launched < loss.first)]
    after = chains.tasks[launched >= loss.stop]
    first, last = int(launches.start[loss.first]), int(launches.end[loss.stop - 1])
    start = int(trace.slices.end[before].max()) if len(before) else first
    end = int(trace.slices.start[after].min()) if len(after) else max(trace.end_ns, last)
    return (start, end) if start < end else (first, last)


def lone_launches(recording: HealthEvidence, launches: Launches) -> Iterator[Finding]:
    """Yield what is found where launches have no task and that is no loss: all of them, or hardly any.

    Of many of which others have the tasks, as ids are shared, nothing is said here.
    """
    count = int(np.count_nonzero(launches.lost))
    if 0 < count < len(launches.row):
        if not find_losses(launches):
            yield _alone(recording, launches, count)
        return
    slices = recording.trace.slices
    computes = any((slices.activity[a.work] == Activity.COMPUTE).any() for a in recording.devices)
    count = 0 if computes else count_launches(recording.trace)
    if count >= _LEAST_LAUNCHES:
        ranges = rows_of(track for track in recording.trace.tracks if track.family == Family.ANNOTATIONS)
        categories = KNOWN.categories.counters
        counted = of_category(recording.trace, slices.category[ranges], categories).any()
        yield Finding(
            id="device.dropped",
            severity=Severity.DOUBTFUL,
            affects=("idle", "causes"),
            sentence=(
                "none of {count} kernel launches has a kernel on the device: counters were recorded instead"
                if counted
                else "none of {count} kernel launches has a kernel on the device"
            ),
            remedy=(
                "Record without profiler_metrics to see when kernels run. Do not read the idle time."
                if counted
                else LOST_TASKS
            ),
            count=count,
            share=1.0,
            steps=places(np.arange(len(recording.steps))),
            is_chosen=bool(counted),
        )


def logged_losses(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where the profiler dropped records, or stopped as its buffers were full."""
    messages = recording.trace.messages
    dropped = sum(int(found[1]) for text in messages if (found := _DROPPED.search(text)))
    full = sum(1 for text in messages if _FULL.search(text))
    if not dropped and not full:
        return
    yield Finding(
        id="device.dropped",
        severity=Severity.DOUBTFUL,
        affects=("idle", "causes"),
        sentence=(
            "the profiler logged that it dropped 1 record of the device"
            if dropped == 1
            else "the profiler logged that it dropped {count} records of the device"
            if dropped
            else "the profiler logged that its buffers were full, and recorded no more of the device"
        ),
        remedy=LOST_TASKS,
        count=dropped or full,
    )


def _alone(recording: HealthEvidence, launches: Launches, count: int) -> Finding:
    lost = launches.start[launches.lost]
    return Finding(
        id="device.dropped",
        severity=Severity.NOTE,
        affects=("idle", "causes"),
        sentence=(
            "1 of {launches} kernel launches has no task on the device"
            if count == 1
            else "{count} of {launches} kernel launches have no task on the device"
        ),
        remedy="So few may be an accident of the recorder; do not read the idle time right there.",
        figures={"launches": len(launches.row)},
        count=count,
        share=count / len(launches.row),
        steps=places(recording.steps_at(lost)),
        windows=tuple(
            zip(lost.tolist(), launches.end[launches.lost].tolist()),
        ),
    )


def _at_edge(recording: HealthEvidence, launches: Launches, loss: LostLaunches) -> Finding:
    count = len(loss.places)
    if loss.at_start:
        identity, span = "device.head_lost", loss.stop
        sentence = (
            "the first {count} kernel launches have no task on the device, later ones do: "
            "its recording began late"
            if count == span
            else "{count} of the first {span} kernel launches have no task on the device, later ones do: "
            "its recording began late"
        )
        remedy = (
            "Leave these steps out, or record with a warm-up step before the active ones "
            "(schedule(wait=1, warmup=1))."
        )
    else:
        identity, span = "device.tail_lost", len(launches.row) - loss.first
        sentence = (
            "the last {count} kernel launches have no task on the device: "
            "recording stopped before the device was done"
            if count == span
            else "{count} of the last {span} kernel launches have no task on the device: "
            "recording stopped before the device was done"
        )
        remedy = "Leave the last step out, or synchronise the device before the profiler stops."
    return Finding(
        id=identity,
        severity=Severity.WRONG,
        affects=("steps", "idle"),
        sentence=sentence,
        remedy=remedy,
        figures={"span": span},
        count=count,
        share=count / len(launches.row),
        steps=_steps_of(recording, launches, loss),
        windows=(hole_of(recording, launches, loss),),
    )


def _dropped(recording: HealthEvidence, launches: Launches, losses: Sequence[LostLaunches]) -> Finding:
    count, span = sum(len(loss.places) for loss in losses), losses[0].stop - losses[0].first
    is_within = losses[0].is_dense and span < len(launches.row)
    return Finding(
        id="device.dropped",
        severity=Severity.WRONG,
        affects=("idle", "causes"),
        sentence=(
            "{count} kernel launches in a row have no task on the device, those before and after have"
            if len(losses) == 1 and count == span
            else "{count} of {span} kernel launches in a row have no task on the device, "
            "those before and after have"
            if len(losses) == 1 and is_within
            else "{count} kernel launches here and there have no task on the device, those between them have"
            if len(losses) == 1
            else "{count} kernel launches in {stretches} stretches have no task on the device, others have"
        ),
        remedy=LOST_TASKS,
        figures={"stretches": len(losses), "span": span},
        count=count,
        share=count / len(launches.row),
        steps=_steps_of(recording, launches, *losses),
        windows=tuple(hole_of(recording, launches, loss) for loss in losses),
    )


def _unproven(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield findings on the steps that lack tasks where no launches are recorded to prove a loss."""
    steps = recording.steps
    silent = [*_silent_steps(recording)]
    if silent:
        windows = tuple((steps[place].host_start_ns, steps[place].host_end_ns) for place in silent)
        yield _empty(recording, silent, Severity.DOUBTFUL, windows)
    uncomputed = uncomputed_steps(steps)
    if uncomputed:
        yield _uncomputed(recording, uncomputed)


def _empty(
    recording: HealthEvidence, steps: Sequence[int], severity: Severity, windows: TimeWindows
) -> Finding:
    count, total = _count_steps(recording, steps), len(distinct(recording.host_starts))
    return Finding(
        id="device.step_empty",
        severity=severity,
        affects=("steps", "idle"),
        sentence=(
            "1 of {steps} steps neither computes nor communicates on the device, others do"
            if count == 1
            else "{count} of {steps} steps neither compute nor communicate on the device, others do"
        ),
        remedy="Leave these steps out: the profiler lost what the device did in them.",
        figures={"steps": total},
        count=count,
        share=count / total,
        steps=tuple(steps),
        windows=windows,
    )


def _uncomputed(recording: HealthEvidence, steps: list[int]) -> Finding:
    every = recording.steps
    empty = _count_steps(recording, [place for place in steps if every[place].only_communicates])
    count, total = _count_steps(recording, steps), len(distinct(recording.host_starts))
    cut = sorted({every[place].number for place in steps if not every[place].only_communicates})
    sentence = (
        "only communication is recorded of {count} of {steps} steps and of parts of steps {cut}, "
        "the others compute"
        if len(cut) > 1
        else "only communication is recorded of {count} of {steps} steps and of a part of step {cut}, "
        "the others compute"
        if cut
        else "only communication is recorded of 1 of {steps} steps, the others compute"
        if empty == 1
        else "only communication is recorded of {count} of {steps} steps, the others compute"
    )
    return Finding(
        id="device.step_empty",
        severity=Severity.DOUBTFUL,
        affects=("steps", "idle", "communication"),
        sentence=sentence,
        remedy=(
            "Leave these steps out: what they computed counts as idle, and no communication is overlapped."
        ),
        figures={"count": empty, "steps": total, "cut": ", ".join(map(str, cut))},
        count=count,
        share=count / total,
        steps=tuple(steps),
        windows=_united((every[place].start_ns, every[place].end_ns) for place in steps),
    )


def _count_steps(recording: HealthEvidence, steps: Sequence[int]) -> int:
    """Return how many steps of the host those at some places are, which are one for each device."""
    return len(distinct(recording.host_starts[np.array(steps, np.int64)]))


def _united(windows: Iterable[tuple[int, int]]) -> TimeWindows:
    """Return windows in order, those that touch or overlap as one."""
    united = time_in_spans([*windows])
    return tuple(zip(united.starts.tolist(), united.ends.tolist()))


def _emptied_steps(recording: HealthEvidence, launches: Launches, loss: LostLaunches) -> set[int]:
    """Return the places of the steps that launched a loss and neither compute nor communicate.

    None where there is only one step.
    """
    if not loss.is_dense or len(distinct(recording.host_starts)) < 2:
        return set()
    launching = recording.steps_at(launches.start[loss.places])
    return set(places(launching[recording.is_empty[launching]]))


def _silent_steps(recording: HealthEvidence) -> Iterator[int]:
    """Yield the places of the steps that neither compute nor communicate, of devices on which others do."""
    empty = recording.is_empty
    for held in steps_by_device(recording.steps).values():
        silent = [place for place in held if empty[place]]
        if len(silent) < len(held):
            yield from silent


def _steps_of(recording: HealthEvidence, launches: Launches, *losses: LostLaunches) -> tuple[int, ...]:
    """Return the places of the steps that lost a noticeable part of what they launched."""
    lost: Int64s = np.concatenate([launches.start[loss.places] for loss in losses])
    steps = recording.steps_at(lost)
    if len(steps) < 2:
        return places(steps)
    starts = recording.host_starts[steps]
    begins = distinct(starts)
    counts = np.bincount(np.maximum(np.searchsorted(begins, lost, "right") - 1, 0), minlength=len(begins))
    noticed = begins[counts >= max(1, _LEAST_PART * len(lost))]
    return places(steps[np.isin(starts, noticed)])
