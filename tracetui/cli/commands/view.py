"""`tracetui PATH`: the viewer, or the summary where there is no terminal for it."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli import terminal
from tracetui.cli.command import Command
from tracetui.cli.commands.compare import print_comparison
from tracetui.cli.commands.memory import print_memory
from tracetui.cli.commands.ranks import print_ranks
from tracetui.cli.commands.summary import print_summary
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import PATHS, Parser, Request, usage_error
from tracetui.language import state
from tracetui.trace.clean import printable

if TYPE_CHECKING:
    from tracetui.job.load import FoundRanks
    from tracetui.places import SharedPlace

_DESCRIPTION = f"""Show a profiler trace of model training on Ascend NPUs (or GPUs) in the
terminal; two open on their comparison. Without a terminal on stdin and stdout,
print the summary, of two the comparison. A snapshot of PyTorch's allocator (a
pickle) opens at the screen of memory, read without running anything in it.

{PATHS}

A directory of several ranks opens as one job (see tracetui ranks --help), two
of them on the comparison of both jobs."""

_PALETTES = {"colours": ("auto", "ansi", "256", "true", "none"), "background": ("light", "dark")}
_HIDDEN = "\nThe viewer is drawn on stderr, which is redirected: this is the summary.\n"


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument(
        "more_paths", metavar="PATH", nargs="*", help="more traces: two are compared, of more a list is shown"
    )
    parser.add_restrictions("open the viewer at this step", "open the viewer at this window")
    parser.add_sources("look for the Python files of the trace under DIR; may be repeated")
    parser.add_argument(
        "--palette",
        metavar="COLOURS",
        type=_palette,
        default=("auto", "auto"),
        help="ansi (16 colours), 256, true or none; light or dark, as the background is; or both: 256,light "
        "(default: by TERM, COLORTERM and NO_COLOR, 16 colours over SSH; the terminal is asked for its "
        "background)",
    )
    parser.add_ascii("draw with ASCII characters only")
    parser.add_language()
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal"
    )
    parser.add_argument(
        "--at", dest="place", metavar="PLACE", type=_place, help="open the viewer at a place that u copied"
    )
    parser.add_all_steps("means and comparisons are of all steps, also of those not to be believed")
    parser.add_scheduler()
    parser.add_rules()
    parser.add_argument(
        "--editor", metavar="COMMAND", help="what o opens a line in (default: $VISUAL, else $EDITOR)"
    )


def _place(text: str) -> SharedPlace:
    from tracetui.places import NotAPlace, parse_place

    try:
        return parse_place(text)
    except NotAPlace as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _palette(text: str) -> tuple[str, str]:
    """Return the colours and the background of "256", "light" or "256,light"; "auto" for what is not said."""
    chosen = {}
    for word in text.split(","):
        kind = next((kind for kind, words in _PALETTES.items() if word in words), "")
        if not kind or kind in chosen:
            every = tuple(word for words in _PALETTES.values() for word in words)
            raise argparse.ArgumentTypeError(
                state("a palette is one of {names}, or two, like 256,light", names=every)
            )
        chosen[kind] = word
    return chosen.get("colours", "auto"), chosen.get("background", "auto")


def _run(request: Request) -> int:
    from tracetui.siblings.snapshot import is_pickle

    if request.sched is not None and not request.sched.exists():
        raise usage_error("{sched}: there is no such file", sched=printable(str(request.sched)))
    if request.more_paths and Path(request.path).name == request.path and not os.path.lexists(request.path):
        word = printable(request.path)
        raise usage_error(
            "there is no file {word}, and no command of that name; see tracetui --help", word=word
        )
    if request.sched is not None and request.more_paths:
        raise usage_error("--sched is of one trace or job: the operating system of others is not told")
    front = terminal.choose_front(os.environ, sys.stdin, sys.stdout, sys.stderr)
    if front is terminal.Front.DUMB:
        raise usage_error("this terminal (TERM) cannot show the viewer; tracetui summary PATH prints text")
    if front is not terminal.Front.VIEWER and len(request.more_paths) > 1:
        raise usage_error("several traces are for the viewer, which needs a terminal; give one or two")
    if front is terminal.Front.VIEWER:
        return _view(request)
    if request.place is not None:
        raise usage_error("--at is for the viewer, which needs a terminal")
    if request.more_paths:
        from tracetui.cli.comparing import RunPart

        paths = (request.path, *request.more_paths)
        base, other = (RunPart(path, request.step, request.window) for path in paths)
        print_comparison(request, base, other, None)
    elif is_pickle(Path(request.path)):
        print_memory(request, "line")
    elif _job(request) is not None:
        if request.window is not None:
            raise usage_error("--window is of one trace: these are several ranks")
        print_ranks(request, [Path(request.path)])
    else:
        from tracetui.cli.output import print_text

        print_summary(request)
        if front is terminal.Front.HIDDEN:
            print_text(_HIDDEN, request)
    return ExitCode.OK


def _view(request: Request) -> int:
    from tracetui.cli.output import wants_ascii
    from tracetui.cli.reading_options import rules_of, scheduler_source
    from tracetui.cli.signals import raise_if_signalled
    from tracetui.reader.errors import Reason, UnreadableTrace
    from tracetui.reader.locate import locate_trace
    from tracetui.siblings.snapshot import is_pickle

    snapshot = is_pickle(Path(request.path))
    if snapshot and request.more_paths:
        raise usage_error("a snapshot of memory is viewed alone: give one path")
    if snapshot and request.window is not None:
        raise usage_error("a snapshot has no times: --window is for traces")
    jobs = _two_jobs(request)
    job_ranks = None if jobs else _job(request)
    separate_runs = False
    paths: list[Path] = []
    if not (job_ranks or jobs):
        try:
            paths = [locate_trace(path, request.export) for path in (request.path, *request.more_paths)]
        except UnreadableTrace as error:
            separate_runs = error.reason is Reason.DIRECTORY and not (request.more_paths or request.export)
            if not separate_runs:
                raise
    terminal.prepare_viewer(os.environ)
    if request.editor:
        os.environ["VISUAL"] = request.editor
    colours, background = request.palette
    if colours == "auto":
        colours = terminal.choose_palette(os.environ)
    light, typed = background == "light", b""
    if background == "auto" and colours != "none":
        light, typed = _ask_for_background()
    # Only here, and in the time a terminal takes to answer, is textual imported.
    from tracetui.ui.app import run_viewer
    from tracetui.ui.options import ViewerOptions

    if request.place is not None:
        from tracetui.ui.screen_specs import SCREENS

        if request.place.screen not in SCREENS:
            raise usage_error(
                "a place is on one of {screens}, not on {screen}",
                screens=", ".join(SCREENS),
                screen=request.place.screen,
            )
    options = ViewerOptions(
        palette=colours,
        light=light,
        typed=typed,
        ascii=wants_ascii(request),
        mouse=request.mouse,
        scheduler=scheduler_source(request),
        cache=request.cache,
        jobs=request.jobs,
        sources=request.sources,
        step=request.step,
        window=request.window,
        place=request.place,
        all_steps=request.all_steps,
        paths=(request.path, *request.more_paths),
        rules=rules_of(request),
    )
    raise_if_signalled()
    if snapshot:
        from tracetui.api import load_snapshot
        from tracetui.ui.snapshot_app import run_snapshot

        return run_snapshot(paths[0], lambda: load_snapshot(paths[0], options.rules), options)
    if jobs is not None:
        from tracetui.ui.jobs_app import run_jobs

        return run_jobs((Path(request.path), Path(request.more_paths[0])), jobs, options)
    if job_ranks is not None:
        from tracetui.ui.job_app import run_job

        return run_job(job_ranks, options)
    if separate_runs:
        from tracetui.ui.app import run_separate

        return run_separate(Path(request.path), options)
    return run_viewer(paths, options)


def _job(request: Request) -> FoundRanks | None:
    """Return the ranks of a directory that holds several; None where one trace, or a list, is meant."""
    path = Path(request.path)
    if request.more_paths or not path.is_dir():
        return None
    from tracetui.job.load import ranks_below

    return ranks_below(path, request.export)


def _two_jobs(request: Request) -> tuple[FoundRanks, FoundRanks] | None:
    """Return the ranks of two paths of which one holds several; None of others.

    Raises UnreadableTrace where the other one holds none.
    """
    paths = [Path(path) for path in (request.path, *request.more_paths)]
    if len(paths) != 2 or not any(path.is_dir() for path in paths):
        return None
    from tracetui.job.load import find_ranks, ranks_below

    if all(ranks_below(path, request.export) is None for path in paths):
        return None
    base, other = (find_ranks([path], export=request.export) for path in paths)
    return base, other


def _ask_for_background() -> tuple[bool, bytes]:
    """Return whether the background of the terminal is light, and what was typed while it was asked."""
    from tracetui.ui import terminal_colour

    if not terminal_colour.can_ask(os.environ):
        return terminal_colour.light_by_environment(os.environ), b""
    with terminal_colour.asked() as question:
        importlib.import_module("tracetui.ui.app")
        light = question.wait()
    return terminal_colour.light_by_environment(os.environ) if light is None else light, question.typed


COMMAND = Command("", "PATH", "the viewer", _DESCRIPTION, _add_arguments, _run)
