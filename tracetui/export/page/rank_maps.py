"""Heat maps of a job on its page: ranks down, and steps across, or time where steps cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.analysis.heat.cells import HeatCells, pool
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s
from tracetui.export.page import charts
from tracetui.export.page.html import Section, paragraph
from tracetui.export.sentences.rank_labels import QUESTIONS, absent_label, labels
from tracetui.job.absent_ranks import absent_ranks
from tracetui.job.grids import GridMeasure, job_span, measure_by_step, measure_by_time
from tracetui.job.job import Job
from tracetui.language import counted, translate
from tracetui.units import format_time

MAP_COLUMNS = 60
MOST_ROWS = 64  #: ranks of a map; of more, those with the most time are shown
#: The maps of a page, each with its class of the style.
_MAPS = {GridMeasure.COST: "idle", GridMeasure.WAITED: "communication", GridMeasure.IDLE: "idle"}


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
        yield Section(translate(QUESTIONS[measure]), [*blocks, paragraph(more, "dim")] if left else blocks)


def _cells(job: Job, measure: GridMeasure, missing_waits: Sequence[Int64s]) -> tuple[HeatCells, list[str]]:
    """Return the cells of a map, and what stands below its first and its last column."""
    if len(job.steps) > 1:
        cells, _ = pool(len(job.steps), MAP_COLUMNS).columns(
            HeatCells.of_totals(*measure_by_step(job, measure, missing_waits))
        )
        return cells, charts.steps_between(job.steps)
    start, end = job_span(job)
    edges = even_edges(start, end, min(MAP_COLUMNS, end - start))
    cells = HeatCells.of_totals(*measure_by_time(job, measure, edges, missing_waits))
    return cells, [format_time(0), format_time(end - start)]
