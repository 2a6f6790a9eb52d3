"""What is drawn of a trace that is not read yet: where it is, about how busy, never over what was read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.arrays import Int64s
from tracetui.language import restate
from tracetui.reader import skeleton as skeleton_module
from tracetui.reader.events import EventTable
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Layer, Trace
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, timeline_lines, track_key
from tracetui.ui.drawing.sketch import Missing, Sketch, Slopes, _reaches, missing_words

COLUMNS = 60
HOST, DEVICE = 1, 2
COUNT = 4000
SPAN_NS = COUNT * 10_000


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton_module, "SMALLEST", 0)
    monkeypatch.setattr(skeleton_module, "CHUNK", 1 << 11)
    monkeypatch.setattr(skeleton_module, "BUDGET", 600.0)


def sliced(pid: int, number: int, dur: float) -> dict[str, Any]:
    args = {"Task Type": "AI_CORE"} if pid == DEVICE else {}
    times = {"ts": f"{1000 + 10 * number}.000", "dur": dur}
    return {"ph": "X", "name": f"e{number % 9}", "pid": pid, "tid": 7, "cat": "cpu_op", **times, "args": args}


def named(pid: int, name: str, thread: str, label: str = "CPU") -> list[dict[str, Any]]:
    common = {"ph": "M", "pid": pid, "tid": 7}
    return [
        {**common, "name": "process_name", "args": {"name": name}},
        {**common, "name": "process_labels", "args": {"labels": label}},
        {**common, "name": "thread_name", "args": {"name": thread}},
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host, half busy, and behind it the device: a tenth busy at first, from the middle on wholly."""
    host = [sliced(HOST, number, 5.0) for number in range(COUNT)]
    device = [sliced(DEVICE, number, 1.0 if number < COUNT // 2 else 9.9) for number in range(COUNT)]
    names = [*named(HOST, "Python", "Thread 7"), *named(DEVICE, "Ascend Hardware", "Stream 7", "NPU")]
    found = tmp_path_factory.mktemp("sketched") / "t.json"
    found.write_text(json.dumps([*host, *names, *device]))
    return found


def sketch_of(path: Path) -> Sketch:
    with TraceFile(path) as trace_file:
        skeleton = trace_file.skeleton()
    assert skeleton is not None
    return Sketch(skeleton)


def read_to(path: Path, share: float) -> EventTable:
    """The table where the reading was stopped."""
    with TraceFile(path, block_bytes=1 << 12, part_bytes=1 << 14, jobs=1) as trace_file:
        done = 0.0

        def see(progress: Any) -> None:
            nonlocal done
            done = progress.done_bytes / progress.total_bytes

        return trace_file.read(see, lambda: done >= share)


def edges_of(trace: Trace) -> Int64s:
    return np.linspace(trace.start_ns, trace.end_ns, COLUMNS + 1).astype(np.int64)


def device_levels(sketch: Sketch) -> Int64s:
    track = next(track for track in sketch.tracks if track.layer is Layer.DEVICE)
    return sketch.levels(track_key(track), edges_of(sketch.trace))


def test_a_sketch_tells_about_how_busy_each_track_is_when(path: Path) -> None:
    levels = device_levels(sketch_of(path))
    assert (levels[2 : COLUMNS // 2 - 2] == 1).all() and (levels[COLUMNS // 2 + 2 : -2] == 3).all()
    sketch = sketch_of(path)
    host = next(track for track in sketch.tracks if track.layer is Layer.PYTHON)
    share = sketch.share((*track_key(host), "0"), edges_of(sketch.trace))
    assert 0.4 < share[2:-2].mean() < 0.6


@pytest.mark.parametrize("share", [0.0, 0.3, 0.55, 0.8, 0.95])
def test_what_is_read_and_what_is_not_make_up_the_whole_time(path: Path, share: float) -> None:
    table = read_to(path, share)
    whole = sketch_of(path)
    sketch = whole.beyond(table.report.seen)
    assert sketch is not None
    trace = whole.read_part(table)
    picture, edges = Picture(trace, sketch=sketch), edges_of(trace)
    for track in whole.tracks:
        same_track = [other for other in trace.tracks if track_key(other) == track_key(track)]
        read = (
            picture.lane(same_track[0].lanes[0], edges).busy > 0
            if same_track
            else np.zeros(COLUMNS, np.bool_)
        )
        unread = sketch.levels(track_key(track), edges) > 0
        assert (read | unread).all(), "no column looks as if nothing were there"
        assert np.count_nonzero(read & unread) <= 4, "and nothing is drawn that is read already"
    busy, level = picture.load(edges)
    assert ((busy > 0) | (level > 0)).all()


def test_nothing_is_left_when_all_is_read(path: Path) -> None:
    sketch = sketch_of(path)
    assert sketch.beyond(((0, path.stat().st_size),)) is None
    assert sketch.beyond(((0, path.stat().st_size - 1),)) is not None


def test_tracks_keep_their_order_and_names_as_the_trace_grows(path: Path) -> None:
    with TraceFile(path) as trace_file:
        whole = build_trace(trace_file.read())
    sketch = sketch_of(path)
    expected = [(line.key, line.label) for line in timeline_lines(whole, frozenset(), ()).lines]
    for share in (-1, 0.1, 0.4, 0.6, 0.9):
        trace = sketch.nothing() if share < 0 else sketch.read_part(read_to(path, share))
        lines = timeline_lines(trace, frozenset(), (), sketch.tracks, sketch.devices).lines
        assert [(line.key, line.label) for line in lines] == expected
        assert trace.kind is whole.kind
        assert (trace.start_ns, trace.end_ns) == (sketch.trace.start_ns, sketch.trace.end_ns)
        for line in lines:
            if line.kind is LineKind.LANE and line.lane >= 0:
                assert track_key(trace.tracks[line.track]) == line.key[:-1]


def test_what_is_missing_is_told_by_process_and_time(path: Path) -> None:
    sketch = sketch_of(path)
    assert [missing.process for missing in sketch.missing()] == ["Ascend Hardware", "Python"]
    half = sketch.beyond(((0, int(path.stat().st_size * 0.75)),))
    assert half is not None
    (device,) = half.missing()
    middle = (sketch.trace.start_ns + sketch.trace.end_ns) // 2
    assert device.process == "Ascend Hardware"
    assert (
        abs(device.start_ns - middle) < SPAN_NS / 10
        and abs(device.end_ns - sketch.trace.end_ns) < SPAN_NS / 10
    )


def test_a_track_that_no_sample_shows_is_drawn_beside_those_that_one_does(path: Path) -> None:
    sketch = sketch_of(path)
    with TraceFile(path) as trace_file:
        whole = build_trace(trace_file.read())
    for known in (sketch.tracks[:1], sketch.tracks[1:], ()):
        lines = timeline_lines(whole, frozenset(), (), known).lines
        assert lines == timeline_lines(whole, frozenset(), ()).lines


intervals = st.tuples(st.integers(0, 900), st.integers(0, 300), st.integers(0, 1000))


@given(st.lists(intervals, max_size=20), st.integers(1, 40))
def test_slopes_keep_the_sum(parts: list[tuple[int, int, int]], columns: int) -> None:
    begin, length, amount = (np.array([part[place] for part in parts], np.int64) for place in range(3))
    edges = np.linspace(-10, 1300, columns + 1).astype(np.int64)
    means = Slopes.of(begin, begin + length, amount.astype(np.float64)).means(edges)
    assert np.isclose((means * np.diff(edges)).sum(), amount.sum())
    assert (means > -1e-6).all()


def test_a_trace_without_slices_has_a_sketch_as_well(tmp_path: Path) -> None:
    found = tmp_path / "t.json"
    samples = [{"ph": "C", "name": "m", "pid": 1, "tid": 0, "ts": n, "args": {"a": n}} for n in range(2000)]
    for events in (samples, [*named(HOST, "Python", "Thread 7")] * 300):
        found.write_text(json.dumps(events))
        sketch = sketch_of(found)
        trace = sketch.nothing()
        lines = timeline_lines(trace, frozenset(), (), sketch.tracks, sketch.devices).lines
        edges = np.linspace(trace.start_ns, trace.end_ns + 1, COLUMNS + 1).astype(np.int64)
        assert not any(sketch.levels(line.key, edges).any() for line in lines)
        assert sketch.missing() == []
        assert [sketch.samples(track_key(track), edges).any() for track in sketch.tracks] == [True] * len(
            lines
        )


def test_a_track_has_a_line_for_each_depth_that_a_sample_shows(path: Path) -> None:
    """What is read of it so far may be less deep: the other lines are of no lane yet."""
    sketch = sketch_of(path)
    with TraceFile(path) as trace_file:
        whole = build_trace(trace_file.read())
    deeper = [replace(track, lanes=range(3)) for track in sketch.tracks]
    toggled = frozenset(track_key(track) for track in whole.tracks)
    lines = {
        line.key: line
        for known in (frozenset(), toggled)
        for line in timeline_lines(whole, known, (), deeper).lines
        if line.kind is LineKind.LANE
    }
    for track in whole.tracks:
        keys = [(*track_key(track), str(depth)) for depth in range(3)]
        lanes = [lines[key].lane for key in keys]
        assert lanes == [track.lanes[0], -1, -1]


def test_a_spot_reaches_half_way_to_those_of_its_group_that_follow_it_in_time() -> None:
    """Beside others it reaches as far as on its other side; one alone is as long as it is."""
    start, end = np.array([9, 19, 59, 34]), np.array([11, 21, 61, 36])
    spots: Any = SimpleNamespace(start=start, end=end, group=np.array([0, 0, 1, 1]))
    begin, stop = _reaches(spots, 0, 100)
    assert (begin.tolist(), stop.tolist()) == ([5, 15, 59, 34], [15, 25, 61, 36])
    begin, stop = _reaches(spots, 7, 23)
    assert (begin[0], stop[1]) == (7, 23), "within the trace"


def test_a_line_that_is_no_counter_has_no_samples() -> None:
    counters = SimpleNamespace(time=np.array([5, 25], np.int64))
    sketch: Any = SimpleNamespace(_counters={("a",): range(2)}, trace=SimpleNamespace(counters=counters))
    edges = np.array([0, 10, 20, 30], np.int64)
    assert Sketch.samples(sketch, ("a",), edges).tolist() == [True, False, True]
    assert Sketch.samples(sketch, ("b",), edges).tolist() == [False] * 3


def test_times_that_are_not_read_are_told_to_a_thousandth_of_the_trace() -> None:
    sketch: Any = SimpleNamespace(missing=lambda: [Missing("Python", 12_345_678_901, 166_000_000_000)])
    report = SimpleNamespace(text_bytes=30, bytes=40)
    trace: Any = SimpleNamespace(start_ns=0, end_ns=200_000_000_000, report=report)
    words = restate(missing_words(sketch, trace))
    assert words.startswith("25 % of the file is not read") and words.endswith(
        "Python from 12.3 s to 166.0 s"
    )
