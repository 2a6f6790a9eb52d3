"""What MindSpore calls things. No real trace of version 2.4 and later was at hand: all of it is [C].

Slices of its process are called `Module::Event::operator`, stages by a word alone. Events of PyNative mode
lost their beginning or got it from version to version (`LaunchTask`, `PyNativeLaunchTask`): what hands work
on to whom is told by arrows, not by names.
"""

from __future__ import annotations

from tracetui.trace.dialects.dialect import Dialect, Place, Purpose
from tracetui.trace.model import Family, Layer

MINDSPORE = Dialect(
    processes={
        "MindSpore": Place(Layer.PYTHON, Family.OPERATORS),
        "CPU OP": Place(Layer.PYTHON, Family.OPERATORS),
        "Scope Layer": Place(Layer.PYTHON, Family.OTHER),  # networks, cut from names of operators: no calls
    },
    ascend_processes=frozenset({"MindSpore"}),
    ascend_categories=frozenset({"async_npu", "async_mindspore"}),
    name_beginning_hints=(
        ("PynativeFramework::", "MindSpore"),
        ("PynativeFrameWork::", "MindSpore"),
        ("RuntimeFramework::", "MindSpore"),
        ("GraphExecutorPy::", "MindSpore"),
        ("Kernel::", "MindSpore"),
        ("Dataset::", "MindSpore"),
    ),
    categories={"python_function": Place(Layer.PYTHON, Family.FRAMES)},
    flow_families={
        "async_npu": (Family.OPERATORS, Family.TASKS, Family.GROUP),  # mindspore_to_npu
        "async_mindspore": (Family.OPERATORS,),  # mindspore_to_self
    },
    operator_flows=frozenset({"async_npu"}),
    dispatch_flows=frozenset({"async_mindspore"}),
    step_beginnings=("ProfilerStep#", "Python::PythonObserved::ProfilerStep#"),
    operators=(
        (Purpose.SYNC, r"(?:\w+::)*(?:StreamSync|SyncStream|Asnumpy|KernelInferDataSync)(?:::|$)"),
        (Purpose.DATALOADER, r"Dataset::"),
        (Purpose.COMPILE, r"(?:\w+::)*(?:CompileGradGraph|CaptureCompile|(?:PyNative)?OpCompile)(?:::|$)"),
    ),
    frames=(
        (Purpose.SYNC, r"(?:.*/)?mindspore/.*tensor\.py\(\d+\): asnumpy$"),
        (Purpose.DATALOADER, r"(?:.*/)?mindspore/dataset/"),
        (Purpose.PROFILER, r"(?:.*/)?mindspore/profiler/"),
    ),
    framework_packages=frozenset({"mindspore"}),
)
