"""Advice about the way from the host to the device: the task queue, and operators compiled at run time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import COMPILE_SHARE, QUEUE_SHARE, Advice, duration
from tracetui.analysis.idle.calls import cause_of_call, cause_of_operator, compiles_at_launch
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.naming import by_name
from tracetui.analysis.search import distinct
from tracetui.trace.model import Family, TraceKind


def dispatch_queue(evidence: Evidence) -> Iterator[Advice]:
    """Find tasks that lie in the task queue while the device is idle."""
    pieces = evidence.caused(Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP)
    busy, wakeup = (
        evidence.idle(evidence.caused(Cause.QUEUE_BUSY)),
        evidence.idle(evidence.caused(Cause.QUEUE_WAKEUP)),
    )
    cost = busy + wakeup
    if not QUEUE_SHARE.share(cost, evidence.window_ns):
        return
    waits = len(distinct(evidence.causes.interval[pieces]))
    remedy = (
        "TASK_QUEUE_ENABLE=2 takes more of each launch off the thread that dequeues"
        if busy >= wakeup
        else "CPU_AFFINITY_CONF=1 binds the threads to cores, so that the one that dequeues wakes up sooner"
    )
    alternative = "CPU_AFFINITY_CONF=1" if busy >= wakeup else "TASK_QUEUE_ENABLE=2"
    yield Advice(
        id="dispatch_queue_late",
        title="The task queue launches late",
        text=(
            f"{waits} times a task was in the queue already while the device was idle, {duration(cost)} in "
            f"all: {duration(busy)} behind another launch, {duration(wakeup)} until its thread woke up. "
            f"{remedy}; try {alternative} too."
        ),
        rule=QUEUE_SHARE.rule("The idle time of tasks in the task queue is at least {} of the device's time"),
        cost_ns=cost,
        evidence={
            "waits": waits,
            "waits_per_step": evidence.per_step(waits),
            "busy_ns": busy,
            "wakeup_ns": wakeup,
            "share_of_window": cost / max(evidence.window_ns, 1),
        },
        per_step_ns=evidence.step_ns(cost),
        gaps=evidence.gaps(pieces),
    )


def compilation(evidence: Evidence) -> Iterator[Advice]:
    """Find operators or graphs that are compiled while the device is idle."""
    pieces = evidence.caused(Cause.COMPILE, Cause.LAUNCH_COMPILE)
    cost = evidence.idle(pieces)
    if not COMPILE_SHARE.share(cost, evidence.window_ns):
        return
    trace = evidence.trace
    calls, operators = evidence.rows_of(Family.CALLS), evidence.host_rows
    at_launch = calls[by_name(trace, calls, compiles_at_launch) == 1]
    compile_calls = calls[by_name(trace, calls, cause_of_call) == Cause.COMPILE]
    graphs = operators[by_name(trace, operators, cause_of_operator) == Cause.COMPILE]
    rows = evidence.outermost(distinct(np.concatenate((at_launch, compile_calls, graphs))))
    remedy = (
        "torch.npu.set_compile_mode(jit_compile=False) uses the compiled operators that CANN brings; "
        "shapes that stay the same are compiled once."
        if trace.kind == TraceKind.ASCEND and len(at_launch)
        else "Keep shapes the same from step to step, or compile all that occur before training starts."
    )
    rows = evidence.longest_first(rows)
    launched = evidence.causes.operator[pieces]
    yield Advice(
        id="operators_compiled_at_run_time",
        title="Operators are compiled while training",
        text=(
            f"{evidence.rate(len(rows))} compilations {evidence.times} keep the device idle for "
            f"{duration(cost)} in all. {remedy}"
        ),
        rule=COMPILE_SHARE.rule("Compiling takes at least {} of the device's time, as idle time"),
        cost_ns=cost,
        evidence={
            "compilations": len(rows),
            "compilations_per_step": evidence.per_step(len(rows)),
            "total_ns": evidence.span(rows).total,
            "idle_ns": cost,
        },
        subjects=evidence.names(launched[launched >= 0]),
        **evidence.worst_line(pieces)._asdict(),
        per_step_ns=evidence.step_ns(cost),
        gaps=evidence.gaps(pieces),
        rows=rows,
    )
