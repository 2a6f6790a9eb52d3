"""The samples by name: which program runs, which script it stands for, and how to simulate it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from samples.host import Pace
from samples.machine import Machine
from samples.program import Program
from samples.programs import attached, balanced, mixed, moba, stalls
from samples.recording import Recording
from samples.source import TrainingScript

HERE = Path(__file__).resolve().parent
START_NS = 1736412474712511620


class Scenario(NamedTuple):
    """A training program, the script it stands for, and how many steps are usual."""

    run: Callable[[Program, int], None]
    script: Path
    traced_as: str
    steps: int


SCENARIOS = {
    "attached": Scenario(
        attached, HERE / "attached" / "train_attached.py", "/workspace/attached/train_attached.py", 2
    ),
    "balanced": Scenario(
        balanced, HERE / "balanced" / "train_dense.py", "/workspace/balanced/train_dense.py", 3
    ),
    "mixed": Scenario(mixed, HERE / "mixed" / "train_mixed.py", "/workspace/mixed/train_mixed.py", 3),
    "moba": Scenario(moba, HERE / "moba" / "train_moba.py", "/workspace/moba/train_moba.py", 1),
    "stalls": Scenario(stalls, HERE / "stalls" / "train_stalls.py", "/workspace/stalls/train_stalls.py", 2),
}


def simulate(
    name: str,
    steps: int = 0,
    seed: int = 1,
    task_queue: bool = True,
    pace: Pace | None = None,
    pid: int = 3178231,
) -> Recording:
    """Run a scenario in the process `pid`; `steps` 0 means its usual number.

    With a `pace`, the host works slower or faster at one line, and all else takes the time it would without.
    """
    scenario = SCENARIOS[name]
    machine = Machine(seed, START_NS, pid, task_queue)
    program = Program(machine, TrainingScript(scenario.script, scenario.traced_as), pace)
    scenario.run(program, steps or scenario.steps)
    program.finish()
    return machine.recording
