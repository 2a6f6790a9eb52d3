"""The places of a text that held no readable event: counted, and the first of them kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tracetui.reader.events import Skip

_KEPT = 100


@dataclass
class Damage:
    """Damaged places in the order of the text; those that touch are one."""

    places: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    skips: list[Skip] = field(default_factory=list)  #: the first of the places
    end: int = -1  #: of the last place

    def add(self, offset: int, length: int, reason: str) -> None:
        """Take the next place."""
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
        """Take the places of the text after this: the same as `add` of each of them."""
        if not later.places:
            return
        first, *rest = later.skips
        places = self.places
        self.add(first.offset, first.length, first.reason)
        one_less = self.places == places  # `first` goes on from here
        self.places = places + later.places - one_less
        self.reasons.update(later.reasons)
        self.reasons[first.reason] -= 1
        self.reasons = +self.reasons
        self.skips += rest[: _KEPT - len(self.skips)]
        self.end = later.end
