"""`tracetui summary`: what the devices did, and why they were idle."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request
from tracetui.cli.terminal import text_width

_DESCRIPTION = f"""Print what each device of a trace did: computing, communication, free, idle,
why it was idle, the table of steps, the worst gaps, and the first advice, as
Markdown all of it.

--step and --window pick the steps and gaps that are listed: a step is in a
window if its device part starts in it, a gap if it starts in it; the gaps of a
step start in its device part. The links are those of the transfers that start
in the window. The totals, causes and marked ranges of a device, late ranks and
the advice are always those of the whole trace. --csv writes the table of steps.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_outputs(
        "rows in text and Markdown of the gaps (default 5) and of the steps (default 20); 0: all"
    )
    parser.add_restrictions()
    parser.add_scheduler()
    parser.add_all_steps("means are of all steps, also of those not to be believed")
    parser.add_rules()


def print_summary(request: Request) -> None:
    """Print or write the summary of the trace."""
    from tracetui.cli.trace_reading import open_analysis

    analysis, everything = open_analysis(request)
    # Imported by now: meanwhile.
    from dataclasses import replace

    from tracetui.cli.notes import fingerprint_of, read_notebook
    from tracetui.cli.output import answer
    from tracetui.export.csv_table import write_table
    from tracetui.export.notes import notes_document, notes_markdown
    from tracetui.export.tables.steps import STEPS, StepRows
    from tracetui.export.trace.documents import summary_document
    from tracetui.export.trace.markdown import summary_markdown
    from tracetui.export.trace.summary import summary_text

    notes = read_notebook(fingerprint_of(request.path))
    selection = replace(everything, all_steps=request.all_steps)
    answer(
        request,
        what="steps",
        csv=lambda stream: write_table(stream, STEPS, StepRows(analysis, selection.steps(analysis))),
        document=lambda: {**summary_document(analysis, selection), "notes": notes_document(notes)},
        markdown=lambda: "\n".join(
            filter(None, (summary_markdown(analysis, selection, request.top), notes_markdown(notes)))
        ),
        text=lambda: summary_text(analysis, selection, request.top, text_width()),
    )


COMMAND = Command(
    "summary",
    "PATH",
    "what the devices did, why they idled, the worst gaps",
    _DESCRIPTION,
    _add_arguments,
    print_summary,
    has_kept_answer=True,
)
