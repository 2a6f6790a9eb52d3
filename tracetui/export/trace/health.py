"""Whether a recording can be believed, as JSON, text and Markdown: what `tracetui doctor` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.finding import NUMBERS, Finding
from tracetui.export.json_document import SCHEMA
from tracetui.export.markdown import escaped
from tracetui.export.sentences.health import (
    finding_remedy,
    finding_sentence,
    finding_steps,
    headline,
    number_names,
    step_words,
    trust_parts,
    verdict_word,
    windows_sentence,
)
from tracetui.export.tables.column import records
from tracetui.export.tables.health import FINDINGS, FindingRows
from tracetui.export.tables.shown import markdown_table
from tracetui.export.text import MARGIN, capitalise, cell_width, cut, padded, wrap_sentence
from tracetui.language import counted, translate
from tracetui.trace.clean import printable
from tracetui.trace.notes import is_recognised
from tracetui.units import format_count

LONGEST_LINE = 100  #: cells of running text, however wide the terminal is


def health_document(analysis: Analysis) -> dict[str, Any]:
    """Return the verdict, that on each number, and the findings, worst first."""
    health = analysis.health
    return {
        "schema": SCHEMA,
        "verdict": health.verdict,
        "trust": health.trust,
        "findings": records(FINDINGS, FindingRows(analysis)),
    }


def trust_document(analysis: Analysis, numbers: Iterable[str] = NUMBERS) -> dict[str, Any]:
    """Return what other documents say of it: trust in their numbers, and the ids of the findings."""
    health = analysis.health
    affected = set(numbers)
    ids = dict.fromkeys(finding.id for finding in health.findings if affected & set(finding.affects))
    return {"trust": {number: health.trust[number] for number in numbers}, "findings": [*ids]}


def health_text(analysis: Analysis, width: int) -> str:
    """Return the verdict and all findings with evidence and remedy."""
    health = analysis.health
    lines = [cut(printable(analysis.trace.path), width, keep_end=True), verdict_line(analysis)]
    for finding in health.findings:
        lines += ["", *_finding(analysis, finding, width)]
    return "\n".join(lines) + "\n"


def health_markdown(analysis: Analysis) -> str:
    """Return the verdict and the table of findings."""
    lines = [escaped(verdict_line(analysis))]
    rows = FindingRows(analysis)
    if rows.rows:
        lines += ["", *markdown_table(FINDINGS, rows)]
    return "\n".join(lines) + "\n"


class RecordingRow(NamedTuple):
    """One of several recordings in a directory, and whether it can be believed."""

    name: str  #: its path in the directory; never print it unescaped
    verdict: str  #: "good", "doubtful" or "wrong"
    finding: str  #: the worst one, in the language that was chosen; "" where all is good


def recording_row(analysis: Analysis, name: str) -> RecordingRow:
    """Return what is said of an analysis among others."""
    finding = headline(analysis.health, analysis.steps)
    if not is_recognised(analysis.trace):
        finding = finding or verdict_line(analysis)
    return RecordingRow(name, analysis.health.verdict, finding)


def recordings_document(documents: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return what is said of each of several recordings, of which the path in their directory is given."""
    return {
        "schema": SCHEMA,
        "recordings": [
            {"path": name, **{key: value for key, value in document.items() if key != "schema"}}
            for name, document in documents
        ],
    }


def recordings_text(path: str, rows: Sequence[RecordingRow], width: int) -> str:
    """Return the verdict on each of several recordings in a directory, and the worst finding of each."""
    lines = [cut(printable(path), width, keep_end=True), _recordings_line(rows), ""]
    words = [verdict_word(row.verdict) for row in rows]
    room = max(map(cell_width, words))
    for row, word in zip(rows, words):
        lines.append(cut(f"{padded(word, room)}{MARGIN}{printable(row.name)}", width))
        if row.finding:
            indent = " " * room + MARGIN * 2
            lines += wrap_sentence(row.finding, min(width, LONGEST_LINE), indent, indent)
    return "\n".join(lines) + "\n"


def recordings_markdown(rows: Sequence[RecordingRow]) -> str:
    """Return the verdict on each of several recordings as a list."""
    lines = [escaped(_recordings_line(rows)), ""]
    for row in rows:
        finding = f": {escaped(row.finding)}" if row.finding else ""
        lines.append(f"- {escaped(printable(row.name))}: {verdict_word(row.verdict)}{finding}")
    return "\n".join(lines) + "\n"


def _recordings_line(rows: Sequence[RecordingRow]) -> str:
    doubted = sum(row.verdict != "good" for row in rows)
    found = counted(len(rows), "1 recording", "{count} recordings")
    if not doubted:
        return translate("{recordings}, each judged on its own: none is in doubt.", recordings=found)
    return translate(
        "{recordings}, each judged on its own: {doubted} in doubt. Name one to see all that is found.",
        recordings=found,
        doubted=format_count(doubted),
    )


def verdict_line(analysis: Analysis) -> str:
    """Return the verdict, and the numbers that it is about."""
    health = analysis.health
    if health.verdict == "good":
        if not is_recognised(analysis.trace):
            return translate("Nothing of this recording is judged: no device and no framework is recognised.")
        notes = len(health.findings)
        if not notes:
            return translate("This recording can be believed.")
        found = counted(notes, "1 note", "{count} notes")
        return translate("This recording can be believed; {notes}.", notes=found)
    parts = trust_parts(health.trust)
    return translate("Not all of this recording can be believed. {parts}.", parts=parts)


def _finding(analysis: Analysis, finding: Finding, width: int) -> Iterator[str]:
    head = [verdict_word(finding.severity.label), finding.id, number_names(finding.affects)]
    where = step_words(finding_steps(finding, analysis.steps))
    yield MARGIN.join([*head, *([where] if where else [])])
    room = min(width, LONGEST_LINE)
    sentence = finding_sentence(finding)
    sentence = translate("{sentence}.", sentence=capitalise(sentence))
    yield from wrap_sentence(sentence, room, MARGIN, MARGIN)
    windows = windows_sentence(finding, analysis.trace.start_ns)
    if windows:
        yield MARGIN + windows
    yield from wrap_sentence(finding_remedy(finding), room, f"{MARGIN}→ ", MARGIN * 2)
