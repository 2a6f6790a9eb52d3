"""What must be known to read the numbers of a job: what was left out, what differs, what are bounds only."""

from __future__ import annotations

from tracetui.comparison.job_part import JobDoubts, SequenceDifference, ShiftedClock
from tracetui.job.digest import MOST_RANKS, Digest
from tracetui.job.job import Job

#: ns by which clocks of two hosts, and of one or of hosts not known, may be apart without a word.
_BETWEEN_HOSTS, _ON_ONE_HOST = 1_000_000_000, 10_000_000


def _longest_shift(one: Digest, other: Digest) -> int:
    hosts = {one.identity.host, other.identity.host} - {""}
    return _BETWEEN_HOSTS if len(hosts) > 1 else _ON_ONE_HOST


def find_doubts(job: Job) -> JobDoubts:
    """Return what must be known to read the numbers of a job."""
    worlds = {rank.digest.identity.world for rank in job.ranks}
    levels = {str(rank.digest.identity.options.get("profiler_level", "")) for rank in job.ranks} - {""}
    numbers = [rank.number for rank in job.ranks]
    clocks = list(zip(numbers, job.clocks.offset.tolist(), job.clocks.family.tolist()))
    first_family = clocks[0][2] if clocks else -1
    differences = (difference for matched in job.channels for difference in matched.differences)
    return JobDoubts(
        remarks=job.remarks,
        unbelieved_worlds=tuple(sorted(world for world in worlds if world > MOST_RANKS)),
        profiler_levels=tuple(sorted(levels)) if len(levels) > 1 else (),
        unaligned=tuple(number for number, _, family in clocks if family != first_family),
        lowest=numbers[0] if numbers else -1,
        shifted=tuple(
            ShiftedClock(number, offset, numbers[family])
            for place, (number, offset, family) in enumerate(clocks)
            if abs(offset) > _longest_shift(job.ranks[family].digest, job.ranks[place].digest)
        ),
        differences=tuple(
            SequenceDifference(
                numbers[found.rank], found.group, found.position, found.step, found.ran, found.elsewhere
            )
            for found in differences
        ),
        strangers=job.strangers,
        is_split=job.clocks.parts > 1,
        disagreeing=job.wait_notes.disagree,
        residual_ns=job.clocks.residual_ns,
        lower_bounds=job.wait_notes.bounds,
        without_peer=job.without_peer,
    )
