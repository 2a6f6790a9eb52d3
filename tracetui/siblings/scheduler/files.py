"""Find the recording of the scheduler that belongs to a trace, and the files that describe it.

A recording is on a clock of its own; `start_info` of the profiler tells how that stands to the clock of the
trace. In a container threads have other numbers; `pid_mapping.json` tells which.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tracetui.language import state
from tracetui.siblings.beside import Refusal, files_like, read_object, unreadable
from tracetui.siblings.names import rank_directory
from tracetui.siblings.scheduler.events import MOST_PIDS, SchedulerEvents
from tracetui.siblings.scheduler.insight import NAME as INSIGHT
from tracetui.siblings.scheduler.insight import is_insight, read_insight
from tracetui.siblings.scheduler.line import SchedulerEvent, is_remark, read_line
from tracetui.siblings.scheduler.recording import OnProgress, is_trace_dat, read_text, read_trace_dat

MAPPING = "pid_mapping.json"
_ABOVE = 3  # directories: PROF_* lies beside ASCEND_PROFILER_OUTPUT, or around the trace
_HEAD = 1 << 16  # bytes looked at of a file that may be a recording
_BESIDE = ("trace.txt", "ftrace*.txt", "trace.txt.gz", "ftrace*.txt.gz", "trace.dat", INSIGHT)
_RECORDINGS = (".txt", ".txt.gz", ".dat", ".db")
#: What a recording of one rank is called, or its directory: `rank3`, `trace_rank3`, `sched-3`, `3`.
_RANK = re.compile(
    r"(?:.*[^a-z])?rank[-_ .]?(\d{1,9})|(?:(?:f?trace|sched)[-_.]?)?(\d{1,9})", re.IGNORECASE | re.ASCII
)
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
    """The offset of the profiler's clocks when it began, and when it ended."""

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
    """The numbers that the host gives to threads of containers."""

    host: Mapping[int, int] = field(default_factory=dict)  #: the host's number, by the container's
    processes: Mapping[int, int] = field(default_factory=dict)  #: the host's process, by the host's thread
    ambiguous: int = 0  #: numbers that several containers have


def read_recording(path: Path, on_progress: OnProgress = None) -> SchedulerEvents:
    """Return the events of a recording of any kind. Raises Refusal, a sentence without the name."""
    if path.is_dir():
        raise Refusal(
            state(
                "holds no recording that is plainly of this rank: call it rank0.txt, or like its host, or "
                "put it into a directory with the name of the rank's"
            )
        )
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except (OSError, ValueError) as error:
        raise unreadable(error) from None
    if not path.is_file():
        raise Refusal(state("is not a file"))
    if not head:
        raise Refusal(state("is empty"))
    if head.startswith(b"SQLite format 3"):
        return read_insight(path, on_progress)
    if is_trace_dat(path):
        return read_trace_dat(path, on_progress)
    return read_text(path, on_progress)


def find_recording(trace: Path) -> Path | None:
    """Return the recording beside a trace, or in the directory of its rank, if there is one and no more."""
    for directory in list(trace.absolute().parents)[:2]:
        found = [path for path in files_like(directory, *_BESIDE) if path.is_file() and _fits(path)]
        if found:
            texts = [path for path in found if path.suffix != ".dat" and path.name != INSIGHT]
            chosen = texts or found
            return chosen[0] if len(chosen) == 1 else None
    return None


def recording_in(directory: Path, trace: Path, rank: int | None = None, host: str = "") -> Path | None:
    """Return the recording in a directory that goes with the trace of a rank; None where none plainly does.

    That is what lies in a directory with the name of the rank's; else what is called by its number, or by its
    host; else the only one.

    Args:
        directory: as given for the ranks of a job.
        trace: of the rank.
        rank: its number.
        host: the name of its host.

    """
    of_rank = rank_directory(trace)
    names = {of_rank.name} if of_rank is not None else {parent.name for parent in list(trace.parents)[:2]}
    files, directories = _recordings_in(directory)
    by_directory = [path for below in directories if below.name in names for path in _recordings_in(below)[0]]
    by_number = [path for path in files if _rank_in(_stem(path)) == rank is not None] or [
        path
        for below in directories
        if _rank_in(below.name) == rank is not None
        for path in _recordings_in(below)[0]
    ]
    by_host = [path for path in files if host and _has_word(_stem(path), host)]
    of_any = [path for path in files if _rank_in(_stem(path)) is None]
    for paths in (by_directory, by_number, by_host, of_any):
        found = [*islice(filter(_fits, paths), 2)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _recordings_in(directory: Path) -> tuple[list[Path], list[Path]]:
    """List the files of a directory that have the name of a recording, and the directories in it."""
    try:
        paths = sorted(directory.iterdir())
        files = [path for path in paths if path.name.endswith(_RECORDINGS) and path.is_file()]
        return files, [path for path in paths if path.is_dir()]
    except OSError:
        return [], []


def _stem(path: Path) -> str:
    return path.with_suffix("").stem if path.suffix == ".gz" else path.stem


def _rank_in(name: str) -> int | None:
    match = _RANK.fullmatch(name)
    return None if match is None else int(match[1] or match[2])


def _has_word(name: str, word: str) -> bool:
    """Return whether a name has a word in it: not node1 in node10."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", name) is not None


def profiler_clock(trace: Path) -> ProfilerClock | None:
    """Return the offset between the profiler's clocks; None where no file tells it. Never fails."""
    for path in _start_files(trace):
        start = _clock_pair(path, "collectionTimeBegin")
        if start is not None:
            return ProfilerClock(
                start, _clock_pair(_end_file(path), "collectionTimeEnd", "collectionTimeBegin")
            )
    return None


def _start_files(trace: Path) -> Iterator[Path]:
    """Yield the files beside a trace that may tell the clocks' offset at the start, the nearest first."""
    for directory in list(trace.absolute().parents)[:_ABOVE]:
        yield from files_like(directory, *_PLACES)


def _end_file(start: Path) -> Path:
    return start.with_name(start.name.replace("start_info", "end_info"))


def files_of_recording(recording: Path, trace: Path) -> list[Path]:
    """List the files on which the alignment of a recording depends: itself, clocks and numbers of threads."""
    starts = [*_start_files(trace)]
    candidates = [recording, *starts, *map(_end_file, starts), _mapping_file(recording, trace)]
    return [path for path in candidates if path is not None and path.is_file()]


def pid_mapping(*beside: Path) -> PidMapping | None:
    """Return the mapping beside one of some files; None where there is none. Never fails."""
    path = _mapping_file(*beside)
    try:
        return None if path is None else _mapping(read_object(path))
    except Refusal:
        return None


def _mapping_file(*beside: Path) -> Path | None:
    directories = (directory for file in beside for directory in list(file.absolute().parents)[:2])
    return next((path for below in directories if (path := below / MAPPING).is_file()), None)


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
    """Return whether a file begins like a recording."""
    if path.suffix == ".db":
        return is_insight(path)
    if path.suffix == ".dat":
        return is_trace_dat(path)
    return any(
        isinstance(event, SchedulerEvent) or b"entries-in-buffer/entries-written" in line
        for line, event in _first_lines(path)
    )


def _first_lines(path: Path) -> Iterator[tuple[bytes, object]]:
    """Yield the first lines of a file with what each says, up to the first that cannot be read."""
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
