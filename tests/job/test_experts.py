"""Experts of simulated jobs: the imbalance that was planted, and what balancing saves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.job.experts import WORKLOADS
from tests.job.planted import job
from tracetui.export.tables.experts import token_words
from tracetui.job.digest import TokenColumns
from tracetui.job.experts import TokenUnit, exchange_groups, expert_layers, is_all_to_all, is_exchange
from tracetui.job.job import job_of
from tracetui.job.whatif.answer import Replays, what_if
from tracetui.job.whatif.fixes import BALANCED_EXPERTS

THOROUGH = [pytest.param(name, marks=pytest.mark.thorough) for name in ("W1", "W3", "W4", "W5", "W6")]
STEPS = 4
#: the most of a rank divided by the mean, in each step: 8 experts on 4 ranks, of which each token has 2
RATIOS = {
    "W0": [1, 1, 1, 1],
    "W1": [3.25, 3.25, 3.25, 3.25],
    "W2": [3.25, 3.25, 3.25, 3.25],
    "W3": [1, 1, 1, 1],
    "W4": [1, 1, 1, 1],
    "W5": [2, 2, 2, 2],
    "W6": [3.25, 3.25, 3.25, 3.25],
    "W7": [1, 1, 1, 2.5],
}


@pytest.mark.parametrize("name", RATIOS)
def test_workloads_are_spread_as_tokens_are_expected_to_choose(name: str) -> None:
    by_step = [[WORKLOADS[name].tokens(rank, step) for rank in range(4)] for step in range(STEPS)]
    assert [max(tokens) * 4 / sum(tokens) for tokens in by_step] == RATIOS[name]
    assert len({sum(tokens) for tokens in by_step}) == 1
    hot = [tokens.index(max(tokens)) for tokens in by_step]
    assert hot == ([0, 0, 0, 1] if name == "W6" else [2] * STEPS if name == "W5" else [0] * STEPS)


@pytest.mark.parametrize("name", ["W0", "W2", "W7", *THOROUGH])
def test_imbalance_is_what_was_planted(name: str) -> None:
    simulated = job(f"experts-{name}")
    layers = expert_layers(simulated)
    groups = exchange_groups(simulated)
    assert [layer.number for layer in layers] == [0, 1]
    for layer in layers:
        assert layer.imbalance(groups) == WORKLOADS[name].imbalance(STEPS)
        workload, shares = WORKLOADS[name], np.array([*layer.tokens.values()])
        planted = np.array([sum(workload.tokens(rank, step) for step in range(STEPS)) for rank in range(4)])
        assert (shares * planted.sum() == planted * shares.sum()).all()


def test_all_waits_of_all_to_alls_are_of_a_layer() -> None:
    simulated = job("experts-W2")
    waits = simulated.waits
    exchanged = sum(layer.waiting_ns for layer in expert_layers(simulated))
    assert 0.99 * waits.wait_ns.sum() < exchanged <= waits.wait_ns.sum()
    assert [layer.hot_rank for layer in expert_layers(simulated)] == [0, 0]


@pytest.mark.parametrize("name", ["W2", "W7", *THOROUGH[:2], *THOROUGH[3:]])
def test_balance_saves_what_the_balanced_job_does(name: str) -> None:
    predicted = Replays(job(f"experts-{name}")).trial([BALANCED_EXPERTS])
    assert predicted.step_ns == pytest.approx(Replays(job("experts-W0")).step_ns, rel=0.02)


def test_balance_is_among_the_fixes_that_are_tried() -> None:
    assert (BALANCED_EXPERTS,) in [trial.fixes for trial in what_if(job("experts-W2")).trials[:2]]


def test_shapes_of_grouped_matmuls_go_before_bytes() -> None:
    simulated = job("experts-W2")
    ranks = []
    for rank in simulated.ranks:
        collectives = rank.collectives
        after = collectives.end[::5]  # the first all-to-all of each step
        tokens = TokenColumns(after + 10, np.full(len(after), 100 + rank.number))
        ranks.append(replace(rank, digest=replace(rank.digest, tokens=tokens)))
    first, second = expert_layers(job_of(ranks))
    assert first.tokens == {0: 400, 1: 404, 2: 408, 3: 412}
    assert (first.unit, expert_layers(simulated)[0].unit) == (TokenUnit.TOKENS, TokenUnit.BYTES)
    assert first.hot_rank == 3
    assert second.tokens == dict.fromkeys(range(4), 0)  # nothing computes there
    assert second.imbalance(exchange_groups(simulated)) == 1


def test_tokens_are_not_compared_with_bytes() -> None:
    """Where one rank has no shapes, all are held against each other by what they send."""
    plain, ranks = job("experts-W0"), []
    for rank in plain.ranks:
        after = rank.collectives.end[is_exchange(rank.digest)]
        tokens = TokenColumns(after + 10, np.full(len(after), 100)) if rank.number else TokenColumns.empty()
        ranks.append(replace(rank, digest=replace(rank.digest, tokens=tokens)))
    mixed = job_of(ranks)
    for layer, expected in zip(expert_layers(mixed), expert_layers(plain)):
        assert layer.tokens == expected.tokens
        assert layer.unit == expected.unit is not TokenUnit.TOKENS


def test_a_job_without_all_to_alls_has_no_layers() -> None:
    assert expert_layers(job("loader")) == ()


@pytest.mark.parametrize("kind", ["alltoAllV", "AllToAll", "all_to_all_single", "ALLTOALLVC"])
def test_an_all_to_all_is_known_however_it_is_spelled(kind: str) -> None:
    assert is_all_to_all(kind)
    assert not is_all_to_all("allReduce")


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (TokenUnit.TOKENS, "1,048,576"),
        (TokenUnit.BYTES, "1.05 MB"),
        (TokenUnit.ELEMENTS, "1,048,576 elements"),
    ],
)
def test_bytes_are_not_shown_as_tokens(unit: TokenUnit, words: str) -> None:
    assert token_words(1 << 20, unit) == words
