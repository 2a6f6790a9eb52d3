"""How the clock of a recording stands to that of its trace, and which threads are which."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracetui.analysis.scheduler.fitting import agreement, fit_offset
from tracetui.analysis.scheduler.matching import (
    HostThread,
    Matching,
    activities,
    host_threads,
    infer_numbers,
    known_numbers,
)
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.events import SchedulerEvents
from tracetui.siblings.scheduler.files import PidMapping, ProfilerClock, pid_mapping, profiler_clock
from tracetui.trace.model import Trace

#: ns: the profiler tells its clock in microseconds, and Insight its times in floating point.
_ROUNDED = 1_000
_PLAUSIBLE = 0.5  # of its calls a thread begins with a core, else it is another one
_FEW = 10


@dataclass(frozen=True)
class SchedulerClock:
    """An offset that is added to the times of a recording."""

    source: str  #: "start_info", "fitted" or "given"
    offset_ns: int
    drift_ppm: float | None = None  #: None: not recorded
    error_ns: int | None = None  #: None: not known


@dataclass(frozen=True)
class Aligned:
    """A recording on the clock of a trace."""

    clock: SchedulerClock
    matching: Matching
    agreeing: float | None  #: share of calls that a thread begins or ends with a core; None of too few
    mapping: PidMapping | None


def align(trace: Trace, events: SchedulerEvents, path: Path, offset_ns: int | None) -> Aligned:
    """Return how a recording stands to a trace; `offset_ns`: as given. Raises Refusal where nothing tells."""
    return _Alignment(trace, events, path).found(offset_ns)


class _Alignment:
    def __init__(self, trace: Trace, events: SchedulerEvents, path: Path) -> None:
        self._trace, self._events = trace, events
        self._window = events.start_ns, events.end_ns + 1
        self._threads: tuple[HostThread, ...] = host_threads(trace)
        self._mapping = pid_mapping(path, Path(trace.path))
        self._known = known_numbers(self._threads, events, self._mapping)

    def found(self, given: int | None) -> Aligned:
        if not self._threads:
            raise Refusal("cannot be laid beside the trace, which has no threads of the host with a number")
        profiler = profiler_clock(Path(self._trace.path))
        for clock in self._clocks(given, profiler):
            aligned = self._at(clock)
            if aligned is not None:
                return aligned
        return self._fitted(profiler)

    def _clocks(self, given: int | None, profiler: ProfilerClock | None) -> list[SchedulerClock]:
        if given is not None:
            return [SchedulerClock("given", given)]
        if self._events.aligned:
            return [SchedulerClock("start_info", 0, None, _ROUNDED)]
        if profiler is None:
            return []
        drift, offset = profiler.drift_ppm, profiler.offset_ns
        moved = round(abs(drift or 0) * 1e-6 * abs(self._window[1] - profiler.start.monotonic_ns))
        return [SchedulerClock("start_info", offset, drift, _ROUNDED + moved)]

    def _at(self, clock: SchedulerClock) -> Aligned | None:
        """Return what is known with a clock; None where the trace speaks against it, and it is not given."""
        start, end = (time + clock.offset_ns for time in self._window)
        if start >= self._trace.end_ns or end <= self._trace.start_ns:
            if clock.source != "given":
                return None
            raise Refusal("does not overlap the trace with that offset")
        matching = self._plausible(clock.offset_ns)
        if not matching.host:
            matching = infer_numbers(self._trace, self._threads, self._events, clock.offset_ns)
        agreeing = self._agreement(matching, clock.offset_ns)
        if not matching.host and clock.source != "given" and self._known.host:
            return None
        if not matching.host:
            raise Refusal(_STRANGERS)
        return Aligned(clock, matching, agreeing, self._mapping)

    def _plausible(self, offset_ns: int) -> Matching:
        """Return the threads that are on a core when they call something: numbers may be of other threads."""
        host: dict[int, int] = {}
        for thread in self._threads:
            if thread.tid in self._known.host:
                alone = Matching((thread,), {thread.tid: self._known.host[thread.tid]})
                share = self._agreement(alone, offset_ns)
                if share is None or share >= _PLAUSIBLE:
                    host.update(alone.host)
        return Matching(self._threads, host)

    def _agreement(self, matching: Matching, offset_ns: int) -> float | None:
        known = activities(self._trace, matching, self._events, self._window)
        agreeing, total = agreement(known, offset_ns, self._window)
        return agreeing / total if total >= _FEW else None

    def _fitted(self, profiler: ProfilerClock | None) -> Aligned:
        if not self._known.host:
            raise Refusal(_STRANGERS)
        known = activities(self._trace, self._known, self._events, self._window)
        fit = fit_offset(known, self._window)
        if fit is None:
            raise Refusal(
                "cannot be laid on the clock of the trace: no start_info of the profiler fits, and what the "
                "threads do tells no offset; give one with --sched-offset NS"
            )
        drift = None if profiler is None else profiler.drift_ppm
        clock = SchedulerClock("fitted", fit.offset_ns, drift, fit.error_ns)
        matching = self._plausible(fit.offset_ns)
        return Aligned(clock, matching, self._agreement(matching, fit.offset_ns), self._mapping)


_STRANGERS = (
    "holds none of the threads of the trace: of a container, put pid_mapping.json beside it, which tells "
    "their numbers"
)
