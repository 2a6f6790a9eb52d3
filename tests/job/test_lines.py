"""The lines of all ranks together, and whose problem each of them is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.real import npu_output
from tests.job.planted import job
from tracetui.api import load, load_job
from tracetui.export.job import document, text
from tracetui.export.job.frames import job_lines_frame, job_links_frame
from tracetui.export.job.text import job_report
from tracetui.export.sentences.job import affected_ranks
from tracetui.export.tables import job as job_tables
from tracetui.export.tables.column import Column, count
from tracetui.export.tables.job import LINES, JobRows
from tracetui.export.trace.frames import links_frame
from tracetui.job.digest import TimeClass
from tracetui.job.idle_lines import job_lines
from tracetui.job.late_ranks import slow_steps
from tracetui.job.rank_table import VIEWS, differing, leading, rank_rows
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.ranks import rank_tables
from tracetui.ui.tables.columns import clipped, fit_columns


def test_the_planted_line_is_the_problem_of_its_rank_and_others_are_of_all() -> None:
    found = job("loader")
    worst, *later_lines = job_lines(found)
    assert worst.line is not None and next(iter(worst.causes)) == "host.dataloader"
    assert affected_ranks(found, worst) == "rank 2" and worst.worst == 2
    assert any(affected_ranks(found, line) == "every rank" for line in later_lines)
    uneven = job_lines(job("stage"))
    assert any(affected_ranks(job("stage"), line) == "ranks 2, 3" for line in uneven)


@pytest.mark.parametrize("name", ["loader", "stage"])
def test_lines_sum_to_the_idle_time_of_ranks_and_steps_to_that_of_all(name: str) -> None:
    found = job(name)
    idle = [rank.digest.by_class()[TimeClass.IDLE] for rank in found.ranks]
    assert np.sum([line.by_rank for line in job_lines(found)], axis=0).tolist() == idle
    whole = {line.line: line.by_rank.tolist() for line in job_lines(found)}
    steps = [{line.line: line.by_rank for line in job_lines(found, step)} for step in found.steps]
    assert len(steps) > 1 and all(steps)
    nothing = np.zeros(len(found.ranks), np.int64)
    for key, lost in whole.items():
        assert np.sum([step.get(key, nothing) for step in steps], axis=0).tolist() == lost
    for line in job_lines(found):
        assert sum(line.causes.values()) == line.idle_ns == line.by_rank.sum()


def test_a_loader_that_is_late_in_some_steps_is_no_line_of_others() -> None:
    found = job("loader")
    cost = {step: affected_ranks(found, job_lines(found, step)[0]) for step in found.steps}
    late, even = [50, 52], [51]
    assert all(cost[step] == "rank 2" for step in late) and all(cost[step] == "every rank" for step in even)


def test_the_text_of_a_step_names_who_is_late_in_it() -> None:
    texts = {step: job_report(job("loader"), step=step).text(200) for step in job("loader").steps}
    assert {step for step, text in texts.items() if "Late ranks: how" in text} == {50, 52}


def test_a_column_is_added_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    added: Column[JobRows] = count("waiting", "waiting more", lambda rows: np.arange(len(rows.rows)) + 7)
    table = replace(LINES, columns=(*LINES.columns, added))
    for module in (document, job_tables, text, rank_tables):
        monkeypatch.setattr(module, "LINES", table)
    late_job = job("loader")
    expected = [*range(7, 7 + len(job_lines(late_job)))]
    assert [line["waiting"] for line in document.job_document(late_job)["lines"]] == expected
    assert job_lines_frame(late_job)["waiting"].tolist() == expected
    for shown in (job_report(late_job).text(200), job_report(late_job).markdown()):
        assert "waiting more" in shown
    columns, rows = rank_tables.RankTables(late_job, Palette("none")).columns("lines", 120)
    assert columns[-1].title == "waiting more" and columns[-1].draw(rows - 1, 9) == str(expected[-1])


def test_a_narrow_table_of_lines_keeps_their_numbers() -> None:
    columns, rows = rank_tables.RankTables(job("loader"), Palette("none")).columns("lines", 60)
    shown = {columns[place].key: cells for place, cells in fit_columns(columns, 60)}
    (line,) = (column for column in columns if column.key == "line")
    assert rows and shown["line"] >= line.least
    texts = [str(line.draw(row, 14)) for row in range(rows)]
    assert all(")" in clipped(text, 14) for text in texts if "(" in text)


def test_the_frame_has_a_row_for_each_line() -> None:
    frame, lines = job_lines_frame(job("loader")), job_lines(job("loader"))
    assert frame["idle_ns"].tolist() == [line.idle_ns for line in lines]
    assert frame["worst"][0] == 2 and frame["ranks"][0] == 1


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_its_own_measures(view: str) -> None:
    rows = rank_rows(job("stage"))
    text = job_report(job("stage"), by=view).text(200)
    head = next(line for line in text.splitlines() if line.startswith("Ranks, ms"))
    first = leading(rows, view)
    assert first in VIEWS[view] and f"{view}, by {str(first).replace('_', ' ')}" in head
    apart = [measure for measure in differing(rows) if measure in VIEWS[view]]
    assert (first == apart[0] and "; differ in " in head) if apart else "; differ in " not in head


def test_links_are_measured_by_what_they_are_built_for_as_in_one_trace(real_traces: Path) -> None:
    output = npu_output(real_traces, "level2/rank0")
    alone = links_frame(load(output / "trace_view.json", cache=False))
    links = job_links_frame(load_job([output], cache=False))
    assert len(links) and links["nominal_share"].notna().all()
    assert sorted(links["nominal_gb_per_s"]) == sorted(alone["nominal_gb_per_s"])
    assert sorted(links["nominal_share"]) == pytest.approx(sorted(alone["nominal_share"]))


@pytest.mark.parametrize("name", ["stage", "loader"])
def test_numbers_stand_at_the_right_and_names_at_the_left_as_they_are_written(name: str) -> None:
    tables = 0
    for part in job_report(job(name)).markdown().split("\n\n"):
        _, *lines = (line.strip("| ").split(" | ") for line in part.splitlines())
        if lines and set(lines[0]) <= {"---", "--:"}:
            tables += 1
            for rule, *cells in zip(*lines):
                marks = {cell[:1] for cell in cells if cell.strip()}
                assert marks <= {"`"} if rule == "---" else marks <= {*"-+.0123456789"}, (cells, rule)
    assert tables >= 6


@pytest.mark.parametrize("count", [0, 1, 2])
def test_steps_are_listed_where_there_are_several(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    steps = slow_steps(job("loader"))[:count]
    assert len(steps) == count
    monkeypatch.setattr(text, "slow_steps", lambda _: steps)
    titles = {part.splitlines()[0] for part in job_report(job("loader")).text(200).split("\n\n")}
    assert ("Steps: all waits, also with other work" in titles) == (count > 1)
