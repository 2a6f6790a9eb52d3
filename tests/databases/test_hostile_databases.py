"""Databases that are damaged, foreign, hostile or in use: one sentence each, and the file as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tracetui
from simulator.database import DatabaseWriter
from simulator.memory import write_run
from simulator.recording import Recording
from simulator.scenarios import simulate
from tests.databases.handmade import Texts, kernels, write
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.reader.errors import Reason, UnreadableTrace

NAME = "ascend_pytorch_profiler_0.db"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / NAME
    DatabaseWriter(_recording(), 2).write(path)
    return path


@cache
def _recording() -> Recording:
    return simulate("stalls", 1)


@pytest.fixture
def database(whole: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    directory.mkdir()
    return Path(shutil.copy(whole, directory / NAME))


@pytest.fixture
def unchanged(database: Path) -> Iterator[None]:
    """Hold that the directory is as it was when the test said that it is ready: see `watch`."""
    yield
    before = _WATCHED.pop(database, None)
    assert before is None or state(database.parent) == before


_WATCHED: dict[Path, list[tuple[str, int, int, str]]] = {}


def state(directory: Path) -> list[tuple[str, int, int, str]]:
    found = [(".", directory.stat().st_mtime_ns, 0, "")]
    for path in sorted(directory.iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found.append((path.name, path.stat().st_mtime_ns, path.stat().st_size, digest))
    return found


def watch(database: Path) -> None:
    _WATCHED[database] = state(database.parent)


def change(database: Path, *statements: str) -> None:
    connection = sqlite3.connect(database)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def warnings_of(database: Path) -> tuple[str, ...]:
    watch(database)
    return tracetui.load(database, cache=False).trace.report.warnings


def refusal_of(database: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that a command says, with the status of what is no trace."""
    watch(database)
    assert main(["summary", str(database), "--no-cache"]) == ExitCode.UNREADABLE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    return printed.err


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"),
        (b"SQLite format 3\0", "nothing is left of it but the start of its header"),
        (b"name,start\n1,2\n" * 100, "is called a database and holds text"),
        (b"hello\n", "is called a database and holds text"),
        (b'{"traceEvents": []}', "holds JSON"),
        (bytes(range(256)) * 64, "is not a database of SQLite, or it is encrypted"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "cannot be read as a database"),
    ],
)
def test_what_is_no_database(
    database: Path, capsys: pytest.CaptureFixture[str], content: bytes, sentence: str
) -> None:
    database.write_bytes(content)
    assert sentence in refusal_of(database, capsys)


@pytest.mark.usefixtures("unchanged")
def test_a_database_of_somebody_else(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database.unlink()
    change(database, "CREATE TABLE songs (title TEXT)", "INSERT INTO songs VALUES ('x')")
    assert "is a database, but none of a profiler: its tables are songs" in refusal_of(database, capsys)


@pytest.mark.usefixtures("unchanged")
def test_a_database_without_rows(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database.unlink()
    change(database, "CREATE TABLE TASK (startNs INTEGER)")
    assert "the database holds no events" in refusal_of(database, capsys)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
@pytest.mark.usefixtures("unchanged")
def test_a_file_that_is_cut(database: Path, share: float) -> None:
    """The tables that are whole are read, and it is said."""
    content = database.read_bytes()
    database.write_bytes(content[: int(len(content) * share)])
    try:
        warnings = warnings_of(database)
    except UnreadableTrace as error:
        assert error.reason in (Reason.NOT_A_TRACE, Reason.EMPTY)
        assert str(error).isprintable()
    else:
        assert any("the file is cut" in warning for warning in warnings)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.usefixtures("unchanged")
def test_bytes_that_are_overwritten(database: Path, seed: int) -> None:
    content = bytearray(database.read_bytes())
    for place in range(40):
        at = (seed * 7919 + place * 104_729 * (seed + 1)) % len(content)
        content[max(at, 100)] = (seed * 31 + place * 17) % 256
    database.write_bytes(content)
    try:
        warnings_of(database)
    except UnreadableTrace as error:
        assert str(error).isprintable()


TABLES = (
    *("STRING_IDS", "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO"),
    *("CANN_API", "PYTORCH_API", "CONNECTION_IDS", "PYTORCH_CALLCHAINS"),
    *("ENUM_API_TYPE", "ENUM_HCCL_DATA_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_TRANSPORT_TYPE"),
)
NAMES_OF_NUMBERS = ("ENUM_HCCL_DATA_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_TRANSPORT_TYPE")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_missing(database: Path, table: str) -> None:
    change(database, f"DROP TABLE {table}")
    unnamed = f"links, copies or data types are unknown where tables do not name them: {table}"
    assert warnings_of(database) == ((unnamed,) if table in NAMES_OF_NUMBERS else ())


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("table", TABLES)
def test_columns_that_are_missing(database: Path, table: str) -> None:
    """Each of them, one after the other: what a table lacks is unknown, and nothing fails."""
    connection = sqlite3.connect(database)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if not row[5]]
    connection.execute("DROP INDEX TaskIndex")
    for column in columns[:-1]:
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO was_{column}")
        connection.commit()
        warnings_of(database)
    connection.close()


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("value", ["'text'", "NULL", "1.5", "x'00ff'", "9223372036854775807", "-1", "1e300"])
def test_cells_of_other_types(database: Path, value: str) -> None:
    """They are unknown, or their row is left out; all other rows are read."""
    tasks = len(tracetui.load(database, cache=False).trace.slices)
    change(
        database,
        f"UPDATE TASK SET startNs = {value}, streamId = {value} WHERE rowid = 5",
        f"UPDATE TASK SET deviceId = {value}, globalPid = {value}, connectionId = {value} WHERE rowid = 6",
        f"UPDATE TASK SET taskType = {value}, contextId = {value} WHERE rowid = 7",
        f"UPDATE PYTORCH_API SET endNs = {value}, name = {value}, globalTid = {value} WHERE rowid = 3",
        f"UPDATE PYTORCH_API SET callchainId = {value}, connectionId = {value} WHERE rowid = 4",
        f"UPDATE CANN_API SET type = {value}, globalTid = {value} WHERE connectionId % 9 = 0",
        f"UPDATE COMMUNICATION_OP SET groupName = {value}, count = {value}, dataType = {value}",
        f"UPDATE COMMUNICATION_TASK_INFO SET planeId = {value}, size = {value} WHERE rowid = 2",
        f"UPDATE STRING_IDS SET value = {value} WHERE id = 1",
        f"UPDATE CONNECTION_IDS SET connectionId = {value} WHERE rowid = 2",
    )
    watch(database)
    trace = tracetui.load(database, cache=False).trace
    assert len(trace.slices) >= tasks - 4


@pytest.mark.parametrize("which", ["1", "rowid % 2"])
def test_rows_of_the_framework_without_a_type_are_what_their_names_say(database: Path, which: str) -> None:
    """Insight adds the column to old files."""

    def categories() -> list[str | None]:
        trace = tracetui.load(database, cache=False).trace
        return [trace.string(number) for number in trace.slices.category.tolist()]

    before = categories()
    change(database, f"UPDATE PYTORCH_API SET type = NULL WHERE {which}")
    assert categories() == before
    assert {"cpu_op", "python_function", "enqueue", "dequeue"} <= {*before}


def test_calls_without_their_types_are_called_as_usual(database: Path) -> None:
    """Those of collectives by the newer of two names."""

    def names() -> set[str]:
        strings = tracetui.load(database, cache=False).trace.strings
        return {name.replace("Hccl@", "Communication@") for name in strings if "@" in name}

    before = names()
    assert any(name.startswith("Node@") for name in before)
    change(database, "DROP TABLE ENUM_API_TYPE")
    assert names() == before


def test_steps_that_have_the_names_of_mindspore_are_there_once(database: Path) -> None:
    steps = [step.number for step in tracetui.load(database, cache=False).steps]
    change(
        database,
        "UPDATE STRING_IDS SET value = 'Python::PythonObserved::' || value WHERE value LIKE 'ProfilerStep#%'",
    )
    assert [step.number for step in tracetui.load(database, cache=False).steps] == steps != []


@pytest.mark.usefixtures("unchanged")
def test_names_that_no_terminal_should_see(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes, NUL, invalid UTF-8, and a megabyte of text."""
    change(
        database,
        "UPDATE STRING_IDS SET value = char(27) || '[31m' || value WHERE id % 4 = 0",
        "UPDATE STRING_IDS SET value = value || char(0) || 'x' WHERE id % 4 = 1",
        "UPDATE STRING_IDS SET value = CAST(x'fffe41' AS TEXT) WHERE id % 16 = 2",
        "UPDATE STRING_IDS SET value = hex(zeroblob(3000000)) WHERE id = 3",
    )
    watch(database)
    for command in ("summary", "operators", "gaps", "hotspots"):
        assert main([command, str(database), "--no-cache"]) == 0
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err and "\0" not in printed.out


@pytest.mark.usefixtures("unchanged")
def test_views_and_triggers_are_never_run(database: Path) -> None:
    change(
        database,
        "ALTER TABLE CANN_API RENAME TO HIDDEN",
        "CREATE VIEW CANN_API AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT x AS startNs, x AS endNs, 1 AS type, 1 AS globalTid, x AS connectionId, 1 AS name FROM n",
        "CREATE TRIGGER changed INSTEAD OF INSERT ON CANN_API BEGIN DELETE FROM HIDDEN; END",
    )
    assert warnings_of(database) == ("table CANN_API: is a view or a virtual table, and left out",)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
def test_columns_that_are_computed_move_no_other(database: Path, kind: str) -> None:
    """They are never worked out; rows hold the columns after them at other places than is declared."""
    before = tracetui.load(database, cache=False).trace
    change(
        database,
        "ALTER TABLE STRING_IDS RENAME TO OTHER",
        f"CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, more INTEGER AS(id + 1) {kind}, value TEXT)",
        "INSERT INTO STRING_IDS (id, value) SELECT id, value FROM OTHER",
    )
    after = tracetui.load(database, cache=False).trace
    assert after.strings == before.strings
    assert after.report.warnings == ()


def test_a_damaged_schema_that_is_no_utf_8(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message of SQLite quotes it, and Python cannot make that a text."""
    content = database.read_bytes()
    statement = content.index(b"CREATE TABLE TASK")
    damaged = content[:statement] + b"CREATE TABLX\x85" + content[statement + 13 :]
    database.write_bytes(damaged)
    code = main(["summary", str(database), "--no-cache"])
    captured = capsys.readouterr()
    assert code in (ExitCode.OK, ExitCode.UNREADABLE)
    assert "unexpected" not in captured.err
    assert "damaged" in captured.err


@pytest.mark.usefixtures("unchanged")
def test_what_insight_adds_changes_nothing(database: Path) -> None:
    before = tracetui.load(database, cache=False)
    change(
        database,
        "ALTER TABLE TASK ADD COLUMN depth INTEGER",
        "ALTER TABLE PYTORCH_API ADD COLUMN depth INTEGER",
        "ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN waitNs INTEGER",
        "CREATE TABLE connectionCats (connectionId INT, cat)",
        "CREATE TABLE status_info (id, key, value)",
        "PRAGMA journal_mode=WAL",
    )
    Path(f"{database}-shm").write_bytes(bytes(32768))
    Path(f"{database}-wal").touch()
    watch(database)
    after = tracetui.load(database, cache=False)
    assert after.trace.report.warnings == ()
    assert after.devices[0].computing_ns == before.devices[0].computing_ns
    assert len(after.trace.slices) == len(before.trace.slices)


def test_a_writer_at_work(database: Path) -> None:
    """What is in its log is read as well, from a private copy; nothing of the writer's is touched."""
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("DELETE FROM PYTORCH_API")
    writer.execute("DELETE FROM STEP_TIME")
    assert Path(f"{database}-wal").stat().st_size
    before = state(database.parent)
    trace = tracetui.load(database, cache=False).trace
    assert state(database.parent) == before
    assert trace.report.warnings == (
        "a writer is at work on it, or died: read is what it had written when it was opened",
    )
    assert "Python" not in {track.process for track in trace.tracks}
    writer.close()


def test_a_writer_that_holds_it(database: Path) -> None:
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    before = state(database.parent)
    assert tracetui.load(database, cache=False).trace.report.warnings == ()
    assert state(database.parent) == before
    writer.execute("ROLLBACK")
    writer.close()


def test_a_writer_that_died_in_a_transaction(database: Path) -> None:
    """Its journal is undone in a private copy: the rows are there as before the transaction."""
    slices = len(tracetui.load(database, cache=False).trace.slices)
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA cache_size=2")
    writer.execute("PRAGMA cache_spill=1")
    writer.execute("BEGIN")
    writer.execute("DELETE FROM TASK")
    writer.execute("DELETE FROM PYTORCH_API")
    directory = database.parent.parent / "died"
    directory.mkdir()
    for path in database.parent.iterdir():
        shutil.copy(path, directory / path.name)
    writer.execute("ROLLBACK")
    writer.close()
    copy = directory / NAME
    assert Path(f"{copy}-journal").stat().st_size
    before = state(directory)
    trace = tracetui.load(copy, cache=False).trace
    assert state(directory) == before
    assert len(trace.slices) == slices
    assert "a writer is at work on it, or died" in trace.report.warnings[0]


def test_a_journal_that_names_a_file_of_the_users(whole: Path, tmp_path: Path) -> None:
    """SQLite would delete it, as the journal of a transaction over several databases that is undone."""
    database = Path(shutil.copy(whole, tmp_path / NAME))
    precious = tmp_path / "precious.txt"
    precious.write_text("thesis")
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA cache_size=2")
    writer.execute("BEGIN")
    writer.execute("DELETE FROM PYTORCH_API")
    content = {path: path.read_bytes() for path in (database, Path(f"{database}-journal"))}
    writer.execute("ROLLBACK")
    writer.close()
    name = str(precious).encode()
    record = bytes(4) + name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big")
    for path, content_of in content.items():
        ends = record + bytes.fromhex("d9d505f920a163d7") if path != database else b""
        path.write_bytes(content_of + ends)
    assert len(tracetui.load(database, cache=False).trace.slices)
    assert precious.read_text() == "thesis"


@pytest.mark.parametrize("is_logged", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_every_command_leaves_file_and_directory_as_they_were(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], is_logged: bool
) -> None:
    """Also where a writer holds it, its log has something, and nobody may write to the directory."""
    writer = sqlite3.connect(database, isolation_level=None)
    if is_logged:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE more (a)")
    directory = database.parent
    directory.chmod(0o555)
    before = state(directory)
    results = tmp_path / "results"
    results.mkdir()
    for command, *options in (
        *(["summary"], ["gaps"], ["hotspots"], ["operators"], ["memory"], ["advice"], ["ranks"]),
        ["check", "--max-free", "100%"],
        ["export", "--csv", str(results / "events.csv")],
        ["digest", "-o", str(results)],
    ):
        assert main([command, str(database), *options, "--no-cache"]) == ExitCode.OK, command
    assert main(["compare", str(database), str(database), "--no-cache"]) == ExitCode.OK
    assert state(directory) == before
    capsys.readouterr()
    directory.chmod(0o755)
    writer.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database.chmod(0)
    assert main(["summary", str(database), "--no-cache"]) == ExitCode.UNREADABLE
    assert "no permission" in capsys.readouterr().err


def test_reading_stops_when_it_is_told_to(database: Path) -> None:
    from tracetui.reader.joined import open_trace
    from tracetui.trace.build import build_trace

    with open_trace(database) as file:
        table = file.read(should_stop=lambda: True)
        assert table.report.stopped
        build_trace(table)


def test_a_database_is_kept_in_the_cache(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tracetui.cache import traces
    from tracetui.reader.joined import open_trace
    from tracetui.trace.build import build_trace

    monkeypatch.setattr(traces, "SMALLEST", 1)
    past = whole.stat().st_mtime_ns - 10**10
    os.utime(whole, ns=(past, past))
    with open_trace(whole) as file:
        trace = build_trace(file.read())
        event = int(trace.slices.event[len(trace.slices) // 2])
        args = file.args(event)
        assert traces.keep(file, trace)
    with open_trace(whole) as file:
        again = traces.reopen(file)
        assert again is not None
        assert (again.slices.start == trace.slices.start).all()
        assert file.args(event) == args != {}


def test_blocks_without_names(tmp_path: Path) -> None:
    """Where the table of names is damaged, nothing tells which operator allocated."""
    write_run(tmp_path, 2, database=True)
    path = tmp_path / NAME
    change(path, "DROP TABLE STRING_IDS")
    memory = tracetui.load(path, cache=False).memory
    assert memory is not None and len(memory.recorded.blocks) > 0
    recorded = memory.recorded
    assert {recorded.operators[place] for place in recorded.blocks.operator.tolist()} == {""}


def test_a_table_that_lost_all_its_rows_is_told(tmp_path: Path) -> None:
    """By what is made of it, and by the health of the recording where that draws it."""
    write_run(tmp_path, 2, database=True)
    path = tmp_path / NAME
    _overwrite(path, "OP_MEMORY")
    analysis = tracetui.load(path, cache=False)
    assert [finding.id for finding in analysis.health.findings if finding.id == "file.damaged"] == []
    (problem,) = analysis.memory.recorded.problems if analysis.memory is not None else ()
    assert problem == f"{NAME}: table OP_MEMORY: damaged, and left out"
    _overwrite(path, "CANN_API")
    (found,) = (f for f in tracetui.load(path, cache=False).health.findings if f.id == "file.damaged")
    assert (found.english, found.count, found.share) == (
        "1 table is read in part or not at all",
        1,
        None,
    )


def test_a_table_that_is_read_twice_is_damaged_once(tmp_path: Path) -> None:
    write_run(tmp_path, 2, database=True)
    path = tmp_path / NAME
    _overwrite(path, "ENUM_API_TYPE")
    report = tracetui.load(path, cache=False).trace.report
    assert (report.partial_tables, report.warnings) == (1, ("table ENUM_API_TYPE: damaged, and left out",))


def test_a_file_beside_a_database_tells_what_that_lost(tmp_path: Path) -> None:
    write_run(tmp_path, 2, database=True)
    blocks = tracetui.load(tmp_path / NAME, cache=False).memory
    _overwrite(tmp_path / NAME, "OP_MEMORY")
    text = "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\naten::mm,1,1.5,2.5,NPU:0\n"
    (tmp_path / "operator_memory.csv").write_text(text)
    memory = tracetui.load(tmp_path / NAME, cache=False).memory
    assert blocks is not None and memory is not None
    assert len(blocks.recorded.blocks) > len(memory.recorded.blocks) == 1


def _overwrite(path: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    connection = sqlite3.connect(path)
    ((page_size,),) = connection.execute("PRAGMA page_size").fetchall()
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    ((root,),) = connection.execute(query, (table,)).fetchall()
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * page_size : root * page_size] = b"\xff" * page_size
    path.write_bytes(content)


def test_a_report_of_a_run_without_steps(tmp_path: Path) -> None:
    text = Texts()
    tables = kernels(text, [(10_000, 14_000), (20_000, 24_000)])
    path = write(tmp_path / "msprof_20250101010101.db", {**tables, "STRING_IDS": text.rows()})
    page = tmp_path / "report.html"
    assert main(["report", str(path), "-o", str(page), "--no-cache"]) == ExitCode.OK
    assert "8.00 \u00b5s" in page.read_text(encoding="utf-8")


def test_no_task_has_no_place(whole: Path) -> None:
    chains = tracetui.load(whole, cache=False).launch_chains
    rows = np.array([-1, chains.tasks[-1], chains.tasks[0]])
    assert chains.index(rows).tolist() == [-1, len(chains.tasks) - 1, 0]
