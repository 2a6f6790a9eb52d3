"""The entry: runs what was asked for, and turns whatever goes wrong into one sentence and an exit status."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence

from tracetui.cli import streams, terminal
from tracetui.cli.command_line import parse_arguments
from tracetui.cli.config import read_settings
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import UsageError
from tracetui.cli.signals import as_cancel
from tracetui.language import set_language


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tracetui with `arguments` (those of the process by default); returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        streams.never_fail_to_encode(stream)
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        streams.flush(sys.stdout)
        return code
    except KeyboardInterrupt:
        return ExitCode.CANCELLED
    except BrokenPipeError:  # The reader has seen enough.
        streams.drop(sys.stdout)
        return ExitCode.OK
    except Exception as error:
        return _fail(error)


def _run(arguments: Sequence[str]) -> int:
    try:
        command, request = parse_arguments(arguments, read_settings(os.environ))
    except SystemExit as done:  # argparse has printed the help, or what else was asked for in its place
        return int(done.code or 0)
    except UsageError:
        _choose_language(_language_in(arguments), "--ascii" in arguments)
        raise
    if sys.stdout is None and command.needs_stdout:
        raise OSError(errno.EBADF, "stdout is closed")
    for library in ("OPENBLAS", "OMP", "MKL"):  # they would start a thread for each core, and let it spin
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    collect_rarely()
    _choose_language(request.language, request.ascii)
    with as_cancel(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if command.has_kept_answer and request.cache:
            from tracetui.cli.kept_answers import run_kept

            return run_kept(command, request)
        return command.run(request) or ExitCode.OK


def collect_rarely() -> None:
    """Have Python look for garbage less often: imports, results and frames hardly make any in cycles.

    At Python's own thresholds that took a tenth of the time to start, and 0.5 to 3 ms of each frame.
    """
    gc.set_threshold(10_000, 10, 10)


def _language_in(arguments: Sequence[str]) -> str | None:
    """Return the language that arguments ask for which cannot be parsed; None where they name none."""
    follows = dict(zip(arguments, arguments[1:]))
    return "zh" if "--lang=zh" in arguments or follows.get("--lang") == "zh" else None


def _choose_language(asked: str | None, in_ascii: bool) -> None:
    """Speak another language than English, where that is asked for and can be shown; English elsewhere."""
    language = asked or terminal.locale_language(os.environ)
    if language != "en" and not in_ascii and terminal.speaks_unicode(sys.stdout):
        from tracetui.export.language import choose_language

        choose_language(language)
    else:  # a command before it in this process may have chosen
        set_language({})


def _fail(error: Exception) -> ExitCode:
    if os.environ.get("TRACETUI_DEBUG") == "1":
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
    code, sentence = _code_and_sentence(error)
    streams.print_line(sentence)
    if isinstance(error, OSError):
        streams.drop(sys.stdout)
    return code


def _code_and_sentence(error: Exception) -> tuple[ExitCode, str]:
    from tracetui.language import restate
    from tracetui.reader.errors import NO_MEMORY, UnreadableTrace, plain

    if isinstance(error, UsageError):
        return ExitCode.USAGE, restate(plain(str(error)))
    if isinstance(error, MemoryError):
        return ExitCode.ERROR, restate(NO_MEMORY)
    if isinstance(error, OSError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return ExitCode.ERROR, plain(f"{where}{error.strerror or error}")
    if isinstance(error, UnreadableTrace):
        return ExitCode.UNREADABLE, restate(str(error))
    kind = type(error).__name__
    return ExitCode.ERROR, plain(f"unexpected {kind}: {error} (TRACETUI_DEBUG=1 shows where)")
