"""What computes beside the cores of a device."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.engines import engines_within


@pytest.mark.parametrize(
    ("start", "end", "engines"),
    [
        (0, 1000, "AI CPU and DSA"),
        (0, 100, "DSA and AI CPU"),
        (10, 30, "DSA"),
        (11, 20, "other compute"),
    ],
)
def test_engines_are_named_that_ran_in_some_time_the_busiest_first(
    start: int, end: int, engines: str
) -> None:
    tasks = [task(0, 10, "DSA_SQE"), task(20, 10, "DSA_SQE"), task(40, 15, "AI_CPU"), task(200, 9, "AI_CPU")]
    trace = analyse(trace_of([*npu(), *tasks])).trace
    rows = trace.tracks[0].rows
    assert engines_within(trace, np.arange(rows.start, rows.stop), start, end) == engines
