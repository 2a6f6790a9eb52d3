"""Which operators copy to the device, and which are copies to the host that block.

A copy task says its direction, or its name does; else the name of its dequeue tells, and where nothing was
dequeued a copy counts as one to the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle import calls
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import distinct, name_meanings
from tracetui.arrays import EMPTY, Bools, Int8s, Int64s
from tracetui.trace.model import Activity, Trace


@dataclass(frozen=True, eq=False)
class CopyingOperators:
    """Rows of operators that copy by their names, sorted."""

    to_device: Int64s
    blocked: Int64s  #: that copied to the host and did not return before the copy had ended


def copying_operators(chains: LaunchChains, ancestors: Ancestors) -> CopyingOperators:
    """Return the operators that enqueued copies, or around those that did."""
    slices = chains.trace.slices
    tasks = chains.tasks
    copies = slices.activity[tasks] == Activity.COPY
    linked = np.flatnonzero(copies & (chains.operator >= 0))
    to_device = linked[_to_device(chains, linked)]
    to_host = linked[say_of_copies(chains.trace, tasks[linked], calls.copies_to_host) == 1]
    blocked = slices.end[chains.operator[to_host]] >= slices.end[tasks[to_host]]
    return CopyingOperators(
        _copying_rows(chains, ancestors, chains.operator[to_device]),
        _copying_rows(chains, ancestors, chains.operator[to_host[blocked]]),
    )


def _to_device(chains: LaunchChains, places: Int64s) -> Bools:
    direction = say_of_copies(chains.trace, chains.tasks[places], calls.copies_to_device)
    dequeue = chains.dequeue[places]
    queued = dequeue >= 0
    named = name_meanings(chains.trace, dequeue[queued], calls.copies_to_device) == 1
    default = np.ones(len(places), np.bool_)
    default[queued] = named
    return np.where(direction >= 0, direction == 1, default)


def say_of_copies(trace: Trace, tasks: Int64s, answer: calls.NamePredicate) -> Int8s:
    """Return 1 or 0 as the directions of tasks, else their names, say yes or no; -1 where they say neither.

    Args:
        tasks: rows of copies.
        answer: a question about the text of a direction, `copies_to_device` or `copies_to_host`.
    """
    answers = name_meanings(trace, tasks, answer)
    direction = trace.slices.direction[tasks]
    for text in distinct(direction[direction >= 0]).tolist():
        verdict = answer(trace.strings[text])
        if verdict is not None:
            answers[direction == text] = verdict
    return answers


def _copying_rows(chains: LaunchChains, ancestors: Ancestors, operators: Int64s) -> Int64s:
    parts, rows = [], distinct(operators)
    while len(rows):
        parts.append(rows[name_meanings(chains.trace, rows, calls.copies_memory) == 1])
        outer = ancestors.parents_of(rows)
        rows = distinct(outer[outer >= 0])
    return distinct(np.concatenate(parts)) if parts else EMPTY
