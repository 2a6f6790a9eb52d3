"""The answer of a query as columns of a table, and where in time its rows are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tracetui.arrays import Floats, Int64s
from tracetui.export.queries.answers import exact_value, numeric_columns, value_text
from tracetui.export.queries.query import QueryResult
from tracetui.trace.clean import printable
from tracetui.ui.tables.columns import LONGEST, ViewColumn, named_column

_LARGEST = 1 << 63
_LENGTHS = ("dur_ns", "lost_ns", "idle_ns")


def answer_columns(answer: QueryResult) -> list[ViewColumn]:
    """Return a column of the viewer for each column of an answer; numbers keep their form."""
    numeric = numeric_columns(answer)
    return [
        (_numbers if is_numeric else _texts)(name, [row[place] for row in answer.rows])
        for place, (name, is_numeric) in enumerate(zip(answer.columns, numeric))
    ]


def interval_of(answer: QueryResult, row: int) -> tuple[int, int] | None:
    """Return the time of a row in epoch ns; None where it has no `start_ns`.

    Its end is `end_ns`, else as late as the first length says that the row has.
    """
    values = {name: _whole(value) for name, value in zip(answer.columns, answer.rows[row])}
    start = values.get("start_ns")
    if start is None:
        return None
    end = values.get("end_ns")
    if end is None:
        end = start + next((length for name in _LENGTHS if (length := values.get(name)) is not None), 0)
    return start, max(start, end)


def id_of(answer: QueryResult, row: int) -> str:
    """Return the id of a row; "" where it has none."""
    name = dict(zip(answer.columns, answer.rows[row])).get("id")
    return name if isinstance(name, str) else ""


def _whole(value: Any) -> int | None:
    exact = exact_value(value)
    return exact if isinstance(exact, int) and not isinstance(exact, bool) else None


def _numbers(name: str, values: list[Any]) -> ViewColumn:
    exact = [exact_value(value) for value in values]
    title = printable(name)
    texts = [value_text(value) for value in values]
    width = max(map(len, [f"{title}  ", *texts]))
    return ViewColumn(
        name, title, _keys(exact), lambda row, _: texts[row], width, plain=partial(list.__getitem__, exact)
    )


def _keys(values: list[Any]) -> Int64s | Floats:
    """Return what numbers are sorted by: NaN where one is unknown, exact where all are integers."""
    if all(isinstance(value, int) and -_LARGEST <= value < _LARGEST for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _texts(name: str, values: list[Any]) -> ViewColumn:
    places: dict[str, int] = {}
    codes = np.full(len(values), -1, dtype=np.int32)
    for row, value in enumerate(values):
        if value is not None:
            codes[row] = places.setdefault(value_text(value), len(places))
    return named_column(name, printable(name), codes, [*places], width=LONGEST)
