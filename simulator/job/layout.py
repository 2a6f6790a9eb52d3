"""The shape of a job: which rank is where in the parallel dimensions, its groups, its host and its clock."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.recording import COLLECTIVE_STREAM, Communicator

HASH_FACTORS = 29, 131


@dataclass(frozen=True)
class Layout:
    """Ranks numbered as Megatron does: neighbours are tensor parallel, then data, then pipeline parallel."""

    tp: int = 2
    dp: int = 2
    pp: int = 1
    joined: bool = True  #: the stages of a pipeline share a collective, beside their sends and receives
    two_ways: bool = False  #: a group for each way between two stages, which are a ring
    both_ends: bool = False  #: micro-batches enter at both ends: groups of each way, no ring

    @property
    def world(self) -> int:
        return self.tp * self.dp * self.pp

    def place(self, rank: int) -> tuple[int, int, int]:
        """Return the rank's number in its tensor, data and pipeline parallel group."""
        return rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)

    def tensor(self, rank: int) -> tuple[int, ...]:
        first = rank - rank % self.tp
        return tuple(range(first, first + self.tp))

    def data(self, rank: int) -> tuple[int, ...]:
        column, _, stage = self.place(rank)
        first = stage * self.tp * self.dp + column
        return tuple(range(first, first + self.tp * self.dp, self.tp))

    def model(self, rank: int) -> tuple[int, ...]:
        """Return the ranks that hold one copy of the model: as many stages of tensor groups."""
        first = self.place(rank)[1] * self.tp
        stages = range(0, self.world, self.tp * self.dp)
        return tuple(stage + first + column for stage in stages for column in range(self.tp))

    def neighbour(self, rank: int, stages: int) -> tuple[int, ...] | None:
        """Return the rank and that of another stage with which it exchanges; None where there is no such
        stage.
        """
        neighbour = rank + stages * self.tp * self.dp
        return tuple(sorted((rank, neighbour))) if 0 <= neighbour < self.world else None

    def _pairs(self, rank: int) -> list[tuple[int, ...]]:
        """Return the rank and each of those with which it exchanges; the stages of two ways are a ring."""
        ways = (1 - self.pp, -1, 1, self.pp - 1) if self.two_ways else (-1, 1)
        pairs = [pair for stages in ways if (pair := self.neighbour(rank, stages))]
        return list(dict.fromkeys(pairs))

    def groups(self, rank: int) -> list[Communicator]:
        """Return the groups in which a rank communicates, each on a stream of its own."""
        candidates = [("tp", self.tensor(rank)), ("dp", self.data(rank))]
        if self.pp > 1 and self.joined:
            candidates.append(("mp", self.model(rank)))
        if self.both_ends:
            roles = ("p2p", "p2pb", "p2p-r", "p2pb-r")
            candidates += [(role, pair) for role in roles for pair in self._pairs(rank)]
        elif self.two_ways:
            candidates += [(role, pair) for role in ("p2p", "p2pb") for pair in self._pairs(rank)]
        else:
            candidates += [("pp", pair) for pair in self._pairs(rank)]
        groups = [(role, ranks) for role, ranks in candidates if len(ranks) > 1]
        return [
            communicator(role, ranks, rank, COLLECTIVE_STREAM + number)
            for number, (role, ranks) in enumerate(groups)
        ]


def communicator(role: str, ranks: tuple[int, ...], rank: int, stream: int) -> Communicator:
    """Return a group of ranks as one of them knows it, with a name as HCCL makes it."""
    root = sum(member * 7919 for member in ranks)
    name = f"10.174.216.241%enp189s0f1_55000_{ranks[0]}_{1738895486152654 + root * 1009 + len(role)}"
    return Communicator(name, role, ranks.index(rank), ranks, _hash(name)[-3:], stream)


def _hash(name: str) -> str:
    """Return the number by which msprof calls a communicator."""
    halves = [0, 0]
    for character in name:
        halves = [(half * factor + ord(character)) % 2**32 for half, factor in zip(halves, HASH_FACTORS)]
    return str(halves[0] << 32 | halves[1])
