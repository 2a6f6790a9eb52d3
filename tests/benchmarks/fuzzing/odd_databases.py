"""Databases whose tables, columns and cells are not as their producers write them."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

from simulator.database import DatabaseWriter
from simulator.scenarios import SCENARIOS, simulate
from tests.benchmarks.fuzzing.mutation import damage_bytes

REAL = Path(__file__).resolve().parents[4] / "shared" / "traces"
_NAMES = (
    *("ascend_pytorch_profiler_0.db", "ascend_pytorch_profiler.db", "ascend_mindspore_profiler_3.db"),
    *("msprof_20250101010101.db", "msmonitor_7_20250101010101123_0.db", "x.db"),
)
_ODD_CELLS: tuple[Any, ...] = (
    *(
        None,
        0,
        1,
        -1,
        5,
        0.5,
        -0.0,
        1e308,
        float("inf"),
        1 << 31,
        0xFFFFFFFF,
        1 << 32,
        (1 << 63) - 1,
        -(1 << 63),
    ),
    *(
        10**18,
        1 << 62,
        65534,
        "",
        " ",
        "N/A",
        "x" * 5000,
        "9" * 400,
        "12",
        "-7",
        "1.5",
        "nan",
        b"\xff\xfe",
        b"",
    ),
    *(
        "\x1b[31m\x1b]0;owned\x07",
        "[bold red]x[/]",
        "=1+1",
        "a\tb\nc",
        "\0",
        "ProfilerStep#1",
        "漢字",
        "Free",
    ),
)
_COMMANDS = (
    *(
        ("summary",),
        ("gaps",),
        ("hotspots",),
        ("operators",),
        ("memory",),
        ("advice",),
        ("doctor",),
        ("phases",),
    ),
    *(
        ("experts",),
        ("pipeline",),
        ("scheduler",),
        ("summary", "--json"),
        ("gaps", "--json"),
        ("memory", "--json"),
    ),
    *(("operators", "--csv", "-"), ("doctor", "--json"), ("check", "--max-idle", "5%")),
)


@cache
def _originals() -> list[bytes]:
    """Return small databases of all kinds of runs."""
    found = []
    for level, name in enumerate(sorted(SCENARIOS)):
        path = Path("/dev/shm") / f"original-{name}.db"
        path.unlink(missing_ok=True)
        DatabaseWriter(simulate(name, 2), level % 3).write(path)
        found.append(path.read_bytes())
        path.unlink()
    return found + [path.read_bytes() for path in sorted(REAL.glob("npu/level2_db/*/*/ascend_pytorch_*.db"))]


def damaged_database(chooser: random.Random, _: object, directory: Path) -> list[list[str]]:
    """Write one odd database; return commands that read it."""
    path = directory / chooser.choice(_NAMES)
    path.write_bytes(chooser.choice(_originals()))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for _ in range(chooser.choice((1, 1, 2, 4, 10, 30))):
            with contextlib.suppress(sqlite3.Error, OverflowError):
                _change(chooser, connection)
        connection.commit()
    if chooser.random() < 0.15:
        path.write_bytes(damage_bytes(chooser, path.read_bytes()))
    target = chooser.choice((path, directory))
    commands = [[name, str(target), *rest] for name, *rest in chooser.sample(_COMMANDS, 3)]
    if chooser.random() < 0.1:
        commands.append(["compare", str(path), str(path)])
    if chooser.random() < 0.1:
        commands.append(["digest", str(path), "-o", str(directory / "digests")])
    if chooser.random() < 0.1:
        commands.append(["report", str(path), "-o", str(directory / "report.html")])
    if chooser.random() < 0.1 and path.name != "x.db":
        shutil.copyfile(path, directory / "ascend_pytorch_profiler_1.db")
        commands.append(["ranks", str(directory)])
    return commands


def _change(chooser: random.Random, connection: sqlite3.Connection) -> None:
    """Change a table, a column, or some cells."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = chooser.choice(tables)
    columns = [column[1] for column in connection.execute(f'PRAGMA table_info("{table}")')]
    column = chooser.choice(columns)
    row = chooser.choice(("", "", "WHERE abs(random() % 2) = 0", "WHERE abs(random() % 50) = 0", "LIMIT 1"))
    if row == "LIMIT 1":
        row = f'WHERE rowid = (SELECT max(rowid) FROM "{table}")'
    kind = chooser.randrange(13)
    if kind == 0:
        connection.execute(f'DROP TABLE "{table}"')
    elif kind == 1:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    elif kind == 2:
        connection.execute(
            f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{chooser.choice(("x", column.upper()))}"'
        )
    elif kind == 3:
        connection.execute(f'DELETE FROM "{table}" {row}')
    elif kind == 4:
        connection.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}"')
    elif kind == 5:
        shift = chooser.choice((1, -1, 1 << 32, 10**9, -(10**18), 3 * 86_400 * 10**9))
        connection.execute(f'UPDATE "{table}" SET "{column}" = "{column}" + ? {row}', (shift,))
    elif kind == 6:  # other types, columns in another order, no key
        order = ", ".join(f'"{name}"' for name in chooser.sample(columns, len(columns)))
        connection.execute(f'CREATE TABLE other AS SELECT {order} FROM "{table}"')
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'ALTER TABLE other RENAME TO "{chooser.choice((table, table.lower()))}"')
    elif kind == 7:
        other = chooser.choice(columns)
        connection.execute(f'UPDATE "{table}" SET "{column}" = "{other}" {row}')
    elif kind == 8:
        connection.execute(f'CREATE TABLE other AS SELECT * FROM "{table}"')
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'CREATE VIEW "{table}" AS SELECT * FROM other')
    elif kind == 9:
        connection.execute(
            "UPDATE STRING_IDS SET value = ? WHERE abs(random() % 20) = 0", (chooser.choice(_ODD_CELLS),)
        )
    else:
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? {row}', (chooser.choice(_ODD_CELLS),))
