"""A job whose traces lie on the hosts of a Dask cluster: the digests come, the traces stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.databases.exports import Export
from tracetui.job.digest import Digest
from tracetui.job.digest_bytes import UnreadableDigest, decode
from tracetui.job.engines.digest_pool import DigestProgress
from tracetui.job.load import FoundRanks, distinct_ranks
from tracetui.job.same_job import FoundRank
from tracetui.job.sources import Source
from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace, plain


class Interrupted(KeyboardInterrupt):
    """The ranks were interrupted, as by ctrl+c, when some of them were done."""

    def __init__(self, found: FoundRanks) -> None:
        super().__init__()
        self.found = found


def gather(
    address: str,
    paths: Sequence[Path],
    only: str = "*",
    on_progress: Callable[[DigestProgress], None] | None = None,
    cache: bool = True,
    export: Export | None = None,
    scheduler: SchedulerSource | None = None,
) -> FoundRanks:
    """Return the ranks that the workers of a cluster see, digested.

    Raises UnreadableTrace where the cluster can't be used, or no rank can be read, and `Interrupted` where a
    signal ends it when some are done. The arguments are those of `engines.dask.digests` and
    `engines.digest_pool.digest_all`.
    """
    try:
        from tracetui.job.engines import dask
    except ImportError:
        raise UnreadableTrace(
            Reason.MISSING, state("Dask is not installed: pip install 'tracetui[dask]'")
        ) from None
    digested: list[tuple[Source, FoundRank, Digest]] = []
    notes: list[str] = []
    total = dask.Seeing(0, 0)
    answered = answered_bytes = 0
    wanted = [str(path) for path in paths]
    interrupted = False
    try:
        for one in dask.digests(address, wanted, only, cache, export=export, scheduler=scheduler):
            if isinstance(one, dask.Seeing):
                total = one
            elif isinstance(one, dask.LeftOut):
                name, reason = plain(one.worker), plain(one.reason)
                notes.append(state("worker {name} is left out: {reason}", name=name, reason=reason))
            else:
                answered, answered_bytes = answered + 1, answered_bytes + one.seen.bytes
                try:
                    if isinstance(one, dask.Missed):
                        raise UnreadableDigest(one.reason)
                    digest = decode(one.data)
                except UnreadableDigest as error:
                    notes.append(state("{note} (left out)", note=plain(f"{one.seen.shown}: {error}")))
                else:
                    source = Source(Path(one.seen.path), one.seen.shown, True)
                    digested.append((source, FoundRank(one.seen.shown, digest.identity), digest))
            if on_progress is not None:
                on_progress(DigestProgress(answered, total.traces, answered_bytes, total.bytes))
    except KeyboardInterrupt:
        if not digested:
            raise
        interrupted = True
    if answered < total.traces:
        counts = {"count": f"{total.traces - answered:,}", "ranks": f"{total.traces:,}"}
        notes.append(state("stopped without reading {count} of {ranks} ranks", **counts))
    if not digested:
        reason = notes[0] if notes else f"no worker of {address} sees a trace of a rank in {paths[0]}"
        raise UnreadableTrace(Reason.MISSING, reason)
    digested.sort(key=lambda one: (one[1].identity.rank, one[0].shown))
    sources, ranks, digests = zip(*digested)
    found = distinct_ranks(sources, ranks, dict(enumerate(digests)), notes)
    if interrupted:
        raise Interrupted(found)
    return found
