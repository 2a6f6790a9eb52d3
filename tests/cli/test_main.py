"""tracetui as it is called: what comes out where, with which exit status."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from tests.analysis import gpu, machine
from tests.export.training import NAMES, PYTHON, training_events
from tracetui import __version__
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.export.cells import text_cell
from tracetui.ui.options import ViewerOptions
from tracetui.units import Moment, Window, format_clock


class Output:
    """What one run wrote."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run = Callable[..., Output]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_tracetui(*arguments: str) -> Output:
        capsys.readouterr()
        code = main(arguments)
        return Output(code, *capsys.readouterr())

    return run_tracetui


def only_sentence(output: Output) -> str:
    """The one line on stderr, without its prefix; nothing else was written."""
    assert output.out == ""
    assert output.err.endswith("\n")
    assert output.err.count("\n") == 1
    assert output.err.isprintable() or output.err[:-1].isprintable()
    assert output.err.startswith("tracetui: ")
    return output.err[len("tracetui: ") : -1]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["gaps", "--help"]])
def test_help_and_version_succeed(run: Run, arguments: list[str]) -> None:
    output = run(*arguments)
    assert output.code == ExitCode.OK
    assert output.err == ""
    assert __version__ in output.out or "usage: tracetui" in output.out


@pytest.mark.parametrize(
    "arguments", [[], ["summary"], ["--window", "1..2", "t"], ["t", "--nonsense"], ["check", "t"]]
)
def test_wrong_arguments(run: Run, arguments: list[str]) -> None:
    output = run(*arguments)
    assert output.code == ExitCode.USAGE
    only_sentence(output)


def test_without_a_terminal_the_viewer_is_the_summary(run: Run, trace_path: str) -> None:
    viewed, summed = run(trace_path), run("summary", trace_path)
    assert viewed.code == summed.code == ExitCode.OK
    assert viewed.out == summed.out
    assert "NPU" in viewed.out


KEYS = {
    "summary": {"schema", "trust", "findings", "trace", "devices", "late_peers", "links", "notes"},
    "gaps": {"schema", "trust", "findings", "gaps"},
    "hotspots": {"schema", "trust", "findings", "idle_ns", "waited_for_peers_ns", "hotspots"},
    "advice": {"schema", "advice"},
}


@pytest.mark.parametrize("command", KEYS)
def test_json_is_one_object_and_nothing_else(run: Run, trace_path: str, command: str) -> None:
    output = run(command, trace_path, "--json")
    assert output.code == ExitCode.OK
    assert output.err == ""
    document = json.loads(output.out)
    assert document["schema"] == 1
    assert set(document) == KEYS[command]


@pytest.mark.parametrize("command", KEYS)
def test_markdown_and_a_table_in_one_run(run: Run, trace_path: str, tmp_path: Path, command: str) -> None:
    output = run(command, trace_path, "--md", "--csv", str(tmp_path / "table.csv"))
    assert output.code == ExitCode.OK
    assert output.out.startswith("#")
    assert len(pd.read_csv(tmp_path / "table.csv")) > 0
    assert "written to" in output.err


def test_the_rules_of_frames_choose_the_lines(run: Run, trace_path: str) -> None:
    def files(*arguments: str) -> set[str]:
        return {row["file"] for row in json.loads(run(*arguments, trace_path, "--json").out)["hotspots"]}

    assert any("=train" in file for file in files("hotspots") if file)
    assert files("hotspots", "--skip-frame", "/home/u/=train") <= {"/home/u/main.py", None}
    skipped = run("gaps", trace_path, "--json", "--skip-frame", "/home/u/=train")
    assert {gap["line"] for gap in json.loads(skipped.out)["gaps"]} <= {"/home/u/main.py(7)", None}
    events = run("export", trace_path, "--csv", "-", "--skip-frame", "/home/u/=train").out
    lines = pd.read_csv(io.StringIO(events), keep_default_na=False)["python_line"]
    assert set(lines) == {"/home/u/main.py(7)", ""}


def test_hotspots_of_a_step_sum_to_the_idle_time_of_its_gaps(run: Run, trace_path: str) -> None:
    for restriction in (["--step", "6"], ["--window", "200us..0.5ms"], []):
        gaps = json.loads(run("gaps", trace_path, "--json", *restriction).out)["gaps"]
        document = json.loads(run("hotspots", trace_path, "--json", *restriction).out)
        idle = sum(gap["idle_ns"] for gap in gaps)
        assert sum(row["idle_ns"] for row in document["hotspots"]) == document["idle_ns"] == idle > 0
    first = json.loads(run("hotspots", trace_path, "--json", "--top", "1").out)
    assert first["hotspots"] == document["hotspots"][:1]
    assert first["idle_ns"] == document["idle_ns"]


def check(run: Run, path: str, *limits: str) -> Output:
    return run("check", path, *limits)


def test_a_limit_that_is_kept(run: Run, trace_path: str) -> None:
    device = json.loads(run("summary", trace_path, "--json").out)["devices"][0]
    output = check(run, trace_path, "--max-free", f"{device['free_ns']}ns", "--max-idle", "100%")
    assert (output.code, output.out) == (ExitCode.OK, "")
    share = 100 * device["free_ns"] / (device["end_ns"] - device["start_ns"])
    assert check(run, trace_path, "--max-free", f"{share + 0.001:.6f}%").code == ExitCode.OK
    assert check(run, trace_path, "--max-free", f"{share - 0.001:.6f}%").code == ExitCode.LIMIT


def test_a_limit_that_is_passed_is_a_line(run: Run, trace_path: str) -> None:
    device = json.loads(run("summary", trace_path, "--json").out)["devices"][0]
    cause, ns = next(iter(device["causes"].items()))
    limits = ["--max-free", "1%", "--max-cause", f"{cause}={ns - 1}ns", "--max-idle", "100%"]
    output = check(run, trace_path, *limits)
    assert output.code == ExitCode.LIMIT
    free, caused = output.out.splitlines()
    assert free.startswith("NPU: free is ")
    assert free.endswith(", more than 1 %")
    assert caused.startswith(f"NPU: {cause} is ")
    document = json.loads(check(run, trace_path, *limits, "--json").out)
    assert [row["measured_ns"] for row in document["breaches"]] == [device["free_ns"], ns]
    assert [row["measure"] for row in document["limits"]] == ["free", "idle", cause]
    steps = check(run, trace_path, *limits, "--each-step").out.splitlines()
    assert {line.split(":")[0] for line in steps} >= {"NPU", "NPU step 5"}


def test_nothing_to_check(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_text(json.dumps([event for event in training_events() if event["pid"] == PYTHON]))
    output = check(run, str(path), "--max-free", "10%")
    assert output.code == ExitCode.UNCHECKED
    assert output.out == ""
    assert output.err.endswith("there is nothing to check\n")
    document = json.loads(check(run, str(path), "--max-free", "10%", "--json").out)
    (sentence,) = document["unchecked"]
    assert document["schema"] == 1 and sentence.endswith("there is nothing to check")


def test_steps_that_are_not_recorded_are_unchecked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = [event for event in training_events() if not event["name"].startswith("ProfilerStep")]
    path.write_text(json.dumps(events))
    assert check(run, str(path), "--max-idle", "100%").code == ExitCode.OK
    output = check(run, str(path), "--max-idle", "100%", "--each-step")
    assert (output.code, output.err.splitlines()[-1]) == (
        ExitCode.UNCHECKED,
        "tracetui: no step is recorded: there is nothing to check",
    )
    words = ("--baseline", str(path), "--max-regression")
    assert check(run, str(path), *words, "preparing=0%").code == ExitCode.UNCHECKED
    assert check(run, str(path), *words, "0%").code == ExitCode.OK


def test_compiling_is_checked_where_operators_tell_of_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = [*machine.npu(), machine.operator(100, 5_000, "TorchDynamo compile")]
    for start in (0, 6_000):
        events += [machine.operator(start, 50), machine.task(start + 60, 50)]
        source, target = (machine.PYTHON, machine.MAIN, start), (machine.HARDWARE, 1, start + 60)
        events += machine.arrow("async_npu", start, source, target)
    path.write_text(json.dumps(events))
    output = check(run, str(path), "--max-cause", "host.compile=1us")
    assert output.code == ExitCode.LIMIT and "nothing recorded" not in output.err
    assert check(run, str(path), "--max-cause", "host.compile=6us").code == ExitCode.OK
    assert check(run, str(path), "--max-cause", "launch.compile=6us").code == ExitCode.UNCHECKED


def test_a_limit_that_is_exceeded_is_told_where_nothing_tells_of_another(
    run: Run, trace_path: str, tmp_path: Path
) -> None:
    path = tmp_path / "host.json"
    path.write_text(json.dumps([event for event in training_events() if event["pid"] == PYTHON]))
    limits = ("--max-free", "1%", "--baseline", str(path), "--max-regression", "5%")
    output = check(run, trace_path, *limits)
    assert output.code == ExitCode.LIMIT
    assert output.out == check(run, trace_path, "--max-free", "1%").out != ""
    assert output.err.endswith("in BASE: there is nothing to compare\n")
    document = json.loads(check(run, trace_path, *limits, "--json").out)
    assert document["breaches"] and document["unchecked"]
    crashed = check(run, str(path), "--baseline", trace_path, "--max-regression", "5%")
    assert crashed.code == ExitCode.UNCHECKED
    assert crashed.err.endswith("in OTHER: there is nothing to compare\n")


@pytest.mark.parametrize(
    "options",
    [
        ("--max-memory", "1GB", "--each-step"),
        ("--max-free", "1%", "--all-steps"),
        ("--same-exports", "--trusted"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    run: Run, trace_path: str, options: tuple[str, ...]
) -> None:
    output = check(run, trace_path, *options)
    assert output.code == ExitCode.USAGE
    only_sentence(output)


def test_the_viewer_s_place_needs_a_terminal(run: Run, trace_path: str) -> None:
    assert run(trace_path, "--at", "gaps").code == ExitCode.USAGE


def test_idle_time_without_a_cause_is_said_where_causes_are_limited(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_text(json.dumps([event for event in training_events() if event["pid"] != PYTHON]))
    output = check(run, str(path), "--max-cause", "host.python=5%")
    assert output.code == ExitCode.OK
    assert "of the idle time has no known cause (unlinked)" in output.err
    assert "unlinked" not in check(run, str(path), "--max-free", "100%").err
    assert check(run, str(path), "--max-cause", "unlinked=1%").code == ExitCode.LIMIT


def test_top_counts_gaps(run: Run, trace_path: str) -> None:
    everything = json.loads(run("gaps", trace_path, "--json").out)["gaps"]
    assert json.loads(run("gaps", trace_path, "--json", "--top", "3").out)["gaps"] == everything[:3]
    assert json.loads(run("gaps", trace_path, "--json", "--top", "0").out)["gaps"] == everything
    assert len(everything) > 20
    assert run("gaps", trace_path).out.count("\n") == 3 + 2 * 20
    assert run("gaps", trace_path, "--top", "0").out.count("\n") == 3 + 2 * len(everything)


@pytest.mark.parametrize("by", ["lost", "idle", "communication"])
def test_by_ranks_gaps_alike_in_text_json_and_csv(run: Run, trace_path: str, by: str) -> None:
    gaps = json.loads(run("gaps", trace_path, "--json", "--by", by).out)["gaps"]
    assert [gap[f"{by}_ns"] for gap in gaps] == sorted((gap[f"{by}_ns"] for gap in gaps), reverse=True)
    table = pd.read_csv(
        io.StringIO(run("gaps", trace_path, "--csv", "-", "--by", by).out), keep_default_na=False
    )
    assert table["start_ns"].tolist() == [gap["start_ns"] for gap in gaps]
    assert table["line"].tolist() == [text_cell(gap["line"] or "") for gap in gaps]
    head = {"lost": "lost time", "idle": "idle time", "communication": "exposed communication"}[by]
    for form in ([], ["--md"]):
        assert f"with the most {head}\n" in run("gaps", trace_path, "--by", by, *form).out


def test_gaps_are_ranked_by_lost_time_if_nothing_else_is_asked_for(run: Run, trace_path: str) -> None:
    default, lost, idle = (
        run("gaps", trace_path, "--json", *by).out for by in ([], ["--by", "lost"], ["--by", "idle"])
    )
    assert default == lost != idle
    assert run("gaps", trace_path, "--by", "size").code == ExitCode.USAGE


def test_step_and_window_restrict(run: Run, trace_path: str) -> None:
    everything = json.loads(run("gaps", trace_path, "--json").out)["gaps"]
    start = json.loads(run("summary", trace_path, "--json").out)["trace"]["start_ns"]
    of_step = json.loads(run("gaps", trace_path, "--json", "--step", "6").out)["gaps"]
    assert of_step == [gap for gap in everything if gap["step"] == 6]
    inside = json.loads(run("gaps", trace_path, "--json", "--window", "200us..0.5ms").out)["gaps"]
    assert inside == [gap for gap in everything if 200_000 <= gap["start_ns"] - start < 500_000]
    assert 0 < len(inside) < len(everything)


def test_a_step_that_is_not_there(run: Run, trace_path: str) -> None:
    output = run("gaps", trace_path, "--step", "99")
    assert output.code == ExitCode.USAGE
    assert only_sentence(output) == "there is no step 99 in this trace: its steps are 5, 6"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([], "it has no ProfilerStep"),
        ([3], "its step is 3"),
        ([3, 4, 5], "its steps are 3 to 5"),
        ([3, 4, 6], "its steps are 3, 4, 6"),
        ([1, *range(3, 12)], "its steps are 1, 3, 4, 5, 6, 7, 8, 9, 10, 11"),
        ([1, *range(3, 13)], "its steps are 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."),
    ],
)
def test_steps_that_are_there_are_told_shortly(
    run: Run, tmp_path: Path, numbers: list[int], words: str
) -> None:
    path = tmp_path / "steps.json"
    steps = [gpu.step(number, number * 10_000, 5_000) for number in numbers]
    path.write_text(json.dumps([*gpu.gpu(), gpu.host(0, 5_000), *steps]))
    output = run("gaps", str(path), "--step", "99")
    assert output.err.splitlines()[-1] == f"tracetui: there is no step 99 in this trace: {words}"


def test_a_window_on_the_clock_of_the_trace(run: Run, trace_path: str) -> None:
    trace = json.loads(run("summary", trace_path, "--json").out)["trace"]
    relative = run("gaps", trace_path, "--json", "--window", "200us..0.5ms")
    start, end = (format_clock(trace["start_ns"] + ns) for ns in (200_000, 500_000))
    for window in (f"{start}..{end}", f"{start[:-3]}..{end[:-3]}", f"{start}..500us"):
        assert run("gaps", trace_path, "--json", "--window", window).out == relative.out
    before = run("gaps", trace_path, "--window", "1000000000..1000000001")
    assert before.code == ExitCode.USAGE
    assert only_sentence(before).startswith(f"the window ends before the start of {trace_path}, which is ")
    assert f"starts at {format_clock(trace['start_ns'])}\n" in before.err
    reverse = run("gaps", trace_path, "--window", f"{end}..1us")
    assert reverse.code == ExitCode.USAGE
    assert only_sentence(reverse).startswith("a window ends after it starts; this trace starts at ")


@pytest.mark.parametrize("command", ["summary", "gaps", "hotspots", "operators", "memory", "compare"])
def test_a_window_after_the_end_is_refused(run: Run, trace_path: str, command: str) -> None:
    more = [trace_path] if command == "compare" else []
    output = run(command, trace_path, *more, "--window", "100s..200s")
    assert output.code == ExitCode.USAGE
    assert f"the window starts after the end of {trace_path}, which is " in output.err


def test_a_window_in_the_times_of_a_file_with_a_base(run: Run, tmp_path: Path) -> None:
    path, base_us, start_us = tmp_path / "base.json", 1_700_000_000_000_000, 2_000_000_000
    events = training_events()
    moved_us = start_us - min(Decimal(event["ts"]) for event in events if event["ph"] == "X")
    for event in events:
        if "ts" in event:
            event["ts"] = str(Decimal(event["ts"]) + moved_us)
    path.write_text(json.dumps({"traceEvents": events, "baseTimeNanoseconds": base_us * 1000}))
    starts = (start_us, base_us + start_us)
    windows = ["200us..500us", *(f"{start + 200}..{start + 500}" for start in starts)]
    answers = {run("gaps", str(path), "--json", "--window", window).out for window in windows}
    assert len(answers) == 1
    assert json.loads(answers.pop())["gaps"]


def test_export_writes_the_window(run: Run, trace_path: str, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    output = run("export", trace_path, "--csv", str(path), "--step", "6", "--tracks", "hardware")
    assert output.code == ExitCode.OK
    assert output.out == ""
    table = pd.read_csv(path, keep_default_na=False)
    assert f"events written to {path}: {len(table)}" in output.err
    assert set(table["thread"]) == {"Stream 2"}
    assert len(NAMES) <= len(table) < 2 * len(NAMES)


def test_a_step_of_a_trace_without_a_device(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_text(json.dumps([event for event in training_events() if event["pid"] == PYTHON]))
    output = run("export", str(path), "--csv", "-", "--step", "6")
    assert output.code == ExitCode.OK
    table = pd.read_csv(io.StringIO(output.out), keep_default_na=False)
    assert table["name"].tolist() == ["ProfilerStep#6", *map(text_cell, NAMES)]
    assert set(table["step"]) == {6}
    assert run("gaps", str(path), "--step", "6").out.startswith("No known device works in this trace")
    assert "its steps are 5, 6" in run("export", str(path), "--csv", "-", "--step", "7").err


def test_csv_to_stdout(run: Run, trace_path: str) -> None:
    output = run("export", trace_path, "--csv", "-")
    assert output.code == ExitCode.OK
    assert output.err == ""
    table = pd.read_csv(io.StringIO(output.out), keep_default_na=False)
    assert len(table) == sum(event["ph"] == "X" for event in training_events())


@pytest.mark.parametrize("command", ["summary", "gaps", "hotspots", "advice", "export"])
def test_a_file_is_not_overwritten_without_force(
    run: Run, trace_path: str, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "old.csv"
    path.write_text("old")
    output = run(command, trace_path, "--csv", str(path))
    assert output.code == ExitCode.USAGE
    assert only_sentence(output) == f"{path} exists; --force replaces it"
    assert path.read_text() == "old"
    assert run(command, trace_path, "--csv", str(path), "--force").code == ExitCode.OK
    assert "_ns," in path.read_text()


@pytest.mark.parametrize("command", ["summary", "export"])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_the_trace_itself_is_never_overwritten(
    run: Run, trace_path: str, tmp_path: Path, command: str, force: tuple[str, ...]
) -> None:
    trace, link = tmp_path / "trace_view.json", tmp_path / "link.csv"
    trace.write_bytes(Path(trace_path).read_bytes())
    link.symlink_to(trace)
    for read, written in [(trace, trace), (tmp_path, trace), (trace, link), (link, trace)]:
        output = run(command, str(read), "--csv", str(written), *force)
        assert output.code == ExitCode.USAGE
        assert only_sentence(output) == f"{written} is the trace itself, which stays as it is"
    assert trace.read_bytes() == Path(trace_path).read_bytes()


def test_where_no_file_can_be_written(run: Run, trace_path: str, tmp_path: Path) -> None:
    output = run("gaps", trace_path, "--csv", str(tmp_path / "no" / "x.csv"))
    assert output.code == ExitCode.ERROR
    assert "No such file or directory" in only_sentence(output)
    assert run("gaps", trace_path, "--csv", str(tmp_path)).code == ExitCode.ERROR


def test_no_such_track(run: Run, trace_path: str) -> None:
    output = run("export", trace_path, "--csv", "-", "--tracks", "\x1b[2J")
    assert output.code == ExitCode.USAGE
    assert "no track" in only_sentence(output)


BAD = {
    "missing": None,
    "empty": b"",
    "white": b"  \n ",
    "binary": bytes(range(256)) * 8,
    "html": b"<html></html>",
    "number": b"42",
    "object": b'{"a": 1}',
    "nothing": b"[]",
    "half a gzip": gzip.compress(b"[]")[:12],
    "cut": b'[{"ph": "X", "na',
    "na\x1b[31mme\n": b"",
    "sur\udcffrogate": b"",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["view", "summary"])
def test_no_trace_is_one_sentence(run: Run, tmp_path: Path, name: str, command: str) -> None:
    content = BAD[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    output = run(str(path)) if command == "view" else run(command, str(path), "--json")
    assert output.code == ExitCode.UNREADABLE
    only_sentence(output)


def test_a_directory_without_a_trace(run: Run, tmp_path: Path) -> None:
    output = run("summary", str(tmp_path))
    assert output.code == ExitCode.UNREADABLE
    only_sentence(output)


def test_a_directory_that_holds_a_trace(run: Run, trace_path: str) -> None:
    assert run("summary", str(Path(trace_path).parent)).out == run("summary", trace_path).out


def test_a_truncated_trace_is_read_and_said(run: Run, trace_path: str, tmp_path: Path) -> None:
    text = Path(trace_path).read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(text[: 2 * len(text) // 3])
    output = run("summary", str(path))
    assert output.code == ExitCode.OK
    assert "cut off" in output.out
    document = json.loads(run("summary", str(path), "--json").out)
    assert document["trace"]["truncated"] is True
    assert document["trace"]["warnings"]
    assert all(warning in output.err for warning in document["trace"]["warnings"])


@pytest.mark.parametrize("command", ["summary", "gaps", "hotspots", "advice"])
def test_people_read_one_unit_for_microseconds(run: Run, samples: Path, command: str) -> None:
    trace = str(samples / "moba" / "trace_view.json")
    forms: list[list[str]] = [[], ["--md"]]
    for form in forms:
        out = run(command, trace, *form).out
        assert " µs" in out
        assert not re.search(r"[0-9] us\b", out)
    for form in forms if command == "summary" else forms[:1]:
        assert re.search(r"[0-9] us\b", run(command, trace, *form, "--ascii").out)
    assert "µ" not in run(command, trace, "--json").out


def test_text_is_as_wide_as_columns_says(
    run: Run, samples: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    def width(columns: str, command: str) -> int:
        monkeypatch.setenv("COLUMNS", columns)
        return max(map(len, run(command, str(samples / "moba" / "trace_view.json")).out.splitlines()))

    for command in ("summary", "gaps", "hotspots", "advice"):
        assert width("", command) <= 80 < width("120", command) <= 120
        if thorough or command == "gaps":
            assert width("60", command) <= max(60, width("1", command))
    assert width("9" * 7, "gaps") <= 1000
    assert {width(text, "gaps") for text in ("0", "-5", "x", "٣")} == {width("", "gaps")}


@pytest.mark.parametrize("command", ["summary", "gaps", "hotspots"])
def test_ascii_on_demand_and_where_stdout_knows_no_more(
    run: Run, trace_path: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unicode, plain = run(command, trace_path), run(command, trace_path, "--ascii")
    assert not unicode.out.isascii()
    assert plain.out.isascii()
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    assert main([command, trace_path]) == ExitCode.OK
    assert raw.getvalue().decode("ascii") == plain.out


@pytest.mark.parametrize(
    ("raised", "code", "sentence"),
    [
        (MemoryError(), ExitCode.ERROR, "there is not enough memory for this trace"),
        (RuntimeError("a\x1b[2J\nb"), ExitCode.ERROR, "unexpected RuntimeError: a\\x1b[2J\\nb"),
        (OSError(5, "Input/output error", "f\x1b"), ExitCode.ERROR, "f\\x1b: Input/output error"),
    ],
)
def test_what_nobody_expects_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, trace_path: str, raised: Exception, code: int, sentence: str
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("tracetui.cli.trace_reading.opened", fail)
    output = run("summary", trace_path)
    assert output.code == code
    assert only_sentence(output).startswith(sentence)
    monkeypatch.setenv("TRACETUI_DEBUG", "1")
    assert "Traceback" in run("summary", trace_path).err


def test_a_closed_stdout_is_one_sentence(monkeypatch: pytest.MonkeyPatch, trace_path: str) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["summary", trace_path]) == ExitCode.ERROR
    assert stderr.getvalue() == "tracetui: stdout is closed\n"


def test_ctrl_c_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch, trace_path: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tracetui.cli.trace_reading.opened", interrupt)
    output = run("summary", trace_path)
    assert (output.code, output.out, output.err) == (ExitCode.CANCELLED, "", "")


def test_sigterm_while_writing_leaves_no_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, trace_path: str, tmp_path: Path
) -> None:
    def terminated(*_: object) -> int:
        os.kill(os.getpid(), 15)
        return 0

    monkeypatch.setattr("tracetui.export.csv_table.write_table", terminated)
    assert run("gaps", trace_path, "--csv", str(tmp_path / "x.csv")).code == ExitCode.CANCELLED
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def sit_at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stdin, stdout and stderr one terminal; in the test itself, since pytest sets them before it."""
    stream = Terminal()
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    return stream


def test_a_dumb_terminal_gets_a_sentence(monkeypatch: pytest.MonkeyPatch, trace_path: str) -> None:
    terminal = sit_at_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    assert main([trace_path]) == ExitCode.USAGE
    assert terminal.getvalue().startswith("tracetui: this terminal")


def test_with_stderr_elsewhere_the_summary_says_why(monkeypatch: pytest.MonkeyPatch, trace_path: str) -> None:
    terminal = sit_at_terminal(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main([trace_path]) == ExitCode.OK
    assert "stderr, which is redirected" in terminal.getvalue()


def test_no_viewer_for_what_is_no_trace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    terminal = sit_at_terminal(monkeypatch)
    assert main([str(tmp_path / "missing")]) == ExitCode.UNREADABLE
    assert terminal.getvalue().count("\n") == 1


def test_the_viewer_gets_the_options(monkeypatch: pytest.MonkeyPatch, trace_path: str) -> None:
    opened: list[tuple[list[Path], ViewerOptions]] = []

    def open_viewer(paths: list[Path], options: ViewerOptions) -> int:
        opened.append((paths, options))
        return 0

    app = ModuleType("tracetui.ui.app")
    monkeypatch.setattr(app, "run_viewer", open_viewer, raising=False)
    monkeypatch.setitem(sys.modules, "tracetui.ui.app", app)
    sit_at_terminal(monkeypatch)
    for name in ("NO_COLOR", "COLORTERM", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    arguments = ["--step", "6", "--window", "1us..2us", "--no-mouse", "--source", "src", "--skip-frame", "a/"]
    assert main([trace_path, *arguments, "--jobs", "3", "--all-steps"]) == 0
    rules = FrameRules((), ("a/",))
    expected = ViewerOptions(
        "256",
        mouse=False,
        sources=(Path("src"),),
        step=6,
        window=Window(Moment(1000), Moment(2000)),
        rules=rules,
        scheduler=SchedulerSource(),
        jobs=3,
        all_steps=True,
        paths=(trace_path,),
    )
    assert opened == [([Path(trace_path)], expected)]


def test_the_viewer_lists_separate_runs_of_one_directory(
    monkeypatch: pytest.MonkeyPatch, trace_path: str, tmp_path: Path
) -> None:
    """Beside another path, or where JSON or a database is asked for, one of the traces has to be named."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("one.json", "two.json"):
        (runs / name).write_bytes(Path(trace_path).read_bytes())
    opened: list[Path] = []

    def open_runs(directory: Path, options: ViewerOptions) -> int:
        opened.append(directory)
        return 0

    app = ModuleType("tracetui.ui.app")
    monkeypatch.setattr(app, "run_separate", open_runs, raising=False)
    monkeypatch.setattr(app, "run_viewer", pytest.fail, raising=False)
    monkeypatch.setitem(sys.modules, "tracetui.ui.app", app)
    for arguments in ([str(runs), trace_path], [str(runs), "--from", "json"], [str(tmp_path / "missing")]):
        terminal = sit_at_terminal(monkeypatch)
        assert main(arguments) == ExitCode.UNREADABLE
        assert terminal.getvalue().count("\n") == 1
    assert main([str(runs)]) == 0
    assert opened == [runs]
