"""Flip bytes in pages of databases and read their tables in C: what it takes has to be what SQLite reads."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from tracetui.compiled import COMPILED
from tracetui.databases import pages
from tracetui.databases.opening import Refused
from tracetui.databases.pages import LeafRows
from tracetui.databases.tables import Database

_COLUMNS = ("a", "b", "c", "d")
_PAGES = (512, 1024, 4096)
_ROWS = 300
_EDGES = (0, 1, -1, 127, 128, 32767, 2**23, 2**31, 2**47, -(2**47), 2**63 - 1, -(2**63))


def fuzz_leaves(chooser: random.Random, seconds: float) -> None:
    """Read damaged pages for so long; whatever C takes otherwise than SQLite ends the program."""
    assert COMPILED, "nothing is compiled"
    until = time.monotonic() + seconds
    read = taken = compared = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as directory:
        path = Path(directory) / "a.db"
        while time.monotonic() < until:
            whole = _database(chooser, path)
            for _ in range(50):
                path.write_bytes(_damaged(chooser, whole))
                rows, in_c = _numbers(path)
                read += 1
                taken += in_c
                compared += in_c and _is_same(path, rows)
    print(f"{read:,} tables read, {taken:,} of them in C, {compared:,} as SQLite reads them, none otherwise")


def _database(chooser: random.Random, path: Path) -> bytes:
    """Return the bytes of a database with a table of rows at random, and a rowid that is a column or none."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size={chooser.choice(_PAGES)}")
    connection.execute(f"CREATE TABLE t (a INTEGER {chooser.choice(('', 'PRIMARY KEY'))}, b TEXT, c, d REAL)")
    kinds = [chooser.randrange(4) for _ in _COLUMNS]
    rows = [
        (place, *(_cell(chooser, chooser.choice((kind, kind, 0))) for kind in kinds[1:]))
        for place in range(chooser.choice((3, _ROWS)))
    ]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path.read_bytes()


def _cell(chooser: random.Random, kind: int) -> Any:
    number = chooser.choice((*_EDGES, chooser.randrange(1 << chooser.randrange(1, 63))))
    return (number, str(number), number / 8, chooser.choice((None, b"blob", "text", "")))[kind]


def _damaged(chooser: random.Random, whole: bytes) -> bytes:
    """Return a file of which some bytes of the second half of its pages, or near their starts, are others."""
    damaged = bytearray(whole)
    page = int.from_bytes(whole[16:18], "big")
    for _ in range(chooser.choice((0, 1, 1, 2, 5, 20))):
        number = chooser.randrange(1, max(len(whole) // page, 2))
        place = number * page + chooser.choice((chooser.randrange(page), chooser.randrange(40), page - 9))
        if place < len(damaged):
            damaged[place] = chooser.choice((0, 1, 5, 9, 13, 0x7F, 0x80, 0xFF, chooser.randrange(256)))
    return bytes(damaged[: -chooser.randrange(page)] if chooser.random() < 0.02 else damaged)


def _numbers(path: Path) -> tuple[list[list[int]], bool]:
    """Return the whole numbers of the columns, and whether all were read in C."""
    columns: list[list[int]] = [[] for _ in _COLUMNS]
    in_c = True
    try:
        with Database(path) as database:
            for rows in database.rows("t", _COLUMNS):
                in_c = in_c and isinstance(rows, LeafRows)
                for column, name in zip(columns, _COLUMNS):
                    column += rows.numbers(name).tolist()
            in_c = in_c and not database.problems
    except Refused:
        return columns, False
    return columns, in_c


def _is_same(path: Path, rows: list[list[int]]) -> bool:
    """Return whether SQLite reads the whole table; what it reads has to be these rows."""
    with mock.patch.object(pages.PageReader, "rows", side_effect=pages.Unusual), Database(path) as database:
        columns: list[list[int]] = [[] for _ in _COLUMNS]
        for part in database.rows("t", _COLUMNS):
            for column, name in zip(columns, _COLUMNS):
                column += part.numbers(name).tolist()
        if database.problems:
            return False
    for name, ours, sqlite_column in zip(_COLUMNS, rows, columns):
        assert len(ours) == len(sqlite_column), (name, len(ours), len(sqlite_column))
        differing = [
            (place, *pair) for place, pair in enumerate(zip(ours, sqlite_column)) if pair[0] != pair[1]
        ]
        assert not differing, (name, differing[:3])
    return True
