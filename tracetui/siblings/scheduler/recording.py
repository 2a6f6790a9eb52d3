"""Read the text of a recording in blocks, by two threads: numpy releases the interpreter's lock meanwhile."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Callable, Optional, cast

import numpy as np

from tracetui.arrays import Bools, Int64s, Wholes
from tracetui.language import state
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.blocks import parse
from tracetui.siblings.scheduler.events import (
    EMPTY,
    CommNames,
    LostStretch,
    SchedulerColumns,
    SchedulerEvents,
)
from tracetui.siblings.scheduler.parsed import Comms, Mark, Parsed

#: Called with bytes read and bytes in all; what it raises ends the reading.
OnProgress = Optional[Callable[[int, int], None]]

BLOCK = 1 << 21  #: bytes
LONGEST_LINE = 1 << 16  #: bytes
_THREADS = 2
_MOST_NAMES = 1 << 20  # changes of names that are kept
_DAT = b"\x17\x08\x44tracing"
_UNREADABLE = (
    "holds no events of the scheduler in lines of thread, [core], time and event: record with latency-format "
    "off and context-info on"
)
_HASH = np.uint64(0x9E3779B97F4A7C15)


def is_trace_dat(path: Path) -> bool:
    """Return whether a file is what trace-cmd records: not text."""
    try:
        with path.open("rb") as file:
            return file.read(len(_DAT)) == _DAT
    except OSError:
        return False


def read_text(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events in a text of tracefs, `trace-cmd report` or `perf script`, plain or .gz.

    Raises Refusal.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as raw:
            if raw.read(2) == b"\x1f\x8b":
                raw.seek(0)
                with gzip.open(raw) as file:
                    inflated = _Inflated(file)
                    found = _read(path, cast(BinaryIO, inflated), size, on_progress, raw)
                    return replace(found, problems=inflated.problems)
            raw.seek(0)
            return _read(path, raw, size, on_progress, raw)
    except (OSError, EOFError) as error:
        raise Refusal(
            state("cannot be read: {reason}", reason=getattr(error, "strerror", None) or error)
        ) from None


def read_trace_dat(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events in a file of trace-cmd, which that program turns into text. Raises Refusal."""
    program = shutil.which("trace-cmd")
    if program is None:
        raise Refusal(
            state(
                "is a file of trace-cmd, which is not installed here: run `trace-cmd report` where it is, "
                "and give the text"
            )
        )
    # Nanoseconds, and the fields by their names: the plugins of trace-cmd know older letters of states.
    command = [program, "report", "-t", "-N", "-i", os.fspath(path.absolute())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            found = _read(path, cast(BinaryIO, process.stdout), 0, on_progress, None)
        finally:
            process.kill()
        if not len(found.columns.time):
            raise Refusal(state("holds no events of the scheduler that `trace-cmd report` tells of"))
        return found


class _Inflated:
    """The text of a .gz, up to where that is cut or damaged."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.problems: tuple[str, ...] = ()  #: a sentence where it is

    def read(self, size: int) -> bytes:
        """Return at least so many bytes, fewer at the end."""
        parts, held = [], 0
        while held < size and not self.problems:
            try:
                part = self._file.read1(size)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.problems = (
                    state("The recording of the scheduler is cut or damaged, and read up to there"),
                )
                break
            if not part:
                break
            parts.append(part)
            held += len(part)
        return b"".join(parts)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, some MB at once; a line that never ends is cut."""
    left = b""
    while data := file.read(BLOCK):
        data = left + data
        end = data.rfind(b"\n") + 1
        if not end and len(data) > LONGEST_LINE:
            end = len(data)
        left = data[end:]
        if end:
            yield data[:end]
    if left:
        yield left


def _read(
    path: Path, file: BinaryIO, size: int, on_progress: OnProgress, raw: BinaryIO | None
) -> SchedulerEvents:
    gathered = _Gathered()
    waiting: deque[Future[Parsed]] = deque()
    with ThreadPoolExecutor(_THREADS) as pool:
        try:
            for data in _blocks(file):
                waiting.append(pool.submit(parse, data))
                while len(waiting) > 2 * _THREADS:
                    gathered.add(waiting.popleft().result())
                if on_progress is not None:
                    done = raw.tell() if raw is not None else 0
                    on_progress(min(done, size), size)
            while waiting:
                gathered.add(waiting.popleft().result())
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return gathered.events(path)


class _Gathered:
    """Blocks in the order of the file, joined."""

    def __init__(self) -> None:
        self._parts: list[SchedulerColumns] = []
        self._changes: dict[int, list[tuple[int, str]]] = {}
        self._count = 0
        self._last_hash = np.zeros(1 << 16, np.uint64)
        self._processes: dict[int, int] = {}
        self._lost: list[tuple[Mark, int]] = []  # and the last time of its core before the block
        self._open: dict[int, list[int]] = {}  # losses of a core that wait for its next event
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._overwritten = self._skipped = 0

    def add(self, parsed: Parsed) -> None:
        self._add_names(parsed)
        self._parts.append(parsed.columns)
        self._processes.update(parsed.processes)
        self._overwritten += parsed.overwritten
        self._skipped += parsed.skipped
        for cpu, places in [*self._open.items()]:
            if cpu in parsed.first_ns:
                for place in places:
                    mark, before = self._lost[place]
                    self._lost[place] = mark._replace(before_ns=parsed.first_ns[cpu]), before
                del self._open[cpu]
        for mark in parsed.lost:
            if mark.before_ns < 0:
                self._open.setdefault(mark.cpu, []).append(len(self._lost))
            self._lost.append((mark, self._last.get(mark.cpu, -1)))
        for cpu, time in parsed.first_ns.items():
            self._first.setdefault(cpu, time)
        self._last.update(parsed.last_ns)

    def events(self, path: Path) -> SchedulerEvents:
        """Return all events by time. Raises Refusal where there are none."""
        columns = EMPTY
        if self._parts:
            parts = [[*column] for column in zip(*self._parts)]
            self._parts.clear()
            joined: list[Wholes] = []
            for column in parts:  # one after the other: as little as possible twice in memory
                joined.append(np.concatenate(column))
                column.clear()
            columns = SchedulerColumns._make(joined)
        if not len(columns.time):
            raise Refusal(_UNREADABLE if self._skipped else "holds no events of the scheduler")
        reordered = int(np.count_nonzero(columns.time[1:] < np.maximum.accumulate(columns.time)[:-1]))
        if reordered:
            order = np.argsort(columns.time, kind="stable")
            columns = SchedulerColumns._make(column[order] for column in columns)
        return SchedulerEvents(
            path=os.fspath(path),
            columns=columns,
            names=CommNames({pid: _ordered(changes) for pid, changes in self._changes.items()}),
            processes=self._processes,
            losses=tuple(self._losses()),
            overwritten=self._overwritten,
            skipped=self._skipped,
            reordered=reordered,
        )

    def _losses(self) -> Iterator[LostStretch]:
        if self._overwritten:  # the buffer of a core begins where its first event is
            for cpu, time in sorted(self._first.items()):
                yield LostStretch(cpu, -1, time, 0)
        for mark, before in self._lost:
            after = mark.after_ns if mark.after_ns >= 0 else before
            yield LostStretch(mark.cpu, after, mark.before_ns, mark.events)

    def _add_names(self, parsed: Parsed) -> None:
        """Note the names of threads where they change, one at a time: that is rare."""
        columns = parsed.columns
        for comms in parsed.comms:
            slot = comms.pid & 0xFFFF
            hashed = (comms.first ^ (comms.second * _HASH)) + comms.pid.astype(np.uint64) * _HASH
            changed = self._last_hash[slot] != hashed
            if not changed.any():
                continue
            touched = np.zeros(1 << 16, np.bool_)
            touched[slot[changed]] = True
            rows = np.flatnonzero(touched[slot])
            rows = rows[_differs_from_last(slot[rows], hashed[rows])]
            self._note(comms, rows, columns.time)
            self._last_hash[slot] = hashed
        for row, pid, name in parsed.odd_names:
            self._change(pid, int(columns.time[row]), name)
            self._last_hash[pid & 0xFFFF] = 0

    def _note(self, comms: Comms, rows: Int64s, time: Int64s) -> None:
        first, second = comms.first[rows].tolist(), comms.second[rows].tolist()
        times = time[comms.place[rows]].tolist()
        for pid, low, high, at in zip(comms.pid[rows].tolist(), first, second, times):
            name = (low.to_bytes(8, "little") + high.to_bytes(8, "little")).rstrip(b"\0")
            self._change(pid, at, name)

    def _change(self, pid: int, time: int, name: bytes) -> None:
        if not pid:
            return
        text = name.decode("utf-8", "replace")
        changes = self._changes.setdefault(pid, [])
        if (not changes or changes[-1][1] != text) and self._count < _MOST_NAMES:
            changes.append((time, text))
            self._count += 1


def _differs_from_last(slot: Int64s, hashed: Int64s) -> Bools:
    """Return whether each hash differs from the one before it in the same slot; true of the first."""
    order = np.argsort(slot, kind="stable")
    differs = np.ones(len(order), np.bool_)
    same = slot[order][1:] == slot[order][:-1]
    differs[1:] = ~same | (hashed[order][1:] != hashed[order][:-1])
    result = np.zeros(len(order), np.bool_)
    result[order] = differs
    return result


def _ordered(changes: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the changes of a name by time, without those that change nothing."""
    changes = sorted(changes, key=lambda change: change[0])
    return [change for place, change in enumerate(changes) if not place or change[1] != changes[place - 1][1]]
