"""Choosing a track by some letters of its name, process or group; closes with its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.ui.drawing.curve_rows import counter_line, extra_key
from tracetui.ui.drawing.rows import group_label, track_key, track_label
from tracetui.ui.messages import CurvesChanged, TraceChanged
from tracetui.ui.screens.chooser import Choice, ChoiceList, Chooser
from tracetui.ui.state import TrackKey

if TYPE_CHECKING:
    from tracetui.analysis.counter_tracks import CounterTrack


class TrackFinder(Chooser[TrackKey]):
    """All tracks with something on them."""

    TITLE_OF = "Find track"
    PLACEHOLDER = "some letters of the track, process or device"

    def choices(self) -> Sequence[Choice[TrackKey]]:
        picture = self.session.picture
        return track_choices(picture.trace, picture.extras.tracks) if picture is not None else ()

    def on_mount(self) -> None:
        self.viewer.read_curves()

    def on_trace_changed(self, message: TraceChanged) -> None:
        self.choose_anew()

    def on_curves_changed(self, message: CurvesChanged) -> None:
        shown = self.query_one(ChoiceList)
        is_first = shown.cursor == 0
        self.choose_anew()
        if is_first:  # nobody has moved: what matches best may be among those that came
            shown.move(-shown.cursor)


def track_choices(trace: Trace, extras: Sequence[CounterTrack] = ()) -> list[Choice[TrackKey]]:
    """Return a choice per track that is not empty, in the order of the trace; then what is no track."""
    choices = []
    for track in trace.tracks:
        if len(track.rows):
            count = translate("{count} slices", count=f"{len(track.rows):>9,}")
        elif len(track.samples):
            count = translate("{count} samples", count=f"{len(track.samples):>9,}")
        else:
            continue
        name = counter_line(track).name if track.samples else track_label(track)
        choices.append(Choice(f"{group_label(track)}  {name}", count, track_key(track)))
    for curve in extras:
        group = f"{curve.group} ({printable(curve.device)})" if curve.device else curve.group
        count = translate("{count} samples", count=f"{len(curve.series):>9,}")
        choices.append(Choice(f"{group}  {printable(curve.name)}", count, extra_key(curve)))
    return choices
