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
    absence_sentence,
    changed_words,
    count_words,
    lengths,
    run_words,
    shift_words,
    signed_ms,
    steps_sentence,
    vendor_name,
)
from tracetui.export.sentences.health import marks_legend
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL, ComparedTable
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, ColumnLayout, bar, cell_width, cut, layout_table, wrap_sentence
from tracetui.language import heading, translate
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_ms

_LEAST_SHOWN = 500  #: ns: less is written as 0.000 ms
TOP, TOP_ASKED, TOP_STRETCHES = 10, 20, 3
_ROOMY_FROM = 110  #: cells
_BAR_CELLS, _SHORTEST_BAR = 12, 4
_SHORTEST_NAME = 16  #: cells


def comparison_text(comparison: Comparison, only: ComparedTable | None, top: int | None, width: int) -> str:
    """Return both sides, the verdict, the waterfall and what changed most; or one table that is asked for.

    `top` rows of tables, 0 for all, None for 10, of one that is asked for 20.
    """
    lines = [*_side_lines(comparison, width), "", *wrap_sentence(verdict(comparison), width)]
    lines += wrap_sentence(steps_sentence(comparison.step), width) if comparison.comparable else []
    if comparison.doubted:
        lines += wrap_sentence(marks_legend(), width)
    if comparison.comparable and only is None:
        lines += _waterfall(comparison, width)
    changed_tables = (
        compared for compared in EVERY if any(_shows_change(row) for row in compared.rows(comparison))
    )
    tables = changed_tables if only is None else (only,)
    for compared in tables if comparison.comparable else ():
        rows = shown_rows(compared, comparison, only is not None)
        limit = top if top is not None else TOP if only is None else TOP_ASKED
        lines += [
            "",
            table_title(compared),
            *(
                _table(compared, comparison, rows[:limit] if limit else rows, width)
                if rows
                else wrap_sentence(absence_sentence(compared.by), width, MARGIN, MARGIN)
            ),
        ]
        lines += [MARGIN + words for words in _more_rows(compared, len(rows), limit)]
        if compared.by == "operator":
            lines += _unmatched_lines(comparison, width)
    notes = comparison_notes(comparison)
    lines += [""] if notes else []
    for note in notes:
        lines += wrap_sentence(translate("{sentence}.", sentence=printable(note)), width)
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison, only: ComparedTable | None, top: int | None) -> str:
    """Return the same as Markdown in which names stay names."""
    parts = [markdown.escaped(verdict(comparison)), ""]
    steps = steps_sentence(comparison.step) if comparison.comparable else ""
    parts += [markdown.escaped(steps), ""] if steps else []
    parts += [markdown.escaped(marks_legend()), ""] if comparison.doubted else []
    parts += markdown.table(
        ["", "trace", "steps", "ms a step", "from", "to"],
        [[name, markdown.code(run.path), str(run.steps), *lengths(run)] for name, run in comparison.sides],
        ["", "trace"],
    )
    limit = top if top is not None else TOP if only is None else TOP_ASKED
    tables = ((WATERFALL, *EVERY) if only is None else (only,)) if comparison.comparable else ()
    for compared in tables:
        rows = shown_rows(compared, comparison, only is not None)
        if rows:
            rows_shown = 0 if compared is WATERFALL else limit
            parts += [
                "",
                f"**{markdown.escaped(table_title(compared))}**",
                "",
                *markdown_table(
                    compared.table, compared.judged(comparison, rows[:rows_shown] if rows_shown else rows)
                ),
                *(line for words in _more_rows(compared, len(rows), rows_shown) for line in ("", words)),
            ]
        elif only is not None:
            parts += ["", markdown.escaped(absence_sentence(compared.by))]
    parts += ["", *(f"- {markdown.escaped(note)}" for note in comparison_notes(comparison))]
    return "\n".join(parts).rstrip() + "\n"


def _more_rows(compared: ComparedTable, count: int, limit: int) -> list[str]:
    """Return how many of `count` rows a table of `limit`, 0 for all, leaves out; nothing where it has all."""
    if not limit or count <= limit:
        return []
    more = format_count(count - limit)
    return [translate("{count} more: --by {table} --top 0", count=more, table=compared.by)]


def table_title(compared: ComparedTable) -> str:
    return translate("{title}, {unit}", title=translate(compared.title), unit=translate(compared.unit))


def _side_lines(comparison: Comparison, width: int) -> Iterator[str]:
    for name, run in comparison.sides:
        yield f"{name:<7}{cut(printable(run.path), width - 7, keep_end=True)}"
        for line in wrap_sentence(run_words(run), width - 7):
            yield " " * 7 + line


def shown_rows(
    compared: ComparedTable, comparison: Comparison, is_asked: bool = False
) -> Sequence[ComparedRow]:
    """Return the rows worth a line: all that are asked for, else those that changed at all."""
    rows = compared.rows(comparison)
    if compared is WATERFALL or (compared.by == "class" and not is_asked):
        return [row for row in rows if row.base.ns or row.other.ns]
    return rows if is_asked else [row for row in rows if _shows_change(row)]


def _shows_change(row: ComparedRow) -> bool:
    """Return whether a row differs in what is written of it."""
    return abs(row.delta_ns) >= (1 if isinstance(row, MemoryRow) else _LEAST_SHOWN)


def _waterfall(comparison: Comparison, width: int) -> Iterator[str]:
    rows = [*shown_rows(WATERFALL, comparison), comparison.step]
    largest = max(abs(row.delta_ns) for row in rows)
    marks = WATERFALL.judged(comparison, rows).marks()
    is_roomy = width >= _ROOMY_FROM and comparison.knows_spread
    columns = [
        ColumnLayout("", right=False, shrink_to=_SHORTEST_NAME),
        *(ColumnLayout(heading(title)) for title in ("base", "other", "delta")),
        *([ColumnLayout("", right=False)] if any(marks) else []),
        ColumnLayout(heading("changed"), right=False),
        *([ColumnLayout(heading("shift (interval)"), right=False)] if is_roomy else []),
        ColumnLayout("", right=False),
    ]
    cells = [
        [
            vendor_name(row),
            format_ms(round(row.base_ns)),
            format_ms(round(row.other_ns)),
            signed_ms(row.delta_ns),
            *([doubt] if any(marks) else []),
            changed_words(row),
            *([shift_words(row) if row.changed else ""] if is_roomy else []),
        ]
        for row, doubt in zip(rows, marks)
    ]
    rule = layout_table(columns, [[*words, "+"] for words in cells], width)[1]  # as long as the longest row
    bar_cells = max(min(width - cell_width(rule), _BAR_CELLS), _SHORTEST_BAR)
    bars = (_bar(row.delta_ns, largest, bar_cells) for row in rows)
    lines = layout_table(columns, [[*words, bar] for words, bar in zip(cells, bars)], width)
    yield from (
        "",
        translate("{title}, {unit}", title=translate(WATERFALL.title), unit=translate("ms")),
        *lines[:-1],
        lines[1],
        lines[-1],
    )


def _table(
    compared: ComparedTable, comparison: Comparison, rows: Sequence[ComparedRow], width: int
) -> list[str]:
    return text_table(compared.table, compared.judged(comparison, rows, width >= _ROOMY_FROM), width)


def _unmatched_lines(comparison: Comparison, width: int) -> Iterator[str]:
    """Yield the operators in a row that one side alone has."""
    for name, stretches, steps in (
        ("BASE", comparison.gone, comparison.base.steps),
        ("OTHER", comparison.new, comparison.other.steps),
    ):
        for stretch in stretches[:TOP_STRETCHES]:
            words = translate("only in {run}: {what}", run=name, what=_stretch_words(stretch, max(steps, 1)))
            yield cut(MARGIN + words, width)
        if len(stretches) > TOP_STRETCHES:
            rest = stretches[TOP_STRETCHES:]
            ns = format_ms(round(Fraction(sum(stretch.ns for stretch in rest), max(steps, 1))))
            template = "only in {run}: {count} more stretches, {time} ms a step"
            if len(rest) == 1:
                template = "only in {run}: 1 more stretch, {time} ms a step"
            yield MARGIN + translate(template, run=name, count=format_count(len(rest)), time=ns)


def _stretch_words(stretch: OperatorStretch, steps: int) -> str:
    """Return "aten::mul … aten::add (5 operators), 1.0 times and 12.1 ms a step"."""
    names = [printable(name, LONGEST_NAME) for name in stretch.names]
    operators_words = names[0]
    if len(names) > 1:
        template = "{first} … {last} ({count} operators)"
        operators_words = translate(template, first=names[0], last=names[-1], count=format_count(len(names)))
    ns = format_ms(round(Fraction(stretch.ns, steps)))
    times = count_words(Fraction(stretch.count, steps))
    return translate("{what}, {times} times and {time} ms a step", what=operators_words, times=times, time=ns)


def _bar(delta: Fraction, largest: Fraction, cells: int) -> str:
    blocks = bar(round(abs(delta)), round(largest), cells)
    return f"{'+' if delta > 0 else '-'}{blocks}" if blocks else ""
