"""The time of kernels and operators, listed as text, Markdown, JSON and rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Generic

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.kernels import Kernels
from tracetui.analysis.operators import OperatorSlices, OperatorTable
from tracetui.arrays import Bools
from tracetui.export.json_document import SCHEMA
from tracetui.export.tables.column import Rows, Table, records
from tracetui.export.tables.kernels import SHAPES, KernelRows, TypeRows, kernel_table
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN
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
        super().__init__("nothing tells of single kernels: kernel_details.csv is not beside this trace")


@dataclass(frozen=True, eq=False)
class OperatorListing(Generic[Rows]):
    """Rows of a table under a title."""

    title: str
    key: str  #: of JSON
    table: Table[Rows]
    rows: Rows
    shown: int
    total: int


def list_operators(
    analysis: Analysis, selection: Selection, by: str, host: bool = False, top: int = 0
) -> OperatorListing[Any]:
    """Return what is selected, most time first, at most `top`, 0 for all.

    by : "type", "name", "shape" or "kernel"; the last two are told by kernel_details.csv.

    Raises NoKernels where that is not beside the trace.
    """
    operators = selected_operators(analysis, selection, host)
    if by in ("type", "name"):
        every = operators.by_type() if by == "type" else operators.by_name()
        table = _first(every, top) if top else every
        title = translate(_TITLES[host, by])
        return OperatorListing(title, "operators", OPERATORS, table, len(table), len(every))
    kernels = analysis.kernels
    if kernels is None:
        raise NoKernels
    among = None if selection == Selection() else _is_among(kernels, operators)
    if by == "shape":
        types = TypeRows(kernels, among, top)
        title = translate("Types of kernels and the shapes of their inputs, most time first")
        return OperatorListing(title, "operators", SHAPES, types, len(types.rows), len(types.all_rows))
    rows = KernelRows(analysis, kernels, among, top)
    return OperatorListing(
        translate("Kernels, the longest first"), "kernels", kernel_table(kernels), rows, len(rows), rows.total
    )


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


def listing_document(listing: OperatorListing[Any]) -> dict[str, Any]:
    """Return the rows as one JSON object."""
    return {"schema": SCHEMA, listing.key: records(listing.table, listing.rows)}


def listing_text(listing: OperatorListing[Any], width: int) -> str:
    """Return the rows as plain text."""
    if not listing.shown:
        return translate("{title}: none.", title=listing.title) + "\n"
    lines = text_table(listing.table, listing.rows, width)
    return "\n".join([listing.title, *lines, *_more(listing)]) + "\n"


def listing_markdown(listing: OperatorListing[Any]) -> str:
    """Return the rows as Markdown."""
    lines = markdown_table(listing.table, listing.rows)
    return "\n".join([f"## {listing.title}", "", *lines, *_more(listing)]) + "\n"


def _more(listing: OperatorListing[Any]) -> list[str]:
    left = listing.total - listing.shown
    return [MARGIN + translate("{count} more: --top 0", count=format_count(left))] if left else []


def _is_among(kernels: Kernels, operators: OperatorSlices) -> Bools:
    """Return which kernels are among the work."""
    among: Bools = np.isin(kernels.row, operators.rows)
    return among


def _first(table: OperatorTable, top: int) -> OperatorTable:
    """Return the first rows."""
    columns = {column.name: getattr(table, column.name) for column in fields(table)}
    return OperatorTable(
        **{name: value if name in ("strings", "kind") else value[:top] for name, value in columns.items()}
    )
