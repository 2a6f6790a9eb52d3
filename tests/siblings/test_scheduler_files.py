"""Which recording of the scheduler goes with a trace, and what beside it tells its clock and its threads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tracetui.siblings.scheduler.events import LATEST, MOST_CORES, MOST_PIDS
from tracetui.siblings.scheduler.files import (
    files_of_recording,
    find_recording,
    pid_mapping,
    profiler_clock,
    recording_in,
)
from tracetui.siblings.scheduler.line import LostEvents, Overwritten, SchedulerEvent, read_line

EVENT = " bash-7 [001] d..2. 918.470501: sched_waking: comm=a pid=1 prio=1 target_cpu=001\n"


def write(directory: Path, *names: str, text: str = EVENT) -> None:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), None),
        (("any.txt",), "any.txt"),
        (("any.txt", "other.dat.txt"), None),
        (("any.txt", "rank4.txt"), "any.txt"),
        (("rank4.txt",), None),
        (("rank3.txt", "rank4.txt", "any.txt"), "rank3.txt"),
        (("trace_rank-3.txt", "any.txt"), "trace_rank-3.txt"),
        (("sched-3.txt", "4.txt"), "sched-3.txt"),
        (("3.txt", "33.txt"), "3.txt"),
        (("rank3.txt.gz", "any.txt"), "rank3.txt.gz"),
        (("rank3.txt", "3.txt"), None),
        (("rank3.json", "any.txt"), "any.txt"),
        (("rank3/all.txt", "rank4/all.txt", "any.txt"), "rank3/all.txt"),
        (("rank3/all.txt", "rank3.txt"), "rank3.txt"),
        (("rank3/a.txt", "rank3/b.txt"), None),
        (("rank3_ascend_pt/a.txt", "rank3.txt", "on_node1.txt"), "rank3_ascend_pt/a.txt"),
        (("on_node1.txt", "on_node10.txt", "mynode1.txt", "rank3.txt"), "rank3.txt"),
        (("on_node1.txt", "on_node10.txt", "mynode1.txt"), "on_node1.txt"),
        (("node10.txt", "any.txt"), None),
    ],
)
def test_the_recording_of_a_rank_is_the_one_that_is_plainly_called_so(
    names: Sequence[str], found: str | None, tmp_path: Path
) -> None:
    """By the directory of the rank, then by its number, by its host, and the only one of no rank."""
    write(tmp_path, *names)
    trace = Path("job/rank3_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    expected = None if found is None else tmp_path / found
    assert recording_in(tmp_path, trace, 3, "node1") == expected


def test_a_recording_of_a_number_is_of_no_trace_without_one(tmp_path: Path) -> None:
    write(tmp_path, "rank3.txt")
    assert recording_in(tmp_path, Path("x/trace.json")) is None
    write(tmp_path, "any.txt", "notes.txt")
    (tmp_path / "notes.txt").write_text("about this job\n")
    assert recording_in(tmp_path, Path("x/trace.json")) == tmp_path / "any.txt"
    assert recording_in(tmp_path / "none", Path("x/trace.json")) is None
    write(tmp_path, "x/all.txt")
    assert recording_in(tmp_path, Path("a/x/trace.json")) == tmp_path / "x/all.txt"
    assert recording_in(tmp_path, Path("x/b/c/trace.json")) == tmp_path / "any.txt", "three above"


@pytest.mark.parametrize(("above", "is_found"), [(0, True), (1, True), (2, False)])
def test_a_recording_and_a_mapping_lie_beside_a_trace_or_in_the_directory_above(
    above: int, is_found: bool, tmp_path: Path
) -> None:
    trace = tmp_path / "a" / "b" / "c" / "trace_view.json"
    directory = trace.parents[above]
    write(trace.parent, "notes.txt")
    write(directory, "trace.txt")
    write(directory, "pid_mapping.json", text=json.dumps({"70": {"NSpid": "7"}}))
    assert (find_recording(trace) == directory / "trace.txt") == is_found
    assert (pid_mapping(trace) is not None) == is_found
    assert pid_mapping(trace, directory / "x") is not None, "or beside the recording"


def test_the_head_of_a_recording_may_be_long_but_says_nothing_else(tmp_path: Path) -> None:
    trace = tmp_path / "trace_view.json"
    for head, is_found in (
        ("# tracer: nop\n\n" * 49, True),
        ("# tracer: nop\n" * 100, False),
        ("# tracer: nop\nNotes of today\n", False),
        ("# entries-in-buffer/entries-written: 1/1   #P:2\nNotes\n", True),
    ):
        (tmp_path / "trace.txt").write_text(head + EVENT)
        assert (find_recording(trace) is not None) == is_found


@pytest.mark.parametrize(
    ("inside", "host"),
    [
        ("7", {7: 70}),
        (7, {7: 70}),
        ("1 7", {7: 70}),
        (["1", "7"], {7: 70}),
        ([], {}),
        ("", {}),
        (None, {}),
        (True, {}),
        (-1, {}),
        (0, {0: 70}),
        (str(MOST_PIDS - 1), {MOST_PIDS - 1: 70}),
        (MOST_PIDS, {}),
        ("00000007", {7: 70}),
        ("000000007", {}),
        ("٧", {}),
    ],
)
def test_the_number_of_a_thread_is_that_of_its_innermost_container(
    inside: object, host: dict[int, int], tmp_path: Path
) -> None:
    write(tmp_path, "pid_mapping.json", text=json.dumps({"70": {"NSpid": inside, "Tgid": inside}}))
    mapping = pid_mapping(tmp_path / "trace.txt")
    assert mapping is not None
    assert (mapping.host, mapping.ambiguous) == (host, 0)


def test_a_thread_that_is_told_twice_is_not_ambiguous(tmp_path: Path) -> None:
    numbers = {"70": {"NSpid": "7"}, "070": {"NSpid": "7"}, "71": {"NSpid": "8"}, "72": {"NSpid": "8"}}
    write(tmp_path, "pid_mapping.json", text=json.dumps({**numbers, "73": {"NSpid": "8"}}))
    mapping = pid_mapping(tmp_path / "trace.txt")
    assert mapping is not None and (mapping.host, mapping.ambiguous) == ({7: 70}, 1)
    write(tmp_path, "pid_mapping.json", text="no JSON")
    assert pid_mapping(tmp_path / "trace.txt") is None


def clock(monotonic: object, epoch: object, name: str = "collectionTimeBegin") -> str:
    return json.dumps({"clockMonotonicRaw": monotonic, name: epoch})


@pytest.mark.parametrize(
    ("monotonic", "epoch", "offset"),
    [
        ("1000", "5", 4_000),
        (1, 1, 999),
        (0, 5, None),
        (5, "0", None),
        (5, None, None),
        (True, 5, None),
        ("1" + "0" * 19, 5, None),
        ((1 << 61) - 1, 5, 5_000 - (1 << 61) + 1),
        (1 << 61, 5, None),
    ],
)
def test_both_clocks_of_the_profiler_must_be_told(
    monotonic: object, epoch: object, offset: int | None, tmp_path: Path
) -> None:
    write(tmp_path, "start_info", text=clock(monotonic, epoch))
    found = profiler_clock(tmp_path / "trace.json")
    assert (None if found is None else found.offset_ns) == offset


def test_the_clocks_of_the_profiler_lie_up_to_three_directories_above(tmp_path: Path) -> None:
    trace = tmp_path / "a" / "b" / "c" / "d" / "trace.json"
    for above, offset in ((3, None), (2, 1_000), (1, 2_000), (0, 3_000)):
        epoch = 100 + (offset or 0) // 1000
        write(trace.parents[above], "host/start_info.0", text=clock(100_000, epoch))
        found = profiler_clock(trace)
        assert (None if found is None else found.offset_ns) == offset, "the nearest"
    write(trace.parent, "start_info.done", text=clock(1, 1))
    write(trace.parent, "start_info.2", text="{}")
    found = profiler_clock(trace)
    assert found is not None and found.offset_ns == 3_000


@pytest.mark.parametrize(("end", "drift"), [(2_000_000, 1_000), (1_000_000, None), (999_999, None)])
def test_the_drift_of_the_clocks_is_told_by_a_later_end(
    end: int, drift: float | None, tmp_path: Path
) -> None:
    write(tmp_path, "start_info", text=clock(1_000_000, 5_000))
    write(tmp_path, "end_info", text=clock(end, 6_001, "collectionTimeEnd"))
    found = profiler_clock(tmp_path / "trace.json")
    assert found is not None
    assert found.drift_ppm == (None if drift is None else pytest.approx(drift))


def test_what_a_recording_tells_follows_from_files_that_are_there(tmp_path: Path) -> None:
    names = ("trace.txt", "start_info", "end_info", "pid_mapping.json", "start_info.1")
    write(tmp_path, *names)
    found = files_of_recording(tmp_path / "trace.txt", tmp_path / "trace.json")
    assert sorted(path.name for path in found) == sorted(names)


SWITCH = "prev_comm=a prev_pid={} prev_prio=1 prev_state=S ==> next_comm=b next_pid={} next_prio=1"
WAKE = "comm=a pid={} prio=1 target_cpu={}"
FORK = "comm=a pid={} child_comm=b child_pid={}"
LAST_PID, LAST_CORE = MOST_PIDS - 1, MOST_CORES - 1


@pytest.mark.parametrize(
    ("thread", "core", "seconds", "event", "is_read"),
    [
        (1, 1, 1, "sched_switch: " + SWITCH.format(1, 2), True),
        (LAST_PID, 1, 1, "sched_switch: " + SWITCH.format(LAST_PID, 2), True),
        (1, 1, 1, "sched_switch: " + SWITCH.format(1, LAST_PID), True),
        (MOST_PIDS, 1, 1, "sched_switch: " + SWITCH.format(1, 2), False),
        (1, 1, 1, "sched_switch: " + SWITCH.format(MOST_PIDS, 2), False),
        (1, 1, 1, "sched_switch: " + SWITCH.format(1, MOST_PIDS), False),
        (1, LAST_CORE, 1, "sched_switch: " + SWITCH.format(1, 2), True),
        (1, MOST_CORES, 1, "sched_switch: " + SWITCH.format(1, 2), False),
        (1, 1, LATEST // 10**9, "sched_switch: " + SWITCH.format(1, 2), True),
        (1, 1, LATEST // 10**9 + 1, "sched_switch: " + SWITCH.format(1, 2), False),
        (1, 1, 1, "sched_waking: " + WAKE.format(LAST_PID, LAST_CORE), True),
        (1, 1, 1, "sched_waking: " + WAKE.format(MOST_PIDS, 1), False),
        (1, 1, 1, "sched_waking: " + WAKE.format(1, MOST_CORES), False),
        (1, 1, 1, "sched_process_fork: " + FORK.format(LAST_PID, LAST_PID), True),
        (1, 1, 1, "sched_process_fork: " + FORK.format(MOST_PIDS, 1), False),
        (1, 1, 1, "sched_process_fork: " + FORK.format(1, MOST_PIDS), False),
        (1, 1, 1, f"sched_process_exit: comm=a pid={LAST_PID} prio=1", True),
        (1, 1, 1, f"sched_process_exit: comm=a pid={MOST_PIDS} prio=1", False),
    ],
)
def test_threads_cores_and_times_are_as_great_as_linux_has_them(
    thread: int, core: int, seconds: int, event: str, is_read: bool
) -> None:
    line = f"    a-{thread} [{core:03d}] d..2. {seconds}.000000: {event}"
    assert isinstance(read_line(line.encode()), SchedulerEvent) == is_read


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"CPU:{LAST_CORE} [LOST 3 EVENTS]", LostEvents(LAST_CORE, 3)),
        (f"CPU:{MOST_CORES} [LOST 3 EVENTS]", None),
        ("CPU:1 [LOST EVENTS]", LostEvents(1, 0)),
        (f" a 1 [{LAST_CORE}] 1.000000: PERF_RECORD_LOST lost 5", LostEvents(LAST_CORE, 5)),
        (f" a 1 [{MOST_CORES}] 1.000000: PERF_RECORD_LOST lost 5", None),
        (" a 1 [000] 1.000000: PERF_RECORD_LOST_SAMPLES", LostEvents(0, 0)),
        (" a 1 [000] 1.000000: PERF_RECORD_FORK(1:1):(1:1)", None),
        ("# entries-in-buffer/entries-written: 3/10   #P:2", Overwritten(7)),
        ("# entries-in-buffer/entries-written: 3/2   #P:2", Overwritten(0)),
    ],
)
def test_lines_about_what_is_missing_say_how_much(line: str, said: object) -> None:
    assert read_line(line.encode()) == said
