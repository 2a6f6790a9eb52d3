"""The timeline: what its keys and the mouse do. They change `self.session.state`; the widgets draw it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from textual import on
from textual.binding import BindingType

from tracetui.ui.actions import bindings
from tracetui.ui.drawing.rows import LineKind, Row, hiding, track_key
from tracetui.ui.editor import open_in_editor
from tracetui.ui.follow import follow
from tracetui.ui.screens.search import SearchPrompt, same_name, step_to_hit
from tracetui.ui.screens.time_prompt import TimePrompt
from tracetui.ui.screens.timeline_view import TimelineView
from tracetui.ui.screens.track_finder import TrackFinder
from tracetui.ui.state import Key, Viewport
from tracetui.ui.steps import beside, gap_beside, snapped
from tracetui.ui.widgets.minimap import Minimap
from tracetui.ui.widgets.tracks import Tracks
from tracetui.units import format_exact, format_time

PAN_PARTS = 8  #: a pan moves by one eighth of the screen
ZOOM = (2, 3)  #: a zoom in leaves two thirds of the span


class TimelineScreen(TimelineView):
    """Tracks over time, the map of the whole trace above them, the details of the selection below."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]

    # Moving in time

    def action_pan(self, by: int) -> None:
        state = self.session.state
        state.pan(by * max(state.viewport.span_ns // PAN_PARTS, 1))
        self.viewer.view_changed()

    def action_to_end(self, way: int) -> None:
        """Show the start (way -1) or the end (1) of the trace; the span stays."""
        state = self.session.state
        view, bounds = state.viewport, state.bounds
        state.pan(bounds.start_ns - view.start_ns if way < 0 else bounds.end_ns - view.end_ns)
        self.viewer.view_changed()

    def action_zoom(self, by: int) -> None:
        state = self.session.state
        anchor = state.place.time_ns
        if not state.viewport.start_ns <= anchor < state.viewport.end_ns:
            anchor = state.viewport.centre_ns
        self._zoom(by, anchor)

    def _zoom(self, by: int, anchor_ns: int) -> None:
        closer, farther = ZOOM[0] ** abs(by), ZOOM[1] ** abs(by)
        ratio = (closer, farther) if by > 0 else (farther, closer)
        self.session.state.zoom(*ratio, anchor_ns)
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
        state, line = self.session.state, self._cursor_line()
        if time_ns is None or line is None:
            return
        state.pan(time_ns - state.viewport.centre_ns)
        self.viewer.view_changed()
        self._to_line(self.tracks.lines.index(line.key), time_ns)

    def action_fit_selection(self) -> None:
        span = self.selected_span() or self.session.state.window
        if span is None:
            self.viewer.show_status("Nothing is selected.")
            return
        start, end = span
        margin = max((end - start) // 40, 1)
        self.session.state.look(Viewport(start - margin, end + margin))
        self.viewer.view_changed()

    # Selecting

    def _cursor_line(self) -> Row | None:
        """The line of the cursor; the first line where there is no cursor yet."""
        lines = self.tracks.lines
        place = max(lines.index(self.session.state.place.cursor), 0)
        return lines.lines[place] if lines.lines else None

    def action_event(self, by: int) -> None:
        line, picture, state = self._cursor_line(), self.tracks.picture, self.session.state
        if line is None or picture is None:
            return
        if line.kind is LineKind.IDLE:
            self._to_gap(line.key, gap_beside(picture, line.device, state.gap, state.place.time_ns, by))
        elif _is_unread(line):
            self.viewer.show_status("Nothing of this line is read yet.")
        elif line.kind in (LineKind.LANE, LineKind.FOLDED):
            lane = line.lane if line.lane >= 0 else picture.trace.tracks[line.track].lanes[0]
            row = beside(picture.trace, lane, state.row, state.place.time_ns, by)
            if row >= 0:
                self.viewer.select(row)
        elif line.curve:
            self._along_curve(line, by)
        else:
            self.action_pan(by)

    def _along_curve(self, line: Row, by: int) -> None:
        """Move the cursor to the next column of a curve: to the most that it holds, else to its start."""
        picture, state, columns = self.tracks.picture, self.session.state, self.tracks.columns
        curve = picture.curve(line.curve) if picture is not None else None
        if curve is None:
            return
        at = min(max(state.viewport.column_of(state.place.time_ns, columns), -1), columns) + by
        start, end = state.viewport.time_of(at, columns), state.viewport.time_of(at + 1, columns)
        start = min(max(start, state.bounds.start_ns), state.bounds.end_ns - 1)
        told = curve.series.within(start, max(end, start + 1))
        time_ns = start if told is None else told.most_ns
        viewport = state.viewport.showing(time_ns, time_ns + 1, state.bounds)
        place = replace(state.place, viewport=viewport, cursor=line.curve, row=-1, gap=-1, time_ns=time_ns)
        state.go(place, "select")
        self.viewer.selection_changed()

    def _to_gap(self, cursor: Key, gap: int) -> None:
        """Select a gap on the line of its device, without zooming."""
        viewer, state = self.viewer, self.session.state
        if gap >= 0 and self.session.analysis is not None:
            gaps = self.session.analysis.gaps
            start, end = int(gaps.start[gap]), int(gaps.end[gap])
            viewport = state.viewport.showing(start, end, state.bounds)
            place = replace(state.place, viewport=viewport, gap=gap, row=-1, cursor=cursor, time_ns=start)
            state.go(place, "select")
            viewer.selection_changed()

    def action_track(self, by: int) -> None:
        lines, state = self.tracks.lines, self.session.state
        if lines.lines:
            at = lines.index(state.place.cursor)
            place = max(at + by, 0) if at >= 0 else 0
            while by > 0 and place < len(lines.lines) and lines.lines[place].part:
                place += 1  # a curve counts as one line
            if place < len(lines.lines):
                self._to_line(place, state.place.time_ns)

    def _to_line(self, place: int, time_ns: int, end_ns: int | None = None) -> None:
        """Put the cursor on a line, and select what is there at a time (or within a column)."""
        picture, viewer, state = self.tracks.picture, self.viewer, self.session.state
        line = self.tracks.lines.lines[place]
        cursor, row, gap = line.curve or line.key, -1, -1
        if _is_unread(line):
            pass
        elif picture is not None and line.kind is LineKind.LANE:
            row = picture.slice_at(line.lane, time_ns)
            if row < 0 and end_ns is not None:
                row = int(picture.lane(line.lane, np.array([time_ns, end_ns], np.int64)).row[0])
        elif picture is not None and line.kind is LineKind.FOLDED:
            edges = np.array([time_ns, end_ns or time_ns + 1], np.int64)
            row = int(picture.folded(picture.trace.tracks[line.track], edges).row[0])
        elif picture is not None and line.kind is LineKind.IDLE:
            gap = picture.gap_at(line.device, time_ns)
        state.go(replace(state.place, cursor=cursor, row=row, gap=gap, time_ns=time_ns), "select")
        viewer.selection_changed()

    def action_other_pane(self) -> None:
        """From the tracks to the details, where keys scroll, and back."""
        (self.tracks if self.details.has_focus else self.details).focus()

    def action_flow(self, by: int) -> None:
        viewer, state, trace = self.viewer, self.session.state, self.trace
        if trace is None:
            return
        if state.gap >= 0 and self.session.analysis is not None:
            viewer.select(int(self.session.analysis.gaps.after[state.gap]))
            return
        row = state.row
        links = self.session.analysis.links if self.session.analysis is not None else None
        found = follow(trace, links, row, by, self.details.chain) if row >= 0 else -1
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
            self.viewer.show_status("There is no Python stack for this selection.")

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

    def _hit(self, row: int | None) -> None:
        if row is not None and row >= 0:
            self.viewer.select(row)
            self.viewer.show_status(f"{self.session.state.search.count}  n N: next, previous")

    def action_find_track(self) -> None:
        self.app.push_screen(TrackFinder(self.session), self._to_track)

    def _to_track(self, key: Key | None) -> None:
        picture, state = self.tracks.picture, self.session.state
        if key is None or picture is None:
            return
        for hidden in hiding(picture.trace, picture.extras, key, state.toggled):
            state.toggle(hidden)
        self.tracks.lay_out()
        for place, line in enumerate(self.tracks.lines.lines):
            if line.key[: len(key)] == key:
                self._to_line(place, state.place.time_ns)
                return

    # Window, folds and pins

    def action_mark_window(self) -> None:
        """Start a window at the selection, or end the one that was started."""
        state, window = self.session.state, self.marked_window()
        if window is None:
            state.mark = (self.selected_span() or (state.place.time_ns,))[0]
        else:
            state.mark = None
            self._set_window(*window)
            self._say_window()
        self.viewer.view_changed()

    def action_window_selection(self) -> None:
        span = self.selected_span()
        if span is not None:
            self._set_window(*span)
            self._say_window()

    def _say_window(self) -> None:
        """The window that was set, and how long it is."""
        state = self.session.state
        if state.window is not None:
            start, end = state.window
            moments = (format_time(moment - state.bounds.start_ns) for moment in (start, end))
            self.viewer.show_status(f"Window of {format_exact(end - start)}: {' to '.join(moments)}.")

    def _set_window(self, start_ns: int, end_ns: int, burst: str | None = None) -> None:
        state = self.session.state
        state.go(replace(state.place, window=(start_ns, max(end_ns, start_ns + 1))), burst)
        self.viewer.view_changed()

    def action_fold(self) -> None:
        line = self._cursor_line()
        if line is not None and line.foldable:
            self._fold(line.foldable)

    def _fold(self, key: Key) -> None:
        state = self.session.state
        state.toggle(key)
        self.tracks.lay_out()
        if self.tracks.lines.index(state.place.cursor) < 0:
            cursor = key if self.tracks.lines.index(key) >= 0 else (*key, "0")
            state.place = replace(state.place, cursor=cursor)
        self._laid_out()
        self._reveal()

    def action_pin(self) -> None:
        line, trace = self._cursor_line(), self.trace
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
            edge = self._snapped(line, message.time_ns)
            start, end = sorted((self._snapped(line, state.place.time_ns), edge))
            if end > start:
                self._set_window(start, end, "drag")
                self._say_window()
        elif message.on_label and line.kind is LineKind.GROUP:
            self._fold(line.foldable)
        else:
            column = max(state.viewport.span_ns // self.tracks.columns, 1)
            self._to_line(message.place, message.time_ns, message.time_ns + column)

    def _snapped(self, line: Row, time_ns: int) -> int:
        """A time moved to the edge of a slice of the line, if there is one within two columns."""
        if self.trace is None or line.lane < 0:
            return time_ns
        reach = 2 * self.session.state.viewport.span_ns // self.tracks.columns
        return snapped(self.trace, line.lane, time_ns, reach)

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


def _is_unread(line: Row) -> bool:
    """Whether a line is only expected: nothing of it is read."""
    return line.track < 0 if line.kind is LineKind.FOLDED else line.kind is LineKind.LANE and line.lane < 0
