"""The tables of a job as pandas DataFrames: the columns of the JSON, a rank, root, link or line a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.export.job.document import ranked_rows, root_breakdown
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import LINES, RANKS, ROOTS, AnyJobRows, JobRows, RootRows
from tracetui.export.tables.job_links import LINKS
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.network_links import job_links

if TYPE_CHECKING:
    import pandas as pd


def ranks_frame(job: Job, by: str | None = None, step: int | None = None) -> pd.DataFrame:
    """Return a row per rank, by number or by a measure: means of its steps, or one step."""
    return _frame(RANKS, ranked_rows(job, by, step))


def roots_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per reason why a late rank was late, most lost first; they sum to all waits."""
    return _frame(ROOTS, RootRows(job, root_breakdown(job, step).roots))


def job_links_frame(job: Job) -> pd.DataFrame:
    """Return a row per link between ranks, most time first."""
    return _frame(LINKS, JobRows(job, job_links(job)))


def job_lines_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per line of Python that ranks were idle for, most idle time of all ranks first."""
    return _frame(LINES, JobRows(job, job_lines(job, step)))


def _frame(table: Table[AnyJobRows], rows: AnyJobRows) -> pd.DataFrame:
    from tracetui.export.data_frame import small_frame  # imports pandas

    return small_frame(table, rows)
