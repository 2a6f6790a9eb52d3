"""The tables that a query may name: those of the DataFrames, with their columns. Imports no pandas.

A table is called as its frame: `gaps` for `gaps_frame`. Its rows are made when a query names it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.export.tables import memory
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.column import Form, Table
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.events import EVENTS, EventRows, Events
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.kernels import KernelRows, kernel_table
from tracetui.export.tables.nested import FRAMES, MODULES, SCOPES, FrameRows, ModuleRows, ScopeRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.signatures import SIGNATURES, SignatureRows
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.tables.syncs import SYNCS, SyncRows

if TYPE_CHECKING:
    from tracetui.comparison.comparison import Comparison
    from tracetui.job.job import Job


class Relation(NamedTuple):
    """A table that a query may name."""

    table: Table[Any]
    rows: Callable[[], Any]  #: makes what the columns of the table look into

    @property
    def columns(self) -> list[str]:
        """Return the names of its columns, in order."""
        return [column.key for column in self.table.of(Form.FRAME)]


Relations = dict[str, Relation]
_OF_MEMORY = frozenset({"memory_blocks", "memory_lines", "memory_sizes"})


def trace_relations(analysis: Analysis, words: frozenset[str] | None = None) -> Relations:
    """Return the tables of a trace; `kernels` and those of memory only where they are recorded.

    words : of a query, in lower case: what is recorded is looked for where one names it; None: always.
    """
    relations = {
        "advice": Relation(ADVICE, partial(AdviceRows, analysis)),
        "events": Relation(EVENTS, partial(_all_events, analysis)),
        "frames": Relation(FRAMES, partial(FrameRows, analysis)),
        "gaps": Relation(GAPS, lambda: GapRows(analysis, analysis.gaps.ranked())),
        "hotspots": Relation(LINES, partial(LineRows, analysis)),
        "late_peers": Relation(PEERS, partial(PeerRows, analysis)),
        "links": Relation(LINKS, partial(LinkRows, analysis)),
        "modules": Relation(MODULES, partial(ModuleRows, analysis)),
        "operators": Relation(OPERATORS, lambda: analysis.device_operators),
        "scopes": Relation(SCOPES, partial(ScopeRows, analysis)),
        "signatures": Relation(SIGNATURES, partial(SignatureRows, analysis)),
        "steps": Relation(STEPS, partial(StepRows, analysis)),
        "syncs": Relation(SYNCS, partial(SyncRows, analysis)),
    }
    if (words is None or "kernels" in words) and (kernels := analysis.kernels) is not None:
        relations["kernels"] = Relation(kernel_table(kernels), partial(KernelRows, analysis, kernels))
    if (words is None or words & _OF_MEMORY) and (held := analysis.memory) is not None:
        relations["memory_blocks"] = Relation(memory.BLOCKS, lambda: memory.BlockRows(held, held.all, 0))
        relations["memory_lines"] = Relation(
            memory.LINES, lambda: memory.MemoryRows(held.recorded, held.all.lines, 0)
        )
        relations["memory_sizes"] = Relation(
            memory.SIZES, lambda: memory.MemoryRows(held.recorded, held.all.sizes, 0)
        )
    return relations


def _all_events(analysis: Analysis) -> EventRows:
    """Return all slices in the order of the trace: sorting them takes longer than most queries."""
    return EventRows(Events(analysis), np.arange(len(analysis.trace.slices)))


def job_relations(job: Job, by: str | None = None, step: int | None = None) -> Relations:
    """Return the tables of a job, of all its steps or of one; its ranks by number, or by a measure."""
    from tracetui.export.job.document import ranked_rows, root_breakdown  # one trace needs none of it
    from tracetui.export.sentences.job import job_time
    from tracetui.export.tables import job as job_tables
    from tracetui.export.tables import job_links
    from tracetui.job.idle_lines import job_lines
    from tracetui.job.network_links import job_links as links_of_job
    from tracetui.job.rank_table import rank_rows

    def roots() -> job_tables.RootRows:
        whole = job_time(rank_rows(job, step))
        return job_tables.RootRows(job, root_breakdown(job, step).roots, whole)

    return {
        "job_lines": Relation(job_tables.LINES, lambda: job_tables.JobRows(job, job_lines(job, step))),
        "job_links": Relation(job_links.LINKS, lambda: job_tables.JobRows(job, links_of_job(job))),
        "ranks": Relation(job_tables.RANKS, lambda: ranked_rows(job, by, step)),
        "roots": Relation(job_tables.ROOTS, roots),
    }


def comparison_relations(comparison: Comparison) -> Relations:
    """Return the tables of a comparison, called as in its JSON."""
    from tracetui.export.tables.comparison import WATERFALL, tables_of  # one trace needs none of it

    return {
        compared.key: Relation(compared.table, partial(compared.judged, comparison))
        for compared in (WATERFALL, *tables_of(comparison))
    }
