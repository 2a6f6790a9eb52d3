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
SLOW = {"numpy", "orjson", "pandas", "rich", "textual", "xlsxwriter"}


#: what tables import, which takes most of the time of a command
TABLES = (
    "pandas",
    "tracetui.api",
    "tracetui.cli.entry",
    "tracetui.export.trace.summary",
    "tracetui.export.csv_table",
)


def command(
    *arguments: str,
    stdout: int | IO[bytes] | None = subprocess.PIPE,
    stderr: int | IO[bytes] | None = subprocess.PIPE,
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


def calling(*arguments: str) -> str:
    """A program that runs tracetui."""
    return f"from tracetui.cli import main; main({arguments!r})"


TELLING = f"""
import os, sys
def tell():
    print(*{SLOW!r} & sys.modules.keys(), file=sys.stderr, flush=True)
"""
#: imports the viewer where nothing slow is imported yet, and nothing that comes after finds it imported
VIEWER = """
if not os.fork():
    import tracetui.ui.app
    tell()
    os._exit(0)
os.wait()
"""


@pytest.fixture(scope="module")
def loaded(trace_path: str) -> dict[str, set[str]]:
    """The third parties that are imported after each of several programs, run by one process in turn."""
    programs = {
        "help": calling("--help"),
        "version": calling("--version"),
        "help of a command": calling("check", "--help"),
        "package": "import tracetui; dir(tracetui); tracetui.__version__",
        "viewer": VIEWER,
        "beside the viewer": "",
        "script": f"tracetui.load({trace_path!r})",
        "summary": calling("summary", trace_path),
        "gaps": calling("gaps", trace_path, "--json"),
        "hotspots": calling("hotspots", trace_path, "--md"),
        "check": calling("check", trace_path, "--max-free", "100%"),
        "compare": calling("compare", trace_path, trace_path, "--csv", "-"),
        "frame": "from tracetui import load, gaps_frame",
        "csv": calling("gaps", trace_path, "--csv", "-"),
    }
    scripts = [program if name == "viewer" else f"{program}\ntell()" for name, program in programs.items()]
    process = start("-c", "\n".join([TELLING, *scripts]))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err.decode()
    lines = err.decode().splitlines()
    assert len(lines) == len(programs), err.decode()
    return {name: set(line.split()) for name, line in zip(programs, lines)}


def test_help_imports_nothing_slow(loaded: dict[str, set[str]]) -> None:
    assert not loaded["help"] | loaded["version"] | loaded["help of a command"]


def test_help_and_version_import_few_of_the_standard_modules() -> None:
    large = {"ast", "dataclasses", "inspect", "platform", "subprocess", "tempfile"}  #: 5 to 10 ms each
    told = f"import sys; print(*{large!r} & sys.modules.keys(), file=sys.stderr)"
    for option in ("--version", "--help"):
        _, err = start("-c", f"{calling(option)}; {told}").communicate(timeout=300)
        assert err.split() == [], option


def test_tables_need_no_terminal_libraries_and_pandas_only_for_csv(loaded: dict[str, set[str]]) -> None:
    for command in ("summary", "gaps", "hotspots", "check"):
        assert loaded[command] == {"numpy", "orjson"}, command
    assert loaded["csv"] == {"numpy", "orjson", "pandas"}


def test_a_comparison_loads_neither_pandas_nor_the_writer_of_workbooks(loaded: dict[str, set[str]]) -> None:
    assert loaded["compare"] == {"numpy", "orjson"}


def test_the_viewer_starts_without_pandas(loaded: dict[str, set[str]]) -> None:
    assert "textual" in loaded["viewer"] and "pandas" not in loaded["viewer"]


def test_scripts_import_what_they_use(loaded: dict[str, set[str]]) -> None:
    assert not loaded["package"] | loaded["beside the viewer"]
    assert loaded["script"] == {"numpy", "orjson"}
    assert loaded["frame"] == {"numpy", "orjson", "pandas"}


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
    for limit, code in ((LIMIT, 4), (("--max-free", "100%"), 0)):
        process = command("check", trace_path, *limit, stdout=None)
        _, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (code, b"")
    process = command("check", trace_path, "--max-free", "100%", stdout=None, stderr=None)
    assert process.wait(timeout=300) == 0


def test_the_status_of_a_check_is_known_where_one_line_is_read(trace_path: str) -> None:
    process = command("check", trace_path, *LIMIT, "--each-step")
    assert process.stdout is not None
    head = subprocess.run(["head", "-n", "1"], stdin=process.stdout, stdout=subprocess.PIPE, timeout=300)
    process.stdout.close()
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err, head.stdout.count(b"\n")) == (4, b"", 1)


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


ENDING = """
import atexit, sys
import tracetui.cli
class Imported:
    def __del__(self):
        print("taken apart", flush=True)
imported = Imported()
def main():
    atexit.register(print, "kept", flush=True)
    return int(sys.argv[1])
tracetui.cli.main = main
tracetui.cli.run()
"""


@pytest.mark.parametrize(("status", "end"), [(0, b"kept\n"), (3, b"kept\ntaken apart\n")])
def test_what_went_well_ends_at_once(status: int, end: bytes) -> None:
    """What is to be kept is kept, and nothing taken apart for nobody."""
    process = start("-c", ENDING, str(status))
    assert process.communicate(timeout=60)[0] == end
    assert process.returncode == status


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
