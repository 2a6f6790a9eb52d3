"""The tables and documents of a run: in the database that the trace is, else in files beside the trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracetui.siblings.beside import find_beside, read_object
from tracetui.siblings.database import (
    MATRIX,
    STEPS,
    TIMES,
    communication_in_database,
    links_in_database,
    sums_with,
)
from tracetui.siblings.database_tables import has_in_database, table_in_database
from tracetui.siblings.formats import STEP_TIMES
from tracetui.siblings.tables import Format, SiblingTable, find_table, read_beside

COMMUNICATION = "communication.json"
LINKS = "communication_matrix.json"
_SUMS = {STEP_TIMES.name: STEPS, COMMUNICATION: TIMES, LINKS: MATRIX}
_DOCUMENTS = {COMMUNICATION: communication_in_database, LINKS: links_in_database}


def read_of_run(trace: Path, format_: Format) -> SiblingTable | None:
    """Read a table of the run whose trace is at a path; None where nothing tells it. Never fails.

    A file beside a database tells what that lost.
    """
    table = table_in_database(trace, format_)
    return table if table is not None and table.rows else read_beside(trace, format_) or table


def has_of_run(trace: Path, format_: Format) -> bool:
    """Return whether the run may have such a table: what tells it is there, and is not read."""
    return has_in_database(trace, format_) or find_table(trace, format_) is not None


def document_of_run(trace: Path, name: str) -> Mapping[str, Any] | None:
    """Return a document of the run; None where nothing tells it. Raises Refusal."""
    members = _DOCUMENTS[name](trace) if name in _DOCUMENTS else None
    if members is not None:
        return members
    path = find_beside(trace, name)
    return None if path is None else read_object(path)


def source_of(trace: Path, name: str) -> str:
    """Return the name of the file that tells the producer's sums: a document, or the database with them."""
    sums = sums_with(trace, _SUMS[name]) if name in _SUMS else None
    return name if sums is None else sums.name
