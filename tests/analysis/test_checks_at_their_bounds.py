"""Up to where the sums of a producer agree with those of a trace, and what is said beyond it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis import checks
from tracetui.analysis.checks import Check
from tracetui.trace.model import Layer

Sums = dict[str, tuple[int, int]]


@pytest.mark.parametrize(
    ("table_sums", "trace_sums", "words"),
    [
        ({"a": (2, 100), "b": (1, 7)}, {"a": (2, 102), "b": (1, 6)}, None),
        ({"a": (2, 100)}, {"a": (2, 103)}, "a: 2 of 100 ns there, 2 of 103 ns in the trace"),
        ({"a": (2, 103)}, {"a": (2, 100)}, "a: 2 of 103 ns there, 2 of 100 ns in the trace"),
        ({"a": (2, 100)}, {"a": (3, 100)}, "a: 2 of 100 ns there, 3 of 100 ns in the trace"),
        (
            {"a": (1, 5_000_100)},
            {"a": (1, 5_000_200)},
            "a: 1 of 5,000,100 ns there, 1 of 5,000,200 ns in the trace",
        ),
        ({"a": (1, 5_000_100)}, {"a": (2, 5_000_200)}, "a: 1 of 5.00 ms there, 2 of 5.00 ms in the trace"),
        ({"a": (1, 1)}, {}, "a: 1 of 1 ns there, 0 of 0 ns in the trace"),
        ({"a": (0, 1)}, {}, "a: 0 of 1 ns there, 0 of 0 ns in the trace"),
        ({"a": (1, 9)}, {}, "a: 1 of 9 ns there, 0 of 0 ns in the trace"),
        ({}, {"b": (1, 9)}, "b: 0 of 0 ns there, 1 of 9 ns in the trace"),
        ({"a": (1, 9)}, {"b": (1, 9)}, "a: 1 of 9 ns there, 0 of 0 ns in the trace, and 1 more type"),
        (
            {"a": (1, 9), "c": (2, 9)},
            {"b": (1, 9)},
            "a: 1 of 9 ns there, 0 of 0 ns in the trace, and 2 more types",
        ),
    ],
)
def test_sums_agree_up_to_1_ns_for_each_that_is_counted(
    table_sums: Sums, trace_sums: Sums, words: str | None
) -> None:
    agreed = "1 type" if len(table_sums) == 1 else f"{len(table_sums)} types"
    assert checks._compare_sums("x.csv", table_sums, trace_sums, "type") == Check(
        "x.csv", words is None, words or agreed
    )


@pytest.mark.parametrize(
    ("value", "scaled"),
    [
        (2, 2e6),
        (0, 0.0),
        (-1.5, -1.5e6),
        (1e12, None),
        (-1e12, None),
        (True, None),
        ("3", None),
        (None, None),
    ],
)
def test_only_numbers_below_1e12_are_told(value: object, scaled: float | None) -> None:
    assert checks._to_base_units(value) == scaled
    assert checks._to_base_units(float("nan")) is None


def beside(monkeypatch: pytest.MonkeyPatch, **table: Any) -> None:
    texts = table.pop("texts", {})
    found = SimpleNamespace(
        **table,
        problems=(),
        text=lambda key, row: texts[key][row],
        texts={"device": SimpleNamespace(place=np.array(texts.get("device", [0])))},
    )
    monkeypatch.setattr(checks, "read_of_run", lambda path, form: found)


def kernels(rows: list[int], dur: list[int]) -> Any:
    table = SimpleNamespace(rows=len(rows), numbers={"dur": np.array(dur)}, problems=())
    return SimpleNamespace(table=table, row=np.array(rows))


@pytest.mark.parametrize(
    ("rows", "dur", "words"),
    [
        ([0, 1, 2], [9, 10, 11], None),
        ([0, 1, 2], [8, 10, 12], "2 of 3 kernels last another time there"),
        ([2, -1, 0], [10, 10, -1], "1 of 3 kernels are not in the trace"),
        (
            [-1, -1, 0],
            [10, 10, 0],
            "2 of 3 kernels are not in the trace, 1 of 3 kernels last another time there",
        ),
    ],
)
def test_kernels_last_as_long_to_the_ns(rows: list[int], dur: list[int], words: str | None) -> None:
    """All of the trace last 10 ns; what the table does not tell (-1) agrees."""
    trace: Any = SimpleNamespace(path="x", slices=SimpleNamespace(dur=np.full(3, 10)))
    found = checks._kernels(trace, kernels(rows, dur))
    assert found is not None and found[1:] == (words is None, words or "3 kernels")
    assert checks._kernels(trace, kernels([], [])) is None and checks._kernels(trace, None) is None


def test_types_of_cores_of_collectives_count_where_the_table_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace: Any = SimpleNamespace(path="x")
    types = [
        ("Mul", "AIV", 2, 10),
        ("allReduce", "HCCL", 1, 5),
        ("send", "COMMUNICATION", 1, 7),
        ("Add", "", 1, 3),
    ]
    rows = [SimpleNamespace(type=t, core=c, count=n, total_ns=ns) for t, c, n, ns in types]
    kernels: Any = SimpleNamespace(types=lambda: rows, table=SimpleNamespace(rows=len(rows)))

    def check_of(*lines: tuple[str | None, str | None, int, int]) -> Check | None:
        numbers = {
            "count": np.array([line[2] for line in lines]),
            "total": np.array([line[3] for line in lines]),
        }
        texts = {"type": [line[0] for line in lines], "core": [line[1] for line in lines]}
        beside(monkeypatch, rows=len(lines), numbers=numbers, texts=texts)
        return checks._types(trace, kernels)

    few, more = [("Mul", "AIV", 2, 10), ("Add", None, 1, 3)], ("send", "COMMUNICATION", 1, 7)
    assert check_of(*few) == ("op_statistic.csv", True, "2 types")
    assert check_of(*few, more) == ("op_statistic.csv", True, "3 types")
    assert check_of(*few, (*more[:3], 9)) == (
        "op_statistic.csv",
        False,
        "send on COMMUNICATION: 1 of 9 ns there, 1 of 7 ns in the trace",
    )
    assert check_of() is None and checks._types(trace, None) is None


def test_calls_are_added_by_what_they_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of "launch" of 10 ns each by both names; what the table leaves out is inside of others."""
    strings = ["Node@launch", "launch", "inner", "aten::mm"]
    tracks = [
        SimpleNamespace(layer=Layer.RUNTIME, rows=range(3)),
        SimpleNamespace(layer=Layer.PYTHON, rows=range(3, 4)),
    ]
    slices = SimpleNamespace(name=np.array([0, 1, 2, 0], np.int32), dur=np.full(4, 10))
    trace: Any = SimpleNamespace(path="x", tracks=tracks, slices=slices, string=strings.__getitem__)
    numbers = {"count": np.array([1, 1]), "total": np.array([12, 8])}
    beside(monkeypatch, rows=2, numbers=numbers, texts={"name": ["launch", "launch"]})
    assert checks._calls(trace) == ("api_statistic.csv", True, "1 call")
    tracks[0].rows = range(0)
    assert checks._calls(trace) is None


def test_parts_of_steps_may_be_1_us_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    trace: Any = SimpleNamespace(path="x")
    names = checks._STEP_COLUMNS

    def step(number: int, device: str = "NPU", ns: int = 5_000) -> Any:
        return SimpleNamespace(number=number, device=device, **dict.fromkeys(names.values(), ns))

    def check_of(
        steps: list[Any], lines: list[tuple[int, int]], devices: tuple[int, ...] = (0, 0)
    ) -> Check | None:
        numbers = {key: np.array([ns for _, ns in lines]) for key in ("step", *names)}
        numbers["step"] = np.array([number for number, _ in lines])
        numbers["free"] = np.full(len(lines), 5_000)
        beside(monkeypatch, rows=len(lines), numbers=numbers, texts={"device": devices})
        return checks._steps(trace, steps)

    agreed = [(1, 6_000), (2, 4_000), (3, -1), (9, 77)]
    steps = [step(1), step(2), step(3)]
    assert check_of(steps, agreed) == ("step_trace_time.csv", True, "3 steps")
    assert check_of([step(1)], [(1, 6_001)]) == (
        "step_trace_time.csv",
        False,
        f"step 1, computing 6.00 µs there, 5.00 µs in the trace, and {len(names) - 2} more times",
    )
    wrong = check_of([step(1, ns=5_000)], [(1, 0)])
    assert wrong is not None and not wrong.agrees, "0 is told"
    assert check_of([step(4)], agreed) is None
    assert check_of([step(1), step(2, "NPU 1")], agreed) is None
    assert check_of(steps, agreed, (0, 1)) is None
    assert check_of(steps, []) is None


def document(monkeypatch: pytest.MonkeyPatch, *members_told: tuple[str, Any]) -> None:
    """What a document says of operations, beside a sum of its own that does not count."""
    total = {"0-1": {"Op Name": "a", "Transit Size(MB)": 99, "Transit Time(ms)": 99}}
    members = {
        "step1": {
            "p2p": {"Total Op Info": total, **dict(members_told[:1])},
            "collective": dict(members_told[1:]),
        }
    }
    monkeypatch.setattr(checks, "_document", lambda trace, name: members)


NAMES = ["a", "b", "c", "twice", "twice"]


def run(transit: list[int], wait: list[int]) -> tuple[Any, Any]:
    trace = SimpleNamespace(name=NAMES.__getitem__)
    operations = SimpleNamespace(row=np.arange(5))
    times = SimpleNamespace(transit=np.array(transit), wait=np.array(wait))
    columns = {
        "operation": [0, 0, 1],
        "src": [0, 0, 0],
        "dst": [1, 1, 2],
        "size": [3, 4, 5],
        "start": [0, 10, 20],
    }
    transfers = SimpleNamespace(
        **{key: np.array(values) for key, values in columns.items()}, end=np.array([5, 5_015, 5_020])
    )
    return trace, SimpleNamespace(operations=operations, master_times=times, transfers=transfers)


@pytest.mark.parametrize(
    ("transit", "wait", "words"),
    [
        (0.006, 0.004, None),
        (0.006001, 0.004, "b, transit 6.00 µs there, 5.00 µs in the trace"),
        (0.006, 0.003, "b, wait 3.00 µs there, 5.00 µs in the trace"),
        (0.008, 0.0, "b, transit 8.00 µs there, 5.00 µs in the trace, and 1 more time"),
        (None, None, None),
    ],
)
def test_times_of_operations_may_be_1_us_apart(
    monkeypatch: pytest.MonkeyPatch, transit: float | None, wait: float | None, words: str | None
) -> None:
    """What has no planes, a name that is not of one operation, and what is no document are left alone."""
    info = {"Communication Time Info": {"Transit Time(ms)": transit, "Wait Time(ms)": wait}}
    far: Any = {"Communication Time Info": {"Transit Time(ms)": 70, "Wait Time(ms)": 70}}
    document(monkeypatch, ("b@1", info), ("a@1", far), ("twice@1", far), ("other@1", far), ("c@1", {"x": 1}))
    found = checks._operations(*run([-1, 5_000, -1, 9, 9], [-1, 5_000, -1, 9, 9]))
    assert found is not None and found[1:] == (
        words is None,
        words or "2 operations",
    )
    none = checks._operations(*run([0] * 5, [-1] * 5))
    assert none is not None and not none.agrees, "0 ns of planes count"
    document(monkeypatch, ("other@1", far))
    assert checks._operations(*run([0] * 5, [0] * 5)) is None


@pytest.mark.parametrize(
    ("size", "ns", "words"),
    [
        (7e-6, 0.00601, None),
        (7e-6, 0.00401, None),
        (7e-6, 0.006011, "a, link 0-1 6.01 µs there, 5.01 µs in the trace"),
        (8e-6, 0.00601, "a, link 0-1 8 B there, 7 B in the trace"),
        (None, 0.9, "-"),
        (9e-6, None, "-"),
    ],
)
def test_bytes_of_links_agree_exactly_and_times_to_1_us(
    monkeypatch: pytest.MonkeyPatch, size: float | None, ns: float | None, words: str | None
) -> None:
    def link(size: float | None, ns: float | None, name: object = "a") -> dict[str, Any]:
        return {"Op Name": name, "Transit Size(MB)": size, "Transit Time(ms)": ns}

    links = {"0-1": link(size, ns), "0-2": link(9, 9), "1-1": link(9, 9), "0-3": link(9, 9, 5), "x": 3}
    again = {"0-1": link(1, 1)}
    document(
        monkeypatch,
        ("one", links),
        *[("two", again)] * (words != "-"),
        ("three", {"0-2": link(5e-6, 0.005, "b")}),
    )
    found = checks._links(*run([0] * 5, [0] * 5))
    assert found is not None
    assert found[1:] == ((True, "1 link") if words == "-" else (words is None, words or "2 links"))


def test_links_of_an_operation_that_the_trace_lost_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    link = {"Op Name": "lost", "Transit Size(MB)": 3e-6, "Transit Time(ms)": 0.005}
    document(monkeypatch, ("one", {"0-1": link}))
    trace, communication = run([0] * 5, [0] * 5)
    communication.transfers.operation[:] = -1
    assert checks._links(trace, communication) is None


def test_where_no_table_lies_beside_a_trace_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "read_of_run", lambda path, form: None)
    monkeypatch.setattr(checks, "_document", lambda trace, name: None)
    tracks = [SimpleNamespace(layer=Layer.RUNTIME, rows=range(1))]
    trace: Any = SimpleNamespace(path="x", tracks=tracks)
    steps: Any = [SimpleNamespace(device="NPU")]
    assert checks.find_checks(trace, None, steps, run([0] * 5, [0] * 5)[1]) == ()
    assert checks._types(trace, kernels([0], [10])) is None
