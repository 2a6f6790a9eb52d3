"""Experts of simulated jobs: the imbalance that was planted, and what balancing saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from simulator.job.experts import WORKLOADS
from tests.job.planted import job
from tracetui.export.job.experts import (
    ExpertsAnswer,
    balance_sentences,
    experts_answer,
    experts_document,
    experts_sentences,
)
from tracetui.export.tables.column import Form, records
from tracetui.export.tables.experts import LAYERS, LayerRows, token_words
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest, TokenColumns
from tracetui.job.experts import (
    Exchange,
    ExpertLayer,
    TokenUnit,
    exchange_groups,
    expert_layers,
    is_all_to_all,
    is_exchange,
)
from tracetui.job.job import Job, job_of
from tracetui.job.whatif.answer import NoReplay, Replays, what_if
from tracetui.job.whatif.durations import UnknownFix
from tracetui.job.whatif.fixes import BALANCED_EXPERTS, parse_fix
from tracetui.ui.tables.layout import ColumnLook, laid_out

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
    groups = exchange_groups(simulated)
    assert [layer.hot_ranks(groups) for layer in expert_layers(simulated)] == [[0], [0]]


@pytest.mark.parametrize("name", ["W2", "W7", *THOROUGH[:2], *THOROUGH[3:]])
def test_balance_saves_what_the_balanced_job_does(name: str) -> None:
    predicted = Replays(job(f"experts-{name}")).trial([BALANCED_EXPERTS])
    assert predicted.step_ns == pytest.approx(Replays(job("experts-W0")).step_ns, rel=0.02)


def test_no_fix_of_a_rank_saves_what_only_balance_can() -> None:
    """A rank with few tokens has them as another one has many: what its experts do is not its own."""
    replays = Replays(job("experts-W2"))
    ranks = [replays.trial([parse_fix(f"rank={rank.number}")]) for rank in replays.order.job.ranks]
    assert max(fixed.saves_ns for fixed in ranks) < 0.05 * replays.trial([BALANCED_EXPERTS]).saves_ns


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
    assert first.hot_ranks(exchange_groups(simulated)) == [3]
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


def changed(name: str, change: Callable[[Rank], Digest]) -> Job:
    """Return a planted job with other digests."""
    return job_of([replace(rank, digest=change(rank)) for rank in job(name).ranks])


def without_sizes(rank: Rank) -> Digest:
    unknown = np.full(len(rank.collectives), -1, np.int64)
    return replace(rank.digest, collectives=replace(rank.collectives, bytes=unknown, count=unknown))


def sentences(of: Job) -> str:
    return " ".join(experts_sentences(experts_answer(of)))


def test_tokens_that_are_not_known_are_no_even_ones() -> None:
    unknown = changed("experts-W2", without_sizes)
    for layer in records(LAYERS, experts_answer(unknown).rows):
        assert (layer["imbalance"], layer["hot_rank"]) == (None, None)
        assert layer["tokens"] == dict.fromkeys("0123")
    assert "How many tokens the experts work at is not known." in sentences(unknown)
    assert "balanced:" not in sentences(unknown)


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        ((1, 2, 3), "The experts of the ranks here are balanced"),
        ((1, 2, 3), "1 rank of their groups is missing, and may have more tokens."),
        ((2, 3), "2 ranks of their groups are missing, and may have more tokens."),
        ((0,), "No two ranks of a group are here: how uneven its experts are is not known."),
        ((0, 1, 2), "has 2.60 times the mean, and rank 0 most tokens of all steps. 1 rank of their groups"),
    ],
)
def test_what_missing_ranks_have_is_not_told_to_be_even(here: tuple[int, ...], expected: str) -> None:
    """Rank 0 has 13 tokens where each of the others has 1: 2.60 times the mean of three of them."""
    some = job_of([rank for rank in job("experts-W2").ranks if rank.number in here])
    assert expected in sentences(some)
    assert "The experts are balanced" not in sentences(some)


def only_first_all_to_all(rank: Rank) -> Digest:
    exchanges = np.flatnonzero(is_exchange(rank.digest))
    kind = rank.collectives.type.copy()
    kind[np.delete(exchanges, slice(None, None, len(exchanges) // STEPS))] = kind[~is_exchange(rank.digest)][
        0
    ]
    return replace(rank.digest, collectives=replace(rank.collectives, type=kind))


def test_one_all_to_all_is_no_layer_and_is_not_told_to_be_none() -> None:
    one = changed("experts-W2", only_first_all_to_all)
    assert "there is no pair of all-to-alls" in sentences(one)
    assert experts_answer(one).saves_ns is None
    with pytest.raises(UnknownFix, match="no pair of all-to-alls"):
        Replays(one).trial([BALANCED_EXPERTS])


def no_all_to_all(rank: Rank) -> Digest:
    kind = np.full(len(rank.collectives), rank.collectives.type[~is_exchange(rank.digest)][0])
    return replace(rank.digest, collectives=replace(rank.collectives, type=kind))


def test_without_all_to_alls_nothing_is_said_of_the_exchange_of_tokens() -> None:
    """Kernels that do it otherwise, as those of DeepEP, tell neither sizes nor layers."""
    expected = "There is no all-to-all: how many tokens the experts work at is not known."
    assert sentences(changed("experts-W2", no_all_to_all)) == expected


def test_layers_of_which_only_the_backward_pass_is_known_are_numbered_from_its_end() -> None:
    """Of two layers the second comes first on the way back: its exchanges are those of the first pair."""
    plain = expert_layers(job("experts-W2"))
    back = expert_layers(
        changed(
            "experts-W2",
            lambda rank: replace(
                rank.digest, lines=tuple(replace(line, backward=True) for line in rank.digest.lines)
            ),
        )
    )
    assert [layer.number for layer in back] == [0, 1]
    assert [[*layer.tokens.values()] for layer in back] == [
        [*layer.tokens.values()] for layer in reversed(plain)
    ]
    assert [exchange.dispatch for exchange in back[0].exchanges] == [
        exchange.dispatch for exchange in plain[1].exchanges
    ]


def layer_of(*tokens: int, number: int = 0, unit: TokenUnit = TokenUnit.TOKENS) -> ExpertLayer:
    """Return a layer of one step, with the tokens of each rank."""
    exchanges = [Exchange(rank, 0, 0, 1, of_rank, 0, 0, unit) for rank, of_rank in enumerate(tokens)]
    return ExpertLayer(number, exchanges)


def test_the_hot_rank_is_of_the_group_that_is_uneven() -> None:
    """Ranks 2 and 3 have most tokens, and as many as each other; rank 1 has 1.5 times the mean of 0 and 1."""
    layer, groups = layer_of(100, 300, 1000, 1000), {0: 0, 1: 0, 2: 1, 3: 1}
    assert (layer.imbalance(groups), layer.hot_ranks(groups)) == (1.5, [1])
    rows = LayerRows(job("experts-W2"), (layer,), groups)
    assert [(row["imbalance"], row["hot_rank"]) for row in records(LAYERS, rows)] == [(1.5, 1)]
    assert LAYERS.column("most_tokens").exact(rows) == [300]


def test_of_a_job_without_layers_it_is_said_whether_any_rank_exchanges_anything() -> None:
    dense, experts = job("roles").ranks[:1], job("experts-W2").ranks[:1]
    for ranks, words in (
        (dense, "There is no all-to-all"),
        (experts, "No rank exchanges tokens with others"),
        ((*dense, *experts), "No rank exchanges tokens with others"),
    ):
        rows = LayerRows(replace(job("roles"), ranks=ranks), (), {})
        (sentence,) = balance_sentences(ExpertsAnswer(rows, 0, None, 0.0))
        assert sentence.startswith(words)


def test_layers_and_ranks_that_are_as_uneven_as_others_are_told_to_be() -> None:
    layers, groups = (layer_of(0, 0, 8, 8), layer_of(0, 0, 8, 8, number=1)), dict.fromkeys(range(4), 0)
    rows = LayerRows(job("experts-W2"), layers, groups)
    (sentence,) = balance_sentences(ExpertsAnswer(rows, 0, None, 0.0))
    assert sentence == (
        "No layer is less balanced than layer 0: the fullest rank of a step has 2.00 times the mean, and "
        "ranks 2, 3 most tokens of all steps."
    )


def test_each_layer_has_the_unit_of_its_own_tokens() -> None:
    bytes_and_tokens = (layer_of(1 << 20, 0, unit=TokenUnit.BYTES), layer_of(1 << 20, 0, number=1))
    rows = LayerRows(job("experts-W2"), bytes_and_tokens, {0: 0, 1: 0})
    assert LAYERS.column("most_tokens", Form.TEXT).cells(rows, str).texts == ["1.05 MB", "1,048,576"]
    assert [row["token_unit"] for row in records(LAYERS, rows)] == ["bytes", "tokens"]
    (shown,) = laid_out(LAYERS, rows, [ColumnLook("most_tokens")])
    assert [shown.draw(row, shown.width) for row in range(2)] == ["1.05 MB", "1,048,576"]
    unknown = LayerRows(job("experts-W2"), bytes_and_tokens, {0: 0, 1: 1})
    (shown,) = laid_out(LAYERS, unknown, [ColumnLook("most_tokens")])
    assert [shown.draw(0, 9), *LAYERS.column("most_tokens", Form.TEXT).cells(unknown, str).texts] == ["-"] * 3


def test_a_job_that_cannot_be_replayed_has_no_saving() -> None:
    def no_replays(of: Job) -> Replays:
        raise NoReplay("its collectives wait for each other")

    answer = experts_answer(job("experts-W2"), no_replays)
    assert experts_document(answer)["balance_saves_ns"] is None
    assert "save" not in " ".join(experts_sentences(answer))


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
