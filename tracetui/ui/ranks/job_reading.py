"""Digesting the ranks of a job in a thread: what it yields are messages, posted through a function.

The first answer is there as soon as two ranks are digested, and grows.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace

from textual.message import Message

from tracetui.job.cached_digest import DigestResult
from tracetui.job.engines.digest_pool import DigestProgress, digest_all
from tracetui.job.job import Job
from tracetui.job.load import join
from tracetui.language import restate
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.ui.messages import JobFailed, JobGrew, JobProgress, JobRead
from tracetui.ui.options import ViewerOptions
from tracetui.ui.ranks.job_session import JobSession

EVERY_S = 0.2  #: between two progress lines
_SHARE = 0.2  # at most so much of the time goes into answers that others will follow

Post = Callable[[Message], object]


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
