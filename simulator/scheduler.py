"""What the scheduler did during a simulated run, written as the kernel writes it, and what follows from that.

Threads of the run sleep where they have nothing to do. Into the time between two of their calls misfortunes
are planted: another thread takes their core, an interrupt, a disk, a lock. Looks only at the recording, so a
thread calls and returns only while it has a core.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simulator.intervals import union
from simulator.recording import Recording

#: ns: on this clock the kernel writes; the trace is so much ahead of it.
OFFSET = 1_736_000_000_000_000_000
_LEAST, _MARGIN = 12_000, 3_000  # ns: of a stretch between two calls that something is planted in
_SLEEP = 40_000  # ns: a thread without anything to do for so long sleeps
_SHARE = 0.5  # of the stretches something happens in
_TICK = 1_000  # ns: texts tell whole microseconds
_STRANGER = ("kworker/3:1", 77)
_OTHER_CORE = 20


class Planted(NamedTuple):
    """A stretch in which a thread did not run."""

    tid: int
    start: int  #: ns, on the clock of the trace
    end: int
    state: str  #: "preempted", "interrupted", "disk", "blocked", or "asleep" with nothing to do
    culprit: tuple[str, int] | None  #: name and number of who had its core


@dataclass
class SimulatedScheduler:
    """The scheduler of a run: `planted` is the truth, `text` what the kernel writes of it."""

    recording: Recording
    seed: int = 1
    digits: int = 6  #: of the fraction of a second
    with_process: bool = False  #: as with the option record-tgid
    first_core: int = 4  #: that of the main thread; each other thread has the next one
    planted: list[Planted] = field(default_factory=list)
    _events: list[tuple[int, int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Plant misfortunes in every thread, and note the events of all cores."""
        recording = self.recording
        chance = random.Random(self.seed)
        threads = (recording.main_tid, recording.dequeue_tid, recording.autograd_tid)
        self._names = dict(zip(threads, ("python3", "acl_thread", "pt_autograd_0")))
        self._loader = ("python3 (loader)"[:15], recording.main_tid + 11)
        self._names.update([_STRANGER[::-1], self._loader[::-1]])
        begin = recording.start - 1_000_000
        for core, tid in enumerate(threads, self.first_core):
            spans = _spans(recording, tid)
            stretches = sorted(self._sleeps(tid, spans) + self._misfortunes(tid, spans, chance))
            self.planted += stretches
            self._write(tid, core, begin, stretches)
        self._events.append(
            (recording.end + 1_000_000, 30, 0, "sched_wakeup: comm=end pid=9 prio=120 target_cpu=030")
        )
        self._events.sort(key=lambda event: event[0])

    def _sleeps(self, tid: int, spans: list[tuple[int, int]]) -> list[Planted]:
        busy = union(spans)
        gaps = [(one[1], other[0]) for one, other in zip(busy, busy[1:])]
        return [
            Planted(tid, *_ticks(start, end), "asleep", None) for start, end in gaps if end - start > _SLEEP
        ]

    def _misfortunes(self, tid: int, spans: list[tuple[int, int]], chance: random.Random) -> list[Planted]:
        edges = sorted({at for span in spans for at in span})
        busy = union(spans)
        inside = [
            (one, other)
            for one, other in zip(edges, edges[1:])
            if other - one >= _LEAST and any(start <= one and other <= end for start, end in busy)
        ]
        found = []
        for one, other in inside:
            if chance.random() < _SHARE:
                state = chance.choice(
                    ("preempted", "preempted", "preempted", "interrupted", "disk", "blocked")
                )
                culprit = chance.choice((_STRANGER, self._loader)) if state == "preempted" else None
                found.append(Planted(tid, *_ticks(one, other), state, culprit))
        return found

    # -- what the kernel writes -----------------------------------------------------------------------

    def _write(self, tid: int, core: int, begin: int, stretches: list[Planted]) -> None:
        self._switch(begin, core, 0, "R", tid)
        for stretch in stretches:
            start, end = stretch.start, stretch.end
            if stretch.state == "interrupted":
                self._note(start, core, tid, "irq_handler_entry: irq=42 name=eth0")
                self._note(end, core, tid, "irq_handler_exit: irq=42 ret=handled")
            elif stretch.culprit is not None:
                self._switch(start, core, tid, "R", stretch.culprit[1])
                self._switch(end, core, stretch.culprit[1], "S", tid)
            else:
                self._switch(start, core, tid, "D" if stretch.state == "disk" else "S", 0)
                waker, target = self.recording.main_tid, f"target_cpu={core:03d}"
                woken = f"comm={self._names[tid]} pid={tid} prio=120 {target}"
                self._note(end, _OTHER_CORE, waker, f"sched_waking: {woken}")
                self._note(end, core, 0, f"sched_wakeup: {woken}")
                self._switch(end, core, 0, "R", tid)

    def _switch(self, time: int, core: int, left: int, state: str, got: int) -> None:
        one, other = self._name(left, core), self._name(got, core)
        text = (
            f"sched_switch: prev_comm={one} prev_pid={left} prev_prio=120 prev_state={state} ==> "
            f"next_comm={other} next_pid={got} next_prio=120"
        )
        self._note(time, core, left, text)

    def _note(self, time: int, core: int, pid: int, text: str) -> None:
        self._events.append((time, core, pid, text))

    def _name(self, pid: int, core: int) -> str:
        return self._names.get(pid, f"swapper/{core}" if not pid else "end")

    def text(self) -> str:
        """Return the text of tracefs."""
        return text_of_host([self])

    def lines(self) -> list[tuple[int, str]]:
        """Return the events, each with its time in ns, by time."""
        return [(event[0], self._line(*event)) for event in self._events]

    def _line(self, time: int, core: int, pid: int, text: str) -> str:
        seconds, remainder = divmod(time - OFFSET, 10**9)
        fraction = f"{remainder:09d}"[: self.digits]
        process = ""
        if self.with_process:
            of_process = pid in self._names and pid != _STRANGER[1]
            process = f"({self.recording.main_tid if of_process else pid:>7}) "
        task = f"{self._name(pid, core):>16}-{pid:<7}"
        return f"{task} {process}[{core:03d}] d..2. {seconds:5d}.{fraction}: {text}"

    # -- what follows from it -------------------------------------------------------------------------

    def causes(self, truth: dict[str, Any]) -> list[tuple[int, int, str, tuple[str, int] | None]]:
        """Return the idle time of `Truth` as (start, end, cause, culprit) with what is planted in it."""
        found: list[tuple[int, int, str, tuple[str, int] | None]] = []
        of_thread: dict[int, list[Planted]] = {}
        for stretch in self.planted:
            of_thread.setdefault(stretch.tid, []).append(stretch)
        for interval in truth["idle"]:
            for piece in interval["pieces"]:
                at, end, cause = piece["start_ns"], piece["start_ns"] + piece["dur_ns"], piece["cause"]
                for stretch in of_thread.get(piece["thread"], ()) if piece["thread"] else ():
                    first, last = max(at, stretch.start), min(end, stretch.end)
                    planted = _cause(cause, stretch.state)
                    if first < last and planted != cause:
                        found.append((at, first, cause, None))
                        found.append((first, last, planted, stretch.culprit))
                        at = last
                found.append((at, end, cause, None))
        return [part for part in found if part[0] < part[1]]


def text_of_host(schedulers: Sequence[SimulatedScheduler]) -> str:
    """Return the text of tracefs on a host of several runs, which have cores of their own."""
    events = sorted(
        (line for scheduler in schedulers for line in scheduler.lines()), key=lambda line: line[0]
    )
    count = len(events)
    lines = ["# tracer: nop", "#", f"# entries-in-buffer/entries-written: {count}/{count}   #P:32", "#"]
    return "\n".join([*lines, *(text for _, text in events), ""])


def _cause(cause: str, state: str) -> str:
    """Return why a device was idle while the thread to blame was in a state."""
    waits = ("host.sync", "host.dataloader", "host.communication", "host.unrecorded", "queue.wakeup")
    if state in ("preempted", "interrupted", "disk"):
        return f"host.{state}"
    return cause if cause in waits else "host.blocked"


def _spans(recording: Recording, tid: int) -> list[tuple[int, int]]:
    """Return all calls of a thread."""
    lists: tuple[list[Any], ...] = (recording.operators, recording.calls, recording.enqueues)
    lists += (recording.dequeues, recording.apis, recording.collections)
    return [(item.start, item.end) for items in lists for item in items if item.tid == tid]


def _ticks(start: int, end: int) -> tuple[int, int]:
    """Return what is well inside a stretch, in whole microseconds of the kernel's clock."""
    first = (start + _MARGIN - OFFSET + _TICK - 1) // _TICK * _TICK + OFFSET
    return first, (end - _MARGIN - OFFSET) // _TICK * _TICK + OFFSET
