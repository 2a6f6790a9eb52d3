"""The story of a gap in plain words: how long the device was idle before what, and where each part went.

Pure: styled lines. All times of a story are in one unit and add up: those of a sentence to its first one,
those first ones to the idle time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.analysis.idle.cause_raster import CauseRaster
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.lead import LeadLosses
from tracetui.analysis.raster import even_edges
from tracetui.export.text import padded
from tracetui.language import alternatives, clauses, tell, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Kind
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.drawing.causes import cause_letter, cause_paint, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import LABEL, Line, Pen
from tracetui.ui.drawing.shares import apportion, format_share, unit_of
from tracetui.ui.drawing.strips import Piece, flowing
from tracetui.ui.stories.communication_words import communication_sentences
from tracetui.ui.stories.gap_shares import NAME, Share, gap_shares
from tracetui.ui.stories.lead_words import lead_sentence
from tracetui.units import format_duration, format_time

NAMED = 4  #: causes of the host's time that are named; the rest is summed up


def gap_title(analysis: Analysis, gap: int, rank: int, glyphs: Glyphs) -> str:
    """Return "Gap 3 of 4,312 · NPU 0 lost 1.24 ms of 1.31 ms, idle 1.2 ms · at 0.129863 s · step 52" """
    gaps = analysis.gaps
    start, end, step = int(gaps.start[gap]), int(gaps.end[gap]), int(gaps.step[gap])
    device = printable(analysis.devices[int(gaps.device[gap])].device, NAME)
    idle, lost = format_duration(int(gaps.idle[gap])), format_duration(int(gaps.lost[gap]))
    whole = format_duration(end - start)
    kind = "lost" if lost != idle else "idle"
    told = {
        ("idle", False): "{device} idle {idle}",
        ("idle", True): "{device} idle {idle} of {whole}",
        ("lost", False): "{device} lost {lost}, idle {idle}",
        ("lost", True): "{device} lost {lost} of {whole}, idle {idle}",
    }[kind, whole != lost]
    words = [
        tell("Gap {rank} of {count}", rank=f"{rank:,}", count=f"{len(gaps):,}"),
        tell(told, device=device, idle=idle, lost=lost, whole=whole),
        tell("at {time}", time=format_time(start - analysis.trace.start_ns)),
    ]
    if step >= 0:
        words.append(tell("step {number}", number=analysis.steps[step].number))
    return f" {glyphs.dot} ".join(words)


class GapWords:
    """Tells of one gap."""

    def __init__(self, analysis: Analysis, gap: int, pen: Pen, losses: LeadLosses | None = None) -> None:
        """Of a gap; `losses`: where the host lost its lead, once that is known."""
        self._analysis, self._gap, self._pen, self._losses = analysis, gap, pen, losses
        self._pieces = analysis.causes.of_gap(gap)
        device = analysis.devices[int(analysis.gaps.device[gap])]
        name = printable(device.device, NAME)
        self._activity, self._device = (
            device,
            name if name[-1:].isdigit() else tell("the {device}", device=name),
        )
        first, stop = np.searchsorted(analysis.idle.gap, np.array([gap, gap + 1])).tolist()
        self._intervals = range(first, stop)
        self._shares = gap_shares(analysis, gap)
        self._idle_ns = int(analysis.gaps.idle[gap])
        self._unit = unit_of(self._idle_ns)

    def lines(self, width: int, margin: str = " ") -> list[Line]:
        """A bar of the gap from left to right, then a sentence for each family of causes."""
        label = padded(margin + tell("why"), LABEL)
        lines = [[self._pen.text(label, Role.DIM), *self._bar(max(width - LABEL - 1, 1))]]
        for sentence in self._sentences():
            lines += [[self._pen.text(margin), *line] for line in flowing(sentence, max(width - 2, 1))]
        return lines

    # -- the bar ----------------------------------------------------------------------------------------

    def _bar(self, cells: int) -> Line:
        """Each cell in the colour of what takes most of its time, the letter of a cause where it begins."""
        gaps, pen, activity = self._analysis.gaps, self._pen, self._activity
        edges = even_edges(int(gaps.start[self._gap]), int(gaps.end[self._gap]), cells)
        places = np.arange(self._pieces.start, self._pieces.stop, dtype=np.int64)
        work = (activity.compute, activity.communication, activity.copies)
        ns = np.concatenate(
            [
                CauseRaster.of_pieces(self._analysis.causes, places).ns(edges),
                np.stack([np.diff(part.before(edges)) for part in work]),
            ]
        )
        inks = time_inks(pen.palette, pen.glyphs)
        line: Line = []
        for most, run in groupby(ns.argmax(axis=0).tolist()):
            count = len(list(run))
            if most < len(Cause):
                text = cause_letter(Cause(most)).ljust(count)
                line.append((text, cause_paint(Cause(most), pen.palette).box))
            else:
                ink = (inks.aicpu, inks.communication, inks.copy)[most - len(Cause)]
                line.append((ink.glyph * count, ink.style))
        return line

    # -- the words --------------------------------------------------------------------------------------

    def _sentences(self) -> Iterator[list[Piece]]:
        """Of idle time and of exposed communication, that first of which the gap has more."""
        device = _capital(self._device)
        told = [
            [*self._idle()],
            [*communication_sentences(self._analysis, self._gap, device, self._pen)],
        ]
        if self._analysis.gaps.communication[self._gap] > self._idle_ns:
            told.reverse()
        for sentences in told:
            yield from sentences
        if (rest := self._rest()) is not None:
            yield rest

    def _idle(self) -> Iterator[list[Piece]]:
        yield self._opening()
        families = [[share for share in self._shares if share.cause.family == name] for name in FAMILIES]
        whole = (self._idle_ns + self._unit // 2) // self._unit
        units = apportion([sum(share.ns for share in shares) for shares in families], whole)
        for name, shares, own in zip(FAMILIES, families, units):
            if shares:
                yield self._sentence(name, shares, own)
        if (exposed := self._exposed()) is not None:
            yield exposed
        if self._losses is not None and (
            lost := lead_sentence(self._losses, self._gap, self._analysis.trace.start_ns, self._pen)
        ):
            yield lost

    def _opening(self) -> list[Piece]:
        """ "The NPU was idle 1.24 ms before aclnnMul." """
        pen, idle, trace = self._pen, self._analysis.idle, self._analysis.trace
        device = _capital(self._device)
        if not self._idle_ns:
            return [*pen.said("{device} was never idle in this gap: other work ran.", device=device)]
        longest = max(self._intervals, key=lambda index: int(idle.end[index] - idle.start[index]))
        task = int(idle.task[longest])
        name = printable(trace.name(task), NAME) if task >= 0 else tell("the next task")
        whole = (self._idle_ns + self._unit // 2) // self._unit
        told = "{device} was idle {time} before {task}."
        if len(self._intervals) > 1:
            told = "{device} was idle {time} in {count} stretches, the longest before {task}."
        time, called = self._time(whole, Role.IDLE), pen.text(name, Role.NUMBER)
        return [*pen.said(told, device=device, time=time, count=str(len(self._intervals)), task=called)]

    def _sentence(self, family: str, shares: list[Share], whole: int) -> list[Piece]:
        pen = self._pen
        one, several = {
            "host": ("For {time} the host had not launched it", "For {time} the host had not launched them"),
            "queue": ("It then waited {time} in the task queue", "They then waited {time} in the task queue"),
            "launch": ("Launching it took {time}", "Launching them took {time}"),
            "device": ("It ran {time} after the launch", "They ran {time} after the launch"),
            "unlinked": ("For {time} the trace does not tell what the host did",) * 2,
        }[family]
        time = self._time(whole, Role.NUMBER)
        said = [*pen.said(one if len(self._intervals) == 1 else several, time=time)]
        if family == "unlinked":
            return [*pen.said("{said}: {why}.", said=said, why=self._missing())]
        if len(shares) == 1:
            return [*pen.said("{said} ({why}).", said=said, why=self._share(shares[0], None))]
        return [*pen.said("{said}: {why}.", said=said, why=self._items(shares, whole))]

    def _items(self, shares: list[Share], whole: int) -> Iterator[Piece]:
        """The largest shares, those of one line together; "and 9 more pieces, 0.12 ms" for the rest."""
        pen = self._pen
        # One more than can be named is as short as counting it.
        named = shares if len(shares) <= NAMED + 1 else shares[:NAMED]
        rest = shares[len(named) :]
        units = apportion([*(share.ns for share in named), sum(share.ns for share in rest)], whole)
        of_line: dict[tuple[Frame | None, bool], list[tuple[Share, int]]] = {}
        for share, own in zip(named, units):
            of_line.setdefault((share.frame, share.backward), []).append((share, own))
        for place, group in enumerate(of_line.values()):
            if place:
                yield pen.text(alternatives(["", ""]))
            for nth, (share, own) in enumerate(group):
                if nth:
                    yield pen.text(clauses(["", ""]))
                yield from self._share(share, own, nth == len(group) - 1)
        if rest:
            count = sum(share.pieces for share in rest)
            told = "; and 1 more piece, {time}" if count == 1 else "; and {count} more pieces, {time}"
            yield from pen.said(told, count=f"{count:,}", time=self._time(units[-1]))

    def _share(self, share: Share, units: int | None, with_line: bool = True) -> Iterator[Piece]:
        """ "P 402 µs Python at train.py(88) main"; no time where the sentence has told it."""
        pen = self._pen
        yield (f"{cause_letter(share.cause)}\u00a0", cause_style(share.cause, pen.palette))
        if units is not None:
            yield self._time(units)
            yield pen.text(" ")
        if share.frame is not None and with_line:
            line = self._line(share.frame, share.backward)
            yield from pen.said("{doing} at {line}", doing=share.doing, line=line)
        else:
            yield pen.text(share.doing)

    def _line(self, frame: Frame, backward: bool) -> Iterator[Piece]:
        pen = self._pen
        function = printable(frame.function, NAME)
        if frame.file:
            path = printable(path_end(frame.file, 2), NAME)
            yield pen.text(f"{path}({frame.line})", Role.USER_LINE)
            function = f" {function}"
        yield pen.text(function)
        if backward:
            yield pen.text(tell(" (backward of it)"), Role.DIM)

    def _time(self, units: int, role: Role = Role.TEXT) -> Piece:
        return self._pen.text(format_share(units, self._unit).replace(" ", "\u00a0"), role)

    def _missing(self) -> str:
        """What the chain of an unlinked task lacks, and what to collect to know it."""
        links, idle, causes = self._analysis.links, self._analysis.idle, self._analysis.causes
        unlinked = causes.cause[self._pieces] == Cause.UNLINKED
        index = int(causes.interval[self._pieces][unlinked][0])
        chain = links.chain(int(idle.task[index])) if idle.task[index] >= 0 else None
        hop = chain.missing if chain is not None else "launch"
        why = tell("its thread has no operators")
        if hop and hop != "stack":
            why = tell("no {hop} of it is recorded", hop=wording(hop))
        if self._analysis.trace.kind is Kind.ASCEND:
            return tell("{why}. Collect CPU and NPU activities at level 1, with_stack=True, to know", why=why)
        return tell("{why}. Collect CPU and CUDA activities, with_stack=True, to know", why=why)

    def _exposed(self) -> list[Piece] | None:
        """The synchronising call that kept the host from working ahead."""
        pen, causes, idle = self._pen, self._analysis.causes, self._analysis.idle
        places = [
            index
            for index in self._intervals
            if max(causes.exposing[index], causes.exposing_stack[index], causes.exposing_frame[index]) >= 0
        ]
        if not places:
            return None
        index = max(places, key=lambda index: int(idle.end[index] - idle.start[index]))
        row = int(causes.exposing[index])
        name = tell("A synchronisation")
        if row >= 0:
            name = printable(self._analysis.trace.name(row), NAME)
        call: list[Piece] = [pen.text(name, Role.NUMBER)]
        stack, frame = causes.exposing_stack[[index]], causes.exposing_frame[[index]]
        frames, place = lines_of(self._analysis.trace, stack, frame, self._analysis.rules)
        if place[0] >= 0:
            line = self._line(frames[int(place[0])], False)
            call = [*pen.said("{call} at {line}", call=call, line=line)]
        told = "{call} began before {device} went idle: the host could not work ahead."
        return [*pen.said(told, call=call, device=self._device)]

    def _rest(self) -> list[Piece] | None:
        """What ran in the part of the gap that is neither idle nor exposed communication."""
        gaps, pen = self._analysis.gaps, self._pen
        beside = printable(self._analysis.engines_in_gap(self._gap), NAME)
        named = ((beside, gaps.aicpu), (tell("copies"), gaps.copy))
        parts = [(name, int(values[self._gap])) for name, values in named if values[self._gap]]
        rest = sum(ns for _, ns in parts)
        if not rest:
            return None
        unit = unit_of(rest)
        whole = (rest + unit // 2) // unit
        units = apportion([ns for _, ns in parts], whole)
        listed = clauses(f"{format_share(own, unit)} {name}" for own, (name, _) in zip(units, parts))
        told = "The rest of the gap: {parts}." if len(parts) == 1 else "The rest of the gap, {time}: {parts}."
        return [pen.text(tell(told, time=format_share(whole, unit), parts=listed), Role.DIM)]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
