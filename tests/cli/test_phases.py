"""`tracetui phases` as text, JSON, CSV and Markdown, and limits on phases."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.job.planted import digests
from tracetui.cli import main
from tracetui.job.digest_bytes import encode


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digests of a job with marked roles."""
    directory = tmp_path_factory.mktemp("run")
    for rank, digest in enumerate(digests("roles")):
        (directory / f"rank{rank}.rank.json.gz").write_bytes(encode(digest))
    return directory


def test_json_has_the_phases_and_csv_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["phases", str(run), "--json"]) == 0
    phases = json.loads(capsys.readouterr().out)["phases"]
    assert [*phases[0]] == [
        "name",
        "ranks",
        "count",
        "time_ns",
        "computing_ns",
        "exposed_communication_ns",
        "idle_ns",
        "causes",
        "waits_for",
        "spread",
        "id",
    ]
    assert phases[0]["name"] == "log_prob"
    assert phases[0]["waits_for"] == "generate"
    assert main(["phases", str(run), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["name"], int(row["time_ns"])) for row in rows] == [
        (phase["name"], phase["time_ns"]) for phase in phases
    ]


def test_text_and_markdown_say_who_waits_for_whom(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["phases", str(run), "--top", "1"]) == 0
    text = capsys.readouterr().out
    assert "log_prob waits 22.8 ms for generate." in text
    assert "3 more" in text
    assert main(["phases", str(run), "--md"]) == 0
    assert "| `generate` | `log_prob` |" in capsys.readouterr().out
    assert main(["ranks", str(run)]) == 0
    assert "Phases: marked ranges, and all that" in capsys.readouterr().out


def test_a_phase_can_be_limited(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(run), "--max-phase", "generate=2ms"]) == 4
    assert capsys.readouterr().out == "rank 2: phase generate takes 3.93 ms, more than 2.00 ms\n"
    assert main(["check", str(run), "--max-phase", "generate=1s"]) == 0
    assert main(["check", str(run), "--max-phase", "other=1s"]) == 5
    assert "no range marked as other" in capsys.readouterr().err
