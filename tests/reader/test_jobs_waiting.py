"""How long a reading waits for its workers, who are played: while one of them speaks, and while none does."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.reader.test_jobs import Stage
from tracetui.background import PATIENCE
from tracetui.reader import pool, source
from tracetui.reader.events import ReadReport
from tracetui.reader.pieces import Syntax
from tracetui.reader.pool import WorkerPool
from tracetui.reader.source import TraceFile
from tracetui.reader.text import open_text
from tracetui.reader.worker import PieceTask

pytestmark = pytest.mark.usefixtures("workers")

EVENTS = [{"ph": "X", "name": f"e{n}", "pid": 1, "tid": 2, "ts": n, "dur": 1} for n in range(400)]
PART = 2000


class Listening(Stage):
    """Remembers for how long it was to listen each time."""

    def __init__(self, seed: int, mishaps: float) -> None:
        super().__init__(seed, mishaps)
        self.waits: list[float] = []

    def select(self, seconds: float) -> list[tuple[SimpleNamespace, int]]:
        self.waits.append(seconds)
        return super().select(seconds)


class Remembering(Stage):
    """Remembers what it was told to read."""

    def __init__(self, seed: int, mishaps: float, tasks: list[PieceTask]) -> None:
        super().__init__(seed, mishaps)
        self.tasks = tasks

    def select(self, seconds: float) -> list[tuple[SimpleNamespace, int]]:
        self.tasks += [PieceTask.parse(line) for worker in self.workers for line in worker.queue]
        return super().select(seconds)


def _report(path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch, jobs: int = 3) -> ReadReport:
    monkeypatch.setattr(source, "SMALLEST", 0)
    stage.set(monkeypatch)
    with TraceFile(path, jobs=jobs, part_bytes=PART, block_bytes=500) as trace_file:
        return trace_file.read().report


@pytest.mark.parametrize("mishaps", [0, 0.5])
@pytest.mark.parametrize("packed", [False, True])
def test_workers_are_waited_for_unless_there_is_text_to_inflate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool, mishaps: float
) -> None:
    path, text = tmp_path / "t.json", json.dumps(EVENTS).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    for seed in range(4):
        stage = Listening(seed, mishaps)
        assert _report(path, stage, monkeypatch).events == len(EVENTS)
        assert 0 in stage.waits if packed else set(stage.waits) <= {PATIENCE}


@pytest.mark.parametrize("packed", [False, True])
def test_no_worker_is_given_up_while_another_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    """However many times it is listened for."""
    path, text = tmp_path / "t.json", json.dumps(EVENTS).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.setattr(pool, "_SILENCE", PATIENCE)
    stage = Listening(1, 0)
    report = _report(path, stage, monkeypatch)
    assert (report.events, report.passing) == (len(EVENTS), ())
    assert len(stage.waits) > 10


@pytest.mark.parametrize("head", [0, 10 * PART])
def test_all_pieces_but_the_first_are_read_by_workers_wherever_the_events_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: int
) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"a": "x" * head, "traceEvents": EVENTS}))
    stage = Stage(1, 0)
    assert _report(path, stage, monkeypatch).events == len(EVENTS)
    assert stage.answered == len(json.dumps(EVENTS)) // PART


def test_nothing_is_read_beyond_the_end_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a text that is inflated, and whose length is found on the way."""
    sent: list[PieceTask] = []
    Remembering(1, 0, sent).set(monkeypatch)
    path, text = tmp_path / "t.json", json.dumps(EVENTS).encode()
    path.write_bytes(gzip.compress(text))
    end = len(text) // 2
    with (
        closing(open_text(path)) as inflated,
        WorkerPool(inflated, 1, PART, Syntax(False, 500), 3, end=end) as workers,
    ):
        assert max(piece.end for piece in workers.pieces() if piece is not None) >= end
    assert sent and max(task.start for task in sent) < end
