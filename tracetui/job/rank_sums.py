"""What digests keep of single ranks beside their waits, joined for the job: causes, operators, memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.facts import Doubt
from tracetui.arrays import Int64s
from tracetui.job.digest import Digest, DigestLine, TimeClass
from tracetui.job.health import rank_health
from tracetui.job.idle_lines import step_of_segments
from tracetui.job.job import Job
from tracetui.job.run_columns import SumTable


class CausesByStep(NamedTuple):
    """The idle time of all ranks by cause and step; preparing counts in."""

    causes: tuple[str, ...]  #: names of causes, most time first; "" where nothing tells
    steps: tuple[int, ...]  #: numbers; -1 where a trace without steps counts as one
    ns: Int64s  #: int64[causes, steps]
    step_ns: Int64s  #: int64[steps]: how long the step was, summed over the ranks


@dataclass(frozen=True)
class JobOperator:
    """A type of work of the devices, of all ranks."""

    type: str  #: as written in the trace: never print it unescaped
    activity: int  #: trace.model.Activity
    count: int
    ns: int


@dataclass(frozen=True)
class JobAdvice:
    """A piece of advice that ranks have."""

    kind: str
    cost_ns: int  #: of a mean step of the rank that it costs most; 0: a note on the recording
    rank: int  #: the number of that rank
    ranks: int  #: how many ranks have it


@dataclass(frozen=True)
class JobPeak:
    """The most that a component held, on the rank where it held most."""

    component: str  #: as written in the trace: never print it unescaped
    allocated: int  #: bytes
    reserved: int  #: bytes, of any rank
    rank: int


@dataclass(frozen=True)
class JobHolder:
    """Who had allocated what was alive at the peak of a rank, on the rank where that was most."""

    operator: str  #: as written in the trace: never print it unescaped
    line: DigestLine | None
    bytes: int
    blocks: int
    rank: int


@dataclass(frozen=True)
class JobDoubt:
    """A finding that puts numbers of ranks in doubt, in the words of the first of them."""

    doubt: Doubt
    ranks: tuple[int, ...]  #: numbers


def causes_by_step(job: Job) -> CausesByStep:
    """Return why the ranks were idle in which step, of all recorded time."""
    steps_of_ranks = [step_of_segments(rank.digest) for rank in job.ranks]
    steps = np.unique(np.concatenate([np.empty(0, np.int64), *steps_of_ranks]))
    step_ns = np.zeros(len(steps), np.int64)
    by_cause: dict[str, Int64s] = {}
    for rank, numbers in zip(job.ranks, steps_of_ranks):
        digest = rank.digest
        columns = np.searchsorted(steps, numbers)
        np.add.at(step_ns, columns, np.diff(digest.boundaries))
        idle = digest.keys.time_class[digest.cells.key] == TimeClass.IDLE
        table = np.zeros((len(digest.keys), len(steps)), np.int64)
        cells = digest.cells.at(idle)
        np.add.at(table, (cells.key, columns[cells.segment]), cells.ns)
        for key in np.flatnonzero(table.any(axis=1)).tolist():
            cause = digest.text(int(digest.keys.reason[key]))
            by_cause[cause] = by_cause.get(cause, 0) + table[key]
    causes = sorted(by_cause, key=lambda cause: (-int(by_cause[cause].sum()), cause))
    ns = np.array([by_cause[cause] for cause in causes], np.int64).reshape(len(causes), len(steps))
    return CausesByStep(tuple(causes), tuple(steps.tolist()), ns, step_ns)


def job_operators(job: Job) -> tuple[JobOperator, ...]:
    """Return what the devices of all ranks did by type, most time first."""
    sums: dict[tuple[str, int], list[int]] = {}
    for digest in (rank.digest for rank in job.ranks):
        operators = digest.operators
        columns = (operators.type, operators.activity, operators.count, operators.ns)
        for kind, activity, count, ns in zip(*(column.tolist() for column in columns)):
            total = sums.setdefault((digest.text(kind), activity), [0, 0])
            total[0] += count
            total[1] += ns
    found = (JobOperator(*key, *total) for key, total in sums.items())
    return tuple(sorted(found, key=lambda operator: (-operator.ns, operator.type, operator.activity)))


def job_advice(job: Job) -> tuple[JobAdvice, ...]:
    """Return the advice on the ranks by kind, that which costs most first."""
    found: dict[str, JobAdvice] = {}
    for rank in job.ranks:
        for entry in _sums(rank.digest, SumTable.ADVICE):
            before = found.get(entry.name)
            if before is None or entry.amount > before.cost_ns:
                cost_ns, number = entry.amount, rank.number
            else:
                cost_ns, number = before.cost_ns, before.rank
            found[entry.name] = JobAdvice(entry.name, cost_ns, number, (before.ranks if before else 0) + 1)
    return tuple(sorted(found.values(), key=lambda advice: (-advice.cost_ns, advice.kind)))


def job_peaks(job: Job) -> tuple[JobPeak, ...]:
    """Return the peaks of the components of memory, the largest first; none where nothing is recorded."""
    allocated = _largest(job, SumTable.ALLOCATED)
    reserved = _largest(job, SumTable.RESERVED)
    peaks = [
        JobPeak(
            name,
            allocated.get(name, (0, 0))[0],
            reserved.get(name, (0, 0))[0],
            (allocated if name in allocated else reserved)[name][1],
        )
        for name in {**allocated, **reserved}
    ]
    return tuple(sorted(peaks, key=lambda peak: (-peak.allocated, -peak.reserved, peak.component)))


def job_holders(job: Job) -> tuple[JobHolder, ...]:
    """Return who held memory at the peaks of the ranks, most first."""
    found: dict[tuple[str, DigestLine | None], JobHolder] = {}
    for rank in job.ranks:
        for entry in _sums(rank.digest, SumTable.ALIVE):
            line = rank.digest.lines[entry.line] if entry.line >= 0 else None
            key = entry.name, line
            if key not in found or entry.amount > found[key].bytes:
                found[key] = JobHolder(*key, entry.amount, entry.times, rank.number)
    return tuple(sorted(found.values(), key=lambda holder: (-holder.bytes, holder.operator)))


def job_doubts(job: Job) -> tuple[JobDoubt, ...]:
    """Return the findings that put numbers of ranks in doubt, worst first, each once."""
    found: dict[tuple[str, int, tuple[str, ...]], tuple[Doubt, list[int]]] = {}
    for rank in job.ranks:
        for doubt in rank_health(rank).doubts:
            found.setdefault((doubt.id, doubt.severity, doubt.affects), (doubt, []))[1].append(rank.number)
    doubts = (JobDoubt(doubt, tuple(dict.fromkeys(ranks))) for doubt, ranks in found.values())
    return tuple(sorted(doubts, key=lambda row: (-row.doubt.severity, -len(row.ranks), row.doubt.id)))


class _Sum(NamedTuple):
    name: str
    line: int  #: place in the lines of the digest, -1 without
    amount: int  #: ns, or bytes
    times: int


def _sums(digest: Digest, table: SumTable) -> Iterator[_Sum]:
    """Yield the sums that a digest keeps of a table."""
    sums = digest.sums
    for place in np.flatnonzero(sums.table == table).tolist():
        name = digest.text(int(sums.name[place]))
        yield _Sum(name, int(sums.line[place]), int(sums.ns[place]), int(sums.count[place]))


def _largest(job: Job, table: SumTable) -> dict[str, tuple[int, int]]:
    """Return the largest value of each name of a table, and the number of the rank that has it."""
    largest: dict[str, tuple[int, int]] = {}
    for rank in job.ranks:
        for entry in _sums(rank.digest, table):
            if entry.name not in largest or entry.amount > largest[entry.name][0]:
                largest[entry.name] = entry.amount, rank.number
    return largest
