"""What MindData, the data pipeline of MindSpore, leaves beside a trace of its queues.

`minddata_pipeline_summary_<rank>.json` (or .csv, transposed) tells of each operator of the pipeline how full
its output queue was; `device_queue_profiling_<rank>.txt` and `minddata_aicpu_<rank>` how many batches waited
for the device whenever one was sent or taken. Their columns are those of the sources of MindSpore 2.5 and its
documents: no real file was at hand. What cannot be read is left out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracetui.siblings.beside import LARGEST_DOCUMENT, Refusal, files_like, refuse_large

_ABOVE = 2  # directories: the trace may lie below the files, in ASCEND_PROFILER_OUTPUT
_SUMMARY = ("minddata_pipeline_summary_*.json", "minddata_pipeline_summary_*.csv")
_SENT, _TAKEN = "device_queue_profiling_*.txt", "minddata_aicpu_*.*"
_SIZE = "1"  # of a line of the device queue that tells its size; others tell times


@dataclass(frozen=True)
class PipelineOperator:
    """An operator of the data pipeline; shares in percent, -1 where it has no output queue."""

    name: str  #: as written: never print it unescaped
    workers: int
    full_pct: float  #: how full its output queue was, on average
    empty_pct: float  #: of the time its output queue was empty
    inputs: tuple[int, ...]  #: the places of the operators that feed it


@dataclass(frozen=True)
class MindData:
    """The queues of one rank."""

    looks: int  #: at the queue before the device; 0 where nothing tells
    empty: int  #: of them found it empty
    operators: tuple[PipelineOperator, ...]  #: the one next to the device first

    @property
    def host_queue(self) -> PipelineOperator | None:
        """The operator whose output is sent to the device; None where nothing tells."""
        return next((operator for operator in self.operators if operator.empty_pct >= 0), None)

    @property
    def slowest(self) -> PipelineOperator | None:
        """The slowest operator of the pipeline: the one whose input is fullest against its output."""
        queued = [operator for operator in self.operators if operator.full_pct >= 0]
        return max(queued, key=lambda operator: self._input_pct(operator) - operator.full_pct, default=None)

    def _input_pct(self, operator: PipelineOperator) -> float:
        """Return how full the queues before an operator are; one that reads files always has input."""
        fed = [self.operators[place].full_pct for place in operator.inputs]
        return min((pct for pct in fed if pct >= 0), default=100.0)


def minddata_of(trace: Path) -> MindData | None:
    """Return the queues that files beside a trace tell of; None where there are none. Never fails."""
    for directory in list(trace.parents)[:_ABOVE]:
        operators = next((rows for path in _files(directory, _SUMMARY) if (rows := _operators(path))), ())
        sizes = next((queued for path in _files(directory, (_SENT, _TAKEN)) if (queued := _sizes(path))), [])
        if operators or sizes:
            return MindData(len(sizes), sum(size == 0 for size in sizes), operators)
    return None


def minddata_files(trace: Path) -> list[Path]:
    """List the files beside a trace that tell of queues."""
    patterns = (*_SUMMARY, _SENT, _TAKEN)
    return [path for directory in list(trace.parents)[:_ABOVE] for path in _files(directory, patterns)]


def _files(directory: Path, patterns: Sequence[str]) -> Iterator[Path]:
    """Yield the file of each name if there is exactly one: where several ranks have one, no rank is told."""
    for pattern in patterns:
        files = files_like(directory, pattern)
        if len(files) == 1:
            yield files[0]


def _read(path: Path) -> str:
    try:
        refuse_large(path, LARGEST_DOCUMENT)
        return path.read_text(encoding="utf-8", errors="replace")
    except (Refusal, OSError):
        return ""


def _operators(path: Path) -> tuple[PipelineOperator, ...]:
    try:
        text = _read(path)
        table = json.loads(text) if path.suffix == ".json" else _transpose(text)
        names, numbers = table["op_names"], [int(number) for number in table["op_ids"]]
        place = {number: index for index, number in enumerate(numbers)}
        fed: list[list[int]] = [[] for _ in numbers]
        for index, parent in enumerate(map(_number, table["parent_id"])):
            if parent in place:
                fed[place[int(parent)]].append(index)
        columns = (table[key] for key in ("num_workers", "queue_utilization_pct", "queue_empty_freq_pct"))
        return tuple(
            PipelineOperator(str(name), int(_number(workers)), _number(full), _number(empty), tuple(inputs))
            for name, workers, full, empty, inputs in zip(names, *columns, fed)
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, csv.Error):
        return ()


def _number(cell: Any) -> float:
    """Return the number in a cell; -1 where nothing stands in it. Raises ValueError or TypeError."""
    return -1 if cell in (None, "") else float(cell)


def _transpose(text: str) -> dict[str, Any]:
    return {row[0].strip(): row[1:] for row in csv.reader(text.splitlines()) if row}


def _sizes(path: Path) -> list[int]:
    """Return how many batches were in the queue each time.

    It is the fourth word of a line of the sender that begins with 1, the last one of a line of whoever takes
    them.
    """
    sizes = []
    for line in _read(path).splitlines():
        words = line.replace(",", " ").split()
        word = words[-1] if words else ""
        if path.name.startswith(_SENT.partition("*")[0]):
            word = words[3] if len(words) > 3 and words[0] == _SIZE else ""
        if word.isascii() and word.isdecimal() and len(word) < 10:
            sizes.append(int(word))
    return sizes
