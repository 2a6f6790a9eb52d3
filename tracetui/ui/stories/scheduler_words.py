"""What the scheduler adds to the story of a gap: which thread had no core and who had it, or who woke it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.scheduler.cores import IDLE
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
_OTHERS = " Other threads likewise: {time}."
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
        of_thread = self._of_main_thread(places)
        culprits = culprits_of(self._scheduler, self._causes, of_thread)
        idle_ns = sum(culprit.idle_ns for culprit in culprits if culprit.task.pid == IDLE)
        template = "{thread} was ready for {time} and had no core; it was with {tasks}. {remedy}"
        remedy = "Pin the process: {setting}."
        if idle_ns * 2 > self._ns(of_thread):
            remedy = "Pinning does not help: keep cores from sleeping deeply, cpupower idle-set."
        on_gpu = self._analysis.trace.kind is TraceKind.GPU
        setting = "taskset" if on_gpu else "CPU_AFFINITY_CONF=1 or taskset"
        words = self._pen.compose(
            template,
            thread=self._thread(of_thread),
            time=self._time(of_thread),
            tasks=_tasks(culprits),
            remedy=translate(remedy, setting=setting),
        )
        return [*words, *self._rest(places, of_thread, _OTHERS)]

    def blocked(self, places: Int64s) -> list[StyledText]:
        """Return how long the thread that slept most did at a stretch, who woke it and what had kept that
        from its core, and in which call.
        """
        starts, ends = self._causes.start, self._causes.end
        of_thread = self._of_main_thread(places)
        sleeps = self._scheduler.states_of(self._pid(of_thread)).of(State.BLOCKED)
        sleep = sleeps.index_at(starts[of_thread])
        longest = int(most_first(sleep, ends[of_thread] - starts[of_thread])[0][0])
        parts = of_thread[sleep == longest]
        largest = int(parts[(ends[parts] - starts[parts]).argmax()])
        sentence = self._sleep(parts, int(sleeps.ends[longest]))
        return [*sentence, *self._call(largest), *self._rest(places, parts, " Other sleep: {time}.")]

    def _sleep(self, parts: Int64s, end: int) -> list[StyledText]:
        """Return the sentence on a sleep until `end`, of which some pieces of idle time are parts."""
        pen = self._pen
        spans = union(self._causes.start[parts], self._causes.end[parts])
        states = self._scheduler.states_of(self._pid(parts))
        waker = int(states.waker[states.piece_at(np.array([end - 1]))[0]])
        thread, time = self._thread(parts), self._time(parts)
        if waker <= IDLE:
            return pen.compose("{thread} slept for {time}.", thread=thread, time=time)
        task = thread_name(self._scheduler.task(waker, end))
        kept = self._kept(waker, spans)
        if not kept:
            template = "{thread} slept for {time}, until {waker} woke it."
            return pen.compose(template, thread=thread, time=time, waker=task)
        ready = sum(culprit.idle_ns for culprit in kept)
        return pen.compose(
            "{thread} slept for {time}, until {waker} woke it, which was ready for {ready} of that "
            "and had no core; it was with {tasks}.",
            thread=thread,
            time=time,
            waker=task,
            ready=format_duration(ready),
            tasks=_tasks(kept),
        )

    def _call(self, place: int) -> list[StyledText]:
        """Return in which call of the system the thread slept, where that is recorded."""
        trace, causes = self._analysis.trace, self._causes
        track = trace.tracks[int(causes.track[place])]
        start, end = int(causes.start[place]), int(causes.end[place])
        row = self._analysis.system_calls.call_during(track.tid, start, end)
        if row is None:
            return []
        call = self._pen.text(printable(trace.name(row), _LONGEST_CALL), Role.NUMBER)
        return self._pen.compose(" It waited in {call}.", call=call)

    def waited(self, places: Int64s) -> list[StyledText]:
        """Return which thread waited where no signal wakes it, and in which call."""
        of_thread = self._of_main_thread(places)
        template = "{thread} waited {time} for a disk, a page of memory or a driver."
        words = self._pen.compose(template, thread=self._thread(of_thread), time=self._time(of_thread))
        call = self._call(int(of_thread[self._causes.ns[of_thread].argmax()]))
        return [*words, *call, *self._rest(places, of_thread, _OTHERS)]

    def interrupted(self, places: Int64s) -> list[StyledText]:
        """Return whose core served interrupts, and the time of other threads."""
        of_thread = self._of_main_thread(places)
        template = "The core of {thread} served interrupts for {time}."
        words = self._pen.compose(template, thread=self._thread(of_thread), time=self._time(of_thread))
        return [*words, *self._rest(places, of_thread, _OTHERS)]

    def _rest(self, places: Int64s, told: Int64s, template: str) -> list[StyledText]:
        """Return how much of the pieces is not among those that are told; nothing where all are."""
        rest_ns = self._ns(places) - self._ns(told)
        return self._pen.compose(template, time=format_duration(rest_ns)) if rest_ns else []

    def _kept(self, waker: int, sleep: Intervals) -> tuple[Culprit, ...]:
        """Return who had the core of the waker while it was ready, where that is much of a sleep."""
        ready = self._scheduler.states_of(waker).of(State.READY) & sleep
        if ready.total * _PART < sleep.total:
            return ()
        return self._scheduler.culprits_of_thread(waker, ready.starts, ready.ends)

    def _pid(self, places: Int64s) -> int:
        """Return the number of the thread of some pieces, which are of one."""
        return int(self._scheduler.pid_of_track[self._causes.track[places[0]]])

    def _of_main_thread(self, places: Int64s) -> Int64s:
        """Return the pieces of the thread to blame for most of their time."""
        pids = self._scheduler.pid_of_track[self._causes.track[places]]
        ranked, _ = most_first(pids, self._causes.end[places] - self._causes.start[places])
        of_thread: Int64s = places[pids == ranked[0]]
        return of_thread

    def _thread(self, places: Int64s) -> StyledText:
        """Return the thread to blame for some pieces, which are of one thread."""
        at = int(self._causes.start[places[0]])
        return self._pen.text(thread_name(self._scheduler.task(self._pid(places), at)), Role.NUMBER)

    def _ns(self, places: Int64s) -> int:
        return int((self._causes.end[places] - self._causes.start[places]).sum())

    def _time(self, places: Int64s) -> str:
        return format_duration(self._ns(places))


def _tasks(culprits: tuple[Culprit, ...]) -> str:
    """Return who had a core and how long, most first."""
    named = [
        translate("{task} for {time}", task=thread_name(culprit.task), time=format_duration(culprit.idle_ns))
        for culprit in culprits[:MOST_NAMED]
    ]
    if len(culprits) > MOST_NAMED:
        named.append(translate("{count} more", count=len(culprits) - MOST_NAMED))
    return names(named)
