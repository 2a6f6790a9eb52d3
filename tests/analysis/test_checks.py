"""The producer's own sums beside a trace: they agree on real ranks, and where one does not it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis import real
from tracetui.analysis.checks import Check, find_checks
from tracetui.export.trace.summary import run_facts

AGREED = [
    "kernel_details.csv agrees: 191 kernels",
    "op_statistic.csv agrees: 33 types",
    "api_statistic.csv agrees: 75 calls",
    "step_trace_time.csv agrees: 1 step",
    "communication.json agrees: 4 operations",
    "communication_matrix.json agrees: 32 links",
]


@pytest.mark.parametrize("rank", real.NPU)
def test_the_sums_of_real_ranks_agree(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    agreed = AGREED if rank.startswith("level2") else [AGREED[0], AGREED[3]]
    assert [check.sentence for check in analysis.checks] == agreed
    run, tables = run_facts(analysis)
    assert run == f"Run: rank {rank[-1]}, Level{rank[5]}, CPU + NPU"
    assert tables.startswith("The tables beside it agree: kernel_details.csv (191 kernels), ")


def checked(real_traces: Path, directory: Path, name: str, change: Callable[[str], str]) -> list[Check]:
    """The checks of a real rank of which only one table lies beside the trace, and is changed."""
    analysis = real.npu(real_traces, "level2/rank0")
    text = (real.npu_output(real_traces, "level2/rank0") / name).read_text(encoding="utf-8")
    (directory / name).write_text(change(text), encoding="utf-8")
    trace = replace(analysis.trace, path=str(directory / "trace_view.json"))
    kernels = analysis.kernels
    checks = find_checks(trace, kernels, analysis.steps, analysis.communication)
    return [check for check in checks if check.table == name]


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (
            "op_statistic.csv",
            "TransData,AI_VECTOR_CORE,57,",
            "TransData,AI_VECTOR_CORE,58,",
            "TransData on AI_VECTOR_CORE: 58 of 1.39 ms there, 57 of 1.39 ms in the trace",
        ),
        (
            "op_statistic.csv",
            "TransData,AI_VECTOR_CORE",
            "Trans,AI_VECTOR_CORE",
            "Trans on AI_VECTOR_CORE: 57 of 1.39 ms there, 0 of 0 ns in the trace, and 1 more type",
        ),
        (
            "api_statistic.csv",
            "node,launch,4295.43,191",
            "node,launch,4395.43,191",
            "launch: 191 of 4.40 ms there, 191 of 4.30 ms in the trace",
        ),
        (
            "step_trace_time.csv",
            "50,8868.240",
            "50,8869.450",
            "step 50, computing 8,869,450 ns there, 8,868,214 ns in the trace",
        ),
        (
            "communication.json",
            '"Wait Time(ms)": 2.5635312187499997',
            '"Wait Time(ms)": 2.6',
            "hcom_allReduce__271_0_1, wait 2.60 ms there, 2.56 ms in the trace",
        ),
        (
            "communication_matrix.json",
            '"Transit Time(ms)": 2.24104478125',
            '"Transit Time(ms)": 2.34104478125',
            "hcom_allReduce__271_2_1, link 0-1 2.34 ms there, 2.24 ms in the trace",
        ),
        (
            "communication_matrix.json",
            '"Transit Size(MB)": 37.781504, "Transit Time(ms)": 2.24104478125',
            '"Transit Size(MB)": 47.781504, "Transit Time(ms)": 2.24104478125',
            "hcom_allReduce__271_2_1, link 0-1 47.8 MB there, 37.8 MB in the trace",
        ),
    ],
)
def test_a_difference_is_told_with_both_numbers(
    real_traces: Path, tmp_path: Path, name: str, old: str, new: str, words: str
) -> None:
    def change(text: str) -> str:
        compact = json.dumps(json.loads(text)) if name.endswith(".json") else text
        assert old in compact
        return compact.replace(old, new, 1)

    assert checked(real_traces, tmp_path, name, str) == [Check(name, True, checked_words(name))]
    assert checked(real_traces, tmp_path, name, change) == [Check(name, False, words)]


def checked_words(name: str) -> str:
    (words,) = (agreed.partition("agrees: ")[2] for agreed in AGREED if agreed.startswith(name))
    return words


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("op_statistic.csv", "OP Type"),
        ("api_statistic.csv", "API Name"),
        ("step_trace_time.csv", "Computing"),
    ],
)
def test_a_table_that_lost_all_its_rows_is_told(
    real_traces: Path, tmp_path: Path, name: str, needed: str
) -> None:
    """Where it never had any, there is nothing to tell."""

    def damaged(text: str) -> str:
        header, *rows = text.splitlines()
        column = header.split(",").index(needed)
        cells = [row.split(",") for row in rows]
        return "\n".join([header, *(",".join([*row[:column], "N/A", *row[column + 1 :]]) for row in cells)])

    assert checked(real_traces, tmp_path, name, damaged) == [
        Check(name, False, "none of its rows can be read")
    ]
    assert checked(real_traces, tmp_path, name, lambda text: text.splitlines()[0] + "\n") == []


def test_kernels_that_lost_all_their_rows_are_told(real_traces: Path, tmp_path: Path) -> None:
    """The sums of their types are then not held against none."""
    output = real.npu_output(real_traces, "level2/rank0")
    for name in ("trace_view.json", "op_statistic.csv"):
        (tmp_path / name).write_bytes((output / name).read_bytes())
    header = (output / "kernel_details.csv").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "kernel_details.csv").write_text(header + "\n1\n", encoding="utf-8")
    assert [check.sentence for check in real.analysed(tmp_path / "trace_view.json").checks] == [
        "kernel_details.csv differs: none of its rows can be read"
    ]


@pytest.mark.parametrize("name", ["communication.json", "communication_matrix.json"])
@pytest.mark.parametrize(
    "content",
    [
        *("", "[1]", "{", '{"a": {"b": {"c@1": 5, "d@2": {}}}}'),
        '{"a": {"b": {"c@1": {"0-1": 3, "0-2": {"Op Name": [1]}}}}}',
        '{"a": {"b": {"c": {"0-1": {"Op Name": "hcom_allReduce__271_0_1", "Transit Size(MB)": true}}}}}',
    ],
)
def test_a_damaged_document_is_no_error(real_traces: Path, tmp_path: Path, name: str, content: str) -> None:
    checks = checked(real_traces, tmp_path, name, lambda _: content)
    assert not any(check.agrees for check in checks)


def test_links_of_operations_that_are_lost_are_not_held_against_others(
    real_traces: Path, tmp_path: Path
) -> None:
    """Planes without the operations of their group are of operation -1, which the trace has no name for."""
    output = real.npu_output(real_traces, "level2/rank0")
    events = json.loads((output / "trace_view.json").read_bytes())
    kept = [event for event in events if not event["name"].startswith("hcom_")]
    assert len(kept) == len(events) - 4
    (tmp_path / "trace_view.json").write_text(json.dumps(kept), encoding="utf-8")
    name = "communication_matrix.json"
    (tmp_path / name).write_bytes((output / name).read_bytes())
    analysis = real.analysed(tmp_path / "trace_view.json")
    assert [check for check in analysis.checks if check.table == name] == []
