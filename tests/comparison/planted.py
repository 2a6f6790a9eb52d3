"""Simulated training runs of which one thing is slower, and nothing else differs: the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulator.host import LinePace, Shape
from simulator.machine import Machine
from simulator.program import Program
from simulator.scenarios import SCENARIOS, START_NS
from simulator.source import TrainingScript
from tests.once import once
from tests.simulator.traces import read
from tracetui.analysis.analyse import Analysis, analyse


class Planted(Program):
    """A program whose kernels of one operator, or whose collectives, take longer."""

    slow_operator, factor, collective = "", 1.0, 1.0

    def op(
        self,
        name: str,
        at: str | None = None,
        us: float | None = None,
        shapes: Sequence[Shape] = (),
        gradient_us: Sequence[float] | None = None,
        parameters: int = 0,
        grad: bool = True,
        launches: bool = True,
    ) -> None:
        slower = us * self.factor if us is not None and name == self.slow_operator else us
        super().op(name, at, slower, shapes, gradient_us, parameters, grad, launches)

    def backward(self, at: str, bucket: int = 0, collective_us: float = 0.0, skew_us: float = 0.0) -> None:
        super().backward(at, bucket, collective_us * self.collective, skew_us)


@once
def run(
    scenario: str,
    steps: int = 3,
    operator: str = "",
    factor: float = 1.0,
    collective: float = 1.0,
    line: int = 0,
    pace: float = 1.0,
) -> Analysis:
    """The trace of a scenario in which the kernels of an operator, collectives or a line take longer."""
    chosen = SCENARIOS[scenario]
    script = TrainingScript(chosen.script, chosen.traced_as)
    program = Planted(Machine(1, START_NS, 3178231, True), script, LinePace(line, pace) if line else None)
    program.slow_operator, program.factor, program.collective = operator, factor, collective
    chosen.run(program, steps)
    program.finish()
    trace = read(program.machine.recording)
    nowhere = replace(trace.report, bytes=0, text_bytes=0)  # pages tell where a file lies, and its size
    return analyse(replace(trace, path="synthetic.json", report=nowhere))
