"""A comparison as plain text for people, and as Markdown for a ticket."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import wrap

from tracetui.compare.comparison import Comparison, LineRow
from tracetui.compare.operators import Stretch
from tracetui.compare.regressions import Regression
from tracetui.compare.rows import Row
from tracetui.compare.run import Run
from tracetui.compare.verdict import verdict
from tracetui.export import markdown
from tracetui.export.compare_tables import TABLES, WATERFALL, Table, count
from tracetui.export.text import MARGIN, Column, bar, cut, table
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration, format_ms

TOP, TOP_ASKED, TOP_STRETCHES = 10, 20, 3
LONGEST_NAME = 300
_BEFORE_UNITS = re.compile(r"(?<=[0-9]) (?=(?:[nµm]?s|[kMG]?B|%)(?:\W|$))")
#: Tables of names whose ends tell more than their beginnings: paths.
_ENDS = ("line", "module")
_BAR_CELLS, _NAME_CELLS = 12, 16


def comparison_text(comparison: Comparison, asked: Table | None, top: int | None, width: int) -> str:
    """Both sides, the verdict, the waterfall and what changed most; or one table that is asked for.

    `top` rows of tables, 0 for all, None for 10, of one that is asked for 20.
    """
    lines = [*_head(comparison, width), "", *_wrapped(verdict(comparison), width)]
    if comparison.comparable and asked is None:
        lines += _waterfall(comparison, width)
    changed = (each for each in TABLES if any(row.delta_ns for row in each.rows(comparison)))
    shown = changed if asked is None else (asked,)
    for each in shown if comparison.comparable else ():
        rows = _shown(each, comparison, asked is not None)
        most = top if top is not None else TOP if asked is None else TOP_ASKED
        lines += [
            "",
            f"{each.title}, ms a step",
            *_table(rows[:most] if most else rows, width, each.by in _ENDS),
        ]
        if most and len(rows) > most:
            more = format_count(len(rows) - most)
            lines.append(f"{MARGIN}{more} more: --by {each.by} --top 0")
        if each.by == "operator":
            lines += _only(comparison, width)
    lines += [""] if comparison.notes else []
    for note in comparison.notes:
        lines += _wrapped(f"{printable(note)}.", width)
    return "\n".join(lines) + "\n"


def comparison_markdown(comparison: Comparison, asked: Table | None, top: int | None) -> str:
    """The same as Markdown in which names stay names."""
    parts = [markdown.plain(verdict(comparison)), ""]
    parts += markdown.table(
        ["", "trace", "steps", "ms a step", "from", "to"],
        [
            [name, markdown.code(run.path), str(len(run.wall_ns)), *_lengths(run)]
            for name, run in (("BASE", comparison.base), ("OTHER", comparison.other))
        ],
        ["", "trace"],
    )
    most = top if top is not None else TOP if asked is None else TOP_ASKED
    tables = ((WATERFALL, *TABLES) if asked is None else (asked,)) if comparison.comparable else ()
    for each in tables:
        rows = _shown(each, comparison, asked is not None)
        if rows:
            limit = 0 if each is WATERFALL else most
            parts += [
                "",
                f"**{each.title}**, ms a step",
                "",
                *_markdown_table(rows[:limit] if limit else rows),
            ]
    parts += ["", *(f"- {markdown.plain(note)}" for note in comparison.notes)]
    return "\n".join(parts).rstrip() + "\n"


def regressions_text(regressions: Sequence[Regression]) -> str:
    """A line for each: "step: 812 ms a step, 40.1 ms (5.2 %) more than in BASE, allowed is 5 %"."""
    return "".join(f"{_regression(regression)}\n" for regression in regressions)


def _regression(regression: Regression) -> str:
    limit, delta = regression.limit, regression.other_ns - regression.base_ns
    if limit.share is None:
        allowed = format_duration(limit.ns or 0)
    else:
        allowed = f"{float(limit.share) * 100:.9g} %"
    share = f" ({float(100 * delta / regression.base_ns):.3g} %)" if regression.base_ns else ""
    doubt = {
        True: "",
        False: "; the steps differ by more among themselves",
        None: "; with one step nothing tells whether that is chance",
    }[regression.beyond_spread]
    took, more = format_duration(round(regression.other_ns)), format_duration(round(delta))
    return f"{limit.measure}: {took} a step, {more}{share} more than in BASE, allowed is {allowed}{doubt}"


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of a text in which a number and its unit stay together."""
    held = _BEFORE_UNITS.sub("\xa0", text)
    return [line.replace("\xa0", " ") for line in wrap(held, width)]


def _head(comparison: Comparison, width: int) -> Iterator[str]:
    for name, run in (("BASE", comparison.base), ("OTHER", comparison.other)):
        yield f"{name:<7}{cut(printable(run.path), width - 7, keep_end=True)}"
        for line in _wrapped(run_words(run), width - 7):
            yield " " * 7 + line


def run_words(run: Run) -> str:
    """ "gpu, 6 steps (5 to 10) of 177.6 ms, 174.1 to 181.3; in all computing 591.5 ms, free 402.6 ms" """
    if not len(run.wall_ns):
        return f"{run.kind.value}, no work of a device"
    mean, low, high = _lengths(run)
    steps = "1 step" if len(run.wall_ns) == 1 else f"{format_count(len(run.wall_ns))} steps"
    if len(run.numbers) == 1:
        steps += f" ({run.numbers[0]})"
    elif run.numbers:
        steps += f" ({run.numbers[0]} to {run.numbers[-1]})"
    told = f"{run.kind.value}, {steps} of {mean} ms" + (f", {low} to {high}" if low != high else "")
    if run.totals is None:
        return told
    totals = run.totals
    parts = [f"computing {format_duration(totals.computing_ns)}"]
    if totals.communication_not_overlapped_ns:
        parts.append(f"exposed communication {format_duration(totals.communication_not_overlapped_ns)}")
    parts.append(f"free {format_duration(totals.free_ns)}")
    return f"{told}; in all {format_duration(totals.window_ns)}: {', '.join(parts)}"


def _lengths(run: Run) -> list[str]:
    """The mean, the shortest and the longest step, in ms."""
    if not len(run.wall_ns):
        return ["-", "-", "-"]
    return [
        format_ms(round(run.step_ns)),
        *(format_ms(int(ns)) for ns in (run.wall_ns.min(), run.wall_ns.max())),
    ]


def _shown(each: Table, comparison: Comparison, asked: bool) -> Sequence[Row]:
    """The rows worth a line: all that are asked for, else those that changed at all."""
    rows = each.rows(comparison)
    if each is WATERFALL or (each.by == "class" and not asked):
        return [row for row in rows if row.base.ns or row.other.ns]
    return rows if asked else [row for row in rows if row.delta_ns]


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
    yield from ("", f"{WATERFALL.title}, ms", *lines[:-1], lines[1], lines[-1])


def _table(rows: Sequence[Row], width: int, keep_end: bool) -> list[str]:
    columns = [
        Column("", right=False, shrink_to=_NAME_CELLS, keep_end=keep_end),
        Column("base"),
        Column("count"),
        Column("other"),
        Column("count"),
        Column("delta"),
        Column("ratio"),
        Column("", right=False),
    ]
    cells = [
        [
            row_name(row),
            format_ms(round(row.base_ns)),
            count_words(row.base_count),
            format_ms(round(row.other_ns)),
            count_words(row.other_count),
            signed_ms(row.delta_ns),
            ratio_words(row),
            "*" if row.changed else "",
        ]
        for row in rows
    ]
    return table(columns, cells, width)


def _markdown_table(rows: Sequence[Row]) -> list[str]:
    titles = ["", "base", "count", "other", "count", "delta", "ratio", "changed"]
    cells = [
        [
            markdown.code(row_name(row)),
            format_ms(round(row.base_ns)),
            count_words(row.base_count),
            format_ms(round(row.other_ns)),
            count_words(row.other_count),
            signed_ms(row.delta_ns),
            ratio_words(row),
            _changed(row),
        ]
        for row in rows
    ]
    return markdown.table(titles, cells, ["", "changed"])


def _only(comparison: Comparison, width: int) -> Iterator[str]:
    """The operators in a row that one side alone has."""
    for name, stretches, steps in (
        ("BASE", comparison.gone, comparison.base.steps),
        ("OTHER", comparison.new, comparison.other.steps),
    ):
        for stretch in stretches[:TOP_STRETCHES]:
            yield cut(f"{MARGIN}only in {name}: {_stretch(stretch, max(steps, 1))}", width)
        if len(stretches) > TOP_STRETCHES:
            left = stretches[TOP_STRETCHES:]
            ns = format_ms(round(Fraction(sum(stretch.ns for stretch in left), max(steps, 1))))
            yield f"{MARGIN}only in {name}: {format_count(len(left))} more stretches, {ns} ms a step"


def _stretch(stretch: Stretch, steps: int) -> str:
    """ "aten::mul … aten::add (5 operators), 1.0 times and 12.1 ms a step" """
    names = [printable(name, LONGEST_NAME) for name in stretch.names]
    called = (
        names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({format_count(len(names))} operators)"
    )
    ns = format_ms(round(Fraction(stretch.ns, steps)))
    return f"{called}, {count_words(Fraction(stretch.count, steps))} times and {ns} ms a step"


def row_name(row: Row) -> str:
    """The name; of a line that moved both numbers: "train.py(88) -> (93) forward"."""
    if isinstance(row, LineRow) and row.moved and row.frame is not None:
        name = f"{row.frame.file}({row.base_line}) -> ({row.frame.line}) {row.frame.function}"
        return printable(f"{name} (backward)" if row.backward else name, LONGEST_NAME)
    return printable(row.name, LONGEST_NAME)


def ratio_words(row: Row) -> str:
    """OTHER / BASE: "1.250"; "new" or "gone" where one has none."""
    if row.status != "matched":
        return row.status
    return "-" if row.ratio is None else f"{row.ratio:,.3f}"


def count_words(mean: Fraction) -> str:
    """A mean number of times: "12", "1.5"."""
    whole = count(mean)
    return format_count(whole) if isinstance(whole, int) else f"{whole:,.1f}"


def signed_ms(ns: Fraction) -> str:
    """A change in ms: "+1.234"; what rounds to nothing has no sign."""
    text = format_ms(round(abs(ns)))
    if not any(digit in "123456789" for digit in text):
        return text
    return f"{'+' if ns > 0 else '-'}{text}"


def _changed(row: Row) -> str:
    return {True: "yes", False: "", None: "?"}[row.changed]


def _bar(delta: Fraction, most: Fraction) -> str:
    drawn = bar(round(abs(delta)), round(most), _BAR_CELLS)
    return f"{'+' if delta > 0 else '-'}{drawn}" if drawn else ""
