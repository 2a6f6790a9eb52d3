"""`tracetui sql`, as it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.export.training import PLAIN, training_events
from tracetui.cli import main


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(training_events(PLAIN)))
    return str(path)


def test_a_query_is_answered(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    assert main(["sql", trace, "select count(*) as gaps, sum(idle_ns) from gaps", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert main(["gaps", trace, "--json", "--top", "0"]) == 0
    gaps = json.loads(capsys.readouterr().out)["gaps"]
    assert answer["columns"][0] == "gaps"
    assert answer["rows"] == [[len(gaps), sum(gap["idle_ns"] for gap in gaps)]]


def test_a_comparison_is_asked(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    assert main(["sql", trace, "select sum(delta_ns) as changed from waterfall", "--against", trace]) == 0
    assert capsys.readouterr().out.split()[-1] == "0"


@pytest.mark.parametrize("words", [["select 1 from nowhere"], [], ["select 1", "--timeout", "0"]])
def test_a_bad_query_is_one_sentence(
    trace: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    assert main(["sql", trace, *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_tables_are_listed_without_duckdb(
    trace: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["sql", trace, "--tables"]) == 0
    assert "gaps: device, start_ns" in capsys.readouterr().out
    assert main(["sql", trace, "--tables", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1 and document["tables"]["gaps"][:2] == ["device", "start_ns"]
    assert main(["sql", trace, "--tables", "--csv", "-"]) == 2


def test_a_missing_duckdb_is_told_with_its_pip_line(
    trace: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["sql", trace, "select 1"]) == 2
    assert "pip install tracetui[sql]" in capsys.readouterr().err
