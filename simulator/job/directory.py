"""A job as its ranks leave it on disk: one directory each, named and filled as torch_npu's profiler does."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from simulator.database import DatabaseWriter
from simulator.job.simulation import PID, SimulatedJob, SimulatedOutcome
from simulator.scenarios import START_NS
from simulator.writer import TraceWriter


def write_job(
    outcome: SimulatedOutcome, directory: Path, level: int = 2, databases: bool = False
) -> list[Path]:
    """Write the ranks that are not missing; returns their directories, in the order of their numbers.

    `databases`: as databases, and not as text.
    """
    return [write_rank(outcome, rank, directory, level, databases) for rank in outcome.job.present]


def write_rank(
    outcome: SimulatedOutcome, rank: int, directory: Path, level: int = 2, database: bool = False
) -> Path:
    """Write the directory of one rank below `directory`."""
    job = outcome.job
    rank_directory = directory / directory_name(job, rank)
    output = rank_directory / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    if database:
        writer = DatabaseWriter(outcome.recordings[rank], level, rank, metadata=_metadata(job, rank))
        writer.write(output / f"ascend_pytorch_profiler_{rank}.db")
    else:
        with (output / "trace_view.json").open("wb") as file:
            TraceWriter(outcome.recordings[rank], level).write(file)
    _write(rank_directory / f"profiler_info_{rank}.json", _info(outcome, rank, level))
    if not database:
        _write(rank_directory / "profiler_metadata.json", _metadata(job, rank))
    return rank_directory


def directory_name(job: SimulatedJob, rank: int) -> str:
    """Return `<host>_<pid>_<time>_ascend_pt`."""
    started = datetime.fromtimestamp(START_NS // 10**9 + rank % 3, tz=timezone.utc)
    return f"{job.host(rank)}_{PID + 17 * rank}_{started:%Y%m%d%H%M%S}{rank % 1000:03d}_ascend_pt"


def _info(outcome: SimulatedOutcome, rank: int, level: int) -> dict[str, Any]:
    job, recording = outcome.job, outcome.recordings[rank]
    return {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                "schedule": {"wait": 0, "active": job.steps, "warmup": 10, "repeat": 1, "skip_first": 40},
                "record_shapes": True,
                "profile_memory": False,
                "with_stack": True,
                "with_flops": False,
                "with_modules": False,
            },
            "experimental_config": {"_profiler_level": f"Level{level}", "_export_type": "text"},
        },
        "start_info": {"syscnt_enable": True, "freq": 100, "start_cnt": 0, "start_monotonic": 0},
        "end_info": {"collectionTimeEnd": recording.end, "MonotonicTimeEnd": recording.end - recording.start},
        "rank_id": rank,
    }


def _metadata(job: SimulatedJob, rank: int) -> dict[str, Any]:
    layout = job.layout
    return {
        "distributed_args": {
            "tensor_model_parallel_size": layout.tp,
            "pipeline_model_parallel_size": layout.pp,
            "data_parallel_size": layout.dp,
            "context_parallel_size": 1,
            "expert_model_parallel_size": 1,
            "sequence_parallel": False,
            "rank": rank,
            "world_size": layout.world,
        },
        "parallel_group_info": {
            group.name: {
                "group_name": group.role,
                "group_rank": group.rank,
                "global_ranks": list(group.ranks),
            }
            for group in layout.groups(rank)
        },
    }


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
