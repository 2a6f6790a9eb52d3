"""Which command a command line calls, and with which arguments."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.cli import commands
from tracetui.cli.command import Command
from tracetui.cli.parser import Request, refuse_to_mix

_MORE = """commands:
{commands}
Each has its own --help. Options may stand before a command, too.

exit status:
  0 done    1 error    2 wrong arguments, or a terminal without the viewer
  3 no readable trace  4 check: a limit is passed  5 check: nothing to check
  130 cancelled"""


def parse_arguments(arguments: Sequence[str]) -> tuple[Command, Request]:
    """Return the command, and what it is asked for.

    Raises UsageError, and SystemExit(0) after --help and --version.
    """
    place = _place_of_command(arguments)
    if place is None:
        command, rest = commands.VIEW, list(arguments)
        parser = command.parser(_MORE.format(commands="\n".join(map(_listed, commands.COMMANDS))))
    else:
        command = _named()[arguments[place]]
        rest = [*arguments[:place], *arguments[place + 1 :]]
        parser = command.parser()
    request = parser.parse_args(rest, Request())
    refuse_to_mix(request)
    return command, request


def _place_of_command(arguments: Sequence[str]) -> int | None:
    """Return where the name of a command stands: it is the first word that is no option
    and no option's value.
    """
    named = _named()
    if arguments and arguments[0] in named:
        return 0
    if named.keys().isdisjoint(arguments):
        return None
    valued = {name for command in (commands.VIEW, *named.values()) for name in command.parser().valued}
    words = iter(enumerate(arguments))
    for place, word in words:
        if word in valued:
            next(words, None)
        elif word == "--" or not word.startswith("-"):
            return place if word in named else None
    return None


def _named() -> dict[str, Command]:
    return {command.name: command for command in commands.COMMANDS}


def _listed(command: Command) -> str:
    return f"  tracetui {command.usage:<14} {command.brief}"
