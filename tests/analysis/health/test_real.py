"""What is found in each real trace: notes, and in one of them what the recording truly lacks."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.analysis.health.planting import Events, halves
from tests.analysis.real import analysed, read
from tracetui.analysis.analyse import analyse
from tracetui.api import load

FEW, STACKS, NO_STACKS, NO_HOST = "steps.few", "host.overhead", "stacks.absent", "host.absent"
NPU = "npu/{}/ASCEND_PROFILER_OUTPUT/trace_view.json"
NOTES = {
    NPU.format("level2/rank0_ascend_pt"): {FEW, STACKS},
    NPU.format("level2/rank1_ascend_pt"): {FEW, STACKS},
    NPU.format("level0/rank1_ascend_pt"): {FEW, STACKS, NO_HOST},
    "npu/level2_db/rank0_ascend_pt": {FEW, STACKS},
    "npu/level2_db/rank1_ascend_pt": {FEW, STACKS},
    "gpu/alexnet_a100.json.gz": {NO_STACKS},
    "gpu/cpu_only_with_stacks.pt.trace.json.gz": set[str](),
    "gpu/resnet_act_checkpoint.json.gz": set[str](),
    # Of its graphs little more than memsets is recorded, with holes of up to 28 ms between them.
    "gpu/resnet_rank0.json.gz": {NO_STACKS, "graph.incomplete"},
    "gpu/sampled_rank-0.json.gz": {FEW, NO_STACKS},
    "gpu/sampled_rank-1.json.gz": {FEW, NO_STACKS},
    # The server was busy for 149 ms when its recording began, with work that is not in the file.
    "gpu/vllm_graph_execution.json.gz": {"device.unseen_work"},
    "gpu/workers0/worker0.1623143089861.pt.trace.json.gz": set[str](),
    "gpu/workers4/worker0.1623212756351.pt.trace.json.gz": set[str](),
    "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz": {FEW, STACKS},
    "gpu/pairs/mi300/gaunernst_bert-small-uncased__1016001.json.gz": {FEW, STACKS},
    "mindspore/PROF_000001_20230818142704322_COJGGGCANRMICFBC": {NO_HOST},
    "mindspore/legacy/timeline_display_1.json": {NO_HOST},
}
#: A timeline that has the operators of 15 steps, and the communication of 322.
DOUBTS = {
    "mindspore/legacy/timeline_display_1.json": {"device.step_empty"},
}


@pytest.mark.parametrize("name", NOTES)
def test_nothing_is_doubted_in_a_healthy_recording(real_traces: Path, name: str) -> None:
    path = real_traces / name
    health = (analysed(path) if path.suffix == ".json" or path.suffix == ".gz" else load(path)).health
    assert {finding.id for finding in health.doubts} == DOUBTS.get(name, set())
    assert {finding.id for finding in health.findings if not finding.doubts} == NOTES[name]
    assert "wrong" not in health.trust.values()
    assert all("{" not in finding.english for finding in health.findings)


@pytest.mark.parametrize(
    "name",
    [
        "sampled_rank-0",
        "sampled_rank-1",
        pytest.param("pairs/h100/gaunernst_bert-small-uncased__1016001", marks=pytest.mark.thorough),
        pytest.param("pairs/mi300/gaunernst_bert-small-uncased__1016001", marks=pytest.mark.thorough),
        pytest.param("resnet_act_checkpoint", marks=pytest.mark.thorough),
    ],
)
def test_nothing_is_doubted_in_one_step_of_a_healthy_recording(
    real_traces: Path, name: str, tmp_path: Path
) -> None:
    """What is called once in it has nothing to be compared with.

    Nor in the half before or after the step in the middle.
    """
    for half in halves(Events.read(real_traces / "gpu" / f"{name}.json.gz")):
        path = tmp_path / "half.json"
        path.write_bytes(orjson.dumps(half))
        assert not [finding.english for finding in analyse(read(path)).health.doubts]
