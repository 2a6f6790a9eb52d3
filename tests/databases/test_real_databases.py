"""The databases of a real job: two ranks, with the producer's own sums of their steps beside them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import tracetui
from tests.analysis.real import npu
from tracetui.analysis.analyse import Analysis
from tracetui.job.load import load_ranks
from tracetui.trace.model import Activity, Family, Layer

RANKS = (0, 1)
#: Columns of the producer's table, in µs, and what a step calls them.
COLUMNS = {
    "computing": "computing_ns",
    "communication_not_overlapped": "communication_not_overlapped_ns",
    "overlapped": "overlapped_ns",
    "communication": "communication_ns",
    "free": "free_ns",
    "stage": "stage_ns",
    "bubble": "bubble_ns",
    "communication_not_overlapped_and_exclude_receive": "communication_not_overlapped_exclude_receive_ns",
    "preparing": "until_work_ns",
}


def directory_of(traces: Path, rank: int) -> Path:
    return traces / "npu" / "level2_db" / f"rank{rank}_ascend_pt"


def analysis_of(traces: Path, rank: int) -> Analysis:
    return tracetui.load(directory_of(traces, rank), cache=False)


@pytest.mark.parametrize("rank", RANKS)
def test_steps_are_the_producers_to_the_nanosecond(real_traces: Path, rank: int) -> None:
    path = directory_of(real_traces, rank) / "ASCEND_PROFILER_OUTPUT" / "analysis.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    names = ", ".join(COLUMNS)
    rows = connection.execute(f"SELECT step, {names} FROM StepTraceTime").fetchall()
    connection.close()
    steps = analysis_of(real_traces, rank).steps
    assert [str(step.number) for step in steps] == [row[0] for row in rows]
    for step, row in zip(steps, rows):
        expected = {name: round(value * 1000) for name, value in zip(COLUMNS, row[1:])}
        assert {name: getattr(step, field) for name, field in COLUMNS.items()} == expected


@pytest.mark.parametrize("rank", RANKS)
def test_rows_without_types_are_what_their_names_say(real_traces: Path, tmp_path: Path, rank: int) -> None:
    name = f"ascend_pytorch_profiler_{rank}.db"
    path = shutil.copyfile(directory_of(real_traces, rank) / "ASCEND_PROFILER_OUTPUT" / name, tmp_path / name)
    before = tracetui.load(path, cache=False).trace
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE PYTORCH_API SET type = NULL")
        connection.commit()
    after = tracetui.load(path, cache=False).trace
    assert [after.string(number) for number in after.slices.category.tolist()] == [
        before.string(number) for number in before.slices.category.tolist()
    ]


@pytest.mark.parametrize("rank", RANKS)
def test_tracks_are_those_of_the_json_of_the_same_level(real_traces: Path, rank: int) -> None:
    """Of the same script at the same level: threads of the host differ, the rest in nothing."""

    def shape(analysis: Analysis) -> list[tuple[Layer, Family, str, str]]:
        tracks = analysis.trace.tracks
        chosen = [track for track in tracks if track.layer not in (Layer.COUNTER, Layer.OVERLAP)]
        return [
            (track.layer, track.family, track.process, track.name)
            for track in chosen
            if track.device is not None
        ]

    assert sorted(shape(analysis_of(real_traces, rank))) == sorted(
        shape(npu(real_traces, f"level2/rank{rank}"))
    )


@pytest.mark.parametrize("rank", RANKS)
def test_tasks_lead_back_to_lines_as_in_the_json(real_traces: Path, rank: int) -> None:
    analysis, other = analysis_of(real_traces, rank), npu(real_traces, f"level2/rank{rank}")
    chains, like = analysis.launch_chains, other.launch_chains
    assert (chains.total, chains.linked) == (like.total, like.linked) == (539, 537)
    assert int((chains.stack >= 0).sum()) == int((like.stack >= 0).sum())
    assert int((chains.enqueue >= 0).sum()) == int((like.enqueue >= 0).sum())
    assert int(chains.backward.sum()) == int(like.backward.sum())


@pytest.mark.parametrize("rank", RANKS)
def test_tasks_are_classed_as_in_the_json(real_traces: Path, rank: int) -> None:
    def counts(analysis: Analysis) -> dict[str, int]:
        found, number = np.unique(analysis.trace.slices.activity, return_counts=True)
        return {Activity(kind).name: count for kind, count in zip(found.tolist(), number.tolist()) if kind}

    ours, from_text = counts(analysis_of(real_traces, rank)), counts(npu(real_traces, f"level2/rank{rank}"))
    assert ours["COMPUTE"] + ours["AICPU"] == from_text["COMPUTE"] + from_text["AICPU"] == 187
    assert {kind: ours[kind] for kind in ("COMMUNICATION", "COPY", "WAIT")} == {
        kind: from_text[kind] for kind in ("COMMUNICATION", "COPY", "WAIT")
    }


def test_links_of_the_collectives_are_told(real_traces: Path) -> None:
    found = analysis_of(real_traces, 0).communication
    transfers, links = found.transfers, found.link_table
    assert int(transfers.size.sum()) == int(
        npu(real_traces, "level2/rank0").communication.transfers.size.sum()
    )
    assert [link.link_type for link in links].count("HCCS") == 7


def test_both_ranks_are_a_job(real_traces: Path) -> None:
    job = load_ranks([real_traces / "npu" / "level2_db"], cache=False)
    assert [rank.number for rank in job.ranks] == [0, 1]


def test_arguments_of_a_slice_are_those_of_its_row(real_traces: Path) -> None:
    from tracetui.reader.joined import open_trace
    from tracetui.reader.locate import locate_trace
    from tracetui.trace.build import build_trace

    with open_trace(locate_trace(directory_of(real_traces, 0))) as file:
        trace = build_trace(file.read())
        names = {trace.name(row): row for row in range(len(trace.slices))}
        kernel = file.args(int(trace.slices.event[names["aclnnAddmm_MatMulCommon_MatMulV2"]]))
        assert kernel["Task Type"] == "AI_CORE"
        assert kernel["Input Data Types"] == "FLOAT;FLOAT;FLOAT"
        assert kernel["aic_mac_ratio"] > 0
        operator = file.args(int(trace.slices.event[names["aten::addmm"]]))
        assert operator["Input Dims"].startswith("1000")
        assert operator["Input type"].startswith("float")
        transfer = file.args(int(trace.slices.event[names["Notify_Wait"]]))
        assert transfer["transport type"] == "LOCAL"
        assert file.args(len(trace.slices) + 10_000) == {}


@pytest.mark.parametrize("rank", RANKS)
def test_the_producers_sums_agree(real_traces: Path, rank: int) -> None:
    """Of steps, of how long collectives waited and moved, and of every link."""
    checks = analysis_of(real_traces, rank).checks
    assert [check.sentence for check in checks] == [
        "analysis.db agrees: 1 step",
        "analysis.db agrees: 4 operations",
        "analysis.db agrees: 32 links",
    ]


def test_memory_is_as_rich_as_in_the_tables_of_text(real_traces: Path) -> None:
    ours, from_text = (
        found.memory for found in (analysis_of(real_traces, 0), npu(real_traces, "level2/rank0"))
    )
    assert ours is not None and from_text is not None
    assert len(ours.recorded.blocks.start) == len(from_text.recorded.blocks.start) == 184
    assert {curve.component for curve in ours.recorded.curves} == {
        curve.component for curve in from_text.recorded.curves
    }
    assert int((ours.recorded.blocks.row >= 0).sum()) == int((from_text.recorded.blocks.row >= 0).sum())


def test_kernels_have_their_types_shapes_and_counters(real_traces: Path) -> None:
    kernels, like = (
        found.kernels for found in (analysis_of(real_traces, 0), npu(real_traces, "level2/rank0"))
    )
    assert kernels is not None and like is not None
    assert int((kernels.row >= 0).sum()) == kernels.table.rows == 187
    ours = {(row.type, row.core, row.shapes): row.count for row in kernels.types(by_shape=True)}
    expected = {(row.type, row.core, row.shapes): row.count for row in like.types(by_shape=True)}
    assert {key: count for key, count in expected.items() if key[1] != "HCCL"} == ours
    assert like.table.floats.keys() - kernels.table.floats.keys() == {
        "cube_utilization(%)",
        "l2_hit_rate",
        "l2_victim_rate",
    }
