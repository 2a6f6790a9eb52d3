"""The lines of curves: which there are below each device, under which headers, on how many rows.

What belongs to one device stands under one header, folded at first: streams are what people look at first.
Only the lead of the host is there at once, on one row, where there is one device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracetui.analysis.counter_tracks import LEAD, MEMORY, CounterTrack
from tracetui.language import translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Track
from tracetui.trace.quantity import quantity_of
from tracetui.ui.drawing.row import LineKind, TimelineRow, is_folded, track_key
from tracetui.ui.state import TrackKey

ROWS = 3  #: of a curve that is not folded


@dataclass(frozen=True)
class CurveLine:
    """A curve as the timeline lists it."""

    key: TrackKey
    group: str  #: printable
    name: str  #: printable
    device: str | None
    track: int = -1  #: index into Trace.tracks of a counter; -1 also where it is not read yet


@dataclass(frozen=True)
class Extras:
    """What is no slice or counter of the trace: curves, what is known to come, states of threads."""

    tracks: tuple[CounterTrack, ...] = ()
    awaits_memory: bool = False  #: whether there is memory to be shown once it is read
    memory_of: str | None = None  #: the device below which it is
    #: threads that the scheduler's recording knows: the track that they are below, and their number there
    threads: tuple[tuple[int, int], ...] = ()
    cores: tuple[int, ...] = ()  #: that are in the scheduler's recording, by number


def counter_line(track: Track) -> CurveLine:
    """Return the line of a counter of the trace."""
    name = printable(quantity_of(track).name).strip() or translate(
        "counter {number}", number=printable(track.tid)
    )
    group = printable(track.process).strip() or translate("process {number}", number=printable(track.pid))
    return CurveLine(track_key(track), group, name, track.device, track.index)


def extra_key(track: CounterTrack) -> TrackKey:
    """Return what tells a curve that is no counter of the trace apart from all others."""
    return (*extra_group(track.group), track.device or "", track.name)


def extra_group(group: str) -> TrackKey:
    """Return what the keys of all curves of a group begin with that are no counters of the trace."""
    return ("curve", group)


def extra_line(track: CounterTrack) -> CurveLine:
    """Return the line of a curve that is no counter of the trace."""
    name = wording(track.name) if track.group == LEAD else printable(track.name)
    return CurveLine(extra_key(track), track.group, name, track.device)


def device_key(device: str | None) -> TrackKey:
    """Return the key of the header over all curves of a device."""
    return ("group", "curves", device or "")


def section_key(line: CurveLine) -> TrackKey:
    """Return the key of the header over the curves of one process, or of one kind."""
    pid = line.key[1] if line.key[0] == "track" else ""
    return ("group", "curves", line.device or "", line.group, pid)


def hidden_by(line: CurveLine, lines: Sequence[CurveLine], toggled: frozenset[TrackKey]) -> list[TrackKey]:
    """Return the folded headers that hide the line of a curve, of all `lines`."""
    if line == lone_lead(lines):
        return []
    section = section_key(line)
    several = sum(section_key(curve) == section for curve in lines) > 1
    keys = [device_key(line.device), *([section] if several else [])]
    return [key for key in keys if is_folded(key, True, toggled)]


def lone_lead(lines: Sequence[CurveLine]) -> CurveLine | None:
    """Return the one curve that stands under no header: the lead on the only device, as time."""
    leads = [curve for curve in lines if _is_lead(curve)]
    return leads[0] if len({curve.device for curve in leads}) == 1 else None


def _is_lead(line: CurveLine) -> bool:
    return line.key[:2] == extra_group(LEAD)  # a process of the trace may be called so, too


def curve_rows(
    lines: Sequence[CurveLine], toggled: frozenset[TrackKey], pinned: Sequence[TrackKey], extras: Extras
) -> Iterator[TimelineRow]:
    """Yield the rows of the curves of all devices, then of curves without a device."""
    lone = lone_lead(lines)
    if lone is not None and lone.key not in pinned:
        yield from rows_of_curve(lone, toggled)
    remaining = [line for line in lines if line != lone and line.key not in pinned]
    devices = dict.fromkeys(line.device for line in remaining)
    if extras.awaits_memory:
        devices[extras.memory_of] = None
    for device in devices:
        curves = [line for line in remaining if line.device == device]
        yield from _of_device(device, curves, toggled, extras.awaits_memory and device == extras.memory_of)


def _of_device(
    device: str | None, lines: Sequence[CurveLine], toggled: frozenset[TrackKey], awaits_memory: bool
) -> Iterator[TimelineRow]:
    sections: dict[TrackKey, list[CurveLine]] = {}
    for line in lines:
        sections.setdefault(section_key(line), []).append(line)
    if not sections and not awaits_memory:
        return
    key = device_key(device)
    folded = is_folded(key, True, toggled)
    kinds = "counters"
    if awaits_memory or any(line.group == MEMORY for line in lines):
        kinds = "counters and memory" if any(line.group not in (MEMORY, LEAD) for line in lines) else "memory"
    label = translate("{curves} of the host", curves=translate(kinds))
    if device:
        label = translate("{curves} ({device})", curves=translate(kinds), device=printable(device))
    yield TimelineRow(
        LineKind.GROUP, key, label, fold_key=key, folded=folded, members=len(lines) + awaits_memory
    )
    if folded:
        return
    for section, members in sections.items():
        if len(members) == 1:
            yield from rows_of_curve(members[0], toggled)
            continue
        shut = is_folded(section, True, toggled)
        label = members[0].group
        yield TimelineRow(
            LineKind.GROUP, section, label, fold_key=section, folded=shut, members=len(members), level=1
        )
        if not shut:
            for line in members:
                yield from rows_of_curve(line, toggled)
    if awaits_memory:
        yield TimelineRow(LineKind.CURVE, (*key, "memory"), MEMORY)


def rows_of_curve(line: CurveLine, toggled: frozenset[TrackKey]) -> Iterator[TimelineRow]:
    """Yield the rows of a curve: one where it is folded."""
    folded = is_folded(line.key, _is_lead(line), toggled)
    rows = 1 if folded else ROWS
    for part in range(rows):
        yield TimelineRow(
            LineKind.CURVE,
            (*line.key, str(part)) if part else line.key,
            "" if part else line.name,
            line.track,
            fold_key=line.key,
            folded=folded,
            curve=line.key,
            part=part,
            parts=rows,
        )
