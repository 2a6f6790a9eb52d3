"""The memory that MindSpore's tracker tells of: memory_block.csv, blocks with their Python stacks, no times.

What begins and ends a block are the numbers of what the tracker saw; they stand for times. The form of the
stacks is not verified on a real file: frames are found by what looks like a file and a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.model import NEVER, Blocks, Curve, MemoryRecording, steps_at
from tracetui.analysis.memory.snapshot import repetitions
from tracetui.analysis.search import pick
from tracetui.siblings.formats import TRACKED_BLOCKS
from tracetui.siblings.tables import SiblingTable, read_beside
from tracetui.trace.stack import Frame

_DEVICE, _COMPONENT = "NPU", "MindSpore"
_FRAME = re.compile(
    r'(?P<file>[^\s"|;,()]+\.py)"?(?:[:(]|,? line )(?P<line>\d{1,9})(?!\d)\)?'
    r"[:,]? ?(?:in )?(?P<function>[\w<>.]*)"
)


def recorded_by_tracker(trace: Path, rules: FrameRules) -> MemoryRecording | None:
    """Return what the table beside the trace at a path tells; None where there is none."""
    table = read_beside(trace, TRACKED_BLOCKS)
    return None if table is None else _recording(table, rules)


def _recording(table: SiblingTable, rules: FrameRules) -> MemoryRecording:
    order = np.argsort(table.numbers["start"], kind="stable")
    start, end = table.numbers["start"][order], table.numbers["end"][order]
    release = np.where(end < 0, NEVER, np.maximum(end, start + 1))  # held at one event at least
    sizes = table.numbers["bytes"][order]
    stack, stacks = table.texts["stack"]
    lines, line_of_stack = rules.lines_of(tuple(frames_in(text)) for text in stacks)
    node, task = table.texts["node"], table.texts["task"]
    number = {text: place for place, text in enumerate(dict.fromkeys(["", *node.texts, *task.texts]))}
    operators = tuple(number)
    of_node, of_task = (
        np.array([*map(number.__getitem__, texts), 0], np.int32)[place] for place, texts in (node, task)
    )
    operator = np.where(node.place >= 0, of_node, of_task)[order]
    released = release[release < NEVER]
    last = int(max(start.max(initial=0), released.max(initial=0))) + 1
    steps = repetitions(start, np.where(stack < 0, len(stacks), stack)[order], last)
    zeros = np.zeros(len(start), np.int32)
    blocks = Blocks(
        start=start,
        release=release,
        bytes=sizes,
        device=zeros,
        component=zeros,
        operator=operator,
        row=np.full(len(start), -1, np.int64),
        line=pick(line_of_stack, stack[order]),
        step=steps_at(steps, start),
    )
    curves = (_curve(blocks),) if len(blocks) else ()
    components, problems = (_COMPONENT,), table.problems
    return MemoryRecording(
        curves, blocks, (_DEVICE,), components, operators, lines, steps, problems, timed=False
    )


def frames_in(text: str) -> Iterator[Frame]:
    """Yield the frames in a text, in its order: "net.py:88 construct", 'File "net.py", line 88, in f'."""
    for match in _FRAME.finditer(text):
        yield Frame(match["file"], int(match["line"]), match["function"])


def _curve(blocks: Blocks) -> Curve:
    """Return what the blocks hold after each of their events."""
    is_released = blocks.release < NEVER
    time = np.concatenate((blocks.release[is_released], blocks.start))
    change = np.concatenate((-blocks.bytes[is_released], blocks.bytes))
    order = np.argsort(time, kind="stable")
    unknown = np.full(len(time), -1, np.int64)
    return Curve(_DEVICE, _COMPONENT, time[order], np.cumsum(change[order]), unknown, unknown)
