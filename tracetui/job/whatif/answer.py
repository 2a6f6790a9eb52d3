"""What fixing brings a job: step times now and then, all single fixes ranked, and who is critical then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.experts import is_all_to_all
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.late_ranks import late_once
from tracetui.job.network_links import job_links
from tracetui.job.phases import phase_names
from tracetui.job.stages import stage_count
from tracetui.job.whatif.critical import CriticalChains, CriticalRank
from tracetui.job.whatif.durations import Durations, UnknownFix
from tracetui.job.whatif.fixes import BALANCED_EXPERTS, NO_JITTER, Fix, Target
from tracetui.job.whatif.lanes import ReplayedLanes
from tracetui.job.whatif.order import COMPUTING, COPY, IDLE, STAND_IN, Order, order_of
from tracetui.job.whatif.row_fixes import RowFixes, link_fix
from tracetui.language import state
from tracetui.operations.graph import CircularOrder
from tracetui.operations.slowdown import WORST_PERCENT

#: Replays of what people did not ask for: fewer of a job of many operations, of which each takes longer.
MOST_LINES, MOST_RANKS, MOST_LINKS, MOST_PHASES = 12, 32, 6, 8
MANY_OPERATIONS = 400_000
_DEFAULT_FIXES = 6
_MOST_WORKERS = 128  #: ranks up to which each one's slowdown is replayed
_MOST_CAUSES = 8
_MOST_SAVES, _FEW_SAVES = 64, 12


class NoReplay(Exception):  # noqa: N818 - people are shown its sentence
    """A job cannot be replayed; `str()` is a sentence."""


@dataclass(frozen=True)
class Trial:
    """A fix, or several, and what the mean step takes with it."""

    fixes: tuple[Fix, ...]
    step_ns: int
    saves_ns: int


@dataclass(frozen=True)
class Outcome:
    """What some fixes bring together: how long a step takes, who is critical, and what ranks do then."""

    trial: Trial
    critical: CriticalChains
    lanes: ReplayedLanes


@dataclass(frozen=True)
class JobWhatIf:
    """What a job gains by fixes; times are means of its steps."""

    order: Order
    replay_error: float  #: the largest of a step: how far off its replay is, as a share of it
    step_ns: int  #: replayed as measured
    no_delay_ns: int
    ideal_ns: int
    by_kind: dict[str, float]  #: as written in the trace
    by_rank: dict[int, float]
    worst_workers: float | None
    last_stage: float | None  #: None where the last stage of the pipeline is not here
    trials: tuple[Trial, ...]  #: single fixes, those first that save most
    asked: Trial
    critical: CriticalRank | None  #: with what was asked for fixed

    @property
    def slowdown(self) -> float:
        """S: by what factor operations of unequal lengths make a step longer."""
        return self.no_delay_ns / self.ideal_ns if self.ideal_ns else 1.0


class Replays:
    """A job that is replayed again and again."""

    def __init__(self, job: Job) -> None:
        """Raise NoReplay where the job has nothing to replay, or no order."""
        try:
            self.order = order_of(job)
        except CircularOrder:
            raise NoReplay(
                state("its collectives wait for each other: their clocks are not aligned")
            ) from None
        if not len(self.order):
            raise NoReplay(state("no device works in it"))
        self.durations = Durations(self.order)
        times = self.order.times(delays=True)
        self.steps = self.order.step_times(times.start, times.end)
        self.error = self.order.largest_error(self.steps)
        self.step_ns = round(float(self.steps.mean()))

    def mean_step(self, duration: Int64s, delays: bool = False) -> float:
        """Return the mean time of a step with other durations, by default without delays."""
        times = self.order.times(duration, delays=delays)
        return float(self.order.step_times(times.start, times.end).mean())

    def trial(self, fixes: Sequence[Fix]) -> Trial:
        """Return what some fixes bring together. Raises UnknownFix where one names what is not there."""
        if not fixes:
            return Trial((), self.step_ns, 0)
        step = round(self.mean_step(*self.durations.fixed(fixes)))
        return Trial(tuple(fixes), step, self.step_ns - step)

    def outcome(self, fixes: Sequence[Fix]) -> Outcome:
        """Return what some fixes bring together, and what ranks do then. Raises UnknownFix, as `trial`."""
        parts, transfer, delays = self.durations.fixed_parts(fixes)
        duration = self.durations.whole(parts, transfer)
        times = self.order.times(duration, delays=delays)
        step = round(float(self.order.step_times(times.start, times.end).mean())) if fixes else self.step_ns
        return Outcome(
            Trial(tuple(fixes), step, self.step_ns - step),
            CriticalChains(self.order, times, duration),
            ReplayedLanes(self.order, times, parts),
        )

    def trials(self, fixes: Sequence[Fix]) -> tuple[Trial, ...]:
        """Return what each fix brings by itself, most first; without fixes of things that are not there."""
        found = [trial for fix in fixes if (trial := self._single(fix)) is not None]
        return tuple(sorted(found, key=lambda trial: (-trial.saves_ns, trial.fixes[0].text)))

    def saves(self, fixes: Sequence[Fix | None], stop: Callable[[], bool] = lambda: False) -> dict[Fix, int]:
        """Return the ns that a step gains by each fix. Fixes of things that are not there are left out.

        Only the first of many are tried. `stop` is asked whether the answer is still wanted.
        """
        limit = _FEW_SAVES if len(self.order) > MANY_OPERATIONS else _MOST_SAVES
        found: dict[Fix, int] = {}
        for fix in [*dict.fromkeys(fix for fix in fixes if fix is not None)][:limit]:
            if stop():
                break
            trial = self._single(fix)
            if trial is not None:
                found[fix] = trial.saves_ns
        return found

    def _single(self, fix: Fix) -> Trial | None:
        try:
            return self.trial((fix,))
        except UnknownFix:
            return None


def what_if(job: Job, fixes: Sequence[Fix] = ()) -> JobWhatIf:
    """Return what a job gains by fixes.

    Raises NoReplay where it has nothing to replay, and UnknownFix where something that is asked for is not
    there.
    """
    replays = Replays(job)
    order, durations = replays.order, replays.durations
    wanted = replays.trial(fixes)
    plain = replays.mean_step(durations.measured)
    best = replays.mean_step(durations.ideal)
    by_rank = _by_rank(replays, best)
    worst = sorted(by_rank, key=lambda rank: (-by_rank[rank], rank))
    worst = worst[: max(1, -(-len(job.ranks) * WORST_PERCENT // 100))]
    places = [place for place, rank in enumerate(job.ranks) if rank.number in worst]
    last = int(durations.rank_stage.max(initial=0))
    is_last_here = last > 0 and last + 1 >= stage_count(job)
    changed, delays = durations.fixed(fixes)
    return JobWhatIf(
        order=order,
        replay_error=replays.error,
        step_ns=replays.step_ns,
        no_delay_ns=round(plain),
        ideal_ns=round(best),
        by_kind=dict(_by_kind(replays, best)),
        by_rank=by_rank,
        worst_workers=_gone(replays, plain, best, np.isin(order.rank, places)),
        last_stage=_gone(replays, plain, best, durations.stage == last) if is_last_here else None,
        trials=replays.trials(single_fixes(job, len(order), durations)),
        asked=wanted,
        critical=CriticalChains(order, order.times(changed, delays=delays), changed).rank(),
    )


def single_fixes(job: Job, operations: int, durations: Durations) -> list[Fix]:
    """Return the fixes that people could try one by one: lines, ranks, stages, links, phases."""

    def at_most(count: int) -> int:
        return min(count, _DEFAULT_FIXES) if operations > MANY_OPERATIONS else count

    fixes = [*_lines(job, RowFixes(job), at_most(MOST_LINES)), *_ranks(job, at_most(MOST_RANKS))]
    stages = np.unique(durations.rank_stage).tolist()
    if len(stages) > 1:
        fixes += [Fix(Target.STAGE, stage=stage) for stage in stages[: at_most(MOST_RANKS)]]
    fixes += _links(job, MOST_LINKS)
    fixes += [Fix(Target.PHASE, phase=name) for name in phase_names(job)[: at_most(MOST_PHASES)]]
    if any(is_all_to_all(kind) for kind in durations.order.kinds):
        fixes.append(BALANCED_EXPERTS)
    if len(job.steps) > 1:
        fixes.append(NO_JITTER)
    return fixes


def _lines(job: Job, fixes: RowFixes, limit: int) -> list[Fix]:
    """Return the lines at which a rank is idle longest beyond the others, and those with most idle time."""
    idle = job_lines(job)
    late = sorted(idle, key=lambda line: int(np.median(line.by_rank)) - int(line.by_rank.max()))
    late_fixes, idle_fixes = ([fix for fix in map(fixes.of_line, lines) if fix] for lines in (late, idle))
    return [*dict.fromkeys([*late_fixes[: limit // 2], *idle_fixes[:limit]])][:limit]


def _ranks(job: Job, limit: int) -> list[Fix]:
    late = [found.rank for found in late_once(job, job.waits) if not found.missing and found.rank is not None]
    ranks = dict.fromkeys([*late, *(rank.number for rank in job.ranks)])
    return [Fix(Target.RANK, rank=rank) for rank in [*ranks][:limit]] if len(job.ranks) > 1 else []


def _links(job: Job, limit: int) -> Iterator[Fix]:
    """Yield the slow links, as fast as links of their kind usually are."""
    seen: set[tuple[int, int]] = set()
    for fix in map(link_fix, job_links(job)):
        if fix is not None and fix.link not in seen and len(seen) < limit:
            seen.add(fix.link)
            yield fix


def _by_kind(replays: Replays, best: float) -> list[tuple[str, float]]:
    """Return by what factor each kind of operation alone makes a step longer, most first."""
    order, durations = replays.order, replays.durations
    ideal, parts = durations.ideal, order.parts

    def ratio(ns: Int64s, usual: Int64s) -> float:
        return _ratio(replays.mean_step(ideal - usual + ns), best)

    found = [
        (name, ratio(parts[:, part], durations.ideal_parts[:, part]))
        for name, part in (("computing", COMPUTING), ("copy", COPY))
        if parts[:, part].any()
    ]
    for cause, ns in _idle_by_cause(order):
        # The mean of a cause alone: idle time that is balanced as a whole is not by cause.
        found.append((f"idle {cause}".strip(), ratio(ns, durations.ideal_of(ns))))
    if not any(name.startswith("idle") for name, _ in found) and parts[:, IDLE].any():
        found.append(("idle", ratio(parts[:, IDLE], durations.ideal_parts[:, IDLE])))
    for number, kind in enumerate(order.kinds):
        chosen = order.kind == number
        ns = np.where(chosen, durations.transfer, 0)
        found.append((kind, ratio(ns, np.where(chosen, durations.ideal_transfer, 0))))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _idle_by_cause(order: Order) -> list[tuple[str, Int64s]]:
    """Return int64[operations], the idle ns of each operation, for the causes with the most idle time."""
    by_cause: dict[str, Int64s] = {}
    for place, rank in enumerate(order.job.ranks):
        cells = order.cells[place]
        for reason in np.unique(cells.reason[cells.part == IDLE]).tolist():
            of_reason = (cells.reason == reason) & (cells.part == IDLE)
            cause = rank.digest.text(reason)
            ns = by_cause.setdefault(cause, np.zeros(len(order), np.int64))
            np.add.at(ns, cells.operation[of_reason], cells.ns[of_reason])
    return sorted(by_cause.items(), key=lambda item: -int(item[1].sum()))[:_MOST_CAUSES]


def _by_rank(replays: Replays, best: float) -> dict[int, float]:
    """Return the factor by which each rank alone makes a step longer; of many ranks, those that differ most.

    In a grid of stages and data-parallel copies it is the smaller of the factors of its stage and its copy.
    """
    order, durations = replays.order, replays.durations
    job = order.job
    copies = _copies(job, durations.rank_stage)
    if copies is not None:
        of_rank = np.append(copies, STAND_IN)[order.rank]
        by_stage = {
            number: _slow(replays, best, durations.stage == number)
            for number in np.unique(durations.rank_stage).tolist()
        }
        by_copy = {number: _slow(replays, best, of_rank == number) for number in _differing(replays, of_rank)}
        return {
            rank.number: min(by_stage[int(stage)], by_copy[int(copy)])
            for rank, stage, copy in zip(job.ranks, durations.rank_stage, copies)
            if int(copy) in by_copy
        }
    shown = _differing(replays, order.rank)
    return {job.ranks[place].number: _slow(replays, best, order.rank == place) for place in shown}


def _differing(replays: Replays, part: Int64s) -> list[int]:
    """Return the parts of a job, numbers from 0 of each operation, that differ most from what is ideal."""
    order, durations = replays.order, replays.durations
    apart = np.abs(durations.measured - durations.ideal)
    differs = np.bincount(part + 1, apart)[1:]
    count = _DEFAULT_FIXES * 2 if len(order) > MANY_OPERATIONS else _MOST_WORKERS
    return sorted(np.argsort(-differs, kind="stable")[:count].tolist())


def _copies(job: Job, stage: Int64s) -> Int64s | None:
    """Return the number of the data-parallel copy of each rank; None where there are no stages or copies."""
    if not stage.any():
        return None
    copies = [rank.digest.identity.indices.get("dp", -1) for rank in job.ranks]
    if min(copies) < 0:
        width = max((rank.digest.identity.sizes.get("tp", 1) for rank in job.ranks), default=1)
        order = np.zeros(len(stage), np.int64)
        for number in np.unique(stage).tolist():
            (ranks,) = np.nonzero(stage == number)
            order[ranks] = np.arange(len(ranks))
        copies = (order // max(width, 1)).tolist()
    return np.array(copies, np.int64)


def _slow(replays: Replays, best: float, chosen: Bools) -> float:
    """Return by what factor some operations alone make a step longer."""
    durations = replays.durations
    return _ratio(replays.mean_step(np.where(chosen, durations.measured, durations.ideal)), best)


def _gone(replays: Replays, plain: float, best: float, ideal: Bools) -> float | None:
    """Return the share of the slowdown that is gone where some operations are ideal; None without any."""
    if plain == best:
        return None
    durations = replays.durations
    gone = plain - replays.mean_step(np.where(ideal, durations.ideal, durations.measured))
    return gone / (plain - best)


def _ratio(one: float, other: float) -> float:
    return one / other if other else 1.0
