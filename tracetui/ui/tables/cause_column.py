"""The column of the cause of idle time, for tables of gaps, of lines and of signatures."""

from __future__ import annotations

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int8s
from tracetui.ui.drawing.causes import cause_style, cause_words
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.tables.columns import UNKNOWN, Cell, Column

LEAST = 7  #: cells: the title and the mark of the order


def cause_column(causes: Int8s, palette: Palette) -> Column:
    """Letter and short name of the cause of each row, -1 for none; the filter looks in the dotted names.

    causes : int8[rows], values of `Cause`.
    """
    labels = [*(cause.label for cause in Cause), ""]
    words = {int(code): cause_words(Cause(int(code))) for code in np.unique(causes[causes >= 0])}

    def draw(row: int, width: int) -> Cell:
        code = int(causes[row])
        return [(words[code], cause_style(Cause(code), palette))] if code >= 0 else UNKNOWN

    return Column(
        "cause",
        "cause",
        causes.astype(np.int32),
        draw,
        max((LEAST, *map(cell_len, words.values()))),
        rank=1,
        right=False,
        names=labels,
        plain=lambda row: labels[causes[row]] or None,
    )
