"""What the flame view says in words: what is on screen, and the frame under the cursor."""

from __future__ import annotations

from tracetui.analysis.analyse import Analysis
from tracetui.language import counted, names, translate
from tracetui.trace.clean import printable
from tracetui.ui.branches import frame_kind
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.widgets.flame import FlameView, shown_frame
from tracetui.ui.widgets.source import LINE_AT_START
from tracetui.units import format_duration, format_percent

MAX_SMALL = 4  #: names of small frames shown at most


def flame_answer(analysis: Analysis, view: FlameView) -> str:
    """Return "25.0 ms of idle time by stack; below train: 23.8 ms (95.0 %)"."""
    time = format_duration(analysis.idle_ns)
    if analysis.has_python:
        answer = translate("{time} of idle time by stack", time=time)
    elif analysis.has_scopes:
        answer = translate("{time} of idle time by scope: no Python stack is recorded", time=time)
    else:
        answer = translate("{time} of idle time by operator: no Python stack is recorded", time=time)
    if view.zoomed and view.cells:
        top = view.cells[0][0]
        share = format_percent(top.idle_ns, analysis.idle_ns)
        answer = translate(
            "{answer}; below {name}: {time} ({share})",
            answer=answer,
            name=view.label(top),
            time=format_duration(top.idle_ns),
            share=share,
        )
    return answer


def flame_story(analysis: Analysis, view: FlameView, palette: Palette) -> list[list[StyledText]]:
    """Return the frame under the cursor: what it is, its idle time, where it was called from."""
    flame, caller = view.flame, view.caller
    if flame is None:
        return []
    text, dim, number = (palette.style_of(role) for role in (Role.TEXT, Role.DIM, Role.NUMBER))
    own_ns = sum(node.own_ns for node in flame.nodes)
    numbers: list[StyledText] = [
        (translate("idle {time}", time=format_duration(flame.idle_ns)), number),
        (translate(" ({share} of all)", share=format_percent(flame.idle_ns, analysis.idle_ns)), text),
    ]
    if flame.node is not None:
        gaps = flame.nodes[0].gaps
        numbers.append((translate(", own {time}", time=format_duration(own_ns)), text))
        if gaps:
            numbers.append((counted(gaps, ", in 1 gap", ", in {count} gaps"), text))
    if caller is not None and caller.idle_ns:
        share = format_percent(flame.idle_ns, caller.idle_ns)
        numbers.append((translate("; {share} of {name}", share=share, name=view.label(caller)), dim))
    callers = view.landmarks()  # those that are the user's or modules
    path = translate("in {callers}", callers=" > ".join(callers)) if callers else ""
    return [_title_line(analysis, view, palette), numbers, [(path, dim)]]


def _title_line(analysis: Analysis, view: FlameView, palette: Palette) -> list[StyledText]:
    """Return the name of the frame, or the names of the small frames that are drawn together."""
    flame = view.flame
    assert flame is not None
    title, dim = palette.style_of(Role.TITLE), palette.style_of(Role.DIM)
    if flame.node is None:
        small = [printable(str(node.frame or ""), 60) for node in flame.small[:MAX_SMALL]]
        small += ["..."] if len(flame.small) > MAX_SMALL else []
        return [(f"{view.label(flame)}: ", title), (names(small), dim)]
    frame = shown_frame(flame)
    if frame is None:
        return [(view.label(flame), title)]
    kind = f"  {translate(frame_kind(frame, view.branches.rules).value)}" if analysis.has_python else ""
    if frame in analysis.frames_at_start:
        kind += f" {view.glyphs.dot} {translate(LINE_AT_START)}"
    return [(printable(str(frame), 160), title), (kind, dim)]
