"""Keeping a recording of the scheduler that was read, and finding it again.

It counts for the file as it is, and for one program, as traces do. Nothing here ever fails but the reading.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tracetui.cache.container import Arrays
from tracetui.cache.entries import RECORDING, entry_key, keep_entry, read_entry
from tracetui.cache.keeping import run_meanwhile
from tracetui.cache.traces import SMALLEST
from tracetui.language import statement_document, statement_of
from tracetui.reader.joined import stamp_of
from tracetui.reader.source import COARSEST_CLOCK
from tracetui.siblings.scheduler.events import (
    EMPTY,
    LATEST,
    MOST_CORES,
    MOST_PIDS,
    CommNames,
    EventKind,
    LostStretch,
    SchedulerColumns,
    SchedulerEvents,
)
from tracetui.siblings.scheduler.files import read_recording
from tracetui.siblings.scheduler.recording import OnProgress

_COUNTS = ("overwritten", "skipped", "reordered")
_TYPES = {name: column.dtype.str for name, column in EMPTY._asdict().items()}
_LIMITS = {
    "time": LATEST,
    "cpu": MOST_CORES,
    "kind": len(EventKind),
    "pid": MOST_PIDS,
    "other": MOST_PIDS,
    "target": MOST_CORES,
}

_log = logging.getLogger("tracetui.cache")


def recording_reader(cache: bool) -> Callable[[Path, OnProgress], SchedulerEvents]:
    """Return what reads recordings; without `cache` anew, and nothing of them is kept."""
    return read_recording_once if cache else read_recording


def read_recording_once(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events of a recording, as they were read before where that is kept.

    A large one that is read now is kept. Raises Refusal as `read_recording` does.
    """
    found = reopen_recording(path)
    if found is None:
        before = _stamp(path)
        found = read_recording(path, on_progress)
        events = found
        if before is not None and _worth_keeping(before):
            run_meanwhile(lambda should_stop: keep_recording(path, before, events, should_stop))
    return found


def reopen_recording(path: Path) -> SchedulerEvents | None:
    """Return the events that were read from this very file before; None where it has to be read."""
    try:
        entry = read_entry(RECORDING, _key(path, stamp_of(path)))
        return None if entry is None else _thaw(path, *entry)
    except Exception as error:  # whatever an entry holds, the file itself can still be read
        _log.debug("not used: %s: %r", path, error)
        return None


def keep_recording(
    path: Path,
    stamp: list[Any],
    events: SchedulerEvents,
    should_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Keep the events of a file for `reopen_recording`, if it is still as it was; return whether it did.

    `stamp`: of the file before it was read.
    """
    try:
        if _stamp(path) != stamp:
            return False
        return keep_entry(RECORDING, _key(path, stamp), lambda: _freeze(events), should_stop)
    except Exception as error:  # a full or read-only disk
        _log.debug("not kept: %s: %r", path, error)
        return False


def _worth_keeping(stamp: list[Any]) -> bool:
    size, modified = stamp[:2]
    return bool(size >= SMALLEST and time.time_ns() - modified >= COARSEST_CLOCK)


def _stamp(path: Path) -> list[Any] | None:
    try:
        return list(stamp_of(path))
    except (OSError, ValueError):
        return None


def _key(path: Path, stamp: Sequence[Any]) -> dict[str, Any]:
    return entry_key(RECORDING, os.path.realpath(path), stamp)


def _freeze(events: SchedulerEvents) -> tuple[dict[str, Any], Arrays]:
    changes = [(pid, time, name) for pid, known in events.names.changes.items() for time, name in known]
    document = {
        "names": [name for _, _, name in changes],
        "losses": [list(loss) for loss in events.losses],
        "problems": [*map(statement_document, events.problems)],
        "aligned": events.aligned,
        **{name: getattr(events, name) for name in _COUNTS},
    }
    arrays = {
        **events.columns._asdict(),
        "named_pid": np.array([pid for pid, _, _ in changes], np.int64),
        "named_time": np.array([time for _, time, _ in changes], np.int64),
        "thread": np.array([*events.processes], np.int64),
        "process": np.array([*events.processes.values()], np.int64),
    }
    return document, arrays


def _thaw(path: Path, document: dict[str, Any], arrays: Arrays) -> SchedulerEvents:
    """Return the events of an entry. Raises ValueError or another error where it holds none."""
    columns = SchedulerColumns(**{name: arrays[name] for name in SchedulerColumns._fields})
    _check(columns)
    changes: dict[int, list[tuple[int, str]]] = {}
    named = arrays["named_pid"].tolist(), arrays["named_time"].tolist(), map(str, document["names"])
    for pid, at, name in zip(*named):
        changes.setdefault(pid, []).append((at, name))
    return SchedulerEvents(
        path=os.fspath(path),
        columns=columns,
        names=CommNames(changes),
        processes=dict(zip(arrays["thread"].tolist(), arrays["process"].tolist())),
        losses=tuple(LostStretch(*map(int, loss)) for loss in document["losses"]),
        problems=tuple(map(statement_of, document["problems"])),
        aligned=bool(document["aligned"]),
        **{name: int(document[name]) for name in _COUNTS},
    )


def _check(columns: SchedulerColumns) -> None:
    """Raise ValueError where a column is no column of events."""
    if len({len(column) for column in columns}) != 1 or not len(columns.time):
        raise ValueError("columns of several lengths")
    for name, column in columns._asdict().items():
        if column.dtype.str != _TYPES[name] or int(column.min()) < -1:
            raise ValueError(f"a column {name} of something else")
        if name in _LIMITS and int(column.max()) >= _LIMITS[name]:
            raise ValueError(f"too large a number in {name}")
    if bool((columns.time[1:] < columns.time[:-1]).any()):
        raise ValueError("not by time")
