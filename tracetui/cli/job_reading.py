"""The ranks of a command: they are found and digested, and how far that is is shown."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, Callable, NamedTuple

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cli import output, streams, terminal
from tracetui.cli.parser import Request, usage_error
from tracetui.cli.progress import EVERY, FIRST, ProgressLine
from tracetui.cli.reading_options import scheduler_source
from tracetui.export.atomic import write_atomically
from tracetui.job.cached_digest import DigestResult
from tracetui.job.cluster import Interrupted, gather
from tracetui.job.digest_bytes import encode
from tracetui.job.digest_files import SUFFIX
from tracetui.job.engines.digest_pool import DigestProgress, digest_all
from tracetui.job.job import Job
from tracetui.job.load import FoundRanks, digest_ranks, find_ranks, join, load_ranks, ranks_below
from tracetui.job.sources import Source
from tracetui.job.whatif.answer import NoReplay
from tracetui.language import state, translate
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count


def open_job(
    request: Request, paths: Sequence[Path], only: str = "*", scheduler: SchedulerSource | None = None
) -> Job:
    """Return the job that paths hold. Raises UnreadableTrace where there is no rank, or no `scheduler`.

    What of the scheduler is given with the request counts where `scheduler` is None. Means of the job are
    of all steps where the request says so.
    """
    source = _recording(request, scheduler)
    with _progress() as show:
        if request.dask is not None:
            cluster, export = request.dask, request.export
            found = gather(cluster, paths, only, show, cache=request.cache, export=export, scheduler=source)
            return _with_steps(request, join(found, {}))
        job = load_ranks(
            paths, only, show, cache=request.cache, jobs=request.jobs, export=request.export, scheduler=source
        )
        return _with_steps(request, job)


def open_job_below(request: Request, path: Path) -> Job | None:
    """Return the job of a directory that holds several ranks; None where one trace is meant."""
    found = ranks_below(path, request.export)
    if found is None:
        return None
    with _progress() as show:
        job = digest_ranks(found, show, cache=request.cache, jobs=request.jobs, scheduler=_recording(request))
        return _with_steps(request, job)


def _with_steps(request: Request, job: Job) -> Job:
    """Return a job whose means are of the steps that the request says."""
    return replace(job, all_steps=request.all_steps)


def _recording(request: Request, given: SchedulerSource | None = None) -> SchedulerSource:
    """Return what of the scheduler is given for a job. Raises UnreadableTrace where that is not there."""
    source = given or scheduler_source(request) or SchedulerSource()
    if source.path is not None and request.dask is None and not source.path.exists():
        raise UnreadableTrace(Reason.MISSING, state("{path}: no such file or directory", path=source.path))
    return source


def print_job(
    request: Request, paths: Sequence[Path], only: str, print_answer: Callable[[Job], None]
) -> None:
    """Print what a command answers of the job that paths hold.

    Where a cluster is interrupted, it is of the ranks that are done, before that is raised.
    """
    try:
        job = open_job(request, paths, only)
    except Interrupted as interrupted:
        print_answer(_with_steps(request, join(interrupted.found, {})))
        raise
    print_answer(job)


@contextlib.contextmanager
def replaying() -> Iterator[None]:
    """Turn what makes a job impossible to replay into an input that is refused."""
    try:
        yield
    except NoReplay as error:
        raise UnreadableTrace(
            Reason.NOT_A_TRACE, state("the job cannot be replayed: {error}", error=error)
        ) from None


class WrittenDigests(NamedTuple):
    """How many ranks became digests in a directory, and how many did not."""

    written: int = 0
    unread: int = 0  #: no trace that can be read
    existing: int = 0  #: the directory has a file of that name
    digests: int = 0  #: are digests, which stay where they are


def write_digests(request: Request, directory: Path) -> WrittenDigests:
    """Write the digests of the ranks of a request into a directory, and say which are not written.

    Where a cluster is interrupted, those that are done are written before that is raised.
    """
    try:
        found = _find_traces(request)
    except Interrupted as interrupted:
        _write_found(request, directory, interrupted.found)
        raise
    return _write_found(request, directory, found)


def _write_found(request: Request, directory: Path, found: FoundRanks) -> WrittenDigests:
    for note in found.notes:
        output.say(printable(note))
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise usage_error("{directory} is not a directory", directory=printable(str(directory))) from None
    on_cluster = request.dask is not None  # then all that is found are digests
    undigested = [place for place in range(len(found.sources)) if on_cluster or place not in found.digests]
    names = _file_names(
        [found.ranks[place].identity.rank for place in undigested], [found.sources[p] for p in undigested]
    )
    written = unread = existing = 0

    def finish(place: int, result: DigestResult) -> None:
        nonlocal written, unread, existing
        if isinstance(result, str):
            unread += 1
            output.say(printable(result))
            return
        path = directory / names[place]
        try:
            write_atomically(path, partial(_write_digest, result), request.force)
        except FileExistsError:
            existing += 1
            output.say(f"{printable(str(path))} exists; --force replaces it")
            return
        written += 1
        streams.write(sys.stdout, f"{printable(str(path))}\n")

    if on_cluster:
        for place in undigested:
            finish(place, encode(found.digests[place]))
        return WrittenDigests(written, unread, existing)
    with _progress() as show:
        paths = [found.sources[place].path for place in undigested]
        digest_all(paths, show, finish, cache=request.cache, jobs=request.jobs, scheduler=_recording(request))
    return WrittenDigests(written, unread, existing, len(found.digests))


def _find_traces(request: Request) -> FoundRanks:
    if request.dask is None:
        return find_ranks(request.paths, request.only, request.export)
    with _progress() as show:
        return gather(
            request.dask,
            request.paths,
            request.only,
            show,
            cache=request.cache,
            export=request.export,
            scheduler=_recording(request),
        )


def _write_digest(digest: bytes, stream: BinaryIO) -> None:
    stream.write(digest)


def _file_names(ranks: list[int], sources: list[Source]) -> list[str]:
    """Return the names of digests: by rank where that is known, else by the name of the trace; each once."""
    names: list[str] = []
    for rank, source in zip(ranks, sources):
        stem = f"rank{rank}" if rank >= 0 else source.shown.replace("/", "_").lstrip("._") or "trace"
        name, number = stem, 2
        while name in names:
            name, number = f"{stem}-{number}", number + 1
        names.append(name)
    return [f"{name}{SUFFIX}" for name in names]


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[DigestProgress], None] | None]:
    """Show how far the ranks are, on a line that is gone at the end; None where nobody looks."""
    if not terminal.is_terminal(sys.stderr):
        yield None
        return
    following = time.monotonic() + FIRST
    with ProgressLine(sys.stderr) as line:

        def show(ranks: DigestProgress) -> None:
            nonlocal following
            if time.monotonic() >= following:
                following = time.monotonic() + EVERY
                line.draw(_progress_words(ranks))

        yield show


def _progress_words(ranks: DigestProgress) -> str:
    """Return "reading 42 %  ranks: 3 of 8  420 MB of 1.00 GB"."""
    share = f"{100 * ranks.done_bytes // ranks.total_bytes} %  " if ranks.total_bytes else ""
    return translate(
        "reading {share}ranks: {done} of {ranks}  {size} of {total}",
        share=share,
        done=format_count(ranks.done),
        ranks=format_count(ranks.total),
        size=format_bytes(ranks.done_bytes),
        total=format_bytes(ranks.total_bytes),
    )
