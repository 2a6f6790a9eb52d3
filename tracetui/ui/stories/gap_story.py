"""The story of one gap: its parts, why it was idle, what ran around it, where the task that ended it is from.

Pure: makes lines of styled text, knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.style import Style

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.lead import LeadLosses
from tracetui.analysis.links import Chain
from tracetui.export.text import aligned, padded
from tracetui.language import tell, wording
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame
from tracetui.ui.branches import package_of
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.ui.stories.gap_shares import main_line
from tracetui.ui.stories.gap_words import GapWords, gap_title
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.gap_columns import task_words
from tracetui.units import format_duration

_CELLS = 9


def exact_us(ns: int) -> str:
    """Microseconds with all digits of the nanoseconds, so that sums can be checked: "3,210.123"."""
    return f"{ns // 1000:,}.{ns % 1000:03d}"


class GapStory(Story):
    """Writes of gaps."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__(palette, glyphs)
        self._inks = time_inks(palette, glyphs)

    def lines(
        self,
        analysis: Analysis,
        gap: int,
        rank: int,
        chain: Chain | None,
        width: int,
        losses: LeadLosses | None = None,
    ) -> list[Line]:
        """All lines, the most telling first; `chain` is that of the task that ended the gap.

        `losses`: where the host lost its lead, once that is known.
        """
        stack, backward, _ = main_line(analysis, gap)
        title = gap_title(analysis, gap, rank, self._glyphs)
        lines = [self._ruled(title, width), self._parts(analysis, gap)]
        lines += GapWords(analysis, gap, Pen(self._palette, self._glyphs), losses).lines(width, "")
        lines.append(self._line(stack, backward, analysis.rules))
        lines.append(self._labelled(tell("ran before"), task_words(analysis, int(analysis.gaps.before[gap]))))
        lines.append(
            self._labelled(tell("ended by"), task_words(analysis, int(analysis.gaps.after[gap])), self._bold)
        )
        lines += self._hops(analysis, gap, chain)
        lines += self._stack(stack, backward, analysis.rules)
        return lines

    def _parts(self, analysis: Analysis, gap: int) -> Line:
        gaps, inks = analysis.gaps, self._inks
        parts = (
            (tell("idle"), gaps.idle, inks.idle),
            (tell("comm"), gaps.communication, inks.communication),
            (printable(analysis.engines_in_gap(gap), 40), gaps.aicpu, inks.aicpu),
            (tell("copy"), gaps.copy, inks.copy),
        )
        line: Line = []
        for name, values, ink in parts:
            if ns := int(values[gap]):
                line += [(" + ", self._dim)] if line else []
                line += [(f"{ink.glyph} ", ink.style), (f"{name} ", self._text), (exact_us(ns), self._bold)]
        whole = int(gaps.end[gap] - gaps.start[gap])
        one_part = int(gaps.idle[gap]) == whole
        return [*line, (" µs" if one_part else f" = {exact_us(whole)} µs", self._text)]

    def _line(self, stack: tuple[Frame, ...], backward: bool, rules: FrameRules) -> Line:
        """The user's line that most of the idle time of the main cause is charged to."""
        frame = rules.line_of(stack)
        if frame is None:
            return self._labelled(tell("line"), tell("not known: no stack leads to it"), self._dim)
        style = self._palette.style_of(Role.USER_LINE)
        line = self._labelled(tell("line"), f"{printable(frame.file, 200)}({frame.line})", style)
        function = printable(frame.function, 80)
        told = tell("{function}, of the backward pass", function=function) if backward else function
        return [*line, (f" {told}", self._text)]

    def _labelled(self, label: str, text: str, style: Style | None = None) -> Line:
        return [(padded(label, _CELLS + 2), self._dim), (text, style or self._text)]

    def _hops(self, analysis: Analysis, gap: int, chain: Chain | None) -> Iterator[Line]:
        """The way of the task that ended the gap: when each hop began, from the gap's start; what it took."""
        if chain is None:
            yield [(tell("The task that ended it is not linked to the host."), self._dim)]
            return
        start = int(analysis.gaps.start[gap])
        yield [(_cells("", tell("began"), tell("took"), tell("to next")), self._dim)]
        for hop in chain.hops:
            began = hop.start_ns - start
            sign = "+" if began >= 0 else ""
            to_next = format_duration(hop.wait_ns) if hop is not chain.hops[-1] else ""
            times = _cells(wording(hop.name), sign + format_duration(began), format_duration(hop.dur_ns))
            yield [
                (times, self._text),
                (f"{to_next:>{_CELLS}}", self._bold),
                (f"  {printable(analysis.trace.name(hop.row), 200)}", self._text),
            ]
        if chain.missing is not None:
            yield [(tell("{hop} not found: the trace does not tell", hop=wording(chain.missing)), self._dim)]

    def _stack(self, stack: tuple[Frame, ...], backward: bool, rules: FrameRules) -> Iterator[Line]:
        """The stack leaf first; the user's own frames stand out, those of packages are counted."""
        if stack and backward:
            yield [(tell("backward pass: the stack of its forward operator"), self._dim)]
        for name, frames in groupby(stack, lambda frame: package_of(frame, rules)):
            run = list(frames)
            if name:
                told = "1 frame of {package}" if len(run) == 1 else "{count} frames of {package}"
                frames_of = tell(told, count=len(run), package=printable(name, 60))
                yield [(f"  {self._glyphs.dot} {frames_of}", self._dim)]
                continue
            for frame in run:
                yield [
                    (f"  {printable(frame.file, 200)}({frame.line})", self._palette.style_of(Role.USER_LINE)),
                    (f" {printable(frame.function, 80)}", self._text),
                ]


def _cells(name: str, *times: str) -> str:
    return padded(name, _CELLS) + "".join(aligned(time, _CELLS) for time in times)
