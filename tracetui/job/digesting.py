"""From the path of a trace to its digest: a function of the file and of those beside it, without state."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.speeds import chip_of
from tracetui.analysis.intervals import union
from tracetui.analysis.marked_ranges import range_name
from tracetui.analysis.scheduler.scheduler import recording_of
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.analysis.steps import DeviceSpan
from tracetui.arrays import Int64s
from tracetui.cache.cached_reading import read_trace
from tracetui.cache.recordings import recording_reader
from tracetui.comparison.compared_run import run_of
from tracetui.job.collectives import collective_tables, link_columns
from tracetui.job.digest import (
    AwaitedColumns,
    CollectiveColumns,
    Digest,
    Identity,
    OperatorColumns,
    RangeColumns,
    StepColumns,
    TokenColumns,
)
from tracetui.job.digest_run import reduce_run
from tracetui.job.digest_size import encode_within, limit_of
from tracetui.job.identity import identify
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.job.time_split import device_pieces, first_boundary, split_time
from tracetui.language import state
from tracetui.reader.joined import open_trace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress
from tracetui.trace.clean import printable, shortened

MOST_OPERATORS = 300  #: types that are kept
_RIGHT_AFTER = 20_000  # ns: how late a kernel starts that only waits for a collective
MOST_RANGES = 4000  #: marked ranges that are kept
_FIRST_DIMENSION = re.compile(r'["\s]*(\d{1,12})')


def digest_trace(
    path: Path,
    on_progress: Callable[[Progress], None] | None = None,
    cache: bool = True,
    jobs: int | None = None,
    scheduler: SchedulerSource | None = None,
) -> bytes:
    """Return the digest of the trace at a path, encoded: the same bytes wherever it is made.

    Raises UnreadableTrace where there is no trace, or none that a device works in.

    Args:
        path: a trace file, or a directory that holds one.
        on_progress: called every few MB of the file.
        cache: take the trace from the user's cache where it is there, and keep it there.
        jobs: processes that decode it; the digest doesn't depend on it.
        scheduler: the recording of the scheduler, or a directory with that of its rank; None: what is beside.
    """
    with open_trace(locate_trace(path.absolute()), jobs) as trace_file:
        identity = identify(trace_file.path, trace_file.head)
        trace = read_trace(trace_file, on_progress, cache)
        source = (
            None if scheduler is None else scheduler.of_rank(trace_file.path, identity.rank, identity.host)
        )
        recording = recording_of(trace, source, must_be_of_use=False, read=recording_reader(cache))
        analysis = analyse(trace, recording=recording)
    return encode_within(digest_of(analysis, identity), limit_of(analysis.trace.report.bytes))


def digest_of(analysis: Analysis, identity: Identity) -> Digest:
    """Return the digest of an analysis: of the one device in it that works most, where there are several."""
    trace, devices = analysis.trace, analysis.devices
    warnings = [*trace.report.warnings, *trace.notes]
    if trace.report.truncated and not warnings:
        warnings.append(state("the trace is cut"))
    if analysis.scheduler_problem:
        problem = printable(analysis.scheduler_problem)
        warnings.append(state("The recording of the scheduler is not used: {problem}.", problem=problem))
    working = [index for index, device in enumerate(devices) if device.window_ns > 0]
    texts, lines = TextPlaces(), LinePlaces()
    bare = Digest(
        identity=identity,
        kind=trace.kind.value,
        device="",
        trace_bytes=trace.report.bytes,
        events=trace.report.events,
        start=trace.start_ns,
        end=trace.start_ns,
        ranges=RangeColumns.empty(),
        tokens=TokenColumns.empty(),
        awaited=AwaitedColumns.empty(),
    )
    if not working:
        cut_warnings = (*map(shortened, warnings), state("no known device computes or communicates in it"))
        parts = reduce_run(run_of(analysis), texts, lines)
        return replace(bare, warnings=cut_warnings, texts=texts.all, lines=lines.all, **parts._asdict())
    device = max(working, key=lambda index: (_busy_ns(analysis, index), -index))
    if len(working) > 1:
        warnings.append(
            state("of its {count} devices only the one that works most is looked at", count=len(working))
        )
    activity = analysis.devices[device]
    steps = _steps(analysis, device)
    groups, collectives, arrivals = collective_tables(analysis, device, identity.rank, texts, lines)
    ranges, ranges_warning = _ranges(analysis, device, texts)
    warnings += [ranges_warning] if ranges_warning else []
    of_steps = (steps.host_start, steps.start, steps.end)
    edges = (collectives.start, collectives.end, *of_steps, ranges.start, ranges.end)
    window = np.array([first_boundary(analysis, activity), activity.end_ns], np.int64)
    all_edges = np.concatenate((window, *edges))
    boundaries = np.unique(all_edges[(all_edges >= window[0]) & (all_edges <= window[1])])
    keys, cells = split_time(device_pieces(analysis, device, texts, lines), boundaries)
    links = link_columns(analysis, device, texts)
    operators = _operators(analysis, device, texts)
    run_columns = reduce_run(run_of(analysis), texts, lines)
    return replace(
        bare,
        device=shortened(activity.device),
        chip=chip_of(trace, analysis.communication.link_table),
        start=activity.start_ns,
        end=activity.end_ns,
        warnings=tuple(map(shortened, warnings)),
        groups=groups,
        texts=texts.all,
        lines=lines.all,
        steps=steps,
        collectives=collectives,
        arrivals=arrivals,
        operators=operators,
        links=links,
        keys=keys,
        boundaries=boundaries,
        cells=cells,
        ranges=ranges,
        tokens=_tokens(analysis, device),
        awaited=_awaited(analysis, device, collectives, texts),
        **run_columns._asdict(),
    )


def _ranges(analysis: Analysis, device: int, texts: TextPlaces) -> tuple[RangeColumns, str]:
    """Return at most `MOST_RANGES` marked ranges, and a warning where some are left out, else "".

    All ranges of a name are kept, or none: names with most time first, as far as their ranges fit.
    """
    trace = analysis.trace
    found = analysis.marked_ranges[device]
    names, of_row = np.unique(trace.slices.name[found.row], return_inverse=True)
    total, counts = np.bincount(of_row, found.end - found.start), np.bincount(of_row)
    is_kept = np.zeros(len(names), np.bool_)
    room = MOST_RANGES
    for place in np.argsort(-total, kind="stable").tolist():
        if counts[place] <= room:
            is_kept[place] = True
            room -= int(counts[place])
    places = [
        texts.place(range_name(trace.strings[name])) if keep else -1
        for name, keep in zip(names.tolist(), is_kept.tolist())
    ]
    chosen = is_kept[of_row]
    name = np.array(places, np.int64)[of_row[chosen]]
    warning = ""
    if not is_kept.all():
        left_out = ", ".join(repr(range_name(trace.strings[name])) for name in names[~is_kept][:3].tolist())
        warning = state(
            "{count} marked ranges are left out, as a digest keeps {most}: {names}",
            count=f"{int(counts[~is_kept].sum()):,}",
            most=f"{MOST_RANGES:,}",
            names=left_out + (", ..." if (~is_kept).sum() > 3 else ""),
        )
    return RangeColumns(name, found.start[chosen], found.end[chosen]), warning


def _tokens(analysis: Analysis, device: int) -> TokenColumns:
    """Return how many tokens the grouped matmuls of a device take, as far as their shapes are known."""
    kernels, slices = analysis.kernels, analysis.trace.slices
    if kernels is None:
        return TokenColumns.empty()
    of_device = np.isin(kernels.row, analysis.devices[device].tasks)
    rows = [
        (int(slices.start[kernels.row[place]]), int(match[1]))
        for place in np.flatnonzero(of_device).tolist()
        if "groupedmatmul" in (kernels.table.text("type", place) or "").lower()
        and (match := _FIRST_DIMENSION.match(kernels.table.text("input_shapes", place) or ""))
    ]
    return TokenColumns(*np.array(sorted(rows), np.int64).reshape(-1, 2).T)


def _awaited(
    analysis: Analysis, device: int, collectives: CollectiveColumns, texts: TextPlaces
) -> AwaitedColumns:
    """Return which collectives the device waited for until they ended.

    With one the wait ends, or right after it the device computes or begins another collective, while others
    are still under way. A send is waited for where the device computes right after it: else it is merely
    under way.
    """
    exposed = analysis.communication.exposed
    exposed_pieces = exposed.at(exposed.of_device(device))
    waits, ends = union(exposed_pieces.start, exposed_pieces.end), collectives.end
    wait = np.searchsorted(waits.starts, ends, "left") - 1
    is_in_wait = (wait >= 0) & (ends <= np.append(waits.ends, 0)[wait])
    computes = _until_next(analysis.devices[device].compute.starts, ends) <= _RIGHT_AFTER
    begins = _until_next(collectives.start, ends) <= _RIGHT_AFTER
    sends = [place for place, text in enumerate(texts.all) if text.lower() == "send"]
    is_send = np.isin(collectives.type, sends)
    awaited = is_in_wait & (computes | (~is_send & (begins | np.isin(ends, waits.ends))))
    return AwaitedColumns(np.flatnonzero(awaited))


def _until_next(starts: Int64s, times: Int64s) -> Int64s:
    """Return the ns from each time to the first of the ascending starts that is not before it."""
    return np.append(starts, np.iinfo(np.int64).max)[np.searchsorted(starts, times)] - times


def _busy_ns(analysis: Analysis, device: int) -> int:
    activity = analysis.devices[device]
    return activity.computing_ns + activity.communication_not_overlapped_ns


def _steps(analysis: Analysis, device: int) -> StepColumns:
    label, exposed = analysis.devices[device].device, analysis.communication.exposed
    rows = []
    for index in analysis.steps_by_device.get(label, ()):
        step = analysis.steps[index]
        causes = exposed.by_step(index)
        rows.append(
            (
                step.number,
                step.host_start_ns,
                step.host_end_ns,
                step.start_ns,
                step.end_ns,
                step.computing_ns,
                step.communication_ns,
                step.communication_not_overlapped_ns,
                *(causes.get(cause, 0) for cause in CommunicationCause),
                step.overlapped_ns,
                step.free_ns,
                step.idle_ns,
                step.stage_ns,
                step.bubble_ns,
                step.communication_not_overlapped_exclude_receive_ns,
                step.preparing_ns,
                _span_length(step.iteration_gap),
                _span_length(step.forward_backward),
                _span_length(step.tail),
            )
        )
    table = np.array(rows, np.int64).reshape(-1, len(StepColumns.__dataclass_fields__))
    return StepColumns(*table[np.argsort(table[:, 1], kind="stable")].T)


def _span_length(span: DeviceSpan) -> int:
    return -1 if span is None else span[1] - span[0]


def _operators(analysis: Analysis, device: int, texts: TextPlaces) -> OperatorColumns:
    work = [len(activity.work) for activity in analysis.devices]
    table = analysis.operators().at(np.repeat(np.arange(len(work)), work) == device).by_type()
    order = np.argsort(-table.total_ns, kind="stable")[:MOST_OPERATORS]
    return OperatorColumns(
        type=texts.places(table.strings, table.name[order]),
        activity=table.activity[order].astype(np.int64),
        count=table.count[order],
        ns=table.total_ns[order],
    )
