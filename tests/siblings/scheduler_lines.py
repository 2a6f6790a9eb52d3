"""Lines of recordings of the scheduler, and how what C reads of one differs from what is read by itself."""

from __future__ import annotations

from tracetui.siblings.scheduler.blocks import scan
from tracetui.siblings.scheduler.line import SchedulerEvent, read_line
from tracetui.siblings.scheduler.parsed import Parsed, ReadLines

_HEADS = (
    b"            bash-11537   (  11537) [001] d..2.   918.470501: ",
    b"     swapper/1-0       (-------) [001] dN.2.   918.470501: ",
    b"          my app 1-12      [000] .....  1918.470501: ",
    b"          my app 1-12      [000] d.h4.   918.470501: ",
    b"          my app 1-12      (  11537) [000] d.Z2   918.470501: ",
    b"          pong 2-54 [001]   918.470501: ",
    b"          pong 2-54 [001]   918.470501123: (+1)     ",
    b"          pong 2    54 [001]   918.470501:          8843                     sched:",
    b"          pong 2    11/54 [001]   918.470501:   sched:",
    b"          pong 2    54 [001]   918.470501: ",
)
_EVENTS = (
    b"sched_switch: prev_comm=bash prev_pid=11537 prev_prio=120 prev_state=R+ ==> next_comm=a-b next_pid=7 "
    b"next_prio=120",
    b"sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=-1 prev_state=130 next_comm=x [1] next_pid=7 "
    b"next_prio=120",
    b"sched_switch:         pong 2:54 [120] R ==> we:ird:7:55 [-1]",
    b"sched_waking: comm=rcu_preempt pid=15 prio=120 target_cpu=001",
    b"sched_wakeup: comm=rcu_preempt pid=15 prio=120 success=1 target_cpu=001",
    b"sched_wakeup_new:     pong 2:54 [120] success=1 CPU:001",
    b"sched_wakeup: pong 2:54 [120] CPU:001",
    b"sched_migrate_task: comm=tokio-rt-worker pid=70 prio=110 orig_cpu=0 dest_cpu=1",
    b"sched_migrate_task: pong 2:54 [120] 0 ==> 1",
    b"irq_handler_entry: irq=42 name=virtio3-tx",
    b"softirq_exit: vec=9 [action=RCU]",
    b"softirq_raise: vec=9 [action=RCU]",
    b"sched_process_fork: comm=bash pid=11537 child_comm=bash child_pid=11542",
    b"sched_process_exec: filename=/usr/bin/sleep pid=11542 old_pid=11542",
    b"sys_enter: NR 1 (0)",
)
_OTHERS = (
    b"# entries-in-buffer/entries-written: 9/9   #P:2",
    b"CPU:3 [LOST 1234 EVENTS]",
    b"pong 2    54 [001]   918.470504: PERF_RECORD_LOST lost 536",
    b"pong 2    54 [001]   918.470503: PERF_RECORD_FORK(6453:6453):(6404:6404)",
    b"\tffffffff813aa9c4 try_to_wake_up+0x3a4 ([kernel.kallsyms])",
    b"",
)
#: Of every form in which an event is written, and of what stands between them.
LINES = tuple(head + event for head in _HEADS for event in _EVENTS) + _OTHERS


#: What damages a line where it means something.
PIECES = (
    *(b" ", b"  ", b"-", b"=", b":", b"[", b"]", b"(", b")", b"/", b"+", b".", b"\t", b"\r", b"\n", b"\0"),
    *(b"0", b"7", b"120", b"4194304", b"99999999", b"123456789", b"1234567890"),
    *(b" ==> ", b"comm=", b"prev_comm=", b" prev_pid=", b" next_pid=7", b" pid=3", b" prio=", b"success=1"),
    *(
        b"[000]",
        b"[003] 1.000001: ",
        b"sched:",
        b"sched_switch: ",
        b"sched_waking: ",
        b"CPU:1",
        b"R+",
        b"\xe6",
    ),
)


def recorded_names(read: ReadLines | Parsed) -> set[tuple[int, bytes]]:
    """Return the names of threads in a block, each with its thread."""
    names = {
        (pid, (first.to_bytes(8, "little") + second.to_bytes(8, "little")).rstrip(b"\0"))
        for comms in read.comms
        for pid, first, second in zip(comms.pid.tolist(), comms.first.tolist(), comms.second.tolist())
    }
    if isinstance(read, Parsed):
        names |= {(pid, name) for _, pid, name in read.odd_names}
    return {(pid, name) for pid, name in names if pid}


def difference(text: bytes) -> tuple[bool, str]:
    """Return whether C takes all lines of a text, and how it then differs from `read_line`: "" if not."""
    found = [_difference(line) for line in text.split(b"\n")]
    return all(taken for taken, _ in found), next(filter(None, (problem for _, problem in found)), "")


def _difference(line: bytes) -> tuple[bool, str]:
    read = scan(line)
    if not line:
        return False, ""
    row = tuple(int(column[0]) for column in read.columns)
    if row[2] < 0:
        return False, ""
    event = read_line(line.rstrip(b"\r"))
    if not isinstance(event, SchedulerEvent):
        return True, f"{row}, which is no event"
    found: tuple[object, ...] = row, recorded_names(read), read.processes
    names = {(pid, name.rstrip(b"\0")) for pid, name in event.names if pid}
    expected = event[: len(row)], names, {event.thread: event.process} if event.process >= 0 else {}
    return True, "" if found == expected else f"{found}, and by itself {expected}"
