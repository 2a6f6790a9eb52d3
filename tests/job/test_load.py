"""From paths to a job: what is a rank, which one it is, and what costs one sentence and no more."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.job import files
from tests.job.files import TINY
from tracetui.export.sentences.notes import job_notes
from tracetui.job import cached_digest
from tracetui.job.cached_digest import digest_rank
from tracetui.job.digest_bytes import decode
from tracetui.job.digest_files import SUFFIX
from tracetui.job.engines import digest_pool
from tracetui.job.identity import identify
from tracetui.job.load import find_ranks, load_ranks, ranks_below
from tracetui.job.sources import find_sources
from tracetui.language import Statement
from tracetui.reader.errors import UnreadableTrace
from tracetui.siblings.names import parse_name

rank_directory = partial(files.rank_directory, trace=TINY)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def job_in(tmp_path: Path) -> Path:
    top = tmp_path / "run"
    top.mkdir()
    return top


def test_ranks_below_a_directory(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    rank_directory(top / "a" / "b", 1, world=4)
    rank_directory(top, 0, world=4, host="node0")
    (top / "link_ascend_pt").symlink_to(top / "a", target_is_directory=True)
    job = load_ranks([top])
    assert [rank.number for rank in job.ranks] == [0, 1]
    assert (job.world, job.missing) == (4, (2, 3))
    assert [rank.digest.identity.host for rank in job.ranks] == ["node0", "node1"]
    (remark,) = job.remarks
    assert remark.startswith("1 rank is a copy of another one")


def test_links_to_ranks_elsewhere_are_not_followed_and_that_is_said(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    one, two = (rank_directory(tmp_path / "elsewhere", number) for number in range(2))
    (top / "rank0").symlink_to(one, target_is_directory=True)
    (top / "notes").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(UnreadableTrace, match=f"1 link to a rank is not followed: name {top}/rank0 itself"):
        load_ranks([top])
    (top / "rank1.trace.json").symlink_to(two / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    rank_directory(top, 2)
    found = find_sources([top])
    assert len(found.found) == 1
    assert found.notes == (f"2 links to ranks are not followed: name each itself, such as {top}/rank0",)


@pytest.mark.parametrize(
    "name",
    [
        "sampled_rank-{}.json",
        "rank{}_trace.json",
        "1755000000.12-TP-{}.trace.json",
        "host_1.{}.pt.trace.json",
    ],
)
def test_traces_that_are_called_after_their_ranks_are_a_job(tmp_path: Path, name: str) -> None:
    """Also under names that torchtitan, sglang and people give them; other JSON of ranks is left alone."""
    for rank in range(2):
        (tmp_path / name.format(rank)).write_text('{"schemaVersion": 1, "traceEvents": []}')
    (tmp_path / "memory_rank0.json").write_text("[[1, 2], [3, 4]]")
    (tmp_path / "rank7.json").symlink_to(name.format(0))
    os.mkfifo(tmp_path / "rank8.json")
    assert [source.path.name for source in find_sources([tmp_path]).found] == [name.format(0), name.format(1)]


def test_only_what_is_meant(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    rank_directory(top / "one", 0)
    rank_directory(top / "two", 1)
    assert [rank.number for rank in load_ranks([top], only="two/*").ranks] == [1]
    with pytest.raises(UnreadableTrace, match="matches 'three'"):
        load_ranks([top], only="three")


def test_of_two_of_one_rank_the_later_counts(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    rank_directory(top, 0, "20250101120000000")
    rank_directory(top, 0, "20250101130000000")
    job = load_ranks([top])
    assert "20250101130000000" in job.ranks[0].path
    (remark,) = job.remarks
    assert remark.startswith("rank 0 is there twice: node1_1000_20250101130000000_ascend_pt is looked at")


def test_ranks_of_directories_that_are_named_each_are_told_apart(tmp_path: Path) -> None:
    earlier = rank_directory(tmp_path / "one", 0, "20250101120000000")
    later = rank_directory(tmp_path / "two", 0, "20250101130000000")
    found = find_ranks([earlier.parent, later.parent])
    assert [rank.name for rank in found.ranks] == [str(earlier), str(later)]
    assert not found.notes


def test_another_job_beside_it_is_said(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    for rank in (0, 1):
        rank_directory(top / "large", rank, world=8)
    rank_directory(top / "small", 0, world=2)
    job = load_ranks([top])
    assert job.world == 8
    _, remark = job.remarks
    assert remark.startswith("1 rank is of another job and not looked at (small/")


def test_what_cannot_be_read_costs_a_sentence(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    rank_directory(top, 0)
    broken = rank_directory(top, 1) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    broken.write_text("no json at all")
    (rank_directory(top, 2) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    (top / f"x{SUFFIX}").write_bytes(b"\x1f\x8bdamaged")
    job = load_ranks([top])
    assert [rank.number for rank in job.ranks] == [0]
    assert len(job.remarks) == 3
    assert all(remark.endswith("(left out)") for remark in job.remarks)
    found = ranks_below(top)
    assert found is not None, "several are there, though one alone can be read"
    assert len(found.sources) == 1


@pytest.fixture
def readable_by_all() -> Iterator[Path]:
    """A directory that somebody else than root may look into; root may read whatever has no permissions."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    for path in directory.rglob("*"):
        path.chmod(0o755)
    shutil.rmtree(directory)


def test_directories_that_may_not_be_read_cost_a_sentence_each(readable_by_all: Path) -> None:
    readable = rank_directory(readable_by_all, 0)
    for name in ("b_1_20250101120000000_ascend_pt", "other"):
        (readable_by_all / name).mkdir(mode=0o000)
    user = os.geteuid()
    if not user:
        os.seteuid(65534)
    try:
        sources = find_sources([readable_by_all])
    finally:
        os.seteuid(user)
    assert [source.path.parents[1] for source in sources.found] == [readable]
    assert [sentence.partition(": ")[2] for sentence in sources.notes] == ["Permission denied"] * 2


def test_a_world_that_no_job_has_is_not_believed(tmp_path: Path) -> None:
    """A number in a file would else make a list of as many missing ranks."""
    top = job_in(tmp_path)
    for rank in (0, 1):
        rank_directory(top, rank, world=10**9)
    job = load_ranks([top])
    assert (job.world, job.missing) == (None, ())
    assert "a job of 1,000,000,000 ranks is not believed: 131,072 are the most" in job_notes(job)


def test_a_rank_number_that_no_job_has_is_none(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    for rank in (0, 10**8):
        rank_directory(top, rank)
    job = load_ranks([top])
    assert [rank.number for rank in job.ranks] == [0, 1]
    assert "one rank has no valid number: numbered by name" in job.remarks


def test_digests_and_traces_are_one_job(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    directory = rank_directory(top, 0)
    other = rank_directory(tmp_path / "elsewhere", 1)
    (top / f"rank1{SUFFIX}").write_bytes(digest_rank(other))
    job = load_ranks([top])
    assert [rank.number for rank in job.ranks] == [0, 1]
    assert job.ranks[0].path.startswith(str(directory))
    assert job.matched == 0  # both say that they are number 0 of their group


def test_why_nothing_can_be_read_is_said_before_what_was_noticed(tmp_path: Path) -> None:
    """Of two recordings of rank 0 the earlier is not looked at, and the later one holds no events."""
    top = job_in(tmp_path)
    for time in ("20250101120000000", "20250101130000000"):
        rank_directory(top, 0, time=time, trace=b"[]")
    with pytest.raises(UnreadableTrace, match=r"\(left out\)"):
        load_ranks([top])


def test_ranks_that_nothing_numbers_are_numbered_by_name(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    for name in ("b.pt.trace.json", "a.pt.trace.json"):
        (top / name).write_bytes(TINY)
    job = load_ranks([top])
    assert [Path(rank.path).name for rank in job.ranks] == ["a.pt.trace.json", "b.pt.trace.json"]
    assert "2 ranks have no valid number: numbered by name" in job.remarks


def test_where_there_is_no_rank(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTrace, match="no trace in this directory"):
        load_ranks([job_in(tmp_path)])
    with pytest.raises(UnreadableTrace, match="no such file"):
        find_sources([tmp_path / "nowhere"])


def test_the_name_of_a_rank_tells_its_host_and_number() -> None:
    assert parse_name("my_node-7_4711_20230818142704322_ascend_pt") == (
        "my_node-7",
        "20230818142704322",
        None,
    )
    assert parse_name("box_12.1683.pt.trace.json").host == ""  # no time stamp
    assert parse_name("box_12.1683564901982.pt.trace.json.gz") == ("box", "1683564901982", None)
    assert parse_name("sampled_rank-3.json.gz").rank == 3
    for name, rank in (
        *(("frank3_12345", None), ("rank3", 3), ("tp1_rank_4", 4), ("WorkerRank5", 5)),
        *(("DPRank3", 3), ("tprank0", 0), ("PPRank-2", 2), ("worldrank5", 5)),
    ):
        assert parse_name(f"{name}_20250101010101001_ascend_pt").rank == rank
    assert parse_name("PROF_000001_20230818142704322_COJGGGCANRMICFBC").started == "20230818142704322"


def test_what_tells_the_number_of_a_rank(tmp_path: Path) -> None:
    directory = rank_directory(tmp_path / "rank9", 3)
    trace = directory / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert (identify(trace, {}).rank, identify(trace, {}).rank_from) == (3, "profiler_info")
    (directory / "profiler_info_3.json").rename(directory / "profiler_info.json")
    (directory / "profiler_info.json").write_text('{"rank_id": "5"}')
    assert identify(trace, {}).rank == 5
    (directory / "profiler_info.json").unlink()
    assert identify(trace, {"distributedInfo": {"rank": 7, "world_size": 16}}).rank == 7
    assert identify(trace, {"distributedInfo": {"rank": "x"}}).rank == 9


@pytest.mark.parametrize(
    ("stated", "world"),
    [(16, 16), (2**31 - 1, 2**31 - 1), (2**31, 0), (-1, 0), ("16", 0), (True, 0), (None, 0)],
)
def test_a_world_that_no_job_has_counts_as_not_told(tmp_path: Path, stated: object, world: int) -> None:
    head = {"distributedInfo": {"rank": 0, "world_size": stated}}
    assert identify(tmp_path / "trace.json", head).world == world


def test_processes_give_the_same_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = job_in(tmp_path)
    paths = [find_sources([rank_directory(top, rank)]).found[0].path for rank in (0, 1, 2)]
    here = digest_pool.digest_all(paths, cache=False, jobs=1)
    monkeypatch.setattr(digest_pool, "SMALLEST", 0)
    seen: list[digest_pool.DigestProgress] = []
    assert digest_pool.digest_all(paths, seen.append, cache=False, jobs=2) == here
    assert seen[-1].done == 3
    assert seen[-1].done_bytes == seen[-1].total_bytes


def test_a_rank_without_memory_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = job_in(tmp_path)
    paths = [find_sources([rank_directory(top, rank)]).found[0].path for rank in (0, 1)]
    digest = cached_digest.digest_rank

    def digest_small(path: Path, *arguments: Any) -> bytes:
        if path == paths[0]:
            raise MemoryError
        return digest(path, *arguments)

    monkeypatch.setattr(cached_digest, "digest_rank", digest_small)
    results = digest_pool.digest_all(paths, cache=False, jobs=1)
    assert results[0] == "there is not enough memory for this trace"
    assert isinstance(results[0], Statement), "so that it can be said in another language"
    assert isinstance(results[1], bytes)


def test_a_process_that_dies_costs_its_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = job_in(tmp_path)
    paths = [find_sources([rank_directory(top, rank)]).found[0].path for rank in (0, 1, 2)]
    monkeypatch.setattr(digest_pool, "SMALLEST", 0)
    start = digest_pool._Pool._start
    killed: list[int] = []

    def deadly(self: digest_pool._Pool) -> object:
        worker = start(self)
        if worker is not None and not killed:
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)
        return worker

    monkeypatch.setattr(digest_pool._Pool, "_start", deadly)
    results = digest_pool.digest_all(paths, cache=False, jobs=2)
    lost = [result for result in results.values() if isinstance(result, str)]
    assert lost == ["its process was ended by signal 9"]
    assert sum(isinstance(result, bytes) for result in results.values()) == 2


def test_what_is_done_when_it_is_stopped_counts(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    for rank in (0, 1, 2):
        rank_directory(top, rank)
    done: list[digest_pool.DigestProgress] = []
    job = load_ranks([top], on_progress=done.append, should_stop=lambda: bool(done) and done[-1].done >= 1)
    assert [rank.number for rank in job.ranks] == [0]
    assert job.remarks == ("stopped without reading 2 of 3 ranks",)


def _age(top: Path) -> None:
    """Make all files old enough that a change would show."""
    for path in top.rglob("*"):
        os.utime(path, (0, 0))


def _kept_digests(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache" / "tracetui" / "traces").glob("*.digest"))


def test_a_digest_is_kept_and_made_anew_where_files_beside_it_change(tmp_path: Path) -> None:
    directory = rank_directory(job_in(tmp_path), 3)
    trace = directory / "ASCEND_PROFILER_OUTPUT"
    _age(directory)
    first = digest_rank(trace)
    (entry,) = _kept_digests(tmp_path)
    before = entry.stat().st_ino
    assert digest_rank(trace) == first
    assert entry.stat().st_ino == before
    (directory / "profiler_info_3.json").rename(directory / "profiler_info_4.json")
    assert decode(digest_rank(trace)).identity.rank == 4


def test_a_digest_depends_on_every_table_beside_its_trace(tmp_path: Path) -> None:
    """Those of steps, of static memory or of queues are no part of a list that may lack one."""
    trace = rank_directory(job_in(tmp_path), 3) / "ASCEND_PROFILER_OUTPUT"
    _age(tmp_path)
    digest_rank(trace)
    (entry,) = _kept_digests(tmp_path)
    before = entry.stat().st_ino
    for name in ("step_trace_raw_3_detail_time.csv", "device_queue_profiling_3.txt", "analysis.db"):
        (trace / name).write_text("")
        os.utime(trace / name, (0, 0))
        digest_rank(trace)
        assert entry.stat().st_ino != before, name
        before = entry.stat().st_ino


def test_links_to_one_trace_are_ranks_of_their_own_names(tmp_path: Path) -> None:
    """What is kept of a trace under one name says which rank that was."""
    trace = rank_directory(job_in(tmp_path), None) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    _age(tmp_path)
    for rank in (1, 2):
        link = tmp_path / f"rank{rank}" / "trace_view.json"
        link.parent.mkdir()
        link.symlink_to(trace)
        assert decode(digest_rank(link)).identity.rank == rank


def test_the_digest_of_a_trace_that_is_replaced_meanwhile_is_not_kept(tmp_path: Path) -> None:
    """The file that comes may be older than the reading, as `mv` and `rsync` leave it."""
    directory = rank_directory(job_in(tmp_path), 3)
    trace, new = directory / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", tmp_path / "new.json"
    new.write_bytes(TINY.replace(b"allReduce", b"allGather"))
    _age(tmp_path)

    def replace(_: object) -> None:
        if new.exists():
            new.replace(trace)

    digest_rank(trace, replace)
    assert not new.exists()
    assert _kept_digests(tmp_path) == []
    assert "hcom_allGather_" in decode(digest_rank(trace)).texts


def test_found_before_anything_is_digested(tmp_path: Path) -> None:
    top = job_in(tmp_path)
    rank_directory(top, 4)
    found = find_ranks([top])
    assert [rank.identity.rank for rank in found.ranks] == [4]
