"""Tables read from their pages are what SQLite says of them, whatever they hold."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from tracetui.compiled import COMPILED, native
from tracetui.databases import pages, tables
from tracetui.databases.pages import Field, LeafRows, PageReader, PageRows, Unusual
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
    st.sampled_from(
        ["12", " 12", "1_2", "-12", "0012", "12a", "\u0663", "9" * 19, "9" * 39, "0" * 38 + "7", "0" * 40]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),  # where SQLite's substr ends
    st.binary(max_size=9),
)
COLUMNS = ("a", "b", "c", "d")


#: What reads the pages: C, where that is compiled; numpy, which is all that others have; SQLite row by row.
READERS = ("c", "numpy", "sqlite")


def columns_of(path: Path, reader: str) -> dict[str, Any]:
    """What is read of a table: numbers, floats and texts of each column, and how many rows."""
    found: dict[str, Any] = {"rows": 0}
    compiled = mock.patch.object(pages, "COMPILED", COMPILED and reader == "c")
    with compiled, Database(path) as database:
        if reader == "sqlite":
            database._pages = None
        for rows in database.rows("t", COLUMNS):
            found["rows"] += rows.count
            for column in COLUMNS:
                found.setdefault(f"{column} numbers", []).extend(rows.numbers(column).tolist())
        for rows in database.rows("t", COLUMNS, floats=COLUMNS):
            for column in COLUMNS:
                floats = rows.floats(column)
                found.setdefault(f"{column} floats", []).extend(
                    np.where(np.isnan(floats), 0.5, floats).tolist()
                )
                found.setdefault(f"{column} numbers beside floats", []).extend(rows.numbers(column).tolist())
        for rows in database.rows("t", COLUMNS, COLUMNS):
            for column in COLUMNS:
                found.setdefault(f"{column} texts", []).extend(rows.texts(column))
    return found


def same_by_all(path: Path) -> dict[str, Any]:
    """What is read of a table, which is the same whatever reads it."""
    ways = [columns_of(path, reader) for reader in READERS]
    assert ways[0] == ways[2]
    assert ways[1] == ways[2]
    return ways[0]


def written(path: Path, schema: str, rows: list[tuple[Any, ...]], *more: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE t ({schema})")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    for statement in more:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=60))
def test_cells_of_any_kind(rows: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as directory:
        path = written(Path(directory) / "a.db", "a INTEGER, b TEXT, c NUMERIC, d", rows)
        same_by_all(path)


@pytest.mark.parametrize("key", ["a INTEGER PRIMARY KEY", "a INTEGER PRIMARY KEY DESC", "a INT PRIMARY KEY"])
def test_keys_that_are_the_rowid_and_others(tmp_path: Path, key: str) -> None:
    rows = [(number, number * 1000, str(number), None) for number in range(7, 9000, 3)]
    path = written(tmp_path / "a.db", f"{key}, b, c, d", rows, "DELETE FROM t WHERE a % 5 = 0")
    found = same_by_all(path)
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
    found = same_by_all(tmp_path / "a.db")
    assert found["c numbers"] == [UNKNOWN] * 500 + [3]
    assert found["d numbers"] == [7] * 500 + [4]


@pytest.mark.parametrize(
    ("compiled", "kind"),
    [
        pytest.param(True, LeafRows, marks=pytest.mark.skipif(not COMPILED, reason="nothing is compiled")),
        (False, PageRows),
    ],
)
def test_plain_tables_are_read_from_their_pages(tmp_path: Path, compiled: bool, kind: type) -> None:
    rows = [(number, str(number), number / 2, b"") for number in range(9000)]
    path = written(tmp_path / "a.db", "a INTEGER PRIMARY KEY, b TEXT, c REAL, d", rows)
    with mock.patch.object(pages, "COMPILED", compiled), Database(path) as database:
        assert {type(part) for part in database.rows("t", COLUMNS, floats=("c",))} == {kind}


@pytest.mark.parametrize(
    "place, content",
    [
        pytest.param(0, b"\x05", id="a page of another kind"),
        pytest.param(3, b"\xff\xff", id="more rows than fit"),
        pytest.param(8, b"\x00\x00", id="a row in the header of its page"),
        pytest.param(8, b"\x0f\xff", id="a row at the end of its page"),
        pytest.param(-13, b"\xff" * 9, id="a length beyond all pages"),
        pytest.param(-13, b"\x0a", id="a row that ends before its cells"),
        pytest.param(-11, b"\x7f", id="types beyond the row"),
        pytest.param(-10, b"\x0a", id="a type that is reserved"),
        pytest.param(-10, b"\x06", id="a cell beyond the row"),
    ],
)
def test_pages_that_are_refused(tmp_path: Path, place: int, content: bytes) -> None:
    """A row ends its page: its length, its rowid, the length of its types, these, and three cells."""
    path = written(tmp_path / "a.db", "a, b, c, d", [(300, 300, 300, None), (300, 300, 300, None)])
    damaged = bytearray(path.read_bytes())
    start = 4096 if place >= 0 else 8192
    assert damaged[8192 - 13 : 8192 - 6] == bytes((11, 1, 5, 2, 2, 2, 0))
    damaged[start + place : start + place + len(content)] = content
    path.write_bytes(damaged)
    reader = PageReader(path)
    texts = {name: Field(place, is_rowid=False, is_text=True) for place, name in enumerate(COLUMNS)}
    with contextlib.closing(reader), pytest.raises(Unusual):
        list(reader.rows(2, texts, 4))
    if COMPILED:
        wanted = np.array([(column, 0) for column in range(4)], np.int32).tobytes()
        with path.open("rb") as file:
            page = np.array([2]).tobytes()
            assert native.read_leaves(file.fileno(), 4096, 4096, page, wanted) is None


@pytest.mark.parametrize("count", [0, 1, 2])
def test_rows_are_counted_without_their_pages(tmp_path: Path, count: int) -> None:
    path = written(tmp_path / "a.db", "a, b, c, d", [(None,) * 4] * count)
    with Database(path) as database:
        database._pages = None
        assert database.count("t") == count


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_pages_of_any_size(tmp_path: Path, page: int) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute(f"PRAGMA page_size={page}")
    connection.execute("CREATE TABLE other (a)")  # which writes the first page
    connection.close()
    rows = [(number, number * 2**33, f"{number}", number / 4) for number in range(20_000)]
    path = written(tmp_path / "a.db", "a, b, c, d", rows)
    with contextlib.closing(PageReader(path)) as reader:
        assert reader._page == page
    found = same_by_all(path)
    assert found["b numbers"][-1] == 19_999 * 2**33


def test_a_cell_is_no_more_than_a_million_characters(tmp_path: Path) -> None:
    path = written(tmp_path / "a.db", "a, b, c, d", [(7, "x" * (1 << 20) + "y", None, None)])
    with Database(path) as database:
        rows = [
            database.row("t", ("b",), 1, 0),
            *database.find("t", ("b",), "a", 7),
            *database.first_rows("t", ("b",)),
        ]
    assert rows == [{"b": "x" * (1 << 20)}] * 3


def test_rows_that_go_on_in_other_pages(tmp_path: Path) -> None:
    """From the first part of the table with one on, SQLite reads it."""
    rows = [(number, "x" * (20_000 if number == 150_000 else 3), None, None) for number in range(160_000)]
    path = written(tmp_path / "a.db", "a, b, c, d", rows)
    found = columns_of(path, "c")
    assert found["rows"] == 160_000
    assert found["a numbers"] == list(range(160_000))
    assert len(found["b texts"][150_000]) == 20_000


def test_another_encoding(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("PRAGMA encoding='UTF-16'")
    connection.close()
    path = written(tmp_path / "a.db", "a, b, c, d", [(1, "\u4e2d\u6587", "x", None)])
    assert same_by_all(path)["b texts"] == ["\u4e2d\u6587"]


def test_all_tables_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    DatabaseWriter(simulate("moba", 1), 2).write(path)
    with Database(path) as database, Database(path) as other:
        assert database._pages is not None
        other._pages = None
        for table in database.tables.values():
            names = list(table.columns)
            ours, by_sqlite = (
                [(rows.count, rows.first) for rows in reader.rows(table.name, names, rows=10**6)]
                for reader in (database, other)
            )
            assert sum(count for count, _ in ours) == sum(count for count, _ in by_sqlite)
            assert ours[0][1] == by_sqlite[0][1]
            for name in names:
                columns = [
                    np.concatenate([rows.numbers(name) for rows in reader.rows(table.name, names)])
                    for reader in (database, other)
                ]
                assert (columns[0] == columns[1]).all(), (table.name, name)
    assert tables.ROWS
