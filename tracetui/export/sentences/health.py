"""Findings about a recording in the language that was chosen, and the marks of numbers that they affect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from tracetui.analysis.health.finding import NUMBERS, Finding, Health, Severity
from tracetui.language import counted, names, semicolon_list, translate, wording
from tracetui.units import format_count, format_time

if TYPE_CHECKING:
    from tracetui.analysis.steps import Step

#: What stands beside a number that is not good.
MARKS = {Severity.NOTE: "", Severity.DOUBTFUL: " (?)", Severity.WRONG: " (!)"}
_NUMBERS = {
    "steps": "steps",
    "idle": "idle time",
    "causes": "causes",
    "lines": "lines",
    "communication": "communication",
    "operators": "operators",
    "memory": "memory",
    "ranks": "ranks",
}
_VERDICTS = {"good": "good", "doubtful": "doubtful", "wrong": "wrong", "note": "note"}
_MOST_STEPS, _MOST_WINDOWS = 5, 3


def number_names(numbers: Iterable[str]) -> str:
    """Return what numbers are called: "steps, idle time"."""
    return names(translate(_NUMBERS[number]) for number in NUMBERS if number in set(numbers))


def verdict_word(verdict: str) -> str:
    """Return a verdict or a severity as people read it."""
    return wording(_VERDICTS[verdict], f"verdict.{verdict}")


def finding_sentence(finding: Finding) -> str:
    """Return what was seen, with its numbers, without full stop."""
    return translate(finding.sentence, **finding.words)


def finding_remedy(finding: Finding) -> str:
    """Return how to record it better, or how to read it."""
    return translate(finding.remedy, **finding.words)


def step_words(steps: Iterable[int]) -> str:
    """Return "step 5", "steps 5, 6", the first of many; "" of none."""
    numbers = sorted(set(steps))
    if not numbers:
        return ""
    shown = names([*map(str, numbers[:_MOST_STEPS]), *(["…"] if len(numbers) > _MOST_STEPS else [])])
    return translate("step {steps}" if len(numbers) == 1 else "steps {steps}", steps=shown)


def without_steps(answer: str, left_out: Collection[int]) -> str:
    """Return an answer that says which steps, by number, are not to be believed and not in it."""
    if not left_out:
        return answer
    return translate(
        "{answer}; without {steps}, not to be believed", answer=answer, steps=step_words(left_out)
    )


def windows_sentence(finding: Finding, origin_ns: int) -> str:
    """Return "Where: 1.2 s to 1.3 s; 4 more", counted from `origin_ns`; "" for a finding without windows."""
    windows = [
        translate("{start} to {end}", start=format_time(start - origin_ns), end=format_time(end - origin_ns))
        for start, end in finding.windows[:_MOST_WINDOWS]
    ]
    more = len(finding.windows) - _MOST_WINDOWS
    windows += [translate("{count} more", count=format_count(more))] if more > 0 else []
    return translate("Where: {windows}", windows=semicolon_list(windows)) if windows else ""


def finding_steps(finding: Finding, steps: tuple[Step, ...]) -> list[int]:
    """Return the numbers of the steps that a finding concerns, each once, in order."""
    return sorted({steps[place].number for place in finding.steps})


def headline(health: Health, steps: tuple[Step, ...]) -> str:
    """Return the worst finding in one line, and how many more there are; "" where all is good."""
    doubts = health.doubts
    if not doubts:
        return ""
    worst = doubts[0]
    numbers = number_names(worst.affects)
    is_device = worst.id.startswith(("device.", "graph."))
    if "idle" in worst.affects and is_device and not worst.is_chosen:
        template = "Idle time may be overstated: {finding}"
        if worst.id in ("device.head_lost", "device.tail_lost"):
            template = "Idle time and steps are wrong: {finding}"
        elif worst.severity is Severity.WRONG:
            template = "Idle time is overstated: {finding}"
    else:
        template = "Not certain ({numbers}): {finding}"
    where = step_words(finding_steps(worst, steps))
    finding = finding_sentence(worst)
    if where:
        finding = translate("{finding} ({steps})", finding=finding, steps=where)
    line = translate(template, numbers=numbers, finding=finding)
    if len(doubts) > 1:
        more = counted(len(doubts) - 1, "1 finding more", "{count} findings more")
        line = translate("{headline}; {more}", headline=line, more=more)
    return line


def mark(health: Health, *numbers: str) -> str:
    """Return what stands beside a number that these findings affect: "", " (?)" or " (!)"."""
    return MARKS[health.severity_of(numbers)]


def marks_legend() -> str:
    """Return what the marks mean, and where the findings are."""
    return translate("(?) may be wrong, (!) is wrong: tracetui doctor tells why")


def recordings_verdict(trust: Mapping[str, str]) -> str:
    """Return whether several recordings can be believed; `trust`: the verdict of each of `NUMBERS`."""
    parts = trust_parts(trust)
    if not parts:
        return translate("These recordings can be believed.")
    return translate("Not all of these recordings can be believed. {parts}.", parts=parts)


def trust_parts(trust: Mapping[str, str]) -> str:
    """Return "wrong: steps; doubtful: idle time, causes"; "" where all is good."""
    numbers_by_verdict = {
        verdict: [number for number, worth in trust.items() if worth == verdict]
        for verdict in ("wrong", "doubtful")
    }
    return semicolon_list(
        translate("{name}: {what}", name=verdict_word(verdict), what=number_names(numbers))
        for verdict, numbers in numbers_by_verdict.items()
        if numbers
    )


def left_out_words(numbers: Iterable[int]) -> str:
    """Return the sentence on steps that means leave out; "" where they leave out none."""
    steps = step_words(numbers)
    if not steps:
        return ""
    return translate("left out of means: {steps}, not to be believed (--all-steps takes all)", steps=steps)
