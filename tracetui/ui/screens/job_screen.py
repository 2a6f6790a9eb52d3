"""What the screens of a job share that are tables: they are made in a thread, once its ranks are read."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from textual import on
from textual.message import Message

from tracetui.job.job import Job
from tracetui.job.whatif.answer import NoReplay
from tracetui.language import translate
from tracetui.ui.ranks.job_messages import JobChanged
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session

Answer = TypeVar("Answer")


class JobScreen(TableScreen, Generic[Answer]):
    """A table of a job under what it says; `find` is called in a thread."""

    @dataclass
    class Found(Message, bubble=False):
        """What `find` found of a job; a sentence where it found nothing."""

        job: Job
        answer: object
        sentence: str = ""

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session)
        self.job_session, self.open_rank = job_session, open_rank
        self._asked: Job | None = None  # the job that a thread looks at, or has looked at
        self._found: JobScreen.Found | None = None

    @property
    def answer(self) -> Answer | None:
        """What was found of the job; None until then, and where it was nothing."""
        return None if self._found is None else cast("Answer | None", self._found.answer)

    @property
    def unanswered(self) -> str:
        return self.job_session.unanswered_of_all

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        return (("R", "ranks"), ("?", "keys"), ("q", "quit"))

    def on_job_changed(self, message: JobChanged) -> None:
        self.refresh_answer()

    @abstractmethod
    def find(self, job: Job) -> Answer:
        """Return what the screen is about; may raise NoReplay."""

    @abstractmethod
    def show_found(self, job: Job, answer: Answer) -> None:
        """Show what was found."""

    def build(self) -> None:
        job = self.job_session.job
        assert job is not None
        if self._found is not None and self._found.job is job:
            self._show(self._found)
        elif self._asked is not job:
            self._asked = job
            self.missing(translate("Replaying the job."))
            self.in_background("find", lambda: self._find(job))

    def _find(self, job: Job) -> Found:
        try:
            return self.Found(job, self.find(job))
        except NoReplay as problem:
            return self.Found(job, None, translate("The job cannot be replayed: {why}.", why=str(problem)))

    @on(Found)
    def _take_found(self, found: Found) -> None:
        if found.job is self._asked:
            self._found = found
            self.refresh_answer()

    def _show(self, found: Found) -> None:
        if found.sentence:
            self.nothing(found.sentence)
        else:
            self.show_found(found.job, cast(Answer, found.answer))
