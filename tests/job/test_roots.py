"""Why late ranks were late: the parts of all waits sum to them, and the planted reasons come out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.real import npu_output
from tests.job.files import real_digest
from tests.job.simulated import Meeting, Work, simulate
from tracetui.export.sentences.roots import reason_words
from tracetui.job import roots
from tracetui.job.channels import Rank
from tracetui.job.clocks import find_clocks
from tracetui.job.digest import CollectiveColumns, DigestLine, TimeClass
from tracetui.job.digest_bytes import decode, encode
from tracetui.job.job import Job, job_of
from tracetui.job.last_together import find_last_together
from tracetui.job.waits import INCOMPARABLE, NOBODY, find_job_waits

MS = 1_000_000
LOADER = DigestLine("data.py", 70, "__iter__", False)
MODEL = DigestLine("model.py", 9, "forward", False)

works = st.builds(
    Work,
    kind=st.sampled_from([TimeClass.COMPUTING, TimeClass.IDLE, TimeClass.COPY]),
    ns=st.integers(0, 30 * MS),
    reason=st.sampled_from(["MatMul", "host.python"]),
    line=st.sampled_from([None, LOADER, MODEL]),
)
GROUPS = {"all": (0, 1, 2, 3), "left": (0, 1), "right": (2, 3), "even": (0, 2)}


@st.composite
def meetings(draw: st.DrawFn) -> list[Meeting]:
    names = draw(st.lists(st.sampled_from(sorted(GROUPS)), min_size=1, max_size=12))
    return [
        Meeting(
            name,
            GROUPS[name],
            {rank: draw(st.lists(works, max_size=3)) for rank in GROUPS[name]},
            draw(st.integers(1, 5 * MS)),
        )
        for name in names
    ]


def lost(job: Job) -> dict[tuple[object, ...], int]:
    return {
        (root.rank, root.kind, root.reason, root.line.file if root.line else None): root.lost_ns
        for root in job.root_breakdown.roots
    }


@given(
    meetings(), st.lists(st.integers(-(10**9), 10**9), min_size=4, max_size=4), st.booleans(), st.booleans()
)
def test_roots_sum_to_all_waits(
    met: list[Meeting], offsets: Sequence[int], planes: bool, steps: bool
) -> None:
    job = simulate(met, 4, offsets, planes, steps=steps)
    assert sum(root.lost_ns for root in job.root_breakdown.roots) == job.root_breakdown.total_ns
    assert job.root_breakdown.total_ns == int(job.waits.wait_ns.sum())
    assert all(root.lost_ns > 0 for root in job.root_breakdown.roots)


@given(meetings(), st.sets(st.integers(0, 3), min_size=1))
def test_so_they_do_where_ranks_are_missing(met: list[Meeting], here: set[int]) -> None:
    job = simulate(met, 4, here=sorted(here))
    assert sum(root.lost_ns for root in job.root_breakdown.roots) == int(job.waits.wait_ns.sum())
    assert not any(root.kind == "clock" and abs(root.lost_ns) > 4 for root in job.root_breakdown.roots)


@given(meetings())
def test_without_planes_each_wait_is_the_difference_of_arrivals(met: list[Meeting]) -> None:
    job = simulate(met, 4, planes=False)
    arrivals: dict[int, list[int]] = {}
    for operation, arrival in zip(job.waits.operation.tolist(), job.waits.arrival.tolist()):
        arrivals.setdefault(operation, []).append(arrival)
    expected = [
        max(arrivals[operation]) - arrival
        for operation, arrival in zip(job.waits.operation.tolist(), job.waits.arrival.tolist())
    ]
    assert job.waits.wait_ns.tolist() == expected


def test_one_late_rank_and_its_line() -> None:
    same = {rank: [Work(TimeClass.COMPUTING, 5 * MS, "MatMul")] for rank in range(4)}
    slow = {**same, 2: [*same[2], Work(TimeClass.IDLE, 7 * MS, "host.dataloader", LOADER)]}
    job = simulate([Meeting("all", GROUPS["all"], same), Meeting("all", GROUPS["all"], slow)], 4)
    assert lost(job) == {(2, "idle", "host.dataloader", "data.py"): 3 * 7 * MS}
    (root,) = job.root_breakdown.roots
    assert root.operations == 1


def test_only_operations_whose_waits_are_chosen_count() -> None:
    before = {rank: [Work(TimeClass.COMPUTING, 5 * MS, "MatMul")] for rank in range(4)}
    before[2] = [*before[2], Work(TimeClass.IDLE, 7 * MS, "host.dataloader", LOADER)]
    job = simulate([Meeting("all", GROUPS["all"], before)] * 3, 4)
    (of_all,) = job.root_breakdown.roots
    (of_last,) = job.root_breakdown_of(job.waits.operation == job.waits.operation.max()).roots
    assert (of_all.operations, of_last.operations) == (3, 1)


def test_only_missing_ranks_of_chosen_waits_count() -> None:
    late = {1: [Work(TimeClass.COMPUTING, 5 * MS, "MatMul")]}
    job = simulate([Meeting("left", (0, 1), late)] * 3, 2, here=[0])
    (of_all,) = job.root_breakdown.roots
    (of_last,) = job.root_breakdown_of(job.waits.operation == job.waits.operation.max()).roots
    assert (of_all.kind, of_all.operations, of_last.operations) == ("absent", 3, 1)


def test_a_rank_waits_no_longer_than_its_own_operation_lasts() -> None:
    late = {2: [Work(TimeClass.IDLE, 8 * MS, "host.dataloader", LOADER)]}
    job = simulate(
        [
            Meeting("all", (0, 1, 2), {}),
            Meeting("left", (1, 2), late),
            Meeting("sent", (0, 1), {}, MS, "broadcast", leaving=(0,)),
        ],
        3,
        planes=False,
    )
    share = MS / (8 * MS + 1000)  # of what rank 1 came later to the broadcast
    assert lost(job) == {
        (2, "idle", "host.dataloader", "data.py"): 8 * MS + round(8 * MS * share),
        (1, "transfer", "", None): round(1000 * share),
    }


def test_what_it_did_less_is_taken_off_what_it_did_longer() -> None:
    """Rank 1 idles for 6 ms and copies for 2 ms longer, and computes for 2 ms less: a quarter of the 8 ms."""
    before = {
        0: [Work(TimeClass.COMPUTING, 5 * MS, "MatMul")],
        1: [
            Work(TimeClass.COMPUTING, 3 * MS, "MatMul"),
            Work(TimeClass.IDLE, 6 * MS, "host.python", MODEL),
            Work(TimeClass.COPY, 2 * MS),
        ],
    }
    job = simulate([Meeting("left", (0, 1), {}), Meeting("left", (0, 1), before)], 2)
    assert lost(job) == {
        (1, "idle", "host.python", "model.py"): 6 * MS * 3 // 4,
        (1, "copy", "", None): 2 * MS * 3 // 4,
    }


def test_a_wait_is_passed_on_to_who_caused_it() -> None:
    """Rank 1 makes 0 wait in one group; 0 is late for 2 in another because of that."""
    all_ranks = Meeting("all", GROUPS["all"], {})
    first = Meeting("left", (0, 1), {1: [Work(TimeClass.IDLE, 8 * MS, "host.gc", LOADER)]}, 1000)
    second = Meeting("even", (0, 2), {}, 1000)
    for planes in (True, False):
        job = simulate([all_ranks, first, second], 4, planes=planes)
        assert lost(job) == {
            (1, "idle", "host.gc", "data.py"): 2 * 8 * MS,
            (0, "transfer", "", None): 1000,
        }


def test_a_wait_is_passed_on_with_what_others_did_less() -> None:
    """Rank 1 copies for 9 ms; 0, which computes for 1 ms, waits for it, and then 2 waits for 0.

    What rank 0 did 3 ms less than rank 2 reduces what rank 1 cost.
    """
    left = {0: [Work(TimeClass.COMPUTING, MS, "MatMul")], 1: [Work(TimeClass.COPY, 9 * MS)]}
    job = simulate(
        [
            Meeting("all", GROUPS["all"], {}),
            Meeting("even", (0, 2), {}, 1000),
            Meeting("left", (0, 1), left, 500),
            Meeting("even", (0, 2), {2: [Work(TimeClass.COMPUTING, 4 * MS, "MatMul")]}),
        ],
        4,
    )
    assert lost(job) == {
        (1, "copy", "", None): 2 * 9 * MS - 2 * MS - 2 * 1000 - (4 * MS - MS - 500),
    }


def test_without_a_collective_before_it_the_step_counts() -> None:
    work = {0: [Work(TimeClass.COMPUTING, MS, "MatMul")], 1: [Work(TimeClass.COMPUTING, 3 * MS, "MatMul")]}
    job = simulate([Meeting("left", (0, 1), work)], 2)
    assert lost(job) == {(1, "computing", "MatMul", None): 2 * MS}


@pytest.mark.parametrize("steps", [False, True])
def test_without_a_step_the_starts_of_the_recordings_are_compared(steps: bool) -> None:
    """By hand: rank 1 computes 3 ms before they meet, rank 0 1 ms; of rank 1 the first ms is not recorded."""
    work = {0: [Work(TimeClass.COMPUTING, MS, "MatMul")], 1: [Work(TimeClass.COMPUTING, 3 * MS, "MatMul")]}
    first, second = simulate([Meeting("left", (0, 1), work)], 2, steps=steps).ranks
    digest = second.digest
    is_first = digest.cells.segment == 0
    digest = replace(
        digest,
        boundaries=digest.boundaries + MS * (np.arange(len(digest.boundaries)) == 0),
        cells=replace(digest.cells, ns=digest.cells.ns - MS * is_first),
        steps=replace(digest.steps, host_start=digest.steps.host_start + MS),
    )
    kind = "step" if steps else "recording"
    expected = {(1, "computing", "MatMul", None): MS, (1, kind, "", None): MS}
    assert lost(job_of([first, replace(second, digest=digest)])) == expected
    assert reason_words(kind, "") == ("began the step later" if steps else "its recording began later")


def test_nobody_is_blamed_in_a_balanced_job() -> None:
    same = {rank: [Work(TimeClass.COMPUTING, 5 * MS, "MatMul")] for rank in range(4)}
    job = simulate([Meeting("all", GROUPS["all"], same)] * 5, 4, (0, 10**6, -(10**7), 12345))
    assert job.root_breakdown.roots == ()
    assert job.root_breakdown.total_ns == 0


def test_a_missing_rank_is_named_by_the_planes() -> None:
    slow = {3: [Work(TimeClass.IDLE, 5 * MS, "host.gc", LOADER)]}
    job = simulate([Meeting("all", GROUPS["all"], slow)], 4, here=(0, 1))
    assert lost(job) == {(3, "absent", "", None): 2 * 5 * MS}
    assert job.missing == (2, 3)
    assert set(job.waits.late_place.tolist()) == {INCOMPARABLE}


@pytest.mark.parametrize("recorded", [False, True])
def test_a_rank_whose_operation_does_not_match_is_neither_missing_nor_unaligned(recorded: bool) -> None:
    """It did not record the third operation, or recorded one of another size: both are said in one way."""
    slow = {3: [Work(TimeClass.IDLE, 5 * MS, "host.gc", LOADER)]}
    whole = simulate([Meeting("all", GROUPS["all"], slow)] * 3, 4).ranks
    digest = whole[3].digest
    collectives = CollectiveColumns(*(column[: 2 + recorded] for column in vars(digest.collectives).values()))
    collectives.count[2:] += 1
    short = replace(whole[3], digest=replace(digest, collectives=collectives))
    job = job_of([*whole[:3], short])
    assert lost(job) == {
        (3, "idle", "host.gc", "data.py"): 2 * 3 * 5 * MS,
        (3, "unmatched", "", None): 3 * 5 * MS,
    }
    assert reason_words("unmatched", "") == "not known: none of its collectives matches"


def test_clocks_are_found_where_ranks_wait_for_the_same_peer() -> None:
    slow = {3: [Work(TimeClass.IDLE, 5 * MS, "host.gc", LOADER)]}
    job = simulate([Meeting("all", GROUPS["all"], slow)] * 3, 4, (7, 10**6, -(10**7), 12345))
    assert (job.clocks.offset + 7).tolist() == [7, 10**6, -(10**7), 12345]
    assert job.clocks.residual_ns == 0


def test_errors_of_clocks_add_up_along_the_ranks_that_they_are_aligned_by() -> None:
    """Pairs 0-1, 1-2 and 2-3 meet three times each, the first time with ends apart."""

    def residual_ns(times: int, *apart_ns: int) -> int | None:
        job = simulate([Meeting(f"{low}", (low, low + 1), {}) for low in range(3)] * times, 4, planes=False)
        for rank, ns in zip(job.ranks[1:], apart_ns):
            rank.collectives.end[0] += ns
        clocks = find_clocks(job.ranks, job.channels)
        assert clocks.family.tolist() == [0, 0, 0, 0]
        return clocks.residual_ns

    assert residual_ns(3, 40_000, 0, 0) == 40_000
    assert residual_ns(3, 40_000, 30_000, 0) == 70_000
    assert residual_ns(3, 40_000, 30_000, 70_000) == 140_000
    assert residual_ns(1, 0, 0, 0) is None


def test_one_event_aligns_clocks_only_where_nothing_tells_how_well() -> None:
    """Two ranks end their only meeting of one group 300 µs apart, and one of three of another 10 µs."""
    meetings = [Meeting("all", (0, 1), {}), *[Meeting("left", (0, 1), {})] * 3]
    job = simulate(meetings, 2, planes=False)
    job.ranks[1].collectives.end[:2] += np.array((300_000, 10_000))
    clocks = find_clocks(job.ranks, job.channels)
    assert (clocks.offset.tolist(), clocks.residual_ns) == ([0, 0], 10_000)


def test_a_rank_that_one_event_aligns_makes_no_other_clocks_surer() -> None:
    """In one of three meetings rank 1 comes last by 100 µs, by planes, and writes times 200 µs too early."""
    late = Meeting("left", (0, 1), {1: [Work(TimeClass.IDLE, MS // 10)]})
    others = [Meeting("right", (2, 3), {}), Meeting("even", (0, 2), {})]
    job = simulate([late] * 3 + others, 4)
    for column in (job.ranks[1].collectives.start, job.ranks[1].collectives.end):
        column[2] -= MS // 5
    job = job_of(job.ranks)
    assert (job.clocks.residual_ns, job.wait_notes.disagree) == (None, 0)


def test_ranks_were_last_together_before_all_that_they_left_apart_or_without_each_other() -> None:
    """Rank 0 leaves the second of four meetings 1 ms before rank 1, which is not in the third."""
    slow = {1: [Work(TimeClass.IDLE, 5 * MS)]}
    before = [Meeting("left", (0, 1), {}, 5 * MS)] * 3
    job = simulate([*before, Meeting("left", (0, 1), slow)], 2, planes=False)
    (matched,) = job.channels
    matched.places[2, 1] = -1
    job.ranks[0].collectives.end[1] -= MS
    waits, _ = find_job_waits(job.ranks, job.channels, job.clocks)
    assert waits.wait_ns.tolist()[-2:] == [5 * MS, 0]
    assert [places[-2] for places in find_last_together(job.ranks, job.channels, job.clocks, waits)] == [0, 0]


def test_what_one_rank_ran_alone_is_not_whole_though_no_rank_is_missing() -> None:
    """So its planes tell how long it waited: nothing says when the rank that they name came to it."""
    job = simulate([Meeting("all", (0, 1), {1: [Work(TimeClass.IDLE, 5 * MS)]})], 2)
    (matched,) = job.channels
    groups = tuple(replace(group, size=0) for group in matched.channel.groups)
    alone = replace(
        matched, channel=replace(matched.channel, groups=groups), places=np.array([[0, -1], [-1, 0]])
    )
    waits, _ = find_job_waits(job.ranks, [alone], job.clocks, all_here=True)
    assert waits.wait_ns.tolist() == [5 * MS, 0]
    assert waits.late_place.tolist() == [INCOMPARABLE, NOBODY]


def test_ranks_without_a_common_operation_stay_apart() -> None:
    job = simulate([Meeting("left", (0, 1), {}), Meeting("right", (2, 3), {})], 4, (0, 5, 10**9, 10**9))
    assert job.clocks.family.tolist() == [0, 0, 2, 2]
    assert job.clocks.offset.tolist() == [0, 5, 0, 0]


def test_what_ends_apart_is_not_one_operation() -> None:
    """Two groups that are called alike, as streams of GPUs are."""
    job = simulate([Meeting("left", (0, 1), {0: [Work(TimeClass.COPY, 3 * MS)]})] * 6, 2, planes=False)
    other = simulate(
        [Meeting("left", (0, 1), {1: [Work(TimeClass.COPY, n * n * 9 * MS)]}) for n in range(6)],
        2,
        planes=False,
    )
    mixed = job_of([job.ranks[0], other.ranks[1]])
    assert mixed.matched == 0
    assert set(mixed.waits.late_place.tolist()) == {NOBODY}


def test_digests_come_back_as_they_were() -> None:
    job = simulate([Meeting("left", (0, 1), {0: [Work(TimeClass.IDLE, 3 * MS, "host.gc", LOADER)]})], 2)
    again = job_of([Rank(r.number, decode(encode(r.digest)), r.path) for r in job.ranks])
    assert again.root_breakdown.roots == job.root_breakdown.roots


def test_real_ranks_wait_for_the_missing_one(real_traces: Path) -> None:
    """As `late_peer_level2.json` says, to the nanosecond; the clocks are 78.5 us apart."""
    expected = json.loads((real_traces / "expected" / "late_peer_level2.json").read_text())["level2"]
    ranks = []
    for number in (0, 1):
        path = npu_output(real_traces, f"level2/rank{number}")
        digest = decode(real_digest(path))
        ranks.append(Rank(digest.identity.rank, digest, str(path)))
    job = job_of(ranks)
    operations = list(expected["ops"].values())
    waits = [operation[f"rank{number}"]["wait_ns"] for operation in operations for number in (0, 1)]
    assert job.waits.wait_ns.tolist() == waits
    peers = [operation[f"rank{number}"]["late_peer"] for operation in operations for number in (0, 1)]
    assert job.waits.peer.tolist() == [-1 if peer is None else peer for peer in peers]
    assert abs(job.clocks.offset[1] - expected["clock_rank1_minus_rank0_ns"]["median"]) < 1000
    assert (job.world, job.missing) == (8, (2, 3, 4, 5, 6, 7))
    (root,) = job.root_breakdown.roots
    assert (root.rank, root.kind, root.lost_ns) == (None, "absent", sum(waits))
    assert np.array_equal(job.clocks.family, [0, 0])


def test_only_operations_before_which_a_rank_began_late_count_for_its_beginning() -> None:
    """Three waits for rank 0, whose legs began 0, 0 and 5 ns late."""
    legs: Any = SimpleNamespace(
        wait_place=np.arange(3),
        late_place=np.zeros(3, np.int64),
        start_delay_ns=np.array([0, 0, 5]),
        from_shared_operation=np.ones(3, np.bool_),
        from_step=np.zeros(3, np.bool_),
    )
    waits: Any = SimpleNamespace(operation=np.arange(3))
    rank: Any = SimpleNamespace(number=0)
    losses = roots._Losses()
    roots._add_unequal_starts((rank,), legs, waits, np.ones(3), losses)
    (root,) = losses.roots(5)
    assert (root.kind, root.lost_ns, root.operations) == ("clock", 5, 1)
