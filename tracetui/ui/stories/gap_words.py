"""The story of a gap in plain words: how long the device was idle before which task, and why.

A gap is a stretch without an AICore task. It is idle where nothing at all runs. The time it lost is its idle
time + exposed communication + exposed copies; what else runs are engines beside the AI cores, such as the AI
CPU. Makes lines of styled text and knows no widget.

The times of causes are whole numbers of one unit. They are rounded so that each sentence's list sums to the
time that it begins with, and these times to the idle time of the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.analysis.idle.cause_raster import CauseRaster
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import NEVER
from tracetui.analysis.lead import LeadLosses
from tracetui.analysis.raster import even_edges
from tracetui.analysis.scheduler.scheduler import SCHEDULED
from tracetui.analysis.search import rows_of
from tracetui.export.sentences.gap_shares import NAME, Share, gap_shares
from tracetui.export.text import capitalise, padded
from tracetui.language import clauses, counted, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Layer, TraceKind
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.bars import apportion, format_share, time_inks, unit_of
from tracetui.ui.drawing.causes import cause_letter, cause_name, cause_paint, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import LABEL, Line, Pen
from tracetui.ui.drawing.strips import StyledText, flowing, unbroken
from tracetui.ui.stories.communication_words import communication_sentences
from tracetui.ui.stories.scheduler_words import scheduler_sentences
from tracetui.units import format_duration, format_time

MAX_NAMED = 4  #: shares of a family that a sentence names before it counts the rest; one more is named too


def gap_title(analysis: Analysis, gap: int, position: int, glyphs: Glyphs) -> str:
    """Return "Gap 3 of 4,312 · NPU 0 lost 1.24 ms of 1.31 ms, idle 1.20 ms · at 0.129863 s · step 52".

    `position` is its rank among all gaps, from 1, by what the caller ranks them.
    """
    gaps = analysis.gaps
    start, end, step = int(gaps.start[gap]), int(gaps.end[gap]), int(gaps.step[gap])
    device = printable(analysis.devices[int(gaps.device[gap])].device, NAME)
    idle, lost = format_duration(int(gaps.idle[gap])), format_duration(int(gaps.lost[gap]))
    length = format_duration(end - start)
    kind = "lost" if lost != idle else "idle"  # "idle" also where both are shown alike
    template = {
        ("idle", False): "{device} idle {idle}",
        ("idle", True): "{device} idle {idle} of {whole}",
        ("lost", False): "{device} lost {lost}, idle {idle}",
        ("lost", True): "{device} lost {lost} of {whole}, idle {idle}",
    }[kind, length != lost]
    words = [
        translate("Gap {position} of {count}", position=f"{position:,}", count=f"{len(gaps):,}"),
        translate(template, device=device, idle=idle, lost=lost, whole=length),
        translate("at {time}", time=format_time(start - analysis.trace.start_ns)),
    ]
    if step >= 0:
        words.append(translate("step {number}", number=analysis.steps[step].number))
    return f" {glyphs.dot} ".join(words)


class GapWords:
    """The bar and the sentences that explain one gap."""

    def __init__(self, analysis: Analysis, gap: int, pen: Pen, lead_losses: LeadLosses | None = None) -> None:
        """Describe a gap, by its index.

        `lead_losses` says where the host lost its lead over the device; None until that is computed.
        """
        self._analysis, self._gap, self._pen, self._lead_losses = analysis, gap, pen, lead_losses
        self._pieces: slice = analysis.causes.of_gap(gap)
        activity = analysis.devices[int(analysis.gaps.device[gap])]
        name = printable(activity.device, NAME)
        self._activity = activity
        # "NPU 0", but "the NPU"
        self._device_name = name if name[-1:].isdigit() else translate("the {device}", device=name)
        first, stop = np.searchsorted(analysis.idle.gap, np.array([gap, gap + 1])).tolist()
        self._intervals = range(first, stop)
        self._shares = gap_shares(analysis, gap)
        self._idle_ns = int(analysis.gaps.idle[gap])
        self._unit = unit_of(self._idle_ns)
        self._idle_units = (self._idle_ns + self._unit // 2) // self._unit

    def lines(self, width: int, margin: str = " ") -> list[Line]:
        """Return lines of `width` cells: the bar, then sentences on idle time, communication and the rest."""
        label = padded(margin + translate("why"), LABEL)
        lines = [[self._pen.text(label, Role.DIM), *self._bar(max(width - LABEL - 1, 1))]]
        for sentence in self._sentences():
            lines += [[self._pen.text(margin), *line] for line in flowing(sentence, width - 2)]
        return lines

    # -- the bar ----------------------------------------------------------------------------------------

    def _bar(self, cells: int) -> Line:
        """Draw the gap as a bar of `cells` cells, each in the colour of what takes most of its time.

        Each run of cells of one cause begins with the letter of the cause.
        """
        pen = self._pen
        start, end = (int(edge[self._gap]) for edge in (self._analysis.gaps.start, self._analysis.gaps.end))
        edges = even_edges(start, end, cells)
        places = np.arange(self._pieces.start, self._pieces.stop, dtype=np.int64)
        activity = self._activity
        beside_cores, communication, copies = (  # in a gap no AI core computes
            intervals.clip(start, end)
            for intervals in (activity.compute, activity.communication, activity.copies)
        )
        work_intervals = (
            beside_cores,
            communication - beside_cores,
            copies - communication - beside_cores,
        )
        # A row for each cause, then engines beside the AI cores, exposed communication and exposed copies.
        ns_by_source = np.concatenate(
            [
                CauseRaster.from_pieces(self._analysis.causes, places).ns(edges),
                np.stack([np.diff(intervals.before(edges)) for intervals in work_intervals]),
            ]
        )
        inks = time_inks(pen.palette, pen.glyphs)
        line: Line = []
        sources = ns_by_source.argmax(axis=0)  # fewer than cells where the gap has fewer ns
        for source, run in groupby(sources[np.arange(cells) * len(sources) // cells].tolist()):
            count = len(list(run))
            if source < len(Cause):
                text = cause_letter(Cause(source)).ljust(count)
                line.append((text, cause_paint(Cause(source), pen.palette).box))
            else:
                ink = (inks.beside_cores, inks.communication, inks.copy)[source - len(Cause)]
                line.append((ink.glyph * count, ink.style))
        return line

    # -- the words --------------------------------------------------------------------------------------

    def _sentences(self) -> Iterator[list[StyledText]]:
        """Yield the sentences on idle time and on exposed communication, the longer first, then the rest."""
        device = capitalise(self._device_name)
        topics = [
            [*self._idle_sentences()],
            [*communication_sentences(self._analysis, self._gap, device, self._pen)],
        ]
        if self._analysis.gaps.communication[self._gap] > self._idle_ns:
            topics.reverse()
        for sentences in topics:
            yield from sentences
        if (rest_sentence := self._rest_sentence()) is not None:
            yield rest_sentence

    def _idle_sentences(self) -> Iterator[list[StyledText]]:
        """Yield how long the device was idle, a sentence per family of causes, and what else is known of it:
        what the scheduler did with threads, what synchronised, and how the lead was lost.
        """
        yield self._opening_sentence()
        shares_by_family = [
            [share for share in self._shares if share.cause.family == family] for family in FAMILIES
        ]
        units_by_family = apportion(
            [sum(share.ns for share in shares) for shares in shares_by_family], self._idle_units
        )
        for family, shares, units in zip(FAMILIES, shares_by_family, units_by_family):
            if shares:
                yield self._family_sentence(family, shares, units)
            if family == "host":  # all that the scheduler tells is of this family
                yield from scheduler_sentences(self._analysis, self._pieces, self._pen)
        if (sync_sentence := self._sync_sentence()) is not None:
            yield sync_sentence
        if self._lead_losses is not None and (
            lead := _lead_sentence(self._lead_losses, self._gap, self._analysis.trace.start_ns, self._pen)
        ):
            yield lead

    def _opening_sentence(self) -> list[StyledText]:
        """Return "The NPU was idle 1.24 ms before aclnnMul."."""
        pen, idle, trace = self._pen, self._analysis.idle, self._analysis.trace
        device = capitalise(self._device_name)
        if not self._idle_ns:
            return pen.compose("{device} was never idle in this gap.", device=device)
        longest = max(self._intervals, key=lambda index: int(idle.end[index] - idle.start[index]))
        task = int(idle.task[longest])
        name = printable(trace.name(task), NAME) if task >= 0 else translate("the next task")
        template = "{device} was idle {time} before {task}."
        if len(self._intervals) > 1:
            template = "{device} was idle {time} in {count} stretches, the longest before {task}."
        time, task_name = self._time_text(self._idle_units, Role.IDLE), pen.text(name, Role.NUMBER)
        return pen.compose(
            template, device=device, time=time, count=str(len(self._intervals)), task=task_name
        )

    def _family_sentence(self, family: str, shares: list[Share], units: int) -> list[StyledText]:
        """Return the sentence on a family of causes; its `shares` come to `units` of the story's unit."""
        pen = self._pen
        singular, plural = {
            "host": ("For {time} it waited for the host", "For {time} the tasks waited for the host"),
            "queue": ("For {time} it was in the task queue", "For {time} the tasks were in the task queue"),
            "launch": ("Launching it took {time}", "Launching the tasks took {time}"),
            "device": (
                "For {time} it was launched and not yet running",
                "For {time} the tasks were launched and not yet running",
            ),
            "unlinked": ("For {time} the trace does not tell what the host did",) * 2,
        }[family]
        host_causes = {share.cause for share in self._shares if share.cause.family == "host"}
        # No sentence of the scheduler stands between this one and that of the host.
        if family == "queue" and host_causes and host_causes.isdisjoint(SCHEDULED):
            singular = "It then waited {time} in the task queue"
            plural = "The tasks then waited {time} in the task queue"
        if any(share.cause is Cause.UNSEEN for share in shares):  # perhaps not launched yet
            singular, plural = (
                "For {time} it waited for the device",
                "For {time} the tasks waited for the device",
            )
        time = self._time_text(units, Role.NUMBER)
        opening = pen.compose(singular if len(self._intervals) == 1 else plural, time=time)
        if family == "unlinked":
            return pen.compose("{opening}: {why}.", opening=opening, why=self._unlinked_reason())
        if len(shares) == 1:
            return pen.compose("{opening} ({why}).", opening=opening, why=self._share_text(shares[0], None))
        return pen.compose("{opening}: {why}.", opening=opening, why=self._shares_text(shares, units))

    def _shares_text(self, shares: list[Share], total_units: int) -> Iterator[StyledText]:
        """Yield the largest shares, by line of source, then "and 9 more pieces, 0.12 ms" for the rest."""
        pen = self._pen
        # Naming one share more is as short as counting it.
        largest = shares if len(shares) <= MAX_NAMED + 1 else shares[:MAX_NAMED]
        smaller = shares[len(largest) :]
        units = apportion([*(share.ns for share in largest), sum(share.ns for share in smaller)], total_units)
        shares_by_line: dict[tuple[Frame | None, bool], list[tuple[Share, int]]] = {}
        for share, share_units in zip(largest, units):
            shares_by_line.setdefault((share.frame, share.backward), []).append((share, share_units))
        for group_index, group in enumerate(shares_by_line.values()):
            if group_index:
                yield pen.text(semicolon_list(["", ""]))  # the separator alone
            for position, (share, share_units) in enumerate(group):
                if position:
                    yield pen.text(clauses(["", ""]))  # likewise
                yield from self._share_text(share, share_units, position == len(group) - 1)
        if smaller:
            count = sum(share.pieces for share in smaller)
            template = "; and 1 more piece, {time}" if count == 1 else "; and {count} more pieces, {time}"
            yield from pen.compose(template, count=f"{count:,}", time=self._time_text(units[-1]))

    def _share_text(self, share: Share, units: int | None, with_line: bool = True) -> Iterator[StyledText]:
        """Yield "P 402 µs Python at train.py(88) main". `units` None: the sentence has the time already.

        `with_line` False: a share after it is of the same line, and names it.
        """
        pen = self._pen
        yield (f"{cause_letter(share.cause)}\u00a0", cause_style(share.cause, pen.palette))
        if units is not None:
            yield self._time_text(units)
            yield pen.text(" ")
        if share.frame is not None and with_line:
            line = self._pen.python_line(share.frame, share.backward)
            yield from pen.compose("{doing} at {line}", doing=share.doing, line=line)
        else:
            yield pen.text(share.doing)

    def _time_text(self, units: int, role: Role = Role.TEXT) -> StyledText:
        """Return a time in the unit of the story, held together by a space that does not break."""
        return self._pen.text(unbroken(format_share(units, self._unit)), role)

    def _unlinked_reason(self) -> str:
        """Return that no launch is recorded, and how to have it recorded, where anything is known to help."""
        trace, is_single = self._analysis.trace, len(self._intervals) == 1
        reason = translate(
            "no launch of it is recorded" if is_single else "no launch of the tasks is recorded"
        )
        recorded = {track.layer for track in trace.tracks if len(track.rows)}
        if trace.kind is TraceKind.ASCEND and Layer.RUNTIME not in recorded:
            return translate("{why}. Collect CPU and NPU activities at level 1 to know", why=reason)
        if recorded.isdisjoint((Layer.RUNTIME, Layer.PYTHON)):
            return translate("{why}. Collect CPU activities too, to know", why=reason)
        if self._precedes_linked_tasks():
            template = (
                "{why}; perhaps work from before the recording. Synchronise before the profiler starts, to "
                "know"
            )
            return translate(template, why=reason)
        return reason

    def _precedes_linked_tasks(self) -> bool:
        """Return whether the task after the longest unlinked idle interval ran before all tasks of its stream
        that lead back to the host: tasks of a stream run in the order in which they were launched.
        """
        trace, causes, idle = self._analysis.trace, self._analysis.causes, self._analysis.idle
        unlinked = causes.interval[self._pieces][causes.cause[self._pieces] == Cause.UNLINKED]
        longest = unlinked[(idle.end[unlinked] - idle.start[unlinked]).argmax()]
        task = int(idle.task[longest])
        if task < 0:
            return False
        rows = rows_of([trace.track_of(task)])
        linked = rows[self._analysis.launch_chains.enqueued(rows) != NEVER]
        return len(linked) > 0 and bool(trace.slices.start[task] < trace.slices.start[linked].min())

    def _sync_sentence(self) -> list[StyledText] | None:
        """Return which synchronisation had begun when the device went idle, and its line; None without one.

        Of several idle intervals that began so, the longest counts.
        """
        pen, causes, idle = self._pen, self._analysis.causes, self._analysis.idle
        intervals = [interval for interval in self._intervals if causes.sync_thread[interval] >= 0]
        if not intervals:
            return None
        longest = max(intervals, key=lambda interval: int(idle.end[interval] - idle.start[interval]))
        row = int(causes.sync_operator[longest])
        name = translate("A synchronisation")
        if row >= 0:
            name = printable(self._analysis.trace.name(row), NAME)
        synchroniser: list[StyledText] = [pen.text(name, Role.NUMBER)]
        stack, frame = causes.sync_stack[[longest]], causes.sync_frame[[longest]]
        frames, line_index = lines_of(self._analysis.trace, stack, frame, self._analysis.rules)
        if line_index[0] >= 0:
            line = self._pen.python_line(frames[int(line_index[0])], False)
            synchroniser = pen.compose("{call} at {line}", call=synchroniser, line=line)
        template = "{call} began before {device} went idle: the host could not work ahead."
        return pen.compose(template, call=synchroniser, device=self._device_name)

    def _rest_sentence(self) -> list[StyledText] | None:
        """Return what engines beside the AI cores and exposed copies took of the gap; None if nothing."""
        gaps, pen = self._analysis.gaps, self._pen
        engines = printable(self._analysis.engines_in_gap(self._gap), NAME)
        columns = ((engines, gaps.beside_cores), (translate("copies"), gaps.copy))
        parts = [(name, int(values[self._gap])) for name, values in columns if values[self._gap]]
        rest_ns = sum(ns for _, ns in parts)
        if not rest_ns:
            return None
        unit = unit_of(rest_ns)
        total_units = (rest_ns + unit // 2) // unit
        units_by_part = apportion([ns for _, ns in parts], total_units)
        parts_text = clauses(
            f"{format_share(units, unit)} {name}" for units, (name, _) in zip(units_by_part, parts)
        )
        template = (
            "The rest of the gap: {parts}." if len(parts) == 1 else "The rest of the gap, {time}: {parts}."
        )
        return [
            pen.text(translate(template, time=format_share(total_units, unit), parts=parts_text), Role.DIM)
        ]


def _lead_sentence(losses: LeadLosses, gap: int, origin_ns: int, pen: Pen) -> list[StyledText]:
    """Return "The host was 12 tasks (1.24 ms) ahead; it lost that when it enqueued nothing for 2.1 ms ..."

    Tells of the longest idle interval of the gap that is mostly the host's and before which the host lost a
    lead; empty where there is none. Times count from `origin_ns`.
    """
    place = losses.of_gap(gap)
    if place < 0:
        return []
    count, start = int(losses.count[place]), int(losses.pause_start[place])
    tasks = counted(count, "1 task", "{count} tasks")
    pause_ns = int(losses.pause_end[place]) - start
    sentence = pen.compose(
        "The host was {tasks} ({work}) ahead; it lost that when it enqueued nothing for {pause} from "
        "{start} on",
        tasks=tasks,
        work=unbroken(format_duration(int(losses.work[place]))),
        pause=pen.text(unbroken(format_duration(pause_ns)), Role.NUMBER),
        start=unbroken(format_time(start - origin_ns)),
    )
    cause, line_index = int(losses.cause[place]), int(losses.line[place])
    if cause >= 0:
        cause_text = (cause_name(Cause(cause)), cause_style(Cause(cause), pen.palette))
        sentence = pen.compose("{sentence}: {why}", sentence=sentence, why=cause_text)
    if line_index >= 0:
        file, number, function = losses.lines[line_index]
        function_name = printable(function, NAME)
        if file:
            location = pen.text(f"{printable(path_end(file, 2), NAME)}({number})", Role.USER_LINE)
            sentence = pen.compose(
                "{sentence} at {line} {function}",
                sentence=sentence,
                line=location,
                function=function_name,
            )
        else:
            sentence = pen.compose("{sentence} in {function}", sentence=sentence, function=function_name)
    return pen.compose("{sentence}.", sentence=sentence)
