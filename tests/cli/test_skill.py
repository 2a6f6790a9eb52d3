"""`tracetui skill` and brief answers, as they are called."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tracetui.analysis.idle.cause import Cause
from tracetui.cli import main
from tracetui.cli.command_line import parse_arguments
from tracetui.cli.commands import COMMANDS
from tracetui.cli.parser import UsageError


@pytest.fixture
def skill(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["skill"]) == 0
    return capsys.readouterr().out


def test_the_skill_names_every_command_and_cause(skill: str) -> None:
    assert skill.startswith("---\nname: tracetui\n") and skill.isascii()
    for command in COMMANDS[:-1]:  # all but itself
        assert f"| `tracetui {command.usage}` | {command.brief} |" in skill
    for cause in Cause:
        assert f"| `{cause.facts.label}` |" in skill


def test_the_fields_that_the_skill_names_are_in_answers(
    skill: str, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = str(samples / "moba" / "trace_view.json")
    found = {"null", "left_out"}
    for words in (["summary"], ["gaps"], ["hotspots"], ["doctor"], ["compare", trace]):
        assert main([*words, trace, "--json"]) == 0
        found |= keys_in(json.loads(capsys.readouterr().out))
    sections = skill.partition("## In which order")[2].partition("## Causes of idle time")[0]
    named = set(re.findall(r"`([a-z][a-z_]*(?:(?:\[\])?\.[a-z_]+)*)`", sections))
    assert len(named) > 8
    for name in named:
        assert set(name.replace("[]", "").split(".")) <= found, name


def keys_in(value: Any) -> set[str]:
    """The keys of all objects in a document."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(value if isinstance(value, dict) else (), *map(keys_in, inside))


def test_commands_of_the_skill_are_commands(skill: str, tmp_path: Path) -> None:
    """Each that is written whole is taken, with something in place of its PATH."""
    written = set(re.findall(r"`tracetui ([^`]+)`", skill.partition("## All commands")[0]))
    assert len(written) > 8
    for line in written:
        words = line.replace("START..END", "1ms..2ms").replace('"select ..."', "query").split()
        parse_arguments(words)


def test_a_brief_answer_says_what_it_lacks(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(samples / "moba" / "trace_view.json")
    assert main(["gaps", trace, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)["gaps"]
    assert main(["gaps", trace, "--json", "--brief"]) == 0
    brief = json.loads(capsys.readouterr().out)
    assert len(brief["gaps"]) + brief["left_out"]["gaps"] == len(whole)
    assert brief["gaps"][0]["start_ns"] == whole[0]["start_ns"]


def test_brief_is_of_json() -> None:
    with pytest.raises(UsageError, match="--brief goes with --json"):
        parse_arguments(["gaps", "t.json", "--brief"])
