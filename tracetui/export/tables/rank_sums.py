"""The tables of what all ranks of a job did: operators, advice, memory, and findings about recordings."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.health.finding import Severity
from tracetui.export.sentences.advice import advice_title
from tracetui.export.sentences.health import number_names, verdict_word
from tracetui.export.sentences.job import digest_line_words
from tracetui.export.tables.column import Column, Form, Table, count, duration, size, worded
from tracetui.export.tables.common import named, numbers_by, share_column, values_of
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.operators import activity_words
from tracetui.job.load import ranks_in_words
from tracetui.language import restate
from tracetui.trace.model import TraceKind


class JobOperatorRows(JobRows):
    """Operators of all ranks, some or all of them."""

    @property
    def kind(self) -> TraceKind:
        """Whose words devices are told in."""
        return TraceKind(self.job.ranks[0].digest.kind)

    @property
    def whole_ns(self) -> int:
        """The time of all operators of all ranks."""
        return sum(int(rank.digest.operators.ns.sum()) for rank in self.job.ranks)


def _rank_column(title: str) -> Column[JobRows]:
    return Column("rank", title, values_of("rank"), forms=Form.SHOWN)


def _ranks(numbers: Sequence[int], count_of_all: int) -> str:
    return restate(ranks_in_words([*numbers], count_of_all))


JOB_OPERATORS: Table[JobOperatorRows] = Table(
    (
        named("type", "name", lambda operator: operator.type),
        worded(
            "activity",
            "activity",
            lambda rows: [activity_words(row.activity, rows.kind) for row in rows.rows],
        ),
        count("count", "count", values_of("count"), forms=Form.SHOWN),
        duration("ns", "total", values_of("ns"), forms=Form.SHOWN),
        share_column(values_of("ns"), lambda rows: rows.whole_ns),
    )
)
JOB_ADVICE: Table[JobRows] = Table(
    (
        named("kind", "advice", lambda advice: advice_title(advice.kind)),
        duration(
            "cost_ns",
            "a step",
            numbers_by(lambda advice: advice.cost_ns or None),
            forms=Form.SHOWN,
            optional=True,
            unknown="note",
        ),
        _rank_column("worst"),
        count("ranks", "ranks", values_of("ranks"), forms=Form.SHOWN),
    )
)
PEAKS: Table[JobRows] = Table(
    (
        named("component", "component", lambda peak: peak.component),
        size("allocated", "allocated at most", values_of("allocated"), forms=Form.SHOWN),
        size("reserved", "reserved at most", values_of("reserved"), forms=Form.SHOWN),
        _rank_column("rank"),
    )
)
HOLDERS: Table[JobRows] = Table(
    (
        named("operator", "operator", lambda holder: holder.operator),
        size("bytes", "at the peak", values_of("bytes"), forms=Form.SHOWN),
        count("blocks", "blocks", values_of("blocks"), forms=Form.SHOWN),
        _rank_column("rank"),
        named(
            "line", "line", lambda holder: digest_line_words(holder.line) if holder.line else None, path=True
        ),
    )
)
DOUBTS: Table[JobRows] = Table(
    (
        named(
            "severity", "severity", lambda row: verdict_word(Severity(row.doubt.severity).label), trusted=True
        ),
        named("id", "finding", lambda row: row.doubt.id),
        named("affects", "affects", lambda row: number_names(row.doubt.affects), trusted=True),
        worded("ranks", "ranks", lambda rows: [_ranks(row.ranks, len(rows.job.ranks)) for row in rows.rows]),
        named("sentence", "what was seen", lambda row: restate(row.doubt.sentence)),
    )
)
