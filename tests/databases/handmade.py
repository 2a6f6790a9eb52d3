"""Databases of a few rows that say everything: each table with its columns, texts by their ids."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

START = 1_736_412_474_000_000_000
NONE = 0xFFFFFFFF
PID = 4242
MAIN = PID << 32 | PID  #: the thread that the process began with


class Rows(NamedTuple):
    """A table: its columns, and its rows."""

    columns: str  #: as SQL declares them
    rows: Sequence[Sequence[Any]]


class Texts:
    """The ids of texts in STRING_IDS."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids))

    def rows(self) -> Rows:
        """Return the table."""
        return Rows("id INTEGER PRIMARY KEY, value TEXT", [(id_, text) for text, id_ in self.ids.items()])


API_TYPES = Rows(
    "id INTEGER PRIMARY KEY, name TEXT",
    [
        *((20000, "acl"), (15000, "model"), (10000, "node"), (5500, "communication"), (5000, "runtime")),
        *((50001, "op"), (50002, "queue"), (50003, "trace"), (50004, "mstx")),
    ],
)
TASK = (
    "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
    " globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER,"
    " modelId INTEGER"
)
KERNEL = "name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, opType INTEGER"
CALL = (
    "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY,"
    " name INTEGER"
)


def write(path: Path, tables: Mapping[str, Rows], statements: Iterable[str] = ()) -> Path:
    """Write a database of some tables, then run statements; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    for name, (columns, rows) in tables.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def kernels(
    text: Texts,
    times: Iterable[tuple[int, int]],
    device: int = 0,
    stream: int = 2,
    first: int = 0,
    task_type: str = "AI_CORE",
) -> dict[str, Rows]:
    """Return kernels that run at (start, end), in ns from START, each launched by a call before it."""
    tasks, infos, calls = [], [], []
    for number, (start, end) in enumerate(times, first):
        begin = START + start
        launch = (10000, MAIN, 1000 + number, text("launch"))
        calls.append((begin - 900, begin - 500, *launch))
        ids = (device, 1000 + number, number, PID, text("KERNEL_AICORE"))
        tasks.append((begin, START + end, *ids, NONE, stream, number, NONE))
        infos.append((text("aclnnAdd_AddAiCore_Add"), number, text(task_type), text("Add")))
    return {
        "TASK": Rows(TASK, tasks),
        "COMPUTE_TASK_INFO": Rows(KERNEL, infos),
        "CANN_API": Rows(CALL, calls),
    }


def joined(*several: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return the rows of several sets of tables together."""
    found: dict[str, Rows] = {}
    for tables in several:
        for name, table in tables.items():
            before = found.get(name, Rows(table.columns, []))
            found[name] = Rows(table.columns, [*before.rows, *table.rows])
    return found
