"""JSON documents as text, and the version of their schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

SCHEMA = 1
#: Keys of documents that are tables.
ROWS = ("gaps", "hotspots", "modules", "frames", "scopes", "operators", "kernels", "advice", "breaches")
_AT_A_TIME = 256  # rows


def json_texts(document: dict[str, Any]) -> Iterator[str]:
    """Yield a document as JSON text, ASCII only, so that no terminal obeys a name; a line for a row.

    Rows come some hundreds at a time: the text of all of them is as large as they are.
    """
    rows = next((key for key in ROWS if key in document), None)
    if rows is None:
        yield json.dumps(document, indent=2, allow_nan=False) + "\n"
        return
    head = "".join(
        f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in document.items() if key != rows
    )
    yield f'{{{head}"{rows}": [\n'
    lines, separator = map(json.JSONEncoder(allow_nan=False).encode, document[rows]), ""
    while part := [*islice(lines, _AT_A_TIME)]:
        yield separator + ",\n".join(part)
        separator = ",\n"
    yield "\n]}\n"
