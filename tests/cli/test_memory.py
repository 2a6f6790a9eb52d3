"""`tracetui memory` and the limits on memory of `check`, as they are called."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from simulator.memory import CAST_BYTES, SCRIPT, write_run
from tests.analysis.memory.runs import HOSTILE, write_snapshot
from tests.export.training import NAMES, START_US, training_events
from tests.forks import fork
from tracetui.cli import main


class Output(NamedTuple):
    """What one run wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run_tracetui(*arguments: str) -> Output:
        capsys.readouterr()
        return Output(main(arguments), *capsys.readouterr())

    return run_tracetui


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("leaking")
    write_run(directory, 4)
    return str(directory)


def test_the_text_names_the_leak(run: Any, leaking: str) -> None:
    output = run("memory", leaking)
    assert output.code == 0
    text = " ".join(output.out.split())
    assert (
        "grows 312 MB a step: npu::npu_dtype_cast (Cast), the 28th of 28 calls at train_grpo.py(27) forward, "
        "after FlashAttentionScore, before Add, alive since steps 50, 51, 52, 53" in text
    )
    assert text.startswith("NPU 0: peak 2.33 GB at ")
    assert max(map(len, output.out.splitlines())) <= 80


def test_the_line_of_the_leak_is_shown_where_its_source_is_on_this_host(
    run: Any, leaking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SCRIPT.parent.parent)
    text = " ".join(run("memory", leaking).out.split())
    assert "at train_grpo.py(27) forward `val = val.float()`, after FlashAttentionScore, before Add" in text
    assert r"\`val = val.float()\`" in " ".join(
        run("memory", leaking, "--md", "--source", str(SCRIPT.parent)).out.split()
    )


def test_json_csv_and_markdown_show_the_same(run: Any, leaking: str) -> None:
    document = json.loads(run("memory", leaking, "--json").out)
    assert document["schema"] == 1
    assert [component["name"] for component in document["components"]] == ["PTA+GE", "APP", "PTA", "GE"]
    (group,) = document["growing"]
    assert (group["verdict"], group["nth"], group["of"]) == ("grows", 28, 28)
    assert group["bytes_per_step"] == CAST_BYTES
    assert group["steps"] == [50, 51, 52, 53]
    peak = document["peak"]
    assert peak["bytes"] == peak["before_bytes"] + sum(line["bytes_at_peak"] for line in document["lines"])
    rows = list(csv.DictReader(io.StringIO(run("memory", leaking, "--csv", "-").out)))
    assert [int(row["allocated_bytes"]) for row in rows] == [
        row["allocated_bytes"] for row in document["lines"]
    ]
    assert [*rows[0]] == list(document["lines"][0])
    markdown = run("memory", leaking, "--md").out
    assert "| `npu::npu_dtype_cast` | `train_grpo.py(27) forward` |" in markdown


@pytest.mark.parametrize(("by", "key"), [("size", "sizes"), ("block", "blocks")])
def test_other_rows(run: Any, leaking: str, by: str, key: str) -> None:
    document = json.loads(run("memory", leaking, "--by", by, "--json", "--top", "3").out)
    rows = list(
        csv.DictReader(io.StringIO(run("memory", leaking, "--by", by, "--csv", "-", "--top", "3").out))
    )
    expected = [
        {name: "" if cell is None else str(cell) for name, cell in row.items()} for row in document[key]
    ]
    assert rows == expected
    assert len(rows) == 3
    assert run("memory", leaking, "--by", by).code == 0


def test_a_step_has_its_own_peak(run: Any, leaking: str) -> None:
    peaks = [
        json.loads(run("memory", leaking, "--json", "--step", str(step)).out)["peak"] for step in (50, 53)
    ]
    assert [peak["step"] for peak in peaks] == [50, 53]
    assert peaks[1]["bytes"] - peaks[0]["bytes"] > 2 * CAST_BYTES
    window = json.loads(run("memory", leaking, "--json", "--window", "0s..1us").out)
    assert (window["peak"], window["lines"]) == (None, [])


def test_limits_on_memory(run: Any, leaking: str) -> None:
    assert run("check", leaking, "--max-memory", "3GB", "--max-growth", "313MB")[:2] == (0, "")
    output = run("check", leaking, "--max-memory", "2GiB", "--max-growth", "1MB")
    assert output.code == 4
    assert output.out.splitlines() == [
        "NPU 0: memory is 2.33 GB, more than 2.15 GB",
        "NPU 0: memory grows by 312 MB or more in each of steps 50, 51, 52, more than 1.00 MB",
    ]
    document = json.loads(run("check", leaking, "--max-growth", "1MB", "--json").out)
    assert document["memory_breaches"][0]["measured_bytes"] >= CAST_BYTES
    for size in ("5", "GB", "-1GB", "1 parsec"):
        assert run("check", leaking, f"--max-memory={size}").code == 2


def test_what_was_not_recorded_is_not_checked(run: Any, samples: Path) -> None:
    trace = str(samples / "moba" / "trace_view.json")
    output = run("check", trace, "--max-memory", "1GB")
    assert (output.code, output.out) == (5, "")
    assert output.err == "tracetui: nothing recorded tells of memory: there is nothing to check\n"
    assert run("memory", trace).out.startswith("Nothing is known of the memory")
    assert json.loads(run("memory", trace, "--json").out)["peak"] is None
    assert run("memory", trace, "--csv", "-").code == 2


def test_a_step_of_another_process_is_refused(run: Any, tmp_path: Path) -> None:
    """Process 1 has two steps and process 2 one: memory is told of the steps of process 1."""
    events: list[dict[str, Any]] = []
    for pid, step in ((1, 3), (1, 4), (2, 40)):
        common = {"pid": pid, "tid": pid, "ts": 100_000 + 1_000 * step}
        name = f"ProfilerStep#{step}"
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "dur": 900, **common})
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "dur": 100, **common})
        amounts = {"Addr": step, "Bytes": 512, "Total Allocated": 512, "Total Reserved": 512}
        device = {"Device Type": 1, "Device Id": pid, "Ev Idx": step}
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", **common})
        events[-1]["args"] = {**amounts, **device}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), "utf-8")
    assert run("memory", str(path), "--step", "4").code == 0
    output = run("memory", str(path), "--step", "40")
    assert (output.code, output.out) == (2, "")
    assert "memory is told of the steps of one process, and step 40 is none of them" in output.err


def test_a_snapshot(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pkl"
    write_snapshot(path)
    text = " ".join(run("memory", str(path)).out.split())
    assert "grows 1.05 MB a step: the only call at demo.py(7) step, alive since steps 1, 2, 3" in text
    assert json.loads(run("memory", str(path), "--json", "--step", "2").out)["alive_at_end"]["blocks"] == 1
    assert run("memory", str(path), "--step", "9").code == 2
    assert run("memory", str(path), "--window", "0s..1s").code == 2
    without_a_terminal = run(str(path)).out
    assert " ".join(without_a_terminal.split()) == text
    assert "told by their numbers" in text and "mean life" not in text
    path.write_bytes(HOSTILE)
    for arguments in (["memory", str(path)], [str(path)]):
        output = run(*arguments)
        assert output.code == 3
        assert output.err.endswith(
            "snapshot.pkl: is refused: it asks for code to be run, which no snapshot does\n"
        )


def test_hostile_names_and_damage_reach_no_terminal_and_no_spreadsheet(run: Any, tmp_path: Path) -> None:
    (tmp_path / "trace_view.json").write_text(
        json.dumps(training_events()), encoding="utf-8", errors="replace"
    )
    with (tmp_path / "operator_memory.csv").open("w", encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Name", "Size(KB)", "Allocation Time(us)", "Device Type"])
        rows.writerows([name.replace("\0", ""), 1, START_US + 5, "NPU:\x1b[31m0"] for name in NAMES)
        rows.writerow(["a", 1, "1.7E+15", "NPU:0"])
    (tmp_path / "memory_record.csv").write_text(
        f"Component,Timestamp(us),Total Allocated(MB),Device Type\n=1+\x1b[0m1,{START_US},5,NPU:\x1b[31m0\n",
        encoding="utf-8",
    )
    for form in ((), ("--md",), ("--by", "block"), ("--by", "size", "--md")):
        output = run("memory", str(tmp_path), *form)
        assert output.code == 0
        assert all(line.isprintable() for line in output.out.split("\n"))
        assert "2 of 20 rows are left out: cells are missing or damaged, like 1.7E+15" in output.err
    for by in ("line", "block"):
        table = run("memory", str(tmp_path), "--by", by, "--csv", "-").out
        cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert json.loads(run("memory", str(tmp_path), "--json").out)["warnings"]


def test_without_tables_pandas_is_not_imported(
    run: Any, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert run("memory", str(samples / "moba" / "trace_view.json"), "--json").code == 0


def test_source_is_quoted_from_where_the_user_works_and_in_markdown_only_when_asked(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot may name any file of this host, such as one with a password."""
    home, elsewhere = tmp_path / "me", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / "demo.py").write_text("keep(secret)\n" * 8)
    path = tmp_path / "job" / "snapshot.pkl"
    path.parent.mkdir()
    write_snapshot(path, home / "demo.py")

    def quotes(*options: str) -> bool:
        return "keep(secret)" in run("memory", str(path), *options).out

    monkeypatch.chdir(elsewhere)
    assert not quotes()
    assert quotes("--source", str(home)) and quotes("--source", str(home), "--md")
    monkeypatch.chdir(home)
    assert quotes() and not quotes("--md")

    def quotes_in_file(*options: str) -> bool:
        report = tmp_path / "report.txt"
        with report.open("wb") as file:
            fork("tracetui", "memory", str(path), *options, stdout=file, cwd=home).communicate(60)
        return "keep(secret)" in report.read_text()

    assert quotes_in_file("--source", str(home)) and not quotes_in_file()
