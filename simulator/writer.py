"""One Ascend trace file from a recording: which events, in which order, as which bytes.

The file is one line: the framework's events (operators as they ended, then the task queue, metadata, Python
frames as they returned), a junction without a space, all msprof layers sorted by time, and the flows from
operators to the device. A recording can be repeated, with times, ids and step numbers moved on, so that a
file of any size takes the memory of one repetition.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from operator import add
from typing import BinaryIO

from simulator.cells import CountedUnit, Event, NumberCell
from simulator.framework import FrameworkLayer
from simulator.intervals import Interval, union, without
from simulator.msprof import MsprofLayers, Timed
from simulator.recording import AICORE, AICPU, Recording

_ENCODER = json.JSONEncoder(ensure_ascii=False)
PAUSE = 1_000_000  #: ns between two repetitions


class Template:
    """Events as text with a place for every number that changes from one repetition to the next."""

    def __init__(self, events: Iterable[Event]) -> None:
        values: list[int] = []
        self._clocks: list[CountedUnit] = []

        clocks = self._clocks

        def text(event: Event) -> str:
            members = []
            for key, value in event.items():
                kind = type(value)
                if kind is str:
                    members.append(_member(key, value))
                elif kind is int or kind is float:
                    members.append(_key(key) + repr(value))
                elif kind is NumberCell:
                    rendered, number, clock = value
                    values.append(number)
                    clocks.append(clock)
                    members.append(_key(key) + rendered)
                else:
                    members.append(_key(key) + (text(value) if kind is dict else _ENCODER.encode(value)))
            return "{" + ", ".join(members) + "}"

        self._text = ", ".join(map(text, events))
        self._first = values

    def repeat(self, repetitions: range, strides: dict[CountedUnit, int]) -> Iterator[str]:
        """Return the text of each of some consecutive repetitions; nothing where there are no events."""
        if not self._text:
            return
        values = self._first
        if repetitions != range(1):
            moves = [strides[clock] for clock in self._clocks]
            values = [value + move * repetitions.start for value, move in zip(values, moves)]
        for place in repetitions:
            if place > repetitions.start:
                values = list(map(add, values, moves))
            yield self._text % tuple(values)


class TraceWriter:
    """Writes a recording as a trace_view.json."""

    def __init__(self, recording: Recording, level: int = 2, counters_ns: int = 10_000_000) -> None:
        self._recording = recording
        self._level = level
        self._counters_ns = counters_ns
        self._framework_layer = FrameworkLayer(recording)
        self._layers = MsprofLayers(recording, level)
        ends = [recording.end, *(task.end for task in recording.tasks)]
        period = max(ends) - recording.start + PAUSE
        self._period = period - period % 1000
        self._strides = {
            CountedUnit.MICROSECONDS: self._period // 1000,
            CountedUnit.NANOSECONDS: self._period,
            CountedUnit.CONNECTION: recording.connections,
            CountedUnit.COLLECTIVE_FLOW: recording.connections << 32,
            CountedUnit.BATCH: 1,
            CountedUnit.TASK_FLOW: 1 << 32,
            CountedUnit.CORRELATION: recording.correlations,
            CountedUnit.PYTHON: recording.python_ids - len(recording.roots),
            CountedUnit.SEQUENCE: recording.sequences,
            CountedUnit.STEP: len(recording.steps),
            CountedUnit.COLLECTIVE: len(recording.collectives),
        }

    def repetitions(self, size: int) -> int:
        """Return how many repetitions make a file of about `size` bytes."""
        bytes_a_run = sum(len(text.encode()) for text in self._pieces(1))
        return max(1, round(size / bytes_a_run))

    def write(self, file: BinaryIO, times: int = 1) -> int:
        """Write the recording `times` times over; returns the number of bytes."""
        size = 0
        for text in self._pieces(times):
            encoded = text.encode()
            file.write(encoded)
            size += len(encoded)
        return size

    def _pieces(self, times: int) -> Iterator[str]:
        yield "["
        yield from _separated(self._framework(times))
        yield ","  # the producer appends its second array here: the only comma without a space
        yield from _separated(self._msprof(times))
        yield ", "
        yield from _separated(Template(self._framework_layer.launches()).repeat(range(times), self._strides))
        yield "]"

    def _framework(self, times: int) -> Iterator[str]:
        layer = self._framework_layer
        for events in (layer.operators(), layer.dequeues(), layer.enqueues()):
            yield from Template(events).repeat(range(times), self._strides)
        yield from self._once(layer.metadata())
        yield from Template(layer.pairs()).repeat(range(times), self._strides)
        yield from Template(layer.calls(roots=False)).repeat(range(times), self._strides)
        roots = layer.calls(roots=True)
        for event in roots:
            event["dur"] = round(event["dur"] + (times - 1) * self._period / 1000, 3)
        yield from self._once(roots)
        yield from Template(layer.collections()).repeat(range(times), self._strides)
        yield from self._once(layer.collections_metadata())

    def _msprof(self, times: int) -> Iterator[str]:
        layers, recording = self._layers, self._recording
        yield from self._once(layers.metadata())
        start, end = recording.start, recording.end + (times - 1) * self._period
        first, last = layers.profiling(start, end)
        frequency = 14, "AI Core Freq"
        yield from self._once([layers.counter(*frequency, start - 3000, {"MHz": 1800})[1]])
        if self._level:
            yield from self._once([first])
        timed = [*layers.tasks(), *layers.collectives(), *layers.apis(), *self._counters()]
        rows, window = self._overlap()
        timed += rows
        bridge = layers.overlap(3, "Free", window[1], window[0] + self._period)
        if times > 1:
            bridged = Template(_by_time([*timed, bridge]))
            yield from bridged.repeat(range(times - 1), self._strides)
        yield from Template(_by_time(timed)).repeat(range(times - 1, times), self._strides)
        if self._level:
            yield from self._once([last])
        sample_time = end + 4000 - (end + 4000) % 1000
        event = layers.counter(*frequency, sample_time, {"MHz": 800})[1]
        event["ts"] = str(sample_time // 1000)
        yield from self._once([event])

    def _once(self, events: list[Event]) -> Iterator[str]:
        return Template(events).repeat(range(1), self._strides)

    def _overlap(self) -> tuple[list[Timed], Interval]:
        """Return the rows of the Overlap Analysis and the window that they fill."""
        compute = union(
            [(task.start, task.end) for task in self._recording.tasks if task.type in AICORE + AICPU]
        )
        communication = union([(operation.start, operation.end) for operation in self._recording.collectives])
        busy = union(compute + communication)
        window = busy[0][0], busy[-1][1]
        kinds = (compute, communication, without(communication, compute), without([window], busy))
        names = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
        rows = [
            self._layers.overlap(tid, name, start, end)
            for tid, (name, intervals) in enumerate(zip(names, kinds))
            for start, end in intervals
        ]
        return rows, window

    def _counters(self) -> list[Timed]:
        layers, recording = self._layers, self._recording
        timed = []
        for index, time in enumerate(range(recording.start + 240, recording.end, self._counters_ns)):
            busy = index % 3
            for name, field, value in (("Read", "Read(MB/s)", 8100.5), ("Write", "Write(MB/s)", 5400.25)):
                timed.append(layers.counter(17, f"HBM 0/{name}", time, {field: value * busy}))
            timed.append(layers.counter(22, "QoS OTHERS", time + 66_168, {"value": 1908 * busy}))
            timed.append(
                layers.counter(20, "L2 Buffer Bw Level", time + 70_000, {"L2 Buffer Bw Level": busy})
            )
        return timed


# Names and keys repeat.


@cache
def _quoted(text: str) -> str:
    """Return a string of a template."""
    return _ENCODER.encode(text).replace("%", "%%")


@cache
def _key(text: str) -> str:
    return _quoted(text) + ": "


@cache
def _member(key: str, text: str) -> str:
    return _key(key) + _quoted(text)


def _by_time(timed: list[Timed]) -> Iterator[Event]:
    return (event for _, event in sorted(timed, key=lambda pair: pair[0]))


def _separated(texts: Iterable[str]) -> Iterator[str]:
    for index, text in enumerate(texts):
        if index:
            yield ", "
        yield text
