"""The stages of a pipeline: what their ranks compute, how long they wait for others, and how uneven they are.

A rank's stage is its number in its pipeline-parallel group. Where nothing tells that, ranks that send to each
other are a pipeline, and groups with at most one rank of each pipeline, joined, are the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
        """Whether communication inside the stage takes more than `UNEVEN` percent of it."""
        return self.exposed_ns * 100 > self.stage_ns * UNEVEN


def job_stages(job: Job, rows: tuple[RankRow, ...]) -> tuple[Stage, ...]:
    """Return the stages of a job; () where it is no pipeline."""
    parts = _told(rows) or _by_sends(job)
    if len(parts) < 2:
        return ()
    by_place = dict(enumerate(rows))
    slowest = {
        number: _most(by_place[place] for place in places)("computing") for number, places in parts.items()
    }
    mean = sum(slowest.values()) / len(slowest)
    stages = []
    for number, places in sorted(parts.items()):
        own = [by_place[place] for place in places]
        most = _most(own)
        stages.append(
            Stage(
                number=number,
                ranks=tuple(row.rank.number for row in own),
                computing_sum_ns=sum(row.mean("computing") or 0 for row in own),
                computing_max_ns=slowest[number],
                bubble_ns=most("bubble"),
                receive_ns=most("receive_only"),
                stage_ns=most("stage"),
                exposed_ns=most("communication_without_receive"),
                imbalance=slowest[number] / mean - 1 if mean else 0.0,
            )
        )
    return tuple(stages)


def _most(rows: Iterable[RankRow]) -> Callable[[str], int]:
    """The largest mean of a measure among some ranks."""
    own = list(rows)
    return lambda measure: max((row.mean(measure) or 0 for row in own), default=0)


def _told(rows: tuple[RankRow, ...]) -> dict[int, list[int]]:
    """The places of the ranks of each stage, where each rank knows its own."""
    if any(row.stage_number is None for row in rows):
        return {}
    parts: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        parts.setdefault(row.stage_number or 0, []).append(place)
    return parts


def _by_sends(job: Job) -> dict[int, list[int]]:
    """The same by who sends to whom, the stages in the order of their lowest ranks."""
    count = len(job.ranks)
    pairs = [matched.channel.ranks for matched in job.channels if matched.channel.pair]
    pipeline = _joined(count, (ranks for ranks in pairs if len(ranks) > 1))
    if len(set(pipeline)) == count:
        return {}
    groups = [matched.channel.ranks for matched in job.channels if not matched.channel.pair]
    within = [ranks for ranks in groups if len({pipeline[rank] for rank in ranks}) == len(ranks)]
    stage = _joined(count, within)
    names = {lowest: number for number, lowest in enumerate(sorted(set(stage)))}
    parts: dict[int, list[int]] = {}
    for place, lowest in enumerate(stage):
        parts.setdefault(names[lowest], []).append(place)
    return parts


def _joined(count: int, groups: Iterable[tuple[int, ...]]) -> list[int]:
    """The lowest of those that each is joined with."""
    lowest = list(range(count))

    def root(place: int) -> int:
        while lowest[place] != place:
            place = lowest[place]
        return place

    for group in groups:
        for other in group[1:]:
            one, two = sorted((root(group[0]), root(other)))
            lowest[two] = one
    return [root(place) for place in range(count)]
