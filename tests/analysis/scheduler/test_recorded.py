"""Real runs beside what the kernel recorded of them: idle time is split as a reader of its own splits it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.analysis.scheduler.recorded import (
    OFFSET,
    RecordedRun,
    record_run,
    states_by_definition,
    trace_events,
)
from tests.simulator import traces
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.scheduler import recording_of
from tracetui.trace.model import Trace

CAUSES = {
    "preempted": Cause.PREEMPTED,
    "interrupted": Cause.INTERRUPTED,
    "disk": Cause.DISK,
    "blocked": Cause.BLOCKED,
}


#: A kernel may lose how threads left their cores and not say so: then nobody knows what they did.
ATTEMPTS = 3


@pytest.mark.parametrize("numbers", ["same", "mapped", "inferred"])
def test_idle_time_of_a_real_run_is_split_as_the_kernel_recorded_it(numbers: str, tmp_path: Path) -> None:
    for attempt in range(ATTEMPTS):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        run = record_run(directory, in_container=numbers != "same")
        trace, expected = split(run, numbers, directory)
        recording = recording_of(trace)
        analysis = analyse(trace, None, recording)
        if analysis.causes.by_cause() == expected:
            break
    scheduler = recording.scheduler
    assert scheduler is not None, recording.problem
    assert scheduler.clock.source == "start_info"
    assert scheduler.matching.inferred == (numbers == "inferred")
    assert dict(scheduler.matching.host) == {run.tid: run.host_pid}
    assert analysis.causes.by_cause() == expected
    assert expected[Cause.PREEMPTED] > 10_000_000
    assert expected[Cause.BLOCKED] > 10_000_000
    assert analysis.scheduler_summary is not None
    culprits = analysis.scheduler_summary.culprits
    assert sum(culprit.idle_ns for culprit in culprits) == expected[Cause.PREEMPTED]
    strangers = {number for culprit in culprits if not culprit.own_process for number in culprit.task[1:]}
    assert run.competitor in strangers


def split(run: RecordedRun, numbers: str, directory: Path) -> tuple[Trace, dict[Cause, int]]:
    """Return the trace of a run beside what the kernel recorded, and its idle ns by cause by definition."""
    (directory / "trace.txt").write_text(run.text)
    (directory / "trace_view.json").write_text(json.dumps(trace_events(run)))
    start_info = {"clockMonotonicRaw": "1000000000", "collectionTimeBegin": str((OFFSET + 10**9) // 1000)}
    (directory / "start_info").write_text(json.dumps(start_info))
    if numbers == "mapped":
        (directory / "pid_mapping.json").write_text(json.dumps(run.mapping))
    trace = traces.read_file(directory / "trace_view.json")
    plain = analyse(trace).causes
    expected: dict[Cause, int] = defaultdict(int)
    states = [
        (start + OFFSET, end + OFFSET, state)
        for start, end, state in states_by_definition(run.text, run.host_pid)
    ]
    for start, end, code in zip(plain.start.tolist(), plain.end.tolist(), plain.cause.tolist()):
        for first, last, state in states:
            shared = max(0, min(end, last) - max(start, first))
            by_host = Cause(code).family in ("host", "queue", "launch")
            expected[CAUSES.get(state, Cause(code)) if by_host else Cause(code)] += shared
    return trace, {cause: ns for cause, ns in expected.items() if ns}
