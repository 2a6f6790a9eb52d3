"""What the documents tell readers to type, run in this process and compared with what they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

import simulator.generate
import simulator.job.__main__
import simulator.memory
from tracetui.cli import main

#: What can be run here: the words that it begins with, and what runs the rest.
PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "tracetui": main,
    "python -m simulator.generate": simulator.generate.main,
    "python -m simulator.job": simulator.job.__main__.main,
    "python -m simulator.memory": simulator.memory.main,
}
#: What is not run: it installs, needs other hosts, or is the suite itself.
ELSEWHERE = re.compile(r"\S*pip |python3 -m venv |\S*python -m (?:pytest|tools\.wheels) ")


class Typed(NamedTuple):
    """A command, and what the page shows of its output."""

    command: str
    shown: str


class Shell:
    """Runs commands one after the other, with the status of the last one in `$?`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.status = 0

    def run(self, command: str) -> str:
        """Return what a command writes, errors after the output; fails where nobody knows it."""
        if command == "echo $?":
            return f"{self.status}\n"
        program = next(name for name in PROGRAMS if command.startswith(f"{name} "))
        words = shlex.split(command[len(program) :], comments=True)
        self.capsys.readouterr()
        self.status = int(PROGRAMS[program](words))
        output = self.capsys.readouterr()
        return output.out + output.err


def typed(console: str) -> Iterator[Typed]:
    """Yield the commands of a block in which they begin with `$ `, each with the output below it."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r"\\\n *", "", part).partition("\n")
        yield Typed(command, shown.rstrip("\n"))


def commands(script: str) -> Iterator[str]:
    """Yield the commands of a block without output that can be run here, each without its comment."""
    for line in re.sub(r"\\\n *", "", script).splitlines():
        for command in line.split(" && "):
            stripped = re.sub(r"(?:~/|\.)venv/bin/", "", command.strip())
            if stripped and not stripped.startswith("#") and not ELSEWHERE.match(stripped):
                yield stripped


def shows(shown: str, output: str) -> bool:
    """Return whether a page shows an output: `…` at the end of a line stands for the rest of it, alone for
    any number of lines.
    """
    lines = (_pattern(line) for line in shown.splitlines())
    return re.fullmatch("".join(lines), output.rstrip("\n") + "\n" if output.strip() else "") is not None


def _pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    if line.endswith("…"):
        return re.escape(line[:-1]) + r".*\n"
    return re.escape(line) + r"\n"
