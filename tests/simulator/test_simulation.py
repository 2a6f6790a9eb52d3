"""The simulated run is causal and its parts agree: nesting, queues, streams and flows."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.simulator.traces import SCENARIO_NAMES, Event, end, events, processes, slices, start


def overlaps(track: list[Event]) -> list[tuple[str, str]]:
    """Pairs of slices of one track of which neither holds the other."""
    found = []
    open_slices: list[Event] = []
    for event in track:
        while open_slices and end(open_slices[-1]) <= start(event):
            open_slices.pop()
        if open_slices and end(event) > end(open_slices[-1]):
            found.append((open_slices[-1]["name"], event["name"]))
        open_slices.append(event)
    return found


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_slices_of_a_thread_nest(scenario: str) -> None:
    for layer in ("Python", "CANN"):
        for track in slices(events(scenario), layer).values():
            frames = [event for event in track if event.get("cat") == "python_function"]
            operators = [event for event in track if event.get("cat") != "python_function"]
            assert overlaps(frames) == [] and overlaps(operators) == []


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_frames_name_their_callers(scenario: str) -> None:
    calls = [event for event in events(scenario) if event.get("cat") == "python_function"]
    by_id = {event["args"]["Python id"]: event for event in calls}

    assert len(by_id) == len(calls)
    for event in calls:
        parent = by_id[event["args"]["Python parent id"]]
        assert start(parent) <= start(event) and end(event) <= end(parent)


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_queue_is_first_in_first_out(scenario: str) -> None:
    queued: dict[str, list[Event]] = defaultdict(list)
    for event in events(scenario):
        if event.get("cat") in ("enqueue", "dequeue"):
            queued[event["cat"]].append(event)

    assert len(queued["enqueue"]) == len(queued["dequeue"])
    for put, taken in zip(queued["enqueue"], queued["dequeue"]):
        assert put["args"] == taken["args"]
        assert start(put) < start(taken)
    assert all(end(first) <= start(second) for first, second in zip(queued["dequeue"], queued["dequeue"][1:]))


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_streams_run_one_task_at_a_time(scenario: str) -> None:
    for stream, tasks in slices(events(scenario), "Ascend Hardware").items():
        alone = [
            task for task in tasks if task["args"]["Task Type"] not in ("SDMA", "Write Value", "Notify Wait")
        ]
        late = [b["name"] for a, b in zip(alone, alone[1:]) if end(a) > start(b)]
        assert late == [], stream


@pytest.mark.parametrize("task_queue", [True, False])
@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_tasks_start_after_their_launch(scenario: str, task_queue: bool) -> None:
    trace = events(scenario, task_queue=task_queue)
    sent = {
        event["id"]: event for event in trace if event.get("cat") == "HostToDevice" and event["ph"] == "s"
    }
    arrived = [event for event in trace if event.get("cat") == "HostToDevice" and event["ph"] == "f"]

    assert len(sent) == len(arrived)
    assert all(start(sent[event["id"]]) < start(event) for event in arrived)


@pytest.mark.parametrize(("scenario", "times"), [("balanced", 1), ("moba", 1), ("mixed", 1), ("mixed", 3)])
def test_flows_pair_up_and_end_on_slices(scenario: str, times: int) -> None:
    trace = events(scenario, times=times)
    begins = {(event["pid"], event["tid"], event["ts"]) for event in trace if event["ph"] == "X"}
    sides: dict[tuple[str, object], list[Event]] = defaultdict(list)
    for event in trace:
        if event["ph"] in "sf":
            sides[event["cat"], event["id"]].append(event)

    for (category, _), flow in sides.items():
        assert sorted(event["ph"] for event in flow) == ["f", "s"]
        for event in flow:
            if event["ph"] == "f" or category != "HostToDevice":
                assert (event["pid"], event["tid"], event["ts"]) in begins


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_every_launch_lies_in_a_dequeue(scenario: str) -> None:
    trace = events(scenario)
    taken = [event for event in trace if event.get("cat") == "dequeue"]
    runtime = next(pid for pid, name in processes(trace).items() if name == "CANN")
    launches = [event for event in trace if event["pid"] == runtime and event["name"] == "Node@launch"]

    assert launches
    for launch in launches:
        assert any(
            start(slot) <= start(launch) and end(launch) <= end(slot) and slot["tid"] == launch["tid"]
            for slot in taken
        )


def test_connections_name_one_node_each() -> None:
    connections = [
        event["args"]["connection_id"]
        for track in slices(events("mixed"), "CANN").values()
        for event in track
    ]

    assert len(set(connections)) == len(connections)


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_overlap_rows_fill_the_window(scenario: str) -> None:
    rows = slices(events(scenario), "Overlap Analysis")
    computing, exposed, free = (sum(end(row) - start(row) for row in rows[tid]) for tid in (0, 2, 3))
    busy = [row for tid in (0, 1) for row in rows[tid]]

    assert computing + exposed + free == max(map(end, busy)) - min(map(start, busy))
