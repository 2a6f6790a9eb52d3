"""Digests made where the traces lie: by the workers of a Dask cluster, each of which sees other files.

A trace never travels, its digest does. What a lost worker had to do is done by another one that sees the
same trace, or told as missed. Needs the extra `tracetui[dask]`: only who is asked for a cluster imports this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Union

from distributed import Client

from tracetui.databases.exports import Export
from tracetui.job.cached_digest import digest_rank
from tracetui.job.digest_files import is_digest
from tracetui.job.engines.pinned import Answer, Lost, Pinned, Workers, present
from tracetui.job.engines.seen import Seen, look
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.version import __version__

ANSWER_S = 10.0  #: within which the scheduler has to answer
PATIENCE_S = 900.0  #: without any answer the rest is given up


class UnusableCluster(UnreadableTrace):
    """No digests can be made there."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Reason.MISSING, sentence)


class Seeing(NamedTuple):
    """What there is to be done."""

    traces: int
    bytes: int  #: of the files


class Digested(NamedTuple):
    """The digest of a trace."""

    seen: Seen
    worker: str  #: who made it
    data: bytes


class Missed(NamedTuple):
    """A trace of which there is no digest, and why."""

    seen: Seen
    reason: str


class LeftOut(NamedTuple):
    """A worker that was not asked, or did not answer, and why."""

    worker: str
    reason: str


Told = Union[Seeing, Digested, Missed, LeftOut]


def digests(
    address: str,
    paths: Sequence[str],
    only: str = "*",
    should_stop: Callable[[], bool] = lambda: False,
    cache: bool = True,
    patience_s: float = PATIENCE_S,
    export: Export | None = None,
) -> Iterator[Told]:
    """Yield the digests of all traces that the workers of a cluster see below some paths, as they come.

    Where several workers see a trace, one of them makes its digest.

    Args:
        address: of the scheduler: "tcp://node00:8786".
        paths: directories and files on the hosts of the workers; each may see other things there, or nothing.
        only: as of `find_sources`.
        should_stop: asked several times a second.
        cache: as of `digest_rank`, in the cache of the workers' user.
        patience_s: for so long nothing need happen before the rest is given up.
        export: as of `find_sources`.

    Raises UnusableCluster.
    """
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnusableCluster(f"no Dask scheduler answers at {address}: {error}") from None
    with closing(client):
        _check_scheduler(client)
        every = sorted(present(client, looks=100) or ())
        workers = Workers(client, every)
        here = {"distributed": version("distributed"), "tracetui": __version__}
        asking = Pinned(workers, version, patience_s, should_stop)
        others = _by_version(asking.run([(worker, name, 0) for worker in every for name in here]), here)
        for worker, reason in sorted(others.items()):
            yield LeftOut(worker, reason)
        usable = [worker for worker in every if worker not in others]
        if not usable:
            raise UnusableCluster(f"{address} has no worker that can be used")
        seen: dict[tuple[int, str], dict[str, Seen]] = defaultdict(dict)  # by the trace, then the worker
        looking = Pinned(workers, partial(look, only=only, export=export), patience_s, should_stop)
        for answer in looking.run([(worker, list(paths), 0) for worker in usable]):
            if isinstance(answer, Lost):
                yield LeftOut(answer.worker, answer.reason)
            else:
                for trace in answer.result:
                    seen[trace.identity][answer.worker] = trace
        yield Seeing(len(seen), sum(size for size, _ in seen))
        digesting = partial(Pinned, workers, partial(_digest, cache=cache), patience_s, should_stop)
        yield from _share_out(digesting, list(seen.values()))


def _check_scheduler(client: Client) -> None:
    here = version("distributed")
    theirs = client.run_on_scheduler(version, "distributed")
    if theirs != here:
        raise UnusableCluster(
            f"the scheduler runs distributed {theirs}, here is {here}: both ends must be of one version"
        )


def _by_version(answers: Iterator[Answer], here: dict[str, str]) -> dict[str, str]:
    """Why workers can't be used, by worker: those that lack a package, or run another version of it."""
    others: dict[str, str] = {}
    for answer in answers:
        if isinstance(answer, Lost):
            others.setdefault(answer.worker, answer.reason)
        elif answer.result != here[answer.task]:
            others[answer.worker] = f"it runs {answer.task} {answer.result}, here is {here[answer.task]}"
    return others


def _share_out(
    digesting: Callable[[], Pinned], traces: Sequence[dict[str, Seen]]
) -> Iterator[Digested | Missed]:
    """Have each trace digested by one of those that see it; by the next one where that is lost."""
    left = list(traces)
    while left:
        load: dict[str, int] = defaultdict(int)
        tasks = []
        by_task = {}
        for seen in sorted(left, key=lambda seen: -next(iter(seen.values())).bytes):
            worker = min(seen, key=lambda worker: (load[worker], worker))
            load[worker] += seen[worker].bytes
            by_task[worker, seen[worker].path] = seen
            tasks.append((worker, seen[worker].path, seen[worker].bytes))
        left = []
        for answer in digesting().run(tasks):
            seen = by_task[answer.worker, answer.task]
            others = {worker: trace for worker, trace in seen.items() if worker != answer.worker}
            if isinstance(answer, Lost) and others:
                left.append(others)
            elif isinstance(answer, Lost):
                yield Missed(seen[answer.worker], f"worker {answer.worker} {answer.reason}")
            elif isinstance(answer.result, bytes):
                yield Digested(seen[answer.worker], answer.worker, answer.result)
            else:
                yield Missed(seen[answer.worker], answer.result)


def _digest(path: str, cache: bool) -> bytes | str:
    """The digest of a trace, or why there is none. Workers of Dask may not have processes of their own."""
    try:
        file = Path(path)
        return file.read_bytes() if is_digest(file) else digest_rank(file, cache=cache, jobs=1)
    except (UnreadableTrace, OSError) as error:
        return str(error)
