"""`tracetui.compare`, from a script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tracetui
from tests.comparison.planted import run
from tests.job.files import TINY, rank_directory
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import _recording_notes
from tracetui.job.digesting import digest_trace


def test_of_paths_of_analyses_and_of_what_was_kept_of_them(samples: Path) -> None:
    path = samples / "moba" / "trace_view.json"
    analysis = run("mixed", 2)
    assert tracetui.compare(path, str(path)).step.delta_ns == 0
    assert tracetui.compare(analysis, run_of(analysis)).step.delta_ns == 0


def test_of_digests_and_jobs(samples: Path, tmp_path: Path) -> None:
    trace = samples / "moba" / "trace_view.json"
    digest = tmp_path / "good.json.gz"
    digest.write_bytes(digest_trace(trace, cache=False))
    assert tracetui.compare(digest, trace).step.delta_ns == 0
    for rank in (0, 1):
        rank_directory(tmp_path / "job", rank, trace=TINY)
    job = tracetui.load_job(tmp_path / "job")
    for other in (job, tmp_path / "job"):
        found = tracetui.compare(tmp_path / "job", other)
        assert found.job is not None
        assert [row.rank for row in found.job.ranks] == [0, 1]
    one = tracetui.compare(job, next((tmp_path / "job").glob("*_1001_*")))
    assert one.job is not None
    assert [row.rank for row in one.job.ranks] == [1]
    with pytest.raises(TypeError, match="a job is compared with a job, or with a path"):
        tracetui.compare(job, run("mixed", 2))


@pytest.mark.parametrize(
    ("base", "other", "differing"),
    [
        (("cann 8.0", "torch 2.6"), ("cann 8.1", "torch 2.6"), ["cann 8.0, cann 8.1"]),
        (("cann 8.0",), ("cann 8.0",), []),
        (("cann 8.0",), (), []),
        ((), ("cann 8.0",), []),
    ],
)
def test_versions_are_compared_where_both_runs_tell_them(
    base: tuple[str, ...], other: tuple[str, ...], differing: list[str]
) -> None:
    whole = run_of(run("mixed", 2))
    runs = [replace(whole, health=replace(whole.health, versions=versions)) for versions in (base, other)]
    sentence = "The runs are of different versions: {}"
    assert [*_recording_notes(*runs)] == [sentence.format(versions) for versions in differing]
