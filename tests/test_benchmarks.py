"""The floors of the benchmarks are true: they decode what the reader reads, by any number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.floors import _decode, _parts
from tracetui.reader.source import TraceFile


@pytest.mark.parametrize("processes", [1, 2, 3, 5])
def test_every_event_is_decoded_once(samples: Path, processes: int) -> None:
    trace = samples / "moba" / "trace_view.json"
    with TraceFile(trace) as file:
        events = file.read().report.events
    decoded = sum(_decode((str(trace), *part)) for part in _parts(trace, processes))
    assert decoded in (events - 1, events), "all but the last one, behind which there is no other"
