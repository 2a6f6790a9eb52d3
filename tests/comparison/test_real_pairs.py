"""Real pairs whose answers are known, from their makers or from msprof-analyze compare."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from tracetui.api import compare, load
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.regressions import find_regressions, parse_regression, unknown_measures
from tracetui.comparison.walls import StepChoice
from tracetui.export.sentences.verdict import verdict
from tracetui.units import format_duration


@cache
def side(path: Path) -> Run:
    return run_of(load(path, cache=False))


@cache
def every_step(path: Path) -> Run:
    """All steps, as compare_tools has them."""
    return run_of(load(path, cache=False), StepChoice(all_steps=True))


def pair(traces: Path, base: str, other: str) -> Comparison:
    return compare(side(traces / base), side(traces / other))


def ms(row: ComparedRow) -> tuple[float, float]:
    return round(float(row.base_ns) / 1e6, 3), round(float(row.other_ns) / 1e6, 3)


def named(rows: tuple[ComparedRow, ...], name: str) -> ComparedRow:
    return next(row for row in rows if row.name == name)


def test_a_data_loader_with_workers(real_traces: Path) -> None:
    """ResNet-50 with 0 and 4 workers; compare_tools has computing and free time to the µs as we do."""
    comparison = pair(real_traces, "gpu/workers0", "gpu/workers4")
    assert verdict(comparison) == (
        "OTHER is 52.2 ms (29.4 %) a step faster, in 4 of 4 steps: 53.9 ms less idle,"
        " data loader (host.dataloader) alone 58.4 ms at resnet50_profiler_api.py(42)."
    )
    assert comparison.other.walls.left_out == (5, 9), "the first one, and one that waits for the workers"
    assert [row.name for row in comparison.waterfall if row.changed] == ["preparing.host.dataloader"]
    assert [row.name for row in comparison.causes if row.changed] == ["host.dataloader", "host.python"]
    base, other = (every_step(real_traces / "gpu" / name) for name in ("workers0", "workers4"))
    comparison = compare(base, other)
    assert re.match(
        r"OTHER is 36\.5 ms \(20\.6 %\) a step faster, .* 38\.3 ms less idle \(free 200 ms less",
        verdict(comparison),
    )
    totals = [run.totals for run in (comparison.base, comparison.other)]
    assert [(total.computing_ns, total.free_ns) for total in totals if total] == [
        (591_532_000, 402_568_000),
        (594_868_000, 202_443_000),
    ]
    loader = named(comparison.api, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    assert (loader.status, round(6 * float(loader.base_ns) / 1e6, 1)) == ("gone", 415.8)


def test_operators_of_the_same_pair_are_those_of_compare_tools(real_traces: Path) -> None:
    base, other = (every_step(real_traces / "gpu" / name) for name in ("workers0", "workers4"))
    comparison = compare(base, other)
    table = real_traces / "expected" / "compare" / "w0_vs_w4" / "OperatorCompareStatistic.csv"
    with table.open(encoding="utf-8", newline="") as file:
        producer_row = {row[1]: row for row in list(csv.reader(file))[3:] if len(row) > 5}
    ours = {row.name: row for row in comparison.operators if row.status == "matched"}
    shared = [name for name in producer_row if name in ours and float(producer_row[name][2])]
    assert len(shared) > 15
    for name in shared:
        if name == "CudnnConvolutionBackward":
            continue  # ours has its memsets too, 0.528 ms
        assert float(producer_row[name][2]) == pytest.approx(6 * float(ours[name].base_ns) / 1e6, abs=0.01), (
            name
        )
        assert float(producer_row[name][4]) == pytest.approx(
            6 * float(ours[name].other_ns) / 1e6, abs=0.01
        ), name


def test_two_ranks_of_one_job(real_traces: Path) -> None:
    comparison = pair(real_traces, "npu/level2/rank0_ascend_pt", "npu/level2/rank1_ascend_pt")
    expected = {
        "Conv (Forward)": (1.110, 1.117),
        "Conv (Forward) (Cube)": (0.722, 0.722),
        "Conv (Backward)": (1.957, 1.963),
        "Conv (Backward) (Vector)": (0.850, 0.862),
        "Matmul": (1.082, 1.103),
        "Matmul (Cube)": (1.011, 1.036),
        "Vector": (4.136, 4.140),
        "SDMA (Tensor Move)": (0.577, 0.573),
    }
    assert {name: ms(named(comparison.classes, name)) for name in expected} == expected
    assert [int(named(comparison.classes, name).base_count) for name in expected] == [
        20,
        5,
        46,
        37,
        14,
        9,
        94,
        11,
    ]
    assert not comparison.new and not comparison.gone
    assert all(row.status == "matched" for row in comparison.operators)
    exposed = [row for row in comparison.waterfall if row.name.startswith("communication.")]
    assert round(sum(float(row.base_ns) for row in exposed) / 1e6, 3) == 95.962
    assert round(sum(float(row.other_ns) for row in exposed) / 1e6, 3) == 93.412
    totals = comparison.base.totals, comparison.other.totals
    assert [round(total.window_ns / 1e6, 3) for total in totals if total] == [129.863, 128.756]
    assert [round(total.free_ns / 1e6, 3) for total in totals if total] == [25.033, 26.442]
    assert comparison.kernels[0].name == "MatMulV2 [32,4096;4096,9216]"


def test_kernels_of_the_same_pair_are_those_of_compare_tools(real_traces: Path) -> None:
    """By type and shapes, as far as the step has them."""
    comparison = pair(real_traces, "npu/level2/rank0_ascend_pt", "npu/level2/rank1_ascend_pt")
    table = real_traces / "expected" / "compare" / "npu_l2_r0_r1" / "KernelCompare.csv"
    with table.open(encoding="utf-8", newline="") as file:
        producer_rows = [row for row in csv.reader(file) if row and row[0].isdigit()]
    ours = {row.name: row for row in comparison.kernels}
    for row in producer_rows:
        shapes = row[2].strip('"')
        name = f"{row[1]} [{shapes}]"
        if name in ours:
            assert float(row[3]) == pytest.approx(float(ours[name].base_ns) / 1e3, abs=0.1), name
            assert int(row[7]) == ours[name].base_count
    assert sum(f"{row[1]} [{row[2].strip(chr(34))}]" in ours for row in producer_rows) > 100


def test_two_makes_of_gpus_match_in_every_operator(real_traces: Path) -> None:
    comparison = pair(real_traces, "gpu/pairs/h100", "gpu/pairs/mi300")
    assert not comparison.new and not comparison.gone
    assert all(row.status == "matched" for row in comparison.operators)
    assert sum(row.base_count for row in comparison.operators) == 104
    assert ms(named(comparison.classes, "Matmul")) == (0.198, 0.174)
    limits = [parse_regression(f"{name}=0ns") for name in ("vector", "Other kernels", "aicore", "kernels")]
    more = [regression.other - regression.base for regression in find_regressions(comparison, limits)]
    assert more[0] == more[1] > 0 and more[2] == more[3] > 0
    assert unknown_measures(comparison, [parse_regression("other=0ns"), *limits]) == ("other",)
    assert named(comparison.modules, "BertLMHeadModel_0 > BertModel_0").status == "matched"


def test_a_verdict_gives_a_cause_its_own_change(real_traces: Path) -> None:
    """All idle time changed by 2.23 ms, preparing included: the number beside a cause is that of its row."""
    for base, other in ((0, 1), (1, 0)):
        comparison = pair(real_traces, *(f"npu/level2/rank{rank}_ascend_pt" for rank in (base, other)))
        change = abs(named(comparison.causes, "host.operator").delta_ns)
        assert f", {format_duration(round(change))} of it operator (host.operator)" in verdict(comparison)


def test_a_gpu_and_an_npu(real_traces: Path) -> None:
    """The GPU ran the forward pass twice and nothing else, the NPU once, with all of a training step."""
    comparison = pair(real_traces, "gpu/alexnet_a100.json.gz", "npu/level2/rank0_ascend_pt")
    convolutions = [row for row in comparison.operators if row.name == "aten::conv2d"]
    assert {(row.status, int(row.base_count), int(row.other_count)) for row in convolutions} == {
        ("matched", 5, 5),
        ("gone", 5, 0),
    }
    assert "12.8 s less idle, 9.75 s of it operator (host.operator)" in verdict(comparison)
    assert comparison.kernels == ()
    assert named(comparison.classes, "Conv (Forward)").base_count == 40
    assert any("no ProfilerStep" in note for note in comparison.notes)


def test_two_profiler_levels_tell_alike_what_both_tell(real_traces: Path) -> None:
    """Level 0 has no planes, no calls of the runtime and no counters: no part is new or gone for that."""
    comparison = pair(real_traces, "npu/level0/rank1_ascend_pt", "npu/level2/rank1_ascend_pt")
    assert sum(row.delta_ns for row in comparison.waterfall) == comparison.step.delta_ns
    times = {row.name: ms(row) for row in comparison.waterfall if row.base.ns or row.other.ns}
    assert times["communication.unsplit"] == (64.616, 93.412)
    assert times["idle.launch.dispatch"] == (5.044, 4.178), "with the latency of the device"
    assert not times.keys() & {"communication.wait", "communication.transfer", "idle.launch.compile"}
    assert not times.keys() & {"idle.device.latency"}
    assert not {row.name for row in comparison.advice} & {
        "late_ranks",
        "exposed_communication",
        "operators_compiled_at_run_time",
    }
    names = ("cube", "launch.compile", "device.latency", "idle")
    limits = [parse_regression(f"{name}=0ns") for name in names]
    assert unknown_measures(comparison, limits) == names[:3]
    assert not any(row.name.endswith("(Cube)") for row in comparison.classes)
    assert sum("BASE" in note and "stand" in note for note in comparison.notes) == 2
    assert any("cube units" in note for note in comparison.notes)
    assert {row.status for row in comparison.communication} == {"matched"}
    causes = {row.name: row for row in comparison.causes}
    assert "launch.compile" not in causes and causes["launch.dispatch"].status == "matched"
    assert verdict(comparison).startswith(
        "OTHER is 27.6 ms (23.1 %) a step slower: 28.8 ms more exposed communication, allreduce, FP32"
    )
