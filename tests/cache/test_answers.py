"""What a command printed is repeated for the same question, and only for that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tracetui.cache import answers
from tracetui.cache.entries import ANSWERS, entry_name
from tracetui.cache.keeping import finish
from tracetui.cli import commands, main
from tracetui.cli import streams as cli_streams
from tracetui.cli.command import Command
from tracetui.cli.parser import Request
from tracetui.notebook.notebook import notes_path
from tracetui.siblings import surroundings as surroundings_module
from tracetui.siblings.surroundings import surroundings

Answer = Callable[..., tuple[str, str]]


@pytest.fixture(autouse=True)
def _kept_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(answers, "SMALLEST", 0)
    monkeypatch.setattr(answers, "COARSEST_CLOCK", 0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def trace(path: Path) -> Path:
    """A trace in the directories that a profiler makes."""
    directory = path.parent / "run" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    directory.mkdir(parents=True)
    return path.rename(directory / path.name)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that ran: not those whose answer was repeated."""
    found: list[str] = []

    def counted(command: Command) -> Command:
        def run(request: Request) -> int | None:
            found.append(command.name)
            return command.run(request)

        return command._replace(run=run)

    monkeypatch.setattr(commands, "COMMANDS", tuple(map(counted, commands.COMMANDS)))
    return found


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Answer:
    """Runs tracetui; returns what it wrote to stdout and stderr."""

    def run(*arguments: str | Path) -> tuple[str, str]:
        assert main([*map(str, arguments)]) == 0
        finish(patience=300)
        written = capsys.readouterr()
        return written.out, written.err

    return run


@pytest.mark.parametrize(
    "question",
    [("summary",), ("summary", "--md"), ("gaps", "--json"), ("hotspots",), ("operators",), ("advice",)],
)
def test_the_same_question_has_the_same_answer(
    trace: Path, runs: list[str], answer: Answer, question: tuple[str, ...]
) -> None:
    first = answer(*question, trace)
    assert answer(*question, trace) == first
    assert len(runs) == 1
    assert answer(*question, trace, "--no-cache") == first
    assert len(runs) == 2


def test_warnings_are_repeated(trace: Path, runs: list[str], answer: Answer) -> None:
    trace.write_bytes(trace.read_bytes()[:-30])
    first = answer("summary", trace)
    assert "incomplete" in first[1]
    assert answer("summary", trace) == first
    assert len(runs) == 1


def _touch_trace(trace: Path) -> None:
    os.utime(trace, ns=(1, 1))


def _add_table(trace: Path) -> None:
    (trace.parent / "kernel_details.csv").write_text("Name\n")


def _add_metadata(trace: Path) -> None:
    (trace.parents[1] / "profiler_metadata.json").write_text("{}")


def _add_clock(trace: Path) -> None:
    directory = trace.parents[1] / "PROF_000001" / "device_0"
    directory.mkdir(parents=True)
    (directory / "start_info.0").write_text("{}")


def _add_note(trace: Path) -> None:
    path = notes_path("0123456789ab")
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")


@pytest.mark.parametrize("change", [_touch_trace, _add_table, _add_metadata, _add_clock, _add_note])
def test_what_an_answer_may_depend_on_asks_anew(
    trace: Path, runs: list[str], answer: Answer, change: Callable[[Path], None]
) -> None:
    answer("gaps", trace)
    change(trace)
    answer("gaps", trace)
    assert len(runs) == 2
    answer("gaps", trace)
    assert len(runs) == 2


def test_a_table_that_changes_and_keeps_its_size_and_time_asks_anew(
    trace: Path, runs: list[str], answer: Answer
) -> None:
    table = trace.parent / "kernel_details.csv"
    table.write_text("Name\n")
    status = table.stat()
    answer("gaps", trace)
    table.write_text("Type\n")
    os.utime(table, ns=(status.st_atime_ns, status.st_mtime_ns))
    answer("gaps", trace)
    assert len(runs) == 2


def test_other_words_are_another_question(
    trace: Path, runs: list[str], answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ((), ("--top", "1"), ("--ascii",), ("--skip-frame", "/a"))
    questions = [("hotspots",), *(("gaps", *words) for words in options)]
    for question in questions:
        answer(*question, trace)
    for name, text in (("COLUMNS", "60"), ("LANG", "zh_CN.UTF-8")):
        with monkeypatch.context() as context:
            context.setenv(name, text)
            answer("gaps", trace)
    assert len(runs) == len(questions) + 2
    for question in questions:
        answer(*question, trace)
    assert len(runs) == len(questions) + 2


def test_files_that_are_asked_for_are_written_each_time(
    trace: Path, runs: list[str], answer: Answer, tmp_path: Path
) -> None:
    for name in ("first.csv", "second.csv"):
        answer("gaps", trace, "--csv", tmp_path / name)
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert len(runs) == 2


def test_what_holds_for_one_time_is_not_kept(
    trace: Path, runs: list[str], answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_passing(command: Command) -> Command:
        def run(request: Request) -> int | None:
            cli_streams.mark_passing()
            return command.run(request)

        return command._replace(run=run)

    monkeypatch.setattr(commands, "COMMANDS", tuple(map(in_passing, commands.COMMANDS)))
    answer("summary", trace)
    answer("summary", trace)
    assert len(runs) == 2


@pytest.mark.parametrize("limit", ["SMALLEST", "COARSEST_CLOCK"])
def test_small_and_young_files_are_asked_anew(
    trace: Path, runs: list[str], answer: Answer, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(answers, limit, 10**15)
    answer("gaps", trace)
    answer("gaps", trace)
    assert len(runs) == 2


def test_a_damaged_entry_is_asked_anew(trace: Path, home: Path, runs: list[str], answer: Answer) -> None:
    first = answer("gaps", trace)
    entry = home / entry_name(ANSWERS, os.path.realpath(trace))
    content = bytearray(entry.read_bytes())
    content[-70] ^= 1
    entry.write_bytes(content)
    assert answer("gaps", trace) == first
    assert len(runs) == 2


def test_the_last_answers_are_kept(
    trace: Path, runs: list[str], answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_MOST", 2)
    for command in ("gaps", "hotspots", "operators", "hotspots", "operators"):
        answer(command, trace)
    assert len(runs) == 3
    answer("gaps", trace)
    assert len(runs) == 4


def test_too_many_files_are_not_looked_at(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    around = surroundings(trace)
    assert around is not None
    assert [file.path for file in around] == [str(trace)]
    monkeypatch.setattr(surroundings_module, "_MOST", 0)
    assert surroundings(trace) is None


def test_of_what_is_too_long_nothing_is_copied(capsys: pytest.CaptureFixture[str]) -> None:
    with cli_streams.copied(10) as short, cli_streams.copied(9) as long:
        for text in ("12345", "67890"):
            cli_streams.write(sys.stdout, text)
    assert (short.outputs, short.lasting) == ([("stdout", "12345"), ("stdout", "67890")], True)
    assert (long.outputs, long.lasting) == ([], False)
    assert capsys.readouterr().out == "1234567890"
