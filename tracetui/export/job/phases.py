"""The phases of a job as JSON, as a report, and as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracetui.export.job.report import Report, table_section
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.sentences.notes import job_notes
from tracetui.export.tables.column import records
from tracetui.export.tables.phases import PHASES, PhaseRows, phases_title
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.job.phases import job_phases, without_ranges
from tracetui.job.whatif.answer import NoReplay, Replays
from tracetui.job.whatif.fixes import Fix, Target
from tracetui.language import in_english, restate, translate
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_error, format_percent

if TYPE_CHECKING:
    import pandas as pd

_TOP = 20  # phases that are listed


def phase_rows(job: Job, replays_of: Callable[[Job], Replays] = Replays) -> PhaseRows:
    """Return the phases of a job, and what a step gains where each takes no rank longer than its peers.

    `replays_of` makes the replays of a job, or has them already.
    """
    phases = job_phases(job)
    if not phases or len(job.ranks) < 2:
        return PhaseRows(job, phases)
    fixes = {phase.name: Fix(Target.PHASE, phase=phase.name) for phase in phases}
    try:
        replays = replays_of(job)
    except NoReplay:
        return PhaseRows(job, phases)
    saves = replays.saves([*fixes.values()])
    by_name = {name: max(saves[fix], 0) for name, fix in fixes.items() if fix in saves}
    return PhaseRows(job, phases, by_name, replays.step_ns, replays.error)


@in_english()
def phases_document(rows: PhaseRows) -> dict[str, Any]:
    """Return the document of the phases of a job; times are sums over all ranges and ranks."""
    return {"schema": SCHEMA, "phases": records(PHASES, rows)}


def phases_report(rows: PhaseRows, top: int | None) -> Report:
    """Return the report of the phases; at most `top`, 0 for all."""
    section = table_section(phases_title(), PHASES, rows, _TOP if top is None else top)
    sections, notes = [section] if rows.rows else [], job_notes(rows.job, has_means=False)
    return Report(head_words(rows.job), phases_sentences(rows), sections, notes)


def phases_frame(job: Job) -> pd.DataFrame:
    """Return a row per name of the ranges that people mark, most time first; sums of all ranges and ranks."""
    return frame_of_phases(phase_rows(job))


def frame_of_phases(rows: PhaseRows) -> pd.DataFrame:
    """Return the phases of a job as a DataFrame."""
    from tracetui.export.data_frame import small_frame  # imports pandas

    return small_frame(PHASES, rows)


def phases_sentences(rows: PhaseRows) -> list[str]:
    """Return which phase waits longest for another one, what its peers' pace would save, what is unknown."""
    found = []
    if not rows.rows:
        found.append(translate("No marked ranges (msTX, NVTX, record_function) are known."))
    waiting = [(phase.waits_by[phase.waits_for], phase) for phase in rows.rows if phase.waits_for is not None]
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
    best = max(rows.saves, key=lambda name: rows.saves[name], default=None)
    if best is not None and rows.saves[best] * _WORTH >= rows.step_ns:
        found.append(
            translate(
                "With {phase} as fast on each rank as on its peers a step takes {time} ({share}) less; the"
                " replay is off by {error}.",
                phase=printable(best),
                time=format_duration(rows.saves[best]),
                share=format_percent(rows.saves[best], rows.step_ns),
                error=format_error(rows.error),
            )
        )
    old = without_ranges(rows.job)
    if old:
        ranks = restate(ranks_in_words(list(old), len(rows.job.ranks)))
        found.append(
            translate("The digests of {ranks} are too old to know ranges: make them again.", ranks=ranks)
        )
    return found


_WORTH = 1000  # one part of so many of a step is worth a sentence
