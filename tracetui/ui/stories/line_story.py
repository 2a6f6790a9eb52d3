"""The story of one line of Python: the causes of its idle time, its operators, steps, devices and syncs.

Makes lines of styled text and knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from statistics import median_low
from typing import Protocol

from rich.cells import cell_len, set_cell_size

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.critical.whatif import LineWhatIf
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import LineIdle, LineKey
from tracetui.export.language import cause_facts
from tracetui.language import clauses, counted, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import HasLine
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.causes import cause_letter, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.pen import Line, compose_sentence
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.columns import clipped
from tracetui.ui.tables.hotspot_columns import between_operators, line_label, most_saved
from tracetui.units import format_count, format_duration, format_percent

BAR_CELLS = 10
WITHOUT_HOST = "Saves at most {time} if the host spent no time on it"
BEYOND_IDLE = "Saves at most {time}: host time beside a busy device counts too"
WITH_PEERS = "Saves at most {time} beyond waits for late peers, {more} if they come sooner too"
NOT_ALONE = "Saves nothing beyond waits for late peers, at most {more} if they come sooner too"
TWO_COLUMNS_FROM = 68  #: cells from which operators stand beside the causes


class IdleCharge(Protocol):
    """Anything that idle time is charged to: a line, a module, a frame or a scope."""

    @property
    def idle_ns(self) -> int:
        """Return the idle time charged to it."""

    @property
    def causes(self) -> dict[Cause, int]:
        """Return ns by cause, most first."""

    @property
    def ops(self) -> dict[str, int]:
        """Return ns by name of the operator, most first; "" where none ran or is known."""


class LineStory(Story):
    """The story of a line of Python, for the pane below the table of lines."""

    def lines(
        self,
        analysis: Analysis,
        line: LineIdle,
        savings: Mapping[LineKey, LineSaving] | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """Return at most `height` lines; causes that find no place are summed up.

        `savings` None: what lines can save at most is not known yet.
        """
        per_step = [*self.steps_line(analysis, line.steps), *self._devices_line(analysis, line)]
        after = [*self._sync_lines(analysis, line)][:2] + ([per_step] if per_step else [])
        if savings is not None:
            after.append(self.savings_line(line, savings, line.idle_ns))
        room = max(height - 1 - len(after), 1)
        return [self._title_line(line, width), *self._cause_lines(line, width, room), *after][:height]

    def _title_line(self, line: LineIdle, width: int) -> Line:
        """Return the title in a rule; with the longest gap where there are several and it fits."""
        time, gaps = format_duration(line.idle_ns), counted(line.gaps, "1 gap", "{count} gaps")
        in_gaps = translate("idle {time} in {gaps}", time=time, gaps=gaps)
        longest = translate("longest {time}", time=format_duration(line.longest_ns))
        choices = [clauses([in_gaps, longest]), in_gaps, translate("idle {time}", time=time)]
        return self._ruled_name(line_label(line), choices[line.gaps == 1 :], width)

    def _cause_lines(self, line: IdleCharge, width: int, room: int) -> Iterator[Line]:
        """Yield a line for each cause, and beside the causes the operators where there is room."""
        causes = list(line.causes.items())
        operators = list(line.ops.items()) if width >= TWO_COLUMNS_FROM else []
        cause_bars = [self._cause_bar(line, cause, ns) for cause, ns in _largest_causes(causes, room)]
        cause_cells = max(
            (sum(cell_len(text) for text, _ in cause_bar) for cause_bar in cause_bars), default=0
        )
        operator_words = [
            self._operator_words(name, ns, width - cause_cells - 4)
            for name, ns in operators[: len(cause_bars)]
        ]
        for cause_bar, words in zip_longest(cause_bars, operator_words, fillvalue=None):
            assert cause_bar is not None
            blanks = " " * (cause_cells - sum(cell_len(text) for text, _ in cause_bar) + 4)
            yield [*cause_bar, (blanks, self._dim), *words] if words else cause_bar

    def _cause_bar(self, line: IdleCharge, cause: Cause | None, ns: int) -> Line:
        """Return letter, name, bar, time and share of a cause; None stands for all that find no place."""
        style = self._dim if cause is None else cause_style(cause, self._palette)
        letter, name = (
            (" ", translate("others")) if cause is None else (cause.facts.letter, cause_facts(cause).name)
        )
        bar = share_bar(ns, line.idle_ns, BAR_CELLS, self._glyphs)
        longest = max(cell_len(cause_facts(other).name) for other in Cause)
        return [
            (f"{letter} ", style),
            (f"{set_cell_size(name, longest)} ", self._text if cause is not None else self._dim),
            (bar + " " * (BAR_CELLS - cell_len(bar)), style),
            (f"{format_duration(ns):>9}", self._bold),
            (f"{format_percent(ns, line.idle_ns):>8}", self._dim),
        ]

    def _operator_words(self, name: str, ns: int, width: int) -> Line:
        """Return time and name of an operator, cut to `width` cells."""
        time = f"{format_duration(ns):>8}  "
        shown = printable(name, 100) if name else between_operators()
        return [(time, self._text), (clipped(shown, width - len(time), self._glyphs.ellipsis), self._dim)]

    def steps_line(self, analysis: Analysis, by_step: Mapping[int, int]) -> Line:
        """Return in how many steps there is idle time, the least, median and most of a step.

        `by_step`: ns by index of the step, -1 outside of all steps.
        """
        line: Line = []
        counts = [by_step.get(index, 0) for index in range(len(analysis.steps))]
        if len(counts) > 1:
            outside = format_duration(by_step.get(-1, 0))
            if not any(counts):
                return [(translate("{time}, outside of all steps", time=outside), self._dim)]
            steps_with_idle = sum(ns > 0 for ns in counts)
            template = "in {some} of {steps} steps; min {least}, median {median}, max {most}"
            lowest, median, highest = (
                format_duration(ns) for ns in (min(counts), median_low(counts), max(counts))
            )
            line = compose_sentence(
                template,
                self._dim,
                some=f"{steps_with_idle:,}",
                steps=f"{len(counts):,}",
                least=(lowest, self._text),
                median=(median, self._bold),
                most=(highest, self._text),
            )
            if by_step.get(-1, 0):
                line.append((translate("; {time} in none", time=outside), self._dim))
        return line

    def _devices_line(self, analysis: Analysis, line: LineIdle) -> Line:
        """Return the idle time on each device; empty where there is one device only."""
        if len(analysis.devices) < 2:
            return []
        shares = ", ".join(
            f"{printable(analysis.devices[index].device, 20)} {format_duration(ns)}"
            for index, ns in line.devices.items()
        )
        return [(f"{'; ' if len(analysis.steps) > 1 else ''}{shares}", self._dim)]

    def _sync_lines(self, analysis: Analysis, line: LineIdle) -> Iterator[Line]:
        """Yield what its synchronising exposes: "32.7 ms of idle exposed by aten::item, …, 25.1 ms"."""
        if line.backward:
            return
        for sync in analysis.syncs:
            if (sync.file, sync.line, sync.function) == (line.file, line.line, line.function):
                exposed = translate("no idle exposed")
                if sync.exposed_ns:
                    exposed = translate("{time} of idle exposed", time=format_duration(sync.exposed_ns))
                template = "{exposed} by {call}, which waits {count} times, {time}"
                if sync.count == 1:
                    template = "{exposed} by {call}, which waits once, {time}"
                yield [
                    (f"{cause_letter(Cause.SYNC)} ", cause_style(Cause.SYNC, self._palette)),
                    *compose_sentence(
                        template,
                        self._text,
                        exposed=(exposed, self._bold),
                        call=printable(sync.call, 60),
                        count=format_count(sync.count),
                        time=(format_duration(sync.total_ns), self._dim),
                    ),
                ]

    def savings_line(
        self, line: HasLine, savings: Mapping[LineKey, LineSaving], idle_ns: int | None = None
    ) -> Line:
        """Return "Saves at most 3.10 ms if the host spent no time on it".

        `idle_ns` is its idle time, None where that is not known. More can be saved: what the host does while
        the device is busy delays later launches too.
        """
        saving, with_peers = most_saved(line, savings)
        if format_duration(with_peers) != format_duration(saving):
            template, time = WITH_PEERS if saving else NOT_ALONE, (format_duration(saving), self._bold)
            return compose_sentence(template, self._dim, time=time, more=format_duration(with_peers))
        if not saving:
            sentence = translate("Saves nothing: no step waits for what the host does in it.")
            return [(sentence, self._dim)]
        template = BEYOND_IDLE if idle_ns is not None and saving > idle_ns else WITHOUT_HOST
        return compose_sentence(template, self._dim, time=(format_duration(saving), self._bold))


def what_if_words(
    what_if: LineWhatIf, width: int, glyphs: Glyphs, with_peers: LineWhatIf | None = None
) -> str:
    """Return "step 22.9 ms → 20.1 ms (-12.2 %) if this line's host time were halved; …", as long as fits.

    `with_peers` is what follows if late peers come as much sooner; None where there are no peers.
    """
    subject, before, after = _mean_step(what_if)
    share = f"(-{format_percent(before - after, before)})" if after < before else translate("(nothing saved)")
    times = f"{format_duration(before)} {glyphs.arrow} {format_duration(after)}"
    is_half = what_if.factor > 0
    time_with_peers = ""
    if with_peers is not None:
        time_with_peers = format_duration(_mean_step(with_peers)[2])
        long_template = (
            "{what} {times} {share} if this line's host time were nothing and late peers came when they "
            "came; {more} if they came as much sooner"
        )
        short_template = "{what} {times} at no host time; {more} if peers come sooner too"
        if is_half:
            long_template = (
                "{what} {times} {share} if this line's host time were halved and late peers came when they "
                "came; {more} if they came as much sooner"
            )
            short_template = "{what} {times} at half its host time; {more} if peers come sooner too"
    elif is_half:
        long_template = (
            "{what} {times} {share} if this line's host time were halved; assumes that queue order and "
            "device durations stay as they are"
        )
        short_template = "{what} {times} {share} at half its host time; device times kept"
    else:
        long_template = (
            "{what} {times} {share} if this line's host time were nothing; assumes that queue order and "
            "device durations stay as they are"
        )
        short_template = "{what} {times} {share} at no host time; device times kept"
    sentence = translate(long_template, what=subject, times=times, share=share, more=time_with_peers)
    if cell_len(sentence) <= width:
        return sentence
    return translate(short_template, what=subject, times=times, share=share, more=time_with_peers)


def _mean_step(what_if: LineWhatIf) -> tuple[str, int, int]:
    """Return "mean step", and its ns before and after. Without steps, return "all" and the sums."""
    count = len(what_if.steps_before)
    if not count:
        return translate("all"), what_if.before_ns, what_if.after_ns
    before, after = int(what_if.steps_before.sum()), int(what_if.steps_after.sum())
    return translate("step") if count == 1 else translate("mean step"), before // count, after // count


def _largest_causes(causes: Sequence[tuple[Cause, int]], room: int) -> list[tuple[Cause | None, int]]:
    """Return the causes with the most time; those for which there is no room are summed up under None."""
    if len(causes) <= room:
        return [*causes]
    kept = max(room - 1, 0)
    return [*causes[:kept], (None, sum(ns for _, ns in causes[kept:]))]
