"""Opening the places that others send or paste, and the command that opens what is shown here."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import Any

from tracetui.export.notes import problem_words
from tracetui.language import translate
from tracetui.notebook.note import NotANote, new_note
from tracetui.notebook.notebook import Notebook, notes_path
from tracetui.places import NotAPlace, SharedPlace, parse_place, trace_fingerprint
from tracetui.trace.clean import printable
from tracetui.ui.messages import NotesChanged, SelectionChanged, TraceChanged
from tracetui.ui.screen_specs import SCREENS, ScreenScope, is_joint, is_of_scope, is_paired
from tracetui.ui.session import Session
from tracetui.ui.session_place import OTHER_TRACE, is_of_another, open_place, shared_place_of
from tracetui.ui.viewer import Viewer
from tracetui.ui.viewer_screen import ViewerScreen

AT = "--at"  #: the option of the command line that takes a place


def place_in(text: str) -> SharedPlace | None:
    """Return the place of a text, or of a command line that opens one; None where there is none."""
    words = text.split()
    if AT in words[:-1]:
        words = words[words.index(AT) + 1 :][:1]
    if len(words) != 1 or not set("@#") & set(words[0]):
        return None
    try:
        place = parse_place(words[0].strip("'\""))
    except NotAPlace:
        return None
    return place if place.screen in SCREENS else None


class Places:
    """The place that is shown, and places to show."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    def shown(self, front: ViewerScreen[Any]) -> SharedPlace:
        """Return the place that is shown now."""
        viewer, session = self._viewer, self._viewer.session
        if is_of_scope(viewer.shown, ScreenScope.JOB):
            return front.place_with(SharedPlace(viewer.shown, trace=self._fingerprint()))
        place = front.place_with(shared_place_of(session, viewer.shown))
        if is_joint(viewer.shown):
            place = replace(place, trace=self._fingerprint())
        return replace(place, rank=viewer.rank_of(session), side=viewer.side_of(session))

    def command(self, front: ViewerScreen[Any]) -> str:
        """Return the command line that opens the place that is shown."""
        viewer = self._viewer
        of_list = len(viewer.sessions) > 2 and not is_joint(viewer.shown)
        paths = () if of_list and viewer.rank_of(viewer.session) is None else viewer.options.paths
        words = [*(paths or [str(viewer.session.path)]), AT, str(self.shown(front))]
        return f"tracetui {' '.join(map(_shell_word, words))}"

    def open(self, place: SharedPlace) -> None:
        """Show a place; what it is of is read, if it was not yet."""
        viewer = self._viewer
        if not viewer.knows_screen(place.screen):
            viewer.show_status(translate("There is no screen {name} here.", name=printable(place.screen, 40)))
            return
        is_of_pair_shown = is_paired(place.screen) and place.rank is None and not place.side
        session = viewer.session if is_of_pair_shown else viewer.session_of_place(place)
        if session is None:
            viewer.show_status(translate("There is no rank {number} in this job.", number=place.rank))
            return
        viewer.place_of_screen = place
        sentence = ""
        if is_joint(place.screen):
            viewer.look_at(session)
            session.state.filter = place.filter
            sentence = translate(OTHER_TRACE) if is_of_another(place, self._fingerprint()) else ""
            viewer.action_go(place.screen)
            viewer.tell_joint(place.screen, TraceChanged)
        elif session is viewer.session and session.is_open and not is_joint(viewer.shown):
            sentence = open_place(session, place)
            viewer.action_go(place.screen)
        else:
            session.awaited_place = place
            viewer.show_session(session, place.screen)
            if session.analysis is not None:
                sentence = open_place(session, place)
        for message in (TraceChanged, SelectionChanged):
            viewer.broadcast(session, message)
        if sentence:
            viewer.show_status(sentence)

    def read_notes(self, session: Session) -> str:
        """Read what people wrote about a session; return what is wrong with it, "" for nothing."""
        notebook = self._notebook(session)
        contents = notebook.read()
        if contents.notes != session.notes:
            session.notes = contents.notes
            self._viewer.broadcast(session, NotesChanged)
        return problem_words(contents, str(notebook.path))

    def keep_note(self, place: SharedPlace, text: str) -> str:
        """Write a note at a place that is shown; return what is to be said of it."""
        session = self._viewer.session
        notebook = self._notebook(session)
        problem = problem_words(notebook.read(), str(notebook.path))
        try:
            notebook.add([new_note(place, text)])
        except (OSError, NotANote) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return problem or translate("The note is not kept: {reason}.", reason=printable(str(reason), 120))
        self.read_notes(session)
        return problem or translate('Kept: " lists the notes, tracetui notes PATH hands them on.')

    def _notebook(self, session: Session) -> Notebook:
        of_job = is_of_scope(self._viewer.shown, ScreenScope.JOB)
        trace = self._fingerprint() if of_job else session.fingerprint
        return Notebook(notes_path(trace or "unknown"))

    def _fingerprint(self) -> str:
        return trace_fingerprint([session.path for session in self._viewer.sessions])


def _shell_word(text: str) -> str:
    """Return a word for a shell: $'\\261\\355' of bytes that are no text, which no clipboard takes."""
    if text.isprintable():
        return shlex.quote(text)
    plain = set(range(0x20, 0x7F)) - set(b"'\\")
    return "$'" + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in os.fsencode(text)) + "'"
