"""The notes on what a command is given, and what is said where their file is damaged."""

from __future__ import annotations

from pathlib import Path

from tracetui.cli.output import say
from tracetui.export.notes import problem_words
from tracetui.notebook.note import Note
from tracetui.notebook.notebook import Notebook, notes_path
from tracetui.places import trace_fingerprint
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.locate import locate_trace, trace_files


def fingerprint_of(path: str) -> str:
    """Return the fingerprint of a trace, or of the ranks below a directory.

    Raises UnreadableTrace where there is neither.
    """
    ranks = _ranks_of(path)
    return trace_fingerprint(trace_files(path) if ranks is None else ranks)


def fingerprint_of_pair(base: str, other: str) -> str:
    """Return the fingerprint of two runs compared, traces or jobs, as of a viewer that has both open."""
    return trace_fingerprint([*_files_of(base), *_files_of(other)])


def fingerprint_of_run(path: str) -> str:
    """Return the fingerprint of one side of a comparison: a trace, a job, or a digest."""
    try:
        return fingerprint_of(path)
    except UnreadableTrace:
        return trace_fingerprint([Path(path)])


def _files_of(run: str) -> list[Path]:
    return _ranks_of(run) or [_trace_or_digest(run)]


def _ranks_of(path: str) -> list[Path] | None:
    directory = Path(path)
    if not directory.is_dir():
        return None
    from tracetui.job.load import ranks_below  # a trace needs nothing of jobs

    found = ranks_below(directory)
    return None if found is None else [source.path for source in found.sources]


def _trace_or_digest(path: str) -> Path:
    try:
        return locate_trace(path)
    except UnreadableTrace:
        return Path(path)


def read_notebook(trace: str) -> tuple[Note, ...]:
    """Return the notes on the trace of a fingerprint; says what is wrong with their file."""
    notebook = Notebook(notes_path(trace))
    contents = notebook.read()
    problem = problem_words(contents, str(notebook.path))
    if problem:
        say(problem)
    return contents.notes
