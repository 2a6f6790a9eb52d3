"""The viewer: one app that owns the trace, its analysis and the view, and the screens that show them.

Screens read `app.trace`, `app.analysis` and `app.state`, change the state through the methods below, and
hear of every change as a message (tracetui.ui.messages), also while another screen is in front.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from textual.binding import BindingType
from textual.message import Message
from textual.screen import ModalScreen, Screen

from tracetui.arrays import Int64s
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace
from tracetui.ui.actions import bindings
from tracetui.ui.clipboard import keep_copy
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.palette import Palette, choose_palette
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key, place_of_slice
from tracetui.ui.loading import analyse_trace, load
from tracetui.ui.messages import (
    AnalysisFailed,
    AnalysisReady,
    LoadFailed,
    LoadProgress,
    SelectionChanged,
    Status,
    TraceGrew,
    TraceLoaded,
    ViewChanged,
)
from tracetui.ui.options import ViewerOptions
from tracetui.ui.sending.link import LinkApp
from tracetui.ui.state import Viewport, ViewState
from tracetui.ui.terminal import suit_terminal

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.ui.screens.timeline import TimelineScreen

CANCELLED = 130  #: exit code of ctrl+c


def _screen(module: str, name: str) -> Callable[[], Screen[Any]]:
    """A screen whose module is imported when it is first shown."""

    def build() -> Screen[Any]:
        screen: Screen[Any] = getattr(importlib.import_module(f"tracetui.ui.screens.{module}"), name)()
        return screen

    return build


class TraceApp(LinkApp[int]):
    """The viewer of one trace. `exit(code)` gives the program's exit code."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(None)]
    DEFAULT_MODE = "timeline"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "timeline": _screen("timeline", "TimelineScreen"),
        "gaps": _screen("gaps", "GapsScreen"),
        "hotspots": _screen("hotspots", "HotspotsScreen"),
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
        self.palette = Palette(choose_palette(self.options.palette))
        self.glyphs = glyphs(self.options.ascii)
        self.trace_file = trace_file
        self.trace = trace
        self.analysis: Analysis | None = None
        self.analysing = trace is not None
        self.failure: Exception | None = None  #: why there is nothing to view
        self.problem = ""  #: why there is no analysis
        self.progress: tuple[int, int, int] | None = (0, trace_file.size, 0) if trace_file else None
        self.state = ViewState(bounds_of(trace))
        self._stop_loading = False
        self._awaited = 0  #: rank of the gap to show as soon as there are gaps; 0: none
        self.picture = Picture(trace) if trace is not None else None
        self.ranked: Int64s = np.empty(0, np.int64)  #: gaps, the most idle first
        self._rank_of: Int64s = self.ranked

    def on_mount(self) -> None:
        suit_terminal(self, self.palette.color_system, self.options.ascii, self._leave)
        if self.trace_file is not None:
            self.run_worker(self._load, thread=True, group="load", exit_on_error=True)
        elif self.trace is not None:
            self._analyse(self.trace)

    def _handle_exception(self, error: Exception) -> None:
        """Leave with the error, which `run_viewer` raises again once the terminal is restored.

        Textual's report of it would print local variables, and in them names from the trace with escapes.
        """
        if self.is_headless:
            super()._handle_exception(error)
            return
        self.failure = self.failure or getattr(error, "error", None) or error
        self._return_code = 1
        self._close_messages_no_wait()

    # Loading: threads post messages, the handlers below own the state

    def _load(self) -> None:
        assert self.trace_file is not None
        load(self.trace_file, self.post_message, lambda: self._stop_loading, self.options.cache)

    def _analyse(self, trace: Trace) -> None:
        self.analysing = True
        self.run_worker(
            lambda: analyse_trace(trace, self.options.rules, self.post_message),
            thread=True,
            group="load",
            exit_on_error=True,
        )

    def on_load_progress(self, message: LoadProgress) -> None:
        self.progress = (message.done_bytes, message.total_bytes, message.events)
        self.tell(lambda: LoadProgress(message.done_bytes, message.total_bytes, message.events))

    def on_trace_grew(self, message: TraceGrew) -> None:
        self._take(message.trace, message.picture)
        self.tell(lambda: TraceGrew(message.trace))

    def on_trace_loaded(self, message: TraceLoaded) -> None:
        self.progress = None
        self._take(message.trace, message.picture)
        self._open_window()
        self.tell(lambda: TraceLoaded(message.trace))
        self._analyse(message.trace)
        if message.trace.report.stopped:
            self.say("Stopped: what was read until then is here.")

    def on_load_failed(self, message: LoadFailed) -> None:
        self.failure = message.error
        self.exit(1)

    def on_analysis_ready(self, message: AnalysisReady) -> None:
        self.analysing = False
        self.analysis = message.analysis
        if self.picture is not None:
            self.picture = self.picture.analysed(message.analysis)
        self.ranked = message.analysis.gaps.ranked()
        self._rank_of = np.empty_like(self.ranked)
        self._rank_of[self.ranked] = np.arange(1, len(self.ranked) + 1)
        self.tell(lambda: AnalysisReady(message.analysis))
        awaited = self._awaited
        self._open_step()
        if awaited:
            self.say("")
            self.action_nth_gap(awaited)

    def on_analysis_failed(self, message: AnalysisFailed) -> None:
        self.analysing = False
        self.problem = message.sentence
        self.tell(lambda: AnalysisFailed(message.sentence))
        if self._awaited:
            self._awaited = 0
            self.say(message.sentence)

    def _take(self, trace: Trace, picture: Picture | None) -> None:
        """Another picture of the trace: what was selected is looked up again by its event."""
        old, row = self.trace, self.state.row
        event = int(old.slices.event[row]) if old is not None and row >= 0 else -1
        self.trace, self.picture = trace, picture or Picture(trace)
        self.state.grow(bounds_of(trace))
        self.state.forget_rows()
        found = np.flatnonzero(trace.slices.event == event)
        if event >= 0 and len(found):
            self.state.place = replace(self.state.place, row=int(found[0]))

    def _open_window(self) -> None:
        """Look at the window that was asked for on the command line."""
        if self.options.window is not None and self.trace is not None:
            start, end = (self.trace.start_ns + time for time in self.options.window)
            end = min(end, self.state.bounds.end_ns)
            if start < end:
                self.state.look(Viewport(start, end))

    def _open_step(self) -> None:
        """Look at the step that was asked for on the command line."""
        wanted = self.options.step
        if wanted is None or self.analysis is None:
            return
        for step in self.analysis.steps:
            if step.number == wanted:
                self.show_interval(step.start_ns, step.end_ns)
                return
        self.say(f"There is no step {wanted} in this trace.")

    # What screens ask for

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that is wrong or missing, one sentence each."""
        if self.trace is None:
            return ()
        return (*self.trace.report.warnings, *self.trace.notes, *((self.problem,) if self.problem else ()))

    def tell(self, message: Callable[[], Message]) -> None:
        """Post a message to every screen there is."""
        for stack in self._screen_stacks.values():
            for screen in stack:
                screen.post_message(message())

    def say(self, sentence: str) -> None:
        """Show a sentence in the last line of the timeline until the next key."""
        self.tell(lambda: Status(sentence))

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

    def stop_loading(self) -> bool:
        """Stop the loading, keeping what is read; False where nothing was there to stop."""
        running = self.progress is not None and not self._stop_loading
        self._stop_loading = self._stop_loading or running
        return running

    def rank_of(self, gap: int) -> int:
        """The rank of a gap by idle time, from 1; 0 for none."""
        return int(self._rank_of[gap]) if 0 <= gap < len(self._rank_of) else 0

    # Actions that work everywhere

    def action_go(self, screen: str) -> None:
        self.switch_mode(screen)

    def action_undo(self) -> None:
        if self.state.undo():
            self.selection_changed()

    def action_redo(self) -> None:
        if self.state.redo():
            self.selection_changed()

    def action_next_gap(self, by: int) -> None:
        """The gap whose rank is next to that of the selected one; the worst one first."""
        rank = self.rank_of(self.state.gap)
        self.action_nth_gap(rank + by if rank else 1)

    def action_nth_gap(self, rank: int) -> None:
        if self.analysis is None:
            self._awaited = 0 if self.problem else rank
            self.say(self.problem or f"Gap {rank} is shown as soon as all gaps are found.")
        elif not len(self.analysis.gaps):
            self.say("There are no gaps in this trace.")
        elif 1 <= rank <= len(self.analysis.gaps):
            self.go_to_gap(int(self.ranked[rank - 1]))
        else:
            self.say("There are no more gaps.")

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
        self._leave(0)

    def action_cancel(self) -> None:
        """Close what is open, stop the loading, else leave."""
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
        elif not self.stop_loading():
            self._leave(CANCELLED)

    def action_suspend(self) -> None:
        self.action_suspend_process()

    def _leave(self, code: int) -> None:
        self._stop_loading = True
        self.exit(code)


def bounds_of(trace: Trace | None) -> Viewport:
    """All of a trace; a millisecond where there is none yet."""
    if trace is None:
        return Viewport(0, 1_000_000)
    return Viewport(trace.start_ns, max(trace.end_ns, trace.start_ns + 1))


def run_viewer(path: Path, options: ViewerOptions) -> int:
    """Open the viewer on a file until the user leaves; the exit code of the program.

    Raises UnreadableTrace (or MemoryError, OSError) where there is nothing to view.
    """
    with TraceFile(path) as trace_file:
        app = TraceApp(path, options, trace_file)
        code = app.run(mouse=options.mouse)
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0
