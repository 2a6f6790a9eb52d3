"""An opened trace file: read once as a whole to a table, then event by event again for the details.

Knows no device, no layer and no screen.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from tracetui.reader.chunks import Chunks
from tracetui.reader.columns import TableBuilder
from tracetui.reader.decode import LONGEST, Block, decode_block
from tracetui.reader.document import read_head, read_tail
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.reader.events import BlockColumns, EventTable, ReadReport, Skip
from tracetui.reader.extract import PartReader
from tracetui.reader.split import CUT_OFF, last_boundary
from tracetui.reader.text import Stamp, Text, open_text

BLOCK = 3 << 16  #: bytes for one call of orjson; its objects fit the cache: 512 kB are a third slower
PART = 1 << 23  #: bytes whose columns are made together, and between two calls of `on_progress`
_LONGEST_HEAD = 1 << 26
_TAIL = 1 << 20
_SKIPS = 100
_ENOUGH = 1 << 24  # bytes of text without an event that show that it is no trace
_COARSEST_CLOCK = 2_000_000_000  # ns between two times of modification that a file system tells apart


@dataclass(frozen=True)
class Progress:
    """How far the reading is."""

    done_bytes: int  #: of the file on disk
    total_bytes: int
    events: int
    snapshot: Callable[[], EventTable]  #: the table of all that is read so far; costs a copy


class TraceFile:
    """One trace file, as it was when it was opened; a context manager.

    `args` and `event` may be called from any thread, also while `read` runs in another one.
    """

    def __init__(self, path: str | Path, block_bytes: int = BLOCK, part_bytes: int = PART) -> None:
        """Open the file; raises UnreadableTrace where that fails or where the file holds no trace.

        The sizes are for tests: the table doesn't depend on them.
        """
        self.path = Path(path)
        self._block_bytes = block_bytes
        self._part_bytes = part_bytes
        self._text: Text = open_text(self.path)
        self.size = self._text.size
        self.stamp = self._text.stamp
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

    def close(self) -> None:
        """Close the file; `args` and `event` return {} from here on."""
        self._text.close()

    def read(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> EventTable:
        """Read all events; `on_progress` is called and `should_stop` asked every few MB.

        Whatever is damaged is left out and told in the table's report. Raises UnreadableTrace if there is
        not one whole event.
        """
        reading = _Reading(self.path, self._text, self._start, self._wrapped, self._document)
        self._chunks = reading.chunks
        # Nothing that is decoded has cycles, but the collector would look at all of it: a third of the time.
        collecting = gc.isenabled()
        gc.disable()
        try:
            for _ in reading.parts(self._block_bytes, self._part_bytes):
                reading.refuse_other_json()
                if on_progress is not None:
                    on_progress(
                        Progress(reading.disk_offset(), self.size, reading.builder.events, reading.snapshot)
                    )
                if should_stop is not None and should_stop():
                    reading.stopped = True
                    break
            return reading.finish()
        finally:
            if collecting:
                gc.enable()

    @property
    def settled(self) -> bool:
        """Whether the file is read without trouble and still as it was opened.

        Never so for one that was only just written: a change since then would not show.
        """
        if self._text.problem() is not None or self._opened - self.stamp.modified < _COARSEST_CLOCK:
            return False
        try:
            return stamp_of(self.path) == self.stamp
        except OSError:
            return False

    @property
    def blocks(self) -> BlockColumns:
        """Where the events are that were read."""
        return self._chunks.columns()

    def restore(self, blocks: BlockColumns) -> None:
        """Take over the blocks of an earlier reading of this very file: `args` and `event` work at once."""
        self._chunks = Chunks.of(self._text, blocks)

    def event(self, event: int) -> dict[str, Any]:
        """The event with this ordinal as it is in the file; {} where it can't be read any more."""
        element = self._chunks.element(event)
        return element if isinstance(element, dict) else {}

    def args(self, event: int) -> dict[str, Any]:
        """The `args` of the event with this ordinal; {} where it has none or can't be read any more."""
        args = self.event(event).get("args")
        return args if isinstance(args, dict) else {}

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


def stamp_of(path: Path) -> Stamp:
    """The stamp of the file that is at a path now. Raises OSError."""
    return Stamp.of(path.stat())


def _no_trace(path: Path, text: bytes, wrapped: bool) -> tuple[Reason, str]:
    """Why a text without an array of events is no trace."""
    start = text[:64].lstrip()
    if not start:
        return Reason.EMPTY, f"{path}: the file holds nothing but white space"
    if wrapped:
        return Reason.NOT_A_TRACE, f'{path}: is not a trace: its JSON object has no "traceEvents" array'
    if b"\0" in text[:4096]:
        what = "binary data"
    elif start.startswith(b"<"):
        what = "HTML or XML"
    else:
        what = "no JSON array or object"
    return Reason.NOT_A_TRACE, f"{path}: is not a trace: the file holds {what}"


class _Reading:
    """One pass over the text of a trace."""

    def __init__(self, path: Path, text: Text, start: int, wrapped: bool, document: dict[str, Any]) -> None:
        self.builder = TableBuilder()
        self.chunks = Chunks(text)
        self.stopped = False
        self._path = path
        self._text = text
        self._wrapped = wrapped
        self._document = dict(document)
        self._at = start
        self._end = start  # behind the last whole event
        self._ended = False
        self._finished = False  # all of the text is read, or the reading was stopped
        self._cut = False  # the text ends inside an event
        self._skips: list[Skip] = []
        self._damaged = 0
        self._reasons: Counter[str] = Counter()
        self._last_skip_end = -1

    def parts(self, block_bytes: int, part_bytes: int) -> Iterator[None]:
        """Read on; yields after each part."""
        reader = PartReader()
        part_start = self._at
        lost = False
        length = block_bytes
        while not self._ended:
            text = self._text.read(self._at, length)
            final = len(text) < length
            block = decode_block(text, None if lost else last_boundary(text), final, self._wrapped, lost)
            if block.wants:
                length = min(length * 4, LONGEST)
                continue
            length = block_bytes
            self._take(block, text, reader)
            lost = block.lost
            if final and block.end >= len(text):
                break
            if self._at - part_start >= part_bytes:
                self.builder.add(reader.finish())
                part_start = self._at
                yield
        self.builder.add(reader.finish())
        yield

    def _take(self, block: Block, text: bytes, reader: PartReader) -> None:
        for start, end, reason in block.skips:
            self._skip(self._at + start, end - start, reason)
        if block.elements:
            ordinal = self.chunks.add(self._at, block)
            reader.add(block.elements, ordinal, lambda: self._json_of(block, text))
            last = block.spans[-1][1] if block.spans else block.length
            self._end = self._at + last
        self._at += block.end
        self._ended = block.ended

    @staticmethod
    def _json_of(block: Block, text: bytes) -> bytes:
        if block.spans:
            return b",".join([text[start:end] for start, end in block.spans])
        return text[: block.length]

    def _skip(self, offset: int, length: int, reason: str) -> None:
        if reason == CUT_OFF:
            self._cut = True
            return
        if offset == self._last_skip_end:  # goes on from the block before
            if self._skips and self._skips[-1].offset + self._skips[-1].length == offset:
                before = self._skips[-1]
                self._skips[-1] = Skip(before.offset, before.length + length, before.reason)
        else:
            self._damaged += 1
            self._reasons[reason] += 1
            if len(self._skips) < _SKIPS:
                self._skips.append(Skip(offset, length, reason))
        self._last_skip_end = offset + length

    def refuse_other_json(self) -> None:
        """Raise UnreadableTrace where not one of many elements is an event: no need to read on for hours."""
        builder = self.builder
        others = builder.skipped - sum(builder.unknown_phases.values())
        if self._at > _ENOUGH and others >= builder.events and builder.events + self._damaged > _SKIPS:
            self._finished = True
            raise UnreadableTrace(*self._nothing(self._report()))

    def disk_offset(self) -> int:
        """How far the reading is, in bytes of the file on disk."""
        return self._text.disk_offset(self._at)

    def snapshot(self) -> EventTable:
        """The table of all parts so far."""
        return self.builder.build(str(self._path), dict(self._document), self._report(), last=False)

    def finish(self) -> EventTable:
        """The table of all; this object is of no use afterwards."""
        self._finished = True
        if self._ended and self._wrapped:
            tail = self._text.read(self._at, _TAIL)
            self._document.update(read_tail(tail))
        report = self._report()
        if not self.stopped and (not report.events or report.skipped - self._damaged >= report.events):
            raise UnreadableTrace(*self._nothing(report))
        return self.builder.build(str(self._path), self._document, report, last=True)

    def _nothing(self, report: ReadReport) -> tuple[Reason, str]:
        path = self._path
        if report.events:
            return (
                Reason.NOT_A_TRACE,
                f"{path}: is not a trace: none of its {report.events:,} elements is an event",
            )
        if self._damaged:
            return Reason.NOT_A_TRACE, f"{path}: is not a trace: its array holds no readable event"
        if report.truncated:
            return Reason.EMPTY, f"{path}: the file is cut off before the end of its first event"
        return Reason.EMPTY, f"{path}: the trace holds no events"

    def _report(self) -> ReadReport:
        builder = self.builder
        truncated = self._finished and not self._ended and not self.stopped
        return ReadReport(
            bytes=self._text.size,
            text_bytes=self._at,
            events=builder.events,
            skipped=builder.skipped + self._damaged,
            skips=tuple(self._skips),
            truncated=truncated,
            stopped=self.stopped,
            unknown_phases={plain(phase[:40]): number for phase, number in builder.unknown_phases.items()},
            warnings=tuple(self._warnings(truncated)),
        )

    def _warnings(self, truncated: bool) -> Iterator[str]:
        events = self.builder.events
        problem = self._text.problem()
        if problem:
            yield problem
        if truncated:
            what = "the rest is cut off" if self._cut else "the end of the array is missing"
            yield f"file incomplete: {_counted(events)} read up to byte {self._end:,}; {what}"
        if self.stopped:
            yield f"reading stopped: {_counted(events)} read up to byte {self._end:,}; later ones are missing"
        for reason, number in self._reasons.most_common():
            place = "1 place" if number == 1 else f"{number:,} places"
            first = next((skip.offset for skip in self._skips if skip.reason == reason), None)
            where = "" if first is None else f", the first at byte {first:,}"
            yield f"skipped {place}: {reason}{where}"
        unknown = sum(self.builder.unknown_phases.values())
        others = self.builder.skipped - unknown
        if others:
            yield f"{_counted(others)} left out: a phase, a readable time or an id is missing"
        if unknown:
            phases = ", ".join(sorted(plain(phase[:8]) for phase in self.builder.unknown_phases)[:8])
            yield f"{_counted(unknown)} left out: of a phase that is not shown ({phases})"


def _counted(events: int) -> str:
    return "1 event" if events == 1 else f"{events:,} events"
