"""One line of the timeline, and what tells it apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tracetui.trace.model import Track
from tracetui.ui.state import TrackKey


class LineKind(Enum):
    """What a line of the timeline shows."""

    IDLE = "idle"  #: when a device does nothing
    GROUP = "group"  #: the header of a group of tracks
    LANE = "lane"  #: one lane of a track
    FOLDED = "folded"  #: all lanes of a track in one line
    CURVE = "curve"  #: a row of a curve over time
    STATES = "states"  #: what the scheduler did with a thread
    CORES = "cores"  #: which cores it gave it
    CORE = "core"  #: who had a core


@dataclass(frozen=True)
class TimelineRow:
    """One line of the timeline."""

    kind: LineKind
    key: TrackKey
    label: str  #: printable; "" below the first line of a track
    track: int = -1  #: index into Trace.tracks; -1 also where nothing of a track is read yet
    lane: int = -1  #: of a LANE; -1 where nothing of it is read yet
    device: int = -1  #: index into Trace.devices, of an IDLE line; -1 where nothing of the device is read yet
    fold_key: TrackKey = ()  #: what `fold` folds when the cursor is here; () where nothing can be folded
    folded: bool = False
    members: int = 0  #: tracks of a GROUP
    level: int = 0  #: how many headers a GROUP stands under
    curve: TrackKey = ()  #: of a CURVE: what tells it apart; () where it is not known yet what there will be
    pid: int = -1  #: of STATES and CORES: the thread's number in the recording of the scheduler
    cpu: int = -1  #: of a CORE: its number
    part: int = 0  #: the row of the curve, from the top
    parts: int = 1  #: how many it has
    away: int = 0  #: shown at the edge behind which it is scrolled away: above (-1) or below (1)


def track_key(track: Track) -> TrackKey:
    """Return what tells a track apart from all others of its trace."""
    return ("track", track.pid, track.tid, track.family.name, track.name if track.samples else "")


def is_folded(key: TrackKey, folded_at_first: bool, toggled: frozenset[TrackKey]) -> bool:
    """Return whether a group or track is folded: as at first, unless it was toggled."""
    return folded_at_first != (key in toggled)
