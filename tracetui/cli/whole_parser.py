"""All commands as one parser, for what reads parsers: shells' completion, and the manual page."""

from __future__ import annotations

import argparse

from tracetui.cli import commands


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
