"""What happens inside a window of time: the idle time in one line, and time per name as a table."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorTable
from tracetui.analysis.window import WindowStatistics, window_statistics
from tracetui.language import clauses, counted, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Track
from tracetui.ui.drawing.palette import Role
from tracetui.ui.tables.operator_columns import name_count, operator_columns
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_percent, format_time


class Statistics(InViewer, Vertical):
    """The statistics of a window; of all work of the devices, of the host, or of one track."""

    DEFAULT_CSS = """
    Statistics { width: 1fr; height: 50vh; }
    Statistics Lines { height: 2; }
    """

    def compose(self) -> ComposeResult:
        yield Lines()
        yield TableWidget()

    @property
    def table(self) -> TableWidget:
        """The table of the names in the window."""
        return self.query_one(TableWidget)

    def show(
        self, analysis: Analysis, window: tuple[int, int], of: Track | None, host: bool
    ) -> OperatorTable:
        """Show the window of a track; without one, of the devices or of the host. Returns the rows."""
        tracks = () if of is None else (of,)
        inside = window_statistics(analysis.trace, tracks, analysis.devices, *window)
        names = inside.names if of is not None else analysis.operators_in_window(*window, host=host).by_name()
        text = self.style_of(Role.TEXT)
        what = translate("host operators") if host else translate("tasks that work")
        rows = translate(
            "{names} of {count} {what}, {time} cut to the window",
            names=name_count(len(names)),
            count=f"{int(names.count.sum()):,}",
            what=what if of is None else track_words(of),
            time=format_duration(int(names.self_ns.sum())),
        )
        idle = self.style_of(Role.IDLE)
        self.query_one(Lines).show([[(idle_answer(analysis, inside), idle)], [(rows, text)]])
        columns = operator_columns(names, analysis.trace, self.palette, self.glyphs, host=host and of is None)
        ranked = "self_ns" if host and of is None else "total_ns"
        total_column = next(place for place, column in enumerate(columns) if column.key == ranked)
        self.table.empty = "Nothing runs there."
        self.table.show(columns, len(names), sort=total_column)
        return names


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
            "{time}: outside the device's window" if analysis.devices else "{time}: no device in this trace"
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
