"""`tracetui mcp`: the commands as tools of agents, over stdin and stdout."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tracetui.cli.command import Command
from tracetui.cli.parser import Parser, Request, seconds_argument, usage_error

_DESCRIPTION = """Serve agents over stdin and stdout by the Model Context Protocol: each command
that answers in JSON (but notes) is a tool of its name, and `traces` lists what
there is.

The tools read what lies below the directories that are named here, and write
nothing but the cache. It needs the package mcp (pip install tracetui[mcp]),
on Python 3.10 or newer. Clients register it like this:

{"mcpServers": {"tracetui": {"command": "tracetui", "args": ["mcp", "DIR"]}}}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("roots", metavar="DIR", nargs="+", type=Path, help="directories that may be read")
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds_argument,
        default=600.0,
        help="stop a call after so long (default 600)",
    )


def _run(commands: Sequence[Command], request: Request) -> None:
    roots = [_directory(path) for path in request.roots]
    if importlib.util.find_spec("mcp") is None:
        raise usage_error("tracetui mcp needs the package mcp: pip install tracetui[mcp]")
    from tracetui.cli.tool_server import ToolServer
    from tracetui.cli.tools import tools_of
    from tracetui.export.skill import skill_body

    ToolServer(tools_of(commands), roots, request.timeout, skill_body()).serve()


def _directory(path: Path) -> Path:
    """Return a directory with its links followed. Raises UsageError where it is none."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise usage_error("{path}: no such directory", path=path) from None
    if not real.is_dir():
        raise usage_error("{path}: is not a directory", path=path)
    return real


def mcp_command(commands: Sequence[Command]) -> Command:
    """Return the command that offers others as tools."""
    return Command(
        "mcp",
        "DIR...",
        "the commands as tools of agents (MCP)",
        _DESCRIPTION,
        _add_arguments,
        partial(_run, commands),
    )
