"""What must be known to read what a recording of the scheduler tells, and how tasks are called."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.scheduler.clock import AGREEING, SchedulerClock
from tracetui.analysis.scheduler.scheduler import NOBODY, UNKNOWN_TASK, RecordedThread, Scheduler
from tracetui.language import restate, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.units import format_count, format_duration, format_percent

_LONGEST_NAME = 32
_WHOLE = 0.9  # of a trace, from which on the whole of it is recorded


def thread_name(task: RecordedThread) -> str:
    """Return how a task is called where people read it: "python3 (7)", its host's number in brackets."""
    if task.comm == NOBODY:
        return translate("nobody (wake-up)")
    if task.pid is None or task.comm == UNKNOWN_TASK:
        return translate("unknown")
    number = str(task.pid) if task.host_pid is None else f"{task.pid} [{task.host_pid}]"
    return f"{printable(task.comm, _LONGEST_NAME) or '?'} ({number})"


def pinning_words(analysis: Analysis) -> str:
    """Return what a run gains at most by a core for every ready thread; "" where that is not recorded."""
    if analysis.scheduler is None:
        return ""
    saves, more = map(format_duration, analysis.pinning_saves)
    template = "Pinned to cores of its own the host saves {time} at most."
    if saves != more:
        template = (
            "Pinned to cores of its own the host saves {time} at most beyond waits for late peers, {more} if "
            "they come sooner too."
        )
    return translate(template, time=saves, more=more)


def clock_words(clock: SchedulerClock) -> str:
    """Return where the offset of a clock comes from and how well it is known, a sentence."""
    source = {
        "start_info": translate("start_info of the profiler"),
        "fitted": translate("fitted to what the threads do"),
        "given": translate("--sched-offset"),
        "converted": translate("as the converter of the recording has set it"),
    }[clock.source]
    if clock.error_ns is None:
        words = translate("Clock: {source}.", source=source)
    else:
        error = format_duration(clock.error_ns)
        words = translate("Clock: {source}, to within {error}.", source=source, error=error)
    if clock.drift_ppm is not None:
        words += " " + translate("Drift: {drift} ppm.", drift=f"{clock.drift_ppm:.2f}")
    return words


def scheduler_notes(analysis: Analysis) -> list[str]:
    """Return what must be known of the recording beside a trace, in sentences; none where there is none."""
    if analysis.scheduler_problem:
        problem = printable(restate(analysis.scheduler_problem))
        return [translate("The recording of the scheduler is not used: {problem}.", problem=problem)]
    return [] if analysis.scheduler is None else [*_notes(analysis.scheduler, analysis.trace)]


def _notes(scheduler: Scheduler, trace: Trace) -> Iterator[str]:
    events = scheduler.events
    for problem in events.problems:
        yield translate("{sentence}.", sentence=printable(restate(problem)))
    if events.skipped:
        count = format_count(events.skipped)
        yield translate("Lines of the scheduler that cannot be read, and are skipped: {count}.", count=count)
    if events.reordered:
        count = format_count(events.reordered)
        yield translate(
            "Events of the scheduler that stood after later ones, and are sorted: {count}.", count=count
        )
    if events.lost or events.losses:
        template = (
            "Events that the kernel lost: {count}. Threads are unknown meanwhile: give it a larger buffer."
        )
        if not events.lost:  # the kernel does not always say how many
            template = "The kernel lost events. Threads are unknown meanwhile: give it a larger buffer."
        yield translate(template, count=format_count(events.lost))
    recorded_ns, trace_ns = scheduler.window[1] - scheduler.window[0], trace.end_ns - trace.start_ns
    if recorded_ns < _WHOLE * trace_ns:
        yield translate(
            "The scheduler is recorded for {time} of {whole} of the trace: it explains no idle time outside.",
            time=format_duration(recorded_ns),
            whole=format_duration(trace_ns),
        )
    if not events.has_wakes:
        yield translate(
            "Wake-ups are not recorded: whether a thread slept or waited for a core is not known. Record "
            "sched_waking, too."
        )
    if scheduler.matching.inferred:
        yield translate("Threads of the scheduler are matched by what they do: their numbers are others.")
    if scheduler.agreeing is not None and scheduler.agreeing < AGREEING:
        share = format_percent(round(scheduler.agreeing * 1000), 1000)
        yield translate(
            "Threads have a core at only {share} of their calls: the clock may be off, or cores are not "
            "recorded. Record all cores that they use, with the clock mono_raw.",
            share=share,
        )
