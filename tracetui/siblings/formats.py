"""The tables that the profilers of PyTorch, MindSpore and msprof write beside a trace, and their headers.

Newer files begin with a column `Device_id`, those of 2023 lack some; MindSpore's lack the release times.
"""

from __future__ import annotations

from tracetui.siblings.tables import Format, TableColumn, ValueKind

_DEVICE = TableColumn("device", ValueKind.TEXT, ("Device Type", "Device", "Device_id"))


def _sizes(key: str, title: str) -> tuple[TableColumn, TableColumn]:
    """Return a column of sizes in the unit of PyTorch and MindSpore, and in that of msprof."""
    return TableColumn(key, ValueKind.MB, (f"{title}(MB)",)), TableColumn(
        key, ValueKind.KB, (f"{title}(KB)",)
    )


OPERATOR_MEMORY = Format(
    "operator_memory.csv",
    (
        TableColumn("name", ValueKind.TEXT, ("Name", "Operator"), needed=True),
        TableColumn("bytes", ValueKind.KB, ("Size(KB)",), needed=True),
        TableColumn("start", ValueKind.TIME, ("Allocation Time(us)",), needed=True),
        TableColumn("release", ValueKind.TIME, ("Release Time(us)",)),
        TableColumn("duration", ValueKind.DURATION, ("Duration(us)",), is_bound=True),
        *_sizes("allocated", "Allocation Total Allocated"),
        _DEVICE,
    ),
)
MEMORY_RECORD = Format(
    "memory_record.csv",
    (
        TableColumn("component", ValueKind.TEXT, ("Component",), needed=True),
        TableColumn("time", ValueKind.TIME, ("Timestamp(us)",), needed=True),
        *_sizes("allocated", "Total Allocated"),
        *_sizes("reserved", "Total Reserved"),
        *_sizes("active", "Total Active"),
        _DEVICE,
    ),
)
MODULE_MEMORY = Format(
    "npu_module_mem.csv",
    (
        TableColumn("component", ValueKind.TEXT, ("Component",), needed=True),
        TableColumn("time", ValueKind.TIME, ("Timestamp(us)",), needed=True),
        *_sizes("reserved", "Total Reserved"),
        _DEVICE,
    ),
)
STATIC_MEMORY = Format(
    "static_op_mem.csv",
    (
        TableColumn("name", ValueKind.TEXT, ("Op Name",), needed=True),
        TableColumn("graph", ValueKind.TEXT, ("Graph ID", "Graph Id")),
        TableColumn("model", ValueKind.TEXT, ("Model Name",)),
        TableColumn("first", ValueKind.WHOLE, ("Node Index Start",)),
        TableColumn("last", ValueKind.WHOLE, ("Node Index End",)),
        TableColumn("bytes", ValueKind.KB, ("Size(KB)",), needed=True),
    ),
)
KERNEL_DETAILS = Format(
    "kernel_details.csv",
    (
        TableColumn("step", ValueKind.WHOLE, ("Step Id", "Step ID")),
        TableColumn("device", ValueKind.TEXT, ("Device_id",)),
        TableColumn("model", ValueKind.WHOLE, ("Model ID", "Model Id")),
        TableColumn("task", ValueKind.WHOLE, ("Task ID", "Task Id")),
        TableColumn("stream", ValueKind.WHOLE, ("Stream ID", "Stream Id")),
        TableColumn("name", ValueKind.TEXT, ("Name", "Op Name"), needed=True),
        TableColumn("type", ValueKind.TEXT, ("Type", "OP Type")),
        TableColumn("state", ValueKind.TEXT, ("OP State",)),
        TableColumn("core", ValueKind.TEXT, ("Accelerator Core", "Task Type")),
        TableColumn("start", ValueKind.TIME, ("Start Time(us)", "Task Start Time(us)"), needed=True),
        TableColumn("dur", ValueKind.DURATION, ("Duration(us)", "Task Duration(us)")),
        TableColumn("wait", ValueKind.DURATION, ("Wait Time(us)", "Task Wait Time(us)")),
        TableColumn("blocks", ValueKind.WHOLE, ("Block Num", "Block Dim")),
        TableColumn("mix_blocks", ValueKind.WHOLE, ("Mix Block Num", "Mix Block Dim")),
        TableColumn("hf32", ValueKind.TEXT, ("HF32 Eligible",)),
        TableColumn("input_shapes", ValueKind.TEXT, ("Input Shapes",)),
        TableColumn("input_types", ValueKind.TEXT, ("Input Data Types",)),
        TableColumn("input_formats", ValueKind.TEXT, ("Input Formats",)),
        TableColumn("output_shapes", ValueKind.TEXT, ("Output Shapes",)),
        TableColumn("output_types", ValueKind.TEXT, ("Output Data Types",)),
        TableColumn("output_formats", ValueKind.TEXT, ("Output Formats",)),
        TableColumn("context", ValueKind.TEXT, ("Context ID", "Context Id")),
    ),
    has_extra=True,  # the counters of the cores, by --aic-metrics
    raw_name="op_summary.csv",
)
OP_STATISTIC = Format(
    "op_statistic.csv",
    (
        TableColumn("device", ValueKind.TEXT, ("Device_id",)),
        TableColumn("type", ValueKind.TEXT, ("OP Type",), needed=True),
        TableColumn("core", ValueKind.TEXT, ("Core Type",)),
        TableColumn("count", ValueKind.WHOLE, ("Count",), needed=True),
        TableColumn("total", ValueKind.DURATION, ("Total Time(us)",), needed=True),
        TableColumn("min", ValueKind.DURATION, ("Min Time(us)",)),
        TableColumn("mean", ValueKind.DURATION, ("Avg Time(us)",)),
        TableColumn("max", ValueKind.DURATION, ("Max Time(us)",)),
        TableColumn("percent", ValueKind.NUMBER, ("Ratio(%)",)),
    ),
)
API_STATISTIC = Format(
    "api_statistic.csv",
    (
        TableColumn("level", ValueKind.TEXT, ("Level",), needed=True),
        TableColumn("name", ValueKind.TEXT, ("API Name",), needed=True),
        TableColumn("total", ValueKind.DURATION, ("Time(us)",), needed=True),
        TableColumn("count", ValueKind.WHOLE, ("Count",), needed=True),
        TableColumn("mean", ValueKind.DURATION, ("Avg(us)", "Avg")),
        TableColumn("min", ValueKind.DURATION, ("Min(us)", "Min")),
        TableColumn("max", ValueKind.DURATION, ("Max(us)", "Max")),
        TableColumn("variance", ValueKind.NUMBER, ("Variance",)),
    ),
)
STEP_TIMES = Format(
    "step_trace_time.csv",
    (
        TableColumn("device", ValueKind.TEXT, ("Device_id",)),
        TableColumn("step", ValueKind.WHOLE, ("Step",)),
        TableColumn("computing", ValueKind.DURATION, ("Computing",), needed=True),
        TableColumn("communication_not_overlapped", ValueKind.DURATION, ("Communication(Not Overlapped)",)),
        TableColumn("overlapped", ValueKind.DURATION, ("Overlapped",)),
        TableColumn("communication", ValueKind.DURATION, ("Communication",)),
        TableColumn("free", ValueKind.DURATION, ("Free",)),
        TableColumn("stage", ValueKind.DURATION, ("Stage",)),
        TableColumn("bubble", ValueKind.DURATION, ("Bubble",)),
        TableColumn(
            "exclude_receive", ValueKind.DURATION, ("Communication(Not Overlapped and Exclude Receive)",)
        ),
        TableColumn("preparing", ValueKind.DURATION, ("Preparing",)),
    ),
)
L2_CACHE = Format(
    "l2_cache.csv",
    (
        TableColumn("stream", ValueKind.WHOLE, ("Stream Id",)),
        TableColumn("task", ValueKind.WHOLE, ("Task Id",)),
        TableColumn("hit_rate", ValueKind.NUMBER, ("Hit Rate",)),
        TableColumn("victim_rate", ValueKind.NUMBER, ("Victim Rate",)),
        TableColumn("name", ValueKind.TEXT, ("Op Name",), needed=True),
    ),
)
#: What the AI CPU did: also of the queue that feeds it.
AICPU_TASKS = Format(
    "data_preprocess.csv",
    (
        TableColumn("name", ValueKind.TEXT, ("Node",), needed=True),
        TableColumn("compute", ValueKind.NUMBER, ("Compute_time(us)",)),
        TableColumn("copy", ValueKind.NUMBER, ("Memcpy_time(us)",)),
        TableColumn("task_time", ValueKind.NUMBER, ("Task_time(us)",)),
        TableColumn("dispatch", ValueKind.NUMBER, ("Dispatch_time(us)",)),
        TableColumn("total", ValueKind.NUMBER, ("Total_time(us)",)),
        TableColumn("stream", ValueKind.WHOLE, ("Stream ID", "Stream Id")),
        TableColumn("task", ValueKind.WHOLE, ("Task ID", "Task Id")),
    ),
)
#: What MindSpore's tracker of memory (memory_tracker:True in MS_ALLOC_CONF) knows of each block.
TRACKED_BLOCKS = Format(
    "memory_block.csv",
    (
        TableColumn("start", ValueKind.WHOLE, ("start_time_stamp",), needed=True),
        TableColumn("end", ValueKind.WHOLE, ("end_time_stamp",)),
        TableColumn("bytes", ValueKind.WHOLE, ("size",), needed=True),
        TableColumn("task", ValueKind.TEXT, ("task_name",)),
        TableColumn("node", ValueKind.TEXT, ("node_name",)),
        TableColumn("stack", ValueKind.TEXT, ("python_stack",)),
    ),
)
