"""The tables of limits, and of where they are exceeded. People read the latter as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tracetui.analysis.limits import Limit
from tracetui.export.tables.column import Column, Form, Table, json_only
from tracetui.export.tables.common import objects_by, texts_by, texts_of, values_of


@dataclass(frozen=True)
class LimitRows:
    """Some limits, or where some are exceeded."""

    rows: Sequence[Any]


def _number(key: str, number_of: Callable[[Any], float | None]) -> Column[LimitRows]:
    """Return a number of each row; None where there is none."""
    return Column(key, "", objects_by(number_of), forms=Form.JSON)


def _measure(measure_of: Callable[[Any], str]) -> Column[LimitRows]:
    return Column("measure", "", texts_by(measure_of), forms=Form.JSON)


def _integer(key: str, name: str) -> Column[LimitRows]:
    return Column(key, "", values_of(name), forms=Form.JSON)


def _allowed(limit_of: Callable[[Any], Limit]) -> tuple[Column[LimitRows], ...]:
    """Return the two ways in which a limit is given, of which one is."""

    def share(row: Any) -> float | None:
        allowed = limit_of(row).share
        return None if allowed is None else float(allowed)

    return (_number("allowed_share", share), _number("allowed_ns", lambda row: limit_of(row).ns))


_DEVICE: Column[LimitRows] = Column("device", "", texts_of("device"), forms=Form.JSON)
_MEASURE_OF_BREACH = _measure(lambda breach: breach.limit.measure)

LIMITS: Table[LimitRows] = Table((_measure(lambda limit: limit.measure), *_allowed(lambda limit: limit)))

#: Where devices, or steps on them, pass a limit.
BREACHES: Table[LimitRows] = Table(
    (
        _DEVICE,
        _number("step", lambda breach: breach.step),
        _MEASURE_OF_BREACH,
        _integer("measured_ns", "measured_ns"),
        _integer("window_ns", "window_ns"),
        *_allowed(lambda breach: breach.limit),
    )
)

#: Where ranks of a job pass a limit.
JOB_BREACHES: Table[LimitRows] = Table(
    (
        _integer("rank", "rank"),
        _MEASURE_OF_BREACH,
        _integer("measured_ns", "measured_ns"),
        _number(
            "measured_share", lambda breach: breach.measured_ns / breach.whole_ns if breach.whole_ns else None
        ),
    )
)

MEMORY_LIMITS: Table[LimitRows] = Table(
    (_measure(lambda limit: limit.measure), _integer("allowed_bytes", "bytes"))
)

#: Where devices pass a limit on memory.
MEMORY_BREACHES: Table[LimitRows] = Table(
    (
        _DEVICE,
        _MEASURE_OF_BREACH,
        _integer("measured_bytes", "bytes"),
        json_only("steps", lambda rows: [[*breach.steps] for breach in rows.rows]),
        _number("allowed_bytes", lambda breach: breach.limit.bytes),
    )
)
