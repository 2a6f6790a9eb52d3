"""The viewer: one app that owns the trace, its analysis and the view, and six screens that show them.

Screens read `app.trace`, `app.analysis` and `app.state`, change the state through the methods below, and
hear of every change as a message (tracetui.ui.messages), also while another screen is in front.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from tracetui.trace.model import Trace
from tracetui.ui.actions import bindings
from tracetui.ui.glyphs import glyphs
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.options import ViewerOptions
from tracetui.ui.palette import Palette, choose_palette
from tracetui.ui.state import Viewport, ViewState

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.reader.source import TraceFile


def _screen(module: str, name: str) -> Callable[[], Screen[Any]]:
    """A screen whose module is imported when it is first shown."""

    def build() -> Screen[Any]:
        try:
            screen: Screen[Any] = getattr(importlib.import_module(f"tracetui.ui.screens.{module}"), name)()
        except ModuleNotFoundError:
            return Screen()
        return screen

    return build


class TraceApp(App[int]):
    """The viewer of one trace. `exit(code)` gives the program's exit code."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(None)]
    DEFAULT_MODE = "timeline"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "timeline": _screen("timeline", "TimelineScreen"),
        "gaps": _screen("gaps", "GapsScreen"),
        "hotspots": _screen("hotspots", "HotspotsScreen"),
        "heatmap": _screen("heatmap", "HeatmapScreen"),
        "operators": _screen("operators", "OperatorsScreen"),
        "steps": _screen("steps", "StepsScreen"),
    }

    def __init__(self, path: Path, options: ViewerOptions | None = None, trace: Trace | None = None) -> None:
        """Of a file to read; or, with `trace`, of a trace that is there already (its file is not read)."""
        super().__init__()
        self.path = path
        self.options = options or ViewerOptions()
        self.palette = Palette(choose_palette(self.options.palette))
        self.glyphs = glyphs(self.options.ascii)
        self.trace: Trace | None = trace
        self.analysis: Analysis | None = None
        self.trace_file: TraceFile | None = None
        self.state = ViewState(bounds_of(trace))

    def on_mount(self) -> None:
        self.theme = "ansi-dark"

    # What screens ask for

    def action_go(self, screen: str) -> None:
        """Switch to a screen."""
        self.switch_mode(screen)

    def tell(self, message_type: Callable[[], Message]) -> None:
        """Post a message to every screen there is."""
        for stack in self._screen_stacks.values():
            for screen in stack:
                screen.post_message(message_type())

    def select(self, row: int) -> None:
        """Select a slice, on all screens; -1 selects nothing."""

    def show_interval(self, start_ns: int, end_ns: int, row: int | None = None) -> None:
        """Show an interval (epoch ns) in the timeline, in the middle third of it; and select a slice."""

    def go_to_gap(self, index: int) -> None:
        """Show and select a gap: an index into `analysis.gaps`."""

    def view_changed(self) -> None:
        """Tell everyone that the viewport, window, folds or pins have changed."""
        self.tell(ViewChanged)

    def selection_changed(self) -> None:
        """Tell everyone that the selection has changed."""
        self.tell(SelectionChanged)


def bounds_of(trace: Trace | None) -> Viewport:
    """All of a trace; a millisecond where there is none yet."""
    if trace is None:
        return Viewport(0, 1_000_000)
    return Viewport(trace.start_ns, max(trace.end_ns, trace.start_ns + 1))


def run_viewer(path: Path, options: ViewerOptions) -> int:
    """Open the viewer on a file until the user leaves; the exit code of the program."""
    app = TraceApp(path, options)
    return app.run(mouse=options.mouse) or 0
