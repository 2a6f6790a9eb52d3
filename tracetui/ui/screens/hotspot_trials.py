"""The hotspots' what-if: the line under the cursor is tried at less host time, in a thread."""

from __future__ import annotations

from textual import on
from textual.message import Message

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.whatif import WhatIf
from tracetui.analysis.idle.lines import LineKey
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.hotspot_panes import HotspotPanes
from tracetui.ui.session import Session
from tracetui.ui.stories.line_story import what_if_words

NEXT_FACTOR = {1.0: 0.5, 0.5: 0.0, 0.0: 1.0}


class HotspotTrials(HotspotPanes):
    """Panes whose line can be tried."""

    class Tried(Message):
        """What follows if a line is faster, and if late peers come sooner too; None: none is late."""

        def __init__(self, analysis: Analysis, what_if: WhatIf, with_peers: WhatIf | None) -> None:
            super().__init__()
            self.analysis, self.what_if, self.with_peers = analysis, what_if, with_peers

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._shown: Analysis | None = None  # whose lines are in the table
        self._trial: tuple[LineKey, float] | None = None  # the line that is tried, and its factor
        self._trying = False  # a thread is at it

    @property
    def key(self) -> LineKey | None:
        """Of the line that a trial is of."""
        raise NotImplementedError

    def note_view(self) -> None:
        """Say again what the rows of the table are."""
        raise NotImplementedError

    def action_what_if(self) -> None:
        """Try the line at half of its host time, then at none of it, then as it is."""
        key = self.key
        if key is None:
            self.viewer.show_status("A line of Python can be tried: choose one among the lines or stacks.")
            return
        factor = self._trial[1] if self._trial is not None and self._trial[0] == key else 1.0
        self._trial = (key, NEXT_FACTOR[factor])
        if self._trial[1] == 1.0:
            self._trial = None
            self.note_view()
            return
        self.note("Working out the steps.")
        self._try()

    def _try(self) -> None:
        """One trial at a time: the run of a large trace is worked out again for each."""
        analysis, trial = self._shown, self._trial
        if self._trying or analysis is None or trial is None:
            return
        self._trying = True

        def tried() -> Message:
            late, prompt = analysis.what_ifs_with_late_peers, analysis.what_ifs
            with_peers = None if late is prompt else prompt.faster(*trial)
            return self.Tried(analysis, late.faster(*trial), with_peers)

        self.in_background("what-if", tried)

    @on(Tried)
    def _tell_trial(self, message: Tried) -> None:
        message.stop()
        self._trying = False
        if message.analysis is self._shown and (message.what_if.key, message.what_if.factor) == self._trial:
            of = message.what_if, self.size.width, self.viewer.glyphs, message.with_peers
            self.note(what_if_words(*of), Role.TEXT)
        else:
            self._try()

    def failed(self, group: str, sentence: str) -> None:
        self._trying = False
        if group == "charge":
            self.nothing(sentence)
        else:
            self.note(sentence, Role.WARNING)
