"""The way from a path to an analysis, for scripts and for all that prints. The viewer loads step by step."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.analyse import Memory, memory_of_snapshot
from tracetui.cache.reading import read_trace
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress, TraceFile
from tracetui.siblings.beside import Refusal


def load(
    path: str | os.PathLike[str],
    on_progress: Callable[[Progress], None] | None = None,
    rules: FrameRules | None = None,
    cache: bool = True,
    jobs: int | None = None,
) -> Analysis:
    """Read a whole trace and analyse it.

    Args:
        path: a trace file, plain or .gz, or a directory that holds one.
        on_progress: called every few MB of the file.
        rules: which frame of a stack is the user's own, and so the line that idle time is charged to.
        cache: take a trace that was read before from the user's cache, without any progress, and keep one
            there that is large and read anew.
        jobs: worker processes that decode a large file, 1 for none, None for one for each core that may be
            used. The result doesn't depend on it.

    Raises UnreadableTrace, with a sentence, where there is no trace. What of a damaged file could not be read
    is told in `analysis.trace.report.warnings`.
    """
    with TraceFile(locate_trace(Path(path)), jobs=jobs) as trace_file:
        trace = read_trace(trace_file, on_progress, cache)
    return analyse(trace, rules)


def load_snapshot(path: str | os.PathLike[str], rules: FrameRules | None = None) -> Memory:
    """Read a snapshot of PyTorch's allocator, a pickle, without running anything in it.

    Raises UnreadableTrace, with a sentence, for anything else.
    """
    try:
        return memory_of_snapshot(Path(path), rules or FrameRules())
    except Refusal as refusal:
        raise UnreadableTrace(Reason.NOT_A_TRACE, f"{os.fspath(path)}: {refusal}") from None
