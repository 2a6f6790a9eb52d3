"""Two jobs compared: a mean rank as a run is, each rank by its steps, and why ranks waited for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, TypeVar

import numpy as np

from tracetui.analysis.health.facts import HealthFacts
from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Bools, Int64s
from tracetui.comparison.collective_sums import CollectiveSums
from tracetui.comparison.common_detail import merge_unsplit
from tracetui.comparison.compared_row import ComparedRow, RowScale, ranked, row
from tracetui.comparison.compared_run import CommonSteps, Run
from tracetui.comparison.comparison import Comparison, compare_runs, compare_steps
from tracetui.comparison.job_part import ComparedRank, ComparedRoot, JobPart
from tracetui.comparison.kernel_sums import KernelSums
from tracetui.comparison.line_rows import same_lines
from tracetui.comparison.matched_lines import ChargedLine, LineSums
from tracetui.comparison.memory_use import MemoryUse
from tracetui.comparison.rank_test import LEAST_STEPS
from tracetui.comparison.tally import NOTHING, NestedSums, Sum, tested_steps
from tracetui.job.channels import Rank
from tracetui.job.digest_run import run_of_digest
from tracetui.job.doubts import find_doubts
from tracetui.job.health import job_health, rank_health
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.language import state
from tracetui.trace.model import TraceKind
from tracetui.trace.stack import Frame

#: Steps x ranks up to which reasons of waits are found step by step, so that their spread is known.
_MOST_BY_STEP = 4096

Key = TypeVar("Key", bound=Hashable)


class _RootKey(NamedTuple):
    """The key by which reasons for waiting of two jobs match. Its line is that of OTHER where it has one."""

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
    guessed = {rank.number for job in (base, other) for rank in job.ranks if not rank.is_numbered}
    if len(base.ranks) == len(other.ranks):  # then their order by name is that of the others
        guessed = set()
    common = sorted(set(numbers[0]) & set(numbers[1]) - guessed)
    if not common:
        base_ranks, other_ranks = (ranks_in_words(numbers_of_job, 0) for numbers_of_job in numbers)
        template = "the jobs have no rank in common: BASE has {base}, OTHER {other}"
        if guessed:
            template = (
                "nothing tells which rank of one job is which of the other: BASE has {base}, OTHER {other}, "
                "numbered by name where no trace tells a number"
            )
        raise Incomparable(state(template, base=base_ranks, other=other_ranks))
    unshared = [
        tuple(number for number in numbers_of_job if number not in common) for numbers_of_job in numbers
    ]
    jobs = base, other
    common, not_believed = _believed_in_both(jobs, common)
    ranks = [[rank for rank in job.ranks if rank.number in common] for job in jobs]
    sides = [[run_of_digest(rank.digest, rank.path) for rank in of_job] for of_job in ranks]
    mean_runs = [_mean_rank(*side) for side in zip(sides, ranks, jobs, paths)]
    mean_runs, memory_notes = _with_memory(mean_runs, sides, common)
    comparison = compare_runs(*mean_runs)
    job_part = JobPart(
        ranks=ranked(_rank_row(number, *pair) for number, *pair in zip(common, *sides)),
        waits=_waits(jobs, mean_runs),
        roots=_roots(jobs, mean_runs),
        doubts=(find_doubts(base), find_doubts(other)),
        unshared=(unshared[0], unshared[1]),
    )
    return replace(comparison, job=job_part, notes=(*comparison.notes, *not_believed, *memory_notes))


def _believed_in_both(jobs: Sequence[Job], numbers: list[int]) -> tuple[list[int], list[str]]:
    """Return the ranks with steps to be believed in both jobs, all where none has, and what to say of others.

    Else the first step of a file that is cut in it would count as a short one.
    """
    doubted = {
        rank.number
        for job in jobs
        for rank in job.ranks
        if len(rank.digest.walls) and np.isin(rank.digest.walls.number, rank_health(rank).steps).all()
    }
    believed = [number for number in numbers if number not in doubted]
    if not believed or len(believed) == len(numbers):
        return numbers, []
    ranks = ranks_in_words([number for number in numbers if number in doubted], 0)
    return believed, [state("no step of {ranks} is to be believed in both: not compared", ranks=ranks)]


def _rank_row(number: int, base: Run, other: Run) -> ComparedRank:
    step, waterfall = compare_steps(*merge_unsplit(base, other)[:2])
    return ComparedRank(**{**vars(step), "name": f"rank {number}"}, rank=number, waterfall=waterfall)


def _mean_rank(runs: Sequence[Run], ranks: Sequence[Rank], job: Job, path: str) -> Run:
    """Return one run made of the steps of some ranks of a job.

    Where ranks kept different steps, means are of each step of each rank, and the steps that all kept tell of
    chance: those of ranks are not independent.
    """
    first, count = runs[0], len(runs)
    have_same_steps = len({(run.numbers, run.steps, run.walls.number.tobytes()) for run in runs}) == 1

    tested_walls = [tested_steps(len(run.wall_ns)) for run in runs]
    tested = [tested_steps(run.steps) for run in runs]
    common_walls = _common_places([run.walls.number[steps] for run, steps in zip(runs, tested_walls)])
    host_numbers = [run.walls.number[run.walls.host_places][steps] for run, steps in zip(runs, tested)]
    common = _common_places(host_numbers)

    def pooled(sums_of: Callable[[Run], Mapping[Key, Sum]], by_wall: bool = False) -> dict[Key, Sum]:
        keys = dict.fromkeys(key for run in runs for key in sums_of(run))
        steps = [len(steps_of_run) for steps_of_run in (tested_walls if by_wall else tested)]
        places = None if have_same_steps else common_walls if by_wall else common
        return {key: _pool([sums_of(run).get(key) for run in runs], steps, places) for key in keys}

    def joined(name: str) -> Int64s:
        columns = [getattr(run, name) for run in runs]
        return sum(columns) if have_same_steps else np.concatenate(columns)

    have_shapes = all(run.kernels.by_shape is not None for run in runs)
    by_cause: Counter[tuple[Cause, ChargedLine]] = Counter()
    for run in runs:
        by_cause.update(run.lines.by_cause)
    calls = {frame: number for run in reversed(runs) for frame, number in run.lines.calls.items()}
    numbers = {number for run in runs for number in run.numbers}
    left_out = {number for run in runs for number in run.walls.left_out} - numbers
    starts = np.cumsum([0, *(len(run.wall_ns) for run in runs[:-1])])
    common_steps = CommonSteps(
        np.array([start + steps[places] for start, steps, places in zip(starts, tested_walls, common_walls)]),
        tuple(host_numbers[0][common[0]].tolist()),
    )
    return replace(
        first,
        path=path,
        devices=tuple(device for run in runs for device in run.devices),
        numbers=tuple(sorted(numbers)),
        notes=(*_notes(runs, ranks), *([] if have_same_steps else [_different_steps(common_steps)])),
        totals=None,
        wall_ns=joined("wall_ns"),
        terms_ns=joined("terms_ns"),
        device_ns=joined("device_ns"),
        device_terms_ns=joined("device_terms_ns"),
        causes=pooled(lambda run: run.causes, by_wall=True),
        lines=LineSums(pooled(lambda run: run.lines.idle, by_wall=True), by_cause, calls),
        steps=first.steps if have_same_steps else sum(run.steps for run in runs),
        classes=pooled(lambda run: run.classes),
        operators=replace(
            first.operators,
            by_name=pooled(lambda run: run.operators.by_name),
            loose=pooled(lambda run: run.operators.loose),
        ),
        computing=pooled(lambda run: run.computing),
        kernels=KernelSums(
            pooled(lambda run: run.kernels.by_name),
            pooled(lambda run: run.kernels.by_shape or {}) if have_shapes else None,
        ),
        phases=pooled(lambda run: run.phases),
        modules=NestedSums(pooled(lambda run: run.modules.total), pooled(lambda run: run.modules.self_sums)),
        communication=CollectiveSums(
            pooled(lambda run: run.communication.whole),
            pooled(lambda run: run.communication.wait),
            pooled(lambda run: run.communication.transfer),
        ),
        api=NestedSums(pooled(lambda run: run.api.total), pooled(lambda run: run.api.self_sums)),
        advice=_highest_advice(runs),
        walls=replace(first.walls, left_out=tuple(sorted(left_out))),
        health=_joined_health([*(run.health for run in runs), job_health(job)]),
        has_runtime=all(run.has_runtime for run in runs),
        has_scheduler=all(run.has_scheduler for run in runs),
        ranks=count if have_same_steps else 1,
        members=tuple(rank.number for rank in ranks),
        common=None if have_same_steps else common_steps,
    )


def _common_places(numbers: Sequence[Int64s]) -> list[Int64s]:
    """Return where each rank has the steps that all have; nowhere where they have them in another order.

    Args:
        numbers: of each rank int64[steps].
    """
    shared = reduce(np.intersect1d, numbers)
    places = [np.flatnonzero(np.isin(of_rank, shared)) for of_rank in numbers]
    orders = {of_rank[steps].tobytes() for of_rank, steps in zip(numbers, places)}
    return places if len(orders) == 1 else [np.empty(0, np.int64)] * len(numbers)


def _different_steps(common: CommonSteps) -> str:
    return state(
        "its ranks kept different steps: means are of all, chance is judged by the {count} that all kept",
        count=len(common.numbers),
    )


def _joined_health(parts: Sequence[HealthFacts]) -> HealthFacts:
    """Return the facts of the first rank, with what puts numbers of any in doubt."""
    doubts = dict.fromkeys(doubt for part in parts for doubt in part.doubts)
    return replace(
        parts[0],
        doubts=tuple(sorted(doubts, key=lambda doubt: -doubt.severity)),
        findings=tuple(dict.fromkeys(identity for part in parts for identity in part.findings)),
        steps=tuple(sorted({number for part in parts for number in part.steps})),
    )


def _pool(sums_of_ranks: Sequence[Sum | None], steps: Sequence[int], common: Sequence[Int64s] | None) -> Sum:
    """Return the sum of a name over all ranks. Its range is that of a mean rank, and may be too wide.

    Args:
        sums_of_ranks: of each rank, None where it has none of it.
        steps: how many steps of each rank are tested.
        common: the places of those that all ranks have; None: they have the same ones.
    """
    sums = [NOTHING if part is None else part for part in sums_of_ranks]
    ns, count = sum(part.ns for part in sums), sum(part.count for part in sums)
    lows, highs = [part.lowest for part in sums], [part.highest for part in sums]
    by_rank = [part.steps or (0,) * number for part, number in zip(sums, steps)]
    if common is None:
        ranks, by_step = len(sums), tuple(map(sum, zip(*by_rank)))
        return Sum(ns, count, sum(lows) // ranks, -(-sum(highs) // ranks), steps=by_step)
    kept = [[of_rank[place] for place in places.tolist()] for of_rank, places in zip(by_rank, common)]
    return Sum(ns, count, min(lows), max(highs), steps=tuple(map(sum, zip(*kept))))


def _with_memory(
    mean_runs: Sequence[Run], sides: Sequence[Sequence[Run]], numbers: Sequence[int]
) -> tuple[list[Run], Sequence[str]]:
    """Return both mean runs with the peaks of the ranks of which both sides tell, and sentences on that.

    Args:
        mean_runs: of BASE and OTHER.
        sides: the runs of their ranks, both in the order of `numbers`.
        numbers: of the ranks.
    """
    told = [
        (number, (one.memory, two.memory))
        for number, one, two in zip(numbers, *sides)
        if one.memory is not None and two.memory is not None
    ]
    if not told:
        return [replace(run, memory=None) for run in mean_runs], []
    fullest, held = max(told, key=lambda rank: max(use.peak for use in rank[1]))
    uses = [_peak_memory(side, most) for side, most in zip(zip(*(pair for _, pair in told)), held)]
    notes = []
    if len(numbers) > 1:
        notes.append(state("what is alive at the peak of memory is told of rank {rank}", rank=fullest))
    if len(told) < len(numbers):
        ranks = ranks_in_words([number for number, _ in told], 0)
        notes.append(state("memory is compared of {ranks} alone: of others not both sides tell", ranks=ranks))
    return [replace(run, memory=use) for run, use in zip(mean_runs, uses)], notes


def _peak_memory(uses: Iterable[MemoryUse], fullest: MemoryUse) -> MemoryUse:
    """Return each component's peak on the rank with most of it, and what was alive on the fullest."""
    allocated: dict[str, int] = {}
    reserved: dict[str, int] = {}
    for use in uses:
        for peaks, sizes in ((allocated, use.allocated), (reserved, use.reserved)):
            peaks.update({name: max(size, peaks.get(name, 0)) for name, size in sizes.items()})
    return MemoryUse(allocated, reserved, fullest.alive)


def _highest_advice(runs: Sequence[Run]) -> dict[str, Sum]:
    """Return each piece of advice once, with the numbers of the rank that it costs most."""
    highest: dict[str, Sum] = {}
    for run in runs:
        for kind, cost in run.advice.items():
            largest = max(cost, highest.get(kind, cost), key=lambda candidate: candidate.ns)
            count = cost.count + (highest[kind].count if kind in highest else 0)
            highest[kind] = replace(largest, count=count)
    return highest


def _notes(runs: Sequence[Run], ranks: Sequence[Rank]) -> Iterable[str]:
    """Yield what must be known of the runs, each note once with the ranks that it is about."""
    ranks_by_note: dict[str, list[int]] = {}
    for run, rank in zip(runs, ranks):
        for note in run.notes:
            ranks_by_note.setdefault(note, []).append(rank.number)
    for note, numbers in ranks_by_note.items():
        if len(numbers) == len(runs):
            yield note
        else:
            yield state("{run}: {note}", run=ranks_in_words(numbers, len(runs)), note=note)


def _waits(jobs: Sequence[Job], mean_runs: Sequence[Run]) -> ComparedRow:
    base, other = (
        [int(job.waits.wait_ns[is_of_step].sum()) for is_of_step in _waits_by_step(job, run)]
        for job, run in zip(jobs, mean_runs)
    )
    return row("waits", _sum_of_steps(base), _sum_of_steps(other), _scale(mean_runs))


def _roots(jobs: Sequence[Job], mean_runs: Sequence[Run]) -> tuple[ComparedRoot, ...]:
    """Return why ranks waited, by rank, reason and line."""
    renamed = {before: after for after, before in same_lines(*mean_runs).items()}
    scale = _scale(mean_runs)
    waits_by_step = [_waits_by_step(job, run) for job, run in zip(jobs, mean_runs)]
    if max(map(len, waits_by_step)) * len(jobs[0].ranks) > _MOST_BY_STEP:
        waits_by_step = [[np.logical_or.reduce(steps)] for steps in waits_by_step]
        scale = replace(scale, few_steps=True)
    base_sums, base_lines = _sums_by_reason(jobs[0], waits_by_step[0], renamed)
    other_sums, _ = _sums_by_reason(jobs[1], waits_by_step[1], {})
    return ranked(
        _root_row(
            reason,
            base_lines.get(reason),
            base_sums.get(reason, NOTHING),
            other_sums.get(reason, NOTHING),
            scale,
        )
        for reason in {**other_sums, **base_sums}
    )


def _sums_by_reason(
    job: Job, waits_by_step: Sequence[Bools], renamed: Mapping[Frame, Frame]
) -> tuple[dict[_RootKey, Sum], dict[_RootKey, int]]:
    """Return the reasons of waits by step, lines named as in `renamed`, and the lines' numbers in the job."""
    lost: dict[_RootKey, list[int]] = {}
    operations: dict[_RootKey, int] = {}
    numbers: dict[_RootKey, int] = {}
    for step, waits in enumerate(waits_by_step):
        for root in job.root_breakdown_of(waits).roots:
            line = root.line
            frame = None if line is None else Frame(line.file, line.line, line.function)
            frame_in_other = None if frame is None else renamed.get(frame, frame)
            reason = _RootKey(
                root.rank, root.kind, root.reason, frame_in_other, line is not None and line.backward
            )
            lost.setdefault(reason, [0] * len(waits_by_step))[step] += root.lost_ns
            operations[reason] = operations.get(reason, 0) + root.operations
            if frame is not None:
                numbers[reason] = frame.line
    sums = {reason: _sum_of_steps(by_step, operations[reason]) for reason, by_step in lost.items()}
    return sums, numbers


def _sum_of_steps(ns: Sequence[int], count: int | None = None) -> Sum:
    """Return the sum of the ns of steps; `count` is how many of them have any, unless it is given."""
    times = sum(step_ns > 0 for step_ns in ns) if count is None else count
    return Sum(sum(ns), times, min(ns), max(ns), steps=tuple(ns))


def _root_row(
    reason: _RootKey, base_line: int | None, base: Sum, other: Sum, scale: RowScale
) -> ComparedRoot:
    frame = reason.frame
    parts = [f"rank {'?' if reason.rank is None else reason.rank}", f"{reason.kind} {reason.reason}".strip()]
    if frame is not None:
        suffix = " (backward)" if reason.backward else ""
        parts.append(f"{frame.file}({frame.line}) {frame.function}{suffix}")
    compared = row(", ".join(parts), base, other, scale)
    return ComparedRoot(**vars(compared), **reason._asdict(), base_line=base_line)


def _scale(mean_runs: Sequence[Run]) -> RowScale:
    """Return the scale of what all ranks lose in a step, beside what a step takes all of them."""
    base, other = (
        len(_waited_steps(run)) or max(round(len(run.wall_ns) / max(len(run.members), 1)), 1)
        for run in mean_runs
    )
    has_few_steps = any(len(_waited_steps(run)) < LEAST_STEPS for run in mean_runs)
    on_gpu = any(run.kind is TraceKind.GPU for run in mean_runs)
    return RowScale(
        base, other, mean_runs[0].step_ns * max(len(mean_runs[0].members), 1), has_few_steps, on_gpu
    )


def _waited_steps(run: Run) -> Sequence[int]:
    """Return the steps whose waits are compared: those that all ranks kept; [] where all waits are."""
    return run.numbers if run.common is None else sorted(set(run.common.numbers))


def _waits_by_step(job: Job, run: Run) -> list[Bools]:
    """Return bool[waits] of the ranks that are compared, for each step; one for all where there are none."""
    numbers = _waited_steps(run)
    places = [place for place, rank in enumerate(job.ranks) if rank.number in run.members]
    compared = np.isin(job.waits.rank_place, places)
    return [compared & (job.waits.step == number) for number in numbers] or [compared]
