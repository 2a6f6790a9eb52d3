"""How many processes decode by themselves: no more than the machine grants or the file is worth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracetui.reader import cores


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hierarchy of control groups that grants nothing in particular, on a machine of 64 cores."""
    inner = tmp_path / "group" / "own"
    inner.mkdir(parents=True)
    (tmp_path / "process").write_text("4:memory:/other\n0::/group/own\n")
    monkeypatch.setattr(cores, "_CGROUPS", tmp_path)
    monkeypatch.setattr(cores, "_OWN_GROUPS", tmp_path / "process")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    (inner / "cpu.max").write_text("max 100000\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content", "granted"),
    [
        ("group/own/cpu.max", "150000 100000", 2),
        ("group/cpu.max", "50000 100000", 1),
        ("cpu.max", "3200000 100000", 32),
        ("cpu.max", "nonsense", 64),
        ("cpu.max", "0 0", 64),
        ("cpu.max", "0 100000", 64),
        ("cpu.max", "100000 0", 64),
        ("cpu.max", "1 1", 1),
        ("cpu.max", "10 2", 5),
        ("cpu/cpu.cfs_quota_us", "-1", 64),
        ("cpu/cpu.cfs_quota_us", "400000", 4),
    ],
)
def test_no_more_cores_than_are_granted(groups: Path, file: str, content: str, granted: int) -> None:
    (groups / file).parent.mkdir(exist_ok=True)
    (groups / file).write_text(content)
    if "cfs" in file:
        (groups / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores.usable_cores() == granted


def test_no_more_cores_than_the_process_may_use(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0: {3, 7, 8}}[process], raising=False)
    assert cores.usable_cores() == 3
    (groups / "process").write_text("0::/none/there\n")
    assert cores.usable_cores() == 3
    (groups / "process").unlink()
    assert cores.usable_cores() == 3


@pytest.mark.parametrize(("count", "usable"), [(5, 5), (1, 1), (None, 1)])
def test_where_a_system_tells_no_affinity_all_cores_count(
    groups: Path, monkeypatch: pytest.MonkeyPatch, count: int | None, usable: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert cores.usable_cores() == usable


def test_the_group_is_that_of_the_second_version(groups: Path) -> None:
    """Its name begins after two colons."""
    for group, granted in (("group", 3), ("roup", 4)):
        (groups / group).mkdir(exist_ok=True)
        (groups / group / "cpu.max").write_text(f"{granted} 1")
        (groups / "process").write_text(f"1:cpu:/none\n0::{group}\n")
        assert cores.usable_cores() == granted


def test_no_more_jobs_than_the_file_is_worth(groups: Path) -> None:
    assert cores.default_jobs(31_999_999, stream=False) == 1
    assert cores.default_jobs(32_000_000, stream=False) == 2
    assert cores.default_jobs(10**9, stream=False) == 7
    assert cores.default_jobs(10**11, stream=False) == 16
    assert cores.default_jobs(cores.SMALLEST, stream=True) == 2
    assert cores.default_jobs(10**11, stream=True) == 3
