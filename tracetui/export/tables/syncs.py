"""The table of synchronisations: the calls that made the host wait for a device, by line."""

from __future__ import annotations

from tracetui.analysis.analyse import Analysis
from tracetui.export.sentences.causes import line_name
from tracetui.export.tables.column import Column, Table, count, data, duration
from tracetui.export.tables.common import (
    FirstRows,
    line_columns,
    name_column,
    numbers_by,
    texts_of,
    values_of,
)
from tracetui.export.trace.selection import Selection


class SyncRows(FirstRows):
    """The synchronisations selected, most idle time exposed first; at most `top`, 0 for all."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).syncs(analysis), top)


SYNCS: Table[SyncRows] = Table(
    columns=(
        Column("call", "call", texts_of("call")),
        *line_columns(),
        count("count", "calls", values_of("count")),
        duration("waited_ns", "waited", values_of("total_ns")),
        duration("longest_ns", "longest", values_of("longest_ns")),
        duration("exposed_ns", "idle exposed", values_of("exposed_ns"), stacked="idle\nexposed"),
        data("gaps", numbers_by(lambda sync: len(sync.gap_indices))),
        name_column("Python line", lambda sync: line_name(sync.file, sync.line, sync.function)),
    ),
    order=("exposed_ns", "count", "waited_ns", "longest_ns", ..., "call", "name"),
    markdown=("call", "name", "exposed_ns", "count", "waited_ns", "longest_ns", ...),
    kind="sync",
    identity=("call", "file", "line", "function"),
)
