"""What the details pane says of a curve: its value at the cursor, and what it did in a span of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tracetui.language import counted, translate
from tracetui.trace.clean import printable
from tracetui.trace.quantity import format_value
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.state import ViewState
from tracetui.units import format_duration, format_time

if TYPE_CHECKING:
    from tracetui.analysis.counter_tracks import CounterTrack

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
    start, end = state.shown_window
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
    value_text = translate("nothing is known yet") if value is None else format_value(value, curve.unit)
    lines: list[Line] = [
        [pen.text(f" {printable(curve.name, 200)}", Role.TITLE), pen.text(f"  {place}", Role.DIM)],
        [
            pen.label(translate("here")),
            pen.text(value_text, Role.NUMBER),
            *pen.compose("  at {time}", Role.DIM, time=pen.text(format_time(time_ns - origin_ns))),
        ],
    ]
    if curve.shows_nothing:
        lines[-1].append(pen.text(f"  {translate(_STARVES)}", Role.DIM))
    label = translate("window") if is_window else translate("screen")
    lines.append(_span_line(label, curve, span, origin_ns, pen))
    if len(curve.series):
        first, last = int(curve.series.time[0]), int(curve.series.time[-1])
        lines.append(_span_line(translate("all"), curve, (first, last + 1), origin_ns, pen))
    return lines


def _span_line(label: str, curve: CounterTrack, span: tuple[int, int], origin_ns: int, pen: Pen) -> Line:
    """Return "mean 1,575 MHz  least 900 MHz at 1.204 s  most 1,800 MHz at 0.1 s  12 samples in 4.2 ms"."""
    summary = curve.series.within(*span)
    if summary is None:
        return [pen.label(label), pen.text(translate("nothing is known of it"), Role.DIM)]
    line: Line = [
        pen.label(label),
        *pen.compose("mean {value}", Role.DIM, value=_value_piece(summary.mean, curve, pen)),
    ]
    for template, value, time_ns in (
        ("  least {value} at {time}", summary.lowest, summary.lowest_ns),
        ("  most {value} at {time}", summary.highest, summary.highest_ns),
    ):
        time = format_time(time_ns - origin_ns)
        line += pen.compose(template, Role.DIM, value=_value_piece(value, curve, pen), time=time)
    samples = counted(summary.samples, "1 sample", "{count} samples")
    length = format_duration(span[1] - span[0])
    line += pen.compose("  {samples} in {time}", Role.DIM, samples=samples, time=length)
    return line


def _value_piece(value: float, curve: CounterTrack, pen: Pen) -> StyledText:
    """Return a value of a curve in its unit."""
    return pen.text(format_value(value, curve.unit), Role.NUMBER)
