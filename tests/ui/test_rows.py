"""The lines of the timeline: order, folds, pins; every slice can be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Layer, Trace
from tracetui.ui.drawing.rows import LineKind, place_of_slice, timeline_lines, track_key
from tracetui.ui.drawing.ticks import TICK_CELLS, ticks
from tracetui.ui.state import TrackKey, Viewport


@pytest.fixture(scope="module")
def trace(samples: Path) -> Trace:
    with TraceFile(samples / "moba" / "trace_view.json") as trace_file:
        return build_trace(trace_file.read())


def test_lines_are_told_apart_and_the_device_comes_first(trace: Trace) -> None:
    lines = timeline_lines(trace, frozenset(), ()).lines
    assert len({line.key for line in lines}) == len(lines)
    assert lines[0].kind is LineKind.IDLE
    layers = [trace.tracks[line.track].layer for line in lines if line.track >= 0]
    assert layers.index(Layer.DEVICE) < layers.index(Layer.PYTHON) < layers.index(Layer.RUNTIME)
    assert Layer.COUNTER not in layers  # folded away at first


def test_every_slice_has_its_line_however_the_tracks_are_folded(trace: Trace) -> None:
    everything = timeline_lines(trace, frozenset(), ()).lines
    toggles: tuple[frozenset[TrackKey], ...] = (
        frozenset(),
        frozenset(line.key for line in everything if line.kind is LineKind.GROUP),
        frozenset(track_key(track) for track in trace.tracks),
    )
    for toggled in toggles:
        lines = timeline_lines(trace, toggled, ())
        for row in range(0, len(trace.slices), 97):
            key, hidden = place_of_slice(trace, row, toggled)
            assert (lines.index(key) < 0) == bool(hidden)
            if hidden:
                assert timeline_lines(trace, toggled ^ {hidden}, ()).index(key) >= 0


def test_a_pinned_track_is_on_top_and_nowhere_else(trace: Trace) -> None:
    track = next(track for track in trace.tracks if track.name == "Stream 2")
    lines = timeline_lines(trace, frozenset(), (track_key(track),))
    places = [place for place, line in enumerate(lines.lines) if line.track == track.index]
    assert places == [1] and lines.fixed == 2


@pytest.mark.parametrize(
    "start, span", [(0, 174_000_000), (5_000_000_000, 300_000), (123_456, 180), (0, 10**13)]
)
def test_ticks_are_round_and_apart(start: int, span: int) -> None:
    found = ticks(Viewport(start, start + span), 0, 150)
    assert len(found) >= 2
    assert all(right.column - left.column >= TICK_CELLS - 1 for left, right in zip(found, found[1:]))
    assert len({tick.label for tick in found}) == len(found)
    steps = {right.time_ns - left.time_ns for left, right in zip(found, found[1:])}
    assert len(steps) == 1 and str(steps.pop()).rstrip("0") in ("1", "2", "5")
