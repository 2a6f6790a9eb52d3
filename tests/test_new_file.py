"""Files that have no name of their own until they are whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tracetui.new_file import new_file


def test_a_file_that_is_given_a_name_stays_and_any_other_goes(tmp_path: Path) -> None:
    partial, target = tmp_path / "a.part", tmp_path / "a"
    with new_file(partial, 0o600) as stream:
        stream.write(b"whole")
        stream.close()
        partial.replace(target)
    assert target.read_bytes() == b"whole" and stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(KeyboardInterrupt), new_file(partial, 0o600) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == [target]


def test_what_is_there_already_is_not_written_to(tmp_path: Path) -> None:
    partial, elsewhere = tmp_path / "a.part", tmp_path / "elsewhere"
    partial.symlink_to(elsewhere)
    with pytest.raises(FileExistsError), new_file(partial, 0o600):
        raise AssertionError("it was opened")
    assert partial.is_symlink() and not elsewhere.exists()


def test_a_path_is_relative_to_the_directory_that_is_given(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with new_file("a.part", 0o600, descriptor):
            assert (tmp_path / "a.part").exists()
    finally:
        os.close(descriptor)
    assert [*tmp_path.iterdir()] == []
