"""The run that a trace is of, as the files of the profiler tell it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tracetui.job.identity import identify
from tracetui.siblings.rank_files import rank_info, side_files
from tracetui.siblings.run_description import RunDescription, describe_run
from tracetui.siblings.step_points import step_points


def test_a_real_run(real_traces: Path) -> None:
    run = describe_run(real_traces / "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    assert (run.rank, run.level, run.activities) == (0, "Level2", ("CPU", "NPU"))
    assert run.options["schedule.active"] == "1"
    assert run.options["with_stack"] == "true"
    assert run.options["aic_metrics"] == "ACL_AICORE_PIPE_UTILIZATION"
    assert run.environment == {}  # all variables are empty
    assert run.problems == ()


def test_what_newer_files_tell(tmp_path: Path) -> None:
    directory = tmp_path / "node7_123_20250109164751000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    directory.mkdir(parents=True)
    info = {"rank_id": "2", "cann_version": "8.0.RC1", "config": {"common_config": {"activities": [1]}}}
    (directory.parent / "profiler_info_2.json").write_text(json.dumps(info), encoding="utf-8")
    metadata = {"ENV_VARIABLES": {"A": "", "B": "1"}, "distributed_args": {"world_size": 8, "x": "no"}}
    (directory.parent / "profiler_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    run = describe_run(directory / "trace_view.json")
    assert (run.rank, run.host, run.versions) == (2, "node7", {"cann": "8.0.RC1"})
    assert (run.environment, run.parallel) == ({"B": "1"}, {"world_size": 8})


def test_numbers_that_are_text_and_lists_are_told_as_well(tmp_path: Path) -> None:
    sizes = {"world_size": "8", "tensor_model_parallel_size": "2", "flag": True, "none": "-1"}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps({"distributed_args": sizes}))
    config = {"experimental_config": {"_export_type": ["text", "db"], "_host_sys": [], "_other": [1]}}
    (tmp_path / "profiler_info.json").write_text(json.dumps({"config": config}))
    run, rank = describe_run(tmp_path / "trace_view.json"), rank_info(tmp_path / "trace_view.json")
    assert run.parallel == {"world_size": 8, "tensor_model_parallel_size": 2}
    assert (rank.world, rank.sizes) == (8, {"tp": 2})
    assert run.options == {"export_type": "text, db"}


def test_the_host_is_told_by_one_pattern_wherever_it_is_asked_for(tmp_path: Path) -> None:
    for name, host in (("n_7_123_20250109164751000_ascend_ms", "n_7"), ("n_1_2_ascend_pt", "")):
        trace = tmp_path / name / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        assert (describe_run(trace).host or "", identify(trace, {}).host) == (host, host)


def test_the_rank_in_the_name_counts_where_the_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "profiler_info_5.json").write_text("{}", encoding="utf-8")
    assert describe_run(tmp_path / "trace_view.json").rank == 5


def test_the_number_in_the_name_counts_before_that_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "profiler_info_5.json").write_text('{"rank_id": 7}', encoding="utf-8")
    (tmp_path / "profiler_info.json").write_text('{"rank_id": 8}', encoding="utf-8")
    trace = tmp_path / "trace_view.json"
    assert describe_run(trace).rank == rank_info(trace).rank == 5


def test_of_several_ranks_in_one_directory_none_is_this_one(tmp_path: Path) -> None:
    for rank in (5, 6):
        (tmp_path / f"profiler_info_{rank}.json").write_text("{}", encoding="utf-8")
    trace = tmp_path / "trace_view.json"
    assert describe_run(trace).rank is None and rank_info(trace).rank is None
    assert len(side_files(trace)) == 2


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"config": [], "rank_id": -1}', b"[" * 99999]
)
def test_damage_is_told_or_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "profiler_info.json").write_bytes(content)
    run = describe_run(tmp_path / "trace_view.json")
    assert run == RunDescription(problems=run.problems)
    assert all(problem.startswith("profiler_info.json is damaged") for problem in run.problems)
    assert bool(run.problems) == (not content.endswith(b"}"))


@pytest.mark.parametrize("content", ["{", "{}"])
def test_a_damaged_file_hides_no_other_source(tmp_path: Path, content: str) -> None:
    """Neither the file in the directory above, nor the table of the database."""
    database = tmp_path / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    database.parent.mkdir()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE META_DATA (name TEXT, value TEXT)")
        arguments = json.dumps({"world_size": 8})
        connection.execute("INSERT INTO META_DATA VALUES ('distributed_args', ?)", (arguments,))
    (database.parent / "profiler_metadata.json").write_text(content)
    run = describe_run(database)
    assert run.parallel == {"world_size": 8}
    damaged = "profiler_metadata.json is damaged: it holds no JSON"
    assert run.problems == ((damaged,) if content == "{" else ())
    above = {"distributed_args": {"world_size": 4}}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps(above))
    assert describe_run(database).parallel == {"world_size": 4 if content == "{" else 8}


def test_an_all_reduce_that_a_step_does_not_tell_begins_at_no_time(tmp_path: Path) -> None:
    header = "step_num,start_point,end_point,fp_point,bp_point,AR_start_point\n"
    (tmp_path / "step_trace_raw_0_detail_time.csv").write_text(f"{header}1,9,20,11,15,12\n2,20,30,21,25,\n")
    points = step_points(tmp_path / "timeline_display_0.json")
    assert points is not None
    assert points.all_reduce_starts["AR"].tolist() == [120, -1]
