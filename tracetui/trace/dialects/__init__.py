"""What the producers of traces call things: one module each, and the list of them.

A trace is written by several at once: of PyTorch on Ascend the operators are PyTorch's, the task queue is
torch_npu's, the runtime and the device are msprof's. A new producer is one more module with its `Dialect` and
one more entry here; unknown names get a defined answer, never an error. Nothing here reads events, and nobody
else knows a spelling: rules ask `known.KNOWN`, all tables as one.

The tables mark where a spelling comes from, unless real files have it: [C] the producer's source,
[D] its documents, [I] inferred from what is like it.
"""

from __future__ import annotations

from tracetui.trace.dialects.kineto import KINETO
from tracetui.trace.dialects.mindinsight import MINDINSIGHT
from tracetui.trace.dialects.mindspore import MINDSPORE
from tracetui.trace.dialects.msprof import MSPROF
from tracetui.trace.dialects.pytorch import PYTORCH
from tracetui.trace.dialects.torch_npu import TORCH_NPU

DIALECTS = (PYTORCH, TORCH_NPU, KINETO, MINDSPORE, MSPROF, MINDINSIGHT)
