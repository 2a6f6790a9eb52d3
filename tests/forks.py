"""Programs in processes of their own that need not import anew what others have imported.

A server imports the heavy modules once and forks for each program, which then runs as `python -m` would run
it: with its own arguments, environment, directory, descriptors, session, and end of the interpreter. Nine
tenths of the time of a short command are the start of Python and its imports. What the tests that fork ask
for (signals, pipes, terminals, exit statuses, what is written) comes after that and is the same in either
process (`tests/test_forks.py`). What is imported, and when, is not: tests of that start Python itself, and so
do some of every kind, which show that the command starts at all.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
#: Variables that Python or a module reads as it starts: one server for each of their values.
_STARTING = ("PYTHON", "LANG", "LC_", "TEXTUAL", "DASK")
_LONGEST = 1 << 20  #: bytes of a request


class Forked:
    """A process of a server's: what `subprocess.Popen` is, as far as tests need it."""

    def __init__(self, server: _Server, pid: int, stdout: IO[bytes] | None, stderr: IO[bytes] | None) -> None:
        self._server = server
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._server.ask({"poll": self.pid})["code"]
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + (timeout or 0)
        pause = 0.001
        while self.poll() is None:
            if timeout is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked program", timeout)
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, as long as the process has not been waited for."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read stdout and stderr, where they are open pipes, to their ends, and wait."""
        read: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        with selectors.DefaultSelector() as selector:
            for name, file in (("stdout", self.stdout), ("stderr", self.stderr)):
                if file is not None and not file.closed:
                    selector.register(file, selectors.EVENT_READ, name)
            while selector.get_map():
                ready = selector.select(timeout)
                if not ready:
                    raise subprocess.TimeoutExpired("a forked program", timeout or 0)
                for key, _ in ready:
                    piece = os.read(key.fd, 1 << 16)
                    read[key.data].append(piece)
                    if not piece:
                        selector.unregister(key.fileobj)
        for file in (self.stdout, self.stderr):
            if file is not None:
                file.close()
        self.wait(timeout)
        return b"".join(read["stdout"]), b"".join(read["stderr"])


def fork(
    module: str,
    *arguments: str,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.PIPE,
    stderr: int | IO[bytes] | None = subprocess.PIPE,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    start_new_session: bool = False,
    imports: Sequence[str] = (),
) -> Forked:
    """Run a module as `python -m` would, in a fork of a process that has imported `imports`.

    What is None for `stdout` or `stderr` is closed, as `>&-` has it in a shell.
    """
    environ = dict(os.environ if env is None else env)
    starting = tuple(sorted(item for item in environ.items() if item[0].startswith(_STARTING)))
    if starting not in _servers:
        _servers[starting] = _Server(dict(starting))
    server = _servers[starting]
    with contextlib.ExitStack() as opened:
        child_ends, ours = [], []
        for given, mode in ((stdin, os.O_RDONLY), (stdout, os.O_WRONLY), (stderr, os.O_WRONLY)):
            pipe = None
            if given is None or given == subprocess.DEVNULL:
                descriptor = os.open(os.devnull, mode)
                opened.callback(os.close, descriptor)
            elif given == subprocess.PIPE:
                assert mode == os.O_WRONLY
                end, descriptor = os.pipe()
                opened.callback(os.close, descriptor)
                pipe = os.fdopen(end, "rb")
            else:
                descriptor = given if isinstance(given, int) else given.fileno()
            child_ends.append(descriptor)
            ours.append(pipe)
        request = {
            "module": module,
            "arguments": arguments,
            "environ": environ,
            "cwd": str(Path(cwd or "").absolute()),
            "session": start_new_session,
            "closed": [place for place, given in enumerate((stdin, stdout, stderr)) if given is None],
            "imports": list(imports),
        }
        return Forked(server, server.ask(request, child_ends)["pid"], *ours[1:])


class _Server:
    """The side of a server that asks."""

    def __init__(self, starting: Mapping[str, str]) -> None:
        ours, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_STARTING)}
        with child_end:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).resolve()), str(child_end.fileno())],
                env={**environ, **starting},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[child_end.fileno()],
                start_new_session=True,
            )
        self._socket = ours

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._socket.close()
        self._process.wait()

    def ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        socket.send_fds(self._socket, [json.dumps(request).encode()], list(descriptors))
        answer = self._socket.recv(_LONGEST)
        assert answer, "the server has ended"
        fields: dict[str, Any] = json.loads(answer)
        return fields


_servers: dict[tuple[tuple[str, str], ...], _Server] = {}


def servers() -> set[int]:
    """The processes that fork for this one: children of it that no test has started."""
    return {server.pid for server in _servers.values()}


def close() -> None:
    """End all servers; whatever still runs is nobody's then."""
    while _servers:
        _servers.popitem()[1].close()


# -- the server --------------------------------------------------------------------------------------------


def _serve(asked: socket.socket) -> dict[str, Any] | None:
    """Answer until nobody asks any more; in each fork, return what it is to run."""
    sys.path[0] = str(ROOT)
    while True:
        data, descriptors, _, _ = socket.recv_fds(asked, _LONGEST, 3)
        if not data:
            return None
        request: dict[str, Any] = json.loads(data)
        if "poll" in request:
            pid, status = os.waitpid(request["poll"], os.WNOHANG)
            answer = {"code": os.waitstatus_to_exitcode(status) if pid else None}
        else:
            for module in request["imports"]:
                import_module(module)
            gc.freeze()  # garbage collection would have each fork copy all pages
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # numpy's threads: they survive a fork
                pid = os.fork()
            if not pid:
                asked.close()
                _become(request, descriptors)
                return request
            answer = {"pid": pid}
        for descriptor in descriptors:
            os.close(descriptor)
        asked.send(json.dumps(answer).encode())


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Have a fork be as a new process is once Python has started."""
    if request["session"]:
        os.setsid()
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, place)
    for descriptor in descriptors:
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.path[0] = request["cwd"]
    sys.argv = [request["module"], *request["arguments"]]
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        if place in request["closed"]:
            os.close(place)
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
            continue
        unbuffered = bool(place) and before.write_through  # PYTHONUNBUFFERED
        binary = open(place, "wb" if place else "rb", 0 if unbuffered else -1, closefd=False)  # noqa: SIM115
        file = io.TextIOWrapper(
            binary,
            before.encoding,
            before.errors,
            line_buffering=place == 2 or binary.isatty(),
            write_through=unbuffered,
        )
        setattr(sys, name, file)
        setattr(sys, f"__{name}__", file)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _asked:
        _request = _serve(_asked)
    if _request is not None:
        runpy.run_module(_request["module"], run_name="__main__", alter_sys=True)
