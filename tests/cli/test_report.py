"""`tracetui report`, as it is called: one page of a trace, of a job and of two runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.export.training import PLAIN, training_events
from tracetui.cli import main


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(training_events(PLAIN)))
    return path


def test_the_page_of_a_trace_is_written_once(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(trace), "-o", str(page), "--no-cache"]) == 0
    assert "sections written to" in capsys.readouterr().err
    first = page.read_text(encoding="utf-8")
    assert first.startswith("<!DOCTYPE html>") and str(trace) in first
    assert main(["report", str(trace), "-o", str(page)]) == 2
    assert "exists; --force replaces it" in capsys.readouterr().err
    assert main(["report", str(trace), "-o", str(trace), "--force"]) == 2
    assert "is the trace itself" in capsys.readouterr().err
    assert json.loads(trace.read_text())


def test_a_page_is_chinese_where_that_is_asked_for(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(trace), "-o", "-", "--lang", "zh"]) == 0
    text = capsys.readouterr().out
    assert '<html lang="zh">' in text and "最大的原因是" in text and "was idle" not in text


def test_the_page_of_two_runs_begins_with_the_verdict(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(trace), str(trace), "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert "Nothing changed" in text and "A step, by what its time went into" in text


def test_what_is_no_trace_leaves_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "notes.txt"), "-o", str(page)]) == 3
    assert not page.exists() and len(capsys.readouterr().err.splitlines()) == 1
