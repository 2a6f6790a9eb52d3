"""`tracetui experts`: how uneven the experts of a job are, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.cli.job_parser import job_command
from tracetui.cli.parser import Request

if TYPE_CHECKING:
    from tracetui.job.job import Job

_DESCRIPTION = """Print how many tokens the experts of each rank work at in each layer of a
mixture of experts, how long ranks wait for each other and move tokens in the
all-to-alls of that layer, and what perfectly balanced experts would save, by
replay. Imbalance is the most tokens of a rank divided by the mean, on average
over steps. Tokens are the first dimension of grouped matmuls, where
kernel_details.csv tells shapes; else the bytes of the second all-to-all.

PATH is as of tracetui ranks."""


def _print_experts(request: Request, job: Job) -> None:
    from tracetui.cli.output import answer_report
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.job.experts import experts_answer, experts_document, experts_report
    from tracetui.export.tables.experts import LAYERS

    found = experts_answer(job)
    answer_report(
        request,
        what="layers",
        csv=lambda stream: write_small_table(stream, LAYERS, found.rows),
        document=lambda: experts_document(found),
        report=lambda: experts_report(found, request.top),
    )


COMMAND = job_command(
    "experts",
    "how uneven experts are, and what that costs",
    _DESCRIPTION,
    "layers that text and Markdown list (default 20), 0: all",
    _print_experts,
)
