"""Windows that overlap in any way, against looking at each of them for each time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.steps import Windows

spans = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8)), max_size=12)


@given(spans, st.lists(st.integers(-2, 32), max_size=20))
def test_the_first_that_holds_a_time(given_spans: list[tuple[int, int]], times: list[int]) -> None:
    starts = np.array([start for start, _ in given_spans], np.int64)
    ends = starts + np.array([length for _, length in given_spans], np.int64)
    windows = Windows(starts, ends)
    expected = [
        next((number for number in range(len(starts)) if starts[number] <= time < ends[number]), -1)
        for time in times
    ]
    assert windows.first(np.array(times, np.int64)).tolist() == expected
    assert len(windows) == len(given_spans)
