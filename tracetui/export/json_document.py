"""JSON documents as text, and the version of their schema."""

from __future__ import annotations

import json
from typing import Any

SCHEMA = 1
#: Keys of documents that are tables.
ROWS = ("gaps", "hotspots", "modules", "frames", "scopes", "operators", "kernels", "advice", "breaches")


def dumps(document: dict[str, Any]) -> str:
    """Return a document as JSON text, ASCII only, so that no terminal obeys a name; a line for a row."""
    rows = next((key for key in ROWS if key in document), None)
    if rows is None:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    head = "".join(
        f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in document.items() if key != rows
    )
    lines = ",\n".join(json.dumps(row, allow_nan=False) for row in document[rows])
    return f'{{{head}"{rows}": [\n{lines}\n]}}\n'
