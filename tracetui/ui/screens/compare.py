"""Two of the open traces compared: what changed, where the time of a step went, and the tables behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from textual import events, on
from textual.widget import Widget

from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison
from tracetui.export.sentences.comparison import absence_sentence, run_words, signed_ms, steps_sentence
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.column import Table
from tracetui.export.tables.comparison import BY, WATERFALL, ComparedRows, ComparedTable
from tracetui.language import heading, sentences, translate
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.comparing import tables
from tracetui.ui.comparing.comparing import STACKED, Comparing
from tracetui.ui.comparing.pair import ComparedPair, absence_lines, next_pair
from tracetui.ui.comparing.row_story import story
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, ruled, wrapped
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_ms, format_percent

ROOMY_FROM = 34  #: lines of a terminal from which the parts of a step may stay above the other tables,
LEAST_ROWS = 5  #: if these have so many rows then, and so many parts are shown
LEAST_PARTS = 6
NAMES_FROM = 140  #: columns from which all tables are named
_STORY = 4  #: lines
_AROUND = _STORY + 8  #: lines of a roomy screen beside the verdict and the rows of both tables
COMPARING = "Comparing, step by step."
_NOTES = 3  #: lines at most where there is room; else one


class CompareScreen(TableScreen):
    """A verdict, the parts of a step with their changes, and a table of a `Comparison` at a time."""

    DEFAULT_CSS = f"""
    CompareScreen #sides {{ height: 2; }}
    CompareScreen #verdict {{ height: auto; }}
    CompareScreen #what {{ height: 1; }}
    CompareScreen #story {{ height: {_STORY}; }}
    """
    AUTO_FOCUS = "#table"
    BINDINGS = bindings("compare")
    TITLE_OF = "Compare"
    KEYS = (
        ("tab", "table"),
        ("enter", "in OTHER"),
        ("\\", "in BASE"),
        ("< > =", "sort"),
        ("/", "filter"),
        ("e", "export"),
    )

    def __init__(self, session: Session, comparing: Comparing) -> None:
        super().__init__(session)
        self.comparing = comparing  #: which two traces are compared
        self._pair: ComparedPair | None = None  # the one being compared, or shown
        self._failure = ""  # why it is not
        self._laid: tables.Laid | None = None  # its tables
        self._by = ""  # the table shown; "" until there is one
        self._rows: Sequence[ComparedRow] = ()
        self._parts: Sequence[ComparedRow] = ()

    @property
    def comparison(self) -> Comparison | None:
        """What is shown; None as long as it is not made."""
        pair = self.comparing.pair
        return None if pair is None else pair.comparison

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        of_jobs = self.comparison is not None and self.comparison.job is not None
        return (self.KEYS[0], ("L", "ranks"), *self.KEYS[3:]) if of_jobs else self.KEYS

    @property
    def unanswered(self) -> str:
        pair = self.comparing.pair
        return "" if pair is None else pair.unanswered(self.viewer.sessions)

    def body(self) -> Iterable[Widget]:
        yield Lines(id="sides")
        yield Lines(id="verdict")
        yield TableWidget(id="parts", has_cursor=False)
        yield Lines(id="what")
        yield TableWidget(id="table")
        yield Lines(id="story")
        yield self.filter_input()

    @property
    def table(self) -> TableWidget:
        return self.query_one("#table", TableWidget)

    @property
    def parts(self) -> TableWidget:
        """The table of the parts of a step."""
        return self.query_one("#parts", TableWidget)

    @property
    def shown(self) -> ComparedTable:
        """The table that is shown."""
        return self._tables.get(self._by, WATERFALL)

    @property
    def shown_view(self) -> str:
        return self.shown.by

    def show_view(self, name: str) -> None:
        self._by = name if name in BY or name == WATERFALL.by else self._by  # of jobs some come later

    @property
    def _tables(self) -> dict[str, ComparedTable]:
        """The tables that there are, in the order of `tab`."""
        return tables.shown_of(self.comparison)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.refresh_answer)

    def clear(self, sentence: str) -> None:
        self._rows = self._parts = ()
        super().clear(sentence)
        self.parts.display = False
        self._show_sides()

    def show_nothing(self, sentence: str) -> None:
        super().show_nothing(sentence)
        viewer, pair = self.viewer, self.comparing.pair
        lines = [] if pair is None else absence_lines(viewer.sessions, pair, self.size.width, self.palette)
        self.query_one("#verdict", Lines).show_whole(lines)
        if lines:
            self.table.empty = ""  # it is in the first line

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        return (*next_pair(self.viewer.sessions), *super().ways_out)

    def build(self) -> None:
        viewer, pair = self.viewer, self.comparing.pair
        assert pair is not None
        if self._laid is not None and self._laid.comparison is pair.comparison:
            self._show(self._laid)
            return
        if pair is self._pair:
            if self._failure:
                self.show_nothing(self._failure)
            else:
                self.clear(pair.reading or COMPARING)
            return
        self.clear(COMPARING)
        self._pair, self._failure = pair, ""
        sessions, width = [*viewer.sessions], self.size.width

        def compare() -> tables.Laid:
            comparison = pair.compare(sessions, self.comparing.runs)
            return tables.Laid(comparison, self.palette, self.glyphs).warm(width)

        self.in_background("compare", compare, partial(self._show_laid, pair))

    def _show_laid(self, pair: ComparedPair, laid: tables.Laid) -> None:
        if pair is self.comparing.pair:
            pair.comparison, self._laid = laid.comparison, laid
            self.refresh_answer()

    def failed(self, group: str, sentence: str) -> None:
        self._failure = sentence
        self.show_nothing(sentence)

    # What is shown

    def _show(self, laid: tables.Laid) -> None:
        comparison = laid.comparison
        self._show_sides()
        verdict_height = self._say_verdict(comparison)
        if not comparison.comparable:
            self.show_nothing(verdict(comparison))
            return
        room = self.size.height - _AROUND - verdict_height - LEAST_ROWS
        roomy = self.size.height >= ROOMY_FROM and room >= LEAST_PARTS
        if not self._by:
            self._by = tables.most_telling_table(comparison) if roomy else WATERFALL.by
        self._parts, self._rows = tables.largest(laid.rows(WATERFALL), room), laid.rows(self.shown)
        width = self.size.width
        self.parts.display = roomy and self.shown is not WATERFALL
        self.parts.styles.height = len(self._parts) + 2
        self.parts.show(laid.columns_of(self._parts, WATERFALL, width), len(self._parts))
        self.table.empty = absence_sentence(self.shown.by)
        self.table.show(laid.columns(self.shown, width), len(self._rows))
        step = comparison.step
        share = format_percent(round(abs(step.delta_ns)), round(step.base_ns))
        answer = translate(
            "a step {base} {arrow} {other} ms, {change} ms ({share})",
            base=format_ms(round(step.base_ns)),
            arrow=self.glyphs.arrow,
            other=format_ms(round(step.other_ns)),
            change=signed_ms(step.delta_ns),
            share=share,
        )
        self.show_answer(answer)
        self._show_what()

    def _show_sides(self) -> None:
        """Show which trace is BASE and which OTHER."""
        viewer, pair = self.viewer, self.comparing.pair
        names = pair.names(viewer.sessions) if pair is not None else ()
        comparison = self.comparison
        runs = (comparison.base, comparison.other) if comparison is not None else (None, None)
        lines = [
            [
                (f"{name:<6} ", self.style_of(Role.DIM)),
                (called, self.style_of(Role.TITLE)),
                (f"  {run_words(run)}" if run is not None else "", self.style_of(Role.TEXT)),
            ]
            for name, called, run in zip(("BASE", "OTHER"), names, runs)
        ]
        self.query_one("#sides", Lines).show(lines)

    def _say_verdict(self, comparison: Comparison) -> int:
        """Say it, with what must be known to read the numbers; gives the number of lines."""
        lines = wrapped(verdict(comparison), self.size.width)
        shown_lines = [[(line, self.style_of(Role.NUMBER))] for line in lines]
        if self.size.height >= ROOMY_FROM and comparison.comparable:
            steps = wrapped(steps_sentence(comparison.step), self.size.width)
            shown_lines += [[(line, self.style_of(Role.TEXT))] for line in steps if line]
        limit = _NOTES if self.size.height >= ROOMY_FROM else 1
        notes = comparison_notes(comparison)
        if notes:
            lines = wrapped(
                printable(sentences(translate("{sentence}.", sentence=note) for note in notes)),
                self.size.width,
            )
            shown = [*lines[: limit - 1], " ".join(lines[limit - 1 :])]  # the last may be cut
            shown_lines += [[(line, self.style_of(Role.DIM))] for line in shown if line]
        self.query_one("#verdict", Lines).show_whole(shown_lines)
        return len(shown_lines)

    def _show_what(self) -> None:
        """Show which table it is, and which there are."""
        names: list[StyledText] = []
        for table in self._tables.values():
            role = Role.TITLE if table is self.shown else Role.DIM
            names.append((f"{'  ' if names else ''}{heading(tables.short_name(table))}", self.style_of(role)))
        if self.size.width < NAMES_FROM:
            known = tuple(self._tables)
            place = f"{known.index(self.shown.by) + 1}/{len(known)} tab"
            names = [(place, self.style_of(Role.DIM))]
        title = translate(
            "{title}, {unit}", title=translate(self.shown.title), unit=translate(self.shown.unit)
        )
        title = f"{self.glyphs.rule * 2} {title}"
        self.query_one("#what", Lines).show([[(title, self.style_of(Role.RULE))]], names)

    def action_next_view(self, by: int = 1) -> None:
        if self._rows or self._parts:
            known = tuple(self._tables)
            self._by = known[(known.index(self.shown.by) + by) % len(known)]
            self.refresh_answer()

    @on(TableWidget.Moved, "#table")
    def _tell(self, message: TableWidget.Moved) -> None:
        lines: list[Pieces] = []
        if 0 <= message.row < len(self._rows):
            row = self._rows[message.row]
            title = ruled(self.shown.name_of(row), self.glyphs.rule, self.size.width)
            lines = [[(title, self.style_of(Role.RULE))]]
            lines += [[(line, self.style_of(Role.TEXT))] for line in story(row)]
        self.query_one("#story", Lines).show(lines)

    # Where it is

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        of_parts = message.table is self.parts
        rows = self._parts if of_parts else self._rows
        self._go_to(WATERFALL if of_parts else self.shown, rows[message.row], of_base=False)

    def action_open_base(self) -> None:
        """Go to the row under the cursor in BASE."""
        if 0 <= self.table.cursor_row < len(self._rows):
            self._go_to(self.shown, self._rows[self.table.cursor_row], of_base=True)

    def action_open_both(self) -> None:
        """Show both runs stacked, at the row under the cursor: in OTHER where that has it."""
        pair, comparison = self.comparing.pair, self.comparison
        of_traces = pair is not None and comparison is not None and comparison.job is None
        if of_traces and 0 <= self.table.cursor_row < len(self._rows):
            assert pair is not None and comparison is not None
            table, row = self.shown, self._rows[self.table.cursor_row]
            for of_base in (False, True):
                slice_row, span = tables.instance_or_span(comparison, table, row, of_base)
                if slice_row >= 0 or span is not None:
                    place = pair.base if of_base else pair.other
                    self.comparing.look_at_row(place, slice_row, span, tables.is_of_idle(table, row))
                    break
        self.viewer.action_go(STACKED)

    def _go_to(self, table: ComparedTable, row: ComparedRow, of_base: bool) -> None:
        pair, comparison = self.comparing.pair, self.comparison
        if pair is None or comparison is None:
            return
        if comparison.job is not None:
            self.viewer.show_status("A mean rank is at no one place: L lists the ranks, to open one.")
            return
        slice_row, span = tables.instance_or_span(comparison, table, row, of_base)
        if slice_row >= 0 or span is not None:
            place = pair.base if of_base else pair.other
            self.comparing.show_row(place, slice_row, span, tables.is_of_idle(table, row))
        elif tables.instance(comparison, table, row, not of_base) < 0:
            self.viewer.show_status("This row is of no one place in either run.")
        else:
            name, other, key = ("BASE", "OTHER", "enter") if of_base else ("OTHER", "BASE", "\\")
            template = "{name} has none of it: {key} opens it in {other}."
            self.viewer.show_status(translate(template, name=name, key=key, other=other))

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return self.shown.table, ComparedRows(self._rows)

    def export_name(self) -> str:
        return f"compare_{tables.short_name(self.shown)}"
