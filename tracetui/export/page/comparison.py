"""The page of two runs compared: the verdict, the steps of both, and what changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.line_rows import LineRow
from tracetui.export.comparison.text import shown_rows, table_title
from tracetui.export.page.html import Section, believed, bullets, html_table, paragraph
from tracetui.export.page.source import source_excerpts
from tracetui.export.page.step_pictures import step_pictures
from tracetui.export.sentences.comparison import run_words, steps_sentence
from tracetui.export.sentences.notes import comparison_notes
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
    runs = (("BASE", comparison.base), ("OTHER", comparison.other))
    blocks.append(bullets([f"{name}: {run.path}: {run_words(run)}" for name, run in runs]))
    yield Section(title, blocks)
    if comparison.comparable:
        yield step_pictures(comparison)
    for compared in (WATERFALL, *EVERY) if comparison.comparable else ():
        rows = shown_rows(compared, comparison)
        if rows:
            shown = compared.listed(comparison, rows if compared is WATERFALL else rows[:TOP])
            blocks = [html_table(compared.table, shown)]
            if source is not None and compared.by == "line":
                blocks += source_excerpts(source, _frames(rows))
            yield Section(table_title(compared), blocks)
    notes = comparison_notes(comparison)
    if notes:
        yield Section(translate("Notes"), [bullets([translate("{fact}.", fact=note) for note in notes])])


def _frames(rows: Sequence[ComparedRow]) -> Iterator[Frame]:
    """Yield the lines that the second run has."""
    for row in rows:
        if isinstance(row, LineRow) and row.frame is not None and not row.gone:
            yield row.frame
