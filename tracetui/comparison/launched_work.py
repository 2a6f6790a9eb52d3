"""The operators of level 1: the outermost ones below steps and what only wraps Python.

Device time is charged to the operator of level 1 that launched it, which is called alike whatever the device:
what it calls differs between makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.launch_chains import NEVER
from tracetui.analysis.marked_ranges import host_ranges
from tracetui.analysis.operator_types import host_operator_type
from tracetui.analysis.search import of_category
from tracetui.arrays import Bools, Int64s, searchsorted
from tracetui.comparison.walls import StepWalls
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Trace
from tracetui.trace.order import numbered

#: Said of device time that no operator launched, as that of a graph.
NO_OPERATOR = "(no operator)"
#: TorchScript calls the methods of modules so, and what it runs of their graphs.
_SCRIPTED = (r"forward$", r"<(?:forward|backward) op>$")
_WRAPPER = compile_any((*KNOWN.operators.wrappers, *_SCRIPTED))
#: A step of the optimizer is an operator of level 1: what it is made of differs between devices and releases.
_OPTIMIZER = "Optimizer."
#: The engine's own words before the name of what it evaluates; traces of 2021 lack them.
_ENGINE = tuple(f"{beginning}: " for beginning in KNOWN.operators.backward_beginnings)


@dataclass(frozen=True, eq=False)
class LaunchedWork:
    """The work of all devices that the steps launched, as columns of equal length."""

    row: Int64s  #: slice row of the task
    ns: Int64s
    step: Int64s  #: of the host, counted from 0
    operator: Int64s  #: slice row of the operator that launched it, -1 where not known
    outermost: Int64s  #: of the operator of level 1 around that: itself where it only wraps Python; or -1
    backward: Bools
    is_operator: Callable[[Int64s], Bools]  #: `operator_test` of the trace


@dataclass(frozen=True, eq=False)
class StepOperators:
    """The operators of the host in the steps, as columns, by track, then start."""

    row: Int64s
    step: Int64s
    outermost: Bools  #: is of level 1


def launched_work(analysis: Analysis, walls: StepWalls) -> LaunchedWork:
    """Return the work launched in the steps; what no launch is known of, where it starts on the device."""
    chains, slices = analysis.launch_chains, analysis.trace.slices
    rows = analysis.work
    time = chains.enqueued(rows)
    step = walls.step_at(np.where(time == NEVER, slices.start[rows], time))
    rows, step = rows[step >= 0], step[step >= 0]
    at = chains.index(rows)
    operator = chains.operator[at]
    distinct, place = numbered(operator)
    is_operator = operator_test(analysis.trace)
    outermost = outermost_of(analysis, distinct, is_operator)[place]
    return LaunchedWork(rows, slices.dur[rows], step, operator, outermost, chains.backward[at], is_operator)


def operators_in_steps(analysis: Analysis, walls: StepWalls) -> StepOperators:
    """Return the operators that start in the steps, without the steps themselves."""
    trace = analysis.trace
    rows = analysis.host_rows
    rows = rows[~_names_steps(trace)[trace.slices.name[rows]]]
    step = walls.step_at(trace.slices.start[rows])
    rows, step = rows[step >= 0], step[step >= 0]
    does_something = operator_test(trace)
    ancestors = analysis.launch_chains.callers.ancestors
    around = ancestors.nearest(ancestors.parents_of(rows), does_something)
    return StepOperators(rows, step, does_something(rows) & (around < 0))


def operator_names(trace: Trace) -> list[str]:
    """Return what operators of each name (a string of the trace) are called, whichever the release."""
    names = []
    for text in trace.strings:
        engine = next((beginning for beginning in _ENGINE if text.startswith(beginning)), "")
        names.append(host_operator_type(text[len(engine) :]))
    return names


def repeated_in(analysis: Analysis, rows: Int64s) -> Int64s:
    """Return the operator of `rows` that each one repeats, -1 where it is one of its own.

    The engine's `evaluate_function: XBackward0` holds `XBackward0` alone: tables call both alike, and count
    them once.

    Args:
        analysis: of the trace.
        rows: int64[n], sorted slice rows of host operators.
    """
    trace = analysis.trace
    around = analysis.launch_chains.callers.ancestors.parents_of(rows)
    engine = np.array([text.startswith(_ENGINE) for text in trace.strings], np.bool_)
    number: dict[str, int] = {}
    numbers_of_names = [number.setdefault(name, len(number)) for name in operator_names(trace)]
    name_numbers = np.array(numbers_of_names, np.int64)
    repeats = around >= 0
    place = np.minimum(searchsorted(rows, around), max(len(rows) - 1, 0))
    repeats[repeats] &= rows[place[repeats]] == around[repeats]
    names = trace.slices.name
    repeats[repeats] &= engine[names[around[repeats]]]
    repeats[repeats] &= name_numbers[names[around[repeats]]] == name_numbers[names[rows[repeats]]]
    return np.where(repeats, around, -1)


def outermost_of(analysis: Analysis, operators: Int64s, is_operator: Callable[[Int64s], Bools]) -> Int64s:
    """Return the operator of level 1 at or around each (rows, -1 for none); itself where there is none.

    `is_operator`: `operator_test` of the trace.
    """
    ancestors = analysis.launch_chains.callers.ancestors
    outermost: Int64s = operators.copy()
    around = ancestors.nearest(operators, is_operator)
    while (around >= 0).any():
        outermost = np.where(around >= 0, around, outermost)
        around = ancestors.nearest(ancestors.parents_of(around), is_operator)
    return outermost


def operator_test(trace: Trace) -> Callable[[Int64s], Bools]:
    """Return the function that tells which slices are operators that do something.

    Those that only wrap Python do not, and neither do ranges that people mark.
    """
    is_range = np.zeros(len(trace.slices.name), np.bool_)
    is_range[host_ranges(trace)] = True
    wraps = _names_steps(trace)
    wraps |= np.array([bool(_WRAPPER.match(text)) for text in trace.strings], np.bool_)
    optimizes = np.array([text.startswith(_OPTIMIZER) for text in trace.strings], np.bool_)
    beside = KNOWN.categories.annotations | KNOWN.categories.enqueues | KNOWN.categories.dequeues

    def does_something(rows: Int64s) -> Bools:
        name = trace.slices.name[rows]
        beside_operators = of_category(trace, trace.slices.category[rows], beside)
        return optimizes[name] | ~(wraps[name] | beside_operators | is_range[rows])

    return does_something


def _names_steps(trace: Trace) -> Bools:
    """Return bool[strings]: whether each names a step."""
    return np.array([text.startswith(KNOWN.operators.step_beginnings) for text in trace.strings], np.bool_)
