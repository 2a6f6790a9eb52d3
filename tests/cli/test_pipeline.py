"""`tracetui pipeline` as text, JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.job.planted import digests
from tracetui.cli import main
from tracetui.job.digest_bytes import encode


def written(directory: Path, name: str) -> str:
    for rank, digest in enumerate(digests(name)):
        (directory / f"rank{rank}.rank.json.gz").write_bytes(encode(digest))
    return str(directory)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digests of a pipeline of which a stage has more work."""
    return written(tmp_path_factory.mktemp("run"), "pipeline-uneven")


def test_json_and_csv_have_the_same_stages(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", run, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schedule"] == "1f1b"
    assert [*document["stages"][0]] == [
        "stage",
        "ranks",
        "microbatches",
        "warmup_ns",
        "steady_ns",
        "drain_ns",
        "bubble_ns",
        "schedule_ns",
        "imbalance_ns",
        "jitter_ns",
        "late_host_ns",
        "id",
    ]
    for stage in document["stages"]:
        parts = ("schedule_ns", "imbalance_ns", "jitter_ns", "late_host_ns")
        assert sum(stage[part] for part in parts) == stage["bubble_ns"]
    assert document["balance_saves_ns"] > 4_000_000
    assert main(["pipeline", run, "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["bubble_ns"]) for row in rows] == [stage["bubble_ns"] for stage in document["stages"]]


def test_text_draws_the_stages_and_markdown_has_the_table(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", run]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = lines.index("Stages, one step: F forward, B backward") + 1
    chart = [line.split()[1] for line in lines[first : first + 4]]
    assert all(set(line) == set("FB·") for line in chart)
    assert [line.index("F") for line in chart] == sorted(line.index("F") for line in chart)
    assert chart[0].startswith("F") and chart[0].endswith("B")
    assert main(["pipeline", run, "--md"]) == 0
    assert "| 2 | 1 | 8 |" in capsys.readouterr().out


def test_stages_that_are_not_listed_are_told(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", run, "--top", "1"]) == 0
    assert "3 more" in capsys.readouterr().out


def test_what_is_no_pipeline_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "loader")
    assert main(["pipeline", path]) == 0
    assert "No pipeline is seen" in capsys.readouterr().out
    assert main(["pipeline", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["stages"], document["balance_saves_ns"]) == ([], None)
