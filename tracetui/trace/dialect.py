"""What the producers call things: tables from their names to the model's layers, families and activities.

Known: PyTorch and MindSpore on Ascend (msprof of 2024 and later) and PyTorch on GPUs (kineto). A new chip or
a new spelling is one more row. Nothing here reads events; unknown names get a defined answer, never an error.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tracetui.trace.model import Activity, Family, Layer


class Place(NamedTuple):
    """Where slices are shown."""

    layer: Layer
    family: Family


#: Process names that say by themselves what the process holds, exactly as written.
PROCESSES = {
    "Python": Place(Layer.PYTHON, Family.OPERATORS),
    "Python GC": Place(Layer.PYTHON, Family.COLLECTOR),
    "MindSpore": Place(Layer.PYTHON, Family.OPERATORS),
    "CPU OP": Place(Layer.PYTHON, Family.OPERATORS),
    "Scope Layer": Place(Layer.PYTHON, Family.OTHER),  # networks, cut from names of operators: no calls
    "CANN": Place(Layer.CANN, Family.CALLS),
    "Ascend Hardware": Place(Layer.DEVICE, Family.TASKS),
    "HCCL": Place(Layer.COMMUNICATION, Family.GROUP),
    "Communication": Place(Layer.COMMUNICATION, Family.GROUP),
    "Overlap Analysis": Place(Layer.OVERLAP, Family.OVERLAP),
    "OS Runtime API": Place(Layer.OTHER, Family.CALLS),
}

HARDWARE_PROCESS = "Ascend Hardware"

#: The processes whose threads are communication groups and their planes.
COMMUNICATION_PROCESSES = frozenset({"HCCL", "Communication"})

#: What a process without a known name holds, by its slices: one with a `Task Type` is a task of
#: "Ascend Hardware"; else by its category in lower case, by its whole name, or by how that begins.
SIGN_OF_TASK_TYPE = HARDWARE_PROCESS
CATEGORY_SIGNS = {
    "cpu_op": "Python",
    "python_function": "Python",
    "enqueue": "Python",
    "dequeue": "Python",
    "gc": "Python GC",
}
NAME_SIGNS = {
    "Computing": "Overlap Analysis",
    "Communication": "Overlap Analysis",
    "Communication(Not Overlapped)": "Overlap Analysis",
    "Free": "Overlap Analysis",
    "Memcpy": "Communication",
}
NAME_PREFIX_SIGNS = (
    ("AscendCL@", "CANN"),
    ("Node@", "CANN"),
    ("Hccl@", "CANN"),
    ("Communication@", "CANN"),
    ("Runtime@", "CANN"),
    ("Model@", "CANN"),
    ("hcom_", "Communication"),
    ("Notify_", "Communication"),
    ("Reduce_", "Communication"),
    ("RDMA", "Communication"),
    ("PynativeFramework::", "MindSpore"),
    ("RuntimeFramework::", "MindSpore"),
)

SIGNS = ("Python", "Python GC", "MindSpore", "CANN", "Ascend Hardware", "Communication", "Overlap Analysis")

#: Signs that nothing else shows: one slice is enough, and it counts against a process name that no table
#: knows.
SURE_SIGNS = (HARDWARE_PROCESS, "CANN")

#: How the operations of a communication group begin; what else such a process holds are parts of them.
GROUP_OPERATION = "hcom_"

#: Process names that only an Ascend profiler writes.
ASCEND_PROCESSES = frozenset({"MindSpore", "CANN", "Ascend Hardware", "HCCL", "Overlap Analysis"})

#: Categories of slices and flows that only an Ascend profiler writes.
ASCEND_CATEGORIES = frozenset(
    {"enqueue", "dequeue", "async_npu", "async_task_queue", "HostToDevice", "async_mindspore"}
)

#: The flow category whose starts mark a process of user ranges (mstx, msproftx): its name is the user's own.
MARKS_FLOW = "MsTx"

#: What a slice's category says, lower case, where the process name does not decide. The capitalised names of
#: 2021 GPU traces are the same words: operator, kernel, runtime, memcpy, memset.
CATEGORIES = {
    "cpu_op": Place(Layer.PYTHON, Family.OPERATORS),
    "operator": Place(Layer.PYTHON, Family.OPERATORS),
    "user_annotation": Place(Layer.PYTHON, Family.OPERATORS),
    "enqueue": Place(Layer.PYTHON, Family.OPERATORS),
    "dequeue": Place(Layer.PYTHON, Family.OPERATORS),
    "python_function": Place(Layer.PYTHON, Family.FRAMES),
    "gc": Place(Layer.PYTHON, Family.COLLECTOR),
    "cuda_runtime": Place(Layer.CANN, Family.CALLS),
    "cuda_driver": Place(Layer.CANN, Family.CALLS),
    "xpu_runtime": Place(Layer.CANN, Family.CALLS),
    "xpu_driver": Place(Layer.CANN, Family.CALLS),
    "mtia_runtime": Place(Layer.CANN, Family.CALLS),
    "privateuse1_runtime": Place(Layer.CANN, Family.CALLS),
    "privateuse1_driver": Place(Layer.CANN, Family.CALLS),
    "runtime": Place(Layer.CANN, Family.CALLS),
    "kernel": Place(Layer.DEVICE, Family.TASKS),
    "gpu_memcpy": Place(Layer.DEVICE, Family.TASKS),
    "memcpy": Place(Layer.DEVICE, Family.TASKS),
    "gpu_memset": Place(Layer.DEVICE, Family.TASKS),
    "memset": Place(Layer.DEVICE, Family.TASKS),
    "cuda_sync": Place(Layer.DEVICE, Family.TASKS),
    "gpu_user_annotation": Place(Layer.DEVICE, Family.ANNOTATIONS),
    "cuda_profiler_range": Place(Layer.DEVICE, Family.ANNOTATIONS),
    "overhead": Place(Layer.OTHER, Family.OTHER),
}

#: What a task of a GPU stream does, by category; kernels whose name starts with nccl are communication.
GPU_ACTIVITIES = {
    "kernel": Activity.AICORE,
    "gpu_memcpy": Activity.COPY,
    "memcpy": Activity.COPY,
    "gpu_memset": Activity.COPY,
    "memset": Activity.COPY,
    "cuda_sync": Activity.WAIT,
}

#: What a device task does, by `Task Type` in upper case with spaces as "_".
TASK_TYPES = {
    "AI_CORE": Activity.AICORE,
    "AI_VECTOR_CORE": Activity.AICORE,
    "AIV_SQE": Activity.AICORE,
    "MIX_AIC": Activity.AICORE,
    "MIX_AIV": Activity.AICORE,
    "FFTS_PLUS": Activity.AICORE,
    "FUSION": Activity.AICORE,
    "KERNEL_AICORE": Activity.AICORE,
    "KERNEL_AIVEC": Activity.AICORE,
    "KERNEL_MIX_AIC": Activity.AICORE,
    "KERNEL_MIX_AIV": Activity.AICORE,
    "OTHER": Activity.AICORE,  # 2024: every kernel is "Other"; the rest is known by its name
    "AI_CPU": Activity.AICPU,
    "AICPU_H": Activity.AICPU,
    "AICPU_D": Activity.AICPU,
    "KERNEL_AICPU": Activity.AICPU,
    "DSA_SQE": Activity.AICPU,
    "VPC_SQE": Activity.AICPU,
    "JPEGE_SQE": Activity.AICPU,
    "JPEGD_SQE": Activity.AICPU,
    "VQ6_SQE": Activity.AICPU,
    "TOF_SQE": Activity.AICPU,
    "HOST_CPU_SQE": Activity.AICPU,
    "SDMA": Activity.COPY,
    "SDMA_SQE": Activity.COPY,
    "PCIE_DMA": Activity.COPY,
    "PCIE_DMA_SQE": Activity.COPY,
    "UBDMA": Activity.COPY,
    "ASYNCDMA": Activity.COPY,
    "EVENT_WAIT": Activity.WAIT,
    "EVENT_WAIT_SQE": Activity.WAIT,
    "NOTIFY_WAIT": Activity.WAIT,
    "NOTIFY_WAIT_SQE": Activity.WAIT,
    "EVENT_RECORD": Activity.EVENT,
    "EVENT_RECORD_SQE": Activity.EVENT,
    "NOTIFY_RECORD": Activity.EVENT,
    "NOTIFY_RECORD_SQE": Activity.EVENT,
    "WRITE_VALUE": Activity.EVENT,
    "WRITE_VALUE_SQE": Activity.EVENT,
    "PLACE_HOLDER_SQE": Activity.EVENT,
    "END_SQE": Activity.EVENT,
    "COMMUNICATION": Activity.COMMUNICATION_TASK,
    "HCCL": Activity.COMMUNICATION_TASK,
    "CCU_SQE": Activity.COMMUNICATION_TASK,
    "ROCCE_SQE": Activity.OTHER,
    "CMO_SQE": Activity.OTHER,
    "CDQM_SQE": Activity.OTHER,
    "C_CORE_SQE": Activity.OTHER,
    "CONDITION_SQE": Activity.OTHER,
    "MAX_SQE": Activity.OTHER,
    "PROFILING_ENABLE": Activity.OTHER,
    "PROFILING_DISABLE": Activity.OTHER,
}

#: The beginnings that stand for a class where the whole type is not in the table; the first that fits counts.
TASK_TYPE_PREFIXES = (
    ("KERNEL_AICPU", Activity.AICPU),
    ("AI_CPU", Activity.AICPU),
    ("JPEG", Activity.AICPU),
    ("KERNEL_", Activity.AICORE),
    ("AI_CORE", Activity.AICORE),
    ("AI_VECTOR", Activity.AICORE),
    ("AIC_", Activity.AICORE),
    ("AIV_", Activity.AICORE),
    ("MIX_", Activity.AICORE),
    ("FFTS_PLUS", Activity.AICORE),
    ("MEMCPY", Activity.COPY),
    ("MEMSET", Activity.COPY),
    ("EVENT_WAIT", Activity.WAIT),
    ("NOTIFY_WAIT", Activity.WAIT),
    ("STREAM_WAIT", Activity.WAIT),
    ("EVENT_", Activity.EVENT),
    ("NOTIFY_", Activity.EVENT),
    ("PROFILING_", Activity.OTHER),
)

#: What computes beside the AI cores (Activity.AICPU), as people call it, by the beginnings of task types.
ENGINES = (
    ("AI_CPU", "AI CPU"),
    ("AICPU", "AI CPU"),
    ("KERNEL_AICPU", "AI CPU"),
    ("DSA", "DSA"),
    ("VPC", "VPC"),
    ("JPEG", "JPEG"),
    ("HOST_CPU", "host CPU"),
)

#: The beginnings of a device task's *name* that say what it does, whatever its type.
TASK_NAME_PREFIXES = (
    ("MEMCPY_ASYNC", Activity.COPY),
    ("EVENT_WAIT", Activity.WAIT),
    ("NOTIFY_WAIT", Activity.WAIT),
    ("STREAM_WAIT_EVENT", Activity.WAIT),
    ("EVENT_RECORD", Activity.EVENT),
    ("EVENT_RESET", Activity.EVENT),
    ("NOTIFY_RECORD", Activity.EVENT),
    ("PROFILING_", Activity.OTHER),
)

#: The kernels of collectives: msprof counts them as communication, not as computing.
COMMUNICATION_KERNEL_SUFFIXES = ("AicpuKernel", "AivKernel")

#: Flow categories whose ids are unique: one with several starts is shared by unrelated tasks, and ignored.
UNIQUE_FLOWS = frozenset({"HostToDevice"})

#: The families to look in for the slice a flow belongs to, best first, where the category says it.
FLOW_FAMILIES = {
    "fwdbwd": (Family.OPERATORS,),
    "async_npu": (Family.OPERATORS, Family.TASKS, Family.GROUP),
    "async_task_queue": (Family.OPERATORS,),
    "async_mindspore": (Family.OPERATORS,),
    "HostToDevice": (Family.CALLS, Family.TASKS, Family.GROUP),
    "ac2g": (Family.CALLS, Family.TASKS),
    "async_cpu_to_gpu": (Family.CALLS, Family.TASKS),
}

_GPU_LABEL = re.compile(r"GPU\b", re.IGNORECASE)
_DEVICE_LABEL = re.compile(r"(NPU|GPU|DPU)\b", re.IGNORECASE)


def place_of(process: str | None, label: str, thread: str, category: str, marks: bool) -> Place:
    """Where the slices of a category of a thread are shown.

    A process name the table knows decides, except that the framework's own process is divided by category;
    then the category; then a GPU label.

    Args:
        process: the process name, None where the trace has none.
        label: the process label, "" where none.
        thread: the thread name, "" where none.
        category: the category of the slices, lower case, "" where none.
        marks: whether flows of user ranges start in the process.
    """
    known = PROCESSES.get(process or "")
    by_category = CATEGORIES.get(category)
    if known is not None:
        if known.layer == Layer.PYTHON and by_category is not None:
            return by_category
        if known.family == Family.GROUP and thread.startswith("Plane"):
            return Place(Layer.COMMUNICATION, Family.PLANE)
        if known.layer == Layer.DEVICE and thread.startswith("Step Trace"):
            return Place(Layer.DEVICE, Family.ANNOTATIONS)
        return known
    if by_category is not None:
        return by_category
    if marks:
        return Place(Layer.MARKS, Family.OTHER)
    if _GPU_LABEL.match(label):
        return Place(Layer.DEVICE, Family.ANNOTATIONS)
    return Place(Layer.OTHER, Family.OTHER)


def sign_of(name: str, category: str) -> str | None:
    """The process whose slices have such a name and category; None where no row of the tables fits."""
    sign = CATEGORY_SIGNS.get(category.lower()) or NAME_SIGNS.get(name)
    return sign or next((sign for prefix, sign in NAME_PREFIX_SIGNS if name.startswith(prefix)), None)


def activity_of_type(task_type: str) -> Activity | None:
    """What a task of this `Task Type` does; None where no row of the table fits."""
    key = _type_key(task_type)
    known = TASK_TYPES.get(key)
    return _by_prefix(key, TASK_TYPE_PREFIXES) if known is None else known


def engine_of_type(task_type: str) -> str:
    """What a task of `Activity.AICPU` runs on: "AI CPU", "DSA"; of an unknown type the type itself.

    As written in the trace then: never print it unescaped.
    """
    key = _type_key(task_type)
    return next((engine for prefix, engine in ENGINES if key.startswith(prefix)), task_type)


def says_nothing(task_type: str) -> bool:
    """Whether a `Task Type` is one that producers of 2024 give to every task."""
    return _type_key(task_type) == "OTHER"


def type_of_name(name: str) -> Activity | None:
    """What a task does whose name is a task type, as of one that is no known operator; else None."""
    return TASK_TYPES.get(_type_key(name))


def activity_of_name(name: str) -> Activity | None:
    """What an Ascend task of this name does, where the name decides against the type; else None."""
    if name.endswith(COMMUNICATION_KERNEL_SUFFIXES):
        return Activity.COMMUNICATION_TASK
    return _by_prefix(name, TASK_NAME_PREFIXES)


def is_nccl(name: str) -> bool:
    """Whether a GPU kernel is communication."""
    return name[:4].lower() == "nccl"


def device_label(label: str) -> str | None:
    """The device of a process label, e.g. "NPU 0"; None for a host label and for none."""
    stripped = label.strip()
    return stripped if _DEVICE_LABEL.match(stripped) else None


def _type_key(text: str) -> str:
    return text.strip().upper().replace(" ", "_")


def _by_prefix(text: str, prefixes: tuple[tuple[str, Activity], ...]) -> Activity | None:
    return next((activity for prefix, activity in prefixes if text.startswith(prefix)), None)
