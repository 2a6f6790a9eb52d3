"""What the metadata events say about processes and threads."""

from __future__ import annotations

from dataclasses import dataclass, field

from tracetui.reader.events import EventTable
from tracetui.trace.clean import printable
from tracetui.trace.dialect import MARKS_FLOW, device_label

_LONGEST_LABEL = 40
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

    @property
    def title(self) -> str:
        """The process name, or what stands for it."""
        return self.name or f"Process {self.pid}"

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
        return cls(by_pid)

    def __getitem__(self, pid: str) -> Process:
        return self.by_pid[pid]

    def only_device(self) -> str | None:
        """The one device that labels name; None where they name none or several."""
        labels = {process.device for process in self.by_pid.values()} - {None}
        return labels.pop() if len(labels) == 1 else None


def _find_marks(table: EventTable, by_pid: dict[str, Process]) -> None:
    flows = table.flows
    marks = (flows.category == table.strings.index(MARKS_FLOW)) & (flows.phase == 0)
    for thread in set(flows.thread[marks].tolist()):
        by_pid[table.threads[thread][0]].marks = True


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return _UNSORTED
    return number if number == number else _UNSORTED
