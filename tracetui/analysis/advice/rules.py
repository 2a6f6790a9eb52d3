"""The table of rules: each looks at the evidence of a trace and gives advice where its condition holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Callable
from weakref import WeakKeyDictionary

from tracetui.analysis.advice import device, host, launch, recording, scheduler, transfers
from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import Advice
from tracetui.analysis.analyse import Analysis

RULES: tuple[Callable[[Evidence], Iterator[Advice]], ...] = (
    host.launch_bound,
    host.small_operators,
    host.sync_in_loop,
    host.data_loader,
    host.collections,
    host.memory_stalls,
    launch.dispatch_queue,
    launch.compilation,
    scheduler.preempted,
    scheduler.interrupts,
    scheduler.migrations,
    scheduler.node_migrations,
    device.ai_cpu,
    device.conversions,
    device.core_frequency,
    transfers.communication,
    transfers.exposed_copies,
    host.data_queues,
    device.iteration_gap,
    device.free_time,
    recording.unlinked,
    recording.stacks,
    recording.level,
    scheduler.unrecorded,
)


#: What was found, kept as long as its analysis.
_ADVICE: WeakKeyDictionary[Analysis, tuple[Advice, ...]] = WeakKeyDictionary()


def find_advice(analysis: Analysis) -> tuple[Advice, ...]:
    """Return the advice that follows from a trace: what is about the most time first, then notes.

    It is looked for once for each analysis. Costs may explain the same time twice: they are never to be added
    up.
    """
    advice = _ADVICE.get(analysis)
    if advice is None:
        advice = _ADVICE[analysis] = _apply_rules(Evidence(analysis))
    return advice


def _apply_rules(evidence: Evidence) -> tuple[Advice, ...]:
    found = [_with_step(evidence, advice) for rule in RULES for advice in rule(evidence)]
    if any(advice.id == "launch_bound" for advice in found):  # says why the device is free
        found = [advice for advice in found if advice.id != "free_time"]
    return tuple(sorted(found, key=_rank))


def _with_step(evidence: Evidence, advice: Advice) -> Advice:
    """Return advice with what a mean step costs, unless its rule has told that."""
    if advice.cost_ns is None or advice.per_step_ns is not None:
        return advice
    return replace(advice, per_step_ns=evidence.per_step_ns(advice.cost_ns))


def _rank(advice: Advice) -> tuple[bool, int, str, str, int]:
    cost = advice.cost_ns
    return cost is None, -(cost or 0), advice.id, advice.file or "", advice.line
