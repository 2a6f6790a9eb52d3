"""The rows that have ids, of a trace or a job, and how one of them is found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.export.queries.relations import Relation, job_relations, trace_relations
from tracetui.export.tables import memory
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.column import Table
from tracetui.export.tables.experts import LAYERS, LayerRows
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.health import FINDINGS, FindingRows
from tracetui.export.tables.job import LATE, STEPS, JobRows
from tracetui.export.tables.job_links import STAGES
from tracetui.export.tables.kernels import SHAPES, TypeRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.phases import PHASES
from tracetui.export.tables.row_ids import GAP, find_gap, ids_of
from tracetui.export.tables.scheduler import (
    CORES,
    CULPRITS,
    THREADS,
    CoreRows,
    CulpritRows,
    ThreadTimeRows,
)
from tracetui.job.experts import exchange_groups, expert_layers
from tracetui.job.job import Job
from tracetui.job.late_ranks import late_ranks, slow_steps
from tracetui.job.phases import job_phases
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages
from tracetui.places import is_row_id


class NamedRow(NamedTuple):
    """One row of a table."""

    kind: str
    table: Table[Any]
    rows: Any  #: what the columns of the table look into
    place: int  #: of the row among them


def find_in_trace(analysis: Analysis, identity: str) -> NamedRow | None:
    """Return the row of a trace that has an id; None where there is none."""
    if identity.startswith(f"{GAP}="):
        gap = find_gap(analysis, identity)
        return None if gap < 0 else NamedRow(GAP, GAPS, GapRows(analysis, np.array([gap])), 0)
    return _find(_of_trace(analysis), identity)


def find_in_job(job: Job, identity: str) -> NamedRow | None:
    """Return the row of a job that has an id; None where there is none."""
    return _find(_of_job(job), identity)


def kinds_of_trace(analysis: Analysis) -> list[str]:
    """Return the kinds of the rows that a trace has, which ids begin with."""
    return [GAP, *_kinds(_of_trace(analysis))]


def kinds_of_job(job: Job) -> list[str]:
    """Return the kinds of the rows that a job has."""
    return _kinds(_of_job(job))


Named = tuple[str, Relation]  # the kind of the rows beside their table


def _kinds(tables: Iterable[Named]) -> list[str]:
    return [*dict.fromkeys(kind for kind, _ in tables)]


def _find(tables: Iterable[Named], identity: str) -> NamedRow | None:
    wanted = identity.partition("=")[0] if is_row_id(identity) else ""
    for kind, relation in tables:
        if relation.table.kind == wanted:
            rows = relation.rows()
            ids = ids_of(relation.table, rows)
            if identity in ids:
                return NamedRow(kind, relation.table, rows, ids.index(identity))
    return None


def _of_trace(analysis: Analysis) -> Iterator[Named]:
    relations = trace_relations(analysis)
    yield from ((one.table.kind, one) for one in relations.values() if one.table.kind not in ("", GAP))
    for operators in (
        lambda: analysis.operators(False).by_type(),
        lambda: analysis.operators(True).by_name(),
        lambda: analysis.operators(True).by_type(),
    ):
        yield OPERATORS.kind, Relation(OPERATORS, operators)
    yield "advice", Relation(ADVICE, partial(AdviceRows, analysis))
    yield "finding", Relation(FINDINGS, partial(FindingRows, analysis))
    if (kernels := analysis.kernels) is not None:
        yield SHAPES.kind, Relation(SHAPES, partial(TypeRows, kernels))
    if analysis.scheduler is not None:
        summary = analysis.scheduler_summary
        if summary is not None:
            yield THREADS.kind, Relation(THREADS, lambda: ThreadTimeRows(summary))
            yield CULPRITS.kind, Relation(CULPRITS, lambda: CulpritRows(summary))
            yield CORES.kind, Relation(CORES, lambda: CoreRows(summary))
    if (held := analysis.memory) is not None:
        recorded = held.recorded
        curves, graphs = held.curves, recorded.graphs
        yield (
            memory.COMPONENTS.kind,
            Relation(memory.COMPONENTS, lambda: memory.MemoryRows(recorded, curves)),
        )
        yield memory.GRAPHS.kind, Relation(memory.GRAPHS, lambda: memory.MemoryRows(recorded, graphs))
        yield memory.GROWING.kind, Relation(memory.GROWING, lambda: memory.GrowingRows(held))


def _of_job(job: Job) -> Iterator[Named]:
    yield from ((one.table.kind, one) for one in job_relations(job).values())
    for table, rows in (
        (LATE, lambda: late_ranks(job, None)),
        (STEPS, lambda: slow_steps(job)),
        (STAGES, lambda: job_stages(job, rank_rows(job, None))),
        (PHASES, lambda: job_phases(job)),
    ):
        yield table.kind, Relation(table, partial(_job_rows, job, rows))
    yield LAYERS.kind, Relation(LAYERS, lambda: LayerRows(job, expert_layers(job), exchange_groups(job)))


def _job_rows(job: Job, rows: Any) -> JobRows:
    return JobRows(job, rows())
