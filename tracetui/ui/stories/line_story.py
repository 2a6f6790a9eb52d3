"""The story of one line of Python: the causes of its idle time, its operators, steps, devices and syncs.

Pure: makes lines of styled text, knows no widget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Protocol

from rich.cells import cell_len, set_cell_size

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.critical.whatif import WhatIf
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.lines import LineIdle, LineKey
from tracetui.export.language import cause_facts
from tracetui.language import clauses, counted, tell
from tracetui.trace.clean import printable
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.causes import cause_letter, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, said
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.columns import clipped
from tracetui.ui.tables.hotspot_columns import OfLine, line_name, saves_at_most
from tracetui.units import format_count, format_duration, format_percent

BAR = 10
WITHOUT_HOST = "Saves at most {time} if the host spent no time on it; {key} tries that"
BEYOND_IDLE = "Saves at most {time}: host time beside a busy device counts too; {key} tries that"
WITH_PEERS = "Saves at most {time} while peers are as late, {more} if they come sooner too; {key} tries that"
NOT_ALONE = "Saves nothing while peers are as late, at most {more} if they come sooner too"
TWO_COLUMNS = 68  #: cells from which operators stand beside the causes


class Charged(Protocol):
    """What idle time is charged to."""

    @property
    def idle_ns(self) -> int:
        """The idle time charged to it."""

    @property
    def causes(self) -> dict[Cause, int]:
        """ns by cause, most first."""

    @property
    def ops(self) -> dict[str, int]:
        """ns by name of the operator, most first; "" where none ran or is known."""


class LineStory(Story):
    """Writes of lines of Python."""

    def lines(
        self,
        analysis: Analysis,
        line: LineIdle,
        savings: Mapping[LineKey, LineSaving] | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """As many lines as there are, at most `height`; causes that find no place are summed up.

        `savings` None: what lines can save at most is not known yet.
        """
        per_step = [*self.in_steps(analysis, line.steps), *self._on_devices(analysis, line)]
        after = [*self._syncs(analysis, line)][:2] + ([per_step] if per_step else [])
        if savings is not None:
            after.append(self.saves(line, savings, line.idle_ns))
        room = max(height - 1 - len(after), 1)
        return [self._title(line, width), *self._parts(line, width, room), *after][:height]

    def _title(self, line: LineIdle, width: int) -> Line:
        name = printable(line_name(line), 60)
        idle = tell(
            "idle {time} in {gaps}",
            time=format_duration(line.idle_ns),
            gaps=counted(line.gaps, "1 gap", "{count} gaps"),
        )
        title = f"{name} {self._glyphs.dot} {idle}"
        longest = tell("longest {time}", time=format_duration(line.longest_ns))
        told = self._ruled(clauses([title, longest]), width)
        return told if line.gaps > 1 and cell_len(told[0][0]) <= width else self._ruled(title, width)

    def _parts(self, line: Charged, width: int, room: int) -> Iterator[Line]:
        """The causes, and beside them the operators."""
        causes = list(line.causes.items())
        operators = list(line.ops.items()) if width >= TWO_COLUMNS else []
        left = [self._cause(line, cause, ns) for cause, ns in _most(causes, room)]
        used = max((sum(cell_len(text) for text, _ in pieces) for pieces in left), default=0)
        right = [self._operator(name, ns, width - used - 4) for name, ns in operators[: len(left)]]
        for pieces, operator in zip_longest(left, right, fillvalue=None):
            assert pieces is not None
            blanks = " " * (used - sum(cell_len(text) for text, _ in pieces) + 4)
            yield [*pieces, (blanks, self._dim), *operator] if operator else pieces

    def _cause(self, line: Charged, cause: Cause | None, ns: int) -> Line:
        style = self._dim if cause is None else cause_style(cause, self._palette)
        letter, name = (
            (" ", tell("others")) if cause is None else (cause.facts.letter, cause_facts(cause).name)
        )
        bar = share_bar(ns, line.idle_ns, BAR, self._glyphs)
        longest = max(cell_len(cause_facts(each).name) for each in Cause)
        return [
            (f"{letter} ", style),
            (f"{set_cell_size(name, longest)} ", self._text if cause is not None else self._dim),
            (bar + " " * (BAR - cell_len(bar)), style),
            (f"{format_duration(ns):>9}", self._bold),
            (f"{format_percent(ns, line.idle_ns):>8}", self._dim),
        ]

    def _operator(self, name: str, ns: int, width: int) -> Line:
        time = f"{format_duration(ns):>8}  "
        shown = printable(name, 100) if name else tell("(between operators)")
        return [(time, self._text), (clipped(shown, width - len(time), self._glyphs.ellipsis), self._dim)]

    def in_steps(self, analysis: Analysis, by_step: Mapping[int, int]) -> Line:
        """Idle time, ns by index of the step, -1 outside: in how many it is, the least, median and most."""
        told: Line = []
        counts = [by_step.get(index, 0) for index in range(len(analysis.steps))]
        if len(counts) > 1:
            having = sum(ns > 0 for ns in counts)
            spread = "in {some} of {steps} steps; min {least}, median {median}, max {most}"
            lowest, median, highest = (
                format_duration(ns) for ns in (min(counts), _median(counts), max(counts))
            )
            told = [
                *said(
                    spread,
                    self._dim,
                    some=f"{having:,}",
                    steps=f"{len(counts):,}",
                    least=(lowest, self._text),
                    median=(median, self._bold),
                    most=(highest, self._text),
                )
            ]
            outside = by_step.get(-1, 0)
            if outside:
                told.append((tell("; {time} between them", time=format_duration(outside)), self._dim))
        return told

    def _on_devices(self, analysis: Analysis, line: LineIdle) -> Line:
        if len(analysis.devices) < 2:
            return []
        shares = ", ".join(
            f"{printable(analysis.devices[index].device, 20)} {format_duration(ns)}"
            for index, ns in line.devices.items()
        )
        return [(f"{'; ' if len(analysis.steps) > 1 else ''}{shares}", self._dim)]

    def _syncs(self, analysis: Analysis, line: LineIdle) -> Iterator[Line]:
        """What its synchronising exposes: "aten::item waits 24 times, 25.1 ms; exposes 32.7 ms of idle"."""
        if line.backward:
            return
        for sync in analysis.syncs:
            if (sync.file, sync.line, sync.function) == (line.file, line.line, line.function):
                exposed = tell("no idle exposed")
                if sync.exposed_ns:
                    exposed = tell("{time} of idle exposed", time=format_duration(sync.exposed_ns))
                told = "{exposed} by {call}, which waits {count} times, {time}"
                if sync.count == 1:
                    told = "{exposed} by {call}, which waits once, {time}"
                yield [
                    (f"{cause_letter(Cause.SYNC)} ", cause_style(Cause.SYNC, self._palette)),
                    *said(
                        told,
                        self._text,
                        exposed=(exposed, self._bold),
                        call=printable(sync.call, 60),
                        count=format_count(sync.count),
                        time=(format_duration(sync.total_ns), self._dim),
                    ),
                ]

    def saves(self, line: OfLine, savings: Mapping[LineKey, LineSaving], idle_ns: int | None = None) -> Line:
        """ "Saves at most 3.10 ms if the host spent no time on it; % tries that"

        More than `idle_ns`, its idle time where that is known: what the host does while the device is busy
        delays later launches too.
        """
        most, with_peers = saves_at_most(line, savings)
        key = ("%", self._palette.style_of(Role.KEY))
        if format_duration(with_peers) != format_duration(most):
            told, time = WITH_PEERS if most else NOT_ALONE, (format_duration(most), self._bold)
            return [*said(told, self._dim, time=time, more=format_duration(with_peers), key=key)]
        if not most:
            nothing = tell("Saves nothing: no step waits for what the host does in it.")
            return [(nothing, self._dim)]
        told = BEYOND_IDLE if idle_ns is not None and most > idle_ns else WITHOUT_HOST
        return [*said(told, self._dim, time=(format_duration(most), self._bold), key=key)]


def what_if_words(what_if: WhatIf, width: int, glyphs: Glyphs, with_peers: WhatIf | None = None) -> str:
    """Return "step 22.9 ms → 20.1 ms (-12.2 %) if this line's host time were halved; …", as long as fits.

    `with_peers`: what follows if late peers come as much sooner, where there are any.
    """
    what, before, after = _mean_step(what_if)
    share = f"(-{format_percent(before - after, before)})" if after < before else tell("(nothing saved)")
    times = f"{format_duration(before)} {glyphs.arrow} {format_duration(after)}"
    half = what_if.factor > 0
    more = ""
    if with_peers is not None:
        more = format_duration(_mean_step(with_peers)[2])
        long = (
            "{what} {times} {share} if this line's host time were nothing and late peers came when they "
            "came; {more} if they came as much sooner"
        )
        short = "{what} {times} at no host time; {more} if peers come sooner too"
        if half:
            long = (
                "{what} {times} {share} if this line's host time were halved and late peers came when they "
                "came; {more} if they came as much sooner"
            )
            short = "{what} {times} at half its host time; {more} if peers come sooner too"
    elif half:
        long = (
            "{what} {times} {share} if this line's host time were halved; assumes that queue order and "
            "device durations stay as they are"
        )
        short = "{what} {times} {share} at half its host time; device times kept"
    else:
        long = (
            "{what} {times} {share} if this line's host time were nothing; assumes that queue order and "
            "device durations stay as they are"
        )
        short = "{what} {times} {share} at no host time; device times kept"
    told = tell(long, what=what, times=times, share=share, more=more)
    if cell_len(told) <= width:
        return told
    return tell(short, what=what, times=times, share=share, more=more)


def _mean_step(what_if: WhatIf) -> tuple[str, int, int]:
    """What is told of, "mean step"; ns of it before and after. Without steps, of everything."""
    count = len(what_if.steps_before)
    if not count:
        return tell("all"), what_if.before_ns, what_if.after_ns
    before, after = int(what_if.steps_before.sum()), int(what_if.steps_after.sum())
    return tell("step") if count == 1 else tell("mean step"), before // count, after // count


def _most(causes: Sequence[tuple[Cause, int]], room: int) -> list[tuple[Cause | None, int]]:
    """The causes with the most time, and the sum of those for which there is no room."""
    if len(causes) <= room:
        return [*causes]
    kept = max(room - 1, 0)
    return [*causes[:kept], (None, sum(ns for _, ns in causes[kept:]))]


def _median(values: Sequence[int]) -> int:
    """The lower median: a value that occurs."""
    return sorted(values)[(len(values) - 1) // 2]
