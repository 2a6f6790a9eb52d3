"""The phases of a job as JSON, as text and as Markdown, and as csv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from tracetui.export import markdown
from tracetui.export.cells import text_cell
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.tables.column import records
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.phases import PHASES, phases_title
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, wrapped
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.job.phases import job_phases, without_ranges
from tracetui.language import counted, in_english, translate
from tracetui.trace.clean import printable
from tracetui.units import format_duration

if TYPE_CHECKING:
    import pandas as pd

TOP = 20  #: phases that are listed


@in_english()
def phases_document(job: Job) -> dict[str, Any]:
    """Return the document of the phases of a job; times are sums over all ranges and ranks."""
    return {"schema": SCHEMA, "phases": records(PHASES, JobRows(job, job_phases(job)))}


def phases_text(job: Job, width: int, top: int = TOP) -> str:
    """Return the phases as text; at most `top`, 0 for all."""
    lines = [head_words(job), ""]
    sentences = _sentences(job)
    for sentence in sentences:
        lines += wrapped(sentence, width, later=MARGIN)
    lines += [""] if sentences else []
    rows, more = _rows(job, top)
    if rows.rows:
        lines += [phases_title(), *text_table(PHASES, rows, width)]
        lines += [f"{MARGIN}{more}"] if more else []
        lines.append("")
    return "\n".join(lines)


def phases_markdown(job: Job, top: int = TOP) -> str:
    """Return the phases as Markdown; at most `top`, 0 for all."""
    lines = [f"## {markdown.plain(head_words(job))}", ""]
    lines += [markdown.plain(sentence) for sentence in _sentences(job)] + [""]
    rows, more = _rows(job, top)
    if rows.rows:
        lines += [f"### {phases_title()}", "", *markdown_table(PHASES, rows), ""]
        lines += [more, ""] if more else []
    return "\n".join(lines).rstrip() + "\n"


def phases_frame(job: Job) -> pd.DataFrame:
    """Return a row per name of the ranges that people mark, most time first; sums of all ranges and ranks."""
    from tracetui.export.data_frame import small_frame  # imports pandas

    return small_frame(PHASES, JobRows(job, job_phases(job)))


def write_phases(stream: BinaryIO, job: Job) -> int:
    """Write the phases as csv; returns their number."""
    frame = phases_frame(job)
    for name in frame.columns[frame.dtypes == "string"]:
        frame[name] = frame[name].map(text_cell, na_action="ignore")
    stream.write(frame.to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return len(frame)


def _rows(job: Job, top: int) -> tuple[JobRows, str]:
    rows = JobRows(job, job_phases(job))
    shown = rows.first(top)
    left = len(rows.rows) - len(shown.rows)
    return shown, counted(left, "1 more", "{count} more") if left else ""


def _sentences(job: Job) -> list[str]:
    """Return which phase waits longest for another one, and what is not known."""
    phases = job_phases(job)
    found = []
    if not phases:
        found.append(translate("No ranges are marked (msTX, NVTX, record_function)."))
    waiting = [(phase.waits_by[phase.waits_for], phase) for phase in phases if phase.waits_for is not None]
    if waiting:
        ns, phase = max(waiting, key=lambda pair: pair[0])
        found.append(
            translate(
                "{phase} waits {time} for {other}.",
                phase=printable(phase.name),
                time=format_duration(ns),
                other=printable(phase.waits_for or ""),
            )
        )
    old = without_ranges(job)
    if old:
        ranks = ranks_in_words(list(old), len(job.ranks))
        found.append(
            translate("The digests of {ranks} are too old to know ranges: make them again.", ranks=ranks)
        )
    return found
