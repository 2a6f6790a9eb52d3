"""The experts of a job as JSON, as a report, and as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracetui.export.job.report import Report, table_section
from tracetui.export.job.whatif import replay_sentences
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.job import head_words
from tracetui.export.tables.column import records
from tracetui.export.tables.experts import LAYERS, LayerRows
from tracetui.job.experts import ExpertLayer, exchange_groups, expert_layers, is_exchange, missing_members
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.job.whatif.answer import NoReplay, Replays
from tracetui.job.whatif.durations import UnknownFix
from tracetui.job.whatif.fixes import BALANCED_EXPERTS
from tracetui.language import counted, in_english, restate, translate
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
    saves_ns: int | None  #: of a step, by replay, with all layers balanced; None without layers, or a replay
    error: float  #: of the replay


def experts_answer(job: Job, replays_of: Callable[[Job], Replays] = Replays) -> ExpertsAnswer:
    """Return the layers of experts of a job; none where no rank exchanges tokens.

    `replays_of` makes its replays, or has them already.
    """
    rows = LayerRows(job, expert_layers(job), exchange_groups(job))
    if not rows.rows:
        return ExpertsAnswer(rows, 0, None, 0.0)
    try:
        replays = replays_of(job)
        trial = replays.trial([BALANCED_EXPERTS])
    except (NoReplay, UnknownFix):
        return ExpertsAnswer(rows, 0, None, 0.0)
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
    found = balance_sentences(answer)
    if answer.rows.rows and answer.saves_ns is not None:
        saves_ns = max(answer.saves_ns, 0)
        found += [
            translate(
                "Balanced experts and sends save {time} ({share}) of a step of {step}; the replay is off by "
                "{error}.",
                time=format_duration(saves_ns),
                share=format_percent(saves_ns, answer.step_ns),
                step=format_duration(answer.step_ns),
                error=format_error(answer.error),
            ),
            *replay_sentences(answer.rows.job, answer.error),
        ]
    return found


def balance_sentences(answer: ExpertsAnswer) -> list[str]:
    """Return which layer and rank is worst, and which ranks are not compared."""
    rows = answer.rows
    job, groups = rows.job, rows.groups
    if not rows.rows:
        if any(is_exchange(rank.digest).any() for rank in job.ranks):
            return [translate("No rank exchanges tokens with others: there is no pair of all-to-alls.")]
        return [translate("There is no all-to-all: how many tokens the experts work at is not known.")]
    ratios = {layer.number: ratio for layer in rows.rows if (ratio := layer.imbalance(groups)) is not None}
    if not ratios:
        if any(None in layer.tokens.values() for layer in rows.rows):
            return [translate("How many tokens the experts work at is not known.")]
        return [translate("No two ranks of a group are here: how uneven its experts are is not known.")]
    absent = missing_members(job, groups)
    worst = max(rows.rows, key=lambda layer: ratios.get(layer.number, 0))
    if ratios[worst.number] < _EVEN:
        template = (
            "The experts are balanced: on average over steps no rank has 1 % more tokens than the mean."
        )
        if absent:
            template = (
                "The experts of the ranks here are balanced: on average over steps none has 1 % more tokens "
                "than their mean."
            )
        found = [translate(template)]
    else:
        found = [_worst_layer_words(rows, worst, ratios)]
    if absent:
        found.append(
            counted(
                absent,
                "1 rank of their groups is missing, and may have more tokens.",
                "{count} ranks of their groups are missing, and may have more tokens.",
            )
        )
    return found


def _worst_layer_words(rows: LayerRows, worst: ExpertLayer, ratios: Mapping[int, float]) -> str:
    """Say how uneven the worst layer is. `ratios`: the imbalance of each layer, by number."""
    ratio = ratios[worst.number]
    hot = [rows.job.ranks[place].number for place in worst.hot_ranks(rows.groups)]
    template = (
        "Layer {layer} is the least balanced: the fullest rank of a step has {ratio} times the mean, "
        "and {ranks} most tokens of all steps."
    )
    if sum(f"{other:.3f}" == f"{ratio:.3f}" for other in ratios.values()) > 1:
        template = (
            "No layer is less balanced than layer {layer}: the fullest rank of a step has {ratio} times the "
            "mean, and {ranks} most tokens of all steps."
        )
    ranks = restate(ranks_in_words(hot, 0))
    return translate(template, layer=worst.number, ranks=ranks, ratio=f"{ratio:.2f}")
