"""Which layers belong to one OS process, and which device is whose, where a file holds several.

Profiles of several ranks are merged by tools that write the rank after process names and pids ("CANN_3",
"HCCL Rank3") or before pids ("[TP03] 77"), or by hand. Ascend profilers number their own layers
`OS pid << 10 | ...`, in recent versions. All of it is good for choosing among several candidates only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import DEVICE_LAYERS, Layer
from tracetui.trace.places import device_label, is_gpu, layer_of

UNSORTED = float("inf")

#: The processes whose pids a profiler makes of the OS pid; one without a name may be CANN without slices.
_NUMBERED = KNOWN.processes.numbered | {None}

_RANK_OF_NAME = re.compile(r"(.+?)(?:_| [Rr]ank ?)(\d{1,6})")
_RANK_OF_PID = re.compile(r"\[([^\]\x00-\x1f]{1,20})\] ?.*")


@dataclass
class Process:
    """One pid, as far as the metadata tells."""

    pid: str
    name: str | None = None
    label: str = ""
    sort_index: float = UNSORTED
    thread_names: dict[str, str] = field(default_factory=dict)  #: by tid
    thread_sort: dict[str, float] = field(default_factory=dict)  #: by tid
    marks: bool = False  #: user ranges are here, or their flows start here
    inferred: str | None = None  #: the name that its slices stand for, where its own is missing or not known
    name_without_rank: str | None = None  #: the name without the rank that is written after it
    rank: str | None = None  #: "rank 3", where names or pids tell ranks apart

    @property
    def title(self) -> str:
        """The process name, or what stands for it."""
        return self.name or self.inferred or f"Process {self.pid}"

    @property
    def known_name(self) -> str | None:
        """The process name that tells what it holds; None where nothing does."""
        return self.inferred or self.name_without_rank or self.name

    @property
    def device(self) -> str | None:
        """The device of the label; None for a host label and for none."""
        name = KNOWN.processes.unnumbered_devices.get(self.label)
        return device_label(self.label) if name is None else f"{name} {self.pid}"


def set_ranks(processes: Collection[Process]) -> None:
    """Set the name and rank of processes with a rank in their name or pid.

    A number after a name is one if a name that producers write stands before it, or if all names have one.
    """
    split = {}
    for process in processes:
        match = (
            _RANK_OF_NAME.fullmatch(process.name or "")
            if process.name not in KNOWN.processes.places
            else None
        )
        if match is not None:
            split[process.pid] = match.groups()
    named = sum(process.name is not None for process in processes)
    has_ranks = any(base in KNOWN.processes.places for base, _ in split.values()) or 1 < named == len(split)
    for process in processes:
        pid_match = _RANK_OF_PID.fullmatch(process.pid)
        if pid_match is not None:
            process.rank = pid_match[1]
        elif has_ranks and process.pid in split:
            process.name_without_rank, number = split[process.pid]
            process.rank = f"rank {int(number)}"


def owner_by_pid(processes: Collection[Process]) -> dict[str, str]:
    """Return what is equal for the layers of one OS process, by pid: a rank, or the OS pid."""
    owner_of_pid = {process.pid: process.rank or _os_pid(process) for process in processes}
    ranks: dict[tuple[str, str], str] = {}  # by (OS pid, digits of the rank after the pid)
    for process in processes:
        rank = process.rank or ""
        digits = rank.partition("rank ")[2]
        os_pid = origin(process.pid[: -len(digits)]) if digits and process.pid.endswith(digits) else None
        if os_pid is not None:
            ranks[os_pid, digits] = rank
    lengths = {len(digits) for _, digits in ranks}
    for process in processes:
        if process.name is None and process.rank is None:
            for length in lengths:
                ranked = origin(process.pid[:-length]) or "", process.pid[-length:]
                owner_of_pid[process.pid] = ranks.get(ranked, owner_of_pid[process.pid])
    return owner_of_pid


def devices_told_apart(processes: Collection[Process]) -> dict[str, str]:
    """Return names of the devices, by pid, of processes whose labels do not tell them from others.

    Those of several ranks have their rank after the label. Else hardware processes of equal label, or of
    none, are several devices where their pids differ in the part that says the OS process or the device. Each
    process of a GPU is one.
    """
    on_device = [p for p in processes if p.device is not None or layer_of(p.known_name) in DEVICE_LAYERS]
    if len({process.rank for process in on_device} - {None}) > 1:
        return {p.pid: f"{p.device or 'NPU'} ({p.rank})" for p in on_device if p.rank is not None}
    hardware: dict[str, list[str]] = {}
    for process in processes:
        if layer_of(process.known_name) == Layer.DEVICE:
            hardware.setdefault(process.device or "", []).append(process.pid)
    names: dict[str, str] = {}
    gpus = [
        p
        for p in processes
        if p.device is not None and p.known_name not in KNOWN.processes.places and is_gpu(p.device)
    ]
    labels = Counter(process.device for process in gpus)
    for process in gpus:
        if labels[process.device] > 1:
            names[process.pid] = f"{process.device} ({process.pid})"
    for label, pids in hardware.items():
        places = [_os_pid_and_device(pid) for pid in pids]
        if len(pids) < 2 or None in places or len(set(places)) < len(pids):
            continue
        os_pids = Counter(place[0] for place in places if place is not None)
        by_number = not label or len(os_pids) < len(pids)
        for process in processes:
            place = _os_pid_and_device(process.pid)
            if place is not None and place in places and (process.device or "") == label:
                numbered = f"{label or 'NPU'} {place[1]}" if by_number else label
                names[process.pid] = f"{numbered} ({place[0]})" if len(os_pids) > 1 else numbered
    return names


def origin(pid: str) -> str | None:
    """Return the OS pid that the pid of a profiler's layer is made of; None where it can't be."""
    number = int(pid) if pid.isdecimal() and pid.isascii() and len(pid) < 20 else 0
    return str(number >> 10) if number >> 10 else None


def _os_pid(process: Process) -> str:
    return origin(process.pid) or process.pid if process.known_name in _NUMBERED else process.pid


def _os_pid_and_device(pid: str) -> tuple[str, int] | None:
    """Return OS pid and device of the pid of a profiler's layer."""
    os_pid = origin(pid)
    return None if os_pid is None else (os_pid, int(pid) & 31)
