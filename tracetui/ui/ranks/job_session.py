"""A job as the viewer has it: which ranks were found, those that are digested, and what follows from them.

Knows no screen and no app: the thread that digests the ranks posts messages through a function. The first
answer is there as soon as two ranks are digested, and grows.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

import numpy as np

from tracetui.job.cached_digest import DigestResult
from tracetui.job.engines.digest_pool import DigestProgress, digest_all
from tracetui.job.job import Job
from tracetui.job.load import FoundRanks, join
from tracetui.job.whatif.answer import Replays
from tracetui.job.whatif.fixes import Fix
from tracetui.language import restate, translate
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.ui.loading import Post
from tracetui.ui.messages import JobFailed, JobGrew, JobProgress, JobRead
from tracetui.ui.options import ViewerOptions
from tracetui.ui.trace_names import run_name_for_file
from tracetui.units import format_bytes

#: Shows the trace of a rank, by its place in the job, from one ns to another of its clock.
RankOpener = Callable[[int, int, int], None]


class JobSession:
    """One job, from the moment that its ranks are found."""

    def __init__(self, found: FoundRanks) -> None:
        self.found = found
        self._sources = {str(source.path): place for place, source in enumerate(found.sources)}
        self.job: Job | None = None  #: of the ranks digested so far
        self.progress: DigestProgress | None = None  #: None where nothing is being read
        self.problem = ""  #: why there is no job
        self.stopping = False  #: no more ranks are to be digested
        self.leaving = False  #: nobody waits for an answer any more
        self.fixes: list[Fix] = []  #: that are tried together
        self._replays: Replays | None = None
        self._replaying = Lock()

    @property
    def name_for_file(self) -> str:
        """How a file begins that is made of the job."""
        return run_name_for_file([source.path for source in self.found.sources])

    def replays_of(self, job: Job) -> Replays:
        """Return the replays of a job, made once; from threads. Raises NoReplay where there is nothing."""
        with self._replaying:
            if self._replays is None or self._replays.order.job is not job:
                self._replays = None  # it may be large
                self._replays = Replays(job)
            return self._replays

    def try_fix(self, fix: Fix) -> None:
        """Try a fix together with those before, or no longer."""
        if fix in self.fixes:
            self.fixes.remove(fix)
        else:
            self.fixes.append(fix)

    def stop_reading(self) -> bool:
        """Stop the digesting, keeping what is done; False where nothing was there to stop."""
        running = self.progress is not None and not self.stopping
        self.stopping = self.stopping or running
        return running

    @property
    def unanswered(self) -> str:
        """Why there is no job yet."""
        if self.progress is not None:
            return translate("Waiting for two ranks.")  # how far they are read is said beside it
        return self.problem or translate("Looking at the ranks.")

    @property
    def unanswered_of_all(self) -> str:
        """Why there is no job of all ranks yet; "" where there is."""
        if self.job is None:
            return self.unanswered
        if self.progress is not None:
            return translate("Waiting for all ranks: {reading}.", reading=self.reading)
        return ""

    @property
    def reading(self) -> str:
        """What is being read: "ranks: 3 of 8, 41 % of 9.6 GB"; "" where nothing is."""
        progress = self.progress
        if progress is None:
            return ""
        share = 100 * progress.done_bytes // max(progress.total_bytes, 1)
        return translate(
            "ranks: {done} of {total}, {share} % of {size}",
            done=progress.done,
            total=progress.total,
            share=share,
            size=format_bytes(progress.total_bytes),
        )

    @property
    def unread(self) -> frozenset[int]:
        """The numbers of ranks that were found and are not read, yet or for good; -1 for those without a
        number.
        """
        if self.progress is None and not self.stopping:
            return frozenset()
        here = {rank.path for rank in self.job.ranks} if self.job is not None else set()
        return frozenset(
            rank.identity.rank
            for source, rank in zip(self.found.sources, self.found.ranks)
            if str(source.path) not in here
        )

    def can_open(self, place: int) -> bool:
        """Return whether the trace of a rank that was found is here, not only its digest."""
        return place not in self.found.digests

    def source_of(self, rank: int) -> int:
        """Return the place among those found of a rank, by its place in the job."""
        assert self.job is not None
        return self._sources[self.job.ranks[rank].path]

    def rank_place(self, source: int) -> int:
        """Return the place in the job of what was found, -1 where it is not part of it."""
        if self.job is None:
            return -1
        path = str(self.found.sources[source].path)
        return next((place for place, rank in enumerate(self.job.ranks) if rank.path == path), -1)

    def moved_to(self, rank: int, other: int, time_ns: int) -> int:
        """Convert a time on the clock of one rank to that of another one.

        Ranks that are not aligned are taken to have begun the same step at once, or their recording.
        """
        assert self.job is not None
        clocks, ranks = self.job.clocks, self.job.ranks
        if clocks.family[rank] == clocks.family[other]:
            return time_ns + int(clocks.offset[other] - clocks.offset[rank])
        digest, other_digest = ranks[rank].digest, ranks[other].digest
        steps = digest.steps.at((digest.steps.start <= time_ns) & (time_ns < digest.steps.end))
        there = other_digest.steps.at(np.isin(other_digest.steps.number, steps.number))
        if len(there):
            began = steps.start[steps.number == there.number[0]]
            return int(there.start[0] - began[0]) + time_ns
        return other_digest.start + time_ns - digest.start


EVERY_S = 0.2  #: between two progress lines
_SHARE = 0.2  # at most so much of the time goes into answers that others will follow


def read_job(session: JobSession, options: ViewerOptions, post: Post) -> None:
    """Digest the ranks of a job, posting progress and the job so far; JobFailed where none can be read."""
    watch = _JobWatch(session, post, options.all_steps)
    found = session.found
    traces = [place for place in range(len(found.sources)) if session.can_open(place)]
    try:
        digest_all(
            [found.sources[place].path for place in traces],
            watch.progress,
            lambda number, result: watch.result(traces[number], result),
            lambda: session.stopping,
            options.cache,
            options.jobs,
            options.scheduler,
        )
        post(JobRead(watch.job()))
    except (UnreadableTrace, MemoryError, OSError) as error:
        separate_runs = isinstance(error, UnreadableTrace) and error.reason is Reason.DIRECTORY
        post(
            JobFailed(restate(plain(str(error))) or "There is not enough memory for the job.", separate_runs)
        )


class _JobWatch:
    """Decides when progress is worth a line, and when an answer."""

    def __init__(self, session: JobSession, post: Post, all_steps: bool) -> None:
        self.made: dict[int, DigestResult] = {}
        self._session, self._post, self._all_steps = session, post, all_steps
        self._next_line = self._next_answer = 0.0

    def progress(self, ranks: DigestProgress) -> None:
        now = time.monotonic()
        if now >= self._next_line or ranks.done == ranks.total:
            self._next_line = now + EVERY_S
            self._post(JobProgress(ranks))

    def result(self, place: int, result: DigestResult) -> None:
        self.made[place] = result
        now, found = time.monotonic(), self._session.found
        known = len(found.digests) + sum(isinstance(made, bytes) for made in self.made.values())
        if known < 2 or now < self._next_answer or len(self.made) + len(found.digests) == len(found.sources):
            return
        with contextlib.suppress(UnreadableTrace):  # no two of those so far are of one job
            self._post(JobGrew(self.job()))
        self._next_answer = time.monotonic() + (time.monotonic() - now) / _SHARE

    def job(self) -> Job:
        """Return the job of the ranks so far; what its first screen wants is made, which may take seconds."""
        job = replace(join(self._session.found, self.made), all_steps=self._all_steps)
        _ = job.waits, job.root_breakdown, job.steps
        return job
