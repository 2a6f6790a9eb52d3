"""Times beyond reason are damage, and only those: whatever clocks a file has, no real event is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.reader.outliers import within_reason
from tracetui.reader.source import TraceFile
from tracetui.reader.timestamps import LIMIT
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.units import YEAR

EPOCH, BOOT = 1_736_412_474_000_000_000, 3_600_000_000_000


def trace_of(path: Path, events: list[dict[str, Any]], indent: int | None = None) -> Trace:
    path.write_text(json.dumps(events, indent=indent))
    with TraceFile(path) as trace_file:
        return build_trace(trace_file.read())


def slices(*starts_us: int, dur: int = 5, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": str(start), "dur": dur, **fields}
        for start in starts_us
    ]


@pytest.mark.parametrize("far_ns", [LIMIT - 1_000_000, -LIMIT + 1_000_000, EPOCH + 2 * YEAR, 0])
@pytest.mark.parametrize("phase", ["X", "C", "i", "s", "B"])
@pytest.mark.parametrize("indent", [None, 1])
def test_one_event_far_from_all_others_is_skipped_and_said(
    tmp_path: Path, far_ns: int, phase: str, indent: int | None
) -> None:
    events = slices(*range(EPOCH // 1000, EPOCH // 1000 + 100, 10))
    odd = {**slices(far_ns // 1000)[0], "ph": phase, "cat": "x", "id": 1, "args": {"value": 1}}
    trace = trace_of(tmp_path / "t.json", [*events[:4], odd, *events[4:]], indent)
    assert (trace.start_ns, trace.end_ns) == (EPOCH, EPOCH + 95_000)
    assert len(trace.slices) == 10
    assert trace.report.skipped == 1
    assert any("beyond reason: 1, skipped" in warning for warning in trace.report.warnings)


def test_a_slice_that_lasts_too_long_is_skipped(tmp_path: Path) -> None:
    year_us = 366 * 24 * 60 * 60 * 10**6
    events = [*slices(*range(0, 100, 10)), *slices(50, dur=year_us + 1)]
    trace = trace_of(tmp_path / "t.json", events)
    assert (len(trace.slices), trace.end_ns, trace.report.skipped) == (10, 95_000, 1)
    trace = trace_of(tmp_path / "t.json", [*events[:-1], *slices(50, dur=year_us)])
    assert (len(trace.slices), trace.report.skipped) == (11, 0)


def test_clocks_that_are_mixed_and_files_too_small_to_tell_keep_all(tmp_path: Path) -> None:
    boot = slices(*range(BOOT // 1000, BOOT // 1000 + 40, 10))
    epoch = slices(*range(EPOCH // 1000, EPOCH // 1000 + 10_000, 10))
    for number, events in enumerate((boot + epoch, boot[:1], boot[:1] + epoch[:3], epoch[:1] + boot[:2])):
        trace = trace_of(tmp_path / f"{number}.json", events)
        assert (len(trace.slices), trace.report.skipped) == (len(events), 0)
        assert not any("beyond reason" in warning for warning in trace.report.warnings)


@pytest.mark.parametrize(
    ("alone", "elsewhere", "damaged"),
    [(1, 4, True), (1, 3, False), (3, 12, True), (3, 11, False), (4, 99, False)],
)
def test_few_events_are_damage_where_four_times_as_many_lie_elsewhere(
    alone: int, elsewhere: int, damaged: bool
) -> None:
    start = np.arange(alone + elsewhere) + np.where(np.arange(alone + elsewhere) < alone, BOOT, EPOCH)
    kept = within_reason([(start, None)])
    assert (kept is None) == (not damaged)
    if kept is not None:
        assert kept[0].tolist() == [False] * alone + [True] * elsewhere


def test_a_begin_without_an_end_is_drawn_to_the_last_reasonable_end(tmp_path: Path) -> None:
    begin = {**slices(20)[0], "ph": "B"}
    trace = trace_of(tmp_path / "t.json", [*slices(*range(0, 100, 10)), begin, *slices(LIMIT // 1000 - 10)])
    assert int(trace.slices.dur[:].max()) == 95_000 - 20_000


times = st.integers(-LIMIT + 1, LIMIT - 1)
near = st.integers(EPOCH, EPOCH + 10**12)


@given(
    st.lists(times | near, max_size=40),
    st.lists(st.tuples(near | times, st.integers(0, LIMIT - 1)), max_size=40),
)
def test_what_is_kept_adds_up_in_64_bits(instants: list[int], spans: list[tuple[int, int]]) -> None:
    start, dur = np.array(spans, np.int64).reshape(-1, 2).T
    table = [(np.array(instants, np.int64), None), (start, dur)]
    kept = within_reason(table)
    if kept is None:
        kept = [np.ones(len(instants), np.bool_), np.ones(len(start), np.bool_)]
    left = [*np.array(instants, np.int64)[kept[0]].tolist(), *start[kept[1]].tolist()]
    assert sum(dur[kept[1]].tolist()) < 2**63
    assert not left or max(left) - min(left) < 2**63


@given(st.lists(st.tuples(near, st.integers(0, 10**12)), max_size=40), st.integers(-BOOT, EPOCH))
def test_events_near_each_other_are_all_kept(spans: list[tuple[int, int]], shift: int) -> None:
    start, dur = np.array(spans, np.int64).reshape(-1, 2).T
    assert within_reason([(start - shift, dur), (start, None)][:1]) is None


def test_a_year_is_within_reason() -> None:
    """And so much is told by the least and the most of the columns."""
    start = np.array([EPOCH, EPOCH + YEAR])
    assert within_reason([(start, None)]) is None


def test_groups_are_more_than_a_year_apart() -> None:
    """A chain of events, each a year from the one before, is one of them."""
    start = EPOCH + np.array([0] * 12 + [1, 2]) * YEAR
    assert within_reason([(start, None)]) is None
    start[13] += 1
    assert [mask.tolist() for mask in within_reason([(start, None)]) or ()] == [[True] * 13 + [False]]


@pytest.mark.parametrize(("more", "kept"), [(0, False), (-1, True)])
def test_clocks_146_years_apart_are_not_both_kept(more: int, kept: bool) -> None:
    """The first event of all and the last one tell; the largest group is left."""
    half = LIMIT // 2
    start = np.array([*[-half] * 5, *[0] * 5, *[half - 9] * 5, half + more])
    masks = within_reason([(start, None)]) or [np.ones(16, np.bool_)]
    assert [mask.tolist() for mask in masks] == [[kept] * 10 + [True] * 6]


def test_durations_of_146_years_together_are_too_much() -> None:
    start = np.full(256, EPOCH)
    dur = np.full(256, LIMIT // 256)
    assert [mask.tolist() for mask in within_reason([(start, dur)]) or ()] == [[True] * 255 + [False]]
    assert within_reason([(start[1:], dur[1:])]) is None


def test_a_year_is_that_of_all_tables_together() -> None:
    at, others = np.array([EPOCH]), np.full(4, EPOCH)
    for shift in (-2 * YEAR, 2 * YEAR):
        masks = within_reason([(others, None), (at + shift, np.array([0]))]) or ()
        assert [mask.tolist() for mask in masks] == [[True] * 4, [False]]
    assert within_reason([(at, None), (at + 2 * YEAR, np.array([0]))]) is None, "too few to tell"
    assert [mask.tolist() for mask in within_reason([(at, np.array([YEAR + 1])), (at, None)]) or ()] == [
        *[[False], [True]]
    ]
