"""Digests of a job that is too large to be simulated rank by rank: plausible times, joined by their waits.

All ranks run the same operations: tensor-parallel ones between neighbours, data-parallel ones at the end
of each step, and at times a send to the next stage. A rank is now and then late with a line of Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.digest import (
    ArrivalColumns,
    CollectiveColumns,
    Digest,
    DigestLine,
    Identity,
    LinkColumns,
    OperatorColumns,
    RangeColumns,
    RankGroup,
    StepColumns,
    TimeCells,
    TimeClass,
    TimeKeys,
    TokenColumns,
)

TEXTS = ("allReduce", "send", "receive", "FP32", "host.python", "host.dataloader", "MatMul", "Add", "HCCS")
START = 1736412474712511620
TP, STAGES = 8, 8
LATE_NS = 3_000_000
SHORTEST = 50_000
MATMUL, ADD, WAIT, TRANSFER, PYTHON, LOADER = range(6)
KEYS = TimeKeys(
    np.array([TimeClass.COMPUTING] * 2 + [TimeClass.WAIT, TimeClass.TRANSFER] + [TimeClass.IDLE] * 2),
    np.array([6, 7, -1, -1, 4, 5]),
    np.array([-1, -1, -1, -1, 0, 1]),
)
LINES = (DigestLine("/job/train.py", 40, "augment", False), DigestLine("/job/train.py", 88, "train", False))


@dataclass
class _Slot:
    """One operation of every rank."""

    role: str  #: "tp", "dp", "pp", or "mp": of all stages
    ranks: Int64s  #: int64[groups, size]: who runs it together
    step: int


@dataclass
class _Times:
    """Of every rank and slot, in common time; int64[slots, ranks]."""

    begin: Int64s
    end: Int64s
    late: Int64s  #: of it the last rank of the group
    python: Int64s  #: ns of idle time before it
    computed: Int64s


def made_digests(ranks: int = 1024, collectives: int = 1000, steps: int = 3, seed: int = 1) -> list[Digest]:
    """Return the digests of all ranks; `ranks` is a multiple of 128."""
    chance = np.random.default_rng(seed)
    slots = _slots(ranks, collectives, steps)
    times = _run(slots, ranks, chance)
    offsets = chance.integers(-4_000_000, 4_000_000, ranks) // 10 * 10
    return [_digest(rank, slots, times, int(offsets[rank]), chance) for rank in range(ranks)]


def _slots(ranks: int, count: int, steps: int) -> list[_Slot]:
    everyone = np.arange(ranks)
    tensor = everyone.reshape(-1, TP)
    data = np.concatenate(
        [stage.reshape(-1, TP).T for stage in everyone.reshape(STAGES, -1)]
    )  # per stage and place in the tensor group
    stages = everyone.reshape(STAGES, -1)
    # Even stages exchange with the next one, then odd ones: every rank takes part in each.
    pairs = np.stack((stages[0::2].ravel(), stages[1::2].ravel()), axis=1)
    model = everyone.reshape(STAGES, -1, TP).swapaxes(0, 1).reshape(-1, STAGES * TP)
    by_role = {"tp": tensor, "dp": data, "pp": pairs, "mp": model}
    a_step = count // steps + (count % steps > 0)
    slots = []
    for place in range(count):
        left = a_step - place % a_step
        role = "mp" if left == 1 else "dp" if left <= 20 else "pp" if place % 25 == 7 else "tp"
        slots.append(_Slot(role, by_role[role], place // a_step))
    return slots


def _run(slots: list[_Slot], ranks: int, chance: np.random.Generator) -> _Times:
    shape = len(slots), ranks
    python = np.where(chance.random(shape) < 0.0005, LATE_NS, 0) + chance.integers(0, 2_000, shape)
    computed = 300_000 + chance.integers(0, 12_000, shape)
    begin, end, late = (np.empty(shape, np.int64) for _ in range(3))
    now = np.full(ranks, START, np.int64)
    for place, slot in enumerate(slots):
        begin[place] = now + python[place] + computed[place]
        rank_begin = begin[place][slot.ranks]
        last = slot.ranks[np.arange(len(slot.ranks)), rank_begin.argmax(axis=1)]
        late[place, slot.ranks] = last[:, None]
        done = rank_begin.max(axis=1) + 90_000
        end[place, slot.ranks] = done[:, None] + chance.integers(0, 1_300, rank_begin.shape)
        now = end[place]
    return _Times(begin, end, late, python, computed)


def _digest(rank: int, slots: list[_Slot], times: _Times, offset: int, chance: np.random.Generator) -> Digest:
    members = {slot.role: slot.ranks[(slot.ranks == rank).any(axis=1)][0] for slot in slots}
    roles = list(members)
    begin, end = times.begin[:, rank] + offset, times.end[:, rank] + offset
    count = len(slots)
    wait = times.begin[np.arange(count), times.late[:, rank]] + offset - begin
    known = wait >= SHORTEST
    group = np.array([roles.index(slot.role) for slot in slots])
    place_in = {role: {int(member): place for place, member in enumerate(members[role])} for role in roles}
    peers = np.array([place_in[slot.role][int(times.late[place, rank])] for place, slot in enumerate(slots)])
    place_of_role = {role: place_in[role][rank] for role in roles}
    kind = np.array([0 if slot.role != "pp" else 1 + place_of_role["pp"] for slot in slots])
    step = np.array([50 + slot.step for slot in slots])
    minus = np.full(count, -1)
    firsts = np.flatnonzero(np.diff(step, prepend=0))
    starts = np.concatenate(([START + offset], end[firsts[1:] - 1]))
    collectives = CollectiveColumns(
        group=group,
        type=kind,
        index=_counts(group),
        iteration=np.ones(count, np.int64),
        dtype=np.full(count, 3),
        count=np.full(count, 1_500_000),
        bytes=np.full(count, 6_000_000),
        step=step,
        start=begin,
        end=end,
        line=np.zeros(count, np.int64),
        known=np.ones(count, np.int64),
        wait=np.where(known, wait, 0),
        peer=np.where(known, peers, -1),
        ring=np.zeros(count, np.int64),
        other=np.where(kind > 0, 1 - place_of_role.get("pp", 0), minus),
    )
    (late,) = np.nonzero(known)
    arrivals = ArrivalColumns(
        late, peers[late], (begin + wait)[late] + 10_000 + chance.integers(0, 500, len(late))
    )
    boundaries = np.unique(np.concatenate((starts, begin, end)))
    keys, cells = _cells(rank, times, np.where(known, wait, 0), boundaries, begin)
    groups = tuple(_group(role, members[role], place_of_role[role]) for role in roles)
    return _whole(
        rank, len(times.begin[0]), groups, (collectives, arrivals), (boundaries, keys, cells), starts
    )


def _counts(group: Int64s) -> Int64s:
    """Of each operation its number in its group."""
    numbers = np.empty(len(group), np.int64)
    for number in np.unique(group):
        numbers[group == number] = np.arange(int((group == number).sum()))
    return numbers


def _cells(
    rank: int, times: _Times, wait: Int64s, boundaries: Int64s, begin: Int64s
) -> tuple[TimeKeys, TimeCells]:
    """Before each operation it is idle and computes, in it it waits and moves."""
    computed, python = times.computed[:, rank], times.python[:, rank]
    inside = np.searchsorted(boundaries, begin)
    moved = times.end[:, rank] - times.begin[:, rank] - wait
    parts = (
        (inside - 1, MATMUL, computed * 3 // 4),
        (inside - 1, ADD, computed - computed * 3 // 4),
        (inside, WAIT, wait),
        (inside, TRANSFER, moved),
        (inside - 1, PYTHON, np.where(python < LATE_NS, 0, python)),
        (inside - 1, LOADER, np.where(python < LATE_NS, python, 0)),
    )
    segment = np.concatenate([part[0] for part in parts])
    key = np.repeat([part[1] for part in parts], len(begin))
    ns = np.concatenate([part[2] for part in parts])
    order = np.lexsort((key, segment))
    order = order[ns[order] > 0]
    return KEYS, TimeCells(segment[order], key[order], ns[order])


def _group(role: str, ranks: Int64s, own_rank: int) -> RankGroup:
    name = f"10.0.0.1%eth0_55000_{role}_{int(ranks[0])}"
    number = str((hash_of(role) + int(ranks[0])) % 1000)
    return RankGroup(number, name, role, own_rank, tuple(ranks.tolist()), len(ranks))


def hash_of(text: str) -> int:
    """A number of a text that is the same in every process."""
    return sum(ord(letter) * 131**place for place, letter in enumerate(text))


def _whole(
    rank: int,
    world: int,
    groups: tuple[RankGroup, ...],
    tables: tuple[CollectiveColumns, ArrivalColumns],
    split: tuple[Int64s, TimeKeys, TimeCells],
    starts: Int64s,
) -> Digest:
    boundaries, keys, cells = split
    ends = np.append(starts[1:], boundaries[-1])
    zero, minus = np.zeros(len(starts), np.int64), np.full(len(starts), -1)
    steps = StepColumns(50 + np.arange(len(starts)), starts, ends, starts, ends, *[zero] * 13, *[minus] * 3)
    links = LinkColumns(*(np.array([value]) for value in (0, 0, 1, 8, 23, 10, 60_000_000, 3_333_333)))
    return Digest(
        identity=Identity(
            name=f"node{rank // 8:03d}_{rank}_20250109084754000_ascend_pt",
            rank=rank,
            rank_from="profiler_info",
            host=f"node{rank // 8:03d}",
            started="20250109084754000",
            world=world,
            sizes={"tp": TP, "pp": STAGES},
            indices={"tp": rank % TP, "pp": rank * STAGES // world},
            options={},
        ),
        kind="ascend",
        device="NPU",
        trace_bytes=100_000_000,
        events=500_000,
        start=int(boundaries[0]),
        end=int(boundaries[-1]),
        warnings=(),
        groups=groups,
        texts=TEXTS,
        lines=LINES,
        steps=steps,
        collectives=tables[0],
        arrivals=tables[1],
        operators=OperatorColumns.empty(),
        links=links,
        keys=keys,
        boundaries=boundaries,
        cells=cells,
        ranges=RangeColumns.empty(),
        tokens=TokenColumns.empty(),
    )
