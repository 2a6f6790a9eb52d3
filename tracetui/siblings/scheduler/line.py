"""One line of a recording of the scheduler, read with care: what `blocks` does not take goes here.

The name of a thread is up to 15 bytes of anything: spaces, dashes, brackets, `==>`, escapes, `prev_pid=1`. So
its number is what follows the last dash before the core, and the fields of an event are found from both ends.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tracetui.siblings.scheduler.events import LATEST, MOST_CORES, MOST_PIDS, NAMES, NO_PID, EventKind

#: What stands together in every event, and is found before a name is looked for.
_CORE_AND_TIME = re.compile(rb"\[\d{1,5}\]\s+(?:[^\s\d]\S{2,8}\s+)?\d{1,10}\.\d{6,9}:\s")
_HEADER = re.compile(
    rb"\s*(?P<comm>.*?)"  # then a dash; a space where perf writes it
    rb"(?:-(?P<pid>\d{1,8})|(?:^|\s)(?:(?P<process>\d{1,8})/)?(?P<tid>\d{1,8}))\s+"
    rb"(?:\(\s*(?P<tgid>\d{1,8}|-+)\)\s+)?"
    rb"\[(?P<cpu>\d{1,5})\]\s+"
    rb"(?:(?P<flags>[^\s\d]\S{2,8})\s+)?"
    rb"(?P<seconds>\d{1,10})\.(?P<fraction>\d{9}|\d{6}):\s+"
    rb"(?:(?:\(\+?\d*\)|\d+)\s+)?"  # time since the event before, or how many events perf counted
    rb"(?:[a-z]+:)?(?P<event>[A-Za-z_]\w*):(?P<args>.*)",
    re.DOTALL,
)
_SWITCH = (
    re.compile(
        rb"\s*prev_comm=(?P<prev_comm>.*) prev_pid=(?P<prev_pid>\d{1,8}) prev_prio=-?\d+"
        rb" prev_state=(?P<state>[A-Za-z0-9]\S*)(?: ==>)? next_comm=(?P<next_comm>.*)"
        rb" next_pid=(?P<next_pid>\d{1,8}) next_prio=-?\d+",
        re.DOTALL,
    ),
    re.compile(
        rb"\s*(?P<prev_comm>.*):(?P<prev_pid>\d{1,8}) \[-?\d+\] (?P<state>[A-Za-z0-9]\S*) ==>"
        rb" (?P<next_comm>.*):(?P<next_pid>\d{1,8}) \[-?\d+\]",
        re.DOTALL,
    ),
)
_WAKE = (
    re.compile(
        rb"\s*comm=(?P<comm>.*) pid=(?P<pid>\d{1,8})(?: prio=-?\d+)?(?: success=\d)?"
        rb"(?: (?:target_cpu=|CPU:)(?P<target>\d{1,5}))?\s*$",
        re.DOTALL,
    ),
    re.compile(
        rb"\s*(?P<comm>.*):(?P<pid>\d{1,8}) \[-?\d+\](?: success=\d)?(?: CPU:(?P<target>\d{1,5}))?", re.DOTALL
    ),
)
_MIGRATE = (
    re.compile(
        rb"\s*(?:comm=(?P<comm>.*) )?pid=(?P<pid>\d{1,8})(?: prio=-?\d+)? orig_cpu=\d+"
        rb" dest_cpu=(?P<target>\d{1,5})",
        re.DOTALL,
    ),
    re.compile(
        rb"\s*(?P<comm>.*):(?P<pid>\d{1,8}) \[-?\d+\] (?:orig_cpu=)?\d+"
        rb" (?:==>|dest_cpu=) ?(?P<target>\d{1,5})",
        re.DOTALL,
    ),
)
_FORK = (
    re.compile(
        rb"\s*(?:parent_)?comm=(?P<comm>.*) (?:parent_)?pid=(?P<pid>\d{1,8})"
        rb" child_comm=.* child_pid=(?P<child>\d{1,8})",
        re.DOTALL,
    ),
    re.compile(rb"\s*(?P<comm>.*):(?P<pid>\d{1,8}) child_comm=.* child_pid=(?P<child>\d{1,8})", re.DOTALL),
)
_WAKES = (EventKind.WAKING, EventKind.WAKEUP, EventKind.WAKEUP_NEW)
#: Third of the flags before a time: what an interrupt does, the thread that has the core does not.
INTERRUPTS = b"hsHZz"
#: The bits of a state that is written as a number, as include/trace/events/sched.h has them; none: R.
STATE_BITS = ((1, "S"), (2, "D"), (4, "T"), (8, "t"), (16, "X"), (32, "Z"), (64, "P"), (128, "I"))
_EXEC = re.compile(rb".*\bpid=(?P<pid>\d{1,8})", re.DOTALL)
_NUMBER = re.compile(rb"\s*(?:irq|vec)=(?P<number>\d{1,8})")
_LOST = re.compile(rb"\s*CPU:?\s?(?P<cpu>\d{1,5})[: ].*?(?P<count>\d{0,18}) ?EVENTS(?: DROPPED)?\]")
_PERF = re.compile(
    rb".*\[(?P<cpu>\d{1,5})\]\s+\d{1,10}\.(?:\d{9}|\d{6}):\s+PERF_RECORD_"
    rb"(?P<kind>[A-Z_]{1,40})(?: lost (?P<count>\d{1,18}))?",
    re.DOTALL,
)
_ENTRIES = re.compile(rb"#\s*entries-in-buffer/entries-written:\s*(\d{1,18})/(\d{1,18})")
_PREAMBLE = re.compile(rb"\s*(?:cpus ?= ?\d+|version ?= ?.{1,40}|CPU ?\d+ is empty|trace-cmd .*)?\s*$")


class SchedulerEvent(NamedTuple):
    """One event, as its line tells it; the fields are those of `SchedulerColumns`."""

    time: int
    cpu: int
    kind: EventKind
    pid: int
    other: int
    state: int
    target: int
    names: tuple[tuple[int, bytes], ...]  #: threads and what they are called
    thread: int  #: that had the core when it was written
    process: int  #: of that thread; -1 where not recorded


class LostEvents(NamedTuple):
    """A line that says that events of a core are missing here."""

    cpu: int
    events: int  #: 0 where not recorded


class Overwritten(NamedTuple):
    """A line that says how many events the buffer lost at its start."""

    events: int


def is_remark(line: bytes) -> bool:
    """Return whether a line is there for readers, or empty, or of an event of perf itself."""
    if line.lstrip()[:1] in (b"#", b"") or _PREAMBLE.match(line) is not None:
        return True
    perf = _PERF.match(line) if b"PERF_RECORD_" in line else None
    return perf is not None and not perf["kind"].startswith(b"LOST")


def read_line(line: bytes) -> SchedulerEvent | LostEvents | Overwritten | None:
    """Return what a line says; None where it cannot be read, or says nothing (`is_remark`)."""
    match = _HEADER.match(line) if _CORE_AND_TIME.search(line) else None
    if match is None:
        lost = _LOST.match(line)
        if lost is not None and int(lost["cpu"]) < MOST_CORES:
            return LostEvents(int(lost["cpu"]), int(lost["count"] or 0))
        perf = _PERF.match(line) if b"PERF_RECORD_LOST" in line else None
        if perf is not None and int(perf["cpu"]) < MOST_CORES and perf["kind"].startswith(b"LOST"):
            return LostEvents(int(perf["cpu"]), int(perf["count"] or 0))
        entries = _ENTRIES.match(line)
        if entries is not None:
            return Overwritten(max(int(entries[2]) - int(entries[1]), 0))
        return None
    fraction, cpu = match["fraction"], int(match["cpu"])
    time = int(match["seconds"]) * 10**9 + int(fraction) * 10 ** (9 - len(fraction))
    thread = int(match["pid"] or match["tid"])
    process = match["tgid"] or match["process"]
    if cpu >= MOST_CORES or thread >= MOST_PIDS or time >= LATEST:
        return None
    payload = _payload(NAMES.get(match["event"], EventKind.OTHER), match["args"].rstrip(), thread)
    if payload is None:
        return None
    known = int(process) if process is not None and process.isdigit() else NO_PID
    event = SchedulerEvent(time, cpu, *payload, thread, known)
    by_interrupt = match["flags"] is not None and match["flags"][2] in INTERRUPTS
    return event._replace(other=NO_PID) if by_interrupt and event.kind in _WAKES else event


_Payload = tuple[EventKind, int, int, int, int, tuple[tuple[int, bytes], ...]]


def _payload(kind: EventKind, args: bytes, thread: int) -> _Payload | None:
    """Return the columns of what an event says from `kind` on; None where that cannot be read."""
    if kind is EventKind.OTHER:
        return kind, NO_PID, thread, 0, -1, ()
    if kind is EventKind.SWITCH:
        match = _first(_SWITCH, args)
        if match is None:
            return None
        left, got = int(match["prev_pid"]), int(match["next_pid"])
        if max(left, got) >= MOST_PIDS:
            return None
        names = (left, match["prev_comm"]), (got, match["next_comm"])
        return kind, left, got, _state_letter(match["state"]), -1, names
    if kind in (EventKind.IRQ_ENTRY, EventKind.IRQ_EXIT, EventKind.SOFTIRQ_ENTRY, EventKind.SOFTIRQ_EXIT):
        match = _NUMBER.match(args)
        return kind, int(match["number"]) if match else NO_PID, thread, 0, -1, ()
    if kind in (EventKind.EXEC, EventKind.EXIT):
        match = _EXEC.match(args)
        pid = int(match["pid"]) if match else thread
        return (kind, pid, thread, 0, -1, ()) if pid < MOST_PIDS else None
    match = _first({EventKind.MIGRATE: _MIGRATE, EventKind.FORK: _FORK}.get(kind, _WAKE), args)
    if match is None:
        return None
    pid = int(match["pid"])
    if kind is EventKind.FORK:
        child = int(match["child"])
        return (kind, child, pid, 0, -1, ()) if max(pid, child) < MOST_PIDS else None
    target = int(match["target"]) if match["target"] else -1
    if pid >= MOST_PIDS or target >= MOST_CORES:
        return None
    return kind, pid, thread, 0, target, ()


def _state_letter(state: bytes) -> int:
    """Return the letter of a state, which raw text gives as a number."""
    if not state.isdigit():
        return state[0]
    number = int(state[:8])
    return ord(next((letter for bit, letter in STATE_BITS[::-1] if number & bit), "R"))


def _first(patterns: tuple[re.Pattern[bytes], ...], args: bytes) -> re.Match[bytes] | None:
    return next((match for pattern in patterns if (match := pattern.match(args)) is not None), None)
