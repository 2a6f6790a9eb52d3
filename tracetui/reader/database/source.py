"""An opened database: read once as a whole to the event table, then row by row again for the details."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracetui.databases.names import what_tables
from tracetui.databases.opening import Refused, files_of
from tracetui.databases.tables import Database, plain_excerpt
from tracetui.language import state
from tracetui.reader.database.arguments import DRAWN, arguments
from tracetui.reader.database.arrows import add_framework_arrows, add_launches
from tracetui.reader.database.assembly import Assembly
from tracetui.reader.database.counters import TABLES, read_counters
from tracetui.reader.database.device import (
    COPIES,
    KERNELS,
    OPERATIONS,
    OVERLAPS,
    PARTS_OF_OPERATIONS,
    SCHEDULED,
    TASKS,
    DeviceTables,
)
from tracetui.reader.database.host import CALLS, CONNECTIONS, FRAMEWORK, HostTables
from tracetui.reader.database.stacks import CHAINS, collect_stacks
from tracetui.reader.database.table_reader import EventPlace, ReadingStopped, TableReader
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.events import BlockColumns, EventTable, ReadReport
from tracetui.reader.freed_memory import return_freed_memory
from tracetui.reader.source import COARSEST_CLOCK, Progress, TraceFile, uncollected
from tracetui.reader.text import Stamp

if TYPE_CHECKING:
    from tracetui.reader.skeleton import Skeleton

#: Tables of which a database needs one to be that of a profiler.
_TELLING = ("TASK", "PYTORCH_API", "CANN_API", "COMMUNICATION_OP", "MSTX_EVENTS", "STRING_IDS")
#: Tables beside those that are drawn, for how far the reading is.
_OTHER_TABLES = (
    *("STRING_IDS", "COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "MEMCPY_INFO"),
    *("CONNECTION_IDS", "PYTORCH_CALLCHAINS"),
)
#: Tables that may have many rows, in the order in which they are wanted.
_LARGE_TABLES = (
    *(TASKS, OPERATIONS, PARTS_OF_OPERATIONS, KERNELS, SCHEDULED, COPIES, OVERLAPS),
    *(CALLS, FRAMEWORK, CONNECTIONS),
)
_LARGE = 1 << 26  # bytes: the columns of its tables were large
_MOST_SENTENCES = 8  # tables that are damaged, each with a sentence


class DatabaseFile(TraceFile):
    """A database as it was when it was opened; used as `TraceFile` is."""

    of_ascend = True

    def __init__(self, path: Path) -> None:
        """Open it; raises UnreadableTrace where that fails, or where it is none of a profiler."""
        self.path = Path(path)
        self._opened = time.time_ns()
        try:
            self.stamp = _stamp_now(self.path)
            self._database = Database(self.path)
        except OSError as error:
            raise UnreadableTrace(
                Reason.MISSING, state("{path}: {reason}", path=path, reason=error.strerror)
            ) from None
        except Refused as refusal:
            raise UnreadableTrace(
                _reason(refusal), state("{path}: {refusal}", path=path, refusal=refusal)
            ) from None
        self.size = max(self.stamp.size, 1)
        self._lock = threading.Lock()
        self._closed = False
        self._blocks: BlockColumns | None = None
        self._first: list[int] = []
        if not any(self._database.has(name) for name in _TELLING):
            self._database.close()
            names = [table.name for table in self._database.tables.values()]
            meaning = what_tables(names)
            if meaning is not None:
                raise UnreadableTrace(
                    Reason.NOT_A_TRACE, state("{path}: {meaning}", path=path, meaning=meaning)
                )
            contents = (
                f"its tables are {', '.join(map(plain_excerpt, names[:3]))} ..."
                if names
                else "it has no tables"
            )
            raise UnreadableTrace(
                Reason.NOT_A_TRACE,
                state(
                    "{path}: is a database, but none of a profiler: {contents}", path=path, contents=contents
                ),
            )

    @property
    def head(self) -> Mapping[str, Any]:
        """What stands in a trace before its events: `distributedInfo`, where the database tells its rank."""
        ranks = [row.get("rankId") for row in self._database.first_rows("RANK_DEVICE_MAP", ("rankId",))]
        valid_ranks = {rank for rank in ranks if type(rank) is int and rank >= 0}
        return {"distributedInfo": {"rank": valid_ranks.pop()}} if len(valid_ranks) == 1 else {}

    def close(self) -> None:
        """Close it; `args` and `event` return {} from here on."""
        with self._lock:
            self._closed = True
            self._database.close()

    def read(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        first: int = 0,
    ) -> EventTable:
        """Read all tables, devices first; `first` is of no use here. As of a file of JSON else."""
        with uncollected():
            reading = _Reading(self, self._database, on_progress, should_stop)
            self.rows = reading.total
            table = reading.table()
            del reading  # with the parts that the table is made of
        if self.size > _LARGE:
            return_freed_memory()
        return table

    def skeleton(self, on_coarse: object = None) -> Skeleton | None:
        """Return None: what a database holds shows only as its tables are read."""
        del on_coarse
        return None

    @property
    def settled(self) -> bool:
        """Whether nobody wrote to the file since it was opened, or shortly before."""
        being_written = self._database.being_written or self._opened - self.stamp.modified < COARSEST_CLOCK
        return not being_written and not self.changed

    @property
    def changed(self) -> bool:
        """Whether the file is another one than was opened."""
        try:
            return _stamp_now(self.path) != self.stamp
        except OSError:
            return True

    @property
    def blocks(self) -> BlockColumns:
        """Where the rows are that were read."""
        assert self._blocks is not None, "nothing is read yet"
        return self._blocks

    def restore(self, blocks: BlockColumns) -> None:
        """Take over where the rows are from an earlier reading of this very file."""
        with self._lock:
            self._blocks, self._first = blocks, blocks.first.tolist()

    def event(self, event: int) -> dict[str, Any]:
        """Return what a text export would say of the row with this ordinal; {} where it is gone."""
        args = self.args(event)
        return {"args": args} if args else {}

    def args(self, event: int) -> dict[str, Any]:
        """Return what the tables say of the row with this ordinal; {} where that can't be read."""
        with self._lock:
            blocks = self._blocks
            if self._closed or blocks is None or not 0 <= event < self._first[-1]:
                return {}
            index = bisect_right(self._first, event, hi=len(self._first) - 1) - 1
            place = EventPlace.from_number(int(blocks.offset[index]))
            if not 0 <= place.table < len(DRAWN):
                return {}
            return arguments(self._database, DRAWN[place.table], place.rowid, event - self._first[index])


class _Reading:
    """One pass over the tables."""

    def __init__(
        self,
        file: DatabaseFile,
        database: Database,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self._file = file
        self._database = database
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._reader = TableReader(database, DRAWN, self._on_rows)
        self._assembly = Assembly(sum(map(self._reader.expected, DRAWN)))
        self._stopped = False
        names = (*DRAWN, *_OTHER_TABLES, *(counted.table for counted in TABLES))
        self.total = max(sum(map(database.count, names)), 1)  #: rows, about

    def table(self) -> EventTable:
        """Read everything, or until it is stopped."""
        self._database.interrupt_when(self._should_stop)
        try:
            self._read()
        except ReadingStopped:
            self._stopped = True
        finally:
            self._database.interrupt_when(None)
            self._reader.release()
        if self._should_stop is not None and self._should_stop():
            self._stopped = True
        self._file.restore(self._reader.blocks())
        table = self._assembly.table(str(self._file.path), {}, self._report(), last=True)
        if not (len(table.slices.start) or len(table.counters.time) or self._stopped):
            problem = f": {self._database.problems[0]}" if self._database.problems else ""
            raise UnreadableTrace(
                Reason.EMPTY,
                state("{path}: the database holds no events{problem}", path=self._file.path, problem=problem),
            )
        return table

    def _read(self) -> None:
        reader, assembly = self._reader, self._assembly
        for query in _LARGE_TABLES:
            reader.begin(query)
        reader.begin(CHAINS, collect_stacks)
        for counted in TABLES:
            reader.begin(counted.query)
        assembly.texts.add(*reader.texts("STRING_IDS", "id", "value"))
        devices = DeviceTables(reader, assembly)
        tasks = devices.read()
        host = HostTables(reader, assembly)
        add_launches(assembly, host.read_calls(), tasks)
        rows, connections = host.read_framework()
        add_framework_arrows(assembly, rows, connections, tasks)
        host.read_others(tasks)
        read_counters(reader, assembly, devices)

    def _on_rows(self) -> None:
        if self._on_progress is not None:
            done_bytes = min(self._file.size * self._reader.rows // self.total, self._file.size)
            self._on_progress(Progress(done_bytes, self._file.size, self._reader.events, self._so_far))
        if self._should_stop is not None and self._should_stop():
            raise ReadingStopped

    def _so_far(self) -> EventTable:
        """Return the table of all that was handed over until now."""
        return self._assembly.table(str(self._file.path), {}, self._report())

    def _report(self) -> ReadReport:
        problems = self._database.problems
        warnings = problems[:_MOST_SENTENCES]
        if len(problems) > _MOST_SENTENCES:
            left = f"{len(problems) - _MOST_SENTENCES:,}"
            warnings.append(state("{count} more tables are read in part or not at all", count=left))
        if self._assembly.left_out:
            left = f"{self._assembly.left_out:,}"
            warnings.append(state("rows without usable times: {count}, left out", count=left))
        if self._assembly.unplaced:
            unplaced = f"{self._assembly.unplaced:,}"
            warnings.append(
                state("collectives without a device: {count}, shown on the first device", count=unplaced)
            )
        if self._assembly.incomplete_enums:
            tables = ", ".join(sorted(self._assembly.incomplete_enums))
            template = "links, copies or data types are unknown where tables do not name them: {tables}"
            warnings.append(state(template, tables=tables))
        if self._stopped:
            warnings.append(state("reading stopped: later tables are missing"))
        if self._file.changed:
            warnings.append(state("the file changed while it was read: read it again"))
        return ReadReport(
            bytes=self._file.size,
            text_bytes=self._file.size,
            events=self._reader.events,
            skipped=self._assembly.left_out,
            partial_tables=len(self._database.table_problems),
            truncated=any("cut" in problem for problem in self._database.file_problems),
            stopped=self._stopped,
            warnings=tuple(warnings),
        )


def _stamp_now(path: Path) -> Stamp:
    """Return the stamp of a database and of what a writer left beside it. Raises OSError."""
    return Stamp.of_files(files_of(path))


def _reason(refusal: Refused) -> Reason:
    text = str(refusal)
    if text.startswith("no permission"):
        return Reason.PERMISSION
    return Reason.EMPTY if "empty" in text else Reason.NOT_A_TRACE
