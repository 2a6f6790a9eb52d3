"""A reading by several workers, in whatever order they answer and whatever befalls them, is the serial one.

The workers are played by this process: they do what a task asks, or die, or rave.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import gzip
import json
import os
import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reader.rows import expected_rows, rows_of
from tracetui.reader import processes, source, threads
from tracetui.reader.damage import Damage
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.events import ReadReport
from tracetui.reader.piece_order import PieceRange
from tracetui.reader.pieces import EventsPiece, PieceOptions, PieceReader, Reads, guess_start, read_pieces
from tracetui.reader.processes import Worker, exit_words
from tracetui.reader.source import Progress, TraceFile
from tracetui.reader.text import open_text
from tracetui.reader.threads import ReaderLost
from tracetui.reader.worker import PieceAnswer, PieceTask, read_task

pytestmark = pytest.mark.usefixtures("workers")


MISHAPS = ("dies", "raves", "gives up", "writes zeros", "counts wrongly")


class Stage:
    """Where the workers are played: in place of their processes."""

    def __init__(self, seed: int, mishaps: float, kinds: Sequence[str] = MISHAPS) -> None:
        self.chance = random.Random(seed)
        self.mishaps = mishaps
        self.kinds = kinds
        self.workers: list[Actor] = []
        self.asked: list[PieceTask] = []
        self.answers: list[PieceAnswer] = []

    def set(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr("subprocess.Popen", self.start)

    def start(self, *_arguments: Any, **_options: Any) -> Actor:
        self.workers.append(Actor(self))
        return self.workers[-1]


class Actor:
    """Plays the process of a worker, in a thread: does what a task asks, or dies, or raves."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        (tasks, stdin), (stdout, answers) = os.pipe(), os.pipe()
        self.tasks, self.stdin = os.fdopen(tasks, "rb"), os.fdopen(stdin, "wb", 0)
        self.stdout, self.answers = os.fdopen(stdout, "rb", 0), os.fdopen(answers, "wb", 0)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        with self.tasks, self.answers, contextlib.suppress(BrokenPipeError):
            line = self.tasks.readline()
            if not line:
                return
            reader = PieceReader(PieceOptions(**orjson.loads(line)))
            for line in self.tasks:
                task = PieceTask.parse(line)
                self.stage.asked.append(task)
                if self.stage.chance.random() < 0.1:
                    self.answers.write(b"\n")  # it is at work
                mishap = self.stage.chance.random() < self.stage.mishaps
                kind = self.stage.chance.choice(self.stage.kinds) if mishap else ""
                if kind == "dies":
                    return
                self.answers.write(self.answer(task, reader, kind))

    def answer(self, task: PieceTask, reader: PieceReader, kind: str) -> bytes:
        if kind == "raves":
            return b"Killed\n"
        if kind == "gives up":
            return PieceAnswer().line()
        answer = read_task(task, reader)
        self.stage.answers.append(answer)
        if kind == "writes zeros":
            os.pwrite(task.buffer, b"\0" * 64, 0)
        if kind == "counts wrongly":
            answer = dataclasses.replace(answer, length=answer.length + 8)
        return answer.line()

    def kill(self) -> None:
        pass  # it ends with its stdin

    def wait(self, _seconds: float) -> int:
        self.thread.join()
        if self in self.stage.workers:
            self.stage.workers.remove(self)
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
        patch.setattr(threads, "AFTER", behind)  # bytes of an inflated text: too few for some events
        result, stage = played(patch, path, seed, mishaps, jobs=jobs, first=first, **sizes)
    assert result == everything(path, jobs=1, first=first, **sizes)
    assert not stage.workers, "all are gone"


def training(count: int) -> list[dict[str, Any]]:
    return [
        {"ph": "X", "name": f"e{n}", "pid": 1, "tid": 2, "ts": n, "dur": 1, "args": {"n": NESTED}}
        for n in range(count)
    ]


@pytest.fixture
def own_starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the pieces begin that this process reads by itself."""
    starts: list[int] = []

    class Own(PieceReader):
        def read(self, text: Reads, start: int, stop: int, in_damage: bool) -> EventsPiece:
            starts.append(start)
            return super().read(text, start, stop, in_damage)

    monkeypatch.setattr(threads, "PieceReader", Own)
    return starts


@pytest.mark.parametrize("packed", [False, True])
def test_lists_within_events_mislead_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, own_starts: list[int], packed: bool
) -> None:
    path = tmp_path / "trace.json"
    text = json.dumps(training(120)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    sizes = {"part_bytes": 10_000, "block_bytes": 5000}
    result, stage = played(monkeypatch, path, 1, 0, jobs=3, **sizes)
    assert own_starts == ([] if packed else [1]), "all others are read by workers"
    assert result == everything(path, jobs=1, **sizes)
    found = [answer for answer in stage.answers if answer.length]
    assert len(found) == (len(text) - 2) // 10_000 + packed, "no piece was read twice"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("pieces", "jobs"), [(9, 3), (3, 5), (2, 2)])
def test_each_piece_is_asked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, packed: bool, pieces: int, jobs: int
) -> None:
    """At equal distances, of no more workers than there are pieces; the first of a file is read here."""
    path, start = tmp_path / "trace.json", 1
    event = {"ph": "X", "name": "e", "pid": 1, "tid": 2, "ts": 1, "dur": 1}
    text = json.dumps([event] * 200)
    text = text.replace('"e"', '"e' + "-" * (pieces - (len(text) - start) % pieces) + '"', 1)
    size, rest = divmod(len(text) - start, pieces)
    assert not rest
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    stage = Stage(2, 0)
    stage.set(monkeypatch)
    made: list[int] = []

    def look(_: Progress) -> None:
        made.append(len(stage.workers))

    with TraceFile(path, jobs=jobs, part_bytes=size, block_bytes=300) as trace:
        assert trace.read(look).report.events == 200
    assert made[0] == (jobs if packed else min(jobs, pieces - 1))
    asked = sorted(stage.asked, key=lambda task: task.start)
    asked = [task for task in asked if task.start < len(text)]  # where an inflated text ends nobody knows
    cuts = [start + number * size for number in range(not packed, pieces)]
    assert [task.start for task in asked] == cuts
    for task in asked:
        assert (task.stop, task.start_known) == (task.start + size, task.start == start)
        lent = (max(0, task.start - 64), len(text)) if packed else (0, len(text))
        assert (-task.loan.shift, task.loan.end, task.loan.last) == (*lent, True)


def test_damage_costs_only_the_piece_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, own_starts: list[int]
) -> None:
    path = tmp_path / "trace.json"
    text = json.dumps(training(500)).encode()
    path.write_bytes(text[:115_000] + b"?" * 50 + text[115_050:])
    sizes = {"part_bytes": 50_000, "block_bytes": 5000}
    result, _ = played(monkeypatch, path, 1, 0, jobs=3, **sizes)
    assert len(own_starts) <= 2
    assert result == everything(path, jobs=1, **sizes)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        *[("dies", "killed"), ("raves", "it answered nonsense"), ("writes zeros", "it answered nonsense")],
        *[("counts wrongly", "it answered nonsense"), ("gives up", None)],
    ],
)
def test_what_workers_suffer_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, kind: str, reason: str | None
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(training(50)))
    Stage(3, 1, [kind]).set(monkeypatch)
    with TraceFile(path, jobs=2, part_bytes=3000, block_bytes=1000) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(path.read_text())
    warning = f"2 of 2 worker processes ended early ({reason}); their parts were read again"
    assert table.report.warnings == ((warning,) if reason else ())


def test_one_worker_is_better_than_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(training(50)))
    stage = Stage(3, 0)
    stage.set(monkeypatch)

    def start(*_arguments: Any, **_options: Any) -> Actor:
        if stage.workers:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return stage.start()

    monkeypatch.setattr("subprocess.Popen", start)
    part_bytes = 2900  # events begin in the last piece, else it is not awaited
    with TraceFile(path, jobs=3, part_bytes=part_bytes, block_bytes=1000) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(path.read_text())
    assert len(stage.answers) == (path.stat().st_size - 2) // part_bytes
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
    starts = [piece.start for piece in read_pieces(text, 1, 1, PieceOptions(False, 10**6))]
    assert len(starts) >= len(array)
    size = path.stat().st_size
    for at in range(2, starts[-3], 513):
        found = next(start for start in starts if start >= at)
        assert guess_start(text, at, size) == guess_start(text, at, found + 1) == found
        assert guess_start(text, at, found) is guess_start(text, at, at) is None
    text.close()


@pytest.mark.parametrize("packed", [False, True])
def test_files_for_workers_need_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None, packed: bool
) -> None:
    """Where there are none in memory, as on macOS and in some sandboxes."""
    path, directory = tmp_path / "trace.json", tmp_path / "temporary"
    directory.mkdir()
    text = json.dumps(training(50)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    sizes = {"part_bytes": 3000, "block_bytes": 1000}
    result, stage = played(monkeypatch, path, 1, 0, jobs=2, **sizes)
    assert stage.answers
    assert not [*directory.iterdir()]
    assert result == everything(path, jobs=1, **sizes)


def test_a_worker_is_given_up_after_a_silence_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes, as long as it says now and then that it is at work."""
    path = tmp_path / "trace.json"
    path.write_text("[]")
    rounds = int(processes.SILENCE / processes._ROUND)
    silence: list[bytes] = [b""] * (rounds - 1)
    signs = [*silence, b"\n", *silence, PieceAnswer().line(), *silence, b""]
    stdin, stdout = SimpleNamespace(write=len, close=list), SimpleNamespace(close=list)
    stdout.read = lambda _length: signs.pop(0)
    poll = SimpleNamespace(register=lambda *_: None, poll=lambda _: bool(signs[0]) or signs.pop(0))
    process = SimpleNamespace(stdin=stdin, stdout=stdout, kill=list, wait=lambda _: -9)
    monkeypatch.setattr("select.poll", lambda: poll)
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: process)
    text = open_text(path)
    worker = Worker(text, PieceOptions(False, 100))
    task = PieceRange(0, 1, 2, True)
    assert worker.read(task, None) is None
    with pytest.raises(ReaderLost, match="it did not answer"):
        worker.read(task, None)
    assert not signs
    with pytest.raises(ReaderLost):
        worker.read(task, None)
    text.close()


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
