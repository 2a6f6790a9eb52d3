"""The page of a job of many ranks: its verdict, its pictures, and what its ranks did and held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s
from tracetui.export.job.report import table_section
from tracetui.export.job.text import TOP, job_sections, job_verdict
from tracetui.export.language import cause_facts
from tracetui.export.page import charts
from tracetui.export.page.html import Section, believed, bullets, html_table, paragraph, subtitle, table_part
from tracetui.export.page.source import source_excerpts
from tracetui.export.sentences.job import head_words
from tracetui.export.sentences.notes import job_notes
from tracetui.export.sentences.rank_labels import IDLE_BY_TIME, LEGENDS, QUESTIONS, absent_label, labels
from tracetui.export.tables.causes import CAUSES, CauseRows
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import LINES, JobRows
from tracetui.export.tables.rank_sums import (
    DOUBTS,
    HOLDERS,
    JOB_ADVICE,
    JOB_OPERATORS,
    PEAKS,
    JobOperatorRows,
)
from tracetui.export.trace.advice_text import TITLE
from tracetui.job.absent_ranks import absent_ranks
from tracetui.job.digest import TimeClass
from tracetui.job.grids import GridMeasure, JobLanes, job_span, measure_by_step, measure_by_time
from tracetui.job.health import job_trust
from tracetui.job.job import Job
from tracetui.job.rank_sums import (
    CausesByStep,
    causes_by_step,
    job_advice,
    job_doubts,
    job_holders,
    job_operators,
    job_peaks,
)
from tracetui.language import counted, translate
from tracetui.trace.source_files import SourceFiles
from tracetui.units import format_duration, format_time

TOP_OPERATORS, TOP_HOLDERS, TOP_DOUBTS = 25, 15, 20
MAP_COLUMNS = 60
MOST_ROWS = 64  #: ranks of a map; of more, those with the most time are shown
#: The maps of a page, each with its class of the style.
_MAPS = {GridMeasure.COST: "idle", GridMeasure.WAITED: "communication", GridMeasure.IDLE: "idle"}
_KINDS = {
    charts.COMPUTING: (TimeClass.COMPUTING,),
    charts.COMMUNICATION: (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT),
    charts.COPIES: (TimeClass.COPY,),
    charts.IDLE: (TimeClass.IDLE,),
}


def job_page_sections(job: Job, title: str, source: SourceFiles | None = None) -> Iterator[Section]:
    """Yield the parts of the page of a job, its head first; without `source` no source is quoted.

    `title` is what was asked for.
    """
    first, *following = job_verdict(job, None) or [""]
    blocks = [paragraph(head_words(job, None), "dim"), paragraph(first, "lead")]
    yield Section(title, [*blocks, *map(paragraph, following), *believed(job_trust(job))])
    yield _activity(job)
    yield from rank_maps(job)
    for section in job_sections(job, None, None, 2 * TOP):
        part = table_part(section)
        if section.table is LINES and source is not None:
            lines = source_excerpts(source, [row.line for row in section.rows.rows if row.line])
            part = part._replace(blocks=[*part.blocks, *lines])
        yield part
    yield from _section(translate(TITLE), JOB_ADVICE, JobRows(job, job_advice(job)), 0)
    operators = JobOperatorRows(job, job_operators(job))
    title_words = translate("Operators of the devices, most time first")
    yield from _section(title_words, JOB_OPERATORS, operators, TOP_OPERATORS)
    yield from _section(translate("Memory, at most on any rank"), PEAKS, JobRows(job, job_peaks(job)), 0)
    holders = JobRows(job, job_holders(job))
    yield from _section(translate("Who held memory at the peak of the ranks"), HOLDERS, holders, TOP_HOLDERS)
    doubts = JobRows(job, job_doubts(job))
    yield from _section(
        translate("What is wrong or doubtful in the recordings of ranks"), DOUBTS, doubts, TOP_DOUBTS
    )
    notes = job_notes(job)
    if notes:
        yield Section(translate("Notes"), [bullets([translate("{fact}.", fact=note) for note in notes])])


def _section(title: str, shown: Table[Any], rows: JobRows, top: int) -> Iterator[Section]:
    """Yield a table of at most `top` rows, 0 for all; nothing where it has none."""
    if rows.rows:
        yield table_part(table_section(title, shown, rows, top))


def _activity(job: Job) -> Section:
    """Return the part on what the ranks did over time, all together, and why they were idle."""
    start, end = job_span(job)
    edges = even_edges(start, end, charts.COLUMNS)
    lanes = JobLanes(job)
    ns = np.sum([lanes.classes(place, edges) for place in range(len(job.ranks))], axis=0)
    kinds = {kind: ns[list(classes)].sum(axis=0) for kind, classes in _KINDS.items()}
    whole = np.diff(edges) * len(job.ranks)
    blocks = [charts.strip(kinds, whole, charts.time_scale(0, end - start))]
    causes = causes_by_step(job)
    sums = {cause: int(ns) for cause, ns in zip(causes.causes, causes.ns.sum(axis=1)) if cause}
    if sums:
        total = int(causes.ns.sum())
        title = translate("Why they were idle for {time}, all together", time=format_duration(total))
        blocks += [subtitle(title), html_table(CAUSES, CauseRows(sums, total))]
    if len(causes.steps) > 1 and causes.causes:
        blocks += [subtitle(translate("Idle time by cause and step")), _cause_map(causes)]
    return Section(translate("What the ranks did over time, all together"), blocks)


def _cause_map(causes: CausesByStep) -> str:
    """Return a map of the idle time of all ranks by cause and step."""
    by_label = {cause.label: cause for cause in Cause}
    known = [place for place, name in enumerate(causes.causes) if name in by_label]
    names = [
        (cause_facts(cause).name, cause.family)
        for cause in (by_label[causes.causes[place]] for place in known)
    ]
    ns = causes.ns[known]
    cells, _ = share_columns(len(causes.steps), MAP_COLUMNS).columns(
        HeatCells.of_totals(ns, np.broadcast_to(causes.step_ns, ns.shape))
    )
    return charts.map_of_cells(cells, names, charts.step_scale(causes.steps))


def rank_maps(job: Job) -> Iterator[Section]:
    """Yield a map of each measure of which any rank has time."""
    for measure, kind in _MAPS.items():
        absent = absent_ranks(job) if measure is GridMeasure.COST else ()
        cells, scale = _cells(job, measure, [rank.waits for rank in absent])
        totals = cells.ns.sum(axis=1)
        if not totals.any():
            continue
        most = np.sort(np.argsort(-totals, kind="stable")[:MOST_ROWS])
        shown = HeatCells(cells.ns[most], cells.capacity[most], cells.main[most], cells.share[most])
        every_name = (*labels(job), *map(absent_label, absent))
        names = [(every_name[row], kind) for row in most.tolist()]
        left = len(every_name) - len(names)
        more = counted(left, "1 rank with less is not shown.", "{count} ranks with less are not shown.")
        blocks = [charts.map_of_cells(shown, names, scale)]
        by_time = len(job.steps) <= 1
        if legend := IDLE_BY_TIME if by_time and measure is GridMeasure.IDLE else LEGENDS.get(measure):
            blocks.append(paragraph(translate(legend), "dim"))
        if left:
            blocks.append(paragraph(more, "dim"))
        yield Section(translate(QUESTIONS[measure]), blocks)


def _cells(job: Job, measure: GridMeasure, missing_waits: Sequence[Int64s]) -> tuple[HeatCells, list[str]]:
    """Return the cells of a map, and what stands below its first and its last column."""
    if len(job.steps) > 1:
        cells, _ = share_columns(len(job.steps), MAP_COLUMNS).columns(
            HeatCells.of_totals(*measure_by_step(job, measure, missing_waits))
        )
        return cells, charts.step_scale(job.steps)
    start, end = job_span(job)
    edges = even_edges(start, end, MAP_COLUMNS)
    cells = HeatCells.of_totals(*measure_by_time(job, measure, edges, missing_waits))
    return cells, [format_time(0), format_time(end - start)]
