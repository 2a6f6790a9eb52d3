"""What torch_npu calls things: PyTorch's processes on Ascend, and the task queue."""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
    CollectiveNames,
    Dialect,
    FlowCategories,
    FrameNames,
    OperatorNames,
    ProcessHints,
    ProcessNames,
    ProcessPlace,
    Purpose,
    SliceCategories,
)
from tracetui.trace.model import Family, Layer

TORCH_NPU = Dialect(
    processes=ProcessNames(
        places={
            "Python": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "Python GC": ProcessPlace(Layer.PYTHON, Family.COLLECTOR),  # [C]
        },
        numbered=frozenset({"Python GC"}),  # [C]
        ascend_categories=frozenset({"enqueue", "dequeue", "async_npu", "async_task_queue"}),
        # Where torch.profiler records NPUs itself, by torch_npu's plugin of Kineto.
        unnumbered_devices={"Ascend NPU": "NPU"},
    ),
    hints=ProcessHints(
        categories={
            "cpu_op": "Python",
            "python_function": "Python",
            "enqueue": "Python",
            "dequeue": "Python",
            "gc": "Python GC",  # [C]
        },
    ),
    categories=SliceCategories(
        places={
            "enqueue": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "dequeue": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "gc": ProcessPlace(Layer.PYTHON, Family.COLLECTOR),  # [C]
        },
        enqueues=frozenset({"enqueue"}),
        dequeues=frozenset({"dequeue"}),
    ),
    flows=FlowCategories(
        families={
            "async_npu": (Family.OPERATORS, Family.TASKS, Family.GROUP),  # torch_to_npu
            "async_task_queue": (Family.OPERATORS,),
        },
        operator=frozenset({"async_npu"}),
    ),
    collectives=CollectiveNames(kernels=(r"hcom_",)),  # [I], of the plugin
    operators=OperatorNames(
        queue_beginnings=("Enqueue", "Dequeue"),  # alone, or with "@" and what is queued
        purposes=(
            (Purpose.COMMUNICATION, r"hccl:|Hccl[A-Z]|hcom_"),  # hccl: [C]
            (Purpose.COMPILE, r"(?i:npu::compile)"),  # [I]
        ),
    ),
    frames=FrameNames(
        purposes=(
            (Purpose.SYNC, r"(?:.*/)?(?:torch/npu|torch_npu/(?:npu|cuda))/.*: synchronize$"),
            (Purpose.SYNC, r"<built-in .*_npu_synchronize\b"),  # [C]
            (Purpose.PROFILER, r"(?:.*/)?torch_npu/profiler/"),
        ),
        framework_packages=frozenset({"torch_npu"}),
    ),
)
