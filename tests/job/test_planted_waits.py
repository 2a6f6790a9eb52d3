"""What a digest says of its own collectives is what the simulation of the whole job knows."""

from __future__ import annotations

import pytest

from simulator.job.simulation import Meeting
from tests.job.planted import digests, truth, whole
from tracetui.analysis.communication.waits import SHORTEST

NOTIFIED_NS = 15_000  #: from a rank's arrival until its peers know


def meetings(name: str, rank: int) -> dict[int, Meeting]:
    """The collectives of a rank by when they begin on its clock."""
    outcome = truth(name).outcome
    return {
        meeting.begins[meeting.ranks.index(rank)] + outcome.job.offset(rank): meeting
        for meeting in outcome.meetings
        if rank in meeting.ranks
    }


@pytest.mark.parametrize("name", ["both", "link", "stage", "hosts", *whole("both", "stage")])
def test_each_rank_by_itself_knows_for_whom_it_waited(name: str) -> None:
    late = 0
    for digest in digests(name):
        rank, collectives = digest.identity.rank, digest.collectives
        met = meetings(name, rank)
        assert collectives.start.tolist() == sorted(met)
        for start, wait, peer in zip(
            collectives.start.tolist(), collectives.wait.tolist(), collectives.peer.tolist()
        ):
            meeting = met[start]
            planted = meeting.wait(rank)
            if wait:
                assert 0 <= wait - planted <= NOTIFIED_NS
                assert meeting.ranks[peer] == meeting.last
                late += 1
            else:
                assert planted < SHORTEST
    assert late >= 6


def test_without_planes_no_wait_is_made_up() -> None:
    for digest in digests("hosts", level=0):
        assert not digest.collectives.known.any()
        assert not digest.collectives.wait.any()
        assert len(digest.collectives) == 18


def test_a_digest_knows_its_rank_host_and_groups() -> None:
    job = truth("stage").outcome.job
    for rank, digest in enumerate(digests("stage")):
        assert (digest.identity.rank, digest.identity.host, digest.identity.world) == (rank, "node00", 4)
        groups = sorted((group.name, group.global_ranks, group.rank) for group in digest.groups)
        assert groups == sorted((one.role, one.ranks, one.rank) for one in job.layout.groups(rank))
