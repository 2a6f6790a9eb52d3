"""Rows of a comparison: a name with what it has on both sides, per step, and whether it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from tracetui.compare.tally import NOTHING, Sum

MATCHED, NEW, GONE = "matched", "new", "gone"


@dataclass(frozen=True)
class Scale:
    """What changes are held against."""

    base_steps: int
    other_steps: int
    step_ns: Fraction  #: the mean step of BASE
    one_step: bool = False  #: a side has one step, of several devices or ranks

    def changed(self, base: Sum, other: Sum) -> bool | None:
        """Whether two means differ by more than the steps of either side among themselves, and 1 % of a step.

        None where a side has fewer than two steps, and nothing says how much they differ.
        """
        delta = abs(Fraction(other.ns, self.other_steps) - Fraction(base.ns, self.base_steps))
        if delta * 100 <= self.step_ns or not delta:
            return False
        if self.one_step or min(self.base_steps, self.other_steps) < 2:
            return None
        return delta > max(base.highest - base.lowest, other.highest - other.lowest)


@dataclass(frozen=True)
class Row:
    """A row of a table. Means are exact; those of a side without steps are 0."""

    name: str  #: as written in the trace: never print it unescaped
    base: Sum
    other: Sum
    scale: Scale
    changed: bool | None

    @property
    def status(self) -> str:
        """ "matched", "new" (only in OTHER) or "gone" (only in BASE)."""
        if not self.base.count and self.other.count:
            return NEW
        return GONE if self.base.count and not self.other.count else MATCHED

    @property
    def base_ns(self) -> Fraction:
        """The mean per step."""
        return Fraction(self.base.ns, self.scale.base_steps)

    @property
    def other_ns(self) -> Fraction:
        """The mean per step of OTHER."""
        return Fraction(self.other.ns, self.scale.other_steps)

    @property
    def base_count(self) -> Fraction:
        """How often a step has it."""
        return Fraction(self.base.count, self.scale.base_steps)

    @property
    def other_count(self) -> Fraction:
        """How often a step of OTHER has it."""
        return Fraction(self.other.count, self.scale.other_steps)

    @property
    def delta_ns(self) -> Fraction:
        """OTHER - BASE."""
        return self.other_ns - self.base_ns

    @property
    def ratio(self) -> float | None:
        """OTHER / BASE; None where BASE has no time."""
        return float(self.other_ns / self.base_ns) if self.base.ns else None


def row(name: str, base: Sum, other: Sum, scale: Scale) -> Row:
    """Return the row of a name."""
    return Row(name, base, other, scale, scale.changed(base, other))


def rows(base: Mapping[str, Sum], other: Mapping[str, Sum], scale: Scale) -> tuple[Row, ...]:
    """Return the rows of all names of either side, those that changed most first."""
    names = dict.fromkeys((*base, *other))
    return ranked(row(name, base.get(name, NOTHING), other.get(name, NOTHING), scale) for name in names)


AnyRow = TypeVar("AnyRow", bound=Row)


def ranked(found: Iterable[AnyRow]) -> tuple[AnyRow, ...]:
    """Rows by how much they changed, then by time, then by name."""
    return tuple(
        sorted(found, key=lambda each: (-abs(each.delta_ns), -each.other_ns - each.base_ns, each.name))
    )
