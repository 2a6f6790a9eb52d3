"""Running a command whose answer follows from the trace, or repeating what it printed for the same question.

What a command prints depends on its arguments, the terminal, the language and the notes of the user, too: all
of that belongs to the question.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tracetui.cache.answers import LARGEST, Output, Question, find_answer, keep_answer, question_of
from tracetui.cache.keeping import run_meanwhile
from tracetui.cli import streams, terminal
from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import Request
from tracetui.notebook.notebook import notes_path
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.locate import locate_trace

_VARIABLES = ("TRACETUI_", "LC_", "LANG")  # how the names of variables of the environment begin


def run_kept(command: Command, request: Request) -> int:
    """Run a command, or write what it wrote before; returns the exit status. Raises as the command does."""
    question = _question(command, request)
    if question is None:
        return command.run(request) or ExitCode.OK
    outputs = find_answer(question)
    if outputs is not None:
        for output in outputs:
            streams.write(getattr(sys, output.stream), output.text)
            streams.flush(getattr(sys, output.stream))
        return ExitCode.OK
    with streams.copied(LARGEST) as copy:
        code = command.run(request) or ExitCode.OK
    streams.flush(sys.stdout)
    if code == ExitCode.OK and copy.lasting and _question(command, request) == question:
        written = [Output(*output) for output in copy.outputs]
        run_meanwhile(lambda should_stop: keep_answer(question, written, should_stop))
    return code


def _question(command: Command, request: Request) -> Question | None:
    """Return what is asked; None where more than text is written, or where other files are read for it."""
    if not request.cache or request.csv or request.xlsx or request.page or getattr(request, "sched", None):
        return None
    try:
        trace = locate_trace(Path(request.path), request.export)
    except (UnreadableTrace, OSError):  # the command will say so
        return None
    words = {
        "command": command.name,
        "arguments": {name: repr(value) for name, value in vars(request).items()},
        "variables": {name: text for name, text in os.environ.items() if name.startswith(_VARIABLES)},
        "width": terminal.text_width(),
        "encodings": [getattr(stream, "encoding", None) for stream in (sys.stdout, sys.stderr)],
    }
    return question_of(trace, words, notes_path("").parent)
