"""The causes found in generated traces are those that the simulation planted, by time."""

from __future__ import annotations

from typing import NamedTuple, Optional

import pytest

from tests.simulator import traces
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.trace.stack import parse_call_stack

Line = tuple[Optional[str], Optional[int]]


class Part(NamedTuple):
    """A stretch of idle time and what is said of it."""

    start: int
    end: int
    cause: str
    line: Line
    operator: str | None


@pytest.mark.parametrize(
    ("level", "task_queue", "least"), [(2, True, 0.97), (2, False, 0.97), (1, True, 0.97), (0, False, 0.90)]
)
@pytest.mark.parametrize("scenario", ["attached", "balanced", "mixed", "moba", "stalls"])
def test_causes_and_lines_agree_with_what_was_planted(
    scenario: str, level: int, task_queue: bool, least: float
) -> None:
    truth = traces.truth(scenario, level, task_queue=task_queue)
    analysis = traces.analysed(scenario, level, task_queue=task_queue)
    assert analysis.idle_ns == truth["idle_ns"]
    planted = sorted(
        Part(
            piece["start_ns"],
            piece["start_ns"] + piece["dur_ns"],
            piece["cause"],
            (piece["file"], piece["line"]),
            piece["op"],
        )
        for interval in truth["idle"]
        for piece in interval["pieces"]
    )
    agreed = agreement(planted, sorted(found(analysis)))
    assert agreed["cause"] >= least * analysis.idle_ns
    assert agreed["line"] >= least * analysis.idle_ns
    assert agreed["operator"] >= least * analysis.idle_ns


def test_what_a_synchronisation_exposes_was_planted() -> None:
    truth, analysis = traces.truth("mixed"), traces.analysed("mixed")
    exposed_lines = [line_of(analysis, int(stack)) for stack in analysis.causes.sync_stack]
    exposing = [None if file is None else f"{file}({line})" for file, line in exposed_lines]
    planted = [interval["exposed_by"] for interval in truth["idle"]]
    assert any(planted)
    assert [line for line, known in zip(exposing, planted) if known] == [line for line in planted if line]


def found(analysis: Analysis) -> list[Part]:
    """The pieces of the analysis."""
    causes = analysis.causes
    parts = []
    for index in range(len(causes)):
        row = int(causes.operator[index])
        parts.append(
            Part(
                int(causes.start[index]),
                int(causes.end[index]),
                Cause(int(causes.cause[index])).label,
                line_of(analysis, int(causes.stack[index])),
                None if row < 0 else analysis.trace.name(row),
            )
        )
    return parts


def line_of(analysis: Analysis, stack: int) -> Line:
    """The line that a call stack is charged to."""
    text = analysis.trace.string(stack)
    frame = None if text is None else analysis.rules.line_of(parse_call_stack(text))
    return (None, None) if frame is None else (frame.file, frame.line)


def agreement(planted: list[Part], ours: list[Part]) -> dict[str, int]:
    """ns for which the cause is the planted one; the cause and the line; all three with the operator."""
    agreed = {"cause": 0, "line": 0, "operator": 0}
    left, right = 0, 0
    while left < len(planted) and right < len(ours):
        one, other = planted[left], ours[right]
        ns = max(0, min(one.end, other.end) - max(one.start, other.start))
        if one.cause == other.cause:
            agreed["cause"] += ns
            if one.line == other.line:
                agreed["line"] += ns
                agreed["operator"] += ns if one.operator == other.operator else 0
        if one.end <= other.end:
            left += 1
        else:
            right += 1
    return agreed
