"""The searches that all analyses share, against plain lists: sorted or not, near each other or far apart."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.machine import MAIN, QUEUE, npu, operator, task
from tests.synthetic import process, trace_of
from tracetui.analysis import search
from tracetui.analysis.search import (
    among,
    connection_numbers,
    distinct,
    group_by,
    grouped,
    of_category,
    pick,
    ranges,
    rows_by_process,
    rows_by_track,
    rows_of,
    track_of_rows,
    tracks_by_device,
)
from tracetui.arrays import Int64s, first_equal
from tracetui.trace.model import Activity, Trace

FAR = [-(2**62), -40_000, -1, 0, 7, 40_000, 2**40, 2**62]
near = st.lists(st.integers(-3, 6), max_size=20)
far = st.lists(st.sampled_from(FAR), max_size=20)


def column(values: Sequence[int]) -> Int64s:
    return np.array(values, np.int64)


@pytest.mark.parametrize("numbers", [range(-3, 7), FAR], ids=["near", "far"])
def test_the_first_equal_key(numbers: Sequence[int]) -> None:
    source = random.Random(len(numbers))
    for _ in range(60):
        keys, wanted = (source.choices(numbers, k=source.randrange(9)) for _ in range(2))
        for values in (wanted, source.choices([*range(-3, 7), *FAR], k=9)):
            expected = [keys.index(value) if value in keys else -1 for value in values]
            assert first_equal(column(keys), column(values)).tolist() == expected


def test_an_id_is_of_its_device_and_below_0_where_there_is_none() -> None:
    other = process(301, "Ascend Hardware", "NPU 1")
    ids = (7, 7, None, 8, 0, None)
    tasks = [task(10 * place, 5, connection=number) for place, number in enumerate(ids)]
    trace = trace_of([*npu(), *other, *tasks, {**task(90, 5, connection=7), "pid": 301}])
    first, again, none, second, zero, still, elsewhere = connection_numbers(
        trace, np.argsort(trace.slices.start)
    ).tolist()
    assert first == again and none == still == -1
    assert len({first, none, second, zero, elsewhere}) == 5 and min(first, second, zero, elsewhere) >= 0


def two_devices() -> Trace:
    """Two threads of the host, of which one has its slices first, and two devices, one of two streams."""
    other = process(301, "Ascend Hardware", "NPU 1")
    tasks = [task(0, 5, stream=1), task(3, 5, stream=1), task(10, 5, stream=2), task(10, 5, "AI_CPU", 2)]
    tasks += [{**task(20 + at, 5), "pid": 301} for at in range(3)]
    calls = [operator(0, 50), operator(5, 10), operator(5, 10, "Enqueue"), operator(3, 9, tid=QUEUE)]
    return trace_of([*npu(), *other, *calls, *tasks])


def test_tracks_and_processes_of_rows_and_rows_of_tracks() -> None:
    trace, source = two_devices(), random.Random(1)
    assert trace.tracks[0].tid == str(MAIN)
    for _ in range(20):
        rows = [source.randrange(-1, len(trace.slices)) for _ in range(source.randrange(12))]
        tracks = [next((t for t in trace.tracks if row in t.rows), None) for row in rows]
        assert track_of_rows(trace, column(rows)).tolist() == [-1 if t is None else t.index for t in tracks]
        by_track = [(track, places.tolist()) for track, places in rows_by_track(trace, column(rows))]
        pids = {
            t.pid: [i for i, row_track in enumerate(tracks) if row_track and row_track.pid == t.pid]
            for t in tracks
            if t
        }
        rows_of_pid = {pid: sorted(places.tolist()) for pid, places in rows_by_process(trace, column(rows))}
        assert by_track == [
            (track, [place for place, row_track in enumerate(tracks) if row_track is track])
            for track in trace.tracks
            if track in tracks
        ]
        assert rows_of_pid == pids
        chosen = source.sample(trace.tracks, source.randrange(4))
        assert rows_of(chosen).tolist() == [row for track in chosen for row in track.rows]


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_starts_are_all_starts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    monkeypatch.setattr(search, "BLOCK", source.randrange(1, 6))
    bounds = [0, *sorted(source.randrange(20) for _ in range(source.randrange(8)))]
    rows = [range(*span) if source.random() < 0.8 else range(0) for span in zip(bounds, bounds[1:])]
    trace: Any = SimpleNamespace(slices=SimpleNamespace(start=np.arange(20)))
    tracks: Any = [SimpleNamespace(rows=span) for span in rows if source.random() < 0.7]
    blocks = [*search.blocks_of_starts(trace, tracks)]
    assert all(0 < len(block) <= search.BLOCK for block in blocks)
    assert [*chain(*blocks)] == [*chain(*(track.rows for track in tracks))]


def test_tracks_by_device_and_slices_by_kind() -> None:
    trace = two_devices()
    streams = [track for track in trace.tracks if track.device]
    assert tracks_by_device(trace.tracks) == {
        device: [track for track in streams if track.device == device] for device in ("NPU 1", "NPU")
    }
    kinds = [Activity(kind) for kind in trace.slices.activity.tolist()]
    for chosen in ((Activity.AICPU,), tuple(set(kinds)), ()):
        assert among(trace.slices.activity, chosen).tolist() == [kind in chosen for kind in kinds]
    categories = [trace.string(number) for number in trace.slices.category.tolist()]
    assert of_category(trace, trace.slices.category, {"cpu_op"}).tolist() == [
        category == "cpu_op" for category in categories
    ]


def test_ids_of_32_bits_among_larger_ones() -> None:
    keys, wanted = column([2**40 + 1, 2**40]), np.array([5, -1], np.int32)
    assert first_equal(keys, wanted).tolist() == [-1, -1]
    assert first_equal(wanted, keys).tolist() == [-1, -1]


@given(near | far)
def test_groups_of_equal_keys_keep_their_order(keys: list[int]) -> None:
    expected = {key: [at for at, other in enumerate(keys) if other == key] for key in sorted(set(keys))}
    assert {key: places.tolist() for key, places in group_by(column(keys))} == expected
    order, first = grouped(column(keys))
    assert column(keys)[order[first]].tolist() == distinct(column(keys)).tolist() == list(expected)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=8))
def test_ranges_one_after_the_other(spans: list[tuple[int, int]]) -> None:
    first, count = column([start for start, _ in spans]), column([length for _, length in spans])
    expected = [number for start, length in spans for number in range(start, start + length)]
    assert ranges(first, first + count).tolist() == expected


@pytest.mark.parametrize("values", [[], [5, 6, 7]])
def test_picking_nothing_from_anything(values: list[int]) -> None:
    found = pick(np.array(values, np.int8), column([-1, -1]))
    assert found.tolist() == [-1, -1]
    assert found.dtype == np.int64
