"""kernel_details.csv joined to the slices of the trace, and compared with op_statistic.csv."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.real import NPU, npu
from tests.export.training import training_events
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.kernels import _rows_of_same_task, kernels_of
from tracetui.api import load
from tracetui.siblings.tables import SiblingTable, StringColumn
from tracetui.trace.model import Activity


@pytest.mark.parametrize("rank", NPU)
def test_every_row_of_a_real_rank_is_of_one_slice(real_traces: Path, rank: str) -> None:
    """187 compute kernels exactly, 4 collectives within 1 ns."""
    analysis = npu(real_traces, rank)
    kernels = analysis.kernels
    assert kernels is not None
    assert (len(kernels.row), int((kernels.row < 0).sum())) == (191, 0)
    assert len(np.unique(kernels.row)) == 191
    slices = analysis.trace.slices
    apart = np.abs(slices.start[kernels.row] - kernels.table.numbers["start"])
    compute = np.isin(slices.activity[kernels.row], [Activity.COMPUTE, Activity.AICPU])
    assert compute.sum() == 187
    assert (int(apart[compute].max()), int(apart.max()) <= 1) == (0, True)
    assert np.abs(slices.dur[kernels.row] - kernels.table.numbers["dur"]).max() <= 1


def test_the_types_of_a_real_rank_are_those_of_its_statistic(real_traces: Path) -> None:
    analysis = npu(real_traces, "level2/rank0")
    kernels = analysis.kernels
    assert kernels is not None
    first = kernels.types()[1]  # behind the collectives
    assert (first.type, first.core, first.count, first.total_ns) == (
        "ForeachAddList",
        "AI_VECTOR_CORE",
        3,
        1954719,
    )
    by_shape = kernels.types(by_shape=True)
    assert len(by_shape) > len(kernels.types())
    assert sum(type_time.total_ns for type_time in by_shape) == sum(
        type_time.total_ns for type_time in kernels.types()
    )


def test_what_is_known_of_a_real_kernel(real_traces: Path) -> None:
    analysis = npu(real_traces, "level2/rank0")
    assert analysis.kernels is not None
    facts = analysis.kernels.facts(int(analysis.kernels.row[1]))
    assert facts is not None
    assert (facts.texts["type"], facts.texts["core"]) == ("TransData", "AI_VECTOR_CORE")
    assert (facts.texts["input_shapes"], facts.texts["output_formats"]) == ("64,3,11,11", "FRACTAL_Z")
    assert (facts.wait_ns, facts.blocks, facts.counters["aiv_vec_ratio"]) == (106242, 8, 0.228)
    assert analysis.kernels.facts(-5) is None
    level0 = npu(real_traces, "level0/rank1").kernels
    assert level0 is not None and level0.types() == ()


def joined(directory: Path, rows: list[tuple[str, str]]) -> tuple[Analysis, list[int]]:
    (directory / "trace_view.json").write_text(json.dumps(training_events(("a", "b"), 1)), encoding="utf-8")
    lines = ["Name,Start Time(us)", *(f"{name},{start}\t" for name, start in rows)]
    (directory / "kernel_details.csv").write_text("\n".join(lines), encoding="utf-8")
    analysis = load(directory, cache=False, jobs=1)
    kernels = kernels_of(analysis.trace, analysis.launch_chains.tasks)
    assert kernels is not None
    return analysis, kernels.row.tolist()


def test_the_cube_units_are_told_by_their_counters(tmp_path: Path) -> None:
    """Whatever else such a cell holds, and of tasks that have a type alone."""
    analysis, _ = joined(tmp_path, [])
    rows = [row for row in analysis.launch_chains.tasks.tolist() if analysis.trace.name(row) in ("a", "b")]
    lines = ["Name,Type,Start Time(us),aic_mac_time(us),aicore_time(us)"]
    for row, cells in zip(rows, ("Conv2D,{},0.1,N/A", "N/A,{},0.1,0.5")):
        start = int(analysis.trace.slices.start[row])
        lines.append(f"{analysis.trace.name(row)},{cells.format(f'{start // 1000}.{start % 1000:03d}')}")
    lines += ["c,Mul,5,0,0", "d,Mul,6,much,N/A"]
    (tmp_path / "kernel_details.csv").write_text("\n".join(lines), encoding="utf-8")
    kernels = kernels_of(analysis.trace, analysis.launch_chains.tasks)
    assert kernels is not None and kernels.on_cube.tolist() == [True, True, False, False]
    assert kernels.typed(np.array([rows[0], rows[1], 0], np.int64)).tolist() == [0, -1, -1]


def test_rows_join_by_name_and_time_within_a_nanosecond(tmp_path: Path) -> None:
    analysis, _ = joined(tmp_path, [])
    start = {
        analysis.trace.name(row): int(analysis.trace.slices.start[row])
        for row in analysis.launch_chains.tasks.tolist()
        if analysis.trace.name(row) in ("a", "b")
    }

    def us(ns: int) -> str:
        return f"{ns // 1000}.{ns % 1000:03d}"

    rows = [
        ("a", us(start["a"] - 1)),
        ("b", us(start["b"] + 2)),
        ("b", us(start["a"])),
        ("c", us(start["a"])),
    ]
    analysis, found = joined(tmp_path, rows)
    assert [row >= 0 for row in found] == [True, False, False, False]
    assert analysis.trace.name(found[0]) == "a"
    _, found = joined(tmp_path, [("a", us(start["a"]))] * 2)
    assert found == [-1, -1]  # two rows of one slice: neither is told
    _, found = joined(tmp_path, [("a", us(start["a"])), ("a", us(start["a"] + 1))])
    assert found[0] >= 0 and found[1] == -1


def test_what_is_told_of_a_task_is_that_of_the_row_with_its_name_alone() -> None:
    """The second table has "b" twice, "c" once and no "d"."""

    def table(names: list[str]) -> SiblingTable:
        places = np.arange(len(names), dtype=np.int32)
        unknown = np.full(len(names), -1, np.int64)
        return SiblingTable(
            rows=len(names),
            numbers={"stream": unknown, "task": unknown},
            floats={},
            texts={"name": StringColumn(places, names)},
            problems=(),
        )

    assert _rows_of_same_task(table(["d", "c", "b", "a"]), table(["a", "b", "b", "c"])).tolist() == [
        -1,
        3,
        -1,
        0,
    ]
