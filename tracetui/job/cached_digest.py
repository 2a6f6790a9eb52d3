"""The digest of a rank: from the user's cache if the trace has not changed; else it is made and kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cache.digests import digest_key, find_digest, keep_digest
from tracetui.job.digesting import digest_trace
from tracetui.job.identity import scheduler_of_rank
from tracetui.reader.errors import NO_MEMORY, UnreadableTrace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress
from tracetui.siblings.beside import files_like
from tracetui.siblings.minddata import minddata_files
from tracetui.siblings.rank_files import side_files
from tracetui.siblings.scheduler.files import files_of_recording, find_recording

_TABLES = ("*.csv", "*.db", "*.txt")  # whatever their names, so that a new table needs no line here


#: A digest, or a sentence that says why there is none.
DigestResult = Union[bytes, str]


def digest_or_reason(
    path: Path,
    on_progress: Callable[[Progress], None] | None = None,
    cache: bool = True,
    jobs: int | None = None,
    scheduler: SchedulerSource | None = None,
) -> DigestResult:
    """Return what `digest_rank` returns, or why it cannot: one rank does not take its job down."""
    try:
        return digest_rank(path, on_progress, cache, jobs, scheduler)
    except MemoryError:
        return NO_MEMORY
    except (UnreadableTrace, OSError) as error:
        return str(error)


def digest_rank(
    path: Path,
    on_progress: Callable[[Progress], None] | None = None,
    cache: bool = True,
    jobs: int | None = None,
    scheduler: SchedulerSource | None = None,
) -> bytes:
    """Return what `digest_trace` returns for the trace at a path, from the cache if it is there."""
    if not cache:
        return digest_trace(path, on_progress, cache, jobs, scheduler)
    trace = locate_trace(path.absolute())
    source = scheduler_of_rank(scheduler or SchedulerSource(), trace)
    recording = None if source.path is None else os.path.realpath(source.path)
    given = str(trace), recording, source.offset_ns  # the path may tell the rank: links to a trace differ

    def key_now() -> dict[str, Any] | None:
        return digest_key(trace, _files_beside(trace, source), given)

    key = key_now()
    cached = find_digest(key)
    if cached is not None:
        return cached
    digest = digest_trace(trace, on_progress, cache, jobs, source)
    if key == key_now():  # else the digest is of files that were replaced meanwhile
        keep_digest(key, digest)
    return digest


def _files_beside(trace: Path, source: SchedulerSource) -> list[Path]:
    """List the files beside a trace of which its digest may hold something."""
    recording = source.path or find_recording(trace)
    files = [*side_files(trace), *minddata_files(trace), *files_like(trace.parent, *_TABLES)]
    return files if recording is None else files + files_of_recording(recording, trace)
