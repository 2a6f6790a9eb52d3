"""The table of signatures: gaps that have their cause, line and operator in common."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.signatures import Signature
from tracetui.export.tables.column import Column, Form, Table, count, duration, listed
from tracetui.export.tables.common import flag_column, line_columns, share_column, values_of


class SignatureRows:
    """The signatures of an analysis, most idle first."""

    def __init__(self, analysis: Analysis) -> None:
        self.rows: Sequence[Signature] = analysis.signatures
        self.idle_ns = sum(signature.idle_ns for signature in self.rows)


SIGNATURES: Table[SignatureRows] = Table(
    columns=(
        Column("cause", "cause", lambda rows: listed([row.cause.label for row in rows.rows]), trusted=True),
        *line_columns(),
        flag_column("backward"),
        Column("op", "", lambda rows: listed([row.operator or None for row in rows.rows]), forms=Form.DATA),
        duration("idle_ns", "idle", values_of("idle_ns")),
        share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
        count("gaps", "gaps", values_of("gaps")),
        duration("longest_ns", "longest", values_of("longest_ns")),
    ),
    kind="signature",
    identity=(
        "cause",
        "file",
        "line",
        "function",
        "op",
        "backward",
    ),
)
