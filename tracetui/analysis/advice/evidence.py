"""What rules ask of an analysis: sums of pieces, lines of operators, numbers per step. Each is found once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause, of_families
from tracetui.analysis.idle.idle_lines import PythonLine, lines_of, python_line
from tracetui.analysis.intervals import Intervals, time_in_spans, time_of
from tracetui.analysis.search import distinct, group_by, rows_of, track_of_rows
from tracetui.analysis.steps import uncomputed_steps
from tracetui.analysis.sums import most_first
from tracetui.arrays import EMPTY, Bools, Int32s, Int64s
from tracetui.trace.model import Family, Layer, TraceKind
from tracetui.trace.stack import Frame

_WORTH_ADVICE = 10_000  #: what costs less than one in so many ns of the devices is not worth a change
_WORTH_NAMING = 100  #: a line with less than one in so many ns of the time is not what advice is about


class Evidence:
    """The facts about one trace."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.trace = analysis.trace
        self.causes = analysis.causes  #: pieces of idle time, each with a cause and a stack
        self.window_ns = analysis.window_ns  #: the windows of all devices together
        self.work = analysis.work  #: rows of all work of all devices, by device, then start
        self._line_places: dict[Frame, int] = {}

    def worth(self, cost: int) -> bool:
        """Return whether some ns are enough of the time of the devices to be advised on."""
        return cost > 0 and cost * _WORTH_ADVICE >= self.window_ns

    @property
    def is_gpu(self) -> bool:
        """Whether the trace is of GPUs: their words and settings are other ones."""
        return self.trace.kind == TraceKind.GPU

    # -- steps ----------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """How many steps the host made; 0: the trace does not tell."""
        return len(self.analysis.host_spans)

    def per_step(self, count: int) -> float:
        """Return the mean count per step; `count` itself where the trace has no steps."""
        return count / max(self.steps, 1)

    def per_step_ns(self, ns: int) -> int | None:
        """Return the mean ns per step, rounded down; None where the trace has no steps."""
        return ns // self.steps if self.steps else None

    def per_computed_step_ns(self, ns: int) -> int | None:
        """Return the mean ns per step whose computing is recorded; None where the trace has no steps."""
        unknown = len(self.uncomputed_steps) // max(len(self.analysis.devices), 1)
        return ns // max(self.steps - unknown, 1) if self.steps else None

    def count_host_steps(self, places: Iterable[int]) -> int:
        """Count the steps of the host that some steps of the analysis belong to, by the places of these."""
        return len({self.analysis.steps[place].number for place in places})

    def host_steps_at(self, times: Int64s) -> Int64s:
        """Return the place among `host_spans` of the step at each time, ns; -1 outside of all."""
        place = np.searchsorted(self.analysis.host_spans[:, 0], times, "right") - 1
        inside = place >= 0
        inside[inside] = times[inside] < self.analysis.host_spans[place[inside], 1]
        return np.where(inside, place, -1)

    @cached_property
    def uncomputed_steps(self) -> frozenset[int]:
        """The places of the steps whose computing is not recorded."""
        return frozenset(uncomputed_steps(self.analysis.steps))

    def uncomputed_time(self) -> list[Intervals]:
        """Return, for each device, the time of its `uncomputed_steps`: what overlaps there is not known."""
        analysis, unknown = self.analysis, self.uncomputed_steps
        places = (analysis.steps_by_device.get(activity.device, ()) for activity in analysis.devices)
        steps = ([analysis.steps[place] for place in held if place in unknown] for held in places)
        return [time_in_spans([(step.start_ns, step.end_ns) for step in held]) for held in steps]

    # -- pieces of idle time --------------------------------------------------------------------------

    def caused(self, *causes: Cause) -> Bools:
        """Return whether each piece has one of the causes; bool[pieces]."""
        return np.isin(self.causes.cause, causes)

    def idle_ns(self, pieces: Bools) -> int:
        """Sum the time of the selected pieces, ns."""
        return int(self.causes.ns[pieces].sum())

    def idle_ns_before_windows(self, *causes: Cause) -> int:
        """Sum the ns of some causes in the preparing time before the window W of each device.

        That time is in no piece of `causes`.
        """
        preparing = self.analysis.preparing.causes
        if not len(preparing):
            return 0
        starts = np.array([activity.start_ns for activity in self.analysis.devices], np.int64)
        is_early = preparing.end <= starts[preparing.intervals.device[preparing.interval]]
        return int(preparing.ns[is_early & np.isin(preparing.cause, causes)].sum())

    def gaps(self, pieces: Bools) -> Int64s:
        """Return the gaps of the pieces, most ns first."""
        charges = self.causes.charges
        return most_first(charges.gap[pieces], charges.ns[pieces])[0]

    def idle_during(self, calls: Int64s) -> Int64s:
        """Return for how long a call kept the thread to blame busy in each piece; int64[pieces], ns."""
        causes, thread = self.causes, self._thread_of_track
        (places,) = np.nonzero((causes.track >= 0) & self.caused(*of_families("host", "queue", "launch")))
        calls_of_thread = dict(group_by(thread[track_of_rows(self.trace, calls)]))
        inside = np.zeros(len(causes), np.int64)
        for number, group in group_by(thread[causes.track[places]]):
            busy = self.time_of(calls[calls_of_thread.get(number, EMPTY)])
            pieces = places[group]
            inside[pieces] = busy.covered(causes.start[pieces], causes.end[pieces])
        return inside

    @property
    def _thread_of_track(self) -> Int64s:
        """A number for the OS thread of each track, the same on all its layers."""
        owners, tracks = self.trace.owners, self.trace.tracks
        framework, runtime = (
            {owners[track.pid] for track in tracks if track.layer == layer}
            for layer in (Layer.PYTHON, Layer.RUNTIME)
        )
        are_told = self.is_gpu or runtime <= framework  # else pids do not tell the process of some layer
        numbers: dict[tuple[str, str], int] = {}
        threads = [(owners[track.pid] if are_told else "", track.tid) for track in tracks]
        return np.array([numbers.setdefault(thread, len(numbers)) for thread in threads], np.int64)

    def time_of(self, rows: Int64s) -> Intervals:
        """Return the time in any of the slices."""
        return time_of(self.trace.slices, rows)

    def gaps_at(self, spans: Mapping[int, Intervals]) -> Int64s:
        """Return the gaps that overlap some time of their device, by its index; most of it first."""
        gaps = self.analysis.gaps
        inside = np.zeros(len(gaps), np.int64)
        for device, span in spans.items():
            (places,) = np.nonzero(gaps.device == device)
            inside[places] = span.covered(gaps.start[places], gaps.end[places])
        return most_first(np.flatnonzero(inside), inside[inside > 0])[0]

    # -- lines ----------------------------------------------------------------------------------------

    @cached_property
    def piece_lines(self) -> Int64s:
        """int64[pieces]: the place of the line of each piece (`line`), -1 where it has none."""
        return self._find_line_places(self.causes.stack, self.causes.frame)

    def task_lines(self, tasks: Int64s) -> Int64s:
        """Return the place of the line of each task (`line`), -1 where it has none."""
        places = self.analysis.launch_chains.index(tasks)
        return self._find_line_places(
            self.analysis.launch_chains.stack[places], self.analysis.launch_chains.frame[places]
        )

    def operator_lines(self, operators: Int64s) -> Int64s:
        """Return the place of the line of each operator (`line`), -1 where it has none."""
        sites = self.analysis.host_threads.callers.call_sites(operators)
        return self._find_line_places(sites.stack, sites.frame)

    def line(self, place: int) -> PythonLine:
        """Return a line by its place among those found so far, -1 for none."""
        return python_line(None if place < 0 else list(self._line_places)[place])

    def worst_line(self, pieces: Bools) -> PythonLine:
        """Return the line with the most ns of the pieces that have one; none if that is next to nothing."""
        with_line = pieces & (self.piece_lines >= 0)
        lines, sums = most_first(self.piece_lines[with_line], self.causes.ns[with_line])
        worth_naming = len(lines) and int(sums[0]) * _WORTH_NAMING >= int(self.causes.ns[pieces].sum())
        return self.line(int(lines[0]) if worth_naming else -1)

    def _find_line_places(self, stack: Int32s, frame: Int64s) -> Int64s:
        lines, line_index = lines_of(self.trace, stack, frame, self.analysis.rules)
        places = [self._line_places.setdefault(line, len(self._line_places)) for line in lines]
        return np.array([*places, -1], np.int64)[line_index]

    # -- slices ---------------------------------------------------------------------------------------

    @cached_property
    def launching(self) -> Int64s:
        """The indices of the threads that launch; -1 among them where some task is of none."""
        chains = self.analysis.launch_chains
        return distinct(self.analysis.host_threads.of_tasks(chains.launch, chains.operator, chains.enqueue))

    @cached_property
    def device_of_work(self) -> Int64s:
        """The index of the device of each of `work`."""
        counts = [len(device.work) for device in self.analysis.devices]
        return np.repeat(np.arange(len(counts)), counts)

    def rows_of(self, family: Family, device: str | None = None) -> Int64s:
        """Return the slices of all tracks of a family, of one device or of all."""
        tracks = self.trace.tracks if device is None else self.trace.device_tracks.get(device, ())
        return rows_of(track for track in tracks if track.family == family)

    def outermost(self, rows: Int64s) -> Int64s:
        """Return the slices that are not inside another of them on their thread, by thread, then start."""
        trace, slices = self.trace, self.trace.slices
        numbers: dict[tuple[str, str], int] = {}
        threads = [numbers.setdefault((t.pid, t.tid), len(numbers)) for t in trace.tracks]
        thread = np.array(threads, np.int64)[track_of_rows(trace, rows)]
        order = np.lexsort((-slices.end[rows], slices.start[rows], thread))
        rows, parts = rows[order], []
        for _, group in group_by(thread[order]):
            reach = np.maximum.accumulate(slices.end[rows[group]])
            outer = np.ones(len(group), np.bool_)
            outer[1:] = slices.end[rows[group[1:]]] > reach[:-1]
            parts.append(rows[group[outer]])
        return np.concatenate(parts) if parts else rows

    def longest_first(self, rows: Int64s) -> Int64s:
        """Return the rows, the longest first."""
        return rows[np.argsort(-self.trace.slices.dur[rows], kind="stable")]

    def first_operator(self, tasks: Int64s) -> tuple[str, ...]:
        """Return the name of the operator that enqueued the first of the tasks to have one."""
        operator = self.analysis.launch_chains.operator[self.analysis.launch_chains.index(tasks)]
        linked = operator[operator >= 0]
        return (self.trace.name(int(linked[0])),) if len(linked) else ()

    def names(self, rows: Int64s, limit: int = 4) -> tuple[str, ...]:
        """Return the names of slices, those with the most time first."""
        names, _ = most_first(self.trace.slices.name[rows].astype(np.int64), self.trace.slices.dur[rows])
        return tuple(self.trace.strings[name] for name in names[:limit].tolist())
