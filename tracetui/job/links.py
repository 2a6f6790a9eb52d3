"""What moved between the ranks of a job, and which links are slow beside others of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.job.job import Job
from tracetui.job.members import Rank

#: Percent of the median of links of the same transport and size of message below which a link is slow.
SLOW = 80
LEAST_MESSAGE = 1_000_000  #: bytes: links with smaller messages on average are never called slow


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

    @property
    def gb_per_s(self) -> float | None:
        """bytes / ns; None where it took no time."""
        return self.bytes / self.ns if self.ns else None


class _Moved(NamedTuple):
    """What a link moved in messages of one size class."""

    transfers: int
    bytes: int
    ns: int


def job_links(job: Job) -> tuple[JobLink, ...]:
    """Return the links between ranks, those first that took most time."""
    sums: dict[tuple[Ends, int], _Moved] = {}
    for rank in job.ranks:
        own = rank.digest.links
        for place in np.flatnonzero(own.src != own.dst).tolist():
            key = (_ends(rank, place), int(own.size_class[place]))
            told = (int(column[place]) for column in (own.transfers, own.bytes, own.ns))
            before = sums.get(key, _Moved(0, 0, 0))
            sums[key] = _Moved(*map(sum, zip(before, told)))
    usual = _usual_speeds(sums)
    links: dict[Ends, list[tuple[_Moved, bool]]] = {}
    for (ends, size), moved in sums.items():
        slow = _is_slow(moved, usual.get((ends.transport, size), 0.0))
        links.setdefault(ends, []).append((moved, slow))
    found = [
        JobLink(
            ends,
            bytes=sum(moved.bytes for moved, _ in parts),
            ns=sum(moved.ns for moved, _ in parts),
            slow=2 * sum(moved.ns for moved, slow in parts if slow) > sum(moved.ns for moved, _ in parts),
        )
        for ends, parts in links.items()
    ]
    return tuple(sorted(found, key=lambda link: (-link.ns, link.ends.group, str(link.ends))))


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


def _usual_speeds(sums: Mapping[tuple[Ends, int], _Moved]) -> dict[tuple[str, int], float]:
    """bytes / ns: the median of links by transport and size of message."""
    speeds: dict[tuple[str, int], list[float]] = {}
    for (ends, size), moved in sums.items():
        if moved.ns:
            speeds.setdefault((ends.transport, size), []).append(moved.bytes / moved.ns)
    return {kind: float(np.median(told)) for kind, told in speeds.items()}


def _is_slow(moved: _Moved, usual: float) -> bool:
    large = moved.bytes >= moved.transfers * LEAST_MESSAGE
    return large and moved.ns > 0 and moved.bytes / moved.ns * 100 < usual * SLOW
