"""`tracetui experts`: how uneven the experts of a job are, and what that costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Parser, Request, add_outputs
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.job.job import Job

_DESCRIPTION = """Print how many tokens the experts of each rank work at in each layer of a
mixture of experts, how long ranks wait for each other and move tokens in the
all-to-alls of that layer, and what perfectly balanced experts would save, by
replay. Imbalance is the most tokens of a rank divided by the mean, on average
over steps. Tokens are the first dimension of grouped matmuls, where
kernel_details.csv tells shapes; else the bytes of the second all-to-all.

PATH is as of tracetui ranks."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    add_outputs(parser, "layers that are listed (default 20), 0: all")


def _run(request: Request) -> ExitCode:
    from tracetui.cli.job_reading import print_job

    print_job(request, request.paths, request.only, partial(_print_experts, request))
    return ExitCode.OK


def _print_experts(request: Request, job: Job) -> None:
    from tracetui.cli.output import answer
    from tracetui.export.job import experts

    found = experts.experts_answer(job)
    top = experts.TOP if request.top is None else request.top
    answer(
        request,
        what="layers",
        csv=lambda stream: experts.write_layers(stream, found),
        document=lambda: experts.experts_document(found),
        markdown=lambda: experts.experts_markdown(found, top),
        text=lambda: experts.experts_text(found, text_width(), top),
    )


COMMAND = Command(
    "experts",
    "experts PATH...",
    "how uneven experts are, and what that costs",
    _DESCRIPTION,
    _add_arguments,
    _run,
)
