"""The memory of a simulated run, and the tables that a profiler writes of it: python -m simulator.memory DIR

A caching allocator over a recording: operators allocate a block each, which lives as long as what it is for.
Leaks are planted on demand; the state of an optimizer and a pool of batches, which are none, always.
"""

from __future__ import annotations

import argparse
import csv
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from simulator.machine import Machine
from simulator.program import Program
from simulator.recording import Operator, Recording
from simulator.scenarios import START_NS
from simulator.source import SCRIPTS, TrainingScript
from simulator.writer import TraceWriter

SCRIPT, TRACED_AS = SCRIPTS / "grpo" / "train_grpo.py", "/workspace/grpo/train_grpo.py"
LAYERS = 28
CAST_BYTES = 312 * 1000 * 1000 // 512 * 512
POOLED = 2  #: steps for which a batch is held
_BEFORE, _RESERVED = 1 << 30, 8 << 30  #: bytes held before the recording; reserved all the time
_BLOCK_TITLES = (
    "Name",
    "Size(KB)",
    "Allocation Time(us)",
    "Release Time(us)",
    "Active Release Time(us)",
    "Duration(us)",
    "Stream Ptr",
    "Device Type",
)
_SAMPLE_TITLES = (
    "Component",
    "Timestamp(us)",
    "Total Allocated(MB)",
    "Total Reserved(MB)",
    "Total Active(MB)",
    "Stream Ptr",
    "Device Type",
)
_CAST, _BATCH, _STATE = "npu::npu_dtype_cast", "aten::empty_strided", "aten::_foreach_lerp_"

#: Whether the call of an operator is never given back, by its step (from 0) and its number in it (from 1).
Leak = Callable[[Operator, int, int], bool]


class MemoryBlock(NamedTuple):
    """A block of memory; times in ns."""

    name: str
    bytes: int
    start: int
    release: int | None  #: None: alive at the end
    step: int  #: from 0


def grpo(program: Program, steps: int) -> None:
    """Run an actor of 28 layers: attention, a cast, an addition each."""
    p = program
    states = (16, 512, 1024)
    p.enter_roots("    main()", "        update(actor, optimizer", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for states in rollouts:", ms=0.1)
        p.to_device('states = states.to("npu", non_blocking=True)', states, us=90)
        with p.own_module("Actor", "states = layer(states)", at="actor(states)"):
            for _ in range(LAYERS):
                with p.own_module("ActorLayer", "val = val.float()", at="states = layer(states)"):
                    p.op("attention", at="val = torch_npu.npu_fusion_attention", us=80, shapes=[states])
                    p.op("float", at="val = val.float()", us=12, shapes=[states])
                    p.op("add", at="return states + val", us=12, shapes=[states, states], grad=False)
        p.adamw("optimizer.step()", us=40)
        p.end_step("prof.step()", last=step == steps - 1)


def simulate_grpo(steps: int, seed: int = 1, task_queue: bool = True) -> Recording:
    """Run the update of an actor."""
    machine = Machine(seed, START_NS, 3178231, task_queue)
    program = Program(machine, TrainingScript(SCRIPT, TRACED_AS))
    grpo(program, steps)
    program.finish()
    return machine.recording


def last_cast(operator: Operator, _step: int, nth: int) -> bool:
    """Return the leak of the script: the cast of the last layer."""
    return operator.name == _CAST and nth == LAYERS


def no_leak(_operator: Operator, _step: int, _nth: int) -> bool:
    """Keep nothing."""
    return False


def allocate(recording: Recording, leak: Leak = last_cast) -> list[MemoryBlock]:
    """Return the blocks of a run, by start."""
    operators = list(_allocating(recording))
    steps = sorted(recording.steps, key=lambda op: op.start)
    counts: dict[tuple[int, str], int] = {}
    blocks = []
    for place, op in enumerate(operators):
        step = sum(span.start <= op.start for span in steps) - 1
        nth = counts[step, op.name] = counts.get((step, op.name), 0) + 1
        start = op.start + (op.end - op.start) // 20 * 10
        release: int | None = operators[min(place + 3, len(operators) - 1)].start + 20
        if release is not None and release <= start:
            release = op.end
        if op.name == _BATCH:
            release = steps[step + POOLED].start + 500 if step + POOLED < len(steps) else None
        if leak(op, step, nth) or (op.name == _STATE and step == 0):
            release = None
        size = CAST_BYTES if op.name == _CAST else 512 * (1 + zlib.crc32(op.name.encode()) % 4096)
        blocks.append(MemoryBlock(op.name, size, start, release, step))
    return sorted([*blocks, *_workspaces(recording)], key=lambda block: block.start)


def _allocating(recording: Recording) -> Iterator[Operator]:
    """Yield the operators that need room for what they launch: those of PyTorch, not the calls inside."""
    launching = {id(task.launch.operator) for task in recording.tasks if task.launch is not None}
    open_: list[Operator] = []
    for op in sorted(recording.operators, key=lambda op: (op.start, -op.end)):
        open_ = [outer for outer in open_ if outer.end >= op.end and outer.tid == op.tid]
        if op.name.startswith(("aten::", "npu::")):
            open_.append(op)
        if open_ and (id(op) in launching or op.name == _BATCH) and "memcpy" not in op.name:
            yield open_[-1]


def _workspaces(recording: Recording) -> Iterator[MemoryBlock]:
    """Yield what the graph engine allocates for every tenth launch, until the launch is done."""
    for number, dequeue in enumerate(sorted(recording.dequeues, key=lambda item: item.start)):
        if number % 10 == 0:
            middle = dequeue.start + (dequeue.end - dequeue.start) // 20 * 10
            yield MemoryBlock(f"cann::Node_{number}", 65536, middle, dequeue.end, -1)


def write_tables(directory: Path, blocks: list[MemoryBlock], end: int) -> None:
    """Write operator_memory.csv and memory_record.csv as torch_npu does."""
    rows: list[list[object]] = []
    for block in blocks:
        released = "" if block.release is None else _us(block.release)
        duration = "" if block.release is None else _us(block.release - block.start)
        size = block.bytes / 1024
        rows.append([block.name, size, _us(block.start), released, released, duration, 1162636336, "NPU:0"])
    _write(directory / "operator_memory.csv", _BLOCK_TITLES, rows)
    rows = [["APP", _us(end), "", (_RESERVED + (1 << 29)) / 2**20, "", "", "NPU:0"]]
    for component, time, sum_ in samples_of(blocks):
        megabytes = sum_ / 2**20
        rows.append([component, _us(time), megabytes, _RESERVED / 2**20, megabytes, 1162636336, "NPU:0"])
    _write(directory / "memory_record.csv", _SAMPLE_TITLES, rows)


def _write(path: Path, titles: tuple[str, ...], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([titles, *rows])


def samples_of(blocks: list[MemoryBlock]) -> Iterator[tuple[str, int, int]]:
    """Yield component, time and bytes held after each change of it."""
    changes = sorted(
        [(block.start, block.bytes, block.name) for block in blocks]
        + [(block.release, -block.bytes, block.name) for block in blocks if block.release is not None]
    )
    amounts = {"PTA": _BEFORE, "GE": 0}
    for time, change, name in changes:
        component = "GE" if name.startswith("cann::") else "PTA"
        amounts[component] += change
        yield component, time, amounts[component]
        yield "PTA+GE", time, sum(amounts.values())


def write_run(
    directory: Path, steps: int, leak: Leak = last_cast, level: int = 2, database: bool = False
) -> list[MemoryBlock]:
    """Write a trace and the tables beside it, or a database with all of them; returns the blocks."""
    recording = simulate_grpo(steps)
    blocks = allocate(recording, leak)
    if database:
        from simulator.database import DatabaseWriter  # which knows blocks

        DatabaseWriter(recording, level, blocks=blocks).write(directory / "ascend_pytorch_profiler_0.db")
        return blocks
    with (directory / "trace_view.json").open("wb") as file:
        TraceWriter(recording, level).write(file)
    write_tables(directory, blocks, recording.end)
    return blocks


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}\t"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulator.memory", description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--no-leak", action="store_true")
    options = parser.parse_args(arguments)
    options.directory.mkdir(parents=True, exist_ok=True)
    blocks = write_run(options.directory, options.steps, no_leak if options.no_leak else last_cast)
    print(f"{options.directory}: {len(blocks)} blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
