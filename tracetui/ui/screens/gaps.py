"""All AICore gaps, ranked by what they lost, and the story of the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import events, on
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.main_line import main_line
from tracetui.analysis.lead import LeadLosses
from tracetui.arrays import Int64s
from tracetui.export.tables.row_ids import find_gap, gap_ids
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.messages import RankingChanged, SelectionChanged
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.gap_story import GapStory
from tracetui.ui.tables.columns import ViewColumn
from tracetui.ui.tables.gap_columns import gap_columns, gaps_answer
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import WIDE, SourcePane
from tracetui.ui.widgets.table import MANY, TableWidget

if TYPE_CHECKING:
    import pandas as pd

SETTLED_S = 0.05  #: a held cursor key moves the timeline only where it rests
STORY_LINES = 11


class GapsScreen(TableScreen):
    """One row per gap; the row under the cursor is the selected gap of all screens."""

    DEFAULT_CSS = """
    GapsScreen #below { height: 11; }
    GapsScreen Lines#story { width: 3fr; height: 1fr; }
    GapsScreen SourcePane { width: 2fr; margin-left: 2; }
    """
    BINDINGS = bindings("gaps")
    TITLE_OF = "Gaps"
    NUMBERS = ("idle", "causes")
    KEYS = (
        ("enter", "timeline"),
        ("1-9", "n-th worst"),
        ("b", "rank by"),
        ("/", "filter"),
        ("o", "editor"),
        ("e", "export"),
    )

    class Made(NamedTuple):
        """The table of an analysis."""

        analysis: Analysis
        by: Measure
        columns: list[ViewColumn]
        answer: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._analysis: Analysis | None = None
        self._losses: LeadLosses | None = None  # of `_analysis`, once they are known
        self._timer: Timer | None = None
        self._opening = False  # the table waits for its rows
        self._resting = -1  # the gap that nobody has moved to: opening the screen does not move the timeline

    def below(self) -> Iterable[Widget]:
        with Horizontal(id="below"):
            yield Lines(id="story")
            yield SourcePane()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        below = self.query_one("#below")
        below.display = height >= 14
        below.styles.height = max(STORY_LINES, height * 2 // 5) if height >= 22 else height // 2 - 1
        self.query_one(SourcePane).display = width >= WIDE
        self._tell()

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if not len(analysis.gaps):
            self.show_nothing(no_gaps(analysis))
            return
        if len(analysis.gaps) < MANY:
            self._show_made(self._make(analysis))
        else:
            self.clear(translate("Laying out {count} gaps.", count=f"{len(analysis.gaps):,}"))
            self.in_background("gaps", lambda: self._make(analysis), self._show_made)

    def _make(self, analysis: Analysis) -> Made:
        """Make the columns of all gaps: 0.4 s for a million, in a thread."""
        by, palette = self.session.ranked_by, self.palette
        columns = gap_columns(analysis, by, palette, time_inks(palette, self.glyphs))
        return self.Made(analysis, by, columns, gaps_answer(analysis, by))

    def _show_made(self, made: Made) -> None:
        if made.analysis is not self.session.analysis or made.by is not self.session.ranked_by:
            return
        if made.analysis is not self._analysis:
            self._losses = None
        self._analysis = made.analysis
        self.query_one(SourcePane).files = self.session.sources
        self._opening = True
        self.table.show(made.columns, len(made.analysis.gaps), sort=0, descending=False)
        self.show_answer(made.answer)
        self._opened()
        analysis = made.analysis
        self.in_background("lead", lambda: analysis.lead_losses, partial(self._show_losses, analysis))

    def failed(self, group: str, sentence: str) -> None:
        if group != "lead":  # without it the screen is of use
            super().failed(group, sentence)

    def _show_losses(self, analysis: Analysis, losses: LeadLosses) -> None:
        if analysis is self._analysis:
            self._losses = losses
            self._tell()

    @on(TableWidget.Arranged)
    def _opened(self) -> None:
        """Put the cursor on the selected gap once the rows are there, which moves nothing."""
        if self._opening and not self.table.arranging:
            self._opening = False
            self._follow()
            self._resting = self.table.cursor_row

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        self._analysis = None
        self.query_one(SourcePane).show()

    # ----------------------------------------------------- one selected gap

    def on_ranking_changed(self, message: RankingChanged) -> None:
        self.refresh_answer()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._follow()

    def _follow(self) -> None:
        """Put the cursor on the selected gap."""
        gap = self.session.state.gap
        if self._analysis is not None and 0 <= gap < len(self._analysis.gaps):
            self.table.move_to_row(gap)

    @on(TableWidget.Moved)
    def _moved(self, message: TableWidget.Moved) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SETTLED_S, self._settled)

    def _settled(self) -> None:
        self._tell()
        gap = self.table.cursor_row
        if (
            self.is_current
            and self._analysis is not None
            and gap not in (-1, self._resting, self.session.state.gap)
        ):
            self._resting = -1
            self.viewer.go_to_gap(gap)

    def _tell(self) -> None:
        """Show the story of the gap under the cursor, and the source it leads to."""
        analysis, gap = self._analysis, self.table.cursor_row
        story = self.query_one("#story", Lines)
        if analysis is None or gap < 0:
            story.show([])
            return
        teller = GapStory(self.palette, self.glyphs)
        story.show(teller.lines(analysis, gap, self.session.gap_rank(gap), story.size.width, self._losses))
        frame = analysis.rules.line_of(main_line(analysis, gap).stack)
        self.query_one(SourcePane).show(*(frame or ()))

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.trace.frames import gaps_frame

        assert self._analysis is not None
        return gaps_frame(self._analysis, view)

    def row_ids(self, rows: Int64s) -> Sequence[str]:
        return gap_ids(self._analysis, rows) if self._analysis is not None else ()

    def row_of(self, identity: str) -> int:
        return find_gap(self._analysis, identity) if self._analysis is not None else -1

    def copy_text(self) -> str:
        """Return the gap with exact values, and its story."""
        row = super().copy_text()
        return f"{row}\n\n{self.query_one('#story', Lines).text}" if row else ""

    def action_rank_gaps(self) -> None:
        self.viewer.action_rank_gaps()

    def action_nth_gap(self, n: int) -> None:
        """Go to the n-th worst gap; a filter that hides it is dropped."""
        if self._analysis is not None and n <= len(self.session.ranked):
            gap = int(self.session.ranked[n - 1])
            if not self.table.move_to_row(gap):
                self.session.state.filter = ""
                self.table.filter_by("")
                self.table.move_to_row(gap)

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        self.viewer.go_to_gap(message.row)
        self.viewer.action_go("timeline")


def no_gaps(analysis: Analysis) -> str:
    """Return why there is no gap to show."""
    if not analysis.devices:
        return "No known device in this trace: there is no idle time to look at."
    return "No gap: the device computed all the time."
