"""Run one query over tables in memory: it reads them, and nothing else. Imports DuckDB and pandas late.

Of a table only the columns are made whose names stand in the query: a trace of a gigabyte has millions of
events with twenty columns each, and most queries ask for two.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tracetui.export.queries.relations import Relation, Relations
from tracetui.export.tables.column import Form
from tracetui.trace.clean import printable

if TYPE_CHECKING:
    import pandas as pd

LONGEST_REASON = 300  #: characters of what is wrong with a query
_WORD = re.compile(r"\w+")
#: What asks for all columns of a table without naming them.
_EVERY_COLUMN = re.compile(
    r"\*|(?:^|\()\s*from\b|\b(?:columns|describe|natural|pivot|summarize|unpivot)\b", re.IGNORECASE
)
#: Stars that do not: those of count(*), and those that multiply by a number or what is in brackets.
_OTHER_STAR = re.compile(r"\(\s*\*\s*\)|(?<=[\d)])\s*\*|\*(?=\s*[\d(])")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class QueryError(Exception):
    """Why a query has no answer; `str()` is a sentence, printable."""


@dataclass(frozen=True)
class QueryResult:
    """The rows that a query asked for."""

    columns: list[str]  #: their names, as the query gives them: never print them unescaped
    rows: list[tuple[Any, ...]]  #: Python values; None: unknown


def is_installed() -> bool:
    """Return whether DuckDB is there."""
    return find_spec("duckdb") is not None


def run_query(relations: Relations, sql: str, timeout_s: float | None = None) -> QueryResult:
    """Return what one SELECT answers over the relations.

    DuckDB runs in memory, without access to files, network or extensions, and its configuration is locked.
    Raises QueryError for any other statement, for an error in it, and after `timeout_s` seconds.
    """
    import duckdb

    connection = duckdb.connect(
        ":memory:", config={"enable_external_access": "false", "python_enable_replacements": "false"}
    )
    with connection:
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise QueryError(_reason(error)) from None
        if len(statements) != 1:
            raise QueryError(f"a query is one statement, and this is {len(statements)}")
        if statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError("a query begins with select, with or from: tables are only read")
        for name, frame in _frames_named(relations, sql):
            connection.register(name, frame)
        connection.execute("set lock_configuration = true")
        return _answer(connection, sql, timeout_s)


def _answer(connection: Any, sql: str, timeout_s: float | None) -> QueryResult:
    """Run the query; interrupt it after `timeout_s` seconds."""
    import duckdb

    timer = threading.Timer(timeout_s, connection.interrupt) if timeout_s is not None else None
    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        result = connection.execute(sql)
        return QueryResult([column[0] for column in result.description], result.fetchall())
    except duckdb.InterruptException:
        raise QueryError(f"the query took longer than {timeout_s:g} s: --timeout allows more") from None
    except duckdb.Error as error:
        raise QueryError(_reason(error)) from None
    finally:
        if timer is not None:
            timer.cancel()


def _frames_named(relations: Relations, sql: str) -> list[tuple[str, pd.DataFrame]]:
    """Return the tables that stand in a query, each with the columns that may be asked for."""
    text = _OTHER_STAR.sub(" ", _COMMENT.sub(" ", sql))
    words = {word.lower() for word in _WORD.findall(text)}
    every = _EVERY_COLUMN.search(text) is not None
    return [
        (name, _frame(relation, None if every else words))
        for name, relation in relations.items()
        if name in words
    ]


def _frame(relation: Relation, words: set[str] | None) -> pd.DataFrame:
    """Return the rows of a table with the columns that `words` name, None: all; with one at the least."""
    from tracetui.export.data_frame import frame_of, small_frame

    columns = relation.table.of(Form.FRAME)
    # The name of a cause has a dot in it: "host.sync_ns".
    named = [column for column in columns if words is None or column.key.lower().rpartition(".")[2] in words]
    table = type(relation.table)(tuple(named or columns[:1]))
    return (small_frame if relation.is_small else frame_of)(table, relation.rows())


def _reason(error: Exception) -> str:
    """Return what DuckDB says is wrong, in one line."""
    first, *_ = str(error).strip().splitlines() or [""]
    return printable(first, LONGEST_REASON)


def schema_lines(relations: Relations) -> Sequence[str]:
    """Return each table with its columns, a line each."""
    return [f"{name}: {', '.join(relation.columns)}" for name, relation in sorted(relations.items())]
