"""What changed of a step, as facts: groups of its terms that changed, and what most of each change is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.classes import COMMUNICATION, is_part_of_row
from tracetui.comparison.classes import COPY as COPY_CLASS
from tracetui.comparison.collective_sums import TRANSFER, WAIT
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison, steadier_on_device, sums_of_walls
from tracetui.comparison.job_part import INCOMPARABLE_KINDS, ComparedRoot, JobPart
from tracetui.comparison.waterfall import AICORE, AICPU, COPY, IDLE_TERMS, PREPARING, PREPARING_COPY, TERMS
from tracetui.trace.stack import Frame


class ChangeGroup(Enum):
    """Terms of the waterfall that are one thing to a reader; each group covers those after it."""

    COMPUTING = "computing"
    COMMUNICATION = "exposed communication"
    COPIES = "exposed copies"
    IDLE = "idle"


_SUFFIXES = {"communication.wait": WAIT, "communication.transfer": TRANSFER}
_COMMUNICATION_TERMS = tuple(name for name in TERMS if name.startswith("communication."))
_TERMS = {
    ChangeGroup.IDLE: IDLE_TERMS,
    ChangeGroup.COMPUTING: (AICORE, AICPU),
    ChangeGroup.COMMUNICATION: _COMMUNICATION_TERMS,
    ChangeGroup.COPIES: (COPY, PREPARING_COPY),
}
_COVERING_ORDER = tuple(ChangeGroup)


@dataclass(frozen=True)
class GroupChange:
    """The terms of a group together in both runs."""

    group: ChangeGroup
    sum: ComparedRow
    witnesses: tuple[ComparedRow, ...]  #: its terms, and device time by the steps that launched it

    @property
    def changed(self) -> bool | None:
        """Return whether the sum, or a witness of half of it, changed; None where nothing tells."""
        if abs(self.sum.delta_ns) * 100 <= self.sum.scale.step_ns:
            return False
        agreeing = (row for row in self.witnesses if agree(row, self.sum))
        large = (row for row in agreeing if 2 * abs(row.delta_ns) >= abs(self.sum.delta_ns))
        answers = [self.sum.changed, *(row.changed for row in large)]
        return True if True in answers else None if None in answers else False


@dataclass(frozen=True)
class StepChange:
    """What changed of a mean step."""

    step: ComparedRow
    changed: tuple[GroupChange, ...]  #: the groups that changed: most first, if `hidden` in covering order
    agreeing: tuple[GroupChange, ...]  #: those of them that changed as the step did
    #: The step hardly moved, or mostly by chance, though groups changed: one grew over what it covers, or
    #: uncovered it.
    hidden: bool

    @property
    def opposing(self) -> tuple[GroupChange, ...]:
        """Return the groups that changed the other way than the step."""
        return tuple(change for change in self.changed if not agree(change.sum, self.step))


def change_of_step(comparison: Comparison) -> StepChange:
    """Return what changed of the mean step; both sides have work of a device."""
    step = comparison.step
    groups = sorted(_group_changes(comparison), key=lambda change: -abs(change.sum.delta_ns))
    changed = [change for change in groups if change.changed]
    agreeing = tuple(change for change in changed if agree(change.sum, step))
    explained = abs(sum((part.sum.delta_ns for part in agreeing), Fraction(0)))
    by_chance = step.changed is False and (2 * explained < abs(step.delta_ns) or not _shifted(step))
    hidden = bool(changed) and (not agreeing or by_chance or _hides(step, changed))
    if hidden:
        changed.sort(key=lambda change: _COVERING_ORDER.index(change.group))
    return StepChange(step, tuple(changed), agreeing, hidden)


def agree(one: ComparedRow, other: ComparedRow) -> bool:
    """Return whether two rows changed in the same direction."""
    return one.delta_ns * other.delta_ns > 0


def _hides(step: ComparedRow, changed: Sequence[GroupChange]) -> bool:
    """Return whether the step did not change, or by less than half of work that changed the other way."""
    opposing = [
        change for change in changed if change.group is not ChangeGroup.IDLE and not agree(change.sum, step)
    ]
    largest = max((abs(change.sum.delta_ns) for change in opposing), default=Fraction(0))
    return 100 * abs(step.delta_ns) <= step.scale.step_ns or 2 * abs(step.delta_ns) < largest


def _shifted(step: ComparedRow) -> bool:
    """Return whether most steps changed as their mean did; True where nothing tells."""
    return step.test is None or step.test.shift_ns * step.delta_ns > 0


def _group_changes(comparison: Comparison) -> Iterator[GroupChange]:
    terms = {term.name: term for term in comparison.waterfall}
    base, other = comparison.base, comparison.other
    lagging = steadier_on_device(base, other)
    for group, names in _TERMS.items():
        on_device = lagging if group is ChangeGroup.IDLE else True
        total = sums_of_walls(base, other, group.value, names, on_device)
        launched = tuple(row for row in comparison.classes if group_of_class(row.name) is group)
        witnesses = (*(terms[term] for term in (*names, PREPARING) if term in terms), *launched)
        yield GroupChange(group, total, witnesses)


def group_of_class(kind: str) -> ChangeGroup | None:
    """Return the group that the device time of a class belongs to; None of a part of another class."""
    if is_part_of_row(kind):
        return None
    return {COMMUNICATION: ChangeGroup.COMMUNICATION, COPY_CLASS: ChangeGroup.COPIES}.get(
        kind, ChangeGroup.COMPUTING
    )


def largest_change(rows: Iterable[ComparedRow], total: ComparedRow) -> ComparedRow | None:
    """Return the row that changed most in the same direction as the total."""
    agreeing = [row for row in rows if row.delta_ns and agree(row, total)]
    return max(agreeing, key=lambda row: abs(row.delta_ns), default=None)


@dataclass(frozen=True)
class CauseChange:
    """The cause that most of a change of idle time has."""

    cause: Cause
    ns: Fraction  #: by how much its time changed in a step, without sign
    line: Frame | None  #: the line with the largest change of that cause, where that changed as the total did
    line_ns: Fraction | None  #: its change, without sign; None where it stands for the whole of the cause's


#: A line stands for all of a cause's change if its own is between these shares of that.
_NEARLY_ALL = Fraction(4, 5), Fraction(5, 4)


def largest_cause(comparison: Comparison, total: ComparedRow) -> CauseChange | None:
    """Return the cause that most of a change of idle time has; None where no cause changed as it did."""
    row = largest_change(comparison.causes, total)
    if row is None:
        return None
    cause = next(cause for cause in Cause if cause.label == row.name)
    ns = abs(row.delta_ns)
    line, delta = comparison.cause_lines.get(cause, (None, Fraction(0)))
    agrees = (delta > 0) == (total.delta_ns > 0)
    frame = line.frame if line is not None and agrees else None
    least, most = (share * ns for share in _NEARLY_ALL)
    line_ns = None if least <= abs(delta) <= most else abs(delta)
    return CauseChange(cause, ns, frame, line_ns)


def free_change(comparison: Comparison, total: ComparedRow) -> int:
    """Return by how many ns the producer's free time of all steps changed, if it did as a total of idle time.

    0 where the runs have other numbers of steps, or nothing tells.
    """
    base, other = comparison.base, comparison.other
    if base.totals is None or other.totals is None or not len(base.numbers) == len(other.numbers) > 1:
        return 0
    delta = other.totals.free_ns - base.totals.free_ns
    return delta if (delta > 0) == (total.delta_ns > 0) else 0


def largest_communication(
    comparison: Comparison, total: ComparedRow
) -> tuple[ComparedRow | None, ComparedRow | None]:
    """Return the part of exposed communication that changed most as the total did, and the collective.

    The second is the collective whose time in that part changed most so.
    """
    parts = (term for term in comparison.waterfall if term.name in _COMMUNICATION_TERMS)
    part = largest_change(parts, total)
    suffix = _SUFFIXES.get(part.name, "") if part is not None else ""
    collectives = [row for row in comparison.communication if row.name.endswith(suffix)]
    if not suffix:
        collectives = [row for row in collectives if not row.name.endswith(tuple(_SUFFIXES.values()))]
    return part, largest_change(collectives, total)


def largest_computing(
    comparison: Comparison, total: ComparedRow
) -> tuple[ComparedRow | None, ComparedRow | None]:
    """Return the class of kernels, and the operator, whose time changed most as the total did.

    No class where most of the operator's change may be of another: the two sum to hardly more than all that
    changed as the total did. No operator that changed by less than half of the class.
    """
    classes = [row for row in comparison.classes if group_of_class(row.name) is ChangeGroup.COMPUTING]
    kind, operator = largest_change(classes, total), largest_change(comparison.computing, total)
    if kind is None or operator is None:
        return kind, operator
    changed = max(
        sum((abs(row.delta_ns) for row in table if agree(row, total)), Fraction(0))
        for table in (classes, comparison.computing)
    )
    shared = abs(kind.delta_ns) + abs(operator.delta_ns) - changed
    if 2 * shared <= abs(operator.delta_ns):
        return None, operator
    return kind, operator if 2 * abs(operator.delta_ns) > abs(kind.delta_ns) else None


def moved_roots(job: JobPart) -> tuple[ComparedRoot, ComparedRoot] | None:
    """Return what ranks wait for more than before, and what less; None unless both changed and are known."""
    comparable = (row for row in job.roots if row.changed and row.kind not in INCOMPARABLE_KINDS)
    changed = sorted(comparable, key=lambda row: row.delta_ns)
    if not changed or changed[0].delta_ns >= 0 or changed[-1].delta_ns <= 0:
        return None
    return changed[-1], changed[0]


def changed_roots(job: JobPart) -> list[ComparedRoot]:
    """Return the reasons of waits that make up more than a tenth of how the waits of a job changed."""
    delta = job.waits.delta_ns
    return [row for row in job.roots if row.delta_ns * delta > 0 and abs(row.delta_ns) * 10 > abs(delta)]
