"""The Python lines and stacks that tables write beside tasks and operators."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.launch_chains import LaunchChains, frames_of
from tracetui.arrays import Int64s
from tracetui.export.sentences.causes import file_line
from tracetui.trace.stack import Frame, parse_call_stack


class Stacks:
    """Where slices come from: keys of stacks, so that each is looked at once, not once a slice."""

    def __init__(self, analysis: Analysis) -> None:
        self._trace = analysis.trace
        self._chains = analysis.launch_chains
        self._rules = analysis.rules
        self._called = analysis.trace.slices.have_stacks

    def keys(self, rows: Int64s) -> Int64s:
        """Return int64[n]: the key of the stack of each slice row, -1 where none is known.

        A task has the stack of its operator (backward: of the forward one), any other slice its own.
        """
        keys = self._trace.slices.stack[rows].astype(np.int64)
        tasks, place = tasks_among(self._chains, rows)
        # A call stack is its string; one that only python_function slices tell, the row of the innermost.
        stack, frame = self._chains.stack[place].astype(np.int64), self._chains.frame[place]
        keys[tasks] = np.where(stack >= 0, stack, np.where(frame >= 0, -2 - frame, -1))
        return keys

    def frames(self, key: int) -> tuple[Frame, ...]:
        """Return the stack of a key, leaf first."""
        if key == -1:
            return ()
        if key < 0:
            return frames_of(self._trace, -2 - key)
        return parse_call_stack(self._trace.strings[key])

    def text(self, key: int) -> str | None:
        """Return the stack of a key on one line, leaf first: "a.py(3): f < b.py(7): main"; None if empty."""
        return " < ".join(map(str, self.frames(key))) or None

    def line(self, key: int) -> str | None:
        """Return the user's line of a stack, "train.py(88)" with the path as written; None without one.

        python_function slices give the line where their function is defined: that counts only in a trace
        without any call stack, whose line is the one executed.
        """
        if self._called and key < 0:
            return None
        return file_line(self._rules.line_of(self.frames(key)))


def tasks_among(chains: LaunchChains, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return which of the slice rows are tasks: places in `rows`, and places in the columns of `chains`."""
    place = np.searchsorted(chains.tasks, rows)
    inside = np.flatnonzero(place < len(chains.tasks))
    tasks = inside[chains.tasks[place[inside]] == rows[inside]]
    return tasks, place[tasks]
