"""What is printed of planted jobs, word for word: every width, order and number of a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests import pages
from tests.job.planted import job
from tracetui.export.job.document import root_breakdown
from tracetui.export.job.text import job_report, job_sections
from tracetui.export.tables.job import RootRows
from tracetui.export.text import cell_width
from tracetui.job.job import job_of
from tracetui.job.rank_table import VIEWS

NAMES = ("loader", "both", "stage")


@pytest.mark.parametrize("width", [72, 100, 200])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_a_job(name: str, width: int, request: pytest.FixtureRequest) -> None:
    pages.check(job_report(job(name), top=3).text(width), f"{name}-{width}", request)


@pytest.mark.parametrize("by", [*VIEWS, "stage"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_a_job_by_a_measure(name: str, by: str, request: pytest.FixtureRequest) -> None:
    pages.check(job_report(job(name), by, top=2).text(120), f"{name}-by-{by}", request)


@pytest.mark.parametrize("by", [None, *VIEWS, "stage"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_terminal(name: str, by: str | None) -> None:
    """Titles of tables break, and tables give way, so that no line is wider than 80 cells."""
    assert max(map(cell_width, job_report(job(name), by).text(80).splitlines())) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_a_step_of_a_job(name: str, request: pytest.FixtureRequest) -> None:
    pages.check(
        job_report(job(name), step=job(name).steps[-1], top=4).text(120), f"{name}-last-step", request
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_job_as_markdown(name: str, request: pytest.FixtureRequest) -> None:
    pages.check(job_report(job(name)).markdown(), f"{name}-markdown", request)


def test_the_greatest_roots_stand_first_also_where_others_had_other_work() -> None:
    whole = job_of(job("late").ranks)
    vars(whole)["waits"] = replace(whole.waits, exposed_ns=whole.waits.exposed_ns * 0)
    roots = next(job_sections(whole, None, None, 1)).rows
    assert isinstance(roots, RootRows)
    assert [*roots.rows] == [*root_breakdown(whole, None).roots[:1]]
