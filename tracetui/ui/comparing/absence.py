"""What is said of two open traces that cannot be compared: which they are, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.language import clauses, counted, sentences, translate
from tracetui.ui.comparing.pair import ComparedPair
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.session import Session
from tracetui.ui.viewer import Viewer
from tracetui.ui.widgets.lines import Pieces
from tracetui.units import format_duration

_WHY = (
    "Compared are the steps of devices: their idle time, operators and communication. A trace of the host "
    "alone has none of that, and is looked at alone."
)
_NEXT = "{key} compares with the next open trace."
_OTHER_TRACES = "tracetui A B opens two other traces."


def absence_lines(
    sessions: Sequence[Session], pair: ComparedPair, width: int, palette: Palette
) -> list[Pieces]:
    """Return why there is nothing to compare, in lines of a width."""
    dim, text = palette.style_of(Role.DIM), palette.style_of(Role.TEXT)
    lines: list[Pieces] = [[]]
    for name, place in (("BASE", pair.base), ("OTHER", pair.other)):
        analysis = sessions[place].analysis
        if analysis is None:
            return []
        count = len(analysis.devices)
        devices = counted(count, "1 device", "{count} devices") if count else translate("no device")
        span = format_duration(analysis.trace.end_ns - analysis.trace.start_ns)
        lines.append([(f"{name:<6} ", dim), (f"{clauses((span, devices))}: {sessions[place].name}", text)])
    advice = sentences((translate(_WHY), translate(_NEXT if len(sessions) > 2 else _OTHER_TRACES, key="}")))
    return [*lines, [], *([(line, text)] for line in wrapped(advice, width))]


def next_pair(viewer: Viewer) -> tuple[tuple[str, str], ...]:
    """Return the hint of the key that compares with another open trace, where there is one."""
    return (("}", "next pair"),) if len(viewer.sessions) > 2 else ()
