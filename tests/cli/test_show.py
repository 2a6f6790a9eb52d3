"""`tracetui show`: one row alone by the id that --json shows; every row is found, others are refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simulator.job.directory import write_job
from tests.analysis.memory.runs import write_snapshot
from tests.job.planted import truth
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.places import parse_place

SAMPLE = "samples/moba/trace_view.json"


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == ExitCode.OK
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (["gaps"], ("gaps",)),
        (["hotspots"], ("hotspots",)),
        (["hotspots", "--by", "module"], ("modules",)),
        (["hotspots", "--by", "frame"], ("frames",)),
        (["operators"], ("operators",)),
        (["operators", "--host", "--by", "name"], ("operators",)),
        (["summary"], ("devices", "steps")),
        (["summary"], ("links",)),
        (["summary"], ("late_peers",)),
        (["advice"], ("advice",)),
        (["doctor"], ("findings",)),
    ],
)
def test_every_id_of_an_answer_is_found_again(
    capsys: pytest.CaptureFixture[str], command: list[str], path: tuple[str, ...]
) -> None:
    name, *more = command
    answer = json.loads(shown(capsys, name, SAMPLE, *more, "--json"))
    rows = answer[path[0]]
    if len(path) > 1:
        rows = [row for outer in rows for row in outer[path[1]]]
    assert rows
    assert len({row["id"] for row in rows}) == len(rows)
    for row in (rows[0], rows[-1]):
        alone = json.loads(shown(capsys, "show", SAMPLE, row["id"], "--json"))
        assert alone["id"] == row["id"]
        assert alone["row"].keys() == row.keys()
        assert alone["row"] == row
        assert parse_place(alone["place"] or "gaps")


def test_a_row_is_told_as_text_and_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    gap = json.loads(shown(capsys, "gaps", SAMPLE, "--json", "--top", "2"))["gaps"][1]["id"]
    text = shown(capsys, "show", SAMPLE, gap)
    assert text.startswith(f"{gap}\n\n── Gap 2 of 150 ")
    assert f"--at 'gaps#{gap},trace=" in text
    _, story, *_ = shown(capsys, "show", SAMPLE, gap, "--md").split("```")
    assert story.startswith("text\n── Gap 2 of 150 ") and "\n- " not in story
    assert "间隙" in shown(capsys, "show", SAMPLE, gap, "--lang", "zh")
    assert shown(capsys, "show", SAMPLE, gap, "--ascii").isascii()


def test_a_story_in_json_is_english(capsys: pytest.CaptureFixture[str]) -> None:
    gaps = json.loads(shown(capsys, "gaps", SAMPLE, "--json", "--top", "1"))["gaps"]
    words = ("show", SAMPLE, gaps[0]["id"], "--json")
    assert shown(capsys, *words, "--lang", "zh") == shown(capsys, *words)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gap=NPU:7", "no row is called gap=NPU:7 here: --json of the commands"),
        ("gap=x", "no row is called gap=x here"),
        ("fish=x", "ids begin with gap, "),
        ("[red]\x1b[2J", "no row is called [red]"),
        ("line=%", "no row is called line=% here"),
    ],
)
def test_what_is_no_row_is_one_sentence(capsys: pytest.CaptureFixture[str], name: str, sentence: str) -> None:
    assert main(["show", SAMPLE, name]) == ExitCode.USAGE
    error = capsys.readouterr().err
    assert sentence in error
    assert "\x1b" not in error
    assert error.count("\n") == 1


def test_rows_of_a_job_have_ids(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_job(truth("loader").outcome, tmp_path, 1)
    answer = json.loads(shown(capsys, "ranks", str(tmp_path), "--json", "--jobs", "1"))
    rows = [answer["ranks"][2], answer["waits"]["roots"][0], answer["waits"]["steps"][0], answer["lines"][0]]
    for row in rows:
        alone = json.loads(shown(capsys, "show", str(tmp_path), row["id"], "--json"))
        assert alone["row"] == row
    assert answer["ranks"][2]["id"] == "rank=2"
    root = shown(capsys, "show", str(tmp_path), rows[1]["id"])
    assert "wait=2:" in root and "share        -" not in root and " %" in root
    rank = shown(capsys, "show", str(tmp_path), "rank=2")
    assert f"computing  {answer['ranks'][2]['computing_ns'] / 1e6:.2f} ms\n" in rank


def test_a_row_of_a_comparison_is_explained_alone(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(shown(capsys, "compare", SAMPLE, SAMPLE, "--json"))
    for key in ("waterfall", "classes", "lines", "causes", "api", "advice"):
        rows = answer[key]
        assert len({row["id"] for row in rows}) == len(rows), key
        alone = json.loads(shown(capsys, "show", SAMPLE, rows[-1]["id"], "--against", SAMPLE, "--json"))
        assert alone["row"] == rows[-1]
        assert parse_place(alone["place"]).screen == "compare"
    text = shown(capsys, "show", SAMPLE, "class=Matmul", "--against", SAMPLE)
    assert "No change." in text
    assert "tracetui BASE PATH --at 'compare#class=Matmul,view=class,trace=" in text
    titles = [line.split("  ")[1] for line in text.splitlines() if line.startswith("  ")]
    assert titles[:4] == ["base", "base count", "other", "other count"]
    assert main(["show", SAMPLE, "fish=x", "--against", SAMPLE]) == ExitCode.USAGE
    assert "ids begin with term, " in capsys.readouterr().err


def test_a_row_that_one_side_cannot_have_is_not_said_to_have_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    host = tmp_path / "host.json"
    host.write_text(json.dumps([{"ph": "X", "ts": 1, "dur": 9, "pid": 1, "tid": 1, "name": "aten::add"}]))
    text = shown(capsys, "show", str(host), "class=Matmul", "--against", SAMPLE)
    assert "OTHER has no work of a device to compare.\n" in text and "ms a step" not in text
    facts = dict(line.split() for line in text.splitlines() if line.startswith("  delta"))
    assert facts == {"delta": "-"}
    rows = shown(capsys, "compare", SAMPLE, str(host), "--csv", "-", "--by", "class").splitlines()
    (row,) = (row for row in csv.DictReader(rows) if row["id"] == "class=Matmul")
    assert (row["status"], row["other_ns"], row["delta_ns"]) == ("gone", "", "")


def test_no_two_rows_of_a_comparison_of_jobs_share_an_id(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The step, and the parts of that of one rank, have none."""
    write_job(truth("loader").outcome, tmp_path, 1)
    answer = json.loads(shown(capsys, "compare", str(tmp_path), str(tmp_path), "--json", "--jobs", "1"))
    assert answer["step"]["id"] is None
    parts = [part for rank in answer["ranks"] for part in rank["waterfall"]]
    assert parts and {part["id"] for part in parts} == {None}


@pytest.mark.parametrize("by", ["line", "size", "block"])
def test_rows_of_a_snapshot_of_memory_are_found_though_none_has_a_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, by: str
) -> None:
    path = tmp_path / "snapshot.pkl"
    write_snapshot(path)
    answer = json.loads(shown(capsys, "memory", str(path), "--by", by, "--json"))
    rows = [*answer["components"], *answer["growing"], *answer[f"{by}s"]]
    assert len({row["id"] for row in rows}) == len(rows) >= 3
    for row in rows:
        alone = json.loads(shown(capsys, "show", str(path), row["id"], "--json"))
        assert alone["row"] == row
        assert parse_place(alone["place"]).screen == "memory"
    assert main(["show", str(path), "gap=NPU:1"]) == ExitCode.USAGE
    assert "ids begin with component, " in capsys.readouterr().err
