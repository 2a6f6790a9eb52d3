"""The stages of a pipeline: what their ranks compute, how long they wait for others, and how uneven they are.

A rank's stage is its number in its pipeline-parallel group. Where nothing tells that, ranks that send to each
other are a pipeline, and groups with at most one rank of each pipeline, joined, are the stages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracetui.job.job import Job
from tracetui.job.rank_table import RankRow

UNEVEN = 10  #: percent of the time of a stage in communication inside of it from which on that is told


@dataclass(frozen=True)
class Stage:
    """One stage of a pipeline, by the means of the steps of its ranks."""

    number: int
    ranks: tuple[int, ...]  #: that are here, by their numbers
    computing_sum_ns: int
    computing_max_ns: int
    bubble_ns: int  #: the most of its ranks, as all that follows
    receive_ns: int  #: exposed time of receives
    stage_ns: int
    exposed_ns: int  #: exposed communication without receives
    imbalance: float  #: the most computing of its ranks / the mean of all stages' - 1

    @property
    def communicates(self) -> bool:
        """Whether exposed communication, without receives, takes more than `UNEVEN` percent of it."""
        return self.exposed_ns * 100 > self.stage_ns * UNEVEN


def job_stages(job: Job, rows: tuple[RankRow, ...]) -> tuple[Stage, ...]:
    """Return the stages of a job; () where it is no pipeline."""
    parts = _stages_by_number(rows) or _stages_by_sends(job)
    if len(parts) < 2:
        return ()
    by_place = dict(enumerate(rows))
    slowest = {
        number: _highest((by_place[place] for place in places), "computing")
        for number, places in parts.items()
    }
    mean = sum(slowest.values()) / len(slowest)
    stages = []
    for number, places in sorted(parts.items()):
        stage_rows = [by_place[place] for place in places]
        stages.append(
            Stage(
                number=number,
                ranks=tuple(row.rank.number for row in stage_rows),
                computing_sum_ns=sum(row.mean("computing") or 0 for row in stage_rows),
                computing_max_ns=slowest[number],
                bubble_ns=_highest(stage_rows, "bubble"),
                receive_ns=_highest(stage_rows, "receive_only"),
                stage_ns=_highest(stage_rows, "stage"),
                exposed_ns=_highest(stage_rows, "communication_without_receive"),
                imbalance=slowest[number] / mean - 1 if mean else 0.0,
            )
        )
    return tuple(stages)


def stage_count(job: Job) -> int:
    """Return how many stages the pipeline of a job has, those of missing ranks too; 0 where nothing tells."""
    return max((rank.digest.identity.sizes.get("pp", 0) for rank in job.ranks), default=0)


def _highest(rows: Iterable[RankRow], measure: str) -> int:
    """Return the largest mean of a measure among some ranks."""
    return max((row.mean(measure) or 0 for row in rows), default=0)


def _stages_by_number(rows: tuple[RankRow, ...]) -> dict[int, list[int]]:
    """Return the places of the ranks of each stage, where each rank knows its own."""
    if any(row.stage_number is None for row in rows):
        return {}
    parts: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        parts.setdefault(row.stage_number or 0, []).append(place)
    return parts


def _stages_by_sends(job: Job) -> dict[int, list[int]]:
    """Return the same by who sends to whom, the stages in the order of their lowest ranks."""
    count = len(job.ranks)
    pairs = [matched.channel.ranks for matched in job.channels if matched.channel.pair]
    pipeline = _connect(count, (ranks for ranks in pairs if len(ranks) > 1))
    if len(set(pipeline)) == count:
        return {}
    groups = [matched.channel.ranks for matched in job.channels if not matched.channel.pair]
    across = [ranks for ranks in groups if len({pipeline[rank] for rank in ranks}) == len(ranks)]
    stage = _connect(count, across)
    number_of_stage = {lowest: number for number, lowest in enumerate(sorted(set(stage)))}
    parts: dict[int, list[int]] = {}
    for place, lowest in enumerate(stage):
        parts.setdefault(number_of_stage[lowest], []).append(place)
    return parts


def _connect(count: int, groups: Iterable[tuple[int, ...]]) -> list[int]:
    """Return, for each place, the lowest place that groups connect it with."""
    lowest = list(range(count))

    def root(place: int) -> int:
        while lowest[place] != place:
            place = lowest[place]
        return place

    for group in groups:
        for other in group[1:]:
            lower, higher = sorted((root(group[0]), root(other)))
            lowest[higher] = lower
    return [root(place) for place in range(count)]
