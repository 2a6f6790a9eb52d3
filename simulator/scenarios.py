"""The samples by name: which program runs, which script it stands for, and how to simulate it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from simulator.host import LinePace
from simulator.machine import Machine
from simulator.program import Program
from simulator.programs import attached, balanced, mixed, moba, stalls
from simulator.recording import Recording
from simulator.source import SCRIPTS, TrainingScript

START_NS = 1736412474712511620


class Scenario(NamedTuple):
    """A training program, the script it stands for, and how many steps are usual."""

    run: Callable[[Program, int], None]
    script: Path
    traced_as: str
    steps: int


SCENARIOS = {
    "attached": Scenario(
        attached, SCRIPTS / "attached" / "train_attached.py", "/workspace/attached/train_attached.py", 2
    ),
    "balanced": Scenario(
        balanced, SCRIPTS / "balanced" / "train_dense.py", "/workspace/balanced/train_dense.py", 3
    ),
    "mixed": Scenario(mixed, SCRIPTS / "mixed" / "train_mixed.py", "/workspace/mixed/train_mixed.py", 3),
    "moba": Scenario(moba, SCRIPTS / "moba" / "train_moba.py", "/workspace/moba/train_moba.py", 1),
    "stalls": Scenario(
        stalls, SCRIPTS / "stalls" / "train_stalls.py", "/workspace/stalls/train_stalls.py", 2
    ),
}


def simulate(
    name: str,
    steps: int = 0,
    seed: int = 1,
    task_queue: bool = True,
    pace: LinePace | None = None,
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
