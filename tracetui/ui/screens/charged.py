"""What the screens share that show what idle time is charged to: it is charged in a thread, at first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.message import Message

from tracetui.analysis.analyse import Analysis
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.widgets.source import SourcePane

_NO_FILE = "This is no line of a Python file."
_NO_STACK = "No Python stack is recorded for what launched these tasks."
_NO_STACKS = "No Python stack is recorded in this trace. The profiler records them with with_stack=True."


class ChargedScreen(AnswerScreen):
    """A screen with a source, of the idle time of an analysis."""

    CHARGED_TO: ClassVar[str] = ""  #: "lines", said meanwhile

    @dataclass
    class Charged(Message, bubble=False):
        """The idle time of an analysis is charged."""

        analysis: Analysis

    def charge(self, analysis: Analysis) -> None:
        """Have made what takes a while of what is shown; in a thread."""
        raise NotImplementedError

    def show_charged(self, analysis: Analysis) -> None:
        """Show it."""
        raise NotImplementedError

    @property
    def source(self) -> SourcePane:
        """The pane that shows the line of source."""
        return self.query_one(SourcePane)

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if not analysis.devices:
            self.nothing("No device in this trace: there is no idle time to charge.")
        elif not any(device.idle_ns for device in analysis.devices):
            self.nothing("The device was never idle.")
        else:
            self.missing(f"Charging the idle time to {self.CHARGED_TO}.")
            self.in_background("charge", lambda: self._charge(analysis))

    def _charge(self, analysis: Analysis) -> Message:
        self.charge(analysis)
        return self.Charged(analysis)

    @on(Charged)
    def _show_charged(self, message: Charged) -> None:
        if message.analysis is self.session.analysis:
            self.source.files = self.session.sources
            self.show_charged(message.analysis)

    def say_no_source(self, without_stack: bool) -> None:
        """Say in place of the source why there is none: no stack was recorded, or no file."""
        analysis = self.session.analysis
        if analysis is not None and not analysis.has_python:
            self.source.nothing = _NO_STACKS
        else:
            self.source.nothing = _NO_STACK if without_stack else _NO_FILE
