"""A job as one JSON object: ranks, waits and their reasons, links, stages. Unknown is null."""

from __future__ import annotations

from typing import Any

from tracetui.export.cells import encodable
from tracetui.export.documents import SCHEMA
from tracetui.job.identity import PARALLEL
from tracetui.job.job import Job
from tracetui.job.late import LateRank, SlowStep, late_ranks, slow_steps
from tracetui.job.lines import JobLine, job_lines
from tracetui.job.links import JobLink, job_links
from tracetui.job.roots import Root, Roots
from tracetui.job.sayings import sayings
from tracetui.job.stages import Stage, job_stages
from tracetui.job.tables import MEASURES, RankRow, rank_rows, sorted_by
from tracetui.language import in_english


@in_english()
def job_document(job: Job, by: str | None = None, step: int | None = None) -> dict[str, Any]:
    """Return the document of a job, of all its steps or of one; ranks by number, or by a measure."""
    rows = rank_rows(job, step)
    roots = roots_of(job, step)
    late = late_ranks(job, None if step is None else job.waits.at(job.waits.step == step))
    return {
        "schema": SCHEMA,
        "job": _job(job),
        "step": step,
        "ranks": [rank_document(row) for row in (sorted_by(rows, by) if by else rows)],
        "collectives": {"matched": job.matched, "unmatched": job.unmatched},
        "waits": {
            "total_ns": roots.total_ns,
            "roots": [root_document(root) for root in roots.roots],
            "late": [late_document(each) for each in late],
            "steps": [_step(each) for each in slow_steps(job) if step in (None, each.step)],
        },
        "links": [link_document(link) for link in job_links(job)],
        "stages": [stage_document(stage) for stage in job_stages(job, rows)],
        "lines": [{**line_document(job, line), **_by_rank(job, line)} for line in job_lines(job, step)],
    }


def roots_of(job: Job, step: int | None = None) -> Roots:
    """Return the reasons of the waits of a job, or of one of its steps."""
    return job.roots if step is None else job.roots_of(job.waits.step == step)


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
        "residual_ns": clocks.residual_ns if clocks.sights else None,
        "warnings": [encodable(saying) for saying in sayings(job)],
    }


def rank_document(row: RankRow) -> dict[str, Any]:
    """One rank: means of its steps, and the least and most of them."""
    identity = row.rank.digest.identity
    told = {measure: getattr(row.measures, measure) for measure in MEASURES}
    return {
        "rank": row.rank.number,
        "host": encodable(identity.host) or None,
        "path": encodable(row.rank.path),
        **{name: identity.indices.get(name) for name in PARALLEL},
        "steps": row.steps,
        **{f"{measure}_ns": None if spread is None else spread.mean for measure, spread in told.items()},
        "lost_ns": row.lost_ns,
        "cost_ns": row.cost_ns,
        "least": {f"{measure}_ns": spread.least for measure, spread in told.items() if spread is not None},
        "most": {f"{measure}_ns": spread.most for measure, spread in told.items() if spread is not None},
    }


def root_document(root: Root) -> dict[str, Any]:
    """What a rank did longer than those that waited for it; below 0: what it did less."""
    line = root.line
    return {
        "rank": root.rank,
        "class": root.kind,
        "cause": encodable(root.reason) or None,
        "file": None if line is None else encodable(line.file),
        "line": None if line is None else line.line,
        "function": None if line is None else encodable(line.function),
        "backward": line is not None and line.backward,
        "lost_ns": root.lost_ns,
        "collectives": root.operations,
    }


def late_document(late: LateRank) -> dict[str, Any]:
    """A rank that others of a group waited for."""
    return {
        "rank": late.rank,
        "missing": late.missing,
        "group": encodable(late.group),
        "group_name": encodable(late.name) or None,
        "group_rank": None if late.group_rank < 0 else late.group_rank,
        "lost_ns": late.lost_ns,
        "collectives": late.operations,
    }


def _step(slow: SlowStep) -> dict[str, Any]:
    return {
        "step": slow.step,
        "slowest": slow.rank,
        "group": encodable(slow.group) or None,
        "group_rank": None if slow.group_rank < 0 else slow.group_rank,
        "lost_ns": slow.lost_ns,
        "total_ns": slow.total_ns,
    }


def link_document(link: JobLink) -> dict[str, Any]:
    """What went from one rank to another, by numbers in the job, or in the group where unknown."""
    ends = link.ends
    return {
        "src": ends.src,
        "dst": ends.dst,
        "group": encodable(ends.group) or None,
        "group_src": None if ends.group_src < 0 else ends.group_src,
        "group_dst": None if ends.group_dst < 0 else ends.group_dst,
        "transport": ends.transport,
        "bytes": link.bytes,
        "ns": link.ns,
        "gb_per_s": link.gb_per_s,
        "nominal_gb_per_s": link.nominal,
        "nominal_share": link.nominal_share,
        "slow": link.slow,
    }


def stage_document(stage: Stage) -> dict[str, Any]:
    """A stage of a pipeline."""
    return {
        "stage": stage.number,
        "ranks": list(stage.ranks),
        "computing_sum_ns": stage.computing_sum_ns,
        "computing_max_ns": stage.computing_max_ns,
        "bubble_ns": stage.bubble_ns,
        "receive_ns": stage.receive_ns,
        "imbalance": stage.imbalance,
        "communicates": stage.communicates,
    }


def line_document(job: Job, told: JobLine) -> dict[str, Any]:
    """A line that ranks were idle for: how many have that problem, and what the worst one loses."""
    line = told.line
    return {
        "file": None if line is None else encodable(line.file),
        "line": None if line is None else line.line,
        "function": None if line is None else encodable(line.function),
        "backward": line is not None and line.backward,
        "cause": encodable(next(iter(told.causes))) or None,
        "idle_ns": told.idle_ns,
        "ranks": len(told.concerned),
        "worst": job.ranks[told.worst].number,
        "worst_ns": int(told.by_rank[told.worst]),
        "mean_ns": told.idle_ns // len(job.ranks),
    }


def _by_rank(job: Job, told: JobLine) -> dict[str, Any]:
    lost = zip(job.ranks, told.by_rank.tolist())
    return {
        "causes_ns": {encodable(cause): ns for cause, ns in told.causes.items()},
        "by_rank_ns": {str(rank.number): ns for rank, ns in lost if ns},
    }
