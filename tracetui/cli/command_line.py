"""Which command a command line calls, and with which arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from tracetui.cli import commands
from tracetui.cli.command import Command
from tracetui.cli.completion import PrintCompletion
from tracetui.cli.config import NO_SETTINGS, Settings
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import Request, UsageError, refuse_to_mix, usage_error

_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*", re.ASCII)
_EPILOG = """commands:
{commands}
Each has its own --help. Options may stand before a command, too.

exit status:
{statuses}"""


def parse_arguments(arguments: Sequence[str], settings: Settings = NO_SETTINGS) -> tuple[Command, Request]:
    """Return the command, and what it is asked for; settings count where an option is not given.

    Raises UsageError, and SystemExit(0) after --help, --version and --completion.
    """
    place = _place_of_command(arguments)
    if place is None:
        _refuse_unknown(arguments)
        command, rest = commands.VIEW, list(arguments)
        listed = "\n".join(map(_command_line, commands.COMMANDS))
        statuses = "\n".join(f"  {code:<4} {code.meaning}" for code in ExitCode)
        parser = command.parser(_EPILOG.format(commands=listed, statuses=statuses))
        parser.add_argument("--completion", action=PrintCompletion)
    else:
        command = _by_name()[arguments[place]]
        rest = [*arguments[:place], *arguments[place + 1 :]]
        parser = command.parser()
    request = parser.parse_args(rest, Request())
    refuse_to_mix(request)
    if defaults := settings.arguments(parser.valued, _given_options(rest, parser.valued)):
        try:
            request = parser.parse_args([*defaults, *rest], Request())
        except UsageError as error:
            raise usage_error("{path}: {error}", path=settings.path, error=error) from None
    return command, request


def _given_options(arguments: Sequence[str], valued: Collection[str]) -> set[str]:
    """Return the options that are given."""
    words, found = iter(arguments), set()
    for word in words:
        if word == "--":
            break
        found.add(word.partition("=")[0])
        if word in valued:
            next(words, None)
    return found


def _place_of_command(arguments: Sequence[str]) -> int | None:
    """Return where the name of a command stands: it is the first word that is no option
    and no option's value.
    """
    named = _by_name()
    if arguments and arguments[0] in named:
        return 0
    if named.keys().isdisjoint(arguments):
        return None
    place = _first_word(arguments)
    return place if place is not None and arguments[place] in named else None


def _first_word(arguments: Sequence[str]) -> int | None:
    """Return where the first word stands that is no option and no option's value; that may be "--"."""
    if arguments and not arguments[0].startswith("-"):
        return 0
    if all(word.startswith("-") for word in arguments):  # such as --version: no parser has to be made
        return None
    every = (commands.VIEW, *_by_name().values())
    valued = {name for command in every for name in command.parser().valued}
    words = iter(enumerate(arguments))
    for place, word in words:
        if word in valued:
            next(words, None)
        elif word == "--" or not word.startswith("-"):
            return place
    return None


def _refuse_unknown(arguments: Sequence[str]) -> None:
    """Raise UsageError where a word is no file, and nearly a command."""
    place = _first_word(arguments)
    word = "" if place is None else arguments[place]
    if not _WORD.fullmatch(word) or word in _by_name() or os.path.lexists(word):
        return
    from difflib import get_close_matches

    alike = get_close_matches(word.lower(), _by_name(), 1)
    if alike:
        raise usage_error(
            "there is no command or file {word}; did you mean tracetui {alike}? See tracetui --help",
            word=word,
            alike=alike[0],
        )


def _by_name() -> dict[str, Command]:
    return {command.name: command for command in commands.COMMANDS}


def _command_line(command: Command) -> str:
    return f"  tracetui {command.usage:<14} {command.brief}"
