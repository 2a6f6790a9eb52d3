"""`tracetui export`: the slices of a window of time, as CSV."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request, usage_error
from tracetui.units import OPEN_END

_DESCRIPTION = f"""Write the events of a window of time as CSV, one slice a row, by start.

A slice is written, whole, if any part of it lies in the window; one without
length, if it starts there. --step is the window from the step's start on the
host to its end, there or on a device, whichever is later; with --window too,
what both have in common. Without either, all slices are written.

The column step is, for what starts on a device, the step in whose device part
it starts, for all else the ProfilerStep#N of the host around it. Text that a
spreadsheet would take for a formula gets an apostrophe in front.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument("--csv", metavar="FILE", required=True, help="the file to write; - for stdout")
    parser.add_force()
    parser.add_argument(
        "--tracks", metavar="TEXT", help='only tracks with TEXT in "process/thread", in upper or lower case'
    )
    parser.add_restrictions()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import write_csv
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.trace.events_csv import matching_tracks, write_events
    from tracetui.export.trace.step_numbers import StepNumbers
    from tracetui.trace.clean import printable

    analysis, selection = open_analysis(request)
    trace = analysis.trace
    start, end = selection.window or (trace.start_ns, trace.start_ns + OPEN_END)
    if selection.step is not None:
        step_start, step_end = StepNumbers(analysis).window(selection.step)
        start, end = max(start, step_start), min(end, step_end)
    tracks = None if request.tracks is None else matching_tracks(trace, request.tracks)
    if tracks is not None and not tracks:
        raise usage_error(
            "no track of this trace has {tracks} in its name", tracks=repr(printable(request.tracks))
        )
    write_csv(request, lambda stream: write_events(stream, analysis, start, end, tracks), "events")


COMMAND = Command(
    "export", "PATH", "the events of a window of time, as CSV", _DESCRIPTION, _add_arguments, _run
)
