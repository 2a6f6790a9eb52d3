"""The tables of a job as pandas DataFrames: the columns of the JSON, a rank, root, link or line a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from tracetui.export.cells import text_cell
from tracetui.export.job.document import root_breakdown
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import LINES, RANKS, ROOTS, AnyJobRows, JobRows, RankRows, RootRows
from tracetui.export.tables.job_links import LINKS
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.network_links import job_links
from tracetui.job.rank_table import rank_rows, sorted_by

if TYPE_CHECKING:
    import pandas as pd


def ranks_frame(job: Job, by: str | None = None, step: int | None = None) -> pd.DataFrame:
    """Return a row per rank, by number or by a measure: means of its steps, or one step."""
    rows = rank_rows(job, step)
    return _frame(RANKS, RankRows(job, sorted_by(rows, by) if by else rows))


def roots_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per reason why a late rank was late, most lost first; they sum to all waits."""
    return _frame(ROOTS, RootRows(job, root_breakdown(job, step).roots))


def job_links_frame(job: Job) -> pd.DataFrame:
    """Return a row per link between ranks, most time first."""
    return _frame(LINKS, JobRows(job, job_links(job)))


def job_lines_frame(job: Job, step: int | None = None) -> pd.DataFrame:
    """Return a row per line of Python that ranks were idle for, most idle time of all ranks first."""
    return _frame(LINES, JobRows(job, job_lines(job, step)))


def write_ranks(stream: BinaryIO, job: Job, by: str | None, step: int | None) -> int:
    """Write the table of ranks as csv; returns the number of rows."""
    frame = ranks_frame(job, by, step)
    for name in frame.columns[frame.dtypes == "string"]:
        frame[name] = frame[name].map(text_cell, na_action="ignore")
    stream.write(frame.to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return len(frame)


def _frame(table: Table[AnyJobRows], rows: AnyJobRows) -> pd.DataFrame:
    from tracetui.export.data_frame import small_frame  # imports pandas

    return small_frame(table, rows)
