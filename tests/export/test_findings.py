"""Hotspots, advice and limits: text, JSON, CSV and Markdown of the same analysis say the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.idle.test_explain import FIRST, launched, stack
from tests.analysis.machine import npu, operator, step, task
from tests.export.training import NAMES, training_events
from tests.synthetic import trace_of
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.analysis.limits import find_breaches, parse_cause_limit, parse_limit
from tracetui.export.cells import text_cell
from tracetui.export.csv_table import write_table
from tracetui.export.limits import breaches_text, limits_document
from tracetui.export.markdown import code, escaped
from tracetui.export.sentences.causes import micro
from tracetui.export.tables.hotspots import LINES, LineRows, called
from tracetui.export.trace.advice_text import advice_text
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.idle_text import hotspots_text
from tracetui.export.trace.markdown import (
    advice_markdown,
    gaps_markdown,
    hotspots_markdown,
    summary_markdown,
)
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text
from tracetui.export.trace.sync_text import syncs_title
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration, format_percent

ALL = Selection()
EXPOSED_NS = 9_950  #: by each synchronisation of `waiting`


def sync_numbers(sync: SyncCall) -> list[str]:
    """Idle time exposed, calls, time waited, the longest."""
    times = [format_duration(ns) for ns in (sync.exposed_ns, sync.total_ns, sync.longest_ns)]
    return [times[0], format_count(sync.count), *times[1:]]


@pytest.fixture(scope="module")
def training() -> Analysis:
    return analyse(trace_of(training_events()))


@pytest.fixture(scope="module")
def waiting() -> Analysis:
    """Seven lines that synchronise, once each; all expose the same idle time."""
    events = [*FIRST]
    for number in range(7):
        at = 1_100 + 10_000 * number  # a task runs from here for 50 ns
        events += [
            operator(at + 20, 100, "aten::item", stack=stack(10 + number)),
            *launched(at + 9_950, at + 10_000),
        ]
    return analyse(trace_of(events))


@pytest.fixture(scope="module", params=["training", "level0/rank1", "level2/rank0"])
def any_analysis(request: pytest.FixtureRequest, training: Analysis) -> Analysis:
    if request.param == "training":
        return training
    traces: Path = request.getfixturevalue("real_traces")
    directory = traces / "npu" / f"{request.param}_ascend_pt"
    return real.analysed(directory / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")


def test_hotspots_add_up(any_analysis: Analysis) -> None:
    document = hotspots_document(any_analysis, ALL)
    assert sum(row["idle_ns"] for row in document["hotspots"]) == document["idle_ns"] == any_analysis.idle_ns
    window = sum(activity.window_ns for activity in any_analysis.devices)
    for row in document["hotspots"]:
        assert sum(row["causes"].values()) == sum(row["ops"].values()) == row["idle_ns"]
        assert 0 < row["longest_ns"] <= row["idle_ns"]
        assert 0 <= row["saves_at_most_ns"] <= window
    assert sum(row["file"] is None for row in document["hotspots"]) <= 1


def test_what_a_line_saves_at_most_is_of_the_trace_or_of_the_step_and_unknown_of_a_window(
    any_analysis: Analysis,
) -> None:
    for index, of_trace in enumerate(any_analysis.steps):
        selection = Selection(step=of_trace.number)
        rows = hotspots_document(any_analysis, selection)["hotspots"]
        for line, row in zip(selection.lines(any_analysis), rows):
            found = any_analysis.savings.get((line.file, line.line, line.function, line.backward))
            assert row["saves_at_most_ns"] == (0 if found is None else found.steps.get(index, 0))
    window = (any_analysis.trace.start_ns, any_analysis.trace.end_ns)
    rows = hotspots_document(any_analysis, Selection(window=window))["hotspots"]
    assert {row["saves_at_most_ns"] for row in rows} == {None}


def test_a_trace_that_calls_for_no_advice_says_so() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 100)]))
    assert find_advice(analysis) == ()
    assert (
        advice_text(find_advice(analysis), 80)
        == advice_markdown(analysis)
        == "Nothing in this trace calls for advice.\n"
    )


def test_a_device_without_work_has_no_shares() -> None:
    events = [*npu(), *(task(at, 10, "EVENT_WAIT_SQE") for at in (0, 50))]
    lines = summary_text(analyse(trace_of(events)), ALL, None, 100).splitlines()
    assert [line for line in lines if line.startswith("NPU")] == [
        "NPU: 2 tasks, none of which computes or communicates"
    ]
    assert not any("%" in line for line in lines)


def test_hotspots_are_the_pieces_of_the_gaps_by_line(any_analysis: Analysis) -> None:
    ns_of_line: dict[Any, int] = {}
    for gap in gaps_document(any_analysis, ALL)["gaps"]:
        for part in gap["pieces"]:
            key = (part["file"], part["line"], part["function"], part["backward"])
            ns_of_line[key] = ns_of_line.get(key, 0) + part["dur_ns"]
    rows = hotspots_document(any_analysis, ALL)["hotspots"]
    keys = ("file", "line", "function", "backward")
    assert {tuple(row[key] for key in keys): row["idle_ns"] for row in rows} == ns_of_line


def test_hotspots_of_text_and_json(any_analysis: Analysis) -> None:
    document = hotspots_document(any_analysis, ALL)
    lines = hotspots_text(any_analysis, ALL, 0, 10_000).partition("\n\n")[0].splitlines()[4:]
    assert len(lines) == 2 * len(document["hotspots"])
    for line, why, row, line_idle in zip(lines[::2], lines[1::2], document["hotspots"], any_analysis.lines):
        cells = [
            format_duration(row["idle_ns"]),
            format_percent(row["idle_ns"], document["idle_ns"]),
            format_duration(row["saves_at_most_ns"]),
            format_count(row["gaps"]),
            format_duration(row["longest_ns"]),
            printable(called(line_idle)),
        ]
        assert line.split() == " ".join(cells).split()
        assert why.strip().startswith(max(row["causes"], key=row["causes"].__getitem__))
    first, *rest = document["hotspots"]
    left = format_duration(document["idle_ns"] - first["idle_ns"])
    assert f"{len(rest)} more, {left} together" in hotspots_text(any_analysis, ALL, 1, 80)


def test_synchronisations_stand_below_the_lines_five_of_them(waiting: Analysis) -> None:
    every = waiting.syncs
    assert [sync.line for sync in every] == list(range(10, 17))
    title = syncs_title(every)
    exposed = format_duration(7 * EXPOSED_NS)
    assert title == f"Synchronisations: 7, the host waited 700 ns, exposed {exposed} of idle time"
    for top, shown in ((None, 5), (0, 7), (2, 2)):
        below = hotspots_text(waiting, ALL, top, 10_000).split("\n\n")[1].splitlines()
        assert below[0] == title
        rows = [line.split() for line in below[4 : 4 + shown]]
        assert rows == [
            [*" ".join(sync_numbers(sync)).split(), "aten::item", f"train.py({sync.line})", "train"]
            for sync in every[:shown]
        ]
        more = [f"  {7 - shown} more, exposing {format_duration((7 - shown) * EXPOSED_NS)}: --top 0"]
        assert below[4 + shown :] == (more if shown < 7 else [])
        marked = hotspots_markdown(waiting, ALL, top).split(f"## {title}\n\n")[1]
        cells = [[cell.strip() for cell in cells_of(line)] for line in marked.splitlines()[2 : 2 + shown]]
        assert cells == [
            ["`aten::item`", f"`train.py({sync.line}) train`", *sync_numbers(sync)] for sync in every[:shown]
        ]
        assert (f"{7 - shown} with less are not shown." in marked) == (shown < 7)
    assert all(len(line) <= 80 for line in hotspots_text(waiting, ALL, 0, 80).splitlines())
    assert "syncs" not in hotspots_document(waiting, ALL)


def test_without_synchronisations_there_is_one_table(training: Analysis) -> None:
    assert not training.syncs
    assert "Synchronisations" not in hotspots_text(training, ALL, 0, 80) + hotspots_markdown(training, ALL, 0)


def test_synchronisations_of_a_window_start_there_or_expose_idle_time_of_its_gaps(waiting: Analysis) -> None:
    gaps, starts = waiting.gaps, [waiting.trace.slices.start[sync.rows[0]] for sync in waiting.syncs]
    assert (gaps.start > starts).all()
    second, third = int(gaps.start[1]), int(starts[2])
    exposing = Selection(window=(second, third)).syncs(waiting)
    assert [(sync.line, sync.exposed_ns, sync.gap_indices.tolist()) for sync in exposing] == [
        (11, EXPOSED_NS, [1])
    ]
    started = Selection(window=(third, third + 1)).syncs(waiting)
    assert [(sync.line, sync.count, sync.exposed_ns) for sync in started] == [(12, 1, 0)]
    assert not Selection(window=(0, 1)).syncs(waiting)


def test_synchronisations_of_a_step_in_a_window_start_in_both() -> None:
    items = [
        operator(at, 100, "aten::item", stack=stack(line))
        for at, line in ((2_000, 3), (3_000, 4), (6_000, 5))
    ]
    launches = [*launched(1_000, 1_100, 1, dur=100_000), *launched(5_500, 101_100, 2)]
    analysis = analyse(trace_of([*npu(), step(1, 900, 4_000), step(2, 5_000, 4_000), *launches, *items]))

    def lines(number: int, start: int, end: int) -> list[int]:
        return sorted(sync.line for sync in Selection(step=number, window=(start, end)).syncs(analysis))

    assert [step.number for step in analysis.steps] == [1, 2]
    assert lines(2, 2_500, 7_000) == [5]
    assert lines(1, 1_000, 2_500) == [3]
    assert lines(1, 2_500, 3_500) == [4]


def test_hotspots_csv_is_the_json(any_analysis: Analysis) -> None:
    stream = io.BytesIO()
    rows = hotspots_document(any_analysis, ALL)["hotspots"]
    assert write_table(stream, LINES, LineRows(any_analysis)) == len(rows)
    stream.seek(0)
    table = pd.read_csv(stream, keep_default_na=False)
    for key in ("idle_ns", "gaps", "longest_ns", "saves_at_most_ns", "backward"):
        assert table[key].tolist() == [row[key] for row in rows]
    for key in ("file", "function"):
        assert table[key].tolist() == [text_cell(row[key] or "") for row in rows]
    assert table["line"].astype(str).tolist() == [
        "" if row["line"] is None else str(row["line"]) for row in rows
    ]


def test_advice_of_text_and_json(any_analysis: Analysis) -> None:
    text = " ".join(advice_text(find_advice(any_analysis), 80).split())
    for number, advice in enumerate(advice_document(any_analysis)["advice"], 1):
        cost = "note" if advice["cost_ns"] is None else format_duration(advice["cost_ns"])
        assert f"{number} {advice['title']} {cost}" in text
        assert " ".join(micro(advice["text"]).split()) in text
        assert len(advice["gaps"]) <= 5


def has_keys(document: dict[str, Any], keys: str) -> bool:
    return list(document) == keys.split()


def test_the_keys_of_the_documents_are_those_of_schema_1(training: Analysis) -> None:
    summary = summary_document(training, ALL)
    assert has_keys(summary, "schema trust findings trace devices late_peers links")
    assert has_keys(
        summary["trace"],
        "path export other_export bytes files events skipped_events truncated start_ns end_ns kind run "
        "checks warnings",
    )
    (device,) = summary["devices"]
    assert has_keys(
        device,
        "device start_ns end_ns tasks linked_tasks computing_ns communication_ns"
        " communication_not_overlapped_ns overlapped_ns free_ns aicore_ns idle_ns causes communication_causes"
        " preparing_ns preparing_causes steps phases",
    )
    assert has_keys(
        device["steps"][0],
        "step start_ns end_ns computing_ns communication_ns communication_not_overlapped_ns overlapped_ns"
        " free_ns stage_ns bubble_ns communication_not_overlapped_exclude_receive_ns preparing_ns idle_ns"
        " trust phases causes communication_causes id",
    )
    gaps = gaps_document(training, ALL)
    assert has_keys(gaps, "schema trust findings gaps")
    assert has_keys(
        gaps["gaps"][0],
        "device start_ns dur_ns idle_ns aicpu_ns communication_ns copy_ns step before after cause line"
        " exposed_by pieces lost_ns communication_pieces lead_lost trust communication_cause"
        " communication_line id",
    )
    communicated = next(gap for gap in gaps["gaps"] if gap["communication_pieces"])
    assert has_keys(
        communicated["communication_pieces"][0],
        "start_ns dur_ns cause file line function backward op collective group group_name group_rank rank"
        " ring",
    )
    assert has_keys(gaps["gaps"][0]["after"], "name stream")
    assert has_keys(gaps["gaps"][0]["pieces"][0], "start_ns dur_ns cause file line function backward op")
    hotspots = hotspots_document(training, ALL)
    assert has_keys(hotspots, "schema trust findings idle_ns waited_for_peers_ns hotspots")
    assert has_keys(
        hotspots["hotspots"][0],
        "file line function backward idle_ns gaps longest_ns saves_at_most_ns saves_with_peers_ns trust"
        " causes ops id",
    )
    advice = advice_document(training)
    assert has_keys(advice, "schema advice")
    assert has_keys(
        advice["advice"][0],
        "id name title text rule cost_ns per_step_ns file line function subjects evidence gaps",
    )
    limits = (parse_limit("free", "1%"),)
    checked = limits_document(limits, find_breaches(training, limits))
    assert has_keys(checked, "schema limits breaches")
    assert has_keys(checked["limits"][0], "measure allowed_share allowed_ns")
    assert has_keys(
        checked["breaches"][0], "device step measure measured_ns window_ns allowed_share allowed_ns"
    )
    assert {document["schema"] for document in (summary, gaps, hotspots, advice, checked)} == {1}


def test_a_breach_never_reads_as_if_the_limit_were_kept(training: Analysis) -> None:
    idle = training.devices[0].idle_ns
    (line,) = breaches_text(find_breaches(training, [parse_limit("idle", f"{idle - 1}ns")])[:1]).splitlines()
    assert line.split(" is ")[1].split(", more than ")[0] != line.split(", more than ")[1]
    assert breaches_text(find_breaches(training, [parse_cause_limit("host=100%")])) == ""


REPORTS = {
    "summary": lambda analysis: summary_markdown(analysis, ALL, 0),
    "gaps": lambda analysis: gaps_markdown(analysis, ALL, 0),
    "hotspots": lambda analysis: hotspots_markdown(analysis, ALL, 0),
    "advice": advice_markdown,
}


@pytest.mark.parametrize("report", REPORTS)
def test_every_row_of_markdown_has_the_cells_of_its_title(any_analysis: Analysis, report: str) -> None:
    text = REPORTS[report](any_analysis)
    assert text.startswith("#")
    assert all(line.isprintable() for line in text.splitlines())
    width = 0
    for line in text.splitlines():
        cells = len(cells_of(line)) if line.startswith("|") else 0
        assert not cells or not width or cells == width
        width = cells


def test_names_are_inert_in_markdown(training: Analysis) -> None:
    evil = ("<img src=x onerror=alert(1)>", "a|b", "@everyone #1 https://x.y", "`code`", "**bold**", "$x$")
    analysis = analyse(trace_of(training_events((*NAMES, *evil))))
    for report in REPORTS.values():
        outside = outside_code(report(analysis))
        assert not any(sign in outside for sign in ("<img", "@everyone", "https:", "**bold", "$x", "[bold]"))
    assert "``\u200b" not in gaps_markdown(analysis, ALL, 0)
    assert r"`a\|b`" in gaps_markdown(analysis, ALL, 0)
    assert "`` `code` ``" in gaps_markdown(analysis, ALL, 0)


@given(st.text(alphabet=st.sampled_from("`|\\ab \n<@*")))
def test_a_code_span_is_closed_by_nothing_in_it(name: str) -> None:
    span = code(name)
    assert "\n" not in span
    if span != "-":
        fence = len(span) - len(span.lstrip("`"))
        inner = span[fence:-fence]
        assert span.endswith("`" * fence)
        assert "`" * fence not in inner.split("`" * (fence + 1)) or fence > 1
        assert outside_code(f"{span} after") == " after"
        assert inner.strip() == printable(name).strip()


def test_plain_text_reads_as_written() -> None:
    assert escaped("bucket_cap_mb < 3 | *x*\n") == r"bucket\_cap\_mb \< 3 \| \*x\* "


def cells_of(row: str) -> list[str]:
    """The cells of a table's row: an escaped pipe parts none."""
    return row.replace("\\|", "").strip("|").split("|")


def outside_code(text: str) -> str:
    """Markdown without its code spans, which a run of as many backticks closes."""
    kept, at = "", 0
    while at < len(text):
        if text[at] != "`":
            kept, at = kept + text[at], at + 1
            continue
        run = len(text[at:]) - len(text[at:].lstrip("`"))
        end = at + run
        while True:
            end = text.find("`" * run, end)
            if end < 0:
                return kept + text[at:]
            length = len(text[end:]) - len(text[end:].lstrip("`"))
            if length == run:
                break
            end += length
        at = end + run
    return kept
