"""What to do about lost time: the advice in its order, the numbers behind it, the way to its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import events, on
from textual.containers import Horizontal
from textual.widget import Widget

from tracetui.analysis.advice import Advice, find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.sentences.advice import NOTHING, advice_answer
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.column import Table
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.advice_story import AdviceStory, advice_columns
from tracetui.ui.widgets.lines import Lines, Pager
from tracetui.ui.widgets.source import WIDE, SourcePane
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_time

HEADER = 2  #: lines of the table beside its rows
SHORT = 12  #: lines of a terminal that has none for the story
NO_LINE = "This advice blames no line of Python."


class AdviceScreen(TableScreen):
    """One row per piece of advice; below it what to do, why, and the line to do it at."""

    DEFAULT_CSS = """
    AdviceScreen #below { height: 1fr; }
    AdviceScreen Pager { width: 3fr; }
    AdviceScreen SourcePane { width: 2fr; margin-left: 2; }
    """
    BINDINGS = bindings("advice")
    TITLE_OF = "Advice"
    NUMBERS = ("idle", "causes", "lines")
    KEYS = (("enter", "evidence"), ("x X", "walk it"), ("o", "editor"), ("T", "timeline"))

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._analysis: Analysis | None = None  # whose advice is in the table
        self._advice: tuple[Advice, ...] = ()
        self._evidence = -1  # place in the gaps and then the slices of the advice
        self._walked_row = -1  # the row whose evidence that is

    def below(self) -> Iterable[Widget]:
        with Horizontal(id="below"):
            yield Pager()
            yield SourcePane()
        yield Lines(id="note")

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#below").display = event.size.height >= SHORT
        self._share_height()
        self._tell()

    def _share_height(self) -> None:
        """Give the table what its rows need, up to two fifths."""
        height, rows = self.size.height, len(self._advice) + HEADER
        self.table.styles.height = min(rows, height * 2 // 5) if self._advice and height >= SHORT else "1fr"

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if analysis is self._analysis:
            return
        if not analysis.devices:
            self.show_nothing(translate("No known device in this trace: there is no lost time to advise on."))
            return
        self.clear(translate("Looking for advice."))
        self.in_background("advice", lambda: find_advice(analysis), partial(self._fill, analysis))

    def _fill(self, analysis: Analysis, advice: tuple[Advice, ...]) -> None:
        if analysis is not self.session.analysis:
            return
        if not advice:
            self.show_nothing(translate(NOTHING))
        self._analysis, self._advice = analysis, advice
        self.query_one(SourcePane).files = self.session.sources
        if advice:
            columns = advice_columns(analysis, advice, self.palette, self.glyphs)
            self.table.show(columns, len(advice), sort=-1)
            self.show_answer(advice_answer(advice, analysis.window_ns))
        self._share_height()
        self._tell()

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self._analysis is None else (ADVICE, AdviceRows(self._analysis))

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        self._analysis, self._advice = None, ()
        self._tell()

    @property
    def advice(self) -> Advice | None:
        """What is under the cursor."""
        row = self.table.cursor_row
        return self._advice[row] if 0 <= row < len(self._advice) else None

    @on(TableWidget.Moved)
    def _moved(self, message: TableWidget.Moved) -> None:
        if message.row != self._walked_row:
            self._evidence = self._walked_row = -1
            self.note("")
        self._tell()

    @on(Pager.Resized)
    def _tell(self) -> None:
        """Show the story of the advice under the cursor, and the line it blames."""
        advice, pager, source = self.advice, self.query_one(Pager), self.query_one(SourcePane)
        source.nothing = translate(NO_LINE)
        source.display = advice is not None and self.size.width >= WIDE
        if advice is None or self._analysis is None:
            pager.show([])
            source.show()
            return
        story = AdviceStory(self.palette, self.glyphs)
        pager.show(story.lines(advice, max(pager.size.width, 20), pager.size.height))
        source.show(advice.file or "", advice.line, advice.function if advice.file else "")
        source.refresh()

    def note(self, sentence: str, role: Role = Role.TEXT) -> None:
        self.query_one("#note", Lines).show([[(sentence, self.style_of(role))]])

    def copy_text(self) -> str:
        """Return the advice with exact values, and its story."""
        row = super().copy_text()
        story = "\n".join("".join(text for text, _ in line) for line in self.query_one(Pager).lines)
        return f"{row}\n\n{story}" if row else ""

    # -------------------------------------------------------------- evidence

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        """Show the evidence last walked to, else the first, in the timeline."""
        if self._evidence < 0 or self._walked_row != message.row:
            self.action_evidence(1)
        if self._evidence >= 0:
            self.viewer.action_go("timeline")

    def action_evidence(self, step: int) -> None:
        """Select the next gap, then the next slice, on all screens, and say where it is."""
        advice, analysis = self.advice, self._analysis
        if advice is None or analysis is None:
            return
        gaps, rows = len(advice.gaps), len(advice.rows)
        if not gaps + rows:
            self.note(translate("There is no place to look at: the numbers are all there is."))
            return
        if self._walked_row != self.table.cursor_row:
            self._evidence, self._walked_row = -1, self.table.cursor_row
        first = 0 if step > 0 else gaps + rows - 1
        self._evidence = (self._evidence + step) % (gaps + rows) if self._evidence >= 0 else first
        trace = analysis.trace
        if self._evidence < gaps:
            gap = int(advice.gaps[self._evidence])
            self.viewer.go_to_gap(gap)
            which, nth, of = "gap {nth} of {count}", self._evidence, gaps
            start = int(analysis.gaps.start[gap])
            what = translate(
                "{time}, idle {idle},",
                time=format_duration(int(analysis.gaps.end[gap]) - start),
                idle=format_duration(int(analysis.gaps.idle[gap])),
            )
        else:
            row = int(advice.rows[self._evidence - gaps])
            self.viewer.select(row)
            which, nth, of = "slice {nth} of {count}", self._evidence - gaps, rows
            start = int(trace.slices.start[row])
            what = f"{printable(trace.name(row), 50)} {format_duration(int(trace.slices.dur[row]))}"
        template = "{which}: {what} at {time}; enter goes there"
        place = translate(which, nth=f"{nth + 1:,}", count=f"{of:,}")
        self.note(translate(template, which=place, what=what, time=format_time(start - trace.start_ns)))
