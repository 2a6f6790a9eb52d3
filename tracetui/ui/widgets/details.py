"""The pane under the tracks: what is selected, where it came from, the line of Python behind it.

Asks for what has to be read from files (args, source) in a thread, and shows it when it comes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from tracetui.analysis.idle.frames import FrameRules
from tracetui.language import restate, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.trace.source_files import SourceFile
from tracetui.trace.stack import Frame, parse_call_stack
from tracetui.ui.drawing.causes import cause_legend, lost_by_cause
from tracetui.ui.drawing.lane import clip_cells
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.ui.drawing.strips import fitted, wrapped
from tracetui.ui.failures import failure
from tracetui.ui.neighbours import chain_through
from tracetui.ui.session import Session
from tracetui.ui.stories.curve_words import CurveSpot, curve_at, describe_curve
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.gaps import Measure
    from tracetui.analysis.idle.main_line import MainLine
    from tracetui.analysis.kernels import KernelFacts
    from tracetui.analysis.launch_chains import LaunchChain
    from tracetui.analysis.lead import LeadLosses

NO_STACK = "There is no Python stack for this selection."


@dataclass
class SelectionFacts:
    """What threads have read for a selection."""

    args: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    facts: KernelFacts | None = None  #: of a task, from the table beside the trace
    losses: LeadLosses | None = None  #: where the host lost its lead, for a gap
    problem: str = ""  #: why one of these could not be had


class Details(InViewer, CachedLineWidget, can_focus=True):
    """A rule with a title, then as many lines as there is room for; keys and the wheel scroll to the rest."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_lines(-1)", show=False),
        Binding("down,j", "scroll_lines(1)", show=False),
        Binding("pageup", "scroll_lines(-8)", show=False),
        Binding("pagedown", "scroll_lines(8)", show=False),
    ]

    DEFAULT_CSS = "Details { width: 1fr; height: 8; }"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.lines: list[Line] = []
        self.top = 0
        #: of the selected slice, or of the task that ended the selected gap
        self.chain: LaunchChain | None = None
        self.shows_stack = False
        self.tells_causes = True  #: with nothing selected: what the letters of the causes stand for
        self._main: MainLine | None = None  # of the selected gap
        self._title = ""
        self._worst_count = 0  # so many of the last lines are the worst gaps, by rank
        # the lines of the worst gaps of an analysis
        self._worst_lines: tuple[Analysis, Measure, list[Line]] | None = None
        self._selection = (-1, -1)  # row, gap
        self.curve_spot: CurveSpot | None = None  #: the curve that it tells of
        self._event = -1  # of the selected slice
        self._frame: Frame | None = None  # whose line of source is shown
        self._facts = SelectionFacts()
        self._run: list[tuple[str, list[str]]] | None = None  # from when it is asked for until a selection
        self._reading = Lock()  # so that two threads do not work out the same at once

    @property
    def text(self) -> str:
        """Title and lines without styles: what `copy` copies."""
        lines = ["".join(text for text, _ in line).strip() for line in self.lines]
        return "\n".join([self._title, *lines])

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The Python stack of the selection, leaf first; of a gap, the one behind most of its idle time."""
        trace, (row, _) = self.session.trace, self._selection
        main = self._main
        if main is not None and (main.stack or main.communicates):
            return main.stack
        if self.chain is not None and self.chain.stack:
            return self.chain.stack
        text = trace.string(int(trace.slices.stack[row])) if trace is not None and row >= 0 else None
        return parse_call_stack(text) if text else ()

    @property
    def rules(self) -> FrameRules:
        """Whose line a stack is charged to."""
        analysis = self.session.analysis
        return analysis.rules if analysis is not None else FrameRules()

    def show_state(self) -> None:
        """Show what is selected now."""
        state = self.session.state
        selection, at = (state.row, state.gap), curve_at(self.session.picture, state)
        if selection == self._selection:
            if at != self.curve_spot:
                self.curve_spot = at
                self._tell()
            return
        self.curve_spot = at
        self._selection, self._run, self.top = selection, None, 0
        self._facts = SelectionFacts(losses=self._known_losses())
        trace = self.session.trace
        self._event = int(trace.slices.event[state.row]) if trace is not None and state.row >= 0 else -1
        self.chain = self._chain()
        analysis, gap = self.session.analysis, state.gap
        self._main = None
        if analysis is not None and gap >= 0:
            from tracetui.analysis.idle.main_line import main_line

            self._main = main_line(analysis, gap)
        self._read()
        self._tell()

    def renew(self) -> None:
        """Look everything up again: the trace or its analysis is another one.

        What was read of a slice, and the place in it, stay meanwhile: they do not change as the trace grows.
        """
        event, frame, found, top = self._event, self._frame, self._facts, self.top
        self._selection = (-2, -2)
        self.show_state()
        if 0 <= event == self._event:
            self._facts = replace(found, source=found.source if frame == self._frame else None)
            self.top = top
            self._tell()

    def tell_run(self) -> None:
        """Tell of the run, until something is selected; what is known of it is read in a thread."""
        trace = self.session.trace
        if trace is not None:
            from tracetui.analysis.run_facts import facts_beside

            path, analysis = Path(trace.path), self.session.analysis

            def read() -> None:
                facts = facts_beside(path)
                self.call_later(self._show_run, facts)
                checks = self._checks(analysis) if analysis is not None else []
                if checks:
                    self.call_later(self._show_run, [*facts, ("tables", checks)])

            self.run_worker(read, thread=True, exclusive=True, group="run")

    def _checks(self, analysis: Analysis) -> list[str]:
        """Say what the producer's own sums say, those first that differ."""
        from tracetui.analysis.notes import overlap_note

        try:
            with self._reading:
                checks = analysis.checks
        except Exception as error:  # the rest of the pane is of use without it
            return [translate("not compared: {error}", error=type(error).__name__)]
        notes = [(activity.device, overlap_note(activity)) for activity in analysis.devices]
        overlaps = [
            translate("{run}: {note}", run=printable(device), note=restate(note))
            for device, note in notes
            if note
        ]
        return overlaps + [
            restate(check.sentence) for check in sorted(checks, key=lambda check: check.agrees)
        ]

    def _show_run(self, facts: list[tuple[str, list[str]]]) -> None:
        """Show what is known of the run: facts by their label."""
        if max(self._selection) < 0:
            self._run, self.top = facts, 0
            self._tell()

    def toggle_stack(self) -> bool:
        """Show the whole stack, or the summary again. False if there is no stack."""
        if not self.stack:
            return False
        self.shows_stack, self.top = not self.shows_stack, 0
        self._tell()
        return True

    def find_source(self) -> tuple[SourceFile, int] | str:
        """Return the source file and line of the selection, or why there is none. May block."""
        frame = self.rules.line_of(self.stack)
        if frame is None:
            return NO_STACK
        found = self.session.sources.find(frame.file)
        return (found, frame.line) if isinstance(found, SourceFile) else found.reason

    def _chain(self) -> LaunchChain | None:
        analysis = self.session.analysis
        row, gap = self._selection
        if analysis is None:
            return None
        if gap >= 0:
            after = int(analysis.gaps.after[gap])
            return analysis.launch_chains.chain(after) if after >= 0 else None
        return chain_through(analysis.launch_chains, row, self.chain) if row >= 0 else None

    def _tell(self) -> None:
        app, session = self.viewer, self.session
        pen = Pen(app.palette, app.glyphs)
        row, gap = self._selection
        self._title = translate("slice") if row >= 0 else translate("details")
        self.lines, self._worst_count = [], 0
        if session.trace is None:
            self.lines = self._hints(pen)
        elif row >= 0 or (gap >= 0 and session.analysis is not None) or (self.shows_stack and self.stack):
            self.lines = self._selected_lines(session.trace, row, gap, pen)
        elif self.curve_spot is not None and self._run is None:
            self._title = translate("counter")
            self.lines = describe_curve(self.curve_spot, session.trace.start_ns, pen)
        else:
            self.lines = self._hints(pen)
        if self._facts.problem:
            self.lines.append([pen.text(f" {self._facts.problem}", Role.WARNING)])
        self.redraw()

    def _selected_lines(self, trace: Trace, row: int, gap: int, pen: Pen) -> list[Line]:
        """Describe the selected slice or gap, or its whole stack; what does so is imported with the first."""
        from tracetui.ui.stories import describe, gap_words

        analysis = self.session.analysis
        frames = describe.describe_frames(self.stack, self.rules, pen)
        if self.shows_stack and self.stack:
            self._title = translate("Python stack")
            return frames
        chain = describe.describe_chain(trace, self.chain, pen)
        if gap >= 0 and analysis is not None:
            self._title = gap_words.gap_title(analysis, gap, self.session.gap_rank(gap), pen.glyphs)
            blamed, losses, width = self._stack_lines(pen), self._facts.losses, self.size.width
            return [*describe.describe_gap(analysis, gap, blamed, losses, pen, width), *chain, *frames]
        facts, args = self._facts.facts, self._facts.args
        return [
            *describe.describe_slice(trace, row, pen),
            *chain,
            *self._stack_lines(pen),
            *(describe.describe_kernel(facts, pen) if facts else []),
            *describe.describe_args(args, pen),
            *frames,
        ]

    def _stack_lines(self, pen: Pen) -> list[Line]:
        from tracetui.ui.stories.describe import describe_line

        main = self._main
        has_stack = main is not None and bool(main.stack)
        backward = (main is not None and main.backward) or (self.chain is not None and self.chain.backward)
        if main is not None and main.communicates and not has_stack:
            return [
                [
                    pen.label(translate("line")),
                    pen.text(translate("not known: no stack leads to it"), Role.DIM),
                ]
            ]
        label = translate("line") if self._selection[0] >= 0 or has_stack else translate("launched")
        return describe_line(label, self.stack, self.rules, backward, self._facts.source, pen)

    def _hints(self, pen: Pen) -> list[Line]:
        """Say, where nothing is selected, what is wrong with the trace, and where to look first."""
        app, session = self.viewer, self.session
        head_lines: list[Line] = [
            [pen.text(f" {pen.glyphs.warning if place == 0 else ' '} {part}", Role.WARNING)]
            for warning in session.warnings
            for place, part in enumerate(wrapped(restate(warning), self.size.width - 4))
        ]
        about_run: list[Line] = []
        if self._run is not None:
            from tracetui.ui.stories.describe import run_lines

            about_run = run_lines(self._run, pen, self.size.width)
            self._title = translate("the run") if about_run else self._title
            head_lines += about_run
        if session.trace is None:
            return head_lines
        if session.analysis is None:
            hint = [pen.text(f" {translate('arrows or a click select a slice')}", Role.DIM)]
            if session.picture is None or session.picture.sketch is None:
                return [*head_lines, hint]
            shades = [pen.text(f" {' '.join(app.glyphs.unread[1:])}", Role.UNREAD)]
            sampled = translate("not read yet: from a sample, about how busy each line is")
            words = pen.text(f"  {sampled}", Role.DIM)
            return [*head_lines, hint, [*shades, words]]
        from tracetui.export.sentences.causes import MEASURES
        from tracetui.ui.stories.describe import describe_worst

        gaps = session.analysis.gaps
        by = session.ranked_by
        worst = [gap for gap in session.ranked[:20].tolist() if gaps.measured(by)[gap] > 0]
        if (
            self._worst_lines is None
            or self._worst_lines[0] is not session.analysis
            or self._worst_lines[1] is not by
        ):
            # Of one analysis they are always the same: 6 ms of a real trace each time nothing is selected
            self._worst_lines = session.analysis, by, describe_worst(session.analysis, worst, by, pen)
        if worst:
            title = "worst gaps by {measure}: a click, a digit or x goes there"
            if about_run:
                title = "the run, then the worst gaps by {measure}: a click, a digit or x goes there"
            self._title = translate(title, measure=translate(MEASURES[by]))
            if self.tells_causes:
                why = pen.text(f" {translate('why lost')}  ", Role.DIM)
                room, lost = self.size.width - cell_len(why[0]), lost_by_cause(session.analysis)
                head_lines.append([why, *cause_legend(lost, app.palette, app.glyphs, room)])
        self._worst_count = len(worst)
        return [*head_lines, *self._worst_lines[2]]

    def _read(self) -> None:
        """Read args and source of the selection in a thread."""
        selection = self._selection
        if self.session.trace is None or max(selection) < 0:
            return
        file, event = self.session.file, self._event
        frame = self._frame = self.rules.line_of(self.stack)
        sources, analysis, losses = self.session.sources, self.session.analysis, self._facts.losses

        def read() -> None:
            args = file.args(event) if file is not None and event >= 0 else {}
            source = sources.line(frame) if frame is not None else None
            found = SelectionFacts(args, source, losses=losses)
            self.call_later(self._take, selection, found)
            if analysis is not None:
                self.call_later(self._take, selection, self._with_more(found, analysis, *selection))

        self.run_worker(read, thread=True, exclusive=True, group="details")

    def _known_losses(self) -> LeadLosses | None:
        """Return where the host lost its lead; None until a thread has computed it."""
        analysis = self.session.analysis
        losses: LeadLosses | None = None if analysis is None else vars(analysis).get("lead_losses")
        return losses

    def _with_more(self, found: SelectionFacts, analysis: Analysis, row: int, gap: int) -> SelectionFacts:
        """Find what takes long for the first slice or gap that asks for it, and no time for the others."""
        try:
            with self._reading:
                if gap >= 0:
                    return replace(found, losses=analysis.lead_losses)
                kernels = analysis.kernels if analysis.trace.slices.activity[row] else None
            return replace(found, facts=kernels.facts(row)) if kernels is not None else found
        except Exception as error:  # the rest of the pane is of use without it
            return replace(found, problem=failure(error))

    def _take(self, selection: tuple[int, int], found: SelectionFacts) -> None:
        """Show what a thread has read of a selection."""
        if selection == self._selection and found != self._facts:
            self._facts = found
            self._tell()

    def draw_line(self, y: int) -> Strip:
        palette, glyphs, width = self.palette, self.glyphs, self.size.width
        if y == 0:
            hidden = len(self.lines) - self.top - self.size.height + 1
            more = translate("{key}: {count} more", key="j" if self.has_focus else "tab", count=hidden)
            more = f"{glyphs.rule} {more} " if hidden > 0 else ""
            room = max(width - cell_len(more), 0)
            title = f"{glyphs.rule * 2} {self._title} "
            if cell_len(title) > room:
                title = clip_cells(title, max(room - 1, 0), glyphs.ellipsis) + " "
            rule = title + glyphs.rule * (room - cell_len(title)) + more
            style = palette.style_of(Role.TITLE if self.has_focus else Role.RULE)
            return Strip([Segment(rule, style)]).crop(0, width)
        place = self.top + y - 1
        return fitted(self.lines[place] if place < len(self.lines) else (), width, glyphs.ellipsis)

    def on_resize(self) -> None:
        self._tell()

    def action_scroll_lines(self, by: int) -> None:
        """Show later or earlier lines."""
        top = max(min(self.top + by, len(self.lines) - self.size.height + 1), 0)
        if top != self.top:
            self.top = top
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        """Go to one of the worst gaps at a click on it, as its digit does."""
        place = self.top + event.y - 1
        rank = place - (len(self.lines) - self._worst_count) + 1
        if event.y > 0 and 0 < rank <= self._worst_count:
            self.viewer.action_nth_gap(rank)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_scroll_lines(2)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_scroll_lines(-2)
