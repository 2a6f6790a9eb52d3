"""The tables that the profilers of PyTorch, MindSpore and msprof write beside a trace, and their headers.

Newer files begin with a column `Device_id`, those of 2023 lack some; MindSpore's lack the release times.
"""

from __future__ import annotations

from tracetui.siblings.tables import Column, Format, Kind

_DEVICE = Column("device", Kind.TEXT, ("Device Type", "Device", "Device_id"))

OPERATOR_MEMORY = Format(
    "operator_memory.csv",
    (
        Column("name", Kind.TEXT, ("Name", "Operator"), needed=True),
        Column("bytes", Kind.KB, ("Size(KB)",), needed=True),
        Column("start", Kind.TIME, ("Allocation Time(us)",), needed=True),
        Column("release", Kind.TIME, ("Release Time(us)",)),
        Column("duration", Kind.DURATION, ("Duration(us)",)),
        Column("allocated", Kind.MB, ("Allocation Total Allocated(MB)",)),
        _DEVICE,
    ),
)
MEMORY_RECORD = Format(
    "memory_record.csv",
    (
        Column("component", Kind.TEXT, ("Component",), needed=True),
        Column("time", Kind.TIME, ("Timestamp(us)",), needed=True),
        Column("allocated", Kind.MB, ("Total Allocated(MB)",)),
        Column("reserved", Kind.MB, ("Total Reserved(MB)",)),
        Column("active", Kind.MB, ("Total Active(MB)",)),
        _DEVICE,
    ),
)
MODULE_MEMORY = Format(
    "npu_module_mem.csv",
    (
        Column("component", Kind.TEXT, ("Component",), needed=True),
        Column("time", Kind.TIME, ("Timestamp(us)",), needed=True),
        Column("reserved", Kind.MB, ("Total Reserved(MB)",)),
        _DEVICE,
    ),
)
STATIC_MEMORY = Format(
    "static_op_mem.csv",
    (
        Column("name", Kind.TEXT, ("Op Name",), needed=True),
        Column("graph", Kind.TEXT, ("Graph ID", "Graph Id")),
        Column("model", Kind.TEXT, ("Model Name",)),
        Column("first", Kind.WHOLE, ("Node Index Start",)),
        Column("last", Kind.WHOLE, ("Node Index End",)),
        Column("bytes", Kind.KB, ("Size(KB)",), needed=True),
    ),
)
KERNEL_DETAILS = Format(
    "kernel_details.csv",
    (
        Column("step", Kind.WHOLE, ("Step Id", "Step ID")),
        Column("device", Kind.TEXT, ("Device_id",)),
        Column("model", Kind.WHOLE, ("Model ID", "Model Id")),
        Column("task", Kind.WHOLE, ("Task ID", "Task Id")),
        Column("stream", Kind.WHOLE, ("Stream ID", "Stream Id")),
        Column("name", Kind.TEXT, ("Name", "Op Name"), needed=True),
        Column("type", Kind.TEXT, ("Type", "OP Type")),
        Column("state", Kind.TEXT, ("OP State",)),
        Column("core", Kind.TEXT, ("Accelerator Core", "Task Type")),
        Column("start", Kind.TIME, ("Start Time(us)", "Task Start Time(us)"), needed=True),
        Column("dur", Kind.DURATION, ("Duration(us)", "Task Duration(us)")),
        Column("wait", Kind.DURATION, ("Wait Time(us)", "Task Wait Time(us)")),
        Column("blocks", Kind.WHOLE, ("Block Num", "Block Dim")),
        Column("mix_blocks", Kind.WHOLE, ("Mix Block Num", "Mix Block Dim")),
        Column("hf32", Kind.TEXT, ("HF32 Eligible",)),
        Column("input_shapes", Kind.TEXT, ("Input Shapes",)),
        Column("input_types", Kind.TEXT, ("Input Data Types",)),
        Column("input_formats", Kind.TEXT, ("Input Formats",)),
        Column("output_shapes", Kind.TEXT, ("Output Shapes",)),
        Column("output_types", Kind.TEXT, ("Output Data Types",)),
        Column("output_formats", Kind.TEXT, ("Output Formats",)),
        Column("context", Kind.TEXT, ("Context ID", "Context Id")),
    ),
    others=True,  # the counters of the cores, by --aic-metrics
)
OP_STATISTIC = Format(
    "op_statistic.csv",
    (
        Column("device", Kind.TEXT, ("Device_id",)),
        Column("type", Kind.TEXT, ("OP Type",), needed=True),
        Column("core", Kind.TEXT, ("Core Type",)),
        Column("count", Kind.WHOLE, ("Count",), needed=True),
        Column("total", Kind.DURATION, ("Total Time(us)",), needed=True),
        Column("min", Kind.DURATION, ("Min Time(us)",)),
        Column("mean", Kind.DURATION, ("Avg Time(us)",)),
        Column("max", Kind.DURATION, ("Max Time(us)",)),
        Column("percent", Kind.NUMBER, ("Ratio(%)",)),
    ),
)
API_STATISTIC = Format(
    "api_statistic.csv",
    (
        Column("level", Kind.TEXT, ("Level",), needed=True),
        Column("name", Kind.TEXT, ("API Name",), needed=True),
        Column("total", Kind.DURATION, ("Time(us)",), needed=True),
        Column("count", Kind.WHOLE, ("Count",), needed=True),
        Column("mean", Kind.DURATION, ("Avg(us)", "Avg")),
        Column("min", Kind.DURATION, ("Min(us)", "Min")),
        Column("max", Kind.DURATION, ("Max(us)", "Max")),
        Column("variance", Kind.NUMBER, ("Variance",)),
    ),
)
STEP_TIMES = Format(
    "step_trace_time.csv",
    (
        Column("device", Kind.TEXT, ("Device_id",)),
        Column("step", Kind.WHOLE, ("Step",)),
        Column("computing", Kind.DURATION, ("Computing",), needed=True),
        Column("communication_not_overlapped", Kind.DURATION, ("Communication(Not Overlapped)",)),
        Column("overlapped", Kind.DURATION, ("Overlapped",)),
        Column("communication", Kind.DURATION, ("Communication",)),
        Column("free", Kind.DURATION, ("Free",)),
        Column("stage", Kind.DURATION, ("Stage",)),
        Column("bubble", Kind.DURATION, ("Bubble",)),
        Column("exclude_receive", Kind.DURATION, ("Communication(Not Overlapped and Exclude Receive)",)),
        Column("preparing", Kind.DURATION, ("Preparing",)),
    ),
)
L2_CACHE = Format(
    "l2_cache.csv",
    (
        Column("stream", Kind.WHOLE, ("Stream Id",)),
        Column("task", Kind.WHOLE, ("Task Id",)),
        Column("hit_rate", Kind.NUMBER, ("Hit Rate",)),
        Column("victim_rate", Kind.NUMBER, ("Victim Rate",)),
        Column("name", Kind.TEXT, ("Op Name",), needed=True),
    ),
)
#: What the AI CPU did: also of the queue that feeds it.
AICPU_TASKS = Format(
    "data_preprocess.csv",
    (
        Column("name", Kind.TEXT, ("Node",), needed=True),
        Column("compute", Kind.NUMBER, ("Compute_time(us)",)),
        Column("copy", Kind.NUMBER, ("Memcpy_time(us)",)),
        Column("task_time", Kind.NUMBER, ("Task_time(us)",)),
        Column("dispatch", Kind.NUMBER, ("Dispatch_time(us)",)),
        Column("total", Kind.NUMBER, ("Total_time(us)",)),
        Column("stream", Kind.WHOLE, ("Stream ID", "Stream Id")),
        Column("task", Kind.WHOLE, ("Task ID", "Task Id")),
    ),
)
#: What MindSpore's tracker of memory (memory_tracker:True in MS_ALLOC_CONF) knows of each block.
TRACKED_BLOCKS = Format(
    "memory_block.csv",
    (
        Column("start", Kind.WHOLE, ("start_time_stamp",), needed=True),
        Column("end", Kind.WHOLE, ("end_time_stamp",)),
        Column("bytes", Kind.WHOLE, ("size",), needed=True),
        Column("task", Kind.TEXT, ("task_name",)),
        Column("node", Kind.TEXT, ("node_name",)),
        Column("stack", Kind.TEXT, ("python_stack",)),
    ),
)
