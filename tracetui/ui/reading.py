"""The viewer as far as it reads a trace and has it analysed: what is there so far, and what is said of it.

Threads post messages; the handlers here own the trace, its picture and its analysis, and tell every screen.
What people do with them is in `app`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from textual.message import Message

from tracetui.analysis.gaps import Measure
from tracetui.arrays import Int64s
from tracetui.export.words import MEASURES
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.ui._textual import HookedApp
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.sketch import Sketch
from tracetui.ui.first_view import first_view
from tracetui.ui.loading import analyse_trace, load
from tracetui.ui.messages import (
    AnalysisFailed,
    AnalysisReady,
    LoadFailed,
    LoadProgress,
    RankingChanged,
    Status,
    TraceGrew,
    TraceLoaded,
)
from tracetui.ui.options import ViewerOptions
from tracetui.ui.state import Viewport, ViewState
from tracetui.units import format_time

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis


class ReadingApp(HookedApp[int]):
    """An app that reads one trace."""

    options: ViewerOptions
    glyphs: Glyphs
    trace_file: TraceFile | None
    trace: Trace | None  #: what is read so far
    picture: Picture | None  #: of that trace, and of what is not read of it
    analysis: Analysis | None = None
    analysing = False
    failure: Exception | None = None  #: why there is nothing to view
    problem = ""  #: why there is no analysis
    progress: tuple[int, int, int] | None  #: bytes read, bytes in all, events; None: nothing is being read
    silent_s = 0  #: seconds for which nothing could be read, where that are some
    state: ViewState
    ranked_by = Measure.LOST  #: what gaps are ranked by, on all screens
    ranked: Int64s = np.empty(0, np.int64)  #: gaps, those first with the most of it
    _rank_of: Int64s = ranked
    _ranked_anew = False  #: since a gap was gone to
    _awaited = 0  #: rank of the gap to show as soon as there are gaps; 0: none
    _stop_loading = False

    def start(self) -> None:
        """Read the file, or have the trace analysed that is there already."""
        if self.trace_file is not None:
            self.run_worker(self._load, thread=True, group="load", exit_on_error=True)
        elif self.trace is not None:
            self._analyse(self.trace)

    def stop_loading(self) -> bool:
        """Stop the loading, keeping what is read; False where nothing was there to stop."""
        running = self.progress is not None and not self._stop_loading
        self._stop_loading = self._stop_loading or running
        return running

    def _load(self) -> None:
        assert self.trace_file is not None
        load(self.trace_file, self.post_message, lambda: self._stop_loading, self.options.cache)

    def _analyse(self, trace: Trace) -> None:
        self.analysing = True
        self.run_worker(
            lambda: analyse_trace(trace, self.options.rules, self.post_message),
            thread=True,
            group="load",
            exit_on_error=True,
        )

    # What the threads say

    def on_load_progress(self, message: LoadProgress) -> None:
        self.progress = (message.done_bytes, message.total_bytes, message.events)
        self.silent_s = message.silent_s
        self.broadcast(lambda: LoadProgress(message.done_bytes, message.total_bytes, message.events))

    def on_trace_grew(self, message: TraceGrew) -> None:
        self._take(message.trace, message.picture)
        self.broadcast(lambda: TraceGrew(message.trace))

    def on_trace_loaded(self, message: TraceLoaded) -> None:
        share = self.share
        self.progress = None
        self._take(message.trace, message.picture)
        self._open_window()
        self.broadcast(lambda: TraceLoaded(message.trace))
        self._analyse(message.trace)
        if message.trace.report.stopped:
            self._awaited = 0
            self.show_status(self._stopped(share))

    def on_load_failed(self, message: LoadFailed) -> None:
        self.failure = message.error
        self.exit(1)

    def on_analysis_ready(self, message: AnalysisReady) -> None:
        self.analysing = False
        self.analysis = message.analysis
        if self.picture is not None:
            self.picture = self.picture.analysed(message.analysis, self.ranked_by)
        self._rank(message.analysis)
        self._look_first(message.analysis)
        self.broadcast(lambda: AnalysisReady(message.analysis))
        awaited = self._awaited
        self._open_step()
        if awaited:
            self.show_status("")
            self.action_nth_gap(awaited)

    def on_analysis_failed(self, message: AnalysisFailed) -> None:
        self.analysing = False
        self.problem = message.sentence
        self.broadcast(lambda: AnalysisFailed(message.sentence))
        if self._awaited:
            self._awaited = 0
            self.show_status(message.sentence)

    def _take(self, trace: Trace, picture: Picture | None) -> None:
        """Another picture of the trace: what was selected is looked up again by its event."""
        old, row = self.trace, self.state.row
        event = int(old.slices.event[row]) if old is not None and row >= 0 else -1
        self.trace, self.picture = trace, picture or Picture(trace)
        if old is None:  # nobody has looked anywhere yet
            self.state.place = replace(self.state.place, viewport=self.state.bounds)
            self.state.undo_stack.clear()
        self.state.grow(bounds_of(trace))
        self.state.forget_rows()
        if event >= 0:
            found = np.flatnonzero(trace.slices.event == event)
            row = int(found[0]) if len(found) else -1
            self.state.place = replace(self.state.place, row=row)

    def _look_first(self, analysis: Analysis) -> None:
        """Look at where the devices work, unless somebody has looked elsewhere already."""
        state = self.state
        if not state.undo_stack and state.viewport == state.bounds:
            view = first_view(analysis, state.bounds)
            state.place = replace(state.place, viewport=view, time_ns=view.start_ns)

    def _open_window(self) -> None:
        """Look at the window that was asked for on the command line."""
        if self.options.window is not None and self.trace is not None:
            start, end = self.options.window.on_clock(self.trace.start_ns)
            start, end = max(start, self.state.bounds.start_ns), min(end, self.state.bounds.end_ns)
            if start < end:
                self.state.look(Viewport(start, end))
            else:
                self.show_status("The window asked for is not in this trace.")

    def _open_step(self) -> None:
        """Look at the step that was asked for on the command line."""
        wanted = self.options.step
        if wanted is None or self.analysis is None:
            return
        for step in self.analysis.steps:
            if step.number == wanted:
                self.show_interval(step.start_ns, step.end_ns)
                return
        self.show_status(f"There is no step {wanted} in this trace.")

    # What is said of it

    @property
    def share(self) -> int:
        """How much of the file is read, in percent, cut: 100 only where all is."""
        done, total, _ = self.progress or (1, 1, 0)
        return 100 * done // max(total, 1)

    @property
    def waiting(self) -> str:
        """Why there are no gaps yet."""
        if self.progress is not None:
            return f"reading, {self.share} % so far: gaps are found once all is read"
        return self.problem or ("analysing" if self.analysing else "nothing of this device was read")

    @property
    def unanswered(self) -> str:
        """The same as a sentence, for those who ask for more than gaps."""
        if self.progress is not None:
            return f"Still reading the trace, {self.share} % so far."
        return self.problem or "Still analysing."

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that is wrong or missing, one sentence each."""
        if self.trace is None:
            return ()
        if self.progress is not None:  # what else seems to be missing may come
            return self.trace.report.warnings
        sketch = self.picture.sketch if self.picture is not None else None
        missing = (missing_words(sketch, self.trace),) if sketch is not None else ()
        problem = (self.problem,) if self.problem else ()
        return (*self.trace.report.warnings, *missing, *self.trace.notes, *problem)

    def _stopped(self, share: int) -> str:
        sketch = self.picture.sketch if self.picture is not None else None
        if sketch is None:
            return f"Stopped at {share} % of the file: what was read until then is here."
        glyph = self.glyphs.unread[1]
        return f"Stopped at {share} % of the file; the rest ({glyph}) is only sampled. ! tells more."

    def broadcast(self, message: Callable[[], Message]) -> None:
        """Post a message to every screen there is."""
        for screen in self.all_screens():
            screen.post_message(message())

    def show_status(self, sentence: str) -> None:
        """Show a sentence in the last line of the screen in front, also of one that a panel lies over."""
        for screen in self.screen_stack:
            screen.post_message(Status(sentence))

    # Gaps, which may be asked for before they are found

    def action_rank_gaps(self) -> None:
        """Rank gaps by the next measure: lost time, idle time, exposed communication."""
        measures = [*Measure]
        self.ranked_by = measures[(measures.index(self.ranked_by) + 1) % len(measures)]
        if self.analysis is not None and self.picture is not None:
            self.picture = self.picture.analysed(self.analysis, self.ranked_by)
            self._rank(self.analysis)
            self._ranked_anew = True
            self.broadcast(RankingChanged)
        self.show_status(f"Gaps are ranked by {MEASURES[self.ranked_by]}.")

    def _rank(self, analysis: Analysis) -> None:
        self.ranked = analysis.gaps.ranked(self.ranked_by)
        self._rank_of = np.empty_like(self.ranked)
        self._rank_of[self.ranked] = np.arange(1, len(self.ranked) + 1)

    def rank_of(self, gap: int) -> int:
        """The rank of a gap, from 1; 0 for none."""
        return int(self._rank_of[gap]) if 0 <= gap < len(self._rank_of) else 0

    def action_next_gap(self, by: int) -> None:
        """Go to the gap of the next rank; to the worst one first, and when they have been ranked anew."""
        rank = 0 if self._ranked_anew else self.rank_of(self.state.gap)
        self.action_nth_gap(rank + by if rank else 1)

    def action_nth_gap(self, rank: int) -> None:
        self._ranked_anew = False
        if self.analysis is None:
            self._awaited = 0 if self.problem else rank
            until = f"all is read: {self.share} % so far." if self.progress else "all gaps are found."
            self.show_status(self.problem or f"Gap {rank} is shown as soon as {until}")
        elif not len(self.analysis.gaps):
            self.show_status("There are no gaps in this trace.")
        elif 1 <= rank <= len(self.analysis.gaps):
            self.go_to_gap(int(self.ranked[rank - 1]))
        else:
            self.show_status("There are no more gaps.")

    # Where it leads

    def go_to_gap(self, index: int) -> None:
        """Show and select a gap: an index into `analysis.gaps`."""
        raise NotImplementedError

    def show_interval(self, start_ns: int, end_ns: int, row: int | None = None) -> None:
        """Show an interval, epoch ns."""
        raise NotImplementedError


def bounds_of(trace: Trace | None) -> Viewport:
    """All of a trace; a millisecond where there is none yet."""
    if trace is None:
        return Viewport(0, 1_000_000)
    return Viewport(trace.start_ns, max(trace.end_ns, trace.start_ns + 1))


def missing_words(sketch: Sketch, trace: Trace) -> str:
    """What was not read, and when it was recorded: "Python 12.1 s to 166 s" of each process."""
    step = max((trace.end_ns - trace.start_ns) // 1000, 1)
    parts = []
    for missing in sketch.missing():
        moments = (missing.start_ns - trace.start_ns, missing.end_ns - trace.start_ns)
        start, end = (format_time(max(moment, 0), step) for moment in moments)
        parts.append(f"{missing.process} from {start} to {end}")
    share = 100 - 100 * trace.report.text_bytes // max(trace.report.bytes, 1)
    return f"{share} % of the file is not read; only sampled, and in no number: {', '.join(parts)}"
