"""Tables as csv: the columns of the JSON documents, one gap, step, line or piece of advice a row."""

from __future__ import annotations

from typing import BinaryIO, TypeVar

from tracetui.export.tables.column import Table

Rows = TypeVar("Rows")


def write_table(stream: BinaryIO, table: Table[Rows], rows: Rows) -> int:
    """Write the rows of a table; returns how many."""
    from tracetui.export.frames import frame_of, write_csv  # imports pandas

    return write_csv(stream, [frame_of(table, rows)])
