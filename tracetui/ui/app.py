"""The viewer: one app that owns the trace, its analysis and the view, and the screens that show them.

Screens read `app.trace`, `app.analysis` and `app.state`, change the state through the methods below, and
hear of every change as a message (tracetui.ui.messages), also while another screen is in front.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.ui.actions import bindings
from tracetui.ui.clipboard import keep_copy
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key, place_of_slice
from tracetui.ui.keys import KeyByKeyApp
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.options import ViewerOptions
from tracetui.ui.reading import ReadingApp, bounds_of
from tracetui.ui.sending.link import LinkApp
from tracetui.ui.state import ViewState
from tracetui.ui.terminal import suit_terminal

if TYPE_CHECKING:
    from tracetui.ui.screens.timeline import TimelineScreen

CANCELLED = 130  #: exit code of ctrl+c


def _screen(module: str, name: str) -> Callable[[], Screen[Any]]:
    """A screen whose module is imported when it is first shown."""

    def build() -> Screen[Any]:
        screen: Screen[Any] = getattr(importlib.import_module(f"tracetui.ui.screens.{module}"), name)()
        return screen

    return build


class TraceApp(ReadingApp, LinkApp[int], KeyByKeyApp[int]):
    """The viewer of one trace. `exit(code)` gives the program's exit code."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(None)]
    DEFAULT_MODE = "timeline"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "timeline": _screen("timeline", "TimelineScreen"),
        "gaps": _screen("gaps", "GapsScreen"),
        "hotspots": _screen("hotspots", "HotspotsScreen"),
        "flame": _screen("flame", "FlameScreen"),
        "heatmap": _screen("heatmap", "HeatmapScreen"),
        "operators": _screen("operators", "OperatorsScreen"),
        "steps": _screen("steps", "StepsScreen"),
        "advice": _screen("advice", "AdviceScreen"),
    }

    def __init__(
        self,
        path: Path,
        options: ViewerOptions | None = None,
        trace_file: TraceFile | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Of an opened file to read, or of a trace that is there already."""
        super().__init__(ansi_color=True)
        self.path = path
        self.options = options or ViewerOptions()
        self.palette = Palette(self.options.palette, self.options.light)
        self.typed = self.options.typed
        self.glyphs = glyphs(self.options.ascii)
        self.trace_file = trace_file
        self.trace = trace
        self.picture = Picture(trace) if trace is not None else None
        self.analysing = trace is not None
        self.progress = (0, trace_file.size, 0) if trace_file else None
        self.state = ViewState(bounds_of(trace))

    def on_mount(self) -> None:
        suit_terminal(self, self.palette.color_system, self.options.ascii, self.leave)
        self.start()

    def fault(self, error: Exception) -> None:
        """Leave with the error, which `run_viewer` raises again once the terminal is restored.

        Textual's report of it would print local variables, and in them names from the trace with escapes.
        """
        if self.is_headless:
            super().fault(error)
            return
        self.failure = self.failure or getattr(error, "error", None) or error
        self.end_after_fault()

    # What screens ask for

    def view_changed(self) -> None:
        """Tell everyone that the viewport, window, folds or pins have changed."""
        self._awaited = 0
        self.tell(ViewChanged)

    def selection_changed(self) -> None:
        """Tell everyone that the selection (and, with it, perhaps the viewport) has changed."""
        self._awaited = 0
        self.tell(SelectionChanged)

    def select(self, row: int) -> None:
        """Select a slice, on all screens, and bring it on screen; -1 selects nothing."""
        state, trace = self.state, self.trace
        if trace is None:
            return
        if row < 0:
            state.go(replace(state.place, row=-1, gap=-1), "select")
        else:
            start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
            cursor, hidden = place_of_slice(trace, row, state.toggled)
            if hidden:
                state.toggle(hidden)
            viewport = state.viewport.showing(start, end, state.bounds)
            state.go(
                replace(state.place, viewport=viewport, row=row, gap=-1, cursor=cursor, time_ns=start),
                "select",
            )
        self.selection_changed()

    def show_interval(self, start_ns: int, end_ns: int, row: int | None = None) -> None:
        """Show an interval (epoch ns) in the middle third of the timeline, and select a slice."""
        self.state.show(start_ns, max(end_ns, start_ns + 1))
        self.view_changed()
        if row is not None:
            self.select(row)
        if self.current_mode != "timeline":
            self.switch_mode("timeline")

    def go_to_gap(self, index: int) -> None:
        """Show and select a gap: an index into `analysis.gaps`. The screen in front stays."""
        if self.analysis is None or not 0 <= index < len(self.analysis.gaps):
            return
        gaps, state = self.analysis.gaps, self.state
        start, end = int(gaps.start[index]), int(gaps.end[index])
        state.show(start, end)
        device = self.analysis.devices[int(gaps.device[index])].device
        place = replace(state.place, gap=index, row=-1, cursor=idle_key(device), time_ns=start)
        state.go(place, state.burst)
        self.selection_changed()

    # Actions that work everywhere

    def action_go(self, screen: str) -> None:
        self.switch_mode(screen)

    def action_undo(self) -> None:
        if self.state.undo():
            self.selection_changed()

    def action_redo(self) -> None:
        if self.state.redo():
            self.selection_changed()

    def action_export(self) -> None:
        self._open("export_dialog", "ExportDialog")

    def action_statistics(self) -> None:
        self._open("statistics", "StatisticsPanel")

    def action_help(self) -> None:
        self._open("help", "HelpScreen")

    def action_palette(self) -> None:
        self._open("palette", "CommandPalette")

    def _open(self, module: str, name: str) -> None:
        if not isinstance(self.screen, ModalScreen):
            self.push_screen(_screen(module, name)())

    def action_open_editor(self) -> None:
        """At the line that the screen in front shows."""
        if hasattr(self.screen, "action_open_editor"):
            self.screen.action_open_editor()
        else:
            self.say("No line of source is shown here.")

    def action_copy(self) -> None:
        """Copy what the screen in front tells: to the clipboard, and to a file."""
        copied = getattr(self.screen, "copy_text", None)
        text = copied() if callable(copied) else ""
        if not text:
            self.say("There is nothing to copy.")
            return
        self.copy_to_clipboard(text)
        path = keep_copy(text)
        self.say(f"Copied to the clipboard, and to {path}." if path else "Copied to the clipboard.")

    async def action_back(self) -> None:
        """Back to the timeline; there, drop what was begun, else stop the loading."""
        if self.current_mode != "timeline":
            self.switch_mode("timeline")
        elif not cast("TimelineScreen", self.screen).step_back():
            self.stop_loading()

    async def action_quit(self) -> None:
        self.leave(0)

    def action_cancel(self) -> None:
        """Close what is open, stop the loading, else leave."""
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.stop_loading():
            self.leave(CANCELLED)

    def action_redraw(self) -> None:
        """Lay everything out and draw it again, and send it whole."""
        for widget in self.screen.walk_children(Widget):
            widget.refresh(layout=True)
        self.redraw()

    def action_suspend(self) -> None:
        self.action_suspend_process()

    def leave(self, code: int) -> None:
        self._stop_loading = True
        self.exit(code)


def run_viewer(path: Path, options: ViewerOptions) -> int:
    """Open the viewer on a file until the user leaves; the exit code of the program.

    Raises UnreadableTrace (or MemoryError, OSError) where there is nothing to view.
    """
    with TraceFile(path, jobs=options.jobs) as trace_file:
        app = TraceApp(path, options, trace_file)
        ease_collector()
        code = app.run(mouse=options.mouse)
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0


def ease_collector() -> None:
    """Have Python look for garbage less often, and not in what is imported.

    A frame makes up to 3,000 objects, which go without the collector. At Python's thresholds it looked at
    them four times in each frame, 0.5 to 3 ms, and in one of 30 frames at all there are, 20 ms more.
    """
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
