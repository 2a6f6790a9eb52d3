"""The report of a job: the verdict in sentences, then its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracetui.export.job.document import root_breakdown
from tracetui.export.job.report import Report, table_section
from tracetui.export.sentences.job import (
    LINES_TITLE,
    LINKS_TITLE,
    STAGES_TITLE,
    head_words,
    job_time,
    loss_sentences,
)
from tracetui.export.sentences.notes import job_notes
from tracetui.export.tables.job import (
    LATE,
    LINES,
    PRINTED_MEASURES,
    ROOTS,
    STEPS,
    JobRows,
    RankRows,
    RootRows,
    printed_ranks,
)
from tracetui.export.tables.job_links import LINKS, STAGES
from tracetui.export.tables.phases import PHASES, phases_title
from tracetui.export.tables.shown import TableSection
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.late_ranks import late_ranks, slow_steps
from tracetui.job.losses import find_job_losses
from tracetui.job.network_links import job_links
from tracetui.job.phases import job_phases
from tracetui.job.rank_table import VIEWS, RankRow, differing, leading, rank_rows, sorted_by
from tracetui.job.roots import Root
from tracetui.job.stages import job_stages
from tracetui.language import clauses, heading, names, translate
from tracetui.units import format_count, format_duration

TOP = 10  #: rows of each table
SHORTEST = 5_000  #: ns of a mean step from which a measure has a column, as less is 0.00 ms,
LEAST_PART = 1000  #: if it is one of so many parts of the step
TELLING = 1000  #: parts of the time of a job of which a root has to cost one
#: Titles in the views of measures whose own names are long.
_IN_VIEWS = {"communication_without_receive": "other comm.", "forward_backward": "fwd+bwd"}


def job_report(job: Job, by: str | None = None, step: int | None = None, top: int | None = None) -> Report:
    """Return the report of a job, or of one of its steps; at most `top` rows in each table, 0 for all."""
    sections = job_sections(job, by, step, TOP if top is None else top)
    return Report(head_words(job, step), job_verdict(job, step), sections, job_notes(job))


def job_verdict(job: Job, step: int | None) -> list[str]:
    rows, waits = rank_rows(job, step), job.waits.at_step(step)
    links = job_links(job) if step is None else ()
    losses = find_job_losses(job, rows, waits, links, job_stages(job, rows))
    roots = root_breakdown(job, step)
    return list(loss_sentences(job, rows, roots, waits, losses, has_links=step is None))


def job_sections(job: Job, by: str | None, step: int | None, top: int) -> Iterator[TableSection]:
    rows = rank_rows(job, step)
    roots, waits = root_breakdown(job, step), job.waits.at_step(step)
    job_ns = job_time(rows)
    costly_roots = [root for root in roots.roots if root.lost_ns * TELLING >= max(job_ns, 1)]
    if costly_roots:
        yield _root_section(RootRows(job, roots.roots, job_ns), costly_roots, top)
    late = JobRows(job, late_ranks(job, waits))
    if late.rows:
        yield table_section(
            translate("Late ranks: how long others waited; exposed: without other work"), LATE, late, top
        )
    steps = JobRows(job, [slow_step for slow_step in slow_steps(job) if step in (None, slow_step.step)])
    if len(steps.rows) > 1:
        yield table_section(translate("Steps: all waits, also with other work"), STEPS, steps, top)
    lines = JobRows(job, job_lines(job, step))
    if lines.rows:
        yield table_section(translate(LINES_TITLE), LINES, lines, top)
    yield _rank_section(job, rows, by, top)
    phases = JobRows(job, job_phases(job) if step is None else ())
    if phases.rows:
        yield table_section(phases_title(), PHASES, phases, top)
    links = JobRows(job, job_links(job))
    if links.rows:
        title = LINKS_TITLE if step is None else "Links of all steps, most time first"
        yield table_section(translate(title), LINKS, links, top)
    stages = JobRows(job, job_stages(job, rows))
    if stages.rows:
        yield table_section(translate(STAGES_TITLE), STAGES, stages, top)


def _root_section(all_roots: RootRows, costly: Sequence[Root], top: int) -> TableSection:
    """Return the costly roots; all else there is stands in one line."""
    shown = RootRows(all_roots.job, costly[:top] if top else all_roots.rows, all_roots.whole)
    hidden = [root for root in all_roots.rows if root not in shown.rows]
    rest_words = translate(
        "{count} more: {time}",
        count=format_count(len(hidden)),
        time=format_duration(sum(root.lost_ns for root in hidden)),
    )
    title = translate("Roots: why the late ranks were late, summed over all that waited")
    rest_words = rest_words if hidden else ""
    return TableSection(title, ROOTS, shown, rest_words, rest_words)


def _rank_section(job: Job, rows: tuple[RankRow, ...], by: str | None, top: int) -> TableSection:
    measure = leading(rows, by)
    view = VIEWS.get(by or "")
    differing_measures = [name for name in differing(rows) if view is None or name in view]
    if view is not None:
        titles = {name: _IN_VIEWS.get(name, name.replace("_", " ")) for name in view}
    else:
        printed = {name for name in PRINTED_MEASURES if name == measure or _is_worth_showing(rows, name)}
        titles = {name: title for name, title in PRINTED_MEASURES.items() if name in printed}
    if measure:
        titles.setdefault(measure, _measure_title(measure))
    ranked_rows = RankRows(job, sorted_by(rows, measure) if measure else rows, titles)
    title = [
        translate("Ranks, ms of a mean step (lost and cost: all waits of all steps)")
        if any(row.all_steps > 1 for row in rows)
        else translate("Ranks, ms")
    ]
    title += [str(by)] if view is not None else []
    title += [translate("by {measure}", measure=heading(_measure_title(measure)))] if measure else []
    title_words = clauses(title)
    if differing_measures:
        measures = names(heading(_measure_title(name)) for name in differing_measures[:3])
        title_words = translate("{title}; differ in {measures}", title=title_words, measures=measures)
    return table_section(title_words, printed_ranks(ranked_rows), ranked_rows, top)


def _is_worth_showing(rows: tuple[RankRow, ...], measure: str) -> bool:
    """Return whether any rank has so much of a measure that a column tells anything."""
    return any(
        (row.mean(measure) or 0) >= max(SHORTEST, (row.mean("stage") or 0) // LEAST_PART) for row in rows
    )


def _measure_title(measure: str) -> str:
    """Return what the columns call a measure: "waiting" for communication_wait."""
    return PRINTED_MEASURES.get(measure) or _IN_VIEWS.get(measure) or measure.replace("_", " ")
