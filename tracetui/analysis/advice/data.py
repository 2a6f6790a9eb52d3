"""Advice about the data pipeline of MindSpore, from the queues that it leaves beside the trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import DATA_QUEUE_EMPTY, DATA_QUEUE_SHARE, Advice, Figures, duration
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
    title, remedy, subjects = _verdict(data)
    figures: Figures = {"iteration_gap_idle_ns": cost, "batches": data.batches, "empty": data.empty}
    if data.host_queue is not None:
        figures["host_queue_empty_share"] = max(data.host_queue.empty_pct, 0.0) / 100
    if data.slowest is not None and subjects:
        figures["workers"] = data.slowest.workers
    yield Advice(
        id="data_queue",
        title=title,
        text=f"The device is idle for {duration(cost)} between steps. {_queue_sentences(data)} {remedy}",
        rule=DATA_QUEUE_EMPTY.rule(
            f"Idle time between steps is at least {DATA_QUEUE_SHARE} of the device's time; data is late "
            "where the queue before the device is empty for more than {} of the batches"
        ),
        cost_ns=cost,
        evidence=figures,
        subjects=subjects,
        per_step_ns=evidence.step_ns(cost),
    )


def _queue_sentences(data: MindData) -> str:
    parts = []
    if data.batches:
        parts.append(f"The queue before the device was empty for {data.empty} of {data.batches} batches.")
    if data.host_queue is not None:
        parts.append(f"The queue of the host was empty for {data.host_queue.empty_pct:.1f} % of the time.")
    return " ".join(parts)


def _verdict(data: MindData) -> tuple[str, str, tuple[str, ...]]:
    """Return who is late, by the rules of MindSpore's guide for the lengths of the queues."""
    host = data.host_queue
    if data.batches and not DATA_QUEUE_EMPTY.exceeded(data.empty, data.batches):
        return (
            "Taking data from the queue is late",
            "Data was there: look at GetNext itself, and at what else the host does between steps.",
            (),
        )
    if host is not None and host.empty_pct <= 0:
        return (
            "Sending data to the device is late",
            "The host had data ready: make batches smaller on the way (types, padding), send fewer columns.",
            (),
        )
    slowest = data.slowest
    return (
        "The data pipeline is late",
        "The operator below gets too little done: give it more workers, simplify it, or cache it.",
        (slowest.name,) if slowest is not None else (),
    )
