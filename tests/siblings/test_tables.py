"""The tables beside a trace: by the names of columns, damaged rows refused aloud, nothing ever raised."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.siblings import cells, tables
from tracetui.siblings.formats import KERNEL_DETAILS, MEMORY_RECORD, OPERATOR_MEMORY, STEP_TIMES
from tracetui.siblings.tables import read_beside, read_table

HEADER = "Name,Size(KB),Allocation Time(us),Release Time(us),Device Type\n"


def written(directory: Path, text: str, name: str = "operator_memory.csv") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_are_found_by_the_names_of_columns(tmp_path: Path) -> None:
    text = "Device_id,New,Size(KB),Name,Allocation Time(us)\n0,x,0.5,aten::mm,1736412474720984.920\t\n"
    table = read_table(written(tmp_path, text), OPERATOR_MEMORY)
    assert (table.rows, table.problems) == (1, ())
    assert table.numbers["start"].tolist() == [1736412474720984920]
    assert table.numbers["bytes"].tolist() == [512]
    assert table.numbers["release"].tolist() == [-1]
    assert table.text("name", 0) == "aten::mm"
    assert table.text("device", 0) == "0"


def test_sizes_are_read_in_the_unit_of_their_title(tmp_path: Path) -> None:
    """Those of msprof are in KB, and its file has the time of the export in its name."""
    for title, cell in (("Total Allocated(MB)", "1.5"), ("Total Allocated(KB)", "1536.0")):
        text = f"Component,Timestamp(us),{title},Device Type\nPTA,1.5\t,{cell},NPU:0\n"
        (tmp_path / title).mkdir()
        written(tmp_path / title, text, "memory_record_20250109084800.csv")
        table = read_beside(tmp_path / title / "msprof_20250109084800.json", MEMORY_RECORD)
        assert table is not None
        assert table.numbers["allocated"].tolist() == [1_572_864]
        assert table.numbers["reserved"].tolist() == [-1]


def test_a_damaged_time_costs_its_row_and_a_sentence(tmp_path: Path) -> None:
    """Also that of a release: the block would count as never released."""
    rows = "a,1,1.5\t,,NPU:0\nb,1,1.69512E+15,,NPU:0\nc,1,2.5\t,1.69512E+15,NPU:0\n"
    table = read_table(written(tmp_path, HEADER + rows), OPERATOR_MEMORY)
    assert [table.text("name", row) for row in range(table.rows)] == ["a"]
    assert table.problems == (
        "operator_memory.csv: 2 of 3 rows are left out: cells are missing or damaged, like 1.69512E+15",
    )


def test_a_damaged_length_costs_nothing_but_itself(tmp_path: Path) -> None:
    """What is left of a difference of floats is none; only of a block a length stands for its release."""
    text = "Step,Computing,Overlapped,Bubble\n1,5.5,-5.551115123125783e-17,1.5\n2,5.5,1.45e-11,-3\n3,x,0,0\n"
    table = read_table(written(tmp_path, text, "step_trace_time.csv"), STEP_TIMES)
    assert table.numbers["step"].tolist() == [1, 2]
    assert table.numbers["overlapped"].tolist() == [0, 0]
    assert table.numbers["bubble"].tolist() == [1500, -1]
    assert table.problems == (
        "step_trace_time.csv: 1 of 3 rows are left out: cells are missing or damaged, like x",
    )
    text = "Name,Size(KB),Allocation Time(us),Duration(us)\na,1,1.5,2\nb,1,1.5,1.69512E+3\n"
    table = read_table(written(tmp_path, text), OPERATOR_MEMORY)
    assert table.numbers["duration"].tolist() == [2000]


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (("N/A", ""), ", what they must hold is missing"),
        (("N/A", "3x", "4x"), ": cells are missing or damaged, like 3x"),
    ],
)
def test_a_missing_cell_is_no_example_of_damage(tmp_path: Path, start: tuple[str, ...], words: str) -> None:
    rows = "".join(f"a,1,{time}\t,,NPU:0\n" for time in ("1.5", *start))
    table = read_table(written(tmp_path, HEADER + rows), OPERATOR_MEMORY)
    count = len(start)
    assert table.problems == (f"operator_memory.csv: {count} of {count + 1} rows are left out{words}",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("Name,Size(KB)\na,1\n", "is not read: it has no column Allocation Time(us)"),
        (HEADER.replace(",", ";"), "is not read: it has no column Name"),
        (HEADER + 'a,"1\n', "is damaged: its rows cannot be told apart"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    table = read_table(written(tmp_path, text), OPERATOR_MEMORY)
    assert table.rows == 0
    assert table.problems == (f"operator_memory.csv {sentence}",)
    assert table.numbers["start"].tolist() == []


def test_a_huge_table_or_a_pipe_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST", 10)
    table = read_table(written(tmp_path, HEADER), OPERATOR_MEMORY)
    assert table.problems == ("operator_memory.csv is not read: it has 63 B, more than 10 B",)
    os.mkfifo(tmp_path / "memory_record.csv")
    table = read_table(tmp_path / "memory_record.csv", MEMORY_RECORD)
    assert table.problems == ("memory_record.csv is not a file",)


def test_rows_are_the_same_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"op{row % 3},{row},{row}.25\t,,NPU:0\n" for row in range(20))
    path = written(tmp_path, HEADER + rows)
    whole = read_table(path, OPERATOR_MEMORY)
    monkeypatch.setattr(cells, "_BLOCK", 70)
    parts = read_table(path, OPERATOR_MEMORY)
    assert parts.numbers["start"].tolist() == whole.numbers["start"].tolist()
    assert [parts.text("name", row) for row in range(20)] == [f"op{row % 3}" for row in range(20)]


@given(st.binary(max_size=300))
def test_no_bytes_fail(content: bytes) -> None:
    path = Path(os.environ["XDG_CACHE_HOME"]) / "operator_memory.csv"
    path.write_bytes(HEADER.encode() + content)
    table = read_table(path, OPERATOR_MEMORY)
    lengths = {len(column) for column in table.numbers.values()} | {len(table.texts["name"].place)}
    assert lengths == {table.rows}
    assert (table.numbers["start"] >= 0).all()
    assert all(problem.isprintable() for problem in table.problems)


def test_other_columns_of_kernels_are_kept(tmp_path: Path) -> None:
    text = 'Name,Start Time(us),Input Shapes,aic_mac_ratio\nMul,1,"""2,3""",0.25\nAdd,2,N/A,N/A\n'
    table = read_table(written(tmp_path, text, "kernel_details.csv"), KERNEL_DETAILS)
    assert table.text("input_shapes", 0) == "2,3"
    assert table.text("input_shapes", 1) is None
    assert table.floats["aic_mac_ratio"][0] == 0.25
    assert np.isnan(table.floats["aic_mac_ratio"][1])


@pytest.mark.parametrize(
    "titles", ["Name,Start Time(us),aic_mac_ratio,aic_mac_ratio", "Name,Start Time(us),Name,x"]
)
def test_of_a_column_that_stands_twice_the_first_is_read(tmp_path: Path, titles: str) -> None:
    table = read_table(written(tmp_path, f"{titles}\nMul,1,0.25,0.5\n", "kernel_details.csv"), KERNEL_DETAILS)
    assert table.text("name", 0) == "Mul"
    assert [value.tolist() for value in table.floats.values()][-1] == [0.25 if "ratio" in titles else 0.5]
    twice = titles.split(",")[2]
    assert table.problems == (f"kernel_details.csv: column {twice} stands there twice, the first is read",)


def test_the_tables_of_a_real_rank_of_2023(real_traces: Path) -> None:
    """An older header, CRLF, and times that a spreadsheet damaged."""
    rank = real_traces / "npu" / "pipeline_tables" / "test_rank_{}" / "ASCEND_PROFILER_OUTPUT" / "x.json"
    first = read_beside(Path(str(rank).format(0)), OPERATOR_MEMORY)
    assert first is not None
    assert (first.rows, first.problems) == (28, ())
    assert first.numbers["release"][0] - first.numbers["start"][0] == 36700
    assert first.numbers["duration"][0] == 36730
    second = read_beside(Path(str(rank).format(1)), MEMORY_RECORD)
    assert second is not None
    assert second.rows == 0
    assert second.problems[0].startswith("memory_record.csv: 30 of 30 rows are left out")


def test_kernels_of_a_raw_export_have_their_own_file(tmp_path: Path) -> None:
    written(tmp_path, "Op Name,Task Start Time(us)\nMatMul,1.5\t\n", "op_summary_20250109084800.csv")
    table = read_beside(tmp_path / "msprof_20250109084800.json", KERNEL_DETAILS)
    assert table is not None and table.text("name", 0) == "MatMul"


def test_the_rank_in_the_name_of_a_file(tmp_path: Path) -> None:
    written(tmp_path, HEADER + "a,1,1.5,,NPU:0\n", "operator_memory_3.csv")
    table = read_beside(tmp_path / "trace_view.json", OPERATOR_MEMORY)
    assert table is not None and table.rows == 1
    written(tmp_path, HEADER, "operator_memory_4.csv")
    assert read_beside(tmp_path / "trace_view.json", OPERATOR_MEMORY) is None
