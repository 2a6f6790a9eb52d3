"""Advice about cores: threads that had none, moves between them, interrupts; and a note on recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import (
    HOST_BOUND,
    HOST_BOUND_SHARE,
    INTERRUPT_SHARE,
    MIGRATIONS,
    NODE_MIGRATIONS,
    PREEMPTED_SHARE,
    Advice,
    Figures,
)
from tracetui.analysis.critical.whatif import RunSaving
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.cores import IDLE
from tracetui.analysis.scheduler.summary import ThreadTime

_HOST_BOUND = (Cause.OPERATOR, Cause.PYTHON, Cause.QUEUE_WAKEUP, Cause.LAUNCH_DISPATCH)


def preempted(evidence: Evidence) -> Iterator[Advice]:
    """Find threads that were ready and had no core while the device was idle."""
    pieces = evidence.caused(Cause.PREEMPTED)
    cost, summary = evidence.idle_ns(pieces), evidence.analysis.scheduler_summary
    if summary is None or not PREEMPTED_SHARE.reached(cost, evidence.window_ns):
        return
    nobody = sum(culprit.idle_ns for culprit in summary.culprits if culprit.task.pid == IDLE)
    foreign = sum(culprit.idle_ns for culprit in summary.culprits if culprit.own_process is False) - nobody
    shared = sum(len(core.threads) > 1 for core in summary.cores)
    setting = _setting(evidence)
    yield Advice(
        id="threads_without_a_core",
        cost_ns=cost,
        evidence={
            "idle_ns": cost,
            "foreign_ns": foreign,
            "nobody_ns": nobody,
            **_saves(evidence, evidence.analysis.pinning_saves),
            "shared_cores": shared,
            "setting": setting,
        },
        remedy="awake" if nobody * 2 > cost else "pinned",
        subjects=tuple(dict.fromkeys(culprit.task.comm for culprit in summary.culprits))[:5],
        **evidence.worst_line(pieces)._asdict(),
        gaps=evidence.gaps(pieces),
    )


def migrations(evidence: Evidence) -> Iterator[Advice]:
    """Find threads that come to another core again and again."""
    rates, names = _moving_threads(evidence, lambda time: time.migrations_per_s, MIGRATIONS.value)
    if rates:
        figures: Figures = {
            "threads": len(rates),
            "migrations_per_s": max(rates),
            "setting": _setting(evidence),
        }
        yield Advice(id="threads_migrate", cost_ns=None, evidence=figures, subjects=names)


def node_migrations(evidence: Evidence) -> Iterator[Advice]:
    """Find threads that come to another NUMA node again and again."""
    rates, names = _moving_threads(evidence, lambda time: time.node_migrations_per_s, NODE_MIGRATIONS.value)
    if rates:
        figures: Figures = {"threads": len(rates), "node_migrations_per_s": max(rates)}
        yield Advice(id="threads_change_nodes", cost_ns=None, evidence=figures, subjects=names)


def _moving_threads(
    evidence: Evidence, rate: Callable[[ThreadTime], float], least: float
) -> tuple[list[float], tuple[str, ...]]:
    """Return the rates, a second, of the threads that move at least that often, and five of their names."""
    summary = evidence.analysis.scheduler_summary
    moving = [] if summary is None else [time for time in summary.threads if rate(time) >= least]
    return [rate(time) for time in moving], tuple(dict.fromkeys(time.task.comm for time in moving))[:5]


def interrupts(evidence: Evidence) -> Iterator[Advice]:
    """Find interrupts on the cores of threads that launch, while the device is idle."""
    pieces = evidence.caused(Cause.INTERRUPTED)
    cost, scheduler = evidence.idle_ns(pieces), evidence.analysis.scheduler
    if scheduler is None or not INTERRUPT_SHARE.reached(cost, evidence.window_ns):
        return
    cores = scheduler.cores_at(evidence.causes.start[pieces], evidence.causes.track[pieces])
    yield Advice(
        id="interrupts_on_launching_cores",
        cost_ns=cost,
        evidence={
            "idle_ns": cost,
            "cores": len(cores),
            **_saves(evidence, evidence.analysis.interrupts_save),
        },
        gaps=evidence.gaps(pieces),
    )


def _saves(evidence: Evidence, saved: RunSaving) -> Figures:
    """Return what is saved at most, and if late peers come as much sooner where that is more."""
    alone, together = (min(ns, evidence.window_ns) for ns in saved)
    with_peers: Figures = {"saves_with_peers_ns": together} if together > alone else {}
    return {"saves_at_most_ns": alone, **with_peers}


def _setting(evidence: Evidence) -> str:
    """Return the setting that binds threads to cores."""
    return "taskset" if evidence.is_gpu else "CPU_AFFINITY_CONF=1 or taskset"


def unrecorded(evidence: Evidence) -> Iterator[Advice]:
    """Find a late host in a trace without a recording of the scheduler."""
    pieces = evidence.caused(*_HOST_BOUND)
    cost = evidence.idle_ns(pieces)
    was_recorded = evidence.analysis.scheduler is not None or evidence.analysis.scheduler_problem
    if was_recorded or cost < HOST_BOUND.value:
        return
    if not HOST_BOUND_SHARE.reached(cost, evidence.window_ns):
        return
    yield Advice(
        id="record_the_scheduler",
        cost_ns=None,
        evidence={"idle_ns": cost},
        gaps=evidence.gaps(pieces)[:100],
    )
