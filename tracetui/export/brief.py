"""A JSON document cut down to what a small context holds; what was left out is said in it."""

from __future__ import annotations

import json
from typing import Any

from tracetui.places import shorten

LONGEST_BRIEF = 4200  #: characters: 2,000 tokens; the densest answer on a real trace has 2.13 for each
LONGEST_TEXT = 300  #: characters of a text
LONGEST_QUOTED = 2000  #: characters of a text of a whole answer
MANY = 60  #: entries from which on an object is a table, and no row
#: How many rows lists keep, and those inside of rows: the first pair with which the document fits is taken.
_ROWS = ((40, 8), (20, 4), (10, 2), (8, 1), (6, 0), (4, 0), (3, 0), (2, 0), (1, 0), (0, 0))

Document = dict[str, Any]


def brief_json(document: Document) -> str:
    """Return a document as one short line of JSON, ASCII only."""
    return json.dumps(brief_document(document), separators=(",", ":"), allow_nan=False) + "\n"


def quoted_json(document: Document) -> str:
    """Return a whole document as one line of JSON for an agent, its texts cut to `LONGEST_QUOTED`.

    It is ASCII only, so that nothing in it is invisible.
    """
    return json.dumps(_quoted(document), separators=(",", ":"), allow_nan=False) + "\n"


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return _shown(value, LONGEST_QUOTED)
    if isinstance(value, dict):
        return {shorten(key): _quoted(held) for key, held in value.items()}
    return [*map(_quoted, value)] if isinstance(value, list) else value


def _shown(text: str, longest: int) -> str:
    """Return a text, of a longer one its start."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def brief_document(document: Document, longest: int = LONGEST_BRIEF) -> Document:
    """Return a copy whose JSON has at most `longest` characters, if the rows of its lists allow that.

    Lists keep their first rows, which every document has most important first. `left_out` says how many rows
    were cut of each list, those inside of rows together: {"gaps": 146, "gaps[].pieces": 27}.
    """
    brief: Document = {}
    for outer, inner in _ROWS:
        left_out: dict[str, int] = {}
        brief = {key: _cut(value, key, (outer, inner), left_out) for key, value in document.items()}
        brief["left_out"] = left_out
        if len(json.dumps(brief)) <= longest:
            break
    return brief


def _cut(value: Any, path: str, rows: tuple[int, int], left_out: dict[str, int]) -> Any:
    """Return a value whose lists are cut to `rows[0]` entries, and lists inside those to `rows[1]`."""
    if isinstance(value, str):
        return _shown(value, LONGEST_TEXT)
    if isinstance(value, dict):
        items = [*value.items()]
        if len(items) > MANY:
            items = _first(items, path, rows[0], left_out)
        return {shorten(key): _cut(held, f"{path}.{key}", rows, left_out) for key, held in items}
    if isinstance(value, (list, tuple)):
        kept, inside = _first(value, path, rows[0], left_out), (rows[1], 0)
        return [_cut(held, f"{path}[]", inside, left_out) for held in kept]
    return value


def _first(rows: Any, path: str, limit: int, left_out: dict[str, int]) -> Any:
    """Return the first rows, at most so many, and note how many are cut."""
    if len(rows) > limit:
        left_out[path] = left_out.get(path, 0) + len(rows) - limit
    return rows[:limit]
