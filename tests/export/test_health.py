"""What is said of recordings by their findings, by definition: verdicts, windows, lists of recordings."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.health.finding import NUMBERS, Finding, Health, Severity
from tracetui.export.sentences.health import headline, step_words, windows_sentence
from tracetui.export.trace.health import (
    LONGEST_LINE,
    RecordingRow,
    health_markdown,
    health_text,
    recording_row,
    recordings_document,
    recordings_markdown,
    recordings_text,
    trust_document,
    verdict_line,
)
from tracetui.trace.model import Layer

MS = 1_000_000
ORIGIN_NS = 7 * MS


def finding(identifier: str, severity: Severity, *affects: str, **facts: Any) -> Finding:
    return Finding(
        identifier, severity, affects, "{count} tasks are lost", "record less", {"count": "3"}, **facts
    )


LOST = finding("device.lost", Severity.WRONG, "idle", "causes", steps=(1,), windows=((8 * MS, 9 * MS),))
ORDER = finding("host.order", Severity.DOUBTFUL, "lines")
STACKS = finding("stacks.absent", Severity.NOTE, "lines", "operators")


def analysis_with(*findings: Finding) -> Any:
    steps = tuple(SimpleNamespace(number=number) for number in (50, 51))
    tracks = [SimpleNamespace(device="NPU", layer=Layer.DEVICE)]
    trace = SimpleNamespace(start_ns=ORIGIN_NS, path="runs/run\n1.json", tracks=tracks)
    return SimpleNamespace(health=Health(findings), steps=steps, trace=trace)


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        ((), "This recording can be believed."),
        ((STACKS,), "This recording can be believed; 1 note."),
        ((STACKS, STACKS), "This recording can be believed; 2 notes."),
        ((ORDER, STACKS), "Not all of this recording can be believed. doubtful: lines."),
        (
            (LOST, ORDER),
            "Not all of this recording can be believed. wrong: idle time, causes; doubtful: lines.",
        ),
    ],
)
def test_the_verdict_names_the_numbers_that_it_is_about(findings: tuple[Finding, ...], line: str) -> None:
    assert verdict_line(analysis_with(*findings)) == line


def test_nothing_is_judged_of_a_trace_of_an_unknown_producer() -> None:
    line = "Nothing of this recording is judged: no device and no framework is recognised."
    for category, is_judged in ((None, False), ("cpu_op", True)):
        events = [*process(1, "/device:GPU:0/stream:all Compute"), piece(1, 1, "MatMul", 0, 5, category)]
        analysis = analyse(trace_of(events))
        assert (verdict_line(analysis) == line) is not is_judged
        assert (recording_row(analysis, "a.json").finding == line) is not is_judged


def test_a_text_has_a_paragraph_for_each_finding() -> None:
    assert health_text(analysis_with(LOST, STACKS), 300).splitlines() == [
        "runs/run 1.json",
        "Not all of this recording can be believed. wrong: idle time, causes.",
        "",
        "wrong  device.lost  idle time, causes  step 51",
        "  3 tasks are lost.",
        "  Where: 0.001000 s to 0.002000 s",
        "  → record less",
        "",
        "note  stacks.absent  lines, operators",
        "  3 tasks are lost.",
        "  → record less",
    ]


def test_a_text_fits_its_width_and_keeps_the_end_of_the_path() -> None:
    long = Finding("device.lost", Severity.WRONG, ("idle",), "lost", "less " * 30)
    lines = health_text(analysis_with(long), 14).splitlines()
    assert lines[0] == "…ns/run 1.json"
    assert lines[5].startswith("  → less") and {line[:5] for line in lines[6:]} == {"    l"}


def test_no_line_of_a_text_is_longer_than_it_may_be() -> None:
    long = Finding("device.lost", Severity.WRONG, ("idle",), "lost " * 60, "less " * 60)
    for width in (40, LONGEST_LINE, 300):
        lengths = [len(line) for line in health_text(analysis_with(long), width).splitlines()[3:]]
        assert min(width, LONGEST_LINE) - 8 < max(lengths) <= min(width, LONGEST_LINE)


def test_markdown_has_a_table_only_where_there_are_findings() -> None:
    assert health_markdown(analysis_with()) == "This recording can be believed.\n"
    text = health_markdown(analysis_with(ORDER))
    assert text.startswith("Not all of this recording can be believed. doubtful: lines.\n\n|")
    assert text.endswith("|\n") and "host.order" in text


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, ""), (4, "; 1 more"), (5, "; 2 more")])
def test_three_windows_are_named_from_the_start_of_the_trace(count: int, more: str) -> None:
    windows = tuple(
        (ORIGIN_NS + 2 * number * MS, ORIGIN_NS + (2 * number + 1) * MS) for number in range(count)
    )
    named = [f"0.00{2 * place}000 s to 0.00{2 * place + 1}000 s" for place in range(min(count, 3))]
    found = windows_sentence(finding("device.lost", Severity.WRONG, windows=windows), ORIGIN_NS)
    assert found == f"Where: {'; '.join(named)}{more}"
    assert windows_sentence(ORDER, ORIGIN_NS) == ""


def test_other_documents_name_the_findings_that_affect_their_numbers() -> None:
    found = trust_document(analysis_with(LOST, ORDER, STACKS, STACKS), ("lines", "memory"))
    assert found == {
        "trust": {"lines": "doubtful", "memory": "good"},
        "findings": ["host.order", "stacks.absent"],
    }
    assert [*trust_document(analysis_with())["trust"]] == [*NUMBERS]


ROWS = [
    RecordingRow("a/b*.json", "wrong", "Idle time is overstated: 3 tasks are lost (step 51)"),
    RecordingRow("c.json", "good", ""),
]


def test_a_row_is_the_verdict_and_the_worst_finding() -> None:
    assert recording_row(analysis_with(LOST), ROWS[0].name) == ROWS[0]
    assert recording_row(analysis_with(STACKS), "c.json") == ROWS[1]


def test_recordings_of_a_directory_are_listed_with_their_worst_findings() -> None:
    assert recordings_text("runs\n", ROWS, 200).splitlines() == [
        "runs ",
        "2 recordings, each judged on its own: 1 in doubt. Name one to see all that is found.",
        "",
        "wrong  a/b*.json",
        "         Idle time is overstated: 3 tasks are lost (step 51)",
        "good   c.json",
    ]
    assert recordings_text("runs", ROWS[1:], 200).splitlines()[1:] == [
        "1 recording, each judged on its own: none is in doubt.",
        "",
        "good  c.json",
    ]
    long = [ROWS[0]._replace(name="n" * 300, finding="lost " * 60)]
    for width in (60, 300):
        lines = recordings_text("p" * 300, long, width).splitlines()
        assert len(lines[0]) == len(lines[3]) == width and lines[0].endswith("p"), "the end of a path is told"
        found = [len(line) for line in lines[4:]]
        assert min(width, LONGEST_LINE) - 5 <= max(found) <= min(width, LONGEST_LINE)
        assert {line[:9] for line in lines[4:]} == {" " * 9}


def test_markdown_lists_recordings_so_that_names_stay_names() -> None:
    assert recordings_markdown(ROWS).splitlines() == [
        "2 recordings, each judged on its own: 1 in doubt. Name one to see all that is found.",
        "",
        "- a/b\\*.json: wrong: Idle time is overstated: 3 tasks are lost (step 51)",
        "- c.json: good",
    ]


def test_the_document_of_a_directory_has_one_schema() -> None:
    found = recordings_document([("a.json", {"schema": 1, "verdict": "good", "findings": []})])
    assert [*found] == ["schema", "recordings"]
    assert found["recordings"] == [{"path": "a.json", "verdict": "good", "findings": []}]


def doubtful(identifier: str, *affects: str) -> Finding:
    return finding(identifier, Severity.DOUBTFUL, *affects)


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        ((), ""),
        ((STACKS,), ""),
        ((LOST,), "Idle time is overstated: 3 tasks are lost (step 51)"),
        ((doubtful("graph.gap", "idle"),), "Idle time may be overstated: 3 tasks are lost"),
        (
            (replace(doubtful("device.dropped", "idle"), is_chosen=True),),
            "Not certain (idle time): 3 tasks are lost",
        ),
        (
            (finding("device.head_lost", Severity.WRONG, "idle", "steps"),),
            "Idle time and steps are wrong: 3 tasks are lost",
        ),
        ((doubtful("device.order", "lines"),), "Not certain (lines): 3 tasks are lost"),
        ((doubtful("host.order", "idle"),), "Not certain (idle time): 3 tasks are lost"),
        ((ORDER, LOST), "Not certain (lines): 3 tasks are lost; 1 finding more"),
        ((ORDER, LOST, LOST, STACKS), "Not certain (lines): 3 tasks are lost; 2 findings more"),
    ],
)
def test_the_headline_is_the_worst_finding_and_counts_the_others(
    findings: tuple[Finding, ...], line: str
) -> None:
    analysis = analysis_with(*findings)
    assert headline(analysis.health, analysis.steps) == line


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((), ""),
        ((7, 7), "step 7"),
        ((9, 7), "steps 7, 9"),
        ((1, 2, 3, 4, 5), "steps 1, 2, 3, 4, 5"),
        ((1, 2, 3, 4, 5, 6), "steps 1, 2, 3, 4, 5, …"),
    ],
)
def test_five_steps_are_named(steps: tuple[int, ...], words: str) -> None:
    assert step_words(steps) == words
