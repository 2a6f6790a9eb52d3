"""The lines of the timeline from top to bottom: groups of tracks, their lanes, what is folded and pinned.

Knows tracks, not slices and not the terminal. Lines are told apart by keys that stay the same while a trace
is still being read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from tracetui.analysis.counter_tracks import LEAD
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Family, Layer, Trace, Track
from tracetui.ui.drawing.curve_rows import (
    CurveLine,
    Extras,
    counter_line,
    curve_rows,
    extra_line,
    hidden_by,
    rows_of_curve,
)
from tracetui.ui.drawing.row import LineKind as LineKind
from tracetui.ui.drawing.row import TimelineRow as TimelineRow
from tracetui.ui.drawing.row import is_folded as is_folded
from tracetui.ui.drawing.row import track_key as track_key
from tracetui.ui.state import TrackKey

#: device first: a gap is looked for there, and what the host did meanwhile is right below
ORDER = (
    Layer.DEVICE,
    Layer.COMMUNICATION,
    Layer.PYTHON,
    Layer.MARKS,
    Layer.RUNTIME,
    Layer.OTHER,
    Layer.OVERLAP,
    Layer.COUNTER,
)

_SHORT = {
    Family.FRAMES: "frames",
    Family.COLLECTOR: "GC",
    Family.ANNOTATIONS: "ranges",
}


@dataclass(frozen=True)
class TimelineLines:
    """All lines: the first `fixed` ones stay on top when the others scroll."""

    lines: tuple[TimelineRow, ...]
    fixed: int

    def index(self, key: TrackKey) -> int:
        """Return the place of a line; -1 where it is not shown."""
        return next((place for place, line in enumerate(self.lines) if line.key == key), -1)

    def label(self, place: int) -> str:
        """Return the label of a line; below the first line of a track, that of the track."""
        while not self.lines[place].label and place > 0:
            place -= 1
        return self.lines[place].label


def header_key(track: Track) -> TrackKey:
    """Return what a track shares with those it stands under one header with."""
    part = "planes" if track.family is Family.PLANE else ""
    return ("group", track.layer.name, track.process, track.pid, part)


def idle_key(device: str) -> TrackKey:
    """Return the key of the idle line of a device."""
    return ("idle", device)


def timeline_lines(
    trace: Trace,
    toggled: frozenset[TrackKey],
    pinned: Sequence[TrackKey],
    expected: Sequence[Track] = (),
    devices: Sequence[str] = (),
    extras: Extras = Extras(),  # noqa: B008 - it is frozen
) -> TimelineLines:
    """Return the lines of a trace.

    expected : tracks that are known to come while it is still read, in reading order: they have lines now.
    devices : the devices that are known to come.
    extras : curves that are no counters of the trace.
    """
    known = [track for track in trace.tracks if len(track.rows) or len(track.samples)]
    shown = _with_expected(known, expected)
    lanes = {track_key(track): len(track.lanes) for track in expected}
    fixed = [
        _idle_line(trace.devices.index(label) if label in trace.devices else -1, label)
        for label in dict.fromkeys((*devices, *trace.devices))
    ]
    curves = curve_lines(shown, extras)
    for key in pinned:
        for track in shown:
            if track_key(track) == key and track.layer is not Layer.COUNTER:
                fixed.extend(_track_lines(track, toggled, lanes))
        for curve in curves:
            if curve.key == key:
                fixed.extend(rows_of_curve(curve, toggled))
    lines: list[TimelineRow] = []
    of_curves = [*curve_rows(curves, toggled, pinned, extras)]
    groups: dict[TrackKey, list[Track]] = {}
    for track in sorted(shown, key=lambda track: (ORDER.index(track.layer), track.family is Family.PLANE)):
        if track_key(track) not in pinned and track.layer is not Layer.COUNTER:
            groups.setdefault(header_key(track), []).append(track)
    threads = dict(extras.threads)
    for key, tracks in groups.items():
        if lines and tracks[0].layer not in (Layer.DEVICE, Layer.COMMUNICATION):
            lines.extend(of_curves)  # below the devices, where there are any
            of_curves = []
        lines.extend(_with_states(_group_lines(key, tracks, toggled, lanes), threads, toggled))
    lines.extend(_core_lines(extras.cores, toggled))
    return TimelineLines((*fixed, *lines, *of_curves), len(fixed))


def curve_lines(tracks: Sequence[Track], extras: Extras) -> list[CurveLine]:
    """Return all curves, in reading order: the lead of the host, the counters of some tracks, the memory."""
    counters = [counter_line(track) for track in tracks if track.layer is Layer.COUNTER]
    extra_lines = [extra_line(track) for track in extras.tracks]
    leads = [line for line in extra_lines if line.group == LEAD]
    return [*leads, *counters, *(line for line in extra_lines if line.group != LEAD)]


def hiding(trace: Trace, extras: Extras, key: TrackKey, toggled: frozenset[TrackKey]) -> list[TrackKey]:
    """Return the folded groups that hide a track or a curve, by its key."""
    curves = curve_lines(trace.tracks, extras)
    for curve in curves:
        if curve.key == key:
            return hidden_by(curve, curves, toggled)
    tracks = [track for track in trace.tracks if track_key(track) == key]
    return [
        header_key(track) for track in tracks if is_folded(header_key(track), folded_group(track), toggled)
    ]


def _with_expected(tracks: Sequence[Track], expected: Sequence[Track]) -> Sequence[Track]:
    """Return the tracks, and between them those only expected, their index -1; all in reading order."""
    left = {track_key(track): track for track in tracks}
    found: list[Track] = []
    for other in expected:
        key = track_key(other)
        if key not in left:
            if all(track_key(track) != key for track in found):
                found.append(replace(other, index=-1))
            continue
        for before in list(left):
            found.append(left.pop(before))
            if before == key:
                break
    return (*found, *left.values())


def place_of_slice(trace: Trace, row: int, toggled: frozenset[TrackKey]) -> tuple[TrackKey, TrackKey]:
    """Return the key of the line that shows a slice, and of the folded group that hides it, else ()."""
    track = trace.track_of(row)
    key, group = track_key(track), header_key(track)
    hidden = group if is_folded(group, folded_group(track), toggled) else ()
    if len(track.lanes) > 1 and is_folded(key, folded_track(track), toggled):
        return key, hidden
    return (*key, str(trace.lane_of(row) - track.lanes.start)), hidden


def folded_group(track: Track) -> bool:
    """Return whether the group of a track is folded at first: what repeats others."""
    return track.layer is Layer.OVERLAP or track.family is Family.PLANE


def folded_track(track: Track, lanes: int = 0) -> bool:
    """Return whether a track is folded at first: Python frames are deep, parts of collectives overlap.

    lanes : how many it has, or will have.
    """
    deep = max(len(track.lanes), lanes) > 2
    return track.family is Family.FRAMES or (track.layer is Layer.DEVICE and deep)


def _group_lines(
    key: TrackKey, tracks: Sequence[Track], toggled: frozenset[TrackKey], lanes: Mapping[TrackKey, int]
) -> Iterator[TimelineRow]:
    first = tracks[0]
    if len(tracks) == 1 and not folded_group(first):
        yield from _track_lines(first, toggled, lanes)  # a header would say what its only line says
        return
    folded = is_folded(key, folded_group(first), toggled)
    yield TimelineRow(
        LineKind.GROUP, key, group_label(first), fold_key=key, folded=folded, members=len(tracks)
    )
    if not folded:
        for track in tracks:
            yield from _track_lines(track, toggled, lanes)


def _with_states(
    lines: Iterable[TimelineRow], threads: Mapping[int, int], toggled: frozenset[TrackKey]
) -> Iterator[TimelineRow]:
    """Yield lines, and below each line of a thread the states that the scheduler gave it.

    threads : the numbers of threads in the scheduler's recording, by the track that they are below.
    """
    for track, members in groupby(lines, lambda line: line.track):
        yield from members
        if track in threads:
            key = ("states", str(threads[track]))
            folded = is_folded(key, True, toggled)
            line = TimelineRow(
                LineKind.STATES, key, translate("states"), fold_key=key, folded=folded, pid=threads[track]
            )
            yield line
            if not folded:
                yield replace(line, kind=LineKind.CORES, key=(*key, "cores"), label=translate("cores"))


def _core_lines(cores: Sequence[int], toggled: frozenset[TrackKey]) -> Iterator[TimelineRow]:
    """Yield the header of the cores, and a line for each, unless they are folded as at first."""
    if not cores:
        return
    key = ("group", "cores of the host")
    folded = is_folded(key, True, toggled)
    title = translate("Cores of the host")
    yield TimelineRow(LineKind.GROUP, key, title, fold_key=key, folded=folded, members=len(cores))
    for cpu in () if folded else cores:
        label = translate("core {number}", number=cpu)
        yield TimelineRow(LineKind.CORE, ("core", str(cpu)), label, cpu=cpu)


def _track_lines(
    track: Track, toggled: frozenset[TrackKey], lanes: Mapping[TrackKey, int]
) -> Iterator[TimelineRow]:
    """Yield the lines of a track; `lanes`: how many are expected of a track, by its key."""
    key = track_key(track)
    label = track_label(track)
    depths = max(len(track.lanes), lanes.get(key, 0))
    if depths > 1 and is_folded(key, folded_track(track, depths), toggled):
        yield TimelineRow(LineKind.FOLDED, key, label, track.index, fold_key=key, folded=True)
        return
    fold_key = key if depths > 1 else ()
    for depth in range(depths):
        lane = track.lanes[depth] if track.index >= 0 and depth < len(track.lanes) else -1
        yield TimelineRow(
            LineKind.LANE, (*key, str(depth)), "" if depth else label, track.index, lane, fold_key=fold_key
        )


def _idle_line(device: int, label: str) -> TimelineRow:
    return TimelineRow(
        LineKind.IDLE, idle_key(label), translate("{device} idle", device=printable(label)), device=device
    )


def track_label(track: Track) -> str:
    """Return what stands beside a track: its name, and which of the tracks of one thread it is."""
    name = printable(track.name).strip() or translate("thread {number}", number=printable(track.tid))
    short = translate(_SHORT.get(track.family, ""))
    if not short or short in name:
        return name
    return f"{short} {name[7:] if name.lower().startswith('thread ') else name}"


def group_label(track: Track) -> str:
    """Return the header of a group: its process, and the device it belongs to."""
    process = printable(track.process).strip() or translate("process {number}", number=printable(track.pid))
    if track.family is Family.PLANE:
        process = translate("{process} planes", process=process)
    return f"{process} ({printable(track.device)})" if track.device else process
