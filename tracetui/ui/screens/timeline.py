"""The timeline: its widgets, how they follow the messages of the app, and what its keys and the mouse do.

Keys and the mouse change `self.session.state`; the widgets draw it.
"""

from __future__ import annotations

from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult

from tracetui.language import translate
from tracetui.trace.model import Trace
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.rows import LineKind, hiding, track_key
from tracetui.ui.editor import open_in_editor
from tracetui.ui.messages import (
    CurvesChanged,
    ProgressChanged,
    RankingChanged,
    SelectionChanged,
    Status,
    TraceChanged,
    ViewChanged,
)
from tracetui.ui.neighbours import follow
from tracetui.ui.screens.search import SearchPrompt, same_name, step_to_hit
from tracetui.ui.screens.time_prompt import TimePrompt
from tracetui.ui.screens.track_finder import TrackFinder
from tracetui.ui.state import TrackKey, Viewport
from tracetui.ui.stories.time_window import measure_words, window_sentence
from tracetui.ui.timeline_cursor import TimelineCursor
from tracetui.ui.viewer_screen import ViewerScreen
from tracetui.ui.widgets.details import NO_STACK, Details
from tracetui.ui.widgets.minimap import Minimap
from tracetui.ui.widgets.ruler import Ruler
from tracetui.ui.widgets.status import KeyLine, TopLine
from tracetui.ui.widgets.tracks import Tracks

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


class TimelineScreen(ViewerScreen[None]):
    """Tracks over time, the map of the whole trace above them, the details of the selection below."""

    CSS = "TimelineScreen { background: ansi_default; }"
    AUTO_FOCUS = "Tracks"
    BINDINGS = bindings("timeline")
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
        self.cursor = TimelineCursor(self.viewer, session, self.tracks)
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
        """Return what `copy` copies: the details of the selection."""
        state = self.session.state
        return (
            self.details.text if max(state.row, state.gap) >= 0 or self.details.curve_spot is not None else ""
        )

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

    def on_notes_changed(self) -> None:
        self.ruler.show_state()

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
        """Give the legend a line where there is room, and a device that can be idle."""
        picture, tall = self.session.picture, self.size.height >= LEGEND_FROM
        self.minimap.styles.height = 3 if tall and not (picture and picture.is_of_host) else 2
        self.details.tells_causes = not tall

    @on(Tracks.Aligned)
    def _laid_out(self) -> None:
        """Align everything with the labels, whose width may have changed."""
        self.ruler.label_width = self.tracks.label_width
        self.minimap.show_trace(self.tracks.picture, self.tracks.label_width)
        self._show_state()

    def _show_state(self) -> None:
        self.tracks.show_state()
        self.minimap.show_state()
        self.ruler.window = self.session.marked_window or self.session.state.window
        self.ruler.show_state()
        self._say_measure()

    def _say_measure(self) -> None:
        """Say how far the mark of a window is, and how long it would be, while one is being made."""
        was_measuring, self._measuring = self._measuring, self.session.state.mark is not None
        if self._measuring or was_measuring:
            self.key_line.show_status(measure_words(self.session, self.glyphs))

    def _reveal(self) -> None:
        """Scroll to the line of the cursor; lay out again if it came from a group that was folded."""
        cursor = self.session.state.place.cursor
        if cursor and self.tracks.lines.index(cursor) < 0:
            self.tracks.lay_out()
        line_place = self.tracks.lines.index(cursor)
        if line_place >= 0:
            self.tracks.reveal(line_place)

    # Moving in time

    def action_pan(self, by: int) -> None:
        self.session.state.pan_parts(by)
        self.viewer.view_changed()

    def action_to_end(self, way: int) -> None:
        """Show the start (way -1) or the end (1) of the trace; the span stays."""
        self.session.state.pan_to_end(way)
        self.viewer.view_changed()

    def action_zoom(self, by: int) -> None:
        state = self.session.state
        anchor = state.place.time_ns
        if not state.viewport.start_ns <= anchor < state.viewport.end_ns:
            anchor = state.viewport.centre_ns
        self._zoom(by, anchor)

    def _zoom(self, by: int, anchor_ns: int) -> None:
        self.session.state.zoom_levels(by, anchor_ns)
        self.viewer.view_changed()

    def action_show_all(self) -> None:
        self.session.state.look(self.session.state.bounds)
        self.viewer.view_changed()

    def action_go_to_time(self) -> None:
        if self.trace is None:
            self.viewer.show_status("Nothing is read yet.")
        else:
            self.app.push_screen(TimePrompt(self.session), self._go_to)

    def _go_to(self, time_ns: int | None) -> None:
        """Put the cursor at a time in the middle of the screen, on the line that it is on."""
        state, line = self.session.state, self.cursor.line
        if time_ns is None or line is None:
            return
        state.pan(time_ns - state.viewport.centre_ns)
        self.viewer.view_changed()
        self.cursor.to_line(self.tracks.lines.index(line.key), time_ns)

    def action_fit_selection(self) -> None:
        span = self.session.selected_span or self.session.state.window
        if span is None:
            self.viewer.show_status("Nothing is selected.")
            return
        start, end = span
        margin = max((end - start) // 40, 1)
        self.session.state.look(Viewport(start - margin, end + margin))
        self.viewer.view_changed()

    # Selecting

    def action_event(self, by: int) -> None:
        if not self.cursor.step(by):
            self.action_pan(by)

    def action_track(self, by: int) -> None:
        self.cursor.to_line_beside(by)

    def action_other_pane(self) -> None:
        """Go from the tracks to the details, where keys scroll, and back."""
        (self.tracks if self.details.has_focus else self.details).focus()

    def action_flow(self, by: int) -> None:
        viewer, state, trace = self.viewer, self.session.state, self.trace
        if trace is None:
            return
        if state.gap >= 0 and self.session.analysis is not None:
            viewer.select(int(self.session.analysis.gaps.after[state.gap]))
            return
        row = state.row
        chains = self.session.analysis.launch_chains if self.session.analysis is not None else None
        found = follow(trace, chains, row, by, self.details.chain) if row >= 0 else -1
        if found < 0:
            viewer.show_status("The flow ends here." if row >= 0 else "Nothing is selected.")
            return
        first, last = sorted(int(trace.slices.start[end]) for end in (row, found))
        if last - first < state.viewport.span_ns * 4 // 5:  # both fit: pan no further than that
            state.look(state.viewport.showing(first, last + 1, state.bounds), "select")
        self.followed = found
        viewer.select(found)

    def action_rank_gaps(self) -> None:
        self.viewer.action_rank_gaps()

    def action_nth_gap(self, rank: int) -> None:
        self.viewer.action_nth_gap(rank)

    def action_stack(self) -> None:
        if not self.details.toggle_stack():
            self.viewer.show_status(NO_STACK)

    def open_editor(self) -> None:
        found = self.details.find_source()
        self.viewer.show_status(found if isinstance(found, str) else open_in_editor(self.app, *found))

    def on_warnings_asked(self) -> None:
        """Show the details of no selection: they start with the warnings, then tell of the run."""
        self.viewer.select(-1)
        self.details.show_state()
        self.details.tell_run()
        if not self.session.warnings:
            self.viewer.show_status("There are no warnings.")

    # Searching

    def action_search(self) -> None:
        self.app.push_screen(SearchPrompt(self.session), self._hit)

    def action_next_hit(self, by: int) -> None:
        state = self.session.state
        if self.trace is not None and len(state.search.hits):
            self._hit(step_to_hit(self.trace, state.search, state.row, state.viewport.start_ns, by))
        else:
            self.viewer.show_status("Nothing is searched for: press /.")

    def action_search_same(self) -> None:
        state = self.session.state
        if self.trace is not None and state.row >= 0:
            state.search = same_name(self.trace, state.row)
            self._hit(state.row)
        else:
            self.viewer.show_status("No slice is selected.")

    def _hit(self, row: int | None) -> None:
        if row is not None and row >= 0:
            self.viewer.select(row)
            position_words = self.session.state.search.count
            self.viewer.show_status(translate("{place}  n N: next, previous", place=position_words))

    def action_find_track(self) -> None:
        self.app.push_screen(TrackFinder(self.session), self._to_track)

    def _to_track(self, key: TrackKey | None) -> None:
        picture, state = self.tracks.picture, self.session.state
        if key is None or picture is None:
            return
        for hidden in hiding(picture.trace, picture.extras, key, state.toggled):
            state.toggle(hidden)
        self.tracks.lay_out()
        for place, line in enumerate(self.tracks.lines.lines):
            if line.key[: len(key)] == key:
                self.cursor.to_line(place, state.place.time_ns)
                return

    # Window, folds and pins

    def action_mark_window(self) -> None:
        """Start a window at the selection, or end the one that was started."""
        state, window = self.session.state, self.session.marked_window
        if window is None:
            state.mark = (self.session.selected_span or (state.place.time_ns,))[0]
        else:
            state.mark = None
            self._set_window(*window)
            self._say_window()
        self.viewer.view_changed()

    def action_window_selection(self) -> None:
        span = self.session.selected_span
        if span is not None:
            self._set_window(*span)
            self._say_window()

    def _say_window(self) -> None:
        self.viewer.show_status(window_sentence(self.session))

    def _set_window(self, start_ns: int, end_ns: int, burst: str | None = None) -> None:
        state = self.session.state
        state.go(replace(state.place, window=(start_ns, max(end_ns, start_ns + 1))), burst)
        self.viewer.view_changed()

    def action_fold(self) -> None:
        line = self.cursor.line
        if line is not None and line.fold_key:
            self._fold(line.fold_key)

    def _fold(self, key: TrackKey) -> None:
        state = self.session.state
        state.toggle(key)
        self.tracks.lay_out()
        if self.tracks.lines.index(state.place.cursor) < 0:
            cursor = key if self.tracks.lines.index(key) >= 0 else (*key, "0")
            state.place = replace(state.place, cursor=cursor)
        self._laid_out()
        self._reveal()

    def action_pin(self) -> None:
        line, trace = self.cursor.line, self.trace
        if line is not None and trace is not None and (line.curve or line.track >= 0):
            self.session.state.toggle_pin(line.curve or track_key(trace.tracks[line.track]))
            self.tracks.lay_out()
            self._laid_out()

    def step_back(self) -> bool:
        """Drop the latest thing that was begun; False if there is nothing."""
        state = self.session.state
        if self.details.has_focus:
            self.tracks.focus()
        elif self.details.shows_stack:
            self.details.toggle_stack()
        elif state.mark is not None:
            state.mark = None
            self.viewer.view_changed()
        elif self.session.progress is not None:
            return False
        elif state.window is not None:
            state.go(replace(state.place, window=None))
            self.viewer.view_changed()
        elif max(state.row, state.gap) >= 0:
            self.viewer.select(-1)
        else:
            return False
        return True

    # The mouse

    @on(Tracks.Pressed)
    def _pressed(self, message: Tracks.Pressed) -> None:
        message.stop()
        if message.place < 0:
            return
        line, state = self.tracks.lines.lines[message.place], self.session.state
        if message.dragging:
            edge = self.cursor.snapped(line, message.time_ns)
            start, end = sorted((self.cursor.snapped(line, state.place.time_ns), edge))
            if end > start:
                self._set_window(start, end, "drag")
                self._say_window()
        elif message.on_label and line.kind is LineKind.GROUP:
            self._fold(line.fold_key)
        else:
            column = max(state.viewport.span_ns // self.tracks.columns, 1)
            self.cursor.to_line(message.place, message.time_ns, message.time_ns + column)

    @on(Tracks.Wheeled)
    def _wheeled(self, message: Tracks.Wheeled) -> None:
        message.stop()
        if message.sideways:
            self.action_pan(message.turn)
        elif message.time_ns is None:
            self.tracks.scroll_lines(self.tracks.top + 3 * message.turn)
        else:
            self._zoom(-message.turn, message.time_ns)

    @on(Minimap.Pressed)
    def _to_time(self, message: Minimap.Pressed) -> None:
        message.stop()
        state = self.session.state
        state.pan(message.time_ns - state.viewport.centre_ns)
        self.viewer.view_changed()
