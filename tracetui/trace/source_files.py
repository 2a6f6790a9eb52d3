"""Finding and reading, on this host, the source file that a frame of a trace names.

Knows paths and files; knows neither the terminal nor who asks. The path comes from the trace and is not
trusted, for it may name any file of this host: only regular files of a bounded size are read, below the
directories that the user gave, that of the trace, or the working directory, and no link leads out of them.
"""

from __future__ import annotations

import os
import re
import stat
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame

LIMIT = 4 << 20  #: bytes: a longer file is no source anybody wrote

_KEPT = 32  #: files kept in memory
#: Directories that a producer makes around a trace: <run>/<rank>_ascend_pt/ASCEND_PROFILER_OUTPUT
_PRODUCED = re.compile(
    r"ASCEND_PROFILER_OUTPUT|mindstudio_profiler_output|timeline|device_\d+|PROF_\w+|.+_ascend_(pt|ms)"
)
_PARTS = 12  #: trailing parts of a recorded path that are searched for
_PATH_MAX = 4096
_TAB = 4
#: Names that say nothing without the directory that holds them.
_COMMON = frozenset({"__init__.py", "__main__.py", "setup.py", "conftest.py"})
_KERNEL = ("/proc/", "/sys/", "/dev/")
_COPY_NS = 60 * 10**9  # a file unpacked or checked out together with the trace is no change
#: str.splitlines also splits at form feeds, which Python does not count.
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_EPOCH_NS = 10**18  # timestamps below (before 2001) are not times of day


@dataclass(frozen=True)
class SourceFile:
    """A file of this host, as text that is safe to print."""

    path: Path  #: absolute
    lines: tuple[str, ...]  #: printable, tabs expanded
    #: the directory below which the end of its path was found; None: it is the recorded path
    root: Path | None
    newer: bool  #: modified after the profile was taken

    @property
    def exact(self) -> bool:
        """Whether this is the very path that the trace recorded."""
        return self.root is None


@dataclass(frozen=True)
class NotFound:
    """Why there is no source to show."""

    reason: str  #: one sentence
    looked: tuple[Path, ...]  #: the directories searched


class SourceFiles:
    """The source files of one trace, read once each.

    `sources` are the user's own directories, searched first; then the directory of the trace, those that its
    producer made around it and the one that holds them, and the working directory. `profiled_ns` is the end
    of the trace (epoch ns); a trace on a relative clock is taken to be as old as its file.
    """

    def __init__(self, trace_path: str | Path, sources: Sequence[Path] = (), profiled_ns: int = 0) -> None:
        trace = Path(trace_path).absolute()
        self.beside = trace.parent
        self.roots = _roots(trace, sources)
        written_ns = _modified_ns(trace)
        self._profiled_ns = profiled_ns if profiled_ns > _EPOCH_NS else written_ns
        latest = max(self._profiled_ns, written_ns)
        self._copied_ns = latest + _COPY_NS if latest else 0
        self._kept: OrderedDict[str, SourceFile | NotFound] = OrderedDict()

    def find(self, recorded: str) -> SourceFile | NotFound:
        """Find the source of a recorded path: that file if it is below a root, else its longest end that is.

        May block on a slow file system: call it from a thread.
        """
        answer = self._kept.get(recorded)
        if answer is None:
            answer = self._find(recorded)
            self._kept[recorded] = answer
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer

    def line(self, frame: Frame) -> str | None:
        """Return the text of the line of a frame without its indent; None where it is not found.

        May block, as `find`.
        """
        source = self.find(frame.file)
        if not isinstance(source, SourceFile) or not 0 < frame.line <= len(source.lines):
            return None
        return source.lines[frame.line - 1].strip()

    def forget(self) -> None:
        """Read all files again when they are next asked for."""
        self._kept.clear()

    def _find(self, recorded: str) -> SourceFile | NotFound:
        if not recorded or recorded.startswith("<") or len(recorded) > _PATH_MAX:
            return NotFound("This frame is not in a file.", ())
        refused = ""
        for path, root in _candidates(recorded, self.roots):
            content = _read(path, self.roots if root is None else (root,))
            if isinstance(content, str):
                refused = refused or f"{printable(str(path))} {content}."
            elif content is not None:
                text, modified_ns = content
                ran_ns = self._profiled_ns if root is None else self._copied_ns
                return SourceFile(path, _lines(text), root, modified_ns > ran_ns > 0)
        return NotFound(refused or "The source file is not on this host.", self.roots)


def _roots(trace: Path, sources: Sequence[Path]) -> tuple[Path, ...]:
    """Return the directories below which source may be read, those of the user first."""
    parents = [trace.parent]
    while _PRODUCED.fullmatch(parents[-1].name):
        parents.append(parents[-1].parent)
    roots = [*(source.absolute() for source in sources), *parents, *_working_directory()]
    return tuple(dict.fromkeys(root for root in roots if root != Path(root.anchor)))


def _working_directory() -> Iterator[Path]:
    try:
        yield Path.cwd()
    except OSError:  # it was removed
        return


def _candidates(recorded: str, roots: Sequence[Path]) -> Iterator[tuple[Path, Path | None]]:
    """Yield the recorded path with no root, then its ends below each root, longest end first."""
    if recorded.startswith("/"):
        yield Path(recorded), None
    parts = [part for part in re.split(r"[/\\]", recorded) if part not in ("", ".")]
    if ".." in parts:
        parts = parts[len(parts) - parts[::-1].index("..") :]
    parts = parts[-_PARTS:]
    for first in range(len(parts)):
        if first == len(parts) - 1 and len(parts) > 1 and parts[first] in _COMMON:
            return
        for root in roots:
            yield root.joinpath(*parts[first:]), root


def _read(path: Path, roots: Sequence[Path]) -> tuple[str, int] | str | None:
    """Return the text of a file and when it was modified (epoch ns).

    Return the end of a sentence where it must not be read, None where it is not there. A link is followed
    first, and what it leads to has to lie below one of the roots. The file is looked at before it is opened,
    because opening a device can act; looked at again once open, because it may have been replaced. Files of
    the kernel are refused: they only look regular.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW
    try:
        real = Path(os.path.realpath(path))
        refusal = _refusal(real.stat())
        if refusal or str(real).startswith(_KERNEL):
            return refusal or "is not a regular file"
        if not any(real.is_relative_to(os.path.realpath(root)) for root in roots):
            return "is outside of the directories whose source may be shown"
        with open(os.open(real, flags), "rb") as file:  # noqa: PTH123 - Path.open takes no flags
            status = os.fstat(file.fileno())
            refusal = _refusal(status)
            content = b"" if refusal else file.read(LIMIT)
    except PermissionError:
        return "may not be read"
    except (OSError, ValueError):
        return None
    if b"\0" in content:
        refusal = "is not text"
    return refusal or (content.decode("utf-8", "replace"), status.st_mtime_ns)


def _refusal(status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    return f"is larger than {LIMIT >> 20} MB" if status.st_size > LIMIT else ""


def _lines(text: str) -> tuple[str, ...]:
    lines = _LINE_ENDS.split(text.lstrip("\ufeff"))
    if not lines[-1]:
        lines.pop()
    return tuple(printable(line.replace("\f", " ").expandtabs(_TAB)) for line in lines)


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
