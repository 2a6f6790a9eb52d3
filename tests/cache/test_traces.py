"""When a trace is kept, when it is found again, and above all when it isn't."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cache.files import at_rest, found, read_and_keep, same, training
from tests.forks import fork
from tracetui.cache import entries, keeping, traces
from tracetui.cache.directory import Directory
from tracetui.cache.keeping import finish, keep_meanwhile
from tracetui.cache.traces import EntryState, cached_traces, clear, keep, reopen
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace

ROOT = Path(__file__).resolve().parents[2]


def _kept(path: Path) -> bool:
    with TraceFile(path) as trace_file:
        return keep(trace_file, build_trace(trace_file.read()))


def _states() -> list[EntryState]:
    return [cached.state for cached in cached_traces()]


def test_nothing_is_there_before_the_first_trace(path: Path, home: Path) -> None:
    assert found(path) is None
    assert cached_traces() == []
    assert clear() == (0, 0)
    assert not home.exists()


def test_files_are_the_users_own(path: Path, home: Path) -> None:
    umask = os.umask(0)
    try:
        read_and_keep(path)
    finally:
        os.umask(umask)
    (entry,) = home.iterdir()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_a_changed_trace_is_read_again(path: Path) -> None:
    read_and_keep(path)
    assert _states() == [EntryState.READY]
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"aten::", b"aTen::"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert found(path) is None
    assert _states() == [EntryState.CHANGED]
    after = read_and_keep(path)
    assert _states() == [EntryState.READY], "one entry for each path"
    again = found(path)
    assert again is not None
    assert same(again, after)
    path.unlink()
    assert _states() == [EntryState.GONE]


def test_another_trace_at_the_path_is_read(path: Path, tmp_path: Path) -> None:
    read_and_keep(path)
    other = tmp_path / "other.json"
    shutil.copy2(path, other)
    assert found(other) is None
    other.replace(path)
    assert found(path) is None


def test_a_trace_that_changes_while_it_is_read_is_not_kept(path: Path) -> None:
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        with path.open("ab") as file:
            file.write(b" ")
        at_rest(path)
        assert not keep(trace_file, trace)
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        path.unlink()
        assert not keep(trace_file, trace)


def test_a_trace_that_was_only_just_written_is_not_kept(path: Path) -> None:
    os.utime(path)
    assert not _kept(path)


def test_a_reading_that_was_stopped_is_not_kept(path: Path) -> None:
    with TraceFile(path) as trace_file:
        assert not keep(trace_file, build_trace(trace_file.read(should_stop=lambda: True)))


def test_a_small_trace_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "SMALLEST", path.stat().st_size + 1)
    assert not _kept(path)


def test_another_program_reads_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_and_keep(path)
    for module in (entries, traces):
        monkeypatch.setattr(module, "program", lambda kind: "another")
    assert found(path) is None
    assert _states() == [EntryState.OTHER_VERSION]
    read_and_keep(path)
    assert found(path) is not None


_PACKAGES = ["reader", "databases", "trace", "cache"]


@pytest.mark.parametrize("package", _PACKAGES)
def test_the_code_that_makes_the_columns_is_part_of_the_program(tmp_path: Path, package: str) -> None:
    for name in _PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "tracetui" / name, tmp_path / "tracetui" / name, ignore=ignored)
    before = entries._digest(tmp_path / "tracetui")
    assert entries._digest(tmp_path / "tracetui") == before
    module = next((tmp_path / "tracetui" / package).glob("*.py"))
    module.write_text(module.read_text() + "\n")
    assert entries._digest(tmp_path / "tracetui") != before


def test_what_is_compiled_is_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    before = entries._digest(ROOT / "tracetui")
    monkeypatch.setattr(entries, "COMPILED_FROM", "other sources")
    assert entries._digest(ROOT / "tracetui") != before


def test_others_files_are_not_trusted(path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_and_keep(path)
    (entry,) = home.iterdir()
    for place, mode in ((entry, 0o620), (entry, 0o602), (home, 0o770), (home, 0o707)):
        before = stat.S_IMODE(place.stat().st_mode)
        place.chmod(mode)
        assert found(path) is None, f"{place} with {mode:o}"
        place.chmod(before)
    assert found(path) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert found(path) is None
    assert not _kept(path)
    assert cached_traces() == []
    assert clear() == (0, 0)


def test_only_the_owner_of_a_file_counts(path: Path, home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    read_and_keep(path)
    (entry,) = home.iterdir()
    os.chown(entry, 4242, 4242)
    assert found(path) is None
    assert _states() == [EntryState.UNREADABLE]


def test_links_and_pipes_are_not_followed(path: Path, home: Path, tmp_path: Path) -> None:
    read_and_keep(path)
    (entry,) = home.iterdir()
    elsewhere = tmp_path / "elsewhere"
    entry.replace(elsewhere)
    entry.symlink_to(elsewhere)
    assert found(path) is None
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert found(path) is None
    entry.unlink()
    elsewhere.replace(entry)
    assert found(path) is not None
    moved = home.with_name("moved")
    home.replace(moved)
    home.symlink_to(moved)
    assert found(path) is None
    assert not _kept(path)


def test_a_full_disk_leaves_nothing(path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_and_keep(path)
    (entry,) = home.iterdir()
    before = entry.read_bytes()
    written = []
    write = os.write

    def full(descriptor: int, piece: memoryview) -> int:
        written.append(len(piece))
        if len(written) > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, piece)

    monkeypatch.setattr(os, "write", full)
    assert not _kept(path)
    assert len(written) == 6
    assert [file.name for file in home.iterdir()] == [entry.name]
    assert entry.read_bytes() == before


@pytest.mark.parametrize("place", ["/proc", "/dev/null", "not/absolute", "/\0"])
def test_where_nothing_can_be_written_nothing_is_kept(
    path: Path, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if "\0" in place:
        monkeypatch.setattr("tracetui.cache.directory.cache_path", lambda: Path(place))
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", place)
    monkeypatch.setenv("HOME", "")
    assert not _kept(path)
    assert found(path) is None


def test_a_stop_leaves_nothing(path: Path, home: Path) -> None:
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        answers = iter([False] * 4 + [True] * 99)
        assert not keep(trace_file, trace, lambda: next(answers))
    assert list(home.iterdir()) == []


def test_the_least_recently_used_is_removed(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (training(tmp_path / f"{name}.json") for name in "abc")
    read_and_keep(first)
    size = next(home.iterdir()).stat().st_size
    read_and_keep(second)
    for entry in home.iterdir():
        os.utime(entry, (1, 1))
    assert found(first) is not None, "and so it is the last used"
    monkeypatch.setattr("tracetui.cache.directory._LARGEST", 2 * size + size // 2)
    read_and_keep(third)
    assert {Path(cached.path).name for cached in cached_traces()} == {"a.json", "c.json"}
    monkeypatch.setattr("tracetui.cache.directory._LARGEST", size // 2)
    assert not _kept(second)
    assert len(cached_traces()) == 2, "what never fits evicts nothing"


@pytest.mark.parametrize(
    ("size", "replaced", "kept", "fits"),
    [
        (0, "", "abc", True),
        (3, "", "bc", True),
        (4, "", "c", True),
        (12, "", "", True),
        (13, "", "abc", False),
        (3, "a", "abc", True),
        (4, "a", "ac", True),
    ],
)
def test_the_oldest_make_room_until_another_just_fits(
    monkeypatch: pytest.MonkeyPatch, home: Path, size: int, replaced: str, kept: str, fits: bool
) -> None:
    """Entries of 3, 4 and 5 bytes, which are all that there may be."""
    monkeypatch.setattr("tracetui.cache.directory._LARGEST", 12)
    home.mkdir(parents=True, mode=0o700)
    for used, (letter, length) in enumerate({"a": 3, "b": 4, "c": 5}.items()):
        entry = home / f"{letter * 32}.trace"
        entry.write_bytes(bytes(length))
        os.utime(entry, (used, used))
    directory = Directory.open()
    assert directory is not None
    with directory:
        assert directory.make_room(size, f"{replaced * 32}.trace") is fits
    assert "".join(sorted(entry.name[0] for entry in home.iterdir())) == kept


def test_what_cannot_be_removed_makes_no_room(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    odd = home / f"{'a' * 32}.trace"
    odd.mkdir(parents=True, mode=0o700)
    size = odd.stat().st_size
    monkeypatch.setattr("tracetui.cache.directory._LARGEST", size)
    directory = Directory.open()
    assert directory is not None
    with directory:
        assert not directory.make_room(size, "")


def test_the_bound_is_the_users(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACETUI_CACHE_MB", "0")
    assert not _kept(path)
    monkeypatch.setenv("TRACETUI_CACHE_MB", "1")
    assert _kept(path)
    monkeypatch.setenv("TRACETUI_CACHE_MB", "much")
    assert _kept(path)


def test_what_a_killed_process_left_is_swept(path: Path, home: Path) -> None:
    read_and_keep(path)
    old, young = home / f"{'0' * 16}.part", home / f"{'1' * 16}.part"
    for partial in (old, young):
        partial.touch()
    before = time.time() - 7200
    os.utime(old, (before, before))
    link = home / f"{'2' * 16}.part"
    link.symlink_to("nowhere")
    os.utime(link, (before, before), follow_symlinks=False)
    read_and_keep(path)
    assert not old.exists() and not link.is_symlink()
    assert young.exists(), "another tracetui may be writing it"
    other = home / "notes.txt"
    other.touch()
    count, size = clear()
    assert count == 1
    assert size > 1000
    assert list(home.iterdir()) == [other]


_WRITER = """
import sys
from pathlib import Path
from types import SimpleNamespace
from tests.cache.files import TraceFile, found, read, same
from tracetui.cache import entries, keeping, traces
path, other, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
traces.SMALLEST = 0
expected = read(path)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(times):
    with TraceFile(path) as trace_file:
        trace_file.read()
        kept = traces.keep(trace_file, expected)
    trace = found(path)
    assert other == "clear" or (kept and trace is not None)
    assert trace is None or same(trace, expected)
    if other == "clear":
        traces.clear()
"""


@pytest.mark.parametrize("other", ["keep", "clear"])
def test_two_at_once(path: Path, home: Path, tmp_path: Path, other: str, thorough: bool) -> None:
    """Both write the same entry over and over, and never find anything but a whole one."""
    (tmp_path / "writer.py").write_text(_WRITER)
    times = str(25 if thorough else 12)
    imports = ("tests.cache.files", "tracetui.cache.keeping")
    begun, begin = os.pipe()
    both = [
        fork("writer", str(path), other, times, stdin=begun, cwd=tmp_path, imports=imports) for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    os.close(begun)
    os.close(begin)
    for process in both:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()
    assert not list(home.glob("*.part"))


def test_keeping_meanwhile(path: Path) -> None:
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        keep_meanwhile(trace_file, trace)
    finish(patience=300)
    assert found(path) is not None


def test_a_disk_that_is_too_slow_is_given_up(path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    writes, given_up = threading.Event(), threading.Event()

    def slow(descriptor: int, piece: memoryview) -> int:
        writes.set()
        assert given_up.wait(300)
        return write(descriptor, piece)

    class Stop(threading.Event):
        def set(self) -> None:
            super().set()
            given_up.set()

    monkeypatch.setattr(os, "write", slow)
    monkeypatch.setattr(keeping, "threading", SimpleNamespace(Event=Stop, Thread=threading.Thread))
    monkeypatch.setattr(keeping, "_LAST", 300.0)
    with TraceFile(path) as trace_file:
        keep_meanwhile(trace_file, build_trace(trace_file.read()))
    assert writes.wait(300)
    finish(0.1)
    assert list(home.iterdir()) == []


def test_text_that_cannot_be_encoded(path: Path) -> None:
    with TraceFile(path) as trace_file:
        assert keep(trace_file, replace(build_trace(trace_file.read()), notes=("\ud800",)))
        again = reopen(trace_file)
        assert again is not None
        assert again.notes == ("\ud800",)
