"""One pass over the text of a trace: its pieces put together to the table, and the report of what was read.

Knows not who decodes the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tracetui.reader.chunks import Chunks
from tracetui.reader.columns import TableBuilder
from tracetui.reader.damage import Damage
from tracetui.reader.document import read_tail
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.pieces import Piece
from tracetui.reader.text import Text

_TAIL = 1 << 20
_ENOUGH = 1 << 24  # bytes of text without an event that show that it is no trace
_OTHERS = 100  # elements that are no events, which show that no event will follow


class Reading:
    """What was read so far."""

    def __init__(self, path: Path, text: Text, start: int, wrapped: bool, document: dict[str, Any]) -> None:
        self.chunks = Chunks(text)
        self.stopped = False
        self.troubles: list[str] = []  #: sentences for the report: of what the decoding survived
        self._builder = TableBuilder()
        self._path = path
        self._text = text
        self._wrapped = wrapped
        self._document = dict(document)
        self._at = start
        self._end = start  # behind the last whole event
        self._ended = False
        self._finished = False  # all of the text is read, or the reading was stopped
        self._cut = False  # the text ends inside an event
        self._damage = Damage()

    @property
    def events(self) -> int:
        """How many elements were decoded."""
        return self._builder.events

    def take(self, piece: Piece) -> None:
        """Take the piece behind all that were taken.

        Raises UnreadableTrace where not one of many elements is an event: no need to read on for hours.
        """
        columns = piece.part.columns
        for name in columns:
            if name.endswith(".event"):
                columns[name] = columns[name] + self._builder.events
        self.chunks.add(piece.blocks)
        self._builder.add(piece.part)
        self._damage.extend(piece.damage)
        self._at, self._ended = piece.end, piece.ended
        self._cut |= piece.cut
        if piece.whole >= 0:
            self._end = piece.whole
        builder = self._builder
        others = builder.skipped - sum(builder.unknown_phases.values())
        if self._at > _ENOUGH and others >= builder.events and builder.events + self._damage.places > _OTHERS:
            self._finished = True
            raise UnreadableTrace(*self._nothing(self._report()))

    def disk_offset(self) -> int:
        """How far the reading is, in bytes of the file on disk."""
        return self._text.disk_offset(self._at)

    def snapshot(self) -> EventTable:
        """The table of all parts so far."""
        return self._builder.build(str(self._path), dict(self._document), self._report(), last=False)

    def finish(self) -> EventTable:
        """The table of all; this object is of no use afterwards."""
        self._finished = True
        if self._ended and self._wrapped:
            tail = self._text.read(self._at, _TAIL)
            self._document.update(read_tail(tail))
        report = self._report()
        if not self.stopped and (not report.events or report.skipped - self._damage.places >= report.events):
            raise UnreadableTrace(*self._nothing(report))
        return self._builder.build(str(self._path), self._document, report, last=True)

    def _nothing(self, report: ReadReport) -> tuple[Reason, str]:
        path = self._path
        if report.events:
            return (
                Reason.NOT_A_TRACE,
                f"{path}: is not a trace: none of its {report.events:,} elements is an event",
            )
        if self._damage.places:
            return Reason.NOT_A_TRACE, f"{path}: is not a trace: its array holds no readable event"
        if report.truncated:
            return Reason.EMPTY, f"{path}: the file is cut off before the end of its first event"
        return Reason.EMPTY, f"{path}: the trace holds no events"

    def _report(self) -> ReadReport:
        builder = self._builder
        truncated = self._finished and not self._ended and not self.stopped
        return ReadReport(
            bytes=self._text.size,
            text_bytes=self._at,
            events=builder.events,
            skipped=builder.skipped + self._damage.places,
            skips=tuple(self._damage.skips),
            truncated=truncated,
            stopped=self.stopped,
            unknown_phases={plain(phase[:40]): number for phase, number in builder.unknown_phases.items()},
            warnings=tuple(self._warnings(truncated)),
            passing=tuple(self.troubles),
        )

    def _warnings(self, truncated: bool) -> Iterator[str]:
        events = self._builder.events
        problem = self._text.problem()
        if problem:
            yield problem
        yield from self.troubles
        if truncated:
            what = "the rest is cut off" if self._cut else "the end of the array is missing"
            yield f"file incomplete: {_counted(events)} read up to byte {self._end:,}; {what}"
        if self.stopped:
            yield f"reading stopped: {_counted(events)} read up to byte {self._end:,}; later ones are missing"
        for reason, number in self._damage.reasons.most_common():
            place = "1 place" if number == 1 else f"{number:,} places"
            first = next((skip.offset for skip in self._damage.skips if skip.reason == reason), None)
            where = "" if first is None else f", the first at byte {first:,}"
            yield f"skipped {place}: {reason}{where}"
        unknown = sum(self._builder.unknown_phases.values())
        others = self._builder.skipped - unknown
        if others:
            yield f"{_counted(others)} left out: a phase, a readable time or an id is missing"
        if unknown:
            phases = ", ".join(sorted(plain(phase[:8]) for phase in self._builder.unknown_phases)[:8])
            yield f"{_counted(unknown)} left out: of a phase that is not shown ({phases})"


def _counted(events: int) -> str:
    return "1 event" if events == 1 else f"{events:,} events"
