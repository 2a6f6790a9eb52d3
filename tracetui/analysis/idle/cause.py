"""The causes of idle time: one table, from which all that names, explains or ranks a cause is made.

A new cause is one more row here, its colour in `ui/drawing/causes.py`, and the code that finds it. Nothing
here reads a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


@dataclass(frozen=True)
class CauseFacts:
    """A row of the table: what is known of a cause, whatever the trace."""

    label: str  #: the dotted name of text, JSON and limits: family, then cause
    letter: str  #: one letter, different for each: a capital for what the host did, else small or "?"
    name: str  #: one or two words for tables
    brief: str  #: a few words for the summary
    meaning: str  #: a sentence for the glossary
    doing: str  #: in the sentence about a gap; {} stands for the operator
    doing_unknown: str = ""  #: the same where `doing` asks for an operator and none is known
    rule: str = ""  #: when it is the cause, in Markdown
    remedy: str = ""  #: what helps, in Markdown; "" where nothing does
    #: would keep the device waiting as long if the host had never synchronised before
    reason_of_its_own: bool = False

    @property
    def family(self) -> str:
        """The first part of the label: "host", "queue", "launch", "device" or "unlinked"."""
        return self.label.split(".")[0]


class Cause(IntEnum):
    """Why a device was idle for a stretch; where several hold of the host, the upper row wins.

    What the scheduler tells, from PREEMPTED to BLOCKED, wins over what the trace tells of host, queue and
    launch, BLOCKED only where the thread was in no known wait. Where work of any device may be lost, UNSEEN
    wins over all.
    """

    facts: CauseFacts

    def __new__(cls, facts: Any) -> Cause:  # Any: type checkers take Cause(3), a look-up, for a call of this
        """Give the row its number, from 0; `facts` is a CauseFacts."""
        cause = int.__new__(cls, len(cls.__members__))
        cause._value_ = len(cls.__members__)
        cause.facts = facts
        return cause

    GC = CauseFacts(
        label="host.gc",
        letter="G",
        name="gc",
        brief="Python collected garbage",
        meaning="Python collected garbage.",
        doing="collecting garbage",
        rule="Python's garbage collector ran",
        remedy="`gc.freeze()`, collect between steps",
        reason_of_its_own=True,
    )
    SYNC = CauseFacts(
        label="host.sync",
        letter="S",
        name="sync",
        brief="host waited for the device",
        meaning="the host waited for the device: .item(), synchronize().",
        doing="{} waiting for the device",
        doing_unknown="waiting for the device",
        rule=(
            "the thread waited for the device: `.item()`, `nonzero`, `synchronize`, a blocking copy back. "
            "Shown with the line that synchronised, as *exposed by*, if it began before the gap. "
            "Where calls of the runtime are recorded, `.item()` waits only if it makes one: that of a tensor "
            "of the host is `host.operator`"
        ),
        remedy="keep values on the device, log rarely, copy with `non_blocking=True`",
    )
    DATALOADER = CauseFacts(
        label="host.dataloader",
        letter="D",
        name="data loader",
        brief="host waited for data",
        meaning="the host waited for data.",
        doing="{} waiting for data",
        doing_unknown="waiting for data",
        rule="the data loader's `__next__`",
        remedy="more workers, `pin_memory`, prefetch",
        reason_of_its_own=True,
    )
    COPY = CauseFacts(
        label="host.copy",
        letter="H",
        name="host copy",
        brief="host copied to the device",
        meaning="the host copied to the device.",
        doing="{} copying to the device",
        doing_unknown="copying to the device",
        rule="an operator that copies host to device",
        remedy="pin, overlap, create tensors on the device",
        reason_of_its_own=True,
    )
    COMMUNICATION = CauseFacts(
        label="host.communication",
        letter="C",
        name="collective",
        brief="host prepared a collective",
        meaning="the host prepared a collective.",
        doing="{} preparing a collective",
        doing_unknown="preparing a collective",
        rule="a collective was being prepared",
        remedy="bucket sizes, fewer groups",
    )
    COMPILE = CauseFacts(
        label="host.compile",
        letter="K",
        name="compile",
        brief="host compiled",
        meaning="the host compiled an operator or a graph.",
        doing="{} compiling",
        doing_unknown="compiling",
        rule="an operator or graph was compiled on that thread",
        remedy="`jit_compile=False`, fixed shapes, warm the cache",
        reason_of_its_own=True,
    )
    OPERATOR = CauseFacts(
        label="host.operator",
        letter="O",
        name="operator",
        brief="framework in an operator",
        meaning="the framework was inside an operator.",
        doing="{}",
        doing_unknown="an operator",
        rule="inside any other operator: overhead of the framework",
        remedy="fewer, larger, fused operators",
    )
    PROFILER = CauseFacts(
        label="host.profiler",
        letter="R",
        name="profiler",
        brief="the profiler itself",
        meaning="the profiler itself ran: overhead that goes with it.",
        doing="the profiler itself",
        rule="between operators, in a frame of the profiler itself",
        remedy="goes with the profiler",
        reason_of_its_own=True,
    )
    PYTHON = CauseFacts(
        label="host.python",
        letter="P",
        name="python",
        brief="Python between operators",
        meaning="Python ran between two operators.",
        doing="Python",
        rule="between operators: Python itself",
        remedy="vectorise the loop, batch it, capture a graph",
    )
    UNRECORDED = CauseFacts(
        label="host.unrecorded",
        letter="U",
        name="unrecorded",
        brief="host, no operator recorded",
        meaning="no operator of the thread is recorded.",
        doing="with no operator recorded on its thread",
        rule="no operator or frame of the thread is recorded; calls of the runtime may be",
        remedy="profile with CPU activity",
    )
    PREEMPTED = CauseFacts(
        label="host.preempted",
        letter="X",
        name="preempted",
        brief="ready, and had no core",
        meaning="the thread was ready to run and had no core.",
        doing="ready, without a core",
        rule="the thread was ready, and another had its core, or its core was waking up (scheduler)",
        remedy="pin the process: `CPU_AFFINITY_CONF`, `taskset`; fewer busy threads",
        reason_of_its_own=True,
    )
    INTERRUPTED = CauseFacts(
        label="host.interrupted",
        letter="I",
        name="interrupted",
        brief="its core served interrupts",
        meaning="the core of the thread served an interrupt.",
        doing="interrupted",
        rule="the core of the thread served an interrupt (scheduler)",
        remedy="move interrupts to other cores: `irqbalance`, `/proc/irq/N/smp_affinity`",
        reason_of_its_own=True,
    )
    DISK = CauseFacts(
        label="host.disk",
        letter="V",
        name="disk",
        brief="waited for a disk or a page",
        meaning="the thread waited for a disk or a page of memory.",
        doing="waiting for a disk or a page",
        rule="the thread slept uninterruptibly: a disk, a page (scheduler)",
        remedy="data in memory or on a faster disk, huge pages, no swap",
        reason_of_its_own=True,
    )
    BLOCKED = CauseFacts(
        label="host.blocked",
        letter="L",
        name="blocked",
        brief="slept in no known wait",
        meaning="the thread slept: a lock, the GIL, another thread.",
        doing="{} asleep",
        doing_unknown="asleep",
        rule="the thread slept in no known wait: a lock, the GIL, malloc (scheduler)",
        remedy="fewer threads of Python, shorter locks; who woke it tells which",
        reason_of_its_own=True,
    )
    QUEUE_BUSY = CauseFacts(
        label="queue.busy",
        letter="b",
        name="queue busy",
        brief="queued behind launches",
        meaning="in the task queue, while its thread launched others.",
        doing="the dequeue thread launching others",
        rule="the dequeue thread was at another task",
        remedy="`TASK_QUEUE_ENABLE=2`, fewer launches",
    )
    QUEUE_WAKEUP = CauseFacts(
        label="queue.wakeup",
        letter="q",
        name="queue",
        brief="queued, not yet taken",
        meaning="in the task queue, its thread had nothing to do.",
        doing="the dequeue thread waking up",
        rule="the dequeue thread had nothing to do and yet did not take it",
        remedy="`CPU_AFFINITY_CONF`, fewer busy threads",
    )
    LAUNCH_COMPILE = CauseFacts(
        label="launch.compile",
        letter="k",
        name="op compile",
        brief="compiled during its launch",
        meaning="being launched: compiled.",
        doing="compiling",
        rule="compiled as part of its launch",
        remedy="`jit_compile=False`",
        reason_of_its_own=True,
    )
    LAUNCH_DISPATCH = CauseFacts(
        label="launch.dispatch",
        letter="d",
        name="dispatch",
        brief="being launched",
        meaning="being launched: tiling, workspace, dispatch.",
        doing="dispatching",
        rule="the rest of a launch",
        remedy="fewer, larger operators",
    )
    STREAM_WAIT = CauseFacts(
        label="device.stream_wait",
        letter="w",
        name="stream wait",
        brief="launched, stream waited",
        meaning="launched; its stream waited for an event.",
        doing="waiting",
        rule="its stream waited for an event; what for is named where the trace tells",
        remedy="reorder, split, overlap communication",
    )
    GRAPH = CauseFacts(
        label="device.graph",
        letter="g",
        name="graph",
        brief="between tasks of a graph",
        meaning="launched with the task before it, as one graph: a gap inside the graph.",
        doing="between tasks of one graph",
        rule="it follows another task of the same graph launch: a gap inside the graph",
        remedy="fewer, larger kernels in the graph",
    )
    LATENCY = CauseFacts(
        label="device.latency",
        letter="t",
        name="latency",
        brief="launched, the usual delay",
        meaning="launched; the usual time until a task runs.",
        doing="the usual latency",
        rule=(
            "a stretch no longer than the usual time from launch to start (three times the median of tasks "
            "that found their stream empty, 5 to 30 µs)"
        ),
    )
    UNKNOWN = CauseFacts(
        label="device.unknown",
        letter="u",
        name="unknown",
        brief="launched, reason unknown",
        meaning="launched and not running; nothing says why.",
        doing="unexplained",
        rule="launched, not running, and nothing says why",
    )
    UNSEEN = CauseFacts(
        label="device.unseen",
        letter="n",
        name="unseen",
        brief="work that is not recorded",
        meaning="the device was busy, or may have been, with work that is not recorded.",
        doing="perhaps busy with work that is not recorded",
        rule=(
            "the recording lacks what the device did: tasks in a row that were launched; or, where nothing "
            "else says why, work of a graph, or from before the recording (`tracetui doctor`)"
        ),
        remedy="synchronise before the profiler starts; record kernels inside of graphs",
    )
    UNLINKED = CauseFacts(
        label="unlinked",
        letter="?",
        name="unlinked",
        brief="launch is not recorded",
        meaning="the trace does not tell what launched the task.",
        doing="",
        rule="the trace does not tell what launched the task",
        remedy="level 1, CPU activity; synchronise before the profiler starts",
    )

    @property
    def label(self) -> str:
        """The dotted name: "host.sync"."""
        return self.facts.label

    @property
    def family(self) -> str:
        """The first part of the label: "host", "queue", "launch", "device" or "unlinked"."""
        return self.facts.family


#: The families of causes, in the order of a task's way from the host to the device.
FAMILIES = tuple(dict.fromkeys(cause.family for cause in Cause))


def of_families(*families: str) -> tuple[Cause, ...]:
    """Return the causes of some families, in the order of the table: those of the host as they win."""
    return tuple(cause for cause in Cause if cause.family in families)
