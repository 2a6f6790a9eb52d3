"""The phases of a job: the ranges that people mark, over all ranks, and what each of them consists of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tracetui.export.job.phases import phase_rows, phases_sentences
from tracetui.export.tables.column import Table
from tracetui.export.tables.phases import PHASES, PhaseRows
from tracetui.job.job import Job
from tracetui.job.phases import Phase
from tracetui.language import names, translate
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.job_screen import JobScreen
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_error, format_percent

if TYPE_CHECKING:
    import pandas as pd

    from tracetui.arrays import Int64s

_MOST_CAUSES, _MOST_RANKS = 4, 4


class PhasesScreen(JobScreen[PhaseRows]):
    """The table of phases above the causes of idle time, and the longest ranges, of the one at the cursor."""

    DEFAULT_CSS = """
    PhasesScreen #story { height: 5; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("phases")]
    TITLE_OF = "Phases"
    KEYS = (("e", "export"), ("R", "ranks"), ("S", "what if"), ("?", "keys"))

    def body(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="said")
        yield from super().body()

    def below(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="story")

    def find(self, job: Job) -> PhaseRows:
        return phase_rows(job, self.job_session.replays_of)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        for lines in self.query("#said, #story").results(Lines):
            lines.show([])

    def show_found(self, job: Job, answer: PhaseRows) -> None:
        if not answer.rows:
            self.nothing(phases_sentences(answer)[0])
            return
        layout = (
            ColumnLook("name", 0, width=32, least=12),
            ColumnLook("saves_ns", 0, style=self.style_of(Role.GOOD)),
            ColumnLook("mean_ns", 0),
            ColumnLook("waits_ns", 1, style=self.style_of(Role.WAITING)),
            ColumnLook("waits_for", 1, width=20, least=8),
            ColumnLook("computing_ns", 2),
            ColumnLook("exposed_communication_ns", 3),
            ColumnLook("idle_ns", 2, style=self.style_of(Role.IDLE)),
            ColumnLook("spread", 4),
            ColumnLook("count", 5),
            ...,
        )
        self.table.show(laid_out(PHASES, answer, layout), len(answer.rows))
        self._say()
        self._tell()

    def on_resize(self) -> None:
        if self.answer is not None and self.answer.rows:
            self._say()
            self.call_after_refresh(self._tell)

    def _say(self) -> None:
        """Say what equal ranks would save in the first line, and the rest below it."""
        assert self.answer is not None
        rows = self.answer
        best = max(rows.saves, key=lambda name: rows.saves[name], default=None)
        saved = ""
        if best is not None:
            saved = translate(
                "{phase}: equal ranks save {share} of a step; replay off by {error}",
                phase=printable(best, 40),
                share=format_percent(rows.saves[best], rows.step_ns),
                error=format_error(rows.error),
            )
        self.show_answer(saved, self.place())
        self.say_below(phases_sentences(rows))

    @on(TableWidget.Moved)
    def _moved(self) -> None:
        self._tell()

    def _tell(self) -> None:
        """Tell what the phase at the cursor is idle for, and on which ranks it is longest."""
        answer, row = self.answer, self.table.row
        if answer is None or not 0 <= row < len(answer.rows):
            return
        phase: Phase = answer.rows[row]
        title = [(printable(phase.name, 60), self.style_of(Role.TITLE))]
        causes = names(
            f"{printable(cause)} {format_duration(ns)} ({format_percent(ns, phase.idle_ns)})"
            for cause, ns in [*phase.causes.items()][:_MOST_CAUSES]
        )
        longest = sorted(phase.longest, key=lambda rank: (-phase.longest[rank], rank))[:_MOST_RANKS]
        ranks = names(
            f"{translate('rank {number}', number=rank)} {format_duration(phase.longest[rank])}"
            for rank in longest
        )
        sentences = [translate("Longest on {ranks}.", ranks=ranks)]
        sentences += [translate("Idle for {causes}.", causes=causes)] if causes else []
        self.query_one("#story", Lines).show([title, *self.paragraphs(sentences, 4)])

    @property
    def identified(self) -> tuple[Table[Any], Any] | None:
        return None if self.answer is None else (PHASES, self.answer)

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.job.phases import frame_of_phases

        assert self.answer is not None
        frame: pd.DataFrame = frame_of_phases(self.answer).take(view)
        return frame
