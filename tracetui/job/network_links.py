"""What moved between the ranks of a job, and which links are slow beside others of their kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.communication.speeds import Slowness, Traffic, nominal_speed, slownesses
from tracetui.job.digest import RankGroup
from tracetui.job.job import Job


class LinkEnds(NamedTuple):
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

    ends: LinkEnds
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
        """Return bytes / ns; None where it took no time."""
        return self.bytes / self.ns if self.ns else None

    @property
    def nominal_share(self) -> float | None:
        """Its speed beside what it is built for; None where either is not known."""
        speed, nominal = self.gb_per_s, self.nominal
        return None if speed is None or not nominal else speed / nominal


def job_links(job: Job) -> tuple[JobLink, ...]:
    """Return the links between ranks, those first that took most time."""
    links: dict[LinkEnds, dict[tuple[str, int], Traffic]] = {}
    chips: dict[LinkEnds, set[str]] = {}
    numbers = _group_numbers(job)
    for rank_place, rank in enumerate(job.ranks):
        columns = rank.digest.links
        for place in np.flatnonzero(columns.src != columns.dst).tolist():
            group = rank.digest.groups[int(columns.group[place])] if columns.group[place] >= 0 else None
            known = (
                {}
                if group is None
                else numbers.get((rank_place, group)) or _known_numbers(group, rank.number)
            )
            src, dst = int(columns.src[place]), int(columns.dst[place])
            transport = rank.digest.text(int(columns.transport[place]))
            ends = _link_ends(known, group, src, dst, transport)
            chips.setdefault(ends, set()).add(rank.digest.chip)
            parts, kind = links.setdefault(ends, {}), (ends.transport, int(columns.size_class[place]))
            measured = (int(column[place]) for column in (columns.transfers, columns.bytes, columns.ns))
            earlier = parts.get(kind, Traffic(0, 0, 0))
            parts[kind] = Traffic(*map(sum, zip(earlier, measured)))
    links_found = [
        JobLink(
            ends,
            bytes=sum(moved.bytes for moved in parts.values()),
            ns=sum(moved.ns for moved in parts.values()),
            slowness=slowness,
            nominal=_nominal_speed(ends, chips[ends]),
        )
        for (ends, parts), slowness in zip(links.items(), slownesses([*links.values()]))
    ]
    return tuple(sorted(links_found, key=lambda link: (-link.ns, link.ends.group, str(link.ends))))


def _nominal_speed(ends: LinkEnds, chips: set[str]) -> float | None:
    """Return the GB/s that a link is built for, by the generations of the devices that saw it."""
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
            numbers.update(_known_numbers(group, job.ranks[place].number))
        for member in members:
            found.setdefault(member, {}).update(numbers)
    return found


def _known_numbers(group: RankGroup, rank: int) -> dict[int, int]:
    """Return the ranks in the job of the numbers in a group, as far as one of its ranks knows them."""
    return {**dict(enumerate(group.global_ranks)), **({group.rank: rank} if group.rank >= 0 else {})}


def _link_ends(
    known: dict[int, int], group: RankGroup | None, src: int, dst: int, transport: str
) -> LinkEnds:
    """Return the ends of a link between two numbers of a group, by their ranks in the job where known."""
    if src in known and dst in known:
        return LinkEnds(known[src], known[dst], "", -1, -1, transport)
    return LinkEnds(known.get(src), known.get(dst), group.key if group else "", src, dst, transport)
