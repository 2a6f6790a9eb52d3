"""Sentences in the language that was chosen: English as it is written, or what a table of words has for it.

Every sentence is written where it is said, in English, with its values as fields in braces. Another
language is one table: from the English text, or from a key where one English text has several meanings or
has its values in it already ("host.gc.meaning", "advice.casts.text"), to its own words with the same fields.
Whoever chooses the language brings the table; what the table lacks stays English.
Documents (JSON, CSV, sheets) are English whatever is chosen: they are made `in_english`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_FIELD = re.compile(r"\{[a-z]+\}")
_words: Mapping[str, str] = {}
_in_english: ContextVar[bool] = ContextVar("in_english", default=False)


def set_language(words: Mapping[str, str]) -> None:
    """Say everything in these words from now on; none: in English."""
    global _words
    _words = words


@contextmanager
def in_english() -> Iterator[None]:
    """Say everything inside in English: what machines and scripts read."""
    token = _in_english.set(True)
    try:
        yield
    finally:
        _in_english.reset(token)


def speaks_english() -> bool:
    """Return whether what is said now is said in English."""
    return not _words or _in_english.get()


def wording(english: str, key: str = "") -> str:
    """Return the template of a sentence in the language chosen, with the same fields.

    The table is asked for `key`, then for the English text; where it has neither, the text stays English.
    """
    if speaks_english():
        return english
    return _words.get(key) or _words.get(english, english)


def heading(title: str) -> str:
    """Return the title of a column in the language chosen: a word that may mean another thing elsewhere."""
    return wording(title, f"title.{title}")


def translate(english: str, /, **values: object) -> str:
    """Return a sentence in the language chosen, its fields replaced by the values."""
    return wording(english).format(**values)


def counted(count: int, one: str, several: str) -> str:
    """Return "1 gap", "1,234 gaps": the templates of one, and of several with a field `count`."""
    return translate(one if count == 1 else several, count=f"{count:,}")


def names(parts: Iterable[str]) -> str:
    """Return names after each other: "a, b"."""
    return _joined("{name}, {name}", parts)


def clauses(parts: Iterable[str]) -> str:
    """Return parts of a sentence after each other: "3 steps, clocks aligned"."""
    return _joined("{clause}, {clause}", parts)


def sentences(parts: Iterable[str]) -> str:
    """Return sentences after each other, which end with a full stop of their own."""
    return _joined("{sentence} {sentence}", parts)


def alternatives(parts: Iterable[str]) -> str:
    """Return what a semicolon parts: "a; b"."""
    return _joined("{this}; {that}", parts)


def _joined(template: str, parts: Iterable[str]) -> str:
    return _FIELD.sub("", wording(template)).join(parts)
