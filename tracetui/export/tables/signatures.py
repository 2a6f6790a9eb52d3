"""The table of signatures: gaps that have their cause, line and operator in common."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.signatures import Signature
from tracetui.export.tables.column import Column, Table, count, duration, listed
from tracetui.export.tables.common import flag_column, line_columns, values_of


class SignatureRows:
    """The signatures of an analysis, most idle first."""

    def __init__(self, analysis: Analysis) -> None:
        self.rows: Sequence[Signature] = analysis.signatures


SIGNATURES: Table[SignatureRows] = Table(
    columns=(
        Column("cause", "cause", lambda rows: listed([row.cause.label for row in rows.rows]), own=True),
        *line_columns(),
        flag_column("backward"),
        Column("op", "operator", lambda rows: listed([row.operator or None for row in rows.rows])),
        duration("idle_ns", "idle", values_of("idle_ns")),
        count("gaps", "gaps", values_of("gaps")),
        duration("longest_ns", "longest", values_of("longest_ns")),
    )
)
