"""From paths to a job: the ranks are found, digested, told apart and joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.comparison.compared_run import Run
from tracetui.databases.exports import Export
from tracetui.job.cached_digest import DigestResult
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest
from tracetui.job.digest_bytes import UnreadableDigest, decode
from tracetui.job.digest_run import run_of_digest
from tracetui.job.engines.digest_pool import DigestProgress, digest_all
from tracetui.job.identity import identify
from tracetui.job.job import Job, job_of
from tracetui.job.same_job import (
    FoundRank,
    largest_job,
    latest_recordings,
    number_ranks,
    without_shared_numbers,
)
from tracetui.job.sources import Source, Sources, find_sources
from tracetui.language import state, without_stop
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.joined import open_trace
from tracetui.reader.locate import choice_of_recordings, recordings_below

_SHOWN = 8  # numbers of ranks in a sentence


@dataclass(frozen=True)
class FoundRanks:
    """The ranks that paths mean, before they are digested."""

    sources: tuple[Source, ...]
    ranks: tuple[FoundRank, ...]  #: which rank each of the sources is
    digests: dict[int, Digest]  #: of those that are digests, by place
    notes: tuple[str, ...]  #: what was left out, a sentence each


def find_ranks(paths: Sequence[Path], only: str = "*", export: Export | None = None) -> FoundRanks:
    """Return the ranks that paths mean; duplicates and what cannot be read are left out, with a note.

    Raises UnreadableTrace where a path is not there, or no rank is.
    """
    found = ranks_in(find_sources(paths, only, export))
    if not found.sources:
        raise UnreadableTrace(
            Reason.MISSING,
            state("{path}: no trace of a rank in it matches {only}", path=paths[0], only=repr(only)),
        )
    return found


def ranks_below(path: Path, export: Export | None = None) -> FoundRanks | None:
    """Return the ranks of a directory that holds several; None where one trace is meant.

    Raises UnreadableTrace where there are some and none can be read.
    """
    if not path.is_dir():
        return None
    sources = find_sources([path], export=export)
    return ranks_in(sources) if len(sources.found) > 1 else None


def run_at(path: Path) -> Run:
    """Return the run in the digest at a path. Raises UnreadableTrace where it is no digest."""
    try:
        digest = decode(path.read_bytes())
    except (UnreadableDigest, OSError) as error:
        raise UnreadableTrace(Reason.NOT_A_TRACE, state("{path}: {error}", path=path, error=error)) from None
    return run_of_digest(digest, str(path))


def ranks_in(sources_found: Sources) -> FoundRanks:
    """Return the ranks of some sources; duplicates and what cannot be read are left out, with a note.

    Raises UnreadableTrace where there are some and none can be read.
    """
    refusals = [*sources_found.notes]
    sources: list[Source] = []
    identified: list[FoundRank] = []
    digests: dict[int, Digest] = {}
    for source in sources_found.found:
        try:
            if source.is_digest:
                digest = decode(source.path.read_bytes())
                digests[len(sources)] = digest
                identity = digest.identity
            else:
                with open_trace(source.path) as trace_file:
                    identity = identify(source.path.absolute(), trace_file.head)
        except (UnreadableTrace, UnreadableDigest, OSError) as error:
            refusals.append(_refusal(source, error))
            continue
        sources.append(source)
        identified.append(FoundRank(source.shown, identity))
    notes = [state("{note} (left out)", note=refusal) for refusal in refusals]
    ranks = distinct_ranks(sources, identified, digests, notes)
    if refusals and not ranks.sources:
        raise UnreadableTrace(Reason.MISSING, refusals[0])
    return ranks


def distinct_ranks(
    sources: Sequence[Source], ranks: Sequence[FoundRank], digests: dict[int, Digest], notes: Sequence[str]
) -> FoundRanks:
    """Return the ranks without duplicates, with notes on those left out; arguments as for `FoundRanks`."""
    kept_places, doubles = latest_recordings(ranks)
    return FoundRanks(
        tuple(sources[place] for place in kept_places),
        tuple(ranks[place] for place in kept_places),
        {number: digests[place] for number, place in enumerate(kept_places) if place in digests},
        (*notes, *doubles),
    )


def load_ranks(
    paths: Sequence[Path],
    only: str = "*",
    on_progress: Callable[[DigestProgress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    cache: bool = True,
    jobs: int | None = None,
    export: Export | None = None,
    scheduler: SchedulerSource | None = None,
) -> Job:
    """Return the job that paths hold; what is done when it is stopped counts.

    Raises UnreadableTrace where there is no rank that can be read; where no two ranks of a directory are of
    one job, with all its traces. The arguments are those of `find_ranks` and `digest_all`.
    """
    found = find_ranks(paths, only, export)
    try:
        return digest_ranks(found, on_progress, should_stop, cache, jobs, scheduler)
    except UnreadableTrace as error:
        recordings = more_recordings(paths, found) if error.reason is Reason.DIRECTORY else []
        if not recordings:
            raise
        raise choice_of_recordings(paths[0], recordings) from None


def more_recordings(paths: Sequence[Path], found: FoundRanks) -> list[Path]:
    """Return all recordings of the one directory given, where these are more than the ranks found there."""
    recordings = recordings_below(paths[0]) if len(paths) == 1 and paths[0].is_dir() else []
    return recordings if len(recordings) > len(found.sources) else []


def digest_ranks(
    found: FoundRanks,
    on_progress: Callable[[DigestProgress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    cache: bool = True,
    jobs: int | None = None,
    scheduler: SchedulerSource | None = None,
) -> Job:
    """Digest the ranks that were found and return their job; arguments as for `digest_all`.

    Raises UnreadableTrace where none can be read.
    """
    traces = [place for place in range(len(found.sources)) if place not in found.digests]
    files = [found.sources[place].path for place in traces]
    results = digest_all(files, on_progress, None, should_stop, cache, jobs, scheduler)
    results_by_place = {traces[number]: result for number, result in results.items()}
    return join(found, results_by_place)


def join(found: FoundRanks, results: dict[int, DigestResult]) -> Job:
    """Return the job of the ranks found. `results` holds the digests made of traces, by place in `found`."""
    notes = list(found.notes)
    digests, refusals = dict(found.digests), []
    for place, result in sorted(results.items()):
        if isinstance(result, bytes):
            digests[place] = decode(result)
        else:
            refusals.append(state("{note} (left out)", note=_refusal(found.sources[place], result)))
    notes += refusals
    places = sorted(digests)
    unread = len(found.sources) - len(set(places) | set(results))
    if unread:
        counts = {"count": f"{unread:,}", "ranks": f"{len(found.sources):,}"}
        notes.append(state("stopped without reading {count} of {ranks} ranks", **counts))
    if not places:
        reason = next(iter((*refusals, *notes)), "no rank is read")
        raise UnreadableTrace(Reason.NOT_A_TRACE, reason)
    digests = dict(zip(places, without_shared_numbers([digests[place] for place in places])))
    found_ranks = {place: FoundRank(found.ranks[place].name, digests[place].identity) for place in places}
    kept_places, left_out = largest_job([*found_ranks.values()], [*digests.values()])
    places = [places[number] for number in kept_places]
    numbers_given, unnumbered = number_ranks([found_ranks[place] for place in places])
    ranks = [
        Rank(number, digests[place], str(found.sources[place].path))
        for number, place in zip(numbers_given, places)
    ]
    return job_of(ranks, [*notes, *left_out, *unnumbered, *_warnings_of_ranks(ranks)])


def _warnings_of_ranks(ranks: Sequence[Rank]) -> list[str]:
    """Return the warnings of the traces, each once with the ranks that it is of."""
    numbers_of: dict[str, list[int]] = {}
    for rank in ranks:
        for warning in rank.digest.warnings:
            numbers_of.setdefault(without_stop(warning), []).append(rank.number)
    return [
        state("{run}: {note}", run=ranks_in_words(sorted(numbers), len(ranks)), note=warning)
        for warning, numbers in numbers_of.items()
    ]


def ranks_in_words(numbers: list[int], count: int) -> str:
    """Return "rank 3", "ranks 1, 2", or "all ranks" of so many."""
    if len(numbers) == count > 1:
        return state("all ranks")
    shown = ", ".join(map(str, numbers[:_SHOWN])) + (", ..." if len(numbers) > _SHOWN else "")
    return state("rank {numbers}" if len(numbers) == 1 else "ranks {numbers}", numbers=shown)


def _refusal(source: Source, why: object) -> str:
    """Return why a rank is not read, with its path."""
    text = str(why)
    return text if str(source.path) in text else state("{path}: {error}", path=source.shown, error=text)
