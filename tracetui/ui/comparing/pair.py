"""Two of the open traces, compared: which they are, what is known of it, what is said where they cannot be.

Knows no screen and no app; sessions are numbers here, as they are replaced when a trace is let go.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracetui.language import clauses, counted, sentences, translate, wording
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.session import Session
from tracetui.units import format_duration

if TYPE_CHECKING:
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


_WHY = (
    "Compared are the steps of devices: their idle time, operators and communication. A trace of the host "
    "alone has none of that, and is looked at alone."
)
_NEXT = "{key} compares with the next open trace."
_OTHER_TRACES = "tracetui A B opens two other traces."


def absence_lines(
    sessions: Sequence[Session], pair: ComparedPair, width: int, palette: Palette
) -> list[Line]:
    """Return why there is nothing to compare, in lines of a width."""
    dim, text = palette.style_of(Role.DIM), palette.style_of(Role.TEXT)
    lines: list[Line] = [[]]
    for name, place in (("BASE", pair.base), ("OTHER", pair.other)):
        analysis = sessions[place].analysis
        if analysis is None:
            return []
        count = len(analysis.devices)
        devices = counted(count, "1 device", "{count} devices") if count else translate("no device")
        span = format_duration(analysis.trace.end_ns - analysis.trace.start_ns)
        lines.append([(f"{name:<6} ", dim), (f"{clauses((span, devices))}: {sessions[place].name}", text)])
    advice = sentences((translate(_WHY), translate(_NEXT if len(sessions) > 2 else _OTHER_TRACES, key="}")))
    return [*lines, [], *([(line, text)] for line in wrapped(advice, width))]


def next_pair(sessions: Sequence[Session]) -> tuple[tuple[str, str], ...]:
    """Return the hint of the key that compares with another open trace, where there is one."""
    return (("}", "next pair"),) if len(sessions) > 2 else ()
