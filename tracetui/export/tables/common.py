"""Columns that several tables have: of a line of Python, of causes, of what is counted of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.health.finding import Severity
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import PythonLine
from tracetui.arrays import Floats, Int64s
from tracetui.export.cells import encodable
from tracetui.export.sentences.health import verdict_word
from tracetui.export.tables.column import CodedTexts, Column, Form, Values, data, json_only, listed, worded
from tracetui.language import counted
from tracetui.units import format_percent

OPERATORS = 3  #: names of operators beside a row, at most
PARTS = 1_000_000  #: shares are told as so many parts of one
AnyCause = TypeVar("AnyCause", Cause, CommunicationCause)


class Judged(Protocol):
    """Rows of a table whose numbers may stand in doubt."""

    @property
    def severities(self) -> Sequence[Severity]:
        """How much the numbers of each row are to be doubted."""


JudgedRows = TypeVar("JudgedRows", bound=Judged)


class Listed(Protocol):
    """Rows of a table that are objects."""

    @property
    def rows(self) -> Sequence[Any]:
        """One object for each row, in the order of the table."""


Rows = TypeVar("Rows", bound=Listed)


class FirstRows:
    """The first of some rows: at most `top`, 0 for all."""

    def __init__(self, all_rows: Sequence[Any], top: int = 0) -> None:
        self.all_rows = all_rows
        self.rows: Sequence[Any] = all_rows[:top] if top else all_rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def hidden(self) -> int:
        """How many are left out."""
        return len(self.all_rows) - len(self.rows)

    @property
    def more(self) -> str:
        """How many are left out, in words: "3 more"; "" where none is."""
        return counted(self.hidden, "1 more", "{count} more") if self.hidden else ""


def values_of(name: str) -> Callable[[Rows], Values]:
    """Return a getter of int64[n]: of each row an attribute; -1 where it is None."""
    return numbers_by(attrgetter(name))


def texts_of(name: str) -> Callable[[Rows], CodedTexts]:
    """Return a getter of texts: of each row an attribute, None where unknown."""
    return texts_by(attrgetter(name))


def numbers_by(number_of: Callable[[Any], int | None]) -> Callable[[Rows], Values]:
    """Return a getter of int64[n]: what a function makes of each row; -1 where that is None."""
    return lambda rows: optional_numbers([*map(number_of, rows.rows)])


def texts_by(text_of: Callable[[Any], str | None]) -> Callable[[Rows], CodedTexts]:
    """Return a getter of texts: what a function makes of each row, None where unknown."""
    return lambda rows: listed([*map(text_of, rows.rows)])


def named(key: str, title: str, text_of: Callable[[Any], str | None], **more: Any) -> Column[Any]:
    """Return a column of texts that people are shown: what a function makes of each row, None for unknown."""
    return Column(key, title, texts_by(text_of), **{"forms": Form.SHOWN, **more})


def objects_by(value_of: Callable[[Any], Any]) -> Callable[[Rows], Values]:
    """Return a getter of object[n]: numbers of two kinds, or words set like numbers; None where unknown."""

    def objects(rows: Rows) -> Values:
        values = np.empty(len(rows.rows), np.object_)
        values[:] = [*map(value_of, rows.rows)]
        return values

    return objects


def optional_numbers(numbers: Sequence[int | None]) -> Int64s:
    """Return int64[n]: the numbers, -1 for None."""
    return np.array([-1 if number is None else number for number in numbers], np.int64)


def optional_floats(numbers: Iterable[float | None]) -> Floats:
    """Return float64[n]: the numbers, -1 for None."""
    return np.array([-1 if number is None else number for number in numbers], np.float64)


def line_columns(
    place_of: Callable[[Any], PythonLine] = lambda row: PythonLine(row.file, row.line, row.function),
) -> tuple[Column[Any], ...]:
    """Return the columns of a line; unknown where there is no stack, the line where no file is."""

    def places(rows: Listed) -> list[PythonLine]:
        return [*map(place_of, rows.rows)]

    def function(rows: Listed) -> CodedTexts:
        return listed([None if file is None else name for file, _, name in places(rows)])

    def line(rows: Listed) -> Int64s:
        return np.array([line if file else -1 for file, line, _ in places(rows)], np.int64)

    return (
        data("file", lambda rows: listed([file for file, _, _ in places(rows)])),
        data("line", line, optional=True),
        data("function", function),
    )


def cause_columns(
    causes: type[AnyCause], of: Callable[[Rows], Sequence[Mapping[AnyCause, int]]]
) -> tuple[Column[Rows], ...]:
    """Return a column of ns for every cause that there is."""

    def column(cause: AnyCause) -> Column[Rows]:
        return Column(
            f"{cause.label}_ns",
            "",
            lambda rows: np.array([ns_by_cause.get(cause, 0) for ns_by_cause in of(rows)], np.int64),
            forms=Form.FRAME,
        )

    return tuple(map(column, causes))


def flag_column(name: str) -> Column[Any]:
    """Return a column of whether an attribute holds of each row."""
    return data(name, lambda rows: np.array([getattr(row, name) for row in rows.rows], np.bool_))


def name_column(title: str, name_of: Callable[[Any], str]) -> Column[Any]:
    """Return the column of what each row is called; the viewer has shorter names, with inks of their own."""
    return named("name", title, name_of, forms=Form.TEXT | Form.MARKDOWN, path=True)


def reason_columns(why: Callable[[Mapping[str, int]], str]) -> tuple[Column[Any], ...]:
    """Return the causes and the operators of idle time; `why` tells Markdown the causes in words."""

    def causes(rows: Listed) -> list[dict[str, int]]:
        return [causes_document(row.causes) for row in rows.rows]

    def idle(rows: Listed) -> list[Mapping[Cause, int]]:
        return [row.causes for row in rows.rows]

    def operator(rows: Listed) -> CodedTexts:
        return listed([next(iter(row.ops), None) or None for row in rows.rows])

    def operators(rows: Listed) -> list[list[str]]:
        return [[name for name in row.ops if name][:OPERATORS] for row in rows.rows]

    return (
        json_only("causes", causes),
        json_only("ops", lambda rows: [ops_document(row.ops) for row in rows.rows]),
        Column("op", "", operator, forms=Form.FRAME),
        *cause_columns(Cause, idle),
        worded("why", "why", lambda rows: [*map(why, causes(rows))], forms=Form.MARKDOWN),
        Column("operators", "operators", operators, forms=Form.MARKDOWN),
    )


def causes_document(causes: Mapping[AnyCause, int]) -> dict[str, int]:
    """Return ns by the name of the cause, in the order given."""
    return {cause.label: ns for cause, ns in causes.items()}


def ops_document(ops: Mapping[str, int]) -> dict[str, int]:
    """Return ns by the name of the operator, "" where none ran; what differs in nothing encodable is one."""
    ns_by_name: dict[str, int] = {}
    for name, ns in ops.items():
        ns_by_name[encodable(name)] = ns_by_name.get(encodable(name), 0) + ns
    return ns_by_name


def share_words(share: float) -> str:
    """Return a share, 0..1, for people: "31.2 %"."""
    return format_percent(round(share * PARTS), PARTS)


def share_column(ns: Callable[[Rows], Values], total: Callable[[Rows], int], **more: Any) -> Column[Rows]:
    """Return a column of the share that ns are of a whole, for people."""
    return Column(
        "share", "share", ns, lambda part, rows: format_percent(part, total(rows)), forms=Form.SHOWN, **more
    )


def trust_columns() -> tuple[Column[JudgedRows], Column[JudgedRows]]:
    """Return the columns that say whether rows can be believed: in JSON, and for people if one cannot."""
    return (
        json_only("trust", lambda rows: [severity.verdict for severity in rows.severities]),
        worded(
            "trust",
            "trust",
            lambda rows: [verdict_word(severity.verdict) for severity in rows.severities],
            when=lambda rows, _: any(rows.severities),
        ),
    )
