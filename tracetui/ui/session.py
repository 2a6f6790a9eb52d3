"""An open trace: its file, how far that is read, what is read of it, the analysis, and where one looks in it.

Knows no screen and no app: who reads the file in threads hands over what they give, and shows what is
returned here as a sentence.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.gaps import Measure
from tracetui.arrays import Int64s
from tracetui.language import translate, wording
from tracetui.places import SharedPlace, trace_fingerprint
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.events import ReadReport
from tracetui.reader.joined import open_trace
from tracetui.reader.locate import trace_files
from tracetui.reader.source import TraceFile
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace, TraceKind
from tracetui.trace.source_files import SourceFiles
from tracetui.ui.drawing.curve_rows import Extras
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key, place_of_slice
from tracetui.ui.drawing.sketch import missing_words
from tracetui.ui.first_view import first_view
from tracetui.ui.options import ViewerOptions
from tracetui.ui.state import Viewport, ViewState
from tracetui.ui.trace_names import name_of
from tracetui.units import Moment, Window

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.counter_tracks import CounterTrack
    from tracetui.analysis.memory.analyse import Memory
    from tracetui.notebook.note import Note


class Session:
    """One trace, from the moment it is to be read until it is closed."""

    def __init__(
        self,
        path: Path,
        options: ViewerOptions | None = None,
        file: TraceFile | None = None,
        trace: Trace | None = None,
        name: str = "",
    ) -> None:
        """Open a file, now or when `open` is called, or take a trace that is there already."""
        self.path = path
        self.name = printable(name or name_of(path), 60)  #: that tells it from others
        self.options = options or ViewerOptions()
        self.file = file  #: to read the trace from, and the arguments of its slices
        self.trace = trace  #: what is read so far
        self.picture = Picture(trace) if trace is not None else None  #: of that, and of what is not read yet
        self.analysis: Analysis | None = None
        self.analysing = trace is not None
        self.problem = ""  #: why there is no trace, or no analysis
        #: bytes read, bytes in all, events; None where nothing is being read
        self.progress = (0, file.size, 0) if file is not None else None
        self.silent_s = 0  #: seconds for which nothing could be read, where that are some
        self.stopping = False  #: no more is to be read
        #: bytes read of the scheduler's recording, and bytes in all; None where none is being read
        self.recording: tuple[int, int] | None = None
        self.without_scheduler = False  #: that is not to be read
        self.state = ViewState(bounds_of(trace))
        self.ranked_by = Measure.LOST  #: what gaps are ranked by, on all screens
        self.ranked: Int64s = np.empty(0, np.int64)  #: gaps, those first with the most of it
        self.awaited = 0  #: rank of the gap to show as soon as there are gaps; 0: none
        self.awaited_place: SharedPlace | None = None  #: the place to show as soon as all of it is there
        self.notes: tuple[Note, ...] = ()  #: what people wrote about the trace, as far as it was read
        self.doubt = ""  #: what is wrong with the place that is shown
        self._sources: SourceFiles | None = None
        self._fingerprint: str | None = None
        self._asked_for_memory = False
        self._counters_of: Trace | None = None  # whose counters are being brought in order
        self._memory_problems: tuple[str, ...] = ()
        self._gap_ranks = self.ranked
        self._ranked_anew = False  # since a gap was gone to

    @property
    def sources(self) -> SourceFiles:
        """The Python files of the trace, where they are on this host; once some of it is read."""
        if self._sources is None:
            self._sources = SourceFiles(
                self.path, self.options.sources, self.trace.end_ns if self.trace else 0
            )
        return self._sources

    @property
    def tells_memory(self) -> bool:
        """Whether it can be said what is recorded of the memory."""
        return self.analysis is not None

    def read_memory(self) -> Memory | None:
        """Return what is recorded of the memory, None for nothing; may read files for seconds."""
        return self.analysis.memory if self.analysis is not None else None

    @property
    def fingerprint(self) -> str:
        """What tells the trace from others, wherever it lies; "" where its file is gone."""
        if self._fingerprint is None:
            try:
                self._fingerprint = trace_fingerprint(trace_files(self.path))
            except (UnreadableTrace, OSError):
                self._fingerprint = trace_fingerprint([self.path])
        return self._fingerprint

    # Reading

    def open(self) -> None:
        """Open the file.

        Raises UnreadableTrace or OSError.
        """
        self.file = open_trace(self.path, self.options.jobs)
        self.progress, self.problem = (0, self.file.size, 0), ""

    @property
    def is_open(self) -> bool:
        """Whether its trace is there or on the way."""
        return self.file is not None or self.trace is not None

    def close(self) -> None:
        """Let the file go, at once or as soon as the thread that reads it has stopped."""
        self.stopping = True
        if self.progress is None:
            self.end()

    def end(self) -> None:
        """Let the file go: nothing reads it any more."""
        self.progress = None
        if self.file is not None:
            self.file.close()

    def closed(self) -> Session:
        """Return the same trace, not open; when it is opened, it shows what this one shows."""
        closed = Session(self.path, replace(self.options, step=None), name=self.name)
        if self.trace is not None:
            closed.look_at(self.state.viewport.start_ns, self.state.viewport.end_ns)
        closed.ranked_by = self.ranked_by
        return closed

    def stop_loading(self) -> bool:
        """Stop the loading, keeping what is read; False where nothing was there to stop."""
        if self.recording is not None and not self.without_scheduler:
            self.without_scheduler = True
            return True
        running = self.progress is not None and not self.stopping
        self.stopping = self.stopping or running
        return running

    def take(self, trace: Trace, picture: Picture | None) -> None:
        """Show more of the trace: what was selected is looked up again by its event."""
        old, row = self.trace, self.state.row
        event = int(old.slices.event[row]) if old is not None and row >= 0 else -1
        self.trace, self.picture = trace, picture or Picture(trace)
        if old is None:  # nobody has looked anywhere yet
            self.state.place = replace(self.state.place, viewport=self.state.bounds)
            self.state.undo_stack.clear()
        bounds = bounds_of(trace)
        self.state.grow(bounds)
        if not bounds.start_ns <= self.state.place.time_ns < bounds.end_ns:
            self.state.place = replace(self.state.place, time_ns=bounds.start_ns)
        self.state.forget_rows()
        if event >= 0:
            found = np.flatnonzero(trace.slices.event == event)
            row = int(found[0]) if len(found) else -1
            self.state.place = replace(self.state.place, row=row)

    def take_all(self, trace: Trace, picture: Picture | None) -> str:
        """Show the trace as far as it will be read, at the window asked for; what is to be said of it."""
        share, self.progress, self.analysing = self.share, None, True
        self._sources = None  # the age of files is told from the end of the trace
        self.take(trace, picture)
        sentence = self._open_window()
        if not trace.report.stopped:
            return sentence
        self.awaited = 0
        return self._stopped(share)

    def take_curves(self, extras: Extras) -> None:
        """Show curves beside the counters of the trace; its memory is read when it is asked for."""
        if self.picture is not None:
            self.picture.take_extras(extras)

    def asks_for_memory(self) -> bool:
        """Return whether the memory of the devices is to be read now: nobody has asked for it before."""
        asks = not self._asked_for_memory and self.picture is not None and self.picture.extras.awaits_memory
        self._asked_for_memory |= asks
        return asks

    def asks_for_counters(self) -> bool:
        """Return whether the counters of the trace are to be brought in order now."""
        picture = self.picture
        asks = picture is not None and not picture.has_counters and self._counters_of is not self.trace
        self._counters_of = self.trace if asks else self._counters_of
        return asks

    def take_memory_curves(self, tracks: tuple[CounterTrack, ...], problems: tuple[str, ...]) -> None:
        """Show the memory of the devices; `problems`: sentences about what is not read of it."""
        if self.picture is not None:
            extras = self.picture.extras
            shown = replace(extras, tracks=(*extras.tracks, *tracks), awaits_memory=False, memory_of=None)
            self.picture.take_extras(shown)
        self._memory_problems = problems

    def take_failure(self, sentence: str) -> str:
        """Show why there is no trace or analysis; return what is to be said to those who wait for it."""
        self.progress, self.analysing, self.problem = None, False, sentence
        awaited, self.awaited = self.awaited, 0
        return sentence if awaited else ""

    def take_analysis(self, analysis: Analysis) -> str:
        """Show the analysis, at the step or the gap that was asked for; what is to be said of it."""
        self.analysing = False
        self.analysis = analysis
        self._rank(analysis)
        self._look_first(analysis)
        awaited = self.awaited
        sentence = self._open_step(analysis)
        return self.nth_gap(awaited) if awaited else sentence

    def look_at_place(self) -> None:
        """Look at the time of the place that is asked for; what is selected there comes with the analysis."""
        place = self.awaited_place
        if place is not None and place.span is not None and self.trace is not None and self.progress is None:
            self.state.look(self.state.part_of(place.span) or self.state.bounds)

    def _look_first(self, analysis: Analysis) -> None:
        """Look at where the devices work, unless somebody has looked elsewhere already."""
        state = self.state
        if not state.undo_stack and state.viewport == state.bounds:
            view = first_view(analysis, state.bounds)
            state.place = replace(state.place, viewport=view, time_ns=view.start_ns)

    def _open_window(self) -> str:
        """Look at the window that was asked for on the command line."""
        self.look_at_place()
        if self.options.window is None or self.trace is None:
            return ""
        start, end = self.options.window.on_clock(self.trace.start_ns, self.trace.base_ns)
        start, end = max(start, self.state.bounds.start_ns), min(end, self.state.bounds.end_ns)
        if start >= end:
            return "The window asked for is not in this trace."
        self.state.look(Viewport(start, end))
        return ""

    def _open_step(self, analysis: Analysis) -> str:
        """Look at the step that was asked for on the command line."""
        wanted = self.options.step
        if wanted is None:
            return ""
        for step in analysis.steps:
            if step.number == wanted:
                self.state.show(step.start_ns, step.end_ns)
                return ""
        return translate("There is no step {number} in this trace.", number=wanted)

    # What is said of it

    @property
    def share(self) -> int:
        """How much of the file is read, in percent, cut: 100 only where all is."""
        done, total, _ = self.progress or (1, 1, 0)
        return 100 * done // max(total, 1)

    @property
    def holds_nothing(self) -> bool:
        """Whether nothing is there to be shown: too little of the trace was read, or is read so far."""
        if self.trace is None or self.picture is None:
            return True
        is_part = self.progress is not None or self.trace.report.stopped
        return is_part and self.picture.sketch is None and not self.trace.tracks

    @property
    def kind(self) -> TraceKind | None:
        """Who wrote the trace; None where that is not known yet."""
        if not self.holds_nothing and self.trace is not None:
            return self.trace.kind
        return TraceKind.ASCEND if self.file is not None and self.file.of_ascend else None

    @property
    def waiting(self) -> str:
        """Why there are no gaps yet."""
        if self.progress is not None:
            return translate("reading, {share} % so far: gaps are found once all is read", share=self.share)
        return self.problem or translate("analysing" if self.analysing else "nothing of this device was read")

    @property
    def unanswered(self) -> str:
        """The same as a sentence, for those who ask for more than gaps."""
        if self.progress is not None:
            return translate("Still reading the trace, {share} % so far.", share=self.share)
        return self.problem or "Still analysing."

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that is wrong or missing, one sentence each."""
        problem = tuple(filter(None, (self.doubt, self.problem)))
        if self.trace is None:
            return problem
        if self.progress is not None:  # what else seems to be missing may come
            return self.trace.report.warnings
        sketch = self.picture.sketch if self.picture is not None else None
        missing = (missing_words(sketch, self.trace),) if sketch is not None else ()
        notes = (*self.trace.notes, *self._scheduler_notes(), *self._memory_problems, *problem)
        return (*self.trace.report.warnings, *self._growth(self.trace.report), *missing, *notes)

    def _growth(self, report: ReadReport) -> Iterator[str]:
        """Yield that the file has grown since it was read, where its end was missing then."""
        if self.file is None or not report.truncated:
            return
        with contextlib.suppress(OSError):
            if self.file.path.stat().st_size > report.bytes:
                yield translate("The file has grown since it was read: open it again to see all of it.")

    def _scheduler_notes(self) -> Sequence[str]:
        """Return what is to be known of the recording of the scheduler, once there is an analysis."""
        if self.analysis is None:
            return ()
        from tracetui.export.sentences.scheduler import scheduler_notes

        return scheduler_notes(self.analysis)

    def _stopped(self, share: int) -> str:
        sketch = self.picture.sketch if self.picture is not None else None
        has_rows = self.file is not None and self.file.rows > 0
        if self.holds_nothing:
            template = "Stopped at {share} % of the file, before there was anything to show."
            if has_rows:
                template = "Stopped at {share} % of the rows, before there was a whole table to show."
            return translate(template, share=share)
        if has_rows:
            template = "Stopped at {share} % of the rows: the tables that were read until then are here."
            return translate(template, share=share)
        if sketch is None:
            return translate(
                "Stopped at {share} % of the file: what was read until then is here.", share=share
            )
        template = "Stopped at {share} % of the file; the rest ({glyph}) is only sampled. ! tells more."
        return translate(template, share=share, glyph=glyphs(self.options.ascii).unread[1])

    # Gaps, which may be asked for before they are found

    def rank_by_next(self) -> str:
        """Rank gaps by the next measure: lost time, idle time, exposed communication; says by which."""
        measures = [*Measure]
        self.ranked_by = measures[(measures.index(self.ranked_by) + 1) % len(measures)]
        if self.analysis is not None:
            self._rank(self.analysis)
            self._ranked_anew = True
        from tracetui.export.sentences.causes import MEASURES

        return translate("Gaps are ranked by {measure}.", measure=wording(MEASURES[self.ranked_by]))

    def _rank(self, analysis: Analysis) -> None:
        if self.picture is not None:
            self.picture = self.picture.analysed(analysis, self.ranked_by)
        self.ranked = analysis.gaps.ranked(self.ranked_by)
        self._gap_ranks = np.empty_like(self.ranked)
        self._gap_ranks[self.ranked] = np.arange(1, len(self.ranked) + 1)

    def gap_rank(self, gap: int) -> int:
        """Return the rank of a gap, from 1; 0 for none."""
        return int(self._gap_ranks[gap]) if 0 <= gap < len(self._gap_ranks) else 0

    def next_gap(self, by: int) -> str:
        """Go to the gap of the next rank; to the worst one first, and when they have been ranked anew."""
        rank = 0 if self._ranked_anew else self.gap_rank(self.state.gap)
        return self.nth_gap(rank + by if rank else 1)

    def nth_gap(self, rank: int) -> str:
        """Go to the gap of a rank, as soon as there is one; why not, where that is now or never."""
        self._ranked_anew = False
        if self.analysis is None:
            self.awaited = 0 if self.problem else rank
            template = "Gap {rank} is shown as soon as all gaps are found."
            if self.progress:
                template = "Gap {rank} is shown as soon as all is read: {share} % so far."
            return self.problem or translate(template, rank=rank, share=self.share)
        if not len(self.analysis.gaps):
            return "There are no gaps in this trace."
        if not 1 <= rank <= len(self.analysis.gaps):
            return "There are no more gaps."
        self.go_to_gap(int(self.ranked[rank - 1]))
        return ""

    # Where one looks

    def look_at(self, start_ns: int, end_ns: int) -> None:
        """Look at a span of time, ns on the clock of the trace: now, or when it is read."""
        end_ns = max(end_ns, start_ns + 1)
        if self.trace is not None and self.progress is None:
            self.state.look(Viewport(start_ns, end_ns))
        else:
            window = Window(Moment(start_ns, True), Moment(end_ns, True))
            self.options = replace(self.options, window=window, step=None)

    @property
    def selected_span(self) -> tuple[int, int] | None:
        """Start and end of the selected gap or slice, ns; None where nothing is selected."""
        state = self.state
        if state.gap >= 0 and self.analysis is not None:
            gaps = self.analysis.gaps
            return int(gaps.start[state.gap]), int(gaps.end[state.gap])
        if state.row >= 0 and self.trace is not None:
            return int(self.trace.slices.start[state.row]), int(self.trace.slices.end[state.row])
        return None

    @property
    def marked_window(self) -> tuple[int, int] | None:
        """The window from the mark to the selection or the cursor, whichever is first; None without one."""
        state = self.state
        if state.mark is None:
            return None
        start, end = self.selected_span or (state.place.time_ns, state.place.time_ns)
        return min(state.mark, start), max(state.mark, end)

    def move_to(self, time_ns: int) -> None:
        """Move the cursor of all screens to a moment (ns), and bring it on screen; one step of undo."""
        state = self.state
        viewport = state.viewport.showing(time_ns, time_ns + 1, state.bounds)
        state.go(replace(state.place, viewport=viewport, time_ns=time_ns), "moment")

    def go_to_gap(self, index: int) -> bool:
        """Show and select a gap: an index into `analysis.gaps`; False where there is none."""
        if self.analysis is None or not 0 <= index < len(self.analysis.gaps):
            return False
        gaps, state = self.analysis.gaps, self.state
        start, end = int(gaps.start[index]), int(gaps.end[index])
        state.show(start, end)
        device = self.analysis.devices[int(gaps.device[index])].device
        place = replace(state.place, gap=index, row=-1, cursor=idle_key(device), time_ns=start)
        state.go(place, state.burst)
        return True

    def select(self, row: int) -> None:
        """Select a slice and bring it on screen; -1 selects nothing."""
        state, trace = self.state, self.trace
        if trace is None:
            return
        if row < 0:
            state.go(replace(state.place, row=-1, gap=-1), "select")
            return
        start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
        cursor, hidden = place_of_slice(trace, row, state.toggled)
        if hidden:
            state.toggle(hidden)
        viewport = state.viewport.showing(start, end, state.bounds)
        place = replace(state.place, viewport=viewport, row=row, gap=-1, cursor=cursor, time_ns=start)
        state.go(place, "select")


def bounds_of(trace: Trace | None) -> Viewport:
    """Return all of a trace; a millisecond where there is none yet."""
    if trace is None:
        return Viewport(0, 1_000_000)
    return Viewport(trace.start_ns, max(trace.end_ns, trace.start_ns + 1))
