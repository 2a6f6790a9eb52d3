"""What the details pane says of a curve: its value at the cursor, and what it did in a span of time."""

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


class CurveSpot(NamedTuple):
    """A curve with a moment, and a span of time: the window, or what is on screen; ns."""

    curve: CounterTrack
    time_ns: int
    span: tuple[int, int]
    is_window: bool


def curve_at(picture: Picture | None, state: ViewState) -> CurveSpot | None:
    """Return the curve that the cursor is on; None where something is selected, or it is on another line."""
    curve = picture.curve(state.place.cursor) if picture is not None else None
    if curve is None or max(state.row, state.gap) >= 0:
        return None
    start, end = state.window or (state.viewport.start_ns, state.viewport.end_ns)
    if picture is not None and picture.sketch is not None and len(curve.series):
        end = min(end, int(curve.series.time[-1]) + 1)  # what comes after it is not read yet
    span = start, end
    return CurveSpot(curve, state.place.time_ns, span, state.window is not None)


def describe_curve(spot: CurveSpot, origin_ns: int, pen: Pen) -> list[Line]:
    """Return name and value of a curve, then mean, least and most in a span and in all."""
    curve, time_ns, span, is_window = spot
    dot = f" {pen.glyphs.dot} "
    place = dot.join(printable(part, 60) for part in (curve.device, curve.group) if part)
    value = curve.series.at(time_ns)
    value_text = "nothing is known yet" if value is None else format_value(value, curve.unit)
    lines: list[Line] = [
        [pen.text(f" {printable(curve.name, 200)}", Role.TITLE), pen.text(f"  {place}", Role.DIM)],
        [
            pen.label("here"),
            pen.text(value_text, Role.NUMBER),
            pen.text("  at ", Role.DIM),
            pen.text(format_time(time_ns - origin_ns)),
        ],
    ]
    if curve.shows_nothing:
        lines[-1].append(pen.text(f"  {_STARVES}", Role.DIM))
    lines.append(_span_line("window" if is_window else "screen", curve, span, origin_ns, pen))
    if len(curve.series):
        first, last = int(curve.series.time[0]), int(curve.series.time[-1])
        lines.append(_span_line("all", curve, (first, last + 1), origin_ns, pen))
    return lines


def _span_line(label: str, curve: CounterTrack, span: tuple[int, int], origin_ns: int, pen: Pen) -> Line:
    """Return "mean 1,575 MHz  least 900 MHz at 1.204 s  most 1,800 MHz at 0.1 s  12 samples in 4.2 ms"."""
    summary = curve.series.within(*span)
    if summary is None:
        return [pen.label(label), pen.text("nothing is known of it", Role.DIM)]
    line: Line = [
        pen.label(label),
        pen.text("mean ", Role.DIM),
        pen.text(format_value(summary.mean, curve.unit), Role.NUMBER),
    ]
    for word, value, time_ns in (
        ("least", summary.least, summary.least_ns),
        ("most", summary.most, summary.most_ns),
    ):
        line += [
            pen.text(f"  {word} ", Role.DIM),
            pen.text(format_value(value, curve.unit), Role.NUMBER),
            pen.text(f" at {format_time(time_ns - origin_ns)}"),
        ]
    samples = f"{format_count(summary.samples)} sample{'s' if summary.samples != 1 else ''}"
    line.append(pen.text(f"  {samples} in {format_duration(span[1] - span[0])}", Role.DIM))
    return line
