"""Two of the open traces, compared: which they are, and what is known of it.

Knows no screen and no app; sessions are numbers here, as they are replaced when a trace is let go.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracetui.language import translate, wording
from tracetui.ui.session import Session

if TYPE_CHECKING:  # one trace needs none of it
    from tracetui.analysis.analyse import Analysis
    from tracetui.comparison.compared_run import Run
    from tracetui.comparison.comparison import Comparison


class Runs:
    """What was made of open traces, kept when they are let go: a run is small."""

    def __init__(self, all_steps: bool) -> None:
        self._all_steps = all_steps
        self._made: dict[int, tuple[weakref.ref[Analysis], Run]] = {}

    def of(self, place: int, analysis: Analysis) -> Run:
        """Return the run of a session: of this very analysis, whose slice rows it has; may take seconds."""
        from tracetui.comparison.compared_run import run_of
        from tracetui.comparison.walls import StepChoice

        known = self._made.get(place)
        if known is None or known[0]() is not analysis:
            run = run_of(analysis, StepChoice(all_steps=self._all_steps))
            known = self._made[place] = weakref.ref(analysis), run
        return known[1]


class ComparedPair:
    """BASE and OTHER, in the order in which the traces were opened."""

    def __init__(self, base: int, other: int) -> None:
        self.base, self.other = base, other  #: numbers of the sessions
        self.comparison: Comparison | None = None
        self.reading = ""  #: how far it is read, where that is known

    def __contains__(self, place: int) -> bool:
        return place in (self.base, self.other)

    def partner(self, place: int) -> int:
        """Return the other one of the two."""
        return self.base if place == self.other else self.other

    def names(self, sessions: Sequence[Session]) -> tuple[str, str]:
        """Return what BASE and OTHER are called."""
        return sessions[self.base].name, sessions[self.other].name

    def unanswered(self, sessions: Sequence[Session]) -> str:
        """Say why there is nothing to compare yet; "" where there is."""
        return "" if self.comparison is not None else self.waits_for(sessions)

    def waits_for(self, sessions: Sequence[Session]) -> str:
        """Say which of the two is not analysed yet, and why; "" where both are."""
        for name, place in (("BASE", self.base), ("OTHER", self.other)):
            session = sessions[place]
            if session.analysis is None:
                run = f"{name} {session.name}"
                return translate("{name}: {reason}", name=run, reason=wording(session.unanswered))
        return ""

    def compare(self, sessions: Sequence[Session], runs: Runs) -> Comparison:
        """Compare the two, whose analyses are there; takes seconds where they are large."""
        from tracetui.comparison.comparison import compare_runs

        sides = []
        for place in (self.base, self.other):
            analysis = sessions[place].analysis
            assert analysis is not None
            sides.append(runs.of(place, analysis))
        return compare_runs(*sides)
