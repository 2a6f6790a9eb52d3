"""Source files are found where they are, never outside of where one may look, and only if they are text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracetui.trace.source_files import LIMIT, NotFound, SourceFile, SourceFiles
from tracetui.trace.stack import Frame

DAY_NS = 86_400 * 10**9


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace as the profiler leaves it, three directories below the working directory of the training."""
    output = tmp_path / "work" / "prof" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    path = output / "trace_view.json"
    path.write_text("[]")
    return path


def write(path: Path, text: str = "x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(files: SourceFiles, recorded: str) -> SourceFile:
    source = files.find(recorded)
    assert isinstance(source, SourceFile), source
    return source


@pytest.mark.parametrize("given", [True, False])
def test_the_recorded_path_wins_over_one_beside_the_trace(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool
) -> None:
    recorded = write(tmp_path / "real" / "train.py", "recorded\n")
    write(trace.parent / "train.py", "beside\n")
    if not given:
        monkeypatch.chdir(tmp_path / "real")
    source = found(SourceFiles(trace, [tmp_path / "real"] if given else []), str(recorded))
    assert (source.path, source.lines, source.root) == (recorded, ("recorded",), None)
    assert source.exact


def test_a_recorded_path_elsewhere_is_not_quoted(trace: Path, tmp_path: Path) -> None:
    """A trace may name any file of this host, such as one that holds a password."""
    secret = write(tmp_path / "home" / "secret", "password\n")
    missing = SourceFiles(trace).find(str(secret))
    assert isinstance(missing, NotFound)
    assert missing.reason == f"{secret} is outside of the directories whose source may be shown."
    assert SourceFiles(trace).line(Frame(str(secret), 1, "f")) is None
    assert SourceFiles(trace, [tmp_path / "home"]).line(Frame(str(secret), 1, "f")) == "password"


@pytest.mark.parametrize("of_directory", [True, False])
def test_no_link_leads_out_of_a_directory(trace: Path, tmp_path: Path, of_directory: bool) -> None:
    secret = write(tmp_path / "home" / "secret.py")
    if of_directory:
        (trace.parent / "linked").symlink_to(secret.parent)
    else:
        (trace.parent / "linked").mkdir()
        (trace.parent / "linked" / "secret.py").symlink_to(secret)
    for recorded in ("linked/secret.py", str(trace.parent / "linked" / "secret.py")):
        missing = SourceFiles(trace).find(recorded)
        assert isinstance(missing, NotFound)
        assert "outside of the directories" in missing.reason
    inside = write(trace.parent / "inside.py", "inside\n")
    (trace.parent / "link.py").symlink_to(inside)
    assert found(SourceFiles(trace), "link.py").lines == ("inside",)


@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_path_of_another_host_is_found_by_its_end_beside_the_trace_and_around_it(
    trace: Path, up: int
) -> None:
    root = trace.parents[up]
    write(root / "train_moba.py")
    source = found(SourceFiles(trace), "/workspace/moba/train_moba.py")
    assert (source.path, source.root) == (root / "train_moba.py", root)
    assert not source.exact


def test_only_directories_that_the_producer_made_are_left_upwards(trace: Path) -> None:
    write(trace.parents[3] / "train_moba.py")
    missing = SourceFiles(trace).find("/workspace/moba/train_moba.py")
    assert isinstance(missing, NotFound)
    assert missing.looked == (*list(trace.parents)[:3], Path.cwd())


def test_the_longest_end_wins_over_the_nearer_directory(trace: Path) -> None:
    write(trace.parent / "net.py", "short\n")
    long = write(trace.parents[2] / "model" / "net.py", "long\n")
    assert found(SourceFiles(trace), "/other/host/model/net.py").path == long


def test_the_users_directories_come_first(trace: Path, tmp_path: Path) -> None:
    write(trace.parent / "net.py")
    wanted = write(tmp_path / "src" / "net.py")
    assert found(SourceFiles(trace, [tmp_path / "src"]), "/other/net.py").path == wanted


def test_a_relative_directory_of_the_user_gives_absolute_paths(trace: Path) -> None:
    write(Path("-src") / "net.py")
    assert found(SourceFiles(trace, [Path("-src")]), "/other/net.py").path == Path.cwd() / "-src" / "net.py"


def test_a_name_that_every_package_has_is_not_guessed_by_the_name_alone(trace: Path) -> None:
    write(trace.parent / "__init__.py")
    assert isinstance(SourceFiles(trace).find("/opt/torch/nn/__init__.py"), NotFound)
    assert isinstance(SourceFiles(trace).find("nn/__init__.py"), NotFound)
    assert found(SourceFiles(trace), "__init__.py").path == trace.parent / "__init__.py"
    write(trace.parent / "nn" / "__init__.py")
    assert found(SourceFiles(trace), "/opt/torch/nn/__init__.py").path == trace.parent / "nn" / "__init__.py"


@pytest.mark.parametrize(
    "recorded", ["../secret.py", "a/../../secret.py", "/no/../../such/../secret.py", "..\\secret.py"]
)
def test_a_search_never_leaves_its_directory(trace: Path, recorded: str) -> None:
    write(trace.parents[4] / "secret.py")
    source = SourceFiles(trace).find(recorded)
    assert isinstance(source, NotFound)


def test_at_most_the_last_twelve_parts_of_a_path_are_searched_for(trace: Path) -> None:
    """A search of a long path takes as many looks at every directory: a hostile one has no end."""
    parts = [f"d{place}" for place in range(12)] + ["net.py"]
    write(trace.parent.joinpath(*parts), "far\n")
    assert isinstance(SourceFiles(trace).find("/".join(parts)), NotFound)
    near = write(trace.parent.joinpath(*parts[1:]))
    assert found(SourceFiles(trace), "/".join(parts)).path == near


@pytest.mark.parametrize("recorded", ["../moba/net.py", "/opt/a/../b/../moba/net.py"])
def test_what_stands_before_the_last_step_upwards_does_not_count(trace: Path, recorded: str) -> None:
    wanted = write(trace.parent / "moba" / "net.py")
    assert found(SourceFiles(trace), recorded).path == wanted


def test_a_windows_path_is_found_by_its_end(trace: Path) -> None:
    write(trace.parent / "moba" / "net.py")
    assert found(SourceFiles(trace), r"C:\work\moba\net.py").path == trace.parent / "moba" / "net.py"


@pytest.mark.parametrize(
    "recorded", ["", "<string>", "<frozen importlib._bootstrap>", "a" * 5000, "nul\0.py", "/", "."]
)
def test_what_is_no_path_is_not_found(trace: Path, recorded: str) -> None:
    assert isinstance(SourceFiles(trace).find(recorded), NotFound)


def test_a_fifo_a_device_and_a_directory_are_not_opened(trace: Path) -> None:
    os.mkfifo(trace.parent / "fifo.py")
    (trace.parent / "directory.py").mkdir()
    files = SourceFiles(trace)
    for recorded in ("/x/fifo.py", "/x/directory.py", "/dev/zero", "/proc/self/environ"):
        missing = files.find(recorded)
        assert isinstance(missing, NotFound)
        assert "not a regular file" in missing.reason


def test_a_refused_file_does_not_hide_one_that_can_be_read(trace: Path) -> None:
    os.mkfifo(trace.parent / "net.py")
    wanted = write(trace.parents[1] / "net.py")
    assert found(SourceFiles(trace), "/x/net.py").path == wanted


def test_a_huge_file_and_a_binary_are_refused(trace: Path) -> None:
    with (trace.parent / "huge.py").open("wb") as file:
        file.truncate(LIMIT + 1)
    with (trace.parent / "binary.py").open("wb") as file:
        file.truncate(LIMIT)
    files = SourceFiles(trace)
    huge, binary = files.find("/x/huge.py"), files.find("/x/binary.py")
    assert isinstance(huge, NotFound)
    assert "larger than 4 MB" in huge.reason
    assert isinstance(binary, NotFound)
    assert "not text" in binary.reason


def test_lines_are_counted_as_python_counts_them_and_are_safe_to_print(trace: Path) -> None:
    text = b"\xef\xbb\xbfa\x0c\r\n\tb\x1b[31m\rc\xe2\x80\xa8d\n\xff\n"
    (trace.parent / "net.py").write_bytes(text)
    (trace.parent / "cut.py").write_bytes(b"one\ntwo")
    assert found(SourceFiles(trace), "cut.py").lines == ("one", "two")
    lines = found(SourceFiles(trace), "/x/net.py").lines
    assert len(lines) == 4  # Python's tokenizer ends lines at \n, \r\n and \r only
    assert lines[1].startswith("    b")
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(("days", "newer"), [(-1, False), (0, False), (1, True)])
@pytest.mark.parametrize("epoch", [True, False])
def test_a_file_changed_after_the_profile_is_told_apart(
    trace: Path, days: int, newer: bool, epoch: bool
) -> None:
    path = write(trace.parent / "net.py")
    profiled_ns = path.stat().st_mtime_ns - 365 * DAY_NS
    os.utime(path, ns=(0, profiled_ns + days * DAY_NS))
    os.utime(trace, ns=(0, profiled_ns + (300 * DAY_NS if epoch else 0)))
    files = SourceFiles(trace, profiled_ns=profiled_ns if epoch else 12_345)
    assert found(files, str(path)).newer is newer


@pytest.mark.parametrize(
    ("seconds", "newer"), [(-1, False), (1, False), (60, False), (61, True), (3600, True)]
)
def test_a_copy_that_came_with_the_trace_is_no_change(trace: Path, seconds: int, newer: bool) -> None:
    path = write(trace.parent / "net.py")
    copied_ns = path.stat().st_mtime_ns
    os.utime(trace, ns=(0, copied_ns - seconds * 10**9))
    files = SourceFiles(trace, profiled_ns=copied_ns - 365 * DAY_NS)
    assert found(files, "/x/net.py").newer is newer


def test_a_file_is_read_once_until_forgotten(trace: Path) -> None:
    path = write(trace.parent / "net.py", "one\n")
    files = SourceFiles(trace)
    first = files.find("/x/net.py")
    write(path, "two\n")
    assert files.find("/x/net.py") is first
    files.forget()
    assert found(files, "/x/net.py").lines == ("two",)


@pytest.mark.parametrize("recorded", ["", "<string>", "<frozen importlib._bootstrap>", "/" + "x" * 4096])
def test_what_is_no_path_is_not_looked_for(trace: Path, recorded: str) -> None:
    assert SourceFiles(trace).find(recorded) == NotFound("This frame is not in a file.", ())


def test_a_path_may_have_4096_characters(trace: Path) -> None:
    missing = SourceFiles(trace).find("/" + "x" * 4095)
    assert isinstance(missing, NotFound) and missing.reason == "The source file is not on this host."


def test_the_text_of_a_line_is_that_of_its_number(trace: Path) -> None:
    write(trace.parent / "net.py", "one\n  two\n")
    lines = [SourceFiles(trace).line(Frame("net.py", number, "f")) for number in range(4)]
    assert lines == [None, "one", "two", None]
    assert SourceFiles(trace).line(Frame("other.py", 1, "f")) is None


def test_without_a_trace_nothing_is_newer_than_it(trace: Path) -> None:
    write(trace.parent / "net.py")
    assert not found(SourceFiles(trace.parent / "gone.json"), "/elsewhere/net.py").newer
    for ns in (10**18, 10**18 + 1):  # times of day are above
        source = found(SourceFiles(trace.parent / "gone.json", profiled_ns=ns), "/elsewhere/net.py")
        assert source.newer == (ns > 10**18)


def test_a_source_is_opened_without_waiting_and_for_this_process_alone(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags, opened = [], os.open

    def open_(path: str | Path, asked: int) -> int:
        flags.append(asked)
        return opened(path, asked)

    monkeypatch.setattr(os, "open", open_)
    write(trace.parent / "net.py")
    found(SourceFiles(trace), "net.py")
    assert flags == [os.O_RDONLY + os.O_NONBLOCK + os.O_CLOEXEC + os.O_NOCTTY + os.O_NOFOLLOW]
