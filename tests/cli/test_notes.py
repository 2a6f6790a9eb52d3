"""`tracetui notes`: written in one home, handed on, and read in another, with the place and in documents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tracetui.cli import main
from tracetui.cli.exit_codes import ExitCode
from tracetui.places import trace_fingerprint

SAMPLE = Path("samples/moba/trace_view.json")
TEXT = "[red]the <b>loader</b> is late"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "ada"))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    capsys.readouterr()
    assert main([*words]) == ExitCode.OK, capsys.readouterr().err
    output = capsys.readouterr()
    return output.out, output.err


def test_a_note_is_handed_on_to_another_home(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_fingerprint([SAMPLE])
    place = f"gaps@0s..0.02s#gap=NPU:0.019219293,trace={trace}"
    file = home / "notes.jsonl"
    run(capsys, "notes", str(SAMPLE), "--add", TEXT, "--at", place)
    run(capsys, "notes", str(SAMPLE), "--add", "another")
    assert f"notes written to {file}: 2" in run(capsys, "notes", str(SAMPLE), "--export", str(file))[1]
    assert not (SAMPLE.parent / "tracetui").exists()

    monkeypatch.setenv("XDG_DATA_HOME", str(home / "bob"))
    copy = home / "elsewhere" / "copy.json"
    copy.parent.mkdir()
    shutil.copy(SAMPLE, copy)
    assert run(capsys, "notes", str(copy))[0] == "No notes.\n"
    assert "notes added: 2" in run(capsys, "notes", str(copy), "--import", str(file))[1]
    assert "notes added: 0, there before: 2" in run(capsys, "notes", str(copy), "--import", str(file))[1]
    notes = json.loads(run(capsys, "notes", str(copy), "--json")[0])["notes"]
    assert {(note["text"], note["at"]) for note in notes} >= {(TEXT, place)}
    assert all(note["who"] and note["when"] for note in notes)

    summary = json.loads(run(capsys, "summary", str(copy), "--json")[0])
    assert summary["notes"] == notes
    markdown = run(capsys, "summary", str(copy), "--md")[0]
    assert "## Notes" in markdown
    assert r"\[red\]the \<b\>loader" in markdown
    page = run(capsys, "report", str(copy), "-o", "-")[0]
    assert "&lt;b&gt;loader" in page
    assert "<b>loader" not in page
    assert place.replace("&", "&amp;") in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--import", "pyproject.toml"], "pyproject.toml is no file of notes"),
        (["--import", "missing.jsonl"], "missing.jsonl: No such file"),
        (["--at", "gaps"], "--at goes with --add"),
        (["--add", " "], "a note has a text"),
        (["--add", "x", "--at", "gaps@1"], "START..END"),
        (["--export", "pyproject.toml"], "pyproject.toml exists; --force replaces it"),
    ],
)
def test_bad_input_is_one_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["notes", str(SAMPLE), *words]) == ExitCode.USAGE
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_broken_file_is_told_and_kept(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "ada" / "tracetui" / "notes" / f"{trace_fingerprint([SAMPLE])}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"id": "\x1b[2J"}\n')
    out, error = run(capsys, "notes", str(SAMPLE))
    assert out == "No notes.\n"
    assert "lines that are no notes: 1" in error
    assert "\x1b" not in error
    run(capsys, "notes", str(SAMPLE), "--add", TEXT)
    assert TEXT in run(capsys, "notes", str(SAMPLE))[0]
    (aside,) = path.parent.glob("*.broken-*")
    assert aside.read_bytes() == b'{"id": "\x1b[2J"}\n'


def test_notes_of_another_trace_are_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "other.jsonl"
    run(capsys, "notes", str(SAMPLE), "--add", "x", "--at", "gaps#trace=0123456789ab")
    run(capsys, "notes", str(SAMPLE), "--export", str(file))
    assert "notes of another trace: 1" in run(capsys, "notes", str(SAMPLE), "--import", str(file))[1]


def test_what_is_asked_for_beside_a_new_note_is_done(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    file = home / "notes.jsonl"
    answer = run(capsys, "notes", str(SAMPLE), "--add", TEXT, "--export", str(file), "--json")[0]
    assert [note["text"] for note in json.loads(answer)["notes"]] == [TEXT]
    assert TEXT in file.read_text()
    assert main(["notes", str(SAMPLE), "--export", "-", "--md"]) == ExitCode.USAGE
