"""A leap of the clock that all tracks are recorded with."""

from __future__ import annotations

from typing import NamedTuple

from tracetui.trace.model import Layer, Trace

#: ns: slices that end so close to each other end together.
ROUNDED = 1_000
#: ns: a leap ahead is at least so long.
LEAST_LEAP = 1_000_000
#: Tracks of these leap with the clock.
LAYERS = (Layer.PYTHON, Layer.RUNTIME, Layer.DEVICE)


class Leap(NamedTuple):
    """A leap of the clocks of many tracks at one time."""

    at: int  #: ns
    by: int  #: ns; below 0: back
    tracks: tuple[int, ...]


def tracks_that_leap(trace: Trace) -> tuple[int, ...]:
    """Return the tracks that leap with the clock of all."""
    return tuple(t.index for t in trace.tracks if len(t.rows) and t.layer in LAYERS)
