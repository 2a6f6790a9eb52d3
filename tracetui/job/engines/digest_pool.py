"""Digests made by processes of this machine, each rank in one: as many at once as cores and memory allow.

A process that dies costs the rank it had in hand, and no more. Whoever asks may stop it at any time, and
keeps what is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.databases.opening import file_size
from tracetui.job.cached_digest import DigestResult, digest_or_reason
from tracetui.reader.cores import usable_cores
from tracetui.reader.source import Progress

SMALLEST = 20_000_000  #: bytes of all traces together that are worth a second process
_INFLATED = 12  # bytes of text for each byte of gzip, about
_PATIENCE = 0.1  # seconds between two chances to stop


@dataclass(frozen=True)
class DigestProgress:
    """The progress of the digests of a job."""

    done: int  #: ranks, with those that failed
    total: int
    done_bytes: int  #: of the files
    total_bytes: int


def digest_all(
    paths: Sequence[Path],
    on_progress: Callable[[DigestProgress], None] | None = None,
    on_result: Callable[[int, DigestResult], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    cache: bool = True,
    jobs: int | None = None,
    scheduler: SchedulerSource | None = None,
) -> dict[int, DigestResult]:
    """Return the digests of traces by their place; those that were not done when it was stopped are missing.

    Args:
        paths: of the files.
        on_progress: called as traces are read.
        on_result: called for each rank when it is done, with its place.
        should_stop: asked several times a second.
        cache: as of `digest_rank`.
        jobs: processes at once; None: one for each core that may be used.
        scheduler: as of `digest_trace`.
    """
    scheduler = scheduler or SchedulerSource()
    work = _Work(paths, on_progress, on_result)
    at_once = min(usable_cores() if jobs is None else jobs, len(paths))
    if at_once > 1 and sum(work.sizes) >= SMALLEST:
        with _Pool(work, at_once, cache, scheduler) as pool:
            pool.run(should_stop)
        return work.results
    for place, path in enumerate(paths):
        if should_stop():
            break

        def read(progress: Progress, place: int = place) -> None:
            work.read(place, progress.done_bytes)

        work.finish(place, digest_or_reason(path, read, cache, jobs, scheduler))
    return work.results


class _Work:
    """The digests that are asked for, and those that are done."""

    def __init__(
        self,
        paths: Sequence[Path],
        on_progress: Callable[[DigestProgress], None] | None,
        on_result: Callable[[int, DigestResult], None] | None,
    ) -> None:
        self.paths = paths
        self.sizes = [file_size(path) for path in paths]
        self.results: dict[int, DigestResult] = {}
        self._on_progress, self._on_result = on_progress, on_result
        self._read = [0] * len(paths)

    def read(self, place: int, done: int) -> None:
        self._read[place] = min(done, self.sizes[place])
        if self._on_progress is not None:
            ranks = DigestProgress(len(self.results), len(self.paths), sum(self._read), sum(self.sizes))
            self._on_progress(ranks)

    def finish(self, place: int, result: DigestResult) -> None:
        self.results[place] = result
        if self._on_result is not None:
            self._on_result(place, result)
        self.read(place, self.sizes[place])


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    requests: IO[bytes]  #: its stdin
    answers: IO[bytes]  #: its stdout
    place: int = -1  #: what it has in hand, -1 nothing
    held: bytearray = field(default_factory=bytearray)
    awaited: int = 0  #: bytes of a digest that are to come

    def close(self) -> None:
        for stream in (self.requests, self.answers):
            with contextlib.suppress(OSError):
                stream.close()


class _Pool:
    """The processes; a context manager that ends them."""

    def __init__(self, work: _Work, at_once: int, cache: bool, scheduler: SchedulerSource) -> None:
        self._work, self._at_once, self._cache = work, at_once, cache
        given = scheduler.path
        self._scheduler = None if given is None else os.fspath(given), scheduler.offset_ns
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        # The largest first: none is left alone at the end.
        self._left = sorted(range(len(work.paths)), key=lambda place: (work.sizes[place], -place))
        self._memory = available_memory()

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.close()
            worker.process.wait()
        self._selector.close()

    def run(self, should_stop: Callable[[], bool]) -> None:
        while (self._left or self._busy()) and not should_stop():
            self._hand_out()
            for key, _ in self._selector.select(_PATIENCE):
                self._take(key.data)

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.place >= 0]

    def _hand_out(self) -> None:
        while self._left:
            busy = self._busy()
            need = self._need(self._left[-1])
            memory_in_use = sum(self._need(worker.place) for worker in busy)
            if len(busy) >= self._at_once or (busy and memory_in_use + need > self._memory):
                return
            worker = next((one for one in self._workers if one.place < 0), None) or self._start()
            if worker is None:
                if not busy:
                    self._work.finish(self._left.pop(), "no process could be started for it")
                return
            worker.place = self._left.pop()
            path = os.fspath(self._work.paths[worker.place])
            request = json.dumps([path, self._cache, *self._scheduler])
            with contextlib.suppress(OSError):  # it has ended: that is seen when it is read from
                worker.requests.write(request.encode("ascii") + b"\n")
                worker.requests.flush()

    def _need(self, place: int) -> int:
        """Return the bytes of memory that a rank takes: half of its text."""
        inflated = _INFLATED if self._work.paths[place].suffix == ".gz" else 1
        return self._work.sizes[place] * inflated // 2

    def _start(self) -> _Worker | None:
        command = [sys.executable, "-m", "tracetui.job.engines.worker"]
        package = Path(__file__).resolve().parents[3]
        paths = [os.fspath(package), os.environ.get("PYTHONPATH", "")]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        try:
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environ)
        except OSError:
            return None
        assert process.stdin is not None and process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        worker = _Worker(process, process.stdin, process.stdout)
        self._workers.append(worker)
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _take(self, worker: _Worker) -> None:
        data = worker.answers.read(1 << 20)
        if data is None:
            return
        if not data:
            self._bury(worker)
            return
        worker.held += data
        while self._next_answer(worker):
            pass

    def _next_answer(self, worker: _Worker) -> bool:
        """Take one answer from what a worker has sent, if it is whole."""
        if worker.awaited:
            if len(worker.held) < worker.awaited:
                return False
            digest = bytes(worker.held[: worker.awaited])
            del worker.held[: worker.awaited]
            worker.awaited = 0
            self._finish(worker, digest)
            return True
        end = worker.held.find(b"\n")
        if end < 0:
            return False
        message = json.loads(worker.held[:end])
        del worker.held[: end + 1]
        if "done" in message:
            self._work.read(worker.place, int(message["done"]))
        elif "error" in message:
            self._finish(worker, str(message["error"]))
        else:
            worker.awaited = int(message["bytes"])
        return True

    def _finish(self, worker: _Worker, result: DigestResult) -> None:
        place, worker.place = worker.place, -1
        self._work.finish(place, result)

    def _bury(self, worker: _Worker) -> None:
        """Go on without a worker that has ended."""
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        worker.close()
        code = worker.process.wait()
        if worker.place >= 0:
            self._finish(
                worker, f"its process was ended by signal {-code}" if code < 0 else "its process ended"
            )


def available_memory() -> int:
    """Return the bytes of memory that may be taken now, as far as the system tells; else very many."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        return int(fields["MemAvailable"].split()[0]) * 1024 * 8 // 10
    except (OSError, KeyError, ValueError):
        return sys.maxsize
