"""What the metadata events say about processes and threads, and their slices where those say nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.reader.events import EventTable
from tracetui.reader.normalise import MARK
from tracetui.trace.clean import printable
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.meanings import UNDECIDED, meanings
from tracetui.trace.model import Layer
from tracetui.trace.owners import UNSORTED, Process, devices_told_apart, owner_by_pid, set_ranks
from tracetui.trace.places import CERTAIN_HINTS, HINTS, TASK_TYPE_HINT, hint_of, layer_of

_LONGEST_LABEL = 40
_PLANE = KNOWN.threads.planes[0]
_NUMBERED_FILE = compile_any(KNOWN.processes.numbered_files)
_GPU_FILE = compile_any(KNOWN.processes.gpu_files)
_SHORT = 4  #: digits of the number of a device: fewer


@dataclass(frozen=True)
class Processes:
    """All processes of a file, by pid as written."""

    by_pid: dict[str, Process]

    @classmethod
    def from_table(cls, table: EventTable) -> Processes:
        """Gather the metadata; where an event is repeated, the last one that says something counts."""
        by_pid: dict[str, Process] = {pid: Process(pid) for pid, _ in table.threads}
        for entry in table.metadata:
            process = by_pid.setdefault(entry.pid, Process(entry.pid))
            value = entry.value.strip()
            if not value:
                continue
            if entry.name == "process_name":
                process.name = value
            elif entry.name == "process_labels":
                process.label = printable(value, _LONGEST_LABEL)
            elif entry.name == "process_sort_index":
                process.sort_index = _number(value)
            elif entry.name == "thread_name":
                process.thread_names[entry.tid] = value
            elif entry.name == "thread_sort_index":
                process.thread_sort[entry.tid] = _number(value)
        _name_by_label(by_pid.values())
        if _NUMBERED_FILE.fullmatch(Path(table.path).name):
            on_gpu = _GPU_FILE.fullmatch(Path(table.path).name) is not None
            _name_by_number(
                by_pid.values(), (KNOWN.processes.gpu_device if on_gpu else KNOWN.processes.device)[0]
            )
        _find_marks(table, by_pid)
        set_ranks(by_pid.values())
        _infer(table, by_pid)
        return cls(by_pid)

    def __getitem__(self, pid: str) -> Process:
        return self.by_pid[pid]

    @property
    def inferred(self) -> list[str]:
        """The names that were told from slices, in the order of first appearance."""
        names = (process.inferred for process in self.by_pid.values())
        return list(dict.fromkeys(name for name in names if name is not None))

    def only_device(self) -> str | None:
        """Return the one device that labels name; None where they name none or several."""
        labels = {process.device for process in self.by_pid.values()} - {None}
        return labels.pop() if len(labels) == 1 else None

    def device_of(self, pid: str) -> str | None:
        """Return the device of a process, told apart from others of equal label; None without a label."""
        return self._told_apart.get(pid, self.by_pid[pid].device)

    @cached_property
    def owners(self) -> dict[str, str]:
        """What is equal for the layers of one OS process, by pid; as far as names and pids tell."""
        return owner_by_pid(self.by_pid.values())

    @cached_property
    def _told_apart(self) -> dict[str, str]:
        return devices_told_apart(self.by_pid.values())


def _name_by_label(processes: Iterable[Process]) -> None:
    for process in processes:
        if process.name is None and process.label in KNOWN.processes.labels:
            process.name = process.label


def _name_by_number(processes: Iterable[Process], device_process: str) -> None:
    """Name the processes of a file whose producer tells them by numbers that never change.

    `device_process` is what every other small number stands for.
    """
    for process in processes:
        if process.name is None:
            process.name = KNOWN.processes.numbers.get(process.pid)
        if process.name is None and process.pid.isdecimal() and len(process.pid) < _SHORT:
            process.name = device_process


def _find_marks(table: EventTable, by_pid: dict[str, Process]) -> None:
    flows, slices = table.flows, table.slices
    categories = [table.strings.index(text) for text in (*KNOWN.flows.marks, MARK) if text in table.strings]
    if not categories:
        return
    starts = np.isin(flows.category, categories) & (flows.phase == 0)
    ranges = np.isin(slices.category, categories)
    for thread in {*flows.thread[starts].tolist(), *slices.thread[ranges].tolist()}:
        by_pid[table.threads[thread][0]].marks = True


def _infer(table: EventTable, by_pid: dict[str, Process]) -> None:
    """Name the processes, and the threads of communication, that the metadata do not."""
    unknown = {
        pid for pid, process in by_pid.items() if layer_of(process.known_name) is None and not process.marks
    }
    if unknown:
        for pid, name in _inferred_names(table, unknown).items():
            if by_pid[pid].name is None or name in CERTAIN_HINTS:
                by_pid[pid].inferred = name
    unnamed = {
        (pid, tid)
        for pid, tid in table.threads
        if layer_of(by_pid[pid].known_name) == Layer.COMMUNICATION and tid not in by_pid[pid].thread_names
    }
    if unnamed:
        for (pid, tid), is_group in _hold_groups(table, unnamed).items():
            by_pid[pid].thread_names[tid] = "Communication" if is_group else f"{_PLANE} of thread {tid}"


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return UNSORTED
    return number if number == number else UNSORTED


def _inferred_names(table: EventTable, pids: Collection[str]) -> dict[str, str]:
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


def _hold_groups(table: EventTable, threads: Collection[tuple[str, str]]) -> dict[tuple[str, str], bool]:
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
    by_activity = meanings(
        strings, slices.category[rows], lambda text: KNOWN.categories.activities.get(text.lower())
    )
    hint[(slices.task_type[rows] >= 0) & (by_activity == UNDECIDED)] = HINTS.index(TASK_TYPE_HINT)
    keys = slices.thread[rows].astype(np.int64) * width + np.where(hint == UNDECIDED, width - 1, hint)
    return np.bincount(keys, minlength=len(table.threads) * width).reshape(-1, width)


def _is_of_threads(table: EventTable, selected: list[bool]) -> Bools:
    return np.array([*selected, False])[table.slices.thread]
