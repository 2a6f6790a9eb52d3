"""A comparison as a workbook, a sheet for each table. Needs XlsxWriter: `pip install tracetui[xlsx]`."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from tracetui.compare.comparison import Comparison
from tracetui.compare.verdict import verdict
from tracetui.export.compare_tables import TABLES, WATERFALL, Table, row_document
from tracetui.trace.clean import printable

#: What a cell of a workbook holds at most.
_LONGEST_CELL, _MOST_ROWS = 32_767, 1_048_575
_COLUMNS = (
    ("name", 60),
    ("status", 9),
    ("base ms", 14),
    ("base count", 11),
    ("other ms", 14),
    ("other count", 11),
    ("delta ms", 14),
    ("ratio", 9),
    ("changed", 9),
)


def write_workbook(stream: BinaryIO, comparison: Comparison) -> int:
    """Write all tables, times in ms; returns the number of sheets.

    Raises ModuleNotFoundError where XlsxWriter is not installed.
    """
    import xlsxwriter

    # Texts are texts: nothing of a trace becomes a formula, a number or a link.
    settings = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, settings) as workbook:
        bold = workbook.add_format({"bold": True})
        first = workbook.add_worksheet("verdict")
        first.write_string(0, 0, verdict(comparison), bold)
        for place, (name, run) in enumerate(
            (("BASE", comparison.base), ("OTHER", comparison.other)), start=2
        ):
            first.write_string(place, 0, name)
            first.write_string(place, 1, _text(run.path))
        for place, note in enumerate(comparison.notes, start=5):
            first.write_string(place, 0, _text(note))
        for table in (WATERFALL, *TABLES):
            _sheet(workbook.add_worksheet(table.key), table, comparison, bold)
    stream.write(content.getvalue())
    return 2 + len(TABLES)


def _sheet(sheet: Any, table: Table, comparison: Comparison, bold: Any) -> None:
    sheet.freeze_panes(1, 1)
    for column, (title, width) in enumerate(_COLUMNS):
        sheet.set_column(column, column, width)
        sheet.write_string(0, column, title, bold)
    for place, row in enumerate(table.rows(comparison)[:_MOST_ROWS], start=1):
        told = row_document(row)
        sheet.write_string(place, 0, _text(row.name))
        sheet.write_string(place, 1, row.status)
        for column, key in ((2, "base_ns"), (4, "other_ns"), (6, "delta_ns")):
            sheet.write_number(place, column, told[key] / 1e6)
        for column, key in ((3, "base_count"), (5, "other_count")):
            sheet.write_number(place, column, told[key])
        if row.ratio is not None:
            sheet.write_number(place, 7, row.ratio)
        sheet.write_string(place, 8, {True: "yes", False: "no", None: "unknown"}[row.changed])


def _text(text: str) -> str:
    return printable(text, _LONGEST_CELL)
