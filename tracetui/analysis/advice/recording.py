"""Notes on the trace itself: what to collect so that more of the idle time can be explained."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import MISSING_SHARE, Advice
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import distinct
from tracetui.arrays import Bools
from tracetui.trace.model import Family, Layer, TraceKind


def unlinked(evidence: Evidence) -> Iterator[Advice]:
    """Find idle time before launches of which the trace does not tell what the host did."""
    pieces = _without_host(evidence)
    cost, chains = evidence.idle_ns(pieces), evidence.analysis.launch_chains
    if not MISSING_SHARE.reached(cost, evidence.window_ns):
        return
    layers = {track.layer for track in evidence.trace.tracks if len(track.rows)}
    remedy = "host"
    if Layer.PYTHON in layers:
        remedy = "warm_up" if evidence.is_gpu or Layer.RUNTIME in layers else "level"
    yield Advice(
        id="collect_host_events",
        remedy=remedy,
        cost_ns=None,
        evidence={"tasks": chains.total, "linked_tasks": chains.linked, "unlinked_idle_ns": cost},
        gaps=evidence.gaps(pieces),
    )


def stacks(evidence: Evidence) -> Iterator[Advice]:
    """Idle time of operators without a line, in a trace without any stack."""
    trace = evidence.trace
    framed = any(track.family == Family.FRAMES and len(track.rows) for track in trace.tracks)
    if framed or trace.slices.have_stacks:
        return
    pieces = ~_without_host(evidence)
    cost = evidence.idle_ns(pieces)
    if not MISSING_SHARE.reached(cost, evidence.window_ns):
        return
    operators = len(distinct(evidence.causes.operator[pieces & (evidence.causes.operator >= 0)]))
    if not operators:
        return
    yield Advice(
        id="collect_stacks",
        cost_ns=None,
        evidence={"idle_ns": cost, "operators": operators},
        gaps=evidence.gaps(pieces),
    )


def level(evidence: Evidence) -> Iterator[Advice]:
    """Find launches about which a trace of level 0 says too little."""
    if evidence.trace.kind != TraceKind.ASCEND or evidence.analysis.has_runtime:
        return
    pieces = evidence.caused(Cause.LAUNCH_DISPATCH)
    cost = evidence.idle_ns(pieces)
    if not MISSING_SHARE.reached(cost, evidence.window_ns):
        return
    yield Advice(
        id="collect_level_1",
        cost_ns=None,
        evidence={"launch_idle_ns": cost, "launches": len(distinct(evidence.causes.interval[pieces]))},
        gaps=evidence.gaps(pieces),
    )


def _without_host(evidence: Evidence) -> Bools:
    """Return which pieces are the host's, of no thread that has operators; bool[pieces]."""
    of_no_thread = evidence.caused(Cause.UNRECORDED) & (evidence.causes.track < 0)
    return evidence.caused(Cause.UNLINKED) | of_no_thread
