"""What the details pane says of a curve: its value at the cursor, and what it did in a stretch of time."""

from __future__ import annotations

from typing import NamedTuple

from tracetui.analysis.counter_tracks import CounterTrack
from tracetui.trace.clean import printable
from tracetui.trace.quantity import format_value
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.state import ViewState
from tracetui.units import format_count, format_duration, format_time

_STARVES = "where it is 0, nothing waits for the device: it starves as soon as it is done with what it runs"


class CurveAt(NamedTuple):
    """A curve, and the time it is told of: a moment, and a window or what is on screen, ns."""

    curve: CounterTrack
    time_ns: int
    span: tuple[int, int]
    is_window: bool


def curve_at(picture: Picture | None, state: ViewState) -> CurveAt | None:
    """Return the curve that the cursor is on; None where something is selected, or it is on another line."""
    curve = picture.curve(state.place.cursor) if picture is not None else None
    if curve is None or max(state.row, state.gap) >= 0:
        return None
    start, end = state.window or (state.viewport.start_ns, state.viewport.end_ns)
    if picture is not None and picture.sketch is not None and len(curve.series):
        end = min(end, int(curve.series.time[-1]) + 1)  # what comes after it is not read yet
    span = start, end
    return CurveAt(curve, state.place.time_ns, span, state.window is not None)


def describe_curve(at: CurveAt, origin_ns: int, pen: Pen) -> list[Line]:
    """Name, value at a time, then mean, least and most in a span of time and in all; times from an origin."""
    curve, time_ns, span, is_window = at
    dot = f" {pen.glyphs.dot} "
    place = dot.join(printable(part, 60) for part in (curve.device, curve.group) if part)
    value = curve.series.at(time_ns)
    here = "nothing is known yet" if value is None else format_value(value, curve.unit)
    lines: list[Line] = [
        [pen.text(f" {printable(curve.name, 200)}", Role.TITLE), pen.text(f"  {place}", Role.DIM)],
        [
            pen.label("here"),
            pen.text(here, Role.NUMBER),
            pen.text("  at ", Role.DIM),
            pen.text(format_time(time_ns - origin_ns)),
        ],
    ]
    if curve.shows_nothing:
        lines[-1].append(pen.text(f"  {_STARVES}", Role.DIM))
    lines.append(_stretch("window" if is_window else "screen", curve, span, origin_ns, pen))
    if len(curve.series):
        first, last = int(curve.series.time[0]), int(curve.series.time[-1])
        lines.append(_stretch("all", curve, (first, last + 1), origin_ns, pen))
    return lines


def _stretch(label: str, curve: CounterTrack, span: tuple[int, int], origin_ns: int, pen: Pen) -> Line:
    """ "mean 1,575 MHz  least 900 MHz at 1.204 s  most 1,800 MHz at 0.1 s  12 samples in 4.2 ms" """
    told = curve.series.within(*span)
    if told is None:
        return [pen.label(label), pen.text("nothing is known of it", Role.DIM)]
    line: Line = [
        pen.label(label),
        pen.text("mean ", Role.DIM),
        pen.text(format_value(told.mean, curve.unit), Role.NUMBER),
    ]
    for word, value, at in (("least", told.least, told.least_ns), ("most", told.most, told.most_ns)):
        line += [
            pen.text(f"  {word} ", Role.DIM),
            pen.text(format_value(value, curve.unit), Role.NUMBER),
            pen.text(f" at {format_time(at - origin_ns)}"),
        ]
    samples = f"{format_count(told.samples)} sample{'s' if told.samples != 1 else ''}"
    line.append(pen.text(f"  {samples} in {format_duration(span[1] - span[0])}", Role.DIM))
    return line
