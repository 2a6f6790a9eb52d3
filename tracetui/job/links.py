"""What moved between the ranks of a job, and which links are slow beside others of their kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.communication.speeds import Moved, nominal_speed, slow_links
from tracetui.job.job import Job
from tracetui.job.members import Rank


class Ends(NamedTuple):
    """Two ranks and what carries bytes from one to the other. Where both are known in the job, no group."""

    src: int | None  #: number in the job, None where not known
    dst: int | None
    group: str  #: key of the group whose numbers follow, as written in the trace; "" where both are known
    group_src: int  #: number in the group, -1 where both are known
    group_dst: int
    transport: str


@dataclass(frozen=True)
class JobLink:
    """What went from one rank to another by one transport."""

    ends: Ends
    bytes: int
    ns: int
    slow: bool  #: for most of that time
    nominal: float | None  #: GB/s that it is built for; None where that is not known

    @property
    def gb_per_s(self) -> float | None:
        """bytes / ns; None where it took no time."""
        return self.bytes / self.ns if self.ns else None

    @property
    def nominal_share(self) -> float | None:
        """Its speed beside what it is built for; None where either is not known."""
        speed, nominal = self.gb_per_s, self.nominal
        return None if speed is None or not nominal else speed / nominal


def job_links(job: Job) -> tuple[JobLink, ...]:
    """Return the links between ranks, those first that took most time."""
    links: dict[Ends, dict[tuple[str, int], Moved]] = {}
    chips: dict[Ends, set[str]] = {}
    for rank in job.ranks:
        own = rank.digest.links
        for place in np.flatnonzero(own.src != own.dst).tolist():
            ends = _ends(rank, place)
            chips.setdefault(ends, set()).add(rank.digest.chip)
            parts, kind = links.setdefault(ends, {}), (ends.transport, int(own.size_class[place]))
            told = (int(column[place]) for column in (own.transfers, own.bytes, own.ns))
            before = parts.get(kind, Moved(0, 0, 0))
            parts[kind] = Moved(*map(sum, zip(before, told)))
    found = [
        JobLink(
            ends,
            bytes=sum(moved.bytes for moved in parts.values()),
            ns=sum(moved.ns for moved in parts.values()),
            slow=slow,
            nominal=_nominal(ends, chips[ends]),
        )
        for (ends, parts), slow in zip(links.items(), slow_links([*links.values()]))
    ]
    return tuple(sorted(found, key=lambda link: (-link.ns, link.ends.group, str(link.ends))))


def _nominal(ends: Ends, chips: set[str]) -> float | None:
    """GB/s that a link is built for, by the generations of the devices that saw it."""
    return nominal_speed(next(iter(chips)), ends.transport) if len(chips) == 1 else None


def _ends(rank: Rank, place: int) -> Ends:
    digest = rank.digest
    own = digest.links
    group = digest.groups[int(own.group[place])] if own.group[place] >= 0 else None
    src, dst = int(own.src[place]), int(own.dst[place])
    transport = digest.text(int(own.transport[place]))

    def known(number: int) -> int | None:
        ranks = group.global_ranks if group else ()
        if number < len(ranks):
            return ranks[number]
        return rank.number if group and number == group.rank else None

    ends = known(src), known(dst)
    if None not in ends:
        return Ends(*ends, "", -1, -1, transport)
    return Ends(*ends, group.key if group else "", src, dst, transport)
