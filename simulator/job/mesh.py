"""What the hardware of all its ranks does in a collective: handshakes with every peer, and copies.

A collective moves nothing before its last rank has come, and ends for all of them together. Times are those
of one common clock; which clock a rank has, others know.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

NOTIFIED = 4300  #: ns from a rank's record to the end of its peer's wait
HANDSHAKE = 6500  #: ns from the begin of an operation to its first record
BYTES_PER_NS = 18.0
PHASES = {
    "allReduce": ("Reduce_Inline", "Memcpy"),
    "allGather": ("Memcpy",),
    "reduceScatter": ("Reduce_Inline",),
    "alltoAllV": ("Memcpy",),
    "send": ("Memcpy",),
    "receive": ("Memcpy",),
}


class PlaneTask(NamedTuple):
    """A task of a plane: with which peer, by its number in the group (None: with nobody), and how much."""

    type: str
    plane: int
    peer: int | None
    start: int
    end: int
    size: int


class Part(NamedTuple):
    """A rank's part of a collective: its tasks, and when it has ended."""

    steps: list[PlaneTask]
    end: int
    wait: int  #: ns from its begin to that of the last


Slow = Mapping[frozenset[int], float]


def meet(
    kinds: list[str],
    ranks: tuple[int, ...],
    begins: list[int],
    sizes: list[int],
    slow: Slow,
    chance: random.Random,
) -> list[Part]:
    """Run one collective of the given ranks of the job, each of which begins when it is ready.

    kinds : what each rank calls it (one sends, one receives); sizes : bytes each rank has for each other one;
    slow : by what factor a link between two ranks of the job is slower than the others.
    """
    members = range(len(ranks))
    records = [[begin + HANDSHAKE + 250 * place for place in members[1:]] for begin in begins]
    parts = [
        [
            PlaneTask("Reduce_Inline", 0, None, begin, begin + 620, 4),
            PlaneTask("Memcpy", 0, member, begin + 1740, begin + 5160, sizes[member]),
        ]
        for member, begin in enumerate(begins)
    ]
    ready = 0
    for member in members:
        for plane, peer in _planes(member, len(ranks)):
            record_time = records[member][plane - 1]
            parts[member].append(PlaneTask("Notify_Record", plane, peer, record_time, record_time + 720, 0))
            wait = begins[member] + HANDSHAKE + 3000 + 750 * (plane - 1)
            release_time = records[peer][_plane(peer, member) - 1] + NOTIFIED + 20 * chance.randrange(16)
            parts[member].append(PlaneTask("Notify_Wait", plane, peer, wait, max(wait + 20, release_time), 0))
            ready = max(ready, parts[member][-1].end)
    for number, phase in enumerate(PHASES[kinds[0]]):
        if number:
            ready = _notify(parts, ready, chance)
        ends = [ready]
        for member in members:
            for plane, peer in _planes(member, len(ranks)):
                if kinds[member] == "receive":
                    continue
                factor = slow.get(frozenset((ranks[member], ranks[peer])), 1.0)
                lasts = max(20, int(sizes[member] / BYTES_PER_NS * factor * (1 + 0.01 * chance.random())))
                start = ready + 1300 + 250 * (plane - 1)
                parts[member].append(
                    PlaneTask(phase, plane, peer, start, start + lasts - lasts % 20, sizes[member])
                )
                ends.append(parts[member][-1].end)
        ready = max(ends)
    last = max(begins)
    return [
        Part(steps, ready + 1200 + 10 * chance.randrange(120), last - begin)
        for steps, begin in zip(parts, begins)
    ]


def _notify(parts: list[list[PlaneTask]], ready: int, chance: random.Random) -> int:
    """Add the handshake between two phases; return when it is done."""
    end = ready
    for member, steps in enumerate(parts):
        for plane, peer in _planes(member, len(parts)):
            record_time = ready + 1000 + 400 * (plane - 1)
            steps.append(PlaneTask("Notify_Record", plane, peer, record_time, record_time + 720, 0))
            steps.append(
                PlaneTask(
                    "Notify_Wait",
                    plane,
                    peer,
                    record_time + 2500,
                    record_time + 5000 + 20 * chance.randrange(40),
                    0,
                )
            )
            end = max(end, steps[-1].end)
    return end


def _planes(member: int, size: int) -> list[tuple[int, int]]:
    """List the planes of a rank and the peer of each: plane 0 is its own, each other one leads to a peer."""
    return [(1 + place, peer) for place, peer in enumerate(peer for peer in range(size) if peer != member)]


def _plane(member: int, peer: int) -> int:
    return 1 + peer - (peer > member)
