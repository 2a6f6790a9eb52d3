"""The flame view: stacks by the idle time under each frame; the one under the cursor in words, its source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.export.tables.nested import FRAMES, FrameRows
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.branches import FrameKind
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.screens.charged import absent_source, charge_idle
from tracetui.ui.screens.table_screen import NO_ROWS, AnswerScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.flame_story import flame_answer, flame_story
from tracetui.ui.tables.nested_columns import frameless_name
from tracetui.ui.widgets.flame import FlameView, flame_style
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import SourcePane

TALL = 32  #: lines of a terminal from which on the source is shown


class FlameScreen(AnswerScreen):
    """The stacks as a flame, below it what is under the cursor and its source."""

    DEFAULT_CSS = """
    FlameScreen FlameView { height: 2fr; }
    FlameScreen #story { height: 3; }
    FlameScreen SourcePane { height: 1fr; }
    """
    AUTO_FOCUS = "FlameView"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("flame"), Binding("escape", "leave", show=False)]
    TITLE_OF = "Flame"
    NUMBERS = ("idle", "causes", "lines")
    KEYS = (
        ("arrows", "frames"),
        ("enter", "zoom"),
        ("backspace", "out"),
        ("z", "fold"),
        ("o", "editor"),
        ("H", "lines"),
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._analysis: Analysis | None = None

    def body(self) -> Iterable[Widget]:
        yield FlameView()
        yield Lines(id="story")
        yield SourcePane()

    @property
    def view(self) -> FlameView:
        """The graph, which has the cursor."""
        return self.query_one(FlameView)

    @property
    def source(self) -> SourcePane:
        """The pane that shows the line of source."""
        return self.query_one(SourcePane)

    def on_resize(self, event: events.Resize) -> None:
        self.source.display = event.size.height >= TALL

    def build(self) -> None:
        charge_idle(self, "stacks", lambda analysis: analysis.stacks, self._show_charged)

    def _show_charged(self, analysis: Analysis) -> None:
        if analysis is self.session.analysis:
            self.source.files, self.source.frames_at_start = self.session.sources, analysis.frames_at_start
            self._analysis = analysis
            self.view.show(analysis.stacks, analysis.rules, frameless_name(analysis))

    def clear(self, sentence: str) -> None:
        self._analysis = None
        self.view.clear()
        self.query_one("#story", Lines).show([])
        self.source.show()
        self.show_answer(sentence)

    @on(FlameView.Moved)
    def _tell(self) -> None:
        analysis, view = self._analysis, self.view
        if analysis is None:
            return
        self.show_answer(flame_answer(analysis, view))
        self.query_one("#story", Lines).show(flame_story(analysis, view, self.palette))
        frame = view.written
        self.source.nothing = absent_source(analysis, view.is_without_stack)
        self.source.show(*(frame or ()))

    def beside_answer(self) -> list[StyledText]:
        """Say what the colours and marks of the cells are, where there is room."""
        if self._analysis is None or self.size.width < 120:
            return []
        legend: list[StyledText] = []
        for kind in FrameKind:
            mark = self.view.mark(kind)
            legend.append((f" {mark}{translate(kind.value)} ", flame_style(kind, self.palette)))
        return legend

    # --------------------------------------------------------------- actions

    def action_export_table(self) -> None:
        """Write the frames of all stacks, with the idle time under each, to a csv file."""
        analysis = self._analysis
        if analysis is None:
            self.viewer.show_status(NO_ROWS)
            return
        self.in_background(
            "export",
            lambda: FrameRows(analysis),
            lambda rows: self.export_rows(FRAMES, rows, "frames"),
        )

    def action_move(self, rows: int, cells: int) -> None:
        self.view.action_move(rows, cells)

    def action_ends(self, side: int) -> None:
        self.view.action_ends(side)

    def action_zoom_in(self) -> None:
        self.view.action_zoom_in()

    def action_zoom_out(self) -> None:
        self.view.action_zoom_out()

    def action_fold_frames(self) -> None:
        self.view.action_folds()

    async def action_leave(self) -> None:
        """Zoom out; where all is shown, go back."""
        if not self.view.action_zoom_out():
            await self.viewer.run_action("back")

    def note(self, sentence: str, role: Role = Role.DIM) -> None:
        self.query_one("#story", Lines).show([[(sentence, self.style_of(role))]])

    def copy_text(self) -> str:
        """Return the stack under the cursor, the innermost frame first."""
        return "\n".join(self.view.stack())
