"""The tables of a job as pandas DataFrames: the columns of the JSON, a rank, root, link or line a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.export.queries.relations import job_relations
from tracetui.job.job import Job

if TYPE_CHECKING:
    import pandas as pd


def ranks_frame(job: Job, by: str | None = None, step: int | None = None) -> pd.DataFrame:
    """Return a row per rank, by number or by a measure: means of its steps, or one step."""
    return _frame("ranks", job, step, by)


def roots_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per reason why a late rank was late, most lost first; they sum to all waits."""
    return _frame("roots", job, step)


def job_links_frame(job: Job) -> pd.DataFrame:
    """Return a row per link between ranks, most time first."""
    return _frame("job_links", job)


def job_lines_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per line of Python that ranks were idle for, most idle time of all ranks first.

    Idle time in which a device waits for the first task of a step, which is *preparing*, is included.
    """
    return _frame("job_lines", job, step)


def _frame(name: str, job: Job, step: int | None = None, by: str | None = None) -> pd.DataFrame:
    from tracetui.export.data_frame import small_frame  # imports pandas

    relation = job_relations(job, by, step)[name]
    return small_frame(relation.table, relation.rows())
