"""Advice as a table and as the story of one piece of it: what to do, the numbers, the rule behind it.

Pure: makes columns and lines of styled text, knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.advice import Advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.advice_text import NOTHING
from tracetui.export.advice_words import told_figure
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.text import aligned, padded
from tracetui.export.words import micro
from tracetui.language import counted, names, tell
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import LABEL, Line
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.columns import Cell, Column, name_column
from tracetui.ui.tables.layout import Look, laid_out
from tracetui.units import format_duration, format_percent

BAR = 10  #: cells
READABLE = 96  #: cells of the longest line of text
LONGEST_FIGURE = 60  #: characters


def advice_columns(
    analysis: Analysis, advice: Sequence[Advice], palette: Palette, glyphs: Glyphs
) -> list[Column]:
    """Return one row per piece of advice, in its order; shares are of the devices' time."""
    rows, window_ns = AdviceRows(analysis, advice), analysis.window_ns
    cost = np.array([each.cost_ns or 0 for each in rows.rows], np.int64)
    codes = np.arange(len(rows.rows), dtype=np.int32)

    def bar(row: int, width: int) -> Cell:
        return [(share_bar(int(cost[row]), window_ns, width, glyphs), palette.style_of(Role.IDLE))]

    places = [
        Look("cost_ns", 0, 8, style=palette.style_of(Role.NUMBER)),
        Look("share", 1, 7),
        Look("per_step_ns", 3, 8),
        Column("", "", cost, bar, BAR, rank=5, right=False),
        Look("title", 0, 50, 39),
        name_column("about", "about", codes, [about(each) for each in rows.rows], width=60, least=18, rank=2),
        ...,
    ]
    return laid_out(ADVICE, rows, places)


def about(advice: Advice) -> str:
    """Return the line that is blamed, else the first name that it is about: "moba.py(88) gate"."""
    if advice.file:
        return f"{path_end(advice.file)}({advice.line}) {advice.function}"
    return advice.function or next(iter(advice.subjects), "")


def advice_answer(advice: Sequence[Advice], window_ns: int) -> str:
    """Return "6 findings, first 2.32 ms (10.7 %): small operators launched one by one; costs may overlap" """
    costs = [each.cost_ns for each in advice if each.cost_ns is not None]
    left = len(advice) - len(costs)
    notes = counted(left, "1 note on the recording", "{count} notes on the recording")
    if not costs:
        return tell("Nothing in this trace calls for advice; {notes}", notes=notes) if left else tell(NOTHING)
    most, count = advice[0], len(costs)
    cost = tell("{time} ({share})", time=format_duration(costs[0]), share=format_percent(costs[0], window_ns))
    told = "{count} findings, first {cost}: {title}; costs may overlap"
    if count == 1:
        told = "1 finding, {cost}: {title}"
    answer = tell(told, count=count, cost=cost, title=f"{most.title[:1].lower()}{most.title[1:]}")
    return tell("{answer}; {notes}", answer=answer, notes=notes) if left else answer


class AdviceStory(Story):
    """Writes of pieces of advice."""

    def lines(self, advice: Advice, width: int, height: int = 0) -> list[Line]:
        """What to do, the line and the names it is about, the numbers in columns, the rule.

        Without empty lines where there are more than `height`.
        """
        room = min(width, READABLE)
        lines = [self._title(advice, width)]
        lines += [[(text, self._text)] for text in wrapped(micro(advice.text), room)]
        lines += [[], *self._about(advice), *self._numbers(advice, room), []]
        lines += [
            [(text, self._dim)]
            for text in wrapped(tell("Rule {id}: {rule}", id=advice.id, rule=micro(advice.rule)), room)
        ]
        return lines if len(lines) <= height else [line for line in lines if line]

    def _title(self, advice: Advice, width: int) -> Line:
        places = [
            counted(len(rows), one, several)
            for one, several, rows in (
                ("1 gap", "{count} gaps", advice.gaps),
                ("1 slice", "{count} slices", advice.rows),
            )
            if len(rows)
        ]
        told = tell("no place to look at")
        if places:
            both = tell("{gaps} and {slices}", gaps=places[0], slices=places[-1])
            told = tell("{places} to look at", places=both if len(places) > 1 else places[0])
        return self._ruled(f"{advice.title} {self._glyphs.dot} {told}", width)

    def _about(self, advice: Advice) -> Iterator[Line]:
        if advice.file:
            place = f"{printable(advice.file, 200)}({advice.line})"
            yield [
                (padded(tell("line"), LABEL), self._dim),
                (place, self._palette.style_of(Role.USER_LINE)),
                (f" {printable(advice.function, 80)}", self._text),
            ]
        if advice.subjects:
            subjects = names(printable(name, 200) for name in advice.subjects)
            yield [(padded(tell("names"), LABEL), self._dim), (printable(subjects, 200), self._text)]

    def _numbers(self, advice: Advice, width: int) -> list[Line]:
        """The evidence, in as many columns as fit."""
        figures = (told_figure(key, value) for key, value in advice.evidence.items())
        cells = [(name, printable(value, LONGEST_FIGURE)) for name, value in figures]
        for rows in range(1, len(cells) + 1):
            columns = [cells[first : first + rows] for first in range(0, len(cells), rows)]
            widths = [[max(map(cell_len, texts)) for texts in zip(*column)] for column in columns]
            if sum(name + value + 2 for name, value in widths) + 3 * (len(columns) - 1) <= width:
                break
        lines: list[Line] = [[] for _ in cells[:rows]] if cells else []
        for column, (named, room) in zip(columns if cells else [], widths if cells else []):
            for line, (name, value) in zip(lines, column):
                line += [("   ", self._dim)] if line else []
                line += [(padded(name, named) + "  ", self._dim), (aligned(value, room), self._bold)]
        return lines
