"""What all screens of one table share: the answer on top, the table, the filter as one types, the keys below.

Knows no analysis: a screen of its own fills the table in `build` and says what it shows in `answer`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from tracetui.arrays import Int64s
from tracetui.export.sentences.health import mark
from tracetui.export.tables.column import Table
from tracetui.export.tables.row_ids import ids_of
from tracetui.language import translate, wording
from tracetui.places import SharedPlace, row_of_kind
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, wrapped
from tracetui.ui.failures import failure
from tracetui.ui.messages import JobChanged, PairChanged, Status, TraceChanged
from tracetui.ui.screens.export_dialog import TableExport
from tracetui.ui.session import Session
from tracetui.ui.trace_names import name_for_file
from tracetui.ui.viewer_screen import InViewer, ViewerScreen
from tracetui.ui.widgets.hotspot_panes import Pane
from tracetui.ui.widgets.lines import AnswerLine, Lines, Pieces, key_pieces
from tracetui.ui.widgets.source import SourcePane
from tracetui.ui.widgets.table import TableWidget

if TYPE_CHECKING:
    import pandas as pd


Result = TypeVar("Result")
MEANWHILE = "T shows what is there already; esc there stops the reading and keeps it."
_MOST_LINES = 4  # that are said below the answer
NO_ROWS = "There are no rows to export."
SAID_S = 4.0  #: how long a sentence stands in place of the keys


class FilterInput(Input):
    """Where the text of a filter is typed: enter keeps it, escape drops it."""

    DEFAULT_CSS = "FilterInput { display: none; background: ansi_default; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", show=False),
        Binding("down,up", "submit", show=False),
    ]

    def action_drop(self) -> None:
        self.value = ""
        self.post_message(Input.Submitted(self, ""))


class AnswerScreen(ViewerScreen[None]):
    """A screen that says its answer in the first line and names its keys in the last."""

    DEFAULT_CSS = "AnswerScreen { background: ansi_default; }"

    TITLE_OF: ClassVar[str] = ""  #: the first word of the answer
    NUMBERS: ClassVar[tuple[str, ...]] = ()  #: what of a recording its numbers stand on, as health calls it
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = ()  #: (key, what it does), the most useful first

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._stale = True
        self._saying: Timer | None = None  # until the sentence goes
        self._is_empty = False  # there is nothing to show, and there will not be

    @property
    def heading(self) -> str:
        """The first words of the answer."""
        return self.TITLE_OF

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        """The keys named in the last line: (key, what it does), the most useful first."""
        return self.KEYS

    def compose(self) -> ComposeResult:
        yield AnswerLine(id="answer")
        yield from self.body()
        yield Lines(id="keys")

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """Yield the widgets between the answer and the keys."""

    @abstractmethod
    def build(self) -> None:
        """Show what the analysis says; it is there."""

    @abstractmethod
    def clear(self, sentence: str) -> None:
        """Show nothing, and say why."""

    def show_nothing(self, sentence: str) -> None:
        """Show nothing for as long as it takes, and say why; most keys have nothing to work on."""
        self.clear(sentence)
        self._is_empty = True
        self.show_keys()

    def told_below(self, sentence: str) -> str:
        """Return what is said in place of rows, below the sentence: what to do while the trace is read."""
        is_reading = self.session.progress is not None and sentence == self.session.unanswered
        return MEANWHILE if is_reading else sentence

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        """The keys named where there is nothing to show: those that lead elsewhere."""
        viewer = self.viewer
        return (
            *((("T", "timeline"),) if viewer.has_screen("timeline") else ()),
            *((("L", "open traces"),) if len(viewer.sessions) > 1 else ()),
            ("q", "quit"),
        )

    def on_mount(self) -> None:
        self.show_keys()
        self.refresh_answer()

    def beside_answer(self) -> Pieces:
        """Return what stands at the right end of the first line."""
        return ()

    def show_answer(self, answer: str, hint: Pieces = ()) -> None:
        """Say the answer in the first line; `hint` stands before what is beside it."""
        self._is_empty = False
        self.show_keys()
        analysis = self.session.analysis
        doubt = mark(analysis.health, *self.NUMBERS) if analysis is not None and self.NUMBERS else ""
        title = [(wording(self.heading), self.style_of(Role.TITLE)), (doubt, self.style_of(Role.WARNING))]
        line = [*title, ("  ", self.style_of(Role.TITLE)), (wording(answer), self.style_of(Role.TEXT))]
        right = [*hint, *self.beside_answer()]
        self.query_one("#answer", Lines).show([[piece for piece in line if piece[0]]], right)

    def refresh_answer(self) -> None:
        """Build anew, now or when the screen is next in front."""
        self._stale = True
        if not (self.is_current and self.is_attached and self.children):
            return
        self._stale = False
        unanswered = self.unanswered
        if unanswered:
            self.show_nothing(unanswered)
        else:
            self._is_empty = False
            place = self.viewer.take_place(self.viewer.shown)
            if place is not None:
                self.take_place(place)
            self.build()

    @property
    def unanswered(self) -> str:
        """Why there is nothing to build of yet; "" where there is."""
        return "" if self.session.analysis is not None else self.session.unanswered

    def in_background(self, group: str, work: Callable[[], Result], show: Callable[[Result], object]) -> None:
        """Have `work` done in a thread, then `show` what it gives; `failed` is called where it raises."""

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # the rest of the viewer is of use without it
                self.call_later(self.failed, group, failure(error))
            else:
                self.call_later(show, result)

        self.run_worker(run, thread=True, exclusive=True, group=group)

    def failed(self, group: str, sentence: str) -> None:
        """Say that the work of a group failed."""
        self.show_nothing(sentence)

    def export_rows(self, table: Table[Any], rows: Any, name: str) -> None:
        """Ask for a file, and write all rows of a table to it, where it has any."""

        def frame() -> pd.DataFrame:
            from tracetui.export.data_frame import frame_of  # pandas: half a second, paid by whoever exports

            return frame_of(table, rows)

        if len(rows):
            name = f"{name_for_file(self.session.path)}_{name}"
            self.app.push_screen(TableExport(self.session, frame, len(rows), name))
        else:
            self.viewer.show_status(NO_ROWS)

    def note(self, sentence: str, role: Role = Role.DIM) -> None:
        """Say a sentence about what the keys did."""
        self.viewer.show_status(sentence)

    def open_editor(self) -> None:
        pane = next(iter(self.query(SourcePane)), None)
        if pane is None:
            super().open_editor()
        elif problem := pane.edit():
            self.note(problem, Role.WARNING)

    def show_keys(self) -> None:
        """Name the keys in the last line, once nothing is said there any more."""
        if self._saying is None:
            self.query_one("#keys", Lines).show([self._keys()], self._help_key())

    def _end_saying(self) -> None:
        if self._saying is not None:
            self._saying.stop()
            self._saying = None
        self.show_keys()

    def _help_key(self) -> list[StyledText]:
        """Return the key that names all others, for the end of the line; nothing where one types."""
        return [] if isinstance(self.focused, Input) else key_pieces([("?", "keys")], self.palette)

    def _keys(self) -> list[StyledText]:
        return key_pieces(self.ways_out if self._is_empty else self.hints, self.palette)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        if self._stale:
            self.refresh_answer()

    def on_screen_suspend(self) -> None:
        self._end_saying()

    def on_status(self, message: Status) -> None:
        """Say a sentence in place of the keys, for a while."""
        self._end_saying()
        if message.sentence:
            self.query_one("#keys", Lines).show([[(message.sentence, self.style_of(Role.TEXT))]])
            self._saying = self.set_timer(SAID_S, self._end_saying)

    @on(TraceChanged)
    @on(PairChanged)
    @on(JobChanged)
    def _follow_changes(self) -> None:
        self.refresh_answer()


class TableKeys(InViewer):
    """The actions of the registry that a table answers, for a screen that has one."""

    session: Session

    @property
    @abstractmethod
    def table(self) -> TableWidget:
        """The table that is sorted and exported."""

    @property
    def pane(self) -> Pane:
        """What the keys move in; the table where there is nothing beside it."""
        return self.table

    def action_cursor(self, rows: int) -> None:
        self.pane.action_cursor(rows)

    def action_page(self, pages: int) -> None:
        self.pane.action_page(pages)

    def action_first(self) -> None:
        self.pane.action_first()

    def action_last(self) -> None:
        self.pane.action_last()

    def action_activate(self) -> None:
        self.pane.action_activate()

    def action_sort_beside(self, step: int) -> None:
        self.table.action_sort_beside(step)

    def action_reverse(self) -> None:
        self.table.action_reverse()

    def action_export_table(self) -> None:
        view = self.table.rows.view
        if len(view):
            name = f"{self.exported_subject}_{self.export_name()}"
            self.app.push_screen(TableExport(self.session, lambda: self.frame(view), len(view), name))
        else:
            self.viewer.show_status(NO_ROWS)

    @property
    def exported_subject(self) -> str:
        """What the exported table is of, as the name of its file begins."""
        return name_for_file(self.session.path)

    def export_name(self) -> str:
        """Return what the exported table is called: "gaps"."""
        return "table"

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        """The table whose rows are shown, and what its columns look into; None where there is none."""
        return None

    def frame(self, view: Int64s) -> pd.DataFrame:
        """Return the rows of `view`, in its order, as the command line writes them."""
        from tracetui.export.data_frame import frame_of  # pandas: half a second, paid by whoever exports

        assert self.contents is not None
        frame: pd.DataFrame = frame_of(*self.contents).take(view)
        return frame


class PlacedTable(TableKeys):
    """A table of which a place knows the row under the cursor, and which of several tables is shown."""

    _awaited_row = ""  # the id of the row for the cursor, once there are rows

    @property
    def shown_view(self) -> str:
        """The name of the table that is shown, where the screen has several."""
        return ""

    def show_view(self, name: str) -> None:
        """Have the table of a name shown when the screen is next built; no other name changes anything."""

    def row_ids(self, rows: Int64s) -> Sequence[str]:
        """Return the ids of some rows of the table; () where there is none."""
        if self.contents is None:
            return ()
        table, of_table = self.contents
        ids = ids_of(table, of_table)
        return [row_of_kind(table.kind, ids[row]) for row in rows.tolist()]

    def row_of(self, identity: str) -> int:
        """Return the row that has an id; -1 where there is none."""
        ids = self.row_ids(np.arange(self.table.rows.length))
        return ids.index(identity) if identity in ids else -1

    def place_with(self, place: SharedPlace) -> SharedPlace:
        row = self.table.cursor_row
        ids = self.row_ids(np.array([row])) if row >= 0 else ()
        rows = (*place.rows, *(identity for identity in ids if identity not in place.rows))
        return replace(place, rows=rows, view=self.shown_view)

    def take_place(self, place: SharedPlace) -> None:
        self._awaited_row = place.rows[-1] if place.rows else ""
        if place.view:
            self.show_view(place.view)

    @on(TableWidget.Arranged)
    def _go_to_awaited(self) -> None:
        """Put the cursor on the row of the place that was opened, where it is in the table."""
        if self._awaited_row and self.table.rows.length and not self.table.arranging:
            row, self._awaited_row = self.row_of(self._awaited_row), ""
            if row >= 0:
                self.table.move_to_row(row)


class TableScreen(PlacedTable, AnswerScreen):
    """An answer with one table behind it."""

    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def body(self) -> Iterable[Widget]:
        yield TableWidget()
        yield from self.below()
        yield self.filter_input()

    def filter_input(self) -> Widget:
        """Return the field where a filter is typed."""
        return FilterInput(id="filter", placeholder=translate("filter: a part of a name"), compact=True)

    def below(self) -> Iterable[Widget]:
        """Yield the widgets under the table."""
        return ()

    @property
    def table(self) -> TableWidget:
        return self.query_one(TableWidget)

    def clear(self, sentence: str) -> None:
        self.table.empty = self.told_below(sentence)
        self.table.show((), 0)
        for lines in self.query(Lines).exclude("#answer, #keys"):
            lines.show([])
        self.show_answer(sentence)

    def refresh_answer(self) -> None:
        if self.is_current and self.table.rows.filter != self.session.state.filter:
            self.table.filter_by(self.session.state.filter)
        super().refresh_answer()

    def say_below(self, sentences: list[str]) -> None:
        """Say sentences in the lines of `#said`, as many as they take."""
        self.query_one("#said", Lines).show_whole(self.paragraphs(sentences, _MOST_LINES))

    def paragraphs(self, sentences: list[str], limit: int) -> list[Pieces]:
        """Return sentences in lines as wide as the screen; the last of `limit` shows that there are more."""
        width, style = self.size.width - 2, self.style_of(Role.TEXT)
        lines = [line for sentence in sentences for line in wrapped(printable(sentence, 400), width)]
        if len(lines) > limit:
            lines[limit - 1] += f" {self.glyphs.ellipsis}"
        return [[(f" {line}", style)] for line in lines[:limit]]

    def export_name(self) -> str:
        return self.TITLE_OF.split(",")[0].lower().replace(" ", "_")

    def copy_text(self) -> str:
        """Return the row under the cursor, one column a line, with exact values."""
        rows, row = self.table.rows, self.table.cursor_row
        if row < 0:
            return ""
        columns = [column for column in rows.columns if column.key]
        return "\n".join(f"{column.key}: {_plain(column.exported(row))}" for column in columns)

    def beside_answer(self) -> Pieces:
        """Say where the cursor is, and the filter: "matmul: 3/128"."""
        rows = self.table.rows
        if not rows.length:
            return ()
        text = printable(rows.filter, 20)
        at = self.table.cursor + 1 if len(rows.view) else 0
        count = f"{at:,}/{len(rows.view):,}"
        if self.table.arranging:
            count = translate("arranging")
        found = [(f"/{text} ", self.style_of(Role.HIT))] if text else []
        return [*found, (count, self.style_of(Role.DIM))]

    def on_screen_resume(self, event: events.ScreenResume) -> None:  # Textual calls the base's as well
        self.table.filter_by(self.session.state.filter)

    @on(TableWidget.Moved)
    @on(TableWidget.Arranging)
    def _show_place(self) -> None:
        answer = self.query_one("#answer", Lines)
        rows = self.table.rows
        if rows.length:
            self.table.empty = translate(
                "No name contains {text}: esc drops the filter.", text=repr(printable(rows.filter, 40))
            )
        answer.show(answer.lines, self.beside_answer())

    # --------------------------------------------------------------- notes

    def on_notes_changed(self) -> None:
        self._mark_rows()

    @on(TableWidget.Arranged)
    def _mark_rows(self) -> None:
        """Mark the rows that notes are about."""
        named = {row for note in self.session.notes for row in note.place.rows}
        rows = {self.row_of(identity) for identity in named} if self.table.rows.length else set()
        self.table.mark_rows(frozenset(rows))

    # -------------------------------------------------------------- filter

    def action_filter(self) -> None:
        field = self.query_one(FilterInput)
        field.value = self.session.state.filter
        field.display = True
        field.focus()

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self.session.state.filter = event.value
        self.table.filter_by(event.value)

    @on(Input.Submitted, "#filter")
    def _filtered(self, event: Input.Submitted) -> None:
        event.stop()
        event.input.display = False
        self.table.focus()

    async def action_leave(self) -> None:
        """Drop the filter; without one go back."""
        if self.session.state.filter:
            self.session.state.filter = ""
            self.table.filter_by("")
        else:
            await self.viewer.run_action("back")


def _plain(value: object) -> str:
    return "" if value is None else printable(str(value))
