"""What commands that compare, check or join recordings make of those that cannot be believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analysis.health import planting
from tests.cli.test_main import Run
from tests.cli.test_main import run as run
from tracetui.cli.exit_codes import ExitCode

STACKS = "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz"
WORKERS = "gpu/workers0/worker0.1623143089861.pt.trace.json.gz"
LEVEL_2 = "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


@pytest.fixture(scope="module")
def lossy(real_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real trace that lost its first tasks."""
    path = tmp_path_factory.mktemp("lossy") / "trace.json"
    path.write_text(json.dumps(planting.lose(planting.Events.read(real_traces / STACKS), 0, 0.15)))
    return str(path)


def test_a_limit_on_a_number_that_is_wrong_fails_where_trust_is_asked_for(run: Run, lossy: str) -> None:
    assert run("check", lossy, "--max-idle", "100%").code == ExitCode.OK
    output = run("check", lossy, "--max-idle", "100%", "--trusted")
    assert output.code == ExitCode.LIMIT
    assert output.out.startswith("not trusted: idle time wrong: the first 8 kernel launches")
    document = json.loads(run("check", lossy, "--max-idle", "100%", "--trusted", "--json").out)
    assert document["trust"] == {"idle": "wrong"} and document["breaches"] == []


def test_trust_is_told_of_each_number_that_any_limit_is_about(run: Run, lossy: str) -> None:
    limits = ("--max-idle", "100%", "--baseline", lossy, "--max-regression", "computing=50%", "--trusted")
    trust = json.loads(run("check", lossy, *limits, "--json").out)["trust"]
    assert trust == {"idle": "wrong", "steps": trust["steps"], "operators": "good"}
    both = run("check", lossy, *limits, "--max-regression", "idle=50%").out.splitlines()
    assert len([line for line in both if line.startswith("not trusted: idle time")]) == 1


def test_what_a_limit_is_not_about_may_be_wrong(run: Run, lossy: str, real_traces: Path) -> None:
    healthy = str(real_traces / STACKS)
    assert run("check", healthy, "--max-idle", "100%", "--trusted").code == ExitCode.OK
    regression = ("check", lossy, "--baseline", healthy, "--max-regression")
    assert run(*regression, "memory=100%").code == run(*regression, "memory=100%", "--trusted").code
    assert run(*regression, "10000%", "--trusted").code == ExitCode.LIMIT
    assert run(*regression, "10000%").code == ExitCode.OK


def test_a_side_that_is_not_believed_makes_its_changes_doubtful(
    run: Run, lossy: str, real_traces: Path
) -> None:
    output = " ".join(run("compare", str(real_traces / STACKS), lossy).out.split())
    assert "OTHER cannot be believed in all: changes of steps, idle time are not certain." in output
    document = json.loads(run("compare", str(real_traces / STACKS), lossy, "--json").out)
    assert document["trust"]["idle"] == "wrong" and document["trust"]["operators"] == "good"
    assert "device.head_lost" in document["findings"]
    assert any("the first 8 kernel launches" in warning for warning in document["warnings"])
    trust = {part["term"]: part["trust"] for part in document["waterfall"]}
    assert trust["idle.host.operator"] == "wrong" and trust["aicore"] == "good"
    assert document["step"]["trust"] == document["lines"][0]["trust"] == "wrong"
    assert {row["trust"] for row in document["kernels"]} == {"good"}


def test_changes_that_stand_in_doubt_are_marked_in_their_rows(
    run: Run, lossy: str, real_traces: Path
) -> None:
    healthy = str(real_traces / STACKS)
    lines = run("compare", healthy, lossy).out.splitlines()
    assert any(line.startswith("(?) may be wrong, (!) is wrong") for line in lines)
    (idle,) = (line for line in lines if line.startswith("  idle.host.operator"))
    (kernels,) = (line for line in lines if line.startswith("  kernels"))
    assert "(!)" in idle and "(!)" not in kernels
    assert " | (!) | " in run("compare", healthy, lossy, "--md").out
    assert "(!)" not in run("compare", healthy, healthy).out


def test_recordings_are_compared_too(run: Run, real_traces: Path) -> None:
    stacks, plain = str(real_traces / STACKS), str(real_traces / "gpu/resnet_rank0.json.gz")
    warnings = json.loads(run("compare", stacks, plain, "--json").out)["warnings"]
    assert any(warning.startswith("Only BASE records stacks of Python: its devices") for warning in warnings)


@pytest.mark.thorough
def test_steps_that_are_not_believed_are_left_out_until_asked_for(
    run: Run, real_traces: Path, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(planting.lose_step(planting.Events.read(real_traces / WORKERS), 3)))
    whole = str(real_traces / WORKERS)
    document = json.loads(run("compare", whole, str(path), "--json").out)
    assert 8 not in document["other"]["steps"] and 8 in document["other"]["outlier_steps"]
    assert 8 in document["base"]["steps"]
    assert any(w.startswith("OTHER: step 8 is not to be believed") for w in document["warnings"])
    kept = json.loads(run("compare", whole, str(path), "--all-steps", "--json").out)
    assert kept["other"]["steps"] == [5, 6, 7, 8, 9, 10]
    ranks = json.loads(run("ranks", str(path), "--json").out)
    assert ranks["ranks"][0]["steps"] == 5 and ranks["ranks"][0]["trust"] == "wrong"
    assert "device.step_empty" in ranks["findings"] and ranks["trust"]["steps"] == "wrong"
    assert json.loads(run("ranks", str(path), "--all-steps", "--json").out)["ranks"][0]["steps"] == 6
    text = " ".join(run("ranks", str(path)).out.split())
    assert (
        "1 of 6 steps neither computes nor communicates on the device" in text and "leave out steps" in text
    )


def test_ranks_that_are_missing_are_named_and_leave_all_good(run: Run, real_traces: Path) -> None:
    document = json.loads(run("ranks", str(real_traces / "npu/level2"), "--json").out)
    assert "ranks.missing" in document["findings"] and "ranks.unaligned" not in document["findings"]
    assert set(document["trust"].values()) == {"good"}
    assert {rank["trust"] for rank in document["ranks"]} == {"good"}
