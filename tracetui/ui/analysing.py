"""Analysing in a thread of its own: what it yields are messages, posted through a function.

Knows the analysis and the cache of recordings; no widget. It is imported while the trace is read: the first
picture needs none of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.counter_tracks import CounterTrack, has_memory, of_leads, of_memory
from tracetui.analysis.scheduler.scheduler import SchedulerRecording, recording_of
from tracetui.cache.recordings import recording_reader
from tracetui.language import state, translate
from tracetui.trace.model import Family, Trace
from tracetui.ui.drawing.curve_rows import Extras
from tracetui.ui.failures import failure
from tracetui.ui.loading import EVERY, Post
from tracetui.ui.messages import AnalysisFailed, AnalysisReady, CurvesRead, CurvesReady, RecordingProgress
from tracetui.ui.session import Session


def analyse_trace(session: Session, trace: Trace, post: Post) -> None:
    """Analyse a trace of a session, and post the result."""
    try:
        analysis = analyse(trace, session.options.rules, _scheduler(session, trace, post))
        _warm(analysis)
    except Exception as error:  # the timeline is of use without it
        post(AnalysisFailed(session, failure(error, "The analysis", "the analysis")))
    else:
        post(AnalysisReady(session, analysis))
        post(CurvesReady(session, analysis, _curves(analysis)))


class _Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The recording of the scheduler is not wanted any more."""


def _scheduler(session: Session, trace: Trace, post: Post) -> SchedulerRecording:
    """Return the recording of the scheduler of a session, posting how far it is read."""
    source, due = session.options.scheduler, 0.0

    def show(done: int, total: int) -> None:
        nonlocal due
        if session.stopping or session.without_scheduler:
            raise _Stopped
        if time.monotonic() >= due:
            due = time.monotonic() + EVERY
            post(RecordingProgress(session, done, total))

    try:
        read = recording_reader(session.options.cache)
        return recording_of(trace, source, show, must_be_of_use=False, read=read)
    except _Stopped:
        return SchedulerRecording(None, translate("its reading was stopped"))
    finally:
        post(RecordingProgress(session, 0, 0))


def _curves(analysis: Analysis) -> Extras:
    """Return the lead of the host, and whether something tells of the memory of the devices."""
    devices = analysis.trace.devices
    memory_of = devices[0] if devices else None
    has = has_memory(analysis.trace)
    cores = () if analysis.scheduler is None else analysis.scheduler.cores.numbers
    return Extras(of_leads(analysis.leads), has, memory_of, tuple(_threads(analysis)), cores)


def _threads(analysis: Analysis) -> Iterator[tuple[int, int]]:
    """Yield the threads that the scheduler's recording knows: the track to be below, and their number."""
    if analysis.scheduler is None:
        return
    for thread in analysis.scheduler.threads:
        tracks = [track for track in thread.tracks if track.family == Family.OPERATORS] or [*thread.tracks]
        yield tracks[-1].index, analysis.scheduler.matching.host[thread.tid]


def read_curves(session: Session, trace: Trace, with_memory: bool, post: Post) -> None:
    """Bring the counters of a trace in order, read what tells of its memory if that is wanted; post it."""
    _ = trace.counters.time
    memory: tuple[CounterTrack, ...] | None = None
    problems: tuple[str, ...] = ()
    if with_memory:
        try:
            memory, problems = of_memory(trace)
        except Exception as error:  # the timeline is of use without it
            memory, problems = (), (state("The memory cannot be shown: {error}", error=type(error).__name__),)
    post(CurvesRead(session, trace, memory, problems))


def _warm(analysis: Analysis) -> None:
    """Make what the first frame wants: 0.8 s of 3 million idle intervals, not for the screen's thread."""
    _ = analysis.run, analysis.health
    _ = analysis.gaps.ranked(), analysis.communication.exposed_sets
    edges = np.array([analysis.trace.start_ns, analysis.trace.start_ns + 1], np.int64)
    for idle, causes in zip(analysis.idle_rasters, analysis.cause_rasters):
        idle.columns(range(len(idle)), edges)
        causes.ns(edges)
