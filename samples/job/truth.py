"""Who made whom wait, told by the simulation: by running the job again without what was planted.

A rank waits in a collective from its own begin to that of the last rank. What a planted cause costs the
ranks that wait is the difference of all their waits with it and without it, everything else being equal; what
is left without any is the job's own: chance, and the bubbles of a pipeline. Knows no trace file, and
nothing of how a reader of traces may find it out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from samples.job.program import AUGMENTED, LOADER, SCRIPT, TRACED_AS, Extra
from samples.job.simulation import Job, Meeting, Outcome, simulate
from samples.source import TrainingScript

Line = tuple["str | None", "int | None", "str | None"]


class Root(NamedTuple):
    """What ranks did that others waited for; of several ranks, together."""

    ranks: tuple[int, ...]
    kind: str  #: "idle", "computing" or "transfer"
    cause: str | None  #: of the idle time
    line: Line
    lost_ns: int  #: by those that waited for it


@dataclass(frozen=True)
class JobTruth:
    """The waits of a job's present ranks and what they go back to."""

    outcome: Outcome
    plain: Outcome  #: the same job with nothing planted
    roots: tuple[Root, ...]

    @property
    def waits_ns(self) -> int:
        return _waits(self.outcome)

    @property
    def own_ns(self) -> int:
        """The waits of the job with nothing planted."""
        return _waits(self.plain)

    def as_json(self) -> dict[str, Any]:
        """Everything as one JSON object; times of collectives in ns of the common clock."""
        job = self.outcome.job
        return {
            "schema": 1,
            "world": job.layout.world,
            "ranks": job.present,
            "missing": sorted(job.missing),
            "hosts": {str(rank): job.host(rank) for rank in job.present},
            "offsets_ns": {str(rank): job.offset(rank) for rank in job.present},
            "waits_ns": self.waits_ns,
            "own_ns": self.own_ns,
            "roots": [
                {
                    "ranks": list(root.ranks),
                    "class": root.kind,
                    "cause": root.cause,
                    "file": root.line[0],
                    "line": root.line[1],
                    "function": root.line[2],
                    "lost_ns": root.lost_ns,
                }
                for root in self.roots
            ],
            "collectives": [_meeting(meeting, job) for meeting in self.outcome.meetings],
        }


def tell(job: Job) -> JobTruth:
    """Run a job, and again without each thing that was planted."""
    outcome = simulate(job)
    roots: list[Root] = []
    left = job
    before = outcome
    while left.extra or left.slow:
        less, ranks = _without_one(left)
        after = simulate(less)
        lost = _waits(before) - _waits(after)
        roots.append(_root(left, less, ranks, lost))
        left, before = less, after
    return JobTruth(outcome, before, tuple(roots))


def _without_one(job: Job) -> tuple[Job, tuple[int, ...]]:
    """The job without one thing that was planted, and the ranks that it is about."""
    if job.slow:
        link = next(iter(job.slow))
        rest = {other: factor for other, factor in job.slow.items() if other != link}
        return replace(job, slow=rest), tuple(sorted(link))
    first = next(iter(job.extra.values()))
    same = tuple(rank for rank, extra in job.extra.items() if extra == first and _computes(extra))
    ranks = same or (next(iter(job.extra)),)
    return replace(job, extra={rank: extra for rank, extra in job.extra.items() if rank not in ranks}), ranks


def _computes(extra: Extra) -> bool:
    return extra.computing != 1.0


def _root(job: Job, less: Job, ranks: tuple[int, ...], lost: int) -> Root:
    """What was planted in `job` and not in `less`."""
    nowhere: Line = (None, None, None)
    if len(less.slow) < len(job.slow):
        return Root(ranks, "transfer", None, nowhere, lost)
    extra = job.extra[ranks[0]]
    if _computes(extra):
        return Root(ranks, "computing", None, nowhere, lost)
    cause, code = ("host.dataloader", LOADER) if extra.loader_ms else ("host.python", AUGMENTED)
    script = TrainingScript(SCRIPT, TRACED_AS)
    number = script.line(code)
    return Root(ranks, "idle", cause, (TRACED_AS, number, script.function(number)[0]), lost)


def _waits(outcome: Outcome) -> int:
    """All waits of the ranks that are not missing."""
    missing = outcome.job.missing
    return sum(
        meeting.wait(rank) for meeting in outcome.meetings for rank in meeting.ranks if rank not in missing
    )


def _meeting(meeting: Meeting, job: Job) -> dict[str, Any]:
    return {
        "ranks": list(meeting.ranks),
        "index": meeting.number,
        "kinds": meeting.kinds,
        "begins_ns": meeting.begins,
        "ends_ns": meeting.ends,
        "late": meeting.last,
    }
