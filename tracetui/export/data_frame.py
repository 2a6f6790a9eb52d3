"""Any table as a pandas DataFrame, and DataFrames as csv.

Imports pandas, which takes half a second: import it where a table is made, not before. Columns are called as
in the JSON documents and hold the same values: times are exact int64 ns, numbers that may be unknown Int64,
texts are categorical, unknown ones missing, and only lone surrogates replaced in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pandas as pd

from tracetui.export.cells import encodable, text_cell
from tracetui.export.tables.column import CodedTexts, Column, Form, Table

_CACHED = 1 << 16  #: distinct texts, each made into a cell once

Rows = TypeVar("Rows")


def frame_of(table: Table[Rows], rows: Rows) -> pd.DataFrame:
    """Return a DataFrame with a row per row of a table, with exact values."""
    return _frame({column.key: _values(column, rows) for column in table.of(Form.FRAME)})


def small_frame(table: Table[Rows], rows: Rows) -> pd.DataFrame:
    """Return one of a table whose columns give Python values, None where one is not known."""
    columns: dict[str, Any] = {}
    for column in table.of(Form.FRAME):
        values = column.exact(rows)
        known = [value for value in values if value is not None]
        dtype: Any
        if known and all(isinstance(value, bool) for value in known):
            dtype = "boolean"
        elif known and all(isinstance(value, float) for value in known):
            dtype = "Float64"
        elif any(isinstance(value, str) for value in known):
            dtype = "string"
        else:
            dtype = "Int64"
        columns[column.key] = pd.array(values, dtype=dtype)
    return _frame(columns)


def write_frames(stream: BinaryIO, frames: Iterable[pd.DataFrame]) -> int:
    """Write frames of equal columns as one csv table; returns the number of rows.

    UTF-8, "\\n" line ends, unknown values empty, texts as cells that no spreadsheet computes.
    """
    cell_of = lru_cache(maxsize=_CACHED)(text_cell)
    rows = 0
    for index, frame in enumerate(frames):
        cells = _frame({str(key): _cells(column, cell_of) for key, column in frame.items()})
        titles = [] if index else [*map(cell_of, cells)]
        text = cells.to_csv(index=False, header=titles or False, lineterminator="\n")
        stream.write(text.encode())
        rows += len(frame)
    return rows


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame


def _values(column: Column[Rows], rows: Rows) -> Any:
    """Return the values of a column as pandas holds them."""
    values = column.get(rows)
    if isinstance(values, CodedTexts):
        return _texts(values)
    numbers = np.asarray(values)
    if not column.optional:
        return numbers
    if numbers.dtype.kind == "f":
        return np.where(numbers < 0, np.nan, numbers)
    return pd.arrays.IntegerArray(numbers.astype(np.int64, copy=False), numbers < 0)


def _texts(column: CodedTexts) -> pd.Categorical:
    """Return the text of each code, made once for each distinct one; -1 has none."""
    places, used = pd.factorize(column.codes)
    texts = (None if code == -1 else column.text_of(code) for code in used.tolist())
    # Numbered here: pandas 2 takes texts for equal that are so up to a NUL.
    number: dict[str, int] = {}
    numbers = [-1 if text is None else number.setdefault(encodable(text), len(number)) for text in texts]
    categorical: pd.Categorical = pd.Categorical.from_codes(
        np.array(numbers, np.int64)[places], pd.Index([*number])
    )
    return categorical


def _cells(column: pd.Series[Any], cell_of: Callable[[str], str]) -> Any:
    """Return the values of a column, its texts as cells."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        cells = [*map(cell_of, column.cat.categories), ""]  # the code of an unknown text is -1
        return np.array(cells, dtype=object)[column.cat.codes.to_numpy()]
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.array
    texts = [cell_of(value) if isinstance(value, str) else value for value in column]
    return pd.Series(texts, dtype=object).array  # an int beside None stays one
