"""`tracetui experts` as text, JSON, CSV and Markdown."""

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
    """The digests of a job of which rank 0 has most tokens."""
    directory = tmp_path_factory.mktemp("run")
    for rank, digest in enumerate(digests("experts-W2")):
        (directory / f"rank{rank}.rank.json.gz").write_bytes(encode(digest))
    return directory


def test_json_and_csv_have_the_same_layers(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experts", str(run), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    first = document["layers"][0]
    keys = ["layer", "imbalance", "hot_rank", "tokens", "token_unit", "waiting_ns", "moving_ns", "id"]
    assert [*first] == keys
    assert (first["layer"], first["imbalance"], first["hot_rank"]) == (0, 3.25, 0)
    assert first["tokens"].keys() == {"0", "1", "2", "3"}
    assert document["balance_saves_ns"] > 4_000_000
    assert main(["experts", str(run), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["waiting_ns"]) for row in rows] == [layer["waiting_ns"] for layer in document["layers"]]


def test_text_and_markdown_name_the_worst_layer(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experts", str(run), "--top", "1"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the fullest rank of a step has 3.25 times the mean, and rank 0 most tokens of all steps." in text
    assert "Balanced experts and sends save 4.99 ms (49.7 %) of a step of 10.1 ms" in text
    assert "1 more" in text
    assert main(["experts", str(run), "--md"]) == 0
    assert "| 0 | 3.250 | 0 |" in capsys.readouterr().out
