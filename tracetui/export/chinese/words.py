"""All sentences in Chinese, by the English that the program has them in."""

from __future__ import annotations

from tracetui.export.chinese.advice import ADVICE, TITLES
from tracetui.export.chinese.causes import CAUSES
from tracetui.export.chinese.comparisons import COMPARISONS
from tracetui.export.chinese.jobs import JOBS
from tracetui.export.chinese.memory import MEMORY
from tracetui.export.chinese.reports import REPORTS
from tracetui.export.chinese.stories import STORIES

TABLES = (REPORTS, JOBS, MEMORY, COMPARISONS, STORIES)
#: Names of causes by their labels, as two of them share their English name.
_NAMES = {label: words.name for label, words in CAUSES.items()}
_TITLES = {title: ADVICE[rule].title for title, rule in TITLES.items()}
WORDS = {**_NAMES, **_TITLES, **{english: words for table in TABLES for english, words in table.items()}}
