"""What the timeline screen is made of, and how its widgets follow the messages of the app.

Knows the widgets and the order of drawing them again; what keys do is in `timeline`.
"""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult

from tracetui.trace.model import Trace
from tracetui.ui.drawing.load import is_of_host
from tracetui.ui.messages import (
    CurvesChanged,
    ProgressChanged,
    RankingChanged,
    SelectionChanged,
    Status,
    TraceChanged,
    ViewChanged,
)
from tracetui.ui.viewer_screen import ViewerScreen
from tracetui.ui.widgets.details import Details
from tracetui.ui.widgets.minimap import Minimap
from tracetui.ui.widgets.ruler import Ruler
from tracetui.ui.widgets.status import KeyLine, TopLine
from tracetui.ui.widgets.tracks import Tracks
from tracetui.units import format_exact, format_time

FOOTER = (
    ("next_gap(1)", "worst gap"),
    ("pan(-1)|pan(1)|zoom(1)|zoom(-1)", "move"),
    ("flow(-1)|flow(1)", "host/device"),
    ("stack", "stack"),
    ("search", "search"),
)


#: lines of a screen from which one is spent on what the letters of the causes stand for
LEGEND_FROM = 30
#: lines that are not the details': what the trace is, the map and its marks, the ruler, a row, the keys
BESIDE_DETAILS = 6


class TimelineView(ViewerScreen[None]):
    """Top line, map, ruler, tracks, details, keys."""

    CSS = "TimelineView { background: ansi_default; }"
    AUTO_FOCUS = "Tracks"
    followed = -1  #: the slice that a flow has led to
    _measuring = False  # the last line tells of the window that is being made

    @property
    def trace(self) -> Trace | None:
        """The trace, as far as it is read; None before there is any of it."""
        return self.session.trace

    def compose(self) -> ComposeResult:
        session = self.session
        self.top_line, self.minimap, self.ruler = TopLine(session), Minimap(session), Ruler(session)
        self.tracks, self.details, self.key_line = Tracks(session), Details(session), KeyLine(FOOTER)
        yield self.top_line
        yield self.minimap
        yield self.ruler
        yield self.tracks
        yield self.details
        yield self.key_line

    def on_mount(self) -> None:
        if self.trace is not None:
            self._show_trace()

    def on_resize(self, event: events.Resize) -> None:
        self._show_legend()
        room = max(event.size.height - BESIDE_DETAILS, 1)
        self.details.styles.height = min(max(event.size.height // 4 + 2, 7), 16, room)
        self.call_after_refresh(self._laid_out)

    def copy_text(self) -> str:
        """What `copy` copies: the details of the selection."""
        state = self.session.state
        return self.details.text if max(state.row, state.gap) >= 0 or self.details.shows_curve else ""

    # Messages

    def on_progress_changed(self, message: ProgressChanged) -> None:
        self.top_line.update()
        self.tracks.show_waiting()

    def on_trace_changed(self, message: TraceChanged) -> None:
        self._show_trace()

    def on_ranking_changed(self, message: RankingChanged) -> None:
        self._show_trace()

    def on_curves_changed(self, message: CurvesChanged) -> None:
        self.tracks.lay_out()
        self.top_line.update()
        self.details.show_state()
        self._laid_out()

    @on(Tracks.Awaits)
    def _read_curves(self) -> None:
        self.viewer.read_curves()

    def on_view_changed(self, message: ViewChanged) -> None:
        self.details.show_state()
        self._show_state()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self.details.show_state()
        self._show_chain()
        self._show_state()
        self._reveal()

    def _show_chain(self) -> None:
        """Draw the chain of the selection; while one goes along it, both its ends stay on screen."""
        row = self.session.state.row
        self.tracks.follow(self.details.chain, row >= 0 and row == self.followed)

    def on_status(self, message: Status) -> None:
        self.key_line.show_status(message.sentence)

    def on_key(self) -> None:
        self.key_line.show_status("")
        self._say_measure()

    def on_screen_suspend(self) -> None:
        self.key_line.show_status("")

    def _show_trace(self) -> None:
        self._show_legend()
        if self.session.picture is not None:
            self.tracks.show_trace(self.session.picture)
        self.top_line.update()
        self.details.renew()
        self._show_chain()
        self._laid_out()

    def _show_legend(self) -> None:
        """A line for it where there is room, and a device that can be idle."""
        picture, tall = self.session.picture, self.size.height >= LEGEND_FROM
        self.minimap.styles.height = 3 if tall and not (picture and is_of_host(picture)) else 2
        self.details.tells_causes = not tall

    @on(Tracks.Aligned)
    def _laid_out(self) -> None:
        """The width of the labels may have changed: everything aligns with it."""
        self.ruler.label_width = self.tracks.label_width
        self.minimap.show_trace(self.tracks.picture, self.tracks.label_width)
        self._show_state()

    def _show_state(self) -> None:
        self.tracks.show_state()
        self.minimap.show_state()
        self.ruler.window = self._shown_window()
        self.ruler.show_state()
        self._say_measure()

    def selected_span(self) -> tuple[int, int] | None:
        """Start and end of the selected gap or slice, ns."""
        state = self.session.state
        if state.gap >= 0 and self.session.analysis is not None:
            gaps = self.session.analysis.gaps
            return int(gaps.start[state.gap]), int(gaps.end[state.gap])
        if state.row >= 0 and self.trace is not None:
            return int(self.trace.slices.start[state.row]), int(self.trace.slices.end[state.row])
        return None

    def marked_window(self) -> tuple[int, int] | None:
        """The window from the mark to the selection or the cursor, whichever is first; None without one."""
        state = self.session.state
        if state.mark is None:
            return None
        start, end = self.selected_span() or (state.place.time_ns, state.place.time_ns)
        return min(state.mark, start), max(state.mark, end)

    def _shown_window(self) -> tuple[int, int] | None:
        return self.marked_window() or self.session.state.window

    def _say_measure(self) -> None:
        """While a window is being made: how far it is from its mark to here, and how long it would be."""
        state, window = self.session.state, self.marked_window()
        was_said, self._measuring = self._measuring, state.mark is not None
        if state.mark is None or window is None:
            if was_said:
                self.key_line.show_status("")
            return
        here = (self.selected_span() or (state.place.time_ns,))[0]
        if here == state.mark:
            moment = format_time(here - state.bounds.start_ns)
            self.key_line.show_status(f"The window starts at {moment}: v at its end ends it, esc drops it.")
            return
        dot = f" {self.viewer.glyphs.dot} "
        length, away = format_exact(window[1] - window[0]), format_exact(here - state.mark)
        self.key_line.show_status(f"window {length}{dot}here {away} from the mark{dot}v ends, esc drops")

    def _reveal(self) -> None:
        """Scroll to the line of the cursor; lay out again if it came from a group that was folded."""
        cursor = self.session.state.place.cursor
        if cursor and self.tracks.lines.index(cursor) < 0:
            self.tracks.lay_out()
        place = self.tracks.lines.index(cursor)
        if place >= 0:
            self.tracks.reveal(place)
