"""The viewer as its screens see it: the open traces, which is shown, and how to change where one looks.

Threads read and analyse; what they post arrives here, goes into the session that it is of, and is told to the
screens of that session, also while others are in front. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.events import Key
from textual.message import Message
from textual.screen import Screen

from tracetui.language import restate, translate, wording
from tracetui.places import SIDES, SharedPlace
from tracetui.reader.errors import UnreadableTrace, plain
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.ui._textual import HookedApp
from tracetui.ui.actions import key_label
from tracetui.ui.drawing.glyphs import glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.keys import KeyByKeyApp
from tracetui.ui.loading import load_session
from tracetui.ui.messages import (
    AnalysisFailed,
    AnalysisReady,
    CurvesChanged,
    CurvesRead,
    CurvesReady,
    LoadFailed,
    LoadProgress,
    ProgressChanged,
    RankingChanged,
    RecordingProgress,
    SelectionChanged,
    Status,
    TraceChanged,
    TraceGrew,
    TraceLoaded,
    ViewChanged,
)
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import (
    SCREENS,
    ScreenScope,
    ScreenSpec,
    is_joint,
    is_paired,
    joint_mode,
    screens_of_scope,
)
from tracetui.ui.sending.link import LinkApp
from tracetui.ui.session import Session
from tracetui.ui.terminal import in_ascii

if TYPE_CHECKING:
    pass

#: the screen that a trace opens at
FIRST = "timeline"
_SHOW_GAPS = frozenset({FIRST, "gaps", "stacked"})  #: screens that show the gap gone to


class Viewer(LinkApp[int], KeyByKeyApp[int], HookedApp[int]):
    """An app that shows one of the open traces. Its modes are "screen@number of the session"."""

    DEFAULT_MODE = f"{FIRST}@0"
    failure: Exception | None = None  #: why there is nothing to view
    place_of_screen: SharedPlace | None = None  #: what the screen in front is still to take of a place

    def __init__(self, sessions: Sequence[Session], options: ViewerOptions | None = None) -> None:
        """Show the first of the sessions, of which there is at least one."""
        super().__init__(ansi_color=True)
        self.options = options or ViewerOptions()
        self.palette = Palette(self.options.palette, self.options.light)
        self.typed = self.options.typed
        self.glyphs = glyphs(self.options.ascii)
        self.sessions = list(sessions)
        self._place = 0  # of the session that was looked at last, for screens that are of no trace alone
        self.name_window(self.sessions[0].name)

    # Which trace is shown, and on which screen

    @property
    def session(self) -> Session:
        """The open trace that is shown."""
        return self.sessions[self._place] if is_joint(self.shown) else self.session_of(self.current_mode)

    @property
    def shown(self) -> str:
        """The screen that is in front, but for panels over it."""
        return self.current_mode.partition("@")[0]

    def screens_of(self, session: Session) -> Mapping[str, Callable[[], Screen[Any]]]:
        """Return the screens of a session by their names, each made when it is first shown."""
        return {spec.name: partial(spec.make, session) for spec in screens_of_scope(ScreenScope.TRACE)}

    def has_screen(self, screen: str) -> bool:
        """Return whether there is a screen of this name to go to."""
        return len(self.sessions) > 1 if is_paired(screen) else screen in self.screens_of(self.session)

    @property
    def refused(self) -> frozenset[str]:
        """The ids of actions that only say why they do nothing here; help and palette leave them out."""
        return frozenset(f"go({screen!r})" for screen in SCREENS if not self.has_screen(screen))

    def add_modes(self, session: Session) -> None:
        """Have a mode for each screen of a session."""
        for screen, make in self.screens_of(session).items():
            self.add_mode(self.mode_of(session, screen), make)

    def add_joint_modes(self, scope: ScreenScope, shared: Callable[[], Iterable[object]]) -> None:
        """Have a mode for each screen of a scope, which is of no trace alone.

        `shared` returns what these screens are given beside a session.
        """

        def make(spec: ScreenSpec) -> Screen[Any]:
            return spec.make(self.sessions[0], *shared())

        for spec in screens_of_scope(scope):
            self.add_mode(joint_mode(spec.name), partial(make, spec))

    def mode_of(self, session: Session, screen: str) -> str:
        """Return the mode that shows a screen of a session."""
        return f"{screen}@{self.sessions.index(session)}"

    def session_of(self, mode: str) -> Session:
        """Return the session that a mode is of."""
        return self.sessions[int(mode.partition("@")[2])]

    def look_at(self, session: Session) -> None:
        """Make a trace on screen the active one, for the keys that work everywhere."""
        self._place = self.sessions.index(session)

    def action_go(self, screen: str) -> None:
        """Show another screen of the same trace."""
        if not self.has_screen(screen):
            template = "One trace has no screen of {screen}: tracetui on a directory of ranks has it."
            self.show_status(translate(template, screen=wording(screen)))
        elif screen != self.shown:
            self.switch_mode(self.mode_of(self.session, screen))

    def show_session(self, session: Session, screen: str = "", span: tuple[int, int] | None = None) -> None:
        """Show one of the open traces; it is read now, if it was not yet.

        The one before stays as it is, and all others are let go: each may take gigabytes.

        screen : on which screen; "": on the one that is shown.
        span : where to look, ns on its clock; None: where one looked before.
        """
        kept = self.kept_beside(session)
        for other in self.sessions:
            if other is not session and other is not kept and other.is_open:
                self.let_go(other)
        if span is not None:
            session.look_at(*span)
        self.read(session)
        mode = self.mode_of(session, screen or (FIRST if is_joint(self.shown) else self.shown))
        if mode != self.current_mode:
            self.switch_mode(mode)
        if span is not None:
            self.broadcast(session, SelectionChanged)
        self.look_at(session)
        self.name_window(self.full_name(session))
        place, count = self.sessions.index(session) + 1, len(self.sessions)
        self.show_status(translate("{place} of {count}: {name}", place=place, count=count, name=session.name))

    def line_words(self, session: Session, file: str, line: int, factor: float) -> str:
        """Say what a step of the job gains if a line of a rank takes `factor` of its time; "" without a job.

        May take seconds: for threads.
        """
        return ""

    def full_name(self, session: Session) -> str:
        """Return what tells an open trace also from those that are open elsewhere."""
        return session.name

    def name_window(self, name: str) -> None:
        """Call the window of the terminal after what is shown."""
        self.title = f"{in_ascii(name) if self.options.ascii else name} - tracetui"

    def kept_beside(self, session: Session) -> Session:
        """Return which of the open traces stays as it is when another is shown: the one before."""
        return self.session

    def read(self, session: Session) -> None:
        """Read one of the open traces, if it is not yet."""
        if not session.is_open:
            try:
                session.open()
            except (UnreadableTrace, OSError) as error:
                session.take_failure(restate(plain(str(error))))
            self.start(session)

    def let_go(self, session: Session) -> None:
        """Close a session, and put one in its place that opens where that one was left."""
        modes = [self.mode_of(session, screen) for screen in self.screens_of(session)]
        for mode in modes:
            self.remove_mode(mode)
        session.close()
        self.sessions[self.sessions.index(session)] = new = session.closed()
        self.add_modes(new)

    def action_session(self, by: int) -> None:
        """Show the next of the open traces, or the one before."""
        count = len(self.sessions)
        if count == 1:
            self.show_status("No other trace is open: tracetui A B opens two.")
        else:
            self.show_session(self.sessions[(self.sessions.index(self.session) + by) % count])

    def broadcast(self, session: Session, message: type[Message]) -> None:
        """Post a message to every screen of a session, also to those that are not in front."""
        for mode, screens in self.screens_by_mode():
            if self.is_told(mode, session):
                for screen in screens:
                    screen.post_message(message())

    def is_told(self, mode: str, session: Session) -> bool:
        """Return whether `broadcast` tells the screens of a mode what is about a session."""
        return not is_joint(mode.partition("@")[0]) and self.session_of(mode) is session

    def tell_joint(self, screen: str, message: type[Message]) -> None:
        """Post a message to a screen that is of no trace alone, if it was shown."""
        for mode, screens in self.screens_by_mode():
            if mode == joint_mode(screen):
                for shown in screens:
                    shown.post_message(message())

    def show_status(self, sentence: str) -> None:
        """Show a sentence in the last line of the screen in front, also of one that a panel lies over."""
        for screen in self.screen_stack:
            screen.post_message(Status(wording(sentence)))

    def key_was_left(self, key: Key) -> None:
        """Say that a key has no meaning here."""
        if key.key == "escape":
            return
        label = key.character if key.character and key.character.isprintable() else key_label(key.key)
        self.show_status(
            translate("{key} does nothing here: ? shows the keys that do", key=printable(label, 20))
        )

    # Notes

    def read_notes_of(self, session: Session) -> None:
        """Read the notes on a session, whose analysis is there."""

    # Places

    def take_place(self, screen: str) -> SharedPlace | None:
        """Return, once, the place that a screen is to show; None where there is none."""
        place = self.place_of_screen
        if place is None or place.screen != screen:
            return None
        self.place_of_screen = None
        return place

    def knows_screen(self, screen: str) -> bool:
        """Return whether a place can be on a screen."""
        return screen in SCREENS and self.has_screen(screen)

    def session_of_place(self, place: SharedPlace) -> Session | None:
        """Return the open trace that a place is of; None where it is not among them."""
        if len(self.sessions) == 2 and place.side:
            return self.sessions[SIDES.index(place.side)]
        return self.session if len(self.sessions) == 1 else self.sessions[0]

    def rank_of(self, session: Session) -> int | None:
        """Return the number of the rank that a session shows; None where it is of no job."""
        del session
        return None

    def side_of(self, session: Session) -> str:
        """Return which side of a comparison a session is, "" where no two are open."""
        return SIDES[self.sessions.index(session)] if len(self.sessions) == 2 else ""

    # Reading in threads

    def begin(self) -> None:
        """Read what is shown first."""
        self.start(self.session)

    def start(self, session: Session) -> None:
        """Read the file of a session, or have the trace analysed that is there already."""
        file, trace = session.file, session.trace
        if file is not None:
            self.in_thread(lambda: load_session(session, file, self.post_message))
        elif trace is not None:
            self._analyse(session, trace)

    def _analyse(self, session: Session, trace: Trace) -> None:
        def analyse() -> None:
            from tracetui.ui.analysing import analyse_trace

            analyse_trace(session, trace, self.post_message)

        self.in_thread(analyse)

    def in_thread(self, work: Callable[[], object]) -> None:
        """Have work done that posts what it finds; the viewer ends where it raises."""
        self.run_worker(work, thread=True, group="load", exit_on_error=True)

    def _is_gone(self, session: Session) -> bool:
        """Return whether a message is of a session that was let go meanwhile."""
        return session not in self.sessions

    def on_load_progress(self, message: LoadProgress) -> None:
        if self._is_gone(message.session):
            return
        session = message.session
        session.progress = (message.done_bytes, message.total_bytes, message.events)
        session.silent_s = message.silent_s
        self.broadcast(message.session, ProgressChanged)

    def on_recording_progress(self, message: RecordingProgress) -> None:
        if not self._is_gone(message.session):
            so_far = (message.done_bytes, message.total_bytes)
            message.session.recording = so_far if message.total_bytes else None
            self.broadcast(message.session, ProgressChanged)

    def on_trace_grew(self, message: TraceGrew) -> None:
        if self._is_gone(message.session):
            return
        message.session.take(message.trace, message.picture)
        self.broadcast(message.session, TraceChanged)

    def on_trace_loaded(self, message: TraceLoaded) -> None:
        session = message.session
        if self._is_gone(session):
            session.end()
            return
        sentence = session.take_all(message.trace, message.picture)
        self.broadcast(session, TraceChanged)
        self._analyse(session, message.trace)
        self._say_of(session, sentence)

    def on_load_failed(self, message: LoadFailed) -> None:
        session = message.session
        if self._is_gone(session):
            session.end()
        elif len(self.sessions) == 1:
            if not self.is_leaving:  # which stops the reading, and may be why it failed
                self.failure = message.error
                self.exit(1)
        else:
            self._fail(session, plain(str(message.error)))

    def on_analysis_ready(self, message: AnalysisReady) -> None:
        session = message.session
        if self._is_gone(session):
            return
        place, was_awaited = session.state.place, session.awaited
        sentence = session.take_analysis(message.analysis)
        if session.awaited_place is not None:
            from tracetui.ui.session_place import open_place  # most open no place

            sentence = open_place(session, session.awaited_place)
        self.broadcast(session, TraceChanged)
        if session.state.place != place:
            self.broadcast(session, SelectionChanged)
        self.show_first(session)
        self.read_notes_of(session)
        if sentence or was_awaited:
            self._say_of(session, sentence)

    def show_first(self, session: Session) -> None:
        """Show what the analysis of a session says to look at first, where nobody has looked yet."""

    def on_curves_ready(self, message: CurvesReady) -> None:
        session = message.session
        if not self._is_gone(session) and session.analysis is message.analysis:
            session.take_curves(message.extras)
            self.broadcast(session, CurvesChanged)

    def read_curves(self) -> None:
        """Have what is missing of the curves of the trace that is shown read in a thread, once."""
        session, trace = self.session, self.session.trace
        if trace is None:
            return
        memory = session.asks_for_memory()
        if session.asks_for_counters() or memory:
            from tracetui.ui.analysing import read_curves

            self.in_thread(lambda: read_curves(session, trace, memory, self.post_message))

    def on_curves_read(self, message: CurvesRead) -> None:
        session = message.session
        if self._is_gone(session) or session.trace is not message.trace:
            return
        if message.memory is not None:
            session.take_memory_curves(message.memory, message.problems)
        self.broadcast(session, CurvesChanged)

    def on_analysis_failed(self, message: AnalysisFailed) -> None:
        if not self._is_gone(message.session):
            self._fail(message.session, message.sentence)

    def _fail(self, session: Session, sentence: str) -> None:
        answer = session.take_failure(sentence)
        self.broadcast(session, TraceChanged)
        self._say_of(session, answer)

    def _say_of(self, session: Session, sentence: str) -> None:
        if session is self.session:
            self.show_status(sentence)

    # Where one looks in the trace that is shown

    def view_changed(self) -> None:
        """Tell everyone that the viewport, window, folds or pins have changed."""
        self._forget_awaited()
        self.broadcast(self.session, ViewChanged)

    def selection_changed(self) -> None:
        """Tell everyone that the selection (and, with it, perhaps the viewport) has changed."""
        self._forget_awaited()
        self.broadcast(self.session, SelectionChanged)

    def _forget_awaited(self) -> None:
        """Drop the gap or the place that was to be shown later: somebody has moved since."""
        self.session.awaited, self.session.awaited_place = 0, None

    def select(self, row: int) -> None:
        """Select a slice, on all screens, and bring it on screen; -1 selects nothing."""
        self.session.select(row)
        self.selection_changed()

    def show_interval(self, start_ns: int, end_ns: int, row: int | None = None) -> None:
        """Show an interval (epoch ns) in the middle third of the timeline, and select a slice."""
        self.session.state.show(start_ns, end_ns)
        self.view_changed()
        if row is not None:
            self.select(row)
        self.action_go(FIRST)

    def show_slice(self, row: int) -> None:
        """Show a slice of the trace that is shown in the middle third of the timeline, selected."""
        assert self.session.trace is not None
        slices = self.session.trace.slices
        self.show_interval(int(slices.start[row]), int(slices.end[row]), row)

    def go_to_gap(self, index: int) -> None:
        """Show and select a gap: an index into `analysis.gaps`. The screen in front stays."""
        if self.session.go_to_gap(index):
            self.selection_changed()

    def action_rank_gaps(self) -> None:
        """Rank gaps by the next measure: lost time, idle time, exposed communication."""
        sentence = self.session.rank_by_next()
        self.broadcast(self.session, RankingChanged)
        self.show_status(sentence)

    def action_next_gap(self, by: int) -> None:
        """Go to the gap of the next rank; to the worst one first, and when they have been ranked anew.

        Screens that show no gap give way to the timeline.
        """
        refusal = self.session.next_gap(by)
        self._went(refusal)
        if not refusal and self.shown not in _SHOW_GAPS:
            self.action_go(FIRST)

    def action_nth_gap(self, rank: int) -> None:
        """Go to the gap of a rank."""
        self._went(self.session.nth_gap(rank))

    def _went(self, refusal: str) -> None:
        if refusal:
            self.show_status(refusal)
        else:
            self.selection_changed()
