"""The steps of the training loop on each device: the table of step_trace_time.csv, in integer nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

Span = Optional[Tuple[int, int]]  # start and end, epoch ns; None where the trace does not tell


@dataclass(frozen=True)
class Step:
    """One `ProfilerStep#N` on one device. Sums are of whole rows that start in [start_ns, end_ns), never cut."""

    number: int
    device: str
    row: int  #: the slice of the step on the host
    host_start_ns: int
    host_end_ns: int
    start_ns: int  #: the device window: first start of the first task that the step enqueued
    end_ns: int  #: last end of the last one, or the end of the host step where that is later
    computing_ns: int
    communication_not_overlapped_ns: int
    overlapped_ns: int
    communication_ns: int
    free_ns: int
    stage_ns: int
    bubble_ns: int
    communication_not_overlapped_exclude_receive_ns: int
    preparing_ns: int
    idle_ns: int
    iteration_gap: (
        Span  #: from the previous step's last task (first step: from the host's start) to the first task
    )
    forward_backward: Span  #: first task to the end of the last backward one
    tail: Span  #: from there to the end of the step: optimizer, gradient collectives
