"""What is printed of planted runs, word for word: every width, bar, indent and number of a page."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any, Callable

import pytest

from tests import pages
from tests.analysis.memory.runs import Held, recorded
from tests.comparison.planted import run
from tests.export.training import PLAIN, training_events
from tests.synthetic import trace_of
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.gaps import Measure
from tracetui.analysis.memory.analyse import Memory
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.export import tables
from tracetui.export.comparison.text import comparison_markdown, comparison_text
from tracetui.export.memory.text import memory_markdown, memory_text
from tracetui.export.tables.column import Column, Form, Table
from tracetui.export.tables.comparison import BY, EVERY, WATERFALL, ComparedTable
from tracetui.export.trace.advice_text import advice_text
from tracetui.export.trace.idle_text import gaps_text, hotspots_text
from tracetui.export.trace.markdown import (
    advice_markdown,
    gaps_markdown,
    hotspots_markdown,
    summary_markdown,
)
from tracetui.export.trace.nested_text import FRAMES, MODULES, nested_markdown, nested_text
from tracetui.export.trace.operators import list_operators, listing_markdown, listing_text
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text

ALL = Selection()
NARROW, USUAL, WIDE = 64, 100, 200

#: Steps 1 to 4; lines 88 and 90 leave a block in each step, that of 90 a larger one.
MEMORY = Memory(
    recorded(
        4,
        sorted(
            [Held(100 * step + 10, None, 1 << 20, "aten::empty") for step in range(4)]
            + [Held(100 * step + 20, None, 3 << 20, "aten::cat", 90) for step in range(4)]
            + [Held(100 * step + 30, 100 * step + 60, 5 << 19, "aten::mul", 91) for step in range(4)]
            + [Held(410, 460, 100, "aten::add", 92)]
        ),
        curve=[(5, 512), (130, 20 << 20), (340, 22 << 20), (480, 16 << 20)],
    )
)


@cache
def training() -> Analysis:
    return analyse(trace_of(training_events(PLAIN, steps=3)))


@cache
def slower() -> Comparison:
    changed = run("mixed", 4, operator="gelu", factor=20.0, collective=3.0)
    return compare_runs(run_of(run("mixed", 4)), run_of(changed))


def _nothing(_: object) -> None:
    """No source file is on this host."""


TRACES: dict[str, Callable[[], Analysis]] = {
    "stalls": lambda: run("stalls"),
    "mixed": lambda: run("mixed", 4),
    "training": training,
}
PAGES: dict[str, Callable[[Analysis], str]] = {
    "summary": lambda of: summary_text(of, ALL, None, USUAL),
    "summary-narrow": lambda of: summary_text(of, ALL, 1, NARROW),
    "summary-wide": lambda of: summary_text(of, Selection(step=of.steps[-1].number), 2, WIDE),
    "summary-markdown": lambda of: summary_markdown(of, ALL, 2),
    "gaps": lambda of: gaps_text(of, ALL, 3, USUAL),
    "gaps-idle": lambda of: gaps_text(of, Selection(by=Measure.IDLE), 2, WIDE),
    "gaps-communication": lambda of: gaps_text(of, Selection(by=Measure.COMMUNICATION), 2, NARROW),
    "gaps-markdown": lambda of: gaps_markdown(of, ALL, 2),
    "hotspots": lambda of: hotspots_text(of, ALL, 3, USUAL),
    "hotspots-wide": lambda of: hotspots_text(of, Selection(step=of.steps[-1].number), None, WIDE),
    "hotspots-markdown": lambda of: hotspots_markdown(of, ALL, 2),
    "frames": lambda of: nested_text(FRAMES, of, ALL, 4, USUAL),
    "frames-markdown": lambda of: nested_markdown(FRAMES, of, ALL, 3),
    "modules": lambda of: nested_text(MODULES, of, ALL, 3, NARROW),
    "advice": lambda of: advice_text(find_advice(of), USUAL),
    "advice-markdown": advice_markdown,
    "operators": lambda of: listing_text(list_operators(of, ALL, "type", top=4), USUAL),
    "operators-host": lambda of: listing_markdown(list_operators(of, ALL, "name", host=True, top=4)),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("trace", TRACES)
def test_a_page_of_a_trace(trace: str, page: str, request: pytest.FixtureRequest) -> None:
    pages.check(PAGES[page](TRACES[trace]()), f"{trace}-{page}", request)


@pytest.mark.parametrize("width", [80, 109, 110, 150])
def test_a_page_of_a_comparison(width: int, request: pytest.FixtureRequest) -> None:
    pages.check(comparison_text(slower(), None, None, width), f"compared-{width}", request)


@pytest.mark.parametrize("by", BY)
def test_a_table_of_a_comparison(by: str, request: pytest.FixtureRequest) -> None:
    text = comparison_text(slower(), BY[by], None, 120)
    markdown = comparison_markdown(slower(), BY[by], 2)
    pages.check(f"{text}\n{markdown}", f"compared-by-{by}", request)


def test_a_comparison_as_markdown(request: pytest.FixtureRequest) -> None:
    pages.check(comparison_markdown(slower(), None, 3), "compared-markdown", request)


@pytest.mark.parametrize("by", ["line", "size", "block"])
@pytest.mark.parametrize("step", [None, 2])
def test_a_page_of_memory(by: str, step: int | None, request: pytest.FixtureRequest) -> None:
    part = MEMORY.part(step, None, None)
    text = memory_text(MEMORY, part, by, 2, 3, USUAL, _nothing)
    markdown = memory_markdown(MEMORY, part, by, None, 3, _nothing)
    pages.check(f"{text}\n{markdown}", f"memory-{by}-{step or 'all'}", request)


def test_that_nothing_grows_is_said_of_blocks_of_several_steps_only() -> None:
    freed = [Held(10, 60, 1 << 20, "aten::mul", 88)]
    for steps, blocks in ((2, freed), (1, freed), (2, [])):
        memory = Memory(recorded(steps, blocks, curve=[(5, 512), (130, 20 << 20)]))
        text = memory_text(memory, memory.part(None, None, None), "line", None, 0, 1000, _nothing)
        assert ("No operator holds more after every step" in text) == (steps > 1 and bool(blocks))


def test_where_no_memory_is_recorded_a_page_says_so() -> None:
    text = memory_text(None, None, "line", None, 0, 1000, _nothing)
    assert text.endswith(".\n") and memory_markdown(None, None, "line", None, 0, _nothing) == text


#: Modules that hold tables.
TABLES = (
    *("advice", "communication", "comparison", "events", "gaps", "hotspots", "job", "job_links", "kernels"),
    *("memory", "nested", "operators", "signatures", "steps", "syncs"),
)


@pytest.mark.parametrize("module", TABLES)
def test_which_columns_a_table_has_where(module: str, request: pytest.FixtureRequest) -> None:
    """In which forms each column is, how it is set, and in which order people are shown them."""
    found = vars(import_module(f"{tables.__name__}.{module}"))
    if module == "comparison":
        found = {" ".join(_said(compared)): compared.table for compared in (WATERFALL, *EVERY)}
    lines = []
    for name, table in found.items():
        if isinstance(table, Table):
            lines += ["", f"{name}: {table.order}, Markdown {table.markdown or 'the same'}"]
            lines += map(_set, table.columns)
    pages.check("\n".join(lines), f"columns-{module}", request)


def _said(table: ComparedTable) -> list[str]:
    values = [getattr(table, field.name) for field in fields(table)]
    return [str(value) for value in values if isinstance(value, (str, bool))]


def _set(column: Column[Any]) -> str:
    """What is said of a column, but for what is as usual."""
    usual = {field.name: field.default for field in fields(Column)}
    set_values = {name: getattr(column, name) for name in usual if name not in ("key", "forms")}
    settings = [
        f"{name}={value!r}"
        for name, value in set_values.items()
        if not callable(value) and value != usual[name]
    ]
    forms = " ".join(form.name or "" for form in ONE_FORM if form in column.forms)
    return f"  {column.key}: {forms}; {', '.join(settings)}"


ONE_FORM = (Form.JSON, Form.FRAME, Form.TEXT, Form.MARKDOWN, Form.VIEWER)
