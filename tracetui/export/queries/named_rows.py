"""Find a row of a trace, a snapshot, a job or a comparison by its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.memory.analyse import Memory
from tracetui.comparison.comparison import Comparison
from tracetui.export.queries.relations import Relation, comparison_relations, job_relations, trace_relations
from tracetui.export.tables import memory
from tracetui.export.tables.advice import ADVICE
from tracetui.export.tables.column import Table
from tracetui.export.tables.experts import LAYERS, LayerRows
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.health import FINDINGS, FindingRows
from tracetui.export.tables.job import LATE, STEPS, JobRows
from tracetui.export.tables.job_links import STAGES
from tracetui.export.tables.kernels import SHAPES, TypeRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.phases import PHASES
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.export.tables.row_ids import GAP, find_gap, ids_of
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.tables.whatif import TRIALS, TrialRows
from tracetui.job.experts import exchange_groups, expert_layers
from tracetui.job.job import Job
from tracetui.job.late_ranks import late_ranks, slow_steps
from tracetui.job.phases import job_phases
from tracetui.job.pipeline import find_pipeline
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages
from tracetui.job.whatif.answer import NoReplay, what_if
from tracetui.places import is_row_id, row_of_kind


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
    return find_row(_of_trace(analysis), identity)


def kinds_of_trace(analysis: Analysis) -> list[str]:
    """Return the kinds of the rows that a trace has, which ids begin with."""
    return [GAP, *kinds_of(_of_trace(analysis))]


Named = tuple[str, Relation]  # the kind of the rows beside their table


def kinds_of(tables: Iterable[Named]) -> list[str]:
    """Return the kinds of the rows of some tables, which ids begin with."""
    return [*dict.fromkeys(kind for kind, _ in tables)]


def find_row(tables: Iterable[Named], identity: str) -> NamedRow | None:
    """Return the row that has an id, which may be the name that advice and findings have for short."""
    wanted = (identity.partition("=")[0],) if is_row_id(identity) else (ADVICE.kind, FINDINGS.kind)
    for kind, relation in tables:
        if kind in wanted:
            rows = relation.rows()
            ids = [row_of_kind(kind, name) for name in ids_of(relation.table, rows)]
            if row_of_kind(kind, identity) in ids:
                return NamedRow(kind, relation.table, rows, ids.index(row_of_kind(kind, identity)))
    return None


def comparison_tables(comparison: Comparison) -> Iterator[Named]:
    """Yield the tables of a comparison whose rows have ids."""
    yield from ((one.table.kind, one) for one in comparison_relations(comparison).values())


def _of_trace(analysis: Analysis) -> Iterator[Named]:
    relations = trace_relations(analysis)
    yield from ((one.table.kind, one) for one in relations.values() if one.table.kind not in ("", GAP))
    for operators in (
        lambda: analysis.operators(False).by_type(),
        lambda: analysis.operators(True).by_name(),
        lambda: analysis.operators(True).by_type(),
    ):
        yield OPERATORS.kind, Relation(OPERATORS, operators)
    yield FINDINGS.kind, Relation(FINDINGS, partial(FindingRows, analysis))
    if (kernels := analysis.kernels) is not None:
        yield SHAPES.kind, Relation(SHAPES, partial(TypeRows, kernels))
    if analysis.scheduler is not None:
        summary = analysis.scheduler_summary
        if summary is not None:
            yield THREADS.kind, Relation(THREADS, lambda: ThreadTimeRows(summary))
            yield CULPRITS.kind, Relation(CULPRITS, lambda: CulpritRows(summary))
            yield CORES.kind, Relation(CORES, lambda: CoreRows(summary))
    if (held := analysis.memory) is not None:
        yield from memory_tables(held)


def memory_tables(held: Memory) -> Iterator[Named]:
    """Yield the tables of the memory of a trace or a snapshot whose rows have ids."""
    recorded = held.recorded
    curves, graphs = held.curves, recorded.graphs
    for table, rows in (
        (memory.COMPONENTS, lambda: memory.MemoryRows(recorded, curves)),
        (memory.GRAPHS, lambda: memory.MemoryRows(recorded, graphs)),
        (memory.GROWING, lambda: memory.GrowingRows(held)),
        (memory.BLOCKS, lambda: memory.BlockRows(held, held.all)),
        (memory.LINES, lambda: memory.MemoryRows(recorded, held.all.lines)),
        (memory.SIZES, lambda: memory.MemoryRows(recorded, held.all.sizes)),
    ):
        yield table.kind, Relation(table, rows)


def job_tables(job: Job) -> Iterator[Named]:
    """Yield the tables of a job whose rows have ids."""
    yield from ((one.table.kind, one) for one in job_relations(job).values())
    for table, rows in (
        (LATE, lambda: JobRows(job, late_ranks(job, None))),
        (STEPS, lambda: JobRows(job, slow_steps(job))),
        (STAGES, lambda: JobRows(job, job_stages(job, rank_rows(job, None)))),
        (PHASES, lambda: JobRows(job, job_phases(job))),
    ):
        yield table.kind, Relation(table, rows)
    yield LAYERS.kind, Relation(LAYERS, lambda: LayerRows(job, expert_layers(job), exchange_groups(job)))
    yield PIPELINE_STAGES.kind, Relation(PIPELINE_STAGES, partial(_pipeline_rows, job))
    yield TRIALS.kind, Relation(TRIALS, partial(_trial_rows, job))


def _pipeline_rows(job: Job) -> JobRows:
    pipeline = find_pipeline(job)
    return JobRows(job, pipeline.stages if pipeline is not None else ())


def _trial_rows(job: Job) -> TrialRows:
    try:
        answer = what_if(job)
    except NoReplay:
        return TrialRows(0, ())
    return TrialRows(answer.step_ns, answer.trials)
