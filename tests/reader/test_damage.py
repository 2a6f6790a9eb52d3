"""A trace that is cut or damaged keeps every event outside the damage, and says what is missing."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.reader.rows import expected_rows, rows_of
from tracetui.reader.damage import Damage
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.events import EventTable, Skip
from tracetui.reader.source import TraceFile
from tracetui.reader.split import walk


def _events(count: int) -> list[dict[str, Any]]:
    kinds: list[dict[str, Any]] = [
        {
            "ph": "X",
            "dur": 1.5,
            "cat": "cpu_op",
            "args": {"Call stack": "a.py(1): f;\r\nb", "connection_id": 7},
        },
        {"ph": "C", "args": {"value": 0.5, "acc_id": 0}},
        {"ph": "s", "id": 7, "cat": "async_npu"},
        {"ph": "i", "args": {"list": [{"ph": "nested"}, {"name": "}, {"}]}},
    ]
    return [
        {
            "name": f"e{index}",
            "pid": 1,
            "tid": 2,
            "ts": f"1736412474714258.{index % 1000:03}",
            **kinds[index % 4],
        }
        for index in range(count)
    ]


def _read(path: Path, content: bytes, **sizes: int) -> EventTable:
    path.write_bytes(content)
    with TraceFile(path, **sizes) as trace:
        table = trace.read()
        for ordinal in range(table.report.events):
            trace.event(ordinal)
        return table


def _ends(text: str, events: list[dict[str, Any]]) -> list[int]:
    """Where each event ends in the text of the array."""
    ends, at = [], 0
    for event in events:
        written = json.dumps(event)
        at = text.index(written, at) + len(written)
        ends.append(at)
    return ends


@pytest.mark.parametrize("block", [60, 10**6])
@pytest.mark.parametrize("wrapped", [False, True])
def test_cut_anywhere_keeps_every_whole_event(
    tmp_path: Path, block: int, wrapped: bool, thorough: bool
) -> None:
    events = _events(4)  # one of each kind
    text = json.dumps({"displayTimeUnit": "ms", "traceEvents": events} if wrapped else events)
    ends = _ends(text, events)
    expected = [expected_rows(json.dumps(events[:whole])) for whole in range(len(events) + 1)]
    path = tmp_path / "cut.json"
    cuts = range(len(text)) if thorough else range(random.randrange(8), len(text), 8)
    for cut in cuts:
        whole = sum(end <= cut for end in ends)
        if not whole:
            with pytest.raises(UnreadableTrace) as caught:
                _read(path, text[:cut].encode(), block_bytes=block)
            assert len(str(caught.value).splitlines()) == 1
            continue
        table = _read(path, text[:cut].encode(), block_bytes=block)
        assert rows_of(table) == expected[whole]
        assert table.report.events == whole
        array_ended = cut > ends[-1]
        assert table.report.truncated == (not array_ended)
        assert not table.report.skips
        if not array_ended:
            (warning,) = table.report.warnings
            assert f"{whole} event{'s' * (whole > 1)} read up to byte {ends[whole - 1]:,};" in warning
            assert ("cut off" in warning) == (text[ends[whole - 1] : cut].strip(" ,") != "")


@pytest.mark.parametrize("rest", ["x", "]", " x", ",1", "\0" * 100, "\0" * 3000, "\n[INFO] saved {}\n"])
@pytest.mark.parametrize("document", ["{}", '{{"traceEvents": {}}}'])
@pytest.mark.parametrize("block", [300, 10**6])
def test_text_behind_the_array_is_told_and_costs_nothing(
    tmp_path: Path, rest: str, document: str, block: int
) -> None:
    events, array = _events(5), document.format(json.dumps(_events(5)))
    table = _read(tmp_path / "t.json", (array + rest).encode(), block_bytes=block)
    assert rows_of(table) == expected_rows(json.dumps(events))
    (warning,) = table.report.warnings
    assert warning.startswith("skipped 1 place: text after the end of the array, the first at byte ")
    assert (table.report.truncated, table.report.skipped, table.report.places) == (False, 0, 0)


@pytest.mark.parametrize("end", ["]", "", ",", ", ", ",]", ", ]\n", "\n]\n\n", ",\n", "]  \n"])
def test_ends_that_producers_leave(tmp_path: Path, end: str) -> None:
    events = _events(5)
    table = _read(tmp_path / "t.json", (json.dumps(events)[:-1] + end).encode())
    assert rows_of(table) == expected_rows(json.dumps(events))
    assert table.report.truncated == ("]" not in end)
    assert bool(table.report.warnings) == ("]" not in end)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.integers(0, 10**9),
    deleted=st.integers(0, 3),
    inserted=st.one_of(
        st.binary(max_size=3), st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\\", b",", b"\0"])
    ),
    block=st.sampled_from([150, 10**6]),
    wrapped=st.booleans(),
)
def test_damage_spares_the_events_around_it(
    tmp_path: Path, place: int, deleted: int, inserted: bytes, block: int, wrapped: bool
) -> None:
    events = _events(24)
    text = json.dumps({"displayTimeUnit": "ms", "traceEvents": events} if wrapped else events)
    ends = _ends(text, events)
    starts = [end - len(json.dumps(event)) for end, event in zip(ends, events)]
    at = starts[0] + place % (ends[-1] - starts[0] - 4)
    assume(not (deleted and set(text[at : at + deleted]) <= {"]", "}"}))  # all behind would be in a list
    content = text[:at].encode() + inserted + text[at + deleted :].encode()
    # An object right behind a colon is taken for the value of a member, not for an event.
    touched = at + max(deleted, 1) + inserted.rstrip(b" ").endswith(b":")
    untouched = {
        event["name"] for event, start, end in zip(events, starts, ends) if end <= at or start >= touched
    }
    table = _read(tmp_path / "damaged.json", content, block_bytes=block)
    rows = rows_of(table)
    names = {row[3] for row in rows.slices} | {row[2] for row in rows.counters + rows.instants}
    assert {name for name in untouched if int(name[1:]) % 4 != 2} <= names
    assert len(rows.flows) >= sum(int(name[1:]) % 4 == 2 for name in untouched)
    assert table.report.events <= len(events) + 3


def test_damage_is_told_whole_wherever_what_is_fetched_ends() -> None:
    damaged, event = b"?" * 140 + b",", b'{"ph":"X","name":"b"}'
    text = b'{"ph":"X"},' + damaged + event + b"]"
    for first in range(12, len(text), 30):
        for second in range(max(first, 12 + len(damaged)), len(text)):
            assert _told(text, [first, second, len(text)]) == len(damaged)
    for step in (1, 20, 64, 65, 100):
        assert _told(text, [*range(12, len(text), step), len(text)]) == len(damaged)


def _told(text: bytes, ends: list[int]) -> int:
    """How many bytes are damaged of a text that is fetched up to each of these ends."""
    at, in_damage, reported = 0, False, 0
    for end in ends:
        found = walk(text[at:end], end == len(text), False, in_damage)
        lengths = [skip_end - skip_start for skip_start, skip_end, _ in found.skips]
        assert all(lengths), "nothing is told where nothing is damaged"
        reported += sum(lengths)
        at, in_damage = at + found.end, found.in_damage
    assert found.ended
    return reported


def test_events_in_a_list_of_what_is_none_are_found_behind_damage() -> None:
    text = b'??,{"name":"x","list":[{"ph":"X"}, {"ph":"i"}]}]'
    found = walk(text, final=True, wrapped=False)
    assert [text[start:end] for start, end in found.spans] == [b'{"ph":"X"}', b'{"ph":"i"}']


def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    events = _events(40)
    text = json.dumps(events)
    ends = _ends(text, events)
    broken = text[: ends[9] - 1] + "!" + text[ends[9] :]
    table = _read(tmp_path / "damaged.json", broken.encode(), block_bytes=300)
    (skip,) = table.report.skips
    assert skip.offset == ends[8] + 2
    assert skip.offset + skip.length == ends[9] + 2
    assert table.report.skipped == 1
    assert table.report.events == 39
    assert table.report.warnings == (
        f"skipped 1 place: not readable as JSON, the first at byte {skip.offset:,}",
    )
    assert not table.report.truncated


@pytest.mark.parametrize(("end", "truncated"), [("]", False), ("] \n", False), ("", True), ("}", True)])
def test_the_last_event_may_be_damaged(tmp_path: Path, end: str, truncated: bool) -> None:
    """Where the array ends behind it, nothing else is missing."""
    text = json.dumps(_events(9))[:-2] + "!" + end
    report = _read(tmp_path / "damaged.json", text.encode()).report
    assert (report.events, report.skipped, report.truncated) == (8, 1, truncated)
    assert len(report.warnings) == 1 + truncated


def test_random_bytes_never_raise_anything_else(tmp_path: Path, thorough: bool) -> None:
    path = tmp_path / "noise.json"
    events = _events(60)
    text = json.dumps(events).encode()
    chooser = random.Random(1)
    for _ in range(60 if thorough else 25):
        noisy = bytearray(text)
        for _ in range(chooser.randrange(1, 200)):
            noisy[chooser.randrange(1, len(noisy))] = chooser.choice(b'{}[]",:\\ \0\xff0e')
        try:
            table = _read(path, bytes(noisy), block_bytes=chooser.choice([100, 1000, 10**6]))
        except UnreadableTrace:
            continue
        assert table.report.events <= len(events) * 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Reason.EMPTY),
        (b" \n ", Reason.EMPTY),
        (b"[", Reason.EMPTY),
        (b"[]", Reason.EMPTY),
        (b'{"traceEvents": []}', Reason.EMPTY),
        (b'[{"ph": "X", "na', Reason.EMPTY),
        (b'{"traceEvents": [{"ph": "X", "na', Reason.EMPTY),
        (b'{"a": 1}', Reason.NOT_A_TRACE),
        (b'{"traceEvents": null}', Reason.NOT_A_TRACE),
        (b'{"a": "', Reason.NOT_A_TRACE),
        (b"[1, 2, 3]", Reason.NOT_A_TRACE),
        (b'[{"a": 1}, {"b": 2}]', Reason.NOT_A_TRACE),
        (b"<html><body>404</body></html>", Reason.NOT_A_TRACE),
        (b"\x7fELF\x02\x01\0\0\0\0", Reason.NOT_A_TRACE),
        (b"SQLite format 3\0", Reason.NOT_A_TRACE),
        (b"name,ts\na,1\n", Reason.NOT_A_TRACE),
        (b'"text"', Reason.NOT_A_TRACE),
        (b"\x1f\x8b\x08garbage", Reason.NOT_A_TRACE),
        (b"[\x1b[31m" * 50, Reason.NOT_A_TRACE),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence(tmp_path: Path, content: bytes, reason: Reason) -> None:
    path = tmp_path / "evil\x1b[2J.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableTrace) as caught, TraceFile(path) as trace:
        trace.read()
    assert caught.value.reason is reason
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("block", [7, 61, 64, 100, 10**6])
def test_arrays_written_behind_one_another(tmp_path: Path, block: int) -> None:
    events = _events(9)
    text = json.dumps(events[:4]) + "\n" + json.dumps(events[4:])
    table = _read(tmp_path / "two.json", text.encode(), block_bytes=block)
    assert rows_of(table) == expected_rows(json.dumps(events))
    (skip,) = table.report.skips
    assert (skip.offset, skip.reason) == (text.index("\n") - 1, "text after the end of the array")
    assert not table.report.truncated


@pytest.mark.parametrize("separator", ["\n", "\r\n", " , \n", ""])
def test_events_without_an_array(tmp_path: Path, separator: str) -> None:
    events = _events(9)
    text = separator.join(map(json.dumps, events)) + separator
    table = _read(tmp_path / "lines.json", text.encode(), block_bytes=300)
    assert rows_of(table) == expected_rows(json.dumps(events))


@pytest.mark.parametrize("end", ["{", "[", "{{{", '{"', "},{"])
def test_brackets_too_many_cost_no_event(tmp_path: Path, end: str) -> None:
    events = _events(5)
    before, after = json.dumps(events[:2])[:-1], json.dumps(events[2:])[1:]
    table = _read(tmp_path / "t.json", f"{before}, {end}{after}".encode())
    assert rows_of(table) == expected_rows(json.dumps(events))
    assert table.report.skipped == 1


@pytest.mark.parametrize("damage", ["", ", {oops}"])
def test_times_are_exact_beside_what_only_lenient_parsers_read(tmp_path: Path, damage: str) -> None:
    event = '{"ph": "i", "name": "a\ttab", "pid": 1, "tid": 1, "ts": 1736412474714258.003}'
    table = _read(tmp_path / "t.json", f"[{event}{damage}]".encode())
    assert table.instants.time.tolist() == [1736412474714258003]


def test_args_of_a_damaged_event_are_no_event(tmp_path: Path) -> None:
    text = '[{"ph": "X", oops, "args": {"name": "a", "ph": "i", "ts": 1}}, {"ph": "i", "name": "b", "ts": 2}]'
    table = _read(tmp_path / "t.json", text.encode())
    assert [row[2] for row in rows_of(table).instants] == ["b"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:7\nsize 9\n", "a pointer of Git LFS only"),
        (b"<!DOCTYPE html>", "HTML or XML"),
        (b"\x7fELF\0\0", "binary data"),
        (b"\x80\x04\x95", "a pickle; where it is a snapshot of memory"),
        (b"time,name", "no JSON array or object"),
        (b" " * 64 + b"time,name", "no JSON array or object"),
        (b"\n" * 100 + b"<html>", "HTML or XML"),
    ],
)
def test_what_else_a_file_holds_is_said(tmp_path: Path, text: bytes, what: str) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(text)
    with pytest.raises(UnreadableTrace, match=f"the file holds {what}"), TraceFile(path) as trace_file:
        trace_file.read()


def test_places_that_touch_are_one_and_the_first_hundred_are_kept() -> None:
    """Of one that is longer than what is kept of it, too; the first reason of a place counts."""
    damage = Damage()
    for number in range(102):
        damage.add(1 + 10 * number, 2, "ab"[number % 2])
        damage.add(3 + 10 * number, 4, "c")
    assert (damage.places, damage.end, damage.reasons) == (102, 1 + 10 * 101 + 6, {"a": 51, "b": 51})
    assert damage.skips == [Skip(1 + 10 * number, 6, "ab"[number % 2]) for number in range(100)]
    whole = Damage()
    whole.extend(Damage())
    assert whole == Damage()
    whole.extend(damage)
    assert whole == damage
    more = Damage()
    more.add(damage.end, 5, "d")
    more.add(damage.end + 6, 1, "d")
    whole.extend(more)
    assert (whole.places, whole.end) == (103, damage.end + 7)
    assert (whole.reasons, whole.skips) == ({"a": 51, "b": 51, "d": 1}, damage.skips)
