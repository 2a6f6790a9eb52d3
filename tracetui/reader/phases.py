"""Which table an event belongs to, by its phase. Works on the phases of a whole block at once."""

from __future__ import annotations

from typing import Any

SLICE, BEGIN, END, COUNTER, START, STEP, FINISH, INSTANT, METADATA, UNKNOWN = range(10)  #: kinds of events

_KINDS = {
    "X": SLICE,
    "B": BEGIN,
    "E": END,
    "C": COUNTER,
    "s": START,
    "t": STEP,
    "f": FINISH,
    "i": INSTANT,
    "I": INSTANT,
    "M": METADATA,
}
_KIND_OF_CODE = bytes([_KINDS.get(chr(code), UNKNOWN) for code in range(256)])


def _mask_of(*kinds: int) -> bytes:
    return bytes([kind in kinds for kind in range(256)])


#: For `bytes.translate` of kinds: 1 for those of a table, 0 for all others.
TABLES = {
    "slice": _mask_of(SLICE),
    "begin": _mask_of(BEGIN),
    "end": _mask_of(END),
    "counter": _mask_of(COUNTER),
    "flow": _mask_of(START, STEP, FINISH),
    "instant": _mask_of(INSTANT),
}
OF_METADATA = _mask_of(METADATA)
OF_UNKNOWN = _mask_of(UNKNOWN)
OF_TABLES = _mask_of(*range(METADATA))


def kinds_of(phases: list[Any]) -> bytes:
    """Return the kind of each phase, one byte each; raises TypeError where one isn't text."""
    try:
        return bytes(map(ord, phases)).translate(_KIND_OF_CODE)
    except (TypeError, ValueError):  # not all are one character, below 256
        if not all(isinstance(phase, str) for phase in phases):
            raise TypeError from None
        return bytes([_KINDS.get(phase, UNKNOWN) for phase in phases])
