"""Pick the ranks of one job from those that were found: without duplicates, and without other jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.digest import MOST_RANKS, Digest, Identity
from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.trace.model import TraceKind
from tracetui.units import format_count

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
    is read; where only names tell the rank, of one process. What else may be a double is told once it is
    digested, by `largest_job`.
    """
    first_places: dict[tuple[str, int, int, str], int] = {}
    identities = []
    for place, (name, identity) in enumerate(ranks):
        process = name.partition(identity.started)[0] if identity.started and _is_named(identity) else ""
        key = (str(PurePath(name).parent), identity.world, identity.rank, process)
        stamped = identity.rank >= 0 and identity.started
        identities.append(first_places.setdefault(key, place) if stamped else place)
    return _newest(ranks, list(range(len(ranks))), identities)


def _is_named(identity: Identity) -> bool:
    return identity.rank_from == "name" and identity.rank >= 0


def without_shared_numbers(digests: Sequence[Digest]) -> list[Digest]:
    """Return the digests, without the numbers that names give to several ranks: those on a host, of a model.

    A rank is recorded once at a time: recordings of one time are of several ranks, or else copies, with the
    same collectives. Where two are of one time, no number that several have is believed.
    """
    by_number: dict[int, list[Digest]] = {}
    for digest in sorted(digests, key=lambda digest: digest.start):
        if _is_named(digest.identity):
            by_number.setdefault(digest.identity.rank, []).append(digest)
    pairs = (pair for same in by_number.values() for pair in zip(same, same[1:]))
    if not any(_are_two_ranks(*pair) for pair in pairs):
        return [*digests]
    return [
        replace(digest, identity=replace(digest.identity, rank=-1))
        if _is_named(digest.identity) and len(by_number[digest.identity.rank]) > 1
        else digest
        for digest in digests
    ]


def _are_two_ranks(one: Digest, later: Digest) -> bool:
    starts, later_starts = one.collectives.start, later.collectives.start
    is_copy = np.isin(starts, later_starts).any()
    return bool(later.start < one.end and len(starts) and len(later_starts) and not is_copy)


def _newest(
    ranks: Sequence[FoundRank], places: Sequence[int], identities: Sequence[int]
) -> tuple[list[int], list[str]]:
    """Return the newest of equal ranks, the last by name of equally new ones, and what to say of the others.

    `identities` has one key for each of `places`; equal keys mean the same rank.
    """
    recordings: dict[int, list[int]] = {}
    for place, key in zip(places, identities):
        recordings.setdefault(key, []).append(place)
    newest: list[int] = []
    sentences: list[str] = []
    for doubles in recordings.values():
        newest.append(max(doubles, key=lambda place: (ranks[place].identity.started, ranks[place].name)))
        older = [place for place in doubles if place != newest[-1]]
        if not older:
            continue
        template = "rank {rank} is there twice: {newer} is looked at, {older} is not"
        if len(older) > 1:
            template = "rank {rank} is there {count} times: {newer} is looked at, {older} are not"
        sentences.append(
            state(
                template,
                rank=ranks[newest[-1]].identity.rank,
                count=format_count(len(doubles)),
                newer=ranks[newest[-1]].name,
                older=_names(ranks, older),
            )
        )
    return sorted(newest), sentences


def largest_job(ranks: Sequence[FoundRank], digests: Sequence[Digest]) -> tuple[list[int], list[str]]:
    """Return the places of the ranks of the largest job, and sentences about what is left out.

    Ranks are of one job if they tell the same number of ranks, their windows of time lie together, and they
    have a step or a group in common with others of it; where the clock of a host is wrong, if they ran the
    same collectives in the same groups. Of two recordings of one rank in it the later counts.

    Raises UnreadableTrace where no two of them are of one job.
    """
    jobs = _join_across_clocks(digests, _split_jobs(digests))
    largest = max(jobs, key=lambda job: (len(_distinct_numbers(digests, job)), -min(job)))
    other_places = sorted(place for job in jobs if job is not largest for place in job)
    identities = [
        MOST_RANKS + place if digests[place].identity.rank < 0 else digests[place].identity.rank
        for place in largest
    ]
    kept_places, sentences = _newest(ranks, largest, identities)
    strays = _of_other_recordings(digests, kept_places, [*set(largest) - set(kept_places)])
    if strays:
        kept_places = [place for place in kept_places if place not in strays]
        template = "{count} ranks are of another recording than the others and not looked at ({names})"
        if len(strays) == 1:
            template = "1 rank is of another recording than the others and not looked at ({names})"
        sentences.append(state(template, count=format_count(len(strays)), names=_names(ranks, strays)))
    if copies := _copies(digests, kept_places):
        template = "{count} ranks are copies of others, with times that are the same to the ns ({names})"
        if len(copies) == 1:
            template = "1 rank is a copy of another one, with times that are the same to the ns ({names})"
        sentences.append(state(template, count=format_count(len(copies)), names=_names(ranks, copies)))
    if not other_places:
        return kept_places, sentences
    if len(kept_places) == 1:
        names = _names(ranks, sorted([*kept_places, *other_places]))
        raise UnreadableTrace(
            Reason.DIRECTORY,
            state(
                "no two of the {ranks} traces are of one job; name one ({names})",
                ranks=f"{len(ranks):,}",
                names=names,
            ),
        )
    listed = _names(ranks, other_places)
    if len(other_places) == 1:
        template = "1 rank is of another job and not looked at ({names}); --only chooses"
    elif len(jobs) == 2:
        template = "{count} ranks are of another job and not looked at ({names}); --only chooses"
    else:
        template = "{count} ranks are of {jobs} other jobs and not looked at ({names}); --only chooses"
    counts = {"count": format_count(len(other_places)), "jobs": format_count(len(jobs) - 1)}
    return kept_places, [*sentences, state(template, **counts, names=listed)]


def _copies(digests: Sequence[Digest], places: Sequence[int]) -> list[int]:
    """Return the places of ranks that communicate when another one before them does, to the nanosecond."""
    times: set[tuple[object, ...]] = set()
    copies = []
    for place in places:
        digest = digests[place]
        key = digest.boundaries.tobytes(), digest.groups, digest.texts
        if key in times and len(digest.collectives):
            copies.append(place)
        times.add(key)
    return copies


def _of_other_recordings(
    digests: Sequence[Digest], kept_places: Sequence[int], left_out: Sequence[int]
) -> list[int]:
    """Return kept ranks, fewer than half, that were recorded with some of those left out and no kept one."""

    def recorded_with(places: Sequence[int]) -> Int64s:
        starts, ends = (np.sort([getattr(digests[p], name) for p in places]) for name in ("start", "end"))
        began = [int(np.searchsorted(starts, digests[place].end)) for place in kept_places]
        ended = [int(np.searchsorted(ends, digests[place].start, "right")) for place in kept_places]
        return np.array(began, np.int64) - np.array(ended, np.int64)

    if not left_out:
        return []
    is_stray = (recorded_with(kept_places) < 2) & (recorded_with(left_out) > 0)
    strays = [place for place, stray in zip(kept_places, is_stray.tolist()) if stray]
    return strays if 2 * len(strays) < len(kept_places) else []


def _names(ranks: Sequence[FoundRank], places: Sequence[int]) -> str:
    """Return the names of the first ranks at some places."""
    return ", ".join(ranks[place].name for place in places[:_MOST_NAMES]) + (
        ", ..." if len(places) > _MOST_NAMES else ""
    )


def _distinct_numbers(digests: Sequence[Digest], places: Sequence[int]) -> set[int]:
    """Return the numbers of the ranks at some places; of each without a number one of its own."""
    return {rank if (rank := digests[place].identity.rank) >= 0 else -1 - place for place in places}


def _split_jobs(digests: Sequence[Digest]) -> list[list[int]]:
    worlds = Counter(digest.identity.world for digest in digests if digest.identity.world)
    usual = worlds.most_common(1)[0][0] if worlds else 0
    parts: list[list[int]] = []
    by_world: dict[int, list[int]] = {}
    for place, digest in enumerate(digests):
        by_world.setdefault(digest.identity.world or usual, []).append(place)
    for places in by_world.values():
        for nearby in _split_by_time(digests, places):
            parts.extend(_split_by_content(digests, nearby))
    return parts


def _split_by_time(digests: Sequence[Digest], places: list[int]) -> list[list[int]]:
    """Return the places in parts whose windows of time lie together."""
    parts: list[list[int]] = []
    until = 0
    for place in sorted(places, key=lambda place: digests[place].start):
        if not parts or digests[place].start > until + LONGEST_BREAK:
            parts.append([])
        parts[-1].append(place)
        until = max(until, digests[place].end)
    return parts


def _split_by_content(digests: Sequence[Digest], places: list[int]) -> list[list[int]]:
    """Return the places in parts that have a step or a group in common, GPUs the size of their world.

    What has none of them is of the first.
    """
    parts: list[tuple[set[object], list[int]]] = []
    unconnected: list[int] = []
    for place in places:
        digest = digests[place]
        tokens: set[object] = set(digest.steps.number.tolist())
        tokens |= {("group", group.key, group.communicator) for group in digest.groups}
        if digest.kind == TraceKind.GPU.value and digest.identity.world > 1:  # groups may hold few ranks each
            tokens.add(("world", digest.identity.world))
        if not tokens:
            unconnected.append(place)
            continue
        connected = [part for part in parts if part[0] & tokens]
        parts = [part for part in parts if not part[0] & tokens]
        all_tokens = tokens.union(*(part[0] for part in connected))
        parts.append((all_tokens, sorted([place, *(other for part in connected for other in part[1])])))
    if not parts:
        return [unconnected] if unconnected else []
    parts.sort(key=lambda part: -len(part[1]))
    parts[0][1].extend(unconnected)
    return [part[1] for part in parts]


def _join_across_clocks(digests: Sequence[Digest], parts: list[list[int]]) -> list[list[int]]:
    """Join the parts that hold other ranks of the same groups: the clocks of their hosts disagree."""
    if len(parts) < 2:
        return parts
    joined: list[tuple[list[int], frozenset[object]]] = []
    for part in sorted(parts, key=len, reverse=True):
        sequences = frozenset(
            sequence for place in part for sequence in _collective_sequences(digests[place])
        )
        rank_numbers = _distinct_numbers(digests, part)
        for place, (joined_part, joined_sequences) in enumerate(joined):
            if (
                min(rank_numbers) >= 0
                and not rank_numbers & _distinct_numbers(digests, joined_part)
                and sequences & joined_sequences
            ):
                joined[place] = sorted([*joined_part, *part]), joined_sequences | sequences
                break
        else:
            joined.append((part, sequences))
    return [part for part, _ in joined]


def _collective_sequences(digest: Digest) -> set[object]:
    """Return what a rank ran in each group and step that only ranks of its job run: group, step and types.

    Groups count that have a name of their own in every job: a whole communicator, or the number HCCL makes
    of it. What GPUs call a group, "0", is the same in all jobs.
    """
    collectives = digest.collectives
    types_by_step: dict[tuple[int, int], list[str]] = {}
    for group, step, kind in zip(
        collectives.group.tolist(), collectives.step.tolist(), collectives.type.tolist()
    ):
        types_by_step.setdefault((group, step), []).append(digest.text(kind))
    return {
        (digest.groups[group].key, digest.groups[group].communicator, step, tuple(types))
        for (group, step), types in types_by_step.items()
        if digest.groups[group].communicator or len(digest.groups[group].key) == _HASH_LENGTH
    }


_HASH_LENGTH = 3  #: characters of the number that HCCL makes of a communicator's name


def number_ranks(ranks: Sequence[FoundRank]) -> tuple[list[int], list[str]]:
    """Return the number of each rank. Ranks without a known number get the lowest free ones, by name."""
    assigned = [rank.identity.rank for rank in ranks]
    taken = {number for number in assigned if 0 <= number < MOST_RANKS}
    free = (number for number in count() if number not in taken)
    unnumbered = [place for place, number in enumerate(assigned) if number not in taken]
    for _, place in sorted((ranks[place].name, place) for place in unnumbered):
        assigned[place] = next(free)
    if not unnumbered:
        return assigned, []
    template = "{count} ranks have no valid number: numbered by name"
    if len(unnumbered) == 1:
        template = "one rank has no valid number: numbered by name"
    return assigned, [state(template, count=format_count(len(unnumbered)))]
