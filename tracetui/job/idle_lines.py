"""The lines of Python that the devices of a job were idle for: every rank's problem, or one's?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import NO_LINE, Digest, DigestLine, TimeClass
from tracetui.job.job import Job

#: Percent of what the worst rank loses to a line, from which on another one has the same problem.
ALIKE = 50


@dataclass(frozen=True, eq=False)
class JobLine:
    """A line, and the idle time of all ranks that is charged to it."""

    line: DigestLine | None  #: None: what no line is charged with
    causes: dict[str, int]  #: ns by cause, "" where nothing tells; most first
    by_rank: Int64s  #: int64[ranks]: ns by place in the job

    @cached_property
    def idle_ns(self) -> int:
        """Of all ranks."""
        return int(self.by_rank.sum())

    @property
    def worst(self) -> int:
        """The place of the rank that loses most."""
        return int(self.by_rank.argmax())

    @property
    def affected(self) -> tuple[int, ...]:
        """Return the places of the ranks that lose at least `ALIKE` percent of what the worst one does."""
        return tuple(np.flatnonzero(self.by_rank * 100 >= self.by_rank.max() * ALIKE).tolist())


def job_lines(job: Job, step: int | None = None) -> tuple[JobLine, ...]:
    """Return the lines of all ranks by idle time, most first; of all recorded time, or of one step.

    A step counts from the end of the one before it on the device, so that steps sum to the whole.
    """
    by_line: dict[DigestLine | None, Int64s] = {}
    causes: dict[DigestLine | None, dict[str, int]] = {}
    for place, rank in enumerate(job.ranks):
        digest = rank.digest
        total = digest.by_key if step is None else _ns_in_step(rank, step)
        for key in np.flatnonzero((digest.keys.time_class == TimeClass.IDLE) & (total > 0)).tolist():
            line_place = int(digest.keys.line[key])
            line = digest.lines[line_place] if line_place >= 0 else None
            if line not in by_line:
                by_line[line], causes[line] = np.zeros(len(job.ranks), np.int64), {}
            cause, ns = digest.text(int(digest.keys.reason[key])), int(total[key])
            by_line[line][place] += ns
            causes[line][cause] = causes[line].get(cause, 0) + ns
    job_lines_found = [
        JobLine(line, dict(sorted(causes[line].items(), key=lambda cause: (-cause[1], cause[0]))), ns_by_rank)
        for line, ns_by_rank in by_line.items()
    ]
    return tuple(sorted(job_lines_found, key=lambda found: (-found.idle_ns, found.line or NO_LINE)))


def _ns_in_step(rank: Rank, step: int) -> Int64s:
    """Return int64[keys]: ns of each key in a step of a rank; 0 where it has no such step."""
    digest = rank.digest
    total = np.zeros(len(digest.keys), np.int64)
    in_step = step_of_segments(digest)[digest.cells.segment] == step
    np.add.at(total, digest.cells.key[in_step], digest.cells.ns[in_step])
    return total


def step_of_segments(digest: Digest) -> Int64s:
    """Return int64[segments]: the number of the step that each segment counts in, -1 where there are none.

    Segment s is from boundary s to the next one. A step counts from the end of the one before it.
    """
    segments = np.arange(max(len(digest.boundaries) - 1, 0))
    order = np.argsort(digest.steps.start, kind="stable")
    if not len(order):
        return np.full(len(segments), -1, np.int64)
    ends = np.searchsorted(digest.boundaries, np.maximum.accumulate(digest.steps.end[order])[:-1])
    return digest.steps.number[order][np.searchsorted(ends, segments, "right")]
