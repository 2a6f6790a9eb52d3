"""A forked program is what Python itself would have started."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.forks import Forked, fork

TOLD = """
import atexit, os, signal, sys
atexit.register(print, "the end")
print(__name__, sys.argv[1:], os.getcwd(), sys.path[0] == os.getcwd(), sorted(os.environ.items()), sys.flags)
print([sys.stdin.read(), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors])
print([os.getpid() == os.getsid(0), *map(signal.getsignal, (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM))])
print(sorted(fd for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd)))
print("warned", file=sys.stderr)
"""
ENDINGS = {
    "itself": "",
    "a status": "sys.exit(3)",
    "a sentence": "sys.exit('no')",
    "an error": "import json; json.loads('[')",
    "an interrupt": "raise KeyboardInterrupt",
    "a signal": "os.kill(os.getpid(), signal.SIGTERM)",
    "at once": "os._exit(4)",
}
CLOSED = """
import sys
with open("told", "w") as file:
    print([sys.stdout, sys.__stdout__, sys.stderr is None, sys.__stderr__ is None, file.fileno()], file=file)
print("more")
sys.exit("no")
"""


def last_line(text: bytes) -> bytes:
    """Beside it a traceback tells of what started the program, too."""
    return text.splitlines()[-1]


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_runs_and_ends_as_any_other(tmp_path: Path, ending: str) -> None:
    (tmp_path / "told.py").write_text(TOLD + ENDINGS[ending])
    environ, session = {**os.environ, "TOLD": "ü"}, ending == "itself"
    environ["PYTHONUNBUFFERED"] = "1" if ending in ("at once", "a sentence") else ""
    command = [sys.executable, "-m", "told", "an argument", ""]
    started = subprocess.run(
        command,
        cwd=tmp_path,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=session,
    )
    forked = fork("told", *command[3:], cwd=tmp_path, env=environ, start_new_session=session)
    out, err = forked.communicate(timeout=300)
    assert (out, last_line(err)) == (started.stdout, last_line(started.stderr))
    assert forked.returncode == started.returncode


def waiting(directory: Path, stdout: int | IO[bytes] = subprocess.PIPE) -> Forked:
    (directory / "waiting.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    return fork("waiting", cwd=directory, stdout=stdout)


def test_it_is_signalled_and_waited_for(tmp_path: Path) -> None:
    forked = waiting(tmp_path)
    assert forked.stdout is not None
    assert forked.stdout.read(5) == b"here\n"
    assert forked.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        forked.wait(timeout=0)
    forked.send_signal(signal.SIGTERM)
    assert forked.wait(timeout=300) == forked.returncode == forked.poll() == -signal.SIGTERM
    forked.kill()
    assert forked.communicate() == (b"", b"")


def test_what_cannot_be_written_is_found_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text("print('more')")
    with Path("/dev/full").open("wb") as full:
        forked = fork("printing", cwd=tmp_path, stdout=full, env={**os.environ, "PYTHONUNBUFFERED": ""})
        assert b"No space left" in forked.communicate(timeout=300)[1]
    assert forked.returncode == 120


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_what_is_closed_is_not_there(tmp_path: Path, closed: str) -> None:
    (tmp_path / "closed.py").write_text(CLOSED)
    environ = {**os.environ, "PYTHONUNBUFFERED": ""}
    command = f"{shlex.quote(sys.executable)} -m closed {closed}"
    started = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, capture_output=True)
    report = tmp_path / "told"
    expected = report.read_text(), started.returncode, started.stderr
    report.unlink()
    stderr = None if "2" in closed else subprocess.PIPE
    forked = fork("closed", cwd=tmp_path, env=environ, stdout=None, stderr=stderr)
    err = forked.communicate(timeout=300)[1]
    assert (report.read_text(), forked.returncode, err) == expected


def test_a_variable_that_python_reads_as_it_starts_is_heeded(tmp_path: Path) -> None:
    (tmp_path / "flags.py").write_text("import sys; print(sys.flags.dev_mode, sys.stdout.encoding)")
    environ = {**os.environ, "PYTHONDEVMODE": "1", "PYTHONIOENCODING": "latin-1"}
    assert fork("flags", cwd=tmp_path, env=environ).communicate(timeout=300)[0] == b"True iso8859-1\n"
