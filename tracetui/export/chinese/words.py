"""The catalogue: all that is shown in Chinese, by its English text, or by a key where that does not do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tracetui.export.chinese.advice import ADVICE, FIGURES
from tracetui.export.chinese.causes import CAUSES
from tracetui.export.chinese.comparisons import COMPARISONS
from tracetui.export.chinese.errors import ERRORS
from tracetui.export.chinese.health import HEALTH
from tracetui.export.chinese.jobs import JOBS
from tracetui.export.chinese.keys import KEYS
from tracetui.export.chinese.memory import MEMORY
from tracetui.export.chinese.notes import NOTES
from tracetui.export.chinese.reports import REPORTS
from tracetui.export.chinese.scheduler import SCHEDULER
from tracetui.export.chinese.screens import SCREENS
from tracetui.export.chinese.stories import STORIES
from tracetui.export.chinese.titles import TITLES_OF_COLUMNS

TABLES = (REPORTS, HEALTH, JOBS, MEMORY, COMPARISONS, STORIES, KEYS, SCREENS, SCHEDULER, NOTES, ERRORS)


def _keyed(prefix: str, rows: Mapping[str, NamedTuple]) -> Iterator[tuple[str, str]]:
    """Yield the fields of rows as entries of the catalogue: "host.gc.name", "advice.casts.text"."""
    for name, row in rows.items():
        for field, words in row._asdict().items():
            yield f"{prefix}{name}.{field}", words


WORDS: dict[str, str] = {
    **{label: words.name for label, words in CAUSES.items()},
    **dict(_keyed("", CAUSES)),
    **dict(_keyed("advice.", ADVICE)),
    "advice.per_step": "每个 step ",  # what counts are of: `{times}` in the text of a piece of advice
    "advice.in_all": "总共 ",
    # of `{before}` in two texts: time before the device first computes
    "advice.data_loader_slow.before": "，在它的第一个 kernel 之前还有 {before_window_ns}",
    "advice.iteration_gap.before": "，其中 {before_window_ns} 在它的第一个 kernel 之前",
    **{f"figure.{key}": words for key, words in FIGURES.items()},
    **{f"title.{title}": words for title, words in TITLES_OF_COLUMNS.items()},
    **{english: words for table in TABLES for english, words in table.items()},
}
