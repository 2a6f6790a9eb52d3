"""Whether the recording can be believed: the findings, what each puts in doubt, and the way to its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import on
from textual.widget import Widget

from tracetui.analysis.health.finding import Finding
from tracetui.export.sentences.health import (
    finding_remedy,
    finding_sentence,
    number_names,
    verdict_word,
    windows_sentence,
)
from tracetui.export.tables.column import Table
from tracetui.export.tables.health import FINDINGS, FindingRows
from tracetui.export.text import capitalise
from tracetui.export.trace.health import verdict_line
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.table import TableWidget

NO_PLACE = "This finding has no place in the timeline: it is about the whole recording."
STORY_LINES = 9


class HealthScreen(TableScreen):
    """One row per finding, worst first; below it what was seen, where, and what helps."""

    DEFAULT_CSS = f"""
    HealthScreen #story {{ height: {STORY_LINES}; }}
    """
    BINDINGS = bindings("health")
    TITLE_OF = "Health"
    KEYS = (("enter", "open in the timeline"), ("e", "export"), ("T", "timeline"))

    def below(self) -> Iterable[Widget]:
        yield Lines(id="story")

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        rows = FindingRows(analysis)
        if rows.rows:
            layout = [
                ColumnLook("severity", 0, 9),
                ColumnLook("id", 0, 20),
                ColumnLook("affects", 1, 24, 12),
                ColumnLook("steps", 2, 14, 8),
                ColumnLook("sentence", 0, 90, 20),
            ]
            self.table.show(laid_out(FINDINGS, rows, layout), len(rows.rows), sort=-1)
            self.show_answer(verdict_line(analysis))
        else:
            self.show_nothing(verdict_line(analysis))
        self.call_after_refresh(self._tell)

    @property
    def finding(self) -> Finding | None:
        """What is under the cursor."""
        analysis, row = self.session.analysis, self.table.cursor_row
        findings = analysis.health.findings if analysis is not None else ()
        return findings[row] if 0 <= row < len(findings) else None

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if (found := self.session.analysis) is None else (FINDINGS, FindingRows(found))

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell)

    @on(TableWidget.Moved)
    def _tell(self) -> None:
        """Show what was seen, where, and what helps."""
        analysis, finding = self.session.analysis, self.finding
        if analysis is None or finding is None:
            self.query_one("#story", Lines).show([])
            return
        room = self.size.width - 2
        text, dim = self.style_of(Role.TEXT), self.style_of(Role.DIM)
        worth = verdict_word(finding.severity.label)
        sentence = finding_sentence(finding)
        title = translate("{name}: {what}", name=worth, what=number_names(finding.affects))
        lines: list[Pieces] = [[(title, self.style_of(Role.TITLE))]]
        sentence = translate("{sentence}.", sentence=capitalise(sentence))
        lines += [[(line, text)] for line in wrapped(sentence, room)]
        windows = windows_sentence(finding, analysis.trace.start_ns)
        if windows:
            lines.append([(windows, dim)])
        lines += [[(line, text)] for line in wrapped(finding_remedy(finding), room)]
        self.query_one("#story", Lines).show(lines)

    @on(TableWidget.Activated)
    def _open(self) -> None:
        """Show the place of the finding in the timeline: where it begins, or its first step."""
        analysis, finding = self.session.analysis, self.finding
        if analysis is None or finding is None:
            return
        if finding.windows:
            self.viewer.show_interval(*finding.windows[0])
        elif finding.steps:
            step = analysis.steps[finding.steps[0]]
            self.viewer.show_interval(step.start_ns, step.end_ns, step.row)
        elif finding.tracks:
            first = analysis.trace.tracks[finding.tracks[0]].rows.start
            self.viewer.select(first)
            self.viewer.action_go("timeline")
        else:
            self.viewer.show_status(NO_PLACE)
