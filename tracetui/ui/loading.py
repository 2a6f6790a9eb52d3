"""Reading and analysing in a thread of its own: what it yields are messages, posted through a function.

Knows the reader, the model and the analysis; no widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message import Message

from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.frames import FrameRules
from tracetui.cache.traces import keep, reopen
from tracetui.reader.errors import UnreadableTrace, plain
from tracetui.reader.source import Progress, TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.messages import (
    AnalysisFailed,
    AnalysisReady,
    LoadFailed,
    LoadProgress,
    TraceGrew,
    TraceLoaded,
)

#: seconds to the first picture of a trace that is still being read, and between two progress lines
FIRST_PICTURE, EVERY = 0.3, 0.1
#: at most this share of the time goes into pictures: of 1 GB, four of them cost 0.8 s of 10; 0.15 cost 2.4 s
_PICTURE_SHARE = 0.07

Post = Callable[[Message], object]


def load(
    trace_file: TraceFile, post: Post, should_stop: Callable[[], bool], cache: bool = True
) -> Trace | None:
    """Read a trace, posting progress and pictures; None where that failed (LoadFailed says why).

    With a `cache`, one that was read before is there at once, and one that is read now is kept at the end.
    """
    known = reopen(trace_file) if cache else None
    watch = _Watch(post)
    try:
        trace = known or build_trace(trace_file.read(on_progress=watch.see, should_stop=should_stop))
    except (UnreadableTrace, MemoryError, OSError) as error:
        post(LoadFailed(error))
        return None
    post(TraceLoaded(trace, Picture(trace).warm()))
    if cache and known is None:
        keep(trace_file, trace, should_stop)  # 150 MB: 0.1 s, beside the analysis
    return trace


def analyse_trace(trace: Trace, rules: FrameRules | None, post: Post) -> None:
    """Analyse a trace, and post the result."""
    try:
        analysis = analyse(trace, rules)
        _ = analysis.causes, analysis.gaps.ranked()  # long to make, wanted by the first frame: nobody waits
    except MemoryError:
        post(AnalysisFailed("There is not enough memory for the analysis."))
    except Exception as error:  # the timeline is of use without it
        post(AnalysisFailed(f"The analysis failed: {type(error).__name__}: {plain(str(error))[:200]}"))
    else:
        post(AnalysisReady(analysis))


class _Watch:
    """Decides when progress is worth a line, and when a picture."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._next_line = self._next_picture = 0.0
        self._start = time.monotonic()

    def see(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + EVERY
            self._post(LoadProgress(progress.done_bytes, progress.total_bytes, progress.events))
        if now - self._start >= FIRST_PICTURE and now >= self._next_picture:
            trace = build_trace(progress.snapshot())
            self._post(TraceGrew(trace, Picture(trace).warm()))
            took = time.monotonic() - now
            self._next_picture = now + max(took / _PICTURE_SHARE, 2 * FIRST_PICTURE)
