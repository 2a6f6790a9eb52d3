"""What the metadata events say about processes and threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from tracetui.reader.events import EventTable
from tracetui.trace.clean import printable
from tracetui.trace.dialect import (
    COMMUNICATION_PROCESSES,
    HARDWARE_PROCESS,
    MARKS_FLOW,
    PROCESSES,
    SURE_SIGNS,
    device_label,
)
from tracetui.trace.inferred import hold_groups, inferred_names

_LONGEST_LABEL = 40

#: The processes whose pids a profiler makes of the OS pid; one without a name may be CANN without slices.
_FORMATTED = COMMUNICATION_PROCESSES | {HARDWARE_PROCESS, "Overlap Analysis", "CANN", "Python GC", None}
_UNSORTED = float("inf")


@dataclass
class Process:
    """One pid, as far as the metadata tells."""

    pid: str
    name: str | None = None
    label: str = ""
    sort_index: float = _UNSORTED
    thread_names: dict[str, str] = field(default_factory=dict)  #: by tid
    thread_sort: dict[str, float] = field(default_factory=dict)  #: by tid
    marks: bool = False  #: flows of user ranges start here
    inferred: str | None = None  #: the name that its slices stand for, where its own is missing or not known

    @property
    def title(self) -> str:
        """The process name, or what stands for it."""
        return self.name or self.inferred or f"Process {self.pid}"

    @property
    def holds(self) -> str | None:
        """The process name that tells what it holds; None where nothing does."""
        return self.inferred or self.name

    @property
    def device(self) -> str | None:
        """The device of the label; None for a host label and for none."""
        return device_label(self.label)


@dataclass(frozen=True)
class Processes:
    """All processes of a file, by pid as written."""

    by_pid: dict[str, Process]

    @classmethod
    def of(cls, table: EventTable) -> Processes:
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
        if MARKS_FLOW in table.strings:
            _find_marks(table, by_pid)
        _infer(table, by_pid)
        return cls(by_pid)

    def __getitem__(self, pid: str) -> Process:
        return self.by_pid[pid]

    @property
    def inferred(self) -> list[str]:
        """The names that were told from slices, in the order of first appearance."""
        found = (process.inferred for process in self.by_pid.values())
        return list(dict.fromkeys(name for name in found if name is not None))

    def only_device(self) -> str | None:
        """The one device that labels name; None where they name none or several."""
        labels = {process.device for process in self.by_pid.values()} - {None}
        return labels.pop() if len(labels) == 1 else None

    def device_of(self, pid: str) -> str | None:
        """The device of a process: of its label, told apart from others of equal label; None without one."""
        return self._told_apart.get(pid, self.by_pid[pid].device)

    def os_process(self, pid: str) -> str:
        """What is equal for the layers of one OS process, as far as pids tell; else the pid.

        Ascend profilers number their own layers `OS pid << 10 | ...`, in recent versions. Good for choosing
        among several candidates only.
        """
        process = self.by_pid.get(pid)
        if process is not None and process.holds not in _FORMATTED:
            return pid
        return origin(pid) or pid

    @cached_property
    def _told_apart(self) -> dict[str, str]:
        """Devices of processes whose labels do not tell them from those of other hardware processes.

        Several profiles in one file have equal labels, or none. Only where the pids of all hardware processes
        of a label differ in the part that says the OS process or the device.
        """
        hardware: dict[str, list[str]] = {}
        for pid, process in self.by_pid.items():
            if process.holds == HARDWARE_PROCESS:
                hardware.setdefault(process.device or "", []).append(pid)
        names: dict[str, str] = {}
        for label, pids in hardware.items():
            owners = [(origin(pid), int(pid) & 31) for pid in pids if origin(pid)]
            if len(pids) < 2 or len(set(owners)) < len(pids):
                continue
            several = len({owner for owner, _ in owners}) > 1
            for pid, process in self.by_pid.items():
                owner = (origin(pid), int(pid) & 31 if origin(pid) else -1)
                if (process.device or "") == label and owner in owners:
                    numbered = label or f"NPU {owner[1]}"
                    names[pid] = f"{numbered} ({owner[0]})" if several else numbered
        return names


def origin(pid: str) -> str | None:
    """The OS pid that the pid of a profiler's layer is made of; None where it can't be."""
    number = int(pid) if pid.isdecimal() and pid.isascii() and len(pid) < 20 else 0
    return str(number >> 10) if number >> 10 else None


def _find_marks(table: EventTable, by_pid: dict[str, Process]) -> None:
    flows = table.flows
    marks = (flows.category == table.strings.index(MARKS_FLOW)) & (flows.phase == 0)
    for thread in set(flows.thread[marks].tolist()):
        by_pid[table.threads[thread][0]].marks = True


def _infer(table: EventTable, by_pid: dict[str, Process]) -> None:
    """Name the processes, and the threads of communication, that the metadata do not."""
    unknown = {pid for pid, process in by_pid.items() if process.name not in PROCESSES and not process.marks}
    if unknown:
        for pid, name in inferred_names(table, unknown).items():
            if by_pid[pid].name is None or name in SURE_SIGNS:
                by_pid[pid].inferred = name
    unnamed = {
        (pid, tid)
        for pid, tid in table.threads
        if by_pid[pid].holds in COMMUNICATION_PROCESSES and tid not in by_pid[pid].thread_names
    }
    if unnamed:
        for (pid, tid), is_group in hold_groups(table, unnamed).items():
            by_pid[pid].thread_names[tid] = "Communication" if is_group else f"Plane of thread {tid}"


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return _UNSORTED
    return number if number == number else _UNSORTED
