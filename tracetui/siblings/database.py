"""The documents that text exports have beside the trace, as a database tells them.

A trace that is a database has them in itself, or in the producer's sums beside it (`analysis.db`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tracetui.databases.names import SUMS, is_database
from tracetui.databases.opening import Refused
from tracetui.databases.tables import Database

#: Tables of the sums: of steps, of collectives, of links.
STEPS, TIMES, MATRIX = "StepTraceTime", "CommAnalyzerTime", "CommAnalyzerMatrix"
_LARGEST = 1 << 24  # characters of a document in a cell


def sums_beside(trace: Path) -> Path | None:
    """Return the database of the producer's sums beside a trace; None where there is none."""
    for name in SUMS:
        path = trace.parent / name
        if path.is_file():
            return path
    return None


def sums_with(trace: Path, table: str) -> Path | None:
    """Return the producer's sums beside a trace that is a database; None where they lack such a table."""
    sums = sums_beside(trace) if is_database(trace) else None
    return sums if sums is not None and _rows_of(sums, table, (), 1) else None


def metadata_in_database(trace: Path) -> dict[str, Any]:
    """Return the values of META_DATA that are JSON, by name; {} where it has none."""
    document: dict[str, Any] = {}
    if is_database(trace):
        for row in _rows_of(trace, "META_DATA", ("name", "value")):
            name, value = row.get("name"), row.get("value")
            if isinstance(name, str) and isinstance(value, str) and len(value) < _LARGEST:
                try:
                    document[name] = json.loads(value)
                except (ValueError, RecursionError):
                    continue
    return document


def host_in_database(trace: Path) -> str | None:
    """Return the name of the host that HOST_INFO tells, as written: never print it unescaped."""
    rows = _rows_of(trace, "HOST_INFO", ("hostName",)) if is_database(trace) else []
    names = [row["hostName"] for row in rows if isinstance(row.get("hostName"), str) and row["hostName"]]
    return names[0] if names else None


def communication_in_database(trace: Path) -> dict[str, Any] | None:
    """Return the sums of collectives as communication.json has them; None where none are told."""
    sums = sums_with(trace, TIMES)
    if sums is None:
        return None
    columns = ("hccl_op_name", "group_name", "transit_time", "wait_time", "step", "type")
    document: dict[str, Any] = {}
    for row in _rows_of(sums, TIMES, columns, 1 << 20):
        times = {"Transit Time(ms)": row.get("transit_time"), "Wait Time(ms)": row.get("wait_time")}
        key = f"{row.get('hccl_op_name')}@{row.get('group_name')}"
        _kind_of(document, row)[key] = {"Communication Time Info": times}
    return document or None


def links_in_database(trace: Path) -> dict[str, Any] | None:
    """Return the sums of links as communication_matrix.json has them; None where none are told."""
    sums = sums_with(trace, MATRIX)
    if sums is None:
        return None
    columns = (
        *("hccl_op_name", "group_name", "src_rank", "dst_rank", "transport_type"),
        *("transit_size", "transit_time", "step", "type", "op_name"),
    )
    document: dict[str, Any] = {}
    for row in _rows_of(sums, MATRIX, columns, 1 << 20):
        links = _kind_of(document, row).setdefault(f"{row.get('hccl_op_name')}@{row.get('group_name')}", {})
        links[f"{row.get('src_rank')}-{row.get('dst_rank')}"] = {
            "Transport Type": row.get("transport_type"),
            "Transit Size(MB)": row.get("transit_size"),
            "Transit Time(ms)": row.get("transit_time"),
            "Op Name": row.get("op_name"),
        }
    return document or None


def _kind_of(document: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    kind: dict[str, Any] = document.setdefault(str(row.get("step")), {}).setdefault(str(row.get("type")), {})
    return kind


def _rows_of(path: Path, table: str, columns: Sequence[str], limit: int = 1000) -> list[dict[str, Any]]:
    try:
        with Database(path) as database:
            return database.first_rows(table, columns, limit)
    except (Refused, OSError):
        return []
