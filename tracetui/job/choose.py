"""Which of the ranks that were found are one job: their numbers, doubles, and other jobs beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from tracetui.job.digest import MOST_RANKS, Digest, Identity

#: ns by which the windows of ranks of one job may lie apart: their clocks may, and so may their starts.
LONGEST_BREAK = 60_000_000_000


class Told(NamedTuple):
    """A rank as it was found."""

    name: str  #: as people call it
    identity: Identity


def without_doubles(told: Sequence[Told]) -> tuple[list[int], list[str]]:
    """Return the places of those to look at, and a sentence for each that is left out.

    Of two of one rank the one with the later time stamp in its name counts, of equal ones the last by name.
    """
    latest: dict[tuple[int, int], int] = {}
    said = []
    for place, (_, identity) in enumerate(told):
        if identity.rank < 0:
            continue
        key = (identity.world, identity.rank)
        other = latest.get(key)
        if other is not None:
            newer, older = (place, other) if _order(told, place) > _order(told, other) else (other, place)
            said.append(
                f"rank {identity.rank} is there twice: {told[newer].name} is looked at, "
                f"{told[older].name} is not"
            )
            place = newer
        latest[key] = place
    kept = set(latest.values()) | {place for place, each in enumerate(told) if each.identity.rank < 0}
    return sorted(kept), said


def _order(told: Sequence[Told], place: int) -> tuple[str, str]:
    return told[place].identity.started, told[place].name


def one_job(names: Sequence[str], digests: Sequence[Digest]) -> tuple[list[int], list[str]]:
    """Return the places of the ranks of the largest job, and a sentence about the others.

    Ranks are of one job if they tell the same number of ranks, their windows of time lie together, and they
    have a step or a group in common with others of it.
    """
    jobs = _parts(digests)
    if len(jobs) < 2:
        return list(range(len(digests))), []
    largest = max(jobs, key=lambda job: (len(job), -min(job)))
    others = sorted(place for job in jobs if job is not largest for place in job)
    shown = ", ".join(names[place] for place in others[:3]) + (", ..." if len(others) > 3 else "")
    ranks = "1 rank is" if len(others) == 1 else f"{len(others):,} ranks are"
    many = "another job" if len(jobs) == 2 else f"{len(jobs) - 1:,} other jobs"
    return sorted(largest), [f"{ranks} of {many} and not looked at ({shown}); --only chooses"]


def _parts(digests: Sequence[Digest]) -> list[list[int]]:
    worlds = Counter(digest.identity.world for digest in digests if digest.identity.world)
    usual = worlds.most_common(1)[0][0] if worlds else 0
    parts: list[list[int]] = []
    by_world: dict[int, list[int]] = {}
    for place, digest in enumerate(digests):
        by_world.setdefault(digest.identity.world or usual, []).append(place)
    for places in by_world.values():
        for together in _in_time(digests, places):
            parts.extend(_connected(digests, together))
    return parts


def _in_time(digests: Sequence[Digest], places: list[int]) -> list[list[int]]:
    """The places in parts whose windows of time lie together."""
    parts: list[list[int]] = []
    until = 0
    for place in sorted(places, key=lambda place: digests[place].start):
        if not parts or digests[place].start > until + LONGEST_BREAK:
            parts.append([])
        parts[-1].append(place)
        until = max(until, digests[place].end)
    return parts


def _connected(digests: Sequence[Digest], places: list[int]) -> list[list[int]]:
    """The places in parts that have a step or a group in common; what has neither goes with the first."""
    parts: list[tuple[set[object], list[int]]] = []
    silent: list[int] = []
    for place in places:
        digest = digests[place]
        tokens: set[object] = set(digest.steps.number.tolist())
        tokens |= {("group", group.key, group.communicator) for group in digest.groups}
        if not tokens:
            silent.append(place)
            continue
        joined = [part for part in parts if part[0] & tokens]
        parts = [part for part in parts if not part[0] & tokens]
        every = tokens.union(*(part[0] for part in joined))
        parts.append((every, sorted([place, *(other for part in joined for other in part[1])])))
    if not parts:
        return [silent] if silent else []
    parts.sort(key=lambda part: -len(part[1]))
    parts[0][1].extend(silent)
    return [part[1] for part in parts]


def numbers(identities: Sequence[Told]) -> tuple[list[int], list[str]]:
    """Return the number of each rank; of those that nothing tells, the lowest free ones, by name."""
    given = [each.identity.rank for each in identities]
    taken = {number for number in given if 0 <= number < MOST_RANKS}
    free = (number for number in count() if number not in taken)
    untold = [place for place, number in enumerate(given) if number not in taken]
    unknown = sorted((identities[place].name, place) for place in untold)
    for _, place in unknown:
        given[place] = next(free)
    if not unknown:
        return given, []
    which = "of one rank" if len(unknown) == 1 else f"of {len(unknown):,} ranks"
    return given, [f"nothing tells the number {which}: numbered by name"]
