"""A job of many ranks, run together: each rank up to its next collective, then the collective.

A rank's own clock is a constant away from the common one; its recording is in its own. No event loop is
needed: ranks post the collectives of a group in one order, so that one is complete once all have posted.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.job.layout import Layout
from simulator.job.mesh import Part, PlaneTask, meet
from simulator.job.program import Extra, Posting, RankProgram, Running, Size
from simulator.machine import Machine
from simulator.recording import Recording
from simulator.scenarios import START_NS

PID = 3178231


@dataclass(frozen=True)
class SimulatedJob:
    """What is simulated: the same job without its `extra` and `slow` has the same other times."""

    layout: Layout
    size: Size
    steps: int = 3
    seed: int = 1
    hosts: int = 1
    clock_ns: int = 80_000  #: the clocks of a host's ranks differ by up to so much
    host_clock_ns: int = 4_000_000  #: and those of hosts
    variation: float = 0.25  #: of all work from rank to rank, as a share of that of a single trace
    extra: Mapping[int, Extra] = field(default_factory=dict)  #: by rank
    slow: Mapping[frozenset[int], float] = field(default_factory=dict)  #: links and by what factor
    missing: frozenset[int] = frozenset()  #: ranks of which no trace is written
    program: type[RankProgram] = RankProgram  #: what each rank runs

    @property
    def present(self) -> list[int]:
        return [rank for rank in range(self.layout.world) if rank not in self.missing]

    def host(self, rank: int) -> str:
        return f"node{rank * self.hosts // self.layout.world:02d}"

    def offset(self, rank: int) -> int:
        """Return the rank's clock minus the common one, ns: a multiple of 10."""
        chance = random.Random(f"{self.seed} {self.host(rank)}")
        host_offset = chance.randint(-self.host_clock_ns, self.host_clock_ns) if self.hosts > 1 else 0
        return round(
            host_offset + random.Random(f"{self.seed} {rank}").randint(-self.clock_ns, self.clock_ns), -1
        )


@dataclass
class Meeting:
    """A collective on all its ranks, in common time."""

    ranks: tuple[int, ...]
    number: int  #: of the group's collectives
    kinds: list[str]
    elements: int
    begins: list[int]
    ends: list[int]

    @property
    def last(self) -> int:
        return self.ranks[self.begins.index(max(self.begins))]

    def wait(self, rank: int) -> int:
        return max(self.begins) - self.begins[self.ranks.index(rank)]


@dataclass
class SimulatedOutcome:
    """What each rank recorded, on its own clock, and the collectives on all of them."""

    job: SimulatedJob
    recordings: list[Recording]
    meetings: list[Meeting]


def simulate(job: SimulatedJob) -> SimulatedOutcome:
    """Run a job."""
    machines = [
        Machine(job.seed * 1009 + rank, START_NS + job.offset(rank), PID + 17 * rank, True, job.variation)
        for rank in range(job.layout.world)
    ]
    programs = [
        job.program(machine, job.layout, rank, job.size, job.extra.get(rank, Extra()))
        for rank, machine in enumerate(machines)
    ]
    meetings = _run([program.run(job.steps) for program in programs], job)
    return SimulatedOutcome(job, [machine.recording for machine in machines], meetings)


def _run(running: list[Running], job: SimulatedJob) -> list[Meeting]:
    chance = random.Random(job.seed)
    waiting: dict[str, dict[int, deque[Posting]]] = defaultdict(lambda: defaultdict(deque))
    counts: dict[str, int] = defaultdict(int)
    meetings = []
    ready: list[tuple[int, Part | None]] = [(rank, None) for rank in range(len(running))]
    while ready:
        rank, part = ready.pop()
        try:
            posting = next(running[rank]) if part is None else running[rank].send(part)
        except StopIteration:
            continue
        group, ranks = posting.group.name, posting.group.ranks
        waiting[group][rank].append(posting)
        if posting.finish is not None:
            ready.append((rank, None))
        if not all(waiting[group][member] for member in ranks):
            continue
        posted = {member: waiting[group][member].popleft() for member in ranks}
        begins = [posted[member].begin - job.offset(member) for member in ranks]
        kinds = [posted[member].kind for member in ranks]
        sizes = [4 * posted[member].elements // len(ranks) for member in ranks]
        parts = meet(kinds, ranks, begins, sizes, job.slow, chance)
        ends = [part.end for part in parts]
        meetings.append(Meeting(ranks, counts[group], kinds, posting.elements, begins, ends))
        counts[group] += 1
        for member, part in zip(ranks, parts):
            moved, finish = _shift_part(part, job.offset(member)), posted[member].finish
            if finish is None:
                ready.append((member, moved))
            else:
                finish(moved)
    left = [group for group, ranks in waiting.items() if any(ranks.values())]
    assert not left, "ranks posted collectives in different orders"
    return meetings


def _shift_part(part: Part, shift: int) -> Part:
    """Return a part on another clock."""
    steps = [PlaneTask(*step[:3], step.start + shift, step.end + shift, step.size) for step in part.steps]
    return Part(steps, part.end + shift, part.wait)
