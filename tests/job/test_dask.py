"""Digests from a real scheduler and workers, processes of their own that each see other files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra tracetui[dask] is not installed")

from distributed import Client

from simulator.job.directory import directory_name, write_rank
from simulator.job.scenarios import JOBS
from simulator.job.simulation import SimulatedOutcome, simulate
from tests.forks import Forked, fork
from tracetui.cli import main
from tracetui.job.digesting import digest_trace
from tracetui.job.engines import dask, pinned
from tracetui.job.engines.dask import (
    Digested,
    LeftOut,
    Missed,
    Seeing,
    UnusableCluster,
    _check_scheduler,
    _unusable_workers,
    digests,
)
from tracetui.job.engines.pinned import Done, LostTask, TaskReport, Workers, present

#: which ranks of the job lie where each worker works
SEEN = {"alone": (0,), "killed": (1, 2), "stopped": (3, 4), "last": (2, 4, 5)}
#: not to profile what the workers do, all the time
UNWATCHED = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
}
PATIENCE_S = 300.0  #: for what never comes
DAMAGED = 6  #: it lies there too, but nothing can be read of it


@cache
def late() -> SimulatedOutcome:
    return simulate(replace(JOBS["late"], steps=1))


class Cluster:
    """A scheduler and a worker for each directory, which works in it."""

    def __init__(self, directory: Path) -> None:
        self._processes: dict[str, Forked] = {}
        self._told = scheduler_file = directory / "scheduler.json"
        self._start("scheduler", directory, "scheduler", "--port", "0")
        for name in SEEN:
            pinned = ("--no-nanny", "--nthreads", "1", "--local-directory", str(directory / name))
            self._start("worker", directory / name, name, *pinned)
        deadline = time.monotonic() + PATIENCE_S
        while not scheduler_file.exists() or not scheduler_file.read_text().rstrip().endswith("}"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = str(json.loads(scheduler_file.read_text())["address"])
        with Client(self.address, set_as_default=False, timeout=PATIENCE_S) as client:
            client.wait_for_workers(len(SEEN), timeout=PATIENCE_S)
            found = present(client, looks=100)
            assert found is not None
            self.workers = {str(worker["name"]): address for address, worker in found.items()}

    def _start(self, kind: str, directory: Path, name: str, *arguments: str) -> None:
        common = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self._told))
        named = ("--name", name) if kind == "worker" else ()
        self._processes[name] = fork(
            f"distributed.cli.dask_{kind}",
            *(*common, *named, *arguments),
            cwd=directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **UNWATCHED},
            imports=("distributed", "distributed.cli.dask_scheduler", "tracetui.job.digesting"),
        )

    def signal(self, name: str, number: signal.Signals) -> None:
        self._processes[name].send_signal(number)

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("cluster")
    (directory / "scheduler").mkdir()
    outcome = late()
    for name, ranks in SEEN.items():
        for rank in ranks:
            write_rank(outcome, rank, directory / name / "job")
    damaged = directory / "last" / "job" / directory_name(outcome.job, DAMAGED) / "ASCEND_PROFILER_OUTPUT"
    damaged.mkdir(parents=True)
    (damaged / "trace_view.json").write_text("no trace")
    started = Cluster(directory)
    yield started
    started.close()


def rank_of(path: str) -> int:
    """By the name of its directory: its process id tells."""
    names = {directory_name(late().job, rank): rank for rank in range(8)}
    return next(names[part] for part in Path(path).parts if part in names)


def test_each_rank_is_digested_where_it_lies_and_lost_workers_are_told(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker dies and one stops answering between the look and the work; each shared a rank."""
    monkeypatch.setattr(pinned, "SILENT_S", 12.0)
    monkeypatch.setattr(dask, "ANSWER_S", PATIENCE_S)
    run = digests(cluster.address, ["job"], cache=False, patience_s=PATIENCE_S)
    seeing = next(run)
    assert isinstance(seeing, Seeing)
    assert seeing.traces == 7
    cluster.signal("killed", signal.SIGKILL)
    cluster.signal("stopped", signal.SIGSTOP)
    reports = list(run)
    cluster.signal("stopped", signal.SIGKILL)  # nobody else is to wait until it has been silent for long
    made = {rank_of(one.seen.path): one for one in reports if isinstance(one, Digested)}
    missed = {rank_of(one.seen.path): one.reason for one in reports if isinstance(one, Missed)}
    assert not [one for one in reports if isinstance(one, LeftOut)]
    assert {rank: one.worker for rank, one in made.items()} == {
        0: cluster.workers["alone"],
        **dict.fromkeys((2, 4, 5), cluster.workers["last"]),
    }, missed
    assert sorted(missed) == [1, 3, DAMAGED]
    assert missed[1] == f"worker {cluster.workers['killed']} is gone"
    assert missed[3].startswith(f"worker {cluster.workers['stopped']} has been silent for ")
    here = {rank: digest_trace(write_rank(late(), rank, tmp_path), cache=False) for rank in made}
    assert {rank: one.data for rank, one in made.items()} == here


def test_the_commands_take_an_address(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ranks that only one worker sees: the others may be gone by then."""
    monkeypatch.setattr(pinned, "SILENT_S", 12.0)
    monkeypatch.setattr(dask, "ANSWER_S", PATIENCE_S)
    only = f"*_{directory_name(late().job, 0).split('_')[1]}_*"
    command = ["job", "--dask", cluster.address, "--only", only, "--no-cache"]
    assert main(["ranks", *command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["job"]["ranks"] == [0]
    assert main(["digest", *command, "-o", str(tmp_path / "digests")]) == 0
    (made,) = (tmp_path / "digests").iterdir()
    here = write_rank(late(), 0, tmp_path)
    assert made.read_bytes() == digest_trace(here, cache=False)


def test_workers_that_the_scheduler_was_not_asked_for_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor those that say nothing while this process stands still."""
    monkeypatch.setattr(pinned, "time", SimpleNamespace(monotonic=iter((0.0, 0.5, 900.0, 901.0)).__next__))
    worker = {"nthreads": 1, "memory_limit": 0, "last_seen": 5.0}
    answers: Iterator[dict[str, Any]] = iter(
        [
            {"n_workers": 2, "workers": {"a": worker, "b": worker}},
            {"n_workers": 2, "workers": {}},
            {"n_workers": 1, "workers": {"a": worker}},
        ]
    )
    client: Any = SimpleNamespace(scheduler_info=lambda n_workers: next(answers))
    workers = Workers(client, ["a", "b"])
    workers.watch()
    assert (workers.lost("a"), workers.lost("b")) == (None, None)
    workers.watch()
    assert (workers.lost("a"), workers.lost("b")) == (None, "is gone")


def test_without_a_scheduler_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "ANSWER_S", 0.2)
    with pytest.raises(UnusableCluster, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        next(digests("tcp://127.0.0.1:9", ["job"]))


def test_workers_of_other_versions_are_told() -> None:
    here = {"distributed": "2026.8.0", "tracetui": "0.1.0"}
    reports: list[TaskReport] = [
        Done("same", "distributed", "2026.8.0"),
        Done("same", "tracetui", "0.1.0"),
        Done("older", "distributed", "2024.8.0"),
        LostTask("without", "tracetui", "PackageNotFoundError('tracetui')"),
    ]
    assert _unusable_workers(iter(reports), here) == {
        "older": "it runs distributed 2024.8.0, here is 2026.8.0",
        "without": "PackageNotFoundError('tracetui')",
    }


def test_a_scheduler_of_another_version_is_told() -> None:
    client: Any = SimpleNamespace(run_on_scheduler=lambda *_: "2020.1.0")
    with pytest.raises(UnusableCluster, match=r"runs distributed 2020\.1\.0, here is "):
        _check_scheduler(client)


def test_a_digest_is_sent_as_it_is_whatever_it_is_called(tmp_path: Path) -> None:
    made = digest_trace(write_rank(late(), 0, tmp_path), cache=False)
    renamed = tmp_path / "own.json.gz"
    renamed.write_bytes(made)
    assert dask._digest(str(renamed), cache=False) == made
