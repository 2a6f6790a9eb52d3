"""The table of findings: what is wrong or doubtful in a recording, and which numbers that concerns."""

from __future__ import annotations

from tracetui.analysis.analyse import Analysis
from tracetui.export.cells import encodable
from tracetui.export.sentences.health import (
    finding_remedy,
    finding_sentence,
    finding_steps,
    number_names,
    step_words,
    verdict_word,
)
from tracetui.export.tables.column import Column, Form, Table, data, json_only, worded
from tracetui.export.tables.common import named, texts_by, texts_of, values_of


class FindingRows:
    """The findings of an analysis, worst first."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self.rows = analysis, analysis.health.findings


def _tracks(rows: FindingRows) -> list[list[str]]:
    tracks = rows.analysis.trace.tracks
    return [
        [encodable(f"{tracks[place].process} {tracks[place].name}".strip()) for place in finding.tracks]
        for finding in rows.rows
    ]


FINDINGS: Table[FindingRows] = Table(
    (
        Column("id", "finding", texts_of("id"), trusted=True),
        data("severity", texts_by(lambda f: f.severity.label)),
        named("severity", "severity", lambda f: verdict_word(f.severity.label), trusted=True),
        data("affects", texts_by(lambda f: ", ".join(f.affects)), forms=Form.FRAME),
        json_only("affects", lambda rows: [list(f.affects) for f in rows.rows]),
        named("affects", "affects", lambda f: number_names(f.affects), trusted=True),
        json_only("steps", lambda rows: [finding_steps(f, rows.analysis.steps) for f in rows.rows]),
        worded(
            "steps",
            "steps",
            lambda rows: [step_words(finding_steps(f, rows.analysis.steps)) or None for f in rows.rows],
            unknown="",
        ),
        json_only("windows", lambda rows: [[list(window) for window in f.windows] for f in rows.rows]),
        json_only("tracks", _tracks),
        data("count", values_of("count")),
        json_only("share", lambda rows: [f.share for f in rows.rows]),
        data("sentence", texts_of("english")),
        named("sentence", "what was seen", finding_sentence, trusted=True),
        data("remedy", texts_by(lambda f: f.remedy.format(**f.words))),
        named("remedy", "what helps", finding_remedy, forms=Form.MARKDOWN, trusted=True),
    ),
    order=("severity", "id", "affects", "steps", "sentence", ...),
    kind="finding",
)
