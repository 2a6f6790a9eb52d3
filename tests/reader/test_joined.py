"""Several files that are one trace: the table is that of one file with all their events."""

from __future__ import annotations

import gzip
import json
import os
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from tests.reader.rows import rows_of
from tracetui.cache.cached_reading import read_trace
from tracetui.cache.traces import keep, reopen
from tracetui.reader import source
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.joined import open_trace, stamp_of
from tracetui.reader.parts import parts_of
from tracetui.reader.source import COARSEST_CLOCK, Progress, TraceFile

BOOT_NS = 1_692_340_024_324_979_000 - 56_579_931_060_630
OLD = 10**18  # ns: times of files that were not only just written


def _event(number: int) -> dict[str, Any]:
    common = {"pid": 3, "tid": number % 3, "name": f"name {number % 7}", "ts": f"{number}.250"}
    return [
        {**common, "ph": "X", "dur": 0.5, "args": {"n": number, "Task Type": "AI_CORE"}},
        {**common, "ph": "B"},
        {**common, "ph": "i", "args": {"n": number}},
        {**common, "ph": "C", "args": {"value": number}},
        {**common, "ph": "E"},
        {**common, "ph": "s", "id": f"9999999999999999999{number // 4}", "cat": "async"},
        {**common, "ph": "M", "name": "process_name", "args": {"name": f"process {number}"}},
    ][number % 7]


EVENTS = [json.dumps(_event(number)) for number in range(210)]


def _parts(directory: Path, cuts: list[int], ending: str = ".json") -> list[Path]:
    """The events in files of iterations 1, 2, ...: in no order by name."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(EVENTS)]), 1):
        path = directory / f"msprof_0_2_{number}{ending}"
        text = ("[" + ", ".join(EVENTS[start:end]) + "]").encode()
        path.write_bytes(gzip.compress(text) if ending.endswith(".gz") else text)
        os.utime(path, ns=(OLD, OLD))
        paths.append(path)
    return paths


def _clock(device: Path) -> Path:
    path = device / "start_info.0"
    path.write_text('{"collectionTimeBegin": "1692340024324979", "clockMonotonicRaw": "56579931060630"}')
    return path


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
@pytest.mark.parametrize("cuts", [[70], [1, 2, 3, 100, 101, 150, 180, 190, 200, 205, 209]])
def test_the_table_is_that_of_one_file(tmp_path: Path, cuts: list[int], ending: str) -> None:
    whole = tmp_path / "whole.json"
    whole.write_text("[" + ", ".join(EVENTS) + "]")
    paths = _parts(tmp_path / "timeline", cuts, ending)
    with TraceFile(whole) as one, open_trace(paths[-1]) as several:
        expected, table = one.read(), several.read()
        assert rows_of(table) == rows_of(expected)
        assert table.report.events == len(EVENTS) and table.report.warnings == expected.report.warnings
        for event in (0, 69, 70, 71, 196, 206, 209, 0):
            assert several.event(event) == one.event(event) != {}
        assert several.args(999) == {}


def test_times_count_from_the_boot(tmp_path: Path) -> None:
    """Of one file as of several; those that count from 1970 already stay as they are."""
    for cuts in ([], [100]):
        device = tmp_path / f"{len(cuts)}" / "PROF_1" / "device_0"
        paths = _parts(device / "timeline", cuts)
        with open_trace(paths[0]) as trace_file:
            assert int(trace_file.read().slices.start.min()) == 250
        _clock(device)
        with open_trace(paths[0]) as trace_file:
            assert int(trace_file.read().slices.start.min()) == BOOT_NS + 250
        late = {"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": "1692340024324979.000", "dur": 1}
        for path in paths:
            path.write_text(json.dumps([late]))
        with open_trace(paths[0]) as trace_file:
            assert int(trace_file.read().slices.start.min()) == 1_692_340_024_324_979_000


@pytest.mark.parametrize("content", ["{", "[]", '{"collectionTimeBegin": "x"}', '{"clockMonotonicRaw": "5"}'])
def test_a_clock_that_tells_nothing_is_none(tmp_path: Path, content: str) -> None:
    paths = _parts(tmp_path / "PROF_1" / "device_0" / "timeline", [])
    (tmp_path / "PROF_1" / "device_0" / "start_info.0").write_text(content)
    with open_trace(paths[0]) as trace_file:
        assert int(trace_file.read().slices.start.min()) == 250


def test_damage_is_said_of_its_file(tmp_path: Path) -> None:
    first, second, third, fourth = _parts(tmp_path, [50, 100, 150])
    second.write_text(second.read_text()[:-40])  # cut inside an event
    third.write_text("no JSON at all")
    with open_trace(first) as trace_file:
        table = trace_file.read()
    assert table.report.events == 210 - 50 - 1 and table.report.truncated and table.report.files == 3
    cut, left_out = table.report.warnings[:2]
    assert cut.startswith("msprof_0_2_2.json: file incomplete: 49 events read up to byte ")
    assert left_out == f"{third}: is not a trace: the file holds no JSON array or object (left out)"
    for path in (first, second, fourth):
        path.write_text("{}")
    with open_trace(first) as trace_file, pytest.raises(UnreadableTrace, match="msprof_0_2_1"):
        trace_file.read()


def test_an_older_export_beside_is_said(tmp_path: Path) -> None:
    for day in (1, 2):
        for part in range(2):
            _parts(tmp_path, [])[0].rename(tmp_path / f"msprof_slice_{part}_2024010{day}101010.json")
    with open_trace(tmp_path / "msprof_slice_1_20240102101010.json") as trace_file:
        assert trace_file.path.name == "msprof_slice_0_20240102101010.json"
        assert trace_file.read().report.warnings == ("2 files of other exports beside it are not read",)


def test_what_is_read_is_told_meanwhile(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70, 140])
    size, seen = sum(path.stat().st_size for path in paths), []

    def see(progress: Progress) -> None:
        table = progress.snapshot()
        assert table.report.events == progress.events and table.path == str(paths[0])
        assert not any("missing" in warning for warning in table.report.warnings)
        seen.append((progress.done_bytes, progress.total_bytes, progress.events, len(table.slices.start)))

    with open_trace(paths[0]) as trace_file:
        table = trace_file.read(see)
        assert [(total, events) for _, total, events, _ in seen] == [(size, 70), (size, 140), (size, 210)]
        assert [done for done, *_ in seen] == [*accumulate(path.stat().st_size for path in paths)]
        assert seen[-1][0] == size and seen[-1][3] == len(table.slices.start)
        stopped = trace_file.read(None, lambda: True)
    assert stopped.report.stopped and stopped.report.events == 70
    assert "2 of 3 files are missing" in stopped.report.warnings[-1]


def test_what_follows_a_file_that_cannot_be_read_is_missing_where_the_reading_stops(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70, 140])
    paths[1].write_text("no JSON")
    answers = iter([False, True])
    with open_trace(paths[0]) as trace_file:
        report = trace_file.read(None, lambda: next(answers)).report
    assert (report.stopped, report.events) == (True, 70)
    assert report.warnings[-1] == "reading stopped: 1 of 3 files are missing"


def test_the_cache_knows_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetui.cache.traces.SMALLEST", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source, "COARSEST_CLOCK", 0)
    device = tmp_path / "PROF_1" / "device_0"
    paths = _parts(device / "timeline", [70, 140])
    clock = _clock(device)
    with open_trace(paths[0]) as trace_file:
        trace = read_trace(trace_file, cache=False)
        assert keep(trace_file, trace) and trace_file.stamp == stamp_of(paths[0])
    with open_trace(paths[2]) as again:
        known = reopen(again)
        assert known is not None
        last = int(known.slices.event[-1])
        assert (known.slices.start == trace.slices.start).all()
        assert again.args(last)["n"] == last
    for changed in (paths[1], clock):
        changed.write_bytes(changed.read_bytes() + b" ")
        with open_trace(paths[0]) as again:
            assert reopen(again) is None
        with open_trace(paths[0]) as again:
            assert keep(again, read_trace(again, cache=False))


def test_a_file_that_changes_has_no_args_any_more(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70])
    with open_trace(paths[0]) as trace_file:
        trace_file.read()
        paths[1].write_text("[]")
        assert trace_file.args(0) != {} and trace_file.args(77) == {}


def test_names_that_are_no_parts(tmp_path: Path) -> None:
    for name in ("msprof_tx_0_2_1.json", "trace_view.json", "msprof_.json", "msprof_slice_a_1.json"):
        assert parts_of(tmp_path / name).files == (tmp_path / name,)


@pytest.mark.parametrize(("refused", "more"), [(1, 0), (8, 0), (9, 1), (11, 3)])
def test_eight_sentences_are_said_of_files(tmp_path: Path, refused: int, more: int) -> None:
    paths = _parts(tmp_path, [*range(1, 12)])
    for path in paths[12 - refused :]:
        path.write_text("{}")
    with open_trace(paths[0]) as trace_file:
        report = trace_file.read().report
    assert report.files == 12 - refused and not report.stopped
    sentences = [warning for warning in report.warnings if "begin events" not in warning]
    assert [sentence.endswith("(left out)") for sentence in sentences[:8]] == [True] * min(refused, 8)
    assert sentences[8:] == [f"{more} more such sentences about its files"] * bool(more)


def test_what_is_left_out_is_counted_of_each_file(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70, 140])
    for number, path in enumerate(paths, 1):
        odd = ["7"] * number + ['{"ph": "?"}'] * (2 * number)
        path.write_text("[" + ", ".join([*EVENTS[:7], *odd]) + "]")
    with open_trace(paths[0]) as trace_file:
        report = trace_file.read().report
    assert (report.events, report.skipped, report.unknown_phases) == (3 * 7 + 18, 18, {"?": 12})
    sentences = [warning for warning in report.warnings if "left out: " in warning]
    assert [(sentence.split(": ")[0], sentence.split()[1]) for sentence in sentences] == [
        (path.name, str(count)) for number, path in enumerate(paths, 1) for count in (number, 2 * number)
    ]


def test_only_files_at_rest_are_settled(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70, 140])
    with open_trace(paths[0]) as trace_file:
        assert trace_file.settled
        for more, settled in ((-1, False), (0, True)):
            trace_file._opened = OLD + COARSEST_CLOCK + more
            assert trace_file.settled == settled
        os.utime(paths[1], ns=(OLD - 9, OLD - 9))
        assert not trace_file.settled
        paths[2].unlink()
        assert not trace_file.settled


def test_a_reading_may_be_stopped_in_its_last_file(tmp_path: Path) -> None:
    paths = _parts(tmp_path, [70])
    done = 0

    def see(progress: Progress) -> None:
        nonlocal done
        done = progress.done_bytes

    with open_trace(paths[0]) as trace_file:
        report = trace_file.read(see, lambda: done == trace_file.size).report
        assert report.stopped and report.files == 2 and not report.truncated
        assert not any("files are missing" in warning for warning in report.warnings)
        assert trace_file.args(0) != {}
    assert trace_file.event(100) == {}, "it is closed"
