"""An opened file: where it is read from, and by how many threads or processes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tracetui.reader import source
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.source import TraceFile

EVENTS = [{"ph": "i", "name": f"e{n}", "ts": n, "pid": 1, "tid": 1} for n in range(9)]
TEXT = json.dumps(EVENTS)


@pytest.mark.parametrize("packed", [False, True])
def test_a_reading_may_begin_where_an_event_does(tmp_path: Path, packed: bool) -> None:
    """Unless all of the text before has to be inflated for that."""
    path = tmp_path / "t.json"
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    second = TEXT.index(json.dumps(EVENTS[1]))
    with TraceFile(path) as trace_file:
        assert [trace_file._event_at(at) for at in (0, 1, len(TEXT) - 3, len(TEXT) + 9)] == [0] * 4
        assert {trace_file._event_at(at) for at in (2, second - 1, second)} == {0 if packed else second}


class _Asked(Exception):  # noqa: N818 - no error: what a pool would be made with
    pass


@pytest.mark.parametrize(
    ("smaller_by", "jobs", "asked"),
    [(0, 3, 3), (0, 2, 2), (0, None, 5), (0, 1, None), (1, 3, None), (1, None, None)],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_threads_and_processes_are_for_files_that_are_large_enough(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compiled: bool,
    smaller_by: int,
    jobs: int | None,
    asked: int | None,
) -> None:
    def refuse(*arguments: Any) -> None:
        raise _Asked(arguments[-1])

    path = tmp_path / "t.json"
    path.write_text(TEXT)
    monkeypatch.setattr(source, "COMPILED", compiled)
    readers = "threads.PieceThreads.start_scanning" if compiled else "worker_pool.WorkerPool"
    monkeypatch.setattr(f"tracetui.reader.{readers}", refuse)
    monkeypatch.setattr(source, "SMALLEST", len(TEXT) + smaller_by)
    monkeypatch.setattr(
        source, "default_jobs", lambda size, stream: 5 if (size, stream) == (len(TEXT), False) else 9
    )
    with TraceFile(path, jobs=jobs) as trace_file:
        if asked is None:
            assert trace_file.read().report.events == 9
        else:
            with pytest.raises(_Asked, match=f"^{asked}$"):
                trace_file.read()


@pytest.mark.parametrize("length", [100, 65_000, 200_000, 600_000])
def test_a_head_of_any_length_is_read(tmp_path: Path, length: int) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"kept": 1, "long": "x" * length, "traceEvents": EVENTS, "after": 2}))
    size = path.stat().st_size
    with TraceFile(path) as trace_file:
        assert trace_file.head["kept"] == 1
        table = trace_file.read()
    assert (table.report.events, table.document["after"], table.report.truncated) == (9, 2, False)
    assert (table.report.text_bytes, table.report.bytes) == (size - len(', "after": 2}'), size)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_reading_that_is_stopped_at_once_is_no_refusal(tmp_path: Path, stopped: bool) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([7] * 50) + " " * 50)
    with TraceFile(path, block_bytes=60, part_bytes=60) as trace_file:
        if stopped:
            assert trace_file.read(should_stop=lambda: True).report.stopped
        else:
            with pytest.raises(UnreadableTrace, match="none of its 50 elements is an event"):
                trace_file.read()
