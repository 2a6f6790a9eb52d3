"""Run one query over tables in memory: it reads them, and nothing else. Imports DuckDB late."""

from __future__ import annotations

import contextlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracetui.export.queries.query_tables import register_tables
from tracetui.language import state
from tracetui.trace.clean import printable

if TYPE_CHECKING:
    from tracetui.export.queries.relations import Relations

_LOOK_S = 0.05  # how often a query that runs is looked at
LONGEST_REASON = 300  #: characters of what is wrong with a query
#: Nothing is read but what is registered, and nothing is written: what does not fit into memory is an error.
_ALONE: dict[str, Any] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


class QueryError(Exception):
    """A query that has no answer; `str()` says why in a printable sentence."""


@dataclass(frozen=True)
class QueryResult:
    """The rows that a query asked for."""

    columns: list[str]  #: their names, as the query gives them: never print them unescaped
    rows: list[tuple[Any, ...]]  #: Python values; None: unknown
    is_cut: bool = False  #: there are more rows than were wanted


def is_installed() -> bool:
    """Return whether DuckDB is there."""
    return importlib.util.find_spec("duckdb") is not None


def run_query(
    relations: Relations,
    sql: str,
    timeout_s: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    most: int | None = None,
) -> QueryResult:
    """Return what one SELECT answers over the relations.

    DuckDB runs in memory, without access to files, network or extensions, and its configuration is locked.
    Raises QueryError for any other statement, for an error in it, after `timeout_s` seconds, and once
    `should_stop` says so.

    Args:
        relations: the tables that the query may name.
        sql: the query.
        timeout_s: None: for as long as it takes.
        should_stop: asked now and then, in another thread.
        most: rows that are wanted; None: all.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=_ALONE)
    with connection:
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise QueryError(_reason(error)) from None
        if len(statements) != 1:
            raise QueryError(state("a query is one statement, and this is {count}", count=len(statements)))
        if statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError(state("a query begins with select, with or from: tables are only read"))
        try:
            register_tables(connection, relations, sql)
            connection.execute("set enable_progress_bar = false")  # stdout is the answer's
            connection.execute("set lock_configuration = true")
            with _interrupted(connection, timeout_s, should_stop):
                result = connection.execute(sql)
                columns = [column[0] for column in result.description]
                rows = result.fetchall() if most is None else result.fetchmany(most + 1)
        except duckdb.InterruptException:
            if should_stop is not None and should_stop():
                raise QueryError(state("the query was stopped")) from None
            raise QueryError(
                state(
                    "the query took longer than {seconds} s: --timeout allows more", seconds=f"{timeout_s:g}"
                )
            ) from None
        except duckdb.Error as error:
            raise QueryError(_reason(error)) from None
        return QueryResult(columns, rows[:most], most is not None and len(rows) > most)


@contextlib.contextmanager
def _interrupted(
    connection: Any, timeout_s: float | None, should_stop: Callable[[], bool] | None
) -> Iterator[None]:
    """Interrupt the query that runs inside, once the time is over or somebody asks for it."""
    done = threading.Event()
    end = None if timeout_s is None else time.monotonic() + timeout_s

    def watch() -> None:
        while not done.wait(_LOOK_S):
            if (end is not None and time.monotonic() > end) or (should_stop is not None and should_stop()):
                connection.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _reason(error: Exception) -> str:
    """Return what DuckDB says is wrong, in one line."""
    first, *_ = str(error).strip().splitlines() or [""]
    return printable(first, LONGEST_REASON)


def schema_lines(relations: Relations) -> Sequence[str]:
    """Return each table with its columns, a line each."""
    return [f"{name}: {', '.join(relation.columns)}" for name, relation in sorted(relations.items())]
