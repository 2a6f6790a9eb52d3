"""What a cluster has done is kept when the rest is interrupted; the cluster here answers from memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from tests.job.files import TINY, rank_directory
from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.job.digesting import digest_trace
from tracetui.job.engines.visible_traces import VisibleTrace, visible_traces


class Seeing(NamedTuple):
    traces: int
    bytes: int


class Digested(NamedTuple):
    seen: VisibleTrace
    worker: str
    data: bytes


@pytest.fixture(scope="module")
def first_two(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The digests of two of four ranks."""
    top = tmp_path_factory.mktemp("run")
    return [digest_trace(rank_directory(top, rank, world=4, trace=TINY), cache=False) for rank in (0, 1)]


@pytest.fixture
def cluster(first_two: list[bytes], monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The digests that are done before ctrl+c is pressed: of four ranks, the first two."""
    done = list(first_two)
    engine: Any = ModuleType("tracetui.job.engines.dask")
    engine.Seeing, engine.Digested = Seeing, Digested
    engine.Missed = engine.LeftOut = type("Other", (), {})

    def digests(*_: object, **__: object) -> Iterator[Seeing | Digested]:
        yield Seeing(4, 400)
        for number, data in enumerate(done):
            yield Digested(
                VisibleTrace(f"/there/{number}", f"rank {number}", 100, str(number)), "tcp://one", data
            )
        raise KeyboardInterrupt

    engine.digests = digests
    monkeypatch.setitem(sys.modules, engine.__name__, engine)
    import tracetui.job.engines as engines

    monkeypatch.setattr(engines, "dask", engine, raising=False)
    return done


def test_the_ranks_that_are_done_are_told(cluster: list[bytes], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranks", "run", "--dask", "tcp://node:1", "--json"]) == ExitCode.CANCELLED
    answer = json.loads(capsys.readouterr().out)["job"]
    assert answer["ranks"] == [0, 1]
    assert "stopped without reading 2 of 4 ranks" in answer["warnings"]


def test_the_digests_that_are_done_are_written(cluster: list[bytes], tmp_path: Path) -> None:
    assert (
        main(["digest", "run", "--dask", "tcp://node:1", "-o", str(tmp_path / "digests")])
        == ExitCode.CANCELLED
    )
    written = sorted((tmp_path / "digests").iterdir())
    assert [file.read_bytes() for file in written] == cluster


def test_nothing_is_told_where_nothing_is_done(
    cluster: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.clear()
    assert main(["ranks", "run", "--dask", "tcp://node:1"]) == ExitCode.CANCELLED
    assert capsys.readouterr().out == ""


def test_traces_that_begin_and_end_alike_are_not_one(tmp_path: Path) -> None:
    """Two databases of one size have the same tables, and free pages at their ends; a copy is the same."""
    edge = bytes(1 << 17)
    for name, rows in (("a", b"1"), ("b", b"2"), ("copy", b"1")):
        (tmp_path / f"{name}.pt.trace.json").write_bytes(edge + rows * (1 << 20) + edge)
    first, second, copy = (trace.identity for trace in visible_traces([str(tmp_path)]))
    assert first == copy != second
