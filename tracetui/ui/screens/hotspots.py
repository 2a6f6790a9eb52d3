"""Lines of Python ranked by the idle time charged to them, the story of one, its stacks and its source.

Each piece of idle time is charged to the line that ran then, or that enqueued the task that the device waited
for; of an operator of the backward pass, to the line of its forward operator. What has no stack has a row of
its own. `c` goes on to modules, to frames at any depth, to gaps by signature, and to what the host waited in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from textual import events, on
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.idle.idle_lines import LineIdle, LineKey
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.analysis.modules import ModuleIdle
from tracetui.analysis.nested_idle import FrameIdle, NestedIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.queries.relations import trace_relations
from tracetui.export.sentences.scheduler import pinning_words
from tracetui.export.tables.column import Table
from tracetui.language import semicolon_list, sentences, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame, parse_call_stack
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.messages import SelectionChanged
from tracetui.ui.screens.charged import CHARGING, absent_source, charge_idle
from tracetui.ui.screens.line_trial import LineTrial, LineTried, try_line
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.line_story import LineStory, what_if_words
from tracetui.ui.stories.nested_story import NestedStory
from tracetui.ui.stories.sync_story import SyncStory
from tracetui.ui.tables.hotspot_columns import line_of
from tracetui.ui.tables.hotspot_views import (
    LINES,
    MODULES,
    OF_LINES,
    SCOPES,
    HotspotRow,
    HotspotView,
    hotspot_name,
    hotspot_view_after,
    line_of_row,
    views_of,
)
from tracetui.ui.tables.nested_columns import frameless_name
from tracetui.ui.widgets.hotspot_panes import HotspotPanes, Pane
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_time

STORY = {True: 7, False: 9}  #: lines that the story takes, in a narrow terminal and in a wide one
NO_FRAME = "Choose a frame in the stacks first: f shows what is below it, then its callers."
NO_GAP = "It exposes no idle time: there is no gap to go to; enter shows its longest call."


class HotspotsScreen(TableScreen):
    """A table, the story of the row under its cursor, a tree of stacks, and the source of what is chosen.

    The table is one of lines, signatures, synchronisations, modules, frames or scopes.
    """

    BINDINGS = bindings("hotspots")
    TITLE_OF = "Hotspots"
    NUMBERS = ("idle", "causes", "lines")
    KEYS = (
        ("enter", "worst gap"),
        ("x", "next"),
        ("%", "try"),
        ("m", "modules"),
        ("c", ""),
        ("F", "flame"),
        ("o", "edit"),
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._analysis: Analysis | None = None  # whose lines are in the table
        self._trial = LineTrial()
        self._savings: Mapping[LineKey, LineSaving] | None = None  # None: not known yet
        self._followed = (-1, -1)  # the slice and the gap that the cursor was last moved to
        self._walk_place = -1  # place in the gaps of the row walked
        self._walked_row = -1
        self._view = LINES
        self._untouched = True  # nobody has chosen a view yet
        self._line: LineKey | None = None  # of the row that the cursor was on last, in a table that tells it

    def body(self) -> Iterable[Widget]:
        yield HotspotPanes()
        yield Lines(id="note")
        yield self.filter_input()

    @property
    def panes(self) -> HotspotPanes:
        """The table, the story of its row, the stacks and the source."""
        return self.query_one(HotspotPanes)

    @property
    def pane(self) -> Pane:
        return self.panes.focused

    def note(self, sentence: str, role: Role = Role.DIM) -> None:
        self.query_one("#note", Lines).show([[(wording(sentence), self.style_of(role))]])

    def on_resize(self, event: events.Resize) -> None:
        self.panes.fit(*event.size)
        self.call_after_refresh(self.tell_story)

    @property
    def heading(self) -> str:
        return self._view.title

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        after = hotspot_view_after(self._view, views_of(self._analysis)).name
        leads = {"c": after, "m": (LINES if self._view is self._modules else self._modules).name}
        untold = () if self._view in OF_LINES else ("%",)
        return tuple((key, leads.get(key, does)) for key, does in self.KEYS if key not in untold)

    @property
    def shown_view(self) -> str:
        return self._view.name

    def show_view(self, name: str) -> None:
        for view in views_of(self.session.analysis):
            if view.name == name:
                self._view, self._untouched = view, False

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        if self._analysis is None:
            return None
        name = "syncs" if self._view.export == "synchronisations" else self._view.export
        relation = trace_relations(self._analysis, frozenset({name}))[name]
        return relation.table, relation.rows()

    @property
    def _modules(self) -> HotspotView:
        """The table of modules; of scopes where no Python is recorded."""
        return SCOPES if SCOPES is views_of(self._analysis)[0] else MODULES

    # -------------------------------------------------------------- contents

    def build(self) -> None:
        charge_idle(
            self,
            "lines",
            lambda known: (known.lines, known.stacks, known.syncs, known.signatures, known.scopes),
            self._show_charged,
        )

    def _show_charged(self, analysis: Analysis) -> None:
        if analysis is not self.session.analysis:
            return
        self.panes.source.files = self.session.sources
        self._analysis, self._savings = analysis, None
        if self._view not in views_of(analysis) or (self._view is LINES and self._untouched):
            self._view = views_of(analysis)[0]
        self.panes.stacks.show(analysis.stacks, analysis.rules, frameless_name(analysis))
        self._show_view(analysis)
        self._follow()

        def find_savings() -> Mapping[LineKey, LineSaving]:
            _ = analysis.modules, analysis.frames  # of tables that nobody has asked for yet: 1.4 s of 1 GB
            _ = analysis.pinning_saves
            return analysis.savings

        self.in_background("savings", find_savings, partial(self._fill_savings, analysis))

    def _fill_savings(self, analysis: Analysis, savings: Mapping[LineKey, LineSaving]) -> None:
        if analysis is self._analysis:
            self._savings = savings
            self._fill_table(analysis, None)
            self.tell_story()
            if self._trial.line is None and self._walk_place < 0:
                self.note(self._note)

    @property
    def _note(self) -> str:
        """What the rows of the table are, and once that is known what pinning the host's threads saves."""
        words = wording(self._view.note)
        if self._analysis is None or self._savings is None or self._view is not LINES:
            return words
        pinning = pinning_words(self._analysis)
        return sentences([pinning, words]) if pinning else words

    def _fill_table(self, analysis: Analysis, sort: int | None = 0) -> None:
        palette, glyphs = self.palette, self.glyphs
        columns = self._view.columns(analysis, self._savings, palette, glyphs)
        self.table.show(columns, len(self._rows(analysis)), sort=sort)

    def _rows(self, analysis: Analysis) -> Sequence[HotspotRow]:
        return self._view.rows(analysis)

    def _show_view(self, analysis: Analysis) -> None:
        self.table.empty = self._view.empty
        self._fill_table(analysis)
        self.show_answer(self._view.answer(analysis))
        self.note(self._note)
        self.show_keys()

    def action_next_ranking(self) -> None:
        """Show the table that follows; the cursor stays on what is of the same line."""
        self._turn_to(hotspot_view_after(self._view, views_of(self._analysis)))

    def action_modules(self) -> None:
        """Show modules in the table, scopes where no Python is recorded, or lines again."""
        self._turn_to(LINES if self._view is self._modules else self._modules)

    def _turn_to(self, view: HotspotView) -> None:
        analysis, before = self._analysis, self.chosen
        if analysis is None:
            return
        self._view, self._untouched = view, False
        if before is not None and not isinstance(before, NestedIdle):
            self._line = line_of(before)
        self._walk_place, self._walked_row = -1, -1
        self._trial.drop()
        self._show_view(analysis)
        if self._line is None or not self._go_to(self._line):
            self.table.action_first()
        self.panes.focus_pane(self.table)

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        self._analysis = None

    # ----------------------------------------------------------- selection

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._follow()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        self._follow()

    def _follow(self) -> None:
        """Put the cursors on the line and the stack of what is selected, if they have idle time."""
        analysis, state = self._analysis, self.session.state
        if analysis is None or not self.is_current or self._followed == (state.row, state.gap):
            return
        self._followed = (state.row, state.gap)
        gaps = analysis.gaps
        if 0 <= state.gap < len(gaps):
            if 2 * gaps.idle[state.gap] < gaps.lost[state.gap]:  # most of it is no line's idle time
                return
            rows = enumerate(self._rows(analysis))
            self.table.move_to_row(
                next((place for place, row in rows if (row.gap_indices == state.gap).any()), -1)
            )
        elif state.row >= 0 and not self._go_to_call(analysis, state.row):
            stack = stack_of(analysis, state.row)
            charged = analysis.rules.line_of(stack)
            if charged is not None:
                self._go_to((*charged, False))
            self.panes.stacks.reveal(stack)

    def _go_to_call(self, analysis: Analysis, slice_row: int) -> bool:
        """Put the cursor on the synchronisation that a slice is one of; False where it is none shown."""
        calls = ((place, row) for place, row in enumerate(self._rows(analysis)) if isinstance(row, SyncCall))
        place = next((place for place, call in calls if (call.rows == slice_row).any()), -1)
        return self.table.move_to_row(place)

    def _go_to(self, line: LineKey) -> bool:
        """Put the cursor on the first row of a line, of its forward pass where both have one."""
        keys = [*map(line_of, self._rows(self._analysis))] if self._analysis is not None else []
        wanted = line if line in keys else (*line[:3], True)
        return self.table.move_to_row(keys.index(wanted) if wanted in keys else -1)

    # ----------------------------------------------------------------- panes

    @on(TableWidget.Moved)
    def _line_moved(self, message: TableWidget.Moved) -> None:
        tried_other = self._trial.line is not None and self.key != self._trial.line
        if tried_other or (self._walk_place >= 0 and message.row != self._walked_row):
            self.note(self._note)
            self._walk_place = -1
            self._trial.drop()
        self.tell_story()
        self.show_source()

    def tell_story(self) -> None:
        """Show the story of the row under the cursor of the table."""
        row, line, analysis = self.chosen, self.line, self._analysis
        lines: list[Line] = []
        size = max(self.table.size.width, 20), STORY[self.panes.is_narrow]
        looks = self.palette, self.glyphs
        if analysis is not None and isinstance(row, (ModuleIdle, FrameIdle, ScopeTime)):
            lines = NestedStory(*looks).of_row(analysis, row, *size)
        elif analysis is not None and isinstance(row, SyncCall):
            lines = SyncStory(*looks).lines(analysis, row, line, self._savings, *size)
        elif analysis is not None and line is not None:
            lines = LineStory(*looks).lines(analysis, line, self._savings, *size)
        self.panes.story.show(lines)

    @on(StackTree.Moved)
    @on(HotspotPanes.Turned)
    def show_source(self) -> None:
        """Show the source of what is under the cursor of the table or of the stacks."""
        if self.panes.left is self.panes.stacks:
            branch = self.panes.stacks.branch
            frame = branch.written if branch is not None else None
            unrecorded = branch is not None and bool(branch.nodes) and branch.frame is None
        else:
            row = self.chosen
            unrecorded = row is not None and row.file is None and not isinstance(row, (ModuleIdle, ScopeTime))
            frame = Frame(row.file or "", row.line, row.function) if row is not None else None
        analysis = self._analysis
        self.panes.source.nothing = "" if analysis is None else absent_source(analysis, unrecorded)
        is_of_stacks = analysis is not None and self.panes.left is self.panes.stacks
        self.panes.source.frames_at_start = analysis.frames_at_start if analysis and is_of_stacks else ()
        if frame is None or not frame.file:
            self.panes.source.show()
            self.panes.source.refresh()
        else:
            self.panes.source.show(*frame)

    @property
    def chosen(self) -> HotspotRow | None:
        """What is under the cursor of the table."""
        row = self.table.cursor_row
        return self._rows(self._analysis)[row] if self._analysis is not None and row >= 0 else None

    @property
    def line(self) -> LineIdle | None:
        """The line of what is under the cursor of the table."""
        return line_of_row(self._analysis, self.chosen) if self._analysis is not None else None

    @property
    def key(self) -> LineKey | None:
        """What tells the line under the cursor from others; None where there is none."""
        row = self.line or (None if isinstance(self.chosen, NestedIdle) else self.chosen)
        return line_of(row) if row is not None else None

    # --------------------------------------------------------------- actions

    @on(TableWidget.Activated)
    def _go_to_worst(self, message: TableWidget.Activated) -> None:
        """Go to the gap walked to, else the worst; of a synchronisation without one, to the longest call."""
        row = self.chosen
        if row is not None and len(row.gap_indices):
            walked = max(self._walk_place, 0) if self._walked_row == message.row else 0
            self.viewer.go_to_gap(int(row.gap_indices[walked]))
            self.viewer.action_go("timeline")
        elif isinstance(row, SyncCall) and len(row.rows) and self._analysis is not None:
            self.viewer.show_slice(int(row.rows[0]))

    def action_line_gap(self, step: int) -> None:
        """Select the next gap of the row (the worst first) on all screens; say where it is."""
        row, analysis = self.chosen, self._analysis
        if row is None or analysis is None:
            return
        if not len(row.gap_indices):
            self.note(NO_GAP, Role.WARNING)
            return
        if self._walked_row != self.table.cursor_row:
            self._walk_place, self._walked_row = -1, self.table.cursor_row
        count = len(row.gap_indices)
        begins = self._walk_place < 0 and step < 0
        self._walk_place = count - 1 if begins else (self._walk_place + step) % count
        gap = int(row.gap_indices[self._walk_place])
        self._followed = (-1, gap)
        self.viewer.go_to_gap(gap)
        idle = format_duration(int(analysis.gaps.idle[gap]))
        moment = format_time(int(analysis.gaps.start[gap]) - analysis.trace.start_ns)
        name = printable(hotspot_name(analysis, row), 60)
        place, total = f"{self._walk_place + 1:,}", f"{count:,}"
        template = "gap {place} of {count} of {name}: idle {idle} at {time}; enter goes there"
        self.note(translate(template, place=place, count=total, name=name, idle=idle, time=moment), Role.TEXT)

    def action_next_pane(self, step: int) -> None:
        self.panes.focus_next(step)

    def action_toggle_frame(self) -> None:
        if self.pane is self.panes.stacks:
            self.panes.stacks.action_activate()

    def action_longest(self) -> None:
        self.panes.focus_pane(self.panes.stacks)
        self.panes.stacks.action_longest()

    def action_parent(self) -> None:
        if self.panes.left is self.panes.stacks:
            self.panes.stacks.action_parent()

    def action_threshold(self, steps: int) -> None:
        self.panes.stacks.action_threshold(steps)

    def action_fold_frames(self) -> None:
        self.panes.stacks.action_folds()

    # ----------------------------------------------------------- trials

    def action_what_if(self) -> None:
        """Try the line at half of its host time, then at none, then threads with cores of their own."""
        key = self.key
        if key is None:
            self.viewer.show_status("A line of Python can be tried: choose one among the lines or stacks.")
            return
        self._trial.turn(key)
        pinning = "" if self._analysis is None or self._savings is None else pinning_words(self._analysis)
        if self._trial.line is None and pinning:
            self.note(pinning, Role.TEXT)
        elif self._trial.line is None:
            self._walk_place = -1
            self.note(self._note)
        else:
            self.note("Working out the steps.")
            self._try()

    def _try(self) -> None:
        analysis, line, factor = self._analysis, self._trial.line, self._trial.factor
        if not self._trial.running and analysis is not None and line is not None:
            self._trial.running = True
            session, viewer = self.session, self.viewer

            def job_words() -> str:
                return viewer.line_words(session, line[0] or "", line[1], factor)

            self.in_background(
                "what-if",
                lambda: try_line(analysis, line, factor, job_words),
                partial(self._tell_trial, analysis),
            )

    def _tell_trial(self, analysis: Analysis, tried: LineTried) -> None:
        self._trial.running = False
        if analysis is self._analysis and self._trial.is_of(tried.what_if):
            width, glyphs = self.size.width, self.glyphs
            words = what_if_words(tried.what_if, width, glyphs, tried.with_peers)
            if tried.job_words:
                words = semicolon_list((tried.job_words, words))
            self.note(words, Role.TEXT)
        else:
            self._try()

    def failed(self, group: str, sentence: str) -> None:
        self._trial.running = False
        if group == CHARGING:
            self.show_nothing(sentence)
        else:
            self.note(sentence, Role.WARNING)

    # ------------------------------------------------------- export and editor

    def export_name(self) -> str:
        return self._view.export

    def action_focus_frame(self) -> None:
        """Show the stacks below the frame or module under the cursor, then its callers, then all stacks."""
        row = self.chosen
        if self.panes.left is self.panes.stacks:
            frame = self.panes.stacks.frame
        elif isinstance(row, ModuleIdle):
            frame = row.call
        else:
            frame = row.frame if isinstance(row, FrameIdle) else None
        self.panes.focus_pane(self.panes.stacks)
        if not self.panes.stacks.focus_frame(frame):
            self.note(NO_FRAME, Role.WARNING)


def stack_of(analysis: Analysis, row: int) -> tuple[Frame, ...]:
    """Return the Python stack behind a slice, of a device task that of its operator; leaf first, or ()."""
    chain = analysis.launch_chains.chain(row)
    if chain is not None:
        return chain.stack
    return parse_call_stack(analysis.trace.string(int(analysis.trace.slices.stack[row])) or "")
