"""One pass over the text of a trace: its pieces put together to the table, and the report of what was read.

Knows not who decodes the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tracetui.language import state
from tracetui.reader.chunks import Chunks
from tracetui.reader.columns import TableBuilder
from tracetui.reader.damage import Damage
from tracetui.reader.document import read_tail
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.pieces import EventsPiece
from tracetui.reader.text import Text

_TAIL = 1 << 20
_INT32_END = 1 << 31
_ENOUGH = 1 << 24  # bytes of text without an event that show that it is no trace
_NO_EVENTS = 100  # elements that are no events, which show that no event will follow


@dataclass
class _Passage:
    """A part of the text that is read from front to back."""

    start: int  #: offset in the text
    offset: int  #: everything before is dealt with
    whole: int  #: after the last whole event
    ended: bool = False  #: the array's end was met
    in_damage: bool = False  #: `offset` lies in something damaged
    cut: bool = False  #: the text ends inside an event
    damage: Damage = field(default_factory=Damage)


class After(NamedTuple):
    """What a text goes on with that is not the first of its trace."""

    chunks: Chunks
    builder: TableBuilder
    shift: int  #: of its offsets to those of the chunks


class _EventCounts(NamedTuple):
    """What a builder has taken."""

    events: int
    skipped: int
    unknown: dict[str, int]
    without_duration: int

    @classmethod
    def from_builder(cls, builder: TableBuilder) -> _EventCounts:
        unknown = dict(builder.unknown_phases)
        return cls(builder.events, builder.skipped, unknown, builder.without_duration)

    def since(self, earlier: _EventCounts) -> _EventCounts:
        unknown = {phase: number - earlier.unknown.get(phase, 0) for phase, number in self.unknown.items()}
        increase = {phase: number for phase, number in unknown.items() if number}
        return _EventCounts(
            self.events - earlier.events,
            self.skipped - earlier.skipped,
            increase,
            self.without_duration - earlier.without_duration,
        )


class Reading:
    """What was read so far: the text from some place on, and then what stands before that."""

    def __init__(
        self,
        path: Path,
        text: Text,
        start: int,
        wrapped: bool,
        document: dict[str, Any],
        first: int = 0,
        continuation: After | None = None,
    ) -> None:
        """Prepare to read the events of a text from offset `start`.

        `first` is where reading begins, if not there; `continuation` the trace that others began and this
        text goes on with.
        """
        self.chunks = Chunks(text) if continuation is None else continuation.chunks
        self.stopped = False
        self.troubles: list[str] = []  #: sentences for the report: of what the decoding survived
        self._builder = TableBuilder() if continuation is None else continuation.builder
        self._before = _EventCounts.from_builder(self._builder)
        self._shift = 0 if continuation is None else continuation.shift
        self._path = path
        self._text = text
        self._wrapped = wrapped
        self._document = dict(document)
        self._start = start
        #: In the order of reading: from `first` to the end of the text, and from its start to `first`.
        self._passages = [_Passage(first, first, first) if first else _Passage(0, start, start)]
        self._finished = False  # all of the text is read, or the reading was stopped

    @property
    def events(self) -> int:
        """How many elements of the text were decoded."""
        return self._builder.events - self._before.events

    def go_to_front(self) -> None:
        """Go on with the pieces from the start of the text, up to where those begin that were taken."""
        self._passages.append(_Passage(0, self._start, self._start))
        self._builder.go_to_front()

    @property
    def joined(self) -> bool:
        """Whether the passages make up the text."""
        last, first = self._passages[0], self._passages[-1]
        return last is first or (first.offset == last.start and not first.in_damage)

    def take(self, piece: EventsPiece) -> None:
        """Take the piece after all that were taken since `go_to_front`, if that was called.

        Raises UnreadableTrace where not one of many elements is an event: no need to read on for hours.
        """
        columns = piece.part.columns
        first = self._builder.events
        dtype = np.int32 if first + piece.part.events < _INT32_END else np.int64
        for name in columns:
            if name.endswith(".event"):
                columns[name] = columns[name].astype(dtype, copy=False) + dtype(first)
        self.chunks.add(piece.blocks, self._shift)
        self._builder.add(piece.part)
        passage = self._passages[-1]
        passage.damage.extend(piece.damage)
        passage.offset, passage.ended, passage.in_damage = piece.end, piece.ended, piece.in_damage
        passage.cut |= piece.cut
        if piece.whole >= 0:
            passage.whole = piece.whole
        counts = self._counts()
        other_count = counts.skipped - sum(counts.unknown.values())
        damaged = self._damage().places
        if self._seen() > _ENOUGH and other_count >= counts.events and counts.events + damaged > _NO_EVENTS:
            raise UnreadableTrace(*self._why_nothing(self.report()))

    def disk_offset(self) -> int:
        """Return how much was read, in bytes of the file on disk."""
        return self._text.disk_offset(self._seen())

    def snapshot(self) -> EventTable:
        """Return the table of all parts so far."""
        return self._builder.build(str(self._path), dict(self._document), self.report(), last=False)

    def finish(self) -> EventTable:
        """Return the table of all; this object is of no use afterwards."""
        report = self.end()
        return self._builder.build(str(self._path), self._document, report, last=True)

    def end(self) -> ReadReport:
        """Return the report of all; raises UnreadableTrace where there is not one whole event."""
        self._finished = True
        last = self._passages[0]
        if last.ended and self._wrapped:
            tail = self._text.read(last.offset, _TAIL)
            self._document.update(read_tail(tail))
        report = self.report()
        if not self.stopped and self._counts().skipped >= report.events:
            raise UnreadableTrace(*self._why_nothing(report))
        return report

    def _counts(self) -> _EventCounts:
        return _EventCounts.from_builder(self._builder).since(self._before)

    def _seen(self) -> int:
        """Return how many bytes of text were read."""
        return sum(passage.offset - passage.start for passage in self._passages)

    def _damage(self) -> Damage:
        damage = Damage()
        for passage in reversed(self._passages):
            damage.extend(passage.damage)
        return damage

    def _why_nothing(self, report: ReadReport) -> tuple[Reason, str]:
        """Return why the text holds no event."""
        path = self._path
        if report.events:
            return (
                Reason.NOT_A_TRACE,
                state(
                    "{path}: is not a trace: none of its {count} elements is an event",
                    path=path,
                    count=f"{report.events:,}",
                ),
            )
        if self._damage().places:
            return Reason.NOT_A_TRACE, state(
                "{path}: is not a trace: its array holds no readable event", path=path
            )
        if report.truncated:
            return Reason.EMPTY, state(
                "{path}: the file is cut off before the end of its first event", path=path
            )
        return Reason.EMPTY, state("{path}: the trace holds no events", path=path)

    def report(self) -> ReadReport:
        """Return how the reading of this text went so far."""
        counts, damage = self._counts(), self._damage()
        last = self._passages[0]
        truncated = self._finished and not last.ended and not self.stopped
        has_text_after = last.ended and damage.end > last.offset
        places = damage.places - has_text_after  # no event is lost in what follows the array
        return ReadReport(
            bytes=self._text.size,
            text_bytes=self._seen(),
            events=counts.events,
            skipped=counts.skipped + places,
            places=places,
            skips=tuple(damage.skips),
            without_duration=counts.without_duration,
            truncated=truncated,
            stopped=self.stopped,
            unknown_phases={plain(phase[:40]): number for phase, number in counts.unknown.items()},
            warnings=tuple(self._warnings(counts, truncated, damage)),
            passing=tuple(self.troubles),
            seen=tuple((passage.start, passage.offset) for passage in reversed(self._passages)),
        )

    def _warnings(self, counts: _EventCounts, truncated: bool, damage: Damage) -> Iterator[str]:
        events = counts.events
        problem = self._text.problem()
        if problem:
            yield problem
        yield from self.troubles
        last = self._passages[0]
        if truncated:
            template = "file incomplete: {events} read up to byte {offset}; the end of the array is missing"
            if last.cut:
                template = "file incomplete: {events} read up to byte {offset}; the rest is cut off"
            yield state(template, events=_count_events(events), offset=f"{last.whole:,}")
        if self.stopped:
            yield self._stopped_sentence(_count_events(events))
        for reason, number in damage.reasons.most_common():
            first = next((skip.offset for skip in damage.skips if skip.reason == reason), None)
            template = "skipped 1 place: {reason}" if number == 1 else "skipped {count} places: {reason}"
            if first is not None:
                template = "skipped {count} places: {reason}, the first at byte {offset}"
                if number == 1:
                    template = "skipped 1 place: {reason}, the first at byte {offset}"
            yield state(template, count=f"{number:,}", reason=reason, offset=f"{first or 0:,}")
        unknown = sum(counts.unknown.values())
        other_count = counts.skipped - unknown
        if other_count:
            template = "{events} left out: a phase, an id or a time in µs, below 146 years, is missing"
            yield state(template, events=_count_events(other_count))
        if unknown:
            phases = ", ".join(sorted(plain(phase[:8]) for phase in counts.unknown)[:8])
            template = "{events} left out: of a phase that is not shown ({phases})"
            yield state(template, events=_count_events(unknown), phases=phases)
        if counts.without_duration:
            template = (
                "{events} of no duration that can be, taken as 0: below 0, no number or above 146 years"
            )
            yield state(template, events=_count_events(counts.without_duration))

    def _stopped_sentence(self, events: str) -> str:
        """Return which events were read until reading was stopped, and what is missing therefore."""
        current, last = self._passages[-1], self._passages[0]
        template = (
            "reading stopped: {events} read up to byte {end} and from byte {last} on; those between are "
            "missing"
        )
        if current.start:
            template = "reading stopped: {events} read from byte {start} to byte {end}; others are missing"
        elif current is last:
            template = "reading stopped: {events} read up to byte {end}; later ones are missing"
        offsets = {"start": current.start, "end": current.whole, "last": last.start}
        return state(template, events=events, **{name: f"{offset:,}" for name, offset in offsets.items()})


def _count_events(events: int) -> str:
    return state("1 event") if events == 1 else state("{count} events", count=f"{events:,}")
