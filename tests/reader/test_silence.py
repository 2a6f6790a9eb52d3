"""A read that hangs, as of a file on a network: that is said, and nobody has to wait for it."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.background import Background, in_background
from tracetui.compiled import COMPILED
from tracetui.reader import source, text, worker
from tracetui.reader.source import Progress, TraceFile

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"part_bytes": 20_000, "block_bytes": 5000}
TEXT = json.dumps(
    [{"ph": "X", "name": f"{n * 7919 % 3989}", "pid": 1, "tid": 2, "ts": n, "dur": 1} for n in range(4000)]
)


class Clock:
    """What the reader knows of time: its clock goes on, with each look at it, while a read hangs only."""

    time_ns = staticmethod(time.time_ns)

    def __init__(self) -> None:
        self.hangs = threading.Event()
        self.step = 1.0
        self._now = 0.0

    def monotonic(self) -> float:
        if self.hangs.is_set():
            self._now += self.step
        return self._now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which the reader tells how long it has read nothing."""
    clock = Clock()
    monkeypatch.setattr(source, "time", clock)
    return clock


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[threading.Event]:
    """Let reads beyond the middle of the file go on, which hang until then."""
    event = threading.Event()
    pread = text._pread

    def hanging(fd: int, length: int, offset: int) -> Any:
        # What workers wrote is in memory, and does not hang.
        is_file = "memfd" not in str(Path(f"/proc/self/fd/{fd}").readlink())
        if is_file and offset + length > os.fstat(fd).st_size / 2 and length > 64:
            if not event.is_set():
                clock.hangs.set()
            event.wait(300)
            clock.hangs.clear()
        return pread(fd, length, offset)

    monkeypatch.setattr(text, "_pread", hanging)
    monkeypatch.setattr(text, "_INFLATE_STEP", 1000)
    yield event
    event.set()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("jobs", "threads"),
    [
        (1, False),
        (2, False),
        pytest.param(2, True, marks=pytest.mark.skipif(not COMPILED, reason="nothing is compiled")),
    ],
)
def test_a_read_that_hangs_is_said_and_can_be_stopped(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    go_on: threading.Event,
    packed: bool,
    jobs: int,
    threads: bool,
) -> None:
    monkeypatch.setattr(source, "SMALLEST", 0)
    monkeypatch.setattr(source, "COMPILED", threads)
    monkeypatch.setattr(source, "_LONG_SILENCE", 1)
    # Idle workers are silent for longer than busy ones may be, and are not given up.
    if jobs == 2 and not threads:
        monkeypatch.setattr("tracetui.reader.processes.SILENCE", 0.5)
        clock.step = 0.1
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    silent: list[int] = []
    with TraceFile(path, jobs=jobs, **SIZES) as trace:
        # Only what this process reads itself hangs, which is the first piece.
        if jobs == 2 and not (packed or threads):
            monkeypatch.setattr(trace, "_part_bytes", len(TEXT) - 5000)
        table = trace.read(lambda progress: silent.append(progress.silent_s), lambda: 2 in silent)
    assert [seconds for seconds in silent if seconds][-2:] == [1, 2]
    assert table.report.stopped
    assert table.report.events < 4000


def test_it_goes_on_where_the_read_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go_on: threading.Event
) -> None:
    monkeypatch.setattr(source, "_LONG_SILENCE", 1)
    path = tmp_path / "trace.json"
    path.write_text(TEXT)
    silent: list[int] = []

    def see(progress: Progress) -> None:
        silent.append(progress.silent_s)
        if progress.silent_s:
            go_on.set()

    with TraceFile(path, **SIZES) as trace:
        table = trace.read(see)
    assert (table.report.events, table.report.warnings) == (4000, ())
    assert sum(silent) == 1
    assert silent[-1] == 0


HANGING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tracetui.reader import source, text
pread = text._pread
def hanging(fd, length, offset):
    if offset > 30_000:
        print("hangs", flush=True)
        time.sleep(600)
    return pread(fd, length, offset)
text._pread = hanging
with source.TraceFile(sys.argv[1], part_bytes=20_000, block_bytes=5000) as trace:
    trace.read()
"""


def test_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TEXT)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal; signal.signal(2, signal.default_int_handler)\n" + HANGING,
            path,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"hangs\n"
        reader.send_signal(signal.SIGINT)
        _, err = reader.communicate(timeout=300)
    assert err.endswith(b"KeyboardInterrupt\n")


def test_a_worker_at_a_long_task_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[int, bytes]] = []
    monkeypatch.setattr(os, "write", lambda fd, content: written.append((fd, content)))
    pulse = worker._Pulse()
    pulse.beat()
    assert not written
    monkeypatch.setattr("time.monotonic", lambda: 1e12)
    pulse.beat()
    pulse.beat()
    assert written == [(1, b"\n")]


def test_what_is_made_in_the_background_is_what_is_made() -> None:
    made = [item for item in in_background(iter([1, None, "a"])) if item is not None]
    assert made == [1, "a"]
    error = KeyError("no")

    def fail() -> Iterator[int]:
        yield 1
        raise error

    items = in_background(fail())
    assert next(item for item in items if item is not None) == 1
    with pytest.raises(KeyError) as caught:
        list(items)
    assert caught.value is error


def test_without_threads_it_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    call = Background(lambda: 5)
    assert call.wait(0)
    assert call.result() == 5


def test_silence_is_told_from_its_third_second_on_and_a_suspension_counts_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(source, "time", SimpleNamespace(monotonic=lambda: now))
    silence = source._Silence()
    reports = []
    for beat in (0.25,) * 13 + (3600.0,) + (0.25,) * 4:
        now += beat
        if silence.is_news(read=False):
            reports.append((now, silence.seconds))
    assert reports == [(103.0, 3), (3703.25, 4), (3704.0, 5)]
    assert silence.is_news(read=True)
    assert silence.seconds == 0
