"""The tables of limits, and of where they are exceeded. People read the latter as sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracetui.analysis.limits import Limit
from tracetui.export.tables.column import Column, Table, json_only
from tracetui.export.tables.common import FirstRows, objects_by, texts_by, texts_of, values_of


def _allowed(limit_of: Callable[[Any], Limit]) -> tuple[Column[FirstRows], ...]:
    """Return the two ways in which a limit is given, of which one is."""

    def share(row: Any) -> float | None:
        allowed = limit_of(row).share
        return None if allowed is None else float(allowed)

    return (
        json_only("allowed_share", objects_by(share)),
        json_only("allowed_ns", objects_by(lambda row: limit_of(row).ns)),
    )


_DEVICE: Column[FirstRows] = json_only("device", texts_of("device"))
_MEASURE: Column[FirstRows] = json_only("measure", texts_of("measure"))
_MEASURE_OF_BREACH: Column[FirstRows] = json_only("measure", texts_by(lambda breach: breach.limit.measure))

LIMITS: Table[FirstRows] = Table((_MEASURE, *_allowed(lambda limit: limit)))

#: Where devices, or steps on them, pass a limit.
BREACHES: Table[FirstRows] = Table(
    (
        _DEVICE,
        json_only("step", objects_by(lambda breach: breach.step)),
        _MEASURE_OF_BREACH,
        json_only("measured_ns", values_of("measured_ns")),
        json_only("window_ns", values_of("window_ns")),
        *_allowed(lambda breach: breach.limit),
    )
)

#: Where ranks of a job pass a limit.
JOB_BREACHES: Table[FirstRows] = Table(
    (
        json_only("rank", values_of("rank")),
        _MEASURE_OF_BREACH,
        json_only("measured_ns", values_of("measured_ns")),
        json_only(
            "measured_share",
            objects_by(lambda breach: breach.measured_ns / breach.whole_ns if breach.whole_ns else None),
        ),
    )
)

MEMORY_LIMITS: Table[FirstRows] = Table((_MEASURE, json_only("allowed_bytes", values_of("bytes"))))

#: Where devices pass a limit on memory.
MEMORY_BREACHES: Table[FirstRows] = Table(
    (
        _DEVICE,
        _MEASURE_OF_BREACH,
        json_only("measured_bytes", values_of("bytes")),
        json_only("steps", lambda rows: [[*breach.steps] for breach in rows.rows]),
        json_only("allowed_bytes", objects_by(lambda breach: breach.limit.bytes)),
    )
)
