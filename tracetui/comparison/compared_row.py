"""Rows of a comparison: a name with what it has on both sides, per step, and whether it changed.

Whether it did is decided on steps: by a rank test where both sides have three or more, else by their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple, TypeVar

import numpy as np

from tracetui.comparison.rank_test import StepTest, compare_values
from tracetui.comparison.tally import NOTHING, Sum, tested_steps

MATCHED, NEW, GONE = "matched", "new", "gone"


class DeviceSteps(NamedTuple):
    """The steps of several devices that one host drives: those of one step of the host are one sample."""

    devices: int
    step: tuple[int, ...]  #: of each value that is tested: a number from 0 for its step of the host

    def summed(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """Return the values of each step over all devices: where some are missing, as the others'."""
        step = np.array(self.step, np.int64)
        ns, counts = np.zeros(int(step.max(initial=-1)) + 1, np.int64), np.bincount(step)
        np.add.at(ns, step, np.array(values, np.int64))
        return tuple((ns * self.devices // counts).tolist())


@dataclass(frozen=True)
class RowScale:
    """What changes are held against."""

    base_steps: int
    other_steps: int
    step_ns: Fraction  #: the mean step of BASE
    few_steps: bool = False  #: a side has fewer than three steps, whose order tells nothing
    on_gpu: bool = False  #: a side ran on a GPU, for which words of NPUs mean nothing
    ranks: tuple[int, int] = (1, 1)  #: each value of a step is the sum of so many ranks, of BASE and of OTHER
    #: how many steps of BASE and of OTHER are tested where not all are; None: as many as they have
    tested: tuple[int | None, int | None] = (None, None)
    devices: tuple[DeviceSteps | None, DeviceSteps | None] = (None, None)  #: None: each value is of one step

    def changed(self, base: Sum, other: Sum) -> bool | None:
        """Return whether steps differ as their mean does, by more than chance and 1 % of a step of BASE.

        Where a side has fewer than three steps: whether their ranges do not overlap. None of what is not
        told step by step.
        """
        difference = Fraction(other.ns, self.other_steps) - Fraction(base.ns, self.base_steps)
        delta = abs(difference)
        tested = self.values(base, other)
        if tested is None:
            return None if delta * 100 > self.step_ns else False
        base_values, other_values = tested
        widest = max(max(other_values) * self.ranks[0], max(base_values) * self.ranks[1])
        widest -= min(min(other_values) * self.ranks[0], min(base_values) * self.ranks[1])
        if widest * 100 <= self.step_ns * self.ranks[0] * self.ranks[1]:
            return False
        test = compare_values(base_values, other_values, self.ranks)
        if self.few_steps:
            return delta * 100 > self.step_ns and test.separate
        as_mean = test.shift_ns * difference > 0
        return as_mean and abs(test.shift_ns) * 100 > self.step_ns and test.is_change

    def test(self, base: Sum, other: Sum) -> StepTest | None:
        """Return how the steps differ; None of what is not told step by step, or of fewer than three."""
        tested = None if self.few_steps else self.values(base, other)
        return None if tested is None else compare_values(*tested, self.ranks)

    def values(self, base: Sum, other: Sum) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return ns of each step of both sides; None where neither side tells of steps."""
        if not base.steps and not other.steps:
            return None
        found = []
        all_steps = self.base_steps, self.other_steps
        for side, steps, ranks, count, devices in zip(
            (base, other), all_steps, self.ranks, self.tested, self.devices
        ):
            if devices is not None:
                count = len(devices.step)
            elif count is None:
                count = len(tested_steps(steps // ranks))
            values = side.steps if side.steps or side.ns else (0,) * count
            found.append(values if devices is None or not values else devices.summed(values))
        return (found[0], found[1]) if all(found) else None


@dataclass(frozen=True)
class ComparedRow:
    """A row of a table: times in ns, of memory bytes. Means are exact; of a side without steps 0."""

    name: str  #: as written in the trace: never print it unescaped
    base: Sum
    other: Sum
    scale: RowScale
    changed: bool | None

    @property
    def status(self) -> str:
        """Return "matched", "new" (only in OTHER) or "gone" (only in BASE)."""
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
    def test(self) -> StepTest | None:
        """How its steps differ; None where that is not told, or of fewer than three steps on a side."""
        return self.scale.test(self.base, self.other)

    @property
    def is_sampled(self) -> bool:
        """Whether not all steps of OTHER are tested: they are too many, or not of all its ranks."""
        test = self.test
        return test is not None and test.steps < self.scale.other_steps // self.scale.ranks[1]

    @property
    def ratio(self) -> float | None:
        """OTHER / BASE; None where BASE has no time."""
        return float(self.other_ns / self.base_ns) if self.base.ns else None


def row(name: str, base: Sum, other: Sum, scale: RowScale) -> ComparedRow:
    """Return the row of a name."""
    return ComparedRow(name, base, other, scale, scale.changed(base, other))


def rows(base: Mapping[str, Sum], other: Mapping[str, Sum], scale: RowScale) -> tuple[ComparedRow, ...]:
    """Return the rows of all names of either side, those that changed most first."""
    names = dict.fromkeys((*base, *other))
    return ranked(row(name, base.get(name, NOTHING), other.get(name, NOTHING), scale) for name in names)


AnyRow = TypeVar("AnyRow", bound=ComparedRow)


def ranked(
    unordered: Iterable[AnyRow], name_of: Callable[[AnyRow], str] = attrgetter("name")
) -> tuple[AnyRow, ...]:
    """Sort rows by how much they changed, then by time, then by name."""
    return tuple(
        sorted(
            unordered,
            key=lambda compared: (
                -abs(compared.delta_ns),
                -compared.other_ns - compared.base_ns,
                name_of(compared),
            ),
        )
    )
