"""`tracetui scheduler`: what the operating system did with the threads of the host."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request, usage_error
from tracetui.cli.terminal import text_width

_DESCRIPTION = f"""Print what the scheduler of the operating system did while a trace was recorded:
what of the idle time it explains, of each thread how long it ran, was ready and
had no core, slept or was interrupted, who had its core, and what each core did.

--sched names the recording: text of tracefs or `trace-cmd report`, of `perf
script`, a trace.dat (where trace-cmd is installed) or ftrace_data.db of
MindStudio Insight. One beside the trace is found. --csv writes the threads.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_scheduler()
    parser.add_outputs()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import answer
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.csv_table import write_table
    from tracetui.export.tables.scheduler import THREADS, ThreadTimeRows
    from tracetui.export.trace.scheduler import scheduler_document, scheduler_markdown, scheduler_text

    analysis, _ = open_analysis(request)
    scheduler, summary = analysis.scheduler, analysis.scheduler_summary
    if scheduler is None or summary is None:
        raise usage_error(
            "there is no recording of the scheduler beside this trace: name one with --sched FILE"
        )
    answer(
        request,
        what="threads",
        csv=lambda stream: write_table(stream, THREADS, ThreadTimeRows(summary)),
        document=lambda: scheduler_document(analysis, scheduler, summary),
        markdown=lambda: scheduler_markdown(analysis, scheduler, summary),
        text=lambda: scheduler_text(analysis, scheduler, summary, text_width()),
    )


COMMAND = Command(
    "scheduler",
    "PATH",
    "what the operating system did with the host's threads",
    _DESCRIPTION,
    _add_arguments,
    _run,
)
