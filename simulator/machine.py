"""A small causal simulation of one training process and its NPU: threads, task queue, launches, streams.

Knows nothing of Python code, operators' names or file formats. One host thread runs at a time (while the
autograd thread works, the main thread waits in `backward`), the task queue and the streams are first in,
first out, so every time is known as soon as its cause has happened: no event loop is needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from simulator.collective import Ring
from simulator.recording import (
    COMPUTE_STREAM,
    COPY,
    Api,
    Collective,
    Communicator,
    Dequeue,
    Enqueue,
    FlowStart,
    Launch,
    Operator,
    Recording,
    Task,
    clock_fraction,
)


class Kernel(NamedTuple):
    """A kernel of a launch: its name after the api's, its task type and its time in µs."""

    name: str
    type: str
    us: float


@dataclass
class Thread:
    """A host thread and the time up to which it has run."""

    tid: int
    now: int


@dataclass
class DeviceStream:
    """A device stream: the end of its last task and the number of the next."""

    number: int
    free: int
    tasks: int


class Posted(NamedTuple):
    """A launched collective whose end is not known yet."""

    begin: int
    number: int  #: of its task
    connection: int
    kind: str
    group: Communicator
    link: FlowStart
    launch: Launch
    worker: Thread


def _usual(thread: Thread) -> float:
    return 1.0


class Machine:
    """Host threads, task queue and device of one process; everything that happens goes into `recording`."""

    def __init__(
        self, seed: int, start: int, pid: int, task_queue: bool = True, variation: float = 1.0
    ) -> None:
        self._random = random.Random(seed)
        self._variation = variation  #: of all times, as a share of the usual one
        self.task_queue = task_queue
        self.main = Thread(pid, start)
        self.dequeue = Thread(pid + 3539, start)
        self.autograd = Thread(pid + 8292, start)
        #: how much of its usual time a thread needs for its work just now; who knows its code sets it
        self.pace: Callable[[Thread], float] = _usual
        self.recording = Recording(self.main.tid, self.dequeue.tid, self.autograd.tid, start)
        self._streams: dict[int, DeviceStream] = {}
        self._connection = 965
        self._correlation = 8230
        self._late_us = 0.0

    def delay(self, us: float) -> None:
        """Let the device take so long to run the next kernel, for a reason that it does not record."""
        self._late_us = us

    def jitter(self, us: float, spread: float = 0.2) -> int:
        """Return `us` give or take `spread` of it, in ns, a multiple of 10 and at least 10."""
        scale = 1 + self._variation * spread * (2 * self._random.random() - 1)
        return max(1, int(us * scale * 100)) * 10

    def spend(self, thread: Thread, us: float, spread: float = 0.2) -> None:
        thread.now += self.jitter(us * self.pace(thread), spread)

    def connection(self) -> int:
        self._connection += 1
        self.recording.connections += 1
        return self._connection - 1

    def api(self, name: str, thread: Thread, start: int, end: int, mode: str, level: str) -> Api:
        """Record a CANN call; runtime calls and api calls differ in what they write as `id`."""
        label = {"acl": "AscendCL", "node": "Node", "hccl": "Hccl", "runtime": "Runtime"}[level]
        call = Api(f"{label}@{name}", thread.tid, start, end, mode, level, self.connection())
        if level == "acl":
            call.id = name
        self.recording.apis.append(call)
        return call

    def stream(self, number: int) -> DeviceStream:
        if number not in self._streams:
            self._streams[number] = DeviceStream(
                number, 0, 11059 if number == 2 else 301 + 505 * (number - 3)
            )
        return self._streams[number]

    # -- the task queue -------------------------------------------------------------------------------

    def launch(
        self,
        thread: Thread,
        operator: Operator,
        api: str,
        kernels: tuple[Kernel, ...],
        compile_us: float = 0.0,
    ) -> None:
        """Enqueue a launch of `kernels` from `thread`, dequeue it, launch, and run it on the device."""
        worker, launch = self._take(thread, operator, api)
        outer = worker.now
        compiled = compile_us > 0
        call = self.api(
            "aclopCompileAndExecute" if compiled else api,
            worker,
            outer,
            outer,
            "ACL_OP" if compiled else "ACL_NN",
            "acl",
        )
        if compiled:
            self.spend(worker, 3)
            start = worker.now
            worker.now += self.jitter(compile_us)
            self.api("opCompile", worker, start, worker.now, "ACL_OP", "acl")
        self.spend(worker, 2)
        for kernel in kernels:
            name = kernel.name if compiled else f"{api}_{kernel.name}"
            self._launch_kernel(worker, launch, name, kernel)
            self.spend(worker, 2)
        call.end = worker.now
        self._done(worker, launch)

    def copy(self, thread: Thread, operator: Operator, size: int, us: float) -> None:
        """Enqueue a copy from host to device."""
        worker, launch = self._take(thread, operator, "acl_memcpy_host_to_device")
        start = worker.now
        call = self.api("aclrtMemcpyAsync", worker, start, start, "ACL_RTS", "acl")
        link = self._link(worker, "copy", call.connection)
        self.spend(worker, 1.5)
        self.api("ContextGetCurrent", worker, worker.now, worker.now + 550, "ContextGetCurrent", "runtime")
        self.spend(worker, 3)
        inner = worker.now
        self.spend(worker, 5)
        huge = "MemcpyAsync_Huge" if size > 1 << 24 else "MemcpyAsync"
        self.api(huge, worker, inner, worker.now, huge, "runtime")
        self.spend(worker, 1.5)
        call.end = launch.end = worker.now
        task = self._task(
            COPY, "PCIE_DMA_SQE", COMPUTE_STREAM, worker.now + self.jitter(7), us, call.connection
        )
        task.size, task.direction, task.link, task.launch = size, "host to device", link, launch
        self._done(worker, launch)

    def record_event(self, thread: Thread, operator: Operator, stream: int, us: float = 0.0) -> int:
        """Record an event on `stream`, a call of `us` more; returns the device time at which it happens."""
        worker, launch = self._take(thread, operator, "record_event")
        call = self._event_call(worker, "aclrtRecordEvent", "EventRecord")
        if us:
            self.spend(worker, us)
            call.end = worker.now
        launch.end = call.end
        task = self._task(
            "EVENT_RECORD", "EVENT_RECORD_SQE", stream, worker.now + self.jitter(5), 0.02, call.connection
        )
        task.launch = launch
        self._done(worker, launch)
        return task.end

    def wait_event(self, thread: Thread, operator: Operator, stream: int, event: int) -> None:
        """Let `stream` wait until the device time `event`."""
        worker, launch = self._take(thread, operator, "wait_event")
        call = self._event_call(worker, "aclrtStreamWaitEvent", "StreamWaitEvent")
        launch.end = call.end
        task = self._task(
            "EVENT_WAIT", "EVENT_WAIT_SQE", stream, worker.now + self.jitter(5), 0.02, call.connection
        )
        task.end = max(task.end, event + self.jitter(0.4))
        self.stream(stream).free = task.end
        task.launch = launch
        self._done(worker, launch)

    def all_reduce(self, thread: Thread, operator: Operator, count: int, us: float, skew_us: float) -> None:
        """Run an all-reduce on the collective stream; the slowest rank comes `skew_us` late."""
        group = self.recording.groups[0]
        posted = self.post(thread, operator, "allReduce", group)
        ring = Ring(self.recording, posted.number, posted.connection, count * 4 // len(group.ranks))
        end = ring.all_reduce(posted.begin, us, skew_us)
        self.complete(posted, count, end, int(skew_us * 1000))

    def post(self, thread: Thread, operator: Operator, kind: str, group: Communicator) -> Posted:
        """Launch a collective: when its own part of it begins on the device."""
        worker, launch = self._take(thread, operator, f"Hccl{kind[0].upper()}{kind[1:].lower()}")
        start = worker.now
        call = self.api(f"hcom_{kind}_", worker, start, start, "HOST_HCCL", "acl")
        node = self.api("launch", worker, start, start, "launch", "node")
        call.item = node.item = f"hcom_{kind}_"
        link = self._link(worker, "collective", node.connection)
        self.spend(worker, 220)
        inner = worker.now
        self.spend(worker, 45)
        self.api("Launch_Ffts", worker, inner, worker.now, "master", "hccl").item = "Launch_Ffts"
        self.api(
            "FftsPlusTaskLaunch", worker, inner + 3000, worker.now - 2000, "FftsPlusTaskLaunch", "runtime"
        )
        self.spend(worker, 20)
        call.end = node.end = launch.end = worker.now
        stream = self.stream(group.stream)
        begin = max(inner + 5000 + self.jitter(6), stream.free + 240)
        stream.tasks += 1
        return Posted(begin, stream.tasks - 1, node.connection, kind, group, link, launch, worker)

    def launched(self, posted: Posted) -> None:
        """End the launch of a collective that its worker does not wait for."""
        self._done(posted.worker, posted.launch)

    def complete(self, posted: Posted, count: int, end: int, skew: int, awaited: bool = True) -> None:
        """End a collective on the device, the last rank having come `skew` ns after this one.

        `awaited`: its worker waits until then; else it has gone on.
        """
        recorded = self.recording.collectives
        index = sum(collective.group == posted.group for collective in recorded)
        call = posted.begin, end, posted.connection, count, posted.link, posted.launch, skew
        recorded.append(Collective(index, *call, posted.kind, posted.group))
        if awaited:
            self.stream(posted.group.stream).free = end
            self._done(posted.worker, posted.launch)

    def change_memory(self, thread: Thread, api: str, us: float) -> None:
        """Take memory of the device from the driver on `thread`, or give it back."""
        start = thread.now
        self.spend(thread, us)
        self.api(api, thread, start, thread.now, "ACL_RTS", "acl")

    def synchronize(self, thread: Thread) -> None:
        """Wait on `thread` until the compute stream has finished."""
        start = thread.now
        finished = self.stream(COMPUTE_STREAM).free
        finished += -finished % 10
        end = max(start + self.jitter(7), finished + self.jitter(6))
        outer = self.api(
            "aclrtSynchronizeStreamWithTimeout", thread, start, end + self.jitter(2.5), "ACL_RTS", "acl"
        )
        inner = self.api("StreamSynchronize", thread, start + 1800, end, "StreamSynchronize", "runtime")
        self.api("StreamSyncTaskFinish", thread, end - 1000, end - 1000, "StreamSyncTaskFinish", "runtime")
        outer.sync = inner.sync = True
        thread.now = outer.end

    def read_back(self, thread: Thread) -> None:
        """Copy a few bytes from device to host, blocking, as `.item()` does at its end."""
        start = thread.now
        end = start + self.jitter(32 * self.pace(thread))
        outer = self.api("aclrtMemcpy", thread, start, end, "ACL_RTS", "acl")
        self.api(
            "MemCopySync", thread, min(start + 1000, end), max(start, end - 1500), "MemCopySync", "runtime"
        )
        outer.sync = True
        thread.now = end

    # -- pieces of a launch ---------------------------------------------------------------------------

    def _take(self, thread: Thread, operator: Operator, name: str) -> tuple[Thread, Launch]:
        """Enqueue on `thread` and dequeue: the thread that launches, stopped at its start, and the launch."""
        if not self.task_queue:
            self.spend(thread, 3)
            return thread, Launch(operator, thread.tid, thread.now, thread.now, thread.now)
        enqueued = thread.now
        self.spend(thread, 4.5)
        self._correlation += 1
        self.recording.correlations += 1
        self.recording.enqueues.append(Enqueue(self._correlation, thread.tid, enqueued, thread.now))
        begin = max(enqueued + self.jitter(11), self.dequeue.now + self.jitter(2.5))
        slot = Dequeue(self._correlation, f"Dequeue@{name}", self.dequeue.tid, begin, begin)
        self.recording.dequeues.append(slot)
        self.dequeue.now = begin + self.jitter(3)
        return self.dequeue, Launch(operator, thread.tid, enqueued, begin, begin, slot)

    def _done(self, worker: Thread, launch: Launch) -> None:
        self.spend(worker, 2.2)
        if launch.slot is not None:
            launch.slot.end = worker.now

    def _launch_kernel(self, worker: Thread, launch: Launch, name: str, kernel: Kernel) -> None:
        start = worker.now
        node = self.api("launch", worker, start, start, "launch", "node")
        node.item = name
        self.spend(worker, 1.2)
        self.api(
            "CtxGetOverflowAddr",
            worker,
            worker.now,
            worker.now + self.jitter(0.3),
            "CtxGetOverflowAddr",
            "runtime",
        )
        self.spend(worker, 1.8)
        inner = worker.now
        self.spend(worker, 1.8)
        flow = worker.now
        self.spend(worker, 1.4)
        self.api("KernelLaunchWithHandle", worker, inner, worker.now, "KernelLaunchWithHandle", "runtime")
        self.spend(worker, 1.6)
        node.end = worker.now
        task_launch = replace(launch, end=node.end)
        if launch.slot is None:
            task_launch.enqueue = task_launch.dequeue = start
        ready = flow + self.jitter(8.5)
        if self._late_us:
            ready, self._late_us, task_launch.late = node.end + self.jitter(self._late_us), 0.0, True
        task = self._task(name, kernel.type, COMPUTE_STREAM, ready, kernel.us, node.connection)
        task.launch = task_launch
        if kernel.type.startswith("MIX"):
            task.subtask = 0
        task.link = FlowStart(worker.tid, flow, "kernel", 0)
        self.recording.links.append(task.link)

    def _event_call(self, worker: Thread, api: str, runtime: str) -> Api:
        start = worker.now
        call = self.api(api, worker, start, start, "ACL_RTS", "acl")
        self.spend(worker, 1.2)
        inner = worker.now
        self.spend(worker, 5)
        self.api(runtime, worker, inner, worker.now, runtime, "runtime")
        self.spend(worker, 1)
        call.end = worker.now
        return call

    def _link(self, worker: Thread, kind: str, value: int) -> FlowStart:
        link = FlowStart(worker.tid, worker.now, kind, value)
        self.recording.links.append(link)
        return link

    def _task(self, name: str, kind: str, number: int, ready: int, us: float, connection: int) -> Task:
        """Record a task that starts when it is `ready` and its stream is free."""
        stream = self.stream(number)
        start = max(ready + int(self._random.random() * 10), stream.free + self.jitter(0.5) + 4)
        ticks = max(1, int(us * (1 + 0.04 * self._variation * self._random.random()) * 50))
        duration = 20 if us <= 0.02 else ticks * 20
        task = Task(
            name, kind, number, stream.tasks, start, start + duration, connection, clock_fraction(duration)
        )
        stream.tasks += 1
        stream.free = task.end
        self.recording.tasks.append(task)
        return task
