"""The cursor of the timeline: the line that it is on, and what it selects there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracetui.ui.drawing.rows import LineKind, TimelineRow
from tracetui.ui.neighbours import gap_beside, nearest_edge, slice_beside
from tracetui.ui.session import Session
from tracetui.ui.state import TrackKey
from tracetui.ui.viewer import Viewer
from tracetui.ui.widgets.tracks import Tracks


class TimelineCursor:
    """Moves over the lines of the tracks; the state of the session says where it is."""

    def __init__(self, viewer: Viewer, session: Session, tracks: Tracks) -> None:
        self._viewer, self._session, self._tracks = viewer, session, tracks

    @property
    def line(self) -> TimelineRow | None:
        """The line of the cursor; the first line where there is no cursor yet."""
        lines = self._tracks.lines
        place = max(lines.index(self._session.state.place.cursor), 0)
        return lines.lines[place] if lines.lines else None

    def step(self, by: int) -> bool:
        """Select what is beside the cursor on its line; return False where the line has nothing to select."""
        line, picture, state = self.line, self._tracks.picture, self._session.state
        if line is None or picture is None:
            return True
        if line.kind is LineKind.IDLE:
            self._to_gap(line.key, gap_beside(picture, line.device, state.gap, state.place.time_ns, by))
        elif is_unread(line):
            self._viewer.show_status("Nothing of this line is read yet.")
        elif line.kind in (LineKind.LANE, LineKind.FOLDED):
            lane = line.lane if line.lane >= 0 else picture.trace.tracks[line.track].lanes[0]
            row = slice_beside(picture.trace, lane, state.row, state.place.time_ns, by)
            if row >= 0:
                self._viewer.select(row)
        elif line.curve:
            self._along_curve(line, by)
        else:
            return False
        return True

    def _along_curve(self, line: TimelineRow, by: int) -> None:
        """Move the cursor to the next column of a curve: to the most that it holds, else to its start."""
        picture, state, columns = self._tracks.picture, self._session.state, self._tracks.columns
        curve = picture.curve(line.curve) if picture is not None else None
        if curve is None:
            return
        at = min(max(state.viewport.column_of(state.place.time_ns, columns), -1), columns) + by
        start, end = state.viewport.time_of(at, columns), state.viewport.time_of(at + 1, columns)
        start = min(max(start, state.bounds.start_ns), state.bounds.end_ns - 1)
        sample = curve.series.within(start, end)
        time_ns = start if sample is None else sample.highest_ns
        viewport = state.viewport.showing(time_ns, time_ns + 1, state.bounds)
        place = replace(state.place, viewport=viewport, cursor=line.curve, row=-1, gap=-1, time_ns=time_ns)
        state.go(place, "select")
        self._viewer.selection_changed()

    def _to_gap(self, cursor: TrackKey, gap: int) -> None:
        """Select a gap on the line of its device, without zooming."""
        viewer, state = self._viewer, self._session.state
        if gap >= 0 and self._session.analysis is not None:
            gaps = self._session.analysis.gaps
            start, end = int(gaps.start[gap]), int(gaps.end[gap])
            viewport = state.viewport.showing(start, end, state.bounds)
            place = replace(state.place, viewport=viewport, gap=gap, row=-1, cursor=cursor, time_ns=start)
            state.go(place, "select")
            viewer.selection_changed()

    def to_line_beside(self, by: int) -> None:
        """Go so many lines down, or up where negative, at the same time."""
        lines, state = self._tracks.lines, self._session.state
        if lines.lines:
            at = lines.index(state.place.cursor)
            place = max(at + by, 0) if at >= 0 else 0
            while by > 0 and place < len(lines.lines) and lines.lines[place].part:
                place += 1  # a curve counts as one line
            if place < len(lines.lines):
                self.to_line(place, state.place.time_ns)

    def to_line(self, place: int, time_ns: int, end_ns: int | None = None) -> None:
        """Put the cursor on a line, and select what is there at a time (or within a column)."""
        picture, viewer, state = self._tracks.picture, self._viewer, self._session.state
        line = self._tracks.lines.lines[place]
        cursor, row, gap = line.curve or line.key, -1, -1
        if is_unread(line):
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

    def snapped(self, line: TimelineRow, time_ns: int) -> int:
        """Return a time, moved to the edge of a slice of the line, if there is one within two columns."""
        trace = self._session.trace
        if trace is None or line.lane < 0:
            return time_ns
        reach = 2 * self._session.state.viewport.span_ns // self._tracks.columns
        return nearest_edge(trace, line.lane, time_ns, reach)


def is_unread(line: TimelineRow) -> bool:
    """Return whether a line is only expected: nothing of it is read."""
    return line.track < 0 if line.kind is LineKind.FOLDED else line.kind is LineKind.LANE and line.lane < 0
