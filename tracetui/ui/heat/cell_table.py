"""The cells of a heat map as a table: by numbers, as rows and columns without room for a label have none."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.export.tables.column import CodedTexts, Table, data, texts_at
from tracetui.ui.heat.sheet import Sheet


class CellRows:
    """The cells that there are, from left to right and from top to bottom."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.row, self.column = np.nonzero(sheet.cells.capacity)

    def __len__(self) -> int:
        return len(self.row)

    def time(self, side: int) -> Int64s:
        """Return when each begins (side 0) or ends (1), epoch ns; -1 where columns are no time."""
        edges = self.sheet.edges
        return np.full(len(self), -1, np.int64) if edges is None else edges[self.column + side]


def _row_labels(rows: CellRows) -> CodedTexts:
    return texts_at(rows.row, [" ".join(row.label.split()) for row in rows.sheet.rows])


def _column_labels(rows: CellRows) -> CodedTexts:
    labels = rows.sheet.columns
    return texts_at(rows.column if labels else np.full(len(rows), -1, np.int64), labels)


CELLS: Table[CellRows] = Table(
    columns=(
        data("row", lambda rows: rows.row + 1),
        data("row_label", _row_labels),
        data("column", lambda rows: rows.column + 1),
        data("column_label", _column_labels),
        data("start_ns", lambda rows: rows.time(0), optional=True),
        data("end_ns", lambda rows: rows.time(1), optional=True),
        data("ns", lambda rows: rows.sheet.cells.ns[rows.row, rows.column]),
        data("capacity_ns", lambda rows: rows.sheet.cells.capacity[rows.row, rows.column]),
    ),
)
