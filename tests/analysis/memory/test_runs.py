"""The memory of real runs, and of simulated ones with a planted leak and none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulator.memory import CAST_BYTES, LAYERS, no_leak, write_run
from tests.analysis.real import NPU, npu_output
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.analyse import memory_of_snapshot
from tracetui.analysis.memory.growth import Verdict
from tracetui.api import load


def npu(traces: Path, rank: str) -> Analysis:
    return load(npu_output(traces, rank) / "trace_view.json", cache=False, jobs=1)


@pytest.mark.parametrize("rank", NPU)
def test_blocks_of_real_ranks_lead_to_operators_and_lines(real_traces: Path, rank: str) -> None:
    """127 of 127 and 57 of 57; 84 have a stack of their own, 94 that of their forward operator, 6 none."""
    analysis = npu(real_traces, rank)
    assert analysis.memory is not None
    recorded = analysis.memory.recorded
    blocks = recorded.blocks
    assert recorded.components == ("PTA", "GE")
    assert np.bincount(blocks.component).tolist() == [127, 57]
    assert (blocks.row >= 0).all()
    called = analysis.launch_chains.callers.call_sites(blocks.row)
    with_stack, forward = called.stack >= 0, called.forward >= 0
    assert [int(mask.sum()) for mask in (with_stack & ~forward, with_stack & forward, ~with_stack)] == [
        84,
        94,
        6,
    ]
    names = [analysis.trace.name(row) for row in blocks.row[blocks.component == 0].tolist()]
    assert names == [recorded.operators[code] for code in blocks.operator[blocks.component == 0].tolist()]
    assert recorded.problems == ()


@pytest.mark.parametrize("rank", NPU)
def test_the_curve_of_a_real_rank_is_that_of_its_blocks(real_traces: Path, rank: str) -> None:
    """Whenever one is allocated, what was allocated before the recording is never more than the last time."""
    memory = npu(real_traces, rank).memory
    assert memory is not None
    blocks = memory.recorded.blocks.at(memory.recorded.blocks.component == 0)
    curve = next(curve for curve in memory.curves if curve.component == "PTA")
    before = [
        curve.allocated_at(start)
        - int(blocks.bytes[(blocks.start <= start) & (blocks.release > start)].sum())
        for start in blocks.start.tolist()
    ]
    assert min(before) > 0
    assert all(later <= earlier for earlier, later in zip(before, before[1:]))


def test_what_is_alive_after_one_real_step_is_no_leak(real_traces: Path) -> None:
    memory = npu(real_traces, "level2/rank0").memory
    assert memory is not None and memory.all.peak is not None
    assert memory.all.alive_at_end == (264_920_064, 24)
    pta = next(curve for curve in memory.curves if curve.component == "PTA")
    assert int(pta.allocated[-1] - pta.allocated[0]) == 18_950_656
    assert (memory.growing, memory.growth) == ((), ())
    peak = memory.all.peak
    assert (peak.device, peak.component, peak.bytes) == ("NPU 0", "PTA+GE", 1_322_299_392)
    assert sum(line.bytes_at_peak for line in memory.all.lines) + peak.before_bytes == peak.bytes


def test_the_leak_in_a_real_snapshot(real_traces: Path) -> None:
    """40 MiB in each of three iterations; the states of Adam, all of the first one, are none."""
    memory = memory_of_snapshot(real_traces / "memory" / "snapshot_expandable.pkl", FrameRules())
    assert len(memory.recorded.steps) == 3
    (group,) = memory.growing
    assert group.frame is not None and group.frame.file.endswith("/memory_leaks_demo.py")
    assert (group.frame.line, group.bytes_per_step, group.steps) == (12, 40 << 20, (1, 2, 3))
    assert group.verdict is Verdict.GROWS
    alive = {line.operator: line.alive_bytes for line in memory.all.lines if line.alive_bytes}
    assert set(alive) == {"", "adam.py(174) _init_group", "adam.py(178) _init_group"}
    states = [line.allocations for line in memory.all.lines if line.operator.startswith("adam.py(17")]
    assert states == [161, 161]


@pytest.mark.parametrize("name", ["h100", "mi300"])
def test_the_memory_of_a_real_gpu(real_traces: Path, name: str) -> None:
    """Each event says what is allocated then: as much as the blocks and what was there before."""
    (path,) = (real_traces / "gpu" / "pairs" / name).glob("*.json.gz")
    analysis = load(path, cache=False, jobs=1)
    memory, (device,) = analysis.memory, analysis.trace.devices
    assert memory is not None and memory.all.peak is not None
    assert memory.all.peak.device == device
    recorded = memory.recorded
    (curve,) = [curve for curve in memory.curves if curve.device == device]
    blocks = recorded.blocks.at(recorded.blocks.device == recorded.devices.index(device))
    assert (blocks.row >= 0).all() and (blocks.line >= 0).all()
    before = {
        int(held) - int(blocks.bytes[(blocks.start <= time) & (blocks.release > time)].sum())
        for time, held in zip(curve.time.tolist(), curve.allocated.tolist())
    }
    assert len(before) == 1


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    directory = tmp_path_factory.mktemp("leaking")
    write_run(directory, 4)
    return load(directory, cache=False, jobs=1)


def test_the_planted_cast_is_named(leaking: Analysis) -> None:
    assert leaking.memory is not None
    (group,) = leaking.memory.growing
    assert (group.operator, group.bytes_per_step, group.block_bytes) == (
        "npu::npu_dtype_cast",
        CAST_BYTES,
        CAST_BYTES,
    )
    assert (group.nth, group.calls, group.steps) == (LAYERS, LAYERS, (50, 51, 52, 53))
    assert group.frame is not None
    script = Path(__file__).resolve().parents[3] / "samples" / "grpo" / "train_grpo.py"
    assert (
        script.read_text(encoding="utf-8").splitlines()[group.frame.line - 1].strip() == "val = val.float()"
    )
    assert leaking.memory.neighbours == (("Cast", "FlashAttentionScore", "Add"),)
    grown = [step_growth.bytes for step_growth in leaking.memory.growth]
    assert grown[2:] == [CAST_BYTES] and len(grown) == 3


def test_nothing_grows_where_nothing_is_planted(tmp_path: Path) -> None:
    """Neither the state of the optimizer nor the pool of batches."""
    write_run(tmp_path, 4, no_leak)
    memory = load(tmp_path, cache=False, jobs=1).memory
    assert memory is not None
    assert memory.growing == ()
    assert memory.all.alive_at_end[1] > 2
    assert memory.growth[-1].bytes == 0


def test_a_trace_without_tables_tells_nothing(samples: Path) -> None:
    assert load(samples / "moba" / "trace_view.json", cache=False, jobs=1).memory is None
