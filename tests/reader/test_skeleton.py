"""The sample of a whole trace: what it tells before the trace is read, and what damage takes from it."""

from __future__ import annotations

import gzip
import json
import random
import re
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest

from tracetui.reader import skeleton as skeleton_module
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.skeleton import Skeleton, _Chunk, _Chunks, _spread_offsets
from tracetui.reader.source import TraceFile
from tracetui.reader.text import open_text
from tracetui.trace.build import build_trace
from tracetui.trace.model import Layer

CHUNK = 1 << 11


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton_module, "SMALLEST", 0)
    monkeypatch.setattr(skeleton_module, "CHUNK", CHUNK)
    monkeypatch.setattr(skeleton_module, "BUDGET", 600.0)


def named(pid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def sliced(pid: int, number: int, category: str = "op") -> dict[str, Any]:
    args = {"Call stack": "deep.py(3): f;\r\nmain.py(9): g", "list": [{"a": 1}, {"b": "}, {"}]}
    times = {"ts": f"{1000 + 10 * number}.000", "dur": 7.5}
    return {"ph": "X", "name": f"e{number}", "pid": pid, "tid": 1, "cat": category, **times, "args": args}


NAMES = [named(1, "Python"), named(2, "Ascend Hardware")]


def regions(hosts: int = 3000, devices: int = 3000) -> list[dict[str, Any]]:
    """Two processes, their names between them, as where one file is appended to another."""
    host, device = ([sliced(pid, number) for number in range(n)] for pid, n in ((1, hosts), (2, devices)))
    return [*host, *NAMES, *device]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def sampled(path: Path) -> Skeleton | None:
    with TraceFile(path) as trace_file:
        return trace_file.skeleton()


def found(path: Path) -> Skeleton:
    skeleton = sampled(path)
    assert skeleton is not None
    return skeleton


def names_in(table: EventTable) -> set[tuple[str, str]]:
    return {(entry.pid, entry.value) for entry in table.metadata if entry.name == "process_name"}


SEPARATORS = {
    "torch_npu": lambda events: json.dumps(events),
    "kineto": lambda events: (
        json.dumps({"schemaVersion": 1})[:-1]
        + ', "traceEvents": [\n  '
        + ",\n  ".join(orjson.dumps(event, option=orjson.OPT_INDENT_2).decode() for event in events)
        + '\n  ],\n  "traceName": "x"\n}'
    ),
    "pretty": lambda events: orjson.dumps(events, option=orjson.OPT_INDENT_2).decode(),
    "bom": lambda events: "\ufeff" + json.dumps(events),
}


@pytest.mark.parametrize("style", SEPARATORS)
def test_a_sample_tells_the_tracks_the_names_and_the_extent(tmp_path: Path, style: str) -> None:
    path = write(tmp_path / "t.json", SEPARATORS[style](regions(1500, 1500)))
    skeleton = found(path)
    with TraceFile(path) as trace_file:
        whole = build_trace(trace_file.read())
    trace = build_trace(skeleton.table)
    kind = [(track.layer, track.process, track.name, track.device) for track in trace.tracks]
    assert kind == [(track.layer, track.process, track.name, track.device) for track in whole.tracks]
    assert names_in(skeleton.table) == {("1", "Python"), ("2", "Ascend Hardware")}
    assert (trace.start_ns, trace.end_ns) == (whole.start_ns, whole.end_ns), "head and tail are sampled"
    assert skeleton.table.report.events < whole.report.events / 2
    assert len(skeleton.empty_table.slices.start) == 0
    assert skeleton.empty_table.report == ReadReport(path.stat().st_size, 0, 0, 0)
    for report in (skeleton.empty_table.report, skeleton.table.report):
        assert (report.skipped, report.truncated, report.stopped, report.files) == (0, False, False, 1)


def test_a_coarse_sample_has_the_names_and_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", json.dumps(regions(1500, 1500)))
    coarse: list[Skeleton] = []
    with TraceFile(path) as trace_file:
        skeleton = trace_file.skeleton(coarse.append)
    assert skeleton is not None and len(coarse) == 1
    assert skeleton_module.FIRST <= len(coarse[0].start) < len(skeleton.start)
    assert names_in(coarse[0].table) == {("1", "Python"), ("2", "Ascend Hardware")}
    assert coarse[0].end[-1] == path.stat().st_size, "it stands for all of the file"
    at_once = found(path)
    for one, other in ((skeleton, at_once), (skeleton.table.slices, at_once.table.slices)):
        for name in ("start", "end", "length") if one is skeleton else ("start", "dur", "event"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    assert skeleton.table.metadata == at_once.table.metadata


def test_an_event_is_where_its_chunk_is(tmp_path: Path) -> None:
    """The part of the text that a chunk stands for holds its events."""
    path = write(tmp_path / "t.json", json.dumps([sliced(1, number) for number in range(4000)]))
    skeleton, text = found(path), path.read_bytes()
    slices = skeleton.table.slices
    assert (np.diff(skeleton.start) > 0).all() and skeleton.end[-1] == len(text)
    assert (skeleton.end[:-1] == skeleton.start[1:]).all()
    assert len(set(slices.event.tolist())) == len(skeleton.start)
    places = {match[1].decode(): match.start() for match in re.finditer(rb'"(e\d+)"', text)}
    assert len(places) == 4000
    for name, chunk in zip(slices.name.tolist(), slices.event.tolist()):
        assert skeleton.start[chunk] <= places[skeleton.table.strings[name]] < skeleton.end[chunk]


def test_the_first_and_the_last_event_are_in_a_sample(tmp_path: Path) -> None:
    events = [{**sliced(1, number), "args": {}} for number in range(2000)]
    slices = found(write(tmp_path / "t.json", json.dumps(events))).table.slices
    assert (int(slices.start.min()), int(slices.start.max())) == (1_000_000, 1_000_000 + 1999 * 10_000)


def test_names_that_stand_anywhere_are_looked_for_where_processes_change(tmp_path: Path) -> None:
    # In no chunk of those spread evenly, and far behind the one before.
    path = write(tmp_path / "t.json", json.dumps(regions(7_240, 12_760)))
    size = path.stat().st_size
    skeleton = found(path)
    assert names_in(skeleton.table) == {("1", "Python"), ("2", "Ascend Hardware")}
    assert skeleton.table.report.text_bytes < size / 8
    assert len(skeleton.start) < skeleton_module.CHUNKS + 12, "halving finds them in few steps"


@pytest.mark.parametrize("named_first", [True, False])
def test_names_are_looked_for_only_where_that_may_help(tmp_path: Path, named_first: bool) -> None:
    """Not where all processes that change have theirs, nor inside the events of one that has none."""
    kinds = [(1, "op"), (2, "op")] if named_first else [(1, "op")]
    events = [sliced(pid, number, kind) for pid, kind in kinds for number in range(4000)]
    skeleton = found(write(tmp_path / "t.json", json.dumps([*NAMES * named_first, *events])))
    assert len(skeleton.start) == skeleton_module.CHUNKS


def test_another_process_is_looked_for_before_other_events_of_the_same(tmp_path: Path) -> None:
    """Though there is less text between the latter."""
    same = [sliced(1, number, f"op{number // 1500}") for number in range(6000)]
    events = [*same, *NAMES, *(sliced(2, number) for number in range(2700))]
    skeleton = found(write(tmp_path / "t.json", json.dumps(events)))
    assert names_in(skeleton.table) == {("1", "Python"), ("2", "Ascend Hardware")}
    assert len(skeleton.start) < skeleton_module.CHUNKS + 7


@pytest.mark.parametrize("seed", range(6))
def test_damage_leaves_out_no_more_than_its_chunks(tmp_path: Path, seed: int) -> None:
    chooser = random.Random(seed)
    text = bytearray(json.dumps(regions(700, 2000)).encode())
    intact = found(write(tmp_path / "t.json", bytes(text)))
    for _ in range(40):
        at = chooser.randrange(len(text) - 4000)
        text[at : at + 400] = bytes(chooser.choices(b'{}[]",:\\\0\xff x', k=400))
    skeleton = found(write(tmp_path / "damaged.json", bytes(text)))
    assert skeleton.table.report.events > intact.table.report.events / 2
    times = skeleton.table.slices.start
    assert times.min() >= 1_000_000 and times.max() <= intact.table.slices.start.max()


@pytest.mark.parametrize(
    "text",
    ["[", "[]", '[{"ph": "X"', '{"traceEvents": [', "[" + '"' * 9000, "[" + "[" * 9000, "[1, 2, {}, null]"],
)
def test_what_holds_no_event_has_no_skeleton(tmp_path: Path, text: str) -> None:
    assert sampled(write(tmp_path / "t.json", text)) is None


def test_an_event_longer_than_a_chunk_is_left_out(tmp_path: Path) -> None:
    long = {**sliced(1, 5), "args": {"Call stack": "x" * 5 * CHUNK}}
    path = write(tmp_path / "t.json", json.dumps([sliced(1, 0), long, *(sliced(1, n) for n in range(9, 60))]))
    assert found(path).table.report.events > 2


def test_a_tiny_file_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", json.dumps([named(1, "Python"), sliced(1, 1), sliced(1, 2)]))
    skeleton = found(path)
    assert skeleton.table.report.events == 3 and len(skeleton.table.slices.start) == 2


def test_no_sample_where_it_is_of_no_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(regions()).encode()
    assert sampled(write(tmp_path / "t.json.gz", gzip.compress(text))) is None, (
        "it can't be read from the middle"
    )
    for smallest, there in ((len(text) + 1, False), (len(text), True)):
        monkeypatch.setattr(skeleton_module, "SMALLEST", smallest)
        assert (sampled(write(tmp_path / "t.json", text)) is not None) == there


def test_a_slow_disk_gives_what_it_can_in_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton_module, "BUDGET", -1.0)
    path = write(tmp_path / "t.json", json.dumps([sliced(1, number) for number in range(2000)]))
    skeleton = found(path)
    assert len(skeleton.start) == 2, "head and tail, always"
    assert int(skeleton.table.slices.start.max()) == 1_000_000 + 1999 * 10_000


def test_a_slow_disk_shows_all_of_the_file_before_names_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skeleton_module, "BUDGET", skeleton_module.FIRST - 8)
    monkeypatch.setattr(skeleton_module, "time", SimpleNamespace(monotonic=count().__next__))
    path = write(
        tmp_path / "t.json", json.dumps([sliced(n // 1500, n) for n in range(3000)])
    )  # without names
    skeleton = found(path)
    assert len(skeleton.start) == skeleton_module.FIRST - 6, "both ends, and one for each look at the clock"
    assert int(np.diff(skeleton.start).max()) < path.stat().st_size / 16


def test_real_traces_are_told_from_a_sample(real_traces: Path, tmp_path: Path) -> None:
    for path in sorted(real_traces.glob("npu/**/trace_view.json")):
        skeleton = found(path)
        with TraceFile(path) as trace_file:
            whole = build_trace(trace_file.read())
        trace = build_trace(skeleton.table)
        span = whole.end_ns - whole.start_ns
        assert trace.kind is whole.kind and trace.devices == whole.devices
        layers, every = ({track.layer for track in model.tracks} for model in (trace, whole))
        assert {Layer.PYTHON, Layer.DEVICE} <= layers <= every
        assert abs(trace.start_ns - whole.start_ns) + abs(trace.end_ns - whole.end_ns) < span / 5
        assert skeleton.table.report.text_bytes < path.stat().st_size / 5


def test_metadata_is_read_to_its_ends(tmp_path: Path) -> None:
    """Names that a chunk shows a part of, as it begins or ends among them, are all read."""
    threads = [
        {"ph": "M", "name": "thread_name", "pid": 2, "tid": tid, "args": {"name": f"Stream {tid}"}}
        for tid in range(400)
    ]
    before, behind = ([sliced(pid, number) for number in range(n)] for pid, n in ((1, 2500), (2, 3500)))
    for first, last in ((NAMES, threads), (threads, NAMES)):
        path = write(tmp_path / "t.json", json.dumps([*before, *first, *last, *behind]))
        table = found(path).table
        assert {entry.tid for entry in table.metadata if entry.name == "thread_name"} == set(
            map(str, range(400))
        )
        assert len(table.metadata) == 402, "and none twice"
        assert len(set(table.slices.start.tolist())) >= len(table.slices.start) / 2


def test_no_event_is_in_two_chunks(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", json.dumps([sliced(1, number) for number in range(700)]))
    skeleton = found(path)
    starts = skeleton.table.slices.start.tolist()
    assert len(set(starts)) == len(starts) > 200
    assert (skeleton.start[1:] >= (skeleton.start + skeleton.length)[:-1]).all()


def test_places_are_spread_evenly_wherever_that_stops() -> None:
    assert [*_spread_offsets(100, 164, 9)] == [100, 164, 132, 116, 148, 108, 140, 124, 156]
    assert [*_spread_offsets(0, 7, 4)] == [0, 7, 3, 1], "whole bytes"
    assert [*_spread_offsets(5, 6, 2)] == [5, 6]
    assert [*_spread_offsets(5, 5, 9)] == [*_spread_offsets(5, 2, 9)] == [5]


def test_a_chunk_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    """And what is read between two is all that there is, wherever in an event one looks."""
    events = [json.dumps(sliced(1, number)) for number in range(60)]
    path = write(tmp_path / "t.json", "[" + ", ".join(events) + "]")
    starts = [1 + sum(len(event) + 2 for event in events[:number]) for number in range(61)]
    text = open_text(path)
    chunks = _Chunks(text, 1, wrapped=False)
    for place in (starts[30] - 3, starts[27] - 3, starts[10] - 3, starts[28], starts[1] - 3, 0, text.size):
        chunks.read(place)
    read = [(chunk.start, chunk.end, chunk.readable) for chunk in chunks._chunks]
    skeleton = chunks.skeleton("t.json", {})
    text.close()
    assert read == [
        (starts[first], starts[behind], True) for first, behind in ((1, 10), (10, 21), (27, 30), (30, 41))
    ]
    assert skeleton is not None
    assert skeleton.start.tolist() == [starts[number] for number in (1, 10, 27, 30)]
    assert skeleton.end.tolist() == [starts[10], starts[27], starts[30], path.stat().st_size]
    assert (skeleton.start + skeleton.length).tolist() == [starts[number] for number in (10, 21, 30, 41)]
    assert skeleton.table.report.text_bytes == skeleton.length.sum()
    assert skeleton.table.slices.event.tolist() == [3] * 11 + [2] * 3 + [1] * 11 + [0] * 9


X, OTHER = frozenset({("1", "op", "X")}), frozenset({("1", "other", "X")})
DEVICE, FAR = frozenset({("2", "op", "X")}), 100 * CHUNK


@pytest.mark.parametrize(
    ("chunks", "named", "place"),
    [
        *[([(0, 10, X), (10, 20, DEVICE)], "", -1), ([(0, 10, X), (11, 20, DEVICE)], "", 10)],
        *[([(0, 10, X), (20, 30, X)], "", -1), ([(0, 10, X), (20, 30, frozenset())], "", -1)],
        *[([(0, 10, frozenset()), (20, 30, X)], "", -1), ([(0, 10, X)], "", -1)],
        *[([(0, 10, X), (20, 30, DEVICE)], "1", 10), ([(0, 10, X), (20, 30, DEVICE)], "2", 10)],
        ([(0, 10, X), (20, 30, DEVICE)], "12", -1),
        ([(0, 10, X), (20, 30, X | DEVICE)], "", -1),
        ([(0, 10, X), (10 + FAR, FAR + 30, DEVICE)], "", 10 + (FAR - CHUNK) // 2),
        ([(0, 10, X), (10 + CHUNK + 2, CHUNK + 30, DEVICE)], "", 11),
        ([(0, 10, X), (90, 99, DEVICE), (120, 130, X)], "", 99),
        ([(0, 10, X), (20, 30, OTHER), (90, 99, DEVICE)], "", 30),
        ([(0, 10, X), (20, 30, OTHER)], "", 10),
    ],
)
def test_names_are_looked_for_between_unlike_chunks(
    tmp_path: Path, chunks: list[tuple[int, int, frozenset[tuple[str, str, str]]]], named: str, place: int
) -> None:
    text = open_text(write(tmp_path / "t.json", "[]"))
    found = _Chunks(text, 0, wrapped=False)
    text.close()
    found._chunks = [_Chunk(start, end, 0, True, kinds, False, False) for start, end, kinds in chunks]
    found._events, found._named = {"1", "2"}, set(named)
    assert found.next_names() == place


@pytest.mark.parametrize(
    ("room", "closes", "opens", "place"),
    [
        *[(0, True, True, -1), (1, True, False, 10), (1, False, True, 10), (1, False, False, -1)],
        *[(FAR, True, True, 10), (FAR, False, True, 10 + FAR - CHUNK), (CHUNK + 1, False, True, 11)],
    ],
)  # fmt: skip
def test_metadata_goes_on_beside_metadata(
    tmp_path: Path, room: int, closes: bool, opens: bool, place: int
) -> None:
    text = open_text(write(tmp_path / "t.json", "[]"))
    found = _Chunks(text, 0, wrapped=False)
    text.close()
    found._chunks = [
        _Chunk(0, 10, 0, True, X, True, closes),
        _Chunk(10 + room, 40 + room, 1, True, X, opens, True),
    ]
    assert found.next_names() == place


@pytest.mark.parametrize(
    ("elements", "opens", "closes"),
    [
        *[([NAMES[0], sliced(1, 1), sliced(1, 2)], True, False), ([sliced(1, 1), NAMES[0]], False, True)],
        *[([NAMES[0]], True, True), ([sliced(1, 1), NAMES[0], sliced(1, 2)], False, False)],
        *[([7, {"name": "no event"}], False, False), ([7, NAMES[0], {}], True, True)],
    ],
)  # fmt: skip
def test_a_chunk_tells_whether_metadata_may_go_on_beside_it(
    tmp_path: Path, elements: list[Any], opens: bool, closes: bool
) -> None:
    text = open_text(write(tmp_path / "t.json", json.dumps(elements)))
    chunks = _Chunks(text, 1, wrapped=False)
    chunks.read(1)
    text.close()
    (chunk,) = chunks._chunks
    assert (chunk.opens, chunk.closes, chunk.start) == (opens, closes, 1)
    assert chunk.kinds == ({("1", "op", "X")} if sliced(1, 1) in elements else set())
    assert chunks._events == {pid for pid, _, _ in chunk.kinds}
    assert chunks._named == ({"1"} if NAMES[0] in elements else set())
