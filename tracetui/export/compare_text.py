"""A comparison as plain text for people, and as Markdown for a ticket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from tracetui.compare.comparison import ApiRow, Comparison, ModuleRow
from tracetui.compare.memory_rows import ALIVE, MemoryRow
from tracetui.compare.operators import Stretch
from tracetui.compare.rows import Row
from tracetui.compare.verdict import verdict
from tracetui.export import markdown
from tracetui.export.compare_tables import EVERY, MEMORY, RANKS, WATERFALL, Table
from tracetui.export.compare_words import (
    LONGEST_NAME,
    count_words,
    lengths,
    name_in,
    ratio_words,
    run_words,
    signed_ms,
    signed_size,
)
from tracetui.export.text import MARGIN, Column, bar, cut, table, wrapped
from tracetui.language import tell
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_ms

_LEAST_SHOWN = 500  #: ns: less is written as 0.000 ms
TOP, TOP_ASKED, TOP_STRETCHES = 10, 20, 3
#: Tables of names whose ends tell more than their beginnings: paths.
_ENDS = ("line", "module")
#: Tables of long names: what they are counted by is told where there is room.
_LONG = ("communication", "memory", "root")
#: What is said of a table that is asked for and has no row.
_ABSENT = {
    "module": "Both sides need frames of nn.Module: with_modules=True, or with_stack=True on a GPU.",
    "kernel": "Devices of two makes have no kernels in common: see the operators.",
    "memory": "Both sides need a recording of it: profile_memory=True.",
    "rank": "These are of jobs: of directories of several ranks, or of their digests.",
    "root": "These are of jobs: of directories of several ranks, or of their digests.",
}
_ROOMY_FROM = 110  #: cells
_BAR_CELLS, _NAME_CELLS = 12, 16


def comparison_text(comparison: Comparison, asked: Table | None, top: int | None, width: int) -> str:
    """Both sides, the verdict, the waterfall and what changed most; or one table that is asked for.

    `top` rows of tables, 0 for all, None for 10, of one that is asked for 20.
    """
    lines = [*_head(comparison, width), "", *wrapped(verdict(comparison), width)]
    if comparison.comparable and asked is None:
        lines += _waterfall(comparison, width)
    changed = (each for each in EVERY if any(_shows_change(row) for row in each.rows(comparison)))
    shown = changed if asked is None else (asked,)
    for each in shown if comparison.comparable else ():
        rows = _shown(each, comparison, asked is not None)
        most = top if top is not None else TOP if asked is None else TOP_ASKED
        lines += [
            "",
            _title(each),
            *(_table(each, rows[:most] if most else rows, width) if rows else _none(each, width)),
        ]
        if most and len(rows) > most:
            more = format_count(len(rows) - most)
            lines.append(MARGIN + tell("{count} more: --by {table} --top 0", count=more, table=each.by))
        if each.by == "operator":
            lines += _only(comparison, width)
    lines += [""] if comparison.notes else []
    for note in comparison.notes:
        lines += wrapped(f"{printable(note)}.", width)
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison, asked: Table | None, top: int | None) -> str:
    """The same as Markdown in which names stay names."""
    parts = [markdown.plain(verdict(comparison)), ""]
    parts += markdown.table(
        ["", "trace", "steps", "ms a step", "from", "to"],
        [
            [name, markdown.code(run.path), str(len(run.wall_ns)), *lengths(run)]
            for name, run in (("BASE", comparison.base), ("OTHER", comparison.other))
        ],
        ["", "trace"],
    )
    most = top if top is not None else TOP if asked is None else TOP_ASKED
    tables = ((WATERFALL, *EVERY) if asked is None else (asked,)) if comparison.comparable else ()
    for each in tables:
        rows = _shown(each, comparison, asked is not None)
        if rows:
            limit = 0 if each is WATERFALL else most
            parts += [
                "",
                f"**{markdown.plain(_title(each))}**",
                "",
                *_markdown_table(each, rows[:limit] if limit else rows),
            ]
    parts += ["", *(f"- {markdown.plain(note)}" for note in comparison.notes)]
    return "\n".join(parts).rstrip() + "\n"


def _title(each: Table) -> str:
    return tell("{title}, {unit}", title=tell(each.title), unit=tell(each.unit))


def _head(comparison: Comparison, width: int) -> Iterator[str]:
    for name, run in (("BASE", comparison.base), ("OTHER", comparison.other)):
        yield f"{name:<7}{cut(printable(run.path), width - 7, keep_end=True)}"
        for line in wrapped(run_words(run), width - 7):
            yield " " * 7 + line


def _shown(each: Table, comparison: Comparison, asked: bool) -> Sequence[Row]:
    """The rows worth a line: all that are asked for, else those that changed at all."""
    rows = each.rows(comparison)
    if each is WATERFALL or (each.by == "class" and not asked):
        return [row for row in rows if row.base.ns or row.other.ns]
    return rows if asked else [row for row in rows if _shows_change(row)]


def _none(each: Table, width: int) -> Iterator[str]:
    """Why a table may have no row."""
    for line in wrapped(tell(_ABSENT.get(each.by, "Neither side has any.")), width - len(MARGIN)):
        yield MARGIN + line


def _shows_change(row: Row) -> bool:
    """Whether a row differs in what is written of it."""
    return abs(row.delta_ns) >= (1 if isinstance(row, MemoryRow) else _LEAST_SHOWN)


def _waterfall(comparison: Comparison, width: int) -> Iterator[str]:
    rows = [*_shown(WATERFALL, comparison, asked=False), comparison.step]
    most = max((abs(row.delta_ns) for row in rows), default=Fraction(0))
    columns = [
        Column("", right=False),
        Column("base"),
        Column("other"),
        Column("delta"),
        Column("changed", right=False),
        Column("", right=False),
    ]
    cells = [
        [
            row.name,
            format_ms(round(row.base_ns)),
            format_ms(round(row.other_ns)),
            signed_ms(row.delta_ns),
            _changed(row),
            _bar(row.delta_ns, most),
        ]
        for row in rows
    ]
    lines = table(columns, cells, width)
    yield from (
        "",
        tell("{title}, {unit}", title=tell(WATERFALL.title), unit=tell("ms")),
        *lines[:-1],
        lines[1],
        lines[-1],
    )


class _Cells(NamedTuple):
    """A column of a table: its title, and what it says of a row."""

    title: str
    of: Callable[[Row], str]


def _columns(each: Table, roomy: bool) -> Iterator[_Cells]:
    """The columns behind the name; in a narrow terminal without those whose room names need more."""
    for of_base in (True, False):
        yield from _side(each, of_base, roomy)
    in_bytes = each is MEMORY
    yield _Cells("delta", lambda row: signed_size(row.delta_ns) if in_bytes else signed_ms(row.delta_ns))
    yield _Cells("ratio", ratio_words)


def _side(each: Table, of_base: bool, roomy: bool) -> Iterator[_Cells]:
    """What is told of one side."""
    in_bytes = each is MEMORY

    def written(row: Row) -> str:
        ns = row.base_ns if of_base else row.other_ns
        return format_bytes(round(ns)) if in_bytes else format_ms(round(ns))

    def counted(row: Row) -> str:
        if isinstance(row, MemoryRow) and row.what != ALIVE:
            return ""
        return count_words(row.base_count if of_base else row.other_count)

    def mean(row: Row) -> str:
        ns = row.means[0 if of_base else 1] if isinstance(row, ApiRow) else None
        return "-" if ns is None else format_ms(round(ns))

    yield _Cells("base" if of_base else "other", written)
    if roomy and "base_self_ns" in each.columns:
        yield _Cells("self", lambda row: written(_own(row)))
    if each is not RANKS and (roomy or each.by not in _LONG):
        yield _Cells("blocks" if in_bytes else "count", counted)
    if roomy and "base_mean_ns" in each.columns:
        yield _Cells("mean", mean)


def _own(row: Row) -> Row:
    return row.own if isinstance(row, (ModuleRow, ApiRow)) else row


def _table(each: Table, rows: Sequence[Row], width: int) -> list[str]:
    cells = [*_columns(each, width >= _ROOMY_FROM)]
    name = Column("", right=False, shrink_to=_NAME_CELLS, keep_end=each.by in _ENDS)
    columns = [name, *(Column(told.title) for told in cells), Column("", right=False)]
    lines = [
        [name_in(each, row), *(told.of(row) for told in cells), "*" if row.changed else ""] for row in rows
    ]
    return table(columns, lines, width)


def _markdown_table(each: Table, rows: Sequence[Row]) -> list[str]:
    cells = [*_columns(each, roomy=True)]
    titles = ["", *(told.title for told in cells), "changed"]
    lines = [
        [markdown.code(name_in(each, row)), *(told.of(row) for told in cells), _changed(row)] for row in rows
    ]
    return markdown.table(titles, lines, ["", "changed"])


def _only(comparison: Comparison, width: int) -> Iterator[str]:
    """The operators in a row that one side alone has."""
    for name, stretches, steps in (
        ("BASE", comparison.gone, comparison.base.steps),
        ("OTHER", comparison.new, comparison.other.steps),
    ):
        for stretch in stretches[:TOP_STRETCHES]:
            told = tell("only in {run}: {what}", run=name, what=_stretch(stretch, max(steps, 1)))
            yield cut(MARGIN + told, width)
        if len(stretches) > TOP_STRETCHES:
            left = stretches[TOP_STRETCHES:]
            ns = format_ms(round(Fraction(sum(stretch.ns for stretch in left), max(steps, 1))))
            told = "only in {run}: {count} more stretches, {time} ms a step"
            yield MARGIN + tell(told, run=name, count=format_count(len(left)), time=ns)


def _stretch(stretch: Stretch, steps: int) -> str:
    """ "aten::mul … aten::add (5 operators), 1.0 times and 12.1 ms a step" """
    names = [printable(name, LONGEST_NAME) for name in stretch.names]
    called = names[0]
    if len(names) > 1:
        told = "{first} … {last} ({count} operators)"
        called = tell(told, first=names[0], last=names[-1], count=format_count(len(names)))
    ns = format_ms(round(Fraction(stretch.ns, steps)))
    times = count_words(Fraction(stretch.count, steps))
    return tell("{what}, {times} times and {time} ms a step", what=called, times=times, time=ns)


def _changed(row: Row) -> str:
    return {True: tell("yes"), False: "", None: "?"}[row.changed]


def _bar(delta: Fraction, most: Fraction) -> str:
    drawn = bar(round(abs(delta)), round(most), _BAR_CELLS)
    return f"{'+' if delta > 0 else '-'}{drawn}" if drawn else ""
