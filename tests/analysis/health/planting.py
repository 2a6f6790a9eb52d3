"""Defects that recorders make, put into the events of real traces; each returns what a file would hold."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

Event = dict[str, Any]
_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}


class Events:
    """The events of a trace, and which of them are tasks of a device."""

    def __init__(self, events: list[Event]) -> None:
        self.all = events
        self.hardware = {
            event["pid"]
            for event in events
            if event.get("ph") == "M" and (event.get("args") or {}).get("name") == "Ascend Hardware"
        }
        self.tasks = sorted(filter(self.is_task, events), key=time)

    @classmethod
    def read(cls, path: Path) -> Events:
        """The events of a file, plain or gzip."""
        read = gzip.open if path.suffix == ".gz" else open
        with read(path, "rt", encoding="utf-8") as file:
            document = json.load(file)
        return cls(document if isinstance(document, list) else document["traceEvents"])

    def is_task(self, event: Event) -> bool:
        """Whether an event is a task of a device."""
        if event.get("ph") != "X":
            return False
        return event["pid"] in self.hardware or str(event.get("cat")).lower() in _DEVICE

    def without(self, dropped: Callable[[Event], bool]) -> list[Event]:
        """All events but some of the tasks."""
        return [event for event in self.all if not (self.is_task(event) and dropped(event))]

    def at(self, share: float) -> float:
        """The start of the task after that share of all tasks."""
        return time(self.tasks[min(int(len(self.tasks) * share), len(self.tasks) - 1)])

    def changed(self, change: Callable[[Event], Event]) -> list[Event]:
        """All events that have a time, each as `change` makes a copy of it."""
        return [change(dict(e)) if "ts" in e and e.get("ph") != "M" else e for e in self.all]


def time(event: Event) -> float:
    """When an event starts, in µs."""
    return float(event["ts"])


def moved(event: Event, us: float) -> Event:
    """An event at another time, written as it was."""
    at = time(event) + us
    return {**event, "ts": f"{at:.3f}" if isinstance(event["ts"], str) else at}


def number(event: Event) -> Any:
    """The id that a task and its launch share."""
    return (event.get("args") or {}).get("correlation")


def halves(events: Events) -> tuple[list[Event], list[Event]]:
    """The events before the step in the middle begins, and those from it on.

    Tasks go with their launch, those that were launched before the recording where they begin.
    """
    steps = sorted(
        time(e)
        for e in events.all
        if str(e["name"]).startswith("ProfilerStep#") and e.get("cat") == "user_annotation"
    )
    middle = steps[len(steps) // 2]
    calls = [e for e in events.all if e.get("ph") == "X" and not events.is_task(e)]
    launched = {number(e): time(e) < middle for e in calls if number(e) is not None}

    def is_early(event: Event) -> bool:
        is_before = time(event) < middle
        return launched.get(number(event), is_before) if events.is_task(event) else is_before

    untimed = [e for e in events.all if "ts" not in e or e.get("ph") == "M"]
    timed = [e for e in events.all if "ts" in e and e.get("ph") != "M"]
    early = [e for e in timed if is_early(e)]
    return untimed + early, untimed + [e for e in timed if not is_early(e)]


def lose(events: Events, first: float, last: float) -> list[Event]:
    """Without the tasks from one share of them to another."""
    begin, end = events.at(first), events.at(last)
    return events.without(lambda e: begin <= time(e) < end or (last >= 1 and time(e) >= begin))


def lose_at_random(events: Events, share: float) -> list[Event]:
    """Without a share of the tasks, here and there."""
    chance = random.Random(1)
    return events.without(lambda _: chance.random() < share)


def lose_copies(events: Events, count: int) -> list[Event]:
    """Without some copies that follow each other on their stream, and what is between them."""
    copies = [e for e in events.tasks if "MEMCPY" in str(e["name"])]
    middle = [e for e in events.tasks if e["tid"] == copies[0]["tid"]]
    first = middle.index(copies[len(copies) // 2])
    gone = {id(event) for event in middle[first : first + count]}
    return events.without(lambda e: id(e) in gone)


def lose_step(events: Events, which: int) -> list[Event]:
    """Without the tasks that one of the steps launched."""
    steps = sorted(
        (e for e in events.all if e.get("ph") == "X" and str(e["name"]).startswith("ProfilerStep#")), key=time
    )
    step = [e for e in steps if str(e.get("cat")) != "gpu_user_annotation"][which]
    end = time(step) + float(step["dur"])
    launched = {
        number(e)
        for e in events.all
        if e.get("ph") == "X" and not events.is_task(e) and time(step) <= time(e) < end
    }
    return events.without(lambda e: number(e) in launched - {None})


def lose_graphs(events: Events, places: Collection[int], kept: float = 0.0) -> list[Event]:
    """Without the kernels of some launches of graphs, or without those after the first ones."""
    launches = sorted((e for e in events.all if "GraphLaunch" in str(e.get("name"))), key=time)
    dropped: set[int] = set()
    for place in places:
        graph_tasks = [e for e in events.tasks if number(e) == number(launches[place])]
        dropped |= {id(event) for event in graph_tasks[int(len(graph_tasks) * kept) :]}
    return [event for event in events.all if id(event) not in dropped]


def lose_earlier_work(events: Events) -> list[Event]:
    """Without the tasks that were launched before the recording."""
    launched = {number(e) for e in events.all if e.get("ph") == "X" and not events.is_task(e)}
    return events.without(lambda e: number(e) not in launched)


def shift_device(events: Events, us: float) -> list[Event]:
    """With a clock of the device that is apart from the host's."""
    pids = {event["pid"] for event in events.tasks}
    return events.changed(lambda e: moved(e, us) if e["pid"] in pids else e)


def set_clock(events: Events, us: float, share: float = 0.5) -> list[Event]:
    """With a clock that leaps after a share of the time."""
    times = [time(e) for e in events.all if e.get("ph") == "X"]
    at = min(times) + (max(times) - min(times)) * share
    return events.changed(lambda e: moved(e, us) if time(e) >= at else e)


def overlap(events: Events) -> list[Event]:
    """With tasks of the stream with the most kernels that last into the next ones."""
    computing = [e for e in events.tasks if not events.hardware or "Core" in _title(e)]
    streams = Counter((e["pid"], e["tid"]) for e in computing)
    stream_tasks = [e for e in computing if (e["pid"], e["tid"]) == streams.most_common(1)[0][0]]
    longer = {
        id(a): max(time(b) - time(a) + float(b["dur"]) * 0.7, float(a["dur"]))
        for a, b in zip(stream_tasks[9::3], stream_tasks[10::3])
    }
    return [{**e, "dur": longer[id(e)]} if id(e) in longer else e for e in events.all]


def _title(event: Event) -> str:
    return str((event.get("args") or {}).get("Task Type")).replace("_", " ").title()


def share_ids(events: Events, category: str, count: int = 30) -> list[Event]:
    """With one id for many arrows of a category."""
    starts = sorted((e for e in events.all if e.get("ph") == "s" and e.get("cat") == category), key=time)
    shared = {event["id"] for event in starts[10 : 10 + count]}
    one = starts[10]["id"]
    return [{**e, "id": one} if e.get("cat") == category and e.get("id") in shared else e for e in events.all]


def share_launch(events: Events, key: str, count: int = 20) -> list[Event]:
    """With the id of one launch for many kernels."""
    launched = [
        e
        for e in events.tasks
        if key in (e.get("args") or {}) and "Core" in _title(e) + ("" if events.hardware else "Core")
    ]
    shared = {id(event) for event in launched[10 : 10 + count]}
    one = launched[10]["args"][key]
    return [{**e, "args": {**e["args"], key: one}} if id(e) in shared else e for e in events.all]


def never_close(events: Events, category: str, count: int = 25) -> list[Event]:
    """With calls of the busiest thread that end when it does."""
    calls = [e for e in events.all if e.get("ph") == "X" and e.get("cat") == category]
    threads = Counter((e["pid"], e["tid"]) for e in calls)
    thread_calls = sorted(
        (e for e in calls if (e["pid"], e["tid"]) == threads.most_common(1)[0][0]), key=time
    )
    stop = max(
        time(e) + float(e["dur"])
        for e in events.all
        if e.get("ph") == "X" and (e["pid"], e["tid"]) == (thread_calls[0]["pid"], thread_calls[0]["tid"])
    )
    third = len(thread_calls) // 3
    open_ones = {id(e) for e in thread_calls[third : 2 * third : max(1, third // count)][:count]}
    return [{**e, "dur": stop - time(e)} if id(e) in open_ones else e for e in events.all]


def join_runs(events: Events) -> list[Event]:
    """With the same program run again later, in other processes."""
    times = [time(e) for e in events.all if e.get("ph") == "X"]
    later = max(times) - min(times) + 1e6

    def again(event: Event) -> Event:
        event = dict(event)
        if isinstance(event.get("pid"), int) and event["pid"] > 64:
            event["pid"] += 100_000
        if isinstance(event.get("id"), int):
            event["id"] += 10_000_000
        if isinstance(number(event), int):
            event["args"] = {**event["args"], "correlation": number(event) + 1_000_000}
        return moved(event, later) if "ts" in event and event.get("ph") != "M" else event

    return events.all + [again(event) for event in events.all]
