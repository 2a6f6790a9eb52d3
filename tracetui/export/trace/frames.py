"""The results of a trace as pandas DataFrames: the values of its JSON documents. Imports pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorTable
from tracetui.analysis.scheduler.summary import SchedulerSummary
from tracetui.arrays import Int64s
from tracetui.export.data_frame import frame_of
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.events import EVENTS, EventRows, Events
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.kernels import KernelRows, kernel_table
from tracetui.export.tables.nested import FRAMES, MODULES, SCOPES, FrameRows, ModuleRows, ScopeRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.tables.signatures import SIGNATURES, SignatureRows
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.tables.syncs import SYNCS, SyncRows
from tracetui.export.trace.selection import Selection

#: Rows of a csv file made at a time, some MB of text. 313 k rows take 1.25 s, in larger pieces 1.16 s.
CHUNK = 8192


def events_frame(analysis: Analysis, rows: Int64s | None = None) -> pd.DataFrame:
    """Return a row per slice: of the slice rows given, in their order; by default of all, by start.

    `activity` is what a device task does, `operator` what a task leads back to; `stack` is leaf first.
    """
    by_start = np.argsort(analysis.trace.slices.start, kind="stable") if rows is None else rows
    return frame_of(EVENTS, EventRows(Events(analysis), by_start))


def event_frames(analysis: Analysis, rows: Int64s) -> Iterator[pd.DataFrame]:
    """Yield `events_frame` in pieces, for a file; one empty piece for no rows."""
    events = Events(analysis)
    for first in range(0, max(len(rows), 1), CHUNK):
        yield frame_of(EVENTS, EventRows(events, rows[first : first + CHUNK]))


def gaps_frame(analysis: Analysis, gaps: Int64s | None = None) -> pd.DataFrame:
    """Return a row per AICore gap: of the indices given, in their order; by default of all, most lost first.

    `before` and `after` are the tasks that the gap lies between, `cause` is that of most of its idle time,
    `line` the Python line behind that, or behind its exposed communication where that is longer, `exposed_by`
    the one that was synchronising when it began.
    `lost_ns` is idle time, exposed communication and exposed copies. `communication.wait_ns` and the like sum
    to `communication_ns`.
    """
    return frame_of(GAPS, GapRows(analysis, analysis.gaps.ranked() if gaps is None else gaps))


def steps_frame(analysis: Analysis, steps: Sequence[int] | None = None) -> pd.DataFrame:
    """Return a row per step and device: of the indices given, by default of all; times of its device window.

    Every cause of idle time has a column, such as `host.sync_ns`; they sum to `idle_ns`. Those of exposed
    communication, such as `communication.wait_ns`, sum to `communication_not_overlapped_ns`.
    """
    return frame_of(STEPS, StepRows(analysis, steps))


def hotspots_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per line of Python behind the gaps selected, by default all; most idle first.

    `file` is missing in the row of what has no stack, `saves_at_most_ns` where the gaps are of a window.
    `op` is the operator with the most of the time. Every cause has a column, such as `host.sync_ns`; they sum
    to `idle_ns`.
    """
    return frame_of(LINES, LineRows(analysis, selection, top))


def modules_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per nn.Module behind the gaps selected, by default all; most idle first, at most `top`.

    `idle_ns` holds that of the modules inside; `own_ns` does not, and sums to the idle time. `path` are the
    modules around it, `file` and `line` where its forward is. `module` is missing for what is outside any.
    """
    return frame_of(MODULES, ModuleRows(analysis, selection, top))


def scopes_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per scope of the network, of the tasks and gaps selected; most time first, at most `top`.

    `computing_ns` and `idle_ns`, right before its tasks, hold those of the scopes inside; `own_computing_ns`
    and `own_idle_ns` do not, and add up. `scope` is "(outside any scope)" for what has none.
    """
    return frame_of(SCOPES, ScopeRows(analysis, selection, top))


def frames_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per frame of Python at any depth, of the gaps selected; most idle first, at most `top`.

    `idle_ns` holds that of the frames it calls; `own_ns` does not, and sums to the idle time. `file` is
    missing for what has no stack.
    """
    return frame_of(FRAMES, FrameRows(analysis, selection, top))


def signatures_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per cause, line and operator that gaps have in common; most idle first.

    `idle_ns` is all idle time of those gaps, `longest_ns` the most of one. `file` is missing where there is
    no stack, `op` where no operator ran.
    """
    return frame_of(SIGNATURES, SignatureRows(analysis))


def syncs_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per call that made the host wait for a device, and line; most idle time exposed first.

    `waited_ns` is the time of all those calls, `longest_ns` that of one, `gaps` how many have the idle time
    that they expose, `exposed_ns`. `file` is missing where there is no stack.
    """
    return frame_of(SYNCS, SyncRows(analysis))


def late_peers_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per rank of a group that came late, those first that were waited for longest.

    `group_rank` is its number in the group, `rank` that in the job, where known. `wait_ns` is the time of the
    `operations` that waited for it, `exposed_ns` what of that nothing else was computed in.
    """
    return frame_of(PEERS, PeerRows(analysis))


def links_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per link to another rank, those first whose transfers took longest.

    `src` and `dst` are numbers in the group, `src_rank` and `dst_rank` those in the job, where known.
    """
    return frame_of(LINKS, LinkRows(analysis))


def advice_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per piece of advice, that about the most time first; `evidence` is JSON, as text."""
    return frame_of(ADVICE, AdviceRows(analysis))


def scheduler_threads_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per thread that the scheduler's recording knows, those behind most idle time first.

    How long it ran, was ready, slept: the six times sum to what both recordings cover.

    Raises ValueError where there is no recording.
    """
    return frame_of(THREADS, ThreadTimeRows(_scheduler_summary(analysis)))


def culprits_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per task that had a thread's core in idle time, most first; they sum to host.preempted.

    Raises ValueError where there is no recording of the scheduler.
    """
    return frame_of(CULPRITS, CulpritRows(_scheduler_summary(analysis)))


def cores_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per core that the scheduler's recording knows: how long it had a thread, or interrupts.

    Raises ValueError where there is no recording.
    """
    return frame_of(CORES, CoreRows(_scheduler_summary(analysis)))


def _scheduler_summary(analysis: Analysis) -> SchedulerSummary:
    if analysis.scheduler_summary is None:
        raise ValueError("no recording of the scheduler is beside the trace")
    return analysis.scheduler_summary


def operators_frame(table: OperatorTable) -> pd.DataFrame:
    """Return a row per name (or type) and activity, as of `analysis.device_operators`; most own time first.

    `self_ns` is without the operators inside, `share` is of that of all. `mean_ns`, of the total, is rounded
    down, `p50_ns` and `p95_ns` are durations that occur.
    """
    return frame_of(OPERATORS, table)


def kernels_frame(analysis: Analysis) -> pd.DataFrame:
    """Return a row per kernel that kernel_details.csv tells of, the longest first.

    Type, core, shapes, dtypes, formats and blocks, joined to step, operator and Python line of the trace.
    What not every kernel_details.csv has is a column where it has it; so is each counter, called as there.
    Raises ValueError where the table is not beside the trace.
    """
    kernels = analysis.kernels
    if kernels is None:
        raise ValueError("kernel_details.csv or op_summary.csv is not beside this trace")
    return frame_of(kernel_table(kernels), KernelRows(analysis, kernels))
