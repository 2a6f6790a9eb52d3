"""Runs of this machine that its own kernel records, with a trace made of what the program says it did."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.synthetic import flow, piece, process

EVENTS = (
    *(f"sched/sched_{name}" for name in ("switch", "waking", "wakeup", "wakeup_new", "migrate_task")),
    *(f"irq/{name}" for name in ("irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit")),
)
OFFSET = 1_736_000_000_000_000_000  #: ns: so much is the trace ahead of the kernel's clock
_CANN, _HARDWARE = (4242 << 10 | sort << 5 for sort in (7, 14))

#: Computes, reads a disk and waits for a lock in turns, on the core and with the file that it is given, and
#: launches something after each; prints (name, start, end) in ns of the kernel's clock.
PROGRAM = """
import json, os, sys, threading, time
core, path, turns = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
file = os.open(path, os.O_RDONLY)
lock, asked, taken, calls = threading.Lock(), threading.Event(), threading.Event(), []

def hold():
    while True:
        asked.wait()
        with lock:
            asked.clear()
            taken.set()
            time.sleep(0.003)

def compute():
    until = time.monotonic() + 0.006
    while time.monotonic() < until:
        pass

def read():
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    for place in range(24):
        os.pread(file, 4096, place * 100_003)

def wait():
    taken.clear()
    asked.set()
    taken.wait()
    with lock:
        pass

threading.Thread(target=hold, daemon=True).start()
os.sched_setaffinity(threading.get_native_id(), {core})
print(flush=True)
sys.stdin.readline()
for _ in range(turns):
    for name, work in ("aten::compute", compute), ("aten::read", read), ("aten::wait", wait):
        start = now()
        work()
        end = now()
        calls += (name, start, end), ("aten::launch", end + 100, now() + 200)
print(json.dumps({"tid": threading.get_native_id(), "calls": calls}), flush=True)
sys.stdin.readline()
"""
BUSY = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"


class RecordedRun(NamedTuple):
    """What the program did, and what the kernel says of it."""

    tid: int  #: of its thread, as it sees that
    host_pid: int  #: the same, as the kernel has it
    competitor: int  #: another process on its core
    calls: list[tuple[str, int, int]]
    text: str  #: of tracefs
    mapping: dict[str, dict[str, str]]  #: pid_mapping.json


@contextlib.contextmanager
def kernel_records() -> Iterator[Path]:
    """An instance of tracefs that records the scheduler; skips where there can be none."""
    with tempfile.TemporaryDirectory(prefix="tracefs-") as mount:
        if (
            os.geteuid()
            or subprocess.run(["mount", "-t", "tracefs", "none", mount], capture_output=True).returncode
        ):
            pytest.skip("tracefs cannot be mounted here")
        instance = Path(mount) / "instances" / f"tracetui{os.getpid()}"
        try:
            try:
                instance.mkdir()
                (instance / "buffer_size_kb").write_text("16384")
                (instance / "trace_clock").write_text("mono_raw")
                for event in EVENTS:
                    (instance / "events" / event / "enable").write_text("1")
                (instance / "options" / "record-tgid").write_text("1")
            except OSError as error:
                pytest.skip(f"tracefs cannot record here: {error}")
            yield instance
        finally:
            with contextlib.suppress(OSError):
                instance.rmdir()
            subprocess.run(["umount", mount], capture_output=True, check=False)


def record_run(directory: Path, in_container: bool) -> RecordedRun:
    """Run the program beside another one on its core, if asked for with numbers of its own for processes."""
    core = str(min(os.sched_getaffinity(0)))
    data = directory / "data"
    data.write_bytes(os.urandom(3_000_000))
    inside = ["unshare", "-p", "-f", "--mount-proc"] if in_container else []
    if in_container and subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("processes cannot have numbers of their own here")
    command = [*inside, sys.executable, "-c", PROGRAM, core, str(data), "8"]
    pipe = subprocess.PIPE
    with (
        kernel_records() as instance,
        subprocess.Popen([sys.executable, "-c", BUSY, core], stdout=pipe, text=True) as competitor,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as program,
    ):
        assert competitor.stdout is not None and program.stdin is not None and program.stdout is not None
        competitor.stdout.readline()  # it is at work
        program.stdout.readline()
        program.stdin.write("begin\n")
        program.stdin.flush()
        said = json.loads(program.stdout.readline())
        (instance / "tracing_on").write_text("0")
        host_pid = program.pid
        if in_container:
            host_pid = int(Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text())
        mapping = {task.name: _numbers(task) for task in Path(f"/proc/{host_pid}/task").iterdir()}
        competitor.kill()
        program.communicate("end\n")
        text = (instance / "trace").read_text(errors="replace")
    calls = [(name, start, end) for name, start, end in said["calls"]]
    return RecordedRun(said["tid"], host_pid, competitor.pid, calls, text, mapping)


def _numbers(task: Path) -> dict[str, str]:
    lines = (line.partition(":\t") for line in (task / "status").read_text().splitlines())
    fields = {key: value for key, _, value in lines}
    return {"NSpid": fields["NSpid"].split()[-1], "Tgid": fields["Tgid"]}


def trace_events(run: RecordedRun) -> list[dict[str, Any]]:
    """Return the events of trace_view.json: a short task of the device begins soon after each launch."""
    events = [*process(1, "Python", "CPU", 1), *process(_CANN, "CANN", "CPU", 7)]
    events += process(_HARDWARE, "Ascend Hardware", "NPU 0", 14)
    for number, (name, start, end) in enumerate(run.calls, 1):
        events.append(piece(1, run.tid, name, _us(start + OFFSET), _us(end - start), "cpu_op"))
        if name == "aten::launch":
            at, task = _us(start + OFFSET + 50), _us(end + OFFSET + 1000)
            typed = {"Task Type": "AI_CORE"}
            events += [
                piece(_CANN, run.tid, "Node@launch", at, "0.010", connection_id=number),
                piece(_HARDWARE, 2, "Add", task, "20.000", connection_id=number, **typed),
                flow("s", "HostToDevice", number << 32, _CANN, run.tid, at),
                flow("f", "HostToDevice", number << 32, _HARDWARE, 2, task),
            ]
    return events


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


_LINE = re.compile(r".*-(\d+) +\(.{7}\) \[(\d+)\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)")


SLEEPING = ("disk", "blocked")


def states_by_definition(text: str, pid: int) -> list[tuple[int, int, str]]:
    """Return what a thread did, (start, end, state) in ns of the kernel's clock, one line after the other."""
    state, since, core = "", 0, -1
    depth: dict[int, int] = defaultdict(int)  # of interrupts, by core
    found = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        _, cpu, seconds, fraction, event, fields = match.groups()
        now, before, cpu_number = int(seconds) * 10**9 + int(fraction) * 1000, state, int(cpu)
        if event == "sched_switch":
            left, _, got = fields.partition(" ==> ")
            if f"prev_pid={pid} " in left:
                letter = left.rpartition("prev_state=")[2][0]
                state = {"R": "preempted", "D": "disk"}.get(letter, "blocked")
            elif f"next_pid={pid} " in got:
                state, core = "running", cpu_number
        elif event in ("sched_waking", "sched_wakeup") and f" pid={pid} " in fields and state in SLEEPING:
            state = "preempted"
        elif event.startswith(("irq_handler", "softirq")) and not event.endswith("raise"):
            depth[cpu_number] = max(depth[cpu_number] + (1 if event.endswith("entry") else -1), 0)
        if state in ("running", "interrupted"):
            state = "interrupted" if depth[core] else "running"
        if state != before:
            found.append((since, now, before))
            since = now
    return [*found, (since, now, state)]
