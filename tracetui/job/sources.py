"""Which traces and digests of ranks paths mean: files as they are, directories with all that is in them.

Knows the directories that profilers write. Links are not followed, which is said, and no trace is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tracetui.databases.exports import TRACE_VIEWS, Export
from tracetui.databases.names import is_trace_database
from tracetui.job.digest_files import SUFFIX, is_digest
from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace, plain
from tracetui.reader.locate import locate_trace, may_be_trace
from tracetui.siblings.names import is_rank_directory, parse_name, timeline_rank
from tracetui.units import format_count

DEEPEST = 6  #: directories below one that is named
MOST_ENTRIES = 1_000_000  #: directory entries that are looked at
_TRACES = (".trace.json", ".trace.json.gz")
_OUTPUT = "ASCEND_PROFILER_OUTPUT"


@dataclass(frozen=True)
class Source:
    """A trace, or a digest."""

    path: Path  #: of the file
    shown: str  #: as people call it: below the directory that was named, with it where several paths were
    is_digest: bool


@dataclass(frozen=True)
class Sources:
    """What paths mean."""

    found: tuple[Source, ...]  #: each file once
    notes: tuple[str, ...]  #: what cannot be read, a sentence each without full stop


def find_sources(paths: Sequence[Path], only: str = "*", export: Export | None = None) -> Sources:
    """Return the traces and digests that paths mean, in their order, by name.

    Raises UnreadableTrace where a path is not there.

    Args:
        paths: files, or directories that hold ranks at any depth up to `DEEPEST`.
        only: a pattern of file names that the name of a rank, or of a directory above it, has to match.
        export: as of `locate_trace`.
    """
    by_real_path: dict[str, Source] = {}
    notes: list[str] = []
    for path in paths:
        for candidate in _traces_in_path(path, notes):
            shown = _shown_path(candidate, path)
            if not _matches(shown, path, only):
                continue
            try:
                file = locate_trace(candidate, None if candidate.name.endswith(SUFFIX) else export)
            except (UnreadableTrace, OSError) as error:
                notes.append(_unreadable(error, candidate))
                continue
            shown = shown if len(paths) == 1 else plain(str(candidate))
            source = Source(file, shown, is_digest(file))
            by_real_path.setdefault(os.path.realpath(file), source)
    return Sources(tuple(by_real_path.values()), tuple(notes))


def digest_at(path: Path) -> Path | None:
    """Return the digest that a path means: the file, whatever it is called, or all that a directory holds."""
    if path.is_dir():
        found = find_sources([path]).found
        return found[0].path if len(found) == 1 and found[0].is_digest else None
    return path if path.is_file() and is_digest(path) else None


def _unreadable(error: Exception, path: Path) -> str:
    """Return what is said of a rank, or of a directory, that cannot be read."""
    return f"{plain(str(path))}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _traces_in_path(path: Path, notes: list[str]) -> Iterator[Path]:
    """Yield the files, and the directories of one rank each, that a path means; say what cannot be read."""
    try:
        path.stat()
    except (OSError, ValueError):
        raise UnreadableTrace(Reason.MISSING, state("{path}: no such file or directory", path=path)) from None
    if not path.is_dir():
        yield path
        return
    ranks = list(_ranks_in_directory(path, notes))
    yield from ranks or [path]  # a directory that holds one trace, or says why it does not


def _ranks_in_directory(top: Path, notes: list[str]) -> Iterator[Path]:
    """Yield the ranks in a directory, by name; say which directories in it cannot be read."""
    if _is_rank(top):
        yield from _device_directories(top)
        return
    seen = 0
    links: set[Path] = set()  # to ranks

    def note_error(error: OSError) -> None:
        notes.append(_unreadable(error, Path(os.fsdecode(error.filename))))

    for directory, names, files in os.walk(top, onerror=note_error):
        here = Path(directory)
        seen += len(names) + len(files)
        directories = [here / name for name in sorted(names)]
        ranks = [path for path in directories if _is_rank(path)]
        rank_files = [here / name for name in sorted(files) if _is_rank_file(here / name)]
        links |= {path for path in (*ranks, *rank_files) if path.is_symlink()}
        deep = len(here.relative_to(top).parts) >= DEEPEST or seen > MOST_ENTRIES
        names[:] = [] if deep else [path.name for path in directories if path not in ranks]
        yield from (device for rank in ranks if rank not in links for device in _device_directories(rank))
        yield from (file for file in rank_files if file not in links)
    real_top = os.path.realpath(top)
    leading_out = [link for link in links if not Path(os.path.realpath(link)).is_relative_to(real_top)]
    if leading_out:
        first, count = plain(str(min(leading_out))), len(leading_out)
        template = "{count} links to ranks are not followed: name each itself, such as {link}"
        if count == 1:
            template = "1 link to a rank is not followed: name {link} itself"
        notes.append(state(template, count=format_count(count), link=first))


def _is_rank_file(file: Path) -> bool:
    """Return whether a file is that of one rank by its name; JSON that names one has to begin as a trace."""
    name = file.name
    if name.endswith((*_TRACES, SUFFIX)) or timeline_rank(name) is not None or is_trace_database(name):
        return True
    names_rank = name.endswith((".json", ".json.gz")) and parse_name(name).rank is not None
    return names_rank and file.is_file() and may_be_trace(file)


def _device_directories(rank: Path) -> list[Path]:
    """Return the directories of the devices of an export that holds several, as ranks; else itself."""
    try:
        devices = sorted(path for path in rank.glob("device_*") if (path / "timeline").is_dir())
        newer = (rank / "mindstudio_profiler_output").is_dir()
    except OSError:
        return [rank]
    return devices if len(devices) > 1 and not newer else [rank]


def _is_rank(path: Path) -> bool:
    """Return whether a directory is that of one rank, by its name or what is in it."""
    if is_rank_directory(path.name):
        return True
    try:
        return any(
            any((place / name).is_file() for name in TRACE_VIEWS) or _has_one_database(place)
            for place in (path, path / _OUTPUT)
        )
    except OSError:  # whoever walks through it says so
        return False


def _has_one_database(directory: Path) -> bool:
    """Return whether a directory holds the database of one rank: several are ranks themselves."""
    if not directory.is_dir():
        return False
    return sum(is_trace_database(path.name) for path in directory.iterdir()) == 1


def _shown_path(path: Path, top: Path) -> str:
    below = str(path.relative_to(top)) if path != top and path.is_relative_to(top) else ""
    return plain(below or path.name or str(path))


def _matches(shown: str, path: Path, only: str) -> bool:
    return any(fnmatchcase(part, only) for part in (shown, *Path(shown).parts, path.name))
