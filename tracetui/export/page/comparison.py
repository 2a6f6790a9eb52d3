"""The page of two runs compared: the verdict, the steps of both to one scale, and what changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.idle.cause import FAMILIES
from tracetui.arrays import Int64s
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.compared_run import Run
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.line_rows import LineRow
from tracetui.comparison.waterfall import AICORE, AICPU, COPY, IDLE_TERMS, PREPARING_COPY, TERMS, term_places
from tracetui.export.comparison.text import shown_rows, table_title
from tracetui.export.page import charts
from tracetui.export.page.html import Section, believed, bullets, html_table, paragraph, subtitle
from tracetui.export.page.source import source_excerpts
from tracetui.export.sentences.comparison import row_name, run_words, steps_sentence
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.trace import hidden_rows
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.language import translate
from tracetui.trace.source_files import SourceFiles
from tracetui.trace.stack import Frame

TOP = 15  #: rows of each table


def comparison_sections(comparison: Comparison, source: SourceFiles | None = None) -> Iterator[Section]:
    """Yield the parts of the page of a comparison, its head first.

    `source`: of the second run; without it no source is quoted.
    """
    title = translate("{base} compared with {other}", base=comparison.base.path, other=comparison.other.path)
    blocks = [paragraph(verdict(comparison), "lead")]
    if comparison.comparable:
        blocks.append(paragraph(steps_sentence(comparison.step)))
    blocks += believed(comparison.trust)
    blocks.append(bullets([f"{name}: {run.path}: {run_words(run)}" for name, run in comparison.sides]))
    yield Section(title, blocks)
    if comparison.comparable:
        yield step_pictures(comparison)
    for compared in (WATERFALL, *EVERY) if comparison.comparable else ():
        rows = shown_rows(compared, comparison)
        if rows:
            shown = rows if compared is WATERFALL else rows[:TOP]
            blocks = [html_table(compared.table, compared.judged(comparison, shown))]
            hidden = len(rows) - len(shown)
            blocks += [paragraph(hidden_rows(hidden), "dim")] if hidden else []
            if source is not None and compared.by == "line":
                blocks += source_excerpts(source, _frames(rows))
            yield Section(table_title(compared), blocks)
    notes = comparison_notes(comparison)
    if notes:
        yield Section(translate("Notes"), [bullets([translate("{fact}.", fact=note) for note in notes])])


def _frames(rows: Sequence[ComparedRow]) -> Iterator[Frame]:
    """Yield the lines of Python of some rows, as the second run has them; none of those that are gone."""
    for row in rows:
        if isinstance(row, LineRow) and row.frame is not None and not row.gone:
            yield row.frame


MOST_COLUMNS = 120  #: of a picture; of more steps several share one
MOST_ROWS = 14  #: of a map
_COMPUTING = (AICORE, AICPU)
_COPIES = (PREPARING_COPY, COPY)
#: Each kind of time of a strip with the places of its terms, from the bottom up.
_PLACES = {
    charts.COMPUTING: [TERMS.index(term) for term in _COMPUTING],
    charts.COMMUNICATION: term_places("communication"),
    charts.COPIES: [TERMS.index(term) for term in _COPIES],
    charts.IDLE: [TERMS.index(term) for term in IDLE_TERMS],
}


class _StepTimes:
    """The mean time of each step of a run on a device."""

    def __init__(self, run: Run) -> None:
        numbers = run.walls.number
        is_told = len(numbers) == len(run.terms_ns)  # steps of ranks that differ are not told apart by number
        columns = numbers if is_told else np.arange(len(run.terms_ns))
        self.numbers, place, count = np.unique(columns, return_inverse=True, return_counts=True)
        ns = np.zeros((len(self.numbers), len(TERMS)), np.int64)
        np.add.at(ns, place, run.terms_ns)
        self.ns: Int64s = ns // (count * run.ranks)[:, None]  #: int64[steps, terms]
        self.scale = charts.step_scale(self.numbers.tolist()) if is_told else []

    def strip(self, longest_ns: int) -> str:
        """Return a figure with each step as high as it is long beside `longest_ns`."""
        first = share_columns(len(self.ns), MOST_COLUMNS).first
        column_ns = np.add.reduceat(self.ns, first[:-1], axis=0) // np.diff(first)[:, None]
        kinds = {kind: column_ns[:, places].sum(axis=1) for kind, places in _PLACES.items()}
        return charts.strip(kinds, np.full(len(column_ns), longest_ns, np.int64), self.scale)

    def cells(self, rows: list[ComparedRow]) -> HeatCells:
        """Return cells, rows x columns: the share that a row of the waterfall is of the steps of a column."""
        ns = np.array([self.ns[:, term_places(row.name)].sum(axis=1) for row in rows], np.int64)
        step_ns = np.broadcast_to(self.ns.sum(axis=1), ns.shape)
        cells, _ = share_columns(len(self.ns), MOST_COLUMNS).columns(HeatCells.of_totals(ns, step_ns))
        return cells


def step_pictures(comparison: Comparison) -> Section:
    """Return the part with a strip of the steps of each run, and a map of what they waited for."""
    sides = [_StepTimes(run) for run in (comparison.base, comparison.other)]
    longest_ns = max(int(side.ns.sum(axis=1).max(initial=1)) for side in sides)
    waiting = [row for row in shown_rows(WATERFALL, comparison) if row.name not in _COMPUTING]
    most = sorted(waiting, key=lambda row: max(row.base_ns, row.other_ns), reverse=True)[:MOST_ROWS]
    rows = [row for row in waiting if row in most]
    maps = [side.cells(rows) for side in sides] if rows else []
    highest = max((float(np.nan_to_num(cells.share).max(initial=0.0)) for cells in maps), default=0.0)
    names = [(row_name(row), _kind(row.name)) for row in rows]
    blocks = []
    for name, side in zip(("BASE", "OTHER"), sides):
        blocks += [subtitle(name), side.strip(longest_ns)]
    if maps:
        blocks.append(subtitle(translate("What devices waited for, by step")))
        for name, side, cells in zip(("BASE", "OTHER"), sides, maps):
            blocks += [f"<p>{name}</p>", charts.map_of_cells(cells, names, side.scale, highest)]
    return Section(translate("The steps of both, as high as they are long"), blocks)


def _kind(term: str) -> str:
    """Return the class of the style of a term that is no computing."""
    if term in _COPIES:
        return charts.COPIES
    first, _, rest = term.partition(".")
    family = rest.partition(".")[0]
    if first == charts.COMMUNICATION:
        return first
    return family if family in FAMILIES else charts.IDLE
