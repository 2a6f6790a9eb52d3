"""The story of one row as text: the words that the viewer has for it below its table.

Knows no terminal: stories are written without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.comparison.step_parts import step_parts
from tracetui.export.sentences.health import finding_remedy, finding_sentence
from tracetui.export.tables.gaps import GapRows
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.ui.drawing.glyphs import Glyphs, glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.stories.advice_story import AdviceStory
from tracetui.ui.stories.gap_story import GapStory
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.stories.nested_story import NestedStory
from tracetui.ui.stories.step_story import step_causes, step_story
from tracetui.ui.stories.sync_story import SyncStory
from tracetui.ui.tables.hotspot_views import line_of_row

_ALL = 1000  # lines: a story is cut nowhere


def story_of(analysis: Analysis, kind: str, rows: Any, place: int, width: int, ascii_only: bool) -> list[str]:
    """Return the lines of the story of a row of a table; nothing for a kind that has none."""
    looks = Palette("none"), glyphs(ascii_only)
    lines: list[Line] = []
    if isinstance(rows, GapRows):
        gap = int(rows.chosen[place])
        position = int(np.flatnonzero(analysis.gaps.ranked() == gap)[0]) + 1
        lines = GapStory(*looks).lines(analysis, gap, position, width, analysis.lead_losses)
    elif kind == "line":
        lines = LineStory(*looks).lines(analysis, rows.rows[place], analysis.savings, width, _ALL)
    elif kind == "sync":
        sync = rows.rows[place]
        of_line = line_of_row(analysis, sync)
        lines = SyncStory(*looks).lines(analysis, sync, of_line, analysis.savings, width, _ALL)
    elif kind in ("module", "frame", "scope"):
        lines = NestedStory(*looks).of_row(analysis, rows.rows[place], width, _ALL)
    elif kind == "step":
        return _step_story(analysis, rows.places[place], *looks, width)
    elif kind == "advice":
        lines = AdviceStory(*looks).lines(rows.rows[place], width, _ALL)
    elif kind == "finding":
        finding = rows.rows[place]
        return [translate("{sentence}.", sentence=finding_sentence(finding)), finding_remedy(finding)]
    return _plain(lines)


def _step_story(analysis: Analysis, index: int, palette: Palette, shapes: Glyphs, width: int) -> list[str]:
    places = Selection().believed(analysis, analysis.steps_by_device[analysis.steps[index].device])
    story = step_story(analysis, index, step_parts(analysis), places)
    return [*story, *_plain(step_causes(analysis, index, palette, shapes, width))]


def _plain(lines: Sequence[Sequence[StyledText]]) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in lines]
