"""`--sched` and `tracetui scheduler`: as text, JSON, CSV, Markdown and frames."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import tracetui
from simulator.job.directory import write_rank
from simulator.scheduler import OFFSET, SimulatedScheduler
from tests.job.planted import truth
from tests.simulator import traces
from tracetui.cli import main
from tracetui.cli.commands import COMMANDS

STATES = ("running_ns", "interrupted_ns", "ready_ns", "blocked_ns", "disk_ns", "unknown_ns")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with a recording of the scheduler that it does not find by itself."""
    directory = tmp_path_factory.mktemp("run")
    (directory / "trace_view.json").write_bytes(traces.written("mixed"))
    text = SimulatedScheduler(traces.recording("mixed", True), with_process=True).text()
    (directory / "sched.txt").write_text(text.replace("kworker/3:1", "\x1b[31m|==>x "))
    return directory


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job of two ranks, and beside it a directory with the recording of each."""
    top, outcome = tmp_path_factory.mktemp("ranks"), truth("loader").outcome
    (top / "sched").mkdir()
    for rank in (0, 2):
        write_rank(outcome, rank, top / "job")
        text = SimulatedScheduler(outcome.recordings[rank], rank, with_process=True).text()
        (top / "sched" / f"rank{rank}.txt").write_text(text)
    return top


def asked(run: Path, capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    options = ["--sched", str(run / "sched.txt"), "--sched-offset", str(OFFSET)]
    assert main([words[0], str(run / "trace_view.json"), *words[1:], *options]) == status
    return capsys.readouterr().out


def test_json_has_threads_culprits_and_cores(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(asked(run, capsys, "scheduler", "--json"))
    assert document["clock"] == {"source": "given", "offset_ns": OFFSET, "drift_ppm": None, "error_ns": None}
    assert document["lost_events"] == document["skipped_lines"] == 0
    window = document["end_ns"] - document["start_ns"]
    assert [sum(thread[state] for state in STATES) for thread in document["threads"]] == [window] * 3
    summary = json.loads(asked(run, capsys, "summary", "--json"))
    causes = summary["devices"][0]["causes"]
    assert {key: ns for key, ns in causes.items() if key in document["causes"]} == document["causes"]
    assert sum(thread["idle_ns"] for thread in document["threads"]) == sum(document["causes"].values())
    assert sum(culprit["idle_ns"] for culprit in document["culprits"]) == causes["host.preempted"]
    assert {culprit["own_process"] for culprit in document["culprits"]} == {True, False}
    assert document["culprits"][0]["comm"] == "\x1b[31m|==>x "
    cores = {core["cpu"]: core["busy_ns"] for core in document["cpus"]}
    busy = sum(thread[state] for thread in document["threads"] for state in STATES[:3])
    assert sum(cores.values()) == busy, "whoever has a core when a thread is ready keeps it busy"


def test_a_clock_that_does_not_fit_makes_causes_doubtful(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a recording beside the trace, for which no other clock can be fitted."""
    (tmp_path / "trace_view.json").write_bytes(traces.written("balanced"))
    text = SimulatedScheduler(traces.recording("balanced", True), with_process=True).text()
    (tmp_path / "trace.txt").write_text(text)
    start_info = {"clockMonotonicRaw": "5000000", "collectionTimeBegin": str((OFFSET + 15_000_000) // 1000)}
    (tmp_path / "start_info").write_text(json.dumps(start_info))
    assert main(["scheduler", str(tmp_path), "--md"]) == 0
    assert "% of their calls: the clock may be off" in capsys.readouterr().out
    assert main(["doctor", str(tmp_path), "--json"]) == 4
    doctor = json.loads(capsys.readouterr().out)
    assert doctor["findings"][0]["id"] == "clock.scheduler" and doctor["trust"]["causes"] == "doubtful"


def test_text_and_markdown_obey_no_name(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = asked(run, capsys, "scheduler")
    assert "\x1b" not in text
    assert "The scheduler explains" in text and "another process" in text
    markdown = asked(run, capsys, "scheduler", "--md")
    assert "\x1b" not in markdown
    assert "`␛[31m\\|==>x  (77)`" in markdown


def test_text_is_as_wide_as_a_terminal(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the nodes of a host, too, and a thread that moves between them."""
    lines = (run / "sched.txt").read_text().splitlines()
    at = lines[200].split("]")[1].split()[1]
    tid = traces.recording("mixed", True).main_tid
    event = f"sched_migrate_task: comm=python3 pid={tid} prio=120 orig_cpu=4 dest_cpu"
    moves = [f"               x-9       (      9) [020] d..2. {at} {event}={core}" for core in (5, 4)]
    (tmp_path / "sched.txt").write_text("\n".join([*lines[:200], *moves, *lines[200:]]))
    (tmp_path / "trace_view.json").write_bytes((run / "trace_view.json").read_bytes())
    (tmp_path / "lscpu.txt").write_text("NUMA node0 CPU(s): 0-4\nNUMA node1 CPU(s): 5-31\n")
    text = asked(tmp_path, capsys, "scheduler")
    assert max(map(len, text.splitlines())) <= 80
    assert "came to another NUMA node: 2" in text
    assert re.search(r"^ +core +node +busy", text, re.MULTILINE)


def test_csv_and_frames_have_the_threads(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*csv.DictReader(io.StringIO(asked(run, capsys, "scheduler", "--csv", "-")))]
    analysis = tracetui.load(run / "trace_view.json", sched=run / "sched.txt", sched_offset=OFFSET)
    frame = tracetui.scheduler_threads_frame(analysis)
    assert frame["idle_ns"].tolist() == [int(row["idle_ns"]) for row in rows]
    culprits = tracetui.culprits_frame(analysis)
    assert (
        culprits["idle_ns"].sum()
        == analysis.causes.by_cause()[
            next(cause for cause in analysis.causes.by_cause() if cause.label == "host.preempted")
        ]
    )
    with pytest.raises(ValueError, match="scheduler"):
        tracetui.culprits_frame(tracetui.load(run / "trace_view.json"))


def test_causes_of_the_scheduler_are_held_to_limits(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "host.preempted is" in asked(run, capsys, "check", "--max-cause", "host.preempted=2%", status=4)
    assert asked(run, capsys, "check", "--max-cause", "host.preempted=90%") == ""


def test_causes_of_the_scheduler_are_unchecked_without_it(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, limit = str(run / "trace_view.json"), "host.preempted=90%"
    assert main(["check", path, "--max-cause", limit]) == 5
    assert "nothing recorded tells of host.preempted" in capsys.readouterr().err
    words = ("--baseline", path, "--max-regression", "host.preempted=0%")
    assert main(["check", path, *words]) == 5
    assert asked(run, capsys, "check", *words, status=5) == ""  # one side has it


@pytest.mark.parametrize("words", [("gaps",), ("hotspots",), ("summary",)])
def test_every_command_that_knows_causes_has_them(
    run: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "host.preempted" in asked(run, capsys, *words, "--json")


#: What causes of idle time do not reach: events, memory, operators, notes, and what tracetui itself keeps.
WITHOUT_CAUSES = {"cache", "export", "mcp", "memory", "notes", "operators", "skill"}


def test_every_command_takes_a_recording_but_those_without_causes() -> None:
    taking = {command.name for command in COMMANDS if "--sched" in command.parser().valued}
    assert {command.name for command in COMMANDS} - taking == WITHOUT_CAUSES


@pytest.mark.parametrize(
    "words",
    [
        ("ranks",),
        ("show", "{line}"),
        ("check", "--max-wait", "99%"),
        ("report", "-o", "-"),
        ("compare",),
        ("digest",),
    ],
)
def test_every_command_on_ranks_takes_a_directory_of_recordings(
    words: tuple[str, ...], ranks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, given = str(ranks / "job"), ["--sched", str(ranks / "sched")]
    if words[0] == "digest":
        assert main(["digest", job, "-o", str(tmp_path), *given]) == 0
        job, given, words = str(tmp_path), [], ("ranks",)
        capsys.readouterr()
    if words[0] == "show":
        assert main(["ranks", job, "--json", *given]) == 0
        words = ("show", json.loads(capsys.readouterr().out)["lines"][0]["id"])
    paths = [job, job] if words[0] == "compare" else [job]
    forms = [] if words[0] == "report" else ["--json"]
    assert main([words[0], *paths, *words[1:], *forms, *given]) == 0
    answer = capsys.readouterr().out
    assert ("host.preempted" in answer) is (words[0] != "check")


def test_a_recording_of_a_job_that_is_not_there_is_refused(
    ranks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["phases", str(ranks / "job"), "--sched", str(ranks / "none")]) == 3
    assert "none: no such file or directory" in capsys.readouterr().err
    assert main(["whatif", str(ranks / "job"), "--sched", str(ranks / "job")]) == 0
    answer = " ".join(capsys.readouterr().out.split())
    assert "holds no recording that is plainly of this rank" in answer
    assert main(["doctor", str(ranks / "job"), "--sched", str(ranks / "none")]) == 3
    output = capsys.readouterr()
    assert output.err.count("none: cannot be read") == 2 and "holds no trace" not in output.err
    assert not output.out


def test_a_rank_that_a_recording_is_not_of_is_not_called_good(
    ranks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(ranks / "job"), "--sched", str(ranks / "sched/rank0.txt")]) == 3
    assert "holds none of the threads of the trace" in capsys.readouterr().err


def test_a_comparison_takes_a_recording_of_each_side(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, path = str(run / "trace_view.json"), str(run / "sched.txt")
    for options, sides in (
        (["--sched", path], {"other_ns"}),
        (["--base-sched", path], {"base_ns"}),
        ([], set()),
    ):
        assert main(["compare", trace, trace, "--json", *options]) == 0
        rows = json.loads(capsys.readouterr().out)["waterfall"]
        found = [row for row in rows if row["term"].endswith("host.preempted")]
        assert {side for row in found for side in ("base_ns", "other_ns") if row[side]} == sides


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--sched", "nowhere.txt"], "nowhere.txt: cannot be read: No such file or directory"),
        (["--sched", "{run}/trace_view.json"], "holds no events of the scheduler"),
        (
            ["--sched", "{run}/sched.txt", "--sched-offset", "0"],
            "does not overlap the trace with that offset",
        ),
        ([], "there is no recording of the scheduler beside this trace: name one with --sched FILE"),
        (["--sched", "x", "--sched-offset", "1.5"], "an offset is a whole number of nanoseconds"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    run: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [option.format(run=run) for option in options]
    assert main(["scheduler", str(run / "trace_view.json"), *given]) in (2, 3)
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1


def test_what_is_wrong_with_a_recording_is_said(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording beside the trace is found, and what is skipped of it is said."""
    (tmp_path / "trace_view.json").write_bytes((run / "trace_view.json").read_bytes())
    lines = (run / "sched.txt").read_text().splitlines()
    lines[100] = "nonsense"
    lines[200:201] = ["CPU:4 [LOST 12 EVENTS]", lines[200]]
    (tmp_path / "trace.txt").write_text("\n".join(lines))
    assert main(["summary", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "host.preempted" in document["devices"][0]["causes"]
    notes = [
        warning for warning in document["trace"]["warnings"] if "cheduler" in warning or "kernel" in warning
    ]
    assert notes == [
        "Lines of the scheduler that cannot be read, and are skipped: 1.",
        "Events that the kernel lost: 12. Threads are unknown meanwhile: give it a larger buffer.",
    ]
    assert main(["summary", str(tmp_path)]) == 0
    assert notes[0] in capsys.readouterr().err
    lines[200] = "CPU:4 [LOST EVENTS]"
    (tmp_path / "trace.txt").write_text("\n".join(lines))
    assert main(["summary", str(tmp_path)]) == 0
    assert "The kernel lost events. Threads are unknown meanwhile" in capsys.readouterr().err
