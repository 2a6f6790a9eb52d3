"""Which file a path means."""

from __future__ import annotations

import gzip
import os
import random
from itertools import count
from pathlib import Path

import pytest

from tracetui.reader import locate, parts
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace, name_of_trace, trace_files


def _file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[]")
    return path


@pytest.mark.parametrize(
    "place",
    [
        "trace_view.json",
        "ASCEND_PROFILER_OUTPUT/trace_view.json",
        "host_1_2024_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "a/b/c/host_1_2024_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "PROF_1_2_3/mindstudio_profiler_output/msprof_20240101.json",
        "mindstudio_profiler_output/msprof_20240101.json",
        "anything.json",
        "anything.pt.trace.json.gz",
    ],
)
def test_the_one_trace_of_a_directory(tmp_path: Path, place: str) -> None:
    trace = _file(tmp_path / place)
    for beside in ("profiler_info_0.json", "profiler_metadata.json", "kernel_details.csv", "deep/side.json"):
        _file(tmp_path / beside)
    _file(trace.parent / "communication.json")
    assert locate_trace(tmp_path) == trace
    assert locate_trace(str(trace)) == trace


def test_several_traces_are_listed(tmp_path: Path) -> None:
    for rank in range(44):
        _file(tmp_path / f"r{rank:02}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    with pytest.raises(UnreadableTrace) as caught:
        locate_trace(tmp_path)
    assert caught.value.reason is Reason.DIRECTORY
    assert "holds 44 traces" in str(caught.value)
    assert "r00_ascend_pt, r01_ascend_pt" in str(caught.value)
    assert str(caught.value).endswith("and 4 more")


def test_a_trace_beside_those_of_other_runs_is_not_taken_for_them(tmp_path: Path) -> None:
    trace = _file(tmp_path / "trace_view.json")
    text = {"settings.json": '{"name": "traceEvents"}', "lr.json": "[1, 2]"}
    for name, content in text.items():
        (tmp_path / name).write_text(content)
    assert locate_trace(tmp_path) == trace, "JSON may be anything"
    (tmp_path / "gpu.json.gz").write_bytes(gzip.compress(b'{"schemaVersion": 1, "traceEvents": [] }'))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "0.json").write_text('[{"ph": "X"}]')
    (tmp_path / "runs" / "1.json.gz").write_bytes(b"no gzip")
    with pytest.raises(UnreadableTrace) as caught:
        locate_trace(tmp_path)
    assert str(caught.value).endswith("name one of them: gpu.json.gz, runs/0.json, trace_view.json")
    assert caught.value.reason is Reason.DIRECTORY
    assert locate_trace(trace) == trace == locate_trace(tmp_path, "json")


def test_the_trace_of_a_rank_is_its_own_whatever_lies_beside(tmp_path: Path) -> None:
    trace = _file(tmp_path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    _file(tmp_path / "PROF_1" / "mindstudio_profiler_output" / "msprof_20240101101010.json")
    assert locate_trace(tmp_path) == locate_trace(trace.parent) == trace


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ([f"mindstudio_profiler_output/msprof_slice_{k}_20240101101010.json" for k in (10, 2, 0, 1)], 2),
        ([f"device_0/timeline/msprof_0_2_{number}.json" for number in (10, 2, 1)], 2),
        (["mindstudio_profiler_output/msprof_20240101101010.json", "device_0/timeline/msprof_0_2_1.json"], 0),
        ([f"mindstudio_profiler_output/msprof_2024010110101{n}.json" for n in (0, 9, 5)], 1),
    ],
)
def test_what_msprof_exports_in_parts_is_one_trace(tmp_path: Path, names: list[str], first: int) -> None:
    """By its first file, whichever of them is named; the newer kind of export and the latest one count."""
    files = [_file(tmp_path / "PROF_000001_20240101101010_AB" / name) for name in names]
    beside = ("step_trace_0_2_1.json", "hccl_0_2_1.json", "task_time_0_2_1.json", "msprof_tx_0_2_1.json")
    for name in beside:
        _file(files[0].parent / name)
    assert locate_trace(tmp_path) == locate_trace(files[0].parent) == files[first]
    if first:
        assert locate_trace(files[-1].parent / files[first].name) == files[first]


def test_traces_of_several_devices_are_listed(tmp_path: Path) -> None:
    for device in range(2):
        _file(tmp_path / "PROF_1" / f"device_{device}" / "timeline" / f"msprof_{device}_2_1.json")
    with pytest.raises(UnreadableTrace, match="holds 2 traces"):
        locate_trace(tmp_path)


def test_a_database_is_the_trace_where_there_is_no_json(tmp_path: Path) -> None:
    """That of the framework holds all of msprof's; the profiler's own sums are none."""
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    _file(output / "analysis.db")
    _file(tmp_path / "PROF_1" / "msprof_20240101101010.db")
    assert locate_trace(tmp_path) == tmp_path / "PROF_1" / "msprof_20240101101010.db"
    database = _file(output / "ascend_pytorch_profiler_0.db")
    assert locate_trace(tmp_path) == locate_trace(output) == locate_trace(database) == database
    trace = _file(output / "trace_view.json")
    assert locate_trace(tmp_path) == trace
    assert locate_trace(database) == database


def test_of_several_databases_one_has_to_be_named(tmp_path: Path) -> None:
    for rank in range(2):
        _file(tmp_path / f"ascend_pytorch_profiler_{rank}.db")
    with pytest.raises(UnreadableTrace, match=r"holds 2 traces, name one of them: ascend_pytorch_profiler_0"):
        locate_trace(tmp_path)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("analysis.db", "holds the profiler's own sums of a run"),
        ("cluster_analysis.db", "is the result of msprof-analyze"),
        ("memscope_dump_20250101.db", "is a record of msMemScope"),
    ],
)
def test_other_databases_are_told_for_what_they_are(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(UnreadableTrace, match=what):
        locate_trace(_file(tmp_path / name))


def test_nothing_there(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", tmp_path / "evil\x1b[31m\nname", tmp_path / "nul\0"):
        with pytest.raises(UnreadableTrace) as caught:
            locate_trace(path)
        assert caught.value.reason is Reason.MISSING
        assert str(caught.value).isprintable()


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trace_view.json")
    for path in (tmp_path / "trace_view.json", tmp_path):
        with pytest.raises(UnreadableTrace):
            locate_trace(path)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    trace = _file(tmp_path / "a" / "trace_view.json")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert locate_trace(tmp_path) == trace


def test_what_an_export_in_parts_is_called_and_made_of(tmp_path: Path) -> None:
    top = tmp_path / "PROF_000001_20240101101010_AB"
    files = [_file(top / "device_0" / "timeline" / f"msprof_0_2_{number}.json") for number in (1, 2)]
    assert trace_files(tmp_path) == tuple(files)
    assert name_of_trace(files[0]) == "PROF_000001_20240101101010_AB"
    elsewhere = _file(tmp_path / "other" / "msprof_0_2_1.json")
    assert name_of_trace(elsewhere) == "msprof_0_2_1.json"


@pytest.mark.parametrize(("place", "found"), [("1/2/3/4/5/6", True), ("1/2/3/4/5/6/7", False)])
def test_a_trace_is_looked_for_in_the_output_of_ranks_five_directories_down(
    tmp_path: Path, place: str, found: bool
) -> None:
    trace = _file(tmp_path / place / "trace_view.json")
    if found:
        assert locate_trace(tmp_path) == trace
    else:
        with pytest.raises(UnreadableTrace, match="no trace in this directory"):
            locate_trace(tmp_path)


def test_no_more_than_some_entries_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "_MOST_ENTRIES", 5)
    for name in "abc":
        trace = _file(tmp_path / name / "trace_view.json")
        _file(tmp_path / f"{name}.txt")
        if name != "c":
            trace.unlink()
    with pytest.raises(UnreadableTrace, match="no trace in this directory"):
        locate_trace(tmp_path)
    (tmp_path / "a.txt").unlink()
    assert locate_trace(tmp_path) == trace


def test_a_directory_has_to_be_listed_and_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path / "trace_view.json")
    for missing in (os.R_OK, os.X_OK):
        monkeypatch.setattr(os, "access", lambda _, mode, missing=missing: not mode & missing)
        with pytest.raises(UnreadableTrace) as caught:
            locate_trace(tmp_path)
        assert caught.value.reason is Reason.PERMISSION


def test_eight_traces_are_all_shown(tmp_path: Path) -> None:
    for rank in range(8):
        _file(tmp_path / f"r{rank}_ascend_pt" / "trace_view.json")
    with pytest.raises(UnreadableTrace, match=r"r7_ascend_pt$"):
        locate_trace(tmp_path)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        *[("msprof_0_2_1.json", ("", True, 0, (2, 1))), ("msprof_7.json.gz", ("", True, 7, ()))],
        ("msprof_slice_3_123456789012.json", ("123456789012", False, -1, (3,))),
        ("msprof_slice_3_12345678901.json", ("", False, -1, (3, 12345678901))),
        *[("msprof_123456789012.json", ("123456789012", True, -1, ())), ("msprof_1_.json", None)],
        *[("msprof_12345678901.json", ("", True, 12345678901, ())), ("msprof_1.json.bz2", None)],
    ],
)
def test_what_the_name_of_a_part_tells(name: str, named: tuple[object, ...] | None) -> None:
    assert parts._parse_name(Path(name)) == named


@pytest.mark.parametrize("count", [0, 1, 2])
def test_exports_beside_are_counted(tmp_path: Path, count: int) -> None:
    export = _file(tmp_path / "msprof_slice_0_202401011010.json")
    for number in range(count):
        _file(tmp_path / f"msprof_slice_{number}_202401011011.json")
    _file(tmp_path / "msprof_3_2_1.json")
    notes = [(), ("a file of another export beside it is not read",)]
    notes.append(("2 files of other exports beside it are not read",))
    assert parts.parts_of(export) == ((export,), notes[count])
    assert parts.parts_of(tmp_path / "msprof_slice_0_202401011012.json").files[0].name.endswith("12.json")


def test_what_lies_beside_a_trace_is_none(tmp_path: Path) -> None:
    for name in ("profiler_info.json", "communication.json"):
        _file(tmp_path / name)
        with pytest.raises(UnreadableTrace, match="no trace in this directory"):
            locate_trace(tmp_path)


def test_json_that_does_not_begin_as_a_trace_is_none_of_several(tmp_path: Path) -> None:
    for name in ("cluster.json", "matrix.json"):
        (tmp_path / name).write_text('{"0": {}}')
    with pytest.raises(UnreadableTrace, match="no trace in this directory"):
        locate_trace(tmp_path)
    trace = tmp_path / "run.json"
    trace.write_text('{"schemaVersion": 1, "traceEvents": []}')
    assert locate_trace(tmp_path) == trace


def test_the_first_parts_are_the_same_in_whatever_order_files_come() -> None:
    """Of each device those of its latest export, slices apart."""
    first, second = "20240101101010", "20240102101010"
    names = [f"msprof_slice_{number}_{time}.json" for time in (first, second) for number in (1, 2)]
    names += [f"msprof_{device}_2_{number}.json" for device in (0, 1) for number in (7, 10)]
    names += [f"msprof_0_{first}.json"]
    expected = {f"msprof_slice_1_{second}.json", f"msprof_0_{first}.json", "msprof_1_2_7.json"}
    for _, chooser in zip(range(30), map(random.Random, count())):
        chooser.shuffle(names)
        assert {path.name for path in parts.first_parts(map(Path, names))} == expected
