"""The lines of Python that tasks of the devices come from: who to ask why a device computes what it does."""

from __future__ import annotations

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.operators import OperatorSlices, OperatorTable
from tracetui.analysis.sums import most_of_each
from tracetui.trace.stack import Frame


def main_lines(
    operators: OperatorSlices, table: OperatorTable, chains: LaunchChains, rules: FrameRules
) -> list[Frame | None]:
    """Return for each row of a table of device tasks the line that launched most of its time.

    None where the largest part of its time has no stack.

    Args:
        operators: the tasks that the table sums up.
        table: one of their tables.
        chains: the chains of all tasks to what launched them.
        rules: which frame of a stack is its line.
    """
    place = chains.index(operators.rows)
    lines, line = lines_of(operators.trace, chains.stack[place], chains.frame[place], rules)
    launched = most_of_each(operators.places_in(table), line, operators.self_ns, len(table))
    return [lines[number] if number >= 0 else None for number in launched.tolist()]
