"""The comparison in one sentence: how much slower or faster a step is, and what most of that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import PurePosixPath

from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.classes import COMMUNICATION, is_part
from tracetui.comparison.classes import COPY as COPY_CLASS
from tracetui.comparison.comparison import Comparison, steadier_on_device, sums_of_walls
from tracetui.comparison.job_part import root_words
from tracetui.comparison.rows import ComparedRow
from tracetui.comparison.waterfall import AICORE, AICPU, COPY, IDLE_TERMS, PREPARING, PREPARING_COPY, TERMS
from tracetui.language import alternatives, clauses, sentences, speaks_english, tell, wording
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_percent

LONGEST_NAME = 60  #: characters
_LONGEST_ROOT = 120
_MOST_OF_IT = Fraction(5, 4)  # a cause with four fifths of a change stands for all of it
_MOST_REASONS = 2
_IDLE, _COMPUTING = "idle", "computing"
_COMMUNICATION, _COPIES = "exposed communication", "exposed copies"
_COVERING = (_COMPUTING, _COMMUNICATION, _COPIES, _IDLE)  #: each covers those after it
_CHANGES = {  #: by the name of a group: what is said of more of it, and of less
    _IDLE: ("{time} more idle", "{time} less idle"),
    _COMPUTING: ("{time} more computing", "{time} less computing"),
    _COMMUNICATION: ("{time} more exposed communication", "{time} less exposed communication"),
    _COPIES: ("{time} more exposed copies", "{time} less exposed copies"),
}


@dataclass(frozen=True)
class _Group:
    """Terms of the waterfall that are one thing to a reader."""

    name: str  #: after "38 ms less"
    sum: ComparedRow
    witnesses: tuple[ComparedRow, ...]  #: its terms, and device time by the steps that launched it
    story: str  #: what most of it is; "" where nothing tells

    @property
    def changed(self) -> bool | None:
        """Whether the sum, or a witness of half of it, changed; None where nothing tells."""
        if abs(self.sum.delta_ns) * 100 <= self.sum.scale.step_ns:
            return False
        most = (each for each in self.witnesses if _agree(each, self.sum))
        most = (each for each in most if 2 * abs(each.delta_ns) >= abs(self.sum.delta_ns))
        told = [self.sum.changed, *(each.changed for each in most)]
        return True if True in told else None if None in told else False


def verdict(comparison: Comparison) -> str:
    """One true sentence, safe to print; of jobs a second one, on what ranks lose by waiting."""
    return sentences(filter(None, (_step_sentence(comparison), _waits_sentence(comparison))))


def _waits_sentence(comparison: Comparison) -> str:
    """How much more ranks of a job lose by waiting for each other, and what most of that is."""
    job = comparison.job
    if job is None or not comparison.comparable or not (job.waits.base.ns or job.waits.other.ns):
        return ""
    delta = job.waits.delta_ns
    costs = _ns(job.waits.other_ns)
    if abs(delta) * 100 <= job.waits.scale.step_ns:
        told = "Waiting for each other costs the ranks {time} a step in all, as in BASE."
        if delta:
            told = "Waiting for each other costs the ranks {time} a step in all, and {base} in BASE."
        return tell(told, time=costs, base=_ns(job.waits.base_ns))
    told = "Waiting for each other costs the ranks {time} a step in all, {change} less than in BASE"
    if delta > 0:
        told = "Waiting for each other costs the ranks {time} a step in all, {change} more than in BASE"
    told = tell(told, time=costs, change=_ns(abs(delta)))
    most = [row for row in job.roots if row.delta_ns * delta > 0 and abs(row.delta_ns) * 10 > abs(delta)]
    named = (printable(root_words(row), _LONGEST_ROOT) for row in most[:_MOST_REASONS])
    if not most:
        return tell("{said}.", said=told)
    return tell("{said}: {reasons}.", said=told, reasons=alternatives(named))


def _step_sentence(comparison: Comparison) -> str:
    step = comparison.step
    for name, run in (("BASE", comparison.base), ("OTHER", comparison.other)):
        if not len(run.wall_ns):
            return tell("{run} has no work of a device to compare.", run=name)
    if not step.delta_ns and not any(term.delta_ns for term in comparison.waterfall):
        return tell("Nothing changed: a step takes {time} in both.", time=_ns(step.base_ns))
    groups = sorted(_groups(comparison), key=lambda group: -abs(group.sum.delta_ns))
    changed = [group for group in groups if group.changed]
    agreeing = [group for group in changed if _agree(group.sum, step)]
    doubt = "" if comparison.knows_spread else tell("; so few steps cannot tell whether that is chance")
    took = tell(
        "a step takes {base} in BASE and {other} in OTHER", base=_ns(step.base_ns), other=_ns(step.other_ns)
    )
    if changed and (not agreeing or _hides(step, changed)):
        # Where the step hardly moved, what is exposed only makes room for what covers it, idle time for all.
        changed.sort(key=lambda group: _COVERING.index(group.name))
        told = tell("{took}, but {reasons}.", took=took, reasons=_reasons(changed, step_counts=True) + doubt)
        return f"{told[0].upper()}{told[1:]}"
    difference = clauses([_difference(step), *_steps_words(step)])
    if agreeing:
        against = (group for group in changed if not _agree(group.sum, step))
        reasons = _reasons(agreeing, islice(against, 1)) + doubt
        return tell("OTHER is {difference}: {reasons}.", difference=difference, reasons=reasons)
    if step.changed:
        told = "OTHER is {difference}, and no part of it alone by more than chance."
        return tell(told, difference=difference + doubt)
    if not comparison.knows_spread:
        return tell("Nothing changed by more than 1 % of a step: {took}.", took=took + doubt)
    return tell("Nothing changed by more than chance and 1 % of a step: {took}.", took=took)


def _hides(step: ComparedRow, changed: Sequence[_Group]) -> bool:
    """Whether the step hardly moved: it did not change, or by less than half of work that did otherwise."""
    against = [group for group in changed if group.name != _IDLE and not _agree(group.sum, step)]
    most = max((abs(group.sum.delta_ns) for group in against), default=Fraction(0))
    return 100 * abs(step.delta_ns) <= step.scale.step_ns or 2 * abs(step.delta_ns) < most


def _groups(comparison: Comparison) -> Iterator[_Group]:
    terms = {term.name: term for term in comparison.waterfall}
    communication = [name for name in TERMS if name.startswith("communication.")]
    base, other = comparison.base, comparison.other
    lagging = steadier_on_device(base, other)
    for name, own, story in (
        (_IDLE, [*IDLE_TERMS], _idle_story),
        (_COMPUTING, [AICORE, AICPU], _computing_story),
        (_COMMUNICATION, communication, _communication_story),
        (_COPIES, [COPY, PREPARING_COPY], _no_story),
    ):
        total = sums_of_walls(base, other, name, own, lagging if name == _IDLE else True)
        launched = tuple(each for each in comparison.classes if _serves(each.name) == name)
        witnesses = (*(terms[term] for term in (*own, PREPARING) if term in terms), *launched)
        yield _Group(name, total, witnesses, story(comparison, total))


def _serves(kind: str) -> str:
    """The group that the device time of a class is of; "" of a part of another class."""
    if is_part(kind):
        return ""
    return {COMMUNICATION: _COMMUNICATION, COPY_CLASS: _COPIES}.get(kind, _COMPUTING)


def _reasons(groups: Sequence[_Group], against: Iterable[_Group] = (), step_counts: bool = False) -> str:
    """ "38.3 ms less idle, sync (host.sync) at train.py(31); ..., against 2.1 ms more computing"

    With `step_counts`: "6.8 ms more computing in 6 of 6 steps, Matmul in aten::mm; ..."
    """
    told = []
    for group in groups[:_MOST_REASONS]:
        amount = _amount(group)
        for count in _steps_words(group.sum) if step_counts else ():
            amount = tell("{change} {steps}", change=amount, steps=count)
        told.append(amount + group.story)
    said = alternatives(told)
    return said + "".join(tell(", against {change}", change=_amount(group)) for group in against)


def _amount(group: _Group) -> str:
    change = _CHANGES[group.name][group.sum.delta_ns <= 0]
    return tell(change, time=_ns(abs(group.sum.delta_ns)))


def _idle_story(comparison: Comparison, total: ComparedRow) -> str:
    most = _most(comparison.causes, total)
    story = _free_in_all(comparison, total)
    if most is None:
        return story
    cause = next(cause for cause in Cause if cause.label == most.name)
    part = abs(most.delta_ns)
    told = ", {cause} ({label})"
    if part * _MOST_OF_IT < abs(total.delta_ns):
        told = ", {time} of it {cause} ({label})"
    story += tell(told, time=_ns(part), cause=_called(cause), label=cause.label)
    line, delta = comparison.cause_lines.get(cause, (None, Fraction(0)))
    if line is None or line.frame is None or (delta > 0) != (total.delta_ns > 0):
        return story
    where = line.frame
    place = f"{PurePosixPath(where.file).name}({where.line})" if where.file else where.function
    return tell("{story} at {line}", story=story, line=printable(place, LONGEST_NAME))


def _called(cause: Cause) -> str:
    """The name of a cause: tables of words have it by its label, as names of two are alike."""
    return cause.facts.name if speaks_english() else wording(cause.label)


def _free_in_all(comparison: Comparison, total: ComparedRow) -> str:
    """The change of the producer's free time in all steps, where these are as many."""
    base, other = comparison.base, comparison.other
    if base.totals is None or other.totals is None or not len(base.numbers) == len(other.numbers) > 1:
        return ""
    delta = other.totals.free_ns - base.totals.free_ns
    if not delta or (delta > 0) != (total.delta_ns > 0):
        return ""
    told = " (free {time} more in all {count} steps)"
    if delta < 0:
        told = " (free {time} less in all {count} steps)"
    return tell(told, time=format_duration(abs(delta)), count=len(base.numbers))


def _computing_story(comparison: Comparison, total: ComparedRow) -> str:
    kind = _most((each for each in comparison.classes if _serves(each.name) == _COMPUTING), total)
    operator = _most(comparison.computing, total)
    told = [printable(each.name, LONGEST_NAME) for each in (kind, operator) if each is not None]
    if len(told) > 1:
        return tell(", {kind} in {operator}", kind=told[0], operator=told[1])
    return tell(", {what}", what=told[0]) if told else ""


def _communication_story(comparison: Comparison, total: ComparedRow) -> str:
    parts = (term for term in comparison.waterfall if term.name.startswith("communication."))
    part = _most(parts, total)
    collective = _most((each for each in comparison.communication if not each.name.endswith(")")), total)
    if part is None:
        return "" if collective is None else tell(" of {name}", name=printable(collective.name, LONGEST_NAME))
    kind = part.name.partition(".")[2]
    if kind == "unsplit":
        return "" if collective is None else tell(", {what}", what=printable(collective.name, LONGEST_NAME))
    if collective is None:
        return tell(", {what}", what=kind)
    return tell(", {what} of {name}", what=kind, name=printable(collective.name, LONGEST_NAME))


def _no_story(_comparison: Comparison, _total: ComparedRow) -> str:
    return ""


def _most(rows: Iterable[ComparedRow], total: ComparedRow) -> ComparedRow | None:
    """The row that changed most, of those that changed as the total did."""
    agreeing = [each for each in rows if each.delta_ns and _agree(each, total)]
    return max(agreeing, key=lambda each: abs(each.delta_ns), default=None)


def _agree(one: ComparedRow, other: ComparedRow) -> bool:
    return one.delta_ns * other.delta_ns > 0


def _difference(step: ComparedRow) -> str:
    """ "36.5 ms (20.6 %) a step faster" """
    delta = step.delta_ns
    share = format_percent(round(abs(delta)), round(step.base_ns))
    told = "{time} ({share}) a step slower" if delta > 0 else "{time} ({share}) a step faster"
    return tell(told, time=_ns(abs(delta)), share=share)


def _steps_words(row: ComparedRow) -> Iterator[str]:
    """ "in 6 of 6 steps": how many of OTHER's are slower, or faster, than the median step of BASE."""
    test = row.test
    if test is not None:
        count = test.slower if row.delta_ns > 0 else test.faster
        yield tell("in {count} of {steps} steps", count=count, steps=test.steps)


def _ns(ns: Fraction | int) -> str:
    return format_duration(round(ns))
