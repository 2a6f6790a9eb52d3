"""Any events, in any spelling and cut into any blocks, give the rows of their definition."""

from __future__ import annotations

import gzip
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reader.rows import expected_rows, read_rows
from tracetui.reader.source import TraceFile

texts = st.one_of(
    st.sampled_from(
        ["aten::mm", "", '}, {"ph": "X"', "}],[{", '\\"', "é漢\U0001f600", "\x1b[2J", 'a"b', "]", "{"]
    ),
    # "@" marks what the test makes numbers of.
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="@"), max_size=8),
)
whole = st.integers(0, 10**15)
microseconds = st.one_of(
    st.builds("{}.{:03}".format, st.integers(10**15, 2 * 10**15), st.integers(0, 999)),
    st.builds("{}.{}".format, whole, st.integers(0, 10**6)),
    whole.map(str),
    whole,
    # A JSON number with these digits: written as text, the test takes the quotes off.
    st.builds("@{}.{:03}".format, st.integers(1, 2 * 10**15), st.integers(0, 999)),
    st.builds("@{}E-{}".format, st.integers(1, 10**9), st.integers(1, 9)),
)
durations = st.one_of(
    st.integers(-5, 10**9),
    st.floats(-10, 10**9, allow_nan=False),
    st.integers(0, 10**8).map(lambda half: half / 2000),
    st.floats(0, 10**6).map(lambda value: str(Decimal(value))),
)
ids = st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 50), st.integers(2**63, 2**86))
ids = st.one_of(ids, ids.map(str))
numbers = st.one_of(st.integers(-5, 2**40), st.sampled_from(["p", "Spans", "", "5", 5]))
links = st.one_of(st.integers(0, 2**40), st.sampled_from([4294967295, -1, "17", "x", 18446744073709551615]))
nested = st.lists(st.dictionaries(st.sampled_from(["ph", "name", "}"]), texts, max_size=2), max_size=3)


def _event(phase: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    common = {"ph": st.just(phase), "name": texts, "pid": numbers, "tid": numbers}
    return st.fixed_dictionaries({**common, **fields})


event = st.one_of(
    st.fixed_dictionaries(
        {"ph": st.just("X"), "name": texts, "pid": numbers, "tid": numbers, "ts": microseconds},
        optional={
            "dur": durations,
            "cat": texts,
            "args": st.fixed_dictionaries(
                {},
                optional={
                    "connection_id": links,
                    "correlation_id": links,
                    "correlation": links,
                    "Task Type": texts.filter(bool),
                    "memcpy direction": texts.filter(bool),
                    "Call stack": texts,
                    "Python id": st.integers(0, 2**31 - 1),
                    "shapes": nested,
                    "ts": microseconds,
                },
            ),
        },
    ),
    *[_event(phase, ts=microseconds, id=ids, cat=texts) for phase in "stf"],
    _event(
        "C",
        ts=microseconds,
        args=st.dictionaries(
            st.one_of(texts, st.just("acc_id")),
            st.one_of(st.integers(-(2**50), 2**50), st.floats(allow_nan=False, allow_infinity=False)),
            max_size=3,
        ),
    ),
    _event("i", ts=microseconds),
    _event("M", args=st.fixed_dictionaries({"name": texts})),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=st.lists(event, min_size=1, max_size=12),
    indent=st.sampled_from([None, None, 4]),
    separators=st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : "), (",\n", ": ")]),
    ascii_=st.booleans(),
    wrapped=st.booleans(),
    zipped=st.booleans(),
    bom=st.booleans(),
    block=st.sampled_from([3, 40, 200, 1000, 10**6]),
    part=st.sampled_from([1, 500, 10**6]),
)
def test_rows_are_those_of_the_definition(
    tmp_path: Path,
    events: list[dict[str, Any]],
    indent: int | None,
    separators: tuple[str, str],
    ascii_: bool,
    wrapped: bool,
    zipped: bool,
    bom: bool,
    block: int,
    part: int,
) -> None:
    text = json.dumps(events, indent=indent, separators=separators, ensure_ascii=ascii_)
    text = re.sub(r'"@([0-9.E-]+)"', r"\1", text)
    array = text
    expected = expected_rows(text)
    if wrapped:
        before = '{"devices": [{"ph": "X"}, {"name": "\\"traceEvents\\": ["}],\n"traceEvents":'
        text = f'{before} {text}, "displayTimeUnit": "ms"}}\n'
    content = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.compress(content, 1) if zipped else content)
    with patch("tracetui.reader.columns.within_reason", lambda spans: None):  # any times, of any clocks
        assert read_rows(path, block_bytes=block, part_bytes=part) == expected
    with TraceFile(path, block_bytes=block) as trace:
        table = trace.read()
        assert not table.report.truncated
        assert not table.report.skips
        assert table.report.events == len(events)
        assert table.document == ({"devices": _DEVICES, "displayTimeUnit": "ms"} if wrapped else {})
        again = [trace.event(ordinal) for ordinal in range(len(events))]
        assert again == json.loads(array)


_DEVICES = [{"ph": "X"}, {"name": '"traceEvents": ['}]
