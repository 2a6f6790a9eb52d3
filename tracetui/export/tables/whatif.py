"""The table of single fixes of a job: what a step gains by each, by replay."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.export.tables.column import Table, data, duration
from tracetui.export.tables.common import named, share_column, texts_by, values_of
from tracetui.job.whatif.answer import Trial


class TrialRows:
    """Single fixes of a job."""

    def __init__(self, step_ns: int, rows: Sequence[Trial]) -> None:
        """Take the ns of the mean step as it was, which shares are of."""
        self.step_ns, self.rows = step_ns, rows


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
