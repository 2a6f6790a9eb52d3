"""`tracetui operators`: the producer's own sums, and what its tables tell of each kernel."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.analysis import real
from tests.export.training import training_events
from tracetui.cli import main

REAL = "level2/rank0"


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("rank", ["level2/rank0", "level2/rank1"])
def test_sums_by_type_and_by_shape_are_those_of_op_statistic(
    real_traces: Path, capsys: pytest.CaptureFixture[str], rank: str
) -> None:
    directory = real.npu_output(real_traces, rank)
    statistic = {
        row["OP Type"]: (int(row["Count"]), float(row["Total Time(us)"]) * 1000)
        for row in rows((directory / "op_statistic.csv").read_text(encoding="utf-8"))
    }
    for by, name in (("type", "name"), ("shape", "type")):
        count: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for row in rows(out(capsys, "operators", str(directory), "--by", by, "--csv", "-")):
            count[row[name]] += int(row["count"])
            total[row[name]] += int(row["total_ns"])
        assert {kind: count[kind] for kind in statistic} == {
            kind: number for kind, (number, _) in statistic.items()
        }
        for kind, (number, ns) in statistic.items():
            assert abs(total[kind] - ns) <= number, kind  # each kernel is rounded to a ns
        apart = set(count) - set(statistic)  # copies are no kernels, and collectives not in that table
        assert apart <= {"hcom_allReduce_", "MEMCPY_ASYNC"}


def test_each_real_kernel_has_its_facts(real_traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(real.npu_output(real_traces, REAL))
    kernels = rows(out(capsys, "operators", path, "--by", "kernel", "--csv", "-"))
    assert len(kernels) == 191
    first = min(
        (row for row in kernels if row["name"] == "trans_TransData_1"), key=lambda row: row["start_ns"]
    )
    assert (first["type"], first["core"], first["step"]) == ("TransData", "AI_VECTOR_CORE", "50")
    assert (first["l2_hit_rate"], first["l2_victim_rate"]) == ("", "0.213463")
    assert first["operator"] == "Conv2D" and first["python_line"].endswith("main.py(354)")
    document = json.loads(out(capsys, "operators", path, "--by", "kernel", "--json", "--top", "1"))
    assert document["kernels"][0]["dur_ns"] == max(int(row["dur_ns"]) for row in kernels)
    assert document["kernels"][0]["aic_mac_ratio"] is None


@pytest.fixture
def trained(tmp_path: Path) -> str:
    """A trace of kernels a and b, and tables of them."""
    events = training_events(("a", "b"), 1)
    (tmp_path / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")
    start = {e["name"]: e["ts"] for e in events if e.get("name") in ("a", "b") and e["args"].get("Task Type")}
    (tmp_path / "kernel_details.csv").write_text(
        "Name,Type,Start Time(us),Duration(us),Stream ID,Task ID,Input Shapes,mac(%)\n"
        + "".join(
            f'{name},=T,{at}\t,5,7,{place},"""2;3""",0.5\n' for place, (name, at) in enumerate(start.items())
        ),
        encoding="utf-8",
    )
    (tmp_path / "l2_cache.csv").write_text(
        "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n7,0,0.75,N/A,a\n7,0,0.5,N/A,b\n", encoding="utf-8"
    )
    (tmp_path / "data_preprocess.csv").write_text(
        "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),"
        "Total_time(us),Stream ID,Task ID\n0,1,b,1.5,2,3,4.25,8,7,1\n",
        encoding="utf-8",
    )
    return str(tmp_path)


def test_tables_of_single_tasks_are_joined_by_number_and_name(
    trained: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_rows = json.loads(out(capsys, "operators", trained, "--by", "kernel", "--json"))["kernels"]
    kernels = {row["name"]: row for row in kernel_rows}
    assert set(kernels) == {"a", "b"}
    assert [kernels[name]["l2_hit_rate"] for name in "ab"] == [0.75, None]
    assert [kernels[name]["aicpu_dispatch_us"] for name in "ab"] == [None, 4.25]
    assert [kernels[name]["mac(%)"] for name in "ab"] == [0.5, 0.5]
    (shape,) = json.loads(out(capsys, "operators", trained, "--by", "shape", "--json"))["operators"]
    assert (shape["type"], shape["input_shapes"], shape["count"]) == ("=T", "2;3", 2)
    assert shape["total_ns"] == 10_000


def test_every_form_and_selection_lists_the_same(trained: str, capsys: pytest.CaptureFixture[str]) -> None:
    (device,) = json.loads(out(capsys, "summary", trained, "--json"))["devices"]
    step = str(device["steps"][0]["step"])
    for by in ("type", "name", "shape", "kernel"):
        one = ("operators", trained, "--by", by)
        document = json.loads(out(capsys, *one, "--json"))
        (listed,) = (value for key, value in document.items() if key != "schema")
        assert len(rows(out(capsys, *one, "--csv", "-"))) == len(listed) > 0
        assert max(map(len, out(capsys, *one).splitlines())) <= 80
        marked = out(capsys, *one, "--md")
        assert marked.startswith("## ") and marked.count("\n|") == len(listed) + 2
        within = json.loads(out(capsys, *one, "--json", "--step", step, "--window", "0s..10s"))
        assert len(next(value for key, value in within.items() if key != "schema")) == len(listed)
        if by in ("shape", "kernel"):
            assert "none" in out(capsys, *one, "--window", "0s..1ns")
    host = json.loads(out(capsys, "operators", trained, "--host", "--json"))["operators"]
    assert sum(row["self_ns"] for row in host) <= sum(row["total_ns"] for row in host)
    assert main(["operators", trained, "--host", "--by", "kernel"]) == 2


def test_without_the_table_shapes_are_refused_with_a_reason(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(samples / "moba" / "trace_view.json")
    assert main(["operators", path, "--by", "shape"]) == 2
    assert "kernel_details.csv or op_summary.csv is not beside this trace" in capsys.readouterr().err
    assert main(["operators", path]) == 0
