"""A job as one JSON object: ranks, waits and their reasons, links, stages. Unknown is null."""

from __future__ import annotations

from typing import Any

from tracetui.export.cells import encodable
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.notes import job_notes
from tracetui.export.tables.column import records
from tracetui.export.tables.job import (
    LATE,
    LINES,
    PRINTED_MEASURES,
    RANKS,
    ROOTS,
    STEPS,
    JobRows,
    RankRows,
    RootRows,
)
from tracetui.export.tables.job_links import LINKS, STAGES
from tracetui.job.health import job_findings, job_trust
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.late_ranks import late_ranks, slow_steps
from tracetui.job.network_links import job_links
from tracetui.job.rank_table import rank_rows, sorted_by
from tracetui.job.roots import RootBreakdown
from tracetui.job.stages import job_stages
from tracetui.language import in_english


@in_english()
def job_document(job: Job, by: str | None = None, step: int | None = None) -> dict[str, Any]:
    """Return the document of a job, of all its steps or of one; ranks by number, or by a measure."""
    roots = root_breakdown(job, step)
    late = late_ranks(job, job.waits.at_step(step))
    slow = [slow_step for slow_step in slow_steps(job) if step in (None, slow_step.step)]
    return {
        "schema": SCHEMA,
        "trust": job_trust(job),
        "findings": job_findings(job),
        "job": _job(job),
        "step": step,
        "ranks": records(RANKS, ranked_rows(job, by, step)),
        "collectives": {"matched": job.matched, "unmatched": job.unmatched},
        "waits": {
            "total_ns": roots.total_ns,
            "roots": records(ROOTS, RootRows(job, roots.roots)),
            "late": records(LATE, JobRows(job, late)),
            "steps": records(STEPS, JobRows(job, slow)),
        },
        "links": records(LINKS, JobRows(job, job_links(job))),
        "stages": records(STAGES, JobRows(job, job_stages(job, rank_rows(job, step)))),
        "lines": records(LINES, JobRows(job, job_lines(job, step))),
    }


def ranked_rows(job: Job, by: str | None, step: int | None) -> RankRows:
    """Return the ranks by number, or by a measure: means of their steps, or one step."""
    rows = rank_rows(job, step)
    return RankRows(job, sorted_by(rows, by) if by else rows, PRINTED_MEASURES)


def root_breakdown(job: Job, step: int | None = None) -> RootBreakdown:
    """Return the reasons of the waits of a job, or of one of its steps."""
    return job.root_breakdown if step is None else job.root_breakdown_of(job.waits.step == step)


def _job(job: Job) -> dict[str, Any]:
    hosts: dict[str, list[int]] = {}
    for rank in job.ranks:
        if rank.digest.identity.host:
            hosts.setdefault(encodable(rank.digest.identity.host), []).append(rank.number)
    clocks = job.clocks
    offsets = zip(job.ranks, clocks.offset.tolist(), clocks.family.tolist())
    return {
        "world": job.world,
        "ranks": [rank.number for rank in job.ranks],
        "missing": list(job.missing),
        "hosts": hosts,
        "offsets_ns": {
            str(rank.number): offset if family == int(clocks.family[0]) else None
            for rank, offset, family in offsets
        },
        "residual_ns": clocks.residual_ns,
        "warnings": [encodable(saying) for saying in job_notes(job)],
    }
