"""The statistics of the window, over the screen in front: the window marked, else what the timeline shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorTable
from tracetui.analysis.window import WindowStatistics, window_statistics
from tracetui.export.tables.column import Table
from tracetui.export.tables.operators import OPERATORS
from tracetui.language import clauses, counted, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Track
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.panel import Panel
from tracetui.ui.screens.table_screen import TableKeys
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import place_of
from tracetui.ui.tables.operator_columns import name_count, operator_columns
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_percent, format_time


class StatisticsPanel(TableKeys, Panel[None]):
    """Time per name inside the window; tab goes from the devices to the host to the track selected."""

    DEFAULT_CSS = """
    StatisticsPanel #numbers { height: 50vh; }
    StatisticsPanel #numbers Lines { height: 2; }
    """
    AUTO_FOCUS = "Table"
    BINDINGS = bindings("statistics")
    TITLE_OF = "Statistics"
    KEYS = (("tab", "host"), ("enter", "longest"), ("esc", "close"))

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view = 0
        self._names: OperatorTable | None = None

    def body(self) -> Iterable[Widget]:
        with Vertical(id="numbers"):
            yield Lines()
            yield TableWidget()

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
        window = self.session.state.shown_window
        self._show_window(analysis, window, self._track() if self._view == 2 else None, self._view == 1)
        template = "window {span}" if self.session.state.window else "screen {span}"
        self.set_title(translate(template, span=window_bounds(analysis, window)))

    def _show_window(self, analysis: Analysis, window: tuple[int, int], of: Track | None, host: bool) -> None:
        """Show the window of a track; without one, of the devices or of the host."""
        tracks = () if of is None else (of,)
        inside = window_statistics(analysis.trace, tracks, analysis.devices, *window)
        names = inside.names if of is not None else analysis.operators_in_window(*window, host=host).by_name()
        what = translate("host operators") if host else translate("tasks that work")
        rows = translate(
            "{names} of {count} {what}, {time} cut to the window",
            names=name_count(len(names)),
            count=f"{int(names.count.sum()):,}",
            what=what if of is None else track_words(of),
            time=format_duration(int(names.self_ns.sum())),
        )
        idle = (idle_answer(analysis, inside), self.style_of(Role.IDLE))
        self.query_one("#numbers Lines", Lines).show([[idle], [(rows, self.style_of(Role.TEXT))]])
        columns = operator_columns(names, analysis.trace, self.palette, self.glyphs, host)
        self.table.empty = "Nothing runs there."
        self.table.show(columns, len(names), sort=place_of(columns, "self_ns" if host else "total_ns"))
        self._names = names

    def action_next_view(self) -> None:
        self._view = (self._view + 1) % (3 if self._track() is not None else 2)
        self._show()

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        if self._names is not None and self.is_active:
            self.dismiss(None)
            self.viewer.show_slice(int(self._names.longest[message.row]))


def window_bounds(analysis: Analysis, window: tuple[int, int]) -> str:
    """Return "0.120 s .. 0.130 s"."""
    step = (window[1] - window[0]) // 100
    start, end = (format_time(time - analysis.trace.start_ns, step) for time in window)
    return f"{start} .. {end}"


def idle_answer(analysis: Analysis, inside: WindowStatistics) -> str:
    """Return "10.0 ms: idle 3.10 ms (31.0 %), the longest 500 µs; 45 gaps of 4.20 ms".

    The share is that of the timeline: of the window of the device, which is named where it is not all.
    """
    span = inside.end_ns - inside.start_ns
    if not inside.device_ns:
        where = (
            "{time}: outside the device's window"
            if analysis.devices
            else "{time}: no known device in this trace"
        )
        return translate(where, time=format_duration(span))
    devices, length = len(analysis.devices), format_duration(span)
    if devices > 1:
        length = translate("{time} on {count} devices", time=length, count=devices)
    template = "idle {time} ({share})"
    if inside.device_ns < span * devices:
        template = "idle {time} ({share} of the devices' {window})"
        if devices == 1:
            template = "idle {time} ({share} of the device's {window})"
    idle = [
        translate(
            template,
            time=format_duration(inside.idle_ns),
            share=format_percent(inside.idle_ns, inside.device_ns),
            window=format_duration(inside.device_ns),
        )
    ]
    if inside.idle_ns:
        idle.append(translate("the longest stretch {time}", time=format_duration(inside.longest_idle_ns)))
    count = counted(inside.gaps, "1 gap", "{count} gaps")
    gaps = translate("{gaps} of {time}", gaps=count, time=format_duration(inside.gap_ns))
    return translate("{span}: {facts}", span=length, facts=semicolon_list((clauses(idle), gaps)))


def track_words(track: Track) -> str:
    """Return the process and the thread of a track."""
    name = f"{printable(track.process, 40)} {printable(track.name, 40)}"
    return translate("slices on {track}", track=name)
