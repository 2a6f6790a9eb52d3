"""What the scheduler adds to the story of a gap: which thread had no core and who had it, or who woke it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.scheduler import Culprit, Scheduler
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.scheduler.summary import culprits_of
from tracetui.analysis.sums import most_first
from tracetui.arrays import Int64s
from tracetui.export.sentences.scheduler import thread_name
from tracetui.language import names, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import TraceKind
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import StyledText
from tracetui.units import format_duration

_LONGEST_CALL = 60  # characters
MOST_NAMED = 3  #: tasks that had a core
_PART = 10  # of a sleep, from which on what kept its waker is told


def scheduler_sentences(analysis: Analysis, pieces: slice, pen: Pen) -> Iterator[list[StyledText]]:
    """Yield what the scheduler did in some pieces of idle time, a sentence for each of its causes.

    Nothing where it is not recorded.
    """
    scheduler = analysis.scheduler
    if scheduler is None:
        return
    words = _SchedulerWords(analysis, scheduler, pen)
    places = np.arange(pieces.start, pieces.stop)
    for cause, sentence in (
        (Cause.PREEMPTED, words.preempted),
        (Cause.BLOCKED, words.blocked),
        (Cause.DISK, words.waited),
        (Cause.INTERRUPTED, words.interrupted),
    ):
        chosen = places[analysis.causes.cause[places] == cause]
        if len(chosen):
            yield sentence(chosen)


class _SchedulerWords:
    def __init__(self, analysis: Analysis, scheduler: Scheduler, pen: Pen) -> None:
        self._analysis, self._causes, self._scheduler, self._pen = analysis, analysis.causes, scheduler, pen

    def preempted(self, places: Int64s) -> list[StyledText]:
        """Return which thread was ready without a core, and who had it."""
        culprits = culprits_of(self._scheduler, self._causes, places)
        return [
            *self._pen.compose(
                "{thread} was ready for {time} and had no core; it was with {tasks}. Pin the process: "
                "{setting}.",
                thread=self._thread(places),
                time=self._time(places),
                tasks=_tasks(culprits),
                setting="taskset" if self._analysis.trace.kind is TraceKind.GPU else "CPU_AFFINITY_CONF",
            )
        ]

    def blocked(self, places: Int64s) -> list[StyledText]:
        """Return which thread slept, who woke it and what had kept that from its core, and in which call."""
        ns = self._causes.end[places] - self._causes.start[places]
        longest = int(places[ns.argmax()])
        return [*self._sleep(places, longest), *self._call(longest)]

    def _sleep(self, places: Int64s, longest: int) -> list[StyledText]:
        pen = self._pen
        start, end = int(self._causes.start[longest]), int(self._causes.end[longest])
        states = self._scheduler.states_of(self._pid(longest))
        waker = int(states.waker[states.piece_at(np.array([start]))[0]])
        thread, time = self._thread(places), self._time(places)
        if waker <= 0:
            return [*pen.compose("{thread} slept for {time}.", thread=thread, time=time)]
        task = thread_name(self._scheduler.task(waker, end))
        kept = self._kept(waker, start, end)
        if not kept:
            template = "{thread} slept for {time}, until {waker} woke it."
            return [*pen.compose(template, thread=thread, time=time, waker=task)]
        ready = sum(culprit.idle_ns for culprit in kept)
        return [
            *pen.compose(
                "{thread} slept for {time}, until {waker} woke it, which was ready for {ready} of that "
                "and had no core; it was with {tasks}.",
                thread=thread,
                time=time,
                waker=task,
                ready=format_duration(ready),
                tasks=_tasks(kept),
            )
        ]

    def _call(self, place: int) -> list[StyledText]:
        """Return in which call of the system the thread slept, where that is recorded."""
        trace, causes = self._analysis.trace, self._causes
        track = trace.tracks[int(causes.track[place])]
        start, end = int(causes.start[place]), int(causes.end[place])
        row = self._analysis.system_calls.call_during(track.tid, start, end)
        if row is None:
            return []
        call = self._pen.text(printable(trace.name(row), _LONGEST_CALL), Role.NUMBER)
        return [*self._pen.compose(" It waited in {call}.", call=call)]

    def waited(self, places: Int64s) -> list[StyledText]:
        """Return which thread waited for a disk."""
        template = "{thread} waited {time} for a disk or a page of memory."
        return [*self._pen.compose(template, thread=self._thread(places), time=self._time(places))]

    def interrupted(self, places: Int64s) -> list[StyledText]:
        """Return whose core served interrupts."""
        template = "The core of {thread} served interrupts for {time}."
        return [*self._pen.compose(template, thread=self._thread(places), time=self._time(places))]

    def _kept(self, waker: int, start: int, end: int) -> tuple[Culprit, ...]:
        """Return who had the core of the waker while it was ready, where that is much of a stretch."""
        states = self._scheduler.states_of(waker)
        ready = states.of(State.READY).clip(start, end)
        if ready.total * _PART < end - start:
            return ()
        return self._scheduler.culprits_of_thread(waker, ready.starts, ready.ends)

    def _pid(self, place: int) -> int:
        return int(self._scheduler.pid_of_track[self._causes.track[place]])

    def _thread(self, places: Int64s) -> StyledText:
        """Return the thread that is answerable for most of the pieces."""
        ns = self._causes.end[places] - self._causes.start[places]
        pids, _ = most_first(self._scheduler.pid_of_track[self._causes.track[places]], ns)
        at = int(self._causes.start[places[0]])
        return self._pen.text(thread_name(self._scheduler.task(int(pids[0]), at)), Role.NUMBER)

    def _time(self, places: Int64s) -> str:
        return format_duration(int((self._causes.end[places] - self._causes.start[places]).sum()))


def _tasks(culprits: tuple[Culprit, ...]) -> str:
    """Return who had a core and how long, most first."""
    named = [
        translate("{task} for {time}", task=thread_name(culprit.task), time=format_duration(culprit.idle_ns))
        for culprit in culprits[:MOST_NAMED]
    ]
    if len(culprits) > MOST_NAMED:
        named.append(translate("{count} more", count=len(culprits) - MOST_NAMED))
    return names(named)
