"""The list of the traces that are open, to choose the one to look at."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.language import clauses, translate
from tracetui.reader.errors import plain
from tracetui.ui.screens.chooser import Choice, Chooser
from tracetui.ui.session import Session
from tracetui.units import format_bytes, format_duration, format_percent


class OpenTraces(Chooser[int]):
    """Chooses one by some letters of its name; it is read when it is first shown."""

    TITLE_OF = "Open traces"
    PLACEHOLDER = "some letters of the trace; { and } flip without this list"

    def choices(self) -> Sequence[Choice[int]]:
        sessions = self.viewer.sessions
        return [Choice(session.name, note(session), place) for place, session in enumerate(sessions)]

    def on_mount(self) -> None:
        self.choose_anew()
        self.point_at(self.viewer.sessions.index(self.session))

    def on_progress_changed(self) -> None:
        self.choose_anew()

    def on_trace_changed(self) -> None:
        self.choose_anew()

    def chosen(self, value: int) -> None:
        if self.is_active:
            viewer = self.viewer
            self.dismiss(None)
            viewer.call_later(lambda: viewer.show_session(viewer.sessions[value]))


def note(session: Session) -> str:
    """Return how large the file is, and how far it is read or how idle its devices were."""
    try:
        size = format_bytes(session.path.stat().st_size)
    except OSError as error:
        size = plain(str(error.strerror))
    if session.analysis is not None:
        span = format_duration(session.analysis.trace.end_ns - session.analysis.trace.start_ns)
        window = sum(device.window_ns for device in session.analysis.devices)
        idle = sum(device.idle_ns for device in session.analysis.devices)
        state = span
        if window:
            state = clauses((span, translate("idle {share}", share=format_percent(idle, window))))
    elif session.progress is not None:
        state = translate("reading, {share} %", share=session.share)
    elif session.problem:
        state = session.problem
    else:
        state = translate("analysing") if session.trace is not None else translate("not opened yet")
    return f"{size:>8}  {state}"
