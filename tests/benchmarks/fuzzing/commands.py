"""Run commands on damaged inputs, each in a process of its own, and judge how they end."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tests.benchmarks.fuzzing import odd_databases, subjects
from tests.benchmarks.fuzzing.subjects import Originals
from tracetui.cli import main as tracetui
from tracetui.cli.exit_codes import ExitCode

SUBJECTS = {
    "files": subjects.damaged_file,
    "databases": odd_databases.damaged_database,
    "siblings": subjects.damaged_siblings,
    "digests": subjects.damaged_digests,
    "snapshots": subjects.damaged_snapshot,
}
_SECONDS = 30  #: that a command may take, of which it needs some tenths
_MEMORY = 3 << 30  #: bytes that it may ask for beyond those of the process that forks
_IMPORTED = ("pandas", "tracetui.api", "tracetui.cli.entry", "tracetui.job.job")


def fuzz_commands(names: Sequence[str], chooser: random.Random, seconds: float, keep: Path) -> int:
    """Damage inputs of these kinds in turn; return 1 if a command ended as it must not, else 0."""
    for module in (*_IMPORTED, *(f"tracetui.cli.commands.{path}" for path in _command_modules())):
        import_module(module)
    until = time.monotonic() + seconds
    inputs: Counter[str] = Counter()
    ends: dict[str, Counter[str]] = {name: Counter() for name in names}
    failures = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as directory:
        home = Path(directory)
        os.environ.update(XDG_CACHE_HOME=str(home / "cache"), COLUMNS="100")
        os.environ.pop("XDG_CONFIG_HOME", None)
        (home / "originals").mkdir()
        originals = Originals(home / "originals")
        gc.freeze()
        while time.monotonic() < until:
            name = names[sum(inputs.values()) % len(names)]
            damaged = home / "damaged"
            damaged.mkdir()
            seed = chooser.randrange(1 << 32)
            commands = SUBJECTS[name](random.Random(seed), originals, damaged)
            inputs[name] += 1
            for command in commands:
                end, complaint = run(command, home)
                ends[name][end] += 1
                if complaint:
                    failures += 1
                    kept = _keep(damaged, keep / f"{name}-{seed}")
                    print(
                        f"\n{name} {seed}: {' '.join(command)}: {end}; input in {kept}\n{complaint}",
                        flush=True,
                    )
            shutil.rmtree(damaged)
    for name in names:
        counts = ", ".join(f"{end} {count:,}" for end, count in sorted(ends[name].items()))
        print(f"{name}: {inputs[name]:,} inputs, {sum(ends[name].values()):,} commands: {counts}")
    print(f"{failures:,} commands ended as they must not")
    return int(failures > 0)


def run(command: Sequence[str], home: Path) -> tuple[str, str]:
    """Run one command in a fork; return how it ended, and what is wrong with that ("" where nothing is)."""
    outputs = home / "stdout", home / "stderr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy's threads: they survive a fork
        pid = os.fork()
    if not pid:
        _become(command, outputs)
    until = time.monotonic() + _SECONDS
    ended, status = os.waitpid(pid, os.WNOHANG)
    while not ended:
        time.sleep(0.002)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
        ended, status = os.waitpid(pid, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    stdout, stderr = (path.read_bytes() for path in outputs)
    if code == -signal.SIGKILL:
        return "hang", f"it did not end within {_SECONDS} s\n{_tail(stderr)}"
    if code < 0:
        return f"signal {-code}", _tail(stderr)
    complaint = _complaint(command, code, stdout, stderr)
    if b"unexpected " in stderr and os.environ.get("TRACETUI_DEBUG") != "1":
        os.environ["TRACETUI_DEBUG"] = "1"
        complaint = run(command, home)[1]
        del os.environ["TRACETUI_DEBUG"]
    return str(code), complaint


def _complaint(command: Sequence[str], code: int, stdout: bytes, stderr: bytes) -> str:
    if code not in set(ExitCode) or code == ExitCode.CANCELLED:
        return f"status {code}\n{_tail(stderr)}"
    if b"Traceback" in stderr or b"unexpected " in stderr or b"not enough memory" in stderr:
        return _tail(stderr)
    if code in (ExitCode.ERROR, ExitCode.USAGE, ExitCode.UNREADABLE) and not stderr.strip():
        return "it failed without a sentence"
    if any(byte < 32 and byte not in b"\n\t\r" for byte in stdout + stderr):
        return "a control character reached the terminal"
    if "--json" in command and code == ExitCode.OK:
        try:
            json.loads(stdout)
        except ValueError as error:
            return f"its JSON is none: {error}"
    return ""


def _become(command: Sequence[str], outputs: Sequence[Path]) -> None:
    """Run a command in place of this fork, within its limits of time and memory."""
    for descriptor, path in zip((1, 2), outputs):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    faulthandler.dump_traceback_later(_SECONDS - 2)
    code = 70
    try:
        code = int(tracetui(list(command)))
    finally:
        os._exit(code)


def _tail(stderr: bytes) -> str:
    return stderr.decode("utf-8", "replace")[-3000:]


def _keep(damaged: Path, kept: Path) -> Path:
    if not kept.exists():
        shutil.copytree(damaged, kept)
    return kept


def _command_modules() -> list[str]:
    package = Path(__file__).resolve().parents[3] / "tracetui" / "cli" / "commands"
    return sorted(path.stem for path in package.glob("*.py") if path.stem not in ("__init__", "view"))
