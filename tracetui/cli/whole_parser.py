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
    words = parser.add_subparsers(
        metavar="COMMAND", title="commands", parser_class=argparse.ArgumentParser, dest="command"
    )
    for command in commands.COMMANDS:
        own = command.parser()
        words.add_parser(
            command.name,
            parents=[own],
            add_help=False,
            help=command.brief,
            description=own.description,
            formatter_class=own.formatter_class,
        )
    return parser
