"""The table of the phases of a job: what its ranks do in the ranges that people mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tracetui.arrays import Floats, Int64s
from tracetui.export.tables.column import Column, Form, Table, count, data, duration, json_only
from tracetui.export.tables.common import named, numbers_by, texts_of, values_of
from tracetui.export.tables.job import JobRows, ns_by_cause
from tracetui.job.job import Job
from tracetui.job.phases import Phase
from tracetui.language import translate

_WIDE = Form.MARKDOWN | Form.VIEWER  #: what a terminal of 80 columns has no room for


class PhaseRows(JobRows):
    """The phases of a job."""

    def __init__(
        self,
        job: Job,
        rows: Sequence[Phase],
        saves: Mapping[str, int] | None = None,
        step_ns: int = 0,
        error: float = 0.0,
    ) -> None:
        """Take what a step of `step_ns` gains by the fix of each phase, by name, and the replay's error."""
        super().__init__(job, rows)
        self.saves, self.step_ns, self.error = saves or {}, step_ns, error


def _saves(rows: JobRows) -> Int64s:
    saves = rows.saves if isinstance(rows, PhaseRows) else {}
    return np.array([saves.get(phase.name, -1) for phase in rows.rows], np.int64)


def _saving(rows: JobRows, _: Form) -> bool:
    return isinstance(rows, PhaseRows) and bool(rows.saves)


def _spread(rows: JobRows) -> Floats:
    return np.array([phase.spread for phase in rows.rows], np.float64)


def phases_title() -> str:
    """Return the title of the table."""
    return translate("Phases: marked ranges, and all that devices do meanwhile, summed over ranks")


PHASES: Table[JobRows] = Table(
    columns=(
        data("name", texts_of("name")),
        json_only("ranks", lambda rows: [list(phase.ranks) for phase in rows.rows]),
        count("count", "count", values_of("count")),
        duration("time_ns", "total", values_of("time_ns"), forms=_WIDE | Form.DATA),
        duration("mean_ns", "mean", values_of("mean_ns"), forms=Form.SHOWN | Form.FRAME),
        duration("longest_ns", "longest", values_of("longest_ns"), forms=Form.FRAME),
        duration("computing_ns", "computing", values_of("computing_ns")),
        duration("exposed_communication_ns", "communication", values_of("exposed_ns")),
        duration("idle_ns", "idle", values_of("idle_ns")),
        duration("waits_ns", "waits", values_of("waits_ns"), forms=Form.SHOWN | Form.FRAME),
        duration("saves_ns", "saves", _saves, forms=_WIDE | Form.FRAME, optional=True, when=_saving),
        json_only("causes", ns_by_cause),
        data("waits_for", texts_of("waits_for")),
        Column("spread", "spread", _spread, lambda share, _: f"{share * 100:.0f} %", _WIDE | Form.DATA),
        count("ranks", "ranks", numbers_by(lambda phase: len(phase.ranks)), forms=_WIDE | Form.FRAME),
        named("waits_for", "waits for", lambda phase: phase.waits_for, unknown="", least=8),
        named("name", "phase", lambda phase: phase.name, least=12),
    ),
    kind="phase",
    identity=("name",),
)
