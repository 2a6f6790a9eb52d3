"""Which of the ranks in one place are one job, and which are others beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.job.simulated import Meeting, Work, simulate
from tracetui.export.sentences.notes import job_notes
from tracetui.job.digest import CollectiveColumns, Digest, TimeClass
from tracetui.job.doubts import find_doubts
from tracetui.job.job import job_of
from tracetui.job.same_job import (
    FoundRank,
    largest_job,
    latest_recordings,
    without_shared_numbers,
)
from tracetui.reader.errors import UnreadableTrace

DAY = 86_400 * 10**9


def digests(group: str = "271", offsets: Sequence[int] = (0, 0), operations: int = 3) -> list[Digest]:
    """Return the digests of two ranks that meet in collectives, their clocks off by so many ns."""
    meetings = [Meeting(group, (0, 1), {}) for _ in range(operations)]
    return [rank.digest for rank in simulate(meetings, 2, offsets).ranks]


def chosen(found: Sequence[Digest], names: Sequence[str] = ()) -> tuple[list[int], list[str]]:
    """Return what `one_job` makes of digests with these names."""
    called = names or [f"{place}.json" for place in range(len(found))]
    return largest_job([FoundRank(name, digest.identity) for name, digest in zip(called, found)], found)


def stamped(name: str, digest: Digest, started: str) -> FoundRank:
    return FoundRank(name, replace(digest.identity, started=started))


def test_a_rank_whose_clock_is_days_off_is_of_its_job() -> None:
    assert chosen(digests(offsets=(0, 3 * DAY))) == ([0, 1], [])


def test_a_rank_that_shares_a_group_with_one_of_a_wrong_clock_is_of_its_job() -> None:
    """Rank 2 has met none but rank 1."""
    meetings = [Meeting("271", (0, 1), {})] * 3 + [Meeting("272", (1, 2), {})] * 3
    found = [rank.digest for rank in simulate(meetings, 3, (0, 3 * DAY, 6 * DAY)).ranks]
    assert chosen(found) == ([0, 1, 2], [])


def test_a_clock_that_is_days_off_is_said_and_taken_off() -> None:
    job = simulate([Meeting("271", (0, 1), {})] * 3, 2, (0, -3 * DAY))
    assert job.clocks.aligned([0, 1]).tolist() == [0, -3 * DAY]
    (sentence,) = (note for note in job_notes(job) if note.startswith("the clock of"))
    assert sentence == "the clock of rank 1 is 72.0 h behind that of rank 0: its times are shifted by that"


def test_a_shift_between_ranks_of_one_host_is_said() -> None:
    for shift, hosts, count in (
        (20, ("", ""), 1),
        (9, ("", ""), 0),
        (20, ("a", "b"), 0),
        (2000, ("a", "b"), 1),
    ):
        job = simulate([Meeting("271", (0, 1), {})] * 3, 2, (0, shift * 1_000_000))
        ranks = [
            replace(rank, digest=replace(rank.digest, identity=replace(rank.digest.identity, host=host)))
            for rank, host in zip(job.ranks, hosts)
        ]
        assert len(find_doubts(job_of(ranks)).shifted) == count


def test_ranks_of_two_days_that_ran_other_collectives_are_two_jobs() -> None:
    monday, tuesday = digests()[0], digests(offsets=(0, DAY), operations=4)[1]
    with pytest.raises(UnreadableTrace) as error:
        chosen([monday, tuesday])
    assert str(error.value) == "no two of the 2 traces are of one job; name one (0.json, 1.json)"


def test_what_gpus_call_a_group_makes_no_job_of_two_days() -> None:
    """Each job has a group "0"."""
    with pytest.raises(UnreadableTrace, match="no two of the 2 traces"):
        chosen(digests(group="0", offsets=(0, DAY)))


def test_a_rank_of_another_job_is_no_double() -> None:
    """A rank 0 recorded days before does not take the place of the rank 0 of the larger job."""
    before = digests(group="314", offsets=(-5 * DAY, 0))[0]
    kept, (sentence,) = chosen([before, *digests()])
    assert kept == [1, 2] and sentence.startswith("1 rank is of another job")


def test_of_two_recordings_of_one_rank_in_a_job_the_last_counts() -> None:
    first, second = digests()
    kept, sentences = chosen([first, second, first], ["a/rank0", "a/rank1", "b/rank0"])
    assert kept == [1, 2]
    assert sentences == ["rank 0 is there twice: b/rank0 is looked at, a/rank0 is not"]


def test_one_sentence_names_all_older_recordings_of_a_rank() -> None:
    """None but the newest is said to be looked at."""
    first, second = digests()
    kept, sentences = chosen([first, second, first, first], ["a/rank0", "a/rank1", "b/rank0", "c/rank0"])
    assert kept == [1, 3]
    assert sentences == ["rank 0 is there 3 times: c/rank0 is looked at, a/rank0, b/rank0 are not"]


def test_ranks_that_are_copies_of_others_are_told() -> None:
    """Whatever their names say: no two devices do the same to the nanosecond."""
    first, second = digests()
    copy, other = (replace(first, identity=replace(first.identity, rank=rank)) for rank in (2, 3))
    one, two = "1 rank is a copy of another one", "2 ranks are copies of others"
    told = ", with times that are the same to the ns"
    assert chosen([first, copy, second]) == ([0, 1, 2], [f"{one}{told} (1.json)"])
    assert chosen([first, copy, other]) == ([0, 1, 2], [f"{two}{told} (1.json, 2.json)"])
    later = replace(copy, boundaries=copy.boundaries + 1)
    silent = replace(copy, collectives=CollectiveColumns.empty())
    for different in (later, silent):
        assert chosen([first, different, second]) == ([0, 1, 2], [])


def test_only_the_latest_recording_of_a_directory_is_read() -> None:
    """Of other directories the digests tell whether they are of the same job."""
    rank = digests()[0]
    older, newer = stamped("a/1_ascend_pt", rank, "2025"), stamped("a/2_ascend_pt", rank, "2026")
    elsewhere = stamped("b/3_ascend_pt", rank, "2024")
    kept, (sentence,) = latest_recordings([newer, older, elsewhere])
    assert kept == [0, 2]
    assert sentence == "rank 0 is there twice: a/2_ascend_pt is looked at, a/1_ascend_pt is not"


def named(found: Sequence[Digest], rank: int) -> list[Digest]:
    """Return digests of which names alone tell the rank."""
    return [
        replace(digest, identity=replace(digest.identity, rank=rank, rank_from="name")) for digest in found
    ]


def test_recordings_of_one_time_are_of_several_ranks_whatever_their_names_say() -> None:
    late = {1: [Work(TimeClass.COMPUTING, 1_000_000)]}
    two = [rank.digest for rank in simulate([Meeting("271", (0, 1), late)], 2).ranks]
    other, copy = named(digests(), 1), named([two[0], two[0]], 0)
    later = named([two[0], digests(offsets=(0, DAY))[1]], 0)
    for found, numbers in (
        ([*named(two, 8), *other], [-1, -1, -1, -1]),
        ([*named(two, 8), other[0]], [-1, -1, 1]),
        (copy, [0, 0]),
        (later, [0, 0]),
        (two, [0, 1]),
    ):
        assert [digest.identity.rank for digest in without_shared_numbers(found)] == numbers


def test_processes_in_a_directory_called_after_a_rank_are_looked_at_each() -> None:
    (rank,) = named(digests()[:1], 8)
    one, other = (stamped(f"rank8/host_{pid}.2025.pt.trace.json", rank, "2025") for pid in (1, 2))
    assert latest_recordings([one, other]) == ([0, 1], [])


def test_a_rank_of_an_earlier_recording_is_not_taken_for_a_missing_one() -> None:
    def recorded(offset: int) -> list[Digest]:
        return [rank.digest for rank in simulate([Meeting("271", (0, 1, 2, 3), {})], 4, [offset] * 4).ranks]

    later = recorded(30 * 10**9)
    kept, sentences = chosen([*recorded(0), later[0], later[1], later[3]])
    assert kept == [4, 5, 6]
    assert sentences[-1] == ("1 rank is of another recording than the others and not looked at (2.json)")
