"""What is said of the window of time: while it is being made, and once it is."""

from __future__ import annotations

from tracetui.language import translate
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.session import Session
from tracetui.units import format_exact, format_time


def measure_words(session: Session, glyphs: Glyphs) -> str:
    """Say how far it is from the mark of a window to here, and how long it would be; "" without a mark."""
    state, window = session.state, session.marked_window
    if state.mark is None or window is None:
        return ""
    here = (session.selected_span or (state.place.time_ns,))[0]
    if here == state.mark:
        moment = format_time(here - state.bounds.start_ns)
        return translate("The window starts at {time}: v at its end ends it, esc drops it.", time=moment)
    dot = f" {glyphs.dot} "
    length, away = format_exact(window[1] - window[0]), format_exact(here - state.mark)
    facts = translate("window {time}", time=length), translate("here {time} from the mark", time=away)
    return dot.join((*facts, translate("v ends, esc drops")))


def window_sentence(session: Session) -> str:
    """Say which window is set, and how long it is; "" where none is."""
    state = session.state
    if state.window is None:
        return ""
    start, end = state.window
    first, last = (format_time(moment - state.bounds.start_ns) for moment in (start, end))
    return translate(
        "Window of {time}: {start} to {end}.", time=format_exact(end - start), start=first, end=last
    )
