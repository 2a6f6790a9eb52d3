"""Which tracks there are, in the order in which they are read, and which track holds each slice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from tracetui.arrays import Int32s, Smalls
from tracetui.reader.events import EventTable
from tracetui.trace.dialects.dialect import ProcessPlace
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import distinct_strings
from tracetui.trace.model import DEVICE_LAYERS, MOST_DEVICES, Family, Layer, TraceKind, Track
from tracetui.trace.owners import Process
from tracetui.trace.places import process_place
from tracetui.trace.processes import Processes

#: The categories that decide, numbered from 1; 0 is every other.
_CATEGORY_NUMBERS = {name: number for number, name in enumerate(KNOWN.categories.places, 1)}
_CATEGORY_NAMES = ("", *KNOWN.categories.places)
_LONGEST = max(map(len, KNOWN.categories.places))


def place_slices(table: EventTable, processes: Processes) -> tuple[list[Track], Int32s, int]:
    """Return the tracks that hold slices, in reading order without places, and int32[n], that of each slice.

    The last number is of the devices beyond `MOST_DEVICES`, whose tracks are shown as those of no device.

    Host to device; within a layer by the processes' sort index, then device, then thread. Of one thread the
    frames stand above the operators: a frame calls the operators under it, these call the runtime, so that a
    moment reads downwards as the call it was.
    """
    slices, width = table.slices, len(_CATEGORY_NAMES)
    keys = _category_numbers(table.strings).take(slices.category, mode="wrap")  # half the time of an index
    keys += slices.thread * np.int32(width)
    counts = np.bincount(keys, minlength=len(table.threads) * width)
    members: dict[Track, list[int]] = {}
    for key in np.flatnonzero(counts).tolist():
        thread, category = divmod(key, width)
        track = _track_of(table.threads[thread], _CATEGORY_NAMES[category], processes)
        members.setdefault(track, []).append(key)
    surplus = list(dict.fromkeys(track.device for track in members if track.device))[MOST_DEVICES:]
    if surplus:
        members = _without_devices(members, frozenset(surplus))
    ordered = sorted(members, key=lambda track: _reading_order(track, processes[track.pid]))
    track_of_key = np.empty(len(counts), np.int32)
    for index, track in enumerate(ordered):
        track_of_key[members[track]] = index
    return ordered, track_of_key.take(keys, mode="wrap"), len(surplus)


def _without_devices(members: dict[Track, list[int]], devices: frozenset[str]) -> dict[Track, list[int]]:
    """Return the tracks and what is on each, those of some devices as tracks of no device."""
    keys_of_track: dict[Track, list[int]] = {}
    for track, keys in members.items():
        surplus = track.device in devices
        drawn_track = replace(track, layer=Layer.OTHER, device=None) if surplus else track
        keys_of_track.setdefault(drawn_track, []).extend(keys)
    return keys_of_track


def place_counters(table: EventTable, processes: Processes) -> tuple[list[Track], Smalls]:
    """Return the counter tracks, in reading order, and the one of each series, [series]."""
    tracks: list[Track] = []
    for thread, name, key in table.series:
        pid, tid = table.threads[thread]
        process = processes[pid]
        title = table.strings[name] if key in ("value", "") else f"{table.strings[name]} · {key}"
        device = processes.device_of(pid)
        tracks.append(Track(-1, Layer.COUNTER, Family.OTHER, process.title, title, device, pid, tid))
    order = sorted(
        range(len(tracks)), key=lambda index: _reading_order(tracks[index], processes[tracks[index].pid])
    )
    track_of_series = np.empty(len(tracks), np.int16 if len(tracks) <= 1 << 15 else np.int32)
    track_of_series[order] = np.arange(len(tracks))
    return [tracks[index] for index in order], track_of_series


def trace_kind(
    strings: list[str], categories: Iterable[Int32s], processes: Processes, layers: set[Layer]
) -> TraceKind:
    """Return which producers wrote the trace, by names only they use; `categories` are columns of such."""
    if not KNOWN.processes.gpu.isdisjoint(process.known_name for process in processes.by_pid.values()):
        return TraceKind.GPU
    if not KNOWN.processes.ascend.isdisjoint(process.known_name for process in processes.by_pid.values()):
        return TraceKind.ASCEND
    texts = {text for column in categories for text in distinct_strings(strings, column)}
    labels = {process.label for process in processes.by_pid.values()}
    if texts & KNOWN.processes.ascend_categories or labels & KNOWN.processes.unnumbered_devices.keys():
        return TraceKind.ASCEND
    if Layer.RUNTIME in layers or any(text.lower() in KNOWN.categories.activities for text in texts):
        return TraceKind.GPU
    return TraceKind.CHROME


def _track_of(thread: tuple[str, str], category: str, processes: Processes) -> Track:
    pid, tid = thread
    process = processes[pid]
    name = process.thread_names.get(tid, "")
    place = process_place(process.known_name, process.label, name, category, process.marks)
    device = _device(place, process, processes) if place.layer in DEVICE_LAYERS else None
    title = name or (f"Stream {tid}" if place.layer == Layer.DEVICE else f"Thread {tid}")
    return Track(-1, place.layer, place.family, process.title, title, device, pid, tid)


def _device(place: ProcessPlace, process: Process, processes: Processes) -> str:
    """Return the label of the process; a file that was cut may lack it."""
    device = processes.device_of(process.pid)
    if device is not None:
        return device
    if process.known_name in KNOWN.processes.ascend or place.layer != Layer.DEVICE:
        return processes.only_device() or "NPU"
    return f"GPU {process.pid}"


def _reading_order(track: Track, process: Process) -> tuple[Any, ...]:
    sort_index = process.thread_sort.get(track.tid, float("inf"))
    thread = (sort_index, _natural(track.tid), track.family, _natural(track.name))
    return (track.layer, process.sort_index, _natural(track.device or ""), _natural(track.pid), *thread)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts "Stream 10" after "Stream 2"."""
    parts = re.findall(r"([0-9]{1,18})|([^0-9]+)", text)
    return tuple((0, int(digits), "") if digits else (1, 0, rest) for digits, rest in parts)


def _category_numbers(strings: list[str]) -> Int32s:
    """Return the number of each string as a category, and last 0 for none."""
    numbers = [_CATEGORY_NUMBERS.get(text.lower(), 0) if len(text) <= _LONGEST else 0 for text in strings]
    return np.array([*numbers, 0], np.int32)
