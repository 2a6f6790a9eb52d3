"""A comparison in one sentence: how much slower or faster a step is, and what most of that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.changes import (
    ChangeGroup,
    GroupChange,
    change_of_step,
    changed_roots,
    free_change,
    largest_cause,
    largest_communication,
    largest_computing,
    moved_roots,
)
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.job_part import ComparedRoot
from tracetui.export.sentences.comparison import vendor_name, whole_collective_name
from tracetui.export.sentences.health import number_names
from tracetui.export.sentences.roots import compared_root_words
from tracetui.export.text import capitalise
from tracetui.language import clauses, names, semicolon_list, sentences, speaks_english, translate, wording
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_percent

LONGEST_NAME = 60  #: characters
_LONGEST_ROOT = 120
_MOST_REASONS = 2
_CHANGES = {  #: what is said of more of a group, and of less
    ChangeGroup.IDLE: ("{time} more idle", "{time} less idle"),
    ChangeGroup.COMPUTING: ("{time} more computing", "{time} less computing"),
    ChangeGroup.COMMUNICATION: ("{time} more exposed communication", "{time} less exposed communication"),
    ChangeGroup.COPIES: ("{time} more exposed copies", "{time} less exposed copies"),
}


def verdict(comparison: Comparison) -> str:
    """Return one true sentence, safe to print; of jobs a second one, on what ranks lose by waiting."""
    parts = (
        _whole_sentence(comparison),
        _step_sentence(comparison),
        _outlier_sentence(comparison),
        _waits_sentence(comparison),
        _doubt_sentence(comparison),
    )
    return sentences(filter(None, parts))


def _whole_sentence(comparison: Comparison) -> str:
    """Return which side has no steps and is compared as a whole with steps of the other; "" where none is."""
    sides = ("BASE", comparison.base, comparison.other), ("OTHER", comparison.other, comparison.base)
    for name, run, beside in sides:
        if beside.numbers and not run.numbers and len(run.wall_ns):
            return translate("All {time} of {run} count as one step.", time=_ns(run.step_ns), run=name)
    return ""


def _doubt_sentence(comparison: Comparison) -> str:
    """Return which side cannot be believed, and so which changes are not certain; "" where both can."""
    numbers = [number for number, worth in comparison.trust.items() if worth != "good"]
    if not numbers:
        return ""
    sides = [name for name, run in comparison.sides if run.health.doubts]
    template = "{runs} cannot be believed in all: changes of {numbers} are not certain."
    return translate(template, runs=names(sides), numbers=number_names(numbers))


def _waits_sentence(comparison: Comparison) -> str:
    """Return how much more ranks of a job lose by waiting for each other, and what most of that is."""
    job = comparison.job
    if job is None or not comparison.comparable or not (job.waits.base.ns or job.waits.other.ns):
        return ""
    delta = job.waits.delta_ns
    costs = _ns(job.waits.other_ns)
    if abs(delta) * 100 <= job.waits.scale.step_ns or job.waits.changed is False:
        template = "Waiting for each other costs the ranks {time} a step in all, as in BASE."
        if delta:
            template = "Waiting for each other costs the ranks {time} a step in all, and {base} in BASE."
        words = {}
        if moved := moved_roots(job):
            template = (
                "Waiting for each other costs the ranks {time} a step in all, and {base} in BASE, but for "
                "another reason: {more} instead of {less}."
            )
            words = dict(zip(("more", "less"), map(_root_words, moved)))
        return translate(template, time=costs, base=_ns(job.waits.base_ns), **words)
    template = "Waiting for each other costs the ranks {time} a step in all, {change} less than in BASE"
    if delta > 0:
        template = "Waiting for each other costs the ranks {time} a step in all, {change} more than in BASE"
    sentence = translate(template, time=costs, change=_ns(abs(delta)))
    roots = changed_roots(job)
    if not roots:
        return translate("{said}.", said=sentence)
    reasons = map(_root_words, roots[:_MOST_REASONS])
    return translate("{said}: {reasons}.", said=sentence, reasons=semicolon_list(reasons))


def _root_words(row: ComparedRoot) -> str:
    return printable(compared_root_words(row), _LONGEST_ROOT)


def _step_sentence(comparison: Comparison) -> str:
    step = comparison.step
    for name, run in comparison.sides:
        if not len(run.wall_ns):
            return translate("{run} has no work of a device to compare.", run=name)
    shift = step.test.shift_ns if step.test is not None and step.test.is_change else Fraction(0)
    if not (shift or step.delta_ns or any(term.delta_ns for term in comparison.waterfall)):
        return translate("Nothing changed: a step takes {time} in both.", time=_ns(step.base_ns))
    change = change_of_step(comparison)
    doubt = "" if comparison.knows_spread else translate("; so few steps cannot tell whether that is chance")
    took = translate(
        "a step takes {base} in BASE and {other} in OTHER", base=_ns(step.base_ns), other=_ns(step.other_ns)
    )
    if change.hidden:
        reasons = _reasons(comparison, change.changed, with_steps=True) + doubt
        return capitalise(translate("{took}, but {reasons}.", took=took, reasons=reasons))
    difference = clauses([_difference(step), *_steps_words(step)])
    if change.agreeing:
        reasons = _reasons(comparison, change.agreeing, change.opposing[:1]) + doubt
        return translate("OTHER is {difference}: {reasons}.", difference=difference, reasons=reasons)
    if shift and shift * step.delta_ns <= 0:
        template = "{took}, but most steps are {time} faster: a few make the mean."
        if shift > 0:
            template = "{took}, but most steps are {time} slower: a few make the mean."
        return capitalise(translate(template, took=took, time=_ns(abs(shift))))
    if step.changed:
        template = "OTHER is {difference}, and no part of it alone by more than chance."
        return translate(template, difference=difference + doubt)
    if not comparison.knows_spread:
        if any(abs(row.delta_ns) * 100 > row.scale.step_ns for row in (step, *comparison.waterfall)):
            return capitalise(translate("{said}.", said=took + doubt))
        return translate("Nothing changed by more than 1 % of a step: {took}.", took=took + doubt)
    if comparison.job is not None and moved_roots(comparison.job):
        return capitalise(translate("{said}.", said=took))
    return translate("Nothing changed by more than chance and 1 % of a step: {took}.", took=took)


def _outlier_sentence(comparison: Comparison) -> str:
    """Return how outliers differ where the other steps do not; "" where they are alike, or not known."""
    base, other = (run.walls.outlier_ns for run in (comparison.base, comparison.other))
    step = comparison.step
    if step.changed or not base or not other or abs(other - base) * 100 <= step.scale.step_ns:
        return ""
    template = "Outlier steps, which are left out, take {base} in BASE and {other} in OTHER."
    return translate(template, base=_ns(base), other=_ns(other))


def _reasons(
    comparison: Comparison,
    changes: Sequence[GroupChange],
    opposing: Iterable[GroupChange] = (),
    with_steps: bool = False,
) -> str:
    """Return "38.3 ms less idle, sync (host.sync) at train.py(31); ..., against 2.1 ms more computing".

    With `with_steps`: "6.8 ms more computing in 6 of 6 steps, Matmul in aten::mm; ...".
    """
    reasons = []
    for change in changes[:_MOST_REASONS]:
        amount = _amount(change)
        for count in _steps_words(change.sum) if with_steps else ():
            amount = translate("{change} {steps}", change=amount, steps=count)
        reasons.append(amount + _story(comparison, change))
    against = (translate(", against {change}", change=_amount(change)) for change in opposing)
    return semicolon_list(reasons) + "".join(against)


def _amount(change: GroupChange) -> str:
    template = _CHANGES[change.group][change.sum.delta_ns <= 0]
    return translate(template, time=_ns(abs(change.sum.delta_ns)))


def _story(comparison: Comparison, change: GroupChange) -> str:
    """Return what most of a change is, such as ", Matmul in aten::mm"; "" where nothing tells."""
    if change.group is ChangeGroup.IDLE:
        return _idle_story(comparison, change.sum) + _opposing_cause(comparison, change.sum)
    if change.group is ChangeGroup.COMPUTING:
        return _computing_story(comparison, change.sum)
    return _communication_story(comparison, change.sum) if change.group is ChangeGroup.COMMUNICATION else ""


def _idle_story(comparison: Comparison, total: ComparedRow) -> str:
    story = _free_in_all(comparison, total)
    largest = largest_cause(comparison, total)
    if largest is None:
        return story
    cause, time, total_ns = largest.cause, _ns(largest.ns), abs(total.delta_ns)
    template = ", {time} of it {cause} ({label})"
    if largest.ns > total_ns:  # others changed the other way
        template = ", {cause} ({label}) alone {time}"
    if time == _ns(total_ns):
        template = ", {cause} ({label})"
    story += translate(template, time=time, cause=_cause_name(cause), label=cause.label)
    if largest.line is None:
        return story
    file, line, function = largest.line
    place = printable(f"{PurePosixPath(file).name}({line})" if file else function, LONGEST_NAME)
    if largest.line_ns is None:
        return translate("{story} at {line}", story=story, line=place)
    template = "{story}, {time} of that at {line}"
    if largest.line_ns > largest.ns:  # others changed the other way
        template = "{story}, {line} alone {time}"
    return translate(template, story=story, time=_ns(largest.line_ns), line=place)


def _opposing_cause(comparison: Comparison, total: ComparedRow) -> str:
    """Return the cause that changed the other way by more than half of the total; "" of none."""
    opposing = (row for row in comparison.causes if row.delta_ns * total.delta_ns < 0)
    row = max(opposing, key=lambda row: abs(row.delta_ns), default=None)
    if row is None or 2 * abs(row.delta_ns) <= abs(total.delta_ns):
        return ""
    template = ", but {time} more of {cause} ({label})"
    if row.delta_ns < 0:
        template = ", but {time} less of {cause} ({label})"
    cause = next(cause for cause in Cause if cause.label == row.name)
    return translate(template, time=_ns(abs(row.delta_ns)), cause=_cause_name(cause), label=cause.label)


def _cause_name(cause: Cause) -> str:
    """Return the name of a cause: the catalogue has it by its label, as names of two are alike."""
    return cause.facts.name if speaks_english() else wording(cause.label)


def _free_in_all(comparison: Comparison, total: ComparedRow) -> str:
    """Return the change of the producer's free time in all steps, where it changed as idle time did."""
    delta = free_change(comparison, total)
    if not delta:
        return ""
    template = " (free {time} more in all {count} steps)"
    if delta < 0:
        template = " (free {time} less in all {count} steps)"
    return translate(template, time=format_duration(abs(delta)), count=len(comparison.base.numbers))


def _computing_story(comparison: Comparison, total: ComparedRow) -> str:
    rows = largest_computing(comparison, total)
    names = [printable(vendor_name(row), LONGEST_NAME) for row in rows if row is not None]
    if len(names) > 1:
        return translate(", {kind} in {operator}", kind=names[0], operator=names[1])
    return translate(", {what}", what=names[0]) if names else ""


def _communication_story(comparison: Comparison, total: ComparedRow) -> str:
    part, collective = largest_communication(comparison, total)
    name = None if collective is None else whole_collective_name(collective)
    if part is None:
        return "" if name is None else translate(" of {name}", name=name)
    kind = part.name.partition(".")[2]
    shown = translate(kind)
    if kind == "unsplit":
        return "" if name is None else translate(", {what}", what=name)
    if name is None:
        return translate(", {what}", what=shown)
    return translate(", {what} of {name}", what=shown, name=name)


def _difference(step: ComparedRow) -> str:
    """Return "36.5 ms (20.6 %) a step faster"."""
    delta = step.delta_ns
    share = format_percent(round(abs(delta)), round(step.base_ns))
    template = "{time} ({share}) a step slower" if delta > 0 else "{time} ({share}) a step faster"
    return translate(template, time=_ns(abs(delta)), share=share)


def _steps_words(row: ComparedRow) -> Iterator[str]:
    """Yield "in 6 of 6 steps": how many of OTHER's are slower, or faster, than BASE's median step."""
    test = row.test
    if test is not None:
        count = test.slower if row.delta_ns > 0 else test.faster
        template = "in {count} of {steps} steps"
        if row.is_sampled:
            template = "in {count} of {steps} tested steps"
        yield translate(template, count=count, steps=test.steps)


def _ns(ns: Fraction | int) -> str:
    return format_duration(round(ns))
