"""What is said of a job is what was planted in its simulation: who cost the others how much, and by what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.job.truth import TrueRoot
from tests.job.planted import digests, job, truth, whole
from tracetui.analysis.communication.waits import SHORTEST
from tracetui.export.job.text import job_report, job_verdict
from tracetui.export.sentences.job import loss_sentences
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest
from tracetui.job.job import job_of
from tracetui.job.late_ranks import late_ranks
from tracetui.job.losses import find_job_losses
from tracetui.job.rank_table import rank_rows

#: jobs and what of the host their traces hold: each kind of root at one level, and a late rank at both
FOUND = [
    *(("late", 1), ("loader", 1), ("both", 1), ("link", 1), ("partial", 1), ("hosts", 0)),
    *whole("late", "hosts", levels=(0, 1)),
    *whole("both", "link", "partial", levels=(1,)),
]


def lost(name: str, level: int, planted: TrueRoot, plain: bool = False) -> int:
    """What the ranks of a planted root are said to have cost by what was planted."""
    return sum(
        root.lost_ns
        for root in job(name, level, plain).root_breakdown.roots
        if root.rank in planted.ranks
        and root.kind == planted.kind
        and (planted.cause is None or root.reason == planted.cause)
        and (planted.cause is None or (root.line and (root.line.file, root.line.line) == planted.line[:2]))
    )


@pytest.mark.parametrize(("name", "level"), FOUND)
def test_the_planted_roots_are_found(name: str, level: int) -> None:
    planted_truth, found = truth(name), job(name, level).root_breakdown
    assert found.total_ns == sum(root.lost_ns for root in found.roots)
    assert found.total_ns == pytest.approx(planted_truth.waits_ns, rel=0.01)
    right = sum(min(lost(name, level, root), root.lost_ns) for root in planted_truth.roots)
    assert right >= 0.97 * planted_truth.waits_ns
    for root in planted_truth.roots:
        assert lost(name, level, root) == pytest.approx(root.lost_ns, rel=0.05)


def test_a_stage_with_more_work_is_found_beside_the_bubbles() -> None:
    """Its computing costs more by what was planted; without it the job has the bubbles of its pipeline."""
    (planted,) = truth("stage").roots
    assert lost("stage", 1, planted) - lost("stage", 1, planted, plain=True) >= 0.97 * planted.lost_ns


def test_in_a_balanced_job_nobody_is_blamed() -> None:
    found = job("balanced")
    times = [digest.end - digest.start for digest in digests("balanced")]
    assert found.root_breakdown.total_ns <= truth("balanced").own_ns * 1.01
    assert all(abs(root.lost_ns) < 0.01 * sum(times) for root in found.root_breakdown.roots)


@pytest.mark.parametrize(
    ("name", "level"), [("stage", 1), ("partial", 1), ("hosts", 0), *whole("stage", "partial", levels=(1,))]
)
def test_clocks_are_those_of_the_simulation(name: str, level: int) -> None:
    simulated, clocks = truth(name).outcome.job, job(name, level).clocks
    first = simulated.offset(simulated.present[0])
    assert set(clocks.family.tolist()) == {0}
    for rank, offset in zip(simulated.present, clocks.offset.tolist()):
        assert abs(offset - (simulated.offset(rank) - first)) <= 1_000


def test_each_wait_is_that_of_the_simulation() -> None:
    """Of each instance and rank, from its begin to that of the last; late is whoever came last."""
    found, outcome = job("hosts", level=0), truth("hosts").outcome
    met = {
        (meeting.begins[place] + outcome.job.offset(rank), rank): meeting
        for meeting in outcome.meetings
        for place, rank in enumerate(meeting.ranks)
    }
    waits = found.waits
    assert len(waits)
    for place in range(len(waits)):
        rank = found.ranks[int(waits.rank_place[place])].number
        collectives = found.ranks[int(waits.rank_place[place])].collectives
        meeting = met[int(collectives.start[int(waits.collective[place])]), rank]
        assert abs(int(waits.wait_ns[place]) - meeting.wait(rank)) <= 2_000
        if meeting.wait(rank) > 2_000:
            assert found.ranks[int(waits.late_place[place])].number == meeting.last


def test_with_the_late_rank_missing_the_planes_name_it() -> None:
    (planted,) = truth("absent").roots
    found = job("absent", level=1)
    assert (found.world, found.missing) == (4, (2,))
    (root,) = found.root_breakdown.roots
    assert (root.rank, root.kind) == (2, "absent")
    assert root.lost_ns == pytest.approx(planted.lost_ns, rel=0.01)


def test_without_planes_a_missing_late_rank_is_a_lower_bound() -> None:
    assert job("absent", level=0).root_breakdown.total_ns <= truth("absent").own_ns


@pytest.mark.parametrize("name", ["late", "stage", "partial", *whole("late", "stage", "partial")])
def test_every_collective_finds_its_others(name: str) -> None:
    found, simulated = job(name), truth(name).outcome
    here = set(simulated.job.present)
    shared = [meeting for meeting in simulated.meetings if len(here & set(meeting.ranks)) > 1]
    assert (found.matched, found.unmatched) == (len(shared), 0)
    assert not [difference for matched in found.channels for difference in matched.differences]


def test_below_what_planes_can_tell_nobody_was_late() -> None:
    waits = job("balanced", level=1).waits.wait_ns
    assert not ((waits > 0) & (waits < SHORTEST)).any()


def test_ranks_that_only_send_to_each_other_are_aligned_where_planes_tell_who_came() -> None:
    simulated, found = truth("sends").outcome.job, job("sends", level=1)
    assert set(found.clocks.family.tolist()) == {0}
    first, residual_ns = simulated.offset(0), found.clocks.residual_ns
    assert residual_ns is not None
    for rank, offset in zip(simulated.present, found.clocks.offset.tolist()):
        assert abs(offset - (simulated.offset(rank) - first)) <= residual_ns <= 20_000
    assert found.root_breakdown.total_ns == pytest.approx(truth("sends").waits_ns, rel=0.01)
    (planted,) = truth("sends").roots
    assert lost("sends", 1, planted) >= planted.lost_ns
    assert not [root for root in found.root_breakdown.roots if root.kind in ("absent", "unaligned")]


def test_a_rank_that_is_here_is_never_called_missing() -> None:
    """Of two stages that send one way only nothing aligns the clocks, but the planes name who was late."""
    ranks = [one_way(digest) for digest in digests("sends")]
    found = job_of([Rank(digest.identity.rank, digest, "") for digest in ranks])
    assert len(set(found.clocks.family.tolist())) == 2
    assert found.root_breakdown.total_ns == sum(root.lost_ns for root in found.root_breakdown.roots)
    blamed = {root.rank for root in found.root_breakdown.roots if root.kind == "unaligned"}
    assert (
        blamed
        and blamed <= set(range(4))
        and not [r for r in found.root_breakdown.roots if r.kind == "absent"]
    )
    assert not any(late.missing for late in late_ranks(found))
    text = job_report(found).text(200)
    assert "missing" not in text and "their clocks are not aligned" in text


def test_the_verdict_counts_the_late_ranks_that_it_does_not_name() -> None:
    text = job_report(job("stage")).text(200).split("Roots")[0]
    named = {rank for rank in range(4) if f"Rank {rank} cost" in text}
    late = {late_rank.rank for late_rank in late_ranks(job("stage"))}
    assert len(named) == 2 and named < late
    assert "Stage 1 computes" in text
    assert f"{len(late) - 2} more ranks cost the others at least 1 % of their time each." in text


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("link", "2 links are slow, most of all rank 3 to 2 (HCCS): it moves at 22.2 % of the usual speed"),
        ("stage", "Rank 3 cost one other rank"),
        ("late", "Rank 3 cost 2 others"),
        ("balanced", "The ranks are balanced: no rank, link or stage costs 1 % of their time."),
    ],
)
def test_the_first_sentence_is_the_largest_cause(name: str, beginning: str) -> None:
    assert job_verdict(job(name), None)[0].startswith(beginning)


def test_a_rank_that_only_passes_a_wait_on_is_said_so() -> None:
    both = job("both")
    rows = rank_rows(both)
    losses = find_job_losses(both, rows, both.waits, (), ())
    sentences = loss_sentences(both, rows, both.root_breakdown, both.waits, losses)
    sentence_of = {sentence.split(" cost")[0]: sentence for sentence in sentences}
    assert sentence_of["Rank 3"].endswith(", because it waited itself, longest for rank 2.")
    assert "idle, host.python at" in sentence_of["Rank 2"], "it waited as well, and was late by what it did"


def one_way(digest: Digest) -> Digest:
    """A rank that has forgotten what the second stage sent, and for whom the first one waited to send."""
    collectives = digest.collectives
    types = np.array([digest.text(place) for place in collectives.type.tolist()])
    stage = digest.identity.rank // 2
    back = types == ("send" if stage else "receive")
    kept = np.flatnonzero(~back)
    place = np.full(len(collectives), -1, np.int64)
    place[kept] = np.arange(len(kept))
    arrivals = digest.arrivals.at(place[digest.arrivals.collective] >= 0)
    arrivals = replace(arrivals, collective=place[arrivals.collective])
    sends = (types == "send")[kept]
    columns = collectives.at(kept)
    columns = replace(columns, known=np.where(sends, 0, columns.known), wait=np.where(sends, 0, columns.wait))
    return replace(digest, collectives=columns, arrivals=arrivals)
