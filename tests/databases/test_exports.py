"""A run that was exported both ways: which one is read, how that is chosen, and that it is said."""

from __future__ import annotations

import gzip
import json
import sqlite3
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tracetui
from simulator.database import DatabaseWriter
from simulator.job.directory import write_job
from simulator.recording import Recording
from simulator.scenarios import simulate
from simulator.writer import TraceWriter
from tests.job.planted import truth
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.comparison.exports import DeviceMeasures, export_differences
from tracetui.databases.exports import Export, OtherExport, other_export
from tracetui.job.sources import find_sources
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace, recordings_below

DATABASE = "ascend_pytorch_profiler_0.db"


@cache
def recording() -> Recording:
    return simulate("stalls", 1)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """The directory of a rank that exported both."""
    directory = tmp_path / "node_1_20250101000000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    directory.mkdir(parents=True)
    with (directory / "trace_view.json").open("wb") as file:
        TraceWriter(recording(), 2).write(file)
    DatabaseWriter(recording(), 2).write(directory / DATABASE)
    return directory


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def assert_both_are_found(text: Path, database: Path) -> None:
    """Hold that the JSON of a run is opened from its directory and two above, and the database on demand."""
    for path in list(text.parents)[:3]:
        assert locate_trace(path) == locate_trace(path, "json") == text
        assert locate_trace(path, "db") == database
        assert len(recordings_below(path)) == 1
    assert other_export(text) == OtherExport(database, True)
    assert other_export(database) == OtherExport(text, True)


def test_json_is_read_where_it_is_whole(output: Path) -> None:
    text, database = output / "trace_view.json", output / DATABASE
    assert_both_are_found(text, database)


def test_the_database_is_read_where_json_is_cut_off(output: Path) -> None:
    text, database = output / "trace_view.json", output / DATABASE
    cut(text)
    assert locate_trace(output) == locate_trace(output.parent.parent) == database
    assert locate_trace(output, "json") == locate_trace(text) == text
    cut(database)
    assert locate_trace(output) == text
    assert other_export(text) == OtherExport(database, False)


@pytest.mark.parametrize("export", ["json", "db"])
def test_a_file_that_is_named_leads_to_the_export_that_is_wanted(output: Path, export: Export) -> None:
    text, database = output / "trace_view.json", output / DATABASE
    wanted = database if export == "db" else text
    assert locate_trace(text, export) == locate_trace(database, export) == wanted
    (text if export == "json" else database).unlink()
    for path in (output, database if export == "json" else text):
        with pytest.raises(UnreadableTrace, match="database of" if export == "db" else "JSON of") as caught:
            locate_trace(path, export)
        assert caught.value.reason is Reason.MISSING


def test_both_exports_of_msprof(tmp_path: Path) -> None:
    """Of several the latest counts, in the directory itself or in that of newer versions."""
    profile = tmp_path / "PROF_000001_20240101101010_ABC"
    newer = profile / "mindstudio_profiler_output"
    newer.mkdir(parents=True)
    text = newer / "msprof_20240101101011.json"
    text.write_text("[]")
    for place in (profile / "msprof_20240101101011.db", newer / "msprof_20240101101012.db"):
        DatabaseWriter(recording(), 2).write(place)
    assert locate_trace(profile) == text
    assert locate_trace(profile, "db") == locate_trace(text, "db") == newer / "msprof_20240101101012.db"
    assert locate_trace(newer / "msprof_20240101101012.db", "json") == text
    text.write_text("[")
    assert locate_trace(profile) == newer / "msprof_20240101101012.db"


def test_json_that_was_compressed_by_hand_is_an_export_of_the_run(output: Path) -> None:
    packed, database = output / "trace_view.json.gz", output / DATABASE
    packed.write_bytes(gzip.compress((output / "trace_view.json").read_bytes()))
    (output / "trace_view.json").unlink()
    assert_both_are_found(packed, database)
    assert locate_trace(database, "json") == packed
    (source,) = find_sources([output.parent.parent]).found
    assert source.path == packed


def test_json_that_is_whole_goes_before_json_that_is_cut_off(output: Path) -> None:
    text, packed = output / "trace_view.json", output / "trace_view.json.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    assert locate_trace(output) == text
    text.write_bytes(text.read_bytes()[:-100])
    assert locate_trace(output) == locate_trace(output.parent.parent) == packed
    assert other_export(output / DATABASE) == OtherExport(packed, True)


@pytest.mark.parametrize("newer", ["", "mindstudio_profiler_output"])
def test_marks_of_msprof_are_no_export_of_a_run(tmp_path: Path, newer: str) -> None:
    """They lie beside the JSON of the run, and their names sort after its."""
    profile = tmp_path / "PROF_000001_20240101101010_ABC"
    (profile / newer).mkdir(parents=True)
    database, text, marks = (
        profile / newer / f"msprof_{name}"
        for name in ("20240101101011.db", "20240101101011.json", "tx_1.json")
    )
    database.touch()
    marks.write_text("[]")
    assert other_export(database) is None
    assert other_export(marks) is None
    text.write_text("[]")
    assert other_export(database) == OtherExport(text, True)
    assert other_export(text) == OtherExport(database, False)


def test_a_rank_with_json_and_one_with_a_database_are_two(tmp_path: Path) -> None:
    for rank, name in enumerate(("trace_view.json", "ascend_pytorch_profiler_1.db")):
        directory = tmp_path / f"node_{rank}_20250101000000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        directory.mkdir(parents=True)
        (directory / name).write_text("[]")
    with pytest.raises(UnreadableTrace, match="holds 2 traces"):
        locate_trace(tmp_path)


def test_json_of_another_name_is_no_trace_beside_a_database(output: Path) -> None:
    (output / "trace_view.json").rename(output / "notes.json")
    assert locate_trace(output) == output / DATABASE
    assert locate_trace(output, "json") == output / "notes.json"


def first_line(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["summary", *map(str, arguments), "--no-cache"]) == ExitCode.OK
    return capsys.readouterr().out.splitlines()[0]


def test_the_first_line_says_which(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_line(capsys, output).endswith(
        "/trace_view.json (JSON; --from db reads the database beside it)"
    )
    assert first_line(capsys, output, "--from", "db").endswith(
        ".db (database; --from json reads the JSON beside it)"
    )
    assert "(JSON; --from db" in first_line(capsys, output, "--md")
    cut(output / "trace_view.json")
    assert first_line(capsys, output).endswith(".db (database; the JSON beside it is cut off)")
    (output / "trace_view.json").unlink()
    assert first_line(capsys, output).endswith(f"/{DATABASE}")


def test_documents_name_both(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(output), "--json", "--no-cache", "--from", "db"]) == ExitCode.OK
    trace = json.loads(capsys.readouterr().out)["trace"]
    assert trace["export"] == "db"
    assert trace["other_export"] == str(output / "trace_view.json")


def test_scripts_choose_too(output: Path) -> None:
    text, database = (tracetui.load(output, cache=False, export=export) for export in ("json", "db"))
    assert text.trace.path.endswith(".json")
    assert database.trace.path.endswith(".db")


def test_ranks_of_a_job_that_was_exported_both_ways(tmp_path: Path) -> None:
    outcome = truth("late").outcome
    text = write_job(outcome, tmp_path / "job", 1)
    for directory, other in zip(text, write_job(outcome, tmp_path / "data", 1, databases=True)):
        for database in other.rglob("*.db"):
            database.rename(directory / "ASCEND_PROFILER_OUTPUT" / database.name)
    wanted: dict[Export | None, str] = {None: ".json", "db": ".db"}
    for export, suffix in wanted.items():
        job = tracetui.load_job(tmp_path / "job", cache=False, jobs=1, export=export)
        assert {Path(rank.path).suffix for rank in job.ranks} == {suffix}
        assert len(job.ranks) == len(text)


def checked(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, str, str]:
    status = main(["check", str(path), "--same-exports", "--no-cache", *options])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_both_exports_of_a_run_agree(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = checked(capsys, output)
    assert (status, out) == (ExitCode.OK, "")
    assert "the JSON and the database agree: " in err
    assert "tasks, " in err
    assert err.rstrip().endswith(", their times, steps and causes")
    assert "JSON 与数据库一致：" in checked(capsys, output, "--lang", "zh")[2]
    document = json.loads(checked(capsys, output / DATABASE, "--json")[1])
    assert document["exports"] == {"json": str(output / "trace_view.json"), "db": str(output / DATABASE)}
    assert document["differences"] == []


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM TASK WHERE rowid > 100", "NPU: tasks are "),
        ("UPDATE TASK SET endNs = endNs + 20000 WHERE globalTaskId < 40", "NPU: computing is "),
        ("UPDATE TASK SET deviceId = globalTaskId % 2", "devices are 1 in the JSON and 2 in the database"),
    ],
)
def test_exports_of_different_runs_are_told(
    output: Path, capsys: pytest.CaptureFixture[str], statement: str, sentence: str
) -> None:
    connection = sqlite3.connect(output / DATABASE)
    connection.execute(statement)
    connection.commit()
    connection.close()
    status, out, _ = checked(capsys, output)
    assert status == ExitCode.LIMIT
    assert any(line.startswith(sentence) for line in out.splitlines())
    assert " 在 JSON 中是 " in checked(capsys, output, "--lang", "zh")[1]


def test_one_export_has_nothing_to_agree_with(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (output / DATABASE).unlink()
    status, out, err = checked(capsys, output)
    assert (status, out) == (ExitCode.UNCHECKED, "")
    assert "there is no database of this run beside it to compare with" in err
    assert checked(capsys, output, "--max-free", "3%")[0] == ExitCode.USAGE


def test_level_0_leaves_out_what_the_database_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The calls of CANN: causes are of other links then, and no difference."""
    with (tmp_path / "trace_view.json").open("wb") as file:
        TraceWriter(recording(), 0).write(file)
    DatabaseWriter(recording(), 0).write(tmp_path / DATABASE)
    status, out, err = checked(capsys, tmp_path)
    assert (status, out) == (ExitCode.OK, "")
    assert "their times and steps; causes are not compared, as " in err


@pytest.mark.parametrize(("start", "bound", "times"), [(105, "start", (100, 105)), (101, "end", (200, 205))])
def test_a_gap_elsewhere_is_told_by_the_bound_that_differs(
    start: int, bound: str, times: tuple[int, int]
) -> None:
    sides = (
        DeviceMeasures("NPU 0", 1, 1, {}, np.array([first]), np.array([last]))
        for first, last in ((100, 200), (start, 205))
    )
    (difference,) = export_differences(*((side,) for side in sides))
    assert difference == ("NPU 0", f"the {bound} of gap 1 in time", *times, True)


def test_doctor_compares_both_exports(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exports that agree are no finding; one that lost a stretch is, whichever is asked for."""
    main(["doctor", str(output), "--no-cache"])
    assert "run.mixed" not in capsys.readouterr().out
    connection = sqlite3.connect(output / DATABASE)
    connection.execute("DELETE FROM TASK WHERE startNs > (SELECT avg(startNs) FROM TASK)")
    connection.commit()
    connection.close()
    for arguments in ([], ["--from", "db"]):
        assert main(["doctor", str(output), "--no-cache", "--json", *arguments]) == ExitCode.LIMIT
        findings = json.loads(capsys.readouterr().out)["findings"]
        (mixed,) = [finding for finding in findings if finding["id"] == "run.mixed"]
        assert mixed["sentence"].startswith("the JSON and the database of this run differ in ")
        assert " numbers, first in tasks: " in mixed["sentence"]
    cut(output / "trace_view.json")
    main(["doctor", str(output), "--no-cache"])
    assert "run.mixed" not in capsys.readouterr().out
