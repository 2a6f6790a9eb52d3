"""Tables as people read them outside the viewer: as aligned text, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tracetui.export import markdown, text
from tracetui.export.tables.column import Column, Form, Table
from tracetui.language import heading, speaks_english
from tracetui.trace.clean import printable

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class TableSection:
    """A table under its title, which text, Markdown and pages show."""

    title: str
    table: Table[Any]
    rows: Any  #: as the table takes them
    more: str = ""  #: below the text: how many rows are left out
    hidden: str = ""  #: the same below Markdown
    #: Makes of the rows what text has below each of them.
    notes: Callable[[Any], Sequence[str]] = lambda rows: ()
    nothing: str = ""  #: what is shown instead where there are no rows

    def text(self, width: int) -> list[str]:
        """Return the lines of plain text, `width` cells wide."""
        if self.nothing and not len(self.rows):
            return [self.nothing]
        lines = text_table(self.table, self.rows, width, self.notes(self.rows))
        return [self.title, *lines, *self.more_lines()]

    def markdown(self, level: int = 2) -> list[str]:
        """Return the lines of Markdown; the title is a heading of this level."""
        if self.nothing and not len(self.rows):
            return [self.nothing]
        lines = [f"{'#' * level} {markdown.escaped(self.title)}", "", *markdown_table(self.table, self.rows)]
        return [*lines, "", self.hidden] if self.hidden else lines

    def more_lines(self) -> list[str]:
        """Return the line right below the table, if any rows are left out."""
        return [text.MARGIN + self.more] if self.more else []


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
