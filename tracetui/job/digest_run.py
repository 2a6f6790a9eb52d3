"""A run as its digest keeps it, and back: sums by name, without the order of operators and their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from tracetui.analysis.health.facts import HealthFacts
from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.comparison.collective_sums import CollectiveKey, CollectiveSums
from tracetui.comparison.compared_run import Run, Totals
from tracetui.comparison.kernel_sums import KernelSums
from tracetui.comparison.matched_lines import OTHER_LINES, ChargedLine, LineSums
from tracetui.comparison.memory_use import Holder, MemoryUse
from tracetui.comparison.operator_sequences import OperatorSequences
from tracetui.comparison.tally import OTHERS, NestedSums, Sum
from tracetui.comparison.walls import KEEPS_ALL, StepWalls
from tracetui.comparison.waterfall import TERMS
from tracetui.job.digest import Digest
from tracetui.job.run_columns import (
    CallColumns,
    RunFacts,
    StepSumColumns,
    SumColumns,
    SumTable,
    TermColumns,
    WallColumns,
)
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.language import Statement, state
from tracetui.trace.clean import shortened
from tracetui.trace.model import TraceKind
from tracetui.trace.stack import Frame

_NOWHERE = ChargedLine(None, False)
_BY_NAME = state("operators are compared by name alone: a digest does not keep their order")
_OLD_DIGEST = state(
    "its digest is of an older version of tracetui, which kept less to compare: make it again"
)
_IN_PART = state("a digest keeps of long tables what takes most time: the rest stands as (others)")


class RunColumns(NamedTuple):
    """A run as columns, by the names of `Digest`."""

    facts: RunFacts
    walls: WallColumns
    terms: TermColumns
    device_terms: TermColumns
    sums: SumColumns
    parts: StepSumColumns
    calls: CallColumns


class _Entry(NamedTuple):
    table: SumTable
    name: str
    key: ChargedLine
    sum: Sum


def reduce_run(run: Run, texts: TextPlaces, lines: LinePlaces) -> RunColumns:
    """Return what a digest keeps of a run; its texts and lines are added to those given."""
    totals = run.totals
    entries = sorted(_entries(run), key=_sort_key)
    rows = [
        (
            entry.table,
            texts.place(entry.name),
            -1 if entry.key.frame is None else lines.place(entry.key.frame, entry.key.backward),
            entry.sum.ns,
            entry.sum.count,
            entry.sum.lowest,
            entry.sum.highest,
        )
        for entry in entries
    ]
    calls = sorted((lines.place(frame, False), number) for frame, number in run.lines.calls.items())
    return RunColumns(
        facts=RunFacts(
            devices=tuple(map(shortened, run.devices)),
            steps=run.steps,
            notes=tuple(shortened(_kept_note(note)) for note in run.notes),
            totals=() if totals is None else tuple(getattr(totals, column.name) for column in fields(Totals)),
            memory=run.memory is not None,
            shapes=run.kernels.by_shape is not None,
            runtime=run.has_runtime,
            scheduler=run.has_scheduler,
            left_out=run.walls.left_out,
            health=_kept_health(run.health),
        ),
        walls=WallColumns(**{column.name: getattr(run.walls, column.name) for column in fields(WallColumns)}),
        terms=_term_columns(run.terms_ns, texts),
        device_terms=_term_columns(run.device_terms_ns, texts),
        sums=SumColumns(*np.array(rows, np.int64).reshape(-1, 7).T),
        parts=StepSumColumns(np.array([ns for entry in entries for ns in entry.sum.steps], np.int64)),
        calls=CallColumns(*np.array(calls, np.int64).reshape(-1, 2).T),
    )


def _kept_note(note: str) -> str:
    """Return a note on a run without the option that no digest takes."""
    return str(note.values["note"]) if isinstance(note, Statement) and note.template == KEEPS_ALL else note


def _kept_health(health: HealthFacts) -> HealthFacts:
    """Return what is kept of a recording's health, its texts as long as people read."""
    return replace(
        health,
        doubts=tuple(doubt._replace(sentence=shortened(doubt.sentence)) for doubt in health.doubts),
        level=shortened(health.level),
        versions=tuple(map(shortened, health.versions)),
    )


def run_of_digest(digest: Digest, path: str) -> Run:
    """Return the run that a digest tells of; without steps where it keeps nothing of one.

    Args:
        digest: of a trace.
        path: what the run is called.
    """
    facts = digest.facts or RunFacts((), 0, (_OLD_DIGEST,), (), False, False, True, False, ())
    sums = _DigestSums(digest)
    empty = np.empty(0, np.int64)
    walls = {column.name: getattr(digest.walls, column.name) for column in fields(WallColumns)}
    memory = MemoryUse(sums.sizes(SumTable.ALLOCATED), sums.sizes(SumTable.RESERVED), sums.alive())
    return Run(
        path=path,
        kind=TraceKind(digest.kind),
        devices=facts.devices,
        numbers=tuple(sorted({number for number in digest.walls.number.tolist() if number >= 0})),
        notes=(*facts.notes, *([_IN_PART] if sums.in_part else []), *([_BY_NAME] if facts.steps else [])),
        totals=Totals(*facts.totals) if facts.totals else None,
        wall_ns=digest.walls.end - digest.walls.start,
        terms_ns=_terms_by_wall(digest, digest.terms),
        device_ns=digest.walls.device_end - digest.walls.device_start,
        device_terms_ns=_terms_by_wall(digest, digest.device_terms),
        causes=sums.by_name(SumTable.CAUSES),
        lines=LineSums(sums.lines(), sums.line_causes(), sums.calls()),
        walls=StepWalls(**walls, notes=(), left_out=facts.left_out),
        steps=facts.steps,
        classes=sums.by_name(SumTable.CLASSES),
        operators=OperatorSequences(
            names=(),
            name=empty,
            ns=empty,
            step=empty,
            row=empty,
            start=empty,
            thread=empty,
            by_name=sums.by_name(SumTable.OPERATORS),
            loose=sums.by_name(SumTable.LOOSE),
            steps=facts.steps,
        ),
        computing=sums.by_name(SumTable.COMPUTING),
        kernels=KernelSums(
            sums.by_name(SumTable.KERNELS), sums.by_name(SumTable.SHAPED_KERNELS) if facts.shapes else None
        ),
        modules=NestedSums(sums.by_name(SumTable.MODULES), sums.by_name(SumTable.MODULES_OWN)),
        phases=sums.by_name(SumTable.PHASES),
        communication=CollectiveSums(
            sums.by_key(SumTable.COLLECTIVES),
            sums.by_key(SumTable.COLLECTIVES_WAIT),
            sums.by_key(SumTable.COLLECTIVES_TRANSFER),
        ),
        api=NestedSums(sums.by_name(SumTable.API), sums.by_name(SumTable.API_OWN)),
        memory=memory if facts.memory else None,
        advice=sums.by_name(SumTable.ADVICE),
        health=facts.health,
        has_runtime=facts.runtime,
        has_scheduler=facts.scheduler,
    )


def _term_columns(ns: Int64s, texts: TextPlaces) -> TermColumns:
    """Return the terms of steps that are not 0, of int64[steps, terms]."""
    wall, term = np.nonzero(ns)
    places = np.array([texts.place(TERMS[place]) for place in term.tolist()], np.int64)
    return TermColumns(wall.astype(np.int64), places, ns[wall, term])


def _terms_by_wall(digest: Digest, terms: TermColumns) -> Int64s:
    """Return int64[steps, terms]: ns."""
    place_of_term = {term: number for number, term in enumerate(TERMS)}
    ns = np.zeros((len(digest.walls), len(TERMS)), np.int64)
    term_places = [place_of_term[digest.text(term)] for term in terms.term.tolist()]
    # In a damaged digest a step may have a term twice: the terms still sum to the step.
    np.add.at(ns, (terms.wall, np.array(term_places, np.int64)), terms.ns)
    return ns


def _entries(run: Run) -> Iterator[_Entry]:
    shaped = run.kernels.by_shape or {}
    for table, by_name in (
        (SumTable.CAUSES, run.causes),
        (SumTable.CLASSES, run.classes),
        (SumTable.OPERATORS, run.operators.by_name),
        (SumTable.LOOSE, run.operators.loose),
        (SumTable.COMPUTING, run.computing),
        (SumTable.KERNELS, run.kernels.by_name),
        (SumTable.SHAPED_KERNELS, shaped),
        (SumTable.MODULES, run.modules.total),
        (SumTable.MODULES_OWN, run.modules.self_sums),
        (SumTable.PHASES, run.phases),
        (SumTable.API, run.api.total),
        (SumTable.API_OWN, run.api.self_sums),
        (SumTable.ADVICE, run.advice),
    ):
        yield from (_Entry(table, name, _NOWHERE, total) for name, total in by_name.items())
    collectives = run.communication
    for table, by_key in (
        (SumTable.COLLECTIVES, collectives.whole),
        (SumTable.COLLECTIVES_WAIT, collectives.wait),
        (SumTable.COLLECTIVES_TRANSFER, collectives.transfer),
    ):
        yield from (_Entry(table, "\t".join(key), _NOWHERE, total) for key, total in by_key.items())
    yield from (_Entry(SumTable.LINES, "", key, total) for key, total in run.lines.idle.items())
    for (cause, key), ns in run.lines.by_cause.items():
        yield _Entry(SumTable.LINE_CAUSES, cause.label, key, Sum(ns, 1, 0, 0))
    if run.memory is not None:
        for table, peaks in (
            (SumTable.ALLOCATED, run.memory.allocated),
            (SumTable.RESERVED, run.memory.reserved),
        ):
            yield from (_Entry(table, name, _NOWHERE, Sum(size, 1, 0, 0)) for name, size in peaks.items())
        for holder, (size, blocks) in run.memory.alive.items():
            yield _Entry(
                SumTable.ALIVE, holder.operator, ChargedLine(holder.frame, False), Sum(size, blocks, 0, 0)
            )


def _sort_key(entry: _Entry) -> tuple[Any, ...]:
    """Sort by table, most first, then by all that an entry is, so that equal runs have equal digests."""
    frame, backward = entry.key.frame or Frame("", -2, ""), entry.key.backward
    return entry.table, -entry.sum.ns, entry.name, frame, backward


class _DigestSums:
    """The sums of a digest by table."""

    def __init__(self, digest: Digest) -> None:
        self._digest = digest
        self._by_table: dict[int, list[tuple[str, int, Sum]]] = {}
        columns = (getattr(digest.sums, column.name).tolist() for column in fields(digest.sums))
        parts, ends = digest.parts.ns.tolist(), np.cumsum(digest.part_counts).tolist()
        for entry, first, end in zip(zip(*columns), [0, *ends], ends):
            table, name, line, ns, count, lowest, highest = entry
            total = Sum(ns, count, lowest, highest, steps=tuple(parts[first:end]))
            self._by_table.setdefault(table, []).append((digest.text(name), line, total))
        self._keys = [
            ChargedLine(Frame(line.file, line.line, line.function), line.backward) for line in digest.lines
        ]

    @property
    def in_part(self) -> bool:
        """Whether a table stands for more than it tells apart."""
        return any(name == OTHERS for rows in self._by_table.values() for name, _, _ in rows)

    def _of(self, table: SumTable) -> list[tuple[str, int, Sum]]:
        return self._by_table.get(table, [])

    def by_name(self, table: SumTable) -> dict[str, Sum]:
        return {name: total for name, _, total in self._of(table)}

    def by_key(self, table: SumTable) -> dict[CollectiveKey, Sum]:
        sums = {}
        for name, _, total in self._of(table):
            parts = name.rsplit("\t", 3)
            sums[CollectiveKey(*parts) if len(parts) == 4 else CollectiveKey(name, "", "", "")] = total
        return sums

    def sizes(self, table: SumTable) -> dict[str, int]:
        return {name: total.ns for name, _, total in self._of(table)}

    def alive(self) -> dict[Holder, tuple[int, int]]:
        return {
            Holder(name, self._line(line).frame): (total.ns, total.count)
            for name, line, total in self._of(SumTable.ALIVE)
        }

    def lines(self) -> dict[ChargedLine, Sum]:
        return {
            OTHER_LINES if name == OTHERS else self._line(line): total
            for name, line, total in self._of(SumTable.LINES)
        }

    def line_causes(self) -> dict[tuple[Cause, ChargedLine], int]:
        causes = {cause.label: cause for cause in Cause}
        return {
            (causes[name], self._line(line)): total.ns
            for name, line, total in self._of(SumTable.LINE_CAUSES)
            if name in causes
        }

    def calls(self) -> dict[Frame, int]:
        call_columns = self._digest.calls
        keys = (self._keys[line] for line in call_columns.line.tolist())
        return {
            key.frame: number
            for key, number in zip(keys, call_columns.number.tolist())
            if key.frame is not None
        }

    def _line(self, place: int) -> ChargedLine:
        return self._keys[place] if place >= 0 else _NOWHERE
