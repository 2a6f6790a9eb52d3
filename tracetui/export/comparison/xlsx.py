"""A comparison as a workbook, a sheet for each table. Needs XlsxWriter: `pip install tracetui[xlsx]`."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from tracetui.comparison.comparison import Comparison
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.column import Form
from tracetui.export.tables.comparison import WATERFALL, ComparedTable, tables_of
from tracetui.language import in_english
from tracetui.trace.clean import printable

#: What a cell of a workbook holds at most.
_LONGEST_CELL, _MOST_ROWS = 32_767, 1_048_575
_WIDTHS = {"name": 60, "ms": 14, "MB": 14, "operator": 30, "file": 40, "function": 20}
_CHANGED = {True: "yes", False: "no", None: "unknown"}
_SCALES = {"_ns": ("ms", 10**6), "_bytes": ("MB", 10**6)}


@in_english()
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
        for place, (name, run) in enumerate(comparison.sides, start=2):
            first.write_string(place, 0, name)
            first.write_string(place, 1, _text(run.path))
        for place, note in enumerate(comparison_notes(comparison), start=5):
            first.write_string(place, 0, _text(note))
        tables = (WATERFALL, *tables_of(comparison))
        for table in tables:
            _sheet(workbook.add_worksheet(table.key), table, comparison, bold)
    stream.write(content.getvalue())
    return 1 + len(tables)


def _sheet(sheet: Any, table: ComparedTable, comparison: Comparison, bold: Any) -> None:
    """Write the columns of csv, times in ms and sizes in MB."""
    sheet.freeze_panes(1, 1)
    rows = table.judged(comparison, table.rows(comparison)[:_MOST_ROWS])
    columns, scales = table.table.of(Form.FRAME), []
    for place, column in enumerate(columns):
        key = column.key
        ending = next((ending for ending in _SCALES if key.endswith(ending)), "")
        unit, scale = _SCALES.get(ending, ("", 1))
        title = key.removesuffix(ending).replace("_", " ") + (f" {unit}" if unit else "")
        sheet.set_column(place, place, _WIDTHS.get(unit or key, 11))
        sheet.write_string(0, place, title, bold)
        scales.append(scale)
    for row, values in enumerate(zip(*(column.exact(rows) for column in columns)), start=1):
        for place, (column, value, scale) in enumerate(zip(columns, values, scales)):
            content = _CHANGED[value] if column.key == "changed" else value
            if isinstance(content, str):
                sheet.write_string(row, place, _text(content))
            elif content is not None:
                sheet.write_number(row, place, content / scale)


def _text(text: str) -> str:
    return printable(text, _LONGEST_CELL)
