"""Notes: what is written is read, by several at once; nothing is lost, and nothing hostile passes."""

from __future__ import annotations

import multiprocessing
import os
import pwd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.notebook.note import LONGEST_NOTE, NotANote, Note, format_note, new_note, parse_note
from tracetui.notebook.notebook import Contents, Notebook, notes_path, read_notes
from tracetui.places import SharedPlace

PLACE = SharedPlace("gaps", rows=("gap=NPU:0.5",), trace="998e6af59621")
WHEN = "2026-11-24T15:00:00Z"


def note(number: int, text: str = "late") -> Note:
    return Note(f"{number:016x}", PLACE, text, "ada@host", WHEN)


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_a_note_is_read_as_it_was_written(text: str) -> None:
    written = new_note(PLACE, text)
    assert parse_note(format_note(written)) == written
    assert format_note(written).count(b"\n") == 1


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST_NOTE + 1)])
def test_a_note_has_a_text_of_a_length(text: str) -> None:
    with pytest.raises(NotANote):
        new_note(PLACE, text)


@given(st.binary(max_size=60))
def test_any_line_is_a_note_or_none(line: bytes) -> None:
    with pytest.raises(NotANote):
        parse_note(line)


def test_notes_are_kept_by_the_trace_below_the_data_directory(tmp_path: Path) -> None:
    path = notes_path("998e6af59621", {"XDG_DATA_HOME": str(tmp_path)})
    assert path == tmp_path / "tracetui" / "notes" / "998e6af59621.jsonl"
    home = notes_path("a", {"HOME": "/home/ada", "XDG_DATA_HOME": "not/absolute"})
    assert home == Path("/home/ada/.local/share/tracetui/notes/a.jsonl")
    account = pwd.getpwuid(os.getuid()).pw_dir
    assert notes_path("a", {}) == Path(account, ".local/share/tracetui/notes/a.jsonl"), "never below /tmp"
    notebook = Notebook(path)
    assert notebook.read() == Contents(())
    assert notebook.add([note(2), note(1)]) == 2
    assert notebook.add([note(1, "other words"), note(3)]) == 1, "the first one with an id stays"
    assert [one.identity[-1] for one in notebook.read().notes] == ["1", "2", "3"]
    assert {one.text for one in notebook.read().notes} == {"late"}
    assert path.stat().st_mode & 0o077 == 0, "nobody else reads it"
    assert sorted(file.suffix for file in path.parent.iterdir()) == [".jsonl", ".lock"]


def test_a_damaged_file_is_kept_aside_and_never_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    damaged = (
        format_note(note(1)) + b"\xff not json\n" + format_note(note(2))[:-9] + b"\n" + format_note(note(3))
    )
    path.write_bytes(damaged)
    notebook = Notebook(path)
    assert notebook.read().unread == 2
    notebook.add([note(4)])
    assert [one.identity[-1] for one in notebook.read().notes] == ["1", "3", "4"]
    assert notebook.read().unread == 0
    (aside,) = tmp_path.glob("*.broken-*")
    assert aside.read_bytes() == damaged


def test_a_file_too_large_or_no_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(17_000_000)
    assert "no file of notes" in read_notes(path).problem
    with pytest.raises(OSError, match="no file of notes"):
        Notebook(path).add([note(1)])
    assert path.stat().st_size == 17_000_000
    directory = tmp_path / "b.jsonl"
    directory.mkdir()
    assert Notebook(directory).read().problem


def _add(path: str, first: int) -> None:
    for number in range(first, first + 15):
        Notebook(Path(path)).add([note(number)])


def test_two_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes" / "a.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add, args=(str(path), first)) for first in (0, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    numbers = sorted(int(one.identity, 16) for one in Notebook(path).read().notes)
    assert numbers == [*range(15), *range(100, 115)]
