"""The documents are true: what they list is what there is, and what is typed in them does what they show."""

from __future__ import annotations

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest

import tracetui
from tests.documents.shell import Shell, commands, shows, typed
from tools.documents import manpage
from tools.documents.generated import GENERATED, block
from tools.documents.pages import ROOT, Page, page_at, pages
from tracetui.cli import commands as cli
from tracetui.cli.command import Command
from tracetui.cli.command_line import parse_arguments

PAGES = {page.name: page for page in pages()}
#: Fenced blocks that are neither run nor compared: pictures in letters, and settings.
PICTURES = {"text", "toml"}
RUN = {"sh", "console", "pycon"}
SAMPLE = ROOT / "samples" / "moba" / "trace_view.json"

OF_USERS = [page for page in PAGES.values() if page.name != "CONTRIBUTING.md"]
TRANSLATED = [page for page in PAGES.values() if page.original is not None]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What lies before a reader of English: the samples, a trace, and those of a good and a new run."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    for directory in (tmp_path, tmp_path / "good", tmp_path / "new"):
        directory.mkdir(exist_ok=True)
        (directory / "trace_view.json").symlink_to(SAMPLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / ".data"))  # notes of a page are of that page
    return tmp_path


@pytest.mark.parametrize("place", GENERATED, ids="#".join)
def test_what_is_generated_is_renewed(place: tuple[str, str]) -> None:
    """Where this fails, `python -m tools.documents` renews the page."""
    page, name = place
    assert block(PAGES[page].text, name) == GENERATED[place]().strip()


def test_the_manual_page_is_renewed() -> None:
    """Where this fails, `python -m tools.documents` renews it."""
    assert manpage.PAGE.read_text(encoding="utf-8") == manpage.manual()


@pytest.mark.parametrize("page", [page for page in OF_USERS if not page.original], ids=lambda page: page.name)
def test_what_is_typed_does_what_is_shown(page: Page, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(capsys)
    examples = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names: dict[str, object] = {}
    for language, text in page.blocks(*RUN):
        if language == "console":
            for command, shown in typed(text):
                output = shell.run(command)
                assert shows(shown, output), f"$ {command}\n{output}"
        elif language == "sh":
            for command in commands(text):
                if not opens_the_viewer(command):
                    shell.run(command)
                    assert shell.status == 0, command
        else:
            test = doctest.DocTestParser().get_doctest(text, names, page.name, None, 0)
            report: list[str] = []
            examples.run(test, out=report.append, clear_globs=False)
            assert not report, "".join(report)
            names.update(test.globs)


def opens_the_viewer(command: str) -> bool:
    """Return whether a command opens the viewer, which is tested elsewhere; what it opens has to be there."""
    words = shlex.split(command, comments=True)
    if words[0] != "tracetui" or "--version" in words:
        return False
    chosen, request = parse_arguments(words[1:])
    return chosen is cli.VIEW and all(Path(path).exists() for path in (request.path, *request.more_paths))


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Page) -> None:
    for target in page.links:
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        assert (page.path.parent / path).exists(), target
        if anchor:
            linked = (page.path.parent / path).resolve().relative_to(ROOT).as_posix() if path else page.name
            assert anchor in PAGES[linked].anchors, target
    for path in re.findall(r"(?<![\w/~.])(?:samples|tests|tools|tracetui|docs)/[\w/.-]+", page.text):
        assert (ROOT / path.rstrip(".")).exists(), path
    for name in re.findall(r"`(?:tracetui\.)?(\w+_frame)\b", page.prose):
        assert hasattr(tracetui, name), name


#: Programs that record the scheduler or bind threads, whose options are theirs.
_OTHERS = ("perf ", "trace-cmd ", "numactl ")


@pytest.mark.parametrize("page", OF_USERS, ids=lambda page: page.name)
def test_options_are_those_of_the_commands(page: Page) -> None:
    known = {
        "--output",
        "--completion",
        *(option for command in (cli.VIEW, *cli.COMMANDS) for option in options(command)),
    }
    for quoted in page.codes:
        if quoted.startswith(_OTHERS):
            continue
        assert known.issuperset(re.findall(r"(?<!\S)--[a-z][a-z-]*", quoted)), quoted


def options(command: Command) -> list[str]:
    """All options of a command."""
    return [option for action in command.parser()._actions for option in action.option_strings]


def test_pages_are_short_and_can_be_reached() -> None:
    for name, page in PAGES.items():
        generated = any(where == name for where, _ in GENERATED)
        assert page.text.count("\n") <= (150 if name.startswith("README") else 250) or generated, name
        assert {language for language, _ in page.blocks()} <= PICTURES | RUN, name
    linked = {
        target.partition("#")[0] for name in ("README.md", "README.zh-CN.md") for target in PAGES[name].links
    }
    assert linked >= PAGES.keys()


def test_every_table_of_scripts_is_told_of() -> None:
    frames = {name for name in tracetui.__all__ if name.endswith("_frame")}
    assert frames == set(re.findall(r"^### `(\w+)`$", PAGES["docs/columns.md"].text, re.MULTILINE))


def test_pictures_are_in_the_sdist() -> None:
    """A README that links to what is left out of it has dead pictures."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (left_out,) = re.findall(r"\[tool\.hatch\.build\.targets\.sdist\]\n((?:.+\n)*)", project) or [""]
    for page in PAGES.values():
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.text):
            assert (page.path.parent / picture).resolve().is_file(), picture
            assert "screenshots" not in left_out, "pictures are left out of the sdist"


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.name)
def test_a_translation_tells_what_its_original_does(page: Page) -> None:
    """Where blocks differ, `python -m tools.documents` renews them."""
    assert page.original is not None
    original = page_at(page.original)
    assert list(page.blocks()) == list(original.blocks())
    assert page.codes == original.codes
    assert [line.split()[0] for line in page.prose.splitlines() if line.startswith("#")] == [
        line.split()[0] for line in original.prose.splitlines() if line.startswith("#")
    ]
    for one, other in ((page, original), (original, page)):
        top = one.text.split("\n\n", 2)[1]
        assert f"]({os.path.relpath(other.path, one.path.parent)})" in top


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb\n", False),
        ("a\n…", "a\nb\nc\n", True),
        ("…\nc", "a\nb\nc\n", True),
        ("a …", "a b\n", True),
        ("a …", "b a\n", False),
        ("", "", True),
        ("", "a\n", False),
        ("a.c", "abc\n", False),
    ],
)
def test_an_ellipsis_stands_for_what_is_left_out(shown: str, output: str, same: bool) -> None:
    assert shows(shown, output) is same
