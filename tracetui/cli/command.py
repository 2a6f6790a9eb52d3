"""What a command is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tracetui.cli.parser import Parser, Request


class Command(NamedTuple):
    """A word after `tracetui`: its help, its arguments, and what it does.

    Its module imports what `run` needs when it runs: --help imports the modules of all commands.
    """

    name: str  #: "" for the viewer, which is called without a word
    operands: str  #: what follows the name, as the list of commands shows it: "PATH"
    brief: str  #: what it is for, in half a line
    description: str  #: what its --help says of it
    add_arguments: Callable[[Parser], None]
    run: Callable[[Request], int | None]  #: returns the exit status; None: all is well
    needs_stdout: bool = True  #: False: its exit status says enough
    has_kept_answer: bool = False  #: its output follows from a trace, what lies around that, and notes

    @property
    def usage(self) -> str:
        """The name, and what follows it: "gaps PATH"."""
        return f"{self.name} {self.operands}".strip()

    def parser(self, epilog: str | None = None) -> Parser:
        """Return the parser of what follows the name."""
        parser = Parser(f"tracetui {self.name}".rstrip(), self.description, epilog)
        self.add_arguments(parser)
        return parser
