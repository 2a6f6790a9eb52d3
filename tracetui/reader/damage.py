"""The damaged places of a text, which hold no readable event: all are counted, the first are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tracetui.reader.events import Skip

_KEPT = 100  # places


@dataclass
class Damage:
    """Damaged places in the order of the text; those that touch are one."""

    places: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    skips: list[Skip] = field(default_factory=list)  #: the first of the places
    end: int = -1  #: of the last place

    def add(self, offset: int, length: int, reason: str) -> None:
        """Add the next place; it may go on from the last one."""
        if offset == self.end:  # goes on from the block before
            if self.skips[-1].offset + self.skips[-1].length == offset:
                previous = self.skips[-1]
                self.skips[-1] = Skip(previous.offset, previous.length + length, previous.reason)
        else:
            self.places += 1
            self.reasons[reason] += 1
            if len(self.skips) < _KEPT:
                self.skips.append(Skip(offset, length, reason))
        self.end = offset + length

    def extend(self, later: Damage) -> None:
        """Add the places of the text after this one, as if each had been added."""
        if not later.places:
            return
        first, *rest = later.skips
        places = self.places
        self.add(first.offset, first.length, first.reason)
        is_continued = self.places == places  # the first one goes on from the last place here
        self.places = places + later.places - is_continued
        self.reasons.update(later.reasons)
        self.reasons[first.reason] -= 1
        self.reasons = +self.reasons
        self.skips += rest[: _KEPT - len(self.skips)]
        self.end = later.end
