"""The statistics of the window, over the screen in front: the window marked, else what the timeline shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tracetui.analysis.operators import OperatorTable
from tracetui.export.tables.column import Table
from tracetui.export.tables.operators import OPERATORS
from tracetui.language import translate
from tracetui.trace.model import Track
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.panel import Panel
from tracetui.ui.screens.table_screen import TableKeys
from tracetui.ui.session import Session
from tracetui.ui.widgets.statistics import Statistics, window_bounds
from tracetui.ui.widgets.table import TableWidget


class StatisticsPanel(TableKeys, Panel[None]):
    """Time per name inside the window; tab goes from the devices to the host to the track selected."""

    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("statistics")]
    TITLE_OF = "Statistics"
    KEYS = (("tab", "host"), ("enter", "longest"), ("esc", "close"))

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view = 0
        self._names: OperatorTable | None = None

    def body(self) -> Iterable[Widget]:
        yield Statistics()

    def on_mount(self) -> None:
        self.call_after_refresh(self._show)  # the panel's own on_mount comes after this one

    @property
    def table(self) -> TableWidget:
        return self.query_one(TableWidget)

    def export_name(self) -> str:
        return "window"

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self._names is None else (OPERATORS, self._names)

    def _track(self) -> Track | None:
        trace, row = self.session.trace, self.session.state.row
        return trace.track_of(row) if trace is not None and row >= 0 else None

    def _show(self) -> None:
        analysis = self.session.analysis
        if analysis is None:
            self.set_title(self.session.unanswered, Role.WARNING)
            return
        if not analysis.devices and self._view == 0:
            self._view = 1
        track = self._track() if self._view == 2 else None
        window = self.session.state.shown_window
        self._names = self.query_one(Statistics).show(analysis, window, track, host=self._view == 1)
        template = "window {span}" if self.session.state.window else "screen {span}"
        self.set_title(translate(template, span=window_bounds(analysis, window)))

    def action_next_view(self) -> None:
        self._view = (self._view + 1) % (3 if self._track() is not None else 2)
        self._show()

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        if self._names is not None and self.is_active:
            self.dismiss(None)
            self.viewer.show_slice(int(self._names.longest[message.row]))
