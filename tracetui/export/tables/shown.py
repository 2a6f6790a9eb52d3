"""Tables as people read them outside the viewer: as aligned text, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tracetui.export import markdown, text
from tracetui.export.tables.column import Column, Form, Table
from tracetui.language import heading, speaks_english
from tracetui.trace.clean import printable

Rows = TypeVar("Rows")


def text_table(table: Table[Rows], rows: Rows, width: int, notes: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table as plain text, `width` cells wide; under each row its note, if any."""
    columns = table.shown(Form.TEXT, rows)
    cells = [column.cells(rows, printable) for column in columns]
    heads = [
        text.ColumnLayout(
            _head(column),
            right=cells_of_column.numeric,
            shrink_to=0 if cells_of_column.numeric or column.trusted else column.least,
            keep_end=column.path,
        )
        for column, cells_of_column in zip(columns, cells)
    ]
    texts = zip(*(cells_of_column.texts for cells_of_column in cells))
    return text.layout_table(heads, [*texts], width, notes)


def markdown_table(table: Table[Rows], rows: Rows) -> list[str]:
    """Return the lines of a table as Markdown."""
    columns = table.shown(Form.MARKDOWN, rows)
    cells = [column.cells(rows, markdown.code) for column in columns]
    left_titles = [
        heading(column.title)
        for column, cells_of_column in zip(columns, cells)
        if not cells_of_column.numeric
    ]
    titles = [heading(column.title) for column in columns]
    return markdown.table(titles, [*zip(*(cells_of_column.texts for cells_of_column in cells))], left_titles)


def _head(column: Column[Rows]) -> str:
    """Return the title of a column, in lines where English has it in several."""
    return (column.stacked if speaks_english() else "") or heading(column.title)
