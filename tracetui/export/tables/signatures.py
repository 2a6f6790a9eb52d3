"""The table of signatures: gaps that have their cause, line and operator in common."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.signatures import Signature
from tracetui.export.tables.column import Form, Table, count, data, duration
from tracetui.export.tables.common import flag_column, line_columns, named, share_column, texts_by, values_of


class SignatureRows:
    """The signatures of an analysis, most idle first."""

    def __init__(self, analysis: Analysis) -> None:
        self.rows: Sequence[Signature] = analysis.signatures
        self.idle_ns = sum(signature.idle_ns for signature in self.rows)


SIGNATURES: Table[SignatureRows] = Table(
    columns=(
        named("cause", "cause", lambda row: row.cause.label, forms=Form.ALL, trusted=True),
        *line_columns(),
        flag_column("backward"),
        data("op", texts_by(lambda row: row.operator or None)),
        duration("idle_ns", "idle", values_of("idle_ns")),
        share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
        count("gaps", "gaps", values_of("gaps")),
        duration("longest_ns", "longest", values_of("longest_ns")),
    ),
    kind="signature",
    identity=("cause", "file", "line", "function", "op", "backward"),
)
