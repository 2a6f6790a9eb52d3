"""What moved between the ranks of a job, and which links are slow beside others of their kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.communication.speeds import Moved, Slowness, nominal_speed, slownesses
from tracetui.job.digest import RankGroup
from tracetui.job.job import Job


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
    slowness: Slowness  #: beside links of its kind
    nominal: float | None  #: GB/s that it is built for; None where that is not known

    @property
    def slow(self) -> bool:
        """Whether it is slow for most of its time."""
        return self.slowness.slow

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
    numbers = _group_numbers(job)
    for rank_place, rank in enumerate(job.ranks):
        own = rank.digest.links
        for place in np.flatnonzero(own.src != own.dst).tolist():
            group = rank.digest.groups[int(own.group[place])] if own.group[place] >= 0 else None
            known = {} if group is None else numbers.get((rank_place, group)) or _told(group, rank.number)
            src, dst = int(own.src[place]), int(own.dst[place])
            transport = rank.digest.text(int(own.transport[place]))
            ends = _ends(known, group, src, dst, transport)
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
            slowness=slowness,
            nominal=_nominal(ends, chips[ends]),
        )
        for (ends, parts), slowness in zip(links.items(), slownesses([*links.values()]))
    ]
    return tuple(sorted(found, key=lambda link: (-link.ns, link.ends.group, str(link.ends))))


def _nominal(ends: Ends, chips: set[str]) -> float | None:
    """GB/s that a link is built for, by the generations of the devices that saw it."""
    return nominal_speed(next(iter(chips)), ends.transport) if len(chips) == 1 else None


def _group_numbers(job: Job) -> dict[tuple[int, RankGroup], dict[int, int]]:
    """Return the ranks in the job of the numbers in each group, by the place of a rank and its group.

    What one of the ranks of a group knows, all of them do.
    """
    found: dict[tuple[int, RankGroup], dict[int, int]] = {}
    for matched in job.channels:
        members = [*zip(matched.channel.ranks, matched.channel.groups)]
        numbers: dict[int, int] = {}
        for place, group in members:
            numbers.update(_told(group, job.ranks[place].number))
        for member in members:
            found.setdefault(member, {}).update(numbers)
    return found


def _told(group: RankGroup, rank: int) -> dict[int, int]:
    """Return the ranks in the job of the numbers in a group, as far as one of its ranks knows them."""
    return {**dict(enumerate(group.global_ranks)), **({group.rank: rank} if group.rank >= 0 else {})}


def _ends(known: dict[int, int], group: RankGroup | None, src: int, dst: int, transport: str) -> Ends:
    """Return the ends of a link between two numbers of a group, by their ranks in the job where known."""
    if src in known and dst in known:
        return Ends(known[src], known[dst], "", -1, -1, transport)
    return Ends(known.get(src), known.get(dst), group.key if group else "", src, dst, transport)
