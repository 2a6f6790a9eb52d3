"""The entry: runs what was asked for, and turns whatever goes wrong into one sentence and an exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import UsageError, parse_arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tracetui with `arguments` (those of the process by default); returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "stdout is closed")
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered must not fail once more when Python exits.
        _drop_stdout()
        return ExitCode.OK
    except Exception as error:
        return _fail(error)


def _run(arguments: Sequence[str]) -> int:
    try:
        request = parse_arguments(arguments)
    except SystemExit as done:  # argparse has printed the help or the version
        return int(done.code or 0)
    for library in ("OPENBLAS", "OMP", "MKL"):  # they would start a thread for each core, and let it spin
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from tracetui.cli.commands import run  # imports numpy and the reader

    return run(request)


def _fail(error: Exception) -> ExitCode:
    if os.environ.get("TRACETUI_DEBUG") == "1":
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
    code, sentence = _verdict(error)
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(f"tracetui: {sentence}\n")
            sys.stderr.flush()
    if isinstance(error, OSError):
        _drop_stdout()
    return code


def _verdict(error: Exception) -> tuple[ExitCode, str]:
    if isinstance(error, UsageError):
        return ExitCode.USAGE, _plain(str(error))
    if isinstance(error, MemoryError):
        return ExitCode.ERROR, "there is not enough memory for this trace"
    if isinstance(error, OSError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return ExitCode.ERROR, _plain(f"{where}{error.strerror or error}")
    from tracetui.reader.errors import UnreadableTrace

    if isinstance(error, UnreadableTrace):
        return ExitCode.UNREADABLE, str(error)
    kind = type(error).__name__
    return ExitCode.ERROR, _plain(f"unexpected {kind}: {error} (TRACETUI_DEBUG=1 shows where)")


def _plain(text: str) -> str:
    """A sentence on one line that no terminal obeys."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _never_fail_to_encode(stream: TextIO | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _drop_stdout() -> None:
    """Let all that is still to be written to stdout vanish."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
