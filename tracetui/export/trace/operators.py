"""The time of kernels and operators, listed as text, Markdown, JSON and rows of a table."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorSlices, OperatorTable
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.trace import hidden_rows
from tracetui.export.tables.column import records
from tracetui.export.tables.kernels import SHAPES, KernelRows, TypeRows, kernel_table
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.shown import TableSection
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.units import format_count

#: titles by whether the operators are the host's, and by what they are summed
_TITLES = {
    (False, "type"): "Operators of the devices by type, most time first",
    (False, "name"): "Operators of the devices by name, most time first",
    (True, "type"): "Operators of the host by type, most own time first",
    (True, "name"): "Operators of the host by name, most own time first",
}


class NoKernels(Exception):  # noqa: N818 - nothing went wrong
    """No table tells of kernels; `str()` is a sentence."""

    def __init__(self) -> None:
        super().__init__(
            "nothing tells of single kernels: kernel_details.csv or op_summary.csv is not beside this trace"
        )


def list_operators(
    analysis: Analysis, selection: Selection, by: str, host: bool = False, top: int = 0
) -> TableSection:
    """Return what is selected, most time first, at most `top`, 0 for all.

    by : "type", "name", "shape" or "kernel"; the last two are told by kernel_details.csv.

    Raises NoKernels where that is not beside the trace.
    """
    operators = selected_operators(analysis, selection, host)
    if by in ("type", "name"):
        every = operators.by_type() if by == "type" else operators.by_name()
        table = _first(every, top) if top else every
        title = translate(_TITLES[host, by])
        return TableSection(title, OPERATORS, table, *_hidden(len(every) - len(table)))
    kernels = analysis.kernels
    if kernels is None:
        raise NoKernels
    among = None if selection == Selection() else np.isin(kernels.row, operators.rows)
    if by == "shape":
        types = TypeRows(kernels, among, top)
        title = translate("Types of kernels and the shapes of their inputs, most time first")
        return TableSection(title, SHAPES, types, *_hidden(types.hidden))
    rows = KernelRows(analysis, kernels, among, top)
    title = translate("Kernels, the longest first")
    return TableSection(title, kernel_table(kernels), rows, *_hidden(rows.total - len(rows)))


def selected_operators(analysis: Analysis, selection: Selection, host: bool) -> OperatorSlices:
    """Return the work of devices, or the operators of the host, of a step and a window, or all."""
    if selection.window is None:
        found = analysis.operators(host)
    else:
        found = analysis.operators_in_window(*selection.window, host)
    if selection.step is None:
        return found
    steps = replace(selection, window=None).steps(analysis)
    rows = [analysis.operators_in_step(index, host).rows for index in steps]
    return found.at(np.isin(found.rows, np.concatenate(rows) if rows else []))


def listing_document(listing: TableSection) -> dict[str, Any]:
    """Return the rows as one JSON object."""
    key = "kernels" if isinstance(listing.rows, KernelRows) else "operators"
    return {"schema": SCHEMA, key: records(listing.table, listing.rows)}


def listing_text(listing: TableSection, width: int) -> str:
    """Return the rows as plain text."""
    if not len(listing.rows):
        return translate("{title}: none.", title=listing.title) + "\n"
    return "\n".join(listing.text(width)) + "\n"


def listing_markdown(listing: TableSection) -> str:
    """Return the rows as Markdown."""
    return "\n".join(listing.markdown()) + "\n"


def _hidden(count: int) -> tuple[str, str]:
    """Return what text, and what Markdown, says of the rows that a table leaves out."""
    if not count:
        return "", ""
    return translate("{count} more: --top 0", count=format_count(count)), hidden_rows(count)


def _first(table: OperatorTable, top: int) -> OperatorTable:
    """Return the first rows."""
    columns = {column.name: getattr(table, column.name) for column in fields(table)}
    return OperatorTable(
        **{name: value if name in ("strings", "kind") else value[:top] for name, value in columns.items()}
    )
