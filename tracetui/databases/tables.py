"""The tables of an opened database as columns of numpy, row after row as they lie in the file.

Whatever a table may lack is missing, not an error; a cell of another type than its column's is unknown. Names
of tables and columns are found as SQLite finds them, without regard to case.
"""

from __future__ import annotations

import contextlib
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Union

import numpy as np

from tracetui.arrays import Floats, Int64s
from tracetui.databases.opening import SQLITE_ERRORS, Refused, open_database
from tracetui.databases.pages import LONG_TEXT, AnyPageRows, Field, PageReader, Unusual
from tracetui.databases.pages import UNKNOWN as UNKNOWN
from tracetui.language import state

ROWS = 1 << 14  #: rows that are fetched at once
_LONGEST_TEXT = 1 << 20  # characters of a cell
_ROWID = "rowid"


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a database: never a view, never a virtual one, which run what the file says."""

    name: str
    columns: dict[str, str]  #: names as written, by their names in lower case
    has_rowid: bool
    root: int  #: page where its tree begins
    key: str | None  #: column that is another name of the rowid, in lower case
    is_plain: bool  #: rows hold all that it tells: no column has a default, or is computed

    def __contains__(self, column: str) -> bool:
        return column.lower() in self.columns


@dataclass(frozen=True)
class DatabaseRows:
    """Consecutive rows of a table; cells as SQLite gives them, by column; None where it lacks a column."""

    count: int
    first: int  #: rowid of the first; -1 without one
    cells: dict[str, Sequence[Any]]

    def __contains__(self, column: str) -> bool:
        return column in self.cells

    def texts(self, column: str) -> list[str | None]:
        """Return texts, those of blobs and numbers too; None where there is none."""
        return [_text_of(cell) for cell in self.cells[column]]

    def numbers(self, column: str) -> Int64s:
        """Return whole numbers; UNKNOWN where there is none. Text of digits is one."""
        if column not in self.cells:
            return np.full(self.count, UNKNOWN, np.int64)
        return whole_numbers(self.cells[column])

    def floats(self, column: str) -> Floats:
        """Return numbers; NaN where there is none."""
        if column not in self.cells:
            return np.full(self.count, np.nan)
        cells = self.cells[column]
        try:
            return np.frombuffer(array("d", cells), np.float64)
        except TypeError:
            return np.array([cell if type(cell) in (int, float) else np.nan for cell in cells], np.float64)


class Database:
    """A database as it was when it was opened; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open it; raises Refused."""
        self.path = path
        self._stack = contextlib.ExitStack()
        file = self._stack.enter_context(open_database(path))
        self._connection = file.connection
        self.file_problems = file.problems  #: sentences about the file
        self.table_problems: dict[str, str] = {}  #: by table: a sentence about what of it cannot be read
        self.being_written = file.being_written
        self._pages: PageReader | None = None
        if not file.problems:
            with contextlib.suppress(Unusual, OSError):
                self._pages = PageReader(path)
                self._stack.callback(self._pages.close)
        try:
            self.tables: dict[str, DatabaseTable] = {
                table.name.lower(): table for table in self._read_tables()
            }
            self._views = set(self._read_views())
        except BaseException:
            self._stack.close()
            raise

    @property
    def problems(self) -> list[str]:
        """The sentences about what cannot be read."""
        return [*self.file_problems, *self.table_problems.values()]

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a private copy is removed."""
        self._stack.close()

    def table(self, name: str) -> DatabaseTable | None:
        """Return the table of that name; None where there is none."""
        return self.tables.get(name.lower())

    def has(self, name: str, *columns: str) -> bool:
        """Return whether there is a table of that name with all those columns."""
        table = self.table(name)
        return table is not None and all(column in table for column in columns)

    def count(self, name: str) -> int:
        """Return about how many rows a table has; 0 where that is not known."""
        table = self.table(name)
        if table is None or not table.has_rowid:
            return 0
        if self._pages is not None:
            with contextlib.suppress(Unusual, OSError):
                return self._pages.about_rows(table.root)
        try:
            row = self._connection.execute(f"SELECT max({_ROWID}) FROM {_quoted(table.name)}").fetchone()
        except SQLITE_ERRORS:
            return 0
        return row[0] if type(row[0]) is int and row[0] > 0 else 0

    def rows(
        self,
        name: str,
        columns: Sequence[str],
        texts: Sequence[str] = (),
        rows: int = ROWS,
        floats: Sequence[str] = (),
    ) -> Iterator[AnyRows]:
        """Yield all rows of a table, those columns that it has; nothing where there is no such table.

        What cannot be read ends the table, and `table_problems` has a sentence on it. `texts`: columns of
        which no more than a MB a cell is wanted; `floats`: those that may hold other than whole numbers.
        """
        table = self.table(name)
        if table is None:
            self._note_view(name)
            return
        existing = [column for column in columns if column in table]
        last = None
        try:
            for page_rows in self.page_rows(name, columns, texts, floats):
                last = page_rows.last
                yield page_rows
        except (Unusual, OSError, MemoryError):
            pass  # SQLite goes on behind the last row
        else:
            return
        yield from self._rows(table, existing, texts, rows, last)

    def page_rows(
        self, name: str, columns: Sequence[str], texts: Sequence[str] = (), floats: Sequence[str] = ()
    ) -> Iterator[AnyPageRows]:
        """Yield rows as `rows` does, from the pages of the file alone; any thread may ask for them.

        Raises Unusual, OSError or MemoryError before the first row that takes SQLite.
        """
        table = self.table(name)
        if table is None or self._pages is None or not (table.has_rowid and table.is_plain):
            raise Unusual
        places = {column: place for place, column in enumerate(table.columns)}
        not_numbers = {*texts, *floats}
        fields = {
            column: Field(
                places[column.lower()],
                is_rowid=column.lower() == table.key,
                is_number=column not in not_numbers,
                is_text=column in texts,
            )
            for column in columns
            if column in table
        }
        yield from self._pages.rows(table.root, fields, len(places))

    def _rows(
        self, table: DatabaseTable, existing: Sequence[str], texts: Sequence[str], rows: int, last: int | None
    ) -> Iterator[DatabaseRows]:
        """Yield rows as SQLite gives them, from the one behind the rowid `last` on."""
        selected = [_expression(table, column, column in texts) for column in existing]
        place = _ROWID if table.has_rowid else "-1"
        query = f"SELECT {', '.join([place, *selected])} FROM {_quoted(table.name)}"
        if last is not None:
            query += f" WHERE {_ROWID} > {last}"
        row_count = 0
        try:
            cursor = self._connection.execute(query)
            while True:
                fetched = cursor.fetchmany(rows)
                if not fetched:
                    return
                columns = tuple(zip(*fetched))
                row_count += len(fetched)
                first = columns[0][0] if type(columns[0][0]) is int else -1
                yield DatabaseRows(len(fetched), first, dict(zip(existing, columns[1:])))
        except (*SQLITE_ERRORS, MemoryError, OverflowError) as error:
            self._note(table.name, row_count, error)

    def row(self, name: str, columns: Sequence[str], first: int, offset: int) -> dict[str, Any]:
        """Return some cells of the row `offset` rows behind the one with rowid `first`; {} without."""
        table = self.table(name)
        if table is None:
            return {}
        condition = f"WHERE {_ROWID} >= ?" if table.has_rowid else "WHERE ? = ?1"
        rows = self._select(table, columns, f"{condition} LIMIT 1 OFFSET ?", (first, offset))
        return rows[0] if rows else {}

    def find(self, name: str, columns: Sequence[str], key: str, value: int) -> list[dict[str, Any]]:
        """Return the rows of a table in which a column has that value."""
        table = self.table(name)
        if table is None or key not in table:
            return []
        condition = f"WHERE {_quoted(table.columns[key.lower()])} = ? LIMIT 1000"
        return self._select(table, columns, condition, (value,))

    def first_rows(self, name: str, columns: Sequence[str], limit: int = 1000) -> list[dict[str, Any]]:
        """Return the first rows of a table, at most so many."""
        table = self.table(name)
        return [] if table is None else self._select(table, columns, f"LIMIT {limit}")

    def _select(
        self, table: DatabaseTable, columns: Sequence[str], condition: str, values: tuple[int, ...] = ()
    ) -> list[dict[str, Any]]:
        """Return the rows that a condition chooses, those columns that there are; none of a damaged table."""
        existing = [column for column in columns if column in table]
        selected = ", ".join(_expression(table, column, True) for column in existing) or "1"
        try:
            rows = self._connection.execute(
                f"SELECT {selected} FROM {_quoted(table.name)} {condition}", values
            ).fetchall()
        except (*SQLITE_ERRORS, OverflowError):
            return []
        return [dict(zip(existing, row)) for row in rows]

    def interrupt_when(self, should_stop: Callable[[], bool] | None) -> None:
        """End whatever is being read as soon as `should_stop` says so; None: let it run."""
        handler = None if should_stop is None else (lambda: 1 if should_stop() else 0)
        self._connection.set_progress_handler(handler, 100_000)

    def _note(self, table: str, row_count: int, error: Exception) -> None:
        if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
            return
        template = "table {name}: damaged, {count} rows of it are read"
        if isinstance(error, MemoryError):
            template = "table {name}: too large for the memory there is, {count} rows of it are read"
        elif not row_count:
            template = "table {name}: damaged, and left out"
        self.table_problems.setdefault(
            table, state(template, name=plain_excerpt(table), count=f"{row_count:,}")
        )

    def _note_view(self, name: str) -> None:
        """Say that a view or a virtual table has the name of a table that is looked for."""
        if name.lower() in self._views:
            self.table_problems[name] = state(
                "table {name}: is a view or a virtual table, and left out", name=plain_excerpt(name)
            )

    def _read_views(self) -> Iterator[str]:
        """Yield the names, in lower case, of what looks like a table and would run what the file says."""
        query = "SELECT name FROM sqlite_master WHERE type = 'view' OR (type = 'table' AND rootpage = 0)"
        with contextlib.suppress(*SQLITE_ERRORS):
            for (name,) in self._connection.execute(query).fetchall():
                if isinstance(name, str):
                    yield name.lower()

    def _read_tables(self) -> Iterator[DatabaseTable]:
        try:
            master = self._connection.execute(
                "SELECT name, sql, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            ).fetchall()
        except SQLITE_ERRORS as error:
            raise Refused(f"is damaged from its beginning: {plain_excerpt(str(error))}") from None
        for name, sql, root in master:
            if not isinstance(name, str) or not isinstance(sql, str) or name.startswith("sqlite_"):
                continue
            try:
                described = self._connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
            except SQLITE_ERRORS:
                self.table_problems[name] = state(
                    "table {name}: damaged, and left out", name=plain_excerpt(name)
                )
                continue
            # Those that are computed are hidden: `table_xinfo` alone lists them.
            is_computed = any(column[6] for column in described)
            described = [column for column in described if not column[6]]
            columns = {str(column[1]).lower(): str(column[1]) for column in described}
            is_without_rowid = sql.rstrip().upper().endswith("WITHOUT ROWID") or _ROWID in columns
            keys = [column for column in described if column[5]]
            # "INTEGER PRIMARY KEY" is the rowid, any other key is a column like others.
            is_alias = len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER" and " DESC" not in sql.upper()
            is_plain = all(column[4] is None for column in described) and not is_computed
            key = str(keys[0][1]).lower() if is_alias else None
            plain_keys = not keys or is_alias
            yield DatabaseTable(name, columns, not is_without_rowid, root, key, is_plain and plain_keys)


AnyRows = Union[DatabaseRows, AnyPageRows]


def whole_numbers(cells: Sequence[Any]) -> Int64s:
    """Return cells as whole numbers; UNKNOWN of what is none."""
    try:
        return np.frombuffer(array("q", cells), np.int64)
    except TypeError:
        kinds = set(map(type, cells))
    try:
        if kinds <= {int, type(None)}:
            filled = [UNKNOWN if cell is None else cell for cell in cells]
            return np.frombuffer(array("q", filled), np.int64)
        if kinds == {str} and max(map(len, cells)) < LONG_TEXT:
            return np.frombuffer(array("q", map(int, cells)), np.int64)
    except (ValueError, OverflowError):
        pass
    return np.array([_whole_number(cell) for cell in cells], np.int64)


def _whole_number(cell: Any) -> int:
    if type(cell) is str and len(cell) < LONG_TEXT:
        try:
            cell = int(cell)
        except ValueError:
            return UNKNOWN
    if type(cell) is float and cell.is_integer():
        cell = int(cell)
    return cell if type(cell) is int and -(1 << 63) <= cell < 1 << 63 else UNKNOWN


def plain_excerpt(text: str) -> str:
    """Return a text from a file as one that a terminal prints as it is, not too long."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:60])


def _text_of(cell: Any) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return None if cell is None else str(cell)


def _expression(table: DatabaseTable, column: str, is_text: bool) -> str:
    name = _quoted(table.columns[column.lower()])
    if not is_text:
        return name
    return f"CASE typeof({name}) WHEN 'text' THEN substr({name}, 1, {_LONGEST_TEXT}) ELSE {name} END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
