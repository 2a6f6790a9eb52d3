"""The table of the stages of a pipeline: how they work, and what their bubbles consist of."""

from __future__ import annotations

from tracetui.export.tables.column import Column, Form, Table, count, duration, json_only
from tracetui.export.tables.common import numbers_by, values_of
from tracetui.export.tables.job import JobRows

_WIDE = Form.MARKDOWN | Form.VIEWER  #: what a terminal of 80 columns has no room for

PIPELINE_STAGES: Table[JobRows] = Table(
    columns=(
        Column("stage", "stage", values_of("number")),
        json_only("ranks", lambda rows: [list(stage.ranks) for stage in rows.rows]),
        count("ranks", "ranks", numbers_by(lambda stage: len(stage.ranks)), forms=_WIDE | Form.FRAME),
        count("microbatches", "batches", values_of("microbatches"), forms=_WIDE | Form.DATA, optional=True),
        duration("warmup_ns", "warm-up", values_of("warmup_ns")),
        duration("steady_ns", "steady", values_of("steady_ns"), forms=_WIDE | Form.DATA),
        duration("drain_ns", "drain", values_of("drain_ns")),
        duration("bubble_ns", "bubble", values_of("bubble_ns")),
        duration("schedule_ns", "schedule", values_of("schedule_ns")),
        duration("imbalance_ns", "imbalance", values_of("imbalance_ns")),
        duration("jitter_ns", "jitter", values_of("jitter_ns")),
        duration("late_host_ns", "late host", values_of("late_host_ns")),
    ),
    kind="pipeline-stage",
    identity=("stage",),
)
