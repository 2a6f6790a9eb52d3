"""The phases of a job: the ranges that people mark, over all ranks, and what each of them consists of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from tracetui.export.job.phases import phase_rows, phases_sentences
from tracetui.export.tables.phases import PHASES, PhaseRows
from tracetui.job.job import Job
from tracetui.job.phases import Phase, longest_range
from tracetui.language import names, translate
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.ranks.rank_view import RankPlace
from tracetui.ui.screens.job_screen import JobTableScreen
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_duration, format_error, format_percent

_MOST_CAUSES, _MOST_RANKS = 4, 4


class PhasesScreen(JobTableScreen[PhaseRows]):
    """The table of phases above the causes of idle time, and the longest ranges, of the one at the cursor."""

    DEFAULT_CSS = "PhasesScreen #story { height: 5; }"
    BINDINGS = bindings("phases")
    TITLE_OF = "Phases"
    KEYS = (("enter", "open"), ("e", "export"), ("R", "ranks"), ("S", "what if"))
    TABLE = PHASES

    def below(self) -> Iterable[Widget]:
        yield Lines(id="story")

    def find(self, job: Job) -> PhaseRows:
        return phase_rows(job, self.job_session.replays_of)

    def rows_of(self, answer: PhaseRows) -> PhaseRows:
        return answer

    def sentences(self, answer: PhaseRows) -> list[str]:
        return phases_sentences(answer)

    def column_places(self) -> Sequence[ColumnPlace]:
        return (
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

    def saving(self, answer: PhaseRows) -> str:
        best = max(answer.saves, key=lambda name: answer.saves[name], default=None)
        if best is None:
            return ""
        return translate(
            "{phase}: equal ranks save {share} of a step; replay off by {error}",
            phase=printable(best, 40),
            share=format_percent(answer.saves[best], answer.step_ns),
            error=format_error(answer.error),
        )

    def place_of(self, job: Job, answer: PhaseRows, row: int) -> RankPlace:
        """Return the longest range of the phase."""
        return RankPlace(*longest_range(job, answer.rows[row]))

    def draw_row(self, answer: PhaseRows, row: int) -> None:
        """Tell what the phase is idle for, and on which ranks it is longest."""
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
