"""The table of synchronisations: the calls that made the host wait for a device, by line."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.export.sentences.causes import line_name
from tracetui.export.tables.column import Column, Form, Table, count, duration
from tracetui.export.tables.common import line_columns, name_column, optional_numbers, texts_of, values_of
from tracetui.export.trace.selection import Selection


class SyncRows:
    """The synchronisations selected, most idle time exposed first; at most `top`, 0 for all."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        self.all_rows = (selection or Selection()).syncs(analysis)
        self.rows: Sequence[SyncCall] = self.all_rows[:top] if top else self.all_rows


def _called(sync: SyncCall) -> str:
    return line_name(sync.file, sync.line, sync.function)


SYNCS: Table[SyncRows] = Table(
    columns=(
        Column("call", "call", texts_of("call")),
        *line_columns(),
        count("count", "calls", values_of("count")),
        duration("waited_ns", "waited", values_of("total_ns")),
        duration("longest_ns", "longest", values_of("longest_ns")),
        duration("exposed_ns", "idle exposed", values_of("exposed_ns"), stacked="idle\nexposed"),
        count(
            "gaps",
            "",
            lambda rows: optional_numbers([len(sync.gap_indices) for sync in rows.rows]),
            forms=Form.DATA,
        ),
        name_column("Python line", _called),
    ),
    order=("exposed_ns", "count", "waited_ns", "longest_ns", ..., "call", "name"),
    markdown=("call", "name", "exposed_ns", "count", "waited_ns", "longest_ns", ...),
    kind="sync",
    identity=(
        "call",
        "file",
        "line",
        "function",
    ),
)
