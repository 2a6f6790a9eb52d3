"""Which file a path means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace


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
    for rank in range(12):
        _file(tmp_path / f"r{rank:02}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    with pytest.raises(UnreadableTrace) as caught:
        locate_trace(tmp_path)
    assert caught.value.reason is Reason.DIRECTORY
    assert "holds 12 traces" in str(caught.value)
    assert "r00_ascend_pt, r01_ascend_pt" in str(caught.value)
    assert str(caught.value).endswith("and 4 more")


def test_slices_of_an_export_are_listed(tmp_path: Path) -> None:
    for part in range(2):
        _file(tmp_path / "mindstudio_profiler_output" / f"msprof_slice_{part}_1.json")
    with pytest.raises(UnreadableTrace, match="holds 2 traces"):
        locate_trace(tmp_path)


def test_a_db_export_has_no_json(tmp_path: Path) -> None:
    db = _file(tmp_path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db")
    for path in (tmp_path, db):
        with pytest.raises(UnreadableTrace, match="export type text"):
            locate_trace(path)


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
