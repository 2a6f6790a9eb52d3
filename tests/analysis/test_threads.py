"""The threads of the host: however many there are."""

from __future__ import annotations

import time

from tests.analysis.machine import npu, operator, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse


def test_the_time_for_threads_is_linear_in_their_number() -> None:
    """Looking through all tracks for each thread takes 4 s here, and minutes for 50,000; an index 0.25 s."""
    count = 6000
    events = (operator(10 * i, 5, tid=1000 + i) for i in range(count))
    analysis = analyse(trace_of([*npu(), task(0, 10), *events]))
    started = time.process_time()
    hosts = analysis.hosts
    threads = [hosts.thread(index) for index in range(len(hosts))]
    assert time.process_time() - started < 1.5
    assert [len(thread.operators) for thread in threads] == [1] * count
