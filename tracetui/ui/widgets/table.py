"""A table that draws only the rows on screen, over numpy columns of any length.

Knows how to lay out, scroll, move a cursor and mark the sorted column; what the columns mean and what a row
opens is the screen's affair, which listens to `TableWidget.Moved` and `TableWidget.Activated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tracetui.language import heading, translate, wording
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, fitted, wrapped
from tracetui.ui.tables.columns import GAP, Cell, ViewColumn, ViewRows, clipped, fit_columns, place_of
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.scrolling import CursorRows

#: rows from which a thread sorts and filters them: 0.09 s for a million, 9 ms for so many
MANY = 100_000
_PLAIN = Style.null()


class _Wanted(NamedTuple):
    """Rows as they are wanted on screen: the arguments of `Rows`."""

    columns: Sequence[ViewColumn]
    length: int
    sort: int = -1
    descending: bool = False
    filter: str = ""


class TableWidget(InViewer, CursorRows, can_focus=True):
    """Rows under a header line, one of them under the cursor."""

    DEFAULT_CSS = "TableWidget { width: 1fr; height: 1fr; }"

    empty = reactive("")  #: what to say where there is no row

    class TableMessage(Message):
        """Name the table that sends it, and a row."""

        def __init__(self, table: TableWidget, row: int = -1) -> None:
            super().__init__()
            self.table, self.row = table, row

        @property
        def control(self) -> TableWidget:
            return self.table

    class Moved(TableMessage):
        """The cursor is on another row, or on none (-1)."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TableWidget.Moved) and message.table is self.table

    class Activated(TableMessage):
        """A row was chosen with enter or a double click."""

    class Arranged(TableMessage):
        """The table was sorted or filtered."""

    class Arranging(Message):
        """The rows are being sorted or filtered; until then those before are shown."""

    def __init__(
        self,
        *,
        id: Optional[str] = None,  # noqa: A002, UP045 - Textual's own name
        has_cursor: bool = True,
    ) -> None:
        """Draw a table; without a cursor no row is marked, and no key goes to it."""
        super().__init__(id=id)
        self.rows = ViewRows((), 0)
        self.arranging = False  #: other rows, or another order of them, are being made
        self._wanted = _Wanted(self.rows.columns, 0)
        self.can_focus = has_cursor
        self._cursor_style = self.style_of(Role.SELECTED) if has_cursor else _PLAIN
        self._header_style = self.style_of(Role.TITLE)
        self._marked: frozenset[int] = frozenset()
        self._fitted: list[tuple[int, int]] = []
        self._left = 0  # place of the first column on screen, where the keys have moved it
        self._strips: LRUCache[tuple[int, bool], Strip] = LRUCache(1024)

    # ---------------------------------------------------------------- rows

    def show(
        self,
        columns: Sequence[ViewColumn],
        length: int,
        *,
        sort: int | None = None,
        descending: bool = True,
        first: bool = False,
    ) -> None:
        """Show other rows. The filter stays, the order too unless a sort is given, and the cursor unless it
        is to be on the first row.
        """
        before = self._wanted
        if sort is None:
            sort = place_of(columns, before.columns[before.sort].key) if before.sort >= 0 else -1
            descending = before.descending
        row = -1 if first else self.cursor_row
        self._arrange(_Wanted(columns, length, sort, descending, before.filter), row)

    def sort_by(self, column: int, descending: bool | None = None) -> None:
        """Sort by a column and go to the first row; the column already sorted by is reversed."""
        wanted = self._wanted
        if descending is None:
            descending = not wanted.descending if column == wanted.sort else wanted.columns[column].right
        self._arrange(wanted._replace(sort=column, descending=descending), -1)

    def filter_by(self, text: str) -> None:
        """Show only rows with a name that contains the text; the cursor stays on its row where it matches."""
        if text != self._wanted.filter:
            self._arrange(self._wanted._replace(filter=text), self.cursor_row)

    def mark_rows(self, rows: frozenset[int]) -> None:
        """Mark some rows, which notes are about, at their end."""
        if rows != self._marked:
            self._marked = rows
            self.forget()

    def forget(self) -> None:
        """Draw every row anew: what a cell shows has changed."""
        self._strips.clear()
        self.refresh()

    @property
    def shown_columns(self) -> list[int]:
        """The places of the columns that there is room for, in their order."""
        return [place for place, _ in self._fitted]

    @property
    def cursor_row(self) -> int:
        """The row under the cursor, -1 for none."""
        return int(self.rows.view[self.cursor]) if self.cursor < len(self.rows.view) else -1

    def _arrange(self, wanted: _Wanted, row: int) -> None:
        """Show rows so, the cursor on `row`: now; where they are many, once a thread has arranged them."""
        rows, self._wanted = self.rows, wanted

        def make() -> ViewRows:
            if rows.columns is wanted.columns:
                return rows.arranged(wanted.sort, wanted.descending, wanted.filter)
            return ViewRows(*wanted)

        if wanted.length < MANY:
            self._take(make(), row)
            return
        self.arranging = True
        if rows.columns is not wanted.columns:  # rows of these numbers are not those any more
            self.rows, self.empty = (
                ViewRows((), 0),
                translate("Sorting {count} rows.", count=f"{wanted.length:,}"),
            )
            self._fit()
        self.post_message(self.Arranging())
        self.run_worker(
            lambda: self.call_later(self._take_wanted, wanted, make(), row),
            thread=True,
            group="arrange",
            exclusive=True,
        )

    def _take_wanted(self, wanted: _Wanted, rows: ViewRows, row: int) -> None:
        """Show what a thread has arranged, unless other rows are wanted meanwhile."""
        if wanted is self._wanted:
            self._take(rows, row)

    def _take(self, rows: ViewRows, row: int) -> None:
        """Show the new order, with the cursor on `row` where that is still shown, else on the first."""
        self._left = self._left if rows.columns is self.rows.columns else 0
        self.rows, self.arranging = rows, False
        self._fit()
        place = rows.place(row) if row >= 0 else 0
        self.cursor = max(place, 0)
        self.scroll_to_cursor()
        self.post_message(self.Arranged(self))
        self.post_moved()

    # -------------------------------------------------------------- cursor

    @property
    def row_count(self) -> int:
        return len(self.rows.view)

    def post_moved(self) -> None:
        self.post_message(self.Moved(self, self.cursor_row))

    def move_to_row(self, row: int) -> bool:
        """Put the cursor on a row; False where the filter hides it."""
        place = self.rows.place(row)
        if place >= 0:
            self.move_to(place)
        return place >= 0

    def action_activate(self) -> None:
        if self.cursor_row >= 0:
            self.post_message(self.Activated(self, self.cursor_row))

    def action_sort_beside(self, step: int) -> None:
        """Sort by the next column on screen to the right (1) or left (-1) of the sorted one."""
        shown = self.shown_columns
        if shown:
            here = shown.index(self.rows.sort) if self.rows.sort in shown else -1
            there = (here + step) % len(shown) if here >= 0 or step > 0 else len(shown) - 1
            self.sort_by(shown[there], self.rows.columns[shown[there]].right)

    def action_reverse(self) -> None:
        if self.rows.sort >= 0:
            self.sort_by(self.rows.sort)

    def action_scroll_columns(self, by: int) -> None:
        """Begin with another column, as far as there are columns without room on that side."""
        if by < 0 or len(self.rows.columns) - 1 not in self.shown_columns:
            self._left = max(self._left + by, 0)
            self._fit()
            self.post_moved()

    # --------------------------------------------------------------- mouse

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            column = self._column_at(event.x)
            if column >= 0:
                self.sort_by(column)
        elif self.top + event.y - 1 < len(self.rows.view):
            self.move_to(self.top + event.y - 1)
            if event.chain == 2:
                self.action_activate()

    def roll(self, rows: int) -> None:
        self.roll_to(self.top + rows)

    def _column_at(self, x: int) -> int:
        left = 0
        for place, cells in self._fitted:
            if left <= x < left + cells + GAP:
                return place
            left += cells + GAP
        return -1

    # ------------------------------------------------------------- drawing

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self.scroll_to_cursor()

    def _fit(self) -> None:
        """Lay out the columns from the first on screen on; those before it where all of them have room."""
        columns, width = self.rows.columns, self.size.width
        while self._left and len(fit_columns(columns[self._left - 1 :], width)) > len(columns) - self._left:
            self._left -= 1
        fitted = fit_columns(columns[self._left :], width)
        self._fitted = [(self._left + place, cells) for place, cells in fitted]
        self.forget()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return self._header(width)
        place = self.top + y - 1
        if place >= len(self.rows.view):
            lines = wrapped(wording(self.empty), width) if width and not len(self.rows.view) else []
            top = max(min(self.size.height - len(lines), 2), 1)  # below an empty line, where that has room
            text = lines[y - top] if top <= y < len(lines) + top else ""
            return fitted([(text, _PLAIN)], width, self.glyphs.ellipsis)
        row = int(self.rows.view[place])
        key = (row, place == self.cursor)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._draw(row, width, self._cursor_style if key[1] else _PLAIN)
        return strip

    def _header(self, width: int) -> Strip:
        titles = []
        for place, cells in self._fitted:
            column = self.rows.columns[place]
            mark = ""
            if place == self.rows.sort:
                mark = self.glyphs.down if self.rows.descending else self.glyphs.up
            title = clipped(heading(column.title), cells - len(mark), self.glyphs.ellipsis) + mark
            titles.append(self._aligned(title, cells, column.right))
        text = set_cell_size((" " * GAP).join(titles), width)
        return Strip([Segment(text, self._header_style)], width)

    def _draw(self, row: int, width: int, style: Style) -> Strip:
        """Draw one row: neighbouring pieces of one style become one segment, so that few bytes are sent.

        What a column draws in colours of its own keeps them under the cursor; pieces without any take the
        row's.
        """
        pieces: list[StyledText] = []
        for place, cells in self._fitted:
            column = self.rows.columns[place]
            if pieces:
                pieces.append((" " * GAP, style))
            pieces.extend(self._cell(column.draw(row, cells), cells, column, style))
        pieces.append((" " * width, style))
        segments: list[Segment] = []
        run, run_style = "", style
        for text, piece_style in pieces:
            if piece_style is not run_style and piece_style != run_style:
                if run:
                    segments.append(Segment(run, run_style))
                run, run_style = "", piece_style
            run += text
        segments.append(Segment(run, run_style))
        if row in self._marked:
            mark = Segment(self.glyphs.note, self._header_style)
            return Strip([*Strip(segments).crop(0, width - 1), mark], width)
        return Strip(segments).crop(0, width)

    def _cell(self, cell: Cell, cells: int, column: ViewColumn, style: Style) -> list[StyledText]:
        """Return the pieces of a cell, padded to its width."""
        if isinstance(cell, str):
            cell_style = style or column.style or style
            return [(self._aligned(cell, cells, column.right), cell_style)]
        pieces = [(text, cell_style if cell_style else style) for text, cell_style in cell]
        blanks = " " * (cells - sum(cell_len(text) for text, _ in pieces))
        return [(blanks, style), *pieces] if column.right else [*pieces, (blanks, style)]

    def _aligned(self, text: str, cells: int, right: bool) -> str:
        """Align a text in exactly `cells` cells. A number that does not fit is #s, never another number."""
        length = cell_len(text)
        if length > cells:
            return "#" * cells if right else set_cell_size(clipped(text, cells, self.glyphs.ellipsis), cells)
        return " " * (cells - length) + text if right else text + " " * (cells - length)
