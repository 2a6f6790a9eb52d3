"""The one way from a path to an analysis, for all that prints. The viewer loads step by step on its own."""

from __future__ import annotations

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.cli.progress import ProgressLine
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress, TraceFile
from tracetui.trace.build import build_trace


def load(path: str, line: ProgressLine) -> Analysis:
    """Read a whole trace and analyse it. Raises UnreadableTrace."""

    def show(progress: Progress) -> None:
        line.show(progress.done_bytes, progress.total_bytes, progress.events)

    try:
        with TraceFile(locate_trace(path)) as trace_file:
            table = trace_file.read(on_progress=show)
    finally:
        line.erase()
    return analyse(build_trace(table))
