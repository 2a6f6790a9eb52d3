"""The table of causes: why a device was idle, or why its steps began late, most time first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracetui.arrays import Int64s
from tracetui.export.sentences.causes import cause_meanings
from tracetui.export.tables.column import Column, Form, Table, worded
from tracetui.export.tables.common import share_column
from tracetui.units import format_ms


class CauseRows:
    """The causes of some time by name, and the sum of that time."""

    def __init__(self, causes: Mapping[str, int], whole_ns: int) -> None:
        self.rows, self.whole_ns = [*causes.items()], whole_ns

    @property
    def ns(self) -> Int64s:
        """int64[n]: the time of each."""
        return np.array([ns for _, ns in self.rows], np.int64)


CAUSES: Table[CauseRows] = Table(
    (
        worded("cause", "cause", lambda rows: [cause for cause, _ in rows.rows]),
        Column("ns", "time", lambda rows: rows.ns, lambda ns, _: f"{format_ms(ns)} ms", forms=Form.SHOWN),
        share_column(lambda rows: rows.ns, lambda rows: rows.whole_ns),
        worded("meaning", "meaning", lambda rows: [cause_meanings()[cause] for cause, _ in rows.rows]),
    )
)
