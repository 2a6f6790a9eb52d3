"""The viewer of a snapshot of PyTorch's allocator: the screen of memory alone; nothing else is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.screen import Screen

from tracetui.analysis.memory.analyse import Memory
from tracetui.language import translate
from tracetui.reader.errors import UnreadableTrace
from tracetui.ui.app import TraceApp, run_app
from tracetui.ui.messages import LoadFailed, TraceChanged
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import SCREENS
from tracetui.ui.session import Session
from tracetui.ui.session_place import open_place
from tracetui.ui.state import Viewport

MEMORY = "memory"  #: its one screen
_ALONE = "This is a snapshot: it has no times, and nothing but memory."


#: Of a trace, or of several: each says that this is a snapshot, or that no other is open.
_OF_TRACES = frozenset(
    (
        *("activate", "next_gap(1)", "next_gap(-1)", "statistics", "export", "warnings"),
        *("session(-1)", "session(1)", "flip", "sessions"),
    )
)
#: Reads a snapshot; raises UnreadableTrace (or MemoryError, OSError) where there is none.
Load = Callable[[], Memory]


class SnapshotSession(Session):
    """A snapshot. What is a time in a trace is the number of an event here."""

    memory: Memory | None = None  #: once it is read

    @property
    def tells_memory(self) -> bool:
        return self.memory is not None

    def read_memory(self) -> Memory | None:
        return self.memory

    @property
    def is_open(self) -> bool:
        return True

    @property
    def unanswered(self) -> str:
        return self.problem or "Reading the snapshot."

    def take_memory(self, memory: Memory) -> str:
        """Show what is read, at the step that was asked for; what is to be said of it."""
        self.memory = memory
        ends = [int(curve.time[-1]) + 1 for curve in memory.curves if len(curve.time)]
        self.state.grow(Viewport(0, max(ends, default=1)))
        wanted = self.options.step
        for step in memory.recorded.steps:
            if step.number == wanted:
                window = (step.start, step.end)
                self.state.go(replace(self.state.place, window=window, time_ns=step.start))
                return ""
        return "" if wanted is None else translate("There is no step {step} in this snapshot.", step=wanted)

    def nth_gap(self, rank: int) -> str:
        return _ALONE

    def rank_by_next(self) -> str:
        return _ALONE


class SnapshotApp(TraceApp):
    """The viewer of one snapshot."""

    DEFAULT_MODE: ClassVar[str] = f"{MEMORY}@0"

    def __init__(self, path: Path, load: Load, options: ViewerOptions | None = None) -> None:
        super().__init__([SnapshotSession(path, options)], options)
        self._load = load

    def screens_of(self, session: Session) -> dict[str, Callable[[], Screen[Any]]]:
        return {MEMORY: partial(SCREENS[MEMORY].make, session)}

    @property
    def refused(self) -> frozenset[str]:
        return super().refused | _OF_TRACES

    def begin(self) -> None:
        session = self.session
        assert isinstance(session, SnapshotSession)

        def read() -> None:
            try:
                memory = self._load()
            except (UnreadableTrace, MemoryError, OSError) as error:
                self.post_message(LoadFailed(session, error))
            else:
                self.call_later(self._take_memory, session, memory)

        if self.options.place is not None:
            self.places.open(self.options.place)
        self.in_thread(read)

    def _take_memory(self, session: SnapshotSession, memory: Memory) -> None:
        """Show a snapshot that is read."""
        sentence = session.take_memory(memory)
        if session.awaited_place is not None:
            sentence = open_place(session, session.awaited_place)
        self.broadcast(session, TraceChanged)
        if sentence:
            self.show_status(sentence)

    def action_go(self, screen: str) -> None:
        if screen != MEMORY:
            self.show_status(_ALONE)

    def knows_screen(self, screen: str) -> bool:
        return screen == MEMORY

    def _open(self, module: str, name: str) -> None:
        if module in ("export_dialog", "statistics", "open_traces"):
            self.show_status(_ALONE)
        else:
            super()._open(module, name)

    async def action_back(self) -> None:
        """Drop what was begun: there is nothing behind the one screen."""
        self.front.step_back()


def run_snapshot(path: Path, load: Load, options: ViewerOptions) -> int:
    """Open the viewer on a snapshot until the user leaves; the exit code of the program.

    Raises what `load` does.
    """
    return run_app(SnapshotApp(path, load, options))
