"""From where one looks in a session to the place that opens it elsewhere, and back.

Knows no screen and no app.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.export.tables.row_ids import GAP, SLICE, find_gap, find_slice, gap_ids, slice_id
from tracetui.language import sentences, translate
from tracetui.places import SharedPlace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.rows import idle_key, place_of_slice
from tracetui.ui.session import Session
from tracetui.ui.state import around

OTHER_TRACE = "This place is of another trace: what fits is shown."


def shared_place_of(session: Session, screen: str) -> SharedPlace:
    """Return the place that a session shows on a screen, without what only the screen knows."""
    state, trace, analysis = session.state, session.trace, session.analysis
    origin = state.bounds.start_ns
    rows: tuple[str, ...] = ()
    selected = session.selected_span
    usual = state.viewport.start_ns if selected is None else selected[0]
    moment = state.place.time_ns
    if state.gap >= 0 and analysis is not None:
        rows = tuple(gap_ids(analysis, np.array([state.gap])))
    elif state.row >= 0 and trace is not None:
        rows = (slice_id(trace, state.row),)
    window = state.window
    return SharedPlace(
        screen,
        span=(state.viewport.start_ns - origin, state.viewport.end_ns - origin),
        rows=rows,
        window=None if window is None else (window[0] - origin, window[1] - origin),
        filter=state.filter,
        moment=None if moment == usual else moment - origin,
        cursor=() if rows else state.place.cursor,
        folds=tuple(sorted(state.toggled)),
        pins=state.pinned,
        trace=session.fingerprint,
    )


def open_place(session: Session, place: SharedPlace) -> str:
    """Look at a place, or remember it until all is there that it needs; return what is to be said of it."""
    session.doubt = translate(OTHER_TRACE) if is_of_another(place, session.fingerprint) else ""
    if session.tells_memory:  # it is analysed, or a snapshot that is read
        session.awaited_place = None
        return _show_place(session, place)
    session.awaited_place = place
    session.look_at_place()
    return session.doubt


def _show_place(session: Session, place: SharedPlace) -> str:
    state, trace, analysis = session.state, session.trace, session.analysis
    doubts = [session.doubt] if session.doubt else []
    state.filter, state.toggled, state.pinned = place.filter, frozenset(place.folds), place.pins
    row, gap = _selection(trace, analysis, place.rows)
    if max(row, gap) < 0 and any(name.startswith((f"{GAP}=", f"{SLICE}=")) for name in place.rows):
        doubts.append(translate("What was selected there is not in this trace."))
    viewport = state.bounds if place.span is None else state.part_of(place.span)
    if viewport is None:
        doubts.append(translate("The time of this place is not in this trace."))
        viewport = state.bounds
    window = None if place.window is None else state.part_of(place.window)
    found = replace(
        state.place,
        viewport=viewport,
        row=row,
        gap=gap,
        cursor=place.cursor,
        time_ns=viewport.start_ns,
        window=None if window is None else (window.start_ns, window.end_ns),
    )
    if gap >= 0 and analysis is not None:
        gaps = analysis.gaps
        start, end = int(gaps.start[gap]), int(gaps.end[gap])
        device = analysis.devices[int(gaps.device[gap])].device
        found = replace(found, cursor=idle_key(device), time_ns=start)
    elif row >= 0 and trace is not None:
        start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
        cursor, hidden = place_of_slice(trace, row, state.toggled)
        state.toggled ^= {hidden} if hidden else frozenset()
        found = replace(found, cursor=cursor, time_ns=start)
    if max(row, gap) >= 0 and place.span is None:
        found = replace(found, viewport=around(start, end, state.bounds, state.least_ns))
    if place.moment is not None:
        latest = max(state.bounds.end_ns - 1, state.bounds.start_ns)
        moment = min(max(state.bounds.start_ns + place.moment, state.bounds.start_ns), latest)
        found = replace(found, time_ns=moment)
    state.go(found)
    return sentences(doubts)


def is_of_another(place: SharedPlace, trace: str) -> bool:
    """Return whether a place says that it is of another trace than that of a fingerprint, which may be ""."""
    return bool(place.trace and trace and place.trace != trace)


def _selection(trace: Trace | None, analysis: Analysis | None, rows: tuple[str, ...]) -> tuple[int, int]:
    """Return the slice or the gap that is selected; -1 for none."""
    for name in rows:
        row = find_slice(trace, name) if trace is not None else -1
        gap = find_gap(analysis, name) if analysis is not None else -1
        if max(row, gap) >= 0:
            return (row, -1) if row >= 0 else (-1, gap)
    return -1, -1
