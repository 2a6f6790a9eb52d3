"""Tables as csv: the columns of the JSON documents, one gap, step, line or piece of advice a row."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from typing import Any, BinaryIO, TypeVar

from tracetui.export.cells import text_cell
from tracetui.export.tables.column import Form, Table

Rows = TypeVar("Rows")


def write_table(stream: BinaryIO, table: Table[Rows], rows: Rows) -> int:
    """Write the rows of a table; returns how many."""
    from tracetui.export.data_frame import frame_of, write_csv  # imports pandas

    return write_csv(stream, [frame_of(table, rows)])


def write_small_table(stream: BinaryIO, table: Table[Rows], rows: Rows) -> int:
    """Write the same, without pandas: of some thousand rows that takes less than to import it."""
    cell_of = lru_cache(maxsize=None)(text_cell)

    def cell(value: Any) -> Any:
        return cell_of(value) if isinstance(value, str) else "" if value is None else value

    columns = table.of(Form.FRAME)
    found = [*zip(*(column.exact(rows) for column in columns))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.key for column in columns)
    writer.writerows(map(cell, row) for row in found)
    stream.write(text.getvalue().encode())
    return len(found)
