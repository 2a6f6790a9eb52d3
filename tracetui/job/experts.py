"""Mixtures of experts: how many tokens the experts of each rank work at, and what uneven ones cost.

In each layer a rank sends its tokens to the ranks of their experts in one all-to-all, and what those make of
them comes back in a second one. Layers are numbered by these pairs in each step; those of the backward pass,
where lines tell them, come in the reverse order. How many tokens a rank works at is the first dimension of
its grouped matmuls in between; where no shapes are known, the bytes that it sends in the second all-to-all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest
from tracetui.job.job import Job

_EXCHANGE = "alltoall"


class TokenUnit(Enum):
    """What the tokens of a rank are counted in."""

    TOKENS = "tokens"  #: the first dimension of grouped matmuls
    BYTES = "bytes"  #: of the all-to-all, where no shapes are known
    ELEMENTS = "elements"  #: of the all-to-all, where bytes are not known either


class Exchange(NamedTuple):
    """The two all-to-alls of a layer in one step on one rank, and the work of its experts in between."""

    rank: int  #: place in the job
    step: int  #: number
    dispatch: int  #: place among the collectives of the rank
    combine: int
    tokens: int | None  #: that the experts of the rank work at, or what is sent: see `unit`; None: not known
    #: bytes, or elements, that the rank sends in the first all-to-all; None: not known
    dispatched: int | None
    combined: int | None  #: the same of the second one
    unit: TokenUnit  #: of `tokens`


@dataclass
class ExpertLayer:
    """One layer of experts, over all ranks and steps."""

    number: int
    exchanges: list[Exchange] = field(default_factory=list)
    waiting_ns: int = 0  #: of all ranks and steps, in both all-to-alls
    moving_ns: int = 0

    @property
    def tokens(self) -> dict[int, int | None]:
        """Tokens by place of the rank, of all steps; None where those of a step are not known."""
        unknown = {exchange.rank for exchange in self.exchanges if exchange.tokens is None}
        total: Counter[int] = Counter()
        for exchange in self.exchanges:
            total[exchange.rank] += exchange.tokens or 0
        return {rank: None if rank in unknown else total[rank] for rank in sorted(total)}

    @property
    def unit(self) -> TokenUnit:
        """The unit of the tokens: that of the rank with most of them in a step."""
        return max(self.exchanges, key=lambda exchange: exchange.tokens or 0).unit

    def imbalance(self, groups: dict[int, int]) -> float | None:
        """Return the most tokens of a rank divided by the mean, on average over steps; of the worst group.

        None where no group has two ranks here of which all tokens are known. `groups`: the group of each
        rank, which exchanges tokens among itself, by place.
        """
        return max(self._ratios(groups).values(), default=None)

    def hot_ranks(self, groups: dict[int, int]) -> list[int]:
        """Return the places of the ranks of the worst group that work at most tokens of all steps."""
        ratios, tokens = self._ratios(groups), self.tokens
        most: dict[int, int] = {}
        for rank, of_rank in tokens.items():
            group = groups.get(rank, -1)
            most[group] = max(most.get(group, 0), of_rank or 0)
        worst = max(ratios, key=lambda group: (ratios[group], most[group]), default=None)
        return [
            rank
            for rank, of_rank in tokens.items()
            if groups.get(rank, -1) == worst and of_rank == most[groups.get(rank, -1)]
        ]

    def _ratios(self, groups: dict[int, int]) -> dict[int, float]:
        """Return the imbalance of each group of which it is known."""
        ratios: dict[int, list[float]] = {}
        unknown = {groups.get(rank, -1) for rank, tokens in self.tokens.items() if tokens is None}
        for (group, _), tokens in self._by_group(groups).items():
            if group not in unknown and len(tokens) > 1:
                mean = sum(tokens.values()) / len(tokens)
                ratios.setdefault(group, []).append(max(tokens.values()) / mean if mean else 1.0)
        return {group: sum(of_steps) / len(of_steps) for group, of_steps in ratios.items()}

    def _by_group(self, groups: dict[int, int]) -> dict[tuple[int, int], dict[int, int]]:
        """Return the tokens of each rank by group and step; 0 where they are not known."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for exchange in self.exchanges:
            tokens = found.setdefault((groups.get(exchange.rank, -1), exchange.step), {})
            tokens[exchange.rank] = tokens.get(exchange.rank, 0) + (exchange.tokens or 0)
        return found


def expert_layers(job: Job) -> tuple[ExpertLayer, ...]:
    """Return the layers of experts of a job; () where no rank exchanges tokens."""
    layers: dict[int, ExpertLayer] = {}
    for place, rank in enumerate(job.ranks):
        for number, exchange in _exchanges(place, rank):
            layers.setdefault(number, ExpertLayer(number)).exchanges.append(exchange)
    for layer in layers.values():
        layer.exchanges = _in_one_unit(layer.exchanges)
    _add_times(job, layers)
    return tuple(layers[number] for number in sorted(layers))


def exchange_groups(job: Job) -> dict[int, int]:
    """Return the group of ranks that each rank exchanges tokens in, by their places."""
    groups: dict[int, int] = {}
    for number, matched in enumerate(job.channels):
        for place, places in zip(matched.channel.ranks, matched.channel.collectives):
            rank = job.ranks[place]
            if is_exchange(rank.digest)[places].any():
                groups.setdefault(place, number)
    return groups


def missing_members(job: Job, groups: dict[int, int]) -> int:
    """Return how many ranks of the groups that exchange tokens, by place of the rank, are not here."""
    channels = [job.channels[number].channel for number in set(groups.values())]
    if not all(channel.size for channel in channels):
        return len(job.missing)
    return sum(max(channel.size - len(channel.ranks), 0) for channel in channels)


def is_exchange(digest: Digest) -> Bools:
    """Return which collectives of a rank are all-to-alls, bool[collectives]."""
    kinds = [number for number, text in enumerate(digest.texts) if is_all_to_all(text)]
    return np.isin(digest.collectives.type, kinds)


def is_all_to_all(kind: str) -> bool:
    """Return whether a kind of collective is an all-to-all, however it is spelled.

    >>> is_all_to_all("AllToAllV"), is_all_to_all("all_to_all"), is_all_to_all("allReduce")
    (True, True, False)
    """
    return _EXCHANGE in "".join(letter for letter in kind.lower() if letter.isalnum())


def _exchanges(place: int, rank: Rank) -> Iterator[tuple[int, Exchange]]:
    """Yield the number of the layer and the exchange of each pair of all-to-alls of a rank."""
    digest, collectives = rank.digest, rank.collectives
    found = np.flatnonzero(is_exchange(digest))
    backward = np.array([line.backward for line in digest.lines] + [False], np.bool_)[collectives.line[found]]
    for step in np.unique(collectives.step[found]).tolist():
        of_step = collectives.step[found] == step
        forward, reverse = found[of_step & ~backward], found[of_step & backward]
        forward_pairs = len(forward) // 2
        layers = forward_pairs or len(reverse) // 2
        numbers = [
            *range(forward_pairs),
            *(layers - 1 - number % layers for number in range(len(reverse) // 2)),
        ]
        paired = np.concatenate((forward[: 2 * forward_pairs], reverse[: len(reverse) // 2 * 2]))
        for number, (dispatch, combine) in zip(numbers, paired.reshape(-1, 2).tolist()):
            tokens = _tokens(rank, int(collectives.end[dispatch]), int(collectives.start[combine]))
            sent, unit = _sent(rank, combine), TokenUnit.TOKENS
            if tokens is None:
                unit = TokenUnit.BYTES if collectives.bytes[combine] >= 0 else TokenUnit.ELEMENTS
            tokens = sent if tokens is None else tokens
            yield number, Exchange(place, step, dispatch, combine, tokens, _sent(rank, dispatch), sent, unit)


def _in_one_unit(exchanges: list[Exchange]) -> list[Exchange]:
    """Return exchanges of a layer that can be compared: in what is sent where not all know their tokens."""
    sent_units = {exchange.unit for exchange in exchanges} - {TokenUnit.TOKENS}
    if not sent_units or all(exchange.unit is not TokenUnit.TOKENS for exchange in exchanges):
        return exchanges
    unit = TokenUnit.BYTES if TokenUnit.BYTES in sent_units else TokenUnit.ELEMENTS
    return [exchange._replace(tokens=exchange.combined, unit=unit) for exchange in exchanges]


def _sent(rank: Rank, place: int) -> int | None:
    """Return the bytes of a collective, its elements where they are not known; None where neither is."""
    size, count = int(rank.collectives.bytes[place]), int(rank.collectives.count[place])
    return size if size >= 0 else count if count >= 0 else None


def _tokens(rank: Rank, start: int, end: int) -> int | None:
    """Return the tokens that grouped matmuls take between two times; None where none is known."""
    tokens = rank.digest.tokens
    if tokens is None or not len(tokens):
        return None
    first, stop = np.searchsorted(tokens.start, np.array([start, end])).tolist()
    return int(tokens.tokens[first:stop].max(initial=0))


def _add_times(job: Job, layers: dict[int, ExpertLayer]) -> None:
    """Add how long ranks wait and move in the all-to-alls of each layer."""
    waits = job.waits
    wait_of: list[Int64s] = [np.zeros(len(rank.collectives), np.int64) for rank in job.ranks]
    for place, column in enumerate(wait_of):
        of_rank = waits.rank_place == place
        column[waits.collective[of_rank]] = waits.wait_ns[of_rank]
    for layer in layers.values():
        for exchange in layer.exchanges:
            of_rank = job.ranks[exchange.rank].collectives
            for collective in (exchange.dispatch, exchange.combine):
                wait = int(wait_of[exchange.rank][collective])
                layer.waiting_ns += wait
                layer.moving_ns += int(of_rank.end[collective] - of_rank.start[collective]) - wait
