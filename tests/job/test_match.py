"""The same operations on several ranks, where their sequences are not equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.job.simulated import Meeting, Work, simulate
from tracetui.export.sentences.notes import _doubt_sentences, job_notes
from tracetui.job.collectives import name_parts
from tracetui.job.digest import TimeClass
from tracetui.job.doubts import find_doubts
from tracetui.job.job import Job, job_of
from tracetui.job.late_ranks import late_ranks, slow_steps

MS = 1_000_000


def uneven(count: int = 6) -> Job:
    meetings = [
        Meeting("left", (0, 1), {0: [Work(TimeClass.COPY, place * place * MS)]}) for place in range(count)
    ]
    return simulate(meetings, 2, planes=False)


def with_collectives(job: Job, rank: int, kept: slice, **columns: np.ndarray) -> Job:
    ranks = list(job.ranks)
    digest = ranks[rank].digest
    collectives = replace(digest.collectives.at(kept), **columns)
    ranks[rank] = replace(ranks[rank], digest=replace(digest, collectives=collectives))
    return job_of(ranks)


def test_a_rank_that_saw_fewer_at_first_is_shifted() -> None:
    job = with_collectives(uneven(), 1, slice(2, None))
    (matched,) = job.channels
    assert matched.places.tolist() == [[0, -1], [1, -1], [2, 0], [3, 1], [4, 2], [5, 3]]
    assert (job.matched, job.unmatched) == (4, 2)


def test_the_first_difference_is_said() -> None:
    job = uneven()
    types = job.ranks[1].digest.collectives.count.copy()
    types[3] += 1
    job = with_collectives(job, 1, slice(None), count=types)
    (difference,) = job.channels[0].differences
    assert (difference.rank, difference.position) == (1, 3)
    assert job.matched == 3
    assert any("rank 1 ran other collectives in group left" in saying for saying in job_notes(job))


def test_late_ranks_and_steps() -> None:
    job = uneven()
    (late,) = late_ranks(job)
    assert (late.rank, late.operations, late.waiting_ranks) == (0, 5, 1)
    assert late.lost_ns == sum(place * place for place in range(6)) * MS
    (step,) = slow_steps(job)
    assert (step.rank, step.lost_ns, step.total_ns) == (0, late.lost_ns, late.lost_ns)


def test_collectives_that_differ_in_what_they_move_are_told_apart() -> None:
    """Where both ran an all-reduce, the sentence says how much each moved: else it says the same twice."""
    count = np.full(6, 4)
    count[2] = 5
    meetings = [Meeting("left", (0, 1, 2), {place % 3: [Work(TimeClass.COPY, MS)]}) for place in range(6)]
    job = with_collectives(simulate(meetings, 3, planes=False), 2, slice(None), count=count)
    (difference,) = job.channels[0].differences
    assert (difference.rank, difference.ran, difference.elsewhere) == (2, "allReduce 5", "allReduce 4")


def test_two_missing_ranks_of_different_groups_are_not_one() -> None:
    """Both are number 1 of their group, and nothing tells that they are one rank: the later one counts."""
    meetings = [
        Meeting("left", (0, 2), {2: [Work(TimeClass.IDLE, 3 * MS)]}),
        Meeting("right", (1, 3), {3: [Work(TimeClass.IDLE, 2 * MS)]}),
    ]
    ranks = []
    for rank in simulate(meetings, 4, here=(0, 1)).ranks:
        groups = tuple(replace(group, global_ranks=()) for group in rank.digest.groups)
        ranks.append(replace(rank, digest=replace(rank.digest, groups=groups)))
    (step,) = slow_steps(job_of(ranks))
    assert (step.rank, step.group, step.group_rank) == (None, "left", 1)
    assert (step.lost_ns, step.total_ns) == (3 * MS, 5 * MS)


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_SIMPLE_Sum_int8_t(x)",
        "ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)",
        "ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)",
    ],
)
def test_what_a_kernel_of_nccl_does_stands_in_its_name(name: str) -> None:
    assert name_parts(name) == ("AllReduce", -1, -1)


@pytest.mark.parametrize(
    ("count", "words"), [(1, "is 1 collective that looks"), (2, "are 2 collectives that look")]
)
def test_what_is_not_compared_is_counted_in_words(count: int, words: str) -> None:
    """Broadcasts end apart, so that ranks with nothing else in common are not aligned."""
    work = {0: [Work(TimeClass.COMPUTING, 1_000_000)], 1: [Work(TimeClass.COMPUTING, 3_000_000)]}
    job = simulate([Meeting("all", (0, 1), work, type="broadcast")] * count, 2, planes=False)
    assert any(
        note.startswith(f"not compared {words} alike on several ranks and do") for note in job_notes(job)
    )


@pytest.mark.parametrize(("count", "words"), [(1, "1 collective"), (2, "2 collectives")])
def test_collectives_that_clocks_contradict_are_counted_in_words(count: int, words: str) -> None:
    doubts = replace(find_doubts(simulate([], 1)), disagreeing=count, strangers=count)
    notes = "\n".join(_doubt_sentences(doubts))
    assert f"in {words} planes and clocks name" in notes and f"{words} that look" in notes
