"""Digests from a real scheduler and workers, processes of their own that each see other files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra tracetui[dask] is not installed")

from distributed import Client

from samples.job.directory import directory_name, write_rank
from tests.job.planted import truth
from tracetui.job.digesting import digest_trace
from tracetui.job.engines import dask, pinned
from tracetui.job.engines.dask import (
    Digested,
    Found,
    LeftOut,
    Missed,
    UnusableCluster,
    _by_version,
    digests,
)
from tracetui.version import __version__

#: which ranks of the job lie where each worker works
SEEN = {"alone": (0,), "killed": (1, 2), "stopped": (3, 4), "last": (2, 4, 5)}
DAMAGED = 6  #: it lies there too, but nothing can be read of it


class Cluster:
    """A scheduler and a worker for each directory, which works in it."""

    def __init__(self, directory: Path) -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._told = told = directory / "scheduler.json"
        self._start("scheduler", directory, "scheduler", "--port", "0")
        for name in SEEN:
            pinned = ("--no-nanny", "--nthreads", "1", "--local-directory", str(directory / name))
            self._start("worker", directory / name, name, *pinned)
        deadline = time.monotonic() + 60
        while not told.exists() or not told.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = str(json.loads(told.read_text())["address"])
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(SEEN), timeout=60)
            self.workers = {
                str(worker["name"]): address for address, worker in client.scheduler_info()["workers"].items()
            }

    def _start(self, kind: str, directory: Path, name: str, *arguments: str) -> None:
        common = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self._told))
        named = ("--name", name) if kind == "worker" else ()
        self._processes[name] = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *common, *named, *arguments],
            cwd=directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
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
    outcome = truth("late").outcome
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
    names = {directory_name(truth("late").outcome.job, rank): rank for rank in range(8)}
    return next(names[part] for part in Path(path).parts if part in names)


def test_each_rank_is_digested_where_it_lies_and_lost_workers_are_told(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker dies and one stops answering between the look and the work; each shared a rank."""
    monkeypatch.setattr(pinned, "SILENT_S", 4.0)
    run = digests(cluster.address, ["job"], patience_s=60)
    assert next(run) == Found(7)
    cluster.signal("killed", signal.SIGKILL)
    cluster.signal("stopped", signal.SIGSTOP)
    told = list(run)
    made = {rank_of(one.path): one for one in told if isinstance(one, Digested)}
    missed = {rank_of(one.path): one.reason for one in told if isinstance(one, Missed)}
    assert not [one for one in told if isinstance(one, LeftOut)]
    assert {rank: one.worker for rank, one in made.items()} == {
        0: cluster.workers["alone"],
        **dict.fromkeys((2, 4, 5), cluster.workers["last"]),
    }
    assert sorted(missed) == [1, 3, DAMAGED]
    assert missed[1] == f"{cluster.workers['killed']} is gone"
    assert missed[3].startswith(f"{cluster.workers['stopped']} has been silent for ")
    here = {
        rank: digest_trace(write_rank(truth("late").outcome, rank, tmp_path), cache=False) for rank in made
    }
    assert {rank: one.data for rank, one in made.items()} == here


def test_without_a_scheduler_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "ANSWER_S", 0.2)
    with pytest.raises(UnusableCluster, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        next(digests("tcp://127.0.0.1:9", ["job"]))


def versions(scheduler: str, **workers: dict[str, Any]) -> Any:
    told = {
        "client": {"packages": {"distributed": "2026.8.0"}},
        "scheduler": {"packages": {"distributed": scheduler}},
        "workers": {worker: {"packages": packages} for worker, packages in workers.items()},
    }
    return SimpleNamespace(get_versions=lambda packages: told)


def test_other_versions_are_told() -> None:
    same = {"distributed": "2026.8.0", "tracetui": __version__}
    older, without = {**same, "distributed": "2024.8.0"}, {**same, "tracetui": None}
    usable, left_out = _by_version(versions("2026.8.0", same=same, older=older, without=without))
    assert usable == ["same"]
    assert left_out == [
        LeftOut("older", "distributed 2024.8.0, here is 2026.8.0"),
        LeftOut("without", f"tracetui is missing there, here is {__version__}"),
    ]
    with pytest.raises(UnusableCluster, match=r"runs distributed 2024\.8\.0, here is 2026\.8\.0"):
        _by_version(versions("2024.8.0", same=same))
