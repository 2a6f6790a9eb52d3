"""What kineto calls things: PyTorch on GPUs, of CUDA and of HIP, from 2021 on."""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
    CallNames,
    CollectiveNames,
    CopyNames,
    Dialect,
    FlowCategories,
    NativeFrameNames,
    OperatorNames,
    ProcessNames,
    ProcessPlace,
    Purpose,
    SliceCategories,
    TaskNames,
)
from tracetui.trace.model import Activity, Family, Layer

_NAMESPACES = r"(?:\(anonymous namespace\)::|\w+::)*"
_DEVICES = ("GPU", "MTIA", "XPU", "HPU")  # the last two [C]
#: [C], as no real file has them.
_UNSEEN_RUNTIMES = ("xpu_runtime", "xpu_driver", "hpu_op", "privateuse1_runtime", "privateuse1_driver")
_ACTIVITIES = {
    "kernel": Activity.COMPUTE,
    **dict.fromkeys(("gpu_memcpy", "memcpy", "gpu_memset", "memset"), Activity.COPY),
    **dict.fromkeys(("cuda_sync", "xpu_sync"), Activity.WAIT),  # the last: [C]
}

KINETO = Dialect(
    processes=ProcessNames(
        device_labels=_DEVICES,
        gpu_labels=_DEVICES,
    ),
    categories=SliceCategories(
        # In 2021 without "gpu_" and "cuda_", and capitalised: Operator, Kernel, Runtime, Memcpy, Memset.
        places={
            "operator": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            **dict.fromkeys(
                ("runtime", "cuda_runtime", "cuda_driver", "mtia_runtime", *_UNSEEN_RUNTIMES),
                ProcessPlace(Layer.RUNTIME, Family.CALLS),
            ),
            **dict.fromkeys((*_ACTIVITIES, "mtia_ccp_events"), ProcessPlace(Layer.DEVICE, Family.TASKS)),
            **dict.fromkeys(
                ("cuda_profiler_range", "gpu_user_annotation"),
                ProcessPlace(Layer.DEVICE, Family.ANNOTATIONS),
            ),
            "overhead": ProcessPlace(Layer.OTHER, Family.OTHER),  # [C]
        },
        counters=frozenset({"cuda_profiler_range"}),
        activities=_ACTIVITIES,
    ),
    flows=FlowCategories(
        families={
            "ac2g": (Family.CALLS, Family.TASKS),
            "async_cpu_to_gpu": (Family.CALLS, Family.TASKS),  # of 2022 and before
        },
    ),
    tasks=TaskNames(
        # Of MTIA, whose tasks are all of one category.
        name_beginnings=(
            ("dma_request", Activity.COPY),
            ("event_wait", Activity.WAIT),
            ("event_record", Activity.EVENT),
        ),
        parts=("dma_request",),
        format_conversions=(r"(?:void )?cudnn::(?:\w+::)*(?:nchwToNhwc|nhwcToNchw)Kernel",),
        host_waits=(r"(?:Context|Stream|Event) Sync",),
    ),
    copies=CopyNames(
        beginnings=("Memcpy", "Memset"),
        # XPU's name the host's memory M.
        to_device=(r"htod|[hm]2d",),
        to_host=(r"dtoh|d2[hm]",),
        any_direction=(r"[hdmp](?:to|2)[hdmp]\b",),
    ),
    collectives=CollectiveNames(
        kernels=(
            r"(?:void )?(?i:nccl|rccl|msccl|oneccl|nvshmem)",  # the last two [C]
            rf"(?!triton_)(?:void )?{_NAMESPACES}\w*"  # Triton's are called after all that is fused into them
            r"(?:(?:(?<![A-Za-z])all|All)_?(?:[Rr]educe|[Gg]ather|[Tt]o_?[Aa]ll)|[Rr]educe_?[Ss]catter)",
            rf"(?:void )?{_NAMESPACES}\w*cross_device_reduce",  # [C], of vLLM and what took it over
            # DeepEP, which moves tokens to their experts and back.
            rf"(?:void )?{_NAMESPACES}(?:\w+_)?ep::int(?:er|ra)node(?:_ll)?::"
            r"(?:cached_notify|notify_|dispatch|combine)",
        ),
        types=(r"nccl(?:Symk?)?(?:Dev)?Kernel_([A-Za-z]+)", r"nccl([A-Z][A-Za-z]+?)(?:Ring|Tree|_|$)"),
        # "_allgather_base", "all_to_allv", "reduce_scatter_tensor_coalesced", "broadcast_oop"
        arg_types=(r"_?(all_?reduce|all_?gather|reduce_?scatter|all_?to_?allv?|[a-z]+)",),
        # As c10d calls its types of elements.
        element_bytes={
            **dict.fromkeys(("BYTE", "CHAR", "BOOL"), 1),
            **dict.fromkeys(("SHORT", "HALF", "BFLOAT16"), 2),
            **dict.fromkeys(("INT", "FLOAT"), 4),
            **dict.fromkeys(("LONG", "DOUBLE"), 8),
        },
    ),
    operators=OperatorNames(
        purposes=((Purpose.COMMUNICATION, r"nccl:"),),
    ),
    calls=CallNames(
        purposes=(
            (
                Purpose.SYNC,
                r"(?:cuda|cu|hip)\w*Synchronize|(?:cuda|hip)Memcpy(?:2D|3D|ToSymbol|FromSymbol)?$"
                r"|cuMemcpy(?:DtoH|HtoD)(?:_v2)?$|hipMemcpyWithStream$"
                r"|ur(?:QueueFinish|EventWait)$|ze\w*HostSynchronize$|zeCommandQueueSynchronize$"  # [C]
                r"|synchronize(?:Stream)?$",  # of MTIA
            ),
            (Purpose.COMMUNICATION, r"nccl[A-Z]"),
            (Purpose.COMPILE, r"cuModuleLoad|cuLinkComplete|nvrtcCompile"),  # [D]
        ),
        device_waits=(r"(?:cuda|hip)DeviceSynchronize|(?:cu|hip)CtxSynchronize",),
        stream_waits=(
            r"(?:cuda|cu|hip)StreamSynchronize",
            r"(?:urQueueFinish|zeCommandQueueSynchronize)$",  # [C]
        ),
        graph_launches=(r"(?:cuda|cu|hip)GraphLaunch",),
        stream_holds=(r"(?:cuda|cu|hip)(?:LaunchHostFunc|Stream(?:AddCallback|WaitValue|BatchMemOp))",),
        early_launches=(r"(?:cuda|cu)LaunchKernelEx",),
        kernel_launches=(
            r"(?:cuda|cu|hip)(?:Ext)?(?:Module)?Launch(?:Cooperative)?Kernel",
            r"urEnqueue(?:Cooperative)?KernelLaunch",
            r"runFunction - ",  # of MTIA
        ),
        capture_begins=(r"(?:cuda|cu|hip)StreamBeginCapture",),
        capture_ends=(r"(?:cuda|cu|hip)StreamEndCapture",),
        graph_makes=(r"(?:cuda|cu|hip)GraphInstantiate",),
        memory=(r"(?:cuda|hip)(?:Malloc|Free)(?!Host)|cuMem(?:Alloc|Free)(?!Host)",),
    ),
    native=NativeFrameNames(
        gpu_allocators=(
            r"c10::(?:cuda|hip)::",
            r"torch::cuda::",
            r"PYTORCH_(?:CUDA|HIP)_ALLOC_CONF$",
        ),
    ),
)
