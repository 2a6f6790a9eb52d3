"""Arguments that several commands have. Imports nothing slow: --help and --version answer at once."""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tracetui.databases.exports import Export
from tracetui.language import Statement, state
from tracetui.units import Window, parse_window
from tracetui.version import __version__

if TYPE_CHECKING:
    from tracetui.places import SharedPlace

PATHS = """PATH is a trace file (trace_view.json or another Chrome trace, plain or .gz; or
a database, ascend_pytorch_profiler_0.db), or a directory that holds one. Write
./summary for a file named like a command, and -- before a name that starts
with -."""

MOST_JOBS = 64
#: The help of --jobs where it is about reading a trace.
JOBS = (
    "read a large trace with N threads, or N processes where nothing is compiled "
    "(default: one for each core that may be used)"
)


#: What argparse says of arguments.
_REFUSALS = (
    "the following arguments are required: {arguments}",
    "unrecognized arguments: {arguments}",
    "expected one argument",
    "ignored explicit argument {value}",
    "invalid choice: {value} (choose from {choices})",
)
#: A value that argparse would take for an option.
_NEGATIVE = re.compile(r"-[0-9.]")


class UsageError(Exception):
    """One sentence for the user about the arguments."""


def usage_error(english: str, /, **values: object) -> UsageError:
    """Return the error that states a sentence about the arguments."""
    return UsageError(state(english, **values))


class Request(argparse.Namespace):
    """The arguments of one command: those that several have, with what holds where one is not given."""

    path: str = ""
    more_paths: tuple[str, ...] = ()  #: more paths, for the viewer
    json: bool = False
    brief: bool = False  #: of the JSON only what a small context holds
    md: bool = False
    csv: str | None = None  #: "-" is stdout
    xlsx: str | None = None
    page: str | None = None  #: of HTML; "-" is stdout
    force: bool = False
    top: int | None = None  #: rows to list; 0: all; None: the command's own default
    ascii: bool = False
    trusted: bool = False  #: check: numbers that limits are about have to be good
    all_steps: bool = False  #: outlier steps count, too, and those that are not to be believed
    shapes: bool = False  #: operators are matched by their shapes, too
    step: int | None = None
    window: Window | None = None
    place: SharedPlace | None = None  #: where the viewer opens
    user_frames: tuple[str, ...] = ()  #: prefixes of files that are the user's own
    skip_frames: tuple[str, ...] = ()  #: prefixes of files that are not
    language: str | None = None  #: of causes and advice; None: that of the locale
    cache: bool = True  #: keep what is read, and use what was kept
    export: Export | None = None  #: which one is read of a run that was exported both ways
    jobs: int | None = None  #: threads or processes that read at once; None: as many as are of use
    sched: Path | None  #: a recording of the scheduler; commands that know no causes have none
    sched_offset: int | None  #: ns that are added to its times
    dask: str | None = None  #: the address of a scheduler, where ranks are digested by its workers


class Parser(argparse.ArgumentParser):
    """A parser that leaves the printing of an error to the caller, and knows which options take a value."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        self.valued: set[str] = set()  #: options that are followed by a value
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            exit_on_error=False,  # argparse would make one text of what it raises
        )
        self.add_argument("--version", action=PrintVersion, help="print the version, and what is compiled")

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        if action.nargs != 0:
            self.valued.update(action.option_strings)
        return action

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Return the arguments as argparse does. Raises UsageError."""
        try:
            return super().parse_args(None if args is None else self._options_first(args), namespace)
        except argparse.ArgumentError as error:
            self._refuse(error.message, error.argument_name)

    def _options_first(self, args: Sequence[str]) -> list[str]:
        """Return the arguments with what is no option last.

        argparse takes a second PATH as missing where options stand between it and the first.
        """
        options: list[str] = []
        others: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                others.extend(words)
                break
            is_option = word[:1] == "-" and word != "-" and " " not in word
            if not is_option and word.partition("=")[0] not in self._option_string_actions:
                others.append(word)
                continue
            options.append(word)
            if word in self.valued:
                for value in islice(words, 1):
                    # Behind a "=" argparse takes "-5ms.." as a value, too.
                    options[-1:] = [f"{word}={value}"] if _NEGATIVE.match(value) else [word, value]
        return [*options, *(["--"] if others else []), *others]

    def error(self, message: str) -> NoReturn:
        self._refuse(message)

    def _refuse(self, message: str, argument: str | None = None) -> NoReturn:
        refusal = _as_statement(message)
        if argument is not None:
            refusal = state("argument {argument}: {refusal}", argument=argument, refusal=refusal)
        raise usage_error("{message}; see {prog} --help", message=refusal, prog=self.prog)

    def add_trace(self) -> None:
        """Add the trace, and how it is read."""
        self.add_argument("path", metavar="PATH", help="a trace, or a directory that holds one")
        self.add_reading(JOBS)

    def add_reading(self, jobs: str) -> None:
        """Add how traces are read; `jobs` is the help of --jobs."""
        self.add_argument(
            "--no-cache",
            dest="cache",
            action="store_false",
            help="read the trace anew, and keep nothing of it (see tracetui cache --help)",
        )
        self.add_argument("--jobs", metavar="N", type=_jobs, help=jobs)
        self.add_argument(
            "--from",
            dest="export",
            choices=("json", "db"),
            help="read the JSON or the database of a run that was exported as both "
            "(default: JSON that is whole, else the database)",
        )

    def add_outputs(self, top: str | None = None) -> None:
        """Add the forms of a table; `top` is the help of --top."""
        self.add_json()
        self.add_argument("--md", action="store_true", help="print Markdown, to be pasted into a ticket")
        self.add_argument(
            "--csv", metavar="FILE", help="write a table to FILE (- for stdout) and print nothing"
        )
        self.add_force()
        if top is not None:
            self.add_argument("--top", metavar="N", type=_count, help=top)
        self.add_ascii()
        self.add_language()

    def add_json(self) -> None:
        self.add_argument("--json", action="store_true", help="print one JSON object, times in integer ns")
        self.add_argument(
            "--brief",
            action="store_true",
            help="cut the JSON down to some 2,000 tokens, and say what is left out of it",
        )

    def add_force(self, help_text: str = "replace FILE where it exists") -> None:
        self.add_argument("--force", action="store_true", help=help_text)

    def add_language(self) -> None:
        """Add in which language causes and advice are told."""
        self.add_argument(
            "--lang",
            dest="language",
            metavar="LANGUAGE",
            choices=("en", "zh"),
            help="tell causes, advice and verdicts in English (en) or, without --ascii, Chinese (zh); "
            "default: as the locale says",
        )

    def add_ascii(self, help_text: str = "print ASCII characters only") -> None:
        self.add_argument("--ascii", action="store_true", help=help_text)

    def add_scheduler(self) -> None:
        """Add what the operating system did meanwhile."""
        self.add_argument(
            "--sched",
            metavar="FILE",
            type=Path,
            help="what the scheduler of the operating system did meanwhile: text of tracefs, trace-cmd or "
            "perf, trace.dat or ftrace_data.db; of ranks on several hosts a directory of them, called "
            "rank0.txt or like a host (default: what lies beside the trace, where it is plain which)",
        )
        self.add_argument(
            "--sched-offset",
            metavar="NS",
            type=_offset,
            help="add NS nanoseconds to the times of --sched (default: as the profiler tells, or fitted)",
        )

    def add_restrictions(self, step: str = "only step N", window: str = "only this window of time") -> None:
        """Add the options that restrict the trace to a part."""
        self.add_step(step)
        self.add_argument(
            "--window",
            metavar="START..END",
            type=window_argument,
            help=f"{window}: 1.2s..1.35s, 350ms.. or ..900us from the start of the trace; numbers without "
            "a unit are its own timestamps in us, as in kernel_details.csv; of a GPU with or "
            "without baseTimeNanoseconds",
        )

    def add_step(self, step: str) -> None:
        """Add the choice of one step; `step` says what is done with it."""
        self.add_argument("--step", metavar="N", type=step_argument, help=f"{step} (ProfilerStep#N)")

    def add_sources(self, help_: str) -> None:
        """Add --source: where to look for source files, beside the trace and the working directory."""
        self.add_argument("--source", dest="sources", metavar="DIR", action=Collect, type=Path, help=help_)

    def add_all_steps(
        self, help_text: str = "compare outlier steps, too, and those not to be believed"
    ) -> None:
        """Add whether outlier steps count."""
        self.add_argument("--all-steps", action="store_true", help=help_text)

    def add_rules(self) -> None:
        """Add whose code is whose."""
        for whose, meaning in (
            ("user", "your own code, wherever they lie"),
            ("skip", "not: charge the line that called them"),
        ):
            self.add_argument(
                f"--{whose}-frame",
                dest=f"{whose}_frames",
                metavar="PREFIX",
                action=Collect,
                type=_prefix,
                help=f"files that start with PREFIX are {meaning}; may be repeated",
            )


def _as_statement(message: str) -> str:
    """Return what argparse says as a statement; what is one, or is not known, stays as it is."""
    if isinstance(message, Statement):
        return message
    for template in _REFUSALS:
        pattern = re.sub(r"\\{([a-z]+)\\}", r"(?P<\1>.*)", re.escape(template))
        if match := re.fullmatch(pattern, message, re.DOTALL):
            return state(template, **match.groupdict())
    return message


class PrintVersion(argparse.Action):
    """Prints the version, as --help prints the help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> NoReturn:
        has_scanner = importlib.util.find_spec("_tracetui_scan") is not None
        scanner = "with its compiled scanner" if has_scanner else "not compiled: large traces open later"
        sys.stdout.write(f"tracetui {__version__}, {scanner}; Python {sys.version.split()[0]}\n")
        parser.exit()


class Collect(argparse.Action):
    """Adds the value to a tuple; for options that may be repeated."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "default": ()})

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        request: argparse.Namespace,
        value: Any,
        _name: str | None = None,
    ) -> None:
        setattr(request, self.dest, (*getattr(request, self.dest), value))


def refuse_to_mix(request: Request) -> None:
    """Raise UsageError where two forms would be written to stdout."""
    forms = [form for form in ("json", "md") if getattr(request, form)]
    forms += [f"{form} -" for form in ("csv", "xlsx") if getattr(request, form) == "-"]
    if len(forms) > 1:
        raise usage_error(
            "--{first} and --{second} cannot both write to stdout", first=forms[0], second=forms[1]
        )
    if request.brief and not request.json:
        raise usage_error("--brief goes with --json; see tracetui --help")


def _prefix(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError(state("a prefix has at least one character, like /home/me/lib/"))
    return text


def window_argument(text: str) -> Window:
    try:
        return parse_window(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def step_argument(text: str) -> int:
    return _whole(text, state("a step is a whole number, like 3"))


def seconds_argument(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(state("a time is a number of seconds above 0, like 30"))
    return seconds


def _count(text: str) -> int:
    return _whole(text, state("a number of rows is a whole number, 0 for all"))


def _jobs(text: str) -> int:
    sentence = state("a number of processes is a whole number from 1 to {most}", most=MOST_JOBS)
    return _whole(text, sentence, range(1, MOST_JOBS + 1))


def _offset(text: str) -> int:
    digits = text[1:] if text.startswith("-") else text
    if digits.isascii() and digits.isdigit() and len(digits) < 19 + (digits < "4"):
        return int(text)
    raise argparse.ArgumentTypeError(state("an offset is a whole number of nanoseconds, like -1500000"))


def _whole(text: str, sentence: str, allowed: Sequence[int] = range(10**18)) -> int:
    if text.isascii() and text.isdigit() and len(text) < 19 and int(text) in allowed:
        return int(text)
    raise argparse.ArgumentTypeError(sentence)
