"""Rows of answers, for tests that hold one form to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def without_ids(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of JSON as csv and DataFrames have them: those have no ids."""
    return [{key: value for key, value in row.items() if key != "id"} for row in rows]
