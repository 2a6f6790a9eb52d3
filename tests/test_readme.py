"""The README is true: what it lists is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tracetui.analysis.idle.calls import Cause
from tracetui.cli.commands import COMMANDS
from tracetui.cli.exit_codes import ExitCode
from tracetui.ui.actions import keys_markdown
from tracetui.ui.drawing.causes import cause_letter

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_keys_are_those_of_the_registry() -> None:
    shown = README.partition("<!-- keys:")[2].partition("-->")[2].partition("<!-- /keys -->")[0]
    assert shown.strip() == keys_markdown().strip()


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.label)
def test_every_cause_is_explained_with_its_letter(cause: Cause) -> None:
    assert f"| `{cause_letter(cause)}` | `{cause.label}` |" in README


def test_every_command_and_exit_status_is_told() -> None:
    for command in COMMANDS:
        assert re.search(rf"tracetui {command.name}\b", README), command
    statuses = README.partition("Exit status:")[2].partition("\n\n")[0]
    assert {int(number) for number in re.findall(r"\b\d+\b", statuses)} == {int(code) for code in ExitCode}


def test_what_it_shows_and_links_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in target or (ROOT / target).is_file(), target
    for path in re.findall(r"(?<![\w/~])(?:samples|tests|tracetui)/[\w/.]+", README):
        assert (ROOT / path.rstrip(".")).exists(), path
