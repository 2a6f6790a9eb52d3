"""Four heat maps: streams over time, idle time of steps by phase and by cause, lengths of gaps over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from rich.style import Style
from textual import events, on
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat import Heat, cause_step, gap_lengths, step_phase, stream_busy
from tracetui.analysis.raster import idle
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.causes import cause_style, cause_words
from tracetui.ui.drawing.palette import Role
from tracetui.ui.messages import ViewChanged
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.widgets.heat import HeatMap, shades
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_duration, format_percent, format_time

VIEWS = ("streams over time", "steps by phase", "gap lengths over time", "causes by step")
STREAMS, PHASES, LENGTHS, CAUSES = range(4)
#: slices from which a thread makes a map
MANY_SLICES = 200_000


class HeatmapScreen(AnswerScreen):
    """One heat map at a time; tab shows the next."""

    DEFAULT_CSS = """
    HeatmapScreen #readout { height: 2; }
    """
    AUTO_FOCUS = "HeatMap"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("heatmap")]
    TITLE_OF = "Heatmap"
    KEYS = (("tab", "next map"), ("arrows", "cell"), ("enter", "open in the timeline"), ("T", "timeline"))

    @dataclass
    class Made(Message, bubble=False):
        """The map of what was wanted."""

        wanted: object
        analysis: Analysis
        heat: Heat | None

    def __init__(self) -> None:
        super().__init__()
        self._view = 0
        self._wanted: object = None  # what the next map is of

    def body(self) -> Iterable[Widget]:
        yield HeatMap(self.viewer.palette, self.viewer.glyphs)
        yield Lines(self.viewer.glyphs, id="readout")

    @property
    def map(self) -> HeatMap:
        return self.query_one(HeatMap)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.refresh_answer)

    def on_view_changed(self, message: ViewChanged) -> None:
        if self.viewer.state.window is not None:
            self.refresh_answer()

    def action_next_view(self) -> None:
        self._view = (self._view + 1) % len(VIEWS)
        self.map.row = self.map.column = 0
        self.refresh_answer()

    def action_cell(self, rows: int, columns: int) -> None:
        self.map.move_to(self.map.row + rows, self.map.column + columns)

    def missing(self, sentence: str) -> None:
        self.map.show(None, lambda row: Style.null())
        self.query_one("#readout", Lines).show([])
        self.say(sentence, self._views())

    def build(self) -> None:
        analysis = self.viewer.analysis
        assert analysis is not None
        if not analysis.devices:
            self.missing("No device in this trace: there is nothing to heat.")
            return
        self._wanted = self._view, self.viewer.state.window, self.size
        if len(analysis.trace.slices) < MANY_SLICES:
            self._show_made(self._make(analysis))
        else:
            self.say("making the map", self._views())
            self.in_background("heat", lambda: self._make(analysis))

    def _make(self, analysis: Analysis) -> Made:
        return self.Made(self._wanted, analysis, self._heat(analysis))

    @on(Made)
    def _show_made(self, made: Made) -> None:
        if made.wanted is not self._wanted:
            return
        analysis, heat = made.analysis, made.heat
        if heat is None or not heat.values.size:
            self.missing(_nothing(self._view, analysis))
            return
        self.map.show(heat, self._ink(analysis, heat), analysis.trace.start_ns)
        self.say(self._answer(analysis, heat), self._views())

    def _heat(self, analysis: Analysis) -> Heat | None:
        start_ns, end_ns = self.viewer.state.window or (analysis.trace.start_ns, analysis.trace.end_ns)
        if self._view == PHASES:
            return step_phase(analysis.steps) if analysis.steps else None
        if self._view == CAUSES:
            heat = cause_step(analysis.causes, analysis.gaps, analysis.steps)
            return replace(heat, rows=tuple(cause_words(cause) for cause in analysis.causes.by_cause()))

        def over_time(columns: int) -> Heat:
            columns = min(columns, max(end_ns - start_ns, 1))
            if self._view == STREAMS:
                return with_idle(stream_busy(analysis.trace, start_ns, end_ns, columns), analysis)
            return gap_lengths(analysis.gaps, start_ns, end_ns, columns)

        return over_time(self.map.time_columns(over_time(1).rows))

    def _ink(self, analysis: Analysis, heat: Heat) -> Callable[[int], Style]:
        """Idle time is bright, work has the colour of what it is."""
        palette, bright = self.viewer.palette, self.style_of(Role.IDLE)
        if self._view == CAUSES:
            causes = list(analysis.causes.by_cause())
            return lambda row: cause_style(causes[row], palette)
        first_work = len(heat.rows) - len(heat.work)
        return lambda row: bright if row < first_work else palette.style_of(heat.work[row - first_work])

    def _answer(self, analysis: Analysis, heat: Heat) -> str:
        if len(heat.edges):
            where = "" if self.viewer.state.window is None else " in the window"
            return f"{heat.title}{where}; a column is {format_duration(int(heat.edges[1] - heat.edges[0]))}"
        if self._view == CAUSES:
            (cause, ns), *_ = analysis.causes.by_cause().items()
            return f"{heat.title}; most is {cause_words(cause)}, {format_percent(ns, analysis.idle_ns)}"
        return heat.title

    def _views(self) -> list[tuple[str, Style]]:
        """The maps there are, the one shown marked."""
        pieces = []
        for place, name in enumerate(VIEWS):
            role = Role.TITLE if place == self._view else Role.DIM
            pieces.append((f"{name}  " if place < len(VIEWS) - 1 else name, self.style_of(role)))
        return (
            pieces
            if self.size.width >= 140
            else [(f"{self._view + 1}/{len(VIEWS)}", self.style_of(Role.DIM))]
        )

    @on(HeatMap.Moved)
    def _read_out(self, message: HeatMap.Moved) -> None:
        heat, analysis = self.map.heat, self.viewer.analysis
        if heat is None or analysis is None:
            return
        steps = ("nothing", "to 20 %", "40 %", "60 %", "80 %", "more")
        legend = "   ".join(f"{step} {mark * 2}" for step, mark in zip(steps, shades(self.viewer.glyphs)))
        self.query_one("#readout", Lines).show(
            [
                [
                    (
                        readout(heat, message.row, message.column, analysis.trace.start_ns),
                        self.style_of(Role.NUMBER),
                    )
                ],
                [(legend, self.style_of(Role.DIM))],
            ]
        )

    @on(HeatMap.Activated)
    def _activated(self, message: HeatMap.Activated) -> None:
        self.action_open_cell()

    def copy_text(self) -> str:
        """The numbers of the cell under the cursor."""
        return self.query_one("#readout", Lines).text.split("\n")[0]

    def action_open_cell(self) -> None:
        """Show the time, or the gap, of the cell in the timeline."""
        heat = self.map.heat
        if heat is None or not heat.values.size:
            return
        if heat.gap is not None:
            gap = int(heat.gap[self.map.row, self.map.column])
            if gap >= 0:
                self.viewer.go_to_gap(gap)
                self.viewer.action_go("timeline")
            return
        start, end = (int(times[self.map.row, self.map.column]) for times in (heat.start, heat.end))
        if end > start:
            self.viewer.show_interval(start, end)


def with_idle(heat: Heat, analysis: Analysis) -> Heat:
    """The map with the idle time of each device on top."""
    busy = np.stack([idle(device.idle, heat.edges).busy for device in analysis.devices])
    several = len(analysis.devices) > 1
    return replace(
        heat,
        rows=(*(f"{device.device} idle" if several else "idle" for device in analysis.devices), *heat.rows),
        values=np.concatenate([busy / np.maximum(np.diff(heat.edges), 1), heat.values]),
        ns=np.concatenate([busy, heat.ns]),
        start=np.concatenate([np.broadcast_to(heat.edges[:-1], busy.shape), heat.start]),
        end=np.concatenate([np.broadcast_to(heat.edges[1:], busy.shape), heat.end]),
    )


def readout(heat: Heat, row: int, column: int, origin_ns: int) -> str:
    """The exact numbers of a cell: "Stream 2 · 0.129 s .. 0.131 s · 1.23 ms, 61.5 %"."""
    ns, start, end = (int(values[row, column]) for values in (heat.ns, heat.start, heat.end))
    times = (int(heat.edges[column]), int(heat.edges[column + 1])) if len(heat.edges) else (start, end)
    where = printable(heat.columns[column], 60) if heat.columns else ""
    if heat.gap is not None:
        return _of_cause(heat, row, column)
    words = [printable(heat.rows[row], 60), where]
    if times[1] > times[0]:
        step = max((times[1] - times[0]) // 100, 1)
        words.append(" .. ".join(format_time(time - origin_ns, step) for time in times))
        words.append(f"{format_duration(ns)}, {format_percent(ns, times[1] - times[0])}")
    else:
        words.append("not known")
    if end > start and (start, end) != times:
        words.append(f"opens its longest, {format_duration(end - start)}")
    return " · ".join(word for word in words if word)


def _of_cause(heat: Heat, row: int, column: int) -> str:
    """ "P python · step 52 · 1.23 ms, 61.5 % of its idle time · worst gap 0.4 ms" """
    ns, idle = int(heat.ns[row, column]), int(heat.ns[:, column].sum())
    name = printable(heat.columns[column], 60)
    words = [heat.rows[row], name if name.startswith("no ") else f"step {name}"]
    words.append(f"{format_duration(ns)}, {format_percent(ns, idle)} of its idle time")
    if ns:
        length = int(heat.end[row, column] - heat.start[row, column])
        words.append(f"worst gap {format_duration(length)}")
    return " · ".join(words)


def _nothing(view: int, analysis: Analysis) -> str:
    if view == PHASES:
        return "No ProfilerStep in this trace: no steps to compare. tab shows the next map."
    if view == CAUSES:
        return "No idle time: there is nothing to explain. tab shows the next map."
    return (
        "No gap: the AI cores were busy all the time."
        if view == LENGTHS
        else "No device stream in this trace."
    )
