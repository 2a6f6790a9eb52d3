"""The table of single fixes of a job: what a step gains by each, by replay."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.export.tables.column import Column, Form, Table, duration
from tracetui.export.tables.common import named, share_column, texts_by, values_of
from tracetui.job.whatif.answer import JobWhatIf, Trial


class TrialRows:
    """Single fixes of a job."""

    def __init__(self, answer: JobWhatIf, rows: Sequence[Trial]) -> None:
        self.answer, self.rows = answer, rows


TRIALS: Table[TrialRows] = Table(
    columns=(
        Column("fix", "", texts_by(lambda trial: trial.fixes[0].text), forms=Form.DATA),
        duration("saves_ns", "saves", values_of("saves_ns")),
        share_column(values_of("saves_ns"), lambda rows: rows.answer.step_ns),
        duration("step_ns", "then a step takes", values_of("step_ns")),
        named("fix", "fix", lambda trial: trial.fixes[0].text, least=20, path=True),
    ),
)
