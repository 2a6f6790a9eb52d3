"""Advice about time in which the device only moves data: collectives and copies that nothing hides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import (
    COMMUNICATION_EXPOSED,
    COMMUNICATION_SHARE,
    COPY_SHARE,
    Advice,
    Figures,
)
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.planes import collective_kinds
from tracetui.analysis.idle.calls import copies_to_device, copies_to_host
from tracetui.analysis.idle.copies import say_of_copies
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.search import group_by, matching, name_meanings, pick
from tracetui.analysis.sums import most_first
from tracetui.arrays import Int64s, first_equal
from tracetui.trace.model import Activity, Trace

#: Collectives that carry no gradients, by the letters of their names: no size of buckets changes them.
_NOT_GRADIENTS = re.compile("alltoall|allgather|send|recv|receive|broadcast|barrier")

_MEMSET = re.compile(".*memset", re.IGNORECASE)
#: Where a copy goes, and what helps against it.
_TO_DEVICE, _TO_HOST, _ON_DEVICES, _NOWHERE = range(4)
_COPY_REMEDIES = ("to_device", "to_host", "on_devices", "memset")


def communication(evidence: Evidence) -> Iterator[Advice]:
    """Find collectives that no computing hides, and the computing that could hide them."""
    devices = evidence.analysis.devices
    unknown = evidence.uncomputed_time()
    exposed = [one.communication_not_overlapped - part for one, part in zip(devices, unknown)]
    cost = sum(part.total for part in exposed)
    total = sum((one.communication - part).total for one, part in zip(devices, unknown))
    window_ns = evidence.window_ns - sum(
        part.clip(one.start_ns, one.end_ns).total for one, part in zip(devices, unknown)
    )
    if not (COMMUNICATION_SHARE.reached(cost, window_ns) and COMMUNICATION_EXPOSED.reached(cost, total)):
        return
    slices = evidence.trace.slices
    rows = evidence.work[slices.activity[evidence.work] == Activity.COMMUNICATION]
    device_of_row = evidence.device_of_work[slices.activity[evidence.work] == Activity.COMMUNICATION]
    alone = np.zeros(len(rows), np.int64)
    for index, part in enumerate(exposed):
        on_device = device_of_row == index
        alone[on_device] = part.covered(slices.start[rows[on_device]], slices.end[rows[on_device]])
    ranked = rows[np.argsort(-alone, kind="stable")][: int(np.count_nonzero(alone))]
    figures: Figures = {
        "exposed_ns": cost,
        "communication_ns": total,
        "share_of_window": cost / max(window_ns, 1),
        "collectives": len(ranked),
        "computing_alone_ns": sum(activity.computing_ns - activity.overlapped_ns for activity in devices),
    }
    waiting = _waiting(evidence, unknown)
    if waiting is not None:
        figures["waiting_for_ranks_ns"] = waiting
    figures.update(_phases(evidence, exposed))
    remedy, figures["hidden_at_most_ns"] = _overlap(
        cost, figures, _of_gradients(_names_of_kinds(evidence, rows), alone), of_pytorch(evidence.trace)
    )
    context: Figures = {"uncomputed_steps": len(evidence.uncomputed_steps)}
    communicating = np.flatnonzero(evidence.analysis.gaps.communication)
    advice = Advice(
        id="exposed_communication",
        remedy=remedy,
        cost_ns=cost,
        evidence=figures,
        context=context,
        subjects=evidence.names(ranked),
        per_step_ns=evidence.per_computed_step_ns(cost),
        gaps=most_first(communicating, evidence.analysis.gaps.communication[communicating])[0],
        rows=ranked,
    )
    if waiting is not None and waiting * 2 >= cost:
        context = {"share_waiting": waiting / max(window_ns, 1), **context}
        advice = replace(
            advice, id="late_ranks", remedy="", cost_ns=waiting, context=context, per_step_ns=None
        )
    yield advice


def of_pytorch(trace: Trace) -> bool:
    """Return whether PyTorch ran, which it did where the trace has an operator of its own."""
    return any(text.startswith("aten::") for text in trace.strings)


def _names_of_kinds(evidence: Evidence, rows: Int64s) -> list[str]:
    """Return what tells the kind of each collective: its args, or those of its operator; else its name."""
    trace, operations = evidence.trace, evidence.analysis.communication.operations
    kinds = collective_kinds(trace, pick(operations.args, first_equal(operations.row, rows)))
    return [kind or trace.strings[name] for kind, name in zip(kinds, trace.slices.name[rows].tolist())]


def _of_gradients(names: list[str], alone: Int64s) -> bool:
    """Return whether at least half of exposed communication may be of gradients, by what tells its kind.

    `names` are those of the collectives, `alone` the ns in which nothing hides each.
    """
    letters = {name: re.sub("[^a-z]", "", name.lower()) for name in set(names)}
    others = np.array([bool(_NOT_GRADIENTS.search(letters[name])) for name in names], bool)
    return 2 * int(alone[others].sum()) <= int(alone.sum())


def _overlap(cost: int, figures: Figures, of_gradients: bool, pytorch: bool) -> tuple[str, int]:
    """Return what would hide communication, and the most that this hides, ns: smaller buckets where most are
    gradients after a backward pass that has computing to spare.
    """
    tail, free, alone = (
        int(figures.get(key, 0))
        for key in ("exposed_in_tail_ns", "forward_backward_computing_alone_ns", "computing_alone_ns")
    )
    if of_gradients and tail * 2 >= cost and free:
        return "bucket_cap_mb" if pytorch else "buckets", min(tail, free)
    return "asynchronous" if alone else "less", min(cost, alone)


def _waiting(evidence: Evidence, unknown: list[Intervals]) -> int | None:
    """Return the exposed communication before the last rank came, ns, outside of `unknown` of each device.

    None where the collectives show it of less than half, or show no wait and do not show all.
    """
    waiting, moving, unsplit = (
        sum(
            (sets[cause] - part).total
            for sets, part in zip(evidence.analysis.communication.exposed_sets, unknown)
        )
        for cause in CommunicationCause
    )
    return waiting if unsplit <= (waiting + moving if waiting else 0) else None


def _phases(evidence: Evidence, exposed: list[Intervals]) -> Figures:
    """Return exposed communication and computing alone in each phase, of steps whose phases are known."""
    figures: Figures = {}
    spans: dict[str, list[tuple[int, int, int, int]]] = {}
    for step in evidence.analysis.steps:
        if step.forward_backward is not None and step.tail is not None:
            spans.setdefault(step.device, []).append((*step.forward_backward, *step.tail))
    for activity, part in zip(evidence.analysis.devices, exposed):
        if activity.device not in spans:
            continue
        alone = activity.compute - activity.communication
        begin, turn, tail, end = np.array(spans[activity.device], np.int64).T
        for name, start, stop, intervals in (
            ("exposed_in_forward_backward_ns", begin, turn, part),
            ("exposed_in_tail_ns", tail, end, part),
            ("forward_backward_computing_alone_ns", begin, turn, alone),
            ("tail_computing_alone_ns", tail, end, alone),
        ):
            spanned = intervals & union(start, stop)  # steps overlap where the device lags behind its host
            figures[name] = int(figures.get(name, 0)) + spanned.total
    return figures


def exposed_copies(evidence: Evidence) -> Iterator[Advice]:
    """Find copies during which the device does nothing else, by line and direction.

    What says no direction counts as a copy to the device, as it does among the causes of idle time.
    """
    slices = evidence.trace.slices
    is_copy = slices.activity[evidence.work] == Activity.COPY
    tasks, device = evidence.work[is_copy], evidence.device_of_work[is_copy]
    lines = evidence.task_lines(tasks)
    alone = [activity.free & activity.copies for activity in evidence.analysis.devices]
    to_device, to_host = (
        say_of_copies(evidence.trace, tasks, answer) for answer in (copies_to_device, copies_to_host)
    )
    way = np.where(to_device != 0, _TO_DEVICE, np.where(to_host == 1, _TO_HOST, _ON_DEVICES))
    way[name_meanings(evidence.trace, tasks, matching(_MEMSET)) == 1] = _NOWHERE
    groups = (lines + 1) * len(_COPY_REMEDIES) + way
    for _, group in group_by(groups):
        parts = {
            index: alone[index] & evidence.time_of(tasks[group[places]])
            for index, places in group_by(device[group])
        }
        cost = sum(part.total for part in parts.values())
        if not COPY_SHARE.reached(cost, evidence.window_ns):
            continue
        rows = evidence.longest_first(tasks[group])
        direction = evidence.trace.string(int(slices.direction[rows[0]]))
        total = int(slices.dur[rows].sum())
        yield Advice(
            id="exposed_copies",
            remedy=_COPY_REMEDIES[int(way[group[0]])],
            cost_ns=cost,
            evidence={
                "count": len(rows),
                "count_per_step": evidence.per_step(len(rows)),
                "total_ns": total,
                "longest_ns": int(slices.dur[rows[0]]),
                "exposed_ns": cost,
                "share_of_window": cost / max(evidence.window_ns, 1),
            },
            subjects=(*evidence.names(rows, 1), *((direction,) if direction else ())),
            **evidence.line(int(lines[group[0]]))._asdict(),
            gaps=evidence.gaps_at(parts),
            rows=rows,
        )
