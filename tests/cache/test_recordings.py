"""When a recording of the scheduler is kept, when it is found again, and when it is not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tracetui.cache import entries, recordings
from tracetui.cache.keeping import finish
from tracetui.cache.recordings import read_recording_once, reopen_recording
from tracetui.cache.traces import EntryState, cached_traces
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.events import SchedulerEvents
from tracetui.siblings.scheduler.files import read_recording

TEXT = """\
# entries-in-buffer/entries-written: 3/9   #P:2
           a b-7     (     7) [001] d..2.   918.470501: sched_switch: prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=\x1bx next_pid=8 next_prio=120
CPU:1 [LOST 4 EVENTS]
           \x1bx-8     (     7) [001] d..2.   918.470509: sched_waking: comm=a b pid=7 prio=120 target_cpu=001
nonsense
           \x1by-8     (     7) [001] d..2.   918.470510: sched_switch: prev_comm=\x1by prev_pid=8 prev_prio=120 prev_state=D ==> next_comm=a b next_pid=7 next_prio=120
"""  # noqa: E501


@pytest.fixture
def recording(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A recording of which it is worth to keep the events."""
    monkeypatch.setattr(recordings, "SMALLEST", 1)
    path = tmp_path / "trace.txt"
    path.write_text(TEXT)
    _rest(path)
    yield path
    finish()


def _rest(path: Path) -> None:
    """Make a file one that was written long ago."""
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))


def _kept(path: Path) -> SchedulerEvents:
    found = read_recording_once(path)
    finish()
    return found


def test_a_recording_is_read_once(recording: Path) -> None:
    first = _kept(recording)
    found = reopen_recording(recording)
    assert found is not None
    for name, column in found.columns._asdict().items():
        np.testing.assert_array_equal(column, getattr(first.columns, name), strict=True)
    found_rest, first_rest = ({**vars(events), "columns": None} for events in (found, first))
    assert found_rest == first_rest
    assert (found.lost, found.skipped, found.names.last(8)) == (10, 1, "\x1by")
    assert [entry.state for entry in cached_traces()] == [EntryState.READY]


def test_a_changed_recording_is_read_again(recording: Path) -> None:
    _kept(recording)
    recording.write_text(TEXT.replace("918.470510", "918.470511"))
    assert reopen_recording(recording) is None
    _rest(recording)
    assert int(read_recording_once(recording).columns.time[-1]) == 918_470_511_000


def test_another_program_reads_anew(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kept(recording)
    monkeypatch.setattr(entries, "program", lambda kind: "another")
    assert reopen_recording(recording) is None


@pytest.mark.parametrize("column", ["time", "cpu", "kind", "target", "other", "pid"])
def test_columns_that_cannot_be_are_not_used(
    recording: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = read_recording(recording)
    values = getattr(events.columns, column).copy()
    values[0] = np.iinfo(values.dtype).max
    broken = SchedulerEvents(
        path="", columns=events.columns._replace(**{column: values}), names=events.names, processes={}
    )
    monkeypatch.setattr(recordings, "read_recording", lambda path, on_progress: broken)
    _kept(recording)
    assert len(cached_traces()) == 1
    assert reopen_recording(recording) is None


@pytest.mark.parametrize("limit", ["0", "1"])
def test_the_limit_of_the_cache_holds(recording: Path, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACETUI_CACHE_MB", limit)
    _kept(recording)
    assert len(cached_traces()) == int(limit)


def test_what_was_only_just_written_is_not_kept(recording: Path) -> None:
    os.utime(recording)
    _kept(recording)
    assert not cached_traces()


def test_small_recordings_and_refused_ones_are_not_kept(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "SMALLEST", 1_000)
    _kept(recording)
    assert not cached_traces()
    monkeypatch.setattr(recordings, "SMALLEST", 1)
    recording.write_text("nonsense\n" * 9)
    _rest(recording)
    with pytest.raises(Refusal):
        _kept(recording)
    assert not cached_traces()
