"""The table of rules: each looks at the evidence of a trace and gives advice where its condition holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

from tracetui.analysis.advice import data, device, frequency, host, launch, recording, transfers
from tracetui.analysis.advice.evidence import Analysed, Evidence
from tracetui.analysis.advice.model import Advice

RULES: tuple[Callable[[Evidence], Iterator[Advice]], ...] = (
    host.launch_bound,
    host.small_operators,
    host.sync_in_loop,
    host.data_loader,
    host.collections,
    host.memory_stalls,
    launch.dispatch_queue,
    launch.compilation,
    device.ai_cpu,
    device.conversions,
    frequency.core_frequency,
    transfers.communication,
    transfers.copies,
    data.data_queues,
    device.iteration_gap,
    device.free_time,
    recording.unlinked,
    recording.stacks,
    recording.level,
)


def find_advice(analysis: Analysed) -> tuple[Advice, ...]:
    """Return the advice that follows from a trace: what is about the most time first, then notes.

    Costs may explain the same time twice: they are never to be added up.
    """
    evidence = Evidence(analysis)
    advice = [each for rule in RULES for each in rule(evidence)]
    if any(each.id == "launch_bound" for each in advice):  # says why the device is free
        advice = [each for each in advice if each.id != "free_time"]
    return tuple(sorted(advice, key=_rank))


def _rank(advice: Advice) -> tuple[bool, int, str, str, int]:
    cost = advice.cost_ns
    return cost is None, -(cost or 0), advice.id, advice.file or "", advice.line
