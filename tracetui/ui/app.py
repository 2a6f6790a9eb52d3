"""The viewer with its screens: which there are, the actions that work on all of them, and how it ends."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget

from tracetui.language import translate
from tracetui.reader.joined import traces_that_open
from tracetui.ui.actions import bindings
from tracetui.ui.comparing.comparing import COMPARE, Comparing
from tracetui.ui.first_view import is_busy
from tracetui.ui.messages import PlaceAsked, WarningsAsked
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import ScreenScope, is_paired, make_panel, screen_of_scope
from tracetui.ui.session import Session
from tracetui.ui.terminal import CANCELLED, configure_terminal, keep_copy, leave_at_signals, leave_threads
from tracetui.ui.trace_names import names_of
from tracetui.ui.viewer import FIRST, Viewer
from tracetui.ui.viewer_screen import ViewerScreen

if TYPE_CHECKING:
    from tracetui.ui.place_opening import Places

CHOOSE_RANK = "Choose a rank first: R lists them, enter opens one."


class TraceApp(Viewer):
    """The viewer of the open traces. `exit(code)` gives the program's exit code."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    CSS = "Screen { overflow: hidden; }"  # a screen that scrolled as a whole would hide its own first lines
    BINDINGS = bindings(None)

    def __init__(self, sessions: Sequence[Session], options: ViewerOptions | None = None) -> None:
        super().__init__(sessions, options)
        self.comparing = Comparing(self)
        for session in self.sessions:
            self.add_modes(session)
        if len(self.sessions) > 1:
            self.add_joint_modes(ScreenScope.PAIR, lambda: [self.comparing])

    @cached_property
    def places(self) -> Places:
        """The place that is shown, places to show, and the notes at them; imported when first used."""
        from tracetui.ui.place_opening import Places

        return Places(self)

    def on_load(self) -> None:
        """Set the terminal up, so that it is left in order from the first frame on."""
        if not self.is_headless:
            leave_threads()
            leave_at_signals(self.leave)
        configure_terminal(self, self.palette.color_system, self.options.ascii)

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        super().begin()
        if self.options.place is not None:
            self.places.open(self.options.place)
            return
        if len(self.sessions) == 2 and not (self.options.is_place_asked or self.options.separate_runs):
            self.action_go(COMPARE)
        elif len(self.sessions) > 1:
            self.action_sessions()

    # Two traces

    def action_go(self, screen: str) -> None:
        screen = screen_of_scope(screen, self.shown)
        if is_paired(screen):
            self.comparing.show(screen)
        else:
            super().action_go(screen)

    def show_session(self, session: Session, screen: str = "", span: tuple[int, int] | None = None) -> None:
        before = self.sessions.index(self.kept_beside(session))
        super().show_session(session, screen, span)
        self.comparing.take_shown(before, self.sessions.index(session))

    def kept_beside(self, session: Session) -> Session:
        """Return the partner of a trace on a screen that compares, else the trace that was shown before."""
        return self.comparing.partner_of(session) or super().kept_beside(session)

    def action_session(self, by: int) -> None:
        """Show the next of the open traces; on the screen that compares, compare with the next."""
        if is_paired(self.shown) and self.comparing.pair is not None:
            self.comparing.compare_next(by)
        else:
            super().action_session(by)

    def broadcast(self, session: Session, message: type[Message]) -> None:
        super().broadcast(session, message)
        self.comparing.hand_on(session, message)

    def action_flip(self) -> None:
        """Show the other trace at the same step and place in it, with the same span of time."""
        self.comparing.flip()

    # What is shown first, and how it ends

    def show_first(self, session: Session) -> None:
        """Show what a busy device computes: its gaps are of no interest."""
        looked = self.shown != FIRST or isinstance(self.screen, ModalScreen) or session.state.is_used
        if len(self.sessions) > 1 or session.analysis is None or self.options.is_place_asked or looked:
            return
        if is_busy(session.analysis):
            self.action_go("operators")

    def fault(self, error: Exception) -> None:
        """Leave with the error, which `run_viewer` raises again once the terminal is restored.

        Textual's report of it would print local variables, and in them names from the trace with escapes.
        """
        if self.is_headless:
            super().fault(error)
            return
        self.failure = self.failure or getattr(error, "error", None) or error
        self.end_after_fault()

    @property
    def front(self) -> ViewerScreen[Any]:
        """The screen that keys go to; it may be a panel."""
        screen = self.screen
        assert isinstance(screen, ViewerScreen)
        return screen

    # Actions that work everywhere

    def action_undo(self) -> None:
        self.front.undo()

    def action_redo(self) -> None:
        self.front.redo()

    def action_sessions(self) -> None:
        self._open("open_traces", "OpenTraces")

    def action_export(self) -> None:
        if self._has_trace():
            self._open("export_dialog", "ExportDialog")

    def action_statistics(self) -> None:
        if self._has_trace():
            self._open("statistics", "StatisticsPanel")

    def action_next_gap(self, by: int) -> None:
        if self._has_trace():
            super().action_next_gap(by)

    def _has_trace(self) -> bool:
        """Return whether a trace is looked at; say so where none of the ranks of a job has been opened."""
        is_chosen = self.session.is_open or bool(self.session.problem)
        if not is_chosen:
            self.show_status(CHOOSE_RANK)
        return is_chosen

    def action_help(self) -> None:
        self._open("help", "HelpScreen")

    def action_palette(self) -> None:
        self._open("palette", "CommandPalette")

    def _open(self, module: str, name: str) -> None:
        if not isinstance(self.screen, ModalScreen):
            self.push_screen(make_panel(self.session, module, name))

    def action_warnings(self) -> None:
        """Show the warnings of the trace, and its run, beside its timeline."""
        self.action_go(FIRST)
        self.screen.post_message(WarningsAsked())

    def action_open_editor(self) -> None:
        self.front.open_editor()

    def action_copy(self) -> None:
        """Copy what the screen in front tells: to the clipboard, and to a file."""
        text = self.front.copy_text()
        if text:
            self._copy(text)
        else:
            self.show_status("There is nothing to copy.")

    def action_copy_place(self) -> None:
        """Copy the command that opens what is shown."""
        self._copy(self.places.command(self.front))

    # Notes

    def action_write_note(self) -> None:
        """Ask for a note at what is selected, and keep it."""
        if isinstance(self.screen, ModalScreen):
            return
        place = self.places.shown(self.front)

        def keep(text: str | None) -> None:
            if text is not None:
                self.show_status(self.places.keep_note(place, text))

        self.push_screen(make_panel(self.session, "notes", "NotePrompt"), keep)

    def action_notes_written(self) -> None:
        """Show the notes on what is shown, to go to one."""
        problem = self.places.read_notes(self.session)
        if problem:
            self.show_status(problem)
        if self.session.notes:
            self._open("notes", "NoteList")
        elif not problem:
            self.show_status("There are no notes: ' writes one.")

    def read_notes_of(self, session: Session) -> None:
        problem = self.places.read_notes(session)
        if problem:
            self.show_status(problem)

    def on_place_asked(self, message: PlaceAsked) -> None:
        self.places.open(message.place)

    def _copy(self, text: str) -> None:
        self.copy_to_clipboard(text)
        path = keep_copy(text)
        if path:
            self.show_status(translate("Copied to the clipboard, and to {path}.", path=path))
        else:
            self.show_status("Copied to the clipboard.")

    async def action_back(self) -> None:
        """Go back to the timeline; there, drop what was begun, else stop the loading."""
        if self.shown != FIRST:
            self.action_go(FIRST)
        elif not self.front.step_back():
            self.session.stop_loading()

    async def action_quit(self) -> None:
        self.leave(0)

    def action_cancel(self) -> None:
        """Close what is open, stop the loading, else leave."""
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.session.stop_loading():
            self.leave(CANCELLED)

    def action_redraw(self) -> None:
        """Lay everything out and draw it again, and send it whole."""
        for widget in self.screen.walk_children(Widget):
            widget.refresh(layout=True)
        self.redraw()

    def action_suspend(self) -> None:
        self.action_suspend_process()

    def leave(self, code: int) -> None:
        for session in self.sessions:
            session.stopping = True
        self.exit(code)


def run_viewer(paths: Sequence[Path], options: ViewerOptions) -> int:
    """Open the viewer on files until the user leaves; the exit code of the program.

    Raises UnreadableTrace (or MemoryError, OSError) where there is nothing to view.
    """
    first, *later = (Session(path, options, name=name) for path, name in zip(paths, names_of(paths)))
    first.open()
    return run_app(TraceApp([first, *later], options))


def run_separate(directory: Path, options: ViewerOptions) -> int:
    """Open the viewer on the list of all traces below a directory; the exit code of the program.

    Raises UnreadableTrace where none can be opened.
    """
    return run_viewer(traces_that_open(directory), replace(options, separate_runs=True))


def run_app(app: TraceApp) -> int:
    """Run the viewer until the user leaves; the exit code of the program.

    Raises what ended it, where something did.
    """
    try:
        gc.freeze()  # what is imported lives as long as the program: nothing to look for in it
        code = app.run(mouse=app.options.mouse)
    finally:
        for session in app.sessions:
            session.end()
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0
