"""The arguments of tracetui. Imports nothing slow: --help and --version answer at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tracetui import __version__
from tracetui.cli import descriptions
from tracetui.units import Window, parse_window

if TYPE_CHECKING:
    from tracetui.analysis.limits import Limit

COMMANDS = ("summary", "gaps", "hotspots", "advice", "check", "export")  #: of a trace
CACHE = "cache"  #: the one command that takes none
MOST_JOBS = 64
PALETTES = ("auto", "ansi", "256", "true", "none")


class UsageError(Exception):
    """One sentence for the user about the arguments."""


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    command: str  #: "view", one of COMMANDS, or CACHE
    path: str
    json: bool = False
    md: bool = False
    csv: str | None = None  #: "-" is stdout
    top: int | None = None  #: rows to list; 0: all; None: the command's own default
    step: int | None = None
    window: Window | None = None
    force: bool = False
    tracks: str | None = None
    palette: str = "auto"
    ascii: bool = False
    mouse: bool = True
    sources: tuple[Path, ...] = ()
    user_frames: tuple[str, ...] = ()  #: prefixes of files that are the user's own
    skip_frames: tuple[str, ...] = ()  #: prefixes of files that are not
    limits: tuple[Limit, ...] = ()
    each_step: bool = False
    cache: bool = True  #: keep what is read, and use what was kept
    jobs: int | None = None  #: processes that decode at once; None: as many as are of use
    action: str = ""  #: of CACHE: "list" or "clear"


def parse_arguments(arguments: Sequence[str]) -> Request:
    """The request of a command line. Raises UsageError, and SystemExit(0) after --help and --version."""
    if arguments and arguments[0] == CACHE:
        return Request(CACHE, "", **vars(_cache_parser().parse_args(arguments[1:])))
    if arguments and arguments[0] in COMMANDS:
        command, rest = arguments[0], arguments[1:]
        parser = _PARSERS[command]()
    else:
        command, rest = "view", arguments
        parser = _main_parser()
    values = vars(parser.parse_args(rest))
    for key in ("sources", "user_frames", "skip_frames"):
        values[key] = tuple(values.get(key) or ())
    values["limits"] = (*(values.pop("most", None) or ()), *(values.pop("most_of_cause", None) or ()))
    writing = [name for name in ("json", "md") if values.get(name)] + ["csv -"] * (values.get("csv") == "-")
    if len(writing) > 1:
        raise UsageError(f"--{writing[0]} and --{writing[1]} cannot both write to stdout")
    if command == "check" and not values["limits"]:
        raise UsageError("no limit is given, like --max-free 10%; see tracetui check --help")
    return Request(command, **values)


class _Parser(argparse.ArgumentParser):
    """A parser that leaves the printing of an error to the caller."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _parser(name: str, description: str, epilog: str | None = None) -> _Parser:
    parser = _bare_parser(name, description, epilog)
    parser.add_argument("path", metavar="PATH", help="a trace, or a directory that holds one")
    parser.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="read the trace anew, and keep nothing of it (see tracetui cache --help)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        help="decode a large trace with N processes, 1: without any beside this one "
        "(default: one for each core that may be used)",
    )
    return parser


def _bare_parser(name: str, description: str, epilog: str | None = None) -> _Parser:
    return _Parser(
        prog=name,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _main_parser() -> _Parser:
    parser = _parser("tracetui", descriptions.MAIN, descriptions.MAIN_MORE)
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
    _add_rules(parser)
    return parser


def _summary_parser() -> _Parser:
    parser = _parser("tracetui summary", descriptions.SUMMARY)
    _add_outputs(parser, "rows to list of the gaps (default 5) and of the steps (default 20); 0: all")
    _add_restrictions(parser)
    _add_rules(parser)
    return parser


def _gaps_parser() -> _Parser:
    parser = _parser("tracetui gaps", descriptions.GAPS)
    _add_outputs(parser, "list N gaps; 0: all (default: 20 as text or Markdown, all as JSON or CSV)")
    _add_restrictions(parser)
    _add_rules(parser)
    return parser


def _hotspots_parser() -> _Parser:
    parser = _parser("tracetui hotspots", descriptions.HOTSPOTS)
    _add_outputs(
        parser,
        "list N lines and, as text or Markdown, N synchronisations; 0: all "
        "(default: 20 and 5 as text or Markdown, all lines as JSON or CSV)",
    )
    _add_restrictions(parser, "only gaps of step N", "only gaps of this window of time")
    _add_rules(parser)
    return parser


def _advice_parser() -> _Parser:
    parser = _parser("tracetui advice", descriptions.ADVICE)
    _add_outputs(parser)
    _add_rules(parser)
    return parser


def _check_parser() -> _Parser:
    parser = _parser("tracetui check", descriptions.CHECK)
    limits = {
        "free": "time without computing or communication",
        "idle": "time without any work, copies included",
    }
    for measure, meaning in limits.items():
        parser.add_argument(
            f"--max-{measure}",
            dest="most",
            metavar="LIMIT",
            action="append",
            type=_limit_of(measure),
            help=f"{meaning}: at most LIMIT, like 10%% or 3ms",
        )
    parser.add_argument(
        "--max-cause",
        dest="most_of_cause",
        metavar="CAUSE=LIMIT",
        action="append",
        type=_cause_limit,
        help="idle time of this cause: at most LIMIT; may be repeated",
    )
    parser.add_argument("--each-step", action="store_true", help="hold each step to the limits too")
    parser.add_argument("--json", action="store_true", help="print one JSON object, times in integer ns")
    parser.add_argument("--ascii", action="store_true", help="print ASCII characters only")
    _add_rules(parser)
    return parser


def _export_parser() -> _Parser:
    parser = _parser("tracetui export", descriptions.EXPORT)
    parser.add_argument("--csv", metavar="FILE", required=True, help="the file to write; - for stdout")
    parser.add_argument("--force", action="store_true", help="replace FILE where it exists")
    parser.add_argument(
        "--tracks", metavar="TEXT", help='only tracks with TEXT in "process/thread", in upper or lower case'
    )
    _add_restrictions(parser)
    _add_rules(parser)
    return parser


def _cache_parser() -> _Parser:
    parser = _bare_parser("tracetui cache", descriptions.CACHE)
    parser.add_argument("action", choices=("list", "clear"), help="show what is kept, or remove it")
    parser.add_argument("--ascii", action="store_true", help="print ASCII characters only")
    return parser


def _add_outputs(parser: _Parser, top: str | None = None) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object, times in integer ns")
    parser.add_argument("--md", action="store_true", help="print Markdown, to be pasted into a ticket")
    parser.add_argument(
        "--csv", metavar="FILE", help="write a table to FILE (- for stdout) and print nothing"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE where it exists")
    if top is not None:
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
        help=f"{window}: 1.2s..1.35s, 350ms.. or ..900us from the start of the trace; numbers without "
        "a unit are its own timestamps in us, as in kernel_details.csv",
    )


def _add_rules(parser: _Parser) -> None:
    parser.add_argument(
        "--user-frame",
        dest="user_frames",
        metavar="PREFIX",
        action="append",
        type=_prefix,
        help="files that start with PREFIX are your own code, wherever they lie; may be repeated",
    )
    parser.add_argument(
        "--skip-frame",
        dest="skip_frames",
        metavar="PREFIX",
        action="append",
        type=_prefix,
        help="files that start with PREFIX are not: charge the line that called them; may be repeated",
    )


def _prefix(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a prefix has at least one character, like /home/me/lib/")
    return text


def _limit_of(measure: str) -> Callable[[str], Limit]:
    def limit(text: str) -> Limit:
        from tracetui.analysis.limits import parse_limit

        return _parsed(lambda: parse_limit(measure, text))

    return limit


def _cause_limit(text: str) -> Limit:
    from tracetui.analysis.limits import parse_cause_limit

    return _parsed(lambda: parse_cause_limit(text))


def _parsed(parse: Callable[[], Limit]) -> Limit:
    try:
        return parse()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _window(text: str) -> Window:
    try:
        return parse_window(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError("a step is a whole number, like 3")
    return int(text)


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and 1 <= int(text) <= MOST_JOBS):
        raise argparse.ArgumentTypeError(f"a number of processes is a whole number from 1 to {MOST_JOBS}")
    return int(text)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError("a number of rows is a whole number, 0 for all")
    return int(text)


_PARSERS = {
    "summary": _summary_parser,
    "gaps": _gaps_parser,
    "hotspots": _hotspots_parser,
    "advice": _advice_parser,
    "check": _check_parser,
    "export": _export_parser,
}
