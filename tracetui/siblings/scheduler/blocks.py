"""Turn blocks of a recording's lines into columns.

Lines as usual are read in C (`native/scheduler_lines.h`), or by numpy (`vectors`); others by `line`.
"""

from __future__ import annotations

from typing import Callable, cast

import numpy as np

from tracetui.arrays import Int16s, Int64s, Wholes
from tracetui.compiled import COMPILED, native
from tracetui.siblings.scheduler.events import COLUMN_TYPES, MOST_CORES, EventKind, SchedulerColumns
from tracetui.siblings.scheduler.line import LostEvents, Overwritten, SchedulerEvent, is_remark, read_line
from tracetui.siblings.scheduler.parsed import LEFT, Comms, Mark, Parsed, ReadLines
from tracetui.siblings.scheduler.vectors import read_vectors

_NAMES = np.dtype([("row", "<i4"), ("pid", "<i4"), ("first", "<u8"), ("second", "<u8")])
_MOST_BREAKS = 3  # of lines in one event: it names three threads


def scan(data: bytes) -> ReadLines:
    """Return what the lines of usual form in a block hold, read in C: 1 GB takes a second or two."""
    *columns, starts, names, processes = native.scan_scheduler(data)
    read = SchedulerColumns._make(
        np.frombuffer(column, dtype) for column, dtype in zip(columns, COLUMN_TYPES)
    )
    named = np.frombuffer(names, _NAMES)
    comms = Comms(named["row"].astype(np.int64), named["pid"], named["first"], named["second"])
    threads, owners = np.frombuffer(processes, np.int32).reshape(-1, 2).T.tolist()
    return ReadLines(read, np.frombuffer(starts, np.int32), [comms], dict(zip(threads, owners)))


def parse(data: bytes, read: Callable[[bytes], ReadLines] = scan if COMPILED else read_vectors) -> Parsed:
    """Return what whole lines hold; the last may lack its line break. `read` reads those of usual form."""
    return _Block(data, read(data)).parsed()


class _Block:
    """The lines of a block: those read many at once, and those left to be read one by one."""

    def __init__(self, data: bytes, lines: ReadLines) -> None:
        self._data, self._columns, self._start = data, lines.columns, lines.start
        self._parsed = Parsed(comms=lines.comms, processes=lines.processes)

    def parsed(self) -> Parsed:
        lost = self._read_left()
        self._set_lost(lost)
        self._keep_events()
        return self._parsed

    def _read_left(self) -> list[tuple[int, LostEvents]]:
        """Read the lines of unusual form, one at a time; return those that tell of lost events, by row."""
        columns, parsed = self._columns, self._parsed
        after = -1
        lost: list[tuple[int, LostEvents]] = []
        for row in np.flatnonzero(columns.kind == LEFT).tolist():
            if row <= after:  # was the rest of the line before
                continue
            line = self._line(row)
            event = read_line(line) if b"[" in line or line.startswith(b"#") else None
            if event is None and not is_remark(line):
                event, after = self._read_broken(row)
            if isinstance(event, SchedulerEvent):
                for column, value in zip(columns, event[: len(columns)]):
                    cast(Wholes, column)[row] = value
                parsed.odd_names += [(row, pid, name) for pid, name in event.names]
                if event.process >= 0:
                    parsed.processes[event.thread] = event.process
            elif isinstance(event, LostEvents):
                lost.append((row, event))
            elif isinstance(event, Overwritten):
                parsed.overwritten += event.events
            elif event is None and not is_remark(line):
                parsed.skipped += 1
        return lost

    def _read_broken(self, row: int) -> tuple[SchedulerEvent | None, int]:
        """Return the event in a line that names with line breaks in them cut, and its last row.

        No part of it is a line alone.
        """
        line = self._line(row)
        for following in range(row + 1, min(row + 1 + _MOST_BREAKS, len(self._start))):
            if self._columns.kind[following] >= 0:
                break
            part = self._line(following)
            if self._columns.kind[following] == LEFT and b"[" in part and read_line(part) is not None:
                break
            line += b"\n" + part
            event = read_line(line) if b"[" in line else None
            if isinstance(event, SchedulerEvent):
                return event, following
        return None, row

    def _line(self, row: int) -> bytes:
        start = int(self._start[row])
        end = self._data.find(b"\n", start)
        return self._data[start : end if end >= 0 else None].rstrip(b"\r")

    def _set_lost(self, lost: list[tuple[int, LostEvents]]) -> None:
        """Note the events of a core between which others are lost."""
        columns, parsed = self._columns, self._parsed
        known = columns.kind >= 0
        parsed.first_ns, parsed.last_ns = _ends(columns.cpu[known], columns.time[known])
        for row, event in lost:
            of_cpu = np.flatnonzero(known & (columns.cpu == event.cpu))
            place = int(np.searchsorted(of_cpu, row))
            before = int(columns.time[of_cpu[place - 1]]) if place else -1
            after = int(columns.time[of_cpu[place]]) if place < len(of_cpu) else -1
            parsed.lost.append(Mark(event.cpu, event.events, before, after))

    def _keep_events(self) -> None:
        """Keep the rows of useful events, and renumber everything that refers to rows."""
        parsed = self._parsed
        kept = np.flatnonzero((self._columns.kind >= 0) & (self._columns.kind != EventKind.OTHER))
        parsed.columns = SchedulerColumns._make(column[kept] for column in self._columns)
        parsed.comms = [comms._replace(place=np.searchsorted(kept, comms.place)) for comms in parsed.comms]
        parsed.odd_names = [
            (int(np.searchsorted(kept, row)), pid, name) for row, pid, name in parsed.odd_names
        ]


def _ends(cpu: Int16s, time: Int64s) -> tuple[dict[int, int], dict[int, int]]:
    """Return the first and the last time of each core."""
    first, last = np.full(MOST_CORES, -1, np.int64), np.full(MOST_CORES, -1, np.int64)
    first[cpu[::-1]], last[cpu] = time[::-1], time
    cores = np.flatnonzero(last >= 0).tolist()
    return dict(zip(cores, first[cores].tolist())), dict(zip(cores, last[cores].tolist()))
