"""Recordings of the scheduler in every form they are written in: all say the same, and nothing is made up."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.siblings.scheduler_lines import LINES, PIECES, difference, recorded_names
from tracetui.compiled import COMPILED
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler import blocks, recording
from tracetui.siblings.scheduler.events import MOST_CORES, MOST_PIDS, EventKind, LostStretch, SchedulerColumns
from tracetui.siblings.scheduler.files import find_recording, pid_mapping, profiler_clock, read_recording
from tracetui.siblings.scheduler.line import SchedulerEvent, read_line
from tracetui.siblings.scheduler.nodes import core_nodes, parse_nodes
from tracetui.siblings.scheduler.parsed import Parsed
from tracetui.siblings.scheduler.vectors import read_vectors

HEAD = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n"
#: As tracefs of Linux 6.18 wrote it, with the option record-tgid.
WITH_PROCESS = """\
            bash-11537   (  11537) [001] .....   918.470432: sched_process_fork: comm=bash pid=11537 child_comm=bash child_pid=11542
            bash-11537   (  11537) [001] dN.2.   918.470437: sched_wakeup_new: comm=bash pid=11542 prio=120 target_cpu=001
            bash-11537   (  11537) [001] d..2.   918.470501: sched_switch: prev_comm=bash prev_pid=11537 prev_prio=120 prev_state=S ==> next_comm=bash next_pid=11542 next_prio=120
           sleep-11542   (  11542) [001] .....   918.470746: sched_process_exec: filename=/usr/bin/sleep pid=11542 old_pid=11542
            mypy-11402   (-------) [000] d.h..   918.473409: softirq_raise: vec=9 [action=RCU]
            mypy-11402   (  11402) [000] .Ns..   918.473418: softirq_entry: vec=9 [action=RCU]
            mypy-11402   (  11402) [000] dNs3.   918.473420: sched_waking: comm=rcu_preempt pid=15 prio=120 target_cpu=001
            mypy-11402   (  11402) [000] .Ns..   918.473426: softirq_exit: vec=9 [action=RCU]
            mypy-11402   (  11402) [000] d..2.   918.473429: sched_switch: prev_comm=mypy prev_pid=11402 prev_prio=130 prev_state=R+ ==> next_comm=python next_pid=22869 next_prio=125
     kworker/1:1-41      (     41) [001] d..5.   918.549188: sched_migrate_task: comm=tokio-rt-worker pid=70 prio=110 orig_cpu=0 dest_cpu=1
          python-10908   (  10908) [001] d.h..   918.549190: irq_handler_entry: irq=42 name=virtio3-tx
          python-10908   (  10908) [001] dNh..   918.549196: irq_handler_exit: irq=42 ret=handled
"""  # noqa: E501
ROWS = [
    (918470432000, 1, EventKind.FORK, 11542, 11537, 0, -1),
    (918470437000, 1, EventKind.WAKEUP_NEW, 11542, 11537, 0, 1),
    (918470501000, 1, EventKind.SWITCH, 11537, 11542, ord("S"), -1),
    (918470746000, 1, EventKind.EXEC, 11542, 11542, 0, -1),
    (918473418000, 0, EventKind.SOFTIRQ_ENTRY, 9, 11402, 0, -1),
    (918473420000, 0, EventKind.WAKING, 15, -1, 0, 1),  # an interrupt did it
    (918473426000, 0, EventKind.SOFTIRQ_EXIT, 9, 11402, 0, -1),
    (918473429000, 0, EventKind.SWITCH, 11402, 22869, ord("R"), -1),
    (918549188000, 1, EventKind.MIGRATE, 70, 41, 0, 1),
    (918549190000, 1, EventKind.IRQ_ENTRY, 42, 10908, 0, -1),
    (918549196000, 1, EventKind.IRQ_EXIT, 42, 10908, 0, -1),
]
PLAIN = "\n".join(line[:25] + line[35:] for line in WITH_PROCESS.splitlines())  # without the process
NO_FLAGS = "\n".join(line[:30] + line[36:] for line in PLAIN.splitlines())  # as `trace-cmd report -R`


def rows_of(columns: SchedulerColumns) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns)))


def parse_by_all(data: bytes) -> Parsed:
    """What a block holds, which is the same in C and by numpy."""
    found = blocks.parse(data, read_vectors)
    if COMPILED:
        in_c = blocks.parse(data, blocks.scan)
        assert rows_of(in_c.columns) == rows_of(found.columns)
        for name in ("processes", "lost", "first_ns", "last_ns", "overwritten", "skipped"):
            assert getattr(in_c, name) == getattr(found, name)
        assert recorded_names(in_c) == recorded_names(found)
    return found


def parsed(text: str) -> list[tuple[int, ...]]:
    found = parse_by_all(text.encode())
    assert not found.skipped
    return rows_of(found.columns)


FIRST_UNSET = PLAIN.replace("dNs3.", ".Ns3.")  # an interrupt that may be interrupted


@pytest.mark.parametrize("text", [WITH_PROCESS, PLAIN, FIRST_UNSET, WITH_PROCESS.replace("\n", "\r\n")])
def test_text_of_tracefs(text: str) -> None:
    assert parsed(HEAD + text) == ROWS


def test_without_flags_whoever_had_the_core_woke() -> None:
    rows = [(*row[:4], 11402, *row[5:]) if row[2] == EventKind.WAKING else row for row in ROWS]
    assert parsed(HEAD + NO_FLAGS) == rows


def test_processes_are_those_of_the_column() -> None:
    found = parse_by_all(WITH_PROCESS.encode())
    assert found.processes == {pid: pid for pid in (11537, 11542, 11402, 41, 10908)}


def test_report_of_trace_cmd(tmp_path: Path) -> None:
    """The short form of trace-cmd, which names no fields; with and without flags."""
    text = """\
cpus=2
           <...>-11537 [001] d..2.   918.470501: sched_switch:   bash:11537 [120] S ==> a:b [1]:11542 [120]
            bash-11537 [001]   918.470437: sched_wakeup_new:     bash:11542 [120] CPU:001
nonsense
            mypy-11402 [000]   918.473420: sched_waking:         rcu_preempt:15 [120] CPU:001
            mypy-11402 [000]   918.473421: sched_wakeup:         x:y:15 [120] success=1 CPU:000
"""
    path = tmp_path / "trace.txt"
    path.write_text(text)
    names = recording.read_text(path).names
    assert (names.last(11537), names.last(11542)) == ("bash", "a:b [1]")
    found = parse_by_all(text.encode())
    assert found.skipped == 1
    assert rows_of(found.columns) == [
        (918470501000, 1, EventKind.SWITCH, 11537, 11542, ord("S"), -1),
        (918470437000, 1, EventKind.WAKEUP_NEW, 11542, 11537, 0, 1),
        (918473420000, 0, EventKind.WAKING, 15, 11402, 0, 1),
        (918473421000, 0, EventKind.WAKEUP, 15, 11402, 0, 0),
    ]


def test_script_of_perf() -> None:
    text = """\
            perf 11580 [000]   919.430066: sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000
       my app 1/12 [000]   919.430073123:       sched:sched_switch: prev_comm=my app prev_pid=12 prev_prio=120 prev_state=D ==> next_comm=migration/0 next_pid=18 next_prio=0
     migration/0    18 [000]   919.430077:       irq:softirq_entry: vec=1 [action=TIMER]
"""  # noqa: E501
    assert parsed(text) == [
        (919430066000, 0, EventKind.WAKING, 18, 11580, 0, 0),
        (919430073123, 0, EventKind.SWITCH, 12, 18, ord("D"), -1),
        (919430077000, 0, EventKind.SOFTIRQ_ENTRY, 1, 18, 0, -1),
    ]
    assert parse_by_all(text.encode()).processes == {12: 1}


#: Lines as trace-cmd 3.1 and perf 6.1 wrote them with several options.
FORMS = {
    "report": """\
          pong 2-54 [001]   918.470501: sched_switch:         pong 2:54 [120] R+ ==> we:ird:7:55 [-1]
          pong 2-54 [001]   918.470502: sched_waking:         comm=pong 2 pid=54 prio=120 target_cpu=001
          pong 2-54 [001]   918.470503: sched_wakeup:         pong 2:54 [120] CPU:001
""",
    "report --ts-diff": """\
          pong 2-54 [001]   918.470501:          sched_switch:         pong 2:54 [120] R ==> we:ird:7:55 [120]
          pong 2-54 [001]   918.470502: (+1)     sched_waking:         pong 2:54 [120] success=1 CPU:001
          pong 2-54 [001]   918.470503: (+1)     sched_wakeup:         pong 2:54 [120] success=1 CPU:001
""",
    "report -R": """\
          pong 2-54 [001]   918.470501: sched_switch:          prev_comm=pong 2 prev_pid=54 prev_prio=120 prev_state=256 next_comm=we:ird:7 next_pid=55 next_prio=120
          pong 2-54 [001]   918.470502: sched_waking:          comm=pong 2 pid=54 prio=120 target_cpu=001
          pong 2-54 [001]   918.470503: sched_wakeup:          comm=pong 2 pid=54 prio=120 target_cpu=001
""",  # noqa: E501
    "script": """\
          pong 2    54 [001]   918.470501:                     sched:sched_switch: prev_comm=pong 2 prev_pid=54 prev_prio=120 prev_state=R ==> next_comm=we:ird:7 next_pid=55 next_prio=120
          pong 2    54 [001]   918.470502:                     sched:sched_waking: comm=pong 2 pid=54 prio=120 target_cpu=001
          pong 2    54 [001]   918.470503:                     sched:sched_wakeup: comm=pong 2 pid=54 prio=120 target_cpu=001
""",  # noqa: E501
    "script -g, --show-task-events": """\
pong 2    54 [001]   918.470501:                     sched:sched_switch: prev_comm=pong 2 prev_pid=54 prev_prio=120 prev_state=R ==> next_comm=we:ird:7 next_pid=55 next_prio=120
\tffffffff813aa9c4 try_to_wake_up+0x3a4 ([kernel.kallsyms])
\t           ee137 sched_setaffinity@@GLIBC_2.3.4+0x7 (/usr/lib/x86_64-linux-gnu/libc.so.6)

pong 2    54 [001]   918.470502:                     sched:sched_waking: comm=pong 2 pid=54 prio=120 target_cpu=001

pong 2    54 [001]   918.470503:                     sched:sched_wakeup: comm=pong 2 pid=54 prio=120 target_cpu=001
pong 2    54 [001]   918.470503: PERF_RECORD_FORK(6453:6453):(6404:6404)
""",  # noqa: E501
    "script -F +period": """\
          pong 2    54 [001]   918.470501:          1                     sched:sched_switch: prev_comm=pong 2 prev_pid=54 prev_prio=120 prev_state=R ==> next_comm=we:ird:7 next_pid=55 next_prio=120
          pong 2    54 [001]   918.470502:       8843                     sched:sched_waking: comm=pong 2 pid=54 prio=120 target_cpu=001
          pong 2    54 [001]   918.470503:          1                     sched:sched_wakeup: comm=pong 2 pid=54 prio=120 target_cpu=001
""",  # noqa: E501
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_many_lines_at_once(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [
        (918470501000, 1, EventKind.SWITCH, 54, 55, ord("R"), -1),
        (918470502000, 1, EventKind.WAKING, 54, 54, 0, 1),
        (918470503000, 1, EventKind.WAKEUP, 54, 54, 0, 1),
    ]
    alone = [
        event[:7]
        for line in FORMS[form].split("\n")
        if isinstance(event := read_line(line.encode()), SchedulerEvent)
    ]
    assert [row for row in alone if row[2] != EventKind.OTHER] == expected
    slowly: list[bytes] = []

    def read_slowly(line: bytes) -> object:
        slowly.append(line)
        return read_line(line)

    monkeypatch.setattr(blocks, "read_line", read_slowly)
    assert parsed(FORMS[form]) == expected
    assert all(b"PERF_RECORD" in line for line in slowly)


#: Events that C leaves to `line`: they are rare.
RARE = (b"sched_process_", b"sched_migrate_task: pong")


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_c_reads_every_form_as_each_line_is_read_alone() -> None:
    for line in LINES:
        taken, problem = difference(line)
        assert not problem, line
        is_event = isinstance(read_line(line), SchedulerEvent)
        assert taken == (is_event and not any(rare in line for rare in RARE)), line


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@given(data=st.data())
def test_c_takes_no_damaged_line_otherwise_than_it_is_read_alone(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from(LINES))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(line)))
        piece = data.draw(st.one_of(st.sampled_from(PIECES), st.binary(min_size=1, max_size=3)))
        line = line[:place] + piece + line[place + data.draw(st.integers(0, 12)) :]
    assert not difference(line)[1]


def test_states_of_raw_text_are_letters() -> None:
    """Numbers as include/trace/events/sched.h prints them: 0 and 256 are R, of several bits the highest."""
    line = FORMS["report -R"].splitlines()[0]
    for number, letter in (
        (0, "R"),
        (1, "S"),
        (2, "D"),
        (16, "X"),
        (32, "Z"),
        (128, "I"),
        (256, "R"),
        (130, "I"),
    ):
        text = line.replace("prev_state=256", f"prev_state={number}")
        event = read_line(text.encode())
        assert isinstance(event, SchedulerEvent)
        assert (chr(event.state), chr(parsed(text)[0][5])) == (letter, letter)


def test_events_that_perf_lost_are_told() -> None:
    text = FORMS["script"] + "pong 2    54 [001]   918.470504: PERF_RECORD_LOST lost 536\n" + FORMS["script"]
    (mark,) = parse_by_all(text.encode()).lost
    assert (mark.cpu, mark.events, mark.after_ns, mark.before_ns) == (1, 536, 918470503000, 918470501000)


def test_threads_without_names_are_read() -> None:
    """`perf script -F tid,cpu,time,event,trace`, where nothing stands before a long number."""
    lines = [line[17:].strip() for line in FORMS["script"].splitlines()]
    assert [row[2:5] for row in parsed("\n".join(lines))] == [
        (EventKind.SWITCH, 54, 55),
        (EventKind.WAKING, 54, 54),
        (EventKind.WAKEUP, 54, 54),
    ]


@pytest.mark.parametrize("head", ["", "# nop latency trace v1.1.5 on 6.18\n"])
def test_lines_of_other_options_are_refused_with_a_reason(head: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(
        head + "  ping-1-5423      1d..2. 363982us : sched_stat_runtime: comm=ping-1 pid=5423\n" * 5
    )
    with pytest.raises(Refusal, match="latency-format"):
        read_recording(path)


HOSTILE = [
    "a==>b",
    "x prev_pid=1",
    "x-1 [000] ",
    "-7",
    "[000] 1:",
    " pid=3",
    "\x1b[31mred",
    "a\nb",
    "==> next_comm=",
    "日本語",
    "x=y=z",
    "12 34",
    "a:sched_switch:",
]


@pytest.mark.parametrize("comm", HOSTILE)
def test_names_of_anything(comm: str) -> None:
    """A name decides nothing: thread, core, time and state are the same under every name."""
    text = (
        f"{comm:>16}-4242    [003] d..2.   918.470501: sched_switch: prev_comm={comm} prev_pid=4242 "
        f"prev_prio=120 prev_state=S ==> next_comm={comm} next_pid=4243 next_prio=120\n"
        f"{comm:>16}-4243    [003] d..2.   918.470502: sched_waking: comm={comm} pid=4242 prio=120 "
        "target_cpu=003\n"
    )
    found = parse_by_all(text.encode())
    switch, waking = rows_of(found.columns)
    short = parse_by_all(
        f"{comm:>16}-4242 [003] 918.470501: sched_switch:   {comm}:4242 [120] S ==> {comm}:4243 [120]\n"
        f"{comm:>16}-4243 [003] 918.470502: sched_waking:   {comm}:4242 [120] CPU:003\n".encode()
    )
    assert rows_of(short.columns) == [switch, waking]
    assert switch == (918470501000, 3, EventKind.SWITCH, 4242, 4243, ord("S"), -1)
    assert waking == (918470502000, 3, EventKind.WAKING, 4242, 4243, 0, 3)
    assert not found.skipped


def test_lines_that_cannot_be_read_are_counted() -> None:
    bad = [
        # of another locale, cut, nothing at all, and of a thread, a core or a time that cannot be
        "            bash-11537   [001] d..2.   918,470501: sched_switch: prev_comm=a prev_pid=1",
        "            bash-11537   [001] d..2.   918.470501: sched_switch: prev_comm=a prev_pid=1 prev_prio=1",
        "nonsense",
        " bash-11537   [70000] d..2.   918.470501: sched_waking: comm=a pid=1 prio=1 target_cpu=001",
        " bash-11537 [001] d..2. 9918470501.470501: sched_waking: comm=a pid=1 prio=1 target_cpu=001",
        "CPU:70000 [LOST 4 EVENTS]",
        "            bash-11537   [001] d..2.   918.470501: sched_switch: prev_comm=a prev_pid=99999999 "
        "prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120",
        *(
            f" bash-11537 [001] d..2. 918.470501: sched_process_fork: comm=a pid={pid} child_comm=b "
            f"child_pid={child}"
            for pid, child in ((1, MOST_PIDS), (MOST_PIDS, 1))
        ),
    ]
    other = "            bash-11537   [001] d..2.   918.470501: sys_enter: NR 1 (0)"
    found = parse_by_all("\n".join([HEAD + PLAIN, *bad, other, "", "CPU 0 is empty", ""]).encode())
    assert found.skipped == len(bad)
    assert rows_of(found.columns) == ROWS


def test_blocks_and_lines_agree(tmp_path: Path) -> None:
    """What is read thousands of lines at once is what is read of each alone, wherever the file is cut."""
    text = (HEAD + (WITH_PROCESS + PLAIN + "\n" + NO_FLAGS + "\n") * 7).encode()
    alone = [event[:7] for line in text.split(b"\n") if isinstance(event := read_line(line), SchedulerEvent)]
    expected = [row for row in alone if row[2] != EventKind.OTHER]
    assert rows_of(parse_by_all(text).columns) == expected
    path = tmp_path / "trace.txt"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "BLOCK", 1000)
        found = recording.read_text(path)
    assert sorted(rows_of(found.columns)) == sorted(expected)
    assert (np.diff(found.columns.time) >= 0).all()
    assert found.reordered > 0


def switch(time: str, cpu: int, left: str, got: str) -> str:
    (one, pid), (other, next_pid) = left.split(":"), got.split(":")
    return (
        f"{one:>16}-{pid:<7} [{cpu:03d}] d..2. {time}: sched_switch: prev_comm={one} prev_pid={pid} "
        f"prev_prio=120 prev_state=S ==> next_comm={other} next_pid={next_pid} next_prio=120\n"
    )


@pytest.mark.parametrize("block", [1 << 20, 100])
@pytest.mark.parametrize("sentence", ["CPU:3 [LOST 1234 EVENTS]\n", "CPU:3 [1234 EVENTS DROPPED]\n"])
def test_lost_events_last_from_one_of_the_core_to_the_next(
    tmp_path: Path, sentence: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BLOCK", block)
    text = switch("5.000001", 3, "a:1", "b:2") + switch("5.000002", 4, "c:3", "d:4") + sentence
    text += switch("5.000003", 4, "d:4", "c:3") + switch("5.000009", 3, "a:1", "b:2")
    path = tmp_path / "trace.txt"
    path.write_text(text)
    found = recording.read_text(path)
    assert found.losses == (LostStretch(3, 5_000_001_000, 5_000_009_000, 1234),)
    assert found.lost == 1234


def test_overwritten_events_are_lost_at_the_beginning_of_each_core(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    head = "# entries-in-buffer/entries-written: 2/1002   #P:4\n"
    path.write_text(head + switch("5.000001", 3, "a:1", "b:2") + switch("5.000002", 4, "c:3", "d:4"))
    found = recording.read_text(path)
    assert found.lost == found.overwritten == 1000
    assert found.losses == (LostStretch(3, -1, 5_000_001_000, 0), LostStretch(4, -1, 5_000_002_000, 0))


def test_names_change_with_time(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    turns = [
        ("1.000000", "bash:7"),
        ("2.000000", "sleep:7"),
        ("3.000000", "bash:7"),
        ("4.000000", "a" * 15 + ":7"),
    ]
    path.write_text("".join(switch(time, 0, "x:1", got) for time, got in turns))
    names = recording.read_text(path).names
    at = [names.at(7, int(second * 10**9)) for second in (0.5, 1.5, 2.5, 3.5, 9)]
    assert at == ["bash", "bash", "sleep", "bash", "a" * 15]


def test_packed_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt.gz"
    path.write_bytes(gzip.compress((HEAD + PLAIN).encode()))
    assert rows_of(read_recording(path).columns) == ROWS
    assert not read_recording(path).problems


@pytest.mark.parametrize("damage", [lambda packed: packed[:-20], lambda packed: packed[:-8] + bytes(8)])
def test_packed_text_is_read_up_to_where_it_is_cut_or_damaged(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    lines = [switch(f"5.{number:06d}", number * 7 % 5, f"a:{number + 1}", "b:2") for number in range(20_000)]
    path = tmp_path / "trace.txt.gz"
    path.write_bytes(damage(gzip.compress("".join(lines).encode())))
    found = read_recording(path)
    assert found.problems == ("The recording of the scheduler is cut or damaged, and read up to there",)
    assert 15_000 < len(found.columns.time) <= 20_000
    assert found.columns.pid.tolist() == list(range(1, len(found.columns.time) + 1))


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"hello\nworld\n", b"\x17\x08\x44tracing6"])
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.dat"
    path.write_bytes(content)
    with pytest.raises(Refusal):
        read_recording(path)


def test_progress_can_stop_the_reading(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert 0 <= done <= total
        raise KeyboardInterrupt

    path = tmp_path / "trace.txt"
    path.write_text(HEAD + PLAIN)
    with pytest.raises(KeyboardInterrupt):
        read_recording(path, stop)


# -- the database of MindStudio Insight -------------------------------------------------------------------


def insight(path: Path) -> Path:
    """A database as trace_convert.py makes it: a thread leaves core 1 twice, and is woken once.

    What two others do last is not over, and has no slice.
    """
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE thread (track_id INTEGER PRIMARY KEY, tid TEXT, pid TEXT)")
        database.execute(
            "CREATE TABLE slice (id INTEGER PRIMARY KEY, timestamp INTEGER, duration INTEGER, name TEXT, "
            "depth INTEGER, track_id INTEGER, cat TEXT, args TEXT, end_time INTEGER)"
        )
        threads = [(1, "CPU 001", "CPU Scheduling"), (2, "python:7", "Process Scheduling")]
        threads.append((3, "CPU 8192", "CPU Scheduling"))  # Linux has none
        threads += [(4, "loader:8", "Process Scheduling"), (5, "writer:9", "Process Scheduling")]
        threads.append((6, "reader:10", "Process Scheduling"))
        database.executemany("INSERT INTO thread (track_id, tid, pid) VALUES (?, ?, ?)", threads)
        epoch = 1_700_000_000_000_000_000
        slices = [
            (0, 5_000, "python:7", 1, {"end_state": "R"}),
            (5_000, 3_000, "loader:8", 1, {"end_state": "S"}),
            (8_000, 2_000, "python:7", 1, {"end_state": "S"}),
            (9_000, 500, "irq", 1, {"irq": "42"}),
            (14_000, 2_000, "Runnable", 2, {}),
            (16_000, 1_000, "python:7", 1, {"end_state": "unknown"}),
            (16_000, 0, "sched_switch", 1, {}),
            (16_500, 500, "python:7", 3, {"end_state": "R"}),
            (8_000, 10_000, "Sleeping", 4, {"cpu": "001"}),
            (5_000, 3_000, "Running", 4, {"cpu": "001"}),  # the last in the file, not in time
            (18_500, 500, "Runnable", 5, {"cpu": "001"}),
            (18_500, 500, "Sleeping", 6, {"cpu": "9" * 5_000}),  # more digits than Python takes
        ]
        rows = [(epoch + at, dur, name, track, json.dumps(args)) for at, dur, name, track, args in slices]
        database.executemany(
            "INSERT INTO slice (timestamp, duration, name, track_id, args) VALUES (?, ?, ?, ?, ?)", rows
        )
    return path


def test_database_of_insight(tmp_path: Path) -> None:
    found = read_recording(insight(tmp_path / "ftrace_data.db"))
    epoch = 1_700_000_000_000_000_000
    assert found.aligned
    assert not found.skipped
    assert [(row[0] - epoch, *row[1:]) for row in rows_of(found.columns)] == [
        (0, 1, EventKind.SWITCH, -1, 7, ord("R"), -1),
        (5_000, 1, EventKind.SWITCH, 7, 8, ord("R"), -1),
        (8_000, 1, EventKind.SWITCH, 8, 7, ord("S"), -1),
        (9_000, 1, EventKind.IRQ_ENTRY, -1, -1, 0, -1),
        (9_500, 1, EventKind.IRQ_EXIT, -1, -1, 0, -1),
        (10_000, 1, EventKind.SWITCH, 7, -1, ord("S"), -1),
        (14_000, 0, EventKind.WAKEUP, 7, -1, 0, -1),
        (16_000, 1, EventKind.SWITCH, -1, 7, ord("R"), -1),
        (17_000, 1, EventKind.SWITCH, 7, -1, ord("?"), -1),
        (18_000, 1, EventKind.SWITCH, -1, 8, ord("R"), -1),  # woken: whether it has a core is not told
        (18_000, 1, EventKind.SWITCH, 8, -1, ord("?"), -1),
        (18_500, 0, EventKind.WAKEUP, 9, -1, 0, -1),
        (19_000, 1, EventKind.SWITCH, -1, 9, ord("R"), -1),  # and runs until the recording ends
    ]
    assert found.names.last(8) == "loader"


# -- what lies beside -------------------------------------------------------------------------------------


def test_the_profilers_clock_is_found(tmp_path: Path) -> None:
    trace = tmp_path / "rank_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    host = tmp_path / "rank_ascend_pt" / "PROF_1" / "host"
    host.mkdir(parents=True)
    assert profiler_clock(trace) is None
    (host / "start_info").write_text(
        '{"collectionTimeBegin": "1692340024324979", "clockMonotonicRaw": "56579931060630"}'
    )
    clock = profiler_clock(trace)
    assert clock is not None
    assert clock.offset_ns == 1692340024324979000 - 56579931060630
    assert clock.drift_ppm is None
    (host / "end_info").write_text(
        '{"collectionTimeEnd": "1692340082430569", "clockMonotonicRaw": "56638036649460"}'
    )
    clock = profiler_clock(trace)
    assert clock is not None
    assert clock.drift_ppm == pytest.approx(1170 / 58105588830 * 1e6)


def test_the_profilers_clock_of_a_device(real_traces: Path) -> None:
    device = next((real_traces / "mindspore").glob("PROF_*")) / "device_0"
    clock = profiler_clock(device / "timeline" / "trace.json")
    assert clock is not None
    assert clock.offset_ns == 1692340024324979000 - 56579931060630
    assert clock.drift_ppm == pytest.approx(0.02, abs=0.001)


def test_numbers_of_a_container(tmp_path: Path) -> None:
    trace = tmp_path / "trace_view.json"
    assert pid_mapping(trace) is None
    namespaces = {
        "123": {"NSpid": "1001", "name": "python", "Tgid": "120", "PPid": "1"},
        "456": {"NSpid": "7\t1002", "Tgid": "456"},
        "789": {"NSpid": "9"},
        "790": {"NSpid": "9"},
        "x": 1,
    }
    (tmp_path / "pid_mapping.json").write_text(json.dumps(namespaces))
    mapping = pid_mapping(trace)
    assert mapping is not None
    assert mapping.host == {1001: 123, 1002: 456}
    assert mapping.processes == {123: 120, 456: 456}
    assert mapping.ambiguous == 1


#: As lscpu of util-linux prints it: plain, in Chinese, in French, as JSON, as tables.
LSCPU = {
    "plain": "CPU(s):   6\nNUMA node(s):   2\nNUMA node0 CPU(s):   0-2,5\nNUMA node1 CPU(s):   3,4\nL2: 4\n",
    "Chinese": "CPU:   6\nNUMA：\n  NUMA 节点：   2\n  NUMA 节点0 CPU：   0-2,5\n  NUMA 节点1 CPU：   3,4\n",
    "French": "Nœud(s) NUMA : 2\nNœud NUMA 0 de processeur(s) : 0-2,5\nNœud NUMA 1 de processeur(s) : 3,4\n",
    "JSON": """{"lscpu": [{"field": "NUMA:", "data": null, "children": [{
        "field": "NUMA node0 CPU(s):",
        "data": "0-2,5"
    },{"field": "NUMA node1 CPU(s):", "data": "3,4"}]}]}""",
    "-e": "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n"
    + "".join(
        f"  {cpu}    {node}      0    {cpu} 0:0:0:0          yes\n" for cpu, node in enumerate("000110")
    )
    + "  6    -      -    - :::              no\n",
    "-p": "# The following is the parsable format, which can be fed to other\n# CPU,Core,Socket,Node,,L1d\n"
    + "".join(f"{cpu},{cpu},0,{node},,{cpu}\n" for cpu, node in enumerate("000110"))
    + "6,,,,,\n",
    "-p=NODE,CPU": "# Node,CPU\n" + "".join(f"{node},{cpu}\n" for cpu, node in enumerate("000110")),
}


@pytest.mark.parametrize("text", LSCPU.values(), ids=LSCPU.keys())
def test_nodes_of_cores_are_those_that_lscpu_printed(text: str) -> None:
    assert parse_nodes(text) == {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NUMA node0 CPU(s):",
        "NUMA node0 CPU(s): 9999999-99999999,x,-,8192",
        "CPU NODE\n0\nx 1\n1 x\n8192 1\n1 99999999\n",
        "CPU SOCKET\n0 1\n",
    ],
)
def test_what_lscpu_does_not_print_is_no_node(text: str) -> None:
    assert parse_nodes(text) == {}


def test_a_range_of_cores_ends_with_the_greatest_that_there_is() -> None:
    assert len(parse_nodes("NUMA node1 CPU(s): 0-99999")) == MOST_CORES


def test_lscpu_is_looked_for_beside_the_recording_and_then_the_trace(tmp_path: Path) -> None:
    recording, trace = tmp_path / "host" / "trace.txt", tmp_path / "rank" / "out" / "trace_view.json"
    for directory in (recording.parent, trace.parent):
        directory.mkdir(parents=True)
    assert core_nodes(recording, trace) == {}
    (trace.parent / "lscpu.txt").write_text("NUMA node1 CPU(s): 1")
    assert core_nodes(recording, trace) == {1: 1}
    (tmp_path / "lscpu").write_text("NUMA node2 CPU(s): 1")
    assert core_nodes(recording, trace) == {1: 2}
    (recording.parent / "lscpu-e.txt").write_text("CPU NODE\n1 3\n")
    assert core_nodes(recording, trace) == {1: 3}
    (recording.parent / "lscpu-p.txt").write_text("# CPU,Node\n1,3\n")
    assert core_nodes(recording, trace) == {}, "which of two is not plain"
    (recording.parent / "lscpu-e.txt").unlink()
    (recording.parent / "lscpu-p.txt").write_bytes(b" " * (1 << 22) + b"\nNUMA node0 CPU(s): 1")
    assert core_nodes(recording, trace) == {}, "it is no output of lscpu"


def test_a_recording_beside_a_trace_is_found_where_it_is_plain(tmp_path: Path) -> None:
    trace = tmp_path / "trace_view.json"
    assert find_recording(trace) is None
    (tmp_path / "trace.txt").write_text("notes about this trace\n")
    assert find_recording(trace) is None
    insight(tmp_path / "ftrace_data.db")
    assert find_recording(trace) == tmp_path / "ftrace_data.db"
    (tmp_path / "ftrace_1.txt").write_text(HEAD + PLAIN)
    assert find_recording(trace) == tmp_path / "ftrace_1.txt"
    (tmp_path / "ftrace_2.txt").write_text(HEAD + PLAIN)
    assert find_recording(trace) is None
