"""What each command does with a trace, between the arguments and the tables."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, BinaryIO

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.limits import find_breaches
from tracetui.api import load
from tracetui.cli import terminal
from tracetui.cli.cached import clear_text, list_text
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import Request, UsageError
from tracetui.cli.progress import ProgressLine
from tracetui.export.advice import advice_document
from tracetui.export.advice_text import advice_text
from tracetui.export.atomic import refuse_to_overwrite, write_atomically
from tracetui.export.documents import dumps, gaps_document, summary_document
from tracetui.export.events_csv import matching_tracks, write_events
from tracetui.export.findings import hotspots_document, limits_document
from tracetui.export.idle_text import gaps_text, hotspots_text
from tracetui.export.limits_text import breaches_text, doubts
from tracetui.export.markdown_report import (
    advice_markdown,
    gaps_markdown,
    hotspots_markdown,
    summary_markdown,
)
from tracetui.export.report import summary_text
from tracetui.export.selection import Selection
from tracetui.export.step_numbers import StepNumbers
from tracetui.export.tables_csv import write_advice, write_gaps, write_hotspots, write_steps
from tracetui.export.text import to_ascii
from tracetui.reader.locate import locate_trace
from tracetui.trace.clean import printable
from tracetui.units import OPEN_END, format_clock, format_count, format_duration

TOP = 20  #: rows that `tracetui gaps` lists as text


def run(request: Request) -> int:
    """Do what was asked for; returns the exit status."""
    if request.command == "view":
        return _view(request)
    with _cancelled_by(signal.SIGTERM, signal.SIGHUP):
        return _COMMANDS[request.command](request)


def _view(request: Request) -> int:
    front = terminal.choose_front(os.environ, sys.stdin, sys.stdout, sys.stderr)
    if front is terminal.Front.DUMB:
        raise UsageError("this terminal (TERM) cannot show the viewer; tracetui summary PATH prints text")
    if front is not terminal.Front.VIEWER:
        with _cancelled_by(signal.SIGTERM, signal.SIGHUP):
            _summary(request)
        if front is terminal.Front.HIDDEN:
            _print("\nThe viewer is drawn on stderr, which is redirected: this is the summary.\n", request)
        return ExitCode.OK
    path = locate_trace(request.path)
    terminal.prepare_viewer(os.environ)
    # Only here is textual imported.
    from tracetui.ui.app import run_viewer
    from tracetui.ui.options import ViewerOptions

    palette = terminal.choose_palette(os.environ) if request.palette == "auto" else request.palette
    options = ViewerOptions(
        palette=palette,
        ascii=_in_ascii(request),
        mouse=request.mouse,
        cache=request.cache,
        jobs=request.jobs,
        sources=request.sources,
        step=request.step,
        window=request.window,
        rules=_rules(request),
    )
    return run_viewer(path, options)


def _summary(request: Request) -> ExitCode:
    analysis, selection = _open(request)
    return _answer(
        request,
        what="steps",
        csv=lambda stream: write_steps(stream, analysis, selection),
        document=lambda: summary_document(analysis, selection),
        markdown=lambda: summary_markdown(analysis, selection, request.top),
        text=lambda: summary_text(analysis, selection, request.top, _width()),
    )


def _gaps(request: Request) -> ExitCode:
    analysis, selection = _open(request)
    top = TOP if request.top is None else request.top
    return _answer(
        request,
        what="gaps",
        csv=lambda stream: write_gaps(stream, analysis, selection, request.top or 0),
        document=lambda: gaps_document(analysis, selection, request.top or 0),
        markdown=lambda: gaps_markdown(analysis, selection, top),
        text=lambda: gaps_text(analysis, selection, top, _width()),
    )


def _hotspots(request: Request) -> ExitCode:
    analysis, selection = _open(request)
    return _answer(
        request,
        what="lines",
        csv=lambda stream: write_hotspots(stream, analysis, selection, request.top or 0),
        document=lambda: hotspots_document(analysis, selection, request.top or 0),
        markdown=lambda: hotspots_markdown(analysis, selection, request.top),
        text=lambda: hotspots_text(analysis, selection, request.top, _width()),
    )


def _advice(request: Request) -> ExitCode:
    analysis, _ = _open(request)
    return _answer(
        request,
        what="pieces of advice",
        csv=lambda stream: write_advice(stream, analysis),
        document=lambda: advice_document(analysis),
        markdown=lambda: advice_markdown(analysis),
        text=lambda: advice_text(analysis, _width()),
    )


def _check(request: Request) -> ExitCode:
    analysis, _ = _open(request)
    if not any(activity.window_ns > 0 for activity in analysis.devices):
        _say("no device computes or communicates in this trace: there is nothing to check")
        return ExitCode.UNCHECKED
    found = find_breaches(analysis, request.limits)
    breaches = tuple(breach for breach in found if request.each_step or breach.step is None)
    if request.json:
        sys.stdout.write(dumps(limits_document(request.limits, breaches)))
    else:
        _print(breaches_text(breaches), request)
    for doubt in doubts(analysis, request.limits):
        _say(doubt)
    return ExitCode.LIMIT if breaches else ExitCode.OK


def _export(request: Request) -> ExitCode:
    analysis, selection = _open(request)
    trace = analysis.trace
    start, end = selection.window or (trace.start_ns, trace.start_ns + OPEN_END)
    if selection.step is not None:
        step_start, step_end = StepNumbers(analysis).window(selection.step)
        start, end = max(start, step_start), min(end, step_end)
    tracks = None if request.tracks is None else matching_tracks(trace, request.tracks)
    if tracks is not None and not tracks:
        raise UsageError(f"no track of this trace has {printable(request.tracks or '')!r} in its name")
    _write_csv(request, lambda stream: write_events(stream, analysis, start, end, tracks), "events")
    return ExitCode.OK


def _cache(request: Request) -> ExitCode:
    _print(clear_text() if request.action == "clear" else list_text(), request)
    return ExitCode.OK


_COMMANDS: dict[str, Callable[[Request], ExitCode]] = {
    "summary": _summary,
    "gaps": _gaps,
    "hotspots": _hotspots,
    "advice": _advice,
    "check": _check,
    "export": _export,
    "cache": _cache,
}


def _answer(
    request: Request,
    what: str,
    csv: Callable[[BinaryIO], int],
    document: Callable[[], dict[str, Any]],
    markdown: Callable[[], str],
    text: Callable[[], str],
) -> ExitCode:
    """Write what was asked for: a csv file; on stdout JSON, Markdown, or text where nothing else was."""
    if request.csv is not None:
        _write_csv(request, csv, what)
    if request.json:
        sys.stdout.write(dumps(document()))
    elif request.md:
        _print(markdown(), request)
    elif request.csv is None:
        _print(text(), request)
    return ExitCode.OK


def _open(request: Request) -> tuple[Analysis, Selection]:
    """Load the trace, say on stderr what is wrong with it, and find what of it is asked for."""
    if request.csv not in (None, "-"):
        with _refusal(request):  # now, not after a minute of reading
            refuse_to_overwrite(str(request.csv), request.force, locate_trace(request.path))
    with ProgressLine(sys.stderr if terminal.is_terminal(sys.stderr) else None) as line:
        analysis = load(request.path, line.show, _rules(request), request.cache, request.jobs)
    trace = analysis.trace
    if not request.json:
        for warning in (*trace.report.warnings, *trace.notes):
            _say(printable(warning))
    numbers = StepNumbers(analysis).known()
    if request.step is not None and request.step not in numbers:
        known = f"its steps are {_listed(numbers)}" if numbers else "it has no ProfilerStep"
        raise UsageError(f"there is no step {request.step} in this trace: {known}")
    if request.window is None:
        return analysis, Selection(request.step)
    start, end = request.window.on_clock(trace.start_ns)
    if end <= start:
        raise UsageError(
            "a window ends after it starts; this trace starts at " + format_clock(trace.start_ns)
        )
    if start >= trace.end_ns or end <= trace.start_ns:
        where = "starts after the end" if start >= trace.end_ns else "ends before the start"
        span, since = format_duration(trace.end_ns - trace.start_ns), format_clock(trace.start_ns)
        _say(f"the window {where} of the trace, which is {span} long and starts at {since}")
    return analysis, Selection(request.step, (start, end))


def _rules(request: Request) -> FrameRules:
    return FrameRules(request.user_frames, request.skip_frames)


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")


def _write_csv(request: Request, write: Callable[[BinaryIO], int], what: str) -> None:
    """Write a csv file, or stdout for "-"."""
    path = str(request.csv)
    if path == "-":
        sys.stdout.flush()
        write(sys.stdout.buffer)
        return
    rows = 0

    def fill(stream: BinaryIO) -> None:
        nonlocal rows
        rows = write(stream)

    with _refusal(request):
        write_atomically(path, fill, request.force, locate_trace(request.path))
    _say(f"{format_count(rows)} {what} written to {printable(path)}")


@contextlib.contextmanager
def _refusal(request: Request) -> Iterator[None]:
    """Say what stands in the way of a file as a matter of the arguments."""
    try:
        yield
    except shutil.SameFileError:
        raise UsageError(f"{printable(str(request.csv))} is the trace itself, which stays as it is") from None
    except FileExistsError:
        advice = "it is not a file" if request.force else "--force replaces it"
        raise UsageError(f"{printable(str(request.csv))} exists; {advice}") from None


def _print(text: str, request: Request) -> None:
    sys.stdout.write(to_ascii(text) if _in_ascii(request) else text)


def _in_ascii(request: Request) -> bool:
    return request.ascii or not terminal.speaks_unicode(sys.stdout)


def _say(sentence: str) -> None:
    """One line on stderr, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"tracetui: {sentence}\n")


def _width() -> int:
    """Columns of text: those of the terminal, 80 where there is none."""
    return shutil.get_terminal_size().columns if terminal.is_terminal(sys.stdout) else 80


@contextlib.contextmanager
def _cancelled_by(*signals: signal.Signals) -> Iterator[None]:
    """Let these signals do as ctrl+c does, so that half a file is never left behind."""

    def cancel(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A signal that is ignored (nohup) stays so.
    caught = [number for number in signals if signal.getsignal(number) == signal.SIG_DFL]
    for number in caught:
        signal.signal(number, cancel)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
