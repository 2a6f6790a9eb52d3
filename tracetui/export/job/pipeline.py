"""The pipeline of a job as JSON, as text with a chart of stages and time, as Markdown, and as csv."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from tracetui.export import markdown
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.tables.column import records
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, wrapped
from tracetui.job.job import Job
from tracetui.job.pipeline import FORWARD, Pipeline, StageBlock
from tracetui.language import in_english, translate
from tracetui.units import format_duration, format_percent

TOP = 32  #: stages that are listed
_NAMES = {"1f1b": "1F1B", "gpipe": "GPipe", "interleaved": "interleaved 1F1B"}
_NOTHING = "·"


@in_english()
def pipeline_document(job: Job, pipeline: Pipeline | None) -> dict[str, Any]:
    """Return the document of a pipeline; times are means of the ranks and steps of a stage."""
    if pipeline is None:
        return {"schema": SCHEMA, "schedule": "unknown", "stages": [], "balance_saves_ns": 0}
    return {
        "schema": SCHEMA,
        "schedule": pipeline.schedule,
        "stages": records(PIPELINE_STAGES, JobRows(job, pipeline.stages)),
        "balance_saves_ns": pipeline.balance_saves_ns,
    }


def pipeline_text(job: Job, pipeline: Pipeline | None, width: int, top: int = TOP) -> str:
    """Return the pipeline as text; at most `top` stages, 0 for all."""
    lines = [head_words(job), ""]
    for sentence in _sentences(pipeline):
        lines += wrapped(sentence, width, later=MARGIN)
    lines.append("")
    if pipeline is not None:
        lines += [translate("Stages, one step: F forward, B backward"), *_chart(pipeline, width, top), ""]
        rows = JobRows(job, pipeline.stages).first(top)
        lines += [translate("Stages, of a mean step"), *text_table(PIPELINE_STAGES, rows, width), ""]
    return "\n".join(lines)


def pipeline_markdown(job: Job, pipeline: Pipeline | None, top: int = TOP) -> str:
    """Return the pipeline as Markdown; at most `top` stages, 0 for all."""
    lines = [f"## {markdown.plain(head_words(job))}", ""]
    lines += [markdown.plain(sentence) for sentence in _sentences(pipeline)] + [""]
    if pipeline is not None:
        rows = JobRows(job, pipeline.stages).first(top)
        lines += [
            f"### {translate('Stages, of a mean step')}",
            "",
            *markdown_table(PIPELINE_STAGES, rows),
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def write_stages(stream: BinaryIO, job: Job, pipeline: Pipeline | None) -> int:
    """Write the stages as csv; returns their number."""
    from tracetui.export.data_frame import small_frame  # imports pandas

    rows = JobRows(job, () if pipeline is None else pipeline.stages)
    stream.write(small_frame(PIPELINE_STAGES, rows).to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return len(rows.rows)


def _sentences(pipeline: Pipeline | None) -> list[str]:
    if pipeline is None:
        return [translate("This is no pipeline: no stages send to each other.")]
    bubble = sum(stage.bubble_ns for stage in pipeline.stages) // len(pipeline.stages)
    schedule = sum(stage.schedule_ns for stage in pipeline.stages) // len(pipeline.stages)
    return [
        translate(
            "{count} stages follow {schedule} with {batches} micro-batches.",
            count=len(pipeline.stages),
            schedule=_NAMES.get(pipeline.schedule) or translate("an unknown schedule"),
            batches=max(stage.microbatches for stage in pipeline.stages),
        ),
        translate(
            "A stage is in a bubble for {bubble} ({share}) of a step of {step}, {schedule} by the schedule.",
            bubble=format_duration(bubble),
            step=format_duration(pipeline.step_ns),
            share=format_percent(bubble, pipeline.step_ns),
            schedule=format_duration(schedule),
        ),
        translate(
            "Stages of equal lengths save {time} of a step; the replay is off by {error}.",
            time=format_duration(max(pipeline.balance_saves_ns, 0)),
            error=f"{pipeline.error * 100:.1f} %",
        ),
    ]


def _chart(pipeline: Pipeline, width: int, top: int) -> list[str]:
    """Return a line of cells for each stage: what its first rank does in a step of usual length."""
    times = pipeline.order.times()
    lengths = pipeline.order.step_times(times.start, times.end)
    step = int(np.argsort(lengths, kind="stable")[len(lengths) // 2])
    blocks = [block for block in pipeline.blocks if block.step == step]
    if not blocks:
        return []
    low = min(block.start(times) for block in blocks)
    high = max(block.end(times) for block in blocks)
    label = len(str(len(pipeline.stages) - 1)) + len(MARGIN) + 1
    cells = max(width - label, 8)
    lines = []
    for stage in pipeline.stages[: top or None]:
        line = [_NOTHING] * cells
        of_stage = [block for block in blocks if block.stage == stage.number]
        place = min((block.place for block in of_stage), default=-1)
        for block in of_stage:
            if block.place == place:
                for way, start, end in _passes(block, block.start(times), block.end(times), pipeline):
                    first = (start - low) * cells // max(high - low, 1)
                    stop = max((end - low) * cells // max(high - low, 1), first + 1)
                    line[first:stop] = ["F" if way == FORWARD else "B"] * (min(stop, cells) - first)
        lines.append(f"{MARGIN}{stage.number:>{label - len(MARGIN) - 1}} {''.join(line)}")
    return lines


def _passes(block: StageBlock, start: int, end: int, pipeline: Pipeline) -> list[tuple[int, int, int]]:
    """Return way, start and end of the passes in a block."""
    if len(block.ways) == 1:
        return [(block.ways[0], start, end)]
    share = pipeline.forward_share if block.ways[0] == FORWARD else 1 - pipeline.forward_share
    middle = start + round((end - start) * share)
    return [(block.ways[0], start, middle), (block.ways[1], middle, end)]
