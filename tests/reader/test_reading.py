"""One pass over a text: what its passages make up, and what is counted of each text of a trace."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tracetui.reader.joined import open_trace
from tracetui.reader.reading import Reading, _Passage
from tracetui.reader.source import TraceFile


def _event(phase: str, **fields: object) -> dict[str, object]:
    return {"ph": phase, "name": "a", "pid": 1, "tid": 1, "ts": 1, **fields}


@pytest.mark.parametrize(("end", "in_damage"), [*product((40, 50, 60), (False, True))])
def test_passages_make_up_the_text_where_the_second_ends_at_the_first(end: int, in_damage: bool) -> None:
    """And not in something damaged: no event would begin there. One alone is all of it."""
    last, first = _Passage(50, 99, 90), _Passage(0, end, end, in_damage=in_damage)
    for passages, whole in (([last, first], end == 50 and not in_damage), ([first], True)):
        reading = Reading.__new__(Reading)
        reading._passages = passages
        assert reading.joined == whole


def test_each_file_of_a_trace_counts_for_itself(tmp_path: Path) -> None:
    unknown = [["?"], [], ["?", "!"], ["!", "!"]]
    for number, phases in enumerate(unknown):
        events = [_event("i")] * 5 + [_event(phase) for phase in phases] + [{"no": "event"}] * number
        (tmp_path / f"msprof_slice_{number}.json").write_text(json.dumps(events))
    with open_trace(tmp_path / "msprof_slice_0.json") as trace_file:
        report = trace_file.read().report
    assert (report.events, report.skipped) == (20 + 5 + 6, 5 + 6)
    assert report.unknown_phases == {"?": 2, "!": 3}
    odd = "left out: of a phase that is not shown"
    less = "left out: a phase, an id or a time in µs, below 146 years, is missing"
    assert report.warnings == (
        f"msprof_slice_0.json: 1 event {odd} (?)",
        f"msprof_slice_1.json: 1 event {less}",
        f"msprof_slice_2.json: 2 events {less}",
        f"msprof_slice_2.json: 2 events {odd} (!, ?)",
        f"msprof_slice_3.json: 3 events {less}",
        f"msprof_slice_3.json: 2 events {odd} (!)",
    )


def test_events_of_unknown_phases_are_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are before the first that is shown, a file of them is no other file."""
    monkeypatch.setattr("tracetui.reader.reading._ENOUGH", 5000)
    path = tmp_path / "t.json"
    path.write_text(json.dumps([_event("?")] * 300 + [_event("i")]))
    with TraceFile(path, block_bytes=500, part_bytes=1000) as trace_file:
        report = trace_file.read().report
    assert (report.events, report.skipped, report.unknown_phases) == (301, 300, {"?": 300})


@pytest.mark.parametrize("spaces", [None, 1])
def test_durations_that_cannot_be_are_counted_and_count_as_nothing(
    tmp_path: Path, spaces: int | None
) -> None:
    """Alone in a block or beside others, and by whatever reads it; a missing one is none that cannot be."""
    odd = [-40.0, -1, "-1", float("nan"), "abc", None, 1e18, "1e18", [], "", "Infinity"]
    good = [0, -0.0, "0", 1.5, "2", -1e-9, 10**9]
    events = [_event("X", dur=dur) for dur in [*good, *odd]] + [_event("X")]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(events, indent=spaces))
    for block_bytes in (100, 1 << 20):
        with TraceFile(path, block_bytes=block_bytes) as trace_file:
            table = trace_file.read()
        assert table.slices.dur.tolist() == [0, 0, 0, 1500, 2000, 0, 10**12, *[0] * len(odd), 0]
        assert table.report.skipped == 0
        assert table.report.warnings == (
            "11 events of no duration that can be, taken as 0: below 0, no number or above 146 years",
        )
