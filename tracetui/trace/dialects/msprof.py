"""What msprof and CANN call things: the runtime, the device, the collectives, of PyTorch and MindSpore alike.

Of 2023 and later, in its older version (msprof-py) and its newer one (msprof-C++): of the latter no real
file was at hand.
"""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
    CallNames,
    CollectiveNames,
    CopyNames,
    CounterNames,
    Dialect,
    FlowCategories,
    NetworkLinks,
    OperatorNames,
    ProcessHints,
    ProcessNames,
    ProcessPlace,
    Purpose,
    TaskNames,
    ThreadNames,
)
from tracetui.trace.model import Activity, Family, Layer

_OVERLAP_ROWS = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
}

#: [C]: types of tasks that keep streams, models and labels in order, or serve profilers and debuggers.
_MAINTENANCE = (
    *("MAINTENANCE", "CREATE_STREAM", "CREATE_L2_ADDR", "MODEL_MAINTAINCE", "MODEL_EXECUTE", "STREAM_SWITCH"),
    *("STREAM_ACTIVE", "LABEL_SET", "LABEL_SWITCH", "LABEL_GOTO", "PROFILER_TRACE", "PROFILER_TRACE_EX"),
    *("STARS_COMMON", "CMO", "BARRIER", "MULTIPLE_TASK", "PC_TRACE", "MODEL_END_GRAPH", "MODEL_TO_AICPU"),
    *("ACTIVE_AICPU_STREAM", "DATADUMP_LOADINFO", "STREAM_SWITCH_N", "HOSTFUNC_CALLBACK", "NOP", "FLIP_TASK"),
    *("ONLINE_PROF_ENABLE", "ONLINE_PROF_DISABLE", "STREAM_LABEL_SWITCH_BY_INDEX", "STREAM_LABEL_GOTO"),
    *("DEBUG_REGISTER", "DEBUG_UNREGISTER", "FUSIONDUMP_ADDR_SET", "MODEL_EXIT_GRAPH", "ADC_PROF"),
    *("DEVICE_RINGBUFFER_CONTROL", "DEBUG_REGISTER_FOR_STREAM", "DEBUG_UNREGISTER_FOR_STREAM"),
    *("TASK_TIMEOUT_SET", "GET_DEVICE_MSG", "NPU_GET_FLOAT_STATUS", "NPU_CLEAR_FLOAT_STATUS"),
    *("OVERFLOW_SWTICH_SET", "STREAM_TAG_SET", "SET_STREAM_MODE", "IPC_INT_NOTICE", "ALLOC_DSA_ADDR"),
    *("MODEL_TASK_UPDATE", "AICPU_LOADINFO", "GET_STARS_VERSION", "RDMA_PI_VALUE_MODIFY"),
)

#: By what they do. Real files have the first ones of each, the others are [C], but PCIE_DMA and HCCL: [I].
_TASK_TYPES_BY_ACTIVITY = {
    Activity.COMPUTE: (
        *("AI_CORE", "MIX_AIV"),
        "OTHER",  # 2024: every kernel is "Other"; the rest is known by its name
        *("AI_VECTOR_CORE", "AIV_SQE", "MIX_AIC", "FFTS_PLUS", "FUSION"),
        *("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"),
    ),
    Activity.AICPU: (
        *("AI_CPU", "DSA_SQE"),
        *("AICPU_H", "AICPU_D", "KERNEL_AICPU", "VPC_SQE", "JPEGE_SQE", "JPEGD_SQE", "VQ6_SQE", "TOF_SQE"),
        "HOST_CPU_SQE",
    ),
    Activity.COPY: ("SDMA", "SDMA_SQE", "PCIE_DMA_SQE", "PCIE_DMA", "UBDMA", "ASYNCDMA"),
    Activity.WAIT: (
        *("EVENT_WAIT", "EVENT_WAIT_SQE", "NOTIFY_WAIT"),
        *("NOTIFY_WAIT_SQE", "REMOTE_EVENT_WAIT", "MEM_WAIT_VALUE", "CAPTURE_WAIT"),
        *("DAVID_EVENT_WAIT", "IPC_EVENT_WAIT"),
    ),
    Activity.EVENT: (
        *("EVENT_RECORD", "EVENT_RECORD_SQE", "NOTIFY_RECORD", "WRITE_VALUE", "PLACE_HOLDER_SQE"),
        *("NOTIFY_RECORD_SQE", "WRITE_VALUE_SQE", "END_SQE", "WRITEVALUETASK", "MEM_WRITE_VALUE"),
        *("CAPTURE_RECORD", "DAVID_EVENT_RECORD", "DAVID_EVENT_RESET", "IPC_EVENT_RECORD"),
    ),
    Activity.COMMUNICATION_TASK: (
        *("REDUCE_ASYNC_V2", "HCCL"),
        *("COMMUNICATION", "CCU_SQE", "RDMA_SEND", "RDMA_DB_SEND", "CCU_LAUNCH"),
    ),
    Activity.OTHER: (
        *("PROFILING_ENABLE", "PROFILING_DISABLE"),
        *("ROCCE_SQE", "CMO_SQE", "CDQM_SQE", "C_CORE_SQE", "CONDITION_SQE", "MAX_SQE"),
        *_MAINTENANCE,
    ),
}
_TASK_TYPES = {text: activity for activity, texts in _TASK_TYPES_BY_ACTIVITY.items() for text in texts}

#: [I]: what later types may begin with.
_TASK_TYPE_BEGINNINGS = (
    ("KERNEL_AICPU", Activity.AICPU),
    ("AI_CPU", Activity.AICPU),
    ("JPEG", Activity.AICPU),
    ("KERNEL_", Activity.COMPUTE),
    ("AI_CORE", Activity.COMPUTE),
    ("AI_VECTOR", Activity.COMPUTE),
    ("AIC_", Activity.COMPUTE),
    ("AIV_", Activity.COMPUTE),
    ("MIX_", Activity.COMPUTE),
    ("FFTS_PLUS", Activity.COMPUTE),
    ("MEMCPY", Activity.COPY),
    ("MEMSET", Activity.COPY),
    ("EVENT_WAIT", Activity.WAIT),
    ("NOTIFY_WAIT", Activity.WAIT),
    ("STREAM_WAIT", Activity.WAIT),
    ("EVENT_", Activity.EVENT),
    ("NOTIFY_", Activity.EVENT),
    ("PROFILING_", Activity.OTHER),
    ("REDUCE_ASYNC", Activity.COMMUNICATION_TASK),
)

_TASK_NAME_BEGINNINGS = (
    ("MEMCPY_ASYNC", Activity.COPY),
    ("EVENT_WAIT", Activity.WAIT),
    ("NOTIFY_WAIT", Activity.WAIT),
    ("STREAM_WAIT_EVENT", Activity.WAIT),  # [I]
    ("EVENT_RECORD", Activity.EVENT),
    ("EVENT_RESET", Activity.EVENT),
    ("NOTIFY_RECORD", Activity.EVENT),
    ("PROFILING_", Activity.OTHER),
)

#: Real files have AI_CPU and DSA; the others are [C].
_ENGINES = (
    ("AI_CPU", "AI CPU"),
    ("AICPU", "AI CPU"),
    ("KERNEL_AICPU", "AI CPU"),
    ("DSA", "DSA"),
    ("VPC", "VPC"),
    ("JPEG", "JPEG"),
    ("HOST_CPU", "host CPU"),
)

#: Real files have FP32 and INT32; the others are [C].
_ELEMENT_BYTES = {
    **dict.fromkeys(("INT8", "UINT8"), 1),
    **dict.fromkeys(("FP16", "BFP16", "BF16", "INT16", "UINT16"), 2),
    **dict.fromkeys(("FP32", "INT32", "UINT32"), 4),
    **dict.fromkeys(("FP64", "INT64", "UINT64"), 8),
    "INT128": 16,
}

MSPROF = Dialect(
    processes=ProcessNames(
        places={
            "CANN": ProcessPlace(Layer.RUNTIME, Family.CALLS),
            "Ascend Hardware": ProcessPlace(Layer.DEVICE, Family.TASKS),
            "HCCL": ProcessPlace(Layer.COMMUNICATION, Family.GROUP),
            # [C], what HCCL is called later
            "Communication": ProcessPlace(Layer.COMMUNICATION, Family.GROUP),
            "Overlap Analysis": ProcessPlace(Layer.OVERLAP, Family.OVERLAP),
            "OS Runtime API": ProcessPlace(Layer.OTHER, Family.CALLS),  # [C]
            # The parts of tasks that stand in "Ascend Hardware" too.
            "Fusion Task": ProcessPlace(Layer.OTHER, Family.OTHER),  # [C]
            # Of databases: in text exports the name is the user's.
            "msTX": ProcessPlace(Layer.MARKS, Family.OTHER),
        },
        ascend=frozenset({"CANN", "Ascend Hardware", "HCCL", "Overlap Analysis"}),
        ascend_categories=frozenset({"HostToDevice"}),
        numbered=frozenset({"CANN", "Ascend Hardware", "HCCL", "Communication", "Overlap Analysis"}),
        device_labels=("NPU", "DPU"),  # DPU: [C]
    ),
    threads=ThreadNames(
        planes=("Plane",),
        groups=(r"Group (.+?) Communication$",),
        master_planes=frozenset({"Plane 1"}),
        annotations=("Step Trace",),
    ),
    hints=ProcessHints(
        names={**dict.fromkeys(_OVERLAP_ROWS, "Overlap Analysis"), "Memcpy": "Communication"},
        name_beginnings=(
            ("AscendCL@", "CANN"),
            ("Node@", "CANN"),
            ("Hccl@", "CANN"),
            ("Communication@", "CANN"),  # [C], what Hccl@ is called later
            ("Runtime@", "CANN"),
            ("Model@", "CANN"),
            ("hcom_", "Communication"),
            ("Notify_", "Communication"),
            ("Reduce_", "Communication"),
            ("RDMA", "Communication"),
        ),
        certain=("Ascend Hardware", "CANN"),
    ),
    flows=FlowCategories(
        families={"HostToDevice": (Family.CALLS, Family.TASKS, Family.GROUP)},
        unique=frozenset({"HostToDevice"}),
        marks=frozenset({"MsTx"}),  # [C]; mstx and msproftx: the name of the process is the user's own
        launch=frozenset({"HostToDevice"}),
    ),
    tasks=TaskNames(
        types=_TASK_TYPES,
        type_beginnings=_TASK_TYPE_BEGINNINGS,
        vector_types=("AI_VECTOR", "AIV", "MIX_AIV", "KERNEL_AIVEC"),
        name_beginnings=_TASK_NAME_BEGINNINGS,
        generic_types=frozenset({"OTHER"}),
        engines=_ENGINES,
        ai_cpu_types=(r"(?i:(?:KERNEL_)?AI_?CPU)",),
        format_conversions=(r"(?:.*[_/])?TransData\d*(?:-op\d+)?(?:_|$)",),
        casts=(r"(?:.*[_/])?Cast(?:AiCore)?\d*(?:-op\d+)?(?:_|$)",),
        type_last_beginnings=("aclnn",),
        type_last_endings=("_MemSet",),
        untyped_beginnings=("trans_",),
        binaries=(
            r"([A-Za-z]\w*?)_[0-9a-f]{32}_high_(?:performance|precision)_\w+",
            r"([A-Za-z]\w*?)_(?:ND|FRACTAL_NZ)_\w+_all_[0-9]+",
        ),
        overlap_rows=_OVERLAP_ROWS,
    ),
    copies=CopyNames(
        to_device=(r"host to device",),
        to_host=(r"device to host",),  # [C]
        any_direction=(r"(?:host|device|peer) to ",),
    ),
    collectives=CollectiveNames(
        kernel_endings=("AicpuKernel", "AivKernel"),  # [C]; not counted as computing there either
        group_operations=(r"hcom_[A-Za-z]+_{1,2}([0-9]{1,3})_[0-9]+(?:_[0-9]+)?$",),
        group_operation_beginnings=("hcom_",),
        types=(
            r"hcom_([A-Za-z]+)_{1,2}(?:[0-9]{1,3}_)?([0-9]{1,9})(?:_([0-9]{1,9}))?$",
            r"(?:.*/)?([A-Z][A-Za-z]+)-op[0-9]+(?:_[0-9]+)*$",  # MindSpore in 2023: Default/AllReduce-op534_0
        ),
        receives=("hcom_receive",),  # [C]
        rank_waits=(r"(?i:notify[ _]wait)",),
        notify_waits=frozenset({"Notify_Wait"}),
        sdma_moves=frozenset({"Memcpy", "Reduce_Inline"}),
        rdma_sends=frozenset({"RDMASend"}),  # [C]
        element_bytes=_ELEMENT_BYTES,
    ),
    links=NetworkLinks(
        # Real files have ON_CHIP, HCCS and PCIE; the others are [C].
        carriers={"ON_CHIP": "LOCAL", "HCCS": "HCCS", "HCCS_SW": "HCCS", "PCIE": "PCIE", "SIO": "SIO"},
        # 910A has the types of its task scheduler (HWTS), 910B those of STARS, which later chips have too.
        chips={
            "REDUCE_ASYNC_V2": "910A",
            **dict.fromkeys(
                # Databases have the types of the runtime, and of the parts of a task that only STARS runs.
                ("EVENT_RECORD_SQE", "EVENT_WAIT_SQE", "PLACE_HOLDER_SQE", "SDMA_SQE", "Write Value"),
                "910B",
            ),
        },
        types_of_other_chips=frozenset({"SIO", "HCCS_SW"}),  # [C]
        speeds={
            "910A RDMA": 12.5,
            "910A HCCS": 18.0,
            "910A PCIE": 20.0,
            "910B RDMA": 25.0,
            "910B HCCS": 28.0,
        },
    ),
    operators=OperatorNames(
        iterations=(r"Iteration (\d{1,18})",),
        iteration_passes=(r"FP_BP Time (\d{1,18})",),
    ),
    calls=CallNames(
        layer_beginnings=("AscendCL@", "Runtime@", "Node@", "Model@"),
        purposes=(
            (
                Purpose.SYNC,
                r"aclrtSynchronize|aclrtMemcpy(?:2d)?$|aclrtMemset$|(?:Stream|Device|Event|Context|Ctx)Sync"
                r"|Mem(?:Copy|cpy)(?:2D)?Sync|ModelExecuteSync",  # the last: [C]
            ),
            (Purpose.COMMUNICATION, r"(?:Hccl|Communication)@|hcom_|Hccl[A-Z]"),
            (Purpose.COMPILE, r"aclopCompile|opCompile|aclgrphBuild"),  # the last: [D]
        ),
        stream_holds=(r"aclrt(?:Launch(?:Callback|HostFunc)|ValueWait)",),  # [C]
        device_waits=(r"aclrtSynchronizeDevice|DeviceSynchronize",),
        stream_waits=(r"aclrtSynchronizeStream|StreamSynchronize",),
        graph_launches=(r"aclmdl(?:RI)?Execute|ModelExecute",),
        kernel_launches=(r"launch$",),
        capture_begins=(r"aclmdlRICaptureBegin",),
        capture_ends=(r"aclmdlRICaptureEnd",),
        compiling_launches=(r"aclopCompileAndExecute",),
        memory=(  # [D]
            r"aclrt(?:Malloc|Free)(?!Host)|aclMallocMemInner|rt(?:Malloc|Free)(?!Host)|Dev(?:Malloc|Free)",
        ),
        kernel_beginnings=("Node@", "Hccl@", "Communication@", "AscendCL@", "Model@"),
        copy_beginnings=("AscendCL@", "Node@", "Hccl@", "Communication@", "Model@"),
    ),
    counters=CounterNames(
        core_frequencies=(r"AI ?Core Freq",),  # later with "Die 0" after it: [C]
        fractions=(r"LLC .*Hit Rate$",),
    ),
)
