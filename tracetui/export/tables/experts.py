"""The table of the layers of experts of a job: how uneven they are, and what waiting and moving take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracetui.export.tables.column import Column, Form, Table, Values, data, duration, json_only
from tracetui.export.tables.common import optional_floats, optional_numbers, texts_by, values_of
from tracetui.export.tables.job import JobRows
from tracetui.job.experts import ExpertLayer, TokenUnit
from tracetui.job.job import Job
from tracetui.language import translate
from tracetui.units import format_bytes, format_count


class LayerRows(JobRows):
    """The layers of a job; `groups` are those in which ranks exchange tokens, by place of the rank."""

    def __init__(self, job: Job, rows: tuple[ExpertLayer, ...], groups: Mapping[int, int]) -> None:
        super().__init__(job, rows)
        self.groups = dict(groups)


def _imbalance(rows: LayerRows) -> Values:
    return optional_floats(layer.imbalance(rows.groups) for layer in rows.rows)


def _hot(rows: LayerRows) -> Values:
    hot = (layer.hot_ranks(rows.groups) for layer in rows.rows)
    return optional_numbers([rows.job.ranks[places[0]].number if places else None for places in hot])


def _tokens(rows: LayerRows) -> list[dict[str, int | None]]:
    return [
        {str(rows.job.ranks[place].number): tokens for place, tokens in layer.tokens.items()}
        for layer in rows.rows
    ]


def _most_tokens(rows: LayerRows) -> Values:
    hot = ((layer, layer.hot_ranks(rows.groups)) for layer in rows.rows)
    return optional_numbers([layer.tokens[places[0]] if places else None for layer, places in hot])


def _most_words(rows: LayerRows) -> list[str]:
    tokens = np.asarray(_most_tokens(rows)).tolist()
    return [token_words(most, layer.unit) for most, layer in zip(tokens, rows.rows)]


def token_words(tokens: int, unit: TokenUnit) -> str:
    """Return how many tokens those are, or how many bytes or elements they have."""
    if unit is TokenUnit.BYTES:
        return format_bytes(tokens)
    count = format_count(tokens)
    return count if unit is TokenUnit.TOKENS else translate("{count} elements", count=count)


LAYERS: Table[LayerRows] = Table(
    columns=(
        Column("layer", "layer", values_of("number")),
        Column("imbalance", "imbalance", _imbalance, lambda ratio, _: f"{ratio:.3f}", optional=True),
        Column("hot_rank", "hot rank", _hot, optional=True),
        json_only("tokens", _tokens),
        data("token_unit", texts_by(lambda layer: layer.unit.value)),
        Column(
            "most_tokens",
            "its tokens",
            _most_tokens,
            forms=Form.FRAME | Form.SHOWN,
            optional=True,
            words=_most_words,
        ),
        duration("waiting_ns", "waiting", values_of("waiting_ns")),
        duration("moving_ns", "moving", values_of("moving_ns")),
    ),
    kind="layer",
    identity=("layer",),
)
