"""The arguments of tracetui. Imports nothing slow: --help and --version answer at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tracetui import __version__
from tracetui.units import parse_window

COMMANDS = ("summary", "gaps", "export")
PALETTES = ("auto", "ansi", "256", "true", "none")

_PATHS = """PATH is a trace file (trace_view.json or another Chrome trace, plain or .gz), or
a directory that holds one. Write ./summary for a file named like a command, and
-- before a name that starts with -."""

_MAIN = f"""Show a profiler trace of model training on Ascend NPUs (or GPUs) in the
terminal. Without a terminal on stdin and stdout, print the summary.

{_PATHS}"""

_MAIN_MORE = """commands:
  tracetui summary PATH   what the devices did, step by step, and the worst gaps
  tracetui gaps PATH      the AICore gaps, most idle first
  tracetui export PATH    the events of a window of time, as CSV
Each has its own --help.

exit status:
  0 done    1 error    2 wrong arguments, or a terminal without the viewer
  3 no readable trace  130 cancelled"""

_SUMMARY = f"""Print what each device of a trace did: computing, communication, free, idle,
the table of steps, and the worst gaps.

--step and --window pick the steps and gaps that are listed: a step is in a
window if its device part starts in it, a gap if it starts in it; the gaps of a
step start in its device part. The totals of
a device are always those of the whole trace. --csv writes the table of steps.

{_PATHS}"""

_GAPS = f"""Print the AICore gaps of a trace, most idle first: how much of each the device
idled, what ended it, and the Python line that launched that.

--step picks the gaps that start in the device part of a step, --window those
that start in the window. --csv writes the columns of --json, one gap a row.

{_PATHS}"""

_EXPORT = f"""Write the events of a window of time as CSV, one slice a row, by start.

A slice is written, whole, if any part of it lies in the window; one without
length, if it starts there. --step is the window from the step's start on the
host to its end, there or on a device, whichever is later; with --window too,
what both have in common. Without either, all slices are written.

The column step is, for what starts on a device, the step in whose device part
it starts, for all else the ProfilerStep#N of the host around it. Text that a
spreadsheet would take for a formula gets an apostrophe in front.

{_PATHS}"""


class UsageError(Exception):
    """One sentence for the user about the arguments."""


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    command: str  #: "view" or one of COMMANDS
    path: str
    json: bool = False
    csv: str | None = None  #: "-" is stdout
    top: int | None = None  #: rows to list; 0: all; None: the command's own default
    step: int | None = None
    window: tuple[int, int] | None = None  #: ns from the start of the trace
    force: bool = False
    tracks: str | None = None
    palette: str = "auto"
    ascii: bool = False
    mouse: bool = True
    sources: tuple[Path, ...] = ()


def parse_arguments(arguments: Sequence[str]) -> Request:
    """The request of a command line. Raises UsageError, and SystemExit(0) after --help and --version."""
    if arguments and arguments[0] in COMMANDS:
        command, rest = arguments[0], arguments[1:]
        parser = _PARSERS[command]()
    else:
        command, rest = "view", arguments
        parser = _main_parser()
    values = vars(parser.parse_args(rest))
    values["sources"] = tuple(values.get("sources") or ())
    if values.get("json") and values.get("csv") == "-":
        raise UsageError("--json and --csv - cannot both write to stdout")
    return Request(command, **values)


class _Parser(argparse.ArgumentParser):
    """A parser that leaves the printing of an error to the caller."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _parser(name: str, description: str, epilog: str | None = None) -> _Parser:
    parser = _Parser(
        prog=name,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="PATH", help="a trace, or a directory that holds one")
    return parser


def _main_parser() -> _Parser:
    parser = _parser("tracetui", _MAIN, _MAIN_MORE)
    parser.add_argument("--version", action="version", version=f"tracetui {__version__}")
    _add_restrictions(parser, "open the viewer at this step", "open the viewer at this window")
    parser.add_argument(
        "--source",
        dest="sources",
        metavar="DIR",
        action="append",
        type=Path,
        help="look for the Python files of the trace under DIR; may be repeated",
    )
    parser.add_argument(
        "--palette",
        choices=PALETTES,
        default="auto",
        help="colours to draw with; auto: by TERM, COLORTERM and NO_COLOR, 16 colours over SSH",
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal"
    )
    return parser


def _summary_parser() -> _Parser:
    parser = _parser("tracetui summary", _SUMMARY)
    _add_outputs(parser, "rows to list of the gaps (default 5) and of the steps (default 20); 0: all")
    _add_restrictions(parser)
    return parser


def _gaps_parser() -> _Parser:
    parser = _parser("tracetui gaps", _GAPS)
    _add_outputs(parser, "list N gaps; 0: all (default: 20 as text, all as JSON or CSV)")
    _add_restrictions(parser)
    return parser


def _export_parser() -> _Parser:
    parser = _parser("tracetui export", _EXPORT)
    parser.add_argument("--csv", metavar="FILE", required=True, help="the file to write; - for stdout")
    parser.add_argument("--force", action="store_true", help="replace FILE where it exists")
    parser.add_argument(
        "--tracks", metavar="TEXT", help='only tracks with TEXT in "process/thread", in upper or lower case'
    )
    _add_restrictions(parser)
    return parser


def _add_outputs(parser: _Parser, top: str) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, times in integer ns")
    parser.add_argument(
        "--csv", metavar="FILE", help="write a table to FILE (- for stdout) and print nothing"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE where it exists")
    parser.add_argument("--top", metavar="N", type=_count, help=top)
    parser.add_argument("--ascii", action="store_true", help="print ASCII characters only")


def _add_restrictions(
    parser: _Parser, step: str = "only step N", window: str = "only this window of time"
) -> None:
    parser.add_argument("--step", metavar="N", type=_number, help=f"{step} (ProfilerStep#N)")
    parser.add_argument(
        "--window",
        metavar="START..END",
        type=_window,
        help=f"{window}, from the start of the trace: 1.2s..1.35s, 350ms.., ..900us",
    )


def _window(text: str) -> tuple[int, int]:
    try:
        return parse_window(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError("a step is a whole number, like 3")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError("a number of rows is a whole number, 0 for all")
    return int(text)


_PARSERS = {"summary": _summary_parser, "gaps": _gaps_parser, "export": _export_parser}
