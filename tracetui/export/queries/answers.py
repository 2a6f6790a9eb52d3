"""The answer of a query as text, Markdown, JSON and csv, with all names and values of the trace escaped."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any, BinaryIO

from tracetui.export import markdown
from tracetui.export.cells import encodable
from tracetui.export.csv_table import write_rows
from tracetui.export.json_document import SCHEMA
from tracetui.export.queries.query import QueryResult
from tracetui.export.tables.column import UNKNOWN
from tracetui.export.text import MARGIN, ColumnLayout, layout_table
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_count

LEAST_CELLS = 12  #: cells that a column of text can be cut down to


def answer_text(answer: QueryResult, top: int, width: int) -> str:
    """Return the answer as an aligned table of at most `top` rows, 0 for all."""
    rows = answer.rows[:top] if top else answer.rows
    numeric = numeric_columns(answer)
    columns = [
        ColumnLayout(printable(name), right=is_number, shrink_to=0 if is_number else LEAST_CELLS)
        for name, is_number in zip(answer.columns, numeric)
    ]
    lines = layout_table(columns, [[printable(value_text(value)) for value in row] for row in rows], width)
    left = len(answer.rows) - len(rows)
    more = [MARGIN + translate("{count} more: --top 0", count=format_count(left))] if left else []
    return "\n".join([*lines, *more]) + "\n"


def answer_markdown(answer: QueryResult, top: int) -> str:
    """Return the answer as a table of Markdown of at most `top` rows, 0 for all."""
    rows = answer.rows[:top] if top else answer.rows
    numeric = numeric_columns(answer)
    titles = [markdown.code(name) for name in answer.columns]
    cells = [
        [
            value_text(value) if is_number or value is None else markdown.code(value_text(value))
            for value, is_number in zip(row, numeric)
        ]
        for row in rows
    ]
    texts = [title for title, is_number in zip(titles, numeric) if not is_number]
    lines = markdown.table(titles, cells, texts)
    left = len(answer.rows) - len(rows)
    more = ["", translate("{count} more: --top 0", count=format_count(left))] if left else []
    return "\n".join([*lines, *more]) + "\n"


def answer_document(answer: QueryResult) -> dict[str, Any]:
    """Return the answer as JSON has it: the names of the columns, and a list for each row."""
    return {
        "schema": SCHEMA,
        "columns": [encodable(name) for name in answer.columns],
        "rows": [[exact_value(value) for value in row] for row in answer.rows],
    }


def write_answer(stream: BinaryIO, answer: QueryResult) -> int:
    """Write the answer as csv, its texts as cells that no spreadsheet computes; return the number of rows."""
    rows = [[value if _is_infinite(value) else exact_value(value) for value in row] for row in answer.rows]
    return write_rows(stream, answer.columns, rows)


def numeric_columns(answer: QueryResult) -> list[bool]:
    """Return, for each column, whether all of its known values are numbers."""
    return [all(map(_is_number, (row[place] for row in answer.rows))) for place in range(len(answer.columns))]


def _is_number(value: Any) -> bool:
    """Return whether a value is a number or not known."""
    return value is None or (isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool))


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and math.isinf(value)


def value_text(value: Any) -> str:
    """Return a value as people read it: floats with six digits at most, integers whole."""
    if value is None:
        return UNKNOWN
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(exact_value(value))


def exact_value(value: Any) -> Any:
    """Return a value for JSON, infinity as text; sums of integers, which DuckDB widens, are whole again."""
    if isinstance(value, float):
        return str(value) if _is_infinite(value) else None if math.isnan(value) else value
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, (list, tuple)):
        return [exact_value(item) for item in value]
    if isinstance(value, dict):
        return {encodable(str(key)): exact_value(item) for key, item in value.items()}
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return str(value)
    return encodable(str(value))
