"""`tracetui whatif` as text, JSON, CSV and Markdown."""

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
    """The digests of a job of which rank 2 waits for its data loader."""
    directory = tmp_path_factory.mktemp("run")
    for rank, digest in enumerate(digests("loader")):
        (directory / f"rank{rank}.rank.json.gz").write_bytes(encode(digest))
    return directory


def test_json_has_the_answer(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(run), "--fix", "rank=2", "--no-jitter", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["replay_error"] <= 0.001
    assert document["by_rank"].keys() == {"0", "1", "2", "3"}
    assert document["last_stage"] is None
    assert document["slowdown"] == pytest.approx(1.38, abs=0.02)
    assert [*document["fixes"][0]] == ["fix", "saves_ns", "step_ns", "id"]
    assert document["fixes"][0]["fix"] in ("train_hybrid.py:65", "rank=2")
    asked = document["asked"]
    assert asked["fixes"] == ["rank=2", "no-jitter"]
    assert asked["saves_ns"] == document["step_ns"] - asked["step_ns"]
    assert asked["critical_rank"] in (0, 1, 2, 3)


def test_csv_and_json_have_the_same_fixes(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(run), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["asked"]["saves_ns"] == 0
    assert main(["whatif", str(run), "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows == [{key: str(value) for key, value in fix.items()} for fix in document["fixes"]]


def test_text_and_markdown_say_what_is_saved(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(run), "--fix", "rank=2"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "With rank=2 fixed a step takes 5.89 ms instead of 9.30 ms: 3.40 ms (36.6 %) less." in text
    assert main(["whatif", str(run), "--md", "--top", "1"]) == 0
    assert "| 3.41 ms | 36.6 % | 5.89 ms | `train_hybrid.py:65` |" in capsys.readouterr().out
    assert main(["whatif", str(run), "--fix", "rank=0", "--lang", "zh"]) == 0
    assert "没有收益" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fix", "sentence"),
    [("rank=9", "there is no rank 9 here"), ("bla\x1b", "names nothing: a fix is one of FILE:LINE")],
)
def test_a_fix_of_nothing_is_an_error_of_the_arguments(
    run: Path, fix: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whatif", str(run), "--fix", fix]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert "\x1b" not in errors
