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

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.databases.exports import Export
from tracetui.job.cached_digest import DigestResult, digest_or_reason
from tracetui.job.digest_files import is_digest
from tracetui.job.engines.pinned import LostTask, Pinned, TaskReport, Workers, present
from tracetui.job.engines.visible_traces import VisibleTrace, visible_traces
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.version import __version__

ANSWER_S = 10.0  #: within which the scheduler has to answer
PATIENCE_S = 900.0  #: without any answer the rest is given up


class UnusableCluster(UnreadableTrace):
    """No digests can be made there."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Reason.MISSING, sentence)


class Seeing(NamedTuple):
    """How many traces there are to digest, and their size."""

    traces: int
    bytes: int  #: of the files


class Digested(NamedTuple):
    """A trace whose digest is done."""

    seen: VisibleTrace
    worker: str  #: who made it
    data: bytes


class Missed(NamedTuple):
    """A trace of which there is no digest, and why."""

    seen: VisibleTrace
    reason: str


class LeftOut(NamedTuple):
    """A worker that was not asked, or did not answer, and why."""

    worker: str
    reason: str


WorkerMessage = Union[Seeing, Digested, Missed, LeftOut]


def digests(
    address: str,
    paths: Sequence[str],
    only: str = "*",
    cache: bool = True,
    patience_s: float = PATIENCE_S,
    export: Export | None = None,
    scheduler: SchedulerSource | None = None,
) -> Iterator[WorkerMessage]:
    """Yield the digests of all traces that the workers of a cluster see below some paths, as they come.

    Where several workers see a trace, one of them makes its digest.

    Args:
        address: of the scheduler: "tcp://node00:8786".
        paths: directories and files on the hosts of the workers; each may see other things there, or nothing.
        only: as of `find_sources`.
        cache: as of `digest_rank`, in the cache of the workers' user.
        patience_s: for so long nothing need happen before the rest is given up.
        export: as of `find_sources`.
        scheduler: as of `digest_trace`, its path as the workers see it.

    Raises UnusableCluster.
    """
    try:
        client = Client(address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnusableCluster(f"no Dask scheduler answers at {address}: {error}") from None
    with closing(client):
        _check_scheduler(client)
        addresses = sorted(present(client, looks=100) or ())
        workers = Workers(client, addresses)
        versions_here = {"distributed": version("distributed"), "tracetui": __version__}
        asking = Pinned(workers, version, patience_s)
        unusable = _unusable_workers(
            asking.run([(worker, name, 0) for worker in addresses for name in versions_here]), versions_here
        )
        for worker, reason in sorted(unusable.items()):
            yield LeftOut(worker, reason)
        usable = [worker for worker in addresses if worker not in unusable]
        if not usable:
            raise UnusableCluster(f"{address} has no worker that can be used")
        hosts_by_trace: dict[tuple[int, str], dict[str, VisibleTrace]] = defaultdict(dict)  # then by worker
        looking = Pinned(workers, partial(visible_traces, only=only, export=export), patience_s)
        for answer in looking.run([(worker, list(paths), 0) for worker in usable]):
            if isinstance(answer, LostTask):
                yield LeftOut(answer.worker, answer.reason)
            else:
                for trace in answer.result:
                    hosts_by_trace[trace.identity][answer.worker] = trace
        yield Seeing(len(hosts_by_trace), sum(size for size, _ in hosts_by_trace))
        digesting = partial(Pinned, workers, partial(_digest, cache=cache, scheduler=scheduler), patience_s)
        yield from _share_out(digesting, list(hosts_by_trace.values()))


def _check_scheduler(client: Client) -> None:
    here = version("distributed")
    running = client.run_on_scheduler(version, "distributed")
    if running != here:
        raise UnusableCluster(
            f"the scheduler runs distributed {running}, here is {here}: both ends must be of one version"
        )


def _unusable_workers(answers: Iterator[TaskReport], versions_here: dict[str, str]) -> dict[str, str]:
    """Return why workers can't be used, by worker: a package is missing, or of another version."""
    reasons: dict[str, str] = {}
    for answer in answers:
        if isinstance(answer, LostTask):
            reasons.setdefault(answer.worker, answer.reason)
        elif answer.result != versions_here[answer.task]:
            reasons[answer.worker] = (
                f"it runs {answer.task} {answer.result}, here is {versions_here[answer.task]}"
            )
    return reasons


def _share_out(
    digesting: Callable[[], Pinned], traces: Sequence[dict[str, VisibleTrace]]
) -> Iterator[Digested | Missed]:
    """Give each trace to one of the workers that see it; to the next one if that worker is lost."""
    pending = list(traces)
    while pending:
        load: dict[str, int] = defaultdict(int)
        tasks = []
        by_task = {}
        for hosts in sorted(pending, key=lambda hosts: -next(iter(hosts.values())).bytes):
            worker = min(hosts, key=lambda worker: (load[worker], worker))
            load[worker] += hosts[worker].bytes
            by_task[worker, hosts[worker].path] = hosts
            tasks.append((worker, hosts[worker].path, hosts[worker].bytes))
        pending = []
        for answer in digesting().run(tasks):
            hosts = by_task[answer.worker, answer.task]
            other_hosts = {worker: trace for worker, trace in hosts.items() if worker != answer.worker}
            if isinstance(answer, LostTask) and other_hosts:
                pending.append(other_hosts)
            elif isinstance(answer, LostTask):
                yield Missed(hosts[answer.worker], f"worker {answer.worker} {answer.reason}")
            elif isinstance(answer.result, bytes):
                yield Digested(hosts[answer.worker], answer.worker, answer.result)
            else:
                yield Missed(hosts[answer.worker], answer.result)


def _digest(path: str, cache: bool, scheduler: SchedulerSource | None = None) -> DigestResult:
    """Return the digest of a trace, or why there is none. Workers may have no processes of their own."""
    file = Path(path)
    if not is_digest(file):
        return digest_or_reason(file, cache=cache, jobs=1, scheduler=scheduler)
    try:
        return file.read_bytes()
    except OSError as error:
        return str(error)
