"""Tables read from their pages are what SQLite says of them, whatever they hold."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from tracetui.databases import tables
from tracetui.databases.tables import UNKNOWN, Database

#: Integers of every width that SQLite stores, and what cells of another type may hold.
INTEGERS = st.one_of(
    st.sampled_from(
        [0, 1, -1, 127, 128, -128, 32767, 32768, 2**23, -(2**23), 2**31, 2**47, -(2**47), 2**63 - 1]
    ),
    st.integers(-(2**63) + 1, 2**63 - 1),
)
CELLS = st.one_of(
    st.none(),
    INTEGERS,
    st.floats(allow_nan=False),
    INTEGERS.map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),  # where SQLite's substr ends
    st.binary(max_size=9),
)
COLUMNS = ("a", "b", "c", "d")


def columns_of(path: Path, by_pages: bool) -> dict[str, Any]:
    """What is read of a table: numbers, floats and texts of each column, and the rowids of its parts."""
    found: dict[str, Any] = {"rows": 0}
    with Database(path) as database:
        if not by_pages:
            database._pages = None
        for rows in database.rows("t", COLUMNS, COLUMNS):
            found["rows"] += rows.count
            for column in COLUMNS:
                found.setdefault(f"{column} numbers", []).extend(rows.numbers(column).tolist())
                floats = rows.floats(column)
                found.setdefault(f"{column} floats", []).extend(
                    np.where(np.isnan(floats), 0.5, floats).tolist()
                )
                found.setdefault(f"{column} texts", []).extend(rows.texts(column))
    return found


def written(path: Path, schema: str, rows: list[tuple[Any, ...]], *more: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE t ({schema})")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    for statement in more:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=60))
def test_cells_of_any_kind(rows: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as directory:
        path = written(Path(directory) / "a.db", "a INTEGER, b TEXT, c NUMERIC, d", rows)
        assert columns_of(path, True) == columns_of(path, False)


@pytest.mark.parametrize("key", ["a INTEGER PRIMARY KEY", "a INTEGER PRIMARY KEY DESC", "a INT PRIMARY KEY"])
def test_keys_that_are_the_rowid_and_others(tmp_path: Path, key: str) -> None:
    rows = [(number, number * 1000, str(number), None) for number in range(7, 9000, 3)]
    path = written(tmp_path / "a.db", f"{key}, b, c, d", rows, "DELETE FROM t WHERE a % 5 = 0")
    found = columns_of(path, True)
    assert found == columns_of(path, False)
    assert found["a numbers"] == [number for number, *_ in rows if number % 5]


def test_columns_that_were_added_later(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?)", [(number, "x" * (number % 50)) for number in range(500)]
    )
    connection.execute("ALTER TABLE t ADD COLUMN c INTEGER")
    connection.execute("ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 7")
    connection.execute("INSERT INTO t VALUES (1, 2, 3, 4)")
    connection.commit()
    connection.close()
    found = columns_of(tmp_path / "a.db", True)
    assert found == columns_of(tmp_path / "a.db", False)
    assert found["c numbers"] == [UNKNOWN] * 500 + [3]
    assert found["d numbers"] == [7] * 500 + [4]


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_pages_of_any_size(tmp_path: Path, page: int) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute(f"PRAGMA page_size={page}")
    connection.close()
    rows = [(number, number * 2**33, f"{number}", number / 4) for number in range(20_000)]
    path = written(tmp_path / "a.db", "a, b, c, d", rows)
    found = columns_of(path, True)
    assert found == columns_of(path, False)
    assert found["b numbers"][-1] == 19_999 * 2**33


def test_rows_that_go_on_in_other_pages(tmp_path: Path) -> None:
    """From the first part of the table with one on, SQLite reads it."""
    rows = [(number, "x" * (20_000 if number == 150_000 else 3), None, None) for number in range(160_000)]
    path = written(tmp_path / "a.db", "a, b, c, d", rows)
    found = columns_of(path, True)
    assert found["rows"] == 160_000
    assert found["a numbers"] == list(range(160_000))
    assert len(found["b texts"][150_000]) == 20_000


def test_another_encoding(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("PRAGMA encoding='UTF-16'")
    connection.close()
    path = written(tmp_path / "a.db", "a, b, c, d", [(1, "\u4e2d\u6587", "x", None)])
    assert columns_of(path, True)["b texts"] == ["\u4e2d\u6587"]


def test_all_tables_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    DatabaseWriter(simulate("moba", 1), 2).write(path)
    with Database(path) as database, Database(path) as other:
        assert database._pages is not None
        other._pages = None
        for table in database.tables.values():
            names = list(table.columns)
            ours, theirs = (
                [(rows.count, rows.first) for rows in each.rows(table.name, names, rows=10**6)]
                for each in (database, other)
            )
            assert sum(count for count, _ in ours) == sum(count for count, _ in theirs)
            assert ours[0][1] == theirs[0][1]
            for name in names:
                columns = [
                    np.concatenate([rows.numbers(name) for rows in each.rows(table.name, names)])
                    for each in (database, other)
                ]
                assert (columns[0] == columns[1]).all(), (table.name, name)
    assert tables.ROWS
