"""The columns of the links of a job, of links made by hand: what is known of each, and what is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from tracetui.analysis.communication.speeds import Slowness
from tracetui.export.data_frame import small_frame
from tracetui.export.tables.column import Column, Form, Table, records
from tracetui.export.tables.job_links import LINKS
from tracetui.job.network_links import JobLink, LinkEnds

SLOW, USUAL = Slowness(True, 2_000_000, 500_000), Slowness(False, 0, 0)
RANKS = JobLink(
    LinkEnds(0, 1, "", -1, -1, "HCCS"),
    6_000_000,
    2_000_000,
    SLOW,
    nominal=4.0,
)
PEERS = JobLink(LinkEnds(None, 3, "271", 0, 2, ""), 0, 0, USUAL, 4.0)
OTHERS = JobLink(LinkEnds(2, None, "271", 1, 0, "SDMA"), 8, 16, USUAL, None)


def rows_of(*links: JobLink) -> Any:
    return SimpleNamespace(rows=links)


def test_what_is_not_known_of_a_link_is_none() -> None:
    keys = ("src", "dst", "group", "group_src", "group_dst", "gb_per_s", "nominal_gb_per_s", "nominal_share")
    values = [tuple(row[key] for key in keys) for row in records(LINKS, rows_of(RANKS, PEERS, OTHERS))]
    assert values == [
        (0, 1, None, None, None, 3.0, 4.0, 0.75),
        (None, 3, "271", 0, 2, None, 4.0, None),
        (2, None, "271", 1, 0, 0.5, None, None),
    ]


def test_people_read_what_is_told_of_some_link() -> None:
    for form, links, share, marked in (
        (Form.TEXT, (PEERS, OTHERS), True, True),
        (Form.TEXT, (OTHERS,), False, True),
        (Form.VIEWER, (PEERS, OTHERS), False, False),
        (Form.VIEWER, (OTHERS, RANKS), True, True),
    ):
        shown = [column.key for column in LINKS.shown(form, rows_of(*links))]
        assert ("nominal_share" in shown, "slow" in shown) == (share, marked)
    (share_of,) = [column for column in LINKS.of(Form.TEXT) if column.key == "nominal_share"]
    assert share_of.cells(rows_of(RANKS, PEERS), str).texts == ["75 %", share_of.unknown]
    ends = [column for column in LINKS.of(Form.VIEWER) if column.key in ("src", "dst")]
    texts = [column.cells(rows_of(RANKS, PEERS, OTHERS), str).texts for column in ends]
    assert texts == [["rank 0", "peer 0 of 271", "rank 2"], ["rank 1", "rank 3", "peer 0 of 271"]]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *[([True, None, False], "boolean"), ([0.5, None], "Float64"), (["a", None], "string")],
        *[([3, None], "Int64"), ([None, None], "Int64"), ([], "Int64"), ([2**62 + 1], "Int64")],
    ],
)
def test_a_column_of_a_frame_has_the_type_of_what_is_known(values: list[Any], kind: str) -> None:
    column: Column[Any] = Column("a", "", lambda rows: rows)
    frame = small_frame(Table((column,)), values)
    assert str(frame["a"].dtype) == kind
    assert [None if value is pd.NA else value for value in frame["a"]] == values
