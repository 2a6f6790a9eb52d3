"""A comparison as plain text for people, and as Markdown for a ticket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.memory_rows import MemoryRow
from tracetui.comparison.operator_sequences import OperatorStretch
from tracetui.export import markdown
from tracetui.export.sentences.comparison import (
    LONGEST_NAME,
    changed_words,
    count_words,
    lengths,
    run_words,
    shift_words,
    signed_ms,
    steps_sentence,
    vendor_name,
)
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL, ComparedRows, ComparedTable
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, TextColumn, bar, cut, table, wrapped
from tracetui.language import heading, tell
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_ms

_LEAST_SHOWN = 500  #: ns: less is written as 0.000 ms
TOP, TOP_ASKED, TOP_STRETCHES = 10, 20, 3
#: What is said of a table that is asked for and has no row.
_ABSENT = {
    "module": "Both sides need frames of nn.Module: with_modules=True, or with_stack=True on a GPU.",
    "kernel": "Devices of two makes have no kernels in common: see the operators.",
    "memory": "Both sides need a recording of it: profile_memory=True.",
    "rank": "These are of jobs: of directories of several ranks, or of their digests.",
    "root": "These are of jobs: of directories of several ranks, or of their digests.",
}
_ROOMY_FROM = 110  #: cells
_BAR_CELLS = 12


def comparison_text(comparison: Comparison, asked: ComparedTable | None, top: int | None, width: int) -> str:
    """Return both sides, the verdict, the waterfall and what changed most; or one table that is asked for.

    `top` rows of tables, 0 for all, None for 10, of one that is asked for 20.
    """
    lines = [*_head(comparison, width), "", *wrapped(verdict(comparison), width)]
    lines += wrapped(steps_sentence(comparison.step), width) if comparison.comparable else []
    if comparison.comparable and asked is None:
        lines += _waterfall(comparison, width)
    changed = (each for each in EVERY if any(_shows_change(row) for row in each.rows(comparison)))
    shown = changed if asked is None else (asked,)
    for each in shown if comparison.comparable else ():
        rows = shown_rows(each, comparison, asked is not None)
        most = top if top is not None else TOP if asked is None else TOP_ASKED
        lines += [
            "",
            table_title(each),
            *(_table(each, rows[:most] if most else rows, width) if rows else _none(each, width)),
        ]
        if most and len(rows) > most:
            more = format_count(len(rows) - most)
            lines.append(MARGIN + tell("{count} more: --by {table} --top 0", count=more, table=each.by))
        if each.by == "operator":
            lines += _only(comparison, width)
    notes = comparison_notes(comparison)
    lines += [""] if notes else []
    for note in notes:
        lines += wrapped(f"{printable(note)}.", width)
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison, asked: ComparedTable | None, top: int | None) -> str:
    """Return the same as Markdown in which names stay names."""
    parts = [markdown.plain(verdict(comparison)), ""]
    steps = steps_sentence(comparison.step) if comparison.comparable else ""
    parts += [markdown.plain(steps), ""] if steps else []
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
        rows = shown_rows(each, comparison, asked is not None)
        if rows:
            limit = 0 if each is WATERFALL else most
            parts += [
                "",
                f"**{markdown.plain(table_title(each))}**",
                "",
                *markdown_table(each.table, ComparedRows(rows[:limit] if limit else rows)),
            ]
    parts += ["", *(f"- {markdown.plain(note)}" for note in comparison_notes(comparison))]
    return "\n".join(parts).rstrip() + "\n"


def table_title(each: ComparedTable) -> str:
    return tell("{title}, {unit}", title=tell(each.title), unit=tell(each.unit))


def _head(comparison: Comparison, width: int) -> Iterator[str]:
    for name, run in (("BASE", comparison.base), ("OTHER", comparison.other)):
        yield f"{name:<7}{cut(printable(run.path), width - 7, keep_end=True)}"
        for line in wrapped(run_words(run), width - 7):
            yield " " * 7 + line


def shown_rows(each: ComparedTable, comparison: Comparison, asked: bool = False) -> Sequence[ComparedRow]:
    """Return the rows worth a line: all that are asked for, else those that changed at all."""
    rows = each.rows(comparison)
    if each is WATERFALL or (each.by == "class" and not asked):
        return [row for row in rows if row.base.ns or row.other.ns]
    return rows if asked else [row for row in rows if _shows_change(row)]


def _none(each: ComparedTable, width: int) -> Iterator[str]:
    """Why a table may have no row."""
    for line in wrapped(tell(_ABSENT.get(each.by, "Neither side has any.")), width - len(MARGIN)):
        yield MARGIN + line


def _shows_change(row: ComparedRow) -> bool:
    """Whether a row differs in what is written of it."""
    return abs(row.delta_ns) >= (1 if isinstance(row, MemoryRow) else _LEAST_SHOWN)


def _waterfall(comparison: Comparison, width: int) -> Iterator[str]:
    rows = [*shown_rows(WATERFALL, comparison), comparison.step]
    most = max(abs(row.delta_ns) for row in rows)
    roomy = width >= _ROOMY_FROM and comparison.knows_spread
    columns = [
        TextColumn("", right=False),
        *(TextColumn(heading(title)) for title in ("base", "other", "delta")),
        TextColumn(heading("changed"), right=False),
        *([TextColumn(heading("shift (interval)"), right=False)] if roomy else []),
        TextColumn("", right=False),
    ]
    cells = [
        [
            vendor_name(row),
            format_ms(round(row.base_ns)),
            format_ms(round(row.other_ns)),
            signed_ms(row.delta_ns),
            changed_words(row),
            *([shift_words(row) if row.changed else ""] if roomy else []),
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


def _table(each: ComparedTable, rows: Sequence[ComparedRow], width: int) -> list[str]:
    return text_table(each.table, ComparedRows(rows, width >= _ROOMY_FROM), width)


def _only(comparison: Comparison, width: int) -> Iterator[str]:
    """Yield the operators in a row that one side alone has."""
    for name, stretches, steps in (
        ("BASE", comparison.gone, comparison.base.steps),
        ("OTHER", comparison.new, comparison.other.steps),
    ):
        for stretch in stretches[:TOP_STRETCHES]:
            words = tell("only in {run}: {what}", run=name, what=_stretch(stretch, max(steps, 1)))
            yield cut(MARGIN + words, width)
        if len(stretches) > TOP_STRETCHES:
            left = stretches[TOP_STRETCHES:]
            ns = format_ms(round(Fraction(sum(stretch.ns for stretch in left), max(steps, 1))))
            template = "only in {run}: {count} more stretches, {time} ms a step"
            yield MARGIN + tell(template, run=name, count=format_count(len(left)), time=ns)


def _stretch(stretch: OperatorStretch, steps: int) -> str:
    """ "aten::mul … aten::add (5 operators), 1.0 times and 12.1 ms a step" """
    names = [printable(name, LONGEST_NAME) for name in stretch.names]
    called = names[0]
    if len(names) > 1:
        template = "{first} … {last} ({count} operators)"
        called = tell(template, first=names[0], last=names[-1], count=format_count(len(names)))
    ns = format_ms(round(Fraction(stretch.ns, steps)))
    times = count_words(Fraction(stretch.count, steps))
    return tell("{what}, {times} times and {time} ms a step", what=called, times=times, time=ns)


def _bar(delta: Fraction, most: Fraction) -> str:
    drawn = bar(round(abs(delta)), round(most), _BAR_CELLS)
    return f"{'+' if delta > 0 else '-'}{drawn}" if drawn else ""
