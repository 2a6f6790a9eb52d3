"""The story of one gap: its parts, why it was idle, what ran around it, how the task that ended it came.

Makes lines of styled text and knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.style import Style

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.main_line import main_line
from tracetui.analysis.lead import LeadLosses
from tracetui.export.text import aligned, padded
from tracetui.language import translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame
from tracetui.ui.branches import package_of
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.ui.stories.gap_words import GapWords, gap_title
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.gap_columns import located_task
from tracetui.units import format_duration

_COLUMN_CELLS = 9


def exact_us(ns: int) -> str:
    """Return microseconds with all digits of the nanoseconds, so that sums can be checked: "3,210.123"."""
    return f"{ns // 1000:,}.{ns % 1000:03d}"


class GapStory(Story):
    """The story of a gap, for the pane below the table of gaps."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__(palette, glyphs)
        self._inks = time_inks(palette, glyphs)

    def lines(
        self,
        analysis: Analysis,
        gap: int,
        position: int,
        width: int,
        losses: LeadLosses | None = None,
    ) -> list[Line]:
        """Return all lines, the most important first; `position` is that of `gap_title`.

        `losses` says where the host lost its lead; None until that is computed.
        """
        stack, backward, _ = main_line(analysis, gap)
        title = gap_title(analysis, gap, position, self._glyphs)
        lines = [self._ruled(title, width), self._parts_line(analysis, gap)]
        lines += GapWords(analysis, gap, Pen(self._palette, self._glyphs), losses).lines(width, "")
        lines.append(self._python_line(stack, backward, analysis.rules))
        gaps = analysis.gaps
        before, after = (located_task(analysis, int(tasks[gap])) for tasks in (gaps.before, gaps.after))
        lines.append(self._labelled_line(translate("ran before"), before))
        lines.append(self._labelled_line(translate("ended by"), after, self._bold))
        lines += self._hop_lines(analysis, gap)
        lines += self._stack_lines(stack, backward, analysis.rules)
        return lines

    def _parts_line(self, analysis: Analysis, gap: int) -> Line:
        """Return the exact parts of the gap and their sum: "idle 3,210.123 + comm 12.000 = 3,222.123 µs"."""
        gaps, inks = analysis.gaps, self._inks
        parts = (
            (translate("idle"), gaps.idle, inks.idle),
            (translate("comm"), gaps.communication, inks.communication),
            (printable(analysis.engines_in_gap(gap), 40), gaps.beside_cores, inks.beside_cores),
            (translate("copy"), gaps.copy, inks.copy),
        )
        line: Line = []
        for name, values, ink in parts:
            if ns := int(values[gap]):
                line += [(" + ", self._dim)] if line else []
                line += [(f"{ink.glyph} ", ink.style), (f"{name} ", self._text), (exact_us(ns), self._bold)]
        whole = int(gaps.end[gap] - gaps.start[gap])
        one_part = int(gaps.idle[gap]) == whole
        return [*line, (" µs" if one_part else f" = {exact_us(whole)} µs", self._text)]

    def _python_line(self, stack: tuple[Frame, ...], backward: bool, rules: FrameRules) -> Line:
        """Return the user's line behind the gap, of the stack that `main_line` gives."""
        frame = rules.line_of(stack)
        if frame is None:
            return self._labelled_line(
                translate("line"), translate("not known: no stack leads to it"), self._dim
            )
        style = self._palette.style_of(Role.USER_LINE)
        function = printable(frame.function, 80)
        function_words = (
            translate("{function}, of the backward pass", function=function) if backward else function
        )
        if not frame.file:  # built in
            return self._labelled_line(translate("line"), function_words, style)
        line = self._labelled_line(translate("line"), f"{printable(frame.file, 200)}({frame.line})", style)
        return [*line, (f" {function_words}", self._text)]

    def _labelled_line(self, label: str, text: str, style: Style | None = None) -> Line:
        """Return a text after a dim label."""
        return [(padded(label, _COLUMN_CELLS + 2), self._dim), (text, style or self._text)]

    def _hop_lines(self, analysis: Analysis, gap: int) -> Iterator[Line]:
        """Yield how the task that ended the gap came from the host to the device, a line for each hop.

        A line has the time from the gap's start to the hop's, its duration, and the time until the next hop.
        """
        task = int(analysis.gaps.after[gap])
        chain = analysis.launch_chains.chain(task) if task >= 0 else None
        if chain is None:
            yield [(translate("The task that ended it is not linked to the host."), self._dim)]
            return
        gap_start_ns = int(analysis.gaps.start[gap])
        yield [(_aligned_cells("", translate("began"), translate("took"), translate("to next")), self._dim)]
        for hop in chain.hops:
            offset_ns = hop.start_ns - gap_start_ns
            sign = "+" if offset_ns >= 0 else ""
            to_next = format_duration(hop.wait_ns) if hop is not chain.hops[-1] else ""
            times = _aligned_cells(
                wording(hop.name), sign + format_duration(offset_ns), format_duration(hop.dur_ns)
            )
            yield [
                (times, self._text),
                (f"{to_next:>{_COLUMN_CELLS}}", self._bold),
                (f"  {printable(analysis.trace.name(hop.row), 200)}", self._text),
            ]
        if chain.missing is not None:
            yield [
                (translate("{hop} not found: the trace does not tell", hop=wording(chain.missing)), self._dim)
            ]

    def _stack_lines(self, stack: tuple[Frame, ...], backward: bool, rules: FrameRules) -> Iterator[Line]:
        """Yield the stack, leaf first; the user's frames stand out, those of packages are counted."""
        if stack and backward:
            yield [(translate("backward pass: the stack of its forward operator"), self._dim)]
        for name, frames in groupby(stack, lambda frame: package_of(frame, rules)):
            package_frames = list(frames)
            if name:
                template = (
                    "1 frame of {package}" if len(package_frames) == 1 else "{count} frames of {package}"
                )
                count_words = translate(template, count=len(package_frames), package=printable(name, 60))
                yield [(f"  {self._glyphs.dot} {count_words}", self._dim)]
                continue
            for frame in package_frames:
                place = f" {printable(frame.file, 200)}({frame.line})" if frame.file else ""
                yield [
                    (f" {place}", self._palette.style_of(Role.USER_LINE)),
                    (f" {printable(frame.function, 80)}", self._text),
                ]


def _aligned_cells(name: str, *times: str) -> str:
    """Return a name and right-aligned times in columns of equal width."""
    return padded(name, _COLUMN_CELLS) + "".join(aligned(time, _COLUMN_CELLS) for time in times)
