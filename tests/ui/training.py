"""A small training step with known idle time by line, and the viewer opened on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.analysis.machine import call, dequeue, enqueue, npu, operator, task
from tests.synthetic import trace_of
from tests.ui.viewing import open_viewer
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions

TORCH = "/usr/lib/python3.10/site-packages/torch"
MAIN = "/work/train.py(30): main"
#: (idle ns before the task, call stack of the operator that enqueued it, name)
STEPS: Sequence[tuple[int, list[str] | None, str]] = (
    (0, ["/work/train.py(10): load", MAIN], "first"),
    (50_000, ["/work/train.py(12): loss", MAIN], "matmul"),
    (10_000, [f"{TORCH}/nn/f.py(5): relu", "/work/net.py(7): forward", MAIN], "relu"),
    (30_000, ["/work/train.py(12): loss", MAIN], "matmul"),
    (9_000, None, "[red]evil\x1b[2J"),
)  # fmt: skip
TASK_NS = 1000


def training(
    steps: Sequence[tuple[int, list[str] | None, str]] = STEPS, more: Sequence[dict[str, Any]] = ()
) -> Trace:
    """One task after each stretch of idle time, each with its chain to an operator; and more events."""
    events: list[dict[str, Any]] = [*npu(), *more]
    now = 1_000_000
    for number, (idle, stack, name) in enumerate(steps, 1):
        now += idle
        events += [
            operator(now - 900, 400, f"aten::{name}", stack=stack),
            enqueue(now - 800, 100, number),
            dequeue(now - 600, 300, number),
            call(now - 500, 100, number),
            task(now, TASK_NS, connection=number, name=name),
        ]
        now += TASK_NS
    return trace_of(events)


@cache
def usual() -> tuple[Trace, Analysis]:
    """The training step, and what is found in it: made once for all apps."""
    trace = training()
    return trace, analyse(trace)


def viewer(path: Path, trace: Trace | None = None) -> TraceApp:
    """The viewer on the training step or on another trace, already analysed."""
    trace, analysis = (trace, analyse(trace)) if trace else usual()
    app = open_viewer(path / "trace_view.json", ViewerOptions(palette="none", ascii=True), trace=trace)
    app.session.analysis = analysis
    return app


def screen_text(app: TraceApp) -> list[str]:
    """The lines of the widgets of the screen in front."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]
