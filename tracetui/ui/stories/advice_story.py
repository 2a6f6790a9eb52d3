"""Advice as a table and as the story of one piece of it: what to do, the numbers, the rule behind it.

Makes columns and lines of styled text and knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.advice import Advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.sentences.advice import advice_subject, advice_words, figure_in_language
from tracetui.export.sentences.causes import micro
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.text import aligned, padded
from tracetui.language import counted, names, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import LABEL, Line
from tracetui.ui.drawing.strips import flowing, wrapped
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.columns import ViewColumn, bar_column, named_column
from tracetui.ui.tables.layout import ColumnLook, laid_out

BAR_CELLS = 10  #: cells
MAX_TEXT_CELLS = 96  #: cells of the longest line of text
MAX_FIGURE = 200  #: characters
WIDE_FIGURE = 24  #: cells; a longer text would part the numbers of its column from their names


def advice_columns(
    analysis: Analysis, advice: Sequence[Advice], palette: Palette, glyphs: Glyphs
) -> list[ViewColumn]:
    """Return the columns of the table, a row per piece of advice; shares are of the devices' time."""
    rows, window_ns = AdviceRows(analysis, advice, advice_words), analysis.window_ns
    cost = np.array([piece.cost_ns or 0 for piece in rows.rows], np.int64)
    codes = np.arange(len(rows.rows), dtype=np.int32)
    idle = palette.style_of(Role.IDLE)
    layout = [
        ColumnLook("cost_ns", 0, 8, style=palette.style_of(Role.NUMBER)),
        ColumnLook("share", 1, 7),
        ColumnLook("per_step_ns", 3, 8),
        bar_column(cost, window_ns, lambda _: idle, glyphs, BAR_CELLS, rank=5),
        ColumnLook("title", 0, 50, 39),
        named_column(
            "about",
            "about",
            codes,
            [advice_subject(piece) for piece in rows.rows],
            width=60,
            least=18,
            rank=2,
        ),
        ...,
    ]
    return laid_out(ADVICE, rows, layout)


class AdviceStory(Story):
    """The story of a piece of advice, for the pane below its table."""

    def lines(self, advice: Advice, width: int, height: int = 0) -> list[Line]:
        """Return what to do, the line and the names that it is about, the numbers in columns, the rule.

        Empty lines are left out where there are more than `height` lines.
        """
        room, words = min(width, MAX_TEXT_CELLS), advice_words(advice)
        lines = [self._title_line(advice, words.title, width)]
        lines += [[(text, self._text)] for text in wrapped(micro(words.text), room)]
        lines += [[], *self._subject_lines(advice), *self._evidence_lines(advice, room), []]
        lines += [
            [(text, self._dim)]
            for text in wrapped(translate("Rule {id}: {rule}", id=advice.id, rule=micro(words.rule)), room)
        ]
        return lines if len(lines) <= height else [line for line in lines if line]

    def _title_line(self, advice: Advice, title: str, width: int) -> Line:
        """Return the `title` in a rule, with how many gaps and slices there are to look at."""
        places = [
            counted(len(rows), singular, plural)
            for singular, plural, rows in (
                ("1 gap", "{count} gaps", advice.gaps),
                ("1 slice", "{count} slices", advice.rows),
            )
            if len(rows)
        ]
        places_text = translate("no place to look at")
        if places:
            gaps_and_slices = translate("{gaps} and {slices}", gaps=places[0], slices=places[-1])
            places_text = translate(
                "{places} to look at", places=gaps_and_slices if len(places) > 1 else places[0]
            )
        return self._ruled(f"{title} {self._glyphs.dot} {places_text}", width)

    def _subject_lines(self, advice: Advice) -> Iterator[Line]:
        """Yield the Python line and the names that the advice is about."""
        if advice.file:
            place = f"{printable(advice.file, 200)}({advice.line})"
            yield [
                (padded(translate("line"), LABEL), self._dim),
                (place, self._palette.style_of(Role.USER_LINE)),
                (f" {printable(advice.function, 80)}", self._text),
            ]
        if advice.subjects:
            subjects = names(printable(name, 200) for name in advice.subjects)
            yield [(padded(translate("names"), LABEL), self._dim), (printable(subjects, 200), self._text)]

    def _evidence_lines(self, advice: Advice, width: int) -> list[Line]:
        """Return the evidence, in as many columns as fit; long texts stand on lines of their own."""
        named = (figure_in_language(key, value) for key, value in advice.evidence.items())
        figures = [(name, printable(value, MAX_FIGURE)) for name, value in named]
        cells = [figure for figure in figures if cell_len(figure[1]) <= WIDE_FIGURE]
        for rows in range(1, len(cells) + 1):
            columns = [cells[first : first + rows] for first in range(0, len(cells), rows)]
            widths = [[max(map(cell_len, texts)) for texts in zip(*column)] for column in columns]
            if sum(name + value + 2 for name, value in widths) + 3 * (len(columns) - 1) <= width:
                break
        lines: list[Line] = [[] for _ in cells[:rows]] if cells else []
        for column, (name_cells, value_cells) in zip(columns if cells else [], widths if cells else []):
            for line, (name, value) in zip(lines, column):
                line += [("   ", self._dim)] if line else []
                line += [
                    (padded(name, name_cells) + "  ", self._dim),
                    (aligned(value, value_cells), self._bold),
                ]
        for name, value in figures:
            if cell_len(value) > WIDE_FIGURE:
                lines += flowing([(name + "\u00a0\u00a0", self._dim), (value, self._bold)], width)
        return lines
