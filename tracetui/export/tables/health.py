"""The table of findings: what is wrong or doubtful in a recording, and which numbers that concerns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.finding import Finding
from tracetui.export.cells import encodable
from tracetui.export.sentences.health import (
    finding_remedy,
    finding_sentence,
    finding_steps,
    number_names,
    step_words,
    verdict_word,
)
from tracetui.export.tables.column import Column, Form, Table, json_only, listed
from tracetui.export.tables.common import texts_of


class FindingRows:
    """The findings of an analysis, worst first."""

    def __init__(self, analysis: Analysis, rows: Sequence[Finding] | None = None) -> None:
        """Take some findings as `rows`, by default all."""
        self.analysis = analysis
        self.rows: Sequence[Finding] = analysis.health.findings if rows is None else rows


def _tracks(rows: FindingRows) -> list[list[str]]:
    tracks = rows.analysis.trace.tracks
    return [
        [encodable(f"{tracks[place].process} {tracks[place].name}".strip()) for place in finding.tracks]
        for finding in rows.rows
    ]


FINDINGS: Table[FindingRows] = Table(
    (
        Column("id", "finding", texts_of("id"), trusted=True),
        Column("severity", "", lambda rows: listed([f.severity.label for f in rows.rows]), forms=Form.DATA),
        Column(
            "severity",
            "severity",
            lambda rows: listed([verdict_word(f.severity.label) for f in rows.rows]),
            forms=Form.SHOWN,
            trusted=True,
        ),
        Column(
            "affects", "", lambda rows: listed([", ".join(f.affects) for f in rows.rows]), forms=Form.FRAME
        ),
        json_only("affects", lambda rows: [list(f.affects) for f in rows.rows]),
        Column(
            "affects",
            "affects",
            lambda rows: listed([number_names(f.affects) for f in rows.rows]),
            forms=Form.SHOWN,
            trusted=True,
        ),
        json_only("steps", lambda rows: [finding_steps(f, rows.analysis.steps) for f in rows.rows]),
        Column(
            "steps",
            "steps",
            lambda rows: listed(
                [step_words(finding_steps(f, rows.analysis.steps)) or None for f in rows.rows]
            ),
            forms=Form.SHOWN,
            trusted=True,
            unknown="",
        ),
        json_only("windows", lambda rows: [[list(window) for window in f.windows] for f in rows.rows]),
        json_only("tracks", _tracks),
        Column("count", "", lambda rows: np.array([f.count for f in rows.rows], np.int64), forms=Form.DATA),
        json_only("share", lambda rows: [f.share for f in rows.rows]),
        Column("sentence", "", lambda rows: listed([f.english for f in rows.rows]), forms=Form.DATA),
        Column(
            "sentence",
            "what was seen",
            lambda rows: listed([*map(finding_sentence, rows.rows)]),
            forms=Form.SHOWN,
            trusted=True,
        ),
        Column(
            "remedy",
            "",
            lambda rows: listed([f.remedy.format(**f.words) for f in rows.rows]),
            forms=Form.DATA,
        ),
        Column(
            "remedy",
            "what helps",
            lambda rows: listed([*map(finding_remedy, rows.rows)]),
            forms=Form.MARKDOWN,
            trusted=True,
        ),
    ),
    order=("severity", "id", "affects", "steps", "sentence", ...),
    kind="finding",
)
