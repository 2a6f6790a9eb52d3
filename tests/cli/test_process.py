"""What only a process of its own shows: imports, pipes that close, signals."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.forks import Forked, fork
from tracetui.cli import main

ROOT = Path(__file__).resolve().parents[2]
SLOW = {"numpy", "orjson", "pandas", "rich", "textual"}


#: what tables import, which takes most of the time of a command
TABLES = (
    "pandas",
    "tracetui.api",
    "tracetui.cli.run",
    "tracetui.export.report",
    "tracetui.export.tables_csv",
)


def command(
    *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE, stderr: int | IO[bytes] = subprocess.PIPE
) -> Forked:
    """Run tracetui in a fork of a process that has imported its modules."""
    environ = {**os.environ, "TERM": "xterm"}
    return fork("tracetui", *arguments, stdout=stdout, stderr=stderr, env=environ, imports=TABLES)


def start(
    *arguments: str,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    **variables: str,
) -> subprocess.Popen[bytes]:
    """Run a Python of its own."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environ = {**os.environ, "PYTHONPATH": paths, "TERM": "xterm", **variables}
    program = [sys.executable, *arguments]
    return subprocess.Popen(program, env=environ, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)


def shell(line: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, timeout=300)


def loaded_by(*programs: str) -> list[set[str]]:
    """The third parties that are imported after each of several programs, run by one process in turn."""
    tell = f"import sys; print(*{SLOW!r} & sys.modules.keys(), file=sys.stderr)"
    process = start("-c", "\n".join(f"{program}\n{tell}" for program in programs))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()
    return [set(line.split()) for line in err.decode().splitlines()]


def calling(*arguments: str) -> str:
    """A program that runs tracetui."""
    return f"from tracetui.cli import main; main({arguments!r})"


def test_help_imports_nothing_slow() -> None:
    helped = (["--help"], ["--version"], ["check", "--help"])
    assert loaded_by(*(calling(*arguments) for arguments in helped)) == [set()] * 3


def test_tables_need_no_terminal_libraries_and_pandas_only_for_csv(trace_path: str) -> None:
    printed = (
        ("summary", trace_path),
        ("gaps", trace_path, "--json"),
        ("hotspots", trace_path, "--md"),
        ("check", trace_path, "--max-free", "100%"),
    )
    found = loaded_by(*(calling(*arguments) for arguments in (*printed, ("gaps", trace_path, "--csv", "-"))))
    assert found[:-1] == [{"numpy", "orjson"}] * 4
    assert found[-1] == {"numpy", "orjson", "pandas"}


def test_the_viewer_starts_without_pandas() -> None:
    (loaded,) = loaded_by("import tracetui.ui.app")
    assert "pandas" not in loaded


def test_scripts_import_what_they_use(trace_path: str) -> None:
    assert loaded_by(
        "import tracetui; dir(tracetui); tracetui.__version__",
        f"import tracetui; tracetui.load({trace_path!r})",
        "from tracetui import load, gaps_frame",
    ) == [set(), {"numpy", "orjson"}, {"numpy", "orjson", "pandas"}]


@pytest.mark.parametrize(
    "arguments", [["gaps", "--top", "0"], ["export", "--csv", "-"], ["summary", "--json"]]
)
def test_a_pipe_that_closes_is_no_error(trace_path: str, arguments: list[str]) -> None:
    process = command(arguments[0], trace_path, *arguments[1:])
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")


#: a limit that the trace passes
LIMIT = ("--max-free", "0.001%")


@pytest.mark.parametrize("form", [[], ["--json"], ["--each-step"]])
def test_the_status_of_a_check_is_known_without_a_reader(trace_path: str, form: list[str]) -> None:
    process = command("check", trace_path, *LIMIT, *form)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (4, b"")


def test_the_status_of_a_check_is_known_without_stdout(trace_path: str) -> None:
    check = shlex.join([sys.executable, "-m", "tracetui", "check", trace_path])
    done = shell(f"{check} {' '.join(LIMIT)} >&-")
    assert (done.returncode, done.stderr) == (4, b"")
    assert shell(f"{check} --max-free 100% >&- 2>&-").returncode == 0
    piped = shell(f"{check} {' '.join(LIMIT)} --each-step | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert (piped.returncode, piped.stderr, piped.stdout.count(b"\n")) == (4, b"", 1)


def test_a_closed_stdout_is_one_sentence(trace_path: str) -> None:
    gaps = shlex.join([sys.executable, "-m", "tracetui", "gaps", trace_path])
    done = shell(f"{gaps} >&-")
    assert (done.returncode, done.stderr) == (1, b"tracetui: stdout is closed\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["summary"], 0),
        (["gaps", "--csv", "-"], 0),
        (["gaps", "--csv", "table.csv"], 0),  # and a row count
        (["check", *LIMIT], 4),
        (["gaps", "--step", "99"], 2),
    ],
)
def test_a_warning_that_cannot_be_written_changes_nothing(
    trace_path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    arguments: list[str],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.json").write_bytes(Path(trace_path).read_bytes()[:-100])
    called = [arguments[0], "cut.json", *arguments[1:]]
    assert main(called) == code
    heard = capsysbinary.readouterr()
    assert b"tracetui: " in heard.err
    tables = taken(tmp_path)
    with Path("/dev/full").open("wb") as full:
        unheard = command(*called, stderr=full)
        assert (unheard.communicate(timeout=300)[0], unheard.returncode) == (heard.out, code)
    assert taken(tmp_path) == tables


def taken(directory: Path) -> list[bytes]:
    """The tables in a directory, out of it: none is written over another."""
    paths = list(directory.glob("*.csv"))
    tables = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    return tables


def test_a_full_disk_is_one_sentence(trace_path: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = command("gaps", trace_path, "--json", stdout=full)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err == b"tracetui: No space left on device\n"


#: a disk that hangs as soon as the events are read
HANGING = """
import pathlib, threading, time
from tracetui.reader import text
pread = text._pread
def hanging(fd, length, offset):
    if threading.current_thread() is not threading.main_thread():
        pathlib.Path({!r}).touch()
        time.sleep(600)
    return pread(fd, length, offset)
text._pread = hanging
"""


def test_ctrl_c_while_reading(trace_path: str, tmp_path: Path) -> None:
    reads = tmp_path / "reads"
    (tmp_path / "sitecustomize.py").write_text(HANGING.format(str(reads)))
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    process = start("-m", "tracetui", "summary", trace_path, "--no-cache", PYTHONPATH=path)
    end = time.monotonic() + 300
    while not reads.exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, b"", b"")
