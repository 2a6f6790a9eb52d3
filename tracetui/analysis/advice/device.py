"""Advice about what the device does, or leaves undone: AI CPU, conversions, free time, its clock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import (
    AI_CPU,
    CONVERSION_SHARE,
    FREE_SHARE,
    FREQUENCY,
    ITERATION_GAP,
    Advice,
    Figures,
)
from tracetui.analysis.advice.transfers import of_pytorch
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import time_in_spans
from tracetui.analysis.search import distinct, group_by, matching, name_meanings
from tracetui.analysis.series import Series, counter_series
from tracetui.analysis.sums import most_first
from tracetui.arrays import Floats, Int64s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Activity, Trace
from tracetui.trace.quantity import is_core_frequency

_AI_CPU = compile_any(KNOWN.tasks.ai_cpu_types)
_NPU_FORMAT, _GPU_FORMAT = "torch.npu.config.allow_internal_format = False", "memory_format=channels_last"
_FORMATS = "format_conversions"
_CONVERSIONS = (
    (_FORMATS, compile_any(KNOWN.tasks.format_conversions)),
    ("casts", compile_any(KNOWN.tasks.casts)),
)
_NO_FREQUENCY = 1e6  #: MHz


def ai_cpu(evidence: Evidence) -> Iterator[Advice]:
    """Find operators that run on the AI CPU while the AI cores do nothing, by name and line."""
    slices, strings = evidence.trace.slices, evidence.trace.strings
    kinds = [
        i for i in distinct(slices.task_type[evidence.work]).tolist() if i >= 0 and _AI_CPU.match(strings[i])
    ]
    is_ai_cpu = np.isin(slices.task_type[evidence.work], kinds) & (slices.dur[evidence.work] >= AI_CPU.value)
    tasks, device = evidence.work[is_ai_cpu], evidence.device_of_work[is_ai_cpu]
    lines = evidence.task_lines(tasks)
    groups = (lines + 1) * (len(strings) + 1) + slices.name[tasks]
    for _, group in group_by(groups):
        rows = evidence.longest_first(tasks[group])
        spans = {index: evidence.time_of(tasks[group[places]]) for index, places in group_by(device[group])}
        cost = sum((span - evidence.analysis.devices[index].aicore).total for index, span in spans.items())
        if not evidence.worth(cost):
            continue
        total = int(slices.dur[rows].sum())
        yield Advice(
            id="ai_cpu_operator",
            cost_ns=cost,
            evidence={
                "count": len(rows),
                "count_per_step": evidence.per_step(len(rows)),
                "total_ns": total,
                "longest_ns": int(slices.dur[rows[0]]),
                "exposed_ns": cost,
            },
            subjects=(*evidence.names(rows, 1), *evidence.first_operator(rows)),
            **evidence.line(int(lines[group[0]]))._asdict(),
            gaps=evidence.gaps_at(spans),
            rows=rows,
        )


def conversions(evidence: Evidence) -> Iterator[Advice]:
    """Find kernels that only change the format or the type of data."""
    slices = evidence.trace.slices
    kernels = evidence.work[slices.activity[evidence.work] == Activity.COMPUTE]
    device = evidence.device_of_work[slices.activity[evidence.work] == Activity.COMPUTE]
    computing = sum(activity.computing_ns for activity in evidence.analysis.devices)
    has_setting = of_pytorch(evidence.trace)
    setting = {"setting": _GPU_FORMAT if evidence.is_gpu else _NPU_FORMAT} if has_setting else {}
    for rule_id, pattern in _CONVERSIONS:
        matched = name_meanings(evidence.trace, kernels, matching(pattern)) == 1
        groups = group_by(device[matched])
        cost = sum(evidence.time_of(kernels[matched][places]).total for _, places in groups)
        if not CONVERSION_SHARE.reached(cost, computing):
            continue
        rows = evidence.longest_first(kernels[matched])
        lines = evidence.task_lines(rows)
        worst_lines, _ = most_first(lines[lines >= 0], slices.dur[rows[lines >= 0]])
        yield Advice(
            id=rule_id,
            remedy=("setting" if has_setting else "once") if rule_id == _FORMATS else "",
            cost_ns=cost,
            evidence={
                "count": len(rows),
                "count_per_step": evidence.per_step(len(rows)),
                "total_ns": cost,
                "share_of_computing": cost / computing,
                **(setting if rule_id == _FORMATS else {}),
            },
            subjects=(*evidence.names(rows), *evidence.first_operator(rows)),
            **evidence.line(int(worst_lines[0]) if len(worst_lines) else -1)._asdict(),
            rows=rows,
        )


def iteration_gap(evidence: Evidence) -> Iterator[Advice]:
    """Find steps before the first task of which the device is idle, from the last task of the step before."""
    steps = evidence.analysis.steps
    late = [
        i
        for i, step in enumerate(steps)
        if step.iteration_gap and step.phase_idle_ns[0] > ITERATION_GAP.value
    ]
    if not late:
        return
    late.sort(key=lambda index: (-steps[index].phase_idle_ns[0], index))
    idle = [steps[index].phase_idle_ns[0] for index in late]
    spans = {index: steps[index].iteration_gap or (0, 0) for index in late}
    steps_by_device = evidence.analysis.steps_by_device
    between_steps, before = np.zeros(len(evidence.causes), np.bool_), 0
    for index, activity in enumerate(evidence.analysis.devices):
        on_device = evidence.causes.of_device(index)
        gaps_of_steps = time_in_spans(
            [spans[place] for place in steps_by_device.get(activity.device, ()) if place in spans]
        )
        empty = gaps_of_steps - activity.copies
        before += int(empty.before(np.array([activity.start_ns]))[0])
        between_steps[on_device] = (
            gaps_of_steps.covered(evidence.causes.start[on_device], evidence.causes.end[on_device]) > 0
        )
    yield Advice(
        id="iteration_gap",
        cost_ns=sum(idle),
        evidence={
            "steps": evidence.count_host_steps(late),
            "of_steps": evidence.count_host_steps(range(len(steps))),
            "longest_ns": idle[0],
            "idle_ns": sum(idle),
            **({"before_window_ns": before} if before else {}),
        },
        context=_devices(evidence, {steps[index].device for index in late}),
        **evidence.worst_line(between_steps)._asdict(),
        gaps=evidence.gaps(between_steps),
        rows=np.array([steps[index].row for index in late], np.int64),
    )


def free_time(evidence: Evidence) -> Iterator[Advice]:
    """Find steps for much of which the device neither computes nor communicates.

    Where some steps compute, those of which only communication is recorded tell nothing about it; nor does
    time in which the device did what is not recorded.
    """
    analysis, causes = evidence.analysis, evidence.causes
    unseen = causes.cause == Cause.UNSEEN
    place = (analysis.idle.step if analysis.steps else analysis.idle.device)[causes.interval]
    unseen_ns = np.zeros(len(analysis.steps or analysis.devices) + 1, np.int64)
    np.add.at(unseen_ns, place[unseen], causes.ns[unseen])  # those of no step, -1, in the last
    spans = [
        (step.free_ns, step.computing_ns + step.communication_not_overlapped_ns + step.free_ns, step.idle_ns)
        for step in analysis.steps
    ] or [(device.free_ns, device.window_ns, device.idle_ns) for device in analysis.devices]
    spans = [(free - ns, whole - ns, idle - ns) for (free, whole, idle), ns in zip(spans, unseen_ns.tolist())]
    freer = [
        i
        for i, (free, window, _) in enumerate(spans)
        if FREE_SHARE.exceeded(free, window) and i not in evidence.uncomputed_steps
    ]
    cost = sum(spans[i][2] for i in freer)
    if not cost:
        return
    pieces = np.isin(place, freer) & ~unseen
    free, window = (sum(spans[i][k] for i in freer) for k in (0, 1))
    largest, sums = most_first(causes.cause[pieces].astype(np.int64), causes.ns[pieces])
    times = {Cause(cause).label: ns for cause, ns in zip(largest[:3].tolist(), sums.tolist())}
    yield Advice(
        id="free_time",
        cost_ns=cost,
        evidence={
            "free_ns": free,
            "share_free": free / window,
            "idle_ns": cost,
            "steps": evidence.count_host_steps(freer) if analysis.steps else 0,
            **{f"{label.replace('.', '_')}_ns": ns for label, ns in times.items()},
        },
        context={
            "of_steps": evidence.count_host_steps(range(len(analysis.steps))),
            **_devices(evidence, {(analysis.steps or analysis.devices)[i].device for i in freer}),
        },
        **evidence.worst_line(pieces)._asdict(),
        gaps=evidence.gaps(pieces),
    )


def _devices(evidence: Evidence, concerned: set[str]) -> Figures:
    """Return how many devices advice is about, and of how many, unless it is about all."""
    devices = len(evidence.analysis.devices)
    return {"devices": len(concerned), "of_devices": devices} if len(concerned) < devices else {}


def core_frequency(evidence: Evidence) -> Iterator[Advice]:
    """Find AI cores that run below their maximum frequency while kernels do.

    Each kernel counts with the mean frequency of its time, weighted by that time; the frequency between
    kernels does not count. The maximum is the highest that any AI core of the trace ran at. Several dies of a
    device count with their mean.
    """
    slices = evidence.trace.slices
    maximum = max((series.bounds[1] for series in _frequencies(evidence.trace)), default=0.0)
    if maximum <= 0:
        return
    for activity in evidence.analysis.devices:
        kernels = activity.work[slices.activity[activity.work] == Activity.COMPUTE]
        mhz = _mean_mhz(evidence, activity.device, kernels)
        measured = ~np.isnan(mhz)
        kernels, mhz = kernels[measured], mhz[measured]
        durations = slices.dur[kernels]
        total = int(durations.sum())
        lost = durations * (1.0 - mhz / maximum)
        cost = round(float(lost.sum()))
        if not FREQUENCY.exceeded(cost, total):
            continue
        slowed = kernels[mhz < maximum]
        mean = float(np.average(mhz, weights=durations))
        yield Advice(
            id="core_frequency_low",
            cost_ns=cost,
            evidence={
                "device": activity.device,
                "mean_mhz": mean,
                "maximum_mhz": maximum,
                "lowest_mhz": float(mhz.min()),
                "share_below": cost / total,
                "kernels_below": len(slowed),
                "kernels": len(kernels),
                "kernels_ns": total,
            },
            subjects=evidence.names(slowed),
            rows=kernels[np.argsort(-lost, kind="stable")][: len(slowed)],
        )


def _mean_mhz(evidence: Evidence, device: str, kernels: Int64s) -> Floats:
    """Return the mean frequency of a device while each kernel ran, MHz; NaN where it is unknown."""
    slices = evidence.trace.slices
    means = [
        series.mean_between(slices.start[kernels], slices.end[kernels])
        for series in _frequencies(evidence.trace, device)
    ]
    return np.mean(means, axis=0) if means else np.full(len(kernels), np.nan)


def _frequencies(trace: Trace, device: str | None = None) -> list[Series]:
    """Return the frequency (MHz over ns) of each AI core of a device, or of all devices."""
    frequencies = []
    for track in trace.tracks:
        if len(track.samples) and is_core_frequency(track) and device in (None, track.device):
            series = counter_series(trace, track)
            real = (series.value > 0) & (series.value < _NO_FREQUENCY)
            frequencies.append(Series(series.time[real], series.value[real]))
    return frequencies
