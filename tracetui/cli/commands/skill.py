"""`tracetui skill`: what an agent has to know to use the commands, as SKILL.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tracetui.cli.command import Command
from tracetui.cli.parser import Request

_DESCRIPTION = """Print SKILL.md for a coding agent: in which order to ask, what the fields of
answers mean, how to verify a finding with a command, and what no trace can
tell. It is made from the tables of commands and causes of this version:

    tracetui skill > .claude/skills/tracetui/SKILL.md"""


def _run(commands: Sequence[Command], _: Request) -> None:
    from tracetui.cli.output import print_verbatim
    from tracetui.export.skill import skill_text

    print_verbatim(skill_text((command.usage, command.brief) for command in commands))


def skill_command(commands: Sequence[Command]) -> Command:
    """Return the command that tells of others."""
    return Command(
        "skill",
        "",
        "what an agent has to know, as SKILL.md",
        _DESCRIPTION,
        lambda parser: None,
        partial(_run, commands),
    )
