"""Queries over the tables: equal to the frames, nothing else is read, each bad one is a sentence."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.comparison.planted import run
from tests.export.training import NAMES, training_events
from tests.job import planted
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.api import load, opened
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import compare_runs
from tracetui.export.queries.answers import answer_document, answer_markdown, answer_text, write_answer
from tracetui.export.queries.query import QueryError, QueryResult, run_query
from tracetui.export.queries.query_tables import names_columns, query_words
from tracetui.export.queries.relations import Relation, comparison_relations, job_relations, trace_relations
from tracetui.export.tables.column import CodedTexts, Column, Table
from tracetui.export.tables.row_ids import find_slice, slice_ids
from tracetui.export.trace.frames import events_frame, gaps_frame

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def moba(samples: Path) -> Analysis:
    return load(samples / "moba" / "trace_view.json", cache=False, jobs=1)


def test_every_table_of_a_trace_answers(moba: Analysis) -> None:
    relations = trace_relations(moba)
    assert {"events", "gaps", "steps", "hotspots", "operators", "advice"} <= set(relations)
    for name, relation in relations.items():
        answer = run_query(relations, f"select * from {name}")
        assert answer.columns == relation.columns, name


def test_a_query_sees_what_frames_have(moba: Analysis) -> None:
    relations, gaps = trace_relations(moba), gaps_frame(moba)
    (row,) = run_query(relations, "select sum(idle_ns), count(*), max(dur_ns) from gaps").rows
    assert row == (gaps["idle_ns"].sum(), len(gaps), gaps["dur_ns"].max())
    answer = run_query(
        relations, "select cause, sum(idle_ns) from gaps where cause is not null group by 1 order by 1"
    )
    expected = gaps.dropna(subset=["cause"]).groupby("cause", observed=True)["idle_ns"].sum()
    assert answer.rows == sorted(expected.items()), "texts are sorted as texts"
    events = events_frame(moba)
    (row,) = run_query(relations, "select count(*), sum(dur_ns) from events").rows
    assert row == (len(events), events["dur_ns"].sum())


def test_values_are_those_of_the_frames_in_their_order(moba: Analysis) -> None:
    relations, gaps = trace_relations(moba), gaps_frame(moba)
    keys = ["id", "device", "idle_ns", "step", "cause", "before"]
    answer = run_query(relations, f"select {', '.join(keys)} from gaps")
    assert answer.rows == [
        tuple(None if pd.isna(value) else value for value in row)
        for row in gaps[keys].itertuples(index=False)
    ]
    assert any(row[4] is None for row in answer.rows) and any(row[4] for row in answer.rows)


def test_each_kind_of_column_arrives() -> None:
    table: Table[None] = Table(
        (
            Column("Wide", "", lambda rows: np.array([2**31 - 1, 5, 7])),
            Column("optional", "", lambda rows: np.array([1, -1, 3]), optional=True),
            Column("mixed", "", lambda rows: [None, 2, 2.5]),
            Column("flag", "", lambda rows: [True, None, False]),
            Column("some", "", lambda rows: np.array(["a", None, "b\x00c"], object)),
            Column("none", "", lambda rows: CodedTexts(np.array([-1, -1, -1]), ["x"].__getitem__)),
            Column(
                "each", "", lambda rows: CodedTexts(np.array([-9, -1, 2**40]), lambda code: f"\ud800{code}")
            ),
            Column("once", "", lambda rows: CodedTexts(np.array([4, 4, -1]), lambda code: f"{code}")),
            Column("lost", "", lambda rows: CodedTexts(np.array([1, 2, 3]), lambda code: None)),
            Column("wide", "", lambda rows: [1, 2, 3]),
            Column('a"b', "", lambda rows: [1, 2, 3]),
        )
    )
    relations = {"kinds": Relation(table, lambda: None)}
    answer = run_query(relations, 'select *, "Wide" * 2, none || each from kinds')
    assert answer.columns[-4:-2] == ["wide_1", 'a"b']
    assert [*zip(*answer.rows)] == [
        (2**31 - 1, 5, 7),
        (1, None, 3),
        (None, 2.0, 2.5),
        (True, None, False),
        ("a", None, "b\x00c"),
        (None, None, None),
        ("\ufffd-9", None, f"\ufffd{2**40}"),
        ("4", "4", None),
        (None, None, None),
        (1, 2, 3),
        (1, 2, 3),
        (2**32 - 2, 10, 14),
        (None, None, None),
    ]


def test_slices_are_counted_without_an_analysis(samples: Path) -> None:
    """Of a gigabyte that takes as long as all the rest of a query."""
    with opened(samples / "moba" / "trace_view.json", cache=False, jobs=1, at_once=False) as (analysis, _):
        relations = trace_relations(
            analysis, query_words("select name, sum(dur_ns) from events group by name")
        )
        answer = run_query(relations, "select name, sum(dur_ns), count(lane) from events group by name")
        assert sum(row[2] for row in answer.rows) == len(analysis.trace.slices)
        assert not {"launch_chains", "devices", "kernels", "memory"} & vars(analysis).keys()
        assert {"kernels", "memory_blocks"}.isdisjoint(relations)


def test_the_ids_of_slices_lead_back_to_them(moba: Analysis) -> None:
    rows = np.arange(len(moba.trace.slices))[::-7]
    ids = slice_ids(moba.trace, rows)
    assert len({name.rpartition(":")[0] for name in ids}) > 10, "of many lanes"
    long = rows[moba.trace.slices.dur[rows] > 0]  # of those at one time that take none, the first is found
    assert [find_slice(moba.trace, name) for name in slice_ids(moba.trace, long)] == long.tolist()
    assert slice_ids(moba.trace, rows[:0]) == []


@pytest.mark.parametrize(
    "query",
    [
        "select g.idle_ns * 2 as twice, count(*) over () from gaps g -- * every column\n order by 1 limit 1",
        'with worst as (from gaps) select count("host.sync_ns") from steps, worst',
        "select columns('.*_ns') from steps",
        "summarize gaps",
        "select idle_ns from gaps tablesample 100%",
        "select idle_ns from gaps using sample 3",
    ],
)
def test_columns_that_are_named_in_any_way_are_there(moba: Analysis, query: str) -> None:
    assert run_query(trace_relations(moba), query).columns


@pytest.mark.parametrize(
    "query",
    [
        "from gaps",
        "table gaps",
        "select distinct on (cause) * from gaps",
        "with x as (select 1 as k) from gaps",
        "select * from query('from gaps')",
        "select unnest(gaps) from gaps",
        "select * from (select 1 as one, device from gaps limit 1) join gaps using (device)",
    ],
)
def test_all_columns_of_a_row_are_there(moba: Analysis, query: str) -> None:
    relations = trace_relations(moba)
    assert {*relations["gaps"].columns} <= {*run_query(relations, query).columns}


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select count(distinct g) = count(*) from gaps g", [(True,)]),
        ("select count(gaps) = count(distinct main.gaps) from gaps", [(True,)]),
        ("select #2 = start_ns from gaps limit 1", [(True,)]),
        ("select t.b = (select min(start_ns) from gaps) from gaps t(a, b) order by b limit 1", [(True,)]),
        (
            "select cause is null from gaps where after <> 'a--b' and after <> '/*' order by cause limit 1",
            [(False,)],
        ),
    ],
)
def test_rows_are_whole_where_they_are_values(moba: Analysis, query: str, rows: list[tuple[bool]]) -> None:
    assert run_query(trace_relations(moba), query).rows == rows


def test_types_of_constants_are_no_kinds_of_nodes() -> None:
    """DuckDB 1 writes them as objects, later ones as texts."""
    value = {"class": "CONSTANT", "value": {"type": {"id": "INTEGER", "type_info": None}, "value": 3}}
    column = {"class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": ["step"]}
    assert names_columns({"error": False, "statements": [{"where_clause": [column, value]}]})
    assert not names_columns({"error": False, "statements": [{"select_list": [{"class": "STAR"}, value]}]})


def test_a_column_with_brackets_in_its_name_is_there() -> None:
    table: Table[None] = Table(
        tuple(Column(key, "", lambda rows: np.array([1, 2])) for key in ("name", "cube_utilization(%)"))
    )
    answer = run_query(
        {"kinds": Relation(table, lambda: None)}, 'select "cube_utilization(%)" as c from kinds'
    )
    assert answer.rows == [(1,), (2,)]


def test_only_columns_that_a_query_names_are_made() -> None:
    def fail(rows: None) -> np.ndarray:
        raise AssertionError("nothing asks for it")

    table: Table[None] = Table(
        (Column("name", "", lambda rows: np.array([1, 2])), Column("costly", "", fail))
    )
    relations = {"kinds": Relation(table, lambda: None)}
    for query in ("select name * 2 as n, count(*) from kinds k group by n", "select count(*) from kinds"):
        assert run_query(relations, query).rows


def test_tables_of_jobs_and_comparisons_answer(moba: Analysis) -> None:
    job = planted.job("late")
    (row,) = run_query(job_relations(job), "select count(*), min(rank), max(rank) from ranks").rows
    assert row == (len(job.ranks), 0, len(job.ranks) - 1)
    comparison = compare_runs(run_of(run("attached")), run_of(run("attached", factor=1.5)))
    relations = comparison_relations(comparison)
    answer = run_query(relations, "select name, base_ns, other_ns from waterfall")
    assert len(answer.rows) == len(comparison.waterfall)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("select * from read_csv('/etc/passwd')", "Permission Error|disabled"),
        ("copy gaps to '/tmp/gaps.csv'", "only read"),
        ("attach '/tmp/other.db'", "only read"),
        ("set enable_external_access = true", "only read"),
        ("create table mine as select 1", "only read"),
        ("select 1; select 2", "one statement, and this is 2"),
        ("", "one statement, and this is 0"),
        ("select nothing from gaps", "nothing"),
        ("select * from no_such_table", "no_such_table"),
        ("selec", "selec"),
        ("select '\x1b[2J' from", "Parser Error|syntax"),
    ],
)
def test_what_is_no_query_over_the_tables_is_a_sentence(moba: Analysis, query: str, reason: str) -> None:
    with pytest.raises(QueryError, match=reason) as raised:
        run_query(trace_relations(moba), query)
    assert str(raised.value).isprintable()


def test_a_query_that_never_ends_is_stopped(moba: Analysis) -> None:
    query = "select count(*) from range(1000000000) a, range(1000000000) b where a.range * b.range % 7 = 3"
    with pytest.raises(QueryError, match=r"longer than 0\.2 s"):
        run_query(trace_relations(moba), query, timeout_s=0.2)


def test_a_query_shows_no_progress() -> None:
    assert run_query({}, "select current_setting('enable_progress_bar')").rows == [(False,)]


def test_names_of_a_trace_are_escaped_in_every_form() -> None:
    relations = trace_relations(analyse(trace_of(training_events(NAMES, steps=1))))
    answer = run_query(relations, "select name, dur_ns, dur_ns / 3 as third, null as nothing from events")
    text = answer_text(answer, 0, 100)
    assert text.replace("\n", "").isprintable()
    assert answer_markdown(answer, 5).replace("\n", "").isprintable()
    assert f"{len(answer.rows) - 5:,} more: --top 0" in answer_markdown(answer, 5)
    stream = io.BytesIO()
    assert write_answer(stream, answer) == len(answer.rows)
    cells = [row[0] for row in csv.reader(io.StringIO(stream.getvalue().decode(), newline=""))]
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)
    document = json.loads(json.dumps(answer_document(answer), allow_nan=False))
    assert document["columns"] == ["name", "dur_ns", "third", "nothing"]
    assert document["rows"][0][3] is None


def test_sums_are_written_as_whole_numbers() -> None:
    answer = QueryResult(["n", "x", "s"], [(2**70, 0.1 + 0.2, None), (1, float("nan"), "a")])
    assert answer_text(answer, 1, 80).splitlines()[-2:] == [f"  {2**70}  0.3  -", "  1 more: --top 0"]
    assert answer_document(answer)["rows"] == [[2**70, 0.1 + 0.2, None], [1, None, "a"]]


def test_infinity_is_written_as_text_and_not_as_unknown() -> None:
    answer = run_query({}, "select 1 / 0::double as x, -x as y, x - x as z")
    stream = io.BytesIO()
    write_answer(stream, answer)
    assert json.loads(json.dumps(answer_document(answer), allow_nan=False))["rows"] == [["inf", "-inf", None]]
    assert stream.getvalue() == b"x,y,z\ninf,-inf,\n"


def test_a_large_query_writes_no_file(moba: Analysis) -> None:
    """DuckDB would put what does not fit into memory below the working directory."""
    assert run_query({}, "select current_setting('temp_directory')").rows == [("",)]
