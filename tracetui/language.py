"""Sentences in the language that was chosen: English as it is written, or what a table of words has for it.

Every sentence is written where it is said, in English, with its values as fields in braces. Another
language is one table: from the English text, or from a key where one English text has several meanings or
has its values in it already ("host.gc.meaning", "advice.casts.text"), to its own words with the same fields.
Whoever chooses the language brings the table; what the table lacks stays English.
What results and files keep is a `Statement`: the English text, with the template and values that make it.
Documents (JSON, CSV, sheets) are English whatever is chosen: they are made `in_english`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Union

_FIELD = re.compile(r"\{([a-z]+)\}")
_HAN = "\u4e00-\u9fff"
_EDGE = "\0"  #: stands on both sides of a value while its sentence is made
#: Where a value begins or ends between Chinese and Latin without a space; and between Chinese. Compiled when
#: first used: it takes 4 ms, and English needs neither.
_MEETING = rf"(?<=[{_HAN}])\0+(?=[0-9A-Za-z])|(?<=[0-9A-Za-z%])\0+(?=[{_HAN}])"
_JOINED = rf"(?<=[{_HAN}、。）]) ?\0+ ?(?=[{_HAN}（])"
_DEEPEST = 6  #: sentences in sentences that a file may keep
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
    if speaks_english():
        return english.format(**values)
    framed = {name: _framed(value) if isinstance(value, str) else value for name, value in values.items()}
    return _set_apart(wording(english).format(**framed))


class Statement(str):
    """A sentence in English that keeps what it is made of: what results hold, and `restate` says to people.

    Scripts and documents read it as the text that it is.
    """

    template: str
    values: Mapping[str, Value]  #: of the fields of the template; of several sentences "a, b"

    def __new__(cls, template: str, values: Mapping[str, Value]) -> Statement:
        """Fill in the fields of a template. Raises KeyError where one has no value."""
        text = _FIELD.sub(lambda field: _english(values[field[1]]), template)
        statement = super().__new__(cls, text)
        statement.template = template
        statement.values = {name: values[name] for name in _FIELD.findall(template)}
        return statement

    def with_values(self, change: Callable[[str], str]) -> Statement:
        """Return the statement with each text in its fields changed."""
        values = {
            name: change(value) if isinstance(value, str) else tuple(map(change, value))
            for name, value in self.values.items()
        }
        return Statement(self.template, values)

    def __getnewargs__(self) -> tuple[str, Mapping[str, Value]]:  # type: ignore[override]
        """Return what pickle and copy make the same statement of."""
        return self.template, self.values

    def __str__(self) -> str:
        """Return the statement: an error that is raised with one has it as its text."""
        return self


#: What stands in a field: a text, a statement, or several of them.
Value = Union[str, tuple[str, ...]]


def state(english: str, /, **values: object) -> Statement:
    """Return a sentence in English, whatever was chosen: what is kept. `restate` says it to people."""
    return Statement(
        english, {name: value if isinstance(value, tuple) else str(value) for name, value in values.items()}
    )


def restate(sentence: str) -> str:
    """Return a sentence in the language chosen if it is a statement, with its values; another as it is."""
    if speaks_english() or not isinstance(sentence, Statement):
        return sentence
    words = _words.get(sentence.template)
    if words is None:  # the catalogue has it with its full stop
        words = _words.get(f"{sentence.template}.", sentence.template).rstrip("。")
    values = {
        name: _framed(names(map(restate, value)) if isinstance(value, tuple) else restate(value))
        for name, value in sentence.values.items()
    }
    # The template may be that of a file: nothing but these fields is to be filled in.
    return _set_apart(_FIELD.sub(lambda field: values[field[1]], words))


def without_stop(sentence: str) -> str:
    """Return a sentence without the full stop at its end."""
    if isinstance(sentence, Statement):
        return Statement(sentence.template.rstrip("."), sentence.values)
    return sentence.rstrip(".")


def statement_document(sentence: str) -> str | dict[str, Any]:
    """Return a sentence as JSON keeps it: a text, or of a statement its template and values."""
    if not isinstance(sentence, Statement):
        return sentence
    values = {
        name: [*map(statement_document, value)] if isinstance(value, tuple) else statement_document(value)
        for name, value in sentence.values.items()
    }
    return {"template": sentence.template, "values": values}


def statement_of(document: Any, depth: int = _DEEPEST) -> str:
    """Return the sentence that `statement_document` wrote, or something else as text.

    Raises ValueError, or another error, where it is damaged, or deeper or longer than a sentence may be.
    """
    if not isinstance(document, dict):
        return str(document)
    template, values = document["template"], document["values"]
    fields = _FIELD.findall(template)
    if not depth or len(fields) != len(set(fields)):  # which may be made to take more memory than there is
        raise ValueError("no statement")
    return Statement(
        template,
        {
            name: tuple(statement_of(part, depth - 1) for part in values[name])
            if isinstance(values[name], list)
            else statement_of(values[name], depth - 1)
            for name in fields
        },
    )


def _english(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def counted(count: int, one: str, several: str, /, **values: object) -> str:
    """Return "1 gap", "1,234 gaps": the templates of one, and of several with a field `count`.

    A language that says both alike has words for several alone.
    """
    is_one = count == 1 and (speaks_english() or one in _words)
    return translate(one if is_one else several, count=f"{count:,}", **values)


def names(parts: Iterable[str]) -> str:
    """Return names after each other: "a, b"."""
    return _joined("{name}, {name}", parts)


def clauses(parts: Iterable[str]) -> str:
    """Return parts of a sentence after each other: "3 steps, clocks aligned"."""
    return _joined("{clause}, {clause}", parts)


def sentences(parts: Iterable[str]) -> str:
    """Return sentences after each other, which end with a full stop of their own."""
    return _joined("{sentence} {sentence}", parts)


def semicolon_list(parts: Iterable[str]) -> str:
    """Return parts that semicolons keep apart: "a; b"."""
    return _joined("{this}; {that}", parts)


def _framed(value: str) -> str:
    return f"{_EDGE}{value}{_EDGE}"


def _set_apart(text: str) -> str:
    """Return a sentence with a space where a value in Latin meets Chinese, and with none between Chinese."""
    if _EDGE not in text:
        return text
    return re.sub(_JOINED, "", re.sub(_MEETING, " ", text)).replace(_EDGE, "")


def needs_space(before: str, after: str) -> bool:
    """Return whether a value in Latin and Chinese meet where one of these texts follows the other."""
    return not speaks_english() and bool(re.search(_MEETING, f"{before[-1:]}{_EDGE}{after[:1]}"))


def _joined(template: str, parts: Iterable[str]) -> str:
    return _FIELD.sub("", wording(template)).join(parts)
