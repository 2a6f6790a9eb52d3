"""Opening a trace, of one file or of several that are one: read one after the other, in their order.

Whoever has a `TraceFile` from here need not know which. Of several files one is open at a time, and their
events go into the same columns: no more is in memory than of one file with all of them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Callable, NamedTuple

from tracetui.databases.names import is_database
from tracetui.language import state
from tracetui.reader.chunks import Chunks
from tracetui.reader.clock import NO_CLOCK, BootClock, clock_of
from tracetui.reader.columns import BASE, TableBuilder
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.locate import locate_trace, no_trace_below, recordings_below
from tracetui.reader.parts import TraceParts, parts_of
from tracetui.reader.reading import After
from tracetui.reader.source import BLOCK, PART, Progress, TraceFile, uncollected
from tracetui.reader.text import Loan, Stamp, Text, open_text

if TYPE_CHECKING:
    from tracetui.reader.skeleton import Skeleton

_SHIFT = 1 << 44  #: bytes of text, beyond those of any file: where in the chunks the next file's begin
_MOST_SENTENCES = 8  #: sentences about as many files


def open_trace(path: Path, jobs: int | None = None) -> TraceFile:
    """Open the trace that a file is, or is a part of; raises UnreadableTrace as `TraceFile` does."""
    if is_database(path):
        from tracetui.reader.database.source import DatabaseFile  # text needs nothing of SQLite

        return DatabaseFile(path)
    parts, clock = parts_of(path), clock_of(path)
    if len(parts.files) == 1 and not parts.sentences:
        trace_file = TraceFile(path, jobs=jobs)
        with contextlib.suppress(OSError):
            trace_file.set_clock(clock)
        return trace_file
    return JoinedFile(parts, clock, jobs=jobs)


def traces_that_open(directory: Path) -> list[Path]:
    """Return the first file of each recording below a directory that opens as a trace, in their order.

    Raises UnreadableTrace where there is none.
    """
    found: list[Path] = []
    for recording in recordings_below(directory):
        with contextlib.suppress(UnreadableTrace, OSError):
            path = locate_trace(recording)
            open_trace(path).close()
            found.append(path)
    if not found:
        raise no_trace_below(directory)
    return found


def stamp_of(path: Path) -> Stamp:
    """Return the stamp that the trace at a path has now if it is opened. Raises OSError."""
    if is_database(path):
        from tracetui.databases.opening import files_of

        return Stamp.of_files(files_of(path))
    return Stamp.of_files([*parts_of(path).files, *clock_of(path).files])


class JoinedFile(TraceFile):
    """Several files that are one trace, as they were when they were opened."""

    def __init__(
        self,
        parts: TraceParts,
        clock: BootClock = NO_CLOCK,
        block_bytes: int = BLOCK,
        part_bytes: int = PART,
        jobs: int | None = None,
    ) -> None:
        """Look at the files; raises UnreadableTrace where one of them is not there any more."""
        self.path = parts.files[0]
        self._parts, self._clock = parts, clock
        self._block_bytes, self._part_bytes, self._jobs = block_bytes, part_bytes, jobs
        self._document = {BASE: clock.base_ns} if clock.base_ns else {}
        self._opened = time.time_ns()
        try:
            self._text = _JoinedText(parts.files)
            self.stamp = self._stamp_now()
        except OSError as error:
            raise UnreadableTrace(
                Reason.MISSING, state("{path}: a part of it is gone: {error}", path=self.path, error=error)
            ) from None
        self._chunks = Chunks(self._text)
        self.size = self._text.size

    def read(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        first: int = 0,
    ) -> EventTable:
        """Read the files as one, first to last; one that cannot be read is left out, with a warning.

        Raises UnreadableTrace where none can.
        """
        builder, self._chunks = TableBuilder(), Chunks(self._text)
        read: list[_Read] = []
        refused: list[UnreadableTrace] = []
        done_bytes = 0

        def forward_progress(progress: Progress) -> None:
            if on_progress is not None:
                current_bytes = min(done_bytes + progress.done_bytes, self.size)
                read_so_far = tuple(read)  # a picture may be made of it later

                def snapshot() -> EventTable:
                    table = progress.snapshot()
                    current_report = self._report([*read_so_far, _Read(path.name, table.report)], refused, 0)
                    return replace(table, path=str(self.path), report=current_report)

                on_progress(Progress(current_bytes, self.size, builder.events, snapshot, progress.silent_s))

        with uncollected():
            for place, path in enumerate(self._parts.files):
                after = After(self._chunks, builder, place * _SHIFT)
                try:
                    with TraceFile(path, self._block_bytes, self._part_bytes, self._jobs) as part:
                        part.set_clock(BootClock(self._clock.base_ns, ()))
                        read.append(_Read(path.name, part.read_after(after, forward_progress, should_stop)))
                        done_bytes += part.size
                except UnreadableTrace as error:
                    refused.append(error)
                    if should_stop is not None and should_stop():
                        break
                if read and read[-1].report.stopped:
                    break
            if not read:
                raise refused[0]
            left_count = len(self._parts.files) - len(read) - len(refused)
            report = self._report(read, refused, left_count)
            return builder.build(str(self.path), dict(self._document), report, last=True)

    def skeleton(self, on_coarse: object = None) -> Skeleton | None:
        """Return None: a sample of many files takes as long as the first of them."""
        del on_coarse
        return None

    def _stamp_now(self) -> Stamp:
        return Stamp.of_files([*self._parts.files, *self._clock.files])

    def _report(
        self, read: Sequence[_Read], refused: Sequence[UnreadableTrace], left_count: int
    ) -> ReadReport:
        """Return the reports of the files as one, its sentences with the names of their files."""
        reports = [file.report for file in read]
        warnings = [_of_file(file, warning) for file in read for warning in file.report.warnings]
        warnings += [state("{note} (left out)", note=error) for error in refused]
        if len(warnings) > _MOST_SENTENCES:
            left = f"{len(warnings) - _MOST_SENTENCES:,}"
            warnings[_MOST_SENTENCES:] = [state("{count} more such sentences about its files", count=left)]
        if left_count:
            warnings.append(
                state(
                    "reading stopped: {count} of {files} files are missing",
                    count=f"{left_count:,}",
                    files=f"{len(self._parts.files):,}",
                )
            )
        passing = [_of_file(file, sentence) for file in read for sentence in file.report.passing]
        unknown = sum((Counter(report.unknown_phases) for report in reports), Counter[str]())
        return ReadReport(
            bytes=self.size,
            text_bytes=sum(report.text_bytes for report in reports),
            events=sum(report.events for report in reports),
            skipped=sum(report.skipped for report in reports),
            places=sum(report.places for report in reports),
            without_duration=sum(report.without_duration for report in reports),
            truncated=any(report.truncated for report in reports),
            stopped=any(report.stopped for report in reports) or left_count > 0,
            unknown_phases=dict(unknown),
            warnings=(*self._parts.sentences, *warnings),
            passing=tuple(passing),
            files=len(read),
        )


class _Read(NamedTuple):
    """A file that was read."""

    name: str
    report: ReadReport


class _JoinedText(Text):
    """The text of several files, that of each from a multiple of `_SHIFT` on; one is open at a time."""

    loan: Loan | None = None

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._stamps = [Stamp.from_status(path.stat()) for path in paths]
        self.size = sum(stamp.size for stamp in self._stamps)
        self.stamp, self.likely = Stamp.joined(self._stamps), self.size
        self._lock = threading.Lock()
        self._open: tuple[int, Text] | None = None
        self._closed = False

    def read(self, offset: int, length: int) -> bytes:
        place, part_offset = divmod(offset, _SHIFT)
        with self._lock:
            text = self._text(place)
            return b"" if text is None else text.read(part_offset, length)

    def _text(self, place: int) -> Text | None:
        """Return the text of a file, None where it is not the one any more that was looked at."""
        if self._closed or place >= len(self._paths):
            return None
        if self._open is not None and self._open[0] == place:
            return None if self._open[1].changed() else self._open[1]
        self._let_go()
        try:
            text = open_text(self._paths[place])
        except UnreadableTrace:
            return None
        self._open = place, text
        return text if text.stamp == self._stamps[place] else None

    def _let_go(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def disk_offset(self, offset: int) -> int:
        return min(offset % _SHIFT, self.size)

    def problem(self) -> str | None:
        return None

    def report(self, problem: str) -> None:
        """Do nothing: each file reports its own problems."""

    def changed(self) -> bool:
        return self._closed

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._let_go()


def _of_file(file: _Read, sentence: str) -> str:
    return state("{run}: {note}", run=file.name, note=sentence)
