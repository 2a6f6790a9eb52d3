"""`ftrace_data.db`, which MindStudio Insight's trace_convert.py writes of a recording: its slices as events.

A slice of a core becomes the switch that begins it and the one that ends it; a thread that is `Runnable` was
woken where that begins. The converter leaves out kernel threads: who had the core then is not known. Columns
are those of scripts/ftrace_tools/exporters.py in its repository. Its times went through floating point:
slices that end and begin within a microsecond touch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tracetui.databases.opening import Refused
from tracetui.databases.tables import UNKNOWN, Database
from tracetui.language import state
from tracetui.siblings.beside import Refusal
from tracetui.siblings.metadata import members_of
from tracetui.siblings.scheduler.events import (
    COLUMN_TYPES,
    MOST_CORES,
    MOST_PIDS,
    NO_PID,
    CommNames,
    EventKind,
    SchedulerColumns,
    SchedulerEvents,
)
from tracetui.siblings.scheduler.recording import OnProgress

NAME = "ftrace_data.db"
_CORES, _THREADS = "CPU Scheduling", "Process Scheduling"
_CORE = re.compile(r"CPU (\d{1,4})", re.ASCII)
_TASK = re.compile(r"(.*):(\d{1,7})", re.ASCII | re.DOTALL)
_INTERRUPTS = {
    "irq": (EventKind.IRQ_ENTRY, EventKind.IRQ_EXIT),
    "softirq": (EventKind.SOFTIRQ_ENTRY, EventKind.SOFTIRQ_EXIT),
}
_TOUCHING = 1_000  # ns
_EPOCH = 10**18  # ns: no uptime is so long

_Row = tuple[int, int, int, int, int, int, int]  # the fields of Columns


class _Run(NamedTuple):
    """A thread on a core."""

    start: int
    end: int
    pid: int
    state: int


def is_insight(path: Path) -> bool:
    """Return whether a database has the tables that the converter writes."""
    try:
        with Database(path) as database:
            return database.has("slice", "timestamp", "duration", "track_id") and database.has(
                "thread", "track_id", "tid", "pid"
            )
    except Refused:
        return False


def read_insight(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events in a database of the converter. Raises Refusal."""
    try:
        with Database(path) as database:
            return _Reader(path, database, on_progress).events()
    except Refused as refusal:
        raise Refusal(str(refusal)) from None


class _Reader:
    def __init__(self, path: Path, database: Database, on_progress: OnProgress) -> None:
        self._path, self._database, self._on_progress = path, database, on_progress
        self._runs: dict[int, list[_Run]] = {}
        self._rows: list[_Row] = []
        self._names: dict[int, list[tuple[int, str]]] = {}
        self._skipped = 0

    def events(self) -> SchedulerEvents:
        cores, tasks = self._tracks()
        last_of_thread: dict[int, tuple[int, str, str]] = {}  # the end, name and args of its last slice
        for start, dur, name, track, args in self._slices():
            if track in cores:
                self._add_of_core(cores[track], start, dur, name, args)
            elif track in tasks:
                pid = tasks[track]
                if name == "Runnable":
                    self._rows.append((start, 0, EventKind.WAKEUP, pid, NO_PID, 0, -1))
                if start + dur >= last_of_thread.get(pid, (0,))[0]:
                    last_of_thread[pid] = start + dur, name, args
        for pid, (end, name, args) in last_of_thread.items():
            self._rows += _switches_after(pid, end, name, args)
        for cpu, runs in self._runs.items():
            self._rows += _switches(cpu, runs)
        if not self._rows:
            raise Refusal(state("holds no events of the scheduler"))
        table = np.array(self._rows, np.int64)
        table = table[np.argsort(table[:, 0], kind="stable")]
        columns = SchedulerColumns._make(column.astype(kind) for column, kind in zip(table.T, COLUMN_TYPES))
        return SchedulerEvents(
            path=str(self._path),
            columns=columns,
            names=CommNames({pid: sorted(changes) for pid, changes in self._names.items()}),
            processes={},
            skipped=self._skipped,
            problems=tuple(self._database.problems),
            aligned=bool(columns.time[0] > _EPOCH),
        )

    def _tracks(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return the cores and the threads by the number of their track."""
        cores: dict[int, int] = {}
        tasks: dict[int, int] = {}
        for rows in self._database.rows("thread", ("track_id", "tid", "pid"), ("tid", "pid")):
            numbers = rows.numbers("track_id").tolist()
            for track, tid, kind in zip(numbers, rows.texts("tid"), rows.texts("pid")):
                core, task = _CORE.fullmatch(tid or ""), _TASK.fullmatch(tid or "")
                if kind == _CORES and core is not None and int(core[1]) < MOST_CORES:
                    cores[track] = int(core[1])
                elif kind == _THREADS and task is not None and int(task[2]) < MOST_PIDS:
                    tasks[track] = int(task[2])
        return cores, tasks

    def _slices(self) -> Iterator[tuple[int, int, str, int, str]]:
        wanted, done = ("timestamp", "duration", "name", "track_id", "args"), 0
        count = self._database.count("slice")
        for rows in self._database.rows("slice", wanted, ("name", "args")):
            numbers = (rows.numbers(column).tolist() for column in ("timestamp", "duration", "track_id"))
            for start, dur, track, name, args in zip(*numbers, rows.texts("name"), rows.texts("args")):
                if UNKNOWN in (start, dur, track) or dur < 0 or not 0 <= start < 1 << 62:
                    self._skipped += 1
                else:
                    yield start, dur, name or "", track, args or ""
            done += rows.count
            if self._on_progress is not None:
                self._on_progress(min(done, count), count)

    def _add_of_core(self, cpu: int, start: int, dur: int, name: str, args: str) -> None:
        if name in _INTERRUPTS:
            entry, leave = _INTERRUPTS[name]
            self._rows.append((start, cpu, entry, NO_PID, NO_PID, 0, -1))
            self._rows.append((start + dur, cpu, leave, NO_PID, NO_PID, 0, -1))
            return
        task = _TASK.fullmatch(name)
        if task is None:
            self._skipped += name != "sched_switch"
            return
        pid = int(task[2])
        if pid >= MOST_PIDS:
            self._skipped += 1
            return
        changes = self._names.setdefault(pid, [])
        if pid and (not changes or changes[-1][1] != task[1]):
            changes.append((start, task[1]))
        self._runs.setdefault(cpu, []).append(_Run(start, start + dur, pid, _state(args)))


def _switches_after(pid: int, end: int, name: str, args: str) -> Iterator[_Row]:
    """Yield the switches at the end of a thread's last slice: what was not over has no slice.

    Whoever waited for a core got it then; whoever slept was woken, and may have got one or not.
    """
    core = _CORE.fullmatch(f"CPU {_members(args).get('cpu')}")
    if name in ("Runnable", "Sleeping") and core is not None and int(core[1]) < MOST_CORES:
        yield end, int(core[1]), EventKind.SWITCH, NO_PID, pid, ord("R"), -1
        if name == "Sleeping":
            yield end, int(core[1]), EventKind.SWITCH, pid, NO_PID, ord("?"), -1


def _members(args: str) -> dict[str, Any]:
    try:
        members = json.loads(args)
    except (ValueError, RecursionError):
        members = None
    return members_of(members)


def _state(args: str) -> int:
    """Return the letter of the state that a thread left its core in; "?" where it is not told."""
    letter = _members(args).get("end_state")
    known = isinstance(letter, str) and letter[:1] in ("R", "S", "D", "I", "T", "t", "X", "Z", "P")
    return ord(letter[0]) if known and isinstance(letter, str) else ord("?")


def _switches(cpu: int, runs: list[_Run]) -> Iterator[_Row]:
    """Yield the switches of a core; where no slice touches, the thread before or after is not known."""
    runs.sort()
    before: _Run | None = None
    for run in runs:
        touches = before is not None and abs(run.start - before.end) < _TOUCHING
        if before is not None and not touches:
            yield before.end, cpu, EventKind.SWITCH, before.pid, NO_PID, before.state, -1
        left, state = (before.pid, before.state) if before is not None and touches else (NO_PID, ord("R"))
        yield run.start, cpu, EventKind.SWITCH, left, run.pid, state, -1
        before = run
    if before is not None:
        yield before.end, cpu, EventKind.SWITCH, before.pid, NO_PID, before.state, -1
