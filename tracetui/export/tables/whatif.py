"""The table of single fixes of a job: what a step gains by each, by replay."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.export.tables.column import Table, data, duration
from tracetui.export.tables.common import FirstRows, named, share_column, texts_by, values_of
from tracetui.job.whatif.answer import Trial


class TrialRows(FirstRows):
    """Single fixes of a job; at most `top`, 0 for all."""

    def __init__(self, step_ns: int, rows: Sequence[Trial], top: int = 0) -> None:
        """Take the ns of the mean step as it was, which shares are of."""
        super().__init__(rows, top)
        self.step_ns = step_ns


TRIALS: Table[TrialRows] = Table(
    columns=(
        data("fix", texts_by(lambda trial: trial.fixes[0].text)),
        duration("saves_ns", "saves", values_of("saves_ns")),
        share_column(values_of("saves_ns"), lambda rows: rows.step_ns),
        duration("step_ns", "then a step takes", values_of("step_ns")),
        named("fix", "fix", lambda trial: trial.fixes[0].text, least=20, path=True),
    ),
    kind="fix",
    identity=("fix",),
)
