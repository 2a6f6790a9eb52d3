"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest

from tracetui.export.atomic import refuse_to_overwrite, write_atomically


def fill(stream: BinaryIO) -> None:
    stream.write(b"new")


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_writes_with_the_mode_of_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a.csv", fill, force=False)
    finally:
        os.umask(umask)
    assert (tmp_path / "a.csv").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o640
    assert names(tmp_path) == ["a.csv"]


def test_refuses_to_overwrite_without_force(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        refuse_to_overwrite(path, force=False)
    with pytest.raises(FileExistsError):
        write_atomically(path, fill, force=False)
    assert path.read_bytes() == b"old"
    refuse_to_overwrite(path, force=True)
    write_atomically(path, fill, force=True)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_name_taken_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "a.csv"

    def race(stream: BinaryIO) -> None:
        fill(stream)
        path.write_bytes(b"somebody else's")

    with pytest.raises(FileExistsError):
        write_atomically(path, race, force=False)
    assert path.read_bytes() == b"somebody else's"
    assert names(tmp_path) == ["a.csv"]


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", no_links)
    write_atomically(tmp_path / "a.csv", fill, force=False)
    assert (tmp_path / "a.csv").read_bytes() == b"new"
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), ValueError])
@pytest.mark.parametrize("force", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: BaseException, force: bool) -> None:
    path = tmp_path / "a.csv"
    if force:
        path.write_bytes(b"old")

    def fail(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise error

    with pytest.raises(BaseException) as raised:
        write_atomically(path, fail, force)
    assert raised.type is (error if isinstance(error, type) else type(error))
    assert names(tmp_path) == (["a.csv"] if force else [])
    assert not force or path.read_bytes() == b"old"


def test_follows_a_link_and_leaves_it(tmp_path: Path) -> None:
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(FileExistsError):
        write_atomically(link, fill, force=False)
    write_atomically(link, fill, force=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    for force in (True, False):
        with pytest.raises(IsADirectoryError):
            write_atomically(tmp_path, fill, force)
    assert names(tmp_path) == []


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    write_atomically("/dev/null", fill, force=False)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_directory_that_is_missing(tmp_path: Path) -> None:
    wanted = tmp_path / "no" / "a.csv"
    with pytest.raises(FileNotFoundError) as failed:
        write_atomically(wanted, fill, force=False)
    assert failed.value.filename == str(wanted)  # not that of the temporary file


@pytest.mark.parametrize("force", [False, True])
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, force: bool) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "made.csv")
    with pytest.raises(FileNotFoundError, match="is a link to a file that does not exist"):
        write_atomically(link, fill, force)
    with pytest.raises(FileNotFoundError, match="is a link to a file that does not exist"):
        refuse_to_overwrite(link, force)
    assert names(tmp_path) == ["link.csv"]


def no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")
