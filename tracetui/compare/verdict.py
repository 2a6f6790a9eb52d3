"""The comparison in one sentence: how much slower or faster a step is, and what most of that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import PurePosixPath

from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.compare.classes import COMMUNICATION, is_part
from tracetui.compare.classes import COPY as COPY_CLASS
from tracetui.compare.comparison import Comparison, sum_of_steps
from tracetui.compare.job_part import root_words
from tracetui.compare.rows import Row, row
from tracetui.compare.run import Run
from tracetui.compare.tally import Sum
from tracetui.compare.waterfall import AICORE, AICPU, COPY, PREPARING, TERMS
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_percent

LONGEST_NAME = 60  #: characters
_LONGEST_ROOT = 120
_MOST_OF_IT = Fraction(5, 4)  # a cause with four fifths of a change stands for all of it
_MOST_REASONS = 2
_IDLE, _COMPUTING = "idle", "computing"
_COMMUNICATION, _COPIES = "exposed communication", "exposed copies"


@dataclass(frozen=True)
class _Group:
    """Terms of the waterfall that are one thing to a reader."""

    name: str  #: after "38 ms less"
    sum: Row
    #: Its terms, and device time by the steps that launched it: where a device lags behind the host, its work
    #: is in the walls of later steps, of the last one most, and terms differ from step to step for no reason.
    witnesses: tuple[Row, ...]
    story: str  #: what most of it is; "" where nothing tells

    @property
    def changed(self) -> bool | None:
        """Whether the sum or a witness of it changed; None where nothing tells."""
        if abs(self.sum.delta_ns) * 100 <= self.sum.scale.step_ns:
            return False
        told = [self.sum.changed, *(each.changed for each in self.witnesses if _agree(each, self.sum))]
        return True if True in told else None if None in told else False


def verdict(comparison: Comparison) -> str:
    """One true sentence, safe to print; of jobs a second one, on what ranks lose by waiting."""
    return " ".join(filter(None, (_step_sentence(comparison), _waits_sentence(comparison))))


def _waits_sentence(comparison: Comparison) -> str:
    """How much more ranks of a job lose by waiting for each other, and what most of that is."""
    job = comparison.job
    if job is None or not comparison.comparable or not (job.waits.base.ns or job.waits.other.ns):
        return ""
    delta = job.waits.delta_ns
    costs = f"Waiting for each other costs the ranks {_ns(job.waits.other_ns)} a step in all"
    if abs(delta) * 100 <= job.waits.scale.step_ns:
        return f"{costs}, {f'and {_ns(job.waits.base_ns)}' if delta else 'as'} in BASE."
    told = f"{costs}, {_ns(abs(delta))} {'more' if delta > 0 else 'less'} than in BASE"
    most = [row for row in job.roots if row.delta_ns * delta > 0 and abs(row.delta_ns) * 10 > abs(delta)]
    named = (printable(root_words(row), _LONGEST_ROOT) for row in most[:_MOST_REASONS])
    return f"{told}: {'; '.join(named)}." if most else f"{told}."


def _step_sentence(comparison: Comparison) -> str:
    step = comparison.step
    for name, run in (("BASE", comparison.base), ("OTHER", comparison.other)):
        if not len(run.wall_ns):
            return f"{name} has no work of a device to compare."
    if not step.delta_ns and not any(term.delta_ns for term in comparison.waterfall):
        return f"Nothing changed: a step takes {_ns(step.base_ns)} in both."
    groups = sorted(_groups(comparison), key=lambda group: -abs(group.sum.delta_ns))
    changed = [group for group in groups if group.changed is not False]
    agreeing = [group for group in changed if _agree(group.sum, step)]
    doubt = "" if comparison.knows_spread else "; with one step nothing tells whether that is chance"
    took = f"a step takes {_ns(step.base_ns)} in BASE and {_ns(step.other_ns)} in OTHER"
    if agreeing:
        reasons = "; ".join(_reason(group) for group in agreeing[:_MOST_REASONS])
        against = (group for group in changed if not _agree(group.sum, step))
        reasons += "".join(f", against {_amount(group)}" for group in islice(against, 1))
        return f"OTHER is {_difference(step)}{_within(comparison)}: {reasons}{doubt}."
    if changed:
        reasons = "; ".join(_reason(group) for group in changed[:_MOST_REASONS])
        return f"{took[0].upper()}{took[1:]}, but {reasons}{doubt}."
    if step.changed:
        return f"OTHER is {_difference(step)}, and no part of it alone by more than the steps differ."
    if not comparison.knows_spread:
        return f"Nothing changed by more than 1 % of a step: {took}{doubt}."
    return f"Nothing changed beyond the spread of the steps, {_ns(_spread(step))}: {took}."


def _groups(comparison: Comparison) -> Iterator[_Group]:
    terms = {term.name: term for term in comparison.waterfall}
    idle = [name for name in TERMS if name == PREPARING or name.startswith("idle.")]
    communication = [name for name in TERMS if name.startswith("communication.")]
    for name, own, story in (
        (_IDLE, idle, _idle_story),
        (_COMPUTING, [AICORE, AICPU], _computing_story),
        (_COMMUNICATION, communication, _communication_story),
        (_COPIES, [COPY], _no_story),
    ):
        total = _total(name, own, comparison)
        launched = tuple(each for each in comparison.classes if _serves(each.name) == name)
        witnesses = (*(terms[term] for term in own), *launched)
        yield _Group(name, total, witnesses, story(comparison, total))


def _serves(kind: str) -> str:
    """The group that the device time of a class is of; "" of a part of another class."""
    if is_part(kind):
        return ""
    return {COMMUNICATION: _COMMUNICATION, COPY_CLASS: _COPIES}.get(kind, _COMPUTING)


def _total(name: str, own: list[str], comparison: Comparison) -> Row:
    """The row of some terms together, step by step."""
    places = [TERMS.index(term) for term in own]

    def summed(run: Run) -> Sum:
        ns: Int64s = run.terms_ns[:, places].sum(axis=1)
        return sum_of_steps(ns, run)

    return row(name, summed(comparison.base), summed(comparison.other), comparison.step.scale)


def _reason(group: _Group) -> str:
    """ "38.3 ms less idle, data loader (host.dataloader) at train.py(31)" """
    return f"{_amount(group)}{group.story}"


def _amount(group: _Group) -> str:
    delta = group.sum.delta_ns
    return f"{_ns(abs(delta))} {'more' if delta > 0 else 'less'} {group.name}"


def _idle_story(comparison: Comparison, total: Row) -> str:
    most = _most(comparison.causes, total)
    story = _free_in_all(comparison, total)
    if most is None:
        return story
    cause = next(cause for cause in Cause if cause.label == most.name)
    part = abs(most.delta_ns)
    amount = f"{_ns(part)} of it " if part * _MOST_OF_IT < abs(total.delta_ns) else ""
    story += f", {amount}{cause.facts.name} ({cause.label})"
    line, delta = comparison.cause_lines.get(cause, (None, Fraction(0)))
    if line is None or line.frame is None or (delta > 0) != (total.delta_ns > 0):
        return story
    where = line.frame
    place = f"{PurePosixPath(where.file).name}({where.line})" if where.file else where.function
    return f"{story} at {printable(place, LONGEST_NAME)}"


def _free_in_all(comparison: Comparison, total: Row) -> str:
    """The change of the producer's free time in all steps, where these are as many."""
    base, other = comparison.base, comparison.other
    if base.totals is None or other.totals is None or not len(base.numbers) == len(other.numbers) > 1:
        return ""
    delta = other.totals.free_ns - base.totals.free_ns
    if not delta or (delta > 0) != (total.delta_ns > 0):
        return ""
    more = "more" if delta > 0 else "less"
    return f" (free {format_duration(abs(delta))} {more} in all {len(base.numbers)} steps)"


def _computing_story(comparison: Comparison, total: Row) -> str:
    kind = _most((each for each in comparison.classes if not is_part(each.name)), total)
    operator = _most(comparison.operators, total)
    told = [printable(each.name, LONGEST_NAME) for each in (kind, operator) if each is not None]
    return f", {' in '.join(told)}" if told else ""


def _communication_story(comparison: Comparison, total: Row) -> str:
    parts = (term for term in comparison.waterfall if term.name.startswith("communication."))
    part = _most(parts, total)
    collective = _most((each for each in comparison.communication if not each.name.endswith(")")), total)
    told = "" if part is None else f", {part.name.partition('.')[2]}"
    return told if collective is None else f"{told} of {printable(collective.name, LONGEST_NAME)}"


def _no_story(_comparison: Comparison, _total: Row) -> str:
    return ""


def _most(rows: Iterable[Row], total: Row) -> Row | None:
    """The row that changed most, of those that changed as the total did."""
    agreeing = [each for each in rows if each.delta_ns and _agree(each, total)]
    return max(agreeing, key=lambda each: abs(each.delta_ns), default=None)


def _agree(one: Row, other: Row) -> bool:
    return one.delta_ns * other.delta_ns > 0


def _difference(step: Row) -> str:
    """ "36.5 ms (20.6 %) a step faster" """
    delta = step.delta_ns
    share = format_percent(round(abs(delta)), round(step.base_ns))
    return f"{_ns(abs(delta))} ({share}) a step {'slower' if delta > 0 else 'faster'}"


def _within(comparison: Comparison) -> str:
    """Said where steps differ by more than their means do."""
    if comparison.step.changed is not False or not comparison.knows_spread:
        return ""
    return f", less than its steps differ among themselves ({_ns(_spread(comparison.step))})"


def _spread(step: Row) -> int:
    return max(step.base.highest - step.base.lowest, step.other.highest - step.other.lowest)


def _ns(ns: Fraction | int) -> str:
    return format_duration(round(ns))
