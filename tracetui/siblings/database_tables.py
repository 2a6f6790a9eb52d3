"""The tables that text exports have beside the trace, read from a database in the same formats and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Floats, Int32s, Int64s
from tracetui.databases.names import is_database
from tracetui.databases.opening import Refused
from tracetui.databases.tables import UNKNOWN, Database
from tracetui.language import state
from tracetui.siblings.database import STEPS, sums_beside
from tracetui.siblings.formats import (
    KERNEL_DETAILS,
    MEMORY_RECORD,
    MODULE_MEMORY,
    OPERATOR_MEMORY,
    STEP_TIMES,
)
from tracetui.siblings.tables import (
    LEAST_DURATION,
    Format,
    SiblingTable,
    StringColumn,
    ValueKind,
    without_quotes,
)

#: Counters whose names differ in text exports.
_TOTALS = {"aic_total_time": "aicore_time(us)", "aiv_total_time": "aiv_time(us)"}
_APPLICATION = "app"  #: the type of the memory of the process that is profiled
_NODE = "cann::"  #: what names of the graph engine's allocations begin with in text exports
_STEP_COLUMNS = {
    **{column.key: column.key for column in STEP_TIMES.columns if column.kind is ValueKind.DURATION},
    "exclude_receive": "communication_not_overlapped_and_exclude_receive",
}


def table_in_database(trace: Path, format_: Format) -> SiblingTable | None:
    """Return a table of a trace that is a database; None where it is none, or has no such table."""
    if not is_database(trace) or format_.name not in _MAKERS:
        return None
    if format_ is STEP_TIMES:
        sums = sums_beside(trace)
        return None if sums is None else _read_table(sums, format_, _step_times)
    return _read_table(trace, format_, _MAKERS[format_.name])


def has_in_database(trace: Path, format_: Format) -> bool:
    """Return whether a trace is a database with what such a table tells.

    The step times are not looked for: they stand in the database beside it.
    """
    if not is_database(trace) or format_.name not in _SQL_TABLES:
        return False
    try:
        with Database(trace) as database:
            return any(database.count(name) for name in _SQL_TABLES[format_.name]) or (
                format_ is MEMORY_RECORD and _application_memory(database) is not None
            )
    except (Refused, OSError):
        return False


_Maker = Callable[[Database, Format], Optional[SiblingTable]]


def _read_table(path: Path, format_: Format, make: _Maker) -> SiblingTable | None:
    """Return what is made of the database at a path; a table without rows where that cannot be read."""
    try:
        with Database(path) as database:
            table = make(database, format_)
            problems = [*database.table_problems.values()]
    except (Refused, OSError) as error:
        return _filled_table(
            format_, 0, {}, {}, {}, (state("{name} {refusal}", name=path.name, refusal=error),)
        )
    sentences = tuple(state("{run}: {note}", run=path.name, note=problem) for problem in problems)
    if table is None:
        return _filled_table(format_, 0, {}, {}, {}, sentences) if sentences else None
    return SiblingTable(table.rows, table.numbers, table.floats, table.texts, (*table.problems, *sentences))


def _filled_table(
    format_: Format,
    rows: int,
    numbers: dict[str, Int64s],
    floats: dict[str, Floats],
    texts: dict[str, StringColumn],
    problems: tuple[str, ...] = (),
) -> SiblingTable:
    """Return a table with all columns of its format; the values of columns that are not given are unknown."""
    for column in format_.columns:
        if column.kind is ValueKind.TEXT:
            texts.setdefault(column.key, StringColumn(np.full(rows, -1, np.int32), []))
        elif column.kind is ValueKind.NUMBER:
            floats.setdefault(column.key, np.full(rows, np.nan))
        else:
            numbers.setdefault(column.key, np.full(rows, -1, np.int64))
    return SiblingTable(rows, numbers, floats, texts, problems)


class _Strings:
    """The texts of STRING_IDS, looked up by the ids that a table has."""

    def __init__(self, database: Database, table: str = "STRING_IDS", text: str = "value") -> None:
        self._text: dict[int, str] = {}
        for rows in database.rows(table, ["id", text], [text]):
            if text in rows:
                for id_, cell in zip(rows.numbers("id").tolist(), rows.texts(text)):
                    if cell is not None:
                        self._text.setdefault(id_, cell)

    def text(self, id_: int) -> str | None:
        return self._text.get(id_)

    def column(self, ids: Int64s) -> StringColumn:
        """Return a column of texts; "" and "N/A" are no text: -1."""
        different, place = np.unique(ids, return_inverse=True)
        code_by_text: dict[str, int] = {}
        codes = []
        for id_ in different.tolist():
            text = without_quotes(self._text.get(id_, ""))
            codes.append(-1 if text in ("", "N/A") else code_by_text.setdefault(text, len(code_by_text)))
        code: Int32s = np.array([*codes, -1], np.int32)[place]
        return StringColumn(code, list(code_by_text))


def _columns(database: Database, table: str, names: Sequence[str]) -> dict[str, Int64s] | None:
    """Return whole columns of a table; None where there is no such table, or nothing in it."""
    parts = list(database.rows(table, names))
    if not parts:
        return None
    return {name: np.concatenate([rows.numbers(name) for rows in parts]) for name in names}


def _clamp_unknown(column: Int64s) -> Int64s:
    return np.where(column < 0, -1, column)


def _devices(column: Int64s) -> StringColumn:
    """Return the devices as text exports write them: NPU:0."""
    different, place = np.unique(column, return_inverse=True)
    labels = [(f"NPU:{device}" if device >= 0 else None) for device in different.tolist()]
    texts = [text for text in labels if text is not None]
    codes = np.array([texts.index(text) if text is not None else -1 for text in labels] or [-1], np.int32)
    return StringColumn(codes[place], texts)


def _operator_memory(database: Database, format_: Format) -> SiblingTable | None:
    names = (
        *("name", "size", "allocationTime", "releaseTime", "duration"),
        *("allocationTotalAllocated", "deviceId"),
    )
    columns = _columns(database, "OP_MEMORY", names)
    if columns is None:
        return None
    is_allocation = (columns["allocationTime"] > 0) & (columns["size"] >= 0)
    columns = {name: column[is_allocation] for name, column in columns.items()}
    numbers = {
        "bytes": columns["size"],
        "start": columns["allocationTime"],
        "release": _clamp_unknown(columns["releaseTime"]),
        "duration": _clamp_unknown(columns["duration"]),
        "allocated": _clamp_unknown(columns["allocationTotalAllocated"]),
    }
    name = _Strings(database).column(columns["name"])
    is_node = _is_of_graph_engine(database, columns["allocationTime"], columns["size"])
    nodes = StringColumn(
        np.where(is_node & (name.place >= 0), name.place + len(name.texts), name.place).astype(np.int32),
        [*name.texts, *(text if text.startswith(_NODE) else _NODE + text for text in name.texts)],
    )
    texts = {"name": nodes, "device": _devices(columns["deviceId"])}
    return _filled_table(format_, len(columns["size"]), numbers, {}, texts)


def _is_of_graph_engine(database: Database, time: Int64s, size: Int64s) -> NDArray[np.bool_]:
    """Return which blocks the graph engine allocated: its own table has their time and size."""
    blocks = _columns(database, "NPU_OP_MEM", ("timestampNs", "size"))
    if blocks is None:
        return np.zeros(len(time), np.bool_)
    known_blocks = set(zip(blocks["timestampNs"].tolist(), blocks["size"].tolist()))
    return np.array([block in known_blocks for block in zip(time.tolist(), size.tolist())], np.bool_)


def _memory_record(database: Database, format_: Format) -> SiblingTable | None:
    names = ("component", "timestamp", "totalAllocated", "totalReserved", "totalActive", "deviceId")
    rows = _columns(database, "MEMORY_RECORD", names) or _graph_engine_record(database)
    strings = _Strings(database)
    app = _application_memory(database)
    if rows is None and app is None:
        return None
    rows = dict.fromkeys(names, np.empty(0, np.int64)) if rows is None else rows
    time, reserved, device = (rows[name] for name in ("timestamp", "totalReserved", "deviceId"))
    allocated, active = rows["totalAllocated"], rows["totalActive"]
    place, texts = strings.column(rows["component"])
    if app is not None:  # text exports begin with it
        time, reserved, device = (np.concatenate(pair) for pair in zip(app, (time, reserved, device)))
        none = np.full(len(app[0]), UNKNOWN, np.int64)
        allocated, active = np.concatenate((none, allocated)), np.concatenate((none, active))
        place = np.append(np.full(len(none), len(texts), np.int32), place)
        texts = [*texts, "APP"]
    is_sample = (time > 0) & (place >= 0)
    columns = {"time": time, "allocated": allocated, "reserved": reserved, "active": active}
    numbers = {key: _clamp_unknown(column[is_sample]) for key, column in columns.items()}
    texts_by_key = {
        "component": _in_order(StringColumn(place[is_sample], texts)),
        "device": _devices(device[is_sample]),
    }
    return _filled_table(format_, int(np.count_nonzero(is_sample)), numbers, {}, texts_by_key)


def _graph_engine_record(database: Database) -> dict[str, Int64s] | None:
    """Return what msprof's own table, which torch_npu makes MEMORY_RECORD of, tells of the graph engine."""
    name_in_record = {
        "component": "component",
        "timestampNs": "timestamp",
        "totalAllocate": "totalAllocated",
        "totalReserve": "totalReserved",
        "deviceId": "deviceId",
    }
    rows = _columns(database, "NPU_OP_MEM", [*name_in_record])
    if rows is None:
        return None
    unknown = np.full(len(rows["timestampNs"]), UNKNOWN, np.int64)
    return {"totalActive": unknown, **{name: rows[column] for column, name in name_in_record.items()}}


def _in_order(column: StringColumn) -> StringColumn:
    """Return a column of texts numbered as they appear in it; each row has one."""
    numbers = list(dict.fromkeys(column.place.tolist()))
    order = np.empty(max(numbers, default=-1) + 1, np.int32)
    order[numbers] = np.arange(len(numbers), dtype=np.int32)
    return StringColumn(order[column.place], [column.texts[number] for number in numbers])


def _application_memory(database: Database) -> tuple[Int64s, Int64s, Int64s] | None:
    """Return time, bytes and device of what the process holds of the devices; None where nothing tells."""
    columns = _columns(database, "NPU_MEM", ("type", "ddr", "hbm", "timestampNs", "deviceId"))
    if columns is None:
        return None
    types = [
        id_
        for id_ in np.unique(columns["type"]).tolist()
        if {"value": _APPLICATION} in database.find("STRING_IDS", ("value",), "id", id_)
    ]
    is_app = np.isin(columns["type"], np.array(types, np.int64)) & (columns["hbm"] != UNKNOWN)
    if not is_app.any():
        return None
    amount = np.maximum(columns["hbm"], 0) + np.maximum(columns["ddr"], 0)
    return columns["timestampNs"][is_app], amount[is_app], columns["deviceId"][is_app]


def _module_memory(database: Database, format_: Format) -> SiblingTable | None:
    columns = _columns(database, "NPU_MODULE_MEM", ("moduleId", "timestampNs", "totalReserved", "deviceId"))
    if columns is None:
        return None
    component = _Strings(database, "ENUM_MODULE", "name").column(columns["moduleId"])
    is_sample = (columns["timestampNs"] > 0) & (component.place >= 0)
    numbers = {
        "time": columns["timestampNs"][is_sample],
        "reserved": _clamp_unknown(columns["totalReserved"][is_sample]),
    }
    texts = {
        "component": StringColumn(component.place[is_sample], component.texts),
        "device": _devices(columns["deviceId"][is_sample]),
    }
    return _filled_table(format_, int(np.count_nonzero(is_sample)), numbers, {}, texts)


_KERNEL_TEXTS = {
    "name": "name",
    "type": "opType",
    "state": "opState",
    "core": "taskType",
    "hf32": "hf32Eligible",
    "input_shapes": "inputShapes",
    "input_types": "inputDataTypes",
    "input_formats": "inputFormats",
    "output_shapes": "outputShapes",
    "output_types": "outputDataTypes",
    "output_formats": "outputFormats",
}


def _kernel_details(database: Database, format_: Format) -> SiblingTable | None:
    blocks_column = "blockNum" if database.has("COMPUTE_TASK_INFO", "blockNum") else "blockDim"
    mix_blocks_column = "mixBlockNum" if database.has("COMPUTE_TASK_INFO", "mixBlockNum") else "mixBlockDim"
    kernels = _columns(
        database,
        "COMPUTE_TASK_INFO",
        ("globalTaskId", blocks_column, mix_blocks_column, *_KERNEL_TEXTS.values()),
    )
    names = ("globalTaskId", "startNs", "endNs", "streamId", "taskId", "modelId", "deviceId")
    tasks = _columns(database, "TASK", names)
    if kernels is None or tasks is None:
        return None
    order = np.argsort(tasks["globalTaskId"], kind="stable")
    ids = tasks["globalTaskId"][order]
    places = np.minimum(np.searchsorted(ids, kernels["globalTaskId"]), len(ids) - 1)
    has_task = (ids[places] == kernels["globalTaskId"]) & (kernels["globalTaskId"] != UNKNOWN)
    has_task &= tasks["startNs"][order[places]] != UNKNOWN
    task = order[places[has_task]]
    by_time = np.argsort(tasks["startNs"][task], kind="stable")
    task, kernel = task[by_time], np.flatnonzero(has_task)[by_time]
    start, end = tasks["startNs"][task], tasks["endNs"][task]
    device = tasks["deviceId"][task]
    strings = _Strings(database)
    texts = {key: strings.column(kernels[column][kernel]) for key, column in _KERNEL_TEXTS.items()}
    if len(set(tasks["deviceId"].tolist())) > 1:
        texts["device"] = _devices(device)
    numbers = {
        "start": start,
        "dur": np.where(end == UNKNOWN, -1, np.maximum(end - start, 0)),
        "wait": _waits(device, start, end),
        "blocks": _clamp_unknown(kernels[blocks_column][kernel]),
        "mix_blocks": _clamp_unknown(kernels[mix_blocks_column][kernel]),
        "stream": _clamp_unknown(tasks["streamId"][task]),
        "task": _clamp_unknown(tasks["taskId"][task]),
        "model": _clamp_unknown(tasks["modelId"][task]),
    }
    floats = _counters(database, strings, kernels["globalTaskId"][kernel])
    return _filled_table(format_, len(task), numbers, floats, texts)


def _waits(device: Int64s, start: Int64s, end: Int64s) -> Int64s:
    """Return the ns from the end of the kernel before, on the same device, to the start of each by start.

    The first of a device waits for none, 0; -1 where the end of the one before is unknown.
    """
    order = np.argsort(device, kind="stable")
    waits = np.zeros(len(order), np.int64)
    is_same_device = device[order[1:]] == device[order[:-1]]
    end_before = end[order[:-1]]
    idle = np.where(end_before == UNKNOWN, -1, np.maximum(start[order[1:]] - end_before, 0))
    waits[order[1:]] = np.where(is_same_device, idle, 0)
    return waits


def _counters(database: Database, strings: _Strings, task_ids: Int64s) -> dict[str, Floats]:
    """Return the counters of the cores, by what text exports call them: a row a counter becomes a column."""
    order = np.argsort(task_ids, kind="stable")
    ids = task_ids[order]
    columns: dict[str, NDArray[np.float64]] = {}
    if not len(ids):
        return columns
    for rows in database.rows("TASK_PMU_INFO", ("globalTaskId", "name", "value"), floats=("value",)):
        task, name, value = rows.numbers("globalTaskId"), rows.numbers("name"), rows.floats("value")
        places = np.minimum(np.searchsorted(ids, task), len(ids) - 1)
        has_task = ids[places] == task
        for id_ in np.unique(name[has_task]).tolist():
            text = strings.text(id_)
            if text is None:
                continue
            of_counter = has_task & (name == id_)
            title = _TOTALS.get(text, f"{text}(us)" if text.endswith("_time") else text)
            column = columns.setdefault(title, np.full(len(ids), np.nan))
            column[order[places[of_counter]]] = value[of_counter] / (1000 if title.endswith("(us)") else 1)
    return columns


def _step_times(database: Database, format_: Format) -> SiblingTable | None:
    columns = [name for name in _STEP_COLUMNS.values() if database.has(STEPS, name)]
    rows = database.first_rows(STEPS, ("step", "deviceId", *columns), 1 << 20)
    if not rows:
        return None
    numbers = {"step": np.array([_step(row.get("step")) for row in rows], np.int64)}
    for key, column in _STEP_COLUMNS.items():
        numbers[key] = np.array([_nanoseconds(row.get(column)) for row in rows], np.int64)
    devices = [str(row["deviceId"]) if row.get("deviceId") is not None else "" for row in rows]
    texts = list(dict.fromkeys(filter(None, devices)))
    place = np.array([texts.index(device) if device else -1 for device in devices], np.int32)
    return _filled_table(format_, len(rows), numbers, {}, {"device": StringColumn(place, texts)})


def _step(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1


def _nanoseconds(us: Any) -> int:
    """Return a number of µs in ns; -1 for anything else."""
    return round(us * 1000) if isinstance(us, (int, float)) and -LEAST_DURATION < us < 1e15 else -1


_MAKERS: dict[str, _Maker] = {
    OPERATOR_MEMORY.name: _operator_memory,
    MEMORY_RECORD.name: _memory_record,
    MODULE_MEMORY.name: _module_memory,
    KERNEL_DETAILS.name: _kernel_details,
    STEP_TIMES.name: _step_times,
}
_SQL_TABLES = {
    OPERATOR_MEMORY.name: ("OP_MEMORY",),
    MEMORY_RECORD.name: ("MEMORY_RECORD", "NPU_OP_MEM"),
    MODULE_MEMORY.name: ("NPU_MODULE_MEM",),
    KERNEL_DETAILS.name: ("COMPUTE_TASK_INFO",),
}
