"""Real worker processes: they give what one process gives, and nothing of them is left, however it ends."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests import forks
from tests.reader.rows import expected_rows, rows_of
from tests.reader.test_jobs import everything, plain
from tracetui.cli import main
from tracetui.reader import joined, processes, source, worker_pool
from tracetui.reader.source import Progress, TraceFile

pytestmark = pytest.mark.usefixtures("workers")

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"part_bytes": 20_000, "block_bytes": 5000}
TEXT = json.dumps(
    [
        {"ph": "X", "name": f"op {n % 50}", "pid": 1, "tid": n % 3, "ts": f"{n}.250", "dur": 1}
        for n in range(4000)
    ]
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small trace, which is worth workers here."""
    monkeypatch.setattr(source, "SMALLEST", 0)
    path = tmp_path / "trace.json"
    path.write_text(TEXT)
    return path


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = children(), descriptors()
    yield
    assert children() <= before[0]
    assert descriptors() <= before[1], "fewer where garbage of other tests was collected"
    assert not shared()


def children() -> set[int]:
    """The processes that a test has started, dead ones that nobody has asked for included."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found - forks.servers()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - one directory is open while it is listed


def shared() -> list[str]:
    """What this process and those that it has started hold of /dev/shm, where others have files, too."""
    found = []
    for pid in ("self", *children()):
        with contextlib.suppress(OSError):  # it has ended
            found += [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()]
            found += Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [descriptor for descriptor in found if "/dev/shm/" in descriptor]


@pytest.mark.parametrize(("packed", "jobs"), [(False, 3), (True, 2)])
def test_processes_give_what_one_gives(path: Path, packed: bool, jobs: int) -> None:
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    seen = []

    def look(progress: Progress) -> None:
        seen.append(progress.events)
        assert not shared(), "/dev/shm is small in containers"

    with TraceFile(path, jobs=jobs, **SIZES) as trace:
        table = trace.read(look)
        events = [trace.event(number) for number in range(table.report.events)]
    assert rows_of(table) == expected_rows(TEXT)
    assert not table.report.warnings
    assert seen == sorted(seen)
    assert len(seen) >= len(TEXT) // SIZES["part_bytes"]
    assert (plain(table), events) == everything(path, jobs=1, **SIZES)


def test_a_killed_worker_costs_nothing_but_time(path: Path) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if not killed:
            killed.append(children().pop())
            os.kill(killed[0], signal.SIGKILL)

    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read(kill)
    assert rows_of(table) == expected_rows(TEXT)
    warning = "1 of 2 worker processes ended early (killed); its part was read again"
    assert table.report.warnings in ((warning,), ()), "on a busy machine it had done all before"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (None, "2 of 2 worker processes could not be started (No such file or directory)"),
        ("exit 3", "2 of 2 worker processes ended early (exit status 3); their parts were read again"),
        (
            "echo Hello; exec cat >/dev/null",
            "2 of 2 worker processes ended early (it answered nonsense); their parts were read again",
        ),
        ("exec sleep 600 >&-", "2 of 2 worker processes ended early (killed)"),
    ],
)
def test_workers_that_are_none(
    path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, expected: str
) -> None:
    python = path.with_name("python")
    if program is not None:
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    if expected.endswith("(killed)"):
        monkeypatch.setattr("tracetui.reader.processes.GOODBYE", 0.4)
    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(TEXT)
    (warning,) = table.report.warnings
    assert warning.startswith(expected)


@pytest.mark.parametrize(("name", "value"), [("executable", ""), ("executable", None), ("frozen", True)])
def test_a_program_without_an_interpreter_reads_by_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(sys, name, value, raising=False)
    before = children()

    def look(_: Progress) -> None:
        assert children() <= before

    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read(look)
    assert (table.report.events, table.report.warnings) == (4000, ())


def test_workers_without_threads_to_ask_them_cost_no_event(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(TEXT)
    assert table.report.warnings == ("2 of 2 worker processes could not be started (no more threads)",)


def test_no_memory_for_workers_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(worker_pool, "Worker", refuse)
    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read()
    assert table.report.warnings == ("2 of 2 worker processes could not be started (no memory)",)


@pytest.mark.parametrize("packed", [False, True])
def test_workers_that_never_answer_are_given_up(
    path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    python = path.with_name("python")
    python.write_text("#!/bin/sh\nkill -STOP $$\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(processes, "SILENCE", 0.5)
    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read()
    assert rows_of(table) == expected_rows(TEXT)
    (warning,) = table.report.warnings
    assert warning == "2 of 2 worker processes ended early (it did not answer); their parts were read again"


@pytest.mark.parametrize("count", [1, 2])
def test_workers_that_stop_meanwhile_lose_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(processes, "SILENCE", 0.5)
    stopped: list[int] = []

    def halt(_: Progress) -> None:
        if not stopped:
            stopped.extend(list(children())[:count])
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)

    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read(halt)
    assert rows_of(table) == expected_rows(TEXT)


def test_a_reading_can_be_stopped_while_workers_hang(path: Path) -> None:
    in_vain = 0

    def halt(_: Progress) -> None:
        nonlocal in_vain
        in_vain = 0
        for pid in children():
            os.kill(pid, signal.SIGSTOP)

    def stop() -> bool:
        nonlocal in_vain
        in_vain += 1
        return in_vain > 4

    with TraceFile(path, jobs=2, **SIZES) as trace:
        table = trace.read(halt, stop)
    assert table.report.stopped
    assert rows_of(table).slices == expected_rows(TEXT).slices[: table.report.events]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_error_ends_the_workers(path: Path, error: type[BaseException]) -> None:
    def fail(_: Progress) -> None:
        raise error

    with TraceFile(path, jobs=2, **SIZES) as trace, pytest.raises(error):
        trace.read(fail)


def test_exports_are_equal_to_the_byte(
    samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], thorough: bool
) -> None:
    monkeypatch.setattr(source, "SMALLEST", 0)
    path = str(samples / "moba" / "trace_view.json")
    commands = [
        (["export", "--csv", "-", "--window", "0..9ms"], 2, 200_000),
        (["hotspots", "--json"], 3, 77_777),
    ]
    for command, workers, piece in commands if thorough else commands[:1]:
        given = set()
        for jobs, part in ((1, 1 << 23), (workers, piece)):
            monkeypatch.setattr(joined, "TraceFile", partial(TraceFile, part_bytes=part))
            assert main([*command, path, "--no-cache", "--jobs", str(jobs)]) == 0
            given.add(capsys.readouterr().out)
        assert len(given) == 1


READER = """
import sys
sys.path.insert(0, sys.argv[1])
from tracetui.reader import processes, source
source.SMALLEST, source.COMPILED, processes.SILENCE = 0, False, 300.0
with source.TraceFile(sys.argv[2], jobs=2, part_bytes=20_000) as trace:
    table = trace.read({})
print(table.report.events, *table.report.warnings, source.__file__)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_they_work_for(path: Path, ending: signal.Signals) -> None:
    program = READER.format("lambda _: print(end='.', flush=True) or __import__('time').sleep(600)")
    reader = subprocess.Popen(
        [sys.executable, "-c", program, str(ROOT), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.read(1) == b"."
    workers = Path(f"/proc/{reader.pid}/task/{reader.pid}/children").read_text().split()
    assert len(workers) == 2
    if ending is signal.SIGINT:
        os.killpg(reader.pid, ending)  # as a terminal does
    else:
        reader.kill()
    _, err = reader.communicate(timeout=300)
    assert err.count(b"Traceback") == (ending is signal.SIGINT), "only what this program does with it"
    deadline = time.monotonic() + 300
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: str) -> bool:
    """Whether a process is still there, and not a dead one that init has to ask for."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_workers_run_the_same_package_wherever_it_is(path: Path) -> None:
    archive = path.with_name("app.pyz")
    with zipfile.ZipFile(archive, "w") as packed:
        package = ROOT / "tracetui"
        for module in (*package.glob("*.py"), *(package / "reader").rglob("*.py")):
            packed.write(module, module.relative_to(ROOT))
    done = subprocess.run(
        [sys.executable, "-c", READER.format(""), str(archive), str(path)],
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4000", f"{archive}/tracetui/reader/source.py"], done.stderr
