"""Which trace file a path means: the file itself, or the one trace in a profiler's directory.

Knows the directories that the profilers of PyTorch, MindSpore and msprof write, not what is in the files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tracetui.reader.errors import Reason, UnreadableTrace

_DEEPEST = 5  # a directory of a cluster's ranks has its rank directories at most so deep
_MOST_ENTRIES = 20_000  # directory entries looked at: a home directory by mistake must not take minutes
_SHOWN = 8
_TRACE = "trace_view.json"
_RANK_SUFFIXES = ("_ascend_pt", "_ascend_ms")
_NOT_TRACES = ("profiler_info", "profiler_metadata", "communication", "analysis")


def locate_trace(path: str | Path) -> Path:
    """Return the file that `path` means: a file is itself; a directory has to hold exactly one trace.

    A `trace_view.json` counts first, wherever it is up to five levels down; then `msprof_*.json` of an
    msprof export; then a single `*.json` or `*.json.gz` in the directory itself. Raises UnreadableTrace with
    the choices where there are several.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise UnreadableTrace(Reason.PERMISSION, f"{path}: no permission to look at it") from None
    except (OSError, ValueError):
        raise UnreadableTrace(Reason.MISSING, f"{path}: no such file or directory") from None
    if stat.S_ISREG(mode):
        if path.suffix == ".db":
            raise UnreadableTrace(Reason.NOT_A_TRACE, _only_db(path))
        return path
    if not stat.S_ISDIR(mode):
        raise UnreadableTrace(Reason.NOT_A_TRACE, f"{path}: is neither a file nor a directory")
    if not os.access(path, os.R_OK | os.X_OK):
        raise UnreadableTrace(Reason.PERMISSION, f"{path}: no permission to list the directory")
    return _in_directory(path)


def _in_directory(path: Path) -> Path:
    direct = (path / _TRACE, path / "ASCEND_PROFILER_OUTPUT" / _TRACE)
    for candidate in direct:
        if candidate.is_file():
            return candidate
    files = _files(path)
    own = [file for file in files if file.parent == path]
    for choice in (
        [file for file in files if file.name == _TRACE],
        [file for file in files if _is_msprof(file)],
        [file for file in own if file.name.endswith((".json", ".json.gz")) and not _is_side_file(file)],
    ):
        if len(choice) == 1:
            return choice[0]
        if choice:
            raise UnreadableTrace(Reason.DIRECTORY, _several(path, choice))
    if any(file.suffix == ".db" for file in files):
        raise UnreadableTrace(Reason.MISSING, _only_db(path))
    raise UnreadableTrace(
        Reason.MISSING, f"{path}: no trace in this directory: no {_TRACE}, no msprof_*.json"
    )


def _files(path: Path) -> list[Path]:
    """Return the regular files up to five directories down, by name; links to directories apart."""
    found: list[Path] = []
    seen = 0
    for directory, names, files in os.walk(path):
        depth = len(Path(directory).relative_to(path).parts)
        names[:] = sorted(names) if depth < _DEEPEST + 1 else []
        seen += len(names) + len(files)
        for name in sorted(files):
            file = Path(directory) / name
            if name.endswith((".json", ".json.gz", ".db")) and file.is_file():
                found.append(file)
        if seen > _MOST_ENTRIES:
            break
    return found


def _is_msprof(file: Path) -> bool:
    return (
        file.name.startswith("msprof_") and file.suffix == ".json" and not file.name.startswith("msprof_tx")
    )


def _is_side_file(file: Path) -> bool:
    return file.name.startswith(_NOT_TRACES)


def _several(path: Path, choice: list[Path]) -> str:
    shown = [str(_rank_directory(file, path).relative_to(path)) for file in choice[:_SHOWN]]
    more = f" and {len(choice) - _SHOWN:,} more" if len(choice) > _SHOWN else ""
    return f"{path}: holds {len(choice):,} traces, name one of them: {', '.join(shown)}{more}"


def _rank_directory(file: Path, top: Path) -> Path:
    """Return the rank's directory that `file` is in, where it says enough; else `file` itself."""
    for parent in file.parents:
        if parent == top:
            break
        if parent.name.endswith(_RANK_SUFFIXES):
            return parent
    return file


def _only_db(path: Path) -> str:
    return (
        f"{path}: a db export holds no JSON trace: profile with export type text "
        "(export_type=torch_npu.profiler.ExportType.Text)"
    )
