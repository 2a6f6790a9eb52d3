"""What is planted in the scheduler of each rank of a job is found there, in every form of both recordings."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

import tracetui
from simulator.job.directory import write_rank
from simulator.scheduler import OFFSET, SimulatedScheduler
from simulator.truth import Truth
from tests.job.planted import truth
from tracetui.analysis.scheduler.clock import SchedulerClock
from tracetui.analysis.scheduler.scheduler import UNKNOWN_TASK

LEVEL = 1
KERNEL_THREAD = ("kworker/3:1", 77)  # that the simulator plants
LINE = re.compile(r".*\[(\d+)\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)")
SWITCH = re.compile(
    r"prev_comm=.* prev_pid=\d+ prev_prio=\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) "
)


def write_insight(text: str, path: Path) -> None:
    """Write the database that MindStudio Insight's trace_convert.py makes of a text of tracefs."""
    threads: dict[int, tuple[str, str]] = {}
    slices: list[tuple[int, int, str, int, str]] = []
    runs: dict[int, tuple[int, str, int]] = {}  # from when which thread has a core
    began: dict[tuple[str, int], int] = {}  # interrupts by core, and threads that are woken
    for match in filter(None, map(LINE.match, text.splitlines())):
        core, now = int(match[1]), int(match[2]) * 10**9 + int(match[3]) * 1000 + OFFSET
        event, fields = match[4], match[5]
        threads[core] = (f"CPU {core:03d}", "CPU Scheduling")
        if event == "sched_switch":
            switch = SWITCH.match(fields)
            assert switch is not None
            start, comm, pid = runs.get(core, (now, "", 0))
            if pid and pid != KERNEL_THREAD[1]:
                slices.append(
                    (start, now - start, f"{comm}:{pid}", core, json.dumps({"end_state": switch[1]}))
                )
            pid = int(switch[3])
            runs[core] = now, switch[2], pid
            if pid:
                threads[1000 + pid] = (f"{switch[2]}:{pid}", "Process Scheduling")
            if ("woken", pid) in began:
                start = began.pop(("woken", pid))
                slices.append((start, now - start, "Runnable", 1000 + pid, "{}"))
        elif event == "sched_waking":
            began["woken", int(re.findall(r" pid=(\d+) ", fields)[0])] = now
        elif event == "irq_handler_entry":
            began["irq", core] = now
        elif event == "irq_handler_exit":
            start = began.pop(("irq", core))
            slices.append((start, now - start, "irq", core, "{}"))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE thread (track_id INTEGER PRIMARY KEY, tid TEXT, pid TEXT)")
        database.executemany(
            "INSERT INTO thread VALUES (?, ?, ?)", [(key, *names) for key, names in threads.items()]
        )
        database.execute(
            "CREATE TABLE slice (id INTEGER PRIMARY KEY, timestamp INTEGER, duration INTEGER, name TEXT, "
            "track_id INTEGER, args TEXT)"
        )
        columns = "timestamp, duration, name, track_id, args"
        database.executemany(f"INSERT INTO slice ({columns}) VALUES (?, ?, ?, ?, ?)", slices)


@pytest.mark.parametrize("in_database", [False, True])
@pytest.mark.parametrize("by_insight", [False, True])
def test_causes_and_culprits_of_every_rank_are_those_planted(
    in_database: bool, by_insight: bool, tmp_path: Path
) -> None:
    outcome = truth("loader").outcome
    found_causes = set()
    (tmp_path / "sched").mkdir()
    for rank in outcome.job.present:
        scheduler = SimulatedScheduler(outcome.recordings[rank], rank + 1, with_process=True)
        write_rank(outcome, rank, tmp_path / "job", LEVEL, in_database)
        if by_insight:
            write_insight(scheduler.text(), tmp_path / "sched" / f"rank{rank}.db")
        else:
            (tmp_path / "sched" / f"rank{rank}.txt").write_text(scheduler.text())
    suffix = ".db" if in_database else ".json"
    for path in (tmp_path / "job").rglob(f"*{suffix}"):
        if not path.name.startswith(("trace_view", "ascend_pytorch")):
            continue
        offset = None if by_insight else OFFSET
        analysis = tracetui.load(path, cache=False, sched=tmp_path / "sched", sched_offset=offset)
        assert analysis.scheduler is not None and analysis.scheduler_summary is not None
        assert analysis.scheduler.clock == SchedulerClock("converted" if by_insight else "given", offset or 0)
        rank = int(re.findall(r"rank(\d+)", analysis.scheduler.events.path)[0])
        scheduler = SimulatedScheduler(outcome.recordings[rank], rank + 1, with_process=True)
        causes: Counter[str] = Counter()
        culprits: Counter[object] = Counter()
        for start, end, cause, culprit in scheduler.causes(Truth(outcome.recordings[rank], LEVEL).as_json()):
            causes[cause] += end - start
            if cause == "host.preempted":
                # The converter leaves kernel threads out: who had the core is not known then.
                hidden = by_insight and culprit == KERNEL_THREAD
                culprits[(UNKNOWN_TASK, None) if hidden else culprit] += end - start
        assert {cause.label: ns for cause, ns in analysis.causes.by_cause().items()} == causes
        found = {
            (told.task.comm, told.task.pid): told.idle_ns for told in analysis.scheduler_summary.culprits
        }
        assert found == culprits
        found_causes |= {cause for cause in causes if cause.startswith("host.")}
    assert found_causes >= {"host.preempted", "host.interrupted", "host.disk", "host.blocked"}
