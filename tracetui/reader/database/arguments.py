"""What the tables say of one row, as the arguments of an event of a text export, and more of them.

Read when a slice is selected: a few rows by their ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tracetui.databases.tables import Database

#: The tables whose rows are drawn: their places are in caches, so new ones come last.
DRAWN = (
    "TASK",
    "COMMUNICATION_OP",
    "COMMUNICATION_TASK_INFO",
    "OVERLAP_ANALYSIS",
    "CANN_API",
    "PYTORCH_API",
    "STEP_TIME",
    "MSTX_EVENTS",
    "GC_RECORD",
    "OSRT_API",
)
_NONES = frozenset((0xFFFFFFFF, (1 << 63) - 1))
_DIMS = re.compile(r"[\s\d,;\[\]()-]*")
_INVALID = 65535

_Row = Mapping[str, Any]


def arguments(database: Database, table: str, rowid: int, offset: int) -> dict[str, Any]:
    """Return what is known of the row `offset` rows after the one with that rowid; {} where it is gone."""
    if table not in _TABLES:
        return {}
    columns, make = _TABLES[table]
    row = database.row(table, columns, rowid, offset)
    return make(database, row) if row else {}


def _text(database: Database, id_: Any, table: str = "STRING_IDS", column: str = "value") -> str | None:
    """Return the text of a table with that id."""
    if type(id_) is not int:
        return None
    rows = database.find(table, (column,), "id", id_)
    value = rows[0].get(column) if rows else None
    return value if isinstance(value, str) else None


def _enum(database: Database, table: str, id_: Any) -> str | None:
    return _text(database, id_, table, "name")


def _named_cells(row: _Row, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells of some columns that hold something, by what they are called."""
    return {
        title: row[column]
        for column, title in names.items()
        if row.get(column) is not None and row[column] not in _NONES
    }


def _without_empty(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return {title: value for title, value in pairs.items() if value not in (None, "", "N/A")}


_TASK_COLUMNS = {
    "streamId": "Stream Id",
    "taskId": "Task Id",
    "contextId": "Context Id",
    "modelId": "Model Id",
    "connectionId": "connection_id",
    "globalTaskId": "globalTaskId",
}
_KERNEL_TEXTS = {
    "opType": "Op Type",
    "inputShapes": "Input Shapes",
    "inputDataTypes": "Input Data Types",
    "inputFormats": "Input Formats",
    "outputShapes": "Output Shapes",
    "outputDataTypes": "Output Data Types",
    "outputFormats": "Output Formats",
    "attrInfo": "Attributes",
    "opState": "Op State",
    "hf32Eligible": "HF32 Eligible",
}
_KERNEL_NUMBERS = {
    "blockNum": "Block Num",
    "blockDim": "Block Dim",
    "mixBlockNum": "Mix Block Num",
    "mixBlockDim": "Mix Block Dim",
}


def _task(database: Database, row: _Row) -> dict[str, Any]:
    args = _without_empty({"Task Type": _text(database, row.get("taskType"))})
    args.update(_named_cells(row, _TASK_COLUMNS))
    id_ = row.get("globalTaskId")
    if type(id_) is not int:
        return args
    for kernel in database.find(
        "COMPUTE_TASK_INFO", ("taskType", *_KERNEL_TEXTS, *_KERNEL_NUMBERS), "globalTaskId", id_
    )[:1]:
        args.update(_without_empty({"Task Type": _text(database, kernel.get("taskType"))}))
        args.update(
            _without_empty(
                {title: _text(database, kernel.get(column)) for column, title in _KERNEL_TEXTS.items()}
            )
        )
        args.update(_named_cells(kernel, _KERNEL_NUMBERS))
    for copy in database.find("MEMCPY_INFO", ("size", "memcpyOperation"), "globalTaskId", id_)[:1]:
        args.update(_named_cells(copy, {"size": "data size(Byte)"}))
        direction = _enum(database, "ENUM_MEMCPY_OPERATION", copy.get("memcpyOperation"))
        args.update(_without_empty({"memcpy direction": direction}))
    for metric in database.find("TASK_PMU_INFO", ("name", "value"), "globalTaskId", id_):
        name = _text(database, metric.get("name"))
        if name is not None and metric.get("value") is not None:
            args[name] = metric["value"]
    return args


_OPERATION_COLUMNS = {"connectionId": "connection_id", "count": "count", "rankSize": "rank size"}


def _operation(database: Database, row: _Row) -> dict[str, Any]:
    args = _without_empty(
        {
            "group": _text(database, row.get("groupName")),
            "data_type": _enum(database, "ENUM_HCCL_DATA_TYPE", row.get("dataType")),
            "alg_type": _text(database, row.get("algType")),
        }
    )
    args.update(_named_cells(row, _OPERATION_COLUMNS))
    args.update({name: bool(row[name]) for name in ("relay", "retry") if row.get(name)})
    return args


_PART_COLUMNS = {"notifyId": "notify_id", "srcRank": "src rank", "dstRank": "dst rank", "size": "size(Byte)"}


def _part(database: Database, row: _Row) -> dict[str, Any]:
    args = _named_cells(row, _PART_COLUMNS)
    enums = {
        "transport type": ("ENUM_HCCL_TRANSPORT_TYPE", "transportType"),
        "link type": ("ENUM_HCCL_LINK_TYPE", "linkType"),
        "data type": ("ENUM_HCCL_DATA_TYPE", "dataType"),
        "rdma type": ("ENUM_HCCL_RDMA_TYPE", "rdmaType"),
    }
    args.update(
        _without_empty(
            {
                title: _enum(database, table, row.get(column))
                for title, (table, column) in enums.items()
                if row.get(column) != _INVALID
            }
        )
    )
    if isinstance(row.get("bandwidth"), (int, float)):
        args["bandwidth(B/s)"] = row["bandwidth"]
    args.update(_without_empty({"group": _text(database, row.get("groupName"))}))
    return args


def _call(database: Database, row: _Row) -> dict[str, Any]:
    args = _without_empty({"level": _enum(database, "ENUM_API_TYPE", row.get("type"))})
    args.update(_named_cells(row, {"connectionId": "connection_id"}))
    return args


_OPERATOR_COLUMNS = {"sequenceNumber": "Sequence number", "fwdThreadId": "Fwd thread id"}


def _operator(database: Database, row: _Row) -> dict[str, Any]:
    args = _named_cells(row, _OPERATOR_COLUMNS)
    texts = [_text(database, row.get(column)) for column in ("inputDtypes", "inputShapes")]
    # Files have the two the wrong way round: what is made of digits is the dimensions.
    for text in filter(None, texts):
        args.setdefault("Input Dims" if _DIMS.fullmatch(text) else "Input type", text)
    chain = row.get("callchainId")
    if type(chain) is int:
        frames = database.find("PYTORCH_CALLCHAINS", ("stack", "stackDepth"), "id", chain)
        frames.sort(key=lambda frame: frame["stackDepth"] if type(frame.get("stackDepth")) is int else 0)
        lines = [_text(database, frame.get("stack")) for frame in frames]
        args.update(_without_empty({"Call stack": ";\r\n".join(line for line in lines if line)}))
    return args


def _mark(database: Database, row: _Row) -> dict[str, Any]:
    args = _without_empty(
        {
            "domain": _text(database, row.get("domainId")),
            "event": _enum(database, "ENUM_MSTX_EVENT_TYPE", row.get("eventType")),
        }
    )
    args.update(_named_cells(row, {"rangeId": "range", "category": "category"}))
    return args


_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Database, _Row], dict[str, Any]]]] = {
    "TASK": (("taskType", *_TASK_COLUMNS), _task),
    "COMMUNICATION_OP": (
        ("groupName", "dataType", "algType", "relay", "retry", *_OPERATION_COLUMNS),
        _operation,
    ),
    "COMMUNICATION_TASK_INFO": (
        ("transportType", "linkType", "dataType", "rdmaType", "bandwidth", "groupName", *_PART_COLUMNS),
        _part,
    ),
    "CANN_API": (("type", "connectionId"), _call),
    "PYTORCH_API": (("inputDtypes", "inputShapes", "callchainId", *_OPERATOR_COLUMNS), _operator),
    "MSTX_EVENTS": (("domainId", "eventType", "rangeId", "category"), _mark),
}
