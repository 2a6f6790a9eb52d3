"""The files of a recording of the scheduler: which lies beside a trace, and what goes with it.

A recording is on a clock of its own; `start_info` of the profiler tells how that stands to the clock of the
trace. In a container threads have other numbers; `pid_mapping.json` tells which.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracetui.siblings.beside import Refusal, read_object
from tracetui.siblings.scheduler.events import MOST_PIDS, SchedulerEvents
from tracetui.siblings.scheduler.insight import NAME as INSIGHT
from tracetui.siblings.scheduler.insight import is_insight, read_insight
from tracetui.siblings.scheduler.line import SchedulerEvent, is_remark, read_line
from tracetui.siblings.scheduler.recording import OnProgress, is_trace_dat, read_text, read_trace_dat

MAPPING = "pid_mapping.json"
_ABOVE = 3  # directories: PROF_* lies beside ASCEND_PROFILER_OUTPUT, or around the trace
_HEAD = 1 << 16  # bytes looked at of a file that may be a recording
_BESIDE = ("trace.txt", "ftrace*.txt", "trace.txt.gz", "ftrace*.txt.gz", "trace.dat", INSIGHT)
_PLACES = (
    "start_info",
    "start_info.*",
    "host/start_info*",
    "device_*/start_info*",
    "PROF_*/host/start_info*",
    "PROF_*/device_*/start_info*",
)


@dataclass(frozen=True)
class ClockPair:
    """One moment on the clock of the recording and on that of the trace, ns."""

    monotonic_ns: int
    epoch_ns: int


@dataclass(frozen=True)
class ProfilerClock:
    """How the profiler's clocks stood when it began, and when it ended."""

    start: ClockPair
    end: ClockPair | None = None

    @property
    def offset_ns(self) -> int:
        """What is added to a time of the recording."""
        return self.start.epoch_ns - self.start.monotonic_ns

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the clock of the trace went, in millionths; None where the end is not known."""
        if self.end is None or self.end.monotonic_ns <= self.start.monotonic_ns:
            return None
        elapsed = self.end.monotonic_ns - self.start.monotonic_ns
        return (self.end.epoch_ns - self.start.epoch_ns - elapsed) / elapsed * 1e6


@dataclass(frozen=True)
class PidMapping:
    """The threads of containers: how the host numbers them."""

    host: Mapping[int, int] = field(default_factory=dict)  #: the host's number, by the container's
    processes: Mapping[int, int] = field(default_factory=dict)  #: the host's process, by the host's thread
    ambiguous: int = 0  #: numbers that several containers have


def read_recording(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events of a recording of any kind. Raises Refusal, a sentence without the name."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except (OSError, ValueError) as error:
        raise Refusal(f"cannot be read: {getattr(error, 'strerror', None) or 'no such file'}") from None
    if not path.is_file():
        raise Refusal("is not a file")
    if not head:
        raise Refusal("is empty")
    if head.startswith(b"SQLite format 3"):
        return read_insight(path, on_progress)
    if is_trace_dat(path):
        return read_trace_dat(path, on_progress)
    return read_text(path, on_progress)


def find_recording(trace: Path) -> Path | None:
    """Return the recording beside a trace, or in the directory of its rank, if there is one and no more."""
    for directory in list(trace.absolute().parents)[:2]:
        found = []
        for pattern in _BESIDE:
            try:
                paths = sorted(directory.glob(pattern))
            except (OSError, ValueError):
                continue
            found += [path for path in paths if path.is_file() and _fits(path)]
        if found:
            texts = [path for path in found if path.suffix != ".dat" and path.name != INSIGHT]
            chosen = texts or found
            return chosen[0] if len(chosen) == 1 else None
    return None


def profiler_clock(trace: Path) -> ProfilerClock | None:
    """Return how the profiler's clocks stand to each other; None where nothing tells. Never fails."""
    for directory in list(trace.absolute().parents)[:_ABOVE]:
        for place in _PLACES:
            try:
                paths = sorted(path for path in directory.glob(place) if path.suffix != ".done")
            except (OSError, ValueError):
                continue
            for path in paths:
                start = _clock_pair(path, "collectionTimeBegin")
                if start is not None:
                    ends = path.with_name(path.name.replace("start_info", "end_info"))
                    end = _clock_pair(ends, "collectionTimeEnd", "collectionTimeBegin")
                    return ProfilerClock(start, end)
    return None


def pid_mapping(*beside: Path) -> PidMapping | None:
    """Return the mapping beside one of some files; None where there is none. Never fails."""
    for file in beside:
        for directory in list(file.absolute().parents)[:2]:
            path = directory / MAPPING
            if path.is_file():
                try:
                    return _mapping(read_object(path))
                except Refusal:
                    return None
    return None


def _mapping(members: Mapping[str, Any]) -> PidMapping:
    host: dict[int, int] = {}
    processes: dict[int, int] = {}
    twice: set[int] = set()
    for key, numbers in members.items():
        number = _whole(key)
        if number is None or not isinstance(numbers, dict):
            continue
        process, inside = _whole(numbers.get("Tgid")), _innermost(numbers.get("NSpid"))
        if process is not None:
            processes[number] = process
        if inside is not None and host.setdefault(inside, number) != number:
            twice.add(inside)
    for inside in twice:
        del host[inside]
    return PidMapping(host, processes, len(twice))


def _innermost(value: Any) -> int | None:
    """Return the number in the innermost container: /proc tells all, outermost first."""
    if isinstance(value, list):
        value = value[-1] if value else None
    if isinstance(value, str) and value.split():
        value = value.split()[-1]
    return _whole(value)


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 9:
        value = int(value)
    return value if type(value) is int and 0 <= value < MOST_PIDS else None


def _clock_pair(path: Path, *names: str) -> ClockPair | None:
    try:
        members = read_object(path)
    except Refusal:
        return None
    monotonic = _time(members.get("clockMonotonicRaw"))
    epoch = next((time for name in names if (time := _time(members.get(name))) is not None), None)
    if monotonic is None or epoch is None:
        return None
    return ClockPair(monotonic, epoch * 1000)


def _time(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if type(value) is int and 0 < value < 1 << 61 else None


def _fits(path: Path) -> bool:
    """Return whether the beginning of a file is that of a recording."""
    if path.name == INSIGHT:
        return is_insight(path)
    if path.suffix == ".dat":
        return is_trace_dat(path)
    return any(
        isinstance(event, SchedulerEvent) or b"entries-in-buffer/entries-written" in line
        for line, event in _first_lines(path)
    )


def _first_lines(path: Path) -> Iterator[tuple[bytes, object]]:
    """Yield the first lines of a file and what they say, up to the first that says nothing known."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as unpacked:
                head = unpacked.read(_HEAD)
    except (OSError, EOFError):
        return
    for line in head.split(b"\n")[:100]:
        event = read_line(line)
        yield line, event
        if event is None and not is_remark(line):
            return
