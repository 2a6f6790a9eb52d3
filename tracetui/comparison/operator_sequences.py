"""The sequences of operators of level 1 of a run, and how those of two runs match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.search import among, grouped, track_of_rows
from tracetui.arrays import Bools, Int64s, searchsorted
from tracetui.comparison.launched_work import NO_OPERATOR, LaunchedWork, StepOperators, operator_names
from tracetui.comparison.sequence_diff import match_sequences
from tracetui.comparison.shapes import ArgsOf, shapes_of
from tracetui.comparison.tally import Sums, comparable_sums, tally
from tracetui.comparison.walls import StepWalls, counterpart_steps
from tracetui.trace.clean import shortened
from tracetui.trace.model import Activity

_MOST_PAIRED = 32  #: threads of Python, and as many of the engine, that are paired by what they run
#: What computes.
COMPUTE = (Activity.COMPUTE, Activity.AICPU)


@dataclass(frozen=True, eq=False)
class OperatorSequences:
    """The operators of level 1 in the steps, as columns, by step, thread, then start."""

    names: tuple[str, ...]
    name: Int64s  #: place in `names`
    ns: Int64s  #: device time of what they launched
    step: Int64s
    row: Int64s  #: slice row
    start: Int64s  #: ns
    thread: Int64s  #: 0, 1, ... those of Python, -1, -2, ... those of the autograd engine; the busiest first
    by_name: Sums  #: device time, of all of them
    loose: Sums  #: device time of no operator of level 1
    steps: int
    plain: Int64s | None = None  #: where names tell shapes: `name` without them

    @property
    def ordered(self) -> bool:
        """Whether it is known in which order they ran; a digest tells only `by_name`."""
        return len(self.name) > 0 or not self.by_name

    def threads_of_step(self, step: int) -> Iterator[tuple[int, slice]]:
        """Yield the threads of a step, and the places of their operators."""
        first, stop = np.searchsorted(self.step, [step, step + 1]).tolist()
        thread = self.thread[first:stop]
        edges = np.flatnonzero(np.diff(thread, prepend=thread[:1] - 1)).tolist()
        for begin, end in zip(edges, [*edges[1:], stop - first]):
            yield int(thread[begin]), slice(first + begin, first + end)


@dataclass(frozen=True)
class OperatorStretch:
    """Operators of one side, one after the other, that the other side lacks; equal ones of all steps."""

    names: tuple[str, ...]
    ns: int  #: device time in all steps
    count: int  #: how often it occurs


@dataclass(frozen=True)
class MatchedOperators:
    """How the operators of two runs match: matched + only + loose == the device time of each side."""

    base: Sums  #: of matched operators
    other: Sums
    only_base: Sums
    only_other: Sums
    gone: tuple[OperatorStretch, ...]  #: what is only there, most device time first
    new: tuple[OperatorStretch, ...]


def sequences(
    analysis: Analysis,
    launched: LaunchedWork,
    operators: StepOperators,
    steps: int,
    args_of: ArgsOf | None = None,
) -> OperatorSequences:
    """Return the operators of level 1, each with the device time that it launched, itself or what it called.

    With `args_of` operators of other shapes have other names: "aten::mm [32,64;64,8]".
    """
    trace = analysis.trace
    row, step = operators.row[operators.outermost], operators.step[operators.outermost]
    operator_place = searchsorted(row, launched.outermost)
    is_held = operator_place < len(row)
    is_held[is_held] = row[operator_place[is_held]] == launched.outermost[is_held]
    ns = np.zeros(len(row), np.int64)
    np.add.at(ns, operator_place[is_held], launched.ns[is_held])
    thread = _thread_numbers(analysis, row)
    order = np.lexsort((trace.slices.start[row], thread, step))
    names = operator_names(trace)
    place_of_name: dict[str, int] = {}
    interned = np.array([place_of_name.setdefault(name, len(place_of_name)) for name in names], np.int64)
    plain = name = interned[trace.slices.name[row]]
    if args_of is not None:
        name = _numbers_with_shapes(place_of_name, plain, trace.slices.event[row].tolist(), args_of)
    others_launched = launched.outermost[~is_held]
    loose = np.where(others_launched >= 0, interned[trace.slices.name[others_launched]], len(place_of_name))
    ordered = OperatorSequences(
        names=tuple(place_of_name),
        name=name[order],
        ns=ns[order],
        step=step[order],
        row=row[order],
        start=trace.slices.start[row][order],
        thread=thread[order],
        loose=tally(
            [*place_of_name, NO_OPERATOR],
            loose,
            launched.step[~is_held],
            launched.ns[~is_held],
            steps,
            launched.row[~is_held],
        ),
        by_name={},
        steps=steps,
        plain=plain[order] if (name != plain).any() else None,
    )
    return replace(ordered, by_name=_tally_operators(ordered, np.ones(len(row), np.bool_)))


def _numbers_with_shapes(number: dict[str, int], name: Int64s, events: list[int], args_of: ArgsOf) -> Int64s:
    """Return the numbers of names with the shapes of each operator; new names are added to `number`."""
    names, numbered = list(number), np.array(name)
    for place in np.argsort(events, kind="stable").tolist():  # as they lie in the file
        shapes = shapes_of(args_of(events[place]))
        if shapes:
            name_with_shapes = shortened(f"{names[name[place]]} [{shapes}]")
            numbered[place] = number.setdefault(name_with_shapes, len(number))
    return numbered


def computing_by_operator(analysis: Analysis, launched: LaunchedWork, steps: int) -> Sums:
    """Return the time of kernels by the operator of level 1 that launched them, without what communicates."""
    slices = analysis.trace.slices
    counted = among(slices.activity[launched.row], COMPUTE) & (launched.outermost >= 0)
    names = operator_names(analysis.trace)
    name = slices.name[launched.outermost[counted]].astype(np.int64)
    return tally(names, name, launched.step[counted], launched.ns[counted], steps, launched.row[counted])


def match_operators(
    base: OperatorSequences, other: OperatorSequences, walls: tuple[StepWalls, StepWalls]
) -> MatchedOperators:
    """Match the operators of each step with those of its counterpart, thread by thread.

    Where the order of a side is not known, by name alone. `walls`: the steps of both.
    """
    if not (base.ordered and other.ordered):
        return MatchedOperators(*comparable_sums(base.by_name, other.by_name), {}, {}, (), ())
    if base.plain is None or other.plain is None:  # shapes that one side lacks tell nothing apart
        base, other = (
            side if side.plain is None else replace(side, name=side.plain) for side in (base, other)
        )
    names = common_names(base, other)
    threads = pair_threads((base, other), names)
    matched = np.zeros(len(base.name), np.bool_), np.zeros(len(other.name), np.bool_)
    counterparts: list[list[int]] = [[], []]
    if base.steps and other.steps:
        counterparts = [counterpart_steps(*pair).tolist() for pair in (walls, walls[::-1])]
    pairs = [*enumerate(counterparts[0]), *((step, turn) for turn, step in enumerate(counterparts[1]))]
    for base_step, other_step in dict.fromkeys(pairs):
        other_threads = dict(other.threads_of_step(other_step))
        for thread, places in base.threads_of_step(base_step):
            other_places = other_threads.get(threads.get(thread, thread))
            if other_places is not None:
                found = match_sequences(names[0][places], names[1][other_places])
                if counterparts[0][base_step] == other_step:
                    matched[0][places.start + found.base] = True
                if counterparts[1][other_step] == base_step:
                    matched[1][other_places.start + found.other] = True
    return MatchedOperators(
        base=_tally_operators(base, matched[0]),
        other=_tally_operators(other, matched[1]),
        only_base=_tally_operators(base, ~matched[0]),
        only_other=_tally_operators(other, ~matched[1]),
        gone=_unmatched_stretches(base, ~matched[0]),
        new=_unmatched_stretches(other, ~matched[1]),
    )


def common_names(base: OperatorSequences, other: OperatorSequences) -> tuple[Int64s, Int64s]:
    """Return the names of the operators of two runs, numbered alike, whichever is the first."""
    number = {name: place for place, name in enumerate(sorted({*base.names, *other.names}))}
    base_name, other_name = (
        np.array([number[name] for name in side.names], np.int64)[side.name] if side.names else side.name
        for side in (base, other)
    )
    return base_name, other_name


def pair_threads(
    sides: tuple[OperatorSequences, OperatorSequences], names: tuple[Int64s, Int64s]
) -> dict[int, int]:
    """Return the threads of the second run that run what those of the first do, by these; each once.

    Of threads that run as much in common with several those with the nearest numbers belong together. Threads
    beyond the busiest are not looked at. `names`: the operators of both, as `common_names` returns them.
    """
    width = max(int(name.max(initial=-1)) for name in names) + 1
    counts = [
        {
            thread: np.bincount(name[side.thread == thread], minlength=width)
            for thread in np.unique(side.thread).tolist()
            if -_MOST_PAIRED <= thread < _MOST_PAIRED
        }
        for side, name in zip(sides, names)
    ]
    ranked = sorted(
        (-int(np.minimum(operators, operators_there).sum()), abs(thread - thread_there), thread, thread_there)
        for thread, operators in counts[0].items()
        for thread_there, operators_there in counts[1].items()
        if (thread < 0) == (thread_there < 0)
    )
    pairs: dict[int, int] = {}
    for _, _, thread, thread_there in ranked:
        if thread not in pairs and thread_there not in pairs.values():
            pairs[thread] = thread_there
    return pairs


def _thread_numbers(analysis: Analysis, rows: Int64s) -> Int64s:
    """Return the number of the thread of each operator, as `OperatorSequences.thread`."""
    callers = analysis.launch_chains.callers
    track = track_of_rows(analysis.trace, rows)
    order, first = grouped(track)
    groups = np.split(order, first[1:]) if len(rows) else []
    groups.sort(key=len, reverse=True)
    thread = np.zeros(len(rows), np.int64)
    python = engine = 0
    for places in groups:
        if callers.is_of_engine(rows[places]):
            engine -= 1
            thread[places] = engine
        else:
            thread[places] = python
            python += 1
    return thread


def _tally_operators(operators: OperatorSequences, chosen: Bools) -> Sums:
    return tally(
        operators.names,
        operators.name[chosen],
        operators.step[chosen],
        operators.ns[chosen],
        operators.steps,
        operators.row[chosen],
    )


def _unmatched_stretches(operators: OperatorSequences, is_unmatched: Bools) -> tuple[OperatorStretch, ...]:
    """Return unmatched operators that follow each other in a thread and step, equal stretches together."""
    (places,) = np.nonzero(is_unmatched)
    if not len(places):
        return ()
    opens = np.ones(len(places), np.bool_)
    same_thread = (operators.step[places[1:]] == operators.step[places[:-1]]) & (
        operators.thread[places[1:]] == operators.thread[places[:-1]]
    )
    opens[1:] = (np.diff(places) != 1) | ~same_thread
    edges = np.flatnonzero(opens).tolist()
    sums_by_names: dict[tuple[int, ...], list[int]] = {}
    names, ns = operators.name[places].tolist(), operators.ns[places]
    total = np.add.reduceat(ns, edges).tolist()
    for begin, end, time in zip(edges, [*edges[1:], len(places)], total):
        sums = sums_by_names.setdefault(tuple(names[begin:end]), [0, 0])
        sums[0] += time
        sums[1] += 1
    ranked = sorted(sums_by_names.items(), key=lambda item: (-item[1][0], -item[1][1] * len(item[0])))
    return tuple(OperatorStretch(tuple(operators.names[name] for name in key), *sums) for key, sums in ranked)
