"""The lines of the details pane on a slice, on a gap, on what led to a task, on its kernel, and on the run.

Every name goes through `printable`; times and shares are exact, and what is not known is named as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.style import Style

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.engines import engine_of
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.main_line import main_line
from tracetui.analysis.kernels import KernelFacts
from tracetui.analysis.launch_chains import LaunchChain
from tracetui.analysis.lead import LeadLosses
from tracetui.export.sentences.causes import NO_STACK
from tracetui.export.sentences.late_ranks import late_rank
from tracetui.export.tables.operators import activity_words
from tracetui.export.text import padded
from tracetui.language import clauses, counted, heading, names, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity, Trace
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.causes import cause_name, cause_style
from tracetui.ui.drawing.lane import clip_cells
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import LABEL, Line, Pen
from tracetui.ui.drawing.strips import flowing
from tracetui.ui.stories.gap_words import GapWords
from tracetui.ui.tables.hotspot_columns import between_operators
from tracetui.units import format_clock, format_duration, format_exact, format_time

_MEASURE_WORDS = {Measure.LOST: "lost", Measure.IDLE: "idle", Measure.COMMUNICATION: "comm"}
_ACTIVITY_WORDS = {
    Activity.COMMUNICATION: "communication",
    Activity.COPY: "copy",
    Activity.COMMUNICATION_TASK: "part of a collective",
    Activity.WAIT: "wait",
    Activity.EVENT: "event",
    Activity.OTHER: "other task",
}
_EPOCH_FROM = 10**18  #: ns: clocks that show more, 2001, count from 1970
_LINE_CELLS = 36  #: cells of a line of Python


def describe_slice(trace: Trace, row: int, pen: Pen) -> list[Line]:
    """Return name, times and place of a slice: three lines."""
    track = trace.track_of(row)
    start, dur = int(trace.slices.start[row]), int(trace.slices.dur[row])
    activity = Activity(int(trace.slices.activity[row]))
    place = f"{printable(track.process)} {pen.glyphs.dot} {printable(track.name)}"
    if track.device:
        place = f"{printable(track.device)} {pen.glyphs.dot} {place}"
    head: Line = [pen.text(f" {printable(trace.name(row), 300)}", Role.TITLE)]
    length, exact = format_duration(dur), format_exact(dur)
    facts: Line = [
        pen.label(translate("took")),
        pen.text(length, Role.NUMBER),
        pen.text(f" ({exact})" if exact != length else "", Role.DIM),
        *pen.compose(
            "  at {time}  on {place}",
            Role.DIM,
            time=pen.text(format_time(start - trace.start_ns, 1)),
            place=pen.text(place),
        ),
    ]
    if activity is not Activity.NONE:
        if activity is Activity.AICPU:
            kind = printable(engine_of(trace, row), 40)
        else:
            words = _ACTIVITY_WORDS.get(activity)
            kind = wording(words) if words else activity_words(activity, trace.kind)
        facts += pen.compose("  is {kind}", Role.DIM, kind=pen.text(kind, activity))
        task_type = trace.string(int(trace.slices.task_type[row]))
        if task_type:
            facts.append(pen.text(f" {printable(task_type, 40)}", Role.DIM))
    return [head, facts, describe_clock(trace, start, start + dur, pen)]


def describe_clock(trace: Trace, start_ns: int, end_ns: int, pen: Pen) -> Line:
    """Return the times on the clock of the trace, as the trace and the tables beside it have them."""
    label = translate("epoch") if trace.start_ns >= _EPOCH_FROM else translate("clock")
    moment = format_clock(start_ns)
    if end_ns > start_ns:
        moment = translate("{start} to {end}", start=moment.removesuffix(" µs"), end=format_clock(end_ns))
    return [pen.label(label), pen.text(moment)]


def describe_gap(
    analysis: Analysis,
    gap: int,
    blamed: Sequence[Line],
    losses: LeadLosses | None,
    pen: Pen,
    width: int,
) -> list[Line]:
    """Return why a device was idle in a gap, and what ran before and after it.

    `blamed`: lines about the Python line behind it. `losses` says where the host lost its lead; None until
    that is computed.
    """
    trace, gaps = analysis.trace, analysis.gaps
    task_before, task_after = int(gaps.before[gap]), int(gaps.after[gap])
    bar, *story = GapWords(analysis, gap, pen, losses).lines(width)
    neighbours = [
        _neighbour_line(translate("after"), trace, task_before, pen),
        _neighbour_line(translate("ended by"), trace, task_after, pen),
    ]
    clock = describe_clock(trace, int(gaps.start[gap]), int(gaps.end[gap]), pen)
    return [bar, *blamed, *story, *neighbours, clock]


def describe_worst(analysis: Analysis, ranked: Sequence[int], by: Measure, pen: Pen) -> list[Line]:
    """Return a line for each of the worst gaps: rank, time, cause, Python line or late rank, next task."""
    trace, gaps = analysis.trace, analysis.gaps
    lines: list[Line] = []
    ns_by_gap, word = gaps.measured(by), _MEASURE_WORDS[by]
    for rank, gap in enumerate(ranked, 1):
        task = int(gaps.after[gap])
        reason, line = _main_reason(analysis, gap, by, pen)
        name = printable(trace.name(task), 200) if task >= 0 else translate("no task")
        activity = Activity(int(trace.slices.activity[task])) if task >= 0 else Role.DIM
        lines.append(
            [
                pen.text(f" {rank:>2} ", Role.KEY),
                pen.text(f"{format_duration(int(ns_by_gap[gap])):>9} {translate(word)}", Role.IDLE),
                reason,
                pen.text(" " + clip_cells(line, _LINE_CELLS, pen.glyphs.ellipsis)),
                *pen.compose(" until {task}", Role.DIM, task=pen.text(name, activity)),
            ]
        )
    return lines


def _main_reason(analysis: Analysis, gap: int, by: Measure, pen: Pen) -> tuple[tuple[str, Style], str]:
    """Return what most of a gap was, and the Python line behind it; the late rank for communication."""
    gaps, causes = analysis.gaps, analysis.causes
    idle, communication, copies = (int(part[gap]) for part in (gaps.idle, gaps.communication, gaps.copy))
    if by is Measure.IDLE or (by is Measure.LOST and idle and idle >= max(communication, copies)):
        cause = causes.main(causes.of_gap(gap))
        frame = analysis.rules.line_of(main_line(analysis, gap, of_idle=True).stack)
        line = short_frame(frame) if frame is not None else _operator_of(analysis, causes.of_gap(gap))
        return ("  " + padded(cause_name(cause), 13), cause_style(cause, pen.palette)), line
    if not communication or (by is Measure.LOST and copies > communication):
        return ("  " + padded(translate("copies"), 13), pen.palette.style_of(Activity.COPY)), ""
    exposed = analysis.communication.exposed
    largest = next(iter(exposed.by_cause(exposed.of_gap(gap))))
    reason = "  " + padded(cause_name(largest), 13), cause_style(largest, pen.palette)
    return reason, late_rank(analysis, gap) or ""


def _operator_of(analysis: Analysis, pieces: slice) -> str:
    """Return the operator with the longest piece of the main cause; of a trace with Python "(no stack)"."""
    if analysis.has_python:
        return translate(NO_STACK)
    causes = analysis.causes
    ns = np.where(causes.cause[pieces] == causes.main(pieces), causes.ns[pieces], 0)
    row = int(causes.operator[pieces][ns.argmax()])
    return printable(analysis.trace.name(row), 200) if row >= 0 else between_operators()


def short_frame(frame: Frame) -> str:
    """Return a frame in few cells: the end of its path, its line and function."""
    file = path_end(frame.file, 2)
    return printable(f"{file}({frame.line}) {frame.function}" if file else frame.function, 80)


def describe_chain(trace: Trace, chain: LaunchChain | None, pen: Pen) -> list[Line]:
    """Return how a task came from the host to the device, with the time from each hop to the next."""
    if chain is None:
        return []
    line: Line = [pen.label(translate("from"))]
    for hop in chain.hops:
        name = printable(trace.name(hop.row), 60) if hop.name == "operator" else wording(hop.name)
        line.append(pen.text(name, Role.HOST if hop is not chain.hops[-1] else Role.TEXT))
        if hop is not chain.hops[-1]:
            line.append(pen.text(f" {format_duration(hop.wait_ns)}", Role.NUMBER))
            line.append(pen.text(f" {pen.glyphs.arrow} ", Role.DIM))
    if chain.missing and chain.missing != "stack":
        line.append(pen.text("  " + translate("no {hop} found", hop=wording(chain.missing)), Role.DIM))
    return [line]


def describe_line(
    label: str, stack: tuple[Frame, ...], rules: FrameRules, backward: bool, source: str | None, pen: Pen
) -> list[Line]:
    """Return the user's own line of a stack, and its source if it was found: up to two lines."""
    frame = rules.line_of(stack)
    if frame is None:
        return []
    line: Line = [
        pen.label(label),
        pen.text(printable(f"{frame.file}({frame.line})" if frame.file else frame.function), Role.USER_LINE),
        pen.text(
            "  " + translate("in {function}", function=printable(frame.function, 60)) if frame.file else ""
        ),
        pen.text(" " + translate(" (backward of it)") if backward else "", Role.DIM),
    ]
    lines = [line]
    if source is not None:
        lines.append([pen.label(""), pen.text(f"{frame.line} {pen.glyphs.bar} ", Role.DIM), pen.text(source)])
    return lines


def describe_frames(stack: tuple[Frame, ...], rules: FrameRules, pen: Pen) -> list[Line]:
    """Return a whole stack, leaf first, one line per frame; the user's line stands out."""
    user_frame = rules.line_of(stack)
    return [
        [
            pen.label(translate("stack") if index == 0 else ""),
            pen.text(printable(str(frame)), Role.USER_LINE if frame is user_frame else Role.DIM),
        ]
        for index, frame in enumerate(stack)
    ]


def describe_args(args: Mapping[str, Any], pen: Pen) -> list[Line]:
    """Return the args of a slice, one line each; stacks are shown elsewhere."""
    lines: list[Line] = []
    for key, value in args.items():
        if key != "Call stack":
            text = printable(str(value), 1000)
            lines.append([pen.label(printable(str(key), 40) + " "), pen.text(text)])
    return lines


def _neighbour_line(word: str, trace: Trace, row: int, pen: Pen) -> Line:
    """Return a task after a label: its name, duration and track. `row` is -1 where there is no task."""
    if row < 0:
        return [pen.label(word), pen.text(translate("no task"), Role.DIM)]
    activity = Activity(int(trace.slices.activity[row]))
    return [
        pen.label(word),
        pen.text(printable(trace.name(row), 200), activity),
        pen.text(f"  {format_duration(int(trace.slices.dur[row]))}", Role.NUMBER),
        pen.text(f"  {printable(trace.track_of(row).name)}", Role.DIM),
    ]


_FACT_CHARACTERS = 120  #: characters of one fact


def run_lines(facts: Iterable[tuple[str, Sequence[str]]], pen: Pen, width: int) -> list[Line]:
    """Return the facts by their labels, as the producer wrote them, in lines of at most `width` cells."""
    lines: list[Line] = []
    for label, values in facts:
        text = names(printable(value, _FACT_CHARACTERS) for value in values)
        for index, line in enumerate(flowing([pen.text(text)], width - LABEL)):
            lines.append([pen.label(heading(label) if index == 0 else ""), *line])
    return lines


_TENSOR_CHARACTERS = 200  #: characters of a text


def describe_kernel(facts: KernelFacts, pen: Pen) -> list[Line]:
    """Return a line on the kernel, one each on its inputs and outputs, and one on the counters above 0."""
    lines = [_kernel_line(facts, pen), _tensor_line("input", facts, pen), _tensor_line("output", facts, pen)]
    counters = {title: value for title, value in facts.counters.items() if value}
    if counters:
        text = ", ".join(f"{printable(title, 40)} {value:g}" for title, value in counters.items())
        lines.append([pen.label("PMU"), pen.text(text)])
    return [line for line in lines if line]


def _kernel_line(facts: KernelFacts, pen: Pen) -> Line:
    """Return "MatMulV2 on AI_CORE, 24 blocks, waited 1.24 µs"; empty where nothing is known."""
    texts = facts.texts
    parts = [translate("on {core}", core=printable(texts["core"], 40))] if "core" in texts else []
    if facts.blocks:
        parts.append(counted(facts.blocks, "1 block", "{count} blocks"))
    if facts.mix_blocks:
        parts.append(counted(facts.mix_blocks, "1 mix block", "{count} mix blocks"))
    if facts.wait_ns is not None:
        parts.append(translate("waited {time}", time=format_duration(facts.wait_ns)))
    parts += [f"{key} {printable(texts[key], 40)}" for key in ("state", "hf32") if key in texts]
    name = printable(texts["type"], 60) if "type" in texts else ""
    if not name and not parts:
        return []
    return [
        pen.label("kernel"),
        pen.text(name, Role.NUMBER),
        pen.text(f" {clauses(parts)}".rstrip()),
    ]


def _tensor_line(side: str, facts: KernelFacts, pen: Pen) -> Line:
    """Return "inputs  [128,256] FLOAT16 ND; [256] FLOAT ND".

    The attributes of a tensor stand together where all columns have as many tensors; else column follows
    column.
    """
    columns = [facts.texts.get(f"{side}_{attribute}") for attribute in ("shapes", "types", "formats")]
    values_by_column = [column.strip('"').split(";") for column in columns if column is not None]
    if not values_by_column:
        return []
    if len({len(parts) for parts in values_by_column}) == 1:
        shapes, *others = values_by_column
        tensors = zip([f"[{shape}]" for shape in shapes], *others)
        text = "; ".join(" ".join(part for part in parts if part) or "scalar" for parts in tensors)
    else:
        text = "  ".join(";".join(parts) for parts in values_by_column)
    return [pen.label(translate(f"{side}s")), pen.text(printable(text, _TENSOR_CHARACTERS))]
