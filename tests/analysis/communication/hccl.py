"""Collectives and the tasks of their planes, as events: what the tests of this package build traces of."""

from __future__ import annotations

from typing import Any

from tests.analysis.machine import GROUPS, Events, us
from tests.synthetic import piece, thread

NONE = 4294967295  #: no rank
WIDTH = 10  #: threads of a group and its planes


def group(number: int, planes: int = 3) -> Events:
    """The metadata of a group: its thread, then those of its planes. Group 0 has its own from `npu`."""
    first = number * WIDTH
    named = [thread(GROUPS, first, f"Group {number} Communication")] if number else []
    named += [thread(GROUPS, first + 1 + plane, f"Plane {plane}") for plane in range(planes)]
    return [event for events in named for event in events]


def operation(
    start: int, dur: int, name: str = "hcom_allReduce__271_0_1", number: int = 0, **args: Any
) -> dict[str, Any]:
    """A collective of a group, times in ns."""
    fields = {"data_type": "FP32", "alg_type": "MESH-RING", "count": 1024, **args}
    return piece(GROUPS, number * WIDTH, name, us(start), us(dur), **fields)


def plane_task(
    start: int,
    dur: int,
    name: str = "Notify_Wait",
    plane: int = 1,
    peer: int = 1,
    number: int = 0,
    size: int = 0,
    **args: Any,
) -> dict[str, Any]:
    """A task of a plane; a wait for a peer, if nothing else is said."""
    fields = {
        "src rank": 0,
        "dst rank": peer,
        "transport type": "LOCAL" if name == "Notify_Wait" else "SDMA",
        "size(Byte)": size,
        "link type": "INVALID_TYPE" if name.startswith("Notify") else "HCCS",
        **{key.replace("_", " "): value for key, value in args.items()},
    }
    return piece(GROUPS, number * WIDTH + 1 + plane, name, us(start), us(dur), **fields)
