"""Advice about the data pipeline of MindSpore, from the queues that it leaves beside the trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import DATA_QUEUE_EMPTY, DATA_QUEUE_SHARE, Advice, Figures
from tracetui.siblings.minddata import MindData, minddata_of


def data_queues(evidence: Evidence) -> Iterator[Advice]:
    """Idle time between steps for which the queues of MindData tell who is late."""
    steps = evidence.analysis.steps
    cost = sum(step.phase_idle_ns[0] for step in steps)
    if not DATA_QUEUE_SHARE.share(cost, evidence.window_ns):
        return
    data = minddata_of(Path(evidence.trace.path))
    if data is None or not (data.batches or data.operators):
        return
    variant, subjects = _verdict(data)
    context: Figures = {}
    figures: Figures = {"iteration_gap_idle_ns": cost, "batches": data.batches, "empty": data.empty}
    if data.host_queue is not None:
        figures["host_queue_empty_share"] = max(data.host_queue.empty_pct, 0.0) / 100
        context["host_queue_empty_pct"] = data.host_queue.empty_pct
    if data.slowest is not None and subjects:
        figures["workers"] = data.slowest.workers
    yield Advice(
        id="data_queue",
        variant=variant,
        cost_ns=cost,
        evidence=figures,
        context=context,
        subjects=subjects,
        per_step_ns=evidence.step_ns(cost),
    )


def _verdict(data: MindData) -> tuple[str, tuple[str, ...]]:
    """Return who is late, and the operator to look at, by the rules of MindSpore's guide for the lengths of
    the queues.
    """
    host = data.host_queue
    if data.batches and not DATA_QUEUE_EMPTY.exceeded(data.empty, data.batches):
        return "taking", ()
    if host is not None and host.empty_pct <= 0:
        return "sending", ()
    slowest = data.slowest
    return "pipeline", (slowest.name,) if slowest is not None else ()
