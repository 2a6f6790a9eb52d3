"""Which rank of a job a trace is, by its place, its name and the files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.databases.names import rank_in_name
from tracetui.job.digest import Identity
from tracetui.reader.errors import plain
from tracetui.reader.joined import open_trace
from tracetui.siblings.metadata import members_of, parallel_groups
from tracetui.siblings.names import parse_name, rank_directory, timeline_rank
from tracetui.siblings.rank_files import profile_info, rank_info

#: What groups of a job are for: tensor, pipeline, data, context and expert parallel.
PARALLEL = ("tp", "pp", "dp", "cp", "ep")


def identify(trace: Path, head: Mapping[str, Any]) -> Identity:
    """Return which rank a trace is.

    Its rank is that in the name of a database, else what `profiler_info_N.json` says, or `info.json.N` of a
    raw export, else `distributedInfo` of the trace, else "rank N" in its name or in that of a directory above
    it; a timeline for MindInsight ends in it.

    Args:
        trace: the path of the trace's file.
        head: what stands before its events.
    """
    directory = rank_directory(trace)
    name = trace.name if directory is None else directory.name
    named_parts, info = parse_name(name), rank_info(trace)
    distributed = members_of(head.get("distributedInfo"))
    names_above = [path.name for path in list(trace.parents)[:3]]
    by_name, in_name = timeline_rank(trace.name), rank_in_name(trace.name)
    if by_name is None:
        by_name = next(
            (rank for part in (name, *names_above) if (rank := parse_name(part).rank) is not None), None
        )
    sources = (
        ("name", in_name),
        ("profiler_info", info.rank),
        ("distributedInfo", _int32_or_none(distributed.get("rank"))),
        ("name", by_name),
    )
    source, rank = next(((source, rank) for source, rank in sources if rank is not None), ("", -1))
    return Identity(
        name=name,
        rank=rank,
        rank_from=source,
        host=named_parts.host or plain(profile_info(trace).host or ""),
        started=named_parts.started,
        world=info.world or _int32_or_none(distributed.get("world_size")) or 0,
        sizes=dict(sorted(info.sizes.items())),
        indices=_indices(trace, info.sizes.get("pp", 0)),
        options=dict(sorted(info.options.items())),
    )


def number_of_rank(trace: Path) -> int | None:
    """Return the number of a trace's rank as the files beside it tell it; None where they do not."""
    return rank_info(trace).rank


def scheduler_of_rank(source: SchedulerSource, trace: Path) -> SchedulerSource:
    """Return what is given of the scheduler for the rank whose trace is at a path. Raises UnreadableTrace."""
    if source.path is None or not source.path.is_dir():
        return source
    with open_trace(trace) as trace_file:
        identity = identify(trace, trace_file.head)
    return source.of_rank(trace, identity.rank, identity.host)


def _indices(trace: Path, stages: int) -> dict[str, int]:
    """Return the rank's own number in the groups of the job, by what they are for.

    Groups of one name in which it has several numbers tell none, nor do parts of a pipeline of so many
    `stages` (0: not known), as pairs of neighbours are.
    """
    numbers: dict[str, set[int]] = {}
    for group in parallel_groups(trace):
        is_part = group.name == "pp" and 0 < len(group.global_ranks) < stages
        if group.group_rank is not None and not is_part:
            numbers.setdefault(group.name, set()).add(group.group_rank)
    return {name: next(iter(numbers[name])) for name in PARALLEL if len(numbers.get(name, ())) == 1}


def _int32_or_none(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 31 else None
