"""What a shell sources to complete tracetui's commands, options and files. Made by shtab of the parsers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from tracetui.cli import commands

#: The shells, each with what makes it offer files, too, where a command may stand: a trace needs none.
SHELLS = {
    "bash": "_shtab_tracetui_pos_0_COMPGEN=_shtab_compgen_files\n",
    "zsh": "functions[_tracetui_commands]=$functions[_shtab_tracetui_commands]\n"
    "_shtab_tracetui_commands() { _tracetui_commands; _files }\n",
    "fish": "complete -c tracetui -n _shtab_tracetui_using -F\n",
}


class PrintCompletion(argparse.Action):
    """Prints the completion of a shell, as --help prints the help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            choices=tuple(SHELLS),
            metavar="SHELL",
            default=argparse.SUPPRESS,
            help="print what completes tracetui in SHELL (bash, zsh or fish), to be evaluated there",
            **settings,
        )

    def __call__(
        self, parser: argparse.ArgumentParser, _request: object, shell: Any, _name: str | None = None
    ) -> NoReturn:
        sys.stdout.write(completion(shell, whole_parser()))
        parser.exit()


def completion(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script that completes the commands of a parser in a shell of SHELLS."""
    import shtab

    for action in _every_action(parser):
        if isinstance(action, argparse._SubParsersAction):
            for brief in action._choices_actions:
                action.choices[brief.dest].description = brief.help
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar == "FILE" or not (action.option_strings or action.choices):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return f"{shtab.complete(parser, shell)}\n{SHELLS[shell]}"


def _every_action(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    """Yield the arguments of a parser and of its sub-commands: argparse has no public list of them."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _every_action(inner)


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser of the viewer, with the other commands as its sub-commands.

    No arguments are parsed by it: it does not know a trace from a command (tracetui.cli.command_line does).
    """
    view = commands.VIEW.parser()
    parser = argparse.ArgumentParser(
        "tracetui", description=view.description, add_help=False, formatter_class=view.formatter_class
    )
    for action in view._actions:  # argparse has no public list of them
        if action.option_strings:
            parser._add_action(action)
    subcommands = parser.add_subparsers(
        metavar="COMMAND", title="commands", parser_class=argparse.ArgumentParser, dest="command"
    )
    for command in commands.COMMANDS:
        command_parser = command.parser()
        subcommands.add_parser(
            command.name,
            parents=[command_parser],
            add_help=False,
            help=command.brief,
            description=command_parser.description,
            formatter_class=command_parser.formatter_class,
        )
    return parser
