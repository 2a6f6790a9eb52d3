"""Two jobs compared: a mean rank as a run is, each rank by its steps, and why ranks waited for each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.comparison.communication import CollectiveSums
from tracetui.comparison.comparison import Comparison, compare_runs, compare_steps
from tracetui.comparison.job_part import ComparedRank, ComparedRoot, JobPart
from tracetui.comparison.kernels import KernelSums
from tracetui.comparison.levels import merge_unsplit
from tracetui.comparison.line_rows import same_lines
from tracetui.comparison.lines import LineSums
from tracetui.comparison.memory import MemoryUse
from tracetui.comparison.modules import ModuleTimes
from tracetui.comparison.rank_test import LEAST_STEPS
from tracetui.comparison.rows import ComparedRow, RowScale, ranked, row
from tracetui.comparison.run import Api, Run
from tracetui.comparison.tally import NOTHING, Sum, tested_steps
from tracetui.job.channels import Rank
from tracetui.job.digest_run import run_of_digest
from tracetui.job.job import Job, job_of
from tracetui.job.load import numbered
from tracetui.job.sayings import sayings
from tracetui.trace.model import Kind
from tracetui.trace.stack import Frame

#: Steps x ranks up to which reasons of waits are found step by step, so that their spread is known.
_MOST_BY_STEP = 4096

Key = TypeVar("Key", bound=Hashable)


class _Reason(NamedTuple):
    """What reasons of waits are told apart by, their lines by their places in OTHER where they are there."""

    rank: int | None
    kind: str
    reason: str
    frame: Frame | None
    backward: bool


class Incomparable(Exception):  # noqa: N818 - no error of the program
    """Two jobs have nothing in common; `str()` is a sentence."""


def compare_jobs(base: Job, other: Job, paths: tuple[str, str]) -> Comparison:
    """Compare the ranks that both jobs have, per step: means of a rank, but for what all lose by waiting.

    Args:
        base, other: the jobs, or single ranks.
        paths: what BASE and OTHER are called.

    Raises Incomparable where they have no rank in common.
    """
    numbers = [[rank.number for rank in job.ranks] for job in (base, other)]
    common = sorted(set(numbers[0]) & set(numbers[1]))
    if not common:
        shown = (numbered(own, 0) for own in numbers)
        raise Incomparable("the jobs have no rank in common: BASE has {}, OTHER {}".format(*shown))
    notes = []
    jobs = []
    for name, job in (("BASE", base), ("OTHER", other)):
        alone = [rank.number for rank in job.ranks if rank.number not in common]
        if alone:
            notes.append(f"only {name} has {numbered(alone, 0)}: not compared")
            job = job_of([rank for rank in job.ranks if rank.number in common], job.remarks)
        jobs.append(job)
        notes += [f"{name}: {saying}" for saying in sayings(job)]
    sides = [[run_of_digest(rank.digest, rank.path) for rank in job.ranks] for job in jobs]
    whole = [_mean_rank(runs, job.ranks, path) for runs, job, path in zip(sides, jobs, paths)]
    found = compare_runs(*whole)
    part = JobPart(
        ranks=ranked(_rank_row(rank.number, *pair) for rank, *pair in zip(jobs[0].ranks, *sides)),
        waits=_waits(jobs, whole),
        roots=_roots(jobs, whole),
    )
    return replace(found, job=part, notes=(*dict.fromkeys((*notes, *found.notes)),))


def _rank_row(number: int, base: Run, other: Run) -> ComparedRank:
    step, waterfall = compare_steps(*merge_unsplit(base, other)[:2])
    return ComparedRank(**{**vars(step), "name": f"rank {number}"}, rank=number, waterfall=waterfall)


def _mean_rank(runs: Sequence[Run], ranks: Sequence[Rank], path: str) -> Run:
    """The run whose steps are those of all ranks together.

    Where ranks differ in their steps, each step of each counts as one: so wide is then what steps differ by.
    """
    first, count = runs[0], len(runs)
    alike = len({(run.numbers, run.steps, run.walls.number.tobytes()) for run in runs}) == 1

    def pooled(of: Callable[[Run], Mapping[Key, Sum]], by_wall: bool = False) -> dict[Key, Sum]:
        keys = dict.fromkeys(key for run in runs for key in of(run))
        steps = [len(tested_steps(len(run.wall_ns) if by_wall else run.steps)) for run in runs]
        return {key: _pooled([of(run).get(key) for run in runs], steps, alike) for key in keys}

    def joined(name: str) -> Int64s:
        columns = [getattr(run, name) for run in runs]
        found: Int64s = sum(columns) if alike else np.concatenate(columns)
        return found

    shaped = all(run.kernels.by_shape is not None for run in runs)
    by_cause: dict[object, int] = {}
    for run in runs:
        for key, ns in run.lines.by_cause.items():
            by_cause[key] = by_cause.get(key, 0) + ns
    calls = {frame: number for run in reversed(runs) for frame, number in run.lines.calls.items()}
    return replace(
        first,
        path=path,
        devices=tuple(device for run in runs for device in run.devices),
        numbers=tuple(sorted({number for run in runs for number in run.numbers})),
        notes=tuple(_notes(runs, ranks)),
        totals=None,
        wall_ns=joined("wall_ns"),
        terms_ns=joined("terms_ns"),
        device_ns=joined("device_ns"),
        device_terms_ns=joined("device_terms_ns"),
        causes=pooled(lambda run: run.causes, by_wall=True),
        lines=LineSums(pooled(lambda run: run.lines.idle, by_wall=True), by_cause, calls),  # type: ignore[arg-type]
        steps=first.steps if alike else sum(run.steps for run in runs),
        classes=pooled(lambda run: run.classes),
        operators=replace(
            first.operators,
            by_name=pooled(lambda run: run.operators.by_name),
            loose=pooled(lambda run: run.operators.loose),
        ),
        computing=pooled(lambda run: run.computing),
        kernels=KernelSums(
            pooled(lambda run: run.kernels.by_name),
            pooled(lambda run: run.kernels.by_shape or {}) if shaped else None,
        ),
        modules=ModuleTimes(pooled(lambda run: run.modules.total), pooled(lambda run: run.modules.own)),
        communication=CollectiveSums(
            pooled(lambda run: run.communication.whole),
            pooled(lambda run: run.communication.wait),
            pooled(lambda run: run.communication.transfer),
        ),
        api=Api(pooled(lambda run: run.api.total), pooled(lambda run: run.api.own)),
        memory=_most_memory([run.memory for run in runs if run.memory is not None]),
        advice=_costliest(runs),
        has_runtime=all(run.has_runtime for run in runs),
        ranks=count if alike else 1,
        members=tuple(rank.number for rank in ranks),
    )


def _pooled(found: Sequence[Sum | None], steps: Sequence[int], alike: bool) -> Sum:
    """Return what a name has on all ranks; its range is that of a mean rank, told wider than it may be.

    Args:
        found: of each rank, None where it has none of it.
        steps: how many steps of each rank are tested.
        alike: their steps are the same ones.
    """
    sums = [NOTHING if each is None else each for each in found]
    ns, count = sum(each.ns for each in sums), sum(each.count for each in sums)
    lows, highs = [each.lowest for each in sums], [each.highest for each in sums]
    by_rank = [each.steps or (0,) * number for each, number in zip(sums, steps)]
    if alike:
        ranks, values = len(sums), tuple(map(sum, zip(*by_rank)))
        return Sum(ns, count, sum(lows) // ranks, -(-sum(highs) // ranks), steps=values)
    together = tuple(ns for values in by_rank for ns in values)
    return Sum(ns, count, min(lows), max(highs), steps=together)


def _most_memory(found: Sequence[MemoryUse]) -> MemoryUse | None:
    """Of each component the peak of the rank that has most of it; what was alive on the one with most."""
    if not found:
        return None
    allocated: dict[str, int] = {}
    reserved: dict[str, int] = {}
    for use in found:
        for most, peaks in ((allocated, use.allocated), (reserved, use.reserved)):
            most.update({name: max(size, most.get(name, 0)) for name, size in peaks.items()})
    return MemoryUse(allocated, reserved, max(found, key=lambda use: use.peak).alive)


def _costliest(runs: Sequence[Run]) -> dict[str, Sum]:
    """Each piece of advice as of the rank that it costs most."""
    found: dict[str, Sum] = {}
    for run in runs:
        for title, told in run.advice.items():
            most = max(told, found.get(title, told), key=lambda each: each.ns)
            found[title] = replace(most, count=told.count + (found[title].count if title in found else 0))
    return found


def _notes(runs: Sequence[Run], ranks: Sequence[Rank]) -> Iterable[str]:
    """What must be known of the runs, each once with the ranks that it is said of."""
    told: dict[str, list[int]] = {}
    for run, rank in zip(runs, ranks):
        for note in run.notes:
            told.setdefault(note, []).append(rank.number)
    for note, numbers in told.items():
        yield note if len(numbers) == len(runs) else f"{numbered(numbers, len(runs))}: {note}"


def _waits(jobs: Sequence[Job], whole: Sequence[Run]) -> ComparedRow:
    base, other = (
        [int(job.waits.wait[asked].sum()) for asked in _steps(job, run)] for job, run in zip(jobs, whole)
    )
    return row("waits", _of_steps(base), _of_steps(other), _scale(whole))


def _roots(jobs: Sequence[Job], whole: Sequence[Run]) -> tuple[ComparedRoot, ...]:
    """Why ranks waited, by rank, reason and line."""
    becomes = {before: after for after, before in same_lines(*whole).items()}
    scale = _scale(whole)
    asked = [_steps(job, run) for job, run in zip(jobs, whole)]
    if max(map(len, asked)) * len(jobs[0].ranks) > _MOST_BY_STEP:
        asked = [[np.logical_or.reduce(steps)] for steps in asked]
        scale = replace(scale, few_steps=True)
    base, was = _reasons(jobs[0], asked[0], becomes)
    other, _ = _reasons(jobs[1], asked[1], {})
    return ranked(
        _root_row(reason, was.get(reason), base.get(reason, NOTHING), other.get(reason, NOTHING), scale)
        for reason in {**other, **base}
    )


def _reasons(
    job: Job, asked: Sequence[Bools], becomes: Mapping[Frame, Frame]
) -> tuple[dict[_Reason, Sum], dict[_Reason, int]]:
    """The reasons of the waits of some steps, lines called as in `becomes`, and the numbers these have."""
    lost: dict[_Reason, list[int]] = {}
    operations: dict[_Reason, int] = {}
    numbers: dict[_Reason, int] = {}
    for step, waits in enumerate(asked):
        for root in job.roots_of(waits).roots:
            line = root.line
            frame = None if line is None else Frame(line.file, line.line, line.function)
            now = None if frame is None else becomes.get(frame, frame)
            reason = _Reason(root.rank, root.kind, root.reason, now, line is not None and line.backward)
            lost.setdefault(reason, [0] * len(asked))[step] += root.lost_ns
            operations[reason] = operations.get(reason, 0) + root.operations
            if frame is not None:
                numbers[reason] = frame.line
    sums = {reason: _of_steps(each, operations[reason]) for reason, each in lost.items()}
    return sums, numbers


def _of_steps(ns: Sequence[int], count: int | None = None) -> Sum:
    """The sum of what each step has; it counts, where nothing else is told, where there is any."""
    times = sum(each > 0 for each in ns) if count is None else count
    return Sum(sum(ns), times, min(ns), max(ns), steps=tuple(ns))


def _root_row(reason: _Reason, base_line: int | None, base: Sum, other: Sum, scale: RowScale) -> ComparedRoot:
    frame = reason.frame
    parts = [f"rank {'?' if reason.rank is None else reason.rank}", f"{reason.kind} {reason.reason}".strip()]
    if frame is not None:
        suffix = " (backward)" if reason.backward else ""
        parts.append(f"{frame.file}({frame.line}) {frame.function}{suffix}")
    told = row(", ".join(parts), base, other, scale)
    return ComparedRoot(**vars(told), **reason._asdict(), base_line=base_line)


def _scale(whole: Sequence[Run]) -> RowScale:
    """Of what all ranks lose in a step, held against what a step takes all of them."""
    base, other = (max(_count(run), 1) for run in whole)
    few = min(base, other) < LEAST_STEPS
    on_gpu = any(run.kind is Kind.GPU for run in whole)
    return RowScale(base, other, whole[0].step_ns * max(len(whole[0].members), 1), few, on_gpu)


def _count(run: Run) -> int:
    return len(run.numbers) or 1


def _steps(job: Job, run: Run) -> list[Bools]:
    """Which waits are of each of the steps compared; where there are none, all."""
    if not run.numbers:
        return [np.ones(len(job.waits), np.bool_)]
    return [job.waits.step == number for number in run.numbers]
