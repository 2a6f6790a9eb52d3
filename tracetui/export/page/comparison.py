"""The page of two runs compared: the verdict, the parts of a step, and what changed most."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.comparison.comparison import Comparison
from tracetui.export.comparison.text import shown_rows, table_title
from tracetui.export.page.html import Section, bullets, paragraph, table
from tracetui.export.sentences.comparison import run_words, steps_sentence
from tracetui.export.sentences.health import legend
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.language import translate

TOP = 15  #: rows of each table


def comparison_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield the parts of the page of a comparison, its head first."""
    title = translate("{base} compared with {other}", base=comparison.base.path, other=comparison.other.path)
    blocks = [paragraph(verdict(comparison), "lead")]
    if comparison.comparable:
        blocks.append(paragraph(steps_sentence(comparison.step)))
    if comparison.doubted:
        blocks.append(paragraph(legend(), "dim"))
    runs = (("BASE", comparison.base), ("OTHER", comparison.other))
    blocks.append(bullets([f"{name}: {run.path}: {run_words(run)}" for name, run in runs]))
    yield Section(title, blocks)
    for compared in (WATERFALL, *EVERY) if comparison.comparable else ():
        rows = shown_rows(compared, comparison)
        if rows:
            shown = compared.listed(comparison, rows if compared is WATERFALL else rows[:TOP])
            yield Section(table_title(compared), [table(compared.table, shown)])
    notes = comparison_notes(comparison)
    if notes:
        yield Section(translate("Notes"), [bullets([translate("{fact}.", fact=note) for note in notes])])
