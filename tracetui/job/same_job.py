"""Which of the ranks that were found are one job: their numbers, doubles, and other jobs beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import PurePath
from typing import NamedTuple

from tracetui.job.digest import MOST_RANKS, Digest, Identity
from tracetui.reader.errors import Reason, UnreadableTrace

#: ns by which the windows of ranks of one job may lie apart: their clocks may, and so may their starts.
LONGEST_BREAK = 60_000_000_000
_MOST_NAMES = 3  #: in a sentence


class FoundRank(NamedTuple):
    """A rank as it was found."""

    name: str  #: as people call it
    identity: Identity


def latest_recordings(ranks: Sequence[FoundRank]) -> tuple[list[int], list[str]]:
    """Return the places of the ranks to read, and a sentence for each that is left out.

    Of several recordings of one rank that lie in one directory, and whose names have time stamps, the latest
    is read. What else may be a double is told once it is digested, by `one_job`.
    """
    first: dict[tuple[str, int, int], int] = {}
    same = []
    for place, (name, identity) in enumerate(ranks):
        key = (str(PurePath(name).parent), identity.world, identity.rank)
        stamped = identity.rank >= 0 and identity.started
        same.append(first.setdefault(key, place) if stamped else place)
    return _newest(ranks, list(range(len(ranks))), same)


def _newest(
    ranks: Sequence[FoundRank], places: Sequence[int], same: Sequence[int]
) -> tuple[list[int], list[str]]:
    """Return of the places that are the same the one with the latest time stamp, of equal ones the last.

    The sentences say what is left out. `same`: of each place what is equal for those that are the same.
    """
    newest: dict[int, int] = {}
    sentences = []
    for place, key in zip(places, same):
        other = newest.setdefault(key, place)
        if other == place:
            continue
        newer, older = (place, other) if _age(ranks[place]) > _age(ranks[other]) else (other, place)
        newest[key] = newer
        sentences.append(
            f"rank {ranks[place].identity.rank} is there twice: {ranks[newer].name} is looked at, "
            f"{ranks[older].name} is not"
        )
    return sorted(newest.values()), sentences


def _age(rank: FoundRank) -> tuple[str, str]:
    return rank.identity.started, rank.name


def one_job(ranks: Sequence[FoundRank], digests: Sequence[Digest]) -> tuple[list[int], list[str]]:
    """Return the places of the ranks of the largest job, and sentences about what is left out.

    Ranks are of one job if they tell the same number of ranks, their windows of time lie together, and they
    have a step or a group in common with others of it; where the clock of a host is wrong, if they ran the
    same collectives in the same groups. Of two recordings of one rank in it the later counts.

    Raises UnreadableTrace where no two of them are of one job.
    """
    jobs = _joined_across_clocks(digests, _parts(digests))
    largest = max(jobs, key=lambda job: (len(_distinct(digests, job)), -min(job)))
    others = sorted(place for job in jobs if job is not largest for place in job)
    same = [
        MOST_RANKS + place if digests[place].identity.rank < 0 else digests[place].identity.rank
        for place in largest
    ]
    kept, sentences = _newest(ranks, largest, same)
    if not others:
        return kept, sentences
    if len(kept) == 1:
        names = _names(ranks, sorted([*kept, *others]))
        raise UnreadableTrace(
            Reason.DIRECTORY, f"no two of the {len(ranks):,} traces are of one job; name one ({names})"
        )
    shown = _names(ranks, others)
    left = "1 rank is" if len(others) == 1 else f"{len(others):,} ranks are"
    many = "another job" if len(jobs) == 2 else f"{len(jobs) - 1:,} other jobs"
    return kept, [*sentences, f"{left} of {many} and not looked at ({shown}); --only chooses"]


def _names(ranks: Sequence[FoundRank], places: Sequence[int]) -> str:
    """Return the names of the first ranks at some places."""
    return ", ".join(ranks[place].name for place in places[:_MOST_NAMES]) + (
        ", ..." if len(places) > _MOST_NAMES else ""
    )


def _distinct(digests: Sequence[Digest], places: Sequence[int]) -> set[int]:
    """Return the numbers of the ranks at some places; of each without a number one of its own."""
    return {rank if (rank := digests[place].identity.rank) >= 0 else -1 - place for place in places}


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
    """Return the places in parts whose windows of time lie together."""
    parts: list[list[int]] = []
    until = 0
    for place in sorted(places, key=lambda place: digests[place].start):
        if not parts or digests[place].start > until + LONGEST_BREAK:
            parts.append([])
        parts[-1].append(place)
        until = max(until, digests[place].end)
    return parts


def _connected(digests: Sequence[Digest], places: list[int]) -> list[list[int]]:
    """Return the places in parts that have a step or a group in common; what has neither is of the first."""
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


def _joined_across_clocks(digests: Sequence[Digest], parts: list[list[int]]) -> list[list[int]]:
    """Join the parts that hold other ranks of the same groups: the clocks of their hosts disagree."""
    if len(parts) < 2:
        return parts
    joined: list[tuple[list[int], frozenset[object]]] = []
    for part in sorted(parts, key=len, reverse=True):
        ran = frozenset(each for place in part for each in _sequences(digests[place]))
        numbers = _distinct(digests, part)
        for place, (other, others_ran) in enumerate(joined):
            if min(numbers) >= 0 and not numbers & _distinct(digests, other) and ran & others_ran:
                joined[place] = sorted([*other, *part]), others_ran | ran
                break
        else:
            joined.append((part, ran))
    return [part for part, _ in joined]


def _sequences(digest: Digest) -> set[object]:
    """Return what a rank ran in each group and step that only ranks of its job run: group, step and types.

    Groups count that have a name of their own in every job: a whole communicator, or the number HCCL makes
    of it. What GPUs call a group, "0", is the same in all jobs.
    """
    collectives = digest.collectives
    told: dict[tuple[int, int], list[str]] = {}
    for group, step, kind in zip(
        collectives.group.tolist(), collectives.step.tolist(), collectives.type.tolist()
    ):
        told.setdefault((group, step), []).append(digest.text(kind))
    return {
        (digest.groups[group].key, digest.groups[group].communicator, step, tuple(types))
        for (group, step), types in told.items()
        if digest.groups[group].communicator or len(digest.groups[group].key) == _HASHED
    }


_HASHED = 3  #: characters of the number that HCCL makes of a communicator's name


def numbers(ranks: Sequence[FoundRank]) -> tuple[list[int], list[str]]:
    """Return the number of each rank; of those that nothing tells, the lowest free ones, by name."""
    given = [rank.identity.rank for rank in ranks]
    taken = {number for number in given if 0 <= number < MOST_RANKS}
    free = (number for number in count() if number not in taken)
    without = [place for place, number in enumerate(given) if number not in taken]
    for _, place in sorted((ranks[place].name, place) for place in without):
        given[place] = next(free)
    if not without:
        return given, []
    which = "of one rank" if len(without) == 1 else f"of {len(without):,} ranks"
    return given, [f"nothing tells the number {which}: numbered by name"]
