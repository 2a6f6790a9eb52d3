"""The sequences of operators of level 1 of a run, and how those of two runs match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.search import among, grouped, track_of_rows
from tracetui.arrays import Bools, Int64s
from tracetui.comparison.launched_work import NO_OPERATOR, Launched, Operators, operator_names
from tracetui.comparison.sequence_diff import match
from tracetui.comparison.shapes import ArgsOf, shapes_of
from tracetui.comparison.tally import Sums, alike, tally
from tracetui.trace.clean import kept
from tracetui.trace.model import Activity

#: What computes.
COMPUTE = (Activity.COMPUTE, Activity.AICPU)


@dataclass(frozen=True, eq=False)
class Sequences:
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

    def of(self, step: int) -> Iterator[tuple[int, slice]]:
        """The threads of a step, and the places of their operators."""
        first, stop = np.searchsorted(self.step, [step, step + 1]).tolist()
        thread = self.thread[first:stop]
        edges = np.flatnonzero(np.diff(thread, prepend=thread[:1] - 1)).tolist()
        for begin, end in zip(edges, [*edges[1:], stop - first]):
            yield int(thread[begin]), slice(first + begin, first + end)


@dataclass(frozen=True)
class Stretch:
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
    gone: tuple[Stretch, ...]  #: what is only there, most device time first
    new: tuple[Stretch, ...]


def sequences(
    analysis: Analysis, launched: Launched, operators: Operators, steps: int, args_of: ArgsOf | None = None
) -> Sequences:
    """Return the operators of level 1, each with the device time that it launched, itself or what it called.

    With `args_of` operators of other shapes have other names: "aten::mm [32,64;64,8]".
    """
    trace = analysis.trace
    row, step = operators.row[operators.outermost], operators.step[operators.outermost]
    at = np.searchsorted(row, launched.outermost)
    held = at < len(row)
    held[held] = row[at[held]] == launched.outermost[held]
    ns = np.zeros(len(row), np.int64)
    np.add.at(ns, at[held], launched.ns[held])
    thread = _threads(analysis, row)
    order = np.lexsort((trace.slices.start[row], thread, step))
    called = operator_names(trace)
    number: dict[str, int] = {}
    interned = np.array([number.setdefault(name, len(number)) for name in called], np.int64)
    plain = name = interned[trace.slices.name[row]]
    if args_of is not None:
        name = _with_shapes(number, plain, trace.slices.event[row].tolist(), args_of)
    left = launched.outermost[~held]
    loose = np.where(left >= 0, interned[trace.slices.name[left]], len(number))
    found = Sequences(
        names=tuple(number),
        name=name[order],
        ns=ns[order],
        step=step[order],
        row=row[order],
        start=trace.slices.start[row][order],
        thread=thread[order],
        loose=tally(
            [*number, NO_OPERATOR],
            loose,
            launched.step[~held],
            launched.ns[~held],
            steps,
            launched.row[~held],
        ),
        by_name={},
        steps=steps,
        plain=plain[order] if (name != plain).any() else None,
    )
    return replace(found, by_name=_tally(found, np.ones(len(row), np.bool_)))


def _with_shapes(number: dict[str, int], name: Int64s, events: list[int], args_of: ArgsOf) -> Int64s:
    """The numbers of names with the shapes of each operator; new names are added to `number`."""
    names, found = list(number), np.array(name)
    for place in np.argsort(events, kind="stable").tolist():  # as they lie in the file
        shapes = shapes_of(args_of(events[place]))
        if shapes:
            called = kept(f"{names[name[place]]} [{shapes}]")
            found[place] = number.setdefault(called, len(number))
    return found


def computing_by_operator(analysis: Analysis, launched: Launched, steps: int) -> Sums:
    """Return the time of kernels by the operator of level 1 that launched them, without what communicates."""
    slices = analysis.trace.slices
    held = among(slices.activity[launched.row], COMPUTE) & (launched.outermost >= 0)
    names = operator_names(analysis.trace)
    name = slices.name[launched.outermost[held]].astype(np.int64)
    return tally(names, name, launched.step[held], launched.ns[held], steps, launched.row[held])


def match_operators(base: Sequences, other: Sequences) -> MatchedOperators:
    """Match the operators of each step with those of its counterpart, thread by thread.

    Where one side has more steps, those of the other side are counterparts in turn. Where the order of a side
    is not known, by name alone.
    """
    if not (base.ordered and other.ordered):
        return MatchedOperators(*alike(base.by_name, other.by_name), {}, {}, (), ())
    if base.plain is None or other.plain is None:  # shapes that one side lacks tell nothing apart
        base, other = (
            side if side.plain is None else replace(side, name=side.plain) for side in (base, other)
        )
    number = {name: place for place, name in enumerate(base.names)}
    translated = np.array([number.setdefault(name, len(number)) for name in other.names], np.int64)
    entries = base.name, translated[other.name] if len(other.names) else other.name
    matched = np.zeros(len(base.name), np.bool_), np.zeros(len(other.name), np.bool_)
    for turn in range(max(base.steps, other.steps) if base.steps and other.steps else 0):
        theirs = dict(other.of(turn % other.steps))
        for thread, mine in base.of(turn % base.steps):
            if thread in theirs:
                pairs = match(entries[0][mine], entries[1][theirs[thread]])
                if turn < base.steps:
                    matched[0][mine.start + pairs.base] = True
                if turn < other.steps:
                    matched[1][theirs[thread].start + pairs.other] = True
    return MatchedOperators(
        base=_tally(base, matched[0]),
        other=_tally(other, matched[1]),
        only_base=_tally(base, ~matched[0]),
        only_other=_tally(other, ~matched[1]),
        gone=_stretches(base, ~matched[0]),
        new=_stretches(other, ~matched[1]),
    )


def _threads(analysis: Analysis, rows: Int64s) -> Int64s:
    """The number of the thread of each operator, as `Sequences.thread`."""
    callers = analysis.links.callers
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


def _tally(side: Sequences, kept: Bools) -> Sums:
    return tally(side.names, side.name[kept], side.step[kept], side.ns[kept], side.steps, side.row[kept])


def _stretches(side: Sequences, only: Bools) -> tuple[Stretch, ...]:
    """The runs of operators that follow each other in one thread and step, equal ones together."""
    (at,) = np.nonzero(only)
    if not len(at):
        return ()
    opens = np.ones(len(at), np.bool_)
    same = (side.step[at[1:]] == side.step[at[:-1]]) & (side.thread[at[1:]] == side.thread[at[:-1]])
    opens[1:] = (np.diff(at) != 1) | ~same
    edges = np.flatnonzero(opens).tolist()
    found: dict[tuple[int, ...], list[int]] = {}
    names, ns = side.name[at].tolist(), side.ns[at]
    total = np.add.reduceat(ns, edges).tolist()
    for begin, end, time in zip(edges, [*edges[1:], len(at)], total):
        told = found.setdefault(tuple(names[begin:end]), [0, 0])
        told[0] += time
        told[1] += 1
    ranked = sorted(found.items(), key=lambda item: (-item[1][0], -item[1][1] * len(item[0])))
    return tuple(Stretch(tuple(side.names[name] for name in key), *told) for key, told in ranked)
