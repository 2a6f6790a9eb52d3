"""Parts put together, wherever the reading began: the rows of their events, in the order of the file."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.reader.rows import Rows, expected_rows, rows_of
from tracetui.reader.columns import TableBuilder
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.extract import PartReader

Event = dict[str, Any]
ARGS: list[Event] = [{}, {"Task Type": "a"}, {"Call stack": "s", "connection_id": 7}]


def drawn(chooser: random.Random) -> list[Event]:
    """Some events of all kinds: at few times, in few threads, with args or without."""
    events: list[Event] = []
    for number in range(chooser.randrange(1, 14)):
        phase, args = chooser.choice("XXBBEECsiM?!"), chooser.choice(ARGS)
        members: dict[str, Event] = {
            "X": {"dur": chooser.randrange(4), "args": args, "cat": chooser.choice(["", "a", "b"])},
            "B": {"args": args},
            "C": {"args": {"v": number, "a": 1}},
            "s": {"id": number, "cat": "c"},
            "i": {"args": {"Bytes": number, "Addr": number}},
            "M": {"name": "process_name", "args": {"name": f"p{number}"}},
        }
        time = str(chooser.randrange(-2, 6))
        at = {"ph": phase, "pid": 1, "tid": chooser.randrange(2), "ts": time, "name": "abc"[number % 3]}
        events.append({**at, **members.get(phase, {})})
    return events


def paired(events: list[Event]) -> tuple[list[Event], list[str]]:
    """The same with each begin as long as it is open, and what is to be said of them."""
    stacks: defaultdict[int, list[Event]] = defaultdict(list)
    of_time = sorted((event for event in events if event["ph"] in "BE"), key=lambda event: int(event["ts"]))
    durs: dict[int, int] = {}
    unopened = 0
    for event in of_time:
        if event["ph"] == "B":
            stacks[event["tid"]].append(event)
        elif stacks[event["tid"]]:
            begin = stacks[event["tid"]].pop()
            durs[id(begin)] = int(event["ts"]) - int(begin["ts"])
        else:
            unopened += 1
    latest = max(
        (int(event["ts"]) + event.get("dur", 0) for event in events if event["ph"] in "XBE"), default=0
    )
    unclosed = [event for stack in stacks.values() for event in stack]
    durs.update((id(event), latest - int(event["ts"])) for event in unclosed)
    nothing = {"ph": "C", "ts": "0", "name": "", "args": {}}
    whole = [
        {**event, "ph": "X", "dur": durs[id(event)]}
        if event["ph"] == "B"
        else nothing
        if event["ph"] in "E?!"
        else event
        for event in events
    ]
    problems = (
        [f"begin events without an end: {len(unclosed)}, drawn to the end of the trace"] if unclosed else []
    )
    return whole, problems + ([f"end events without a begin: {unopened}, left out"] if unopened else [])


def built(parts: list[list[Event]], begin: int, document: Event) -> tuple[EventTable, list[int]]:
    """The table of parts of which those from `begin` on are read first; and the places of what is read."""
    builder = TableBuilder()
    places: list[int] = []
    first = [sum(map(len, parts[:number])) for number in range(len(parts))]
    for number in [*range(begin, len(parts)), *range(begin)]:
        if number == 0 and begin:
            builder.go_to_front()
        reader = PartReader()
        reader.add([dict(event) for event in parts[number]], len(places), lambda: b"")
        places += range(first[number], first[number] + len(parts[number]))
        builder.add(reader.finish())
    report = ReadReport(bytes=0, text_bytes=0, events=builder.events, skipped=4, warnings=("w",))
    unknown = Counter(event["ph"] for part in parts for event in part if event["ph"] in "?!")
    assert (builder.events, builder.skipped) == (len(places), sum(unknown.values()))
    assert builder.unknown_phases == unknown
    return builder.build("path", document, report, last=True), places


@pytest.mark.parametrize("seed", range(40))
def test_a_table_has_the_events_of_its_parts_wherever_the_reading_began(seed: int) -> None:
    chooser = random.Random(seed)
    events = drawn(chooser)
    cuts = sorted(chooser.choices(range(len(events) + 1), k=2))
    parts = [events[start:end] for start, end in zip([0, *cuts], [*cuts, len(events)])]
    base = chooser.choice([0, 7])
    table, places = built(parts, chooser.randrange(3), {"baseTimeNanoseconds": base})
    whole, problems = paired(events)
    expected = expected_rows(json.dumps(whole))
    tables = (expected.slices, expected.flows, expected.counters, expected.instants)
    moved = max(base, -min((row[0] for rows in tables for row in rows), default=0))  # to 0 where it is below
    read = {place: ordinal for ordinal, place in enumerate(places)}
    assert rows_of(table) == Rows(
        slices=[(row[0] + moved, *row[1:5], read[row[5]], *row[6:]) for row in expected.slices],
        hccl=[],
        numbered=[],
        memory=[(read[row[0]], *row[1:]) for row in expected.memory],
        flows=[(row[0] + moved, *row[1:]) for row in expected.flows],
        counters=[(row[0] + moved, *row[1:]) for row in expected.counters],
        instants=[(row[0] + moved, *row[1:3], read[row[3]]) for row in expected.instants],
        metadata=expected.metadata,
    )
    assert (table.report.warnings, table.report.skipped) == (("w", *problems), 4)


def test_what_is_beyond_reason_is_skipped_as_well_and_said_last() -> None:
    slices = [{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": str(ts), "dur": 1} for ts in range(5)]
    far, open_ = {**slices[0], "ts": "4" * 15}, {**slices[0], "ph": "B"}
    table, _ = built([[*slices, far, open_]], 0, {})
    assert len(table.slices.start) == 6
    open_said = "begin events without an end: 1, drawn to the end of the trace"
    assert table.report.warnings == ("w", open_said, "events with times beyond reason: 1, skipped")
    assert table.report.skipped == 5
