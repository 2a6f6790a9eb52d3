"""Advice about the way from the host to the device: the task queue, and operators compiled at run time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import COMPILE_SHARE, QUEUE_SHARE, Advice
from tracetui.analysis.idle.calls import (
    cause_of_call,
    cause_of_frame,
    cause_of_operator,
    compiles_at_launch,
)
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import distinct, name_meanings
from tracetui.trace.model import Family, TraceKind


def dispatch_queue(evidence: Evidence) -> Iterator[Advice]:
    """Find tasks that lie in the task queue while the device is idle."""
    causes = (Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP)
    pieces = evidence.caused(*causes)
    busy, wakeup = (evidence.idle_ns(evidence.caused(cause)) for cause in causes)
    cost = busy + wakeup
    if not QUEUE_SHARE.reached(cost, evidence.window_ns):
        return
    waits = len(distinct(evidence.causes.interval[pieces]))
    yield Advice(
        id="dispatch_queue_late",
        remedy="queue" if busy >= wakeup else "affinity",
        cost_ns=cost,
        evidence={
            "waits": waits,
            "waits_per_step": evidence.per_step(waits),
            "busy_ns": busy,
            "wakeup_ns": wakeup,
            "share_of_window": cost / max(evidence.window_ns, 1),
        },
        gaps=evidence.gaps(pieces),
    )


def compilation(evidence: Evidence) -> Iterator[Advice]:
    """Find operators or graphs that are compiled while the device is idle."""
    pieces = evidence.caused(Cause.COMPILE, Cause.LAUNCH_COMPILE)
    cost = evidence.idle_ns(pieces)
    if not COMPILE_SHARE.reached(cost, evidence.window_ns):
        return
    trace = evidence.trace
    calls, operators = evidence.rows_of(Family.CALLS), evidence.analysis.host_rows
    at_launch = calls[name_meanings(trace, calls, compiles_at_launch) == 1]
    compile_calls = calls[name_meanings(trace, calls, cause_of_call) == Cause.COMPILE]
    graphs = operators[name_meanings(trace, operators, cause_of_operator) == Cause.COMPILE]
    frames = evidence.rows_of(Family.FRAMES)
    compilers = frames[name_meanings(trace, frames, cause_of_frame) == Cause.COMPILE]
    rows = evidence.outermost(distinct(np.concatenate((at_launch, compile_calls, graphs, compilers))))
    rows = evidence.longest_first(rows)
    launched = evidence.causes.operator[pieces]
    yield Advice(
        id="operators_compiled_at_run_time",
        remedy="binaries" if trace.kind == TraceKind.ASCEND and len(at_launch) else "shapes",
        cost_ns=cost,
        evidence={
            "compilations": len(rows),
            "compilations_per_step": evidence.per_step(len(rows)),
            "total_ns": evidence.time_of(rows).total,
            "idle_ns": cost,
        },
        subjects=evidence.names(launched[launched >= 0]),
        **evidence.worst_line(pieces)._asdict(),
        gaps=evidence.gaps(pieces),
        rows=rows,
    )
