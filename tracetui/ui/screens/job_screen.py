"""What the screens of a job share that are tables: they are made in a thread, once its ranks are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual import on
from textual.widget import Widget

from tracetui.export.tables.column import Table
from tracetui.export.tables.job import JobRows
from tracetui.job.job import Job
from tracetui.job.whatif.answer import NoReplay
from tracetui.language import restate, translate
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.ranks.rank_view import RankPlace
from tracetui.ui.screens.table_screen import PlacedTable, TableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.layout import ColumnPlace, laid_out
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget

if TYPE_CHECKING:
    import pandas as pd

    from tracetui.arrays import Int64s

Answer = TypeVar("Answer")


class JobTableKeys(PlacedTable):
    """The actions of a table that is of a job, by whose name it is exported."""

    job_session: JobSession

    @property
    def exported_subject(self) -> str:
        return self.job_session.name_for_file

    @property
    def unanswered(self) -> str:
        return self.job_session.unanswered_of_all

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        return (("R", "ranks"), ("q", "quit"))

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.data_frame import small_frame

        assert self.contents is not None
        frame: pd.DataFrame = small_frame(*self.contents).take(view)
        return frame


class JobScreen(JobTableKeys, TableScreen, Generic[Answer]):
    """A table of a job under what it says; `find` is called in a thread."""

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session)
        self.job_session, self.open_rank = job_session, open_rank
        self._asked: Job | None = None  # the job that a thread looks at, or has looked at
        self._found: tuple[Job, Answer | str] | None = None  # what `find` returned of a job

    @property
    def answer(self) -> Answer | None:
        """What was found of the job; None until then, and where it was nothing."""
        if self._found is None or isinstance(self._found[1], str):
            return None
        return self._found[1]

    @abstractmethod
    def find(self, job: Job) -> Answer | str:
        """Return what the screen is about, or a sentence where it is nothing; may raise NoReplay."""

    @abstractmethod
    def show_found(self, job: Job, answer: Answer) -> None:
        """Show what was found."""

    def build(self) -> None:
        job = self.job_session.job
        assert job is not None
        if self._found is not None and self._found[0] is job:
            answer = self._found[1]
            if isinstance(answer, str):
                self.show_nothing(answer)
            else:
                self.show_found(job, answer)
        elif self._asked is not job:
            self._asked = job
            self.clear(translate("Replaying the job."))
            self.in_background("find", lambda: self._find(job), self._take_found)

    def _find(self, job: Job) -> tuple[Job, Answer | str]:
        try:
            return job, self.find(job)
        except NoReplay as problem:
            return job, translate("The job cannot be replayed: {why}.", why=restate(str(problem)))

    def _take_found(self, found: tuple[Job, Answer | str]) -> None:
        if found[0] is self._asked:
            self._found = found
            self.refresh_answer()


class JobTableScreen(JobScreen[Answer]):
    """What is found of a job in sentences above its table; below it, more of the row at the cursor."""

    TABLE: ClassVar[Table[Any]]

    def body(self) -> Iterable[Widget]:
        yield Lines(id="said")
        yield from super().body()

    @abstractmethod
    def rows_of(self, answer: Answer) -> JobRows:
        """Return the rows of the table."""

    @abstractmethod
    def column_places(self) -> Sequence[ColumnPlace]:
        """Return the columns, in their order."""

    @abstractmethod
    def saving(self, answer: Answer) -> str:
        """Return what evenly spread work would save; "" where that is not known."""

    @abstractmethod
    def sentences(self, answer: Answer) -> list[str]:
        """Return what stands above the table; where it has no rows, why."""

    @abstractmethod
    def place_of(self, job: Job, answer: Answer, row: int) -> RankPlace:
        """Return the rank, and the time in it, that a row speaks of most."""

    @abstractmethod
    def draw_row(self, answer: Answer, row: int) -> None:
        """Draw what is below the table, of a row that it has."""

    def show_found(self, job: Job, answer: Answer) -> None:
        rows = self.rows_of(answer)
        if not rows.rows:
            self.show_nothing(self.sentences(answer)[0])
            return
        self.table.show(laid_out(self.TABLE, rows, self.column_places()), len(rows.rows))
        self._say(answer)
        self._draw()

    def on_resize(self) -> None:
        if self.answer is not None and self.table.rows.length:
            self._say(self.answer)
            self.call_after_refresh(self._draw)

    def _say(self, answer: Answer) -> None:
        """Say what is saved in the first line, and the rest below it."""
        self.show_answer(self.saving(answer))
        self.say_below(self.sentences(answer))

    @on(TableWidget.Moved)
    def _draw(self) -> None:
        answer, row = self.answer, self.table.cursor_row
        if answer is not None and 0 <= row < len(self.rows_of(answer).rows):
            self.draw_row(answer, row)

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        """Open the trace of the rank that the row speaks of, at its time."""
        if self._found is not None and self.answer is not None:
            self.open_rank(*self.place_of(self._found[0], self.answer, message.row))

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self.answer is None else (self.TABLE, self.rows_of(self.answer))
