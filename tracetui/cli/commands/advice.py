"""`tracetui advice`: what could be done about lost time."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request
from tracetui.cli.terminal import text_width

_DESCRIPTION = f"""Print what the trace says could be done about idle time, most lost time first,
each with the evidence it follows from. There is none without evidence.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_outputs()
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.analysis.advice import find_advice
    from tracetui.cli.output import answer
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.csv_table import write_table
    from tracetui.export.tables.advice import ADVICE, AdviceRows
    from tracetui.export.trace.advice_text import advice_text
    from tracetui.export.trace.documents import advice_document
    from tracetui.export.trace.markdown import advice_markdown

    analysis, _ = open_analysis(request)
    answer(
        request,
        what="pieces of advice",
        csv=lambda stream: write_table(stream, ADVICE, AdviceRows(analysis)),
        document=lambda: advice_document(analysis),
        markdown=lambda: advice_markdown(analysis),
        text=lambda: advice_text(find_advice(analysis), text_width()),
    )


COMMAND = Command(
    "advice",
    "PATH",
    "what the trace says could be done about it",
    _DESCRIPTION,
    _add_arguments,
    _run,
    has_kept_answer=True,
)
