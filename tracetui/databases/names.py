"""Which files are databases of profilers, by their names: nothing is opened here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".db"
#: Of the frameworks, by rank where there is one; of msprof, by the time of its export; of msMonitor.
_TRACES = (
    re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_(?P<rank>\d{1,9}))?\.db", re.ASCII),
    re.compile(r"msprof_\d{8,20}\.db", re.ASCII),
    re.compile(r"msmonitor_\d+_\d{8,20}_(?P<rank>-?\d{1,9})\.db", re.ASCII),
)
_FRAMEWORK = re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_\d{1,9})?\.db", re.ASCII)
#: What other files called `.db` hold, by their names: none of them is a trace.
_NO_TRACES = {
    "analysis.db": "holds the profiler's own sums of a run, not its trace",
    "communication_analyzer.db": "holds the profiler's own sums of a run, not its trace",
    "cluster_analysis.db": "is the result of msprof-analyze, not a trace",
    "profiler.db": "is of msServiceProfiler, which records requests and not a trace",
    "ftrace_data.db": "holds the events of the scheduler, not a trace",
}
_OTHER_NAMES = (
    (re.compile(r"(?:memscope|leaks)_dump_\d+\.db"), "is a record of msMemScope, not a trace"),
    (re.compile(r"ms_service_.*\.db"), "is of msServiceProfiler, which records requests and not a trace"),
)
#: What databases of other names hold, by a table that nothing else has.
_TELLING_TABLES = {
    "ClusterStepTraceTime": _NO_TRACES["cluster_analysis.db"],
    "ClusterCommunicationTime": _NO_TRACES["cluster_analysis.db"],
    "ClusterTimeSummary": _NO_TRACES["cluster_analysis.db"],
    "ClusterBaseInfo": _NO_TRACES["cluster_analysis.db"],
    "StepTraceTime": _NO_TRACES["analysis.db"],
    "CommAnalyzerTime": _NO_TRACES["analysis.db"],
}
#: Beside a trace: the producer's sums of its steps and collectives.
SUMS = ("analysis.db", "communication_analyzer.db")


def is_database(path: Path) -> bool:
    """Return whether a file is a database, by its name."""
    return path.suffix == SUFFIX


def is_trace_database(name: str) -> bool:
    """Return whether a file of that name is a database with a trace."""
    return any(pattern.fullmatch(name) for pattern in _TRACES)


def is_framework_database(name: str) -> bool:
    """Return whether a file of that name is the database of a framework, with that of msprof in it."""
    return _FRAMEWORK.fullmatch(name) is not None


def rank_in_name(name: str) -> int | None:
    """Return the rank in the name of a database with a trace; None where it has none."""
    for pattern in _TRACES:
        match = pattern.fullmatch(name)
        if match is not None:
            rank = match.groupdict().get("rank")
            return int(rank) if rank is not None and int(rank) >= 0 else None
    return None


def what_tables(names: Iterable[str]) -> str | None:
    """Return what a database with tables of these names holds instead of a trace; None where unknown."""
    return next((_TELLING_TABLES[name] for name in names if name in _TELLING_TABLES), None)


def what_else(name: str) -> str | None:
    """Return what a database of that name holds instead of a trace; None where that is not known."""
    words = _NO_TRACES.get(name)
    return words or next((meaning for pattern, meaning in _OTHER_NAMES if pattern.fullmatch(name)), None)
