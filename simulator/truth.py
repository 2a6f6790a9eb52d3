"""Why the device was idle, told by the simulation that made it so: the answers to a trace's questions.

Every idle interval (inside the first to the last compute or communication task, nothing runs: no compute, no
communication, no copy) is split at the milestones of the task that ends it: enqueued, dequeued, launched.
Before the first, the host thread is asked what it did; where the host was not recorded, there is no telling.
Looks only at the recording, never at a trace file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, NamedTuple

from simulator.host import SITE
from simulator.intervals import Interval, total, union, within, without
from simulator.recording import (
    AICORE,
    AICPU,
    COPY,
    FlowStart,
    Launch,
    Operator,
    OperatorRole,
    PythonStack,
    Recording,
    Task,
)

TrueLine = tuple["str | None", "int | None", "str | None", bool]


class Work(NamedTuple):
    """A compute, communication or copy task."""

    start: int
    end: int
    name: str
    stream: int
    launch: Launch
    link: FlowStart | None


class CauseSpan(NamedTuple):
    """A stretch of a host thread that stands for one cause."""

    start: int
    end: int
    cause: str


PRIORITY = (
    "host.gc",
    "host.sync",
    "host.dataloader",
    "host.copy",
    "host.communication",
    "host.compile",
    "host.operator",
    "host.profiler",
    "host.unrecorded",
)


class Truth:
    """The idle intervals of a recording and their causes, as a profiler of `level` can know them."""

    def __init__(self, recording: Recording, level: int = 2) -> None:
        self._recording = recording
        self._level = level
        tids = (recording.main_tid, recording.autograd_tid)
        self._running = {
            tid: sorted(
                (op for op in recording.operators if op.tid == tid and op.role is not OperatorRole.WRAPPER),
                key=lambda op: (op.start, -op.end),
            )
            for tid in tids
        }
        self._starts = {tid: [op.start for op in self._running[tid]] for tid in tids}
        self._telling = {
            tid: sorted(
                (
                    op
                    for op in recording.operators
                    if op.tid == tid and (op.role is not OperatorRole.WRAPPER or op.stack is not None)
                ),
                key=lambda op: (op.start, -op.end),
            )
            for tid in tids
        }
        self._tells_at = {tid: [op.start for op in self._telling[tid]] for tid in tids}
        self._spans = {tid: self._causes(tid) for tid in tids}
        self._tasks: dict[int, list[Task]] = {}
        for task in recording.tasks:
            self._tasks.setdefault(task.start, []).append(task)
        self._waits = [task for task in recording.tasks if task.name == "EVENT_WAIT"]
        self._dequeues = union([(slot.start, slot.end) for slot in recording.dequeues])
        self._compiles = (
            [(api.start, api.end) for api in recording.apis if api.name.endswith("aclopCompileAndExecute")]
            if level
            else []
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as one JSON object: times in epoch ns."""
        recording = self._recording
        tasks = [task for task in recording.tasks if task.launch is not None]
        aicore = union([(task.start, task.end) for task in tasks if task.type in AICORE])
        aicpu = without(union([(task.start, task.end) for task in tasks if task.type in AICPU]), aicore)
        compute = union(aicore + aicpu)
        communication = union([(operation.start, operation.end) for operation in recording.collectives])
        copies = union([(task.start, task.end) for task in tasks if task.name == COPY])
        busy = union(compute + communication)
        window = busy[0][0], busy[-1][1]
        idle = without([window], union(busy + copies))
        exposed = without(communication, compute)
        copying = without(copies, busy)
        gaps = [
            {
                "start_ns": start,
                "dur_ns": end - start,
                "idle_ns": within(idle, start, end),
                "aicpu_ns": within(aicpu, start, end),
                "communication_ns": within(exposed, start, end),
                "copy_ns": within(copying, start, end),
            }
            for start, end in without([window], aicore)
        ]
        intervals = [self._interval(start, end) for start, end in idle]
        causes: dict[str, int] = {}
        for interval in intervals:
            for piece in interval["pieces"]:
                causes[piece["cause"]] = causes.get(piece["cause"], 0) + piece["dur_ns"]
        return {
            "schema": 1,
            "level": self._level,
            "start_ns": window[0],
            "end_ns": window[1],
            "computing_ns": total(compute),
            "communication_ns": total(communication),
            "communication_not_overlapped_ns": total(exposed),
            "free_ns": total(without([window], busy)),
            "aicore_ns": total(aicore),
            "idle_ns": total(idle),
            "causes": dict(sorted(causes.items())),
            "gaps": gaps,
            "idle": intervals,
        }

    # -- one idle interval ----------------------------------------------------------------------------

    def _interval(self, start: int, end: int) -> dict[str, Any]:
        work = self._ending(end)
        launch = work.launch
        if not launch.recorded:
            return self._unlinked(work, start, end)
        enqueued, dequeued, launched = self._milestones(work)
        enqueue, dequeue, launch_end = (min(max(time, start), end) for time in (enqueued, dequeued, launched))
        dequeue = max(enqueue, dequeue)
        launch_end = max(dequeue, launch_end)
        line = line_of(launch.operator)
        name = launch.operator.name
        pieces = self._host(launch.thread, start, enqueue, line)
        worker = launch.thread if launch.slot is None else launch.slot.tid
        taken = self._split(enqueue, dequeue, self._dequeues, "queue.busy", "queue.wakeup", line, name)
        taken += self._split(
            dequeue, launch_end, self._compiles, "launch.compile", "launch.dispatch", line, name
        )
        pieces += [{**piece, "thread": worker} for piece in taken]
        waits = union([(wait.start, wait.end) for wait in self._waits if wait.stream == work.stream])
        outside = "device.unknown" if launch.late else "device.latency"
        pieces += self._split(launch_end, end, waits, "device.stream_wait", outside, line, name)
        return {
            "start_ns": start,
            "dur_ns": end - start,
            "task": work.name,
            "stream": work.stream,
            "operator": name,
            "enqueue_ns": enqueued,
            "dequeue_ns": dequeued,
            "launched_ns": launched,
            "file": line[0],
            "line": line[1],
            "function": line[2],
            "backward": line[3],
            "exposed_by": self._exposed_by(launch.thread, start, enqueue),
            "pieces": pieces,
        }

    def _unlinked(self, work: Work, start: int, end: int) -> dict[str, Any]:
        """Describe an interval ended by a task of whose way to the device nothing was recorded."""
        nobody = line_of(None)
        unknown = ("operator", "enqueue_ns", "dequeue_ns", "launched_ns", "file", "line", "function")
        return {
            "start_ns": start,
            "dur_ns": end - start,
            "task": work.name,
            "stream": work.stream,
            **dict.fromkeys(unknown),
            "backward": False,
            "exposed_by": None,
            "pieces": [_piece(start, end, "unlinked", nobody, None)],
        }

    def _milestones(self, work: Work) -> tuple[int, int, int]:
        """Return when the task was enqueued, dequeued and launched, as the level shows it."""
        launch = work.launch
        if self._level:
            return launch.enqueue, launch.dequeue, launch.end
        if launch.slot is not None:
            return launch.enqueue, launch.dequeue, launch.slot.end
        assert work.link is not None
        return work.link.at, work.link.at, work.link.at

    def _ending(self, start: int) -> Work:
        """Return the task that starts at a time; of several, the one enqueued first."""
        candidates = []
        for task in self._tasks.get(start, []):
            if task.launch is not None and (task.type in AICORE + AICPU or task.name == COPY):
                candidates.append(Work(task.start, task.end, task.name, task.stream, task.launch, task.link))
        for operation in self._recording.collectives:
            if operation.start == start:
                name = f"hcom_{operation.kind}__{operation.group.digits}_{operation.index}_1"
                stream = operation.group.stream
                candidates.append(Work(start, operation.end, name, stream, operation.launch, operation.link))
        return min(candidates, key=lambda work: work.launch.enqueue)

    def _split(
        self,
        start: int,
        end: int,
        covers: list[Interval],
        inside: str,
        outside: str,
        line: TrueLine,
        name: str,
    ) -> list[dict[str, Any]]:
        """Cut [start, end) into what `covers` cover and the rest."""
        outer = without([(start, end)], covers) if start < end else []
        inner = without([(start, end)], outer) if start < end else []
        parts = [(*part, inside) for part in inner] + [(*part, outside) for part in outer]
        return [_piece(first, last, cause, line, name) for first, last, cause in sorted(parts)]

    # -- the host -------------------------------------------------------------------------------------

    def _host(self, thread: int, start: int, end: int, line: TrueLine) -> list[dict[str, Any]]:
        """Say what the responsible thread did in [start, end), cut wherever that changes."""
        recording = self._recording
        pieces: list[dict[str, Any]] = []
        wake_time = start
        if thread == recording.autograd_tid:
            burst = max(
                (burst for burst in recording.bursts if burst.start <= end), key=lambda burst: burst.start
            )
            index = bisect_left(self._starts[thread], burst.start)
            wake_time = min(max(start, self._starts[thread][index]), end)
            pieces += self._thread(burst.waker, start, wake_time)
        for piece in pieces:
            if piece["cause"] == "host.python" and piece["start_ns"] >= burst.start:
                piece["file"], piece["line"], piece["function"], piece["backward"] = line
        return pieces + self._thread(thread, wake_time, end)

    def _thread(self, tid: int, start: int, end: int) -> list[dict[str, Any]]:
        if start >= end:
            return []
        spans = [span for span in self._spans[tid] if span.start < end and span.end > start]
        running = [op for op in self._running[tid] if op.start < end and op.end > start]
        cuts = {start, end}
        for begin, finish in [(span.start, span.end) for span in spans] + [
            (op.start, op.end) for op in running
        ]:
            cuts |= {cut for cut in (begin, finish) if start < cut < end}
        cuts |= {op.start for op in self._telling[tid] if start < op.start < end}
        edges = sorted(cuts)
        pieces: list[dict[str, Any]] = []
        for first, last in zip(edges, edges[1:]):
            active = {span.cause for span in spans if span.start <= first and span.end >= last}
            cause = next((cause for cause in PRIORITY if cause in active), "host.python")
            inner = [op for op in running if op.start <= first and op.end >= last]
            operator = max(inner, key=lambda op: op.start) if inner else None
            named_operator = operator or self._next(tid, first)
            piece = _piece(first, last, cause, line_of(named_operator), operator.name if operator else None)
            piece["thread"] = tid
            if pieces and all(
                pieces[-1][key] == piece[key] for key in ("cause", "file", "line", "backward", "op")
            ):
                pieces[-1]["dur_ns"] += piece["dur_ns"]
            else:
                pieces.append(piece)
        return pieces

    def _next(self, tid: int, at: int) -> Operator | None:
        """Return the operator that begins next on the thread, also one that only wraps Python: it has a
        stack.
        """
        index = bisect_right(self._tells_at[tid], at)
        return self._telling[tid][index] if index < len(self._telling[tid]) else None

    def _exposed_by(self, tid: int, start: int, end: int) -> str | None:
        """Return the line of the synchronising call that was under way when the interval began."""
        for op in self._running[tid]:
            if op.role is OperatorRole.SYNC and op.start < start < op.end and start < end:
                file, line, _, _ = line_of(op)
                return f"{file}({line})"
        return None

    def _causes(self, tid: int) -> list[CauseSpan]:
        recording = self._recording
        spans = [CauseSpan(op.start, op.end, op.role.value) for op in self._running[tid]]
        spans.append(CauseSpan(recording.start, recording.roots[0].start, "host.unrecorded"))
        spans += [CauseSpan(run.start, run.end, "host.gc") for run in recording.collections]
        spans += [
            CauseSpan(call.start, call.end, "host.dataloader")
            for call in recording.calls
            if call.tid == tid and call.name.startswith("torch/utils/data/")
        ]
        spans += [
            CauseSpan(call.start, call.end, "host.profiler")
            for call in recording.calls
            if call.tid == tid and call.name.startswith("torch_npu/profiler/")
        ]
        if self._level:
            for api in recording.apis:
                if api.tid == tid and api.sync:
                    spans.append(CauseSpan(api.start, api.end, "host.sync"))
                elif api.tid == tid and api.name.endswith("aclopCompileAndExecute"):
                    spans.append(CauseSpan(api.start, api.end, "host.compile"))
        return spans


def line_of(operator: Operator | None) -> TrueLine:
    """Return file, line and function of the first user frame of the operator's stack, or of its forward
    one's.
    """
    if operator is None:
        return None, None, None, False
    backward = operator.stack is None and operator.forward_stack is not None
    stack: PythonStack = operator.stack or operator.forward_stack or ()
    for frame in stack:
        if not frame.path.startswith((SITE, "<")):
            return frame.path, frame.line, frame.function, backward
    return None, None, None, backward


def _piece(start: int, end: int, cause: str, line: TrueLine, name: str | None) -> dict[str, Any]:
    return {
        "start_ns": start,
        "dur_ns": end - start,
        "cause": cause,
        "file": line[0],
        "line": line[1],
        "function": line[2],
        "backward": line[3],
        "op": name,
        "thread": None,
    }
