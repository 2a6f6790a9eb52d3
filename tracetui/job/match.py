"""The same collective on several ranks: the operations of a channel, matched by their sequence in each step.

Operations are alike by type, type of element and count (but of an all-to-all, in which ranks differ). The
indices in their names differ where one rank has seen more of them before, so they tell nothing. Where the
sequences of two ranks differ, that is often the bug: they are matched as far as they go together, and the
first difference is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Channel, Rank

LONGEST_SHIFT = 64  #: operations that one rank has seen before another in the same step
NONE = -1
_KINDS = 1 << 16  # numbers of more kinds would be those of other counts


@dataclass(frozen=True)
class Difference:
    """Where a rank ran something else than the others of its group."""

    rank: int  #: place in the job
    group: str  #: its key: never print it unescaped
    step: int  #: number, -1 where none
    position: int  #: in the sequence of that step, from 0
    ran: str  #: what it ran: "allReduce", with count and dtype where only these differ; "" nothing
    elsewhere: str  #: what the other ranks ran


@dataclass(frozen=True, eq=False)
class MatchedChannel:
    """The operations of a channel."""

    channel: Channel
    #: int64[operations, ranks]: the place of each among the collectives of each rank of the channel, NONE
    #: where it did not take part. What could not be matched is an operation of one rank.
    places: Int64s
    differences: tuple[Difference, ...] = ()

    def column(self, ranks: tuple[Rank, ...], name: str, missing: int = 0) -> Int64s:
        """Return a column of the collectives, int64[operations, ranks]; `missing` where none is."""
        table = np.full(self.places.shape, missing, np.int64)
        for member, rank in enumerate(self.channel.ranks):
            here = self.places[:, member] >= 0
            table[here, member] = getattr(ranks[rank].collectives, name)[self.places[here, member]]
        return table


class Signatures:
    """Numbers for what makes operations alike, the same on all ranks."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], int] = {}

    def numbers(self, rank: Rank, places: Int64s, pair: bool, counted: bool) -> Int64s:
        """Return the number of each of some collectives of a rank."""
        collectives, digest = rank.collectives, rank.digest
        pairs, pair_of_place = np.unique(
            np.stack((collectives.type[places], collectives.dtype[places])), axis=1, return_inverse=True
        )
        names = [
            ("" if pair else digest.text(kind).lower(), digest.text(dtype).upper() if counted else "")
            for kind, dtype in pairs.T.tolist()
        ]
        kinds = np.array([self._kinds.setdefault(name, len(self._kinds)) for name in names], np.int64)
        # in an all-to-all each rank has as many elements as it sends
        even = np.array(["alltoall" not in name[0] for name in names], np.bool_) & counted
        kind_of_place = pair_of_place.reshape(-1)
        return kinds[kind_of_place] + collectives.count[places] * _KINDS * even[kind_of_place]


def match(ranks: tuple[Rank, ...], channel: Channel, signatures: Signatures) -> MatchedChannel:
    """Return the operations of a channel."""
    members = range(len(channel.ranks))
    counted = all(
        (ranks[r].collectives.count[places] >= 0).all()
        for r, places in zip(channel.ranks, channel.collectives)
    )
    signatures_of_members = [
        signatures.numbers(ranks[channel.ranks[m]], channel.collectives[m], channel.pair, counted)
        for m in members
    ]
    steps = [ranks[channel.ranks[m]].collectives.step[channel.collectives[m]] for m in members]
    if any((column < 0).all() for column in steps):  # a rank without steps: all is one sequence
        steps = [np.full_like(column, -1) for column in steps]
    first = (signatures_of_members[0].tobytes(), steps[0].tobytes())
    if all((signatures_of_members[m].tobytes(), steps[m].tobytes()) == first for m in members):
        return MatchedChannel(channel, np.stack(channel.collectives, axis=1))
    parts: list[Int64s] = []
    differences: list[Difference] = []
    for step in sorted({number for column in steps for number in np.unique(column).tolist()}):
        places = [np.flatnonzero(column == step) for column in steps]
        table, differing = _match_step(ranks, channel, signatures_of_members, places, is_whole_step=step >= 0)
        parts.append(table)
        differences.extend(
            _difference(ranks, channel, step, places, *ranks_differ) for ranks_differ in differing
        )
    return MatchedChannel(channel, sort_by_time(ranks, channel, np.concatenate(parts)), tuple(differences))


def _match_step(
    ranks: tuple[Rank, ...],
    channel: Channel,
    signatures: list[Int64s],
    places: list[Int64s],
    is_whole_step: bool,
) -> tuple[Int64s, list[tuple[int, int, int]]]:
    """Return the operations of one step, and where ranks differ: member, place in its sequence, reference."""
    sequences = [signatures[m][places[m]].tobytes() for m in range(len(places))]
    present = [m for m in range(len(places)) if len(places[m])]
    votes = Counter(sequences[m] for m in present)
    reference = max(present, key=lambda m: (votes[sequences[m]], len(places[m]), -m))
    expected = signatures[reference][places[reference]]
    table = np.full((len(expected), len(places)), NONE, np.int64)
    unmatched: list[Int64s] = []
    differing = []
    for m in present:
        collectives = channel.collectives[m][places[m]]
        if sequences[m] == sequences[reference]:
            shift: int | None = 0
        else:
            reference_ends, ends = (_ends(ranks, channel, member, places) for member in (reference, m))
            shift = _shift(expected, signatures[m][places[m]], reference_ends, ends, is_whole_step)
        if shift is None:
            until = _common_prefix(expected, signatures[m][places[m]])
            differing.append((m, until, reference))
            rows, matched = np.arange(until), np.arange(until)
        else:
            rows = np.arange(len(collectives)) + shift
            matched = np.flatnonzero((rows >= 0) & (rows < len(expected)))
            rows = rows[matched]
        table[rows, m] = collectives[matched]
        unmatched_places = np.setdiff1d(np.arange(len(collectives)), matched)
        rows_of_one = np.full((len(unmatched_places), len(places)), NONE, np.int64)
        rows_of_one[:, m] = collectives[unmatched_places]
        unmatched.append(rows_of_one)
    return np.concatenate([table, *unmatched]), differing


def _shift(
    reference: Int64s, sequence: Int64s, reference_ends: Int64s, ends: Int64s, is_whole_step: bool
) -> int | None:
    """Return the shift of a sequence against another one, in operations; None where no shift fits.

    Of several the one by which they end together best. Of whole steps the shorter sequence has to be part of
    the other; else three quarters of it, as recordings begin and end at different times.
    """
    shortest = min(len(reference), len(sequence))
    if is_whole_step and len(reference) == len(sequence):
        return None
    best: tuple[float, int] | None = None
    for shift in range(-min(len(sequence) - 1, LONGEST_SHIFT), min(len(reference), LONGEST_SHIFT + 1)):
        first, stop = max(shift, 0), min(len(reference), len(sequence) + shift)
        if (stop - first) * 4 < shortest * 4 - (0 if is_whole_step else shortest):
            continue
        if not np.array_equal(reference[first:stop], sequence[first - shift : stop - shift]):
            continue
        distances = ends[first - shift : stop - shift] - reference_ends[first:stop]
        spread = float(np.abs(distances - np.median(distances)).max()) if stop - first > 1 else 0.0
        candidate = (spread, abs(shift))
        if best is None or candidate < (best[0], abs(best[1])):
            best = (spread, shift)
    return None if best is None else best[1]


def _ends(ranks: tuple[Rank, ...], channel: Channel, member: int, places: list[Int64s]) -> Int64s:
    return ranks[channel.ranks[member]].collectives.end[channel.collectives[member][places[member]]]


def _common_prefix(one: Int64s, other: Int64s) -> int:
    length = min(len(one), len(other))
    differs = np.flatnonzero(one[:length] != other[:length])
    return int(differs[0]) if len(differs) else length


def _difference(
    ranks: tuple[Rank, ...],
    channel: Channel,
    step: int,
    places: list[Int64s],
    member: int,
    position: int,
    reference: int,
) -> Difference:
    def text_at(m: int, amount: bool = False) -> str:
        if position >= len(places[m]):
            return ""
        rank = ranks[channel.ranks[m]]
        collective = channel.collectives[m][places[m][position]]
        columns = rank.collectives
        name = rank.digest.text(int(columns.type[collective]))
        if not amount:
            return name
        count, dtype = int(columns.count[collective]), rank.digest.text(int(columns.dtype[collective]))
        return " ".join(filter(None, (name, str(max(count, 0) or ""), dtype)))

    ran, elsewhere = text_at(member), text_at(reference)
    if ran == elsewhere:  # they differ in what they move
        ran, elsewhere = text_at(member, amount=True), text_at(reference, amount=True)
    return Difference(channel.ranks[member], channel.group.key, step, position, ran, elsewhere)


def sort_by_time(ranks: tuple[Rank, ...], channel: Channel, table: Int64s) -> Int64s:
    """Return the operations in the order of each rank, as steps of unlike numbers have them."""
    starts = np.full(table.shape, np.iinfo(np.int64).max, np.int64)
    for member, rank in enumerate(channel.ranks):
        here = table[:, member] >= 0
        starts[here, member] = ranks[rank].collectives.start[table[here, member]]
    return table[np.argsort(starts.min(axis=1), kind="stable")]
