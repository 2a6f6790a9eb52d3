"""A reading by several workers, in whatever order they answer and whatever befalls them, is the serial one.

The workers are played by this process: they do what a task asks when a shuffle says so, or die, or rave.
"""

from __future__ import annotations

import dataclasses
import errno
import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reader.rows import expected_rows, rows_of
from tracetui.reader import pool, source
from tracetui.reader.damage import Damage
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.events import ReadReport
from tracetui.reader.pieces import EventsPiece, PieceReader, Reads, Syntax, guess_start, read_pieces
from tracetui.reader.processes import Buffers, exit_words
from tracetui.reader.source import TraceFile
from tracetui.reader.text import LentText, open_text
from tracetui.reader.worker import PieceAnswer, PieceTask, read_task

pytestmark = pytest.mark.usefixtures("workers")


class Stage:
    """Where the workers are played: in place of their processes and of the selector that listens to them."""

    def __init__(self, seed: int, mishaps: float) -> None:
        self.chance = random.Random(seed)
        self.mishaps = mishaps
        self.workers: list[Actor] = []
        self.answered = 0

    def set(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(pool, "Worker", self.start)
        patch.setattr("selectors.DefaultSelector", lambda: self)

    def start(self, fds: list[int]) -> Actor:
        self.workers.append(Actor(self))
        return self.workers[-1]

    def register(self, _stream: object, _events: int, worker: Actor) -> None:
        pass

    def unregister(self, _stream: object) -> None:
        pass

    def close(self) -> None:
        pass

    def select(self, _seconds: float) -> list[tuple[SimpleNamespace, int]]:
        busy = [worker for worker in self.workers if worker.queue]
        return [(SimpleNamespace(data=self.chance.choice(busy)), 1)] if busy else []


class Actor:
    """Plays a worker."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.tasks: dict[int, PieceTask] = {}
        self.silent = 0.0
        self.queue: list[bytes] = []
        self.reader: PieceReader | None = None
        self.process = SimpleNamespace(stdout=0, kill=lambda: None)

    def send(self, line: bytes) -> bool:
        if self.reader is None:
            self.reader = PieceReader(Syntax(**orjson.loads(line)))
        else:
            self.queue.append(line)
        return self.stage.chance.random() >= self.stage.mishaps / 4

    def lines(self) -> list[bytes] | None:
        assert self.reader is not None
        if self.stage.chance.random() < 0.1:
            return [b""]  # it is at work
        task = PieceTask.parse(self.queue.pop(0))
        if self.stage.chance.random() >= self.stage.mishaps:
            self.stage.answered += 1
            return [read_task(task, self.reader).line()[:-1]]
        mishap = self.stage.chance.randrange(5)
        if mishap == 0:
            return None
        if mishap == 1:
            return [b"Killed"]
        if mishap == 2:
            return [PieceAnswer(task.number).line()]
        answer = read_task(task, self.reader)
        if mishap == 3:
            os.pwrite(task.buffer, b"\0" * 64, 0)
        else:
            answer = dataclasses.replace(answer, length=answer.length + 8)
        return [answer.line()]

    def reap(self, seconds: float = 0) -> int | None:
        self.stage.workers.remove(self)
        self.queue.clear()
        return -9


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of any size are worth workers."""
    monkeypatch.setattr(source, "SMALLEST", 0)


def everything(path: Path, first: int = 0, **options: Any) -> Any:
    """All that a reading gives, to be compared: table, report and single events; or why there is nothing."""
    with TraceFile(path, **options) as trace:
        try:
            table = trace.read(first=first)
        except UnreadableTrace as error:
            return str(error)
        return plain(table), [trace.event(number) for number in range(table.report.events)]


def plain(value: Any) -> Any:
    if isinstance(value, ReadReport):
        lasting = tuple(warning for warning in value.warnings if warning not in value.passing)
        value = dataclasses.replace(value, warnings=lasting, passing=())
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist() if value.dtype.kind != "f" else value.tobytes()
    return value


def write_damaged(path: Path, text: str, damages: list[tuple[float, int, bytes]], packed: bool) -> Path:
    """Write a trace with damages: each a place of its bytes, how many go, and what comes there."""
    content = text.encode()
    for place, deleted, inserted in damages:
        at = 20 + int(place * (len(content) - 20))
        content = content[:at] + inserted + content[at + deleted :]
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    return path


def played(
    monkeypatch: pytest.MonkeyPatch, path: Path, seed: int, mishaps: float, **options: Any
) -> tuple[Any, Stage]:
    """All that a reading gives with workers that are played."""
    stage = Stage(seed, mishaps)
    with monkeypatch.context() as patch:
        stage.set(patch)
        return everything(path, **options), stage


NESTED = [{"name": "a", "ph": "X"}, {"name": "}, {"}, {"ph": "i"}] * 8
events = st.builds(
    lambda kind, n: {
        "name": f"e{n}",
        "pid": n % 3,
        "tid": "t",
        "ts": f"17364124747{n:05}.{n % 1000:03}",
        **kind,
    },
    st.sampled_from(
        [
            {
                "ph": "X",
                "dur": 1.5,
                "cat": "cpu_op",
                "args": {"Call stack": "a.py(1): f", "connection_id": 7},
            },
            {"ph": "X", "dur": "2", "args": {"list": NESTED}},
            {"ph": "B"},
            {"ph": "E"},
            {"ph": "C", "args": {"value": 0.5, "acc_id": 0}},
            {"ph": "s", "id": 7, "cat": "async_npu"},
            {"ph": "f", "id": 1 << 70, "cat": "async_npu"},
            {"ph": "i", "args": {"text": '}, {"ph": "X", "name": "' * 9}},
            {"ph": "i", "args": {"long": "x" * 700}},
            {"ph": "M", "args": {"name": "process"}},
            {"ph": "?"},
            {"note": "no event"},
        ]
    ),
    st.integers(0, 99_999),
)
damages = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 30),
        st.sampled_from([b"", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b"\0", b"NaN", b"}, {", b"\xff"]),
    ),
    max_size=3,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    array=st.lists(events, min_size=1, max_size=60),
    damages=damages,
    wrapped=st.booleans(),
    packed=st.booleans(),
    indent=st.sampled_from([None, None, 2]),
    jobs=st.integers(2, 5),
    part=st.sampled_from([40, 300, 1000, 5000]),
    block=st.sampled_from([30, 200, 1000, 10**6]),
    behind=st.sampled_from([500, 10**6]),
    mishaps=st.sampled_from([0.0, 0.0, 0.3, 0.9]),
    first=st.one_of(st.just(0), st.integers(0, 8000)),
    seed=st.integers(0, 10**6),
)
def test_any_workers_give_what_one_process_gives(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    small: None,
    array: list[dict[str, Any]],
    damages: list[tuple[float, int, bytes]],
    wrapped: bool,
    packed: bool,
    indent: int | None,
    jobs: int,
    part: int,
    block: int,
    behind: int,
    mishaps: float,
    first: int,
    seed: int,
) -> None:
    text = json.dumps({"traceEvents": array, "distributedInfo": NESTED} if wrapped else array, indent=indent)
    path = write_damaged(tmp_path / "trace.json", text, damages, packed)
    sizes = {"part_bytes": part, "block_bytes": block}
    with monkeypatch.context() as patch:
        patch.setattr(pool, "AFTER", behind)  # bytes of an inflated text: too few for some events
        result, stage = played(patch, path, seed, mishaps, jobs=jobs, first=first, **sizes)
    assert result == everything(path, jobs=1, first=first, **sizes)
    assert not stage.workers, "all are gone"


def training(count: int) -> list[dict[str, Any]]:
    return [
        {"ph": "X", "name": f"e{n}", "pid": 1, "tid": 2, "ts": n, "dur": 1, "args": {"n": NESTED}}
        for n in range(count)
    ]


@pytest.mark.parametrize("packed", [False, True])
def test_lists_within_events_mislead_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, packed: bool
) -> None:
    path = tmp_path / "trace.json"
    text = json.dumps(training(120)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    starts: list[int] = []

    class Own(PieceReader):
        def read(self, text: Reads, start: int, stop: int, in_damage: bool) -> EventsPiece:
            starts.append(start)
            return super().read(text, start, stop, in_damage)

    monkeypatch.setattr(pool, "PieceReader", Own)
    sizes = {"part_bytes": 10_000, "block_bytes": 5000}
    result, stage = played(monkeypatch, path, 1, 0, jobs=3, **sizes)
    assert result == everything(path, jobs=1, **sizes)
    pieces = len(text) // 10_000
    assert starts == [1], "all but the first piece is read by workers"
    assert pieces <= stage.answered <= pieces + 1, "no piece was read twice"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("pieces", "jobs"), [(9, 3), (3, 5), (2, 2)])
def test_each_piece_but_the_first_is_asked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, packed: bool, pieces: int, jobs: int
) -> None:
    """At equal distances, of no more workers than there are such pieces, and each has something to do."""
    path, start = tmp_path / "trace.json", 1
    event = {"ph": "X", "name": "e", "pid": 1, "tid": 2, "ts": 1, "dur": 1}
    text = json.dumps([event] * 200)
    text = text.replace('"e"', '"e' + "-" * (pieces - (len(text) - start) % pieces) + '"', 1)
    size, rest = divmod(len(text) - start, pieces)
    assert not rest
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    asked: list[PieceTask] = []
    of: list[Actor] = []

    class Asked(Actor):
        def send(self, line: bytes) -> bool:
            if self.reader is not None:
                asked.append(PieceTask.parse(line))
                of.append(self)
            return super().send(line)

    stage = Stage(2, 0)
    stage.set(monkeypatch)
    made: list[Actor] = []

    def start_one(_: list[int]) -> Actor:
        made.append(Asked(stage))
        stage.workers.append(made[-1])
        return made[-1]

    monkeypatch.setattr(pool, "Worker", start_one)
    with TraceFile(path, jobs=jobs, part_bytes=size, block_bytes=300) as trace:
        assert trace.read().report.events == 200
    assert [task.number for task in asked] == [*range(1, pieces)]
    for task in asked:
        cut = start + task.number * size
        assert (task.stop, task.starts_in_damage) == (cut + size, False)
        # Of what is inflated it may be known meanwhile where the event begins.
        assert task.start == cut or (packed and task.start_known and cut < task.start < cut + 70)
        if packed:
            assert (task.loan.shift, task.loan.end, task.loan.last) == (64 - task.start, len(text), True)
    assert len(made) == (jobs if packed else min(jobs, pieces - 1))
    assert packed or len(set(map(id, of))) == min(jobs, pieces - 1)


def test_damage_costs_only_the_piece_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    path = tmp_path / "trace.json"
    text = json.dumps(training(500)).encode()
    path.write_bytes(text[:115_000] + b"?" * 50 + text[115_050:])
    sizes = {"part_bytes": 50_000, "block_bytes": 5000}
    result, stage = played(monkeypatch, path, 1, 0, jobs=3, **sizes)
    assert result == everything(path, jobs=1, **sizes)
    assert stage.answered <= len(text) // 50_000 + 1


def test_what_workers_suffer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(training(50)))
    stage = Stage(3, 1)
    stage.set(monkeypatch)
    with TraceFile(path, jobs=2, part_bytes=3000, block_bytes=1000) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(path.read_text())
    (warning,) = table.report.warnings
    assert warning.startswith("2 of 2 worker processes ended early (")
    assert warning.endswith("); their parts were read again")


def test_one_worker_is_better_than_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(training(50)))
    stage = Stage(3, 0)
    stage.set(monkeypatch)

    def start(fds: list[int]) -> Actor:
        if stage.workers:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return stage.start(fds)

    monkeypatch.setattr(pool, "Worker", start)
    with TraceFile(path, jobs=3, part_bytes=3000, block_bytes=1000) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(path.read_text())
    assert stage.answered >= path.stat().st_size // 3000 - 2
    assert table.report.warnings == (
        "2 of 3 worker processes could not be started (Resource temporarily unavailable)",
    )


@given(
    lengths=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from("ab")), max_size=240),
    cuts=st.lists(st.integers(0, 240), max_size=4),
)
def test_damage_adds_up(lengths: list[tuple[int, int, str]], cuts: list[int]) -> None:
    places, at = [], 0
    for gap, length, reason in lengths:
        places.append((at + gap, length, reason))
        at += gap + length
    whole = Damage()
    for place in places:
        whole.add(*place)
    total = Damage()
    bounds = [0, *sorted(cuts), len(places)]
    for start, end in zip(bounds, bounds[1:]):
        part = Damage()
        for place in places[start:end]:
            part.add(*place)
        total.extend(part)
    assert total == whole


def test_a_start_is_found_where_events_begin(tmp_path: Path) -> None:
    array = training(12)
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(array))
    text = open_text(path)
    starts = [piece.start for piece in read_pieces(text, 1, 1, Syntax(False, 10**6))]
    assert len(starts) >= len(array)
    size = path.stat().st_size
    for at in range(2, starts[-3], 513):
        found = next(start for start in starts if start >= at)
        assert guess_start(text, at, size) == guess_start(text, at, found + 1) == found
        assert guess_start(text, at, found) is guess_start(text, at, at) is None
    text.close()


@pytest.mark.parametrize("in_memory", [True, False])
def test_buffers_are_shared_and_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    if not in_memory:  # as on macOS, and in some sandboxes
        monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    buffers = Buffers()
    buffers.open(2, with_text=True)
    fds = buffers.fds()
    assert len(set(fds)) == 4
    first, second = buffers.take(5), buffers.take(6)
    assert first is not second
    assert buffers.take(7) is None
    buffers.free(5)
    assert first is not None
    assert buffers.take(8) is first
    os.pwrite(first.piece, b"text", 100)
    assert os.pread(first.piece, 9, 100) == b"text"
    assert not [*tmp_path.iterdir()], "no name, nothing to be left"
    buffers.close()
    for fd in fds:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(fd)


@pytest.mark.parametrize(("more", "last"), [(-1, False), (0, False), (1, True)])
def test_inflated_text_is_lent_from_where_it_begins(more: int, last: bool) -> None:
    """It ends where the text does, if it is shorter than was asked for."""
    buffers = Buffers()
    buffers.open(1, with_text=True)
    buffer = buffers.take(1)
    assert buffer is not None
    loan = buffer.lend(b"0123456789", 100, 110 + more)
    assert (loan.shift, loan.end, loan.last) == (-100, 110, last)
    assert LentText(loan).read(103, 4) == b"3456"
    buffers.close()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        *[(None, "it did not answer"), (0, "exit status 0"), (3, "exit status 3"), (-9, "killed")],
        *[(-1, "SIGHUP"), (-15, "SIGTERM"), (-99, "signal 99")],
    ],
)  # fmt: skip
def test_how_a_process_ended_is_said_in_a_word(status: int | None, words: str) -> None:
    assert exit_words(status) == words


@pytest.fixture(autouse=True)
def _no_descriptor_is_left() -> Iterator[None]:
    open_ones = Path("/proc/self/fd")
    before = len([*open_ones.glob("*")])
    yield
    assert len([*open_ones.glob("*")]) <= before
