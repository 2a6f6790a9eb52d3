"""What MindSpore calls things. No real trace of version 2.4 and later was at hand: all of it is [C].

Slices of its process are called `Module::Event::operator`, stages by a word alone. Events of PyNative mode
lost their beginning or got it from version to version (`LaunchTask`, `PyNativeLaunchTask`): what hands work
on to whom is told by arrows, not by names.
"""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
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

_MODULES = (
    *("PynativeFramework", "PynativeFrameWork", "RuntimeFramework"),
    *("GraphExecutorPy", "Kernel", "Dataset"),
)

MINDSPORE = Dialect(
    processes=ProcessNames(
        places={
            "MindSpore": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "CPU OP": ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            "Scope Layer": ProcessPlace(Layer.PYTHON, Family.OTHER),  # networks, cut from names: no calls
        },
        ascend=frozenset({"MindSpore"}),
        ascend_categories=frozenset({"async_npu", "async_mindspore"}),
    ),
    hints=ProcessHints(
        name_beginnings=tuple((f"{module}::", "MindSpore") for module in _MODULES),
    ),
    categories=SliceCategories(
        places={"python_function": ProcessPlace(Layer.PYTHON, Family.FRAMES)},
    ),
    flows=FlowCategories(
        families={
            "async_npu": (Family.OPERATORS, Family.TASKS, Family.GROUP),  # mindspore_to_npu
            "async_mindspore": (Family.OPERATORS,),  # mindspore_to_self
        },
        operator=frozenset({"async_npu"}),
        dispatch=frozenset({"async_mindspore"}),
    ),
    operators=OperatorNames(
        step_beginnings=("ProfilerStep#", "Python::PythonObserved::ProfilerStep#"),
        purposes=(
            (Purpose.SYNC, r"(?:\w+::)*(?:StreamSync|SyncStream|Asnumpy|KernelInferDataSync)(?:::|$)"),
            (Purpose.DATALOADER, r"Dataset::"),
            (
                Purpose.COMPILE,
                r"(?:\w+::)*(?:CompileGradGraph|CaptureCompile|(?:PyNative)?OpCompile)(?:::|$)",
            ),
        ),
    ),
    frames=FrameNames(
        purposes=(
            (Purpose.SYNC, r"(?:.*/)?mindspore/.*tensor\.py\(\d+\): asnumpy$"),
            (Purpose.DATALOADER, r"(?:.*/)?mindspore/dataset/"),
            (Purpose.PROFILER, r"(?:.*/)?mindspore/profiler/"),
        ),
        framework_packages=frozenset({"mindspore"}),
    ),
)
