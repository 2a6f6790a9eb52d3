"""How long a database takes to open beside the JSON of the same run; the large one is made of a small one.

python -m tests.benchmarks.databases SOURCE TARGET (--mb N | --copies N)     writes a large database
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from simulator.writer import TraceWriter
from tests.benchmarks.opening import opened, opening_seconds, peak_bytes
from tests.benchmarks.table import Row, seconds
from tests.benchmarks.traces import REAL, SCALE_TOOL, SHARED

REAL_DATABASE = SHARED / "traces/npu/level2_db/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
NAME = "ascend_pytorch_profiler_0.db"
PAUSE_NS = 1_000_000  #: between two copies
_NONE = 0xFFFFFFFF  # and beyond: no id
_TIMES = frozenset(
    (
        *("startNs", "endNs", "timestampNs", "timestamp"),
        *("allocationTime", "releaseTime", "activeReleaseTime"),
    )
)
_IDS = frozenset(("globalTaskId", "connectionId", "opId", "callchainId", "sequenceNumber"))
#: Tables in which `id` is of one row, and not of a text.
_NUMBERED = ("CONNECTION_IDS", "PYTORCH_CALLCHAINS", "STEP_TIME")
#: Tables that describe the whole run.
_ONCE = re.compile(
    r"ENUM_\w+|STRING_IDS|\w+_INFO_MAP|META_DATA|NPU_INFO|HOST_INFO|RANK_DEVICE_MAP|sqlite_\w+"
)
_STEP = "ProfilerStep#"


def rows(directory: Path, megabytes: int, runs: int, jobs: int | None) -> list[Row]:
    """Return the lines about opening a database of about so many MB, and the JSON of the same run."""
    directory.mkdir(parents=True, exist_ok=True)
    database, text = directory / NAME, directory / "trace_view.json"
    if SCALE_TOOL.exists() and REAL.exists() and (REAL_DATABASE / NAME).exists():
        copies = scale(REAL_DATABASE / NAME, database, megabytes)
        command = [sys.executable, str(SCALE_TOOL), str(REAL), str(text), "--copies", str(copies)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    else:
        write_both(database, text, megabytes)
    opening, of_text = [], []
    for _ in range(runs):  # in turns: what else the machine does concerns both
        of_text.append(opening_seconds("cold", text, jobs))
        opening.append(opening_seconds("cold", database, jobs))
    peak, beside = (peak_bytes(opened(path, jobs)) for path in (database, text))
    size, text_size = (path.stat().st_size / 1e6 for path in (database, text))
    ratio = f"{peak / beside:.2f} x that of the JSON"
    return [
        seconds(f"the JSON of the same run, {text_size:,.0f} MB", of_text),
        seconds(f"a database of {size:,.0f} MB, fully analysed", opening, of_text, "the time of its JSON"),
        Row("peak memory of that", f"{peak / 1e6:,.0f} MB", ratio, told=ratio),
    ]


def write_both(database: Path, text: Path, megabytes: int) -> None:
    """Write a simulated run of about so many MB as a database, and as JSON."""
    recording = simulate("mixed")
    DatabaseWriter(recording).write(database)
    times = max(1, round(megabytes * 1e6 / database.stat().st_size))
    database.unlink()
    DatabaseWriter(recording).write(database, times)
    with text.open("wb") as file:
        TraceWriter(recording).write(file, times)


def scale(source: Path, target: Path, megabytes: float = 0, copies: int = 0) -> int:
    """Write a database of so many copies of another, or of about so many MB; return how many copies.

    Times are shifted by the length of the run, ids are those of one copy only, and steps are numbered on:
    what belonged together in the source does so in each copy.
    """
    copies = copies or max(1, round(megabytes * 1e6 / source.stat().st_size))
    connection = sqlite3.connect(target.absolute().as_uri(), uri=True)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro&immutable=1",))
    tables = connection.execute("SELECT name, sql FROM source.sqlite_master WHERE type = 'table'").fetchall()
    columns = {
        name: [column[1] for column in connection.execute(f"PRAGMA source.table_info({name})")]
        for name, _ in tables
        if not name.startswith("sqlite_")
    }
    first, last = _span(connection, columns)
    shift, stride = last - first + PAUSE_NS, _stride(connection, columns)
    steps = _steps(connection)
    for name, sql in tables:
        if name not in columns:
            continue
        connection.execute(sql)
        selected = ", ".join(_shifted(name, column) for column in columns[name])
        for copy in range(1 if _ONCE.fullmatch(name) else copies):
            numbers = {"shift": copy * shift, "stride": copy * stride, "steps": copy * max(len(steps), 1)}
            numbers["step_texts"] = copy << 40
            query = f"INSERT INTO main.{name} SELECT {selected} FROM source.{name}"
            connection.execute(query, {key: value for key, value in numbers.items() if f":{key}" in query})
    for copy in range(1, copies):
        texts = [(id_ + (copy << 40), f"{_STEP}{number + copy * len(steps)}") for id_, number in steps]
        connection.executemany("INSERT INTO main.STRING_IDS (id, value) VALUES (?, ?)", texts)
    for (sql,) in connection.execute("SELECT sql FROM source.sqlite_master WHERE type = 'index'").fetchall():
        if sql:
            connection.execute(sql)
    connection.commit()
    connection.close()
    os.utime(target, (1_700_000_000, 1_700_000_000))  # old enough to be cached
    return copies


def _shifted(table: str, column: str) -> str:
    """Return the expression of a column in a copy."""
    if column in _TIMES:
        return f"{column} + :shift"
    if column in _IDS or (column == "id" and table in _NUMBERED):
        by = ":steps" if table == "STEP_TIME" else ":stride"
        return f"CASE WHEN {column} BETWEEN 0 AND {_NONE - 1} THEN {column} + {by} ELSE {column} END"
    if table == "PYTORCH_API" and column == "name":
        steps = f"SELECT id FROM source.STRING_IDS WHERE value GLOB '{_STEP}*'"
        return f"CASE WHEN name IN ({steps}) THEN name + :step_texts ELSE name END"
    return column


def _span(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> tuple[int, int]:
    """Return the first and the last time of all that is drawn."""
    found = [
        connection.execute(
            f"SELECT min(CAST(startNs AS INTEGER)), max(CAST(endNs AS INTEGER)) FROM source.{name}"
        ).fetchone()
        for name, names in columns.items()
        if "startNs" in names
    ]
    return min(low for low, _ in found if low), max(high for _, high in found if high)


def _stride(connection: sqlite3.Connection, columns: dict[str, list[str]]) -> int:
    """Return a number beyond all ids."""
    largest: list[int] = [0]
    for table, names in columns.items():
        for column in names:
            if column in _IDS or (column == "id" and table in _NUMBERED):
                query = f"SELECT max({column}) FROM source.{table} WHERE {column} < {_NONE}"
                largest.append(connection.execute(query).fetchone()[0] or 0)
    return int(10 ** len(str(max(largest))))


def _steps(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Return the ids of the texts that name steps, and the numbers of these."""
    found = connection.execute(f"SELECT id, value FROM source.STRING_IDS WHERE value GLOB '{_STEP}[0-9]*'")
    return [(id_, int(value[len(_STEP) :])) for id_, value in found.fetchall()]


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks.databases")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--mb", type=float, default=0)
    parser.add_argument("--copies", type=int, default=0)
    asked = parser.parse_args()
    print(f"{scale(asked.source, asked.target, asked.mb, asked.copies):,} copies")


if __name__ == "__main__":
    main()
