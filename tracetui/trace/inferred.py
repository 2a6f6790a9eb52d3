"""What processes without a known name hold, told from their slices.

A file that was cut lacks the names that stand at the end of a layer, and one that was filtered may have none.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.reader.events import EventTable
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import UNDECIDED, meanings
from tracetui.trace.model import Layer
from tracetui.trace.places import CERTAIN_HINTS, HINTS, TASK_TYPE_HINT, hint_of, layer_of


def inferred_names(table: EventTable, pids: Collection[str]) -> dict[str, str]:
    """Return the process names that fit the slices of those pids, for the pids whose slices tell.

    One slice of a task or of the runtime is enough; all else must hold for more than half of the slices.
    """
    counts: dict[str, Int64s] = {}
    is_selected = _is_of_threads(table, [pid in pids for pid, _ in table.threads])
    for (pid, _), votes in zip(table.threads, _votes(table, np.flatnonzero(is_selected))):
        counts[pid] = counts[pid] + votes if pid in counts else votes
    names = {}
    for pid, votes in counts.items():
        certain = [hint for hint in CERTAIN_HINTS if votes[HINTS.index(hint)]]
        winner = int(votes[:-1].argmax())
        if certain:
            names[pid] = certain[0]
        elif 2 * votes[winner] > votes.sum():
            names[pid] = HINTS[winner]
    return names


def hold_groups(table: EventTable, threads: Collection[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return whether threads of communication hold operations of groups, not only parts of them.

    Those that hold neither are left out.
    """
    rows = np.flatnonzero(_is_of_threads(table, [thread in threads for thread in table.threads]))
    thread, name = table.slices.thread[rows], table.slices.name[rows]
    begins = KNOWN.collectives.group_operation_beginnings
    is_group = meanings(table.strings, name, lambda text: int(text.startswith(begins))) == 1
    is_part = meanings(table.strings, name, _hints_at_communication) == 1
    groups = {table.threads[index]: True for index in np.unique(thread[is_group]).tolist()}
    parts = {table.threads[index]: False for index in np.unique(thread[is_part]).tolist()}
    return {**parts, **groups}


def _hints_at_communication(name: str) -> int:
    return int(layer_of(hint_of(name, "")) == Layer.COMMUNICATION)


def _votes(table: EventTable, rows: Int64s) -> Int64s:
    """Return how many slices of each thread give each of the hints, and last how many give none."""
    slices, strings, width = table.slices, table.strings, len(HINTS) + 1

    def number(hint: str | None) -> int | None:
        return None if hint is None else HINTS.index(hint)

    by_category = meanings(strings, slices.category[rows], lambda text: number(hint_of("", text)))
    by_name = meanings(strings, slices.name[rows], lambda text: number(hint_of(text, "")))
    hint = np.where(by_category != UNDECIDED, by_category, by_name)
    hint[slices.task_type[rows] >= 0] = HINTS.index(TASK_TYPE_HINT)
    keys = slices.thread[rows].astype(np.int64) * width + np.where(hint == UNDECIDED, width - 1, hint)
    return np.bincount(keys, minlength=len(table.threads) * width).reshape(-1, width)


def _is_of_threads(table: EventTable, selected: list[bool]) -> Bools:
    return np.array([*selected, False])[table.slices.thread]
