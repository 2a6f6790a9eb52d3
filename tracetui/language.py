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
from functools import lru_cache
from typing import NamedTuple

_FIELD = re.compile(r"\{([a-z]+)\}")
_LONGEST = 2_000  #: characters of a sentence that is restated
_DEEPEST = 4  #: sentences in sentences that are restated: what a file says may be made to take long
_words: Mapping[str, str] = {}
_kept: Mapping[str, str] = {}
_in_english: ContextVar[bool] = ContextVar("in_english", default=False)


def set_language(words: Mapping[str, str], kept: Mapping[str, str] | None = None) -> None:
    """Say everything in these words from now on; none: in English. `kept`: those of what `restate` shows."""
    global _words, _kept
    _words, _kept = words, kept or {}
    _kept_patterns.cache_clear()


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


def state(english: str, /, **values: object) -> str:
    """Return a sentence in English, whatever was chosen: what is kept. `restate` says it to people."""
    return english.format(**values)


def restate(sentence: str) -> str:
    """Return a sentence that `state` made, maybe in another process, in the language chosen.

    Its values are restated, too. A full stop at its end may be there or not. What `state` did not make stays
    English.
    """
    return sentence if speaks_english() or len(sentence) > _LONGEST else _restate(sentence, _DEEPEST)


def _restate(sentence: str, depth: int) -> str:
    """Restate a sentence, and of its values those that are at most `depth` sentences deep."""
    if not depth:
        return sentence
    text = _without_stop(sentence)
    stop = wording("{sentence}.").format(sentence="") if text != sentence else ""
    for pattern, words in _kept_patterns():
        values = pattern.values(text)
        if values is not None and pattern.is_sentence:
            restated = {name: _restate(value, depth - 1) for name, value in values.items()}
            return words.format(**restated) + stop
    listed = text.split(", ")
    if len(listed) > 1:
        parts = [_restate(part, depth - 1) for part in listed]
        if all(map(str.__ne__, listed, parts)):
            return names(parts) + stop
    for pattern, words in _kept_patterns():
        values = None if pattern.is_sentence else pattern.values(text)
        if values is not None:
            restated = {name: _restate(value, depth - 1) for name, value in values.items()}
            if (
                restated != values
            ):  # punctuation alone says nothing: of other sentences it would translate a part
                return words.format(**restated) + stop
    return sentence


class _KeptPattern(NamedTuple):
    """What a sentence looks like whose values are unknown."""

    regex: re.Pattern[str]
    is_sentence: bool  #: it has words of its own, not only values

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values of a sentence, by field; None where it is another one."""
        found = self.regex.fullmatch(text)
        return None if found is None else found.groupdict()


@lru_cache(maxsize=1)
def _kept_patterns() -> list[tuple[_KeptPattern, str]]:
    """Return the pattern and the words of each sentence that is restated, the most literal ones first."""
    patterns = []
    for english, words in _kept.items():
        pieces = _FIELD.split(_without_stop(english))
        literals, fields = pieces[::2], pieces[1::2]
        regex = re.escape(literals[0])
        for place, (field, literal) in enumerate(zip(fields, literals[1:])):
            regex += f"(?P={field})" if field in fields[:place] else f"(?P<{field}>.+?)"
            regex += re.escape(literal)
        text = "".join(literals)
        pattern = _KeptPattern(re.compile(regex, re.DOTALL), any(map(str.isalpha, text)))
        patterns.append((len(text), pattern, words.rstrip("。")))
    patterns.sort(key=lambda one: -one[0])
    return [(pattern, words) for _, pattern, words in patterns]


def _without_stop(sentence: str) -> str:
    return sentence[:-1] if sentence.endswith(".") and not sentence.endswith("..") else sentence


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
