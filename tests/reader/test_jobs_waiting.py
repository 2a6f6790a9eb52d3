"""What workers, who are played, are given to read: all but the first piece, and nothing beyond the end."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.reader.test_jobs import Stage
from tracetui.reader import source
from tracetui.reader.piece_order import PieceOrder
from tracetui.reader.pieces import PieceOptions
from tracetui.reader.source import TraceFile
from tracetui.reader.text import open_text
from tracetui.reader.worker_pool import WorkerPool

pytestmark = pytest.mark.usefixtures("workers")

EVENTS = [{"ph": "X", "name": f"e{n}", "pid": 1, "tid": 2, "ts": n, "dur": 1} for n in range(400)]
PART = 2000


@pytest.mark.parametrize("head", [0, 10 * PART])
def test_all_pieces_but_the_first_are_read_by_workers_wherever_the_events_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: int
) -> None:
    path, stage = tmp_path / "t.json", Stage(1, 0)
    path.write_text(json.dumps({"a": "x" * head, "traceEvents": EVENTS}))
    monkeypatch.setattr(source, "SMALLEST", 0)
    stage.set(monkeypatch)
    with TraceFile(path, jobs=3, part_bytes=PART, block_bytes=500) as trace_file:
        assert trace_file.read().report.events == len(EVENTS)
    assert len(stage.answers) == len(json.dumps(EVENTS)) // PART


def test_nothing_is_read_beyond_the_end_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a text that is inflated, and whose length is found on the way."""
    stage = Stage(1, 0)
    stage.set(monkeypatch)
    path, text = tmp_path / "t.json", json.dumps(EVENTS).encode()
    path.write_bytes(gzip.compress(text))
    end = len(text) // 2
    with (
        closing(open_text(path)) as inflated,
        WorkerPool(inflated, PieceOrder(1, PART, end=end), PieceOptions(False, 500), 3) as workers,
    ):
        assert max(piece.end for piece in workers.pieces() if piece is not None) >= end
    assert stage.asked and max(task.start for task in stage.asked) < end
