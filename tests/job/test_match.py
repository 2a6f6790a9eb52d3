"""The same operations on several ranks, where their sequences are not equal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import gpu
from tests.job.simulated import Meeting, Work, simulate
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.communication.groups import listed_ranks
from tracetui.cli.commands.check import _check_trust
from tracetui.export.job.whatif import replay_sentences
from tracetui.export.sentences.job import head_words, loss_sentences
from tracetui.export.sentences.notes import _doubt_sentences, job_notes
from tracetui.job.channels import Rank
from tracetui.job.collectives import name_parts
from tracetui.job.digest import Digest, TimeClass
from tracetui.job.digesting import digest_of
from tracetui.job.doubts import find_doubts
from tracetui.job.health import job_findings, job_health, job_trust
from tracetui.job.identity import identify
from tracetui.job.job import Job, job_of
from tracetui.job.late_ranks import late_ranks, slow_steps, telling_rank
from tracetui.job.rank_table import rank_rows
from tracetui.job.same_job import _split_by_content
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.ranks.rank_tables import RankTables

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


def test_a_rank_without_steps_is_matched_with_those_that_have_them() -> None:
    job = uneven()
    without = with_collectives(job, 1, slice(None), step=np.full(6, -1))
    assert [matched.places.tolist() for matched in without.channels] == [
        matched.places.tolist() for matched in job.channels
    ]
    assert without.matched == job.matched == 6


def test_groups_of_some_ranks_tell_the_least_that_a_job_has() -> None:
    (rank, *_) = simulate([Meeting("even", (0, 2, 6), {})], 7).ranks
    for ranks, world, is_least in (((0, 2, 6), 7, True), ((0, 1, 2), 3, False)):
        groups = tuple(replace(group, global_ranks=ranks) for group in rank.digest.groups)
        digest = replace(rank.digest, identity=replace(rank.digest.identity, world=0), groups=groups)
        job = job_of([replace(rank, digest=digest)])
        assert (job.world, job.world_is_least) == (world, is_least)


def test_a_late_rank_is_told_once_in_a_group_whether_its_collectives_match_or_not() -> None:
    late = {2: [Work(TimeClass.COMPUTING, 5 * MS)]}
    job = with_collectives(simulate([Meeting("all", (0, 1, 2), late)] * 3, 3), 2, slice(2))
    (rank,) = late_ranks(job)
    assert (rank.rank, rank.operations, rank.lost_ns) == (2, 3, int(job.waits.wait_ns.sum()))


def test_groups_of_one_name_are_told_apart_by_their_ranks() -> None:
    job = simulate([Meeting("even", (0, 2), {}), Meeting("odd", (1, 3), {})], 4)
    ranks = []
    for rank in job.ranks:
        groups = [replace(group, key="dp", communicator="data_parallel") for group in rank.digest.groups]
        ranks.append(replace(rank, digest=replace(rank.digest, groups=tuple(groups))))
    found = {matched.channel.ranks for matched in job_of(ranks).channels if (matched.places >= 0).all()}
    assert found == {(0, 2), (1, 3)}


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


def test_what_another_kernel_does_is_its_function() -> None:
    assert name_parts("void dpsk::ep::internode::combine<false, 8>(int4*, int)") == ("combine", -1, -1)


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


def gpu_digest(rank: int, kernels: list[tuple[int, int, dict[str, Any]]], told_by: str = "kernel") -> Digest:
    """The digest of a rank whose kernels of NCCL, all of one name and stream, start and last so many us.

    `told_by`: whether a kernel has its args, or the operator that launches it.
    """
    events = [*gpu.gpu(), gpu.step(1, 0, 100 * MS)]
    for number, (start, dur, args) in enumerate(kernels):
        operator = gpu.host(start * 1000 - 500, 400, "record_param_comms")
        kernel = gpu.kernel(start * 1000, dur * 1000, number, "ncclDevKernel_SendRecv(x)", 20)
        (kernel if told_by == "kernel" else operator)["args"].update(args)
        events += [operator, gpu.launch(start * 1000 - 400, 100, number), kernel]
    head = {"distributedInfo": {"rank": rank, "world_size": 4}}
    return digest_of(analyse(trace_of(events)), identify(Path("a.json"), head))


def gpu_job(kernels: dict[int, list[tuple[int, int, dict[str, Any]]]], told_by: str = "kernel") -> Job:
    return job_of([Rank(rank, gpu_digest(rank, kernels[rank], told_by), "") for rank in kernels])


def process_group(name: str, *ranks: int, kind: str = "allreduce", **peer: int) -> dict[str, Any]:
    args = {"Process Group Name": name, "Process Group Ranks": str([*ranks]), "Group size": len(ranks)}
    return {"Collective name": kind, **args, **{f"{end} Rank": rank for end, rank in peer.items()}}


@pytest.mark.parametrize("told_by", ["kernel", "operator"])
def test_process_groups_of_one_stream_are_apart(told_by: str) -> None:
    """Each group ends together, the second half a millisecond later; all meet at the end."""
    whole = process_group("0", 0, 1, 2, 3, kind="_allgather_base")
    kernels = {
        rank: [
            (10 + 500 * (rank > 1), 100, process_group("1", *((0, 1) if rank < 2 else (2, 3)))),
            (2000, 100, whole),
        ]
        for rank in range(4)
    }
    job = gpu_job(kernels, told_by)
    assert sorted(matched.channel.ranks for matched in job.channels) == [(0, 1), (0, 1, 2, 3), (2, 3)]
    assert all(matched.channel.complete for matched in job.channels)
    assert (job.matched, job.unmatched) == (3, 0)
    assert job.waits.wait_ns.tolist() == [0] * 8
    texts = {text for rank in job.ranks for text in rank.digest.texts}
    assert {"allreduce", "allgather"} <= texts and "SendRecv" not in texts
    groups = [(group.key, group.rank, group.global_ranks, group.size) for group in job.ranks[3].digest.groups]
    assert groups == [("1 [2, 3]", 1, (2, 3), 2), ("0 [0, 1, 2, 3]", 3, (0, 1, 2, 3), 4)]


def test_a_send_of_nccl_meets_the_receive_that_names_it() -> None:
    """Rank 4 sends to rank 2, and that to rank 7, all kernels of one name in one group."""
    sends = {place: process_group("5", 4, 2, 7, kind="send", Dst=rank) for place, rank in ((0, 2), (1, 7))}
    receives = {place: process_group("5", 4, 2, 7, kind="recv", Src=rank) for place, rank in ((1, 4), (2, 2))}
    kernels = {
        4: [(10, 9, sends[0])],
        2: [(5, 14, receives[1]), (30, 9, sends[1])],
        7: [(5, 34, receives[2])],
    }
    job = gpu_job(kernels)
    assert [(matched.channel.ranks, matched.channel.pair) for matched in job.channels] == [
        ((0, 1), True),
        ((0, 2), True),
    ]
    unnamed: dict[int, list[tuple[int, int, dict[str, Any]]]] = {
        rank: [(start, dur, {}) for start, dur, _ in rows] for rank, rows in kernels.items()
    }
    assert gpu_job(unnamed).matched == 0, "nobody knows who met whom"
    assert gpu_job({4: unnamed[4], 7: unnamed[4]}).matched == 0, "not even of kernels that are alike"


@pytest.mark.parametrize(
    ("text", "size", "ranks"),
    [
        ("[0]", 1, (0,)),
        ("[5, 1, 3]", 3, (5, 1, 3)),
        ("[2, 3, ..., 7]", 6, (2, 3, 4, 5, 6, 7)),
        ("[2, 3, ..., 7]", 5, ()),
        ("[0, 2, ..., 6]", 4, ()),
        ("[3, 2, ..., 6]", 4, ()),
        ("[1, 1]", 2, ()),
        ("[]", 1, ()),
        ("[0, 1", 2, ()),
        ("[-1, 1]", 2, ()),
        ("[0, ..., 99999999999]", 100_000_000_000, ()),
        ("0, 1", 2, ()),
    ],
)
def test_ranks_of_a_group_are_known_where_they_are_listed(
    text: str, size: int, ranks: tuple[int, ...]
) -> None:
    assert listed_ranks(text, size) == ranks


def test_batches_of_sends_meet_where_each_has_one_peer() -> None:
    """Ranks 0 to 2 of a group exchange with their neighbour; what peers they have only planes tell."""

    def batches(*peers: tuple[int, ...]) -> Job:
        meetings = [Meeting("pp", (0, 1, 2), {}, type="batchSendRecv"), Meeting("pp", (0, 1, 2), {})] * 2
        ranks = [
            replace(
                rank,
                digest=replace(
                    rank.digest, collectives=replace(rank.digest.collectives, other=np.array(other))
                ),
            )
            for rank, other in zip(simulate(meetings, 3).ranks, peers)
        ]
        return job_of(ranks)

    job = batches((1, -1, 1, -1), (0, -1, 0, -1), (-1, -1, -1, -1))
    assert {matched.channel.ranks for matched in job.channels} == {(0, 1), (2,), (0, 1, 2)}
    assert job.matched == 2 + 2
    apart = batches((1, -1, 1, -1), (0, -1, -1, -1), (-1, -1, -1, -1))
    assert {matched.channel.ranks for matched in apart.channels} == {(0,), (1,), (2,), (0, 1, 2)}
    assert apart.matched == 2, "where one has several peers, none of its batches counts"
    pair = simulate([Meeting("pp", (0, 1), {}, type="batchSendRecv")], 2)
    assert pair.channels[0].channel.complete, "of two ranks each has but one peer"


def test_sends_of_which_nothing_tells_the_peer_make_waits_a_lower_bound() -> None:
    """At profiler level 0 batches of a group of three name no peer; rank 1 is late to its all-reduce."""
    late = {1: [Work(TimeClass.IDLE, 5 * MS)]}
    meetings = [Meeting("pp", (0, 1, 2), {}, type="batchSendRecv"), Meeting("pp", (0, 1, 2), late)]
    job = simulate(meetings, 3, planes=False)
    assert (job.matched, job.without_peer) == (1, 3)
    assert any(note.startswith("not compared are 3 sends and receives") for note in job_notes(job))
    sentences = [*loss_sentences(job, rank_rows(job), job.root_breakdown, job.waits, [])]
    assert sentences[0].startswith("No rank, link or stage is seen to cost")
    assert "10.0 ms, at least" in sentences[1]
    assert simulate(meetings, 3).without_peer == 0, "planes tell"


def test_planes_of_the_late_rank_alone_tell_that_it_waited_for_nobody() -> None:
    """Recorded at a higher level than the others, which wait for it."""
    job = simulate([Meeting("all", (0, 1, 2), {2: [Work(TimeClass.IDLE, 5 * MS)]})] * 2, 3)
    nothing = {"known": np.zeros(2, np.int64), "wait": np.zeros(2, np.int64), "peer": np.full(2, -1)}
    for rank in (0, 1):
        job = with_collectives(job, rank, slice(None), **nothing)
    assert job.waits.wait_ns.tolist() == [5 * MS, 5 * MS, 0] * 2
    (late,) = late_ranks(job)
    assert (late.rank, late.lost_ns) == (2, 20 * MS)


def test_of_ranks_that_cost_as_much_one_that_is_not_known_is_first() -> None:
    late = {2: [Work(TimeClass.IDLE, 5 * MS)]}, {0: [Work(TimeClass.IDLE, 10 * MS)]}
    job = simulate([Meeting("all", (0, 1, 2), late[0]), Meeting("left", (0, 1), late[1])], 3, here=[0, 1])
    for rank in job.ranks:
        nameless = tuple(replace(group, global_ranks=()) for group in rank.digest.groups)
        object.__setattr__(rank.digest, "groups", nameless)
    first, second = late_ranks(job_of(job.ranks))
    assert (first.rank, second.rank, first.lost_ns, second.lost_ns) == (None, 0, 10 * MS, 10 * MS)


def test_where_no_rank_is_late_the_most_idle_one_tells_most() -> None:
    job = simulate([Meeting("all", (0, 1, 2), {})], 3)
    job.ranks[1].digest.steps.idle[:] = 1
    assert telling_rank(job) is job.ranks[1]


@pytest.mark.parametrize(("behind_ns", "count"), [(50_000, 0), (50_001, 1)])
def test_planes_are_contradicted_by_a_rank_that_comes_50_us_after_the_one_they_name(
    behind_ns: int, count: int
) -> None:
    job = simulate([Meeting("all", (0, 1, 2), {1: [Work(TimeClass.IDLE, 5 * MS)]})] * 3, 3)
    assert job.clocks.spread_ns == 0
    job.ranks[2].collectives.start[1] = job.ranks[1].collectives.start[1] + behind_ns
    late = job_of(job.ranks)
    assert late.wait_notes.disagree == count
    assert late.waits.late_place.tolist() == [1] * 3 + [1 + count] * 3 + [1] * 3


def test_groups_with_one_name_are_told_apart_by_when_they_end() -> None:
    """Ranks 2 and 3 begin 5 ms later than 0 and 1, and 3 comes last; a fifth rank ends with nobody."""
    late = {2: [Work(TimeClass.IDLE, 5 * MS)], 3: [Work(TimeClass.IDLE, 8 * MS)]}
    groups = [Meeting("a", (0, 1), {}), Meeting("b", (2, 3), late)]
    alone = Meeting("c", (4,), {4: [Work(TimeClass.IDLE, 40 * MS)]})

    def one_name(job: Job) -> Job:
        ranks = []
        for rank in job.ranks:
            names = tuple(
                group if group.key == "all" else replace(group, key="271", rank=-1, global_ranks=(), size=0)
                for group in rank.digest.groups
            )
            ranks.append(replace(rank, digest=replace(rank.digest, groups=names)))
        return job_of(ranks)

    job = one_name(simulate([*groups, Meeting("all", (0, 1, 2, 3), {})] * 3, 4, planes=False))
    (pairs,) = (matched for matched in job.channels if matched.channel.group.key == "271")
    assert (pairs.places >= 0).tolist() == [[True, True, False, False], [False, False, True, True]] * 3
    assert (job.matched, job.strangers) == (9, 0)
    assert [
        (rank.rank, rank.operations, rank.lost_ns) for rank in late_ranks(job) if rank.group == "271"
    ] == [(3, 3, 9 * MS)]
    job = one_name(simulate([*groups, alone, Meeting("all", (0, 1, 2, 3, 4), {})] * 3, 5, planes=False))
    assert (job.matched, job.strangers) == (9, 3)


def test_ranks_were_not_together_in_a_broadcast_that_one_of_them_left_before_the_other_came() -> None:
    """Clocks are equal; rank 0 leaves the broadcast 8 ms before rank 1 comes, which is late once more."""
    everybody, root = (process_group("0", 0, 1, kind=kind) for kind in ("allreduce", "broadcast"))
    kernels = {
        0: [(100, 100, everybody), (1000, 50, root), (11_000, 1100, everybody)],
        1: [(100, 100, everybody), (9000, 50, root), (12_000, 100, everybody)],
    }
    kinds = {cause.kind for cause in gpu_job(kernels).root_breakdown.roots}
    assert kinds and "clock" not in kinds


def test_a_rank_with_several_numbers_in_groups_of_one_name_has_none(tmp_path: Path) -> None:
    groups = {
        "a": {"group_name": "pp", "group_rank": 1, "global_ranks": [0, 2]},
        "b": {"group_name": "pp", "group_rank": 0, "global_ranks": [2, 4]},
        "c": {"group_name": "tp", "group_rank": 0, "global_ranks": [2, 3]},
        "d": {"group_name": "dp", "group_rank": 0, "global_ranks": [2]},
        "e": {"group_name": "dp", "group_rank": 0, "global_ranks": [2]},
    }
    (tmp_path / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    assert identify(tmp_path / "trace_view.json", {}).indices == {"tp": 0, "dp": 0}


@pytest.mark.parametrize(("stages", "number"), [(None, 1), (2, 1), (4, None)])
def test_a_pair_of_the_last_stages_numbers_no_stage(
    tmp_path: Path, stages: int | None, number: int | None
) -> None:
    groups = {"a": {"group_name": "pp", "group_rank": 1, "global_ranks": [4, 6]}}
    arguments = {} if stages is None else {"pipeline_model_parallel_size": stages}
    document = {"parallel_group_info": groups, "distributed_args": arguments}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps(document))
    assert identify(tmp_path / "trace_view.json", {}).indices.get("pp") == number


def test_time_in_collectives_whose_other_rank_is_missing_is_not_called_moving() -> None:
    """Rank 2 waits 8 ms for rank 3 of its own group, so that it is late for rank 0, and that for rank 1."""
    meetings = [
        Meeting("tp 0", (0, 1), {}),
        Meeting("tp 1", (2, 3), {3: [Work(TimeClass.IDLE, 8 * MS)]}),
        Meeting("dp", (0, 2), {}),
    ] * 3
    job = simulate(meetings, 4, planes=False, here=(0, 1, 2))
    long_roots = [root for root in job.root_breakdown.roots if abs(root.lost_ns) > MS]
    assert [(root.rank, root.kind) for root in long_roots] == [(2, "unsplit")]
    sentence = next(loss_sentences(job, rank_rows(job), job.root_breakdown, job.waits, late_ranks(job)))
    assert sentence.endswith("; why is not known, as not all ranks of its collectives can be compared.")
    whole = simulate(meetings, 4, planes=False).root_breakdown
    assert [(root.rank, root.kind) for root in whole.roots if abs(root.lost_ns) > MS] == [(3, "idle")]


def test_time_of_one_side_in_which_it_may_have_waited_cancels_that_in_which_the_other_moved() -> None:
    """Ranks 0 and 2 move for 5 ms, or rank 2 waited for rank 3; then 0 is idle for 3 ms, and 1 waits too."""
    meetings = [
        Meeting("tp 0", (0, 1), {}, 5 * MS),
        Meeting("tp 1", (2, 3), {}, 5 * MS),
        Meeting("dp", (0, 2), {0: [Work(TimeClass.IDLE, 3 * MS)]}),
    ] * 3
    job = simulate(meetings, 4, planes=False, here=(0, 1, 2))
    roots = [(root.rank, root.kind, root.lost_ns) for root in job.root_breakdown.roots]
    assert roots == [(0, "idle", (3 + 2) * 3 * MS), (0, "transfer", 2_000)], "2 µs between dp and tp 0"


@pytest.mark.parametrize(("apart_us", "clock_us"), [(300, 0), (3_000, 0), (3_000, 3_000)])
def test_replicas_on_one_stream_are_no_group(apart_us: int, clock_us: int) -> None:
    """Ranks 1 and 3 come late to their own group of two; or all to one, and the clocks of two are ahead.

    Before PyTorch 2.4 nothing but the stream tells of a group.
    """
    late_us = [(90, 700, 250, 400, 850, 10), (500, 120, 900, 30, 330, 640)]
    kernels: dict[int, list[tuple[int, int, dict[str, Any]]]] = {rank: [] for rank in range(4)}
    for number, (first, second) in enumerate(zip(*late_us)):
        base = 10_000 * (number + 1)
        for rank in range(4):
            late = (number * 3 % 5, first, number * 4 % 7, second)[rank]
            end = base + 100 + (max(first, second) if clock_us else (first, second)[rank // 2])
            ahead = apart_us * (rank // 2)
            kernels[rank].append((base + late + ahead, end - base - late, {"Collective name": "allreduce"}))
    job = gpu_job(kernels)
    if clock_us:
        assert job.clocks.offset.tolist() == [0, 0, clock_us * 1000, clock_us * 1000]
        assert set(job.clocks.family.tolist()) == {0}
        return
    assert (job.clocks.offset.tolist(), job.clocks.family.tolist()) == ([0] * 4, [0, 0, 2, 2])
    waited = {rank: int(job.waits.wait_ns[job.waits.rank_place == rank].sum()) for rank in range(4)}
    early_us = (sum(number * 3 % 5 for number in range(6)), sum(number * 4 % 7 for number in range(6)))
    assert (waited[0], waited[2]) == tuple(
        (sum(late) - early) * 1000 for late, early in zip(late_us, early_us)
    )


def test_nobody_is_missing_in_a_stream_where_all_ranks_of_the_job_are_here() -> None:
    work = {1: [Work(TimeClass.IDLE, MS)]}
    job = simulate([Meeting("stream 20", (0, 1), work)] * 2, 2, planes=False)
    unknown = "Whether ranks are missing is not known: where one was late, no fix here makes it earlier."
    for world, bounds, words, verdict in (
        (2, 0, "2 of 2 ranks", "good"),
        (3, 2, "2 of 3 ranks", "good"),
        (0, 2, "2 of an unknown number of ranks", "doubtful"),
    ):
        ranks = []
        for rank in job.ranks:
            groups = tuple(replace(group, rank=-1, global_ranks=(), size=0) for group in rank.digest.groups)
            digest = replace(rank.digest, groups=groups, identity=replace(rank.digest.identity, world=world))
            ranks.append(replace(rank, digest=digest))
        found = job_of(ranks)
        assert found.wait_notes.bounds == bounds
        assert found.waits.lower_bound.tolist() == [int(bounds > 0)] * 4
        assert head_words(found).startswith(words)
        said = [
            *loss_sentences(found, rank_rows(found), found.root_breakdown, found.waits, late_ranks(found))
        ]
        assert ("at least" in said[1]) == (bounds > 0)
        assert said[2:] == ["Whether ranks are missing that came later still is not known."] * (world == 0)
        assert job_trust(found)["ranks"] == verdict
        assert ("ranks.missing" in job_findings(found)) == (bounds > 0)
        assert [*replay_sentences(found, 0)] == [unknown] * (world == 0)
        reason = "not trusted: ranks doubtful: ranks may be missing\n"
        assert _check_trust(job_trust(found), {"ranks"}, [job_health(found)]).text == reason * (world == 0)
        agree = RankTables(found, Palette("none")).agreement
        assert (agree == "The ranks here agree; whether there are more is not known.") == (world == 0)


def test_lists_of_ranks_that_are_cut_are_completed_for_as_many_groups_as_a_rank_has() -> None:
    """A small file that names very many groups of very many ranks is not to fill the memory."""

    def known(groups: int) -> set[bool]:
        args = {"Collective name": "allreduce", "Process Group Ranks": "[0, ..., 40]", "Group size": 41}
        kernels = [(10 + number, 1, {**args, "Process Group Name": str(number)}) for number in range(groups)]
        return {group.size == len(group.global_ranks) for group in gpu_digest(0, kernels).groups}

    assert (known(100), known(101)) == ({True}, {False})


def test_gpus_of_one_world_are_one_job_where_their_groups_and_steps_are_apart() -> None:
    digests = []
    for rank in range(4):
        pair = (0, 1) if rank < 2 else (2, 3)
        digest = gpu_digest(rank, [(10, 9, process_group(str(pair[0]), *pair))])
        digests.append(replace(digest, steps=digest.steps.at(np.zeros(1, np.bool_))))
    assert _split_by_content(digests, [0, 1, 2, 3]) == [[0, 1, 2, 3]]
    unknown = [replace(digest, identity=replace(digest.identity, world=0)) for digest in digests]
    assert _split_by_content(unknown, [0, 1, 2, 3]) == [[0, 1], [2, 3]]
