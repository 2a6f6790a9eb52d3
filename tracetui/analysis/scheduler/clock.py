"""Align a recording of the scheduler with a trace: the offset of its clock, and which threads are which."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tracetui.analysis.scheduler.fitting import ThreadActivity, agreement, fit_offset
from tracetui.analysis.scheduler.matching import (
    Matching,
    TraceThread,
    activities,
    host_threads,
    infer_numbers,
    known_numbers,
)
from tracetui.language import state
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.events import SchedulerEvents
from tracetui.siblings.scheduler.files import PidMapping, ProfilerClock, pid_mapping, profiler_clock
from tracetui.trace.model import Trace

#: Of calls that a thread begins and ends with a core, where the clocks agree.
AGREEING = 0.9
#: ns: the profiler tells its clock in microseconds.
_ROUNDED = 1_000
_PLAUSIBLE = 0.5  # of its calls a thread begins with a core, else it is another one
_FEW_CALLS = 10


@dataclass(frozen=True)
class SchedulerClock:
    """An offset that is added to the times of a recording."""

    source: str  #: "start_info", "fitted", "given", or "converted": as what wrote the recording has set it
    offset_ns: int
    drift_ppm: float | None = None  #: None: not recorded
    error_ns: int | None = None  #: None: not known


@dataclass(frozen=True)
class AlignedRecording:
    """A recording on the clock of a trace."""

    clock: SchedulerClock
    matching: Matching
    agreeing: float | None  #: share of calls that a thread begins or ends with a core; None of too few
    mapping: PidMapping | None


def align(trace: Trace, events: SchedulerEvents, path: Path, offset_ns: int | None) -> AlignedRecording:
    """Return a recording on the clock of a trace. Raises Refusal where no offset between the two is sure.

    `offset_ns`: what to add to the times of the recording; None: what the profiler states, or is fitted.
    """
    return _Alignment(trace, events, path).found(offset_ns)


class _Alignment:
    def __init__(self, trace: Trace, events: SchedulerEvents, path: Path) -> None:
        self._trace, self._events = trace, events
        self._window = events.start_ns, events.end_ns + 1
        self._threads: tuple[TraceThread, ...] = host_threads(trace)
        self._mapping = pid_mapping(path, Path(trace.path))
        self._known = known_numbers(self._threads, events, self._mapping)

    def found(self, given: int | None) -> AlignedRecording:
        if not self._threads:
            raise Refusal(
                state("cannot be laid beside the trace, which has no threads of the host with a number")
            )
        profiler = profiler_clock(Path(self._trace.path))
        clock = self._stated_clock(given, profiler)
        if clock is None or not self._overlaps(clock):
            return self._fitted(profiler)
        matching = self._plausible(clock.offset_ns)
        if matching is None:
            matching = infer_numbers(self._trace, self._threads, self._events, clock.offset_ns)
        if not matching.host and not self._known.host:
            raise Refusal(_STRANGERS)
        aligned = self._aligned(clock, matching if matching.host else self._known)
        doubtful = aligned.agreeing is not None and aligned.agreeing < AGREEING
        if given is None and (
            doubtful or not matching.host
        ):  # the clock may be another one than the profiler's
            with suppress(Refusal):
                return self._fitted(profiler)
        return replace(aligned, clock=replace(clock, error_ns=None)) if doubtful else aligned

    def _stated_clock(self, given: int | None, profiler: ProfilerClock | None) -> SchedulerClock | None:
        """Return the clock with the offset that is given or that the profiler states; None without either."""
        if given is not None:
            return SchedulerClock("given", given)
        if self._events.aligned:
            return SchedulerClock("converted", 0)
        if profiler is None:
            return None
        drift, offset = profiler.drift_ppm, profiler.offset_ns
        moved = round(abs(drift or 0) * 1e-6 * abs(self._window[1] - profiler.start.monotonic_ns))
        return SchedulerClock("start_info", offset, drift, _ROUNDED + moved)

    def _overlaps(self, clock: SchedulerClock) -> bool:
        start, end = (time + clock.offset_ns for time in self._window)
        overlaps = start < self._trace.end_ns and end > self._trace.start_ns
        if not overlaps and clock.source == "given":
            raise Refusal(state("does not overlap the trace with that offset"))
        return overlaps

    def _plausible(self, offset_ns: int) -> Matching | None:
        """Return the threads matched by their numbers; None where the numbers are those of other threads.

        One thread that has a core whenever it calls something is enough: all are numbered alike.
        """
        shares = [self._share([activity], offset_ns) for activity in self._activities.values()]
        known = [share for share in shares if share is not None]
        plausible = max(known) >= _PLAUSIBLE if known else bool(shares)
        return self._known if plausible else None

    def _aligned(self, clock: SchedulerClock, matching: Matching) -> AlignedRecording:
        return AlignedRecording(clock, matching, self._agreement(matching, clock.offset_ns), self._mapping)

    @cached_property
    def _activities(self) -> dict[int, ThreadActivity]:
        """The activity of the threads whose numbers are in both trace and recording, by number."""
        return activities(self._trace, self._known, self._events, self._window)

    def _agreement(self, matching: Matching, offset_ns: int) -> float | None:
        if matching.inferred:
            known = activities(self._trace, matching, self._events, self._window)
        else:
            known = {tid: self._activities[tid] for tid in matching.host}
        return self._share([*known.values()], offset_ns)

    def _share(self, known: list[ThreadActivity], offset_ns: int) -> float | None:
        """Return the share of times that agree with an offset; None where there are too few."""
        agreeing, total = agreement(known, offset_ns, self._window)
        return agreeing / total if total >= _FEW_CALLS else None

    def _fitted(self, profiler: ProfilerClock | None) -> AlignedRecording:
        if not self._known.host:
            raise Refusal(_STRANGERS)
        fit = fit_offset([*self._activities.values()], self._window)
        if fit is None:
            raise Refusal(
                state(
                    "cannot be laid on the clock of the trace: no start_info of the profiler fits, and what "
                    "the threads do tells no offset; give one with --sched-offset NS"
                )
            )
        drift = None if profiler is None else profiler.drift_ppm
        clock = SchedulerClock("fitted", fit.offset_ns, drift, fit.error_ns)
        return self._aligned(clock, self._known)


_STRANGERS = (
    "holds none of the threads of the trace: of a container, put pid_mapping.json beside it, which tells "
    "their numbers"
)
