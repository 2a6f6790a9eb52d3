"""The experts of a job as JSON, as a report, and as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracetui.export.job.report import Report, table_section
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.tables.column import records
from tracetui.export.tables.experts import LAYERS, LayerRows
from tracetui.job.experts import exchange_groups, expert_layers
from tracetui.job.job import Job
from tracetui.job.whatif.answer import NoReplay, Replays
from tracetui.job.whatif.durations import UnknownFix
from tracetui.job.whatif.fixes import BALANCED_EXPERTS
from tracetui.language import in_english, translate
from tracetui.units import format_duration, format_error, format_percent

if TYPE_CHECKING:
    import pandas as pd

_TOP = 20  # layers that are listed
_EVEN = 1.01  # imbalance up to which a layer is called balanced


@dataclass(frozen=True)
class ExpertsAnswer:
    """The layers of experts of a job, and what balancing them saves."""

    rows: LayerRows
    step_ns: int  #: the mean step, as replayed
    saves_ns: int  #: of a step, by replay, with all layers balanced
    error: float  #: of the replay


def experts_answer(job: Job, replays_of: Callable[[Job], Replays] = Replays) -> ExpertsAnswer:
    """Return the layers of experts of a job; none where no rank exchanges tokens.

    `replays_of` makes its replays, or has them already.
    """
    rows = LayerRows(job, expert_layers(job), exchange_groups(job))
    if not rows.rows:
        return ExpertsAnswer(rows, 0, 0, 0.0)
    try:
        replays = replays_of(job)
        trial = replays.trial([BALANCED_EXPERTS])
    except (NoReplay, UnknownFix):
        return ExpertsAnswer(rows, 0, 0, 0.0)
    return ExpertsAnswer(rows, replays.step_ns, trial.saves_ns, replays.error)


@in_english()
def experts_document(answer: ExpertsAnswer) -> dict[str, Any]:
    """Return the document of the experts of a job; times are sums over all ranks and steps."""
    layers = records(LAYERS, answer.rows) if answer.rows.rows else []
    return {"schema": SCHEMA, "layers": layers, "balance_saves_ns": answer.saves_ns}


def experts_report(answer: ExpertsAnswer, top: int | None) -> Report:
    """Return the report of the layers; at most `top`, 0 for all."""
    title = translate("Layers of experts, all ranks and steps together")
    section = table_section(title, LAYERS, answer.rows, _TOP if top is None else top)
    sections = [section] if answer.rows.rows else []
    return Report(head_words(answer.rows.job), experts_sentences(answer), sections)


def experts_frame(job: Job) -> pd.DataFrame:
    """Return a row per layer of experts; times are sums over all ranks and steps."""
    from tracetui.export.data_frame import small_frame  # imports pandas

    return small_frame(LAYERS, LayerRows(job, expert_layers(job), exchange_groups(job)))


def experts_sentences(answer: ExpertsAnswer) -> list[str]:
    """Return what uneven experts cost, and which layer and rank is worst."""
    rows = answer.rows
    if not rows.rows:
        return [translate("No rank exchanges tokens with others: there is no all-to-all.")]
    worst = max(rows.rows, key=lambda layer: layer.imbalance(rows.groups))
    ratio = worst.imbalance(rows.groups)
    if ratio < _EVEN:
        found = [translate("The experts are balanced: no rank has 1 % more tokens than the mean.")]
    else:
        found = [
            translate(
                "Layer {layer} is the least balanced: the fullest rank of a step has {ratio} times the mean, "
                "and rank {rank} most tokens of all steps.",
                layer=worst.number,
                rank=rows.job.ranks[worst.hot_rank].number,
                ratio=f"{ratio:.2f}",
            )
        ]
    if answer.step_ns:
        found.append(
            translate(
                "Balanced experts save {time} ({share}) of a step of {step}; the replay is off by {error}.",
                time=format_duration(max(answer.saves_ns, 0)),
                share=format_percent(max(answer.saves_ns, 0), answer.step_ns),
                step=format_duration(answer.step_ns),
                error=format_error(answer.error),
            )
        )
    return found
