"""What is beside a slice, a gap or a time, as a look at every one of them finds it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.analysis.machine import operator
from tests.synthetic import trace_of
from tracetui.trace.model import Trace
from tracetui.ui.neighbours import gap_beside, nearest_edge, slice_beside

STARTS, LENGTH, TIMES = (0, 100, 200), 40, range(-1, 242)


@pytest.fixture(scope="module")
def trace() -> Trace:
    """The same slices on three threads, one lane each."""
    return trace_of([operator(start, LENGTH, tid=tid) for tid in (1, 2, 3) for start in STARTS])


def test_the_slice_beside_one_is_on_its_lane_and_any_other_is_beside_the_time(trace: Trace) -> None:
    first, starts = len(STARTS), trace.slices.start[: len(STARTS)].tolist()
    for by, from_each in ((1, [first + 1, first + 2, -1]), (-1, [-1, first, first + 1])):
        assert [slice_beside(trace, 1, first + n, starts[0] - 1, by) for n in range(3)] == from_each
    for time in (starts[0] + time for time in TIMES):
        later = [first + place for place, start in enumerate(starts) if start > time]
        earlier = [first + place for place, start in enumerate(starts) if start < time]
        for row in (-1, first - 1, 2 * first):
            assert slice_beside(trace, 1, row, time, 1) == (later or [-1])[0]
            assert slice_beside(trace, 1, row, time, -1) == (earlier or [-1])[-1]


def test_the_gap_beside_one_is_of_its_device_and_any_other_is_beside_the_time() -> None:
    gaps = SimpleNamespace(device=np.repeat(np.arange(3, dtype=np.int32), 3), start=np.tile(STARTS, 3))
    picture = cast(Any, SimpleNamespace(analysis=SimpleNamespace(gaps=gaps)))
    assert [gap_beside(picture, 1, gap, 0, 1) for gap in (3, 4, 5)] == [4, 5, -1]
    assert [gap_beside(picture, 1, gap, 0, -1) for gap in (3, 4, 5)] == [-1, 3, 4]
    for time in TIMES:
        later = [3 + place for place, start in enumerate(STARTS) if start >= time]
        earlier = [3 + place for place, start in enumerate(STARTS) if start < time]
        for gap in (-1, 2, 6):
            assert gap_beside(picture, 1, gap, time, 1) == (later or [-1])[0]
            assert gap_beside(picture, 1, gap, time, -1) == (earlier or [-1])[-1]
    assert gap_beside(cast(Any, SimpleNamespace(analysis=None)), 1, 3, 0, 1) == -1


@pytest.mark.parametrize("reach", [0, 15, 1000])
def test_a_time_moves_to_the_nearest_edge_within_reach(trace: Trace, reach: int) -> None:
    first = int(trace.slices.start[0])
    edges = sorted([*trace.slices.start[:3].tolist(), *trace.slices.end[:3].tolist()])
    for time in (first + time for time in TIMES):
        nearest = min(abs(edge - time) for edge in edges)
        found = nearest_edge(trace, 1, time, reach)
        assert found in edges and abs(found - time) == nearest if nearest <= reach else found == time
