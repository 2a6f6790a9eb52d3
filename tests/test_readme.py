"""The README is true: what it lists is what there is."""

from __future__ import annotations

import re
from pathlib import Path

from tracetui.analysis.idle.cause import causes_markdown
from tracetui.cli.commands import COMMANDS
from tracetui.cli.exit_codes import ExitCode
from tracetui.ui.actions import keys_markdown

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    """What stands between `<!-- name: … -->` and `<!-- /name -->`."""
    return README.partition(f"<!-- {name}:")[2].partition("-->")[2].partition(f"<!-- /{name} -->")[0].strip()


def test_the_keys_are_those_of_the_registry() -> None:
    assert block("keys") == keys_markdown().strip()


def test_the_causes_are_those_of_the_table() -> None:
    assert block("causes") == causes_markdown()


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
