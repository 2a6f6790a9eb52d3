"""`tracetui report`, as it is called: one page of a trace, of a job and of two runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from simulator.job.directory import write_job
from tests.export.training import PLAIN, training_events
from tests.job.planted import truth
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
    assert "OTHER: " in text and stories(text)


def test_the_page_of_a_job_tells_the_gaps_of_the_rank_that_others_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = truth("loader")
    write_job(planted.outcome, tmp_path / "job", 1)
    assert main(["report", str(tmp_path / "job"), "-o", "-", "--no-cache"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"<h2>rank (\d+): ", text) == ["2"] and stories(text)


def test_the_page_of_a_job_of_digests_alone_has_no_gaps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_job(truth("loader").outcome, tmp_path / "job", 1)
    assert main(["digest", str(tmp_path / "job"), "-o", str(tmp_path / "digests")]) == 0
    assert main(["report", str(tmp_path / "digests"), "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert "Late ranks" in text and not stories(text)


def stories(text: str) -> int:
    """Count the gaps of a page that say what they waited for."""
    return text.count("; until ")


def test_what_is_no_trace_leaves_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "notes.txt"), "-o", str(page)]) == 3
    assert not page.exists() and len(capsys.readouterr().err.splitlines()) == 1
