"""Keeping a trace that was read, and finding it again: the front of the cache.

An entry counts for one file as it is: path, size, times, inode; and for one program. Nothing here ever fails:
without a cache the file is read.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Callable

from tracetui.cache.checks import check
from tracetui.cache.columns import freeze, thaw
from tracetui.cache.container import Arrays, read_document
from tracetui.cache.directory import Directory
from tracetui.cache.entries import TRACE, closing, entry_key, keep_entry, program, read_entry
from tracetui.reader.joined import stamp_of
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace

#: bytes of text below which a trace is read again as fast
SMALLEST = 32_000_000

_log = logging.getLogger("tracetui.cache")


class EntryState(Enum):
    """What an entry is worth."""

    READY = "ready"
    CHANGED = "the trace has changed"
    GONE = "the trace is gone"
    OTHER_VERSION = "of another version"
    UNREADABLE = "damaged, or not yours"


@dataclass(frozen=True)
class CachedTrace:
    """An entry, as `tracetui cache list` shows it."""

    path: str  #: of the trace; "" where it is not known
    trace_bytes: int
    bytes: int  #: of the entry
    used_ns: int  #: epoch ns: last read or written
    state: EntryState


def reopen(trace_file: TraceFile) -> Trace | None:
    """Return the trace as it was read from this very file before; None where it has to be read.

    `trace_file.args` and `event` work as after a reading.
    """
    try:
        entry = read_entry(TRACE, _key(trace_file))
        if entry is None:
            return None
        document, arrays = entry
        trace, blocks = thaw(str(trace_file.path), document["columns"], arrays)
        check(trace, blocks)
        trace_file.restore(blocks)
        return trace
    except Exception as error:  # whatever an entry holds, the file itself can still be read
        _log.debug("not used: %s: %r", trace_file.path, error)
        return None


def worth_keeping(trace_file: TraceFile, trace: Trace) -> bool:
    """Return False for a small trace, one whose reading was stopped, or a file that may have changed
    since.
    """
    report = trace.report
    return not report.stopped and report.text_bytes >= SMALLEST and trace_file.settled


def keep(trace_file: TraceFile, trace: Trace, should_stop: Callable[[], bool] = lambda: False) -> bool:
    """Keep a trace that was just read, for `reopen`, if it is worth that; return whether it did."""
    if not worth_keeping(trace_file, trace):
        return False
    try:

        def make() -> tuple[Mapping[str, Any], Arrays]:
            columns, arrays = freeze(trace, trace_file.blocks)
            return {"columns": columns}, arrays

        return keep_entry(TRACE, _key(trace_file), make, should_stop)
    except Exception as error:  # a full or read-only disk, a text that cannot be written
        _log.debug("not kept: %s: %r", trace_file.path, error)
        return False


def _key(trace_file: TraceFile) -> dict[str, Any]:
    return entry_key(TRACE, os.path.realpath(trace_file.path), trace_file.stamp)


def cached_traces() -> list[CachedTrace]:
    """Return all entries, the last used first."""
    directory = Directory.open()
    if directory is None:
        return []
    with directory:
        entries = directory.entries()[::-1]
        return [_describe_entry(directory, entry.name, entry.size, entry.used_ns) for entry in entries]


def clear() -> tuple[int, int]:
    """Remove all entries; return how many that were, and their bytes."""
    directory = Directory.open()
    if directory is None:
        return 0, 0
    with directory:
        directory.sweep(0)
        removed = [entry.size for entry in directory.entries() if directory.remove(entry.name)]
    return len(removed), sum(removed)


def _describe_entry(directory: Directory, name: str, size: int, used_ns: int) -> CachedTrace:
    try:
        descriptor = directory.open_entry(name)
        if descriptor is None:
            raise ValueError("not the user's own")
        with closing(descriptor):
            document = read_document(descriptor)
        path, stamp, made_by = str(document["path"]), list(document["stamp"]), document["program"]
        trace_bytes = int(stamp[0])
    except Exception as error:
        _log.debug("not listed: %s: %r", name, error)
        return CachedTrace("", 0, size, used_ns, EntryState.UNREADABLE)
    return CachedTrace(
        path, trace_bytes, size, used_ns, _state(path, stamp, made_by, name.rpartition(".")[2])
    )


def _state(path: str, stamp: list[Any], made_by: Any, kind: str) -> EntryState:
    try:
        current = stamp_of(Path(path))
    except (OSError, ValueError):
        return EntryState.GONE
    if list(current) != stamp:
        return EntryState.CHANGED
    return EntryState.READY if made_by == program(kind) else EntryState.OTHER_VERSION
