"""The prompt for a time to go to: one line at the bottom that says what the time means as one types."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from tracetui.language import restate, translate
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.panel import Panel
from tracetui.units import format_clock, format_time, parse_time


class TimePrompt(Panel[int]):
    """Closes with a time of the trace in ns, or None."""

    TITLE_OF = "Go to time"
    KEYS = (("enter", "go"), ("esc", "stay"))

    def body(self) -> Iterable[Widget]:
        now = format_clock(self.session.state.place.time_ns).partition(" ")[0]
        yield Input(
            placeholder=translate("12.3ms or 1.2s from the start, or the clock in µs: {now}", now=now),
            compact=True,
        )

    def on_mount(self) -> None:
        self.set_title("")

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        found = self._parsed(message.value)
        if isinstance(found, str):
            self.set_title(found, Role.WARNING if message.value.strip() else Role.DIM)
        else:
            moment = format_time(found - self.session.state.bounds.start_ns, 1)
            self.set_title(f"{moment} = {format_clock(found)}", Role.TEXT)

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        found = self._parsed(message.value)
        if isinstance(found, int):
            self.dismiss(found)

    def _parsed(self, text: str) -> int | str:
        """Return the time that a text means, or why it means none in this trace."""
        if not text.strip():
            return ""
        bounds, trace = self.session.state.bounds, self.session.trace
        try:
            time_ns = parse_time(text, bounds.start_ns, trace.base_ns if trace else 0)
        except ValueError as error:
            return restate(str(error))
        if bounds.start_ns <= time_ns < bounds.end_ns:
            return time_ns
        end = format_time(bounds.end_ns - bounds.start_ns)
        return translate("not in this trace, which ends at {time}", time=end)
