"""`tracetui doctor`: the verdict, the findings and the exit status; and what other commands say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analysis.health import planting
from tests.analysis.health.test_real import NOTES
from tests.cli.test_main import Run
from tests.cli.test_main import run as run
from tracetui.cli.commands import doctor
from tracetui.cli.exit_codes import ExitCode
from tracetui.reader.locate import recordings_below, trace_or_recordings

STACKS = "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz"
HEAD = "Idle time and steps are wrong: the first 8 kernel launches have no task on the device"


@pytest.fixture
def lossy(real_traces: Path, tmp_path: Path) -> str:
    """A real trace that lost its first tasks."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(planting.lose(planting.Events.read(real_traces / STACKS), 0, 0.15)))
    return str(path)


def test_a_healthy_recording_is_good(run: Run, real_traces: Path) -> None:
    healthy = str(real_traces / STACKS)
    output = run("doctor", healthy)
    assert output.code == ExitCode.OK
    assert "This recording can be believed; 2 notes." in output.out
    document = json.loads(run("doctor", healthy, "--json").out)
    assert document["verdict"] == "good" and set(document["trust"].values()) == {"good"}
    assert [finding["severity"] for finding in document["findings"]] == ["note", "note"]
    summary = run("summary", healthy).out
    assert "(?)" not in summary and "(!)" not in summary and "wrong" not in summary


def test_a_recording_that_lost_tasks_is_not(run: Run, lossy: str) -> None:
    output = run("doctor", lossy)
    assert output.code == ExitCode.LIMIT
    assert "wrong  device.head_lost  steps, idle time  step 6" in output.out
    document = json.loads(run("doctor", lossy, "--json").out)
    assert document["verdict"] == "wrong"
    assert document["trust"]["steps"] == document["trust"]["idle"] == "wrong"
    assert document["trust"]["operators"] == "good"
    first = document["findings"][0]
    assert {key: first[key] for key in ("id", "severity", "affects", "steps", "tracks", "count")} == {
        "id": "device.head_lost",
        "severity": "wrong",
        "affects": ["steps", "idle"],
        "steps": [6],
        "tracks": [],
        "count": 8,
    }
    ((start, end),) = first["windows"]
    assert start < end
    markdown = run("doctor", lossy, "--md")
    assert markdown.code == ExitCode.LIMIT
    assert "| wrong | device.head_lost | steps, idle time | step 6 |" in markdown.out


def test_all_reports_say_so_and_mark_their_numbers(run: Run, lossy: str) -> None:
    summary = run("summary", lossy).out
    assert " ".join(summary.split()).startswith(HEAD)
    assert "idle (!)" in summary and "computing (" not in summary
    assert "Steps, in ms (!)" in summary and "Why GPU 0 was idle" in summary
    assert "(!)" in run("gaps", lossy).out.splitlines()[0]
    assert "(!)" in run("hotspots", lossy).out.splitlines()[0]
    markdown = run("summary", lossy, "--md").out
    assert markdown.startswith("**Idle time and steps are wrong")
    for command, numbers in (("summary", 8), ("gaps", 4), ("hotspots", 3)):
        document = json.loads(run(command, lossy, "--json").out)
        assert document["trust"]["idle"] == "wrong" and len(document["trust"]) == numbers
        assert "device.head_lost" in document["findings"]
    (step,) = json.loads(run("summary", lossy, "--json").out)["devices"][0]["steps"]
    assert step["trust"] == "wrong"


def test_chinese(run: Run, lossy: str) -> None:
    summary = run("summary", lossy, "--lang", "zh").out
    assert summary.startswith("空闲时间与 step 有误：最初 8 次 kernel 下发在 Device 上没有任务")
    assert "有误" in run("doctor", lossy, "--lang", "zh").out
    assert "，超过 1 %" in run("check", lossy, "--max-idle", "1%", "--lang", "zh").out
    assert run("summary", lossy).out.startswith("Idle time and steps are wrong"), "the next one is English"


def test_gaps_in_a_stretch_that_is_not_believed_are_marked(
    run: Run, tmp_path: Path, real_traces: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(planting.lose(planting.Events.read(real_traces / STACKS), 0.45, 0.6)))
    lossy = str(path)
    document = json.loads(run("gaps", lossy, "--json", "--top", "0").out)
    ((start, end),) = json.loads(run("doctor", lossy, "--json").out)["findings"][0]["windows"]
    trust = {
        gap["start_ns"] < end and start < gap["start_ns"] + gap["dur_ns"]: gap["trust"]
        for gap in document["gaps"]
    }
    assert trust == {True: "wrong", False: "good"}
    assert "  wrong  " in run("gaps", lossy, "--top", "0").out
    assert "trust" not in run("gaps", str(real_traces / STACKS), "--top", "0").out


def test_lines_with_idle_time_that_is_not_believed_are_marked(
    run: Run, tmp_path: Path, real_traces: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(planting.lose(planting.Events.read(real_traces / STACKS), 0.45, 0.6)))
    lossy = str(path)
    document = json.loads(run("hotspots", lossy, "--json").out)
    assert {line["trust"] for line in document["hotspots"]} == {"wrong", "good"}
    gaps = json.loads(run("gaps", lossy, "--json", "--top", "0").out)["gaps"]
    wrong = {gap["line"] for gap in gaps if gap["trust"] == "wrong"}
    marked = {f"{line['file']}({line['line']})" for line in document["hotspots"] if line["trust"] == "wrong"}
    assert wrong and wrong <= marked
    assert "  wrong  " in run("hotspots", lossy).out and "| wrong |" in run("hotspots", lossy, "--md").out
    assert "trust" not in run("hotspots", str(real_traces / STACKS)).out


def test_each_recording_of_a_directory_is_judged(
    run: Run, real_traces: Path, tmp_path: Path, lossy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "of [red]others"
    below.mkdir()
    (below / "good.json.gz").write_bytes((real_traces / STACKS).read_bytes())
    (below / "settings.json").write_text('{"level": 1}')
    (tmp_path / "more").mkdir()
    Path(lossy).rename(tmp_path / "more" / "lossy.json")
    output = run("doctor", str(tmp_path))
    assert output.code == ExitCode.LIMIT
    words = " ".join(output.out.split())
    assert "2 recordings, each judged on its own: 1 in doubt." in words
    assert "wrong more/lossy.json Idle time and steps are wrong: the first 8 kernel launches" in words
    assert "good of [red]others/good.json.gz" in words and "settings" not in output.out + output.err
    document = json.loads(run("doctor", str(tmp_path), "--json").out)
    assert [(row["path"], row["verdict"]) for row in document["recordings"]] == [
        ("more/lossy.json", "wrong"),
        ("of [red]others/good.json.gz", "good"),
    ]
    assert document["recordings"][0]["findings"][0]["id"] == "device.head_lost"
    assert "- more/lossy.json: wrong: Idle time" in run("doctor", str(tmp_path), "--md").out
    healthy = run("doctor", str(real_traces / "gpu/pairs"))
    assert healthy.code == ExitCode.OK and "2 recordings, each judged on its own: none is" in healthy.out
    monkeypatch.setattr(doctor, "_MOST_RECORDINGS", 1)
    output = run("doctor", str(tmp_path))
    assert output.code == ExitCode.UNREADABLE and not output.out
    assert "holds 2 traces, name one of them: more/lossy.json" in output.err


@pytest.mark.parametrize("good_ones", [1, 2])
def test_a_recording_that_cannot_be_read_is_not_good(
    run: Run, real_traces: Path, tmp_path: Path, good_ones: int
) -> None:
    for number in range(good_ones):
        (tmp_path / f"{number}.json.gz").write_bytes((real_traces / STACKS).read_bytes())
    (tmp_path / "cut.json").write_text('{"traceEvents": [{"ph": "X", "na')
    output = run("doctor", str(tmp_path))
    assert "cut.json: the file is cut off before the end of its first event" in output.err
    verdict = "can be believed" if good_ones == 1 else "none is in doubt"
    assert output.code == ExitCode.UNREADABLE and verdict in " ".join(output.out.split())


def test_one_in_doubt_says_more_than_one_that_cannot_be_read(run: Run, tmp_path: Path, lossy: str) -> None:
    (tmp_path / "cut.json").write_text('{"traceEvents": [{"ph": "X", "na')
    assert run("doctor", str(tmp_path)).code == ExitCode.LIMIT


def test_runs_beside_a_trace_of_ascend_are_judged_too(run: Run, real_traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "a_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(
        (real_traces / "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT" / path.name).read_bytes()
    )
    (tmp_path / "settings.json").write_text('{"level": 1}')
    assert "This recording can be believed" in run("doctor", str(tmp_path)).out, "the other is no trace"
    assert trace_or_recordings(path.parents[1]) == [path], "of one trace its file"
    (tmp_path / "b.json.gz").write_bytes((real_traces / STACKS).read_bytes())
    document = json.loads(run("doctor", str(tmp_path), "--json").out)
    assert [row["path"] for row in document["recordings"]] == ["a_ascend_pt", "b.json.gz"]


def test_a_directory_without_any_trace_says_so(run: Run, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"level": 1}')
    output = run("doctor", str(tmp_path))
    assert output.code == ExitCode.UNREADABLE
    assert output.err == f"tracetui: {tmp_path}: no trace in this directory can be read\n"


def test_all_recordings_below_a_directory_are_found(real_traces: Path) -> None:
    found = [str(path.relative_to(real_traces)) for path in recordings_below(real_traces)]
    expected = [name.split("/ASCEND_PROFILER_OUTPUT")[0] for name in NOTES]
    assert set(expected) <= set(found) and len(found) == len(set(found))
    assert [name for name in found if name.startswith(("gpu", "npu/level"))] == sorted(
        name for name in expected if name.startswith(("gpu", "npu"))
    )
