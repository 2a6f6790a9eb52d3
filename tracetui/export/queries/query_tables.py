"""Hand the tables that a query names to DuckDB as numpy columns. Imports no pandas, which takes long.

Of a table only the columns are made whose names stand in the query: a trace of a gigabyte has millions of
events with twenty columns each, and most queries ask for two. Texts are handed over once each, beside a
number for each row; a view puts the two together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int64s
from tracetui.export.cells import encodable
from tracetui.export.tables.column import CodedTexts, Column, Form, Values

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from tracetui.export.queries.relations import Relations

_WORD = re.compile(r"\w+")
#: Nodes of a parsed query that are about columns without naming them, or that hide another query.
_UNNAMED = frozenset({"STAR", "POSITIONAL_REFERENCE", "SHOW_REF", "PIVOT", "NATURAL", "TABLE_FUNCTION"})
#: From so many rows on a text that stands in so many of them is handed over once.
_MANY, _OFTEN = 1 << 16, 8


def query_words(sql: str) -> frozenset[str]:
    """Return the words of a query or a name in lower case, those of its comments and texts too."""
    return frozenset(word.lower() for word in _WORD.findall(sql))


def register_tables(connection: DuckDBPyConnection, relations: Relations, sql: str) -> None:
    """Make the tables that a query names known to a connection, with the columns it may be about."""
    words = query_words(sql)
    names_columns = _names_columns(connection, sql)
    for name, relation in relations.items():
        if name in words:
            columns = relation.table.of(Form.FRAME)
            if names_columns:
                named = [column for column in columns if query_words(column.key) <= words]
                columns = named or columns[:1]  # rows are counted by any
            _register(connection, name, columns, relation.rows())


def _names_columns(connection: DuckDBPyConnection, sql: str) -> bool:
    """Return whether all columns that a query is about stand in it, as DuckDB parses it."""
    try:
        parsed = json.loads(
            connection.execute("select json_serialize_sql(?::varchar)", [sql]).fetchall()[0][0]
        )
    except RecursionError:
        return False
    return not parsed["error"] and names_columns(parsed)


def names_columns(parsed: dict[str, Any]) -> bool:
    """Return whether all columns that a parsed query is about stand in it.

    They do not where it takes all of a table, a column by its place, or a row as a value.
    """
    tables, values = set[str](), set[str]()
    nodes: list[Any] = [parsed]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            nodes += node.values()
            kinds = [node.get(key) for key in ("class", "type", "ref_type")]
            if any(isinstance(kind, str) and kind in _UNNAMED for kind in kinds):  # `type` may be an object
                return False
            if node.get("column_name_alias"):
                return False
            if "table_name" in node:
                tables |= {node["table_name"].lower(), node.get("alias", "").lower()}
            values |= {name.lower() for name in node.get("column_names", ())[-1:]}
    return tables.isdisjoint(values)


class _ColumnArrays(NamedTuple):
    """A column of n rows in the form that DuckDB reads."""

    values: NDArray[Any]  #: [n] numbers, flags, or str as objects; else the number of a text
    is_known: Bools | None = None  #: [n]; None where all are
    numbers: Int64s | None = None  #: [texts]: number of each text
    texts: NDArray[np.object_] | None = None  #: each once


def _register(connection: DuckDBPyConnection, name: str, columns: Sequence[Column[Any]], rows: Any) -> None:
    """Make a table known, as a view of the arrays of its columns: what looks into `rows`."""
    arrays: dict[str, NDArray[Any]] = {}
    selected: list[str] = []
    joined: list[str] = []
    for place, (column, called) in enumerate(zip(columns, _distinct_names(columns))):
        made = _column_arrays(column.get(rows), column.optional)
        arrays[f"column{place}"] = made.values
        value = f"rows.column{place}"
        if made.texts is not None:
            table = f"texts{place}_of_{name}"
            connection.register(table, {"number": made.numbers, "text": made.texts})
            joined.append(f"left join {table} on {table}.number = {value}")
            value = f"{table}.text::varchar"
        elif made.values.dtype == object:
            value += "::varchar"
        if made.is_known is not None:
            arrays[f"known{place}"] = made.is_known
            value = f"case when rows.known{place} then {value} end"
        selected.append(f"{value} as {_quoted(called)}")
    connection.register(f"rows_of_{name}", arrays)
    source = " ".join((f"rows_of_{name} as rows", *joined))
    connection.execute(f"create view {name} as select {', '.join(selected)} from {source}")


def _column_arrays(values: Values, optional: bool) -> _ColumnArrays:
    """Return the values of a column as arrays; with `optional` numbers below 0 are unknown."""
    if isinstance(values, CodedTexts):
        return _text_arrays(values)
    if not isinstance(values, np.ndarray) or values.dtype == object:
        return _mixed_arrays([*values])
    return _ColumnArrays(values, values >= 0 if optional else None)


def _text_arrays(coded: CodedTexts) -> _ColumnArrays:
    """Return texts once each; of few rows, and where many have their own, one a row, which keeps the order.

    DuckDB may turn a join around unless one of its tables is much longer, and so rows come in another order.
    """
    codes = coded.codes
    used = _distinct(codes)
    text_of = {code: coded.text_of(code) for code in used.tolist() if code != -1}
    numbers = np.array([code for code, text in text_of.items() if text is not None], np.int64)
    texts = np.array([encodable(text) for text in text_of.values() if text is not None], object)
    if not len(numbers) or (len(codes) >= _MANY and _OFTEN * len(numbers) <= len(codes)):
        return _ColumnArrays(codes, None, numbers, texts)
    place = np.searchsorted(numbers, codes)
    is_known = numbers[np.minimum(place, len(numbers) - 1)] == codes
    return _ColumnArrays(np.where(is_known, texts[place * is_known], ""), is_known)


def _distinct(codes: NDArray[Any]) -> NDArray[Any]:
    """Return the codes that occur, ascending; they are counted, not sorted, where they are close together."""
    if not len(codes):
        return codes
    low, high = int(codes.min()), int(codes.max())
    if high - low > 4 * len(codes):
        return np.unique(codes)
    occurs = np.zeros(high - low + 1, np.bool_)
    occurs[codes - low] = True
    return np.flatnonzero(occurs) + low


def _mixed_arrays(values: Sequence[Any]) -> _ColumnArrays:
    """Return Python values, None where one is not known: texts, numbers, or flags."""
    known = [value for value in values if value is not None]
    is_known = None
    if len(known) < len(values):
        is_known = np.array([value is not None for value in values], np.bool_)
    if any(isinstance(value, str) for value in known):
        texts = ["" if value is None else encodable(str(value)) for value in values]
        return _ColumnArrays(np.array(texts, object), is_known)
    dtype: type[Any] = np.int64
    if known and all(isinstance(value, (bool, np.bool_)) for value in known):
        dtype = np.bool_
    elif any(isinstance(value, (float, np.floating)) for value in known):
        dtype = np.float64
    return _ColumnArrays(np.array([0 if value is None else value for value in values], dtype), is_known)


def _distinct_names(columns: Sequence[Column[Any]]) -> Iterator[str]:
    """Yield the name of each column; names that differ in case alone get different ends."""
    taken: set[str] = set()
    for column in columns:
        name = encodable(column.key)
        while name.lower() in taken:
            name += "_1"
        taken.add(name.lower())
        yield name


def _quoted(name: str) -> str:
    """Return a name as SQL takes any."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
