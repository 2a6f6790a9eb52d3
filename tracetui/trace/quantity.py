"""What a counter counts: its name for people, its unit, and what its samples are to be multiplied by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Track
from tracetui.units import format_bytes, format_duration

_SEPARATOR = " · "  #: between the name of a counter and the key of its samples
#: What stands in brackets after a name: nothing but what units are made of, as it is printed as it is.
_UNIT = re.compile(r"(.*?)\s*\(([A-Za-z0-9%/°µ^*.-]{1,12})\)$")
_ALONE = frozenset({"MHz", "GHz", "KB", "MB", "GB", "B", "us", "ms", "ns", "%", "W", "C", "MB/s", "GB/s"})
_BYTES = {"B": 1, "Bytes": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_FRACTIONS = compile_any(KNOWN.counters.fractions)
_FREQUENCY = compile_any(KNOWN.counters.core_frequencies)

BYTES, TIME = "B", "ns"  #: the units of all sizes, and of lengths of time that the program works out


@dataclass(frozen=True)
class Quantity:
    """What the samples of a series are."""

    name: str  #: as written by the producer, without the unit: never print it unescaped
    unit: str = ""  #: printable: as written, "B" of sizes; "" where the producer does not say
    factor: float = 1.0  #: from what is written to this unit


def quantity_of(track: Track) -> Quantity:
    """Return what the samples of a counter track are.

    Units stand in the key of the samples: "Read(MB/s)", "MHz". A key that only repeats the name, or a part of
    it, is left out. Sizes are given in bytes, 1 KB being 1,024, as in the tables beside the trace.
    """
    return _quantity(track.name)


def is_core_frequency(track: Track) -> bool:
    """Return whether a counter is the frequency of AI cores, in MHz."""
    quantity = quantity_of(track)
    return quantity.unit == "MHz" and bool(_FREQUENCY.match(quantity.name))


def format_value(value: float, unit: str) -> str:
    """Return a finite value with its unit, as people read it: "19,457 MB/s", "2.22 GB", "84.2 %"."""
    if unit == BYTES:
        return format_bytes(round(value))
    if unit == TIME:
        return format_duration(round(value))
    if abs(value) >= 1000:
        number = f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.3g}"
    else:
        number = f"{value:.4g}"
    return f"{number} {unit}".rstrip()


@lru_cache(maxsize=4096)
def _quantity(title: str) -> Quantity:
    name, separator, key = title.rpartition(_SEPARATOR)
    if not separator:
        return Quantity(title)
    match = _UNIT.match(key)
    rest, unit = (match[1], match[2]) if match else ("", key) if key in _ALONE else (key, "")
    if rest and not name.casefold().endswith(rest.casefold()):
        name = f"{name} {rest}"
    if unit == "%" and _FRACTIONS.match(name):
        return Quantity(name, unit, 100.0)
    if unit in _BYTES:
        return Quantity(name, BYTES, float(_BYTES[unit]))
    return Quantity(name, unit)
