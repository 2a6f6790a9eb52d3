"""Which operators copy to the device, and which are copies to the host that block.

A copy task says its direction, or its name does; else the name of its dequeue tells, and where nothing was
dequeued a copy counts as one to the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.naming import by_name
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import distinct
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.trace.model import Activity


@dataclass(frozen=True, eq=False)
class CopyingOperators:
    """Rows of operators that copy by their names, sorted."""

    to_device: Int64s
    blocked: Int64s  #: that copied to the host and did not return before the copy had ended


def copying_operators(links: LaunchChains, ancestors: Ancestors) -> CopyingOperators:
    """Return the operators that enqueued copies, or around those that did."""
    slices = links.trace.slices
    copies = slices.activity[links.tasks] == Activity.COPY
    linked = np.flatnonzero(copies & (links.operator >= 0))
    to_device = linked[_to_device(links, linked)]
    to_host = linked[_verdicts(links, linked, calls.copies_to_host) == 1]
    blocked = slices.end[links.operator[to_host]] >= slices.end[links.tasks[to_host]]
    return CopyingOperators(
        _copying_rows(links, ancestors, links.operator[to_device]),
        _copying_rows(links, ancestors, links.operator[to_host[blocked]]),
    )


def _to_device(links: LaunchChains, places: Int64s) -> Bools:
    direction = _verdicts(links, places, calls.copies_to_device)
    dequeue = links.dequeue[places]
    queued = dequeue >= 0
    named = by_name(links.trace, dequeue[queued], calls.copies_to_device) == 1
    default = np.ones(len(places), np.bool_)
    default[queued] = named
    return np.where(direction >= 0, direction == 1, default)


def _verdicts(links: LaunchChains, places: Int64s, answer: calls.NamePredicate) -> Int8s:
    """Return 1 or 0 as the tasks' directions, else their names, say yes or no; -1 where they say neither."""
    trace, tasks = links.trace, links.tasks[places]
    answers = by_name(trace, tasks, answer)
    direction = trace.slices.direction[tasks]
    for text in distinct(direction[direction >= 0]).tolist():
        verdict = answer(trace.strings[text])
        if verdict is not None:
            answers[direction == text] = verdict
    return answers


def _copying_rows(links: LaunchChains, ancestors: Ancestors, operators: Int64s) -> Int64s:
    parts, rows = [], distinct(operators)
    while len(rows):
        parts.append(rows[by_name(links.trace, rows, calls.copies) == 1])
        outer = ancestors.parents_of(rows)
        rows = distinct(outer[outer >= 0])
    return distinct(np.concatenate(parts)) if parts else np.empty(0, np.int64)
