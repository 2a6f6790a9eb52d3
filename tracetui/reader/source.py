"""An opened trace file: read once as a whole to a table, then event by event again for the details.

Knows no device, no layer and no screen.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from tracetui.background import in_background
from tracetui.compiled import BUILD, COMPILED, STALE
from tracetui.language import state
from tracetui.reader.chunks import Chunks
from tracetui.reader.clock import NO_CLOCK, BootClock
from tracetui.reader.columns import BASE
from tracetui.reader.cores import SMALLEST, default_jobs
from tracetui.reader.document import read_head
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.events import BlockColumns, EventTable, ReadReport
from tracetui.reader.freed_memory import return_freed_memory
from tracetui.reader.piece_order import PieceOrder
from tracetui.reader.pieces import EventsPiece, PieceOptions, guess_start, read_pieces
from tracetui.reader.reading import After, Reading
from tracetui.reader.text import Stamp, Text, open_text
from tracetui.reader.threads import PieceThreads

if TYPE_CHECKING:
    from tracetui.reader.skeleton import Skeleton

#: What has a hand in the columns beside Python: the compiled scanner. None: nothing.
COMPILED_FROM = None if STALE else BUILD
BLOCK = 3 << 16  #: bytes for one call of orjson; its objects fit the cache: 512 kB are a third slower
PART = 1 << 24  #: bytes whose columns are made together, and between two calls of `on_progress`
_LONGEST_HEAD = 1 << 26
_PICKLE = b"\x80"  #: how pickles begin since 2003
_STALE = state("the compiled scanner is of other sources, so reading takes longer: install tracetui again")
_LONG_SILENCE = 3  # seconds
COARSEST_CLOCK = 2_000_000_000  #: ns between two times of modification that a file system tells apart


@dataclass(frozen=True)
class Progress:
    """How far the reading is."""

    done_bytes: int  #: of the file on disk
    total_bytes: int
    events: int
    snapshot: Callable[[], EventTable]  #: the table of all that is read so far; costs a copy
    silent_s: int = 0  #: seconds for which nothing could be read, where that are some


class TraceFile:
    """One trace file, as it was when it was opened; a context manager.

    `args` and `event` may be called from any thread, also while `read` runs in another one.
    """

    of_ascend = False  #: whether a profiler of Ascend wrote it, whatever is read of it
    rows = 0  #: about how many rows its tables have, once `read` has begun; 0 where it has no tables

    def __init__(
        self,
        path: str | Path,
        block_bytes: int = BLOCK,
        part_bytes: int = PART,
        jobs: int | None = None,
    ) -> None:
        """Open the file; raises UnreadableTrace where that fails or where the file holds no trace.

        `jobs`: threads, or worker processes, that may read at once; 1: none; None: as many as are of use.
        The sizes are for tests; the table depends on none of these.
        """
        self.path = Path(path)
        self._block_bytes = block_bytes
        self._part_bytes = part_bytes
        self._jobs = jobs
        self._text: Text = open_text(self.path)
        self.size = self._text.size
        self.stamp = self._text.stamp
        self._clock = NO_CLOCK
        self._opened = time.time_ns()
        self._chunks = Chunks(self._text)
        try:
            self._start, self._wrapped, self._document = self._read_head()
        except BaseException:
            self._text.close()
            raise

    def __enter__(self) -> TraceFile:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def head(self) -> Mapping[str, Any]:
        """What stands before the events, as `distributedInfo` does; large members are left out."""
        return self._document

    def set_clock(self, clock: BootClock) -> None:
        """Count times from where a clock does, if the file itself tells nothing; before anything is read.

        Raises OSError where the files that tell the clock are gone.
        """
        self._clock = clock
        self.stamp = self._with_clock(self.stamp)
        if clock.base_ns:
            self._document.setdefault(BASE, clock.base_ns)

    def close(self) -> None:
        """Close the file; `args` and `event` return {} from here on."""
        self._text.close()

    def read(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        first: int = 0,
    ) -> EventTable:
        """Read all events; `on_progress` is called every few MB, `should_stop` several times a second.

        `first`: offset in the text from where to begin, if something there is wanted first; what stands
        before is read afterwards. Whatever is damaged is left out and told in the table's report. Raises
        UnreadableTrace if there is not one whole event.
        """
        with uncollected():
            reading = self._read(self._event_at(first), on_progress, should_stop)
            if not (reading.joined or reading.stopped):  # no event begins there, in truth
                reading = self._read(0, on_progress, should_stop)
            return reading.finish()

    def _event_at(self, offset: int) -> int:
        """Return where an event seems to begin, from an offset on; 0 where that is of no use."""
        if offset <= self._start or self._text.loan is None:
            return 0
        return guess_start(self._text, offset, self._text.likely) or 0

    def read_after(
        self,
        continuation: After,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> ReadReport:
        """Read all events as those of a trace that other files began; return what is to be said of it.

        Raises UnreadableTrace as `read` does.
        """
        return self._read(0, on_progress, should_stop, continuation).end()

    def _read(
        self,
        first: int,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool] | None,
        continuation: After | None = None,
    ) -> Reading:
        """Read from `first` to the end, and then what stands before; from the start where it is 0."""
        reading = Reading(
            self.path, self._text, self._start, self._wrapped, self._document, first, continuation
        )
        self._chunks = reading.chunks
        if STALE:
            reading.troubles.append(_STALE)
        passages = [(first, sys.maxsize), (self._start, first)] if first else [(self._start, sys.maxsize)]
        silence = _Silence()
        for start, end in passages:
            if end == first:
                reading.go_to_front()
            with self._pieces(reading, start, end) as pieces:
                for piece in pieces:
                    if piece is not None:
                        reading.take(piece)
                    if silence.is_news(piece is not None) and on_progress is not None:
                        on_progress(self._progress(reading, silence.seconds))
                    if should_stop is not None and should_stop():
                        reading.stopped = True
                        return reading
        return reading

    @property
    def settled(self) -> bool:
        """Whether the file is read without trouble and still as it was opened.

        Never so for one that was only just written: a change since then would not show.
        """
        if self._text.problem() is not None or self._opened - self.stamp.modified < COARSEST_CLOCK:
            return False
        try:
            return self._stamp_now() == self.stamp
        except OSError:
            return False

    def _stamp_now(self) -> Stamp:
        """Return the stamp that the trace would have, were it opened now. Raises OSError."""
        return self._with_clock(Stamp.from_status(self.path.stat()))

    def _with_clock(self, file_stamp: Stamp) -> Stamp:
        """Return the stamp of the file and of those that tell its clock. Raises OSError."""
        return Stamp.joined([file_stamp, *(Stamp.from_status(path.stat()) for path in self._clock.files)])

    @property
    def blocks(self) -> BlockColumns:
        """Where the events are that were read."""
        return self._chunks.columns()

    def restore(self, blocks: BlockColumns) -> None:
        """Take over the blocks of an earlier reading of this very file: `args` and `event` work at once."""
        self._chunks = Chunks.from_columns(self._text, blocks)

    def event(self, event: int) -> dict[str, Any]:
        """Return the event with this ordinal as it is in the file; {} where it can't be read any more."""
        element = self._chunks.element(event)
        return element if isinstance(element, dict) else {}

    def args(self, event: int) -> dict[str, Any]:
        """Return the `args` of the event with this ordinal; {} where it has none or can't be read again."""
        args = self.event(event).get("args")
        return args if isinstance(args, dict) else {}

    def skeleton(self, on_coarse: Callable[[Skeleton], object] | None = None) -> Skeleton | None:
        """Return a sample of all of the file, long before `read` is done; None where there can't be one.

        `on_coarse` is called with a coarser one, which is there in half the time.
        """
        from tracetui.reader.skeleton import sample  # only the viewer wants one

        return sample(self._text, self._start, self._wrapped, str(self.path), self._document, on_coarse)

    @contextlib.contextmanager
    def _pieces(self, reading: Reading, start: int, end: int) -> Iterator[Iterator[EventsPiece | None]]:
        """Give the pieces of a passage from front to back, None while the next one is awaited."""
        options = PieceOptions(self._wrapped, self._block_bytes)
        jobs = self._jobs or default_jobs(self._text.likely, stream=self._text.loan is None)
        if self._text.likely < SMALLEST:
            jobs = 1
        if jobs == 1:
            yield in_background(read_pieces(self._text, start, self._part_bytes, options, end))
            return
        with contextlib.closing(self._pieces_at_once(reading, start, options, jobs, end)) as pieces:
            yield pieces

    def _pieces_at_once(
        self, reading: Reading, start: int, options: PieceOptions, jobs: int, end: int
    ) -> Generator[EventsPiece | None, None, None]:
        """Yield pieces that threads read, and processes from where most events have to be decoded: decoding
        keeps the interpreter's lock, which scanning gives up.
        """
        text_end = sys.maxsize if self._text.loan is None else self._text.loan.end
        order = PieceOrder(start, self._part_bytes, text_end, end)
        if COMPILED:
            with PieceThreads(self._text, order, options) as threads:
                threads.start_scanning(jobs)
                for piece in threads.pieces():
                    yield piece
                    if piece is None:
                        continue
                    if piece.over or piece.end >= end:
                        return_freed_memory()  # each thread has a heap of its own, which keeps some
                        return
                    if piece.part.scanned * 2 < piece.part.events and not piece.in_damage:
                        break
        # Most files are read without the modules of processes.
        from tracetui.reader.worker_pool import WorkerPool

        with WorkerPool(self._text, order, options, jobs) as pool:
            try:
                yield from pool.pieces()
            finally:
                reading.troubles += pool.troubles()

    def _progress(self, reading: Reading, silent_s: int) -> Progress:
        return Progress(reading.disk_offset(), self.size, reading.events, reading.snapshot, silent_s)

    def _read_head(self) -> tuple[int, bool, dict[str, Any]]:
        length = 1 << 16
        while True:
            text = self._text.read(0, length)
            final = len(text) < length or length >= _LONGEST_HEAD
            head = read_head(text, final)
            if head.start >= 0:
                return head.start, head.wrapped, head.members
            if not head.wants:
                raise UnreadableTrace(*_no_trace(self.path, text, head.wrapped))
            length *= 8


class _Silence:
    """For how long nothing could be read, as far as that is worth telling."""

    def __init__(self) -> None:
        self.seconds = 0
        self._silent, self._now = 0.0, time.monotonic()

    def is_news(self, read: bool) -> bool:
        """Return whether there is something to tell: that something was `read`, or another second without."""
        previous_seconds, previous, self._now = self.seconds, self._now, time.monotonic()
        self._silent = 0.0 if read else self._silent + min(self._now - previous, 1.0)  # more was a suspension
        self.seconds = int(self._silent) if self._silent >= _LONG_SILENCE else 0
        return read or self.seconds != previous_seconds


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector away: nothing decoded has cycles, but looking at it takes a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _no_trace(path: Path, text: bytes, wrapped: bool) -> tuple[Reason, str]:
    """Return why a text without an array of events is no trace."""
    start = text.lstrip()
    if not start:
        return Reason.EMPTY, state("{path}: the file holds nothing but white space", path=path)
    if wrapped:
        return Reason.NOT_A_TRACE, state(
            '{path}: is not a trace: its JSON object has no "traceEvents" array', path=path
        )
    if text.startswith(_PICKLE):
        contents = state("a pickle; where it is a snapshot of memory, tracetui memory shows it")
    elif b"\0" in text[:4096]:
        contents = state("binary data")
    elif start.startswith(b"<"):
        contents = state("HTML or XML")
    elif start.startswith(b"version https://git-lfs"):
        contents = state("a pointer of Git LFS only: git lfs pull fetches the file itself")
    else:
        contents = state("no JSON array or object")
    return Reason.NOT_A_TRACE, state(
        "{path}: is not a trace: the file holds {contents}", path=path, contents=contents
    )
