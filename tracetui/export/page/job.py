"""The page of a job of many ranks: its verdict, its heat maps and its tables."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.export.job.text import TOP, job_sections, job_verdict
from tracetui.export.page.html import Section, bullets, paragraph, table
from tracetui.export.page.rank_maps import rank_maps
from tracetui.export.sentences.job import head_words
from tracetui.export.sentences.notes import job_notes
from tracetui.job.job import Job
from tracetui.language import translate


def job_page_sections(job: Job, title: str) -> Iterator[Section]:
    """Yield the parts of the page of a job, its head first; `title` is what was asked for."""
    first, *following = job_verdict(job, None) or [""]
    blocks = [paragraph(head_words(job, None), "dim"), paragraph(first, "lead")]
    yield Section(title, [*blocks, *map(paragraph, following)])
    yield from rank_maps(job)
    for section in job_sections(job, None, None, 2 * TOP):
        more = [paragraph(section.more, "dim")] if section.more else []
        yield Section(section.title, [table(section.table, section.rows), *more])
    notes = job_notes(job)
    if notes:
        yield Section(translate("Notes"), [bullets([translate("{fact}.", fact=note) for note in notes])])
