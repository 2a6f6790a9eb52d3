"""The notes on what a command is given, and what is said where their file is damaged."""

from __future__ import annotations

from pathlib import Path

from tracetui.cli.output import say
from tracetui.export.notes import problem_words
from tracetui.notebook.note import Note
from tracetui.notebook.notebook import Notebook, notes_path
from tracetui.places import fingerprint
from tracetui.reader.locate import trace_files


def fingerprint_of(path: str) -> str:
    """Return the fingerprint of a trace, or of the ranks below a directory.

    Raises UnreadableTrace where there is neither.
    """
    directory, found = Path(path), None
    if directory.is_dir():
        from tracetui.job.load import ranks_below  # a trace needs nothing of jobs

        found = ranks_below(directory)
    return fingerprint(trace_files(path) if found is None else [source.path for source in found.sources])


def read_notebook(trace: str) -> tuple[Note, ...]:
    """Return the notes on the trace of a fingerprint; says what is wrong with their file."""
    notebook = Notebook(notes_path(trace))
    contents = notebook.read()
    problem = problem_words(contents, str(notebook.path))
    if problem:
        say(problem)
    return contents.notes
