"""Choosing a track by some letters of its name, process or group; closes with its index in the trace."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.trace.model import Trace
from tracetui.ui.drawing.rows import group_label, track_label
from tracetui.ui.messages import TraceChanged
from tracetui.ui.screens.chooser import Choice, Chooser


class TrackFinder(Chooser[int]):
    """All tracks with something on them."""

    TITLE_OF = "Find track"
    PLACEHOLDER = "some letters of the track, process or device"

    def choices(self) -> Sequence[Choice[int]]:
        trace = self.session.trace
        return track_choices(trace) if trace is not None else ()

    def on_trace_changed(self, message: TraceChanged) -> None:
        self.choose_anew()


def track_choices(trace: Trace) -> list[Choice[int]]:
    """One choice per track that is not empty, in the order of the trace."""
    choices = []
    for track in trace.tracks:
        if len(track.rows):
            count = f"{len(track.rows):>9,} slices"
        elif len(track.samples):
            count = f"{len(track.samples):>9,} samples"
        else:
            continue
        choices.append(Choice(f"{group_label(track)}  {track_label(track)}", count, track.index))
    return choices
