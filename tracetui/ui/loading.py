"""Reading in a thread of its own: what it yields are messages, posted through a function.

Knows the reader and the model; no widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message import Message

from tracetui.cache.traces import keep, reopen
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.events import EventTable
from tracetui.reader.skeleton import Skeleton
from tracetui.reader.source import Progress, TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.sketch import Sketch
from tracetui.ui.messages import LoadFailed, LoadProgress, TraceGrew, TraceLoaded
from tracetui.ui.session import Session

#: seconds to the first picture of a trace that is still being read, and between two progress lines
FIRST_PICTURE, EVERY = 0.3, 0.1
#: pictures are made up to so many bytes of a file, and this share of it beside them: the last picture is
#: held until the trace is built, and costs 0.2 GB for each GB that it shows
LAST_PICTURE, LAST_SHARE = 1 << 29, 0.3
#: at most this share of the time goes into pictures
_PICTURE_SHARE = 0.15

Post = Callable[[Message], object]


def load_session(session: Session, trace_file: TraceFile, post: Post) -> None:
    """Read the trace of a session, posting progress and pictures; LoadFailed where that fails.

    With a cache, one that was read before is there at once, and one that is read now is kept at the end.
    """
    cache = session.options.cache
    known = reopen(trace_file) if cache else None
    try:
        trace, sketch = (known, None) if known is not None else _read(session, trace_file, post)
    except (UnreadableTrace, MemoryError, OSError) as error:
        post(LoadFailed(session, error))
        return
    post(TraceLoaded(session, trace, Picture(trace, sketch=sketch).warm()))
    if cache and known is None:
        keep(trace_file, trace, lambda: session.stopping)  # 150 MB: 0.1 s, beside the analysis


def _read(session: Session, trace_file: TraceFile, post: Post) -> tuple[Trace, Sketch | None]:
    """Read a trace, and where that was stopped give a sketch of the rest as well."""

    def show(skeleton: Skeleton) -> Sketch:
        sketch = Sketch(skeleton)
        trace = sketch.nothing()
        post(TraceGrew(session, trace, Picture(trace, sketch=sketch)))
        return sketch

    skeleton = trace_file.skeleton(on_coarse=show)
    sketch = show(skeleton) if skeleton is not None else None
    first = sketch.first if sketch is not None else 0
    of_devices = trace_file.size - first if first else None
    table = trace_file.read(
        _TraceWatch(session, post, sketch, of_devices).see, lambda: session.stopping, first
    )
    if sketch is None or not table.report.stopped:
        return build_trace(table), None
    return sketch.read_part(table), sketch.beyond(table.report.seen)


class _TraceWatch:
    """Decides when progress is worth a line, and when a picture."""

    def __init__(self, session: Session, post: Post, sketch: Sketch | None, of_devices: int | None) -> None:
        """Post to the app; `of_devices`: bytes that are read first, for the sake of the devices."""
        self._session = session
        self._post = post
        self._sketch = sketch
        self._of_devices = of_devices
        self._next_line = self._next_picture = 0.0
        self._start = time.monotonic()

    def see(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next_line or progress.silent_s:
            self._next_line = now + EVERY
            so_far = (progress.done_bytes, progress.total_bytes, progress.events)
            self._post(LoadProgress(self._session, *so_far, progress.silent_s))
        if progress.silent_s:
            self._next_line = 0.0  # whatever is read next is worth a line
            return
        due = now - self._start >= FIRST_PICTURE and now >= self._next_picture
        if self._of_devices is not None and progress.done_bytes >= self._of_devices:
            due, self._of_devices = True, None
        last = LAST_PICTURE + LAST_SHARE * progress.total_bytes
        if due and (self._sketch is None or progress.done_bytes <= last):
            table = progress.snapshot()
            if self._sketch is not None or len(table.slices.start) or len(table.counters.time):
                self._post(self._grown(table))
            took = time.monotonic() - now
            self._next_picture = now + max(took / _PICTURE_SHARE, 2 * FIRST_PICTURE)

    def _grown(self, table: EventTable) -> TraceGrew:
        """Build the trace so far, and the sketch of the rest."""
        if self._sketch is None:
            trace = build_trace(table)
            return TraceGrew(self._session, trace, Picture(trace).warm())
        trace = self._sketch.read_part(table)
        rest = self._sketch.beyond(table.report.seen)
        return TraceGrew(self._session, trace, Picture(trace, sketch=rest).warm())
