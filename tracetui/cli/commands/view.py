"""`tracetui PATH`: the viewer, or the summary where there is no terminal for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tracetui.cli import terminal
from tracetui.cli.command import Command
from tracetui.cli.commands import summary
from tracetui.cli.parser import (
    PATHS,
    Collect,
    Parser,
    Request,
    UsageError,
    add_ascii,
    add_restrictions,
    add_rules,
    add_trace,
)

_DESCRIPTION = f"""Show a profiler trace of model training on Ascend NPUs (or GPUs) in the
terminal. Without a terminal on stdin and stdout, print the summary.

{PATHS}"""

_HIDDEN = "\nThe viewer is drawn on stderr, which is redirected: this is the summary.\n"
_PALETTES = ("auto", "ansi", "256", "true", "none")


def _add_arguments(parser: Parser) -> None:
    add_trace(parser)
    add_restrictions(parser, "open the viewer at this step", "open the viewer at this window")
    parser.add_argument(
        "--source",
        dest="sources",
        metavar="DIR",
        action=Collect,
        type=Path,
        help="look for the Python files of the trace under DIR; may be repeated",
    )
    parser.add_argument(
        "--palette",
        choices=_PALETTES,
        default="auto",
        help="colours to draw with; auto: by TERM, COLORTERM and NO_COLOR, 16 colours over SSH",
    )
    add_ascii(parser, "draw with ASCII characters only")
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal"
    )
    add_rules(parser)


def _run(request: Request) -> int:
    front = terminal.choose_front(os.environ, sys.stdin, sys.stdout, sys.stderr)
    if front is terminal.Front.DUMB:
        raise UsageError("this terminal (TERM) cannot show the viewer; tracetui summary PATH prints text")
    if front is not terminal.Front.VIEWER:
        from tracetui.cli.output import print_text

        code = summary.COMMAND.run(request)
        if front is terminal.Front.HIDDEN:
            print_text(_HIDDEN, request)
        return code
    return _view(request)


def _view(request: Request) -> int:
    from tracetui.cli.opening import rules_of
    from tracetui.cli.output import in_ascii
    from tracetui.reader.locate import locate_trace

    path = locate_trace(request.path)
    terminal.prepare_viewer(os.environ)
    # Only here is textual imported.
    from tracetui.ui.app import run_viewer
    from tracetui.ui.options import ViewerOptions

    palette = terminal.choose_palette(os.environ) if request.palette == "auto" else request.palette
    options = ViewerOptions(
        palette=palette,
        ascii=in_ascii(request),
        mouse=request.mouse,
        cache=request.cache,
        jobs=request.jobs,
        sources=request.sources,
        step=request.step,
        window=request.window,
        rules=rules_of(request),
    )
    return run_viewer(path, options)


COMMAND = Command("", "PATH", "the viewer", _DESCRIPTION, _add_arguments, _run)
