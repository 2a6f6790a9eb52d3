"""The viewer of a job: its ranks beside each other on a screen of their own, and each rank's trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tracetui.job.load import FoundRanks, more_recordings
from tracetui.job.same_job import FoundRank
from tracetui.job.sources import Source
from tracetui.job.whatif.answer import NoReplay
from tracetui.job.whatif.durations import UnknownFix
from tracetui.job.whatif.fixes import Fix, FixScope, Target
from tracetui.language import translate
from tracetui.places import SharedPlace
from tracetui.trace.clean import printable
from tracetui.ui.app import CHOOSE_RANK, TraceApp, run_app, run_separate
from tracetui.ui.messages import JobChanged, JobFailed, JobGrew, JobProgress, JobRead
from tracetui.ui.options import ViewerOptions
from tracetui.ui.ranks.job_session import JobSession, read_job
from tracetui.ui.screen_specs import (
    ScreenScope,
    is_joint,
    is_of_scope,
    is_paired,
    joint_mode,
    screen_of_scope,
    screens_of_scope,
)
from tracetui.ui.session import Session
from tracetui.ui.trace_names import name_of_run
from tracetui.ui.viewer import FIRST
from tracetui.units import format_duration, format_error, format_percent

ONLY_DIGEST = "Only the digest of this rank is here: its trace is elsewhere."
RANKS = "ranks"  #: the screen that a job opens at


def is_of_job(screen: str) -> bool:
    """Return whether a screen shows the job rather than one of its ranks."""
    return is_of_scope(screen, ScreenScope.JOB)


class JobApp(TraceApp):
    """The viewer of the ranks that were found, each of which is a session that is read when it is opened."""

    DEFAULT_MODE = joint_mode(RANKS)
    run_directory: Path | None = None  #: one of traces that are of separate runs, more than the ranks found

    def __init__(self, found: FoundRanks, options: ViewerOptions | None = None) -> None:
        options = options or ViewerOptions()
        sessions = [
            Session(source.path, options_of_rank(options, source, rank), name=rank_name(rank))
            for source, rank in zip(found.sources, found.ranks)
        ]
        super().__init__(sessions, options)
        self.job_session = JobSession(found)
        self.run_name = printable(name_of_run([source.path for source in found.sources]), 60)
        self.name_window(self.run_name)
        self._job_screen = RANKS  # the last one shown, which escape in a rank leads back to
        self.add_joint_modes(ScreenScope.JOB, lambda: [self.job_session, self.open_rank])

    def begin(self) -> None:
        """Digest the ranks; their traces are read when they are looked at."""
        self.in_thread(lambda: read_job(self.job_session, self.options, self.post_message))
        if self.options.place is not None:
            self.places.open(self.options.place)

    def session_of_place(self, place: SharedPlace) -> Session | None:
        if is_of_job(place.screen) and place.rank is None:
            return self.sessions[0]
        return next((session for session in self.sessions if self.rank_of(session) == place.rank), None)

    def rank_of(self, session: Session) -> int | None:
        return number_of_found_rank(self.job_session.found.ranks[self.sessions.index(session)])

    def side_of(self, session: Session) -> str:
        return ""

    def full_name(self, session: Session) -> str:
        return translate("{part} of {whole}", part=session.name, whole=self.run_name)

    def line_words(self, session: Session, file: str, line: int, factor: float) -> str:
        job = self.job_session.job
        rank_place = self.job_session.rank_place(self.sessions.index(session))
        if job is None or rank_place < 0 or self.job_session.progress is not None:
            return ""
        number = job.ranks[rank_place].number
        fix = Fix(Target.LINE, file=file, line=line, rank=number, scope=FixScope.ALL)
        if factor > 0:
            fix = replace(fix, scope=None, factor=1 / factor)
        try:
            replays = self.job_session.replays_of(job)
            trial = replays.trial((fix,))
        except (NoReplay, UnknownFix):
            return ""
        return translate(
            "the job gains {time} ({share}) a step, replay off by {error}",
            time=format_duration(max(trial.saves_ns, 0)),
            share=format_percent(max(trial.saves_ns, 0), replays.step_ns),
            error=format_error(replays.error),
        )

    def has_screen(self, screen: str) -> bool:
        return is_of_job(screen) or super().has_screen(screen)

    def action_go(self, screen: str) -> None:
        screen = screen_of_scope(screen, self.shown)
        if is_of_job(screen):
            if self.shown != screen:
                self.look_at(self.session)
                self.switch_mode(joint_mode(screen))
                self._job_screen = screen
                self.name_window(self.run_name)
        elif is_of_job(self.shown):
            self._leave_job(screen)
        else:
            super().action_go(screen)

    def _leave_job(self, screen: str) -> None:
        """Show a screen of the rank that the map points at; of the last one where nobody has moved since."""
        chosen = self.front.pointed_at
        if chosen is None and not self.session.is_open:
            self.show_status(CHOOSE_RANK)
        elif chosen is None:
            super().action_go(screen)
        elif not is_paired(screen):
            self.open_rank(chosen.rank, chosen.start_ns, chosen.end_ns, screen)
        else:
            place = self.job_session.source_of(chosen.rank)
            if self.job_session.can_open(place):
                self.look_at(self.sessions[place])
            super().action_go(screen)

    def _tell_job(self) -> None:
        for spec in screens_of_scope(ScreenScope.JOB):
            self.tell_joint(spec.name, JobChanged)

    def on_job_progress(self, message: JobProgress) -> None:
        self.job_session.progress = message.progress
        self._tell_job()

    def on_job_grew(self, message: JobGrew) -> None:
        self.job_session.job = message.job
        self._tell_job()

    def on_job_read(self, message: JobRead) -> None:
        self.job_session.job, self.job_session.progress = message.job, None
        self._tell_job()

    def on_job_failed(self, message: JobFailed) -> None:
        self.job_session.problem, self.job_session.progress = message.sentence, None
        self._tell_job()
        paths = [Path(path) for path in self.options.paths]
        if message.separate_runs and more_recordings(paths, self.job_session.found):
            self.run_directory = paths[0]
            self.leave(0)
        elif len(self.sessions) > 1:
            self.action_sessions()

    def open_rank(self, rank: int, start_ns: int, end_ns: int, screen: str = FIRST) -> None:
        """Show a screen of a rank (its place in the job), which looks at a time on its clock."""
        place = self.job_session.source_of(rank)
        if not self.job_session.can_open(place):
            self.show_status(ONLY_DIGEST)
            return
        self.show_session(self.sessions[place], screen, (start_ns, end_ns))

    def action_session(self, by: int) -> None:
        """Show the next rank, at the same place: what happened there at the same time."""
        job = self.job_session.job
        if is_of_job(self.shown) or job is None:
            return
        rank_place = self.job_session.rank_place(self.sessions.index(self.session))
        if rank_place < 0 or is_joint(self.shown):
            super().action_session(by)
            return
        session = self.job_session
        candidates = ((rank_place + by * step) % len(job.ranks) for step in range(1, len(job.ranks)))
        other = next((place for place in candidates if session.can_open(session.source_of(place))), None)
        if other is None:
            self.show_status("No trace of another rank is here.")
            return
        viewport = self.session.state.viewport
        start = session.moved_to(rank_place, other, viewport.start_ns)
        shown = self.sessions[session.source_of(other)]
        self.show_session(shown, span=(start, start + viewport.span_ns))

    async def action_back(self) -> None:
        """Stop the digesting on the screen of the ranks; go back to it from the job's others.

        A rank goes back to the screen of the job that was last shown.
        """
        if self.shown == RANKS:
            self.job_session.stop_reading()
        elif is_of_job(self.shown):
            self.action_go(RANKS)
        elif self.shown != FIRST:
            self.action_go(FIRST)
        elif not self.front.step_back() and not self.session.stop_loading():
            self.action_go(self._job_screen)

    def leave(self, code: int) -> None:
        self.job_session.stopping = self.job_session.leaving = True
        super().leave(code)


def number_of_found_rank(rank: FoundRank) -> int | None:
    """Return the number of a rank; None where nothing tells it."""
    return rank.identity.rank if rank.identity.rank >= 0 else None


def options_of_rank(options: ViewerOptions, source: Source, rank: FoundRank) -> ViewerOptions:
    """Return how to open the trace of a rank: with the recording of the scheduler that is its own."""
    if options.scheduler is None:
        return options
    identity = rank.identity
    return replace(options, scheduler=options.scheduler.of_rank(source.path, identity.rank, identity.host))


def rank_name(rank: FoundRank) -> str:
    """Return "rank 2", with its host where it is known; without a number the name of its directory."""
    identity = rank.identity
    if identity.rank < 0:
        return rank.name
    return f"rank {identity.rank}" + (f" {identity.host}" if identity.host else "")


def run_job(found: FoundRanks, options: ViewerOptions) -> int:
    """Open the viewer on the ranks that were found until the user leaves; the exit code of the program.

    Where no two of them are of one job, it goes on with the list of all traces of their directory.
    """
    app = JobApp(found, options)
    code = run_app(app)
    return code if app.run_directory is None else run_separate(app.run_directory, options)
