"""The viewer as its screens see it: the trace, its analysis and the view, and how to change that.

Screens read `viewer.trace`, `viewer.analysis` and `viewer.state`, change the state through the methods below,
and hear of every change as a message (tracetui.ui.messages), also while another screen is in front. Knows no
screen.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key, place_of_slice
from tracetui.ui.keys import KeyByKeyApp
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.options import ViewerOptions
from tracetui.ui.reading import ReadingApp, bounds_of
from tracetui.ui.sending.link import LinkApp
from tracetui.ui.state import ViewState


class Viewer(ReadingApp, LinkApp[int], KeyByKeyApp[int]):
    """An app that shows one trace."""

    def __init__(
        self,
        path: Path,
        options: ViewerOptions | None = None,
        trace_file: TraceFile | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Of an opened file to read, or of a trace that is there already."""
        super().__init__(ansi_color=True)
        self.path = path
        self.options = options or ViewerOptions()
        self.palette = Palette(self.options.palette, self.options.light)
        self.typed = self.options.typed
        self.glyphs = glyphs(self.options.ascii)
        self.trace_file = trace_file
        self.trace = trace
        self.picture = Picture(trace) if trace is not None else None
        self.analysing = trace is not None
        self.progress = (0, trace_file.size, 0) if trace_file else None
        self.state = ViewState(bounds_of(trace))

    def view_changed(self) -> None:
        """Tell everyone that the viewport, window, folds or pins have changed."""
        self._awaited = 0
        self.broadcast(ViewChanged)

    def selection_changed(self) -> None:
        """Tell everyone that the selection (and, with it, perhaps the viewport) has changed."""
        self._awaited = 0
        self.broadcast(SelectionChanged)

    def select(self, row: int) -> None:
        """Select a slice, on all screens, and bring it on screen; -1 selects nothing."""
        state, trace = self.state, self.trace
        if trace is None:
            return
        if row < 0:
            state.go(replace(state.place, row=-1, gap=-1), "select")
        else:
            start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
            cursor, hidden = place_of_slice(trace, row, state.toggled)
            if hidden:
                state.toggle(hidden)
            viewport = state.viewport.showing(start, end, state.bounds)
            state.go(
                replace(state.place, viewport=viewport, row=row, gap=-1, cursor=cursor, time_ns=start),
                "select",
            )
        self.selection_changed()

    def show_interval(self, start_ns: int, end_ns: int, row: int | None = None) -> None:
        """Show an interval (epoch ns) in the middle third of the timeline, and select a slice."""
        self.state.show(start_ns, max(end_ns, start_ns + 1))
        self.view_changed()
        if row is not None:
            self.select(row)
        if self.current_mode != "timeline":
            self.switch_mode("timeline")

    def go_to_gap(self, index: int) -> None:
        """Show and select a gap: an index into `analysis.gaps`. The screen in front stays."""
        if self.analysis is None or not 0 <= index < len(self.analysis.gaps):
            return
        gaps, state = self.analysis.gaps, self.state
        start, end = int(gaps.start[index]), int(gaps.end[index])
        state.show(start, end)
        device = self.analysis.devices[int(gaps.device[index])].device
        place = replace(state.place, gap=index, row=-1, cursor=idle_key(device), time_ns=start)
        state.go(place, state.burst)
        self.selection_changed()

    def action_go(self, screen: str) -> None:
        """Show another screen: a name among the modes."""
        self.switch_mode(screen)
