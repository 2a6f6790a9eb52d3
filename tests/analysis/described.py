"""Results of an analysis in lines of text, so that two of them can be compared: `steps[0].idle_ns 2541`.

Times are told from where the samples start. Columns are told by how many values they have, what these add up
to, alone and times their places, and the first of them: another value, or another order, is another line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from samples.scenarios import START_NS
from tracetui.analysis.links import Links
from tracetui.trace.model import Trace

FIRST, AMONG = 6, 3  #: values of a column, and items of a sequence, that are told one by one
_APART = (Trace, Links)  #: what has tests of its own, and is part of much


def described(name: str, value: Any) -> Iterator[str]:
    """Yield the lines of a value: a line for each number, text and column in it."""
    if isinstance(value, np.ndarray):
        yield f"{name} {_column(value)}"
    elif isinstance(value, _APART) or callable(value):
        return
    elif isinstance(value, Enum):
        yield f"{name} {value.name}"
    elif is_dataclass(value):
        for field in fields(value):
            yield from described(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for key in value._fields:
            yield from described(f"{name}.{key}", getattr(value, key))
    elif isinstance(value, Mapping):
        yield f"{name} has {len(value)}"
        for key, each in [*value.items()][: 2 * AMONG]:
            yield from described(f"{name}[{'|'.join(described('', key)).strip()}]", each)
    elif isinstance(value, Sequence) and not isinstance(value, (str, range)):
        yield f"{name} has {len(value)}"
        for place, each in enumerate([*value][:AMONG]):
            yield from described(f"{name}[{place}]", each)
    else:
        yield f"{name} {_rounded(value)}"


def _column(values: Any) -> str:
    if values.dtype.kind not in "iufb":
        return f"has {values.shape}: {values.ravel()[:FIRST].tolist()}"
    whole = values.dtype.kind != "f"
    flat = values.ravel().astype(np.int64 if whole else np.float64)
    flat = np.where(flat > START_NS // 2, flat - START_NS, flat) if whole else flat
    known = flat if whole else np.nan_to_num(flat)
    sums = known.sum(), (known * (1 + np.arange(len(known)) % 97)).sum()
    first = " ".join(str(_rounded(value)) for value in flat[:FIRST].tolist())
    shape, told = "x".join(map(str, values.shape)), " ".join(str(_rounded(each.item())) for each in sums)
    return f"{shape} sums {told}: {first}"


def _rounded(value: object) -> object:
    """A time from where the samples start, a float without the digits in which machines differ."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value - START_NS if isinstance(value, int) and value > START_NS // 2 else value
