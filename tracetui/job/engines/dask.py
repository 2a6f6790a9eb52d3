"""Digests made where the traces lie: by the workers of a Dask cluster, each of which sees other files.

A trace never travels, its digest does. What a lost worker had to do is done by another one that sees the
same trace, or told as missed. Needs the extra `tracetui[dask]`: only who is asked for a cluster imports this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Union

from distributed import Client

from tracetui.job.digesting import digest_trace
from tracetui.job.engines.pinned import Lost, Pinned, Workers
from tracetui.job.engines.seen import Seen, look
from tracetui.reader.errors import UnreadableTrace
from tracetui.version import __version__

ANSWER_S = 10.0  #: within which the scheduler has to answer
PATIENCE_S = 900.0  #: without any answer the rest is given up
_PACKAGES = ("distributed", "tracetui")  # whose versions have to be those of this process


class UnusableCluster(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """No digests can be made there; `str()` is a sentence."""


class Found(NamedTuple):
    """How many traces there are in all."""

    traces: int


class Digested(NamedTuple):
    """The digest of a trace."""

    path: str  #: where the trace lies
    worker: str  #: who made it
    data: bytes


class Missed(NamedTuple):
    """A trace of which there is no digest, and why."""

    path: str
    reason: str


class LeftOut(NamedTuple):
    """A worker that was not asked, or did not answer, and why."""

    worker: str
    reason: str


Told = Union[Found, Digested, Missed, LeftOut]


def digests(address: str, paths: Sequence[str], patience_s: float = PATIENCE_S) -> Iterator[Told]:
    """Yield the digests of all traces that the workers of a cluster see below some paths, as they come.

    Where several workers see a trace, one of them makes its digest. Closing the iterator stops the rest.

    Args:
        address: of the scheduler: "tcp://node00:8786".
        paths: directories and files on the hosts of the workers; each may see other things there, or nothing.
        patience_s: for so long nothing need happen before the rest is given up.

    Raises UnusableCluster.
    """
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnusableCluster(f"no Dask scheduler answers at {address}: {error}") from None
    with closing(client):
        usable, left_out = _by_version(client)
        yield from left_out
        if not usable:
            raise UnusableCluster(f"{address} has no worker that can be used")
        workers = Workers(client, usable)
        seen: dict[tuple[int, str], dict[str, Seen]] = defaultdict(dict)  # by the trace, then the worker
        for answer in Pinned(workers, look, patience_s).run([(worker, list(paths), 0) for worker in usable]):
            if isinstance(answer, Lost):
                yield LeftOut(answer.worker, answer.reason)
            else:
                for trace in answer.result:
                    seen[trace.identity][answer.worker] = trace
        yield Found(len(seen))
        yield from _share_out(workers, list(seen.values()), patience_s)


def _by_version(client: Client) -> tuple[list[str], list[LeftOut]]:
    """The workers that run the versions of this process, and those that don't."""
    told = client.get_versions(packages=["tracetui"])
    here = {"distributed": told["client"]["packages"]["distributed"], "tracetui": __version__}
    theirs = told["scheduler"]["packages"]["distributed"]
    if theirs != here["distributed"]:
        raise UnusableCluster(
            f"the scheduler runs distributed {theirs}, here is {here['distributed']}: "
            "both ends must be of one version"
        )
    usable, left_out = [], []
    for worker, versions in sorted(told["workers"].items()):
        packages = versions["packages"]
        others = [
            f"{name} {packages.get(name) or 'is missing there'}, here is {here[name]}"
            for name in _PACKAGES
            if packages.get(name) != here[name]
        ]
        if others:
            left_out.append(LeftOut(worker, "; ".join(others)))
        else:
            usable.append(worker)
    return usable, left_out


def _share_out(
    workers: Workers, traces: Sequence[dict[str, Seen]], patience_s: float
) -> Iterator[Digested | Missed]:
    """Have each trace digested by one of those that see it; by the next one where that is lost."""
    left = list(traces)
    while left:
        load: dict[str, int] = defaultdict(int)
        tasks = []
        by_path = {}
        for seen in sorted(left, key=lambda seen: -max(trace.bytes for trace in seen.values())):
            worker = min(seen, key=lambda worker: (load[worker], worker))
            load[worker] += seen[worker].bytes
            by_path[worker, seen[worker].path] = seen
            tasks.append((worker, seen[worker].path, seen[worker].bytes))
        left = []
        for answer in Pinned(workers, _digest, patience_s).run(tasks):
            seen = by_path[answer.worker, answer.task]
            others = {worker: trace for worker, trace in seen.items() if worker != answer.worker}
            if isinstance(answer, Lost) and others:
                left.append(others)
            elif isinstance(answer, Lost):
                yield Missed(answer.task, f"{answer.worker} {answer.reason}")
            elif isinstance(answer.result, bytes):
                yield Digested(answer.task, answer.worker, answer.result)
            else:
                yield Missed(answer.task, answer.result)


def _digest(path: str) -> bytes | str:
    """The digest of a trace, or why there is none. Workers of Dask may not have processes of their own."""
    try:
        return digest_trace(Path(path), jobs=1)
    except (UnreadableTrace, OSError) as error:
        return str(error)
