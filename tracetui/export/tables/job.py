"""The tables of a job: its ranks, what made them late, and the lines of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from tracetui.arrays import Int64s
from tracetui.export.cells import encodable
from tracetui.export.sentences.health import verdict_word
from tracetui.export.sentences.job import (
    affected_ranks,
    digest_line_words,
    late_words,
    root_words,
    short_line,
)
from tracetui.export.sentences.ranks import group_words
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Table,
    count,
    data,
    duration,
    json_only,
    listed,
)
from tracetui.export.tables.common import (
    FirstRows,
    flag_column,
    named,
    numbers_by,
    objects_by,
    texts_by,
    texts_of,
    values_of,
)
from tracetui.job.health import rank_health, rank_verdict
from tracetui.job.identity import PARALLEL
from tracetui.job.job import Job
from tracetui.job.rank_table import MEASURES, RankRow
from tracetui.language import translate
from tracetui.units import format_count, format_ms, format_percent

PRINTED = Form.TEXT | Form.MARKDOWN
_UNPRINTED = Form.DATA | Form.VIEWER
_NOT_IN_VIEWER = PRINTED | Form.DATA  #: all but the viewer
#: Measures by their titles where they are printed, in their order, and those of views that have a short one.
PRINTED_MEASURES = {
    "stage": "stage",
    "computing": "computing",
    "communication_wait": "waiting",
    "communication_transfer": "moving",
    "communication_unsplit": "wait/move",
    "copy": "copies",
    "idle": "idle",
    "preparing": "preparing",
    "bubble": "bubble",
}
#: Measures that the viewer shows.
VIEWED_MEASURES = (*PRINTED_MEASURES, "iteration_gap", "forward_backward", "tail")


class JobRows(FirstRows):
    """Rows of a table of a job."""

    def __init__(self, job: Job, rows: Sequence[Any]) -> None:
        super().__init__(rows)
        self.job = job

    def first(self: AnyJobRows, top: int) -> AnyJobRows:
        """Return at most `top` of the rows, 0 for all."""
        other = copy(self)
        FirstRows.__init__(other, self.rows, top)
        return other


AnyJobRows = TypeVar("AnyJobRows", bound=JobRows)


class RootRows(JobRows):
    """Why late ranks were late."""

    def __init__(
        self, job: Job, rows: Sequence[Any], whole: int = 0, unread: frozenset[int] = frozenset()
    ) -> None:
        """Take `whole`, the ns of all ranks that shares are of, and `unread`, ranks that are there."""
        super().__init__(job, rows)
        self.whole, self.unread = whole, unread


class RankRows(JobRows):
    """The ranks beside each other."""

    def __init__(self, job: Job, rows: Sequence[RankRow], titles: Mapping[str, str] | None = None) -> None:
        """Take `titles` of the measures that are printed, in their order."""
        super().__init__(job, rows)
        self.titles = titles or {}


def _backward(row: Any) -> bool:
    return row.line is not None and row.line.backward


def _line_columns() -> tuple[Column[Any], ...]:
    """Return the columns of a line; unknown where none is charged."""
    return (
        data("file", texts_by(lambda row: getattr(row.line, "file", None))),
        data("line", objects_by(lambda row: getattr(row.line, "line", None))),
        data("function", texts_by(lambda row: getattr(row.line, "function", None))),
        data("backward", lambda rows: np.array([*map(_backward, rows.rows)], np.bool_)),
    )


def _line_place(row: Any) -> str | None:
    """Return the line as it is printed."""
    return None if row.line is None else digest_line_words(row.line)


def _share_of_job(ns: int, rows: RootRows) -> str:
    return format_percent(ns, rows.whole)


def _longer_work(rows: RootRows) -> CodedTexts:
    return listed([root_words(root, rows.unread) for root in rows.rows])


def _slowest(slow: Any) -> str:
    if slow.rank is not None:
        return str(slow.rank)
    return "-" if slow.group_rank < 0 else translate("peer {number}", number=slow.group_rank)


def ns_by_cause(rows: JobRows) -> list[dict[str, int]]:
    """Return, for each row, the ns of each cause by its name."""
    return [{encodable(cause): ns for cause, ns in line.causes.items()} for line in rows.rows]


def _by_rank(rows: JobRows) -> list[dict[str, int]]:
    losses = (zip(rows.job.ranks, line.by_rank.tolist()) for line in rows.rows)
    return [{str(rank.number): ns for rank, ns in lost if ns} for lost in losses]


def _worst(rows: JobRows) -> Int64s:
    return np.array([rows.job.ranks[line.worst].number for line in rows.rows], np.int64)


def _mean_ns(rows: JobRows) -> Int64s:
    return np.array([line.idle_ns // len(rows.job.ranks) for line in rows.rows], np.int64)


ROOTS: Table[RootRows] = Table(
    columns=(
        Column("rank", "rank", values_of("rank"), optional=True),
        data("class", texts_of("kind")),
        data("cause", texts_by(lambda root: root.reason or None)),
        *_line_columns(),
        duration("lost_ns", "lost", values_of("lost_ns")),
        count("collectives", "collectives", values_of("operations")),
        Column("share", "share", values_of("lost_ns"), _share_of_job, Form.SHOWN),
        Column("did", "longer than the others", _longer_work, forms=Form.SHOWN, least=24),
        named("place", "line", _line_place, forms=PRINTED, unknown="", path=True, least=16),
        named("line", "Python line", lambda root: short_line(root.line) or None, forms=Form.VIEWER),
    ),
    order=("lost_ns", "share", "collectives", "rank", ..., "did", "place"),
    kind="wait",
    identity=("rank", "class", "cause", "file", "line", "function", "backward"),
)
LATE: Table[JobRows] = Table(
    columns=(
        data("rank", values_of("rank"), optional=True),
        flag_column("missing"),
        data("group", texts_of("group")),
        data("group_name", texts_by(lambda late: late.name or None)),
        data("group_rank", values_of("group_rank"), optional=True),
        duration("lost_ns", "lost", values_of("lost_ns")),
        duration("exposed_ns", "exposed", values_of("exposed_ns")),
        count("collectives", "collectives", values_of("operations")),
        named("late", "late", late_words),
        named("in", "group", lambda late: group_words(late.group, late.name)),
    ),
    kind="late",
    identity=("group", "group_rank", "rank"),
)
STEPS: Table[JobRows] = Table(
    columns=(
        Column("step", "step", values_of("step")),
        data("slowest", values_of("rank"), optional=True),
        Column("slowest", "slowest", objects_by(_slowest), forms=Form.SHOWN),
        data("group", texts_by(lambda slow: slow.group or None)),
        data("group_rank", values_of("group_rank"), optional=True),
        duration("lost_ns", "lost by it", values_of("lost_ns")),
        duration("total_ns", "lost", values_of("total_ns")),
    ),
    kind="step",
    identity=("step",),
)


def _short_line_place(line: Any) -> str:
    return short_line(line.line) or translate("(no line)")


LINES: Table[JobRows] = Table(
    columns=(
        *_line_columns(),
        named(
            "cause",
            "cause",
            lambda line: next(iter(line.causes)) or None,
            forms=Form.ALL,
            unknown="",
            least=0,
        ),
        duration("idle_ns", "idle", values_of("idle_ns")),
        data("ranks", numbers_by(lambda line: len(line.affected))),
        data("worst", _worst),
        duration("worst_ns", "worst", numbers_by(lambda line: int(line.by_rank[line.worst]))),
        duration("mean_ns", "a rank", _mean_ns, forms=_NOT_IN_VIEWER),
        json_only("causes_ns", ns_by_cause),
        json_only("by_rank_ns", _by_rank),
        Column(
            "whose",
            "whose",
            lambda rows: listed([affected_ranks(rows.job, line) for line in rows.rows]),
            forms=Form.SHOWN,
            least=0,
        ),
        named(
            "place",
            "line",
            lambda line: _line_place(line) or translate("(no line)"),
            forms=PRINTED,
            path=True,
            least=14,
        ),
        named("line", "Python line", _short_line_place, forms=Form.VIEWER),
    ),
    order=("idle_ns", "mean_ns", "worst_ns", ..., "whose", "cause", "place"),
    kind="line",
    identity=("file", "line", "function", "backward"),
)


def _ms(ns: int, _: JobRows) -> str:
    return format_ms(ns, 2)


def _identity(row: RankRow) -> Any:
    return row.rank.digest.identity


def _spread_getter(which: str) -> Callable[[RankRows], list[dict[str, int]]]:
    """Return a getter of the least or the most of each measure that a rank has."""

    def spreads(rows: RankRows) -> list[dict[str, int]]:
        measures_by_row = ([(name, getattr(row.measures, name)) for name in MEASURES] for row in rows.rows)
        return [
            {f"{name}_ns": getattr(spread, which) for name, spread in row if spread is not None}
            for row in measures_by_row
        ]

    return spreads


def _measure(name: str) -> Column[RankRows]:
    def shown(rows: RankRows, form: Form) -> bool:
        if form is Form.VIEWER:
            return any((row.mean(name) or 0) > 0 for row in rows.rows)
        return name in rows.titles

    forms = Form.ALL if name in VIEWED_MEASURES else _NOT_IN_VIEWER
    means = numbers_by(lambda row: row.mean(name))
    return Column(f"{name}_ns", name, means, _ms, forms, optional=True, when=shown)


def _shows_hosts(rows: RankRows, form: Form) -> bool:
    hosts = {_identity(row).host for row in rows.rows}
    return len(hosts) > 1 if form & Form.SHOWN else any(hosts)


def _index(name: str) -> Column[RankRows]:
    """Return the number of a rank in its group of a kind; the viewer shows the stage of the pipeline."""
    numbers = numbers_by(lambda row: _identity(row).indices.get(name))
    staged = lambda rows, _: any(row.stage_number is not None for row in rows.rows)  # noqa: E731
    forms = _UNPRINTED if name == "pp" else Form.DATA
    return Column(name, name, numbers, lambda number, _: format_count(number), forms, True, when=staged)


RANKS: Table[RankRows] = Table(
    columns=(
        Column("rank", "rank", numbers_by(lambda row: row.rank.number)),
        named("host", "host", lambda row: _identity(row).host or None, forms=_UNPRINTED, when=_shows_hosts),
        data("path", texts_by(lambda row: row.rank.path)),
        *map(_index, PARALLEL),
        data("steps", values_of("steps")),
        *map(_measure, MEASURES),
        Column("lost_ns", "lost", values_of("lost_ns"), _ms),
        Column("cost_ns", "cost", values_of("cost_ns"), _ms),
        json_only("least", _spread_getter("lowest")),
        json_only("most", _spread_getter("highest")),
        named(
            "host", "host", lambda row: _identity(row).host or "-", forms=PRINTED, least=8, when=_shows_hosts
        ),
        Column("trust", "", texts_by(lambda row: rank_verdict(row.rank)), forms=Form.JSON),
        json_only("findings", lambda rows: [[*rank_health(row.rank).findings] for row in rows.rows]),
        named(
            "trust",
            "trust",
            lambda row: verdict_word(rank_verdict(row.rank)),
            trusted=True,
            when=lambda rows, _: any(rank_health(row.rank).doubts for row in rows.rows),
        ),
    ),
    kind="rank",
    identity=("rank",),
)


def printed_ranks(rows: RankRows) -> Table[RankRows]:
    """Return the table of ranks as it is printed: the measures that `rows` have titles of, in their order."""
    titles = {f"{name}_ns": title for name, title in rows.titles.items()}
    columns = (
        replace(column, title=title, stacked=title.replace(" ", "\n"), forms=column.forms & PRINTED)
        for column in RANKS.columns
        for title in [titles.get(column.key, column.title)]
    )
    return Table(tuple(columns), order=("rank", *titles, "lost_ns", "cost_ns", ..., "host"))
