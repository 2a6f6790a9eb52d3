"""The digest of a rank: from the user's cache if the trace has not changed; else it is made and kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Union

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cache.digests import find_digest, keep_digest
from tracetui.job.digesting import digest_trace
from tracetui.job.identity import scheduler_of_rank
from tracetui.reader.errors import NO_MEMORY, UnreadableTrace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress
from tracetui.siblings.formats import KERNEL_DETAILS, MEMORY_RECORD, MODULE_MEMORY, OPERATOR_MEMORY
from tracetui.siblings.rank_files import side_files
from tracetui.siblings.scheduler.files import files_of_recording, find_recording
from tracetui.siblings.tables import find_table

_TABLES = (KERNEL_DETAILS, OPERATOR_MEMORY, MEMORY_RECORD, MODULE_MEMORY)


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
    recording = source.path or find_recording(trace)
    tables = (find_table(trace, format_) for format_ in _TABLES)
    beside = [*side_files(trace), *filter(None, tables)]
    if recording is not None:
        beside += files_of_recording(recording, trace)
    given = None if source.path is None else os.path.realpath(source.path), source.offset_ns
    cached = find_digest(trace, beside, given)
    if cached is not None:
        return cached
    digest = digest_trace(trace, on_progress, cache, jobs, source)
    keep_digest(trace, beside, digest, given)
    return digest
