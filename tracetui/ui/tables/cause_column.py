"""The column of the cause of idle time or communication, for tables of gaps, of lines and of signatures."""

from __future__ import annotations

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.preparing import COPY
from tracetui.arrays import Int8s, Int64s
from tracetui.language import translate
from tracetui.trace.model import Activity
from tracetui.ui.drawing.causes import cause_name, cause_style
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.tables.columns import UNKNOWN, Cell, ViewColumn

LEAST = 7  #: cells: the title and the mark of the order


def cause_column(causes: Int8s | Int64s, palette: Palette) -> ViewColumn:
    """Show letter and short name of the cause of each row, -1 for none; the filter looks in the dotted names.

    causes : int[rows], values of `Cause`; after its last those of `CommunicationCause`, then copies.
    """
    known: list[Cause | CommunicationCause] = [*Cause, *CommunicationCause]
    labels = [*(cause.label for cause in known), COPY, ""]
    looks: dict[int, Cell] = {-1: UNKNOWN}
    for code in np.unique(causes[causes >= 0]).tolist():
        if labels[code] == COPY:
            looks[code] = [(translate("copies"), palette.style_of(Activity.COPY))]
            continue
        looks[code] = [(cause_name(known[code]), cause_style(known[code], palette))]
    widths = (cell_len(piece[0][0]) for code, piece in looks.items() if code >= 0)

    return ViewColumn(
        "cause",
        "cause",
        causes.astype(np.int32),
        lambda row, _: looks[int(causes[row])],
        max((LEAST, *widths)),
        rank=1,
        right=False,
        names=labels,
        plain=lambda row: labels[causes[row]] or None,
    )
