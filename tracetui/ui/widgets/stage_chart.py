"""The chart of a pipeline: a line of cells for each stage, over the time of one step.

A pass is a box with its letter and the number of its micro-batch; what is empty between boxes is the bubble.
"""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.export.job.pipeline import pass_letters
from tracetui.job.pipeline_blocks import BACKWARD, BOTH, FORWARD, WEIGHTS
from tracetui.job.pipeline_chart import Pass, StageChart
from tracetui.language import translate
from tracetui.trace.model import Activity
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.drawing.ticks import ticks_line
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget


class StageChartView(InViewer, CachedLineWidget):
    """The passes of the stages under an axis of time; those around the chosen stage where room is short."""

    DEFAULT_CSS = "StageChartView { width: 1fr; height: 1fr; }"

    _chart: StageChart | None = None
    _stage = 0

    def show(self, chart: StageChart | None, stage: int) -> None:
        """Show a chart with a stage (its place among them) chosen."""
        if (chart, stage) != (self._chart, self._stage):
            self._chart, self._stage = chart, stage
            self.redraw()

    def legend(self) -> list[StyledText]:
        """Say what the boxes are."""
        dim = self.style_of(Role.DIM)
        weights: list[StyledText] = []
        if self._chart is not None and any(
            drawn.way in (BOTH, WEIGHTS) for passes in self._chart.passes.values() for drawn in passes
        ):
            weights = [
                (" W1 ", self._box(WEIGHTS)),
                (f" {translate('weights')}  ", dim),
                (" F", self._box(FORWARD)),
                ("B ", self._box(BACKWARD)),
                (f" {translate('both at once')}  ", dim),
            ]
        return [
            (" F1 ", self._box(FORWARD)),
            (f" {translate('forward')}  ", dim),
            (" B1 ", self._box(BACKWARD)),
            (f" {translate('backward')}  ", dim),
            *weights,
            (f" {self.glyphs.dot * 3} ", dim),
            (f" {translate('bubble')}", dim),
        ]

    def _box(self, way: int) -> Style:
        if way == WEIGHTS:
            return self.palette.paint_of(Activity.COPY).box
        return self.palette.paint_of(Activity.COMPUTE if way == FORWARD else Role.HOST).box

    def draw_line(self, y: int) -> Strip:
        chart, width = self._chart, self.size.width
        if chart is None:
            return Strip.blank(width)
        stages = [*chart.passes]
        names = [translate("stage {number}", number=stage) for stage in stages]
        label = max(map(len, names)) + 2
        cells = max(width - label, 1)
        if y == 0:
            text = ticks_line((chart.start, chart.end), chart.start, cells, self.glyphs.tick)
            axis = [(" " * label, Style.null()), (text, self.style_of(Role.DIM))]
            return fitted(axis, width, self.glyphs.ellipsis)
        lines = max(self.size.height - 1, 1)
        first = max(min(self._stage - lines // 2, len(stages) - lines), 0)
        place = first + y - 1
        if place >= len(stages):
            return Strip.blank(width)
        chosen = place == self._stage
        mark = self.glyphs.here if chosen else " "
        style = self.style_of(Role.TITLE if chosen else Role.TEXT)
        return Strip(
            [
                Segment(f"{mark}{names[place]}".ljust(label), style),
                *self._boxes(chart, chart.passes[stages[place]], cells),
            ],
            width,
        )

    def _boxes(self, chart: StageChart, passes: tuple[Pass, ...], cells: int) -> list[Segment]:
        """Draw the passes of a stage, in their order, and the bubble between them."""
        length = max(chart.end - chart.start, 1)
        dim = self.style_of(Role.DIM)
        segments: list[Segment] = []
        at = 0
        for drawn in sorted(passes, key=lambda drawn: drawn.start):
            first = max((drawn.start - chart.start) * cells // length, at)
            stop = min(max((drawn.end - chart.start) * cells // length, first + 1), cells)
            if stop <= first:
                continue
            if first > at:
                segments.append(Segment(self.glyphs.dot * (first - at), dim))
            segments += self._pass_box(drawn, stop - first)
            at = stop
        if at < cells:
            segments.append(Segment(self.glyphs.dot * (cells - at), dim))
        return segments

    def _pass_box(self, drawn: Pass, room: int) -> list[Segment]:
        """Draw a pass; of two at once, a letter of either in turn."""
        if drawn.way == BOTH:
            ways = (FORWARD, BACKWARD)
            return [
                Segment(letter, self._box(ways[place % 2]))
                for place, letter in enumerate(pass_letters(BOTH, room))
            ]
        letter = pass_letters(drawn.way, 1)
        text = f"{letter}{drawn.number + 1}"
        text = text if len(text) < room else letter
        return [Segment(text.ljust(room)[:room], self._box(drawn.way))]
