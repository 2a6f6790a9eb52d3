"""What the profiler of MindSpore called things in the timelines for MindInsight, before version 2.4.

`timeline_display_1.json` of a real run has no metadata at all: its processes are known by their numbers.
Later files, [C], label them. The numbers of the merged rows are those of threads of one process.
"""

from __future__ import annotations

from tracetui.trace.dialects.dialect import (
    Dialect,
    OperatorNames,
    ProcessNames,
    ProcessPlace,
    TaskNames,
    ThreadNames,
)
from tracetui.trace.model import Family, Layer

_COMPUTES, _AI_CPU, _GPU = "AICORE OP", "AICPU OP", "GPU Op"
_COMMUNICATION, _HOST, _OVERLAP = "Communication Op", "Host CPU OP", "Op Overlap Analyse"

MINDINSIGHT = Dialect(
    processes=ProcessNames(
        places={
            _COMPUTES: ProcessPlace(Layer.DEVICE, Family.TASKS),
            "Ascend Op": ProcessPlace(Layer.DEVICE, Family.TASKS),  # [C], of PyNative mode
            _AI_CPU: ProcessPlace(Layer.DEVICE, Family.TASKS),
            _COMMUNICATION: ProcessPlace(Layer.COMMUNICATION, Family.GROUP),
            _HOST: ProcessPlace(Layer.PYTHON, Family.OPERATORS),
            _OVERLAP: ProcessPlace(Layer.OVERLAP, Family.OVERLAP),
            _GPU: ProcessPlace(Layer.DEVICE, Family.TASKS),  # [C], as what follows
            "Activity Op": ProcessPlace(Layer.DEVICE, Family.TASKS),
        },
        ascend=frozenset({_COMPUTES, "Ascend Op", _AI_CPU, _COMMUNICATION, _OVERLAP}),
        ai_cpu=frozenset({_AI_CPU}),
        labels=frozenset(
            {_COMPUTES, "Ascend Op", _AI_CPU, _COMMUNICATION, _HOST, _OVERLAP, _GPU, "Activity Op"}
        ),
        gpu=frozenset({_GPU}),
        gpu_files=(r"gpu_timeline_display_\d{1,9}\.json(?:\.gz)?",),
        gpu_device=(_GPU,),
        numbered_files=(r"(?:(?:ascend|gpu|cpu)_)?timeline_display_\d{1,9}\.json(?:\.gz)?",),
        numbers={
            "9000": _AI_CPU,
            "10000": _COMMUNICATION,
            "11000": _HOST,  # [C]
            **dict.fromkeys(("12000", "7999", "8000", "8001", "8002"), _OVERLAP),  # [C]
            "13000": "Activity Op",  # [C]
        },
        device=(_COMPUTES,),
    ),
    threads=ThreadNames(
        annotations=("Steps", "Scope Name"),  # [C]
    ),
    tasks=TaskNames(
        overlap_rows={  # [C]
            "computation_op": "computing_ns",
            "communication": "communication_ns",
            "communication_not_overlapped": "communication_not_overlapped_ns",
            "free_time": "free_ns",
        },
    ),
    operators=OperatorNames(
        iterations=(r"(\d{1,18})",),  # [C], on the thread of steps
    ),
)
