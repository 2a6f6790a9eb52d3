"""Tables as plain rows, and the rows that events should give by their definition."""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, NamedTuple

from tracetui.reader.events import EventTable
from tracetui.reader.source import TraceFile

UNCONNECTED = (0xFFFFFFFF << 32, (1 << 64) - 1)  #: ids of flow events that belong to no other


class Rows(NamedTuple):
    """All of a table, strings and threads spelled out."""

    slices: list[tuple[Any, ...]]
    hccl: list[tuple[Any, ...]]
    numbered: list[tuple[Any, ...]]
    memory: list[tuple[Any, ...]]
    flows: list[tuple[Any, ...]]
    counters: list[tuple[Any, ...]]
    instants: list[tuple[Any, ...]]
    metadata: list[tuple[Any, ...]]


def rows_of(table: EventTable) -> Rows:
    def text(code: int) -> str | None:
        return None if code == -1 else table.strings[code]

    s, h, f, c, i = table.slices, table.hccl, table.flows, table.counters, table.instants
    return Rows(
        [
            (
                *row[:2],
                table.threads[row[2]],
                text(row[3]),
                text(row[4]),
                row[5],
                row[6],
                *map(text, row[7:10]),
                *row[10:],
            )
            for row in zip(
                s.start.tolist(),
                s.dur.tolist(),
                s.thread.tolist(),
                s.name.tolist(),
                s.category.tolist(),
                s.event.tolist(),
                s.correlation.tolist(),
                s.task_type.tolist(),
                s.direction.tolist(),
                s.stack.tolist(),
                s.python_id.tolist(),
                s.python_parent.tolist(),
            )
        ],
        [
            (*row[:6], *map(text, row[6:]))
            for row in zip(
                h.event.tolist(),
                h.src.tolist(),
                h.dst.tolist(),
                h.group_size.tolist(),
                h.size.tolist(),
                h.count.tolist(),
                h.transport.tolist(),
                h.link.tolist(),
                h.dtype.tolist(),
                h.algorithm.tolist(),
                h.collective.tolist(),
                h.process_group.tolist(),
                h.group_ranks.tolist(),
            )
        ],
        list(zip(table.numbered.event.tolist(), table.numbered.task.tolist())),
        list(
            zip(
                *(
                    getattr(table.memory, column).tolist()
                    for column in ("event", "address", "size", "allocated", "reserved", "device")
                )
            )
        ),
        [
            (time, table.threads[thread], text(category), phase, id_)
            for time, thread, category, phase, id_ in zip(
                f.time.tolist(), f.thread.tolist(), f.category.tolist(), f.phase.tolist(), f.id.tolist()
            )
        ],
        [
            (time, *_series(table, series), value)
            for time, series, value in zip(c.time.tolist(), c.series.tolist(), c.value.tolist())
        ],
        [
            (time, table.threads[thread], text(name), event)
            for time, thread, name, event in zip(
                i.time.tolist(), i.thread.tolist(), i.name.tolist(), i.event.tolist()
            )
        ],
        [(m.name, m.pid, m.tid, m.value) for m in table.metadata],
    )


def _series(table: EventTable, series: int) -> tuple[Any, ...]:
    thread, name, key = table.series[series]
    return table.threads[thread], table.strings[name], key


def read_rows(path: Path, **sizes: int) -> Rows:
    with TraceFile(path, **sizes) as trace:
        return rows_of(trace.read())


def nanoseconds(value: Any, rounding: str = ROUND_DOWN) -> int:
    return int((Decimal(str(value)) * 1000).to_integral_value(rounding))


def expected_rows(text: str) -> Rows:
    """The rows of well-formed events (an array as JSON), one by one from their definition."""
    rows = Rows([], [], [], [], [], [], [], [])
    big: dict[str, int] = {}
    for ordinal, event in enumerate(json.loads(text, parse_float=Decimal)):
        thread = (str(event.get("pid", "")), str(event.get("tid", "")))
        args = event.get("args", {})
        phase = event["ph"]
        if phase == "M":
            rows.metadata.append((event["name"], *thread, str(next(iter(args.values())))))
            continue
        time = nanoseconds(event["ts"])
        if phase == "X":
            name, whole = event["name"], args.get("fullname", "")
            links = [args[key] for key in ("connection_id", "correlation_id", "correlation") if key in args]
            usable = [int(link) for link in links if str(link).isdigit()]
            usable = [link for link in usable if link < 1 << 63 and link not in (0xFFFFFFFF, 1 << 64)]
            rows.slices.append(
                (
                    time,
                    max(0, nanoseconds(event.get("dur", 0), ROUND_HALF_EVEN)),
                    thread,
                    whole if whole.endswith(f"/{name}") else name,
                    event.get("cat") or None,
                    ordinal,
                    usable[0] if usable else -1,
                    args.get("Task Type"),
                    args.get("memcpy direction"),
                    args.get("Call stack") or None,
                    args.get("Python id", -1),
                    args.get("Python parent id", -1),
                )
            )
            if "Task Type" in args and "Task Id" in args and args.get("Model Id", 0xFFFFFFFF) == 0xFFFFFFFF:
                rows.numbered.append((ordinal, args["Task Id"] + (args.get("Batch Id", 0) << 32)))
            if {"transport type", "data_type", "Collective name"} & args.keys():
                is_c10d = "Collective name" in args
                rank_keys = ("Src Rank", "Dst Rank") if is_c10d else ("src rank", "dst rank")
                ranks = [args.get(key, -1) for key in rank_keys]
                rows.hccl.append(
                    (
                        ordinal,
                        *(-1 if rank == 0xFFFFFFFF else rank for rank in ranks),
                        args.get("Group size", -1),
                        args.get("size(Byte)", -1),
                        args.get("In msg nelems" if is_c10d else "count", -1),
                        args.get("transport type"),
                        args.get("link type"),
                        args.get("dtype" if is_c10d else "data_type"),
                        args.get("alg_type"),
                        args.get("Collective name"),
                        args.get("Process Group Name"),
                        args.get("Process Group Ranks"),
                    )
                )
        elif phase in "stf":
            number = int(event["id"])
            if number in UNCONNECTED:
                number = -1
            elif number >= 1 << 63:
                number = -2 - big.setdefault(str(number), len(big))
            rows.flows.append((time, thread, event.get("cat") or None, "stf".index(phase), number))
        elif phase == "C":
            rows.counters.extend(
                (time, thread, event["name"], key, float(value))
                for key, value in args.items()
                if key not in ("acc_id", "PA Link ID", "PCIE ID")
            )
        else:
            rows.instants.append((time, thread, event["name"], ordinal))
            if "Bytes" in args and "Addr" in args:
                keys = ("Addr", "Bytes", "Total Allocated", "Total Reserved", "Device Id")
                rows.memory.append((ordinal, *(args.get(key, -1) for key in keys)))
    return rows
