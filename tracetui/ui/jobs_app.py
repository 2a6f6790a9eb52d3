"""The viewer of two jobs: their comparison, and the traces of their ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tracetui.comparison.comparison import Comparison
from tracetui.job.compare_jobs import Incomparable, compare_jobs
from tracetui.job.engines.digest_pool import DigestProgress
from tracetui.job.job import Job
from tracetui.job.load import FoundRanks, load_ranks
from tracetui.language import restate, translate, wording
from tracetui.places import SIDES, SharedPlace
from tracetui.reader.errors import UnreadableTrace
from tracetui.trace.clean import printable
from tracetui.ui.app import TraceApp, run_app
from tracetui.ui.comparing.comparing import COMPARE, Comparing
from tracetui.ui.comparing.pair import ComparedPair, Runs
from tracetui.ui.failures import Refusal
from tracetui.ui.job_app import ONLY_DIGEST, number_of_found_rank, rank_name
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import (
    ScreenScope,
    is_joint,
    is_of_scope,
    is_paired,
    joint_mode,
    screen_of_scope,
)
from tracetui.ui.session import Session
from tracetui.ui.trace_names import names_of
from tracetui.ui.viewer import Viewer
from tracetui.units import format_bytes

_EVERY_S = 0.2  #: between two progress lines


class JobsPair(ComparedPair):
    """Two jobs, and of each the rank that is looked at."""

    def __init__(
        self,
        paths: tuple[Path, Path],
        ranks: tuple[int, int],
        options: ViewerOptions,
        on_progress: Callable[[], object],
    ) -> None:
        super().__init__(*ranks)
        self.paths, self.stopping = paths, False
        self._options, self._on_progress = options, on_progress
        self._next_line = 0.0

    def names(self, sessions: Sequence[Session]) -> tuple[str, str]:
        base, other = (printable(str(path)) for path in self.paths)
        return base, other

    def unanswered(self, sessions: Sequence[Session]) -> str:
        return ""

    def compare(self, sessions: Sequence[Session], runs: Runs) -> Comparison:
        """Digest both jobs, and compare them. Raises Refusal."""
        try:
            base, other = (self._load(place) for place in (0, 1))
            return compare_jobs(base, other, (str(self.paths[0]), str(self.paths[1])))
        except (UnreadableTrace, Incomparable, OSError) as error:
            raise Refusal(printable(restate(str(error)), 200)) from None

    def _load(self, place: int) -> Job:
        def tell(ranks: DigestProgress) -> None:
            if time.monotonic() >= self._next_line:
                self._next_line = time.monotonic() + _EVERY_S
                share = 100 * ranks.done_bytes // max(ranks.total_bytes, 1)
                size = format_bytes(ranks.total_bytes)
                self.reading = translate(
                    "{name}: ranks: {done} of {total}, {share} % of {size}.",
                    name=("BASE", "OTHER")[place],
                    done=ranks.done,
                    total=ranks.total,
                    share=share,
                    size=size,
                )
                self._on_progress()

        options = self._options
        return load_ranks([self.paths[place]], "*", tell, lambda: self.stopping, options.cache, options.jobs)


def same_rank(ranks: Sequence[int], first_of_other: int, place: int) -> tuple[int, int]:
    """Return the places of a rank in BASE and in OTHER, by its place in one; else of the first of the other.

    ranks : numbers of the ranks of both jobs, those of OTHER from `first_of_other` on; -1 for unknown.
    """
    in_base = place < first_of_other
    candidates = range(first_of_other, len(ranks)) if in_base else range(first_of_other)
    same = (other for other in candidates if ranks[other] == ranks[place] >= 0)
    partner = next(same, candidates[0])
    return (place, partner) if in_base else (partner, place)


class ComparingJobs(Comparing):
    """Compares two jobs, and looks at the same rank of both."""

    def __init__(self, viewer: Viewer, jobs: JobsPair, ranks: Sequence[int], first_of_other: int) -> None:
        super().__init__(viewer)
        self.pair = self._jobs = jobs
        self._ranks, self._first_of_other = ranks, first_of_other

    def last_two(self) -> tuple[int, int]:
        """Return the rank that is looked at, and the same one of the other job."""
        place = self.viewer.sessions.index(self.viewer.session)
        return same_rank(self._ranks, self._first_of_other, place)

    def choose(self, base: int, other: int) -> None:
        """Look at another rank of both; what is compared are the jobs."""
        self._jobs.base, self._jobs.other = base, other
        self.tell()


class JobsApp(TraceApp):
    """The viewer of two jobs, whose ranks are sessions that are read when they are opened."""

    DEFAULT_MODE = joint_mode(COMPARE)

    def __init__(
        self,
        paths: tuple[Path, Path],
        found: tuple[FoundRanks, FoundRanks],
        options: ViewerOptions | None = None,
    ) -> None:
        options = options or ViewerOptions()
        names = names_of(paths)
        super().__init__(
            [
                Session(source.path, options, name=f"{printable(name, 60)} {rank_name(rank)}")
                for name, job in zip(names, found)
                for source, rank in zip(job.sources, job.ranks)
            ],
            options,
        )
        first_of_other = len(found[0].sources)
        self._numbers = [number_of_found_rank(rank) for job in found for rank in job.ranks]
        self._first_of_other = first_of_other
        ranks = [rank.identity.rank for job in found for rank in job.ranks]
        self.jobs = JobsPair(
            paths, same_rank(ranks, first_of_other, 0), options, lambda: self.call_later(self.comparing.tell)
        )
        self.comparing = ComparingJobs(self, self.jobs, ranks, first_of_other)
        self._digests = {
            place + start
            for start, job in ((0, found[0]), (first_of_other, found[1]))
            for place in job.digests
        }
        self.name_window(" and ".join(names))

    def begin(self) -> None:
        """Show the comparison, which has both jobs digested; traces are read when they are looked at."""
        if self.options.place is not None:
            self.places.open(self.options.place)

    def session_of_place(self, place: SharedPlace) -> Session | None:
        of_job = [session for session in self.sessions if self.side_of(session) == (place.side or SIDES[0])]
        same = (session for session in of_job if self.rank_of(session) == place.rank)
        return next(same, of_job[0] if place.rank is None else None)

    def rank_of(self, session: Session) -> int | None:
        return self._numbers[self.sessions.index(session)]

    def side_of(self, session: Session) -> str:
        return SIDES[self.sessions.index(session) >= self._first_of_other]

    def action_go(self, screen: str) -> None:
        screen = screen_of_scope(screen, self.shown)
        if is_of_scope(screen, ScreenScope.JOB):
            template = "Two jobs have no {screen} of both: tracetui on one of them shows it."
            self.show_status(translate(template, screen=wording(screen)))
        elif is_joint(self.shown) and not is_paired(screen) and not self.session.is_open:
            self.show_session(self.session, screen)
        else:
            super().action_go(screen)

    def show_session(self, session: Session, screen: str = "", span: tuple[int, int] | None = None) -> None:
        if self.sessions.index(session) in self._digests:
            self.show_status(ONLY_DIGEST)
        else:
            super().show_session(session, screen, span)

    def leave(self, code: int) -> None:
        self.jobs.stopping = True
        super().leave(code)


def run_jobs(paths: tuple[Path, Path], found: tuple[FoundRanks, FoundRanks], options: ViewerOptions) -> int:
    """Open the viewer on two jobs until the user leaves; the exit code of the program."""
    return run_app(JobsApp(paths, found, options))
