"""What the hardware does in a collective: copies to peers, and the notifications that order them."""

from __future__ import annotations

from simulator.recording import Communicator, Recording, Task, Transfer, clock_fraction

HARDWARE = {
    "Memcpy": "SDMA",
    "Reduce_Inline": "SDMA",
    "Notify_Record": "Write Value",
    "Notify_Wait": "Notify Wait",
}


class Tasks:
    """The tasks of one operation of a group, each on the group's stream and on a plane."""

    def __init__(self, recording: Recording, group: Communicator, number: int, connection: int) -> None:
        self._recording = recording
        self._group = group
        self._number = number
        self._connection = connection
        self._subtask = 0

    def add(self, kind: str, plane: int, peer: int | None, start: int, end: int, size: int) -> None:
        """Add a task with a peer (None: with nobody) that moves `size` bytes."""
        stream = self._group.stream
        task = Task(HARDWARE[kind], HARDWARE[kind], stream, self._number, start, end, self._connection)
        task.fraction = clock_fraction(end - start)
        task.subtask = self._subtask
        self._subtask += 1
        notify = kind.startswith("Notify")
        alone = peer is None or peer == self._group.rank
        move = Transfer(
            task=task,
            plane=plane,
            type=kind,
            peer=peer,
            transport="LOCAL" if kind == "Notify_Wait" else "SDMA",
            wire="INVALID_TYPE" if notify else "ON_CHIP" if alone else "HCCS",
            size=size,
            dtype="FP32" if kind == "Reduce_Inline" else "INVALID_TYPE",
            notify=48 + 4 * self._subtask,
            group=self._group,
        )
        self._recording.tasks.append(task)
        self._recording.transfers.append(move)


class Ring:
    """One collective operation of the first group of a recording, each rank of which holds `share` bytes."""

    def __init__(self, recording: Recording, number: int, connection: int, share: int) -> None:
        group = recording.groups[0]
        self._tasks = Tasks(recording, group, number, connection)
        self._share = share
        self._peers = range(1, len(group.ranks))

    def all_reduce(self, begin: int, us: float, skew_us: float) -> int:
        """Reduce, then gather; the first peer comes `skew_us` late. Returns when the last task has ended."""
        time = self._run("Memcpy", 0, begin, 3420) + 1100
        arrived = begin + int(skew_us * 1000)
        move_ns = max(0, int(us * 1000) - 12000) // 2
        for kind in ("Reduce_Inline", "Memcpy"):
            ready = time
            for peer in self._peers:
                self._run("Notify_Record", peer, time + 260 * peer, 720)
                late = arrived if peer == 1 else time
                wait = time + 2600 + 240 * peer
                ready = max(ready, self._run("Notify_Wait", peer, wait, max(20, late + 1800 * peer - wait)))
            time = ready + 300
            for peer in self._peers:
                ready = max(ready, self._run(kind, peer, time + 260 * peer, move_ns))
            time = ready + 1240
        return max(self._run("Notify_Record", peer, time + 260 * peer, 780) for peer in self._peers)

    def _run(self, kind: str, peer: int, start: int, duration: int) -> int:
        """Run a task with a peer, on the stream and on the peer's plane; return its end."""
        end = start + duration - duration % 20
        self._tasks.add(kind, peer, peer, start, end, 0 if kind.startswith("Notify") else self._share)
        return end
