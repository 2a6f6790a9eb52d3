"""A job in sentences: who is named, what is plural, and from which share of the time on a rank is blamed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.job.simulated import Meeting, Work, simulate
from tracetui.analysis.communication.speeds import Slowness
from tracetui.analysis.limits import parse_limit
from tracetui.export.job.document import job_document
from tracetui.export.job.text import job_report
from tracetui.export.sentences import job as job_sentences
from tracetui.export.sentences.job import (
    absent_state,
    affected_ranks,
    head_words,
    job_time,
    late_words,
    loss_sentences,
    root_words,
)
from tracetui.job.digest import DigestLine, TimeClass
from tracetui.job.job import job_of
from tracetui.job.late_ranks import LateRank, late_ranks
from tracetui.job.limits import find_job_breaches
from tracetui.job.losses import SlowLinks, find_job_losses
from tracetui.job.network_links import JobLink, LinkEnds
from tracetui.job.rank_table import rank_rows
from tracetui.job.roots import ABSENT, UNALIGNED, UNMATCHED, Root
from tracetui.units import format_duration

MS = 1_000_000


def late(rank: int | None, lost_ns: int = 10, group_rank: int = 5, missing: bool = False) -> LateRank:
    lost_by = {0: lost_ns // 2, 1: lost_ns - lost_ns // 2}
    return LateRank(rank, missing, "271", "", group_rank, 3, lost_by, lost_ns)


@pytest.mark.parametrize(
    ("ranks", "world", "steps", "matched", "sights", "parts", "residual_ns", "words"),
    [
        (1, None, (), 0, 0, 1, None, "1 rank"),
        (1, 1, (50,), 0, 0, 1, None, "1 rank, step 50"),
        (1, 8, (50,), 0, 1, 1, 550, "1 of 8 ranks, step 50, clocks aligned within 550 ns"),
        (2, None, (50, 51), 0, 0, 1, None, "2 of an unknown number of ranks, 2 steps, 0 collectives in common"),  # noqa: E501
        (2, 2, (), 1, 1, 1, None, "2 of 2 ranks, 1 collective in common, clocks aligned with unknown error"),
        (3, 0, (7,), 2, 3, 2, 550, "3 of an unknown number of ranks, step 7, 2 collectives in common, clocks aligned within 550 ns in 2 parts"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_is_there(
    ranks: int,
    world: int,
    steps: tuple[int, ...],
    matched: int,
    sights: int,
    parts: int,
    residual_ns: int | None,
    words: str,
) -> None:
    clocks = SimpleNamespace(parts=parts, residual_ns=residual_ns, sights=sights)
    job: Any = SimpleNamespace(
        ranks=[None] * ranks,
        world=world,
        world_is_least=False,
        steps=steps,
        matched=matched,
        strangers=0,
        clocks=clocks,
    )
    assert head_words(job) == words


def test_what_ranks_ran_together_and_is_not_compared_is_not_called_nothing() -> None:
    """A broadcast ends apart and aligns nothing, so that no rank is compared with another."""
    work = {0: [Work(TimeClass.COMPUTING, MS)], 1: [Work(TimeClass.COMPUTING, 3 * MS)]}
    job = simulate([Meeting("all", (0, 1), work, type="broadcast")], 2, planes=False)
    assert (job.matched, job.strangers) == (0, 1)
    assert head_words(job) == "2 of 2 ranks, step 1"


def test_rings_show_the_least_a_job_has() -> None:
    """A ring shakes hands with neighbours: their numbers tell that there are so many ranks, or more."""
    meetings = [Meeting("left", (0, 1), {0: [Work(TimeClass.IDLE, MS)]})]
    whole = simulate(meetings, 2)
    assert head_words(whole).startswith("2 of 2 ranks, ")
    ranks = []
    for rank in whole.ranks:
        digest = rank.digest
        (group,) = digest.groups
        digest = replace(
            digest,
            identity=replace(digest.identity, world=0),
            groups=(replace(group, global_ranks=(), size=5),),
        )
        ranks.append(replace(rank, digest=digest))
    assert head_words(job_of(ranks)).startswith("2 of 5 ranks, ")
    rings = []
    for rank in ranks:
        collectives = replace(rank.collectives, ring=np.ones(len(rank.collectives), np.int64))
        rings.append(replace(rank, digest=replace(rank.digest, collectives=collectives)))
    assert head_words(job_of(rings)).startswith("2 of at least 5 ranks, ")


@pytest.mark.parametrize(
    ("one", "unread", "words"),
    [
        (late(5), set(), "rank 5"),
        (late(0, missing=True), {5}, "rank 0 (missing)"),
        (late(0, missing=True), {0}, "rank 0 (not read)"),
        (late(0, missing=True), {-1}, "rank 0 (not read)"),
        (late(1, missing=True), {-2}, "rank 1 (missing)"),
        (late(None, missing=True), set(), "peer 5 of group 271 (missing)"),
        (late(None, 1, 0, missing=True), {9}, "peer 0 of group 271 (not read)"),
        (late(None, 1, -1, missing=True), set(), "a rank of group 271 (missing)"),
    ],
)
def test_who_was_late(one: LateRank, unread: set[int], words: str) -> None:
    """A rank that is there and not read may be any whose number is not known, as those of number -1."""
    assert late_words(one, frozenset(unread)) == words
    assert (absent_state(one, frozenset(unread)) == "not read") == bool(unread - {5, -2})


@pytest.mark.parametrize(
    ("kind", "rank", "unread", "words"),
    [
        (ABSENT, 3, {3}, "not known: its trace is not read"),
        (ABSENT, 3, {4}, "not known: its trace is missing"),
        ("idle", 3, {3}, "idle, host.gc"),
    ],
)
def test_why_a_rank_was_late(kind: str, rank: int, unread: set[int], words: str) -> None:
    root: Any = SimpleNamespace(kind=kind, rank=rank, reason="" if kind == ABSENT else "host.gc")
    assert root_words(root, frozenset(unread)) == words


@pytest.mark.parametrize(
    ("concerned", "ranks", "words"),
    [
        ([0], 1, "rank 10"),
        ([0, 1], 2, "every rank"),
        ([1], 2, "rank 11"),
        ([0, 2], 4, "ranks 10, 12"),
        ([0, 2, 3], 5, "ranks 10, 12, 13"),
        ([0, 1, 2, 3], 5, "4 of 5 ranks"),
        ([0, 1, 2, 3], 4, "every rank"),
    ],
)
def test_whose_problem_a_line_is(concerned: list[int], ranks: int, words: str) -> None:
    job: Any = SimpleNamespace(ranks=[SimpleNamespace(number=10 + place) for place in range(ranks)])
    line: Any = SimpleNamespace(affected=concerned)
    assert affected_ranks(job, line) == words


def sentences(
    monkeypatch: pytest.MonkeyPatch,
    every: list[LateRank],
    roots: list[Root],
    whole: int,
    missing: bool = False,
) -> list[str]:
    """What is said of late ranks in a job of so many ns, of which each rank waits for nobody itself."""
    monkeypatch.setattr(job_sentences, "late_once", lambda *_: ())
    one: Any = SimpleNamespace(time_ns=whole)
    job: Any = SimpleNamespace(
        ranks=[SimpleNamespace(number=-1)] * 2,
        is_whole=not missing,
        may_lack_late_rank=False,
        without_peer=0,
        matched=1,
        unmatched=0,
        clocks=SimpleNamespace(parts=1 + (len(roots) > 3)),
    )
    lost_ns = [loss.lost_ns for loss in every]
    found: Any = SimpleNamespace(roots=roots, total_ns=sum(lost_ns))
    waits: Any = SimpleNamespace(
        rank_place=np.zeros(0, np.int64), exposed_ns=np.array(lost_ns), at=lambda _: None
    )
    return [*loss_sentences(job, (one,), found, waits, every)]


_COST = re.compile(
    r"Rank (?P<rank>\d+) cost (?:one other rank|(?P<others>\d+) others) (?P<each>[\d.,]+ \S+)"
    r"(?: each)?(?: on average, (?P<most>[\d.,]+ \S+) at most,)? in (?P<collectives>\d+) collectives?"
    r"(?:: .* \((?P<root>[\d.,]+ \S+) of waiting\)\.)?"
)
BALANCED = "The ranks are balanced: no rank, link or stage costs 1 % of their time."
COST = "at least 1 % of their time"


@pytest.mark.parametrize(
    ("costs", "named", "last"),
    [
        ([99], 0, None),
        ([100], 1, None),
        ([300, 200, 100], 3, None),
        ([400, 300, 200, 100, 99], 3, f"1 more rank cost the others {COST}."),
        ([500, 400, 300, 200, 100], 3, f"2 more ranks cost the others {COST} each."),
    ],
)
def test_three_ranks_at_most_are_named_of_those_that_cost_a_hundredth_of_the_time(
    monkeypatch: pytest.MonkeyPatch, costs: list[int], named: int, last: str | None
) -> None:
    verdict = sentences(monkeypatch, [late(rank, ns) for rank, ns in enumerate(costs)], [], 10_000)
    took, share = format_duration(sum(costs)), f"{sum(costs) / 100:.1f} %"
    waiting = f"Waiting for each other took the ranks {took}: {share} of their time."
    assert verdict.pop(1) == waiting
    assert [sentence.partition(" cost 2 others")[0] for sentence in verdict[:named]] == [
        f"Rank {rank}" for rank in range(named)
    ]
    assert verdict[named:] == [sentence for sentence in (None if named else BALANCED, last) if sentence]


def root(rank: int, kind: str, lost_ns: int) -> Root:
    return Root(rank, kind, "", None, lost_ns, 1)


def test_more_may_be_lost_where_ranks_are_missing_or_clocks_not_aligned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costs = [late(1, 100)]
    least = "Waiting for each other took the ranks 100 ns, at least: 1.0 % of their time."
    assert sentences(monkeypatch, costs, [], 10_000, missing=True)[1] == least
    assert sentences(monkeypatch, costs, [root(0, "copy", 1)] * 4, 10_000)[1] == least
    assert sentences(monkeypatch, costs, [], 10_000)[1] == least.replace(", at least", "")
    assert sentences(monkeypatch, [], [], 10_000) == [BALANCED, "No rank waits for another one."]
    unseen = "No rank, link or stage is seen to cost the ranks here 1 % of their time."
    assert sentences(monkeypatch, [], [], 10_000, missing=True)[0] == unseen


@pytest.mark.parametrize(
    ("roots", "words"),
    [
        ([root(1, "copy", 60), root(1, "computing", 20)], ": copying (60 ns of waiting)."),
        (
            [root(1, "copy", 49), root(0, "idle", 900)],
            "; most of that they would have waited for other ranks instead.",
        ),
        ([root(1, "copy", 50)], ": copying (50 ns of waiting)."),
        ([root(1, "copy", 1)], "; most of that they would have waited for other ranks instead."),
        ([root(1, ABSENT, 90)], "; most of that they would have waited for other ranks instead."),
        ([root(1, UNALIGNED, 90)], "; why is not known, as their clocks are not aligned."),
        ([root(1, UNMATCHED, 90)], "; why is not known, as none of its collectives matches."),
        (
            [root(1, UNMATCHED, 60), root(1, "copy", 40)],
            ": as far as its collectives match, copying (40 ns of waiting).",
        ),
        (
            [root(1, UNALIGNED, 60), root(1, "copy", 40)],
            ": as far as clocks are aligned, copying (40 ns of waiting).",
        ),
        ([root(1, "copy", 50), root(1, UNALIGNED, 40)], ": copying (50 ns of waiting)."),
    ],
)
def test_a_late_rank_is_explained_by_what_it_did_longer_itself(
    monkeypatch: pytest.MonkeyPatch, roots: list[Root], words: str
) -> None:
    verdict = sentences(monkeypatch, [late(1, 100)], roots, 1000)
    assert verdict[:1] == [f"Rank 1 cost 2 others 50 ns each in 3 collectives{words}"]


def test_a_rank_that_only_takes_the_place_of_another_late_one_is_said_so() -> None:
    """Rank 1 makes 0 wait for 5 ms, which would else wait as much longer for 2, idle for 20 ms."""
    idle = {rank: [Work(TimeClass.IDLE, ns, "host.gc")] for rank, ns in ((1, 5 * MS), (2, 20 * MS))}
    meetings = [
        Meeting("all", (0, 1, 2), {}),
        Meeting("left", (0, 1), {1: idle[1]}),
        Meeting("even", (0, 2), {2: idle[2]}),
    ]
    text = " ".join(job_report(simulate(meetings, 3)).text(500).splitlines())
    assert "Rank 1 cost one other rank 5.00 ms in 1 collective; most of that they would have waited" in text


def test_a_rank_that_waited_itself_waited_for_whom_it_waited_longest() -> None:
    """Rank 1 makes 0 wait, which makes 2 wait; rank 3 is later than 1 by a little."""
    loader = DigestLine("data.py", 70, "__iter__", False)
    meetings = [
        Meeting("all", (0, 1, 2, 3), {}),
        Meeting("left", (0, 1), {1: [Work(TimeClass.IDLE, 8 * MS, "host.gc", loader)]}, 1000),
        Meeting("even", (0, 2), {0: [Work(TimeClass.COPY, MS)]}, 1000),
        Meeting("right", (1, 3), {3: [Work(TimeClass.IDLE, 9 * MS, "host.gc", loader)]}),
    ]
    idle = "idle, host.gc at data.py(70) __iter__ ({} of waiting{})"
    passed_on = " with what others pass on"
    lines = job_report(simulate(meetings, 4)).text(500).splitlines()
    assert lines[:6] == [
        "4 of 4 ranks, step 1, 4 collectives in common, clocks aligned with unknown error",
        "",
        "Rank 0 cost one other rank 9.00 ms in 1 collective, mostly because it waited itself, longest for rank 1.",  # noqa: E501
        "Waiting for each other took the ranks 18.0 ms: 50.0 % of their time.",
        f"Rank 1 cost one other rank 8.00 ms in 1 collective: {idle.format('16.0 ms', passed_on)}.",
        f"Rank 3 cost one other rank 999 µs in 1 collective: {idle.format('999 µs', '')}.",
    ]
    assert "Ranks, ms" in lines, "of one step there is no mean, and in no measure they differ"


def test_of_roots_those_are_listed_that_cost_a_thousandth_of_the_time() -> None:
    """Rank 1 is late by 20 ms, of which 9 us are copies: less than a thousandth of what four ranks took."""
    work = [Work(TimeClass.IDLE, 20 * MS, "host.gc"), Work(TimeClass.COPY, 9_000)]
    text = job_report(simulate([Meeting("left", (0, 1), {1: work})], 2)).text(120)
    assert "host.gc" in text and "copying" not in text and "1 more: 9.00 µs" in text


meetings = st.lists(
    st.tuples(st.sets(st.integers(0, 4), min_size=2), st.dictionaries(st.integers(0, 4), st.integers(1, 30))),
    min_size=1,
    max_size=6,
)


@given(meetings)
def test_every_number_of_a_sentence_is_that_of_the_tables(
    plan: list[tuple[set[int], dict[int, int]]],
) -> None:
    """Who waited for a rank, how long each on average, and how long at most: as the waits have it.

    In the table of late ranks the rows of the first rank that is named stand first, and so on.
    """
    job = simulate(
        [
            Meeting(
                f"group {number}",
                tuple(sorted(members)),
                {rank: [Work(TimeClass.COPY, ms * MS)] for rank, ms in busy.items() if rank in members},
            )
            for number, (members, busy) in enumerate(plan)
        ],
        5,
    )
    rows, waits = rank_rows(job), job.waits
    losses = find_job_losses(job, rows, waits, (), ())
    assert [loss.lost_ns for loss in losses] == sorted((loss.lost_ns for loss in losses), reverse=True)
    found = {}
    for sentence in loss_sentences(job, rows, job.root_breakdown, waits, losses):
        match = _COST.match(sentence)
        if match:
            found[int(match["rank"])] = match
    assert bool(found) == any(row.cost_ns * 100 >= job_time(rows) for row in rows if row.cost_ns)
    for number, match in found.items():
        caused = waits.at((waits.late_place == number) & (waits.wait_ns > 0))
        waiting = np.unique(caused.rank_place).tolist()
        lost = [int(caused.wait_ns[caused.rank_place == place].sum()) for place in waiting]
        assert int(match["others"] or 1) == len(lost)
        assert match["each"] == format_duration(sum(lost) // len(lost))
        assert match["most"] in (None, format_duration(max(lost)))
        assert match["most"] or max(lost) * len(lost) <= 1.06 * sum(lost)
        assert int(match["collectives"]) == len(np.unique(caused.operation))
        assert sum(lost) == rows[number].cost_ns
    listed = late_ranks(job)
    for number, match in found.items():
        of_rank = list(takewhile(lambda late, number=number: late.rank == number, listed))  # type: ignore[misc]
        listed = listed[len(of_rank) :]
        assert int(match["collectives"]) == sum(late.operations for late in of_rank)
        assert rows[number].cost_ns == sum(late.lost_ns for late in of_rank)
    _, table = job_report(job).text(200).split("Roots: ") if found else ("", "")
    roots_shown = re.findall(r"^ *([\d.,]+ \S+) +\S+ % +\d+ +(\d+)  ", table, re.MULTILINE)
    largest = {int(rank): lost for lost, rank in reversed(roots_shown)}
    for number, match in found.items():
        assert match["root"] in (None, largest.get(number))


def test_a_slow_link_costs_each_rank_at_most_what_it_moves() -> None:
    """The slower of two is told first, and the other is waited for at the same time."""
    job = simulate(
        [
            Meeting("all", (0, 1, 2), {}, transfer_ns=MS),
            Meeting("two", (0, 1), {}, transfer_ns=4 * MS),
        ],
        3,
    )

    def link(dst: int, slow: bool, excess_ns: int) -> JobLink:
        return JobLink(LinkEnds(0, dst, "", -1, -1, "HCCS"), 1, 1, Slowness(slow, excess_ns + 7, 7), None)

    links = [link(1, True, MS), link(2, True, 3 * MS), link(3, False, 9 * MS)]
    (loss,) = find_job_losses(job, rank_rows(job), job.waits, links, ())
    assert isinstance(loss, SlowLinks)
    assert [link.ends.dst for link in loss.links] == [2, 1]
    assert loss.lost_ns == (3 + 3 + 1) * MS
    assert not find_job_losses(job, rank_rows(job), job.waits, links[2:], ())


def test_a_link_costs_only_ranks_whose_groups_hold_both_of_its_ends() -> None:
    """Ranks 2 and 3 move as long in a group of their own, and lose nothing by the link of 0 and 1."""
    job = simulate([Meeting("left", (0, 1), {}, 5 * MS), Meeting("right", (2, 3), {}, 5 * MS)], 4)
    link: Any = SimpleNamespace(
        ends=SimpleNamespace(src=0, dst=1), slow=True, slowness=SimpleNamespace(excess_ns=3 * MS)
    )
    (loss,) = find_job_losses(job, rank_rows(job), job.waits, [link], ())
    assert loss.lost_ns == 2 * 3 * MS


def test_a_wait_behind_which_a_rank_computes_costs_it_nothing() -> None:
    ranks = []
    for rank in simulate(
        [Meeting("left", (0, 1), {0: [Work(TimeClass.COPY, 6 * MS)]})], 2, planes=False
    ).ranks:
        keys = rank.digest.keys
        busy = np.where(keys.time_class == TimeClass.UNSPLIT, TimeClass.COMPUTING, keys.time_class)
        ranks.append(replace(rank, digest=replace(rank.digest, keys=replace(keys, time_class=busy))))
    job = job_of(ranks)
    rows = rank_rows(job)
    assert [
        *loss_sentences(
            job, rows, job.root_breakdown, job.waits, find_job_losses(job, rows, job.waits, [], [])
        )
    ] == [
        BALANCED,
        "The ranks waited 6.00 ms for each other, 0 ns of it without other work: 0.0 % of their time.",
    ]
    assert find_job_breaches(job, [parse_limit("wait", "0%")]) == ()
    assert re.search(r"6\.00 ms +0 ns +1 +rank 0", job_report(job).text(120)), (
        "the part without work stands beside"
    )


def test_waits_outside_of_steps_are_a_share_of_all_that_is_recorded() -> None:
    ranks = []
    for rank in simulate([Meeting("left", (0, 1), {0: [Work(TimeClass.COPY, 6 * MS)]})], 2).ranks:
        steps = replace(rank.digest.steps, stage=np.array([MS]))
        collectives = replace(rank.digest.collectives, step=np.array([-1]))
        ranks.append(replace(rank, digest=replace(rank.digest, steps=steps, collectives=collectives)))
    job = job_of(ranks)
    rows = rank_rows(job)
    waiting = [*loss_sentences(job, rows, job.root_breakdown, job.waits, [])][1]
    assert waiting == "Waiting for each other took the ranks 6.00 ms: 50.0 % of their time."
    assert head_words(job, 1).startswith("2 of 2 ranks, step 1, 0 collectives in common")


def test_of_ranks_without_a_common_collective_nothing_is_known() -> None:
    job = simulate([Meeting("left", (0,), {}), Meeting("right", (1,), {})], 2)
    assert [*loss_sentences(job, rank_rows(job), job.root_breakdown, job.waits, [])] == [
        "No collective of the ranks can be compared: who waited for whom is not known."
    ]


def test_where_links_were_not_looked_at_none_is_said_to_cost_nothing() -> None:
    job = simulate([Meeting("left", (0, 1), {})], 2)
    rows, roots = rank_rows(job), job.root_breakdown
    for has_links, words in ((True, "no rank, link or stage costs"), (False, "no rank or stage costs")):
        first = next(loss_sentences(job, rows, roots, job.waits, [], has_links=has_links))
        assert first == f"The ranks are balanced: {words} 1 % of their time."


def test_a_late_rank_is_told_with_what_others_only_waited_for_it() -> None:
    job = simulate([Meeting("left", (0, 1), {0: [Work(TimeClass.COPY, 6 * MS)]})], 2, planes=False)
    waits, rows = replace(job.waits, exposed_ns=job.waits.exposed_ns // 4), rank_rows(job)
    losses = find_job_losses(job, rows, waits, [], [])
    assert next(loss_sentences(job, rows, job.root_breakdown, waits, losses)) == (
        "Rank 0 cost one other rank 6.00 ms in 1 collective, 1.50 ms of it in all without other work: "
        "copying (6.00 ms of waiting)."
    )


def test_late_ranks_of_a_group_have_ids_of_their_own() -> None:
    """Nothing tells the numbers that they have in the group; rank 0 is late in two channels of it."""
    late = (0, 1, 0)
    kinds = ("allReduce", "allReduce", "batchSendRecv")
    job = simulate(
        [
            Meeting("all", (0, 1), {rank: [Work(TimeClass.COPY, 6 * MS)]}, type=kind)
            for rank, kind in zip(late, kinds)
        ],
        2,
        planes=False,
    )
    assert len(job.channels) == 2
    unnumbered = job_of(
        [
            replace(
                rank,
                digest=replace(
                    rank.digest, groups=tuple(replace(group, rank=-1) for group in rank.digest.groups)
                ),
            )
            for rank in job.ranks
        ]
    )
    ids = [[row["id"] for row in job_document(of_job)["waits"]["late"]] for of_job in (job, unnumbered)]
    assert ids == [["late=all:0:0", "late=all:1:1"], ["late=all::0", "late=all::1"]]


@pytest.mark.parametrize(("exposed_ns", "is_hidden"), [(1000, False), (950, False), (949, True), (0, True)])
def test_up_to_five_percent_of_a_wait_beside_other_work_goes_without_saying(
    exposed_ns: int, is_hidden: bool
) -> None:
    assert job_sentences._is_hidden(1000, exposed_ns) == is_hidden
