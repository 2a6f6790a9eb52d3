"""The pipeline of a job as JSON, and as a report with a chart of stages and time."""

from __future__ import annotations

from functools import partial
from typing import Any

from tracetui.export.job.report import Report, table_section
from tracetui.export.job.whatif import replay_sentences
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.tables.column import records
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.pipeline import PIPELINE_STAGES
from tracetui.export.text import MARGIN
from tracetui.job.job import Job
from tracetui.job.pipeline import Pipeline
from tracetui.job.pipeline_blocks import BOTH, FORWARD, WEIGHTS
from tracetui.job.pipeline_chart import stage_chart, usual_step
from tracetui.language import in_english, translate
from tracetui.units import format_duration, format_error, format_percent

_TOP = 32  # stages that are listed
_NAMES = {"1f1b": "1F1B", "gpipe": "GPipe", "interleaved": "interleaved 1F1B", "dualpipe": "DualPipe"}
_FORMULAS = {
    "1f1b": "(p - 1)(F + B)",
    "gpipe": "(p - 1)(F + B)",
    "interleaved": "(p - 1)(F + B)/v",
    "dualpipe": "(p/2 - 1)(F&B + B - 3W)",
}
_NOTHING = "·"


@in_english()
def pipeline_document(job: Job, pipeline: Pipeline | None) -> dict[str, Any]:
    """Return the document of a pipeline; times are means of the ranks and steps of a stage."""
    if pipeline is None:
        return {
            "schema": SCHEMA,
            "schedule": "unknown",
            "stages": [],
            "balance_saves_ns": None,
            "closed_form_ns": None,
        }
    return {
        "schema": SCHEMA,
        "schedule": pipeline.schedule,
        "stages": records(PIPELINE_STAGES, JobRows(job, pipeline.stages)),
        "balance_saves_ns": pipeline.balance_saves_ns,
        "closed_form_ns": pipeline.closed_form_ns,
    }


def pipeline_report(job: Job, pipeline: Pipeline | None, top: int | None) -> Report:
    """Return the report of a pipeline; at most `top` stages, 0 for all. Its chart is in text only."""
    if pipeline is None:
        return Report(head_words(job), pipeline_sentences(None), [])
    top = _TOP if top is None else top
    title = translate("Stages, of a mean step")
    section = table_section(title, PIPELINE_STAGES, JobRows(job, pipeline.stages), top)
    chart = partial(_chart, pipeline, top)
    return Report(head_words(job), pipeline_sentences(pipeline), [section], chart=chart)


def pipeline_sentences(pipeline: Pipeline | None) -> list[str]:
    """Return what schedule the stages follow, what their bubbles are, and what equal stages save."""
    if pipeline is None:
        return [translate("No pipeline is seen: no two stages here send forward and backward to each other.")]
    bubble = sum(stage.bubble_ns for stage in pipeline.stages) // len(pipeline.stages)
    schedule = sum(stage.schedule_ns for stage in pipeline.stages) // len(pipeline.stages)
    template = (
        "A stage is in a bubble for {bubble} ({share}) of a step of {step}, {schedule} by the schedule."
    )
    if pipeline.schedule == "unknown":
        template = "A stage is in a bubble for {bubble} ({share}) of a step of {step}."
    sentences = [
        _schedule_words(pipeline),
        translate(
            template,
            bubble=format_duration(bubble),
            step=format_duration(pipeline.step_ns),
            share=format_percent(bubble, pipeline.step_ns),
            schedule=format_duration(schedule),
        ),
    ]
    if pipeline.closed_form_ns is not None:
        sentences.append(
            translate(
                "In theory the schedule costs {time}: {formula}.",
                formula=_FORMULAS[pipeline.schedule],
                time=format_duration(pipeline.closed_form_ns),
            )
        )
    return [
        *sentences,
        *replay_sentences(pipeline.order.job, pipeline.error),
        translate(
            "Work spread evenly saves {time} of a step; the replay is off by {error}.",
            time=format_duration(max(pipeline.balance_saves_ns, 0)),
            error=format_error(pipeline.error),
        ),
    ]


def _schedule_words(pipeline: Pipeline) -> str:
    """Say what schedule the stages follow; with one micro-batch two are the same."""
    count = len(pipeline.stages)
    if count < pipeline.stage_count:
        return translate(
            "{count} of {all} stages are here: which schedule they follow is not known.",
            count=count,
            all=pipeline.stage_count,
        )
    schedule = _NAMES.get(pipeline.schedule) or translate("an unknown schedule")
    batches = max(stage.microbatches or 0 for stage in pipeline.stages)
    template = "{count} stages follow {schedule} with {batches} micro-batches."
    if batches == 1:
        template = "{count} stages follow {schedule} with 1 micro-batch."
        schedule = translate("1F1B or GPipe") if pipeline.schedule == "1f1b" else schedule
    return translate(template, count=count, schedule=schedule, batches=batches)


def _chart(pipeline: Pipeline, top: int, width: int) -> list[str]:
    """Return a title, and a line of cells for each stage: what its first rank does in a usual step."""
    chart = stage_chart(pipeline, usual_step(pipeline))
    lines = [_chart_title(pipeline)]
    if chart is None:
        return [*lines, ""]
    length = max(chart.end - chart.start, 1)
    label = max(len(str(stage.number)) for stage in pipeline.stages) + len(MARGIN) + 1
    cells = max(width - label, 8)
    for stage in pipeline.stages[: top or None]:
        line = [_NOTHING] * cells
        for stage_pass in chart.passes[stage.number]:
            first = (stage_pass.start - chart.start) * cells // length
            stop = max((stage_pass.end - chart.start) * cells // length, first + 1)
            line[first:stop] = pass_letters(stage_pass.way, min(stop, cells) - first)
        lines.append(f"{MARGIN}{stage.number:>{label - len(MARGIN) - 1}} {''.join(line)}")
    return [*lines, ""]


def _chart_title(pipeline: Pipeline) -> str:
    ways = {way for block in pipeline.blocks for way in block.ways}
    if ways & {BOTH, WEIGHTS}:
        return translate("Stages, one step: F forward, B backward (of weights alone W), FB both at once")
    return translate("Stages, one step: F forward, B backward")


def pass_letters(way: int, cells: int) -> str:
    """Return the letters of a pass, one for each cell; of two at once in turn."""
    if way == BOTH:
        return ("FB" * cells)[:cells]
    return ("F" if way == FORWARD else "W" if way == WEIGHTS else "B") * cells
