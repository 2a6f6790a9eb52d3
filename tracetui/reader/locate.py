"""Which trace file a path means: the file itself, or the one trace in a profiler's directory.

Knows the directories that the profilers of PyTorch, MindSpore and msprof write, not what is in the files.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from pathlib import Path

from tracetui.databases.exports import (
    TRACE_VIEWS,
    Export,
    export_of,
    is_whole_json,
    other_export,
    trace_views,
)
from tracetui.databases.names import is_database, is_framework_database, is_trace_database, what_else
from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.parts import first_parts, is_part, parts_of

_DEEPEST = 5  # a directory of a cluster's ranks has its rank directories at most so deep
_MOST_ENTRIES = 20_000  # directory entries looked at: a home directory by mistake must not take minutes
_SHOWN = 40  # traces of a directory in a sentence: all of those that people keep together
_SHOWN_DATABASES = 3  # databases that are no traces
_EXPORTS: dict[Export, str] = {"json": "JSON", "db": "database"}
_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_NEWER_EXPORT = "mindstudio_profiler_output"
_RANK_SUFFIXES = ("_ascend_pt", "_ascend_ms")
_PROFILE = "PROF_"  # begins the name of what msprof makes for a rank
_NOT_TRACES = ("profiler_info", "profiler_metadata", "communication", "analysis")
#: what MindInsight calls the trace of a rank, by its number
TIMELINE = re.compile(r"(?:(?:ascend|gpu|cpu)_)?timeline_display_\d{1,9}\.json(?:\.gz)?", re.ASCII)
_BEGINNING = 1 << 16  # bytes of JSON that tell what it is
_EVENTS = re.compile(rb'"(?:traceEvents|schemaVersion)"\s*:|"ph"\s*:\s*"')
_NO_TIMELINE = "ascend_marey_timeline"


def locate_trace(path: str | Path, export: Export | None = None, files: list[Path] | None = None) -> Path:
    """Return the file that `path` means, of a trace in several files the first one.

    A directory has to hold exactly one trace. A `trace_view.json`, also one that was compressed by hand,
    counts first, wherever it is up to five levels down; then what msprof exported, of one device the latest;
    then a single `*.json` or `*.json.gz` in the directory itself; then a database, which also counts where
    the JSON of the same run is cut off. Beside a `trace_view.json` may be no recording of another run, unless
    a kind is wanted.
    Raises UnreadableTrace with the choices where there are several.

    Args:
        export: which one is wanted of a run that was exported both ways; None: JSON that is whole, a
            database otherwise, and a file that is named itself.
        files: what lies below a directory, where that is known.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise UnreadableTrace(
            Reason.PERMISSION, state("{path}: no permission to look at it", path=path)
        ) from None
    except (OSError, ValueError):
        raise UnreadableTrace(Reason.MISSING, state("{path}: no such file or directory", path=path)) from None
    if stat.S_ISREG(mode):
        if is_database(path):
            meaning = what_else(path.name)
            if meaning is not None:
                raise UnreadableTrace(
                    Reason.NOT_A_TRACE, state("{path}: {meaning}", path=path, meaning=meaning)
                )
            return _replace_by_export(path, export)
        if path.name.startswith(_NO_TIMELINE):
            raise UnreadableTrace(Reason.NOT_A_TRACE, _only_marey(path))
        return _replace_by_export(parts_of(path).files[0], export)
    if not stat.S_ISDIR(mode):
        raise UnreadableTrace(
            Reason.NOT_A_TRACE, state("{path}: is neither a file nor a directory", path=path)
        )
    if not os.access(path, os.R_OK | os.X_OK):
        raise UnreadableTrace(
            Reason.PERMISSION, state("{path}: no permission to list the directory", path=path)
        )
    return _in_directory(path, export, files)


def trace_files(path: str | Path) -> tuple[Path, ...]:
    """Return all files of the trace that `path` means, as `locate_trace` finds it."""
    return parts_of(locate_trace(path)).files


def traces_below(path: Path) -> list[Path]:
    """Return the files up to five directories down that may be traces by their names, sorted by directory."""
    files = [file for file in _files(path) if not _is_side_file(file) and what_else(file.name) is None]
    return [file for file in files if not is_part(file) or file in first_parts(files)]


def recordings_below(path: Path) -> list[Path]:
    """Return the recordings up to five directories down, sorted: the file or directory that names each.

    Of a run that was exported several times one. Whether JSON under a name of its user's is a trace only
    reading it tells. Empty where `path` is no directory.
    """
    return _recordings(path, _files(path))


def trace_or_recordings(path: Path, export: Export | None = None) -> list[Path]:
    """Return the recordings below a directory that has several, else the file of the one trace that it means.

    Raises UnreadableTrace where there is none.
    """
    files = _files(path)
    recordings = _recordings(path, files)
    return recordings if len(recordings) > 1 else [locate_trace(path, export, files)]


def _recordings(path: Path, files: list[Path]) -> list[Path]:
    """Return the recordings among the files below a directory, sorted."""
    text = [file for file in files if not is_database(file)]
    databases = _databases(files)
    found = {_rank_directory(file, path) for file in _traces_of_frameworks(text, databases)}
    for file in (*databases, *_exported(text)):
        beside = other_export(file) if is_database(file) else None
        has_text = beside is not None and beside.path in found
        if not has_text and not any(parent in found for parent in (file, *file.parents)):
            found.add(_rank_directory(file, path))
    found |= {
        file
        for file in text
        if not _is_side_file(file)
        and not is_part(file)
        and not any(p in found for p in (file, *file.parents))
    }
    return sorted(found)


def choice_of_recordings(path: Path, recordings: list[Path]) -> UnreadableTrace:
    """Return what to raise where a directory has several recordings, of which one is to be named."""
    traces = [recording for recording in recordings if may_be_trace(recording)]
    return UnreadableTrace(Reason.DIRECTORY, _choice_sentence(path, traces or recordings))


def no_trace_below(path: Path | str) -> UnreadableTrace:
    """Return what to raise where none of the recordings of a directory is a trace that opens."""
    return UnreadableTrace(Reason.MISSING, state("{path}: no trace in this directory can be read", path=path))


def name_of_trace(file: Path) -> str:
    """Return what people call the trace that a file begins: of a raw export its directory."""
    if is_part(file) or (is_trace_database(file.name) and not is_framework_database(file.name)):
        for parent in file.parents:
            if parent.name.startswith(_PROFILE):
                return parent.name
    return file.name


def _replace_by_export(file: Path, export: Export | None) -> Path:
    """Return a trace that was named, or the wanted export of its run."""
    if export is None or export == export_of(file):
        return file
    other = other_export(file)
    if other is None:
        raise UnreadableTrace(
            Reason.MISSING,
            state("{file}: there is no {exports} of this run beside it", file=file, exports=_EXPORTS[export]),
        )
    return parts_of(other.path).files[0]


def _in_directory(path: Path, export: Export | None, files: list[Path] | None) -> Path:
    outputs = (path / _OUTPUT, path) if path.name == _OUTPUT else (path / _OUTPUT,)
    direct = trace_views(*outputs) if export != "db" else []
    if direct:
        return _prefer_whole(direct[0], export)
    files = _files(path) if files is None else files
    text = [file for file in files if not is_database(file)] if export != "db" else []
    databases = _databases(files) if export != "json" else []
    for choice in (
        _traces_of_frameworks(text, databases),
        _exported(text),
        [file for file in text if file.parent == path and TIMELINE.fullmatch(file.name)],
        databases,
        _of_users(path, text),
        _renamed_databases(path, files) if export != "json" else [],
    ):
        if len(choice) == 1:
            beside = (
                _other_recordings(choice[0], path, files)
                if choice[0].name in TRACE_VIEWS and not export
                else []
            )
            if beside:
                raise choice_of_recordings(path, sorted([_rank_directory(choice[0], path), *beside]))
            return _prefer_whole(choice[0], export)
        if choice:
            raise UnreadableTrace(Reason.DIRECTORY, _choice_sentence(path, choice))
    raise UnreadableTrace(
        Reason.MISSING, state("{path}: {files}", path=path, files=_no_trace_sentence(files, export))
    )


def _other_recordings(trace: Path, top: Path, files: list[Path]) -> list[Path]:
    """Return the recordings in and below a directory beside the one that a trace is of."""
    recording = _rank_directory(trace, top)
    others = (found for found in _recordings(top, files) if found not in (recording, *trace.parents))
    return [found for found in others if may_be_trace(found)]


def may_be_trace(file: Path) -> bool:
    """Return whether a recording is one by its name, or begins as a trace does: JSON may be anything."""
    if file.name in TRACE_VIEWS or file.is_dir() or is_part(file) or is_database(file):
        return True
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            return _EVENTS.search(opened.read(_BEGINNING)) is not None
    except PermissionError:
        return True  # opening it says why it is not read
    except (OSError, EOFError, zlib.error):
        return False


def _traces_of_frameworks(text: list[Path], databases: list[Path]) -> list[Path]:
    """Return the JSON of frameworks, and of their databases those without any beside them."""
    traces = {file.parent for file in text if file.name in TRACE_VIEWS}
    return [trace_views(directory)[0] for directory in sorted(traces)] + [
        file
        for file in databases
        if traces and is_framework_database(file.name) and file.parent not in traces
    ]


def _prefer_whole(found: Path, export: Export | None) -> Path:
    """Return a trace that was found, or the database of its run where the trace is JSON that is cut off."""
    other = other_export(found) if export is None and export_of(found) == "json" else None
    return other.path if other is not None and other.is_whole and not is_whole_json(found) else found


def _no_trace_sentence(files: list[Path], export: Export | None) -> str:
    """Return that a directory holds no trace, and what the databases in it are."""
    if export == "json":
        return state("no trace in this directory: no JSON of a run")
    known = [f"{file.name} {what}" for file in files if (what := what_else(file.name)) is not None]
    if known:
        return state("no trace in this directory: {databases}", databases="; ".join(known[:_SHOWN_DATABASES]))
    if export:
        return state("no trace in this directory: no database of a run")
    return state("no trace in this directory: no {name}, no msprof_*.json, no database", name=TRACE_VIEWS[0])


def _files(path: Path) -> list[Path]:
    """Return the regular files up to five directories down, by name; links to directories apart."""
    traces: list[Path] = []
    visited = 0
    for directory, names, files in os.walk(path):
        depth = len(Path(directory).relative_to(path).parts)
        names[:] = sorted(names) if depth < _DEEPEST + 1 else []
        visited += len(names) + len(files)
        for name in sorted(files):
            file = Path(directory) / name
            if name.endswith((".json", ".json.gz", ".db")) and file.is_file():
                traces.append(file)
        if visited > _MOST_ENTRIES:
            break
    return traces


def _exported(files: list[Path]) -> list[Path]:
    """Return the traces that msprof exported, each by its first file; older exports lie with their device."""
    by_profile: dict[Path, list[Path]] = {}
    for file in filter(is_part, files):
        top = file.parents[1] if file.parent.name == "timeline" and len(file.parents) > 2 else file.parent
        by_profile.setdefault(top.parent, []).append(file)
    traces = []
    for exported in by_profile.values():
        newer = [file for file in exported if file.parent.name == _NEWER_EXPORT]
        traces += first_parts(newer or exported)
    return sorted(traces)


def _databases(files: list[Path]) -> list[Path]:
    """Return the databases with traces; a framework's holds all of msprof's beside it, or below."""
    databases = [file for file in files if is_trace_database(file.name)]
    frameworks = [file for file in databases if is_framework_database(file.name)]
    return frameworks or _latest_exports(databases)


def _latest_exports(databases: list[Path]) -> list[Path]:
    """Return of each directory that msprof exported to the latest database, and all others."""
    latest: dict[Path, Path] = {}
    for file in databases:
        top = file.parent.parent if file.parent.name == _NEWER_EXPORT else file.parent
        key = top if file.name.startswith("msprof_") else file
        if key not in latest or file.name > latest[key].name:
            latest[key] = file
    return sorted(latest.values())


def _of_users(path: Path, text: list[Path]) -> list[Path]:
    """Return the JSON in a directory itself that may be traces under names of users: any where it is one."""
    files = [file for file in text if file.parent == path and not _is_side_file(file)]
    return [file for file in files if len(files) == 1 or may_be_trace(file)]


def _renamed_databases(path: Path, files: list[Path]) -> list[Path]:
    """Return the databases in a directory itself that may be traces under names of users."""
    return [file for file in files if file.parent == path and is_database(file) and not what_else(file.name)]


def _is_side_file(file: Path) -> bool:
    return file.name.startswith((*_NOT_TRACES, _NO_TIMELINE))


def _choice_sentence(path: Path, choice: list[Path]) -> str:
    examples = ", ".join(str(_rank_directory(file, path).relative_to(path)) for file in choice[:_SHOWN])
    count, more = f"{len(choice):,}", len(choice) - _SHOWN
    if more <= 0:
        return state(
            "{path}: holds {count} traces, name one of them: {names}", path=path, count=count, names=examples
        )
    return state(
        "{path}: holds {count} traces, name one of them: {names} and {more} more",
        path=path,
        count=count,
        names=examples,
        more=f"{more:,}",
    )


def _rank_directory(file: Path, top: Path) -> Path:
    """Return the rank's directory that `file` is in, where it says enough; else `file` itself."""
    for parent in file.parents:
        if parent == top:
            break
        if parent.name.endswith(_RANK_SUFFIXES) or parent.name.startswith(_PROFILE):
            return parent
    return file


def _only_marey(path: Path) -> str:
    return state(
        "{path}: is MindInsight's diagram of a pipeline's stages, not a trace: open the "
        "timeline_display_<rank>.json beside it",
        path=path,
    )
