"""The trace of a command: it is read, what is wrong with it is said, what is asked for is found."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.api import opened
from tracetui.background import Background
from tracetui.cli import output, streams, terminal
from tracetui.cli.parser import Request, usage_error
from tracetui.cli.progress import ProgressLine
from tracetui.cli.reading_options import rules_of, scheduler_source
from tracetui.language import restate, state
from tracetui.reader.source import TraceFile
from tracetui.trace.clean import printable
from tracetui.units import Window, format_clock, format_duration

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.export.trace.selection import Selection

#: What answers are made with once a trace is read.
_USED_AFTERWARDS = ("tracetui.analysis.analyse", "tracetui.export.trace.documents")


def open_analysis(request: Request) -> tuple[Analysis, Selection]:
    """Return the analysis of the trace, and what of it is asked for.

    Raises UsageError where that is not in it, UnreadableTrace where there is no trace.
    """
    analysis = open_whole_trace(request)
    return analysis, selected(analysis, request.step, request.window)


def open_whole_trace(request: Request, at_once: bool = True) -> Analysis:
    """Return the analysis of the trace; not `at_once`: computed at first use. Raises UnreadableTrace."""
    with opened_trace(request, request.path, scheduler_source(request), at_once) as (analysis, _):
        pass
    trace = analysis.trace
    if trace.report.passing or trace.report.stopped:
        streams.mark_passing()
    from tracetui.export.sentences.scheduler import scheduler_notes

    for warning in (*map(restate, (*trace.report.warnings, *trace.notes)), *scheduler_notes(analysis)):
        output.say(printable(warning))
    return analysis


@contextlib.contextmanager
def opened_trace(
    request: Request, path: str, scheduler: SchedulerSource | None = None, at_once: bool = True
) -> Iterator[tuple[Analysis, TraceFile]]:
    """Give the analysis of a trace, showing how far it is, and its file. Raises as `open_analysis`.

    at_once : compute what most need of it; else all of it is computed at first use.
    """
    output.refuse_early(request, path)
    with contextlib.ExitStack() as stack:
        with ProgressLine(sys.stderr if terminal.is_terminal(sys.stderr) else None) as line:
            reading = opened(
                path,
                line.show,
                rules_of(request),
                request.cache,
                request.jobs,
                request.export,
                scheduler,
                line.show_bytes,
                at_once,
            )
            importing = Background(lambda: [*map(import_module, _USED_AFTERWARDS)])
            try:
                found = stack.enter_context(reading)
            finally:
                importing.result()
        yield found


def selected(analysis: Analysis, step: int | None, window: Window | None) -> Selection:
    """Return what is asked for of a trace; raises UsageError where that is not in it."""
    from tracetui.export.trace.selection import Selection
    from tracetui.export.trace.step_numbers import StepNumbers

    numbers = StepNumbers(analysis).known()
    if step is not None and step not in numbers:
        known = known_steps(numbers)
        raise usage_error("there is no step {step} in this trace: {known}", step=step, known=known)
    return Selection(step, None if window is None else _interval_of(analysis, window))


def known_steps(numbers: Sequence[int]) -> str:
    """Return which steps there are, in words."""
    if not numbers:
        return state("it has no ProfilerStep")
    template = "its step is {numbers}" if len(numbers) == 1 else "its steps are {numbers}"
    return state(template, numbers=_numbers_in_words(numbers))


def _interval_of(analysis: Analysis, window: Window) -> tuple[int, int]:
    """Return the window on the clock of the trace; raises UsageError if it holds nothing of the trace."""
    trace = analysis.trace
    start, end = window.on_clock(trace.start_ns, trace.base_ns)
    since = state("starts at {time}", time=format_clock(trace.start_ns))
    if end <= start:
        raise usage_error("a window ends after it starts; this trace {since}", since=since)
    path, span = printable(trace.path), format_duration(trace.end_ns - trace.start_ns)
    if end <= trace.start_ns:
        template = "the window ends before the start of {path}, which is {span} long and {since}"
        raise usage_error(template, path=path, span=span, since=since)
    if start >= max(trace.end_ns, trace.start_ns + 1):
        template = "the window starts after the end of {path}, which is {span} long and {since}"
        raise usage_error(template, path=path, span=span, since=since)
    return start, end


def _numbers_in_words(numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")
