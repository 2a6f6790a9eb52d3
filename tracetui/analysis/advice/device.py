"""Advice about what the device does, or leaves undone: AI CPU, conversions, free time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tracetui.analysis.advice.evidence import Found
from tracetui.analysis.advice.model import (
    AI_CPU,
    CONVERSION_SHARE,
    FREE_SHARE,
    ITERATION_GAP,
    Advice,
    duration,
)
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.naming import by_name, matching
from tracetui.analysis.intervals import union
from tracetui.analysis.search import distinct, runs
from tracetui.analysis.sums import most_first
from tracetui.trace.model import Activity
from tracetui.units import format_percent

_AI_CPU = re.compile(r"(?:KERNEL_)?AI_?CPU", re.IGNORECASE)
_CONVERSIONS = (
    (
        "format_conversions",
        "Data is converted between formats",
        re.compile(r"(?:.*_)?TransData(?:_|$)"),
        "Keep tensors in one format: torch.npu.config.allow_internal_format = False, or convert once, before "
        "the loop.",
    ),
    (
        "casts",
        "Data is cast between types",
        re.compile(r"(?:.*_)?Cast(?:AiCore)?(?:_|$)"),
        "Keep data in the type that the operators around it use, and cast once instead of at every use.",
    ),
)


def ai_cpu(found: Found) -> Iterator[Advice]:
    """Operators that run on the AI CPU while the AI cores do nothing, by name and line."""
    slices, strings = found.trace.slices, found.trace.strings
    kinds = [
        i for i in distinct(slices.task_type[found.work]).tolist() if i >= 0 and _AI_CPU.match(strings[i])
    ]
    chosen = np.isin(slices.task_type[found.work], kinds) & (slices.dur[found.work] >= AI_CPU.least)
    tasks, device = found.work[chosen], found.device_of_work[chosen]
    lines = found.task_lines(tasks)
    groups = (lines + 1) * (len(strings) + 1) + slices.name[tasks]
    for _, own in runs(groups):
        rows = found.longest_first(tasks[own])
        cost = sum(
            (found.span(tasks[own[of]]) - found.analysis.devices[index].aicore).total
            for index, of in runs(device[own])
        )
        if not cost:
            continue
        total = int(slices.dur[rows].sum())
        yield Advice(
            id="ai_cpu_operator",
            title="An operator runs on the AI CPU",
            text=(
                f"It runs {found.rate(len(rows))} times {found.times}, "
                f"{duration(int(slices.dur[rows[0]]))} at most, and for {duration(cost)} in all no AI core "
                "works meanwhile. "
                "Use a type or operator that the AI cores support (often int32 or float32 for int64 or "
                "float64), or compute it on the host, ahead of time."
            ),
            rule=AI_CPU.rule("An operator takes at least {} on the AI CPU"),
            cost_ns=cost,
            evidence={
                "count": len(rows),
                "count_per_step": found.per_step(len(rows)),
                "total_ns": total,
                "longest_ns": int(slices.dur[rows[0]]),
                "exposed_ns": cost,
            },
            subjects=(*found.names(rows, 1), *found.operators_of(rows)),
            **found.blame(int(lines[own[0]]))._asdict(),
            per_step_ns=found.step_ns(cost),
            gaps=found.gaps_at(found.span(rows)),
            rows=rows,
        )


def conversions(found: Found) -> Iterator[Advice]:
    """Kernels that only change the format or the type of data."""
    slices = found.trace.slices
    kernels = found.work[slices.activity[found.work] == Activity.AICORE]
    device = found.device_of_work[slices.activity[found.work] == Activity.AICORE]
    computing = sum(activity.computing_ns for activity in found.analysis.devices)
    for rule_id, title, pattern, remedy in _CONVERSIONS:
        matched = by_name(found.trace, kernels, matching(pattern)) == 1
        cost = sum(found.span(kernels[matched][of]).total for _, of in runs(device[matched]))
        if not CONVERSION_SHARE.share(cost, computing):
            continue
        rows = found.longest_first(kernels[matched])
        lines = found.task_lines(rows)
        worst, _ = most_first(lines[lines >= 0], slices.dur[rows[lines >= 0]])
        yield Advice(
            id=rule_id,
            title=title,
            text=(
                f"{found.rate(len(rows))} kernels {found.times} do nothing else, and take "
                f"{format_percent(cost, computing)} of the computing time: {duration(cost)}. {remedy}"
            ),
            rule=CONVERSION_SHARE.rule("Such kernels take at least {} of the computing time"),
            cost_ns=cost,
            evidence={
                "count": len(rows),
                "count_per_step": found.per_step(len(rows)),
                "total_ns": cost,
                "share_of_computing": cost / computing,
            },
            subjects=(*found.names(rows), *found.operators_of(rows)),
            **found.blame(int(worst[0]) if len(worst) else -1)._asdict(),
            per_step_ns=found.step_ns(cost),
            rows=rows,
        )


def iteration_gap(found: Found) -> Iterator[Advice]:
    """The device is idle between the last task of a step and the first of the next."""
    steps = found.analysis.steps
    late = [
        i
        for i, step in enumerate(steps)
        if step.iteration_gap and step.phase_idle_ns[0] > ITERATION_GAP.least
    ]
    if not late:
        return
    late.sort(key=lambda index: (-steps[index].phase_idle_ns[0], index))
    idle = [steps[index].phase_idle_ns[0] for index in late]
    spans = [steps[index].iteration_gap or (0, 0) for index in late]
    of_device: dict[str, list[tuple[int, int]]] = {}
    for index, span in zip(late, spans):
        of_device.setdefault(steps[index].device, []).append(span)
    between = np.zeros(len(found.causes), np.bool_)
    for index, activity in enumerate(found.analysis.devices):
        own = found.causes.of_device(index)
        gaps_of_steps = union(*np.array(of_device.get(activity.device, ()), np.int64).reshape(-1, 2).T)
        between[own] = gaps_of_steps.covered(found.causes.start[own], found.causes.end[own]) > 0
    yield Advice(
        id="iteration_gap",
        title="The device is idle between steps",
        text=(
            f"In {len(late)} of {len(steps)} steps the first task comes late: the device is idle for "
            f"{duration(sum(idle))} before it in all, {duration(idle[0])} at most. "
            "Take out of the way what runs between optimizer and forward pass: reading the loss, logging, "
            "loading data."
        ),
        rule=ITERATION_GAP.rule("The device is idle for more than {} before the first task of a step"),
        cost_ns=sum(idle),
        evidence={"steps": len(late), "of_steps": len(steps), "longest_ns": idle[0], "idle_ns": sum(idle)},
        **found.worst_line(between)._asdict(),
        per_step_ns=found.step_ns(sum(idle)),
        gaps=found.gaps(between),
        rows=np.array([steps[index].row for index in late], np.int64),
        general=True,
    )


def free_time(found: Found) -> Iterator[Advice]:
    """The device neither computes nor communicates for much of a step."""
    analysis = found.analysis
    spans = [
        (step.free_ns, step.computing_ns + step.communication_not_overlapped_ns + step.free_ns, step.idle_ns)
        for step in analysis.steps
    ] or [(device.free_ns, device.window_ns, device.idle_ns) for device in analysis.devices]
    freer = [i for i, (free, window, _) in enumerate(spans) if free * 100 > window * FREE_SHARE.least]
    cost = sum(spans[i][2] for i in freer)
    if not cost:
        return
    column = analysis.idle.step if analysis.steps else analysis.idle.device
    pieces = np.isin(column, freer)[found.causes.interval]
    free, window = (sum(spans[i][k] for i in freer) for k in (0, 1))
    causes, sums = most_first(found.causes.cause[pieces].astype(np.int64), found.causes.ns[pieces])
    times = {Cause(cause).label: ns for cause, ns in zip(causes[:3].tolist(), sums.tolist())}
    mostly = ", ".join(f"{label} {duration(ns)}" for label, ns in times.items())
    where = f"In {len(freer)} of {len(spans)} steps the" if analysis.steps else "The"
    yield Advice(
        id="free_time",
        title="The device is free for much of the time",
        text=(
            f"{where} device neither computes nor communicates for {format_percent(free, window)} of the "
            f"time. It is idle for {duration(cost)}, most of it {mostly}."
        ),
        rule=FREE_SHARE.rule(f"Free time is more than {{}} of {'a step' if analysis.steps else 'all'}"),
        cost_ns=cost,
        evidence={
            "free_ns": free,
            "share_free": free / window,
            "idle_ns": cost,
            "steps": len(freer) if analysis.steps else 0,
            **{f"{label.replace('.', '_')}_ns": ns for label, ns in times.items()},
        },
        **found.worst_line(pieces)._asdict(),
        per_step_ns=found.step_ns(cost),
        gaps=found.gaps(pieces),
        general=True,
    )
