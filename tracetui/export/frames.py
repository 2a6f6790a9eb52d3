"""The results as pandas DataFrames, and DataFrames as csv.

The only module that imports pandas, which takes half a second: import it where a table is made, not before.
Columns are called as in the JSON documents and hold the same values: times are exact int64 ns, numbers that
may be unknown Int64, texts are categorical, unknown ones missing, and only lone surrogates replaced in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, Optional, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.nested_idle import NestedIdle
from tracetui.analysis.operators import OperatorTable
from tracetui.analysis.search import pick, track_of_rows
from tracetui.arrays import Int64s
from tracetui.export.advice import advice_document
from tracetui.export.cells import encodable, text_cell
from tracetui.export.communication import CommunicationPieces
from tracetui.export.documents import STEP_SUMS
from tracetui.export.findings import saves_at_most
from tracetui.export.lines import Stacks, tasks_among
from tracetui.export.reasons import Reasons
from tracetui.export.selection import Selection
from tracetui.export.step_numbers import StepNumbers
from tracetui.trace.model import Activity

#: Rows of a csv file made at a time, some MB of text. 313 k rows take 1.25 s, in larger pieces 1.16 s.
CHUNK = 8192
#: Texts kept from one chunk to the next.
_CACHED = 1 << 16

TextOf = Callable[[int], Optional[str]]
AnyCause = TypeVar("AnyCause", Cause, CommunicationCause)


def events_frame(analysis: Analysis, rows: Int64s | None = None) -> pd.DataFrame:
    """One row per slice: of the slice rows given, in their order; by default of all, by start.

    `activity` is what a device task does, `operator` what a task leads back to; `stack` is leaf first.
    """
    by_start = np.argsort(analysis.trace.slices.start, kind="stable") if rows is None else rows
    return _Events(analysis).frame(by_start)


def event_frames(analysis: Analysis, rows: Int64s) -> Iterator[pd.DataFrame]:
    """`events_frame` in pieces, for a file; one empty piece for no rows."""
    events = _Events(analysis)
    for first in range(0, max(len(rows), 1), CHUNK):
        yield events.frame(rows[first : first + CHUNK])


def gaps_frame(analysis: Analysis, gaps: Int64s | None = None) -> pd.DataFrame:
    """One row per AICore gap: of the indices given, in their order; by default of all, most lost first.

    `before` and `after` are the tasks that the gap lies between, `cause` is that of most of its idle time,
    `line` the Python line behind most of that, `exposed_by` the one that was synchronising when it began.
    `lost_ns` is idle time, exposed communication and exposed copies. `communication.wait_ns` and the like sum
    to `communication_ns`.
    """
    columns = analysis.gaps
    chosen = columns.ranked() if gaps is None else gaps
    reasons = Reasons(analysis)
    return _frame(
        {
            "device": _texts(columns.device[chosen], lambda index: analysis.devices[index].device),
            "start_ns": columns.start[chosen],
            "dur_ns": (columns.end - columns.start)[chosen],
            "idle_ns": columns.idle[chosen],
            "aicpu_ns": columns.aicpu[chosen],
            "communication_ns": columns.communication[chosen],
            "copy_ns": columns.copy[chosen],
            "step": _known(analysis.step_numbers[columns.step[chosen]]),
            **_task_columns(analysis, "before", columns.before[chosen]),
            **_task_columns(analysis, "after", columns.after[chosen]),
            "cause": _listed([None if cause is None else cause.label for cause in reasons.causes(chosen)]),
            "line": _listed(reasons.lines(chosen)),
            "exposed_by": _listed(reasons.exposed_by(chosen)),
            "lost_ns": columns.lost[chosen],
            **{
                f"{cause.label}_ns": ns
                for cause, ns in zip(CommunicationCause, CommunicationPieces(analysis).causes(chosen).T)
            },
        }
    )


def steps_frame(analysis: Analysis, steps: Sequence[int] | None = None) -> pd.DataFrame:
    """One row per step and device: of the indices given, by default of all. Times are of its device window.

    Every cause of idle time has a column, such as `host.sync_ns`; they sum to `idle_ns`. Those of exposed
    communication, such as `communication.wait_ns`, sum to `communication_not_overlapped_ns`.
    """
    places = range(len(analysis.steps)) if steps is None else steps
    chosen = [analysis.steps[place] for place in places]
    keys = ("start_ns", "end_ns", *STEP_SUMS)
    return _frame(
        {
            "device": _listed([step.device for step in chosen]),
            "step": np.array([step.number for step in chosen], np.int64),
            **{key: np.array([getattr(step, key) for step in chosen], np.int64) for key in keys},
            **_cause_columns(Cause, [analysis.causes.by_step(place) for place in places]),
            **_cause_columns(
                CommunicationCause, [analysis.communication.exposed.by_step(place) for place in places]
            ),
        }
    )


def hotspots_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """One row per line of Python behind the gaps selected, by default all; most idle first, at most `top`.

    `file` is missing in the row of what has no stack, `saves_at_most_ns` where the gaps are of a window.
    `op` is the operator with the most of the time. Every cause has a column, such as `host.sync_ns`; they sum
    to `idle_ns`.
    """
    selected = selection or Selection()
    lines = selected.lines(analysis)
    chosen = lines[:top] if top else lines
    return _frame(
        {
            **_line_columns([(line.file, line.line, line.function) for line in chosen]),
            "backward": np.array([line.backward for line in chosen], np.bool_),
            "idle_ns": np.array([line.idle_ns for line in chosen], np.int64),
            "gaps": np.array([line.gaps for line in chosen], np.int64),
            "longest_ns": np.array([line.longest_ns for line in chosen], np.int64),
            "saves_at_most_ns": _known_among([saves_at_most(analysis, line, selected) for line in chosen]),
            "op": _listed([next(iter(line.ops), None) or None for line in chosen]),
            **_cause_columns(Cause, [line.causes for line in chosen]),
        }
    )


def modules_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """One row per nn.Module behind the gaps selected, by default all; most idle first, at most `top`.

    `idle_ns` holds that of the modules inside; `own_ns` does not, and sums to the idle time. `path` are the
    modules around it, `file` and `line` where its forward is. `module` is missing for what is outside any.
    """
    modules = (selection or Selection()).modules(analysis)
    chosen = modules[:top] if top else modules
    forwards = [(None, 0, "") if module.forward is None else module.forward for module in chosen]
    return _frame(
        {
            "module": _listed([module.module for module in chosen]),
            "path": _listed([" > ".join(module.path) or None for module in chosen]),
            **_line_columns(forwards),
            **_nested_columns(chosen),
        }
    )


def frames_frame(analysis: Analysis, selection: Selection | None = None, top: int = 0) -> pd.DataFrame:
    """One row per frame of Python at any depth, of the gaps selected; most idle first, at most `top`.

    `idle_ns` holds that of the frames it calls; `own_ns` does not, and sums to the idle time. `file` is
    missing for what has no stack.
    """
    frames = (selection or Selection()).frames(analysis)
    chosen = frames[:top] if top else frames
    lines = [(None, 0, "") if each.frame is None else each.frame for each in chosen]
    return _frame({**_line_columns(lines), **_nested_columns(chosen)})


def signatures_frame(analysis: Analysis) -> pd.DataFrame:
    """One row per cause, line and operator that gaps have in common; most idle first.

    `idle_ns` is all idle time of those gaps, `longest_ns` the most of one. `file` is missing where there is
    no stack, `op` where no operator ran.
    """
    found = analysis.signatures
    return _frame(
        {
            "cause": _listed([signature.cause.label for signature in found]),
            **_line_columns([(each.file, each.line, each.function) for each in found]),
            "backward": np.array([signature.backward for signature in found], np.bool_),
            "op": _listed([signature.operator or None for signature in found]),
            "idle_ns": np.array([signature.idle_ns for signature in found], np.int64),
            "gaps": np.array([signature.gaps for signature in found], np.int64),
            "longest_ns": np.array([signature.longest_ns for signature in found], np.int64),
        }
    )


def syncs_frame(analysis: Analysis) -> pd.DataFrame:
    """One row per call that made the host wait for a device, and line; most idle time exposed first.

    `waited_ns` is the time of all those calls, `longest_ns` that of one, `gaps` how many have the idle time
    that they expose, `exposed_ns`. `file` is missing where there is no stack.
    """
    found = analysis.syncs
    return _frame(
        {
            "call": _listed([sync.call for sync in found]),
            **_line_columns([(sync.file, sync.line, sync.function) for sync in found]),
            "count": np.array([sync.count for sync in found], np.int64),
            "waited_ns": np.array([sync.total_ns for sync in found], np.int64),
            "longest_ns": np.array([sync.longest_ns for sync in found], np.int64),
            "exposed_ns": np.array([sync.exposed_ns for sync in found], np.int64),
            "gaps": np.array([len(sync.gap_indices) for sync in found], np.int64),
        }
    )


def advice_frame(analysis: Analysis) -> pd.DataFrame:
    """One row per piece of advice, that about the most time first; `evidence` is a JSON object, as text."""
    rows = advice_document(analysis)["advice"]
    texts = ("id", "title", "text", "rule", "file", "function")
    columns: dict[str, Any] = {key: _listed([row[key] for row in rows]) for key in texts}
    numbers = {key: _known_among([row[key] for row in rows]) for key in ("cost_ns", "per_step_ns", "line")}
    return _frame(
        {
            "id": columns["id"],
            "title": columns["title"],
            "cost_ns": numbers["cost_ns"],
            "per_step_ns": numbers["per_step_ns"],
            "file": columns["file"],
            "line": numbers["line"],
            "function": columns["function"],
            "subjects": _listed([", ".join(row["subjects"]) or None for row in rows]),
            "text": columns["text"],
            "rule": columns["rule"],
            "evidence": _listed([json.dumps(row["evidence"]) for row in rows]),
        }
    )


def operators_frame(table: OperatorTable) -> pd.DataFrame:
    """One row per name (or type) and activity, as of `analysis.device_operators`; most own time first.

    `self_ns` is without the operators inside, `share` is of that of all. `mean_ns`, of the total, is rounded
    down, `p50_ns` and `p95_ns` are durations that occur.
    """
    return _frame(
        {
            "name": _texts(table.name, table.strings.__getitem__),
            "activity": _texts(table.activity, _activity),
            "count": table.count,
            "total_ns": table.total_ns,
            "self_ns": table.self_ns,
            "mean_ns": table.mean_ns,
            "p50_ns": table.p50_ns,
            "p95_ns": table.p95_ns,
            "min_ns": table.min_ns,
            "max_ns": table.max_ns,
            "share": table.share,
        }
    )


def write_csv(stream: BinaryIO, frames: Iterable[pd.DataFrame]) -> int:
    """Write frames of equal columns as one csv table; returns the number of rows.

    UTF-8, "\\n" line ends, unknown values empty, texts as cells that no spreadsheet computes.
    """
    cell_of = lru_cache(maxsize=_CACHED)(text_cell)
    rows = 0
    for index, frame in enumerate(frames):
        cells = _frame({str(key): _cells(column, cell_of) for key, column in frame.items()})
        text = cells.to_csv(index=False, header=index == 0, lineterminator="\n")
        stream.write(text.encode())
        rows += len(frame)
    return rows


class _Events:
    """Frames of slices; what many of them share is looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        trace = analysis.trace
        self._trace, self._links = trace, analysis.links
        self._stacks = Stacks(analysis)
        self._steps = StepNumbers(analysis)
        self._first_lane = np.array([track.lanes.start for track in trace.tracks], np.int64)
        self._line_of = lru_cache(maxsize=_CACHED)(self._stacks.line)
        self._stack_of = lru_cache(maxsize=_CACHED)(self._stacks.text)

    def frame(self, rows: Int64s) -> pd.DataFrame:
        trace, slices = self._trace, self._trace.slices
        lane = np.searchsorted(trace.lane_rows, rows, "right") - 1
        track = trace.lane_track[lane]
        operators, stacks = self._operators(rows), self._stacks.keys(rows)
        return _frame(
            {
                "start_ns": slices.start[rows],
                "dur_ns": slices.dur[rows],
                "process": _texts(track, lambda index: trace.tracks[index].process),
                "thread": _texts(track, lambda index: trace.tracks[index].name),
                "lane": lane - self._first_lane[track],
                "name": _texts(slices.name[rows], trace.string),
                "category": _texts(slices.category[rows], trace.string),
                "activity": _texts(slices.activity[rows], _activity),
                "step": _known(self._steps.at(slices.start[rows], track)),
                "operator": _texts(operators, trace.string),
                "python_line": _texts(stacks, self._line_of),
                "stack": _texts(stacks, self._stack_of),
            }
        )

    def _operators(self, rows: Int64s) -> Int64s:
        """int64[n]: the name (a string) of the operator that a task leads back to, -1 for all others."""
        tasks, places = tasks_among(self._links, rows)
        names = np.full(len(rows), -1, np.int64)
        names[tasks] = pick(self._trace.slices.name, self._links.operator[places])
        return names


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame


def _task_columns(analysis: Analysis, side: str, rows: Int64s) -> dict[str, pd.Categorical]:
    """The task of each slice row, and where it ran; -1 is none."""
    trace = analysis.trace
    return {
        side: _texts(pick(trace.slices.name, rows), trace.string),
        f"{side}_stream": _texts(track_of_rows(trace, rows), lambda index: trace.tracks[index].name),
    }


def _texts(codes: NDArray[Any], text_of: TextOf) -> pd.Categorical:
    """The text of each code, made once for each distinct one; -1 has none."""
    places, used = pd.factorize(codes)
    texts = (None if code == -1 else text_of(code) for code in used.tolist())
    # Numbered here: pandas 2 takes texts for equal that are so up to a NUL.
    number: dict[str, int] = {}
    numbers = [-1 if text is None else number.setdefault(encodable(text), len(number)) for text in texts]
    column: pd.Categorical = pd.Categorical.from_codes(
        np.array(numbers, np.int64)[places], pd.Index([*number])
    )
    return column


def _listed(texts: Sequence[str | None]) -> pd.Categorical:
    """Texts, one a row; None is unknown."""
    number: dict[str | None, int] = {}
    codes = np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
    return _texts(codes, [*number].__getitem__)


def _cause_columns(every: type[AnyCause], causes: Sequence[Mapping[AnyCause, int]]) -> dict[str, Int64s]:
    """A column of ns for every cause that there is."""
    return {
        f"{cause.label}_ns": np.array([told.get(cause, 0) for told in causes], np.int64) for cause in every
    }


def _line_columns(lines: Sequence[tuple[str | None, int, str]]) -> dict[str, Any]:
    """The file, line and function of each; unknown where there is no stack, the line where no file is."""
    return {
        "file": _listed([file for file, _, _ in lines]),
        "line": _known(np.array([line if file else -1 for file, line, _ in lines], np.int64)),
        "function": _listed([None if file is None else function for file, _, function in lines]),
    }


def _nested_columns(rows: Sequence[NestedIdle]) -> dict[str, Any]:
    """The numbers of what holds others of its kind."""
    keys = ("idle_ns", "own_ns", "backward_ns", "gaps", "longest_ns")
    return {
        **{key: np.array([getattr(row, key) for row in rows], np.int64) for key in keys},
        "op": _listed([next(iter(row.ops), None) or None for row in rows]),
        **_cause_columns(Cause, [row.causes for row in rows]),
    }


def _known_among(numbers: Sequence[int | None]) -> pd.arrays.IntegerArray:
    return _known(np.array([-1 if number is None else number for number in numbers], np.int64))


def _known(numbers: Int64s) -> pd.arrays.IntegerArray:
    """Int64: the numbers, unknown where negative."""
    return pd.arrays.IntegerArray(numbers, numbers < 0)


def _activity(activity: int) -> str | None:
    return Activity(activity).name.lower() if activity else None


def _cells(column: pd.Series[Any], cell_of: Callable[[str], str]) -> Any:
    """The values of a column, its texts as cells."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.array
    cells = [*map(cell_of, column.cat.categories), ""]  # the code of an unknown text is -1
    return np.array(cells, dtype=object)[column.cat.codes.to_numpy()]
