"""Who made whom wait, told by the simulation: by running the job again without what was planted.

A rank waits in a collective from its own begin to that of the last rank. What a planted cause costs is the
difference of the waits of all other ranks with it alone and without it, everything else being equal: several
that hide one another cost less together. What is left without any is chance, and the bubbles of a pipeline.
Knows no trace file, and nothing of how a reader may find it out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from simulator.job.program import AUGMENTED, LOADER, SCRIPT, TRACED_AS, Extra
from simulator.job.simulation import Meeting, SimulatedJob, SimulatedOutcome, simulate
from simulator.source import TrainingScript

RootLine = tuple["str | None", "int | None", "str | None"]


class TrueRoot(NamedTuple):
    """What ranks did that others waited for; of several ranks, together."""

    ranks: tuple[int, ...]
    kind: str  #: "idle", "computing" or "transfer"
    cause: str | None  #: of the idle time
    line: RootLine
    lost_ns: int  #: by all other ranks, were it the only thing planted


@dataclass(frozen=True)
class JobTruth:
    """The waits of a job's present ranks and what they go back to."""

    outcome: SimulatedOutcome
    plain: SimulatedOutcome  #: the same job with nothing planted
    roots: tuple[TrueRoot, ...]

    @property
    def waits_ns(self) -> int:
        return _waits(self.outcome)

    @property
    def own_ns(self) -> int:
        """The waits of the job with nothing planted."""
        return _waits(self.plain)

    def as_json(self) -> dict[str, Any]:
        """Return everything as one JSON object; times of collectives in ns of the common clock."""
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


def simulate_truth(job: SimulatedJob, run: Callable[[SimulatedJob], SimulatedOutcome] = simulate) -> JobTruth:
    """Run a job, without anything planted, and with each thing that was planted alone."""
    baseline = run(replace(job, extra={}, slow={}))
    planted = list(_planted_alone(job))
    outcome = run(job) if planted else baseline
    alone = [run(part) for part, _ in planted] if len(planted) > 1 else [outcome]
    roots = tuple(
        _root(part, ranks, _waits(part_outcome, ranks) - _waits(baseline, ranks))
        for (part, ranks), part_outcome in zip(planted, alone)
    )
    return JobTruth(outcome, baseline, roots)


def _planted_alone(job: SimulatedJob) -> Iterator[tuple[SimulatedJob, tuple[int, ...]]]:
    """Return, for each thing planted, the job with only that, and the ranks that it is about."""
    for link, factor in job.slow.items():
        yield replace(job, extra={}, slow={link: factor}), tuple(sorted(link))
    together: dict[Extra, list[int]] = defaultdict(list)
    for rank, extra in job.extra.items():
        together[extra].append(rank)
    for extra, ranks in together.items():
        yield replace(job, extra=dict.fromkeys(ranks, extra), slow={}), tuple(ranks)


def _root(job: SimulatedJob, ranks: tuple[int, ...], lost: int) -> TrueRoot:
    """Return what is planted in a job: one thing."""
    nowhere: RootLine = (None, None, None)
    if job.slow:
        return TrueRoot(ranks, "transfer", None, nowhere, lost)
    extra = job.extra[ranks[0]]
    if extra.computing != 1.0 or extra.workload != "W0":
        return TrueRoot(ranks, "computing", None, nowhere, lost)
    cause, code = ("host.dataloader", LOADER) if extra.loader_ms else ("host.python", AUGMENTED)
    script = TrainingScript(SCRIPT, TRACED_AS)
    number = script.line(code)
    return TrueRoot(ranks, "idle", cause, (TRACED_AS, number, script.function(number)[0]), lost)


def _waits(outcome: SimulatedOutcome, excluded: tuple[int, ...] = ()) -> int:
    """Sum the waits of the ranks that are present, but for some."""
    ranks = set(outcome.job.present) - set(excluded)
    return sum(meeting.wait(rank) for meeting in outcome.meetings for rank in meeting.ranks if rank in ranks)


def _meeting(meeting: Meeting, job: SimulatedJob) -> dict[str, Any]:
    return {
        "ranks": list(meeting.ranks),
        "index": meeting.number,
        "kinds": meeting.kinds,
        "begins_ns": meeting.begins,
        "ends_ns": meeting.ends,
        "late": meeting.last,
    }
