"""The table of advice, and the numbers that each piece of it follows from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tracetui.analysis.advice import Advice, find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.cells import encodable
from tracetui.export.sentences.advice_english import AdviceWords, english_words
from tracetui.export.tables.column import CodedTexts, Column, Form, Table, data, duration, json_only, listed
from tracetui.export.tables.common import line_columns, share_column, texts_of, values_of
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.places import row_id

KIND = "advice"
LOOKED_AT = 5  #: gaps of each advice
_GAP_KEYS = ("device", "start_ns", "dur_ns", "idle_ns")


class AdviceRows:
    """The advice on a trace, that about the most time first."""

    def __init__(
        self,
        analysis: Analysis,
        rows: Sequence[Advice] | None = None,
        words_of: Callable[[Advice], AdviceWords] = english_words,
    ) -> None:
        """Take the advice of an analysis, or `rows`. `words_of`: in another language than documents have."""
        self.analysis = analysis
        self.rows: Sequence[Advice] = find_advice(analysis) if rows is None else rows
        self.words = [*map(words_of, self.rows)]


def _evidence(rows: AdviceRows) -> list[dict[str, Any]]:
    return [
        {key: encodable(value) if isinstance(value, str) else value for key, value in advice.evidence.items()}
        for advice in rows.rows
    ]


def _gaps(rows: AdviceRows) -> list[list[dict[str, Any]]]:
    """Return the gaps to look at of each, by a few of their columns."""
    columns = [column for column in GAPS.columns if column.key in _GAP_KEYS]
    found = []
    for advice in rows.rows:
        gaps = GapRows(rows.analysis, advice.gaps[:LOOKED_AT])
        values = zip(*(column.exact(gaps) for column in columns))
        found.append([dict(zip(_GAP_KEYS, row)) for row in values])
    return found


def _subjects(rows: AdviceRows) -> list[list[str]]:
    return [[*map(encodable, advice.subjects)] for advice in rows.rows]


def _words(field: str) -> Callable[[AdviceRows], CodedTexts]:
    """Return what gives a field of the words of each."""
    return lambda rows: listed([getattr(words, field) for words in rows.words])


def _ids(rows: AdviceRows) -> list[str]:
    """Return the name of each piece, unless there are several of one name: those have what they are about."""
    several = Counter(advice.id for advice in rows.rows)
    return [
        advice.id if several[advice.id] == 1 else row_id(KIND, advice.id, *_about(advice))
        for advice in rows.rows
    ]


def _about(advice: Advice) -> Sequence[str]:
    if advice.file is None:
        return advice.subjects
    return advice.file, str(advice.line), advice.function or ""


_TEXTS: tuple[Column[AdviceRows], ...] = (
    Column("text", "", _words("text")),
    Column("rule", "", _words("rule")),
)
ADVICE: Table[AdviceRows] = Table(
    columns=(
        data("id", lambda rows: listed(_ids(rows))),
        data("name", texts_of("id")),
        Column("title", "advice", _words("title"), trusted=True),
        *(column.of(Form.JSON) for column in _TEXTS),
        duration("cost_ns", "cost", values_of("cost_ns"), optional=True, unknown="note"),
        share_column(values_of("cost_ns"), lambda rows: rows.analysis.window_ns, optional=True, unknown=""),
        duration(
            "per_step_ns",
            "a step",
            values_of("per_step_ns"),
            optional=True,
            unknown="",
            when=lambda rows, _: any(advice.per_step_ns is not None for advice in rows.rows),
        ),
        *line_columns(),
        json_only("subjects", _subjects),
        Column(
            "subjects",
            "",
            lambda rows: listed([", ".join(names) or None for names in _subjects(rows)]),
            forms=Form.FRAME,
        ),
        *(column.of(Form.FRAME) for column in _TEXTS),
        json_only("evidence", _evidence),
        Column("evidence", "", lambda rows: listed([*map(json.dumps, _evidence(rows))]), forms=Form.FRAME),
        json_only("gaps", _gaps),
    ),
    kind=KIND,
)
