"""Tasks that only one worker of a Dask cluster can do, each, and what becomes of them when it is lost.

A pinned task whose worker dies, or hangs, stays pending for ever. So the workers are watched meanwhile, by
the scheduler's list of them and by their heartbeats.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Union

from distributed import Client, Future

SILENT_S = 60.0  #: without a heartbeat a worker counts as lost
_TURN_S = 0.5  # between two looks at the workers
_SHARE = 0.5  # of a file's bytes: the memory that reading it takes


class Done(NamedTuple):
    """A task is done."""

    worker: str
    task: Any
    result: Any


class LostTask(NamedTuple):
    """A task will not be done."""

    worker: str
    task: Any
    reason: str


TaskReport = Union[Done, LostTask]
PinnedTask = tuple[str, Any, int]  #: its worker, the argument, and how many bytes of a file it reads


def present(client: Client, looks: int = 1) -> dict[str, dict[str, Any]] | None:
    """Return what the scheduler knows of each worker, by address; None where its answer is of no use.

    In some versions a thread of the client asks for five workers now and then, or for none. That answer is
    what is returned where it comes in between, so the scheduler is asked up to `looks` times.
    """
    for _ in range(looks):
        answer = client.scheduler_info(n_workers=-1)
        workers: dict[str, dict[str, Any]] = answer["workers"]
        if len(workers) == answer.get("n_workers", len(workers)):
            return workers
    return None


class Workers:
    """Workers of a cluster that are watched until they are gone."""

    def __init__(self, client: Client, addresses: Sequence[str]) -> None:
        self.client = client
        self._beats = dict.fromkeys(addresses, 0.0)
        self._silent_s = dict.fromkeys(addresses, 0.0)
        self._looked = time.monotonic()
        self._lost: dict[str, str] = {}
        self._memory: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self.watch()

    def watch(self) -> None:
        """Look which of them still live."""
        found = present(self.client)
        now = time.monotonic()
        # A clock would count the time in which this process, or all of the machine, stood still.
        passed, self._looked = min(now - self._looked, 2 * _TURN_S), now
        for address, beat in self._beats.items():
            if found is not None and address not in found:
                self._lost[address] = "is gone"
                continue
            self._silent_s[address] += passed
            if found is not None:
                worker = found[address]
                self._threads[address] = int(worker.get("nthreads") or 1)
                self._memory[address] = int(worker.get("memory_limit") or 0)
                if worker["last_seen"] != beat:
                    self._beats[address], self._silent_s[address] = worker["last_seen"], 0.0
            if self._silent_s[address] > SILENT_S:
                self._lost[address] = f"has been silent for {self._silent_s[address]:.0f} s"

    def lost(self, address: str) -> str | None:
        """Return what happened to a worker; None: it lives."""
        return self._lost.get(address)

    def has_room(self, address: str, reading: Sequence[int], more: int) -> bool:
        """Return whether a worker that reads files of so many bytes can begin with another one."""
        memory = self._memory.get(address, 0)
        if not reading:
            return True
        fits = not memory or (sum(reading) + more) * _SHARE <= memory
        return fits and len(reading) < self._threads.get(address, 1)


class Pinned:
    """Runs one function of one argument on the workers that its tasks are pinned to."""

    def __init__(self, workers: Workers, function: Callable[[Any], Any], patience_s: float) -> None:
        self._workers = workers
        self._function = function
        self._patience_s = patience_s
        self._waiting: dict[str, list[PinnedTask]] = defaultdict(list)
        self._running: dict[Future, PinnedTask] = {}
        self._changed = threading.Event()

    def run(self, tasks: Sequence[PinnedTask]) -> Iterator[TaskReport]:
        """Yield an answer to each task as it comes."""
        for task in tasks:
            self._waiting[task[0]].append(task)
        moved = time.monotonic()
        try:
            while self._submit():
                answers = [*self._finished(), *self._lost()]
                now = time.monotonic()
                if answers:
                    moved = now
                elif now - moved > self._patience_s:
                    answers = self._give_up_all()
                yield from answers
        finally:
            self._workers.client.cancel(list(self._running))

    def _submit(self) -> bool:
        """Submit what there is room for; return whether anything is left to be done."""
        for worker, waiting in self._waiting.items():
            reading = [task[2] for task in self._running.values() if task[0] == worker]
            while waiting and self._workers.has_room(worker, reading, waiting[0][2]):
                task = waiting.pop(0)
                pin = {"workers": [worker], "allow_other_workers": False, "pure": False}
                future = self._workers.client.submit(self._function, task[1], **pin)
                self._running[future] = task
                future.add_done_callback(lambda _: self._changed.set())  # in the client's thread
                reading.append(task[2])
        return bool(self._running) or any(self._waiting.values())

    def _finished(self) -> list[TaskReport]:
        self._changed.wait(_TURN_S)
        self._changed.clear()
        answers: list[TaskReport] = []
        for future in [future for future in self._running if future.done()]:
            worker, argument, _ = self._running.pop(future)
            if future.status == "finished":
                answers.append(Done(worker, argument, future.result()))
            else:
                reason = "was cancelled" if future.cancelled() else repr(future.exception())
                answers.append(LostTask(worker, argument, reason))
        return answers

    def _lost(self) -> list[TaskReport]:
        self._workers.watch()
        answers: list[TaskReport] = []
        for future, (worker, argument, _) in list(self._running.items()):
            reason = self._workers.lost(worker)
            if reason:
                future.cancel()
                del self._running[future]
                answers.append(LostTask(worker, argument, reason))
        for worker, waiting in self._waiting.items():
            reason = self._workers.lost(worker)
            if reason:
                answers += [LostTask(worker, argument, reason) for _, argument, _ in waiting]
                waiting.clear()
        return answers

    def _give_up_all(self) -> list[TaskReport]:
        reason = f"has not answered for {self._patience_s:.0f} s"
        left = [*self._running.values(), *(task for tasks in self._waiting.values() for task in tasks)]
        self._workers.client.cancel(list(self._running))
        self._running.clear()
        self._waiting.clear()
        return [LostTask(worker, argument, reason) for worker, argument, _ in left]
