"""Tables as csv: the columns of the JSON documents, one gap, step, line or piece of advice a row."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, BinaryIO, TypeVar

from tracetui.export.cells import text_cell
from tracetui.export.tables.column import Form, Table

Rows = TypeVar("Rows")


def write_table(stream: BinaryIO, table: Table[Rows], rows: Rows) -> int:
    """Write the rows of a table; returns how many."""
    from tracetui.export.data_frame import frame_of, write_frames  # imports pandas

    return write_frames(stream, [frame_of(table, rows)])


def write_small_table(stream: BinaryIO, table: Table[Rows], rows: Rows) -> int:
    """Write a table without pandas, which takes longer to import than some thousand rows take to write."""
    columns = table.of(Form.FRAME)
    return write_rows(
        stream, [column.key for column in columns], [*zip(*(column.exact(rows) for column in columns))]
    )


def write_rows(stream: BinaryIO, titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    """Write rows of Python values, unknown ones empty, texts as no spreadsheet computes; return how many."""
    cell_of = lru_cache(maxsize=None)(text_cell)

    def cell(value: Any) -> Any:
        return cell_of(value) if isinstance(value, str) else "" if value is None else value

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(cell, titles))
    writer.writerows(map(cell, row) for row in rows)
    stream.write(text.getvalue().encode("utf-8", "replace"))
    return len(rows)
