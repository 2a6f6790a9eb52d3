"""Damage bytes, JSON documents, and csv tables, at random but the same for the same seed."""

from __future__ import annotations

import copy
import csv
import io
import random
from typing import Any

#: What stands where something else should: other types, bounds of integers, hostile text.
_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 5, 0.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
    *(
        255,
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        1 << 53,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) - 1,
        1 << 86,
        -(1 << 63),
    ),
    *(10**9, 10**18, 10**30, -(10**18), 1_736_412_474_714_258, "1736412474714258.990", "inf", "nan", "1e400"),
    *("", " ", "0", "-1", "N/A", "x" * 5000, "9" * 400, "\x1b[31m\x1b]0;owned\x07", "[bold red]x[/]", "=1+1"),
    *("\ud800", "漢字", "a\tb\nc", "\0", "../../etc/passwd", "/dev/zero", "NPU 0", "ProfilerStep#1", "Free"),
    *([], {}, [[]], [None], {"": None}, [1, "2", [3]], {"name": {"name": "x"}}),
)
_BYTES = [
    *(bytes([byte]) for byte in b'{}[]",:\\\0\x1f\x7f\x80\xc3\xff0-.eE+9 \n\t'),
    *(b"\\ud800", b'"ph":"X",', b'"ts":', b"null", b"1e999", b"9" * 45, b"[" * 400, b'{"a":' * 400, b"},{"),
    *("漢".encode(), b"\x1b[31m", b"\xff\xfe", b"\x1f\x8b", b"\xef\xbb\xbf", b"NaN", b"-Infinity"),
]
_CONTAINERS = 2  #: levels whose loss leaves little to read: a document, and the list of its events


def damage_bytes(chooser: random.Random, content: bytes) -> bytes:
    """Cut, repeat, or replace up to some places of a file, or cut its end off."""
    damaged = bytearray(content)
    for _ in range(chooser.choice((1, 1, 2, 5, 20))):
        start = chooser.randrange(len(damaged) + 1)
        stop = start + chooser.choice((0, 1, 2, 9, 200, 5000))
        kind = chooser.randrange(6)
        if kind == 0:
            del damaged[start:stop]
        elif kind == 1:
            damaged[start:stop] = damaged[start:stop] * 2
        elif kind == 2:
            damaged[start:stop] = chooser.choice(_BYTES)
        elif kind == 3:
            damaged[start:stop] = chooser.randbytes(min(stop - start, 9))
        elif kind == 4:
            place = chooser.randrange(len(content) + 1)
            damaged[start:stop] = content[place : place + chooser.choice((1, 20, 300))]
        elif chooser.random() < 0.3:
            del damaged[start:]
    return bytes(damaged)


def damage_document(chooser: random.Random, document: Any, places: int) -> Any:
    """Return a copy of a JSON document (or what a pickle holds) of which some places are changed."""
    holder = [copy.deepcopy(document)]
    for _ in range(places):
        _damage_place(chooser, holder)
    return holder[0]


def _damage_place(chooser: random.Random, holder: list[Any]) -> None:
    """Change one place, found by going down from the top at random."""
    parent: Any = holder
    key: Any = 0
    depth = 0
    while isinstance(parent[key], (dict, list)) and parent[key]:
        if chooser.random() < (0.002 if depth < _CONTAINERS else 0.07):
            break
        parent, depth = parent[key], depth + 1
        key = chooser.choice(list(parent)) if isinstance(parent, dict) else chooser.randrange(len(parent))
    kind = chooser.randrange(8)
    value = parent[key]
    if kind == 0 and parent is not holder:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(value))
    elif kind == 2 and isinstance(parent, dict):
        other = chooser.choice(list(parent))
        parent[key], parent[other] = parent[other], value
    elif kind == 3 and isinstance(parent, list):
        other = chooser.randrange(len(parent))
        parent[key], parent[other] = parent[other], value
    elif kind == 4 and isinstance(parent, dict):
        parent[str(chooser.choice(_ODD_VALUES))[:40]] = parent.pop(key)
    elif kind == 5 and isinstance(value, (int, float)) and value == value and abs(value) < 1e300:
        parent[key] = value + chooser.choice((1, -1, 0.5, 1e6, -1e9, 3 * 86_400_000_000))
    elif kind == 6 and isinstance(value, str):
        parent[key] = value[: chooser.randrange(len(value) + 1)] + chooser.choice(("", "5", "\x1b[1m", "é"))
    else:
        parent[key] = copy.deepcopy(chooser.choice(_ODD_VALUES))


def damage_table(chooser: random.Random, content: bytes) -> bytes:
    """Change some cells, rows, or columns of a csv file."""
    rows = list(csv.reader(io.StringIO(content.decode("utf-8", "replace"))))
    if not rows or not rows[0]:
        return damage_bytes(chooser, content)
    for _ in range(chooser.choice((1, 1, 2, 5))):
        row, column = chooser.randrange(len(rows)), chooser.randrange(len(rows[0]))
        kind = chooser.randrange(8)
        if kind == 0:
            rows = [cells[:column] + cells[column + 1 :] for cells in rows]
        elif kind == 1:
            rows = [cells[: column + 1] + cells[column : column + 1] + cells[column + 1 :] for cells in rows]
        elif kind == 2:
            del rows[row]
        elif kind == 3:
            rows.insert(row, list(rows[row]))
        elif kind == 4:
            for cells in rows[1:]:
                cells[column : column + 1] = [str(chooser.choice(_ODD_VALUES))]
        elif kind == 5:
            rows[row] = rows[row][:column]
        elif kind == 6:
            rows[0][column : column + 1] = [chooser.choice(rows[0] or [""])]
        else:
            rows[row][column : column + 1] = [str(chooser.choice(_ODD_VALUES))]
        if not rows or not rows[0]:
            break
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")
